import type { BackgroundWork, Clock, PopNotes, Reporter } from "../../ports.ts";
import { readCopy, type SharedCopy, writeCopy } from "./shared-copy.ts";

const COPY = "view";
const CLAIM = "claim";

/** The part of a lease that a look at the PoP's notes may take. What takes longer is as good as not there. */
const PATIENCE = 0.1;

/** A copy is expected so much later than the last ones took to come. */
const MARGIN = 1.25;

/** How long a read is thought to take, as a part of the lease, by an isolate that has not measured one. */
const UNMEASURED = 0.1;

/** The part of a lease that is waited for another's copy: if it does not come, a read of the log has to fit in, too. */
const MAX_EXPECTED = 0.3;

/** How much one more measurement counts. */
const NEWEST_WEIGHT = 0.25;

export interface PopViewSettings {
  readonly leaseMs: number;
  readonly skewMs: number;
}

/**
 * What the isolates of a PoP tell each other of the log: the newest copy of what one of them read, and that one of them
 * is reading now (R22). Whatever fails here is as if there were no others; nobody waits for another's promise.
 */
export class PopView {
  readonly #notes: PopNotes;
  readonly #settings: PopViewSettings;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  #takesMs: number | null = null;

  constructor(notes: PopNotes, settings: PopViewSettings, clock: Clock, reporter: Reporter) {
    this.#notes = notes;
    this.#settings = settings;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  /**
   * How long it takes from the beginning of a read until its copy lies in the PoP, as this isolate has measured it;
   * 0 before it has.
   */
  get takesMs(): number {
    return this.#takesMs ?? 0;
  }

  /** The copy that lies there, and for how many milliseconds yet a newer one may be expected. */
  async look(): Promise<{ readonly copy: SharedCopy | null; readonly expectedMs: number }> {
    const looked = Promise.all([this.#read(COPY), this.#read(CLAIM)]);
    const [copy, claim] = (await this.#soon(looked)) ?? [null, null];
    return { copy: copy && this.#opened(copy), expectedMs: claim === null ? 0 : this.#expectedMs(claim) };
  }

  /** Says that this isolate reads the log now. Waits for nothing. */
  claim(startedAt: number, background: BackgroundWork): void {
    background.run(this.#write(CLAIM, new TextEncoder().encode(String(startedAt))));
  }

  /** Leaves a copy for the others, and measures how long all of it took. */
  async leave(copy: SharedCopy): Promise<void> {
    await this.#write(COPY, writeCopy(copy));
    const tookMs = Math.max(0, Math.min(this.#clock.now() - copy.startedAt, this.#settings.leaseMs / 2));
    this.#takesMs = this.#takesMs === null ? tookMs : this.#takesMs + (tookMs - this.#takesMs) * NEWEST_WEIGHT;
  }

  /** The same, for a caller who waits: a write that takes long goes on behind him, as far as the runtime lets it. */
  async leaveSoon(copy: SharedCopy): Promise<void> {
    await this.#soon(this.#write(COPY, writeCopy(copy)));
  }

  /** A claim counts for as long as a read takes: who made it may have died, or be unable to reach the log. */
  #expectedMs(claim: Uint8Array): number {
    const ageMs = this.#clock.now() - Number(new TextDecoder().decode(claim));
    const mostMs = (this.#takesMs ?? this.#settings.leaseMs * UNMEASURED) * MARGIN;
    if (mostMs > this.#settings.leaseMs * MAX_EXPECTED || !(ageMs >= -this.#settings.skewMs)) return 0;
    return Math.max(0, Math.min(mostMs, mostMs - ageMs));
  }

  /** What comes within the PoP's usual time; `undefined` for what takes longer. */
  async #soon<T>(work: Promise<T>): Promise<T | undefined> {
    const wait = this.#clock.wait(this.#settings.leaseMs * PATIENCE);
    const done = await Promise.race([work, wait.over.then(() => undefined)]);
    wait.cancel();
    return done;
  }

  #opened(bytes: Uint8Array): SharedCopy | null {
    try {
      return readCopy(bytes);
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
      return null;
    }
  }

  async #read(name: string): Promise<Uint8Array | null> {
    try {
      return await this.#notes.read(name);
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
      return null;
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#notes.write(name, bytes);
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
    }
  }
}
