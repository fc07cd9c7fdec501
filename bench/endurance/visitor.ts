import { setTimeout as wait } from "node:timers/promises";
import { BenchFailure } from "../frame/bench-failure.ts";
import { LatencyHistogram } from "../frame/latency-histogram.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { fieldOf, rawRequest, requestUntilHit } from "../load/raw-request.ts";
import { type EnduranceServer, MEDIUM_BYTES, SMALL_BYTES } from "./endurance-server.ts";

const PAUSE_MS = 100;

/** What a visitor saw while the server was under load. */
export interface Visit {
  readonly requests: number;
  readonly p99Ms: number;
  readonly purges: number;
}

/**
 * A visitor during the load, who checks every byte and sometimes purges a page. Fails on the first answer that is
 * wrong, and on a purged page that is served. Only this visitor requests that page.
 */
export async function visitUntil(isOver: () => boolean, server: EnduranceServer): Promise<Visit> {
  const latencies = new LatencyHistogram();
  const page = server.pageOf(SMALL_BYTES);
  const purged = new URL(`${server.pageOf(MEDIUM_BYTES).pathname}?visitor`, server.url);
  let purges = 0;
  for (let number = 0; !isOver(); number++) {
    const startedAt = performance.now();
    const { status, body } = await rawRequest(page);
    latencies.addSince(startedAt);
    if (status !== 200 || body !== pageOfBytes(SMALL_BYTES)) throw new BenchFailure(`A wrong answer: ${status}.`);
    if (number % 10 === 0 && (await purge(server, purged))) purges++;
    await wait(PAUSE_MS);
  }
  return { requests: latencies.count, p99Ms: latencies.percentile(99), purges };
}

/** False if the server takes no purges at this address. */
async function purge(server: EnduranceServer, page: URL): Promise<boolean> {
  await requestUntilHit("The server", page);
  const status = await server.purge(`${page.pathname}${page.search}`);
  if (status !== 200) return false;
  const after = await rawRequest(page);
  if (fieldOf(after, "x-cache") === "HIT") throw new BenchFailure("A purged page was served.");
  return true;
}
