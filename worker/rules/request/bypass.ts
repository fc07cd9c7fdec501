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

export const NO_BYPASS: BypassRules = { cookies: null, fields: [], fieldValues: null, query: null, sessions: false };

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
