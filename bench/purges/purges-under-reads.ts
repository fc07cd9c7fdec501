import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import { type Cdn, startCdn } from "../../local/index.ts";
import type { Purger, Receipt } from "../../sdk/index.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { LatencyHistogram } from "../frame/latency-histogram.ts";
import { atPace } from "../load/at-pace.ts";
import { ProductOrigin, pathOf, tagOf } from "./product-origin.ts";
import { type ProductPage, ProductReader } from "./product-reader.ts";
import { RealTimePace } from "./real-time-pace.ts";

export const REGIONS = ["nyc", "fra", "syd"] as const;
/** Where the backend purges: far from the log. */
export const PURGED_IN = "fra";
const ISOLATES = 2;
const VISITORS = 10;
/** One purge in this many is watched: its page is requested everywhere, again and again, until it is the new one. */
const ONE_WATCHED_IN = 20;
const WATCH_EVERY_MS = 50;

export interface PurgesSettings {
  readonly purges: number;
  readonly purgesPerSecond: number;
  readonly readsPerSecond: number;
  /** True if calls take as long as they do over public networks. */
  readonly latency: boolean;
}

/** The results of purges while visitors read. */
export interface PurgesResult {
  readonly acknowledged: LatencyHistogram;
  /** Until the receipt's `settled()` resolved. */
  readonly settled: LatencyHistogram;
  /** For the watched purges: until the last request that any isolate answered with the old page. */
  readonly lastOld: LatencyHistogram;
  readonly reads: LatencyHistogram;
  readonly hits: number;
  readonly readsPerSecond: number;
  /** Answers with the old version of a page that was changed before the request, which is allowed until its purge has settled. */
  readonly oldBeforeSettled: number;
  /** Reads of purged pages after their purges had settled. The bench fails if any of them is old. */
  readonly readsAfterSettled: number;
  /** The longest that virtual time has been behind. */
  readonly longestLagMs: number;
}

