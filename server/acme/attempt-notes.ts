import { endOfPause } from "../pause.ts";
import type { AcmeFolder } from "./acme-folder.ts";
import { MOST_FOR_OTHERS_MS } from "./attempts.ts";

/** The attempts that the authority knows of, on the disk, so that they still count after a restart. */
export class AttemptNotes {
  readonly #folder: Pick<AcmeFolder, "attempts" | "noteAttempts">;
  readonly #lastAt: Map<string, number>;
  #notBeforeAt: number;

  constructor(folder: Pick<AcmeFolder, "attempts" | "noteAttempts">) {
    const { lastAt, notBeforeAt } = folder.attempts();
    this.#folder = folder;
    this.#lastAt = new Map(Object.entries(lastAt));
    this.#notBeforeAt = notBeforeAt;
  }

  /** Until when the authority wants no requests; 0 if it takes them. Epoch milliseconds. */
  notBeforeAt(now: number): number {
    return endOfPause(this.#notBeforeAt, now, MOST_FOR_OTHERS_MS);
  }

  /** When the last attempt for the name failed, or when the current one began. Epoch milliseconds. */
  lastAt(name: string): number | null {
    return this.#lastAt.get(name) ?? null;
  }

  /**
   * Called before an attempt: without the note, a server that restarts could order again and again. Throws what the
   * disk throws.
   */
  begin(name: string, at: number): void {
    this.#lastAt.set(name, at);
    this.#write();
  }

  /** The attempt does not count, because it succeeded or the authority was not asked. */
  forget(name: string): void {
    this.#lastAt.delete(name);
    this.#tryToWrite();
  }

  leaveAloneUntil(at: number, now: number): void {
    this.#notBeforeAt = Math.max(this.notBeforeAt(now), at);
    this.#tryToWrite();
  }

  #tryToWrite(): void {
    try {
      this.#write();
    } catch {
      // This process remembers it. The next attempt is not made if it cannot be written down.
    }
  }

  #write(): void {
    this.#folder.noteAttempts({ lastAt: Object.fromEntries(this.#lastAt), notBeforeAt: this.#notBeforeAt });
  }
}
