import { cookiesIn } from "../identity/cookies.ts";
import { matchesAnyName } from "../key/name-pattern.ts";
import { type NamesAndPatterns, picks } from "../key/text-pattern.ts";

/** The part of a request that makes it bypass the cache, by the owner's rules. */
export interface BypassRules {
  /** `null` for none. Patterns are matched against the whole field. */
  readonly cookies: NamesAndPatterns | null;
  /** In lower case. A trailing `*` matches any ending. */
  readonly fields: readonly string[];
  /**
   * Patterns to find in the value of a field, by its name. A field that is not sent counts as empty. `null` for none.
   */
  readonly fieldValues: readonly (readonly [name: string, patterns: readonly RegExp[]])[] | null;
  /** Names of parameters, and patterns that are looked for in the query as sent. `any`: every query that is keyed. */
  readonly query: NamesAndPatterns | "any" | null;
  /** True if a page that only the owner's lifetime makes storable is not for visitors with a framework's session. */
  readonly sessions: boolean;
}

/** What is done with a request: its page is looked up, fetched anew, or it goes past the cache. */
export type RequestMode = "look-up" | "refresh" | "bypass";

/**
 * What is done with a request of this method. `passes`: the owner sends it past the cache, by the path or the query of its
 * URL (`Route.pass`, `isPickedQuery`) or by its fields (`bypassReason`).
 */
export function modeOf(
  method: string,
  field: (name: string) => string | null,
  passes: boolean,
  refreshToken: string | null,
): RequestMode {
  if (method !== "GET" && method !== "HEAD") return "bypass";
  if (passes || isWebSocket(field("upgrade"))) return "bypass";
  // Preconditions on the origin's own state, which a cache cannot evaluate. RFC 9111 §4.3.2.
  if (field("if-match") !== null || field("if-unmodified-since") !== null) return "bypass";
  return refreshToken !== null && method === "GET" ? "refresh" : "look-up";
}

/** RFC 6455 §4.1. */
export function isWebSocket(upgrade: string | null): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

/** By what of its fields a request bypasses the cache; `null` for nothing. */
export function bypassReason(
  fields: Iterable<readonly [name: string, value: string]> & { get(name: string): string | null },
  rules: BypassRules,
): "cookie" | "field" | null {
  if (rules.cookies !== null) {
    const field = fields.get("cookie");
    if (field !== null && picks(rules.cookies, field, namesOfCookies)) return "cookie";
  }
  if (rules.fields.length > 0) {
    for (const [name] of fields) if (matchesAnyName(name.toLowerCase(), rules.fields)) return "field";
  }
  if (rules.fieldValues !== null) {
    for (const [name, patterns] of rules.fieldValues) {
      const value = fields.get(name) ?? "";
      if (patterns.some((pattern) => pattern.test(value))) return "field";
    }
  }
  return null;
}

function namesOfCookies(field: string): readonly string[] {
  return cookiesIn(field).map(([name]) => name);
}
