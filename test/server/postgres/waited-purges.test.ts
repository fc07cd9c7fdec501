import { beforeEach, describe, expect, test } from "vitest";
import { type SettlingLog, WaitedPurges } from "../../../server/postgres/waited-purges.ts";
import type { PurgeRecord } from "../../../worker/ports/purge-log.ts";
import { Scheduler } from "../../engine/scheduler.ts";

/** The log as far as answers that are held need it. Its purges settle by the clock after 60 s. */
class FakeLog implements SettlingLog {
  readonly settlesAt = new Map([1, 2].map((seq) => [seq, 60_000]));
  readonly confirmed = new Set<number>();
  readonly asked: number[][] = [];
  isOutOfReach = false;
  /** Another log has another purge under each number. */
  at = 1;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async audited(seq: number) {
    this.#reach();
    const settlesAt = this.settlesAt.get(seq);
    if (settlesAt === undefined) return null;
    const settlesInMs = settlesAt - this.#now();
    const { at } = this;
    const record: Partial<PurgeRecord> = { seq, at, settled: this.confirmed.has(seq) || settlesInMs <= 0 };
    return { record: record as PurgeRecord, settlesInMs };
  }

  async settledOf(seqs: readonly number[]) {
    this.#reach();
    this.asked.push([...seqs]);
    return seqs.filter((seq) => this.confirmed.has(seq));
  }

  #reach(): void {
    if (this.isOutOfReach) throw new Error("out of reach");
  }
}

let scheduler: Scheduler;
let log: FakeLog;
let waited: WaitedPurges;
/** Those that run. */
let timers: Set<object>;

beforeEach(() => {
  scheduler = new Scheduler(1, 0);
  timers = new Set();
  log = new FakeLog(() => scheduler.now());
  waited = new WaitedPurges(log, { now: () => scheduler.now(), wait: watchedWait });
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
  void waited.find(seq, waitMs).then((record) => {
    outcome.afterMs = scheduler.now() - from;
    outcome.settled = record?.settled;
  });
  await scheduler.advance(0);
  return outcome;
}

describe("an answer about a purge is held until every machine has confirmed it", () => {
  test("a purge is not settled by one of the next log that has its number (R13)", async () => {
    const answer = waited.find(1, 10_000);
    await scheduler.advance(100);
    log.at = 2;
    log.confirmed.add(1);
    waited.noteConfirmed();
    await scheduler.advance(10_000);
    expect(await answer).toBeNull();
  });

  test("and given at the notice of the last one", async () => {
    const [one, two] = [await asked(1, 25_000), await asked(2, 25_000)];
    await scheduler.advance(300);
    log.confirmed.add(1);
    waited.noteConfirmed();
    await scheduler.advance(0);
    expect([one, two]).toEqual([
      { afterMs: 300, settled: true },
      { afterMs: null, settled: undefined },
    ]);
  });

  test("or soon after it, if the notice is lost", async () => {
    const one = await asked(1, 25_000);
    await scheduler.advance(1_300);
    log.confirmed.add(1);
    await scheduler.advance(1_000);
    expect(one).toEqual({ afterMs: 2_000, settled: true });
  });

  test("or at once, if that came between", async () => {
    const { audited } = log;
    log.audited = async (seq) => {
      const found = await audited.call(log, seq);
      log.confirmed.add(seq);
      return found;
    };
    expect(await asked(1, 25_000)).toEqual({ afterMs: 0, settled: true });
  });

  test("or until the lease of a machine that never confirms is over", async () => {
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
    ["its lease is over", 1_250, { afterMs: 1_250, settled: true }],
    ["the time is over that was asked for", 60_000, { afterMs: 25_000, settled: false }],
  ])("or until %s, if the log is out of reach by then", async (_, settlesAt, outcome) => {
    log.settlesAt.set(1, settlesAt);
    const one = await asked(1, 25_000);
    log.isOutOfReach = true;
    await scheduler.advance(30_000);
    expect(one).toEqual(outcome);
  });

  test("and fails once the log is closed", async () => {
    const found = waited.find(1, 25_000);
    await scheduler.advance(0);
    waited.close();
    await expect(found).rejects.toThrow("the purge log was closed");
    expect(timers.size).toBe(0);
  });

  test("and fails if the log is closed while it is asked for the first time", async () => {
    const found = waited.find(1, 25_000);
    waited.close();
    await expect(found).rejects.toThrow("the purge log was closed");
    expect(timers.size).toBe(0);
  });
});

test("at most a thousand answers are held, about whose purges the log is asked together", async () => {
  const held = await Promise.all(Array.from({ length: 1000 }, (_, at) => asked(1 + (at % 2), 25_000)));
  expect(held.every(({ afterMs }) => afterMs === null)).toBe(true);
  expect(await asked(1, 25_000)).toEqual({ afterMs: 0, settled: false });
  log.asked.length = 0;
  for (let notice = 0; notice < 100; notice++) waited.noteConfirmed();
  await scheduler.advance(0);
  expect(log.asked.length).toBeLessThanOrEqual(2);
  expect(log.asked[0]).toEqual([1, 2]);
  log.confirmed.add(1).add(2);
  waited.noteConfirmed();
  await scheduler.advance(0);
  expect(held.every(({ settled }) => settled)).toBe(true);
  log.asked.length = 0;
  await scheduler.advance(60_000);
  expect(log.asked).toEqual([]); // nobody waits any more
});

test("a purge that is not there, has settled, or is not waited for, is told at once", async () => {
  log.confirmed.add(2);
  expect(await waited.find(3, 25_000)).toBeNull();
  expect(await waited.find(2, 25_000)).toMatchObject({ settled: true });
  expect(await waited.find(1, 0)).toMatchObject({ settled: false });
});
