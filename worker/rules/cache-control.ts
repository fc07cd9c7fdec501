import { isLowerCaseToken, readCacheDirectives } from "./cache-directives.ts";
import { type DeltaSeconds, readDeltaSeconds, stricterOf } from "./delta-seconds.ts";

/**
 * The directives of a response as a typed value. RFC 9111 §5.2.2; RFC 5861 §3, §4; RFC 8246 for `immutable`.
 *
 * Parsed once; no code after this looks at the text. Where a directive comes twice, the more restrictive one counts
 * (§4.2.1). A field that cannot be read may have meant to forbid: it counts as `no-store`.
 */
export interface CacheControl {
  readonly noStore: boolean;
  readonly noCache: FieldScope;
  readonly private: FieldScope;
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  readonly immutable: boolean;
  readonly noTransform: boolean;
  readonly maxAge: DeltaSeconds;
  readonly sMaxage: DeltaSeconds;
  readonly staleWhileRevalidate: DeltaSeconds;
  readonly staleIfError: DeltaSeconds;
}

/**
 * What a directive is about that may be limited to some fields: the whole response, or these, in lower case.
 * RFC 9111 §5.2.2.4, §5.2.2.7.
 */
export type FieldScope = "absent" | "whole" | readonly string[];

/** The same value while it is put together. */
export type CacheControlDraft = { -readonly [Key in keyof CacheControl]: CacheControl[Key] };

/** What is said where nothing is said. */
export function emptyCacheControl(): CacheControlDraft {
  return {
    noStore: false,
    noCache: "absent",
    private: "absent",
    public: false,
    mustRevalidate: false,
    proxyRevalidate: false,
    mustUnderstand: false,
    immutable: false,
    noTransform: false,
    maxAge: "absent",
    sMaxage: "absent",
    staleWhileRevalidate: "absent",
    staleIfError: "absent",
  };
}

/** Directives without an argument, by their names on the wire. */
export const FLAGS = {
  "no-store": "noStore",
  public: "public",
  "must-revalidate": "mustRevalidate",
  "proxy-revalidate": "proxyRevalidate",
  "must-understand": "mustUnderstand",
  immutable: "immutable",
  "no-transform": "noTransform",
} as const;

/** Directives that may be limited to some fields. */
export const SCOPES = { "no-cache": "noCache", private: "private" } as const;

/** Directives whose argument is a number of seconds. */
export const DURATIONS = {
  "max-age": "maxAge",
  "s-maxage": "sMaxage",
  "stale-while-revalidate": "staleWhileRevalidate",
  "stale-if-error": "staleIfError",
} as const;

/** Parses the field's text, several lines joined with commas; `null` where the field is absent. Never throws. */
export function parseCacheControl(text: string | null): CacheControl {
  const said = emptyCacheControl();
  if (text === null) return said;
  const directives = readCacheDirectives(text);
  if (directives === undefined) return { ...said, noStore: true };
  for (const { name, value, isQuoted } of directives) {
    if (isNameOf(FLAGS, name)) {
      said[FLAGS[name]] = true;
    } else if (isNameOf(DURATIONS, name)) {
      said[DURATIONS[name]] = stricterOf(said[DURATIONS[name]], readDeltaSeconds(value));
    } else if (isNameOf(SCOPES, name)) {
      // A list without quotes is cut at its first comma, so what it names is not all that was meant.
      const scope = isQuoted ? readFieldScope(value!) : "whole";
      said[SCOPES[name]] = widerScope(said[SCOPES[name]], scope);
    }
  }
  return said;
}

/** Writes the directives so that parsing gives the same value again. */
export function formatCacheControl(cacheControl: CacheControl): string {
  const members: string[] = [];
  for (const [name, key] of Object.entries(FLAGS)) if (cacheControl[key]) members.push(name);
  for (const [name, key] of Object.entries(SCOPES)) {
    const scope = cacheControl[key];
    if (scope === "absent") continue;
    members.push(scope === "whole" ? name : `${name}="${scope.join(", ")}"`);
  }
  for (const [name, key] of Object.entries(DURATIONS)) {
    if (cacheControl[key] !== "absent") members.push(`${name}=${cacheControl[key]}`);
  }
  return members.join(", ");
}

/** The fields that an argument names; one that is empty or malformed may have meant any: the whole response. */
export function readFieldScope(argument: string): FieldScope {
  const names = argument.split(",").flatMap((name) => name.trim().toLowerCase() || []);
  return names.length > 0 && names.every(isLowerCaseToken) ? [...new Set(names)] : "whole";
}

function widerScope(one: FieldScope, other: FieldScope): FieldScope {
  if (one === "absent") return other;
  if (one === "whole" || other === "whole" || other === "absent") return "whole";
  return [...new Set([...one, ...other])];
}

/** Whether a table has an entry of this name; one that objects inherit is none. */
export function isNameOf<Table extends object>(table: Table, name: string): name is Extract<keyof Table, string> {
  return Object.hasOwn(table, name);
}
