import { setTimeout as wait } from "node:timers/promises";
import { type Cdn, startCdn } from "../cdn/index.ts";
import { seededRandom } from "../demo/seeded-random.ts";
import type { Purger, Receipt } from "../sdk/index.ts";
import { atPace } from "./at-pace.ts";
import { BenchFailure } from "./bench-failure.ts";
import { ProductOrigin, pathOf, tagOf } from "./product-origin.ts";
import { type ProductPage, ProductReader } from "./product-reader.ts";
import { Times } from "./times.ts";
import { WallTime } from "./wall-time.ts";

export const REGIONS = ["nyc", "fra", "syd"] as const;
/** Where the backend purges: not beside the log. */
export const PURGED_IN = "fra";
const ISOLATES = 2;
const VISITORS = 10;
/** Of so many purges one is watched: its page is asked for again and again, everywhere, until it is the new one. */
const WATCHED = 20;
const WATCH_EVERY_MS = 50;

export interface PurgesSettings {
  readonly purges: number;
  readonly purgesPerSecond: number;
  readonly readsPerSecond: number;
  /** Whether calls take as long as over public networks. */
  readonly latency: boolean;
}

/** What some purges came to while visitors read. */
export interface PurgesResult {
  readonly acknowledged: Times;
  /** Until the receipt's `settled()` resolved. */
  readonly settled: Times;
  /** Of those that were watched: until the last question that any isolate answered with the old page. */
  readonly lastOld: Times;
  readonly reads: Times;
  readonly hits: number;
  readonly readsPerSecond: number;
  /** Answers with a page that had been changed before the question: allowed until its purge has settled. */
  readonly oldBeforeSettled: number;
  /** Reads of purged pages after their purges had settled. None was old, or the bench has failed. */
  readonly readsAfterSettled: number;
  /** How far simulated time has been behind at most. */
  readonly longestLagMs: number;
}

/** Purges each product once, at a steady pace, and holds every answer against the promise of its receipt. */
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
    await using time = new WallTime(cdn);
    const run = new Run(origin, cdn.purgerIn(PURGED_IN), time, readers, settings);
    await run.play();
    return { ...run.result(), longestLagMs: time.longestLagMs };
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
}

/** Visitors of every isolate of every PoP. */
function readersOf(cdn: Cdn<string>): readonly ProductReader[] {
  return cdn.regions.flatMap((region) =>
    Array.from(
      { length: ISOLATES },
      (_, isolate) => new ProductReader(`${region}-${isolate}`, cdn.url(region, isolate)),
    ),
  );
}

/** One run: the purges, the visitors beside them, and what is known of each product's purge. */
class Run {
  readonly #origin: ProductOrigin;
  readonly #purger: Purger;
  readonly #time: WallTime;
  readonly #readers: readonly ProductReader[];
  readonly #settings: PurgesSettings;
  readonly #random = seededRandom(1);
  readonly #times = { acknowledged: new Times(), settled: new Times(), lastOld: new Times(), reads: new Times() };
  /** Products whose page is another one at the origin, and those whose purge has settled as well. */
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
    time: WallTime,
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
    const visitors = Array.from({ length: VISITORS }, () => this.#visitOn());
    const outcomes = await Promise.allSettled([this.#purgeAll(), ...visitors]);
    this.#seconds = (performance.now() - beganAt) / 1000;
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  result(): Omit<PurgesResult, "longestLagMs"> {
    return { ...this.#times, ...this.#counts, readsPerSecond: this.#times.reads.count / this.#seconds };
  }

  /** A backend that purges one after the other, as soon as the one before is acknowledged. */
  async #purgeAll(): Promise<void> {
    const { purges: times, purgesPerSecond: perSecond } = this.#settings;
    const behind: Promise<void>[] = [];
    const goOn = (work: Promise<void>) => {
      work.catch(this.#end);
      behind.push(work);
    };
    try {
      await atPace({ perSecond, times, isOver: () => this.#isOver }, async (product) => {
        this.#origin.change(product);
        this.#changed.add(product);
        const startedAt = performance.now();
        if (product % WATCHED === 0) goOn(this.#watch(product, startedAt));
        const receipt = await this.#purger.purgeTags(tagOf(product));
        this.#times.acknowledged.addSince(startedAt);
        goOn(this.#settle(product, receipt, startedAt));
      });
      await Promise.all(behind);
    } finally {
      this.#end();
    }
  }

  async #settle(product: number, receipt: Receipt, startedAt: number): Promise<void> {
    await receipt.settled();
    this.#times.settled.addSince(startedAt);
    await this.#time.caughtUp(); // A receipt's time is real, and a simulated clock may be behind.
    this.#settled.add(product);
    await Promise.all(this.#readers.map((reader) => this.#read(reader, product)));
  }

  async #watch(product: number, startedAt: number): Promise<void> {
    let lastOldAt = startedAt;
    const watchAt = async (reader: ProductReader) => {
      for (;;) {
        const askedAt = performance.now();
        if ((await this.#read(reader, product)).version > 1) return;
        lastOldAt = Math.max(lastOldAt, askedAt);
        await wait(WATCH_EVERY_MS);
      }
    };
    await Promise.all(this.#readers.map(watchAt));
    this.#times.lastOld.add(lastOldAt - startedAt);
  }

  /** A visitor of any page, anywhere. */
  async #visitOn(): Promise<void> {
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

  /** Fails if the answer is old and the purge had settled when it was asked for. */
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
