import { matchesAnyName } from "./name-pattern.ts";
import { type NamesAndPatterns, picks } from "./text-pattern.ts";

/**
 * A route's rules for the query that is keyed and sent. Names are compared after decoding; a trailing `*` matches any
 * ending.
 */
export interface QueryRules {
  /** Parameters to drop. */
  readonly ignore: readonly string[];
  /** If present, every other parameter is dropped. */
  readonly only?: readonly string[] | undefined;
  /** Parameters whose values are lowercased. */
  readonly lowercase: readonly string[];
  /** Parameters whose values are trimmed of white space. */
  readonly trim: readonly string[];
  /** Whether parameters are sorted by name. Parameters of the same name keep their order. */
  readonly sort: boolean;
}

/** Parameters that trackers add and that are read by scripts on the page, if at all, and one of media players (CTA-5004). */
export const TRACKING_PARAMETERS: readonly string[] = [
  "utm_*",
  "gclid",
  "gbraid",
  "wbraid",
  "dclid",
  "fbclid",
  "msclkid",
  "twclid",
  "ttclid",
  "igshid",
  "mc_cid",
  "mc_eid",
  "_ga",
  "_gl",
  "yclid",
  "li_fat_id",
  "CMCD",
];

/**
 * The query in its canonical form, which is keyed and sent, including its `?`; or empty. Parameters to which no rule
 * applies stay as they were written. Applying it to its own result changes nothing.
 */
export function canonicalQuery(search: string, rules: QueryRules): string {
  if (search.length <= 1) return "";
  let kept: string[] = [];
  for (const text of search.slice(1).split("&")) {
    if (text === "") continue;
    const name = decode(nameIn(text));
    if (rules.only ? !matchesAnyName(name, rules.only) : matchesAnyName(name, rules.ignore)) continue;
    kept.push(rewriteValue(name, text, rules));
  }
  if (rules.sort) kept = sortedByName(kept);
  return kept.length === 0 ? "" : `?${kept.join("&")}`;
}

/** The tracking parameters of a query that is keyed and sent without them, as they were written. */
export function droppedTrackers(search: string, rules: QueryRules): string[] {
  return search
    .slice(1)
    .split("&")
    .filter((text) => isTracker(text) && canonicalQuery(`?${text}`, rules) === "");
}

function isTracker(parameter: string): boolean {
  return matchesAnyName(decode(nameIn(parameter)), TRACKING_PARAMETERS);
}

/** The query of a URL with these parameters, too. */
export function withParameters(url: string, parameters: readonly string[]): string {
  const [whole = "", fragment = ""] = url.split(/(?=#)(.*)/s, 2);
  const present = new Set(namesOfParameters(whole.replace(/^[^?]*\??/, "")));
  const missing = parameters.filter((text) => !present.has(decode(nameIn(text))));
  return missing.length === 0 ? url : `${whole}${whole.includes("?") ? "&" : "?"}${missing.join("&")}${fragment}`;
}

/** Parameters of the same name keep their order, which an origin may read. */
export function sortedByName(parameters: readonly string[]): string[] {
  return parameters
    .map((text) => ({ name: decode(nameIn(text)), text }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ text }) => text);
}

/** All decoded values of one parameter, because an origin may read the first or the last. */
export function queryValues(search: string, name: string): string[] {
  return search
    .slice(1)
    .split("&")
    .flatMap((text) => {
      const own = nameIn(text);
      return decode(own) === name ? [decode(text.slice(own.length + 1))] : [];
    });
}

/**
 * Whether a query is one that the owner picks: by a name of a parameter, by a pattern in the query as it was sent, or for
 * `any` if its canonical form has any parameter left.
 */
export function isPickedQuery(search: string, canonical: string, picked: NamesAndPatterns | "any" | null): boolean {
  if (picked === null || search.length <= 1) return false;
  if (picked === "any") return canonical !== "";
  return picks(picked, search.slice(1), namesOfParameters);
}

function namesOfParameters(query: string): readonly string[] {
  return query.split("&").flatMap((text) => (text === "" ? [] : [decode(nameIn(text))]));
}

function rewriteValue(name: string, text: string, rules: QueryRules): string {
  const lowercase = matchesAnyName(name, rules.lowercase);
  const trim = matchesAnyName(name, rules.trim);
  const equals = text.indexOf("=");
  if (equals === -1 || !(lowercase || trim)) return text;
  let value = decoded(text.slice(equals + 1));
  if (value === null) return text; // it is passed on unchanged
  if (trim) value = value.trim();
  if (lowercase) value = value.toLowerCase();
  return `${text.slice(0, equals)}=${encodeURIComponent(value)}`;
}

/** The name of a parameter, as it was written. */
function nameIn(text: string): string {
  const equals = text.indexOf("=");
  return equals === -1 ? text : text.slice(0, equals);
}

/** Form decoding. A text that is not UTF-8 stays as it was written. */
function decode(text: string): string {
  return decoded(text) ?? text;
}

/**
 * Text whose escapes are UTF-8. RFC 3629 §4. `decodeURIComponent` throws for any other, and a URL of 16 KiB has room for
 * 8,000 such names: to catch as many exceptions takes many times as long as everything else for a hit.
 */
const UTF8 =
  /^(?:[^%]|%(?:[0-7][\da-f]|(?:c[2-9a-f]|d[\da-f]|(?:e0%[ab]|ed%[89]|e[1-9a-cef]%[89ab]|(?:f0%[9ab]|f4%8|f[1-3]%[89ab])[\da-f]%[89ab])[\da-f])%[89ab][\da-f]))*$/i;

/** `null` for a malformed escape, or one that is not UTF-8. */
function decoded(text: string): string | null {
  if (!/[+%]/.test(text)) return text;
  return UTF8.test(text) ? decodeURIComponent(text.replaceAll("+", " ")) : null;
}
