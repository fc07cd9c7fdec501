import type { SiteStats } from "../wire/stats.ts";
import {
  type BatchOptions,
  type BatchOutcome,
  batchAround,
  createBatch,
  type PurgeBatch,
  type PurgeCollector,
} from "./batch/batch.ts";
import { PurgeError } from "./errors.ts";
import {
  isOfPurge,
  type PurgeRecord,
  type PurgeRecordPage,
  type PurgeReference,
  type PurgesQuery,
  parsePurgesQuery,
  parseStatusCall,
  type ReadCall,
  type ReadOptions,
} from "./purge-record.ts";
import {
  type ItemsThenOptions,
  itemsOf,
  type PurgeCall,
  type PurgeInput,
  type PurgeOptions,
  parseCall,
  splitOptions,
} from "./purge-request.ts";
import type { Receipt } from "./receipt.ts";
import { parseStatsCall, type StatsCall, type StatsQuery } from "./site-stats.ts";

/**
 * Purges the site behind one edge. Every purge rejects with a `TypeError` if the call is invalid, and with a
 * `PurgeError` if the purge failed.
 */
export interface Purger {
  /** `purge({ tags: ["song:42"], urls: ["/songs"] })`: items of any kinds, or everything, in one purge. */
  purge(request: PurgeInput, options?: PurgeOptions): Promise<Receipt>;
  /** `purgeUrls("/about", "https://www.example.com/", { refresh: true })`, or a list, a set, `URL`s. */
  purgeUrls(...urls: ItemsThenOptions<string | URL>): Promise<Receipt>;
  /** `purgeTags("post:7", "front")`, or a list or a set. */
  purgeTags(...tags: ItemsThenOptions): Promise<Receipt>;
  /** `purgePrefixes("/shop", "www.example.com/blog")` */
  purgePrefixes(...prefixes: ItemsThenOptions): Promise<Receipt>;
  /** `purgeHosts("shop.example.com")` */
  purgeHosts(...hosts: ItemsThenOptions): Promise<Receipt>;
  /** Purges all pages of the site. */
  purgeEverything(options?: PurgeOptions): Promise<Receipt>;
  /**
   * A page of the edge's audit trail: who purged what, when and why, the newest first. It needs a token with the scope
   * `read`, as `TIDEMARK_TOKEN` has. With several `endpoints` it is a `TypeError`, because each edge has its own trail.
   */
  purges(query?: PurgesQuery): Promise<PurgeRecordPage>;
  /**
   * The row of the edge's audit trail for one purge, with `settled`; `null` if there is no such purge, or no longer. It
   * takes a receipt or its `seq`, and needs a token with the scope `read`. With several `endpoints` it takes only the
   * receipt, asks every edge, and resolves to the record of the first one, which counts as settled once all have
   * settled.
   */
  status(purge: PurgeReference, options?: ReadOptions): Promise<PurgeRecord | null>;
  /**
   * The counts of the site's isolates for a time up to now: requests, bytes, times, routes, URLs. It needs a token with
   * the scope `read`. With several `endpoints` it is a `TypeError`, because each edge has its own counts.
   */
  stats(query?: StatsQuery): Promise<SiteStats>;
  /** Collects the changes of a request or a transaction, for one purge after its commit. */
  batch(): PurgeBatch;
  /**
   * The same around a piece of work: when the work is done, the collected items are sent; if it fails, nothing is sent.
   *
   * ```ts
   * await cdn.batch((batch) => database.transaction(async (tx) => { …; batch.tags("song:42"); }));
   * ```
   */
  batch<T>(work: (batch: PurgeCollector) => T | Promise<T>, options?: BatchOptions): Promise<BatchOutcome<T>>;
  /**
   * Waits for the purges under way, then frees the connections. Later purges reject with the code `closed`. Calling it
   * is optional: an idle purger does not keep the process running.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Carries out the calls of a purger: over HTTP, or by recording them for a test. */
export interface Sender {
  /** May throw as well as reject. */
  send(call: PurgeCall): Promise<Receipt>;
  /** Reads the audit trail. Resolves to `null` for the number of a purge that it does not have. */
  read(call: ReadCall): Promise<PurgeRecordPage | null>;
  stats(call: StatsCall): Promise<SiteStats>;
  /** A fresh id, for a call that becomes several purges. */
  newId(): string;
  /** Called at most once, when no call is under way any more. */
  close(): Promise<void>;
}

/** A purger that checks its calls and leaves them to a sender. */
export function purgerFrom(sender: Sender): Purger {
  const underWay = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  async function run<T>(start: () => Promise<T>): Promise<T> {
    if (closed) {
      throw new PurgeError("This purger was closed. Create another one, or close it after its last purge.", {
        code: "closed",
        retryable: false,
        attempts: 0,
      });
    }
    const running = start();
    underWay.add(running);
    try {
      return await running;
    } finally {
      underWay.delete(running);
    }
  }

  const send = (call: PurgeCall): Promise<Receipt> => run(() => sender.send(call));

  const batchSender = { run, send: (call: PurgeCall) => sender.send(call), newId: () => sender.newId() };

  function batch(): PurgeBatch;
  function batch<T>(work: (batch: PurgeCollector) => T | Promise<T>, options?: BatchOptions): Promise<BatchOutcome<T>>;
  function batch(work?: (batch: PurgeCollector) => unknown, options?: BatchOptions) {
    return work === undefined ? createBatch(batchSender) : batchAround(work, options, batchSender);
  }

  async function finish(): Promise<void> {
    await Promise.allSettled(underWay);
    await sender.close();
  }

  function close(): Promise<void> {
    closed ??= finish();
    return closed;
  }

  // A stack trace shows ten calls. Each method awaits its result, and few functions are between it and the error, so
  // that the trace still contains the caller's line.
  return {
    async purge(request, options) {
      return await send(parseCall("purge", request, options));
    },
    async purgeUrls(...args) {
      const [items, options] = splitOptions(args);
      return await send(parseCall("purgeUrls", { urls: itemsOf(items) }, options));
    },
    async purgeTags(...args) {
      const [items, options] = splitOptions(args);
      return await send(parseCall("purgeTags", { tags: itemsOf(items) }, options));
    },
    async purgePrefixes(...args) {
      const [items, options] = splitOptions(args);
      return await send(parseCall("purgePrefixes", { prefixes: itemsOf(items) }, options));
    },
    async purgeHosts(...args) {
      const [items, options] = splitOptions(args);
      return await send(parseCall("purgeHosts", { hosts: itemsOf(items) }, options));
    },
    async purgeEverything(options) {
      return await send(parseCall("purgeEverything", { everything: true }, options));
    },
    async purges(query) {
      const call = parsePurgesQuery(query);
      return (await run(() => sender.read(call))) ?? { purges: [], next: null };
    },
    async status(purge, options) {
      const call = parseStatusCall(purge, options);
      const record = (await run(() => sender.read(call)))?.purges[0];
      return record && isOfPurge(record, purge) ? record : null;
    },
    async stats(query) {
      const call = parseStatsCall(query);
      return await run(() => sender.stats(call));
    },
    batch,
    close,
    [Symbol.asyncDispose]: close,
  };
}
