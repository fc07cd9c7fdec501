import { beforeEach, describe, expect, test } from "vitest";
import type { AppendOutcome, NewPurge, PurgeLogWriter } from "../../worker/ports/purge-log.ts";
import type { EdgeEvent } from "../../worker/ports/reporter.ts";
import { LogInvalidations } from "../../worker/purges/invalidations.ts";
import { Scheduler } from "../engine/scheduler.ts";

const LEASE_MS = 1000;

/** A log that records what it is told, and cannot be reached if the test says so. */
class ToldLog implements PurgeLogWriter {
  readonly told: (readonly string[])[] = [];
  readonly purges: NewPurge[] = [];
  calls = 0;
  isReachable = true;

  async append(purge: NewPurge): Promise<AppendOutcome> {
    this.calls++;
    if (!this.isReachable) throw new Error("the log cannot be reached");
    this.told.push(purge.purgeKeys);
    this.purges.push(purge);
    return { kind: "appended", seq: 1, logId: "log", at: 0, settlesInMs: 0, replayed: false };
  }
}

describe("a key that an unsafe request has invalidated", () => {
  let scheduler: Scheduler;
  let log: ToldLog;
  let invalidations: LogInvalidations;
  let events: EdgeEvent[];
  let work: Promise<unknown>[];
  const tell = (...keys: string[]) => invalidations.tell(keys, { run: (promise) => void work.push(promise) });
  const dropped = () => events.filter(({ kind }) => kind === "invalidation-dropped").length;

  beforeEach(() => {
    scheduler = new Scheduler(1, 100_000_000);
    log = new ToldLog();
    events = [];
    work = [];
    invalidations = new LogInvalidations(log, scheduler, LEASE_MS, { report: (event) => void events.push(event) });
  });

  test("is appended to the log at once, as a purge by the edge", async () => {
    tell("//h/a", "//h/b");
    await scheduler.settle(Promise.all(work));
    expect(log.purges).toEqual([
      {
        id: null,
        mode: "invalidate",
        content: "",
        purgeKeys: ["//h/a", "//h/b"],
        accepted: { urls: 0, tags: 0, prefixes: 0, hosts: 0, everything: false },
        repeatAfterMs: null,
        reason: "unsafe request",
        by: "edge",
      },
    ]);
  });

  test("is appended once in a lease, and again after the lease if it was invalidated again", async () => {
    for (let index = 0; index < 100; index++) tell("//h/a");
    await scheduler.advance(LEASE_MS - 1);
    expect(log.told).toEqual([["//h/a"]]);
    await scheduler.advance(1);
    expect(log.told).toEqual([["//h/a"], ["//h/a"]]);
    await scheduler.advance(10 * LEASE_MS);
    expect(log.told).toHaveLength(2);
  });

  test.each([
    [LEASE_MS - 1, "waits for the end of the lease", 1],
    [LEASE_MS, "is told at once", 2],
  ])("that comes again after %d ms %s", async (afterMs, _, told) => {
    tell("//h/a");
    await scheduler.advance(afterMs);
    tell("//h/a");
    await scheduler.advance(0);
    expect(log.told).toHaveLength(told);
  });

  test("waits for the next lease together with the other keys, in one append", async () => {
    tell("//h/a");
    tell("//h/a", "//h/b");
    tell("//h/b", "//h/c");
    tell("//h/a", "//h/d");
    await scheduler.advance(LEASE_MS);
    expect(log.told).toEqual([["//h/a"], ["//h/b", "//h/c"], ["//h/a", "//h/b", "//h/d"]]);
  });

  test("that has waited counts for the lease in which it is appended", async () => {
    tell("//h/a");
    tell("//h/a");
    await scheduler.advance(LEASE_MS);
    tell("//h/a");
    await scheduler.advance(LEASE_MS - 1);
    expect(log.told).toHaveLength(2);
    await scheduler.advance(1);
    expect(log.told).toHaveLength(3);
  });

  test("causes at most 16 appends in a lease, and one more for all the rest after the lease", async () => {
    for (let index = 0; index < 200; index++) tell(`//h/${index}`);
    await scheduler.advance(LEASE_MS - 1);
    expect(log.told).toHaveLength(16);
    await scheduler.advance(1);
    expect(log.told).toHaveLength(17);
    expect(log.told[16]).toHaveLength(184);
    for (let index = 200; index < 300; index++) tell(`//h/${index}`); // the append of the rest is one of this lease's
    await scheduler.advance(0);
    expect(log.told).toHaveLength(32);
  });

  test("waits with up to 10,000 others; further keys are dropped and counted", async () => {
    tell("//h/a");
    for (let index = 0; index < 9_999; index++) tell("//h/a", `//h/${index}`);
    expect(dropped()).toBe(0); // with //h/a itself these are 10,000
    tell("//h/a", "//h/9998");
    expect(dropped()).toBe(0); // it waits already
    tell("//h/a", "//h/more", "//h/still-more");
    expect(dropped()).toBe(2);
    await scheduler.advance(LEASE_MS);
    expect(log.told[1]).toHaveLength(10_000);
    tell("//h/a", "//h/again");
    expect(dropped()).toBe(2);
  });

  test("is tried once in each lease while the log is silent, five times in all, and then dropped and counted", async () => {
    log.isReachable = false;
    tell("//h/a");
    for (let attempt = 1; attempt <= 5; attempt++) {
      await scheduler.advance(attempt === 1 ? 0 : LEASE_MS - 1);
      expect(log.calls).toBe(Math.max(1, attempt - 1));
      await scheduler.advance(attempt === 1 ? 0 : 1);
      expect(log.calls).toBe(attempt);
      expect(dropped()).toBe(attempt === 5 ? 1 : 0);
    }
    await scheduler.advance(60_000);
    expect(log.calls).toBe(5);
    await scheduler.settle(Promise.all(work)); // no background work fails
  });

  test("is appended when the log answers again", async () => {
    log.isReachable = false;
    tell("//h/a");
    await scheduler.advance(4 * LEASE_MS - 1);
    log.isReachable = true;
    await scheduler.advance(1);
    expect(log.told).toEqual([["//h/a"]]);
    expect(dropped()).toBe(0);
  });

  describe("where a lease is 60 s, and a request's work ends 30 s after its answer", () => {
    beforeEach(() => {
      invalidations = new LogInvalidations(log, scheduler, 60_000, { report: (event) => void events.push(event) });
    });

    test("is tried every 4 s while the log is silent, and counted if it is dropped", async () => {
      log.isReachable = false;
      tell("//h/a");
      await scheduler.advance(3999);
      expect(log.calls).toBe(1);
      await scheduler.advance(1);
      expect(log.calls).toBe(2);
      await scheduler.advance(12_000);
      expect([log.calls, dropped()]).toEqual([5, 1]);
    });

    test("waits for 20 s with others, or until the lease ends", async () => {
      tell("//h/a");
      tell("//h/a", "//h/b");
      await scheduler.advance(19_999);
      expect(log.told).toHaveLength(1);
      await scheduler.advance(1);
      expect(log.told).toEqual([["//h/a"], ["//h/a", "//h/b"]]);
      await scheduler.advance(30_000);
      tell("//h/a");
      await scheduler.advance(9999);
      expect(log.told).toHaveLength(2);
      await scheduler.advance(1);
      expect(log.told).toHaveLength(3);
    });

    test("causes no further appends after 20 s", async () => {
      for (let index = 0; index < 20; index++) tell(`//h/${index}`);
      await scheduler.advance(20_000);
      expect(log.told).toHaveLength(17);
      for (let index = 20; index < 40; index++) tell(`//h/${index}`);
      await scheduler.advance(19_999);
      expect(log.told).toHaveLength(17);
      await scheduler.advance(1);
      expect(log.told).toHaveLength(18);
    });
  });

  test("is appended with the next key if the request that should append it was cancelled", async () => {
    const dies = { now: () => scheduler.now(), wait: () => ({ over: new Promise<void>(() => {}), cancel: () => {} }) };
    invalidations = new LogInvalidations(log, dies, LEASE_MS, { report: (event) => void events.push(event) });
    tell("//h/a");
    tell("//h/a", "//h/b");
    await scheduler.advance(60_000);
    expect(log.told).toEqual([["//h/a"]]);
    tell("//h/c");
    await scheduler.advance(0);
    expect(log.told).toEqual([["//h/a"], ["//h/a", "//h/b", "//h/c"]]);
  });

  test("is not appended twice after a later request has appended it", async () => {
    const slow: { wake: () => void }[] = [];
    const late = {
      now: () => scheduler.now(),
      wait: () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        slow.push({ wake: resolve });
        return { over: promise, cancel: () => {} };
      },
    };
    invalidations = new LogInvalidations(log, late, LEASE_MS, { report: (event) => void events.push(event) });
    tell("//h/a");
    tell("//h/a");
    await scheduler.advance(LEASE_MS);
    tell("//h/b");
    tell("//h/b"); // waits for the next lease, on a timer of its own
    slow[0]!.wake(); // too late
    await scheduler.advance(0);
    expect(log.told).toEqual([["//h/a"], ["//h/a", "//h/b"]]);
    slow[1]!.wake();
    await scheduler.advance(0);
    expect(log.told.at(-1)).toEqual(["//h/b"]);
    expect(log.told).toHaveLength(3);
  });

  test("is appended at once after the clock has stepped back by an hour", async () => {
    tell("//h/a");
    scheduler.stepBack(3_600_000);
    tell("//h/a");
    await scheduler.advance(0);
    expect(log.told).toHaveLength(2);
  });
});
