import { beforeEach, describe, expect, test } from "vitest";
import type { BackgroundWork } from "../../../worker/ports/background-work.ts";
import type { EdgeEvent } from "../../../worker/ports/reporter.ts";
import type { PopNotes } from "../../../worker/ports/store.ts";
import { PopSharing } from "../../../worker/purges/lease/pop-sharing.ts";
import { readCopy, type SharedCopy, writeCopy } from "../../../worker/purges/lease/shared-copy.ts";
import { ViewLease } from "../../../worker/purges/lease/view-lease.ts";
import type { PurgeLogClient, ReaderPosition, ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import { MemoryNotes } from "../../engine/memory/memory-notes.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";
import { deltaOf, type PurgedText } from "../view/delta.ts";

const LEASE_MS = 1000;
const SKEW_MS = 250;
const ROUND_TRIP_MS = 100;
/** A claim counts for the time of a read and a quarter more. */
const CLAIM_MS = 125;
const BEGINNING = 100_000_000;

const behind: BackgroundWork = { run: () => undefined };

/** A log half a round trip away each way. */
class FarLog implements PurgeLogClient {
  reads = 0;
  logId = "a";
  isReachable = true;
  roundTripMs = ROUND_TRIP_MS;
  readonly purged: PurgedText[] = [];
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  async read(since: ReaderPosition | null, leaseMs: number): Promise<ViewDelta> {
    this.reads++;
    await this.#scheduler.wait(this.roundTripMs / 2).over;
    if (!this.isReachable) throw new Error("gone");
    const from = since?.logId === this.logId ? since.seq : 0;
    const news = this.purged.filter(([, seq]) => seq > from);
    const delta = deltaOf(from, this.purged.length, news, { logId: this.logId, leaseMs });
    await this.#scheduler.wait(this.roundTripMs / 2).over;
    return delta;
  }

  purge(key: string): void {
    this.purged.push([key, this.purged.length + 1]);
  }

  append(): Promise<never> {
    throw new Error("nothing is appended here");
  }
}

describe("the isolates of a PoP", () => {
  let scheduler: Scheduler;
  let log: FarLog;
  let notes: PopNotes;
  let events: EdgeEvent[];
  let random: number;

  beforeEach(() => {
    scheduler = new Scheduler(1, BEGINNING);
    log = new FarLog(scheduler);
    notes = new MemoryNotes(scheduler);
    events = [];
    random = 0;
  });

  function isolate({ aheadMs = 0, leaseMs = LEASE_MS, longestViewAgeMs = LEASE_MS } = {}): ViewLease {
    const clock = { now: () => scheduler.now() + aheadMs, wait: (ms: number) => scheduler.wait(ms) };
    const reporter = { report: (event: EdgeEvent) => void events.push(event) };
    const settings = { leaseMs, skewMs: SKEW_MS, longestViewAgeMs };
    const pop = new PopSharing(notes, settings, clock, reporter);
    const view = new PurgeView(64 * 1024);
    return new ViewLease({ settings, view, log, pop, clock, random: () => random, reporter });
  }

  /** Renews, and lets this much time pass. */
  async function renew(lease: ViewLease, ms = ROUND_TRIP_MS): Promise<void> {
    const renewal = lease.renew(behind, null);
    await scheduler.advance(ms);
    await renewal;
  }

  async function leave(copy: Partial<SharedCopy> & Pick<SharedCopy, "delta">): Promise<void> {
    const whole = { startedAt: scheduler.now(), longestViewAgeMs: LEASE_MS, sightings: [], ...copy };
    const written = notes.write("view", writeCopy(whole));
    await scheduler.settle(written);
  }

  const isUsable = (lease: ViewLease, inMs = 0) => lease.isUsable(scheduler.now() + inMs, null);

  /** Whether a lease says that a page with this key and this stamp is not purged. */
  const keeps = (lease: ViewLease, key: string, seq: number) =>
    lease.check(storedHead({ givenPurgeKeys: [key], stamp: { logId: log.logId, seq } }), true) === "not-purged";

  test("share a read of the log, so that it is read once", async () => {
    log.purge("#t");
    await renew(isolate());
    const other = isolate();
    await renew(other, 0);
    expect(isUsable(other)).toBe(true);
    expect(keeps(other, "#t", 0)).toBe(false);
    expect(log.reads).toBe(1);
    expect(events.map(({ kind }) => kind)).toEqual(["log-read", "view-shared"]);
  });

  test("count the age of a copy against the lease", async () => {
    await renew(isolate());
    await scheduler.advance(300);
    const other = isolate();
    await renew(other, 0);
    expect(isUsable(other, LEASE_MS - 401)).toBe(true);
    expect(isUsable(other, LEASE_MS - 400)).toBe(false);
  });

  test.each([
    [LEASE_MS - 1, true],
    [LEASE_MS, false],
    [LEASE_MS + 1, false],
  ])("a copy whose read began %d ms ago is taken: %s", async (ageMs, isTaken) => {
    await leave({ startedAt: scheduler.now() - ageMs, delta: deltaOf(0, 0) });
    await renew(isolate());
    expect(log.reads).toBe(isTaken ? 0 : 1);
  });

  test.each([
    [SKEW_MS - 1, true],
    [SKEW_MS, true],
    [SKEW_MS + 1, false],
    [3_600_000, false],
  ])("a copy from a clock that is %d ms ahead is taken: %s (R7)", async (aheadMs, isTaken) => {
    await leave({ startedAt: scheduler.now() + aheadMs, delta: deltaOf(0, 0) });
    const lease = isolate();
    await renew(lease);
    expect(log.reads).toBe(isTaken ? 0 : 1);
    expect(isUsable(lease)).toBe(true);
  });

  test("a copy ends when the clock goes back to more than the allowance before its read (R7)", async () => {
    await leave({ startedAt: scheduler.now() + SKEW_MS, delta: deltaOf(0, 0) });
    const lease = isolate();
    await renew(lease, 0);
    expect(log.reads).toBe(0);
    expect([0, -1].map((inMs) => isUsable(lease, inMs))).toEqual([true, false]);
  });

  test("story 14: a copy of another log is refused, and the log itself is read (R11)", async () => {
    const lease = isolate();
    log.logId = "b";
    await renew(lease);
    await scheduler.advance(LEASE_MS);
    await leave({ delta: deltaOf(0, 9, [["#t", 9]], { logId: "a" }) });
    await renew(lease);
    expect(log.reads).toBe(2);
    expect(lease.stamp()).toEqual({ logId: "b", seq: 0 });
  });

  test("after replies of two logs at once, neither a copy nor the reply to an older call restores the lease (R11)", async () => {
    const lease = isolate();
    await renew(lease);
    const [first, second, third] = [lease.beginCall(), lease.beginCall(), lease.beginCall()];
    const ofOldLog = deltaOf(0, 0, [], { logId: "a", leaseMs: LEASE_MS });
    lease.takeReply(ofOldLog, second);
    lease.takeReply(deltaOf(0, 1, [["#t", 1]], { logId: "b", leaseMs: LEASE_MS }), first);
    expect(isUsable(lease)).toBe(false);
    lease.takeReply(ofOldLog, third);
    expect(isUsable(lease)).toBe(false);
    await leave({ startedAt: scheduler.now() + 1, delta: ofOldLog });
    log.logId = "b";
    await renew(lease, CLAIM_MS + ROUND_TRIP_MS);
    expect(lease.stamp()).toEqual({ logId: "b", seq: 0 });
    expect(isUsable(lease)).toBe(true);
    expect(log.reads).toBe(2);
  });

  test("story 12: a copy that begins above the view's position is refused, because a purge may lie between (R12)", async () => {
    const lease = isolate();
    await renew(lease);
    log.purge("#t");
    log.purge("#u");
    await scheduler.advance(LEASE_MS);
    await leave({ delta: deltaOf(1, 2, [["#u", 2]]) });
    await renew(lease);
    expect(log.reads).toBe(2);
    expect(keeps(lease, "#t", 0)).toBe(false);
  });

  test("story 13: an older copy lowers neither purges nor position nor lease (R11)", async () => {
    const lease = isolate();
    log.purge("#t");
    log.purge("#u");
    await renew(lease);
    await leave({ startedAt: scheduler.now() - 2 * ROUND_TRIP_MS, delta: deltaOf(0, 1, [["#t", 1]]) });
    const before = log.reads;
    await scheduler.advance(600);
    await renew(lease);
    expect(log.reads).toBe(before + 1); // nothing new
    expect(lease.stamp()).toEqual({ logId: "a", seq: 2 });
    expect([keeps(lease, "#t", 0), keeps(lease, "#u", 1)]).toEqual([false, false]);
  });

  test("a newer copy with fewer purges lowers nothing", async () => {
    const lease = isolate();
    log.purge("#t");
    log.purge("#u");
    await renew(lease);
    await scheduler.advance(600);
    await leave({ delta: deltaOf(0, 1, [["#t", 1]]) });
    await renew(lease, 0);
    expect(log.reads).toBe(1);
    expect(lease.stamp()).toEqual({ logId: "a", seq: 2 });
    expect(keeps(lease, "#u", 1)).toBe(false);
    expect(isUsable(lease, LEASE_MS - 1)).toBe(true);
  });

  test("a new isolate takes a copy only if that holds everything the log knows", async () => {
    await leave({ delta: deltaOf(1, 2, [["#u", 2]]) });
    await renew(isolate());
    expect(log.reads).toBe(1);
  });

  test("an isolate waits for the copy of another one that reads the log, for as long as a read takes at most", async () => {
    const [one, other] = [isolate(), isolate()];
    await renew(one);
    await scheduler.advance(LEASE_MS);
    await renew(other);
    await scheduler.advance(LEASE_MS); // both have measured how long a read takes
    expect(log.reads).toBe(2);
    const reading = one.renew(behind, null);
    await scheduler.advance(30);
    const waiting = other.renew(behind, null);
    await scheduler.advance(CLAIM_MS - 31);
    await reading;
    expect([isUsable(one), isUsable(other)]).toEqual([true, false]);
    await scheduler.advance(1);
    await waiting;
    expect(isUsable(other)).toBe(true);
    expect(log.reads).toBe(3);
  });

  test.each([
    [-SKEW_MS - 1, false],
    [-SKEW_MS, true],
    [0, true],
    [CLAIM_MS - 1, true],
    [CLAIM_MS, false],
  ])("a claim that was made %d ms ago is waited for: %s", async (ageMs, isWaitedFor) => {
    const lease = isolate();
    await renew(lease);
    await scheduler.advance(LEASE_MS);
    const claimed = new TextEncoder().encode(String(scheduler.now() - ageMs));
    await scheduler.settle(notes.write("claim", claimed));
    const renewal = lease.renew(behind, null);
    await scheduler.advance(0);
    expect(log.reads).toBe(isWaitedFor ? 1 : 2);
    await scheduler.advance(CLAIM_MS + ROUND_TRIP_MS); // the isolate that claimed has died, so this one reads itself
    await renewal;
    expect(log.reads).toBe(2);
    expect(isUsable(lease)).toBe(true);
  });

  test("an isolate that waits for a copy reads no more if another read has renewed its lease meanwhile (R22)", async () => {
    const lease = isolate();
    await renew(lease);
    await scheduler.advance(LEASE_MS / 2);
    await scheduler.settle(notes.write("claim", new TextEncoder().encode(String(scheduler.now()))));
    const renewal = lease.renew(behind, null);
    log.purge("#t");
    const bearer = lease.renew(behind, { logId: log.logId, seq: 1 });
    await scheduler.advance(CLAIM_MS + ROUND_TRIP_MS);
    await Promise.all([renewal, bearer]);
    expect(log.reads).toBe(2);
    expect(isUsable(lease, LEASE_MS / 2)).toBe(true);
  });

  test.each([
    [240, true],
    [241, false],
  ])(
    "where a read takes %d ms of a lease of 1000, a claim is waited for: %s; a read has to fit in after it",
    async (roundTripMs, isWaitedFor) => {
      log.roundTripMs = roundTripMs;
      const lease = isolate();
      await renew(lease, roundTripMs);
      await scheduler.advance(LEASE_MS);
      await scheduler.settle(notes.write("claim", new TextEncoder().encode(String(scheduler.now()))));
      const renewal = lease.renew(behind, null);
      await scheduler.advance(0);
      expect(log.reads).toBe(isWaitedFor ? 1 : 2);
      await scheduler.advance(LEASE_MS);
      await renewal;
    },
  );

  test("an isolate does not take the copy that it left itself", async () => {
    const lease = isolate();
    for (let request = 0; request < 30; request++) {
      lease.isDue(scheduler.now());
      await scheduler.advance(900); // so rarely that the renewal falls due at half of the lease
    }
    await renew(lease);
    await scheduler.advance(500);
    expect(lease.isDue(scheduler.now())).toBe(true);
    await renew(lease);
    expect(log.reads).toBe(2);
    expect(events.map(({ kind }) => kind)).toEqual(["log-read", "log-read"]);
  });

  test("an isolate that has measured no read waits for a claim no longer than 250 ms, however long the lease is", async () => {
    const [one, other] = [isolate({ leaseMs: 30_000 }), isolate({ leaseMs: 30_000 })];
    const reading = one.renew(behind, null);
    await scheduler.advance(1);
    const waiting = other.renew(behind, null);
    await scheduler.advance(248);
    expect(isUsable(one)).toBe(true);
    await scheduler.advance(1);
    expect(isUsable(other)).toBe(true);
    await Promise.all([reading, waiting]);
    expect(log.reads).toBe(1);
  });

  test("a look at notes that never answer is given up after a tenth of a lease", async () => {
    notes = { read: () => new Promise(() => undefined), write: () => new Promise(() => undefined) };
    const lease = isolate();
    const renewal = lease.renew(behind, null);
    await scheduler.advance(LEASE_MS / 10 - 1);
    expect(log.reads).toBe(0);
    await scheduler.advance(1 + ROUND_TRIP_MS);
    await renewal;
    expect(isUsable(lease)).toBe(true);
  });

  test("a purge waits for the PoP's notes for a tenth of a lease at the most", async () => {
    notes = { read: async () => null, write: () => new Promise(() => undefined) };
    const lease = isolate();
    let isShared = false;
    void lease.takeReplyAndShare(deltaOf(0, 1, [["#t", 1]], { leaseMs: LEASE_MS }), lease.beginCall()).then(() => {
      isShared = true;
    });
    await scheduler.advance(LEASE_MS / 10);
    expect(isShared).toBe(true);
  });

  test("notes that fail or are cut off count as missing, and are reported (promise 6)", async () => {
    const broken = async () => {
      throw new Error("no cache");
    };
    notes = { read: broken, write: broken };
    const [first, second] = [isolate(), isolate()];
    await renew(first);
    await renew(second);
    expect([isUsable(first), isUsable(second), log.reads]).toEqual([true, true, 2]);
    expect(events.filter(({ kind }) => kind === "store-failed").length).toBeGreaterThan(2);

    const whole = writeCopy({
      startedAt: scheduler.now(),
      longestViewAgeMs: LEASE_MS,
      delta: deltaOf(0, 1, [["#t", 1]]),
      sightings: [],
    });
    notes = { read: async () => whole.slice(0, -1), write: async () => undefined };
    await renew(isolate());
    expect(log.reads).toBe(3);
  });

  test("a request with a token causes a read of the log, whatever the others have read (R9)", async () => {
    await renew(isolate());
    log.purge("#t");
    const other = isolate();
    await renew(other, 0);
    const token = { logId: "a", seq: 1 };
    expect(other.isUsable(scheduler.now(), token)).toBe(false);
    const proof = other.renew(behind, token);
    await scheduler.advance(ROUND_TRIP_MS);
    expect(await proof).toBeNull();
    expect(log.reads).toBe(2);
    expect(other.isUsable(scheduler.now(), token)).toBe(true);
  });

  test("a copy that has reached the token is enough for its bearer", async () => {
    const other = isolate();
    await renew(other);
    log.purge("#t");
    await scheduler.advance(LEASE_MS);
    await renew(isolate());
    await renew(other, 0);
    expect(log.reads).toBe(2);
    expect(other.isUsable(scheduler.now(), { logId: "a", seq: 1 })).toBe(true);
  });

  test("an isolate that cannot reach the log uses the copies of one that can (R21)", async () => {
    const lease = isolate();
    log.isReachable = false;
    await renew(lease);
    expect(isUsable(lease)).toBe(false);
    log.isReachable = true;
    await renew(isolate(), CLAIM_MS + ROUND_TRIP_MS); // the other one's claim is still there
    await scheduler.advance(LEASE_MS / 2);
    await renew(lease, 0); // the probe
    expect(isUsable(lease)).toBe(true);
    expect(log.reads).toBe(2);
  });

  test("the others can use the reply to one isolate's purge at once", async () => {
    const [one, other] = [isolate(), isolate()];
    await renew(one);
    const call = one.beginCall();
    await scheduler.settle(one.takeReplyAndShare(deltaOf(0, 1, [["#t", 1]], { leaseMs: LEASE_MS }), call));
    await renew(other, 0);
    expect(log.reads).toBe(1);
    expect(keeps(other, "#t", 0)).toBe(false);
  });

  test("a copy includes the purges of earlier copies, so that it connects for isolates that missed a read", async () => {
    const [one, other, third] = [isolate(), isolate(), isolate()];
    for (const lease of [one, other, third]) await renew(lease);
    for (const lease of [one, other]) {
      log.purge(`#${log.purged.length}`);
      await scheduler.advance(LEASE_MS);
      await renew(lease);
    }
    const before = log.reads;
    await renew(third, 0); // it is two purges behind, and the last read told one
    expect(log.reads).toBe(before);
    expect([keeps(third, "#0", 0), keeps(third, "#1", 0)]).toEqual([false, false]);
  });

  test("a renewal falls due earlier by the round trip to the log (R22)", async () => {
    const lease = isolate();
    await renew(lease);
    await scheduler.advance(800);
    await renew(lease); // now it knows how long a read takes
    const dueAfterMs = 0.7 * (LEASE_MS - ROUND_TRIP_MS) - ROUND_TRIP_MS;
    expect(lease.isDue(scheduler.now() + dueAfterMs - 1)).toBe(false);
    expect(lease.isDue(scheduler.now() + dueAfterMs)).toBe(true);
  });

  test("in the background of a hit, a copy that is itself nearly due is not enough", async () => {
    const lease = isolate();
    await renew(lease);
    await scheduler.advance(500);
    await leave({ startedAt: scheduler.now() - 599, delta: deltaOf(0, 0) });
    await scheduler.advance(100);
    expect(isUsable(lease)).toBe(true);
    await renew(lease);
    expect(log.reads).toBe(2);
  });

  test.each([
    [0, 700],
    [100, 600],
    [200, 500],
    [900, 500],
  ])(
    "where requests come %d ms apart, the renewal falls due after %d ms, for the next might come too late",
    async (gapMs, dueAfterMs) => {
      const lease = isolate();
      for (let request = 0; request < 60; request++) {
        lease.isDue(scheduler.now());
        await scheduler.advance(gapMs);
      }
      await scheduler.settle(lease.takeReplyAndShare(deltaOf(0, 0), lease.beginCall()));
      expect(lease.isDue(scheduler.now() + dueAfterMs - 1)).toBe(false);
      expect(lease.isDue(scheduler.now() + dueAfterMs + 1)).toBe(true); // the usual gap comes ever nearer to it
    },
  );

  describe("of a site with a maximum view age", () => {
    const WITHIN_MS = 60_000;

    test("use a view up to that age, and not a millisecond longer", async () => {
      const lease = isolate({ longestViewAgeMs: WITHIN_MS });
      await renew(lease, ROUND_TRIP_MS);
      const isUsableAfter = (ms: number, maxViewAgeMs: number) =>
        lease.isUsable(scheduler.now() - ROUND_TRIP_MS + ms, null, maxViewAgeMs);
      expect([isUsableAfter(LEASE_MS, 0), isUsableAfter(WITHIN_MS - 1, WITHIN_MS)]).toEqual([false, true]);
      expect(isUsableAfter(WITHIN_MS, WITHIN_MS)).toBe(false);
      expect(isUsableAfter(WITHIN_MS, WITHIN_MS + 1)).toBe(false); // the log was not told of a bound this long
    });

    test("have no usable view after the clock has stepped back", async () => {
      const lease = isolate({ longestViewAgeMs: WITHIN_MS });
      await renew(lease);
      lease.isUsable(scheduler.now(), null);
      expect(lease.isUsable(scheduler.now() - SKEW_MS - 1, null, WITHIN_MS)).toBe(false);
      expect(lease.isUsable(scheduler.now(), null, WITHIN_MS)).toBe(false);
    });

    test.each([
      [WITHIN_MS - 1, false],
      [WITHIN_MS, true],
      [WITHIN_MS + 1, true],
    ])("take a copy whose read named a view age of %d ms: %s (R6)", async (longestViewAgeMs, isTaken) => {
      await leave({ longestViewAgeMs, delta: deltaOf(0, 0) });
      await renew(isolate({ longestViewAgeMs: WITHIN_MS }));
      expect(log.reads).toBe(isTaken ? 0 : 1);
    });
  });
});

describe("a shared copy as bytes", () => {
  const copy: SharedCopy = {
    startedAt: 1_767_268_800_123,
    longestViewAgeMs: 60_000,
    delta: deltaOf(3, 9, [
      ["#ä", 9],
      ["/a", 5, "soft"],
    ]),
    sightings: [{ seq: 5, at: 1_767_268_800_000 }],
  };

  test("comes back unchanged", () => {
    expect(readCopy(writeCopy(copy))).toEqual(copy);
    const none = { ...copy, delta: deltaOf(3, 3) };
    expect(readCopy(writeCopy(none))).toEqual(none);
  });

  test("is refused if it was cut off anywhere, or has grown", () => {
    const bytes = writeCopy(copy);
    for (let length = 0; length < bytes.length; length++) expect(readCopy(bytes.slice(0, length))).toBeNull();
    expect(readCopy(Uint8Array.from([...bytes, 0]))).toBeNull();
  });

  test("is refused if it is of another version", () => {
    const bytes = writeCopy(copy);
    bytes[0]!++;
    expect(readCopy(bytes)).toBeNull();
  });
});
