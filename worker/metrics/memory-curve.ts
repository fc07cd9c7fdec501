import type { MemoryStats } from "../../wire/stats.ts";
import type { ReuseCounts } from "./reuse-sample.ts";

/** The sizes of a curve, as multiples of the memory's own. */
const SIZES = [0.25, 0.5, 1, 2, 4, 8];

/**
 * The share of the uses that memories of other sizes would hold, by the reuse of pages (Hu et al., "Kinetic Modeling of Data
 * Eviction in Cache", ATC 2016): an entry stays for as many uses as bring the memory's size in bytes of pages that are not
 * used again within that time. It is so for a memory that evicts what was not used for longest.
 */
export function memoryCurve(
  { uses, after, bytesAfter }: Omit<ReuseCounts, "held">,
  maxBytes: number,
): MemoryStats["curve"] {
  const buckets = Object.entries(after.buckets).map(([name, count]) => {
    const bucket = Number(name);
    return { from: distanceFrom(bucket), until: distanceFrom(bucket + 1), count, bytes: bytesAfter.buckets[bucket]! };
  });
  return SIZES.map((size) => {
    const bytes = size * maxBytes;
    // Frequent pages that are not in the sample have no bucket: they are used again at once.
    let missed = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
    let bytesLater = buckets.reduce((sum, bucket) => sum + bucket.bytes, 0);
    let room = bytes * uses;
    let reached = 0;
    for (const bucket of buckets) {
      room -= (bucket.from - reached) * bytesLater;
      if (room <= 0) break;
      const taken = (bucket.until - bucket.from) * (bytesLater - bucket.bytes / 2);
      missed -= bucket.count * Math.min(1, room / taken);
      room -= taken;
      bytesLater -= bucket.bytes;
      reached = bucket.until;
    }
    return { bytes, hitRatio: Math.max(0, 1 - missed / uses) };
  });
}

/** The shortest distance that a bucket of the reuses holds. There are two for each doubling. */
function distanceFrom(bucket: number): number {
  return 2 ** (bucket >> 1) * (bucket % 2 === 0 ? 1 : 1.5);
}
