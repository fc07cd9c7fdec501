import { beforeEach, describe, expect, test } from "vitest";
import type { PurgeRecord } from "../../../worker/ports/purge-log.ts";
import { HeldAnswers } from "../../../worker/purges/log/held-answers.ts";
import { Scheduler } from "../../engine/scheduler.ts";

/** A log over the network, as far as answers that are held need it. Its purges settle by the clock after 60 s. */
class FakeLog {
  readonly settlesAt = new Map([1, 2].map((seq) => [seq, 60_000]));
  readonly confirmed = new Set<number>();
  asked = 0;
  isOutOfReach = false;
  /** Another log has another purge under each number. */
  at = 1;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async find(seq: number) {
    this.asked++;
    if (this.isOutOfReach) throw new Error("out of reach");
    const settlesAt = this.settlesAt.get(seq);
    if (settlesAt === undefined) return null;
    const settlesInMs = this.confirmed.has(seq) ? 0 : settlesAt - this.#now();
    const record: Partial<PurgeRecord> = { seq, at: this.at, settled: settlesInMs <= 0, settlesInMs };
    return record as PurgeRecord;
  }
}

let scheduler: Scheduler;
let log: FakeLog;
let held: HeldAnswers;
/** Those that run. */
let timers: Set<object>;

beforeEach(() => {
  scheduler = new Scheduler(1, 0);
  timers = new Set();
  log = new FakeLog(() => scheduler.now());
  held = new HeldAnswers(log, { now: () => scheduler.now(), wait: watchedWait });
});

function watchedWait(ms: number) {
  const timer = scheduler.wait(ms);
  timers.add(timer);
  const cancel = () => {
    timers.delete(timer);
    timer.cancel();
  };
  return { over: timer.over.then(() => void timers.delete(timer)), cancel };
}

interface Outcome {
  afterMs: number | null;
  settled: boolean | undefined;
}

/** Asks for a purge, and notes when that is answered. */
async function asked(seq: number, waitMs: number): Promise<Outcome> {
  const outcome: Outcome = { afterMs: null, settled: undefined };
  const from = scheduler.now();
  void held.find(seq, waitMs).then((record) => {
    outcome.afterMs = scheduler.now() - from;
    outcome.settled = record?.settled;
  });
  await scheduler.advance(0);
  return outcome;
}

describe("an answer about a purge is held until the purge has settled", () => {
  test("and not by a purge of the next log that has its number (R13)", async () => {
    const answer = held.find(1, 10_000);
    await scheduler.advance(100);
    log.at = 2;
    log.confirmed.add(1);
    held.noteSettled();
    await scheduler.advance(10_000);
    expect(await answer).toBeNull();
  });

  test("and given when that is noted", async () => {
    const [one, two] = [await asked(1, 25_000), await asked(2, 25_000)];
    await scheduler.advance(300);
    log.confirmed.add(1);
    held.noteSettled();
    await scheduler.advance(0);
    expect([one, two]).toEqual([
      { afterMs: 300, settled: true },
      { afterMs: null, settled: undefined },
    ]);
  });

  test("or at once, if it has settled while the log was asked", async () => {
    const { find } = log;
    log.find = async (seq) => {
      const found = await find.call(log, seq);
      if (!log.confirmed.has(seq)) {
        log.confirmed.add(seq);
        held.noteSettled();
      }
      return found;
    };
    expect(await asked(1, 25_000)).toEqual({ afterMs: 0, settled: true });
  });

  test("or until it settles by the clock", async () => {
    log.settlesAt.set(1, 1_250);
    const one = await asked(1, 25_000);
    await scheduler.advance(25_000);
    expect(one).toEqual({ afterMs: 1_250, settled: true });
  });

  test("or until the time is over that was asked for", async () => {
    const one = await asked(1, 700);
    await scheduler.advance(25_000);
    expect(one).toEqual({ afterMs: 700, settled: false });
  });

  test.each([
    ["it settles by the clock", 1_250, { afterMs: 1_250, settled: true }],
    ["the time is over that was asked for", 60_000, { afterMs: 25_000, settled: false }],
  ])("or until %s, if the log is out of reach by then", async (_, settlesAt, outcome) => {
    log.settlesAt.set(1, settlesAt);
    const one = await asked(1, 25_000);
    log.isOutOfReach = true;
    await scheduler.advance(600);
    held.noteSettled(); // which the log cannot confirm
    await scheduler.advance(30_000);
    expect(one).toEqual(outcome);
    expect(timers.size).toBe(0);
  });

  test("and fails once the log is closed", async () => {
    const found = held.find(1, 25_000);
    await scheduler.advance(0);
    held.fail(new Error("closed"));
    await expect(found).rejects.toThrow("closed");
    expect(timers.size).toBe(0);
  });

  test("and fails if the log is closed while it is asked for the first time", async () => {
    const found = held.find(1, 25_000);
    held.fail(new Error("closed"));
    await expect(found).rejects.toThrow("closed");
    expect(timers.size).toBe(0);
  });
});

test("at most a thousand answers are held", async () => {
  const others = await Promise.all(Array.from({ length: 1000 }, (_, at) => asked(1 + (at % 2), 25_000)));
  expect(others.every(({ afterMs }) => afterMs === null)).toBe(true);
  expect(await asked(1, 25_000)).toEqual({ afterMs: 0, settled: false });
  log.confirmed.add(1).add(2);
  held.noteSettled();
  await scheduler.advance(0);
  expect(others.every(({ settled }) => settled)).toBe(true);
  log.asked = 0;
  held.noteSettled();
  await scheduler.advance(60_000);
  expect(log.asked).toBe(0); // nobody waits any more
});

test("answers can be held again once others have been given", async () => {
  await Promise.all(Array.from({ length: 1000 }, () => asked(1, 700)));
  await scheduler.advance(700);
  const later = await asked(2, 25_000);
  await scheduler.advance(300);
  log.confirmed.add(2);
  held.noteSettled();
  await scheduler.advance(0);
  expect(later).toEqual({ afterMs: 300, settled: true });
});

test("a purge that does not exist, has settled, or is not waited for is answered at once", async () => {
  log.confirmed.add(2);
  expect(await held.find(3, 25_000)).toBeNull();
  expect(await held.find(2, 25_000)).toMatchObject({ settled: true });
  expect(await held.find(1, 0)).toMatchObject({ settled: false });
});
