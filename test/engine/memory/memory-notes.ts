import type { PopNotes } from "../../../worker/ports/store.ts";
import { Holds } from "../holds.ts";
import type { Scheduler } from "../scheduler.ts";

/** The faults of a PoP's notes, each as a probability. */
export interface NotesTreachery {
  /** A note is acknowledged and never becomes visible. */
  readonly lost: number;
  /** An existing note is not found. */
  readonly overlooked: number;
  /** A reader gets the note before the last one. */
  readonly stale: number;
}

/** The name of the note with a copy of the log's reply; the other notes are claims. */
const SHARED_COPY = "view";

export const HONEST: NotesTreachery = { lost: 0, overlooked: 0, stale: 0 };

/**
 * Notes with the platform's faults: they become visible late, are overwritten by older ones, get lost, or are stale.
 */
export class MemoryNotes implements PopNotes {
  readonly #scheduler: Scheduler;
  readonly #treachery: NotesTreachery;
  readonly #holds: Holds;
  readonly #notes = new Map<string, Uint8Array[]>();

  constructor(scheduler: Scheduler, treachery: NotesTreachery = HONEST, holds: Holds = new Holds()) {
    this.#scheduler = scheduler;
    this.#treachery = treachery;
    this.#holds = holds;
  }

  async read(name: string): Promise<Uint8Array | null> {
    await this.#scheduler.turn();
    const landed = this.#notes.get(name) ?? [];
    const note = (this.#happens("stale") ? landed.at(-2) : undefined) ?? landed.at(-1);
    const seen = this.#happens("overlooked") ? undefined : note;
    await this.#scheduler.turn();
    return seen?.slice() ?? null;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const written = bytes.slice();
    if (name === SHARED_COPY) await this.#holds.pass("shared copy");
    await this.#scheduler.turn();
    await this.#scheduler.turn();
    if (this.#happens("lost")) return;
    this.#notes.set(name, [...(this.#notes.get(name) ?? []).slice(-1), written]);
  }

  /**
   * Draws a number only if this fault is possible, so that notes without faults do not change the seed's order of
   * events.
   */
  #happens(what: keyof NotesTreachery): boolean {
    const probability = this.#treachery[what];
    return probability > 0 && this.#scheduler.random() < probability;
  }
}
