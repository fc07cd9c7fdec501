import fc from "fast-check";
import { beforeEach, describe, expect, type TestOptions, test } from "vitest";
import type { PurgeRecord } from "../../../worker/ports/purge-log.ts";
import type { AppendResult } from "../../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { byDepth } from "../../suite/depth.ts";
import { SettledModel } from "./settled-model.ts";

/** The lease of every reader, and the allowance for clocks: milliseconds. */
export const LEASE_MS = 1000;
export const SKEW_MS = 250;

const seed = Number(process.env.TEST_SEED ?? 1);

/** A random call, of a reader where it is one's. `confirms`: which of the purges so far, as a part of all. */
const RANDOM_CALL = fc.record({
  call: fc.constantFrom("join", "leave", "confirm", "confirm", "purge", "advance"),
  reader: fc.constantFrom("one", "two", "three"),
  confirms: fc.integer({ min: 1, max: 4 }),
  ms: fc.constantFrom(1, 100, 299, 300, 949, 1250),
});

/** A purge that was accepted. */
export type Appended = Extract<AppendResult, { kind: "appended" }>;

/** A log with its readers: isolates with a name, worker processes or machines. Nobody reads it in the beginning. */
export interface SettlingLog {
  /** All leases have run out so long after the number of a purge, with the allowance: milliseconds. */
  readonly boundMs: number;
  /** No purge settles earlier after its number than this: milliseconds. */
  readonly earliestMs: number;
  /** Lets time pass on all clocks. */
  advance(ms: number): Promise<void>;
  /** Sets the log's clock forward, or back if negative, within the allowance. No time passes. */
  stepClock(ms: number): Promise<void>;
  /** From here on the reader may use what it has read, for a lease at a time. */
  join(reader: string): Promise<void>;
  /** The reader's view has reached this position. */
  confirm(reader: string, position: Stamp): Promise<void>;
  /** The reader gives up its leases, or its process ends. */
  leave(reader: string): Promise<void>;
  /** From here on somebody may use an older view who is not known to the log, and so confirms nothing. */
  noteStranger(): Promise<void>;
  /** Purges without waiting for confirmations. */
  purge(id?: string): Promise<Appended>;
  isSettled(seq: number): Promise<boolean>;
  /** Asks for a purge. The answer is held until it has settled, and for `waitMs` at most. */
  hold(seq: number, waitMs: number): Promise<HeldAnswer>;
  /** Whatever holds the log ends, and another begins over the same storage. The readers live on. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** An answer that is held now. */
export interface HeldAnswer {
  readonly record: Promise<PurgeRecord | null>;
}

/** What R6, R24 and R25 promise of every log, wherever it is kept and whoever its readers are. */
export function settlementContract(name: string, start: () => Promise<SettlingLog>, options: TestOptions = {}): void {
  describe(`${name}: a purge settles`, options, () => {
    let log: SettlingLog;
    beforeEach(async () => {
      log = await start();
      return () => log.end();
    });

    const joined = async (...readers: string[]) => {
      for (const reader of readers) await log.join(reader);
    };

    /** Expects that a purge which has just got its number settles when its bound has passed, and not before. */
    async function expectByTheClock({ seq, settlesInMs }: Appended): Promise<void> {
      expect(settlesInMs).toBeGreaterThanOrEqual(log.boundMs);
      await log.advance(settlesInMs - 1);
      expect(await log.isSettled(seq)).toBe(false);
      await log.advance(1);
      expect(await log.isSettled(seq)).toBe(true);
    }

    test("as early as allowed if nobody can use an older view", async () => {
      const { seq } = await log.purge();
      await log.advance(log.earliestMs);
      expect(await log.isSettled(seq)).toBe(true);
    });

    test("when the last reader has confirmed it, and not before", async () => {
      await joined("one", "two");
      const purged = await log.purge();
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.confirm("one", purged);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.confirm("two", purged);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("by the clock if a reader does not confirm it, and never before the lease and the allowance have passed", async () => {
      await joined("one", "silent");
      const purged = await log.purge();
      expect(purged.settlesInMs).toBe(log.boundMs);
      await log.confirm("one", purged);
      await expectByTheClock(purged);
    });

    test("when a reader has left that had not confirmed it", async () => {
      await joined("one", "leaving");
      const purged = await log.purge();
      await log.confirm("one", purged);
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.leave("leaving");
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("without a reader that had left before", async () => {
      await joined("one", "gone");
      await log.leave("gone");
      const purged = await log.purge();
      await log.confirm("one", purged);
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("without a reader that has joined after it", async () => {
      await joined("one");
      const purged = await log.purge();
      await joined("new");
      await log.confirm("one", purged);
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("not by the departure and return of a reader that has not confirmed it", async () => {
      await joined("one", "two");
      await log.leave("one");
      await joined("one");
      const purged = await log.purge();
      await log.confirm("two", purged);
      await expectByTheClock(purged);
    });

    test("together with all earlier purges, and none after it", async () => {
      await joined("one");
      const [first, second, third] = [await log.purge(), await log.purge(), await log.purge()];
      await log.confirm("one", second);
      await log.advance(log.earliestMs);
      const settled = await Promise.all([first, second, third].map(({ seq }) => log.isSettled(seq)));
      expect(settled).toEqual([true, true, false]);
    });

    test("for good: a late confirmation of an earlier number changes nothing", async () => {
      await joined("one");
      const [first, second] = [await log.purge(), await log.purge()];
      await log.advance(log.earliestMs);
      await log.confirm("one", second);
      expect(await log.isSettled(second.seq)).toBe(true);
      await log.confirm("one", first);
      expect(await log.isSettled(second.seq)).toBe(true);
    });

    test("by the clock while an unknown reader may use an older view", async () => {
      await joined("one");
      await log.noteStranger();
      const purged = await log.purge();
      await log.confirm("one", purged);
      await expectByTheClock(purged);
    });

    test("by the clock after the log has restarted", async () => {
      await joined("one");
      await log.restart();
      const purged = await log.purge();
      expect(purged.settlesInMs).toBe(log.boundMs);
      await expectByTheClock(purged);
    });

    test("by the clock if it was waiting when the log restarted", async () => {
      await joined("one");
      const purged = await log.purge();
      await log.restart();
      await expectByTheClock(purged);
    });

    test("not by a confirmation of another log's number", async () => {
      await joined("one");
      const purged = await log.purge();
      await log.confirm("one", { logId: "another", seq: purged.seq + 9 });
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.confirm("one", purged);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("not by a confirmation from somebody who is not a reader", async () => {
      await joined("one");
      const purged = await log.purge();
      await log.confirm("nobody", purged);
      await log.advance(log.earliestMs);
      expect(await log.isSettled(purged.seq)).toBe(false);
    });

    test("not before the lease has passed where the log's clock goes forward by the allowance", async () => {
      await joined("silent");
      const purged = await log.purge();
      await log.stepClock(SKEW_MS);
      await log.advance(log.boundMs - SKEW_MS - 1);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.advance(SKEW_MS + 1);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("not before the lease has passed where the log's clock goes back by the allowance", async () => {
      await joined("silent");
      const purged = await log.purge();
      await log.stepClock(-SKEW_MS);
      await log.advance(log.boundMs - 1);
      expect(await log.isSettled(purged.seq)).toBe(false);
      await log.advance(SKEW_MS + 1);
      expect(await log.isSettled(purged.seq)).toBe(true);
    });

    test("once, even if it is sent twice: the second call changes nothing", async () => {
      await joined("one");
      const { seq } = await log.purge("id");
      await log.advance(log.earliestMs);
      const again = await log.purge("id");
      expect(again).toMatchObject({ seq, replayed: true, settlesInMs: log.boundMs });
      expect(await log.isSettled(seq)).toBe(false);
      await log.confirm("one", again);
      expect(await log.isSettled(seq)).toBe(true);
      await log.purge("id");
      expect(await log.isSettled(seq)).toBe(true);
    });

    test("and an answer about it that is held is given then", async () => {
      await joined("one", "two");
      const purged = await log.purge();
      await log.advance(log.earliestMs);
      const { record } = await log.hold(purged.seq, 20_000);
      let isGiven = false;
      void record.then(() => {
        isGiven = true;
      });
      await log.confirm("one", purged);
      expect(isGiven).toBe(false);
      await log.confirm("two", purged);
      expect(await record).toMatchObject({ seq: purged.seq, settled: true });
    });

    test("and an answer about it is held for no longer than was asked", async () => {
      await joined("silent");
      const { seq } = await log.purge();
      const { record } = await log.hold(seq, 20);
      await log.advance(20);
      expect(await record).toMatchObject({ seq, settled: false });
    });

    test(`when a small model says so, under random calls (TEST_SEED=${seed})`, async () => {
      const calls = fc.array(RANDOM_CALL, { minLength: 10, maxLength: 30 });
      const follows = async (steps: readonly RandomCall[]) => {
        const started = await start();
        try {
          await followModel(started, steps);
        } finally {
          await started.end();
        }
      };
      await fc.assert(fc.asyncProperty(calls, follows), {
        seed,
        numRuns: byDepth({ test: 2, gate: 2, all: 12, explore: 60 }),
      });
    }, 30_000);
  });
}

type RandomCall = typeof RANDOM_CALL extends fc.Arbitrary<infer Call> ? Call : never;

/** Makes the calls, and asks of all purges after each. */
async function followModel(log: SettlingLog, calls: readonly RandomCall[]): Promise<void> {
  const model = new SettledModel(log);
  const confirmed = new Map<string, number>();
  const purges: Stamp[] = [];
  for (const { call, reader, confirms, ms } of calls) {
    if (call === "advance") {
      await log.advance(ms);
      model.now += ms;
    } else if (call === "purge") {
      const purged = await log.purge();
      purges.push(purged);
      model.purge(purged.seq);
    } else if (call === "join") {
      if (model.isReader(reader)) continue;
      await log.join(reader);
      model.join(reader);
      confirmed.set(reader, purges.length);
    } else if (call === "leave" && model.isReader(reader)) {
      await log.leave(reader);
      model.leave(reader);
    } else if (model.isReader(reader) && purges.length > 0) {
      // A view only grows.
      const count = Math.max(confirmed.get(reader)!, Math.ceil((purges.length * confirms) / 4));
      const position = purges[count - 1]!;
      await log.confirm(reader, position);
      model.confirm(reader, position.seq);
      confirmed.set(reader, count);
    }
    const settled = await Promise.all(purges.map(async ({ seq }) => ((await log.isSettled(seq)) ? [seq] : [])));
    expect(settled.flat()).toEqual(model.settled());
  }
}
