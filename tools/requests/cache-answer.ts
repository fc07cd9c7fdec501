import { type InnerList, type Item, isInnerList, parseList } from "structured-headers";

/** What an answer says about the caches that it came through. */
export interface CacheAnswer {
  /** Whether the nearest cache answered without asking the origin first; `null` if no field says. */
  readonly isHit: boolean | null;
  /** Its own word for that: `HIT`, `EXPIRED`, `fwd=uri-miss`; `null` if no field says. */
  readonly word: string | null;
  /** Whether it says that it stored the answer; `null` if it does not say. */
  readonly isStored: boolean | null;
  /** The cache's own word for why it did not. */
  readonly detail: string | null;
}

/** Gives a field by its name in lower case. */
type Field = (name: string) => string | null;

/** Fields with one word for each cache. If several caches write into one, the last word is that of the nearest. */
const WORD_FIELDS = ["x-cache", "cf-cache-status", "x-vercel-cache", "x-cache-status", "x-proxy-cache"];

/** A stored answer that waited for nothing but is not called a hit. */
const ALSO_HITS: ReadonlySet<string> = new Set(["UPDATING", "STALE", "PRERENDER"]);

/**
 * Reads Tidemark's fields, and those with the same meaning from other caches. `Age` counts if there is nothing else.
 */
export function cacheAnswer(field: Field): CacheAnswer {
  const status = nearestCacheStatus(field("cache-status"));
  const stored = { isStored: status?.isStored ?? null, detail: status?.detail ?? null };
  // X-Cache comes first: a cache that writes it passes on an origin's Cache-Status more often than the other way round.
  const xCache = wordIn(field, WORD_FIELDS.slice(0, 1));
  if (xCache !== null) return { ...xCache, ...stored };
  if (status !== null) return { isHit: status.isHit, word: status.word, ...stored };
  return { ...(wordIn(field, WORD_FIELDS.slice(1)) ?? varnishIds(field) ?? age(field) ?? UNKNOWN), ...stored };
}

/** The word of an answer that has nothing but an `Age` of 0. */
export const NO_AGE = "Age: 0";

type HitAndWord = Pick<CacheAnswer, "isHit" | "word">;

const UNKNOWN: HitAndWord = { isHit: null, word: null };

function wordIn(field: Field, names: readonly string[]): HitAndWord | null {
  for (const name of names) {
    const nearest = field(name)?.split(",").at(-1) ?? "";
    const word = nearest.trim().split(/\s/, 1)[0]!.toUpperCase();
    if (word !== "") return { isHit: isHitWord(word), word };
  }
  return null;
}

/** `HIT`, `TCP_HIT`, `TCP_MEM_HIT`; not `REFRESHHIT` and `TCP_REFRESH_HIT`, which the origin has confirmed. */
function isHitWord(word: string): boolean {
  return ALSO_HITS.has(word) || (/(^|[_-])HIT$/.test(word) && !word.includes("REFRESH"));
}

/** Varnish writes its own number and, on a hit, that of the request that fetched the page. */
function varnishIds(field: Field): HitAndWord | null {
  const ids = field("x-varnish")?.trim().split(/\s+/);
  if (ids === undefined) return null;
  return ids.length > 1 ? { isHit: true, word: "HIT" } : { isHit: false, word: "MISS" };
}

/** Only a stored answer has an age. An age of 0 is also what some proxies write on every answer. */
function age(field: Field): HitAndWord | null {
  const seconds = field("age");
  if (seconds === null) return null;
  return Number(seconds) > 0 ? { isHit: true, word: "Age" } : { isHit: null, word: NO_AGE };
}

interface CacheStatus {
  readonly isHit: boolean;
  readonly word: string;
  readonly isStored: boolean | null;
  readonly detail: string | null;
}

/** The last member of `Cache-Status`, which is that of the cache nearest to the client. RFC 9211 §2. */
function nearestCacheStatus(field: string | null): CacheStatus | null {
  const member = field === null ? undefined : listOf(field).at(-1);
  if (member === undefined || isInnerList(member)) return null;
  const [name, parameters] = member;
  const hit = parameters.get("hit");
  const forwarded = parameters.get("fwd");
  if (hit === undefined && forwarded === undefined) return null;
  const detail = parameters.get("detail");
  const isHit = hit === true;
  return {
    isHit,
    word: isHit ? "hit" : `fwd=${forwarded}`,
    // Other caches may store without the parameter `stored`; ours writes it whenever it stores an answer.
    isStored: parameters.get("stored") === true ? true : String(name) === "tidemark" && !isHit ? false : null,
    detail: detail === undefined ? null : String(detail),
  };
}

function listOf(field: string): readonly (InnerList | Item)[] {
  try {
    return parseList(field);
  } catch {
    return []; // A malformed field counts as absent. RFC 9651 §4.2.
  }
}