/** Purges each product once, at a steady pace, and checks every answer against the promise of the receipts. */
export async function measurePurgesUnderReads(settings: PurgesSettings): Promise<PurgesResult> {
  await using origin = await ProductOrigin.start();
  await using cdn = await startCdn({
    site: {},
    origin: origin.url,
    regions: REGIONS,
    isolates: ISOLATES,
    latency: settings.latency,
  });
  const readers = readersOf(cdn);
  try {
    await Promise.all(readers.map((reader) => reader.fill(0, settings.purges)));
    await Promise.all(readers.map((reader) => reader.assertHits(0, settings.purges)));
    await using time = new RealTimePace(cdn);
    const run = new Run(origin, cdn.purgerIn(PURGED_IN), time, readers, settings);
    await run.play();
    return { ...run.result(), longestLagMs: time.longestLagMs };
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
}

/** Visitors of every isolate in every PoP. */
function readersOf(cdn: Cdn<string>): readonly ProductReader[] {
  return cdn.regions.flatMap((region) =>
    Array.from(
      { length: ISOLATES },
      (_, isolate) => new ProductReader(`${region}-${isolate}`, cdn.url(region, isolate)),
    ),
  );
}

/** One run: the purges, the visitors at the same time, and the state of each product's purge. */
class Run {
  readonly #origin: ProductOrigin;
  readonly #purger: Purger;
  readonly #time: RealTimePace;
  readonly #readers: readonly ProductReader[];
  readonly #settings: PurgesSettings;
  readonly #random = seededRandom(1);
  readonly #times = {
    acknowledged: new LatencyHistogram(),
    settled: new LatencyHistogram(),
    lastOld: new LatencyHistogram(),
    reads: new LatencyHistogram(),
  };
  /** Products whose page has changed at the origin, and those whose purge has settled. */
  readonly #changed = new Set<number>();
  readonly #settled = new Set<number>();
  readonly #counts = { hits: 0, oldBeforeSettled: 0, readsAfterSettled: 0 };
  #seconds = 0;
  #isOver = false;
  readonly #end = (): void => {
    this.#isOver = true;
  };

  constructor(
    origin: ProductOrigin,
    purger: Purger,
    time: RealTimePace,
    readers: readonly ProductReader[],
    settings: PurgesSettings,
  ) {
    this.#origin = origin;
    this.#purger = purger;
    this.#time = time;
    this.#readers = readers;
    this.#settings = settings;
  }

  async play(): Promise<void> {
    const beganAt = performance.now();
    const visitors = Array.from({ length: VISITORS }, () => this.#visit());
    const outcomes = await Promise.allSettled([this.#purgeAll(), ...visitors]);
    this.#seconds = (performance.now() - beganAt) / 1000;
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  result(): Omit<PurgesResult, "longestLagMs"> {
    return { ...this.#times, ...this.#counts, readsPerSecond: this.#times.reads.count / this.#seconds };
  }

  /** A backend that sends one purge after the other, each when the last one has been acknowledged. */
  async #purgeAll(): Promise<void> {
    const { purges: times, purgesPerSecond: perSecond } = this.#settings;
    const background: Promise<void>[] = [];
    const continueInBackground = (work: Promise<void>) => {
      work.catch(this.#end);
      background.push(work);
    };
    try {
      await atPace({ perSecond, times, isOver: () => this.#isOver }, async (product) => {
        this.#origin.change(product);
        this.#changed.add(product);
        const startedAt = performance.now();
        if (product % ONE_WATCHED_IN === 0) continueInBackground(this.#watch(product, startedAt));
        const receipt = await this.#purger.purgeTags(tagOf(product));
        this.#times.acknowledged.addSince(startedAt);
        continueInBackground(this.#settle(product, receipt, startedAt));
      });
      await Promise.all(background);
    } finally {
      this.#end();
    }
  }

  async #settle(product: number, receipt: Receipt, startedAt: number): Promise<void> {
    await receipt.settled();
    this.#times.settled.addSince(startedAt);
    await this.#time.caughtUp(); // a receipt settles in real time, and virtual time may be behind
    this.#settled.add(product);
    await Promise.all(this.#readers.map((reader) => this.#read(reader, product)));
  }

  async #watch(product: number, startedAt: number): Promise<void> {
    let lastOldAt = startedAt;
    const watchAt = async (reader: ProductReader) => {
      for (;;) {
        const requestedAt = performance.now();
        if ((await this.#read(reader, product)).version > 1) return;
        lastOldAt = Math.max(lastOldAt, requestedAt);
        await wait(WATCH_EVERY_MS);
      }
    };
    await Promise.all(this.#readers.map(watchAt));
    this.#times.lastOld.add(lastOldAt - startedAt);
  }

  /** A visitor who reads any page, anywhere. */
  async #visit(): Promise<void> {
    const { purges, readsPerSecond } = this.#settings;
    const pace = { perSecond: readsPerSecond / VISITORS, times: Number.POSITIVE_INFINITY, isOver: () => this.#isOver };
    await atPace(pace, async () => {
      const reader = this.#random.pick(this.#readers);
      const startedAt = performance.now();
      const { isHit } = await this.#read(reader, this.#random.between(0, purges - 1));
      this.#times.reads.addSince(startedAt);
      if (isHit) this.#counts.hits++;
    }).finally(this.#end);
  }

  /** Fails if the answer is old although the purge had settled before the request. */
  async #read(reader: ProductReader, product: number): Promise<ProductPage> {
    const [isChanged, isSettled] = [this.#changed.has(product), this.#settled.has(product)];
    const page = await reader.read(product);
    const isOld = isChanged && page.version === 1;
    if (isOld && isSettled)
      throw new BenchFailure(`${reader.name} served ${pathOf(product)} after its purge had settled.`);
    if (isOld) this.#counts.oldBeforeSettled++;
    if (isSettled) this.#counts.readsAfterSettled++;
    return page;
  }
}
