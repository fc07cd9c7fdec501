import { type Cdn, startCdn } from "../cdn/index.ts";
import { BenchFailure } from "./bench-failure.ts";
import { NginxCache } from "./nginx-cache.ts";
import { ProductOrigin, tagOf } from "./product-origin.ts";
import { ProductReader } from "./product-reader.ts";
import { Times } from "./times.ts";
import { WallTime } from "./wall-time.ts";

const ROUNDS = 11;

export interface WalkSettings {
  /** How many pages are stored, in rising order. */
  readonly sizes: readonly number[];
  /** The most that are stored here; storing takes some milliseconds each. */
  readonly mostHere: number;
}

/** One purge of a tag that one page has, among so many pages. */
export interface WalkResult {
  readonly nginx: { readonly entries: number; readonly walked: Times };
  readonly here: { readonly entries: number; readonly acknowledged: Times; readonly settled: Times };
}

/** Both before one origin, in turn. Each round fails unless the page is gone and its neighbour is still a hit. */
export async function measureWalks({ sizes, mostHere }: WalkSettings): Promise<WalkResult[]> {
  await using origin = await ProductOrigin.start();
  await using nginx = await NginxCache.start(origin.url);
  await using cdn = await startCdn({ site: {}, origin: origin.url });
  const walked = new ProductReader("nginx", "http://nginx", { socketPath: nginx.socketPath });
  const here = new ProductReader("the simulated CDN", cdn.url());
  try {
    const results: WalkResult[] = [];
    let [filled, filledHere] = [0, 0];
    for (const entries of sizes) {
      await walked.fill(filled, entries);
      filled = entries;
      const entriesHere = Math.min(entries, mostHere);
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
  walked: { readonly nginx: NginxCache; readonly reader: ProductReader; readonly entries: number },
  here: { readonly cdn: Cdn; readonly reader: ProductReader; readonly entries: number },
): Promise<WalkResult> {
  await using time = new WallTime(here.cdn);
  const [walking, acknowledged, settled] = [new Times(), new Times(), new Times()];
  await walked.nginx.walk("nobody-has-this"); // From here on the files lie in memory.
  for (let round = 0; round < ROUNDS; round++) {
    await purged(origin, walked.reader, productOf(round, walked.entries), async (tag) => {
      const startedAt = performance.now();
      const removed = await walked.nginx.walk(tag);
      walking.addSince(startedAt);
      if (removed !== 1) throw new BenchFailure(`The walk removed ${removed} pages of nginx, not 1.`);
    });
    await purged(origin, here.reader, productOf(round, here.entries), async (tag) => {
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

/** Purges a page that is stored and has changed. Fails if it comes from the cache afterwards, or its neighbour does not. */
async function purged(
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

/** Spread over all, and another one each round. */
function productOf(round: number, entries: number): number {
  return Math.floor(((round + 0.5) * entries) / ROUNDS);
}

async function assertFilled(nginx: NginxCache, entries: number): Promise<void> {
  const files = await nginx.files();
  if (files !== entries) throw new BenchFailure(`nginx stored ${files} pages, not ${entries}.`);
}
