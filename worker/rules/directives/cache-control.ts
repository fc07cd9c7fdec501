import { memoize } from "../fields/memoize.ts";
import { isToken } from "../fields/token.ts";
import { readCacheDirectives } from "./cache-directives.ts";
import { type DeltaSeconds, readDeltaSeconds, stricterOf } from "./delta-seconds.ts";

/**
 * The directives of a response as a typed value. RFC 9111 §5.2.2; RFC 5861 §3, §4; RFC 8246 for `immutable`.
 *
 * The text is parsed once; no code after this looks at it. If a directive comes twice, the more restrictive one counts
 * (§4.2.1). A field that cannot be read counts as `no-store`, because it may have been meant to forbid storing.
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
 * The scope of a directive that may be limited to some fields: the whole response, or these fields, in lower case. RFC
 * 9111 §5.2.2.4, §5.2.2.7.
 */
export type FieldScope = "absent" | "whole" | readonly string[];

/** The same value while it is being built. */
export type CacheControlDraft = { -readonly [Key in keyof CacheControl]: CacheControl[Key] };

/** The value of a field without directives. */
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

/** A known directive by the kind of its argument: none, field names, or a number of seconds. */
export type KnownDirective =
  | {
      readonly kind: "flag";
      readonly key:
        | "noStore"
        | "public"
        | "mustRevalidate"
        | "proxyRevalidate"
        | "mustUnderstand"
        | "immutable"
        | "noTransform";
    }
  | { readonly kind: "scope"; readonly key: "noCache" | "private" }
  | { readonly kind: "seconds"; readonly key: "maxAge" | "sMaxage" | "staleWhileRevalidate" | "staleIfError" };

/** The known directives by their names on the wire. */
export const KNOWN_DIRECTIVES: ReadonlyMap<string, KnownDirective> = new Map<string, KnownDirective>([
  ["no-store", { kind: "flag", key: "noStore" }],
  ["no-cache", { kind: "scope", key: "noCache" }],
  ["private", { kind: "scope", key: "private" }],
  ["public", { kind: "flag", key: "public" }],
  ["must-revalidate", { kind: "flag", key: "mustRevalidate" }],
  ["proxy-revalidate", { kind: "flag", key: "proxyRevalidate" }],
  ["must-understand", { kind: "flag", key: "mustUnderstand" }],
  ["immutable", { kind: "flag", key: "immutable" }],
  ["no-transform", { kind: "flag", key: "noTransform" }],
  ["max-age", { kind: "seconds", key: "maxAge" }],
  ["s-maxage", { kind: "seconds", key: "sMaxage" }],
  ["stale-while-revalidate", { kind: "seconds", key: "staleWhileRevalidate" }],
  ["stale-if-error", { kind: "seconds", key: "staleIfError" }],
]);

/** Directives that permit something. Their argument may be a no, like Django's `public=False`. */
export const PERMISSIONS: ReadonlySet<string> = new Set(["public", "must-understand", "immutable"]);

/** The value of an absent field. */
const NOTHING: CacheControl = emptyCacheControl();

/** The one value of all fields that cannot be read, so that they can be told from `no-store`. */
export const UNREADABLE: CacheControl = { ...NOTHING, noStore: true };

/** Parses the field's text, in which several lines are joined with commas; `null` for an absent field. Never throws. */
export function parseCacheControl(text: string | null): CacheControl {
  return text === null ? NOTHING : parseText(text);
}

/** An origin sends the same few texts again and again. Finding one takes a fifth of the time of parsing it. */
const parseText = memoize((text: string): CacheControl => {
  const said = emptyCacheControl();
  const directives = readCacheDirectives(text);
  if (directives === undefined) return UNREADABLE;
  for (const { name, value, isQuoted } of directives) {
    const known = KNOWN_DIRECTIVES.get(name);
    switch (known?.kind) {
      case undefined:
        break; // §5.2.3: unknown directives are ignored
      case "flag":
        said[known.key] ||= value === undefined || !PERMISSIONS.has(name);
        break;
      case "seconds":
        said[known.key] = stricterOf(said[known.key], readDeltaSeconds(value));
        break;
      case "scope":
        // A list without quotes is cut at its first comma, so the names before it may not be all of them.
        said[known.key] = widerScope(said[known.key], isQuoted ? readFieldScope(value!) : "whole");
    }
  }
  return said;
});

/** Writes the directives so that parsing gives the same value again. */
export function formatCacheControl(cacheControl: CacheControl): string {
  const members: string[] = [];
  for (const [name, { key }] of KNOWN_DIRECTIVES) {
    const value = cacheControl[key];
    if (value === false || value === "absent") continue;
    if (value === true || value === "whole") members.push(name);
    else members.push(typeof value === "object" ? `${name}="${value.join(", ")}"` : `${name}=${value}`);
  }
  return members.join(", ");
}

/**
 * The fields named by an argument. One that is empty, malformed or has a `*` may have meant any field, so it covers the
 * whole response.
 */
export function readFieldScope(argument: string): FieldScope {
  const names = argument.split(",").flatMap((name) => name.trim().toLowerCase() || []);
  const areNames = names.length > 0 && names.every(isToken) && !names.includes("*");
  return areNames ? [...new Set(names)] : "whole";
}

function widerScope(one: FieldScope, other: FieldScope): FieldScope {
  if (one === "absent") return other;
  if (one === "whole" || other === "whole" || other === "absent") return "whole";
  return [...new Set([...one, ...other])];
}
