import { get, type IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

export interface Download {
  readonly bytes: number;
  readonly seconds: number;
  readonly cacheStatus: string;
}

/** Gets a page and throws its bytes away: as fast as they come, or at most so many of them in a second. */
export async function download(url: URL, mostBytesPerSecond: number | null): Promise<Download> {
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent: false }, resolve).on("error", reject);
  const incoming = await promise;
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (mostBytesPerSecond === null) continue;
    const aheadMs = (bytes / mostBytesPerSecond) * 1000 - (performance.now() - startedAt);
    if (aheadMs > 1) await wait(aheadMs); // nothing is read meanwhile, so the sender has to wait as well
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { bytes, seconds, cacheStatus: String(incoming.headers["cache-status"] ?? "") };
}
