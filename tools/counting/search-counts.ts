import { NamedCounts } from "./named-counts.ts";
import { SEARCH_PARAMETERS } from "./parameters.ts";

/** Longer queries are counted together. */
const MAX_LENGTH = 64;

/** The suggested cut-off keeps this share of the hits. */
const KEPT_HITS = 0.95;

/** The queries that visitors typed into one search. */
export interface SearchReport {
  readonly parameter: string;
  readonly requests: number;
  /** If queries up to this length are stored: the share of hits, and the number of entries. */
  readonly cutOffs: readonly {
    readonly length: number;
    readonly requests: number;
    readonly hits: number;
    readonly hitRatio: number;
    readonly entries: number;
  }[];
  /** The shortest cut-off that keeps 95 % of the hits; 0 if there are none. */
  readonly suggestedLength: number;
}

interface ByLength {
  requests: number;
  readonly requestsOf: Float64Array;
  readonly missesOf: Float64Array;
  readonly entriesOf: Float64Array;
}

/** The queries that visitors type into the site's searches, by length. */
export class SearchCounts {
  readonly #counts = new NamedCounts<ByLength>(100, () => ({
    requests: 0,
    requestsOf: new Float64Array(MAX_LENGTH + 1),
    missesOf: new Float64Array(MAX_LENGTH + 1),
    entriesOf: new Float64Array(MAX_LENGTH + 1),
  }));

  /** `query`: in the form that is in the key. */
  take(path: string, query: string, weight: number, isMiss: boolean, isNew: boolean): void {
    for (const part of query.slice(1).split("&")) {
      const equals = part.indexOf("=");
      if (equals < 1 || !SEARCH_PARAMETERS.includes(part.slice(0, equals))) continue;
      const counts = this.#counts.at(`${path}?${part.slice(0, equals)}`);
      const length = Math.min(MAX_LENGTH, decodedLength(part.slice(equals + 1)));
      counts.requests += weight;
      counts.requestsOf[length]! += weight;
      if (isMiss) counts.missesOf[length]! += weight;
      if (isNew) counts.entriesOf[length]! += weight;
      return;
    }
  }

  /** The search with the most requests; `null` if there is none. */
  report(): SearchReport | null {
    const [found] = [...this.#counts.entries()].sort(([, a], [, b]) => b.requests - a.requests);
    if (found === undefined) return null;
    const [parameter, { requests, requestsOf, missesOf, entriesOf }] = found;
    const sum = (values: Float64Array, length: number) =>
      Math.round(values.subarray(0, length + 1).reduce((total, value) => total + value, 0));
    const longest = requestsOf.findLastIndex((count) => count > 0);
    const cutOffs = Array.from({ length: longest }, (_none, index) => {
      const length = index + 1;
      const hits = sum(requestsOf, length) - sum(missesOf, length);
      return {
        length,
        requests: sum(requestsOf, length),
        hits,
        hitRatio: hits / requests,
        entries: sum(entriesOf, length),
      };
    });
    const allHits = cutOffs.at(-1)?.hits ?? 0;
    const suggested = cutOffs.find(({ hits }) => hits > 0 && hits >= allHits * KEPT_HITS);
    return { parameter, requests: Math.round(requests), cutOffs, suggestedLength: suggested?.length ?? 0 };
  }
}

/** The number of characters of a value as it was typed. */
function decodedLength(value: string): number {
  if (!value.includes("%")) return value.length;
  try {
    return [...decodeURIComponent(value)].length;
  } catch {
    return value.length; // not UTF-8
  }
}
