import type { PopNotes } from "../../../worker/ports/store.ts";
import { MemoryNotes } from "../../engine/memory/memory-notes.ts";
import type { Fate } from "../fate.ts";
import type { Told } from "./told.ts";

/** The notes as one isolate reaches them. */
export interface ReachedNotes extends PopNotes {
  /** Records that the isolate now uses the notes that it has read last. */
  taken(): void;
}

/**
 * A PoP's notes with faults: they are slow, get lost, fail, arrive late and out of order, and old ones sometimes
 * reappear.
 */
export class LateNotes {
  readonly #fate: Fate;
  readonly #notes: MemoryNotes;
  readonly #skewMs: number;
  /** For the bytes of each note: the knowledge of the isolate that left it. */
  readonly #toldByNote = new Map<string, Told>();

  constructor(fate: Fate, skewMs: number) {
    this.#fate = fate;
    this.#notes = new MemoryNotes(fate.scheduler, { lost: 0.1, overlooked: 0.05, stale: 0.1 });
    this.#skewMs = skewMs;
  }

  /**
   * The notes as one isolate reaches them. An isolate that takes a note knows as much as its writer, within the
   * difference of their clocks.
   */
  reachedBy(told: Told): ReachedNotes {
    const fate = this.#fate;
    let lastRead: Told | undefined;
    return {
      read: async (name) => {
        await fate.delay(30);
        if (fate.chance(0.02)) throw new Error("the notes cannot be read");
        const bytes = await this.#notes.read(name);
        if (bytes) lastRead = this.#toldByNote.get(keyOf(bytes)) ?? lastRead;
        return bytes;
      },
      write: async (name, bytes) => {
        const isLate = fate.chance(0.2);
        if (name === "view") {
          this.#toldByNote.set(keyOf(bytes), told.soFar());
          fate.count("shared copies that landed late", isLate);
        }
        await fate.delay(isLate ? 1500 : 20);
        if (fate.chance(0.02)) throw new Error("the note cannot be written");
        await this.#notes.write(name, bytes);
      },
      taken: () => {
        if (lastRead) told.take(lastRead, fate.now(), this.#skewMs);
      },
    };
  }
}

function keyOf(bytes: Uint8Array): string {
  return bytes.join();
}
