import type { Explanation } from "../../wire/explanation.ts";
import { shownParameter, shownUrl } from "../rules/request/shown-url.ts";
import type { VariantFields } from "../rules/variants/vary.ts";

/** The most keys that are named, and the most pieces in which a near key differs. */
const MAX_KEYS = 3;
const MAX_DIFFERENCES = 4;
/** The most keys that are compared, so that a memory of small pages does not make this slow. */
const MAX_COMPARED = 50_000;

/**
 * The remembered keys that differ least from this one, and in what. Their paths are the same but for scheme, letter
 * case and a final slash. Those of other hosts count only if none of this host is remembered: then no request may reach
 * the edge under this one, as where `wrangler dev` gives each the host of the worker's route. `valueHere` gives the
 * request's value of a field that selects, in its normal form.
 */
export function nearestKeys(
  key: string,
  valueHere: (field: string) => string | null,
  remembered: Iterable<string>,
): Explanation["nearest"] {
  const ofHost: Explanation["nearest"] = [];
  const ofOthers: Explanation["nearest"] = [];
  const here = partsOf(key);
  let knowsHost = false;
  let compared = 0;
  for (const other of remembered) {
    if (++compared > MAX_COMPARED) break;
    const there = partsOf(other);
    const isOfHost = here.host === there.host;
    knowsHost ||= isOfHost;
    if (other === key || here.loosePath !== there.loosePath || (knowsHost && !isOfHost)) continue;
    const near = isOfHost ? ofHost : ofOthers;
    const differsIn = [
      ...(isOfHost ? [] : [`host ${there.host}`]),
      ...(isOfHost && here.path !== there.path ? [`path ${there.path}`] : []),
      ...(!isOfHost && here.pathname !== there.pathname ? [`path ${there.pathname}`] : []),
      ...missing(here.query, there.query),
      ...missing(there.query, here.query),
      // The values belong to other visitors, so only the names are given.
      ...there.fields.flatMap(([name, value]) => (valueHere(name) === value ? [] : [`field ${name}`])),
    ];
    if (differsIn.length > MAX_DIFFERENCES) continue;
    if (differsIn.length === 0) {
      if (here.url === there.url) continue; // It is the variant that the request selects.
      differsIn.push("order of the query");
    }
    const found = { key: shownUrl(there.url), differsIn };
    // Variants of one URL may differ in the values of the same fields.
    if (near.some((each) => String(Object.values(each)) === String(Object.values(found)))) continue;
    near.push(found);
    near.sort((a, b) => a.differsIn.length - b.differsIn.length);
    near.length = Math.min(near.length, MAX_KEYS);
  }
  return knowsHost ? ofHost : ofOthers;
}

function partsOf(key: string) {
  const [url, variant] = splitAt(key, " ");
  const [path, query] = splitAt(url, "?");
  const [, host, pathname = ""] = /^https?:\/\/([^/]*)(.*)$/.exec(path) ?? [];
  const loosePath = pathname.toLowerCase().replace(/\/+$/, "");
  return {
    url,
    path,
    host,
    pathname,
    loosePath,
    query: query.split("&"),
    fields: JSON.parse(variant || "[]") as VariantFields,
  };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The parameters of one query that the other does not have. */
function missing(query: readonly string[], other: readonly string[]): string[] {
  return query.flatMap((text) => (text === "" || other.includes(text) ? [] : [`query ${shownParameter(text)}`]));
}
