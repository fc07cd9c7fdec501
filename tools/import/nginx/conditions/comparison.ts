import { portableRegex } from "../paths/portable-regex.ts";

/** A comparison of a text, as `if`, `map` and the directives of the cache make them. */
export interface Comparison {
  /** For known texts. `null` if only PCRE could tell. */
  readonly holds: (text: string) => boolean | null;
  /** The expression that is searched for in the text; `null` for other comparisons. */
  readonly regex: { readonly source: string; readonly ignoreCase: boolean } | null;
  /** The same for a comparison that holds if an expression is not found. */
  readonly without?: { readonly source: string; readonly ignoreCase: boolean };
}

/** Neither empty nor `0`, as in `if ($x)` and `proxy_no_cache $x`. */
export const IS_TRUE: Comparison = { holds: (text) => text !== "" && text !== "0", regex: null };
export const IS_NOT_EMPTY: Comparison = { holds: (text) => text !== "", regex: null };
/** How `proxy_cache $zone` turns the cache off. */
export const IS_OFF: Comparison = { holds: (text) => text === "" || text === "off", regex: null };

/** nginx compares the keys of a map without regard to case: nginx.org/en/docs/http/ngx_http_map_module.html. */
export function equalsKey(key: string): Comparison {
  return {
    holds: (text) => text.toLowerCase() === key.toLowerCase(),
    regex: { source: `^${escapedForPcre(key)}$`, ignoreCase: true },
  };
}

/** Holds where `equalsKey` does not. */
export function differsFromKey(key: string): Comparison {
  const { holds } = equalsKey(key);
  return { holds: (text) => negated(holds(text)), regex: null };
}

/** The comparison of an `if`; `null` for an unknown operator. */
export function comparisonOf(operator: string, value: string): Comparison | null {
  switch (operator) {
    case "=":
      return { holds: (text) => text === value, regex: { source: `^${escapedForPcre(value)}$`, ignoreCase: false } };
    case "!=":
      return {
        holds: (text) => text !== value,
        regex: null,
        without: { source: `^${escapedForPcre(value)}$`, ignoreCase: false },
      };
    case "~":
    case "~*":
      return matching(value, operator === "~*");
    case "!~":
    case "!~*": {
      const { holds, regex } = matching(value, operator === "!~*");
      return { holds: (text) => negated(holds(text)), regex: null, without: regex! };
    }
    default:
      return null;
  }
}

function matching(source: string, ignoreCase: boolean): Comparison {
  const regex = portableRegex(source, { ignoreCase });
  return { holds: (text) => (regex === null ? null : regex.test(text)), regex: { source, ignoreCase } };
}

function negated(held: boolean | null): boolean | null {
  return held === null ? null : !held;
}

function escapedForPcre(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&");
}
