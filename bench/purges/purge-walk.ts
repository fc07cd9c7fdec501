import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Cdn, startCdn } from "../../local/index.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { LatencyHistogram } from "../frame/latency-histogram.ts";
import { nginx as nginxWith } from "../peers/nginx.ts";
import { RunningPeer } from "../peers/peer.ts";
import { ProductOrigin, tagOf } from "./product-origin.ts";
import { ProductReader } from "./product-reader.ts";
import { RealTimePace } from "./real-time-pace.ts";

const ROUNDS = 11;

export interface WalkSettings {
  /** The numbers of stored pages to measure with, in ascending order. */
  readonly sizes: readonly number[];
  /** The most pages to store in the simulated CDN, where storing a page takes some milliseconds. */
  readonly maxHere: number;
}

/** Purges of a tag that a single page has, among a number of stored pages. */
export interface WalkResult {
  readonly nginx: { readonly entries: number; readonly walked: LatencyHistogram };
  readonly here: {
    readonly entries: number;
    readonly acknowledged: LatencyHistogram;
    readonly settled: LatencyHistogram;
  };
}

/**
 * Measures nginx and the simulated CDN in turn, in front of one origin. Fails unless each purge removes its page and
 * leaves the next one.
 */
export async function measureWalks({ sizes, maxHere }: WalkSettings): Promise<WalkResult[]> {
  await using origin = await ProductOrigin.start();
  await using nginx = await RunningPeer.start(nginxWith("nginx", { keepsConnections: true }), {
    origin: new URL(origin.url),
  });
  await using cdn = await startCdn({ site: {}, origin: origin.url });
  const walked = new ProductReader("nginx", nginx.url.origin);
  const here = new ProductReader("the simulated CDN", cdn.url());
  try {
    const results: WalkResult[] = [];
    let [filled, filledHere] = [0, 0];
    for (const entries of sizes) {
      await walked.fill(filled, entries);
      filled = entries;
      const entriesHere = Math.min(entries, maxHere);
      await here.fill(filledHere, entriesHere);
      filledHere = Math.max(filledHere, entriesHere);
      await assertFilled(nginx, entries);
      results.push(
        await measureRounds(origin, { nginx, reader: walked, entries }, { cdn, reader: here, entries: entriesHere }),
      );
    }
    return results;
  } finally {
    await Promise.all([walked.close(), here.close()]);
  }
}

async function measureRounds(
  origin: ProductOrigin,
  walked: { readonly nginx: RunningPeer; readonly reader: ProductReader; readonly entries: number },
  here: { readonly cdn: Cdn; readonly reader: ProductReader; readonly entries: number },
): Promise<WalkResult> {
  await using time = new RealTimePace(here.cdn);
  const [walking, acknowledged, settled] = [new LatencyHistogram(), new LatencyHistogram(), new LatencyHistogram()];
  await walk(walked.nginx, "nobody-has-this"); // from now on the files are in the page cache
  for (let round = 0; round < ROUNDS; round++) {
    await purgeAndCheck(origin, walked.reader, productOf(round, walked.entries), async (tag) => {
      const startedAt = performance.now();
      const removed = await walk(walked.nginx, tag);
      walking.addSince(startedAt);
      if (removed !== 1) throw new BenchFailure(`The walk removed ${removed} pages from nginx, not 1.`);
    });
    await purgeAndCheck(origin, here.reader, productOf(round, here.entries), async (tag) => {
      const startedAt = performance.now();
      const receipt = await here.cdn.purger.purgeTags(tag);
      acknowledged.addSince(startedAt);
      await receipt.settled();
      settled.addSince(startedAt);
      await time.caughtUp();
    });
  }
  return {
    nginx: { entries: walked.entries, walked: walking },
    here: { entries: here.entries, acknowledged, settled },
  };
}

/** Purges a stored page that has changed. Fails if the cache serves it afterwards, or has lost the next page. */
async function purgeAndCheck(
  origin: ProductOrigin,
  reader: ProductReader,
  product: number,
  purge: (tag: string) => Promise<void>,
): Promise<void> {
  await reader.assertHit(product);
  await reader.assertHit(product + 1);
  const version = origin.change(product);
  await purge(tagOf(product));
  const neighbour = await reader.read(product + 1);
  if (!neighbour.isHit) throw new BenchFailure(`${reader.name} lost a page that was not purged.`);
  await reader.assertGone(product, version);
}

/** Another product in each round, spread over all of them. */
function productOf(round: number, entries: number): number {
  return Math.floor(((round + 0.5) * entries) / ROUNDS);
}

/**
 * Purges a tag from nginx, which has no purge by tag: searches every file of its cache for the field, and removes the
 * files that have it. Returns their number.
 */
async function walk(nginx: RunningPeer, tag: string): Promise<number> {
  const { stdout } = await run("sh", ["-c", WALK, "sh", `Cache-Tag: ${tag}\r`, cacheOf(nginx)], { env: PLAIN });
  return stdout.split("\n").length - 1;
}

/** Matches whole lines byte by byte, which is the fastest way that grep has. */
const WALK =
  'grep --recursive --files-with-matches --text --line-regexp --fixed-strings --null -- "$1" "$2" | xargs -0 rm -fv --';
const PLAIN = { ...process.env, LC_ALL: "C" };
const run = promisify(execFile);

async function assertFilled(nginx: RunningPeer, entries: number): Promise<void> {
  const { stdout } = await run("sh", ["-c", 'find "$1" -type f | wc -l', "sh", cacheOf(nginx)]);
  if (Number(stdout) !== entries) throw new BenchFailure(`nginx stored ${stdout.trim()} pages, not ${entries}.`);
}

function cacheOf({ server }: RunningPeer): string {
  return join(server.folder, "cache");
}
