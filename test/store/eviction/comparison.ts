import { EvictingMap } from "../../../worker/store/evicting-map.ts";
import { LARGEST_SHARE } from "../../../worker/store/memory-tier.ts";
import { Lru } from "./lru.ts";
import type { Policy } from "./policy.ts";
import { S3Fifo } from "./s3-fifo.ts";
import type { Traffic } from "./traffic.ts";
import { WTinyLfu } from "./w-tinylfu.ts";

/** What a page takes on the average; see `traffic.ts`. */
const MEAN_PAGE_BYTES = 38_000;

/** Ours may be so far below the best other online policy by requests, in points (docs/decisions/0020). */
export const MAX_BEHIND = 1;
/** Hit ratios in percent. */
export interface Ratios {
  readonly byRequests: number;
  readonly byBytes: number;
}

export interface Comparison {
  readonly policies: Readonly<Record<string, Ratios>>;
  /** Ours less the best of the other online policies, in points. */
  readonly ahead: Ratios;
}

/** The policy of the memory tier and of the disk. */
class Ours implements Policy {
  readonly name = "Tidemark";
  readonly #maxBytes: number;
  readonly #entries: EvictingMap<true>;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#entries = new EvictingMap(maxBytes);
  }

  request(page: number, bytes: number): boolean {
    const key = `https://www.example.com/page/${page}`;
    if (this.#entries.get(key)) return true;
    if (bytes <= this.#maxBytes * LARGEST_SHARE) this.#entries.set(key, true, bytes);
    return false;
  }
}

const POLICIES: readonly ((maxBytes: number) => Policy)[] = [
  (maxBytes) => new Ours(maxBytes),
  (maxBytes) => new Lru(maxBytes),
  (maxBytes) => new S3Fifo(maxBytes),
  (maxBytes) => new WTinyLfu(maxBytes),
];

/** The bytes of a cache that holds so many pages of the mean size. */
export function bytesOfPages(pages: number): number {
  return pages * MEAN_PAGE_BYTES;
}

/** Plays traffic to all policies, each with a cache of so many bytes. */
export function compare(traffic: Traffic, maxBytes: number): Comparison {
  const policies = POLICIES.map((make) => make(maxBytes)).map(
    (policy) => [policy.name, play(traffic, policy)] as const,
  );
  const [ours, ...others] = policies.map(([, ratios]) => ratios);
  const ahead = (ratio: (ratios: Ratios) => number) => ratio(ours!) - Math.max(...others.map(ratio));
  return {
    policies: Object.fromEntries(policies),
    ahead: { byRequests: ahead((ratios) => ratios.byRequests), byBytes: ahead((ratios) => ratios.byBytes) },
  };
}

function play({ pages, sizeBytes }: Traffic, policy: Policy): Ratios {
  let hits = 0;
  let hitBytes = 0;
  let allBytes = 0;
  for (const page of pages) {
    const bytes = sizeBytes[page]!;
    allBytes += bytes;
    if (!policy.request(page, bytes)) continue;
    hits++;
    hitBytes += bytes;
  }
  return {
    byRequests: (100 * hits) / pages.length,
    byBytes: (100 * hitBytes) / allBytes,
  };
}
