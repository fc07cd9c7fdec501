import type { PopNotes } from "../../worker/ports.ts";
import { MemoryNotes } from "../engine/memory-notes.ts";
import type { Fate } from "./fate.ts";
import type { Told } from "./told.ts";

/** The notes as one isolate reaches them. */
export interface ReachedNotes extends PopNotes {
  /** Notes that the isolate goes from now on by what it has read last. */
  taken(): void;
}

/** A PoP's notes that are slow, forget, fail, land late and out of order, and sometimes come back from before. */
export class LateNotes {
  readonly #fate: Fate;
  readonly #notes: MemoryNotes;
  readonly #skewMs: number;
  /** By the bytes of a note: what who left it had been told by the log. */
  readonly #toldByNote = new Map<string, Told>();

  constructor(fate: Fate, skewMs: number) {
    this.#fate = fate;
    this.#notes = new MemoryNotes(fate.scheduler, { lost: 0.1, overlooked: 0.05, stale: 0.1 });
    this.#skewMs = skewMs;
  }

  /** What an isolate takes from another, it has been told like that one, but for the difference of their clocks. */
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
