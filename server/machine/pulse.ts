import { readFileSync } from "node:fs";

/** How often a worker is asked for a sign. Milliseconds. */
export const BEAT_MS = 5_000;

/**
 * A worker that computes for so long after the first beat at which it was silent computes for ever: for half a minute in
 * all. Milliseconds.
 */
export const HANGS_AFTER_MS = 20_000;

export interface PulseParts {
  readonly now: () => number;
  /** For how long the process has computed in all, in milliseconds; `null` if the system does not tell. */
  readonly computedMs: () => number | null;
  readonly hangsAfterMs: number;
}

/**
 * Whether a process does nothing but compute, and so never comes to its messages. What counts is how long it has
 * computed itself: time also passes for one that is stopped or debugged, that the machine gives no time, or that sleeps
 * with the machine. Costs a message in each direction at a beat; how long it has computed is asked only of one that is silent.
 */
export class Pulse {
  readonly #parts: PulseParts;
  #askedAt: number | null = null;
  /** For how long it had computed when it was first found silent. */
  #computedBefore: number | null = null;

  constructor(parts: PulseParts) {
    this.#parts = parts;
  }

  /** `ask`: asks the process for a sign. Returns since when it has computed without one, if that is too long. */
  beat(ask: () => void): number | null {
    if (this.#askedAt === null) {
      this.#askedAt = this.#parts.now();
      ask();
      return null;
    }
    const computedMs = this.#parts.computedMs();
    if (computedMs === null) return null;
    this.#computedBefore ??= computedMs;
    return computedMs - this.#computedBefore >= this.#parts.hangsAfterMs ? this.#askedAt : null;
  }

  /** The process has given a sign. */
  sign(): void {
    this.#askedAt = null;
    this.#computedBefore = null;
  }
}

/** In Linux, a tick of a process's times, on every machine that Node runs on. Milliseconds. */
const TICK_MS = 10;

/** For how long the first thread of a process has computed, which is where messages and requests are. Only Linux tells. */
export function computedMs(pid: number): number | null {
  try {
    const told = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1");
    // The name of the process, in parentheses, may have spaces.
    const fields = told.slice(told.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isNaN(ticks) ? null : ticks * TICK_MS;
  } catch {
    return null;
  }
}
