import { canonicalQuery, canonicalUrl, TRACKING_PARAMETERS } from "#tidemark/internal";
import { SEARCH_PARAMETERS } from "./parameters.ts";

/** The rules of the config that the report writes. */
const KEY_RULES = {
  ignore: TRACKING_PARAMETERS,
  lowercase: SEARCH_PARAMETERS,
  trim: SEARCH_PARAMETERS,
  sort: false,
};

/** Characters that the canonical spelling never changes. A target with any other character is parsed as a URL. */
const IS_PLAIN = new Uint8Array(128);
for (const plain of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~/:@!$&()*+,;=") {
  IS_PLAIN[plain.charCodeAt(0)] = 1;
}

const QUESTION = 63;
const DOT = 46;
const SLASH = 47;
const PERCENT = 37;

/** The path and query under which the edge stores a page; `null` for a target that it refuses. */
export interface KeyedTarget {
  readonly path: string;
  readonly query: string;
  /** The query as it was sent. */
  readonly search: string;
}

/** Spells a target as the edge does, by its own rules. Most targets need no parsing. */
export function keyedTarget(target: string): KeyedTarget | null {
  let pathEnd = -1;
  for (let index = 0; index < target.length; index++) {
    const code = target.charCodeAt(index);
    if (code < 128 && IS_PLAIN[code] === 1) continue;
    if (code === QUESTION) {
      if (pathEnd < 0) pathEnd = index;
      continue;
    }
    if (code === PERCENT && pathEnd >= 0) continue;
    if (code === DOT && (pathEnd >= 0 || target.charCodeAt(index - 1) !== SLASH)) {
      if (target.charCodeAt(index + 1) !== DOT) continue;
    }
    return parsedTarget(target);
  }
  if (pathEnd < 0) return { path: target, query: "", search: "" };
  const search = target.slice(pathEnd);
  return { path: target.slice(0, pathEnd), query: canonicalQuery(search, KEY_RULES), search };
}

function parsedTarget(target: string): KeyedTarget | null {
  const url = canonicalUrl(`http://site${target}`);
  if (url.kind === "refused") return null;
  return { path: url.path, query: canonicalQuery(url.search, KEY_RULES), search: url.search };
}
