import type { BackgroundWork } from "../../ports/background-work.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { PopNotes } from "../../ports/store.ts";
import { within } from "../../within.ts";
import { patienceOf } from "./lease-timing.ts";
import { readCopy, type SharedCopy, writeCopy } from "./shared-copy.ts";

const COPY = "view";
const CLAIM = "claim";

/** The longest wait for the PoP's notes, as a part of the patience. A note that takes longer counts as missing. */
const MAX_LOOK = 0.1;

/** The wait for a copy, as a multiple of the time that recent copies took. */
const MARGIN = 1.25;

/** The expected time of a read, as a part of the patience, for an isolate that has not measured one. */
const UNMEASURED = 0.1;

/**
 * The longest wait for another isolate's copy, as a part of the patience. If the copy does not come, there must still be
 * time for a read.
 */
const MAX_EXPECTED = 0.3;

/** The weight of the newest measurement in the average. */
const NEWEST_WEIGHT = 0.25;

export interface PopSharingSettings {
  readonly leaseMs: number;
  readonly skewMs: number;
}

/**
 * How the isolates of a PoP share their reads of the log (R22): an isolate leaves a claim while it reads, and then a
 * copy of its view. If sharing fails, the isolate continues as if it were alone. No isolate waits for another one's
 * promise.
 */
export class PopSharing {
  readonly #notes: PopNotes;
  readonly #patienceMs: number;
  readonly #skewMs: number;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  #takesMs: number | null = null;

  constructor(notes: PopNotes, settings: PopSharingSettings, clock: Clock, reporter: Reporter) {
    this.#notes = notes;
    this.#patienceMs = patienceOf(settings.leaseMs);
    this.#skewMs = settings.skewMs;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  /**
   * The time from the start of a read until its copy can be seen in the PoP, as measured by this isolate; 0 before the
   * first measurement.
   */
  get roundTripMs(): number {
    return this.#takesMs ?? 0;
  }

  /** The newest copy, and for how many more milliseconds a newer one can be expected. */
  async look(): Promise<{ readonly copy: SharedCopy | null; readonly expectedMs: number }> {
    const read = (name: string) => this.#attempt(() => this.#notes.read(name));
    const [bytes, claim] = (await this.#soon(Promise.all([read(COPY), read(CLAIM)]))) ?? [null, null];
    const copy = bytes && (await this.#attempt(() => readCopy(bytes)));
    return { copy, expectedMs: claim === null ? 0 : this.#expectedMs(claim) };
  }

  /** Tells the others that this isolate is now reading the log. */
  claim(startedAt: number, background: BackgroundWork): void {
    background.run(this.#write(CLAIM, new TextEncoder().encode(String(startedAt))));
  }

  /** Leaves a copy for the others, and measures how long the read and the write took. */
  async publish(copy: SharedCopy): Promise<void> {
    await this.#write(COPY, writeCopy(copy));
    this.noteReadTook(copy.startedAt);
  }

  /** Measures how long a read of the log took that has just ended. */
  noteReadTook(startedAt: number): void {
    const tookMs = Math.max(0, Math.min(this.#clock.now() - startedAt, this.#patienceMs / 2));
    this.#takesMs = this.#takesMs === null ? tookMs : this.#takesMs + (tookMs - this.#takesMs) * NEWEST_WEIGHT;
  }

  /**
   * The same for a caller that waits for it. A slow write continues in the background, as far as the runtime allows.
   */
  async publishSoon(copy: SharedCopy): Promise<void> {
    await this.#soon(this.#write(COPY, writeCopy(copy)));
  }

  /**
   * A claim counts only for as long as a read takes, because its isolate may have died, or may be unable to reach the
   * log.
   */
  #expectedMs(claim: Uint8Array): number {
    const ageMs = this.#clock.now() - Number(new TextDecoder().decode(claim));
    const maxMs = (this.#takesMs ?? this.#patienceMs * UNMEASURED) * MARGIN;
    if (maxMs > this.#patienceMs * MAX_EXPECTED || !(ageMs >= -this.#skewMs)) return 0;
    return Math.max(0, Math.min(maxMs, maxMs - ageMs));
  }

  /** The result, if it arrives within the time allowed for reading notes; otherwise `undefined`. */
  #soon<T>(work: Promise<T>): Promise<T | undefined> {
    return within(this.#clock, this.#patienceMs * MAX_LOOK, work, () => undefined);
  }

  #write(name: string, bytes: Uint8Array): Promise<unknown> {
    return this.#attempt(() => this.#notes.write(name, bytes));
  }

  /** The result of `work`; `null` if it fails, which is reported. */
  async #attempt<T>(work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
      return null;
    }
  }
}
