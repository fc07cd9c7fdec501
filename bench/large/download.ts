import { get, type IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

export interface Download {
  readonly bytes: number;
  readonly seconds: number;
  readonly cacheStatus: string;
}

/** Gets a page and discards its bytes, as fast as they arrive or at a limited rate. */
export async function download(url: URL, maxBytesPerSecond: number | null): Promise<Download> {
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent: false }, resolve).on("error", reject);
  const incoming = await promise;
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (maxBytesPerSecond === null) continue;
    const aheadMs = (bytes / maxBytesPerSecond) * 1000 - (performance.now() - startedAt);
    if (aheadMs > 1) await wait(aheadMs); // nothing is read in the meantime, so the sender has to wait too
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { bytes, seconds, cacheStatus: String(incoming.headers["cache-status"] ?? "") };
}
