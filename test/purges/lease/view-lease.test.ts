import { beforeEach, describe, expect, test } from "vitest";
import type { BackgroundWork } from "../../../worker/ports/background-work.ts";
import type { EdgeEvent } from "../../../worker/ports/reporter.ts";
import { PopSharing } from "../../../worker/purges/lease/pop-sharing.ts";
import { ViewLease } from "../../../worker/purges/lease/view-lease.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import { MemoryNotes } from "../../engine/memory/memory-notes.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";
import { deltaOf } from "../view/delta.ts";
import { HeldLog, LEASE_MS } from "./held-log.ts";

const SKEW_MS = 250;

describe("a view's lease", () => {
  let scheduler: Scheduler;
  let log: HeldLog;
  let lease: ViewLease;
  let random: number;
  let events: EdgeEvent[];
  const behind: BackgroundWork = { run: () => undefined };
  /** It looks at the PoP's shared reads before it reads the log. */
  const rest = () => scheduler.advance(0);

  beforeEach(() => {
    scheduler = new Scheduler(1, 100_000_000);
    log = new HeldLog();
    random = 0;
    events = [];
    lease = leaseOf(LEASE_MS);
  });

  function leaseOf(leaseMs: number): ViewLease {
    const reporter = { report: (event: EdgeEvent) => void events.push(event) };
    const settings = { leaseMs, skewMs: SKEW_MS };
    const pop = new PopSharing(new MemoryNotes(scheduler), settings, scheduler, reporter);
    const view = new PurgeView(10_000);
    return new ViewLease({ settings, view, log, pop, clock: scheduler, random: () => random, reporter });
  }

  async function renewed(to = 1): Promise<void> {
    const renewal = lease.renew(behind, null);
    await rest();
    log.answer(log.reads.length - 1, to);
    await renewal;
  }

  /** A second read begins, and its answer makes the view usable. */
  async function isReadAgain(): Promise<void> {
    await lease.renew(behind, null);
    await rest();
    expect(log.reads).toHaveLength(2);
    log.answer(1, 1);
    await rest();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
  }

  test("lasts for the granted time and not a millisecond longer", async () => {
    await renewed();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(lease.isUsable(scheduler.now() + LEASE_MS - 1, null)).toBe(true);
    expect(lease.isUsable(scheduler.now() + LEASE_MS, null)).toBe(false);
  });

  test("counts from the beginning of the read, not from its reply (R6)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    await scheduler.advance(400);
    log.answer(0, 1);
    await renewal;
    expect(lease.isUsable(scheduler.now() + 599, null)).toBe(true);
    expect(lease.isUsable(scheduler.now() + 600, null)).toBe(false);
  });

  test.each([
    [0, 700],
    [1, 880],
  ])(
    "falls due at a random point between 70 and 88 % of the lease: %d gives %d ms (R22)",
    async (drawn, dueAfterMs) => {
      random = drawn;
      await renewed();
      expect(lease.isDue(scheduler.now() + dueAfterMs - 1)).toBe(false);
      expect(lease.isDue(scheduler.now() + dueAfterMs)).toBe(true);
    },
  );

  test("makes a view usable after a truncated reply, and the rest is read behind the next hit (R12)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    log.reads[0]!.resolve(deltaOf(0, 9, [["#t", 9]], { truncatedAt: 8 }));
    await renewal;
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(lease.isDue(scheduler.now())).toBe(true);
    const second = lease.renew(behind, null);
    await rest();
    expect(lease.isDue(scheduler.now())).toBe(false); // one read at a time
    expect(log.unread).toEqual({ from: 0, to: 8 });
    log.reads[1]!.resolve(deltaOf(9, 9, [["#u", 3]], { unread: { from: 0, to: 8 } }));
    await second;
    expect(lease.isDue(scheduler.now() + 699)).toBe(false);
  });

  describe("and a push of the log (R24)", () => {
    const stored = storedHead({ stamp: { logId: "a", seq: 1 }, givenPurgeKeys: ["#a"] });
    const learn = (delta: ViewDelta) => {
      const state: { result?: boolean } = {};
      void lease.learn(delta, behind).then((result) => {
        state.result = result;
      });
      return state;
    };

    test("is applied at once, extends no lease, and brings no renewal forward", async () => {
      await renewed();
      await scheduler.advance(500);
      const learned = learn(deltaOf(1, 2, [["#a", 2]], { leaseMs: 0 }));
      expect(lease.check(stored, true)).toBe("purged");
      await rest();
      expect(learned.result).toBe(true);
      expect(log.reads).toHaveLength(1);
      expect(lease.isUsable(scheduler.now() + 499, null)).toBe(true);
      expect(lease.isUsable(scheduler.now() + 500, null)).toBe(false);
      expect(lease.isDue(scheduler.now() + 199)).toBe(false);
      expect(lease.isDue(scheduler.now() + 200)).toBe(true);
    });

    test("counts for the bearer of its token without a read", async () => {
      await renewed();
      learn(deltaOf(1, 2));
      expect(lease.isUsable(scheduler.now(), { logId: "a", seq: 2 })).toBe(true);
    });

    test("that comes late, or a second time, changes nothing and is confirmed", async () => {
      await renewed(5);
      const learned = [learn(deltaOf(3, 4, [["#b", 4]])), learn(deltaOf(3, 4, [["#b", 4]]))];
      await rest();
      expect(learned.map(({ result }) => result)).toEqual([true, true]);
      expect(lease.stamp()).toEqual({ logId: "a", seq: 5 });
    });

    test("that would leave a gap causes a read, and is confirmed when the view has reached it", async () => {
      await renewed();
      const learned = learn(deltaOf(2, 3, [["#a", 3]]));
      await rest();
      expect(lease.stamp()).toEqual({ logId: "a", seq: 1 });
      expect(learned.result).toBeUndefined();
      log.answer(1, 3);
      await rest();
      expect(learned.result).toBe(true);
    });

    test("that would leave a gap is not confirmed by a read that began before it and did not bring it", async () => {
      const renewal = lease.renew(behind, null);
      await rest();
      const learned = learn(deltaOf(2, 3));
      await rest();
      expect(log.reads).toHaveLength(1);
      log.answer(0, 2);
      await renewal;
      await rest();
      expect(learned.result).toBeUndefined();
      expect(log.reads).toHaveLength(2);
      log.answer(1, 3);
      await rest();
      expect(learned.result).toBe(true);
    });

    test("is not confirmed if the read that it needs fails", async () => {
      await renewed();
      const learned = learn(deltaOf(2, 3));
      await rest();
      log.reads[1]!.reject(new Error("silent"));
      await rest();
      expect(learned.result).toBe(false);
    });

    test("does not begin a view: an isolate without one reads the log", async () => {
      const learned = learn(deltaOf(0, 1, [["#a", 1]]));
      expect(lease.stamp()).toBeNull();
      await rest();
      log.answer(0, 1);
      await rest();
      expect(learned.result).toBe(true);
    });

    test("of another log ends the lease until a read shows which log is current (R11)", async () => {
      await renewed();
      const learned = learn(deltaOf(0, 1, [], { logId: "b" }));
      expect(lease.isUsable(scheduler.now(), null)).toBe(false);
      expect(lease.stamp()).toEqual({ logId: "a", seq: 1 });
      await rest();
      log.answer(1, 1); // it was a late push of a log that has been replaced
      await rest();
      expect(learned.result).toBe(false);
      expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    });

    test("makes an older call prove nothing about which log is current (R11)", async () => {
      await renewed();
      const late = lease.beginCall();
      learn(deltaOf(1, 2));
      expect(lease.takeReply(deltaOf(0, 9, [], { logId: "b" }), late)).toBe(false);
      expect(lease.stamp()).toEqual({ logId: "a", seq: 2 });
    });
  });

  describe("and a page that is ahead of the view (R13)", () => {
    const pageOf = (seq: number, receivedAt: number) =>
      storedHead({ stamp: { logId: "a", seq }, givenPurgeKeys: ["#a"], receivedAt });
    const isUsable = () => lease.isUsable(scheduler.now(), null);

    test("lasts if the page may have come after the read: another isolate has read further", async () => {
      await renewed();
      expect(lease.check(pageOf(5, scheduler.now() - SKEW_MS), true)).toBe("not-purged");
      expect(isUsable()).toBe(true);
      expect(lease.stamp()).toEqual({ logId: "a", seq: 1 });
    });

    test("ends if the page came before the read, until the log has been asked from there on", async () => {
      await renewed();
      const earlier = lease.beginCall();
      const page = pageOf(5, scheduler.now() - SKEW_MS - 1);
      expect(lease.check(page, true)).toBe("unverifiable");
      expect(isUsable()).toBe(false);
      expect(lease.takeReply(deltaOf(1, 1, [], { leaseMs: LEASE_MS }), earlier)).toBe(false);
      const renewal = lease.renew(behind, null); // the PoP's copy of the first read renews nothing
      await rest();
      expect(isUsable()).toBe(false);
      expect(log.unread).toEqual({ from: 1, to: 5 });
      log.reads[1]!.resolve(deltaOf(5, 5, [["#a", 3]], { leaseMs: LEASE_MS, unread: { from: 1, to: 5 } }));
      await renewal;
      expect(isUsable()).toBe(true);
      expect(lease.check(page, true)).toBe("not-purged");
      expect(lease.check(pageOf(2, scheduler.now()), true)).toBe("purged");
    });
  });

  test("is renewed by one read at a time (R21)", async () => {
    const renewals = Array.from({ length: 50 }, () => lease.renew(behind, null));
    await rest();
    expect(lease.isDue(scheduler.now())).toBe(false);
    log.answer(0, 1);
    await Promise.all(renewals);
    expect(log.reads).toHaveLength(1);
  });

  test("is not waited for during a lease after a failed read, and one probe runs in the background (R21)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    log.reads[0]!.reject(new Error("gone"));
    await renewal;
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
    for (let index = 0; index < 10; index++) await lease.renew(behind, null); // none of them waits, or reads
    await rest();
    expect(log.reads).toHaveLength(1);
    await scheduler.advance(LEASE_MS / 2 - 1);
    expect(lease.isDue(scheduler.now())).toBe(false);
    await lease.renew(behind, null);
    await rest();
    expect(log.reads).toHaveLength(1);
    await scheduler.advance(1);
    for (let index = 0; index < 10; index++) await lease.renew(behind, null); // none of them hangs on the probe
    await rest();
    expect(log.reads).toHaveLength(2);
    log.answer(1, 1);
    await rest();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(events.map(({ kind }) => kind)).toEqual(["log-failed", "log-read"]);
  });

  test.each([LEASE_MS, 30_000])("of %d ms is waited for once while the log is silent (R21)", async (leaseMs) => {
    lease = leaseOf(leaseMs);
    const patienceMs = Math.min(leaseMs, 2000);
    const waitedMs: number[] = [];
    for (let asked = 0; asked < 300; asked++) {
      const askedAt = scheduler.now();
      void lease.renew(behind, null).then(() => waitedMs.push(scheduler.now() - askedAt));
      await scheduler.advance(97);
    }
    await scheduler.advance(patienceMs);
    expect(waitedMs).toHaveLength(300);
    expect(waitedMs.filter((ms) => ms > 0).length).toBeLessThanOrEqual(patienceMs / 97 + 1);
    expect(log.reads.length).toBeGreaterThan(5); // each probe is soon followed by another one
  });

  test("that was renewed while a probe hangs is not taken for failed when the probe is given up (R21)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    log.reads[0]!.reject(new Error("gone"));
    await renewal;
    await scheduler.advance(LEASE_MS / 2);
    await lease.renew(behind, null); // a probe, whose read never ends
    await rest();
    await scheduler.advance(LEASE_MS / 2);
    expect(lease.takeReply(deltaOf(0, 1, [], { logId: "a", leaseMs: LEASE_MS }), lease.beginCall())).toBe(true); // of a purge
    await scheduler.advance(0.7 * LEASE_MS); // the probe has been given up meanwhile
    expect(lease.isDue(scheduler.now())).toBe(true);
    await scheduler.advance(0.3 * LEASE_MS);
    let isOver = false;
    const next = lease.renew(behind, null).then(() => {
      isOver = true;
    });
    await rest();
    expect(isOver).toBe(false); // the log is waited for
    log.answer(2, 1);
    await next;
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
  });

  describe("of 30 s (R21)", () => {
    beforeEach(() => {
      lease = leaseOf(30_000);
    });

    test("is back a second after a read that failed", async () => {
      const renewal = lease.renew(behind, null);
      await rest();
      log.reads[0]!.reject(new Error("gone"));
      await renewal;
      await scheduler.advance(999);
      await lease.renew(behind, null);
      await rest();
      expect(log.reads).toHaveLength(1);
      await scheduler.advance(1);
      await isReadAgain();
    });

    test("is waited for during two seconds if a read never ends, and another read may begin a second later", async () => {
      const renewal = lease.renew(behind, null);
      await rest();
      await scheduler.advance(2000);
      await renewal;
      await scheduler.advance(1000);
      await lease.renew(behind, null);
      await rest();
      expect(log.reads).toHaveLength(2);
    });

    test("asks a silent log at most once a second", async () => {
      for (let asked = 0; asked < 600; asked++) {
        void lease.renew(behind, null);
        await rest();
        log.reads.at(-1)!.reject(new Error("gone"));
        await scheduler.advance(100);
      }
      expect(log.reads.length).toBeLessThanOrEqual(61);
    });
  });

  test("story 31: is waited for during one lease if a read never ends, and another read may begin (R21)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    await scheduler.advance(LEASE_MS);
    await renewal;
    await scheduler.advance(LEASE_MS / 2);
    await isReadAgain();
  });

  test("says that the log failed once for each read that never ends, however many wait for it", async () => {
    const failures = () => events.filter(({ kind }) => kind === "log-failed");
    for (let asked = 0; asked < 3; asked++) void lease.renew(behind, null);
    await rest();
    await scheduler.advance(LEASE_MS - 1);
    expect(failures()).toHaveLength(0);
    await scheduler.advance(1);
    expect(failures()).toEqual([{ kind: "log-failed", cause: "no answer in time" }]);
    await scheduler.advance(LEASE_MS / 2);
    void lease.renew(behind, null); // a probe
    await scheduler.advance(LEASE_MS);
    expect(failures()).toHaveLength(2);
  });

  test("survives requests whose frozen clocks differ by the allowance (R7)", async () => {
    await renewed();
    expect(lease.isUsable(scheduler.now() + SKEW_MS, null)).toBe(true);
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(lease.isUsable(scheduler.now() - 1, null)).toBe(false); // 251 ms behind the latest
  });

  test("ends when the clock steps back further than the allowance (R7)", async () => {
    await renewed();
    const latest = scheduler.now() + SKEW_MS + 10;
    expect(lease.isUsable(latest, null)).toBe(true);
    expect(lease.isUsable(latest - SKEW_MS - 1, null)).toBe(false);
    expect(lease.isUsable(latest, null)).toBe(false);
    await renewed();
    expect(lease.isUsable(latest, null)).toBe(true);
  });

  test("is not shortened by the late reply to an older read (R11)", async () => {
    const older = lease.renew(behind, null);
    await rest();
    await scheduler.advance(LEASE_MS);
    await older;
    await scheduler.advance(LEASE_MS / 2);
    await lease.renew(behind, null);
    await rest();
    log.answer(1, 2);
    await rest();
    log.answer(0, 1);
    await rest();
    expect(lease.isUsable(scheduler.now() + LEASE_MS - 1, null)).toBe(true);
    expect(lease.stamp()).toEqual({ logId: "a", seq: 2 });
  });

  test("ends at a late reply of a replaced log, which does not change the view (R11)", async () => {
    const older = lease.renew(behind, null); // of log a
    await rest();
    await scheduler.advance(LEASE_MS + LEASE_MS / 2); // given up; the next one is a probe
    await older;
    await lease.renew(behind, null);
    await rest();
    log.answer(1, 1, "b");
    await rest();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    log.answer(0, 3, "a");
    await rest();
    expect(lease.stamp()).toEqual({ logId: "b", seq: 1 });
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
  });

  test("ends when another log takes the place of the one that granted it (R11)", async () => {
    const first = lease.renew(behind, null);
    await rest();
    log.reads[0]!.resolve(deltaOf(0, 1, [], { logId: "a", leaseMs: 10 * LEASE_MS }));
    await first;
    const second = lease.renew(behind, null);
    await rest();
    log.reads[1]!.resolve(deltaOf(0, 1, [], { logId: "b", leaseMs: LEASE_MS }));
    await second;
    expect(lease.isUsable(scheduler.now() + LEASE_MS - 1, null)).toBe(true);
    expect(lease.isUsable(scheduler.now() + LEASE_MS, null)).toBe(false);
  });

  test("story 32: is handled like a failure when the log takes more than a lease to answer (R21)", async () => {
    const renewal = lease.renew(behind, null);
    await rest();
    await scheduler.advance(LEASE_MS);
    await renewal;
    await scheduler.advance(LEASE_MS / 4);
    log.answer(0, 1); // too late to be used
    await rest();
    for (let index = 0; index < 10; index++) await lease.renew(behind, null); // none of them waits, or reads
    await rest();
    expect(log.reads).toHaveLength(1);
  });

  test("is renewed at once after the clock has stepped back by an hour", async () => {
    const failed = lease.renew(behind, null);
    await rest();
    log.reads[0]!.reject(new Error("gone"));
    await failed;
    await lease.renew(behind, { logId: "invented", seq: 1 });
    await rest();
    lease.isUsable(scheduler.now(), null);
    scheduler.stepBack(3_600_000);
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
    await renewed();
    expect(log.reads).toHaveLength(2);
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
  });

  describe("a token", () => {
    test("is satisfied by a view that has read as far", async () => {
      await renewed(5);
      expect(lease.isUsable(scheduler.now(), { logId: "a", seq: 5 })).toBe(true);
      expect(lease.isUsable(scheduler.now(), { logId: "a", seq: 6 })).toBe(false);
    });

    test("story 5: is not satisfied by a higher number of another log (R9)", async () => {
      await renewed(5);
      expect(lease.isUsable(scheduler.now(), { logId: "b", seq: 1 })).toBe(false);
    });

    test("is proved false only by a read that began after it arrived (R9)", async () => {
      const older = lease.renew(behind, null);
      await rest();
      const bearer = lease.renew(behind, { logId: "a", seq: 9 });
      await rest();
      log.answer(0, 5);
      await older;
      await rest();
      expect(log.reads).toHaveLength(2);
      log.answer(1, 5);
      expect(await bearer).toBeNull();
    });

    test("stays in force while the log is silent", async () => {
      const token = { logId: "a", seq: 9 };
      const bearer = lease.renew(behind, token);
      await rest();
      log.reads[0]!.reject(new Error("gone"));
      expect(await bearer).toEqual(token);
    });

    test("causes no read if others have begun the read that it needs", async () => {
      const bearers = Array.from({ length: 50 }, () => lease.renew(behind, { logId: "invented", seq: 9 }));
      await rest();
      log.answer(0, 1);
      await rest();
      log.answer(1, 1); // the one that all but the first share
      await Promise.all(bearers); // none of them waits for the next lease
      expect(log.reads).toHaveLength(2);
    });

    test("that a client invents causes at most eight reads in a lease", async () => {
      const bearers: Promise<unknown>[] = [];
      for (let index = 0; index < 100; index++) {
        bearers.push(lease.renew(behind, { logId: "invented", seq: 9 }));
        await rest();
        log.answer(log.reads.length - 1, 1);
        await rest();
      }
      expect(log.reads).toHaveLength(8);
      await scheduler.advance(LEASE_MS);
      log.answer(8, 1);
      await Promise.all(bearers);
      expect(log.reads).toHaveLength(9);
    });

    test("waits for no lease because of others from before the clock has stepped back by an hour", async () => {
      for (let index = 0; index < 8; index++) {
        void lease.renew(behind, { logId: "invented", seq: 9 });
        await rest();
        log.answer(index, 1);
        await rest();
      }
      lease.isUsable(scheduler.now(), null);
      scheduler.stepBack(3_600_000);
      lease.isUsable(scheduler.now(), null);
      const renewal = lease.renew(behind, { logId: "a", seq: 2 });
      await rest();
      expect(log.reads).toHaveLength(9);
      log.answer(8, 2);
      expect(await renewal).toBeNull();
    });
  });
});
