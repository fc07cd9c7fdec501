import { hashKey, keyHash } from "../counting/key-hash.ts";
import type { LoggedRequest } from "../logs/logged-request.ts";

/**
 * 95 of 100 samples are within this many standard errors: more than two, because a few paths have most of the misses.
 */
const STANDARD_ERRORS = 3;

/** A log of this size has about a million lines. The edge's code replays 15,000 to 20,000 lines a second. */
const MAX_LOG_BYTES = 200 * 1024 ** 2;

/** A path with more requests is replayed from then on, even if it is not in the sample. */
const OFTEN = 1_000;

/** The most paths outside the sample whose requests are counted. */
const MAX_COUNTED = 500_000;

/** The sampling rate for logs of this size, so that a replay takes at most about a minute. */
export function oneInFor(logBytes: number): number {
  return Math.max(1, Math.ceil(logBytes / MAX_LOG_BYTES));
}

type Page = Pick<LoggedRequest, "host" | "target">;

/**
 * Chooses the requests of a log to replay: those of one path in n, by its hash, and of all popular paths. All requests
 * of a chosen path are replayed, so that the edge stores and answers as it would with all traffic.
 */
export class PageSample {
  readonly oneIn: number;
  readonly #often: number;
  /** The requests of each path outside the sample, until it is popular. */
  readonly #left = new Map<string, number>();
  /** Requests that are not replayed. */
  left = 0;

  constructor(oneIn: number, often = OFTEN) {
    this.oneIn = oneIn;
    this.#often = often;
  }

  /** Whether a request is replayed. Its query does not matter, because a config may treat two queries as one page. */
  takes(page: Page): boolean {
    if (this.oneIn === 1) return true;
    const path = pathOf(page);
    hashKey(path);
    if (keyHash.low % this.oneIn === 0) return true;
    const before = this.#left.get(path) ?? 0;
    if (before >= this.#often) return true;
    if (before > 0 || this.#left.size < MAX_COUNTED) this.#left.set(path, before + 1);
    this.left++;
    return false;
  }

  /** The results of an edge for the replayed requests. */
  counted(): SampledMisses {
    return new SampledMisses(this, this.#left, this.#often);
  }
}

/** The estimated number of misses among all requests. */
export class SampledMisses {
  readonly #sample: PageSample;
  readonly #left: ReadonlyMap<string, number>;
  readonly #often: number;
  readonly #paths = new Map<string, { requests: number; misses: number }>();
  #requests = 0;

  constructor(sample: PageSample, left: ReadonlyMap<string, number>, often: number) {
    this.#sample = sample;
    this.#left = left;
    this.#often = often;
  }

  /** Counts the result of a replayed request. */
  count(page: Page, isHit: boolean): void {
    if (this.#sample.oneIn === 1) return;
    this.#requests++;
    const path = pathOf(page);
    const counts = this.#paths.get(path) ?? { requests: 0, misses: 0 };
    counts.requests++;
    counts.misses += Number(!isHit);
    this.#paths.set(path, counts);
  }

  /**
   * The hit ratio of all requests, and how far it may be off in 95 of 100 samples. Misses are estimated, because no
   * page has many of them in proportion to its visitors: a popular path counts for itself, and every other path of the
   * sample with the reciprocal of the sampling rate (the estimator of Horvitz and Thompson, with its variance). `null`
   * if all were replayed.
   */
  get estimate(): { readonly hitRatio: number; readonly margin: number } | null {
    const { oneIn, left } = this.#sample;
    if (oneIn === 1) return null;
    let misses = 0;
    let variance = 0;
    for (const [path, own] of this.#paths) {
      const before = this.#left.get(path) ?? 0;
      const isOften = before > 0 || own.requests > this.#often;
      // The requests before a path was replayed count like the later ones.
      misses += isOften ? own.misses * (1 + before / own.requests) : own.misses * oneIn;
      variance += isOften ? 0 : (oneIn - 1) * oneIn * own.misses ** 2;
    }
    const requests = this.#requests + left;
    if (requests === 0) return { hitRatio: 0, margin: 1 };
    const hitRatio = Math.min(1, Math.max(0, 1 - misses / requests));
    return { hitRatio, margin: Math.min(1, (STANDARD_ERRORS * Math.sqrt(variance)) / requests) };
  }
}

function pathOf({ host, target }: Page): string {
  const query = target.indexOf("?");
  return host + (query === -1 ? target : target.slice(0, query));
}
