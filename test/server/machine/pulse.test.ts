import { describe, expect, test } from "vitest";
import { computedMs, HANGS_AFTER_MS, Pulse } from "../../../server/machine/pulse.ts";

/** A process whose loop turns or not, and that computes or not. Time is what the test says. */
class Process {
  now = 1_000;
  computedMs: number | null = 5_000_000;
  turns = true;
  asked = 0;
  readonly #pulse = new Pulse({
    now: () => this.now,
    computedMs: () => this.computedMs,
    hangsAfterMs: HANGS_AFTER_MS,
  });

  /** Lets time pass, in which it has computed for so long, and feels its pulse. */
  beat(passedMs: number, computes: number): number | null {
    this.now += passedMs;
    if (this.computedMs !== null) this.computedMs += computes;
    return this.#pulse.beat(() => {
      this.asked++;
      if (this.turns) this.#pulse.sign();
    });
  }

  /** It comes to its messages again. */
  wake(): void {
    this.turns = true;
    this.#pulse.sign();
  }
}

const HOUR = 3_600_000;

describe("a process hangs", () => {
  test("once it has computed for too long without a sign, and it is told since when", () => {
    const worker = new Process();
    expect(worker.beat(5_000, 5_000)).toBeNull();
    worker.turns = false;
    expect(worker.beat(5_000, 5_000)).toBeNull();
    const since = worker.now;
    expect(worker.beat(5_000, 5_000)).toBeNull();
    expect(worker.beat(HANGS_AFTER_MS - 1, HANGS_AFTER_MS - 1)).toBeNull();
    expect(worker.beat(1, 1)).toBe(since);
    expect(worker.asked).toBe(2); // and is not asked again meanwhile
  });

  test.each<[string, number, number]>([
    ["stopped, or in a debugger", 5_000, 0],
    ["asleep with the machine", 24 * HOUR, 0],
    ["given little time by a busy machine", 5_000, 20],
  ])("but not while it is %s", (_, passedMs, computes) => {
    const worker = new Process();
    worker.turns = false;
    for (let beat = 0; beat < 1_000; beat++) expect(worker.beat(passedMs, computes)).toBeNull();
  });

  test("but not if it is busy, and gives its signs late", () => {
    const worker = new Process();
    for (let round = 0; round < 100; round++) {
      worker.turns = false;
      for (let beat = 0; beat < 5; beat++) expect(worker.beat(5_000, 5_000)).toBeNull();
      worker.wake();
    }
  });

  test("but not where the system does not tell for how long it has computed", () => {
    const worker = new Process();
    worker.computedMs = null;
    worker.turns = false;
    for (let beat = 0; beat < 100; beat++) expect(worker.beat(5_000, 0)).toBeNull();
  });
});

describe("for how long a process has computed", () => {
  test.runIf(process.platform === "linux")("is told by the system, of its first thread", () => {
    const before = computedMs(process.pid)!;
    while (computedMs(process.pid)! - before < 50);
    const own = process.threadCpuUsage();
    expect(Math.abs(computedMs(process.pid)! - (own.user + own.system) / 1000)).toBeLessThan(1_000);
  });

  test("is not told of a process that is gone", () => expect(computedMs(2 ** 22 + 1)).toBeNull());
});
