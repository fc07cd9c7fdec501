import type { Traffic } from "./traffic.ts";

/** Hit ratios that no policy can exceed, even one that knows all requests in advance. */
export interface OfflineBound {
  readonly byRequests: number;
  readonly byBytes: number;
}

/**
 * PFOO-L (Berger, Beckmann and Harchol-Balter, "Practical Bounds on Optimal Caching with Variable Object Sizes", 2018).
 * A hit needs the page's bytes from its request before until this one. The bound takes the hits that need the least,
 * until their bytes times requests amount to the size of the cache times all requests: the cache need not hold them at
 * every moment, only on the average, so no real cache can do better. The bound for hits by bytes takes the hits that
 * need the least for each byte, the shortest ones.
 */
export function offlineBound({ pages, sizeBytes }: Traffic, maxBytes: number): OfflineBound {
  const hits: { readonly bytes: number; readonly length: number }[] = [];
  const requestedAt = new Map<number, number>();
  let requestedBytes = 0;
  for (const [request, page] of pages.entries()) {
    const bytes = sizeBytes[page]!;
    requestedBytes += bytes;
    const before = requestedAt.get(page);
    if (before !== undefined && bytes <= maxBytes) hits.push({ bytes, length: request - before });
    requestedAt.set(page, request);
  }
  const volume = maxBytes * pages.length;
  hits.sort((a, b) => a.bytes * a.length - b.bytes * b.length);
  const byRequests = filled(hits, volume, () => 1) / pages.length;
  hits.sort((a, b) => a.length - b.length);
  const byBytes = filled(hits, volume, ({ bytes }) => bytes) / requestedBytes;
  return { byRequests, byBytes };
}

/** The value of the first hits that fit; of the last one, the part that fits. */
function filled<Hit extends { readonly bytes: number; readonly length: number }>(
  hits: readonly Hit[],
  volume: number,
  value: (hit: Hit) => number,
): number {
  let sum = 0;
  let free = volume;
  for (const hit of hits) {
    const needed = hit.bytes * hit.length;
    if (needed > free) return sum + (value(hit) * free) / needed;
    free -= needed;
    sum += value(hit);
  }
  return sum;
}
