import { cookiesIn } from "../identity/cookies.ts";
import { matchesAnyName } from "../key/name-pattern.ts";

/** What of a request sends it past the cache, by the owner's word. A trailing `*` of a name stands for any ending. */
export interface BypassRules {
  readonly cookies: readonly string[];
  /** In lower case. */
  readonly fields: readonly string[];
  readonly query: readonly string[];
  /** True if a page that only the owner's lifetime makes storable is not for visitors with a framework's session. */
  readonly sessions: boolean;
}

export const NO_BYPASS: BypassRules = { cookies: [], fields: [], query: [], sessions: false };

/** By what of its fields a request bypasses the cache; `null` for nothing. */
export function bypassReason(
  fields: Iterable<readonly [name: string, value: string]> & { get(name: string): string | null },
  rules: BypassRules,
): "cookie" | "field" | null {
  if (rules.cookies.length > 0) {
    const cookies = cookiesIn(fields.get("cookie") ?? "");
    if (cookies.some(([name]) => matchesAnyName(name, rules.cookies))) return "cookie";
  }
  if (rules.fields.length > 0) {
    for (const [name] of fields) if (matchesAnyName(name.toLowerCase(), rules.fields)) return "field";
  }
  return null;
}
