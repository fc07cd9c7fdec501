import { matchesAnyName, TRACKING_PARAMETERS } from "#tidemark/internal";
import { hashKey, keyHash } from "./key-hash.ts";
import { NamedCounts } from "./named-counts.ts";

/**
 * The names of parameters with text that a visitor types. Their values are keyed in lower case and without white space.
 */
export const SEARCH_PARAMETERS: readonly string[] = [
  "q",
  "query",
  "s",
  "search",
  "term",
  "keyword",
  "keywords",
  "text",
];

const MAX_NAMES = 500;
/** A URL with more parameters is not compared: a visitor can send any number. */
const MAX_PARAMETERS = 12;
/** How many pages are remembered for comparison; a later page replaces an earlier one. */
const PLACES = 1 << 15;

/** A parameter seems to be idle if the sizes were equal in this share of at least this many comparisons. */
const MIN_COMPARISONS = 30;
const SAME_SHARE = 0.99;

interface ParameterCounts {
  requests: number;
  /** Pairs of answers whose URLs differ only in this parameter. */
  compared: number;
  /** The pairs of equal size. */
  same: number;
}

/** A parameter of the site's queries. */
export interface ParameterReport {
  readonly name: string;
  readonly requests: number;
  readonly compared: number;
  readonly same: number;
  /** `dropped`: the edge leaves it out of the key by default; `seems-idle`: its values did not change the answers' sizes. */
  readonly verdict: "dropped" | "seems-idle" | "matters" | "unknown";
}

/**
 * Finds parameters that do not change the page. If two URLs differ only in one parameter and their answers have equal
 * sizes, the parameter probably does not matter: a log has only the size.
 */
export class Parameters {
  readonly #counts = new NamedCounts<ParameterCounts>(MAX_NAMES, () => ({ requests: 0, compared: 0, same: 0 }));
  readonly #contexts = new Uint32Array(PLACES);
  readonly #values = new Uint32Array(PLACES);
  readonly #bytes = new Float64Array(PLACES);
  readonly #partHashes = new Uint32Array(MAX_PARAMETERS);
  readonly #parts: string[] = [];

  /** `search` begins with `?`. `bytes`: of a whole answer with status 200; otherwise 0. */
  take(path: string, search: string, bytes: number): void {
    const parts = this.#parts;
    parts.length = 0;
    let start = 1;
    while (start < search.length && parts.length < MAX_PARAMETERS) {
      let end = search.indexOf("&", start);
      if (end < 0) end = search.length;
      if (end > start) parts.push(search.slice(start, end));
      start = end + 1;
    }
    let all = 0;
    for (const [index, part] of parts.entries()) {
      hashKey(part);
      this.#partHashes[index] = keyHash.high;
      all = (all + keyHash.high) >>> 0;
    }
    hashKey(path);
    const pathHash = keyHash.high;
    for (const [index, part] of parts.entries()) {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      const counts = this.#counts.at(name);
      counts.requests++;
      if (bytes === 0 || start < search.length) continue;
      hashKey(name, pathHash);
      this.#compare(counts, (keyHash.low ^ (all - this.#partHashes[index]!)) >>> 0, this.#partHashes[index]!, bytes);
    }
  }

  #compare(counts: ParameterCounts, context: number, value: number, bytes: number): void {
    const place = (context ^ (context >>> 16)) & (PLACES - 1);
    if (this.#contexts[place] === context && this.#values[place] !== value) {
      counts.compared++;
      if (this.#bytes[place] === bytes) counts.same++;
    }
    this.#contexts[place] = context;
    this.#values[place] = value;
    this.#bytes[place] = bytes;
  }

  /** The parameters, the most frequent first. */
  report(): ParameterReport[] {
    return [...this.#counts.entries()]
      .map(([name, counts]) => ({ name, ...counts, verdict: verdictOf(name, counts) }))
      .sort((a, b) => b.requests - a.requests);
  }
}

function verdictOf(name: string, { compared, same }: ParameterCounts): ParameterReport["verdict"] {
  if (matchesAnyName(name, TRACKING_PARAMETERS)) return "dropped";
  if (compared < MIN_COMPARISONS) return "unknown";
  return same >= compared * SAME_SHARE ? "seems-idle" : "matters";
}
