import type { AcmeFolder } from "./acme-folder.ts";
import { MOST_FOR_OTHERS_MS } from "./attempts.ts";

/** The attempts that the authority knows of, on the disk, so that they still count after a restart. */
export class AttemptNotes {
  readonly #folder: Pick<AcmeFolder, "attempts" | "noteAttempts">;
  readonly #lastAt: Map<string, number>;
  #notBeforeAt: number;

  /** `now`: epoch milliseconds. */
  constructor(folder: Pick<AcmeFolder, "attempts" | "noteAttempts">, now: number) {
    const { lastAt, notBeforeAt } = folder.attempts();
    this.#folder = folder;
    this.#lastAt = new Map(Object.entries(lastAt));
    // A later time was written while the clock was wrong.
    this.#notBeforeAt = Math.min(notBeforeAt, now + MOST_FOR_OTHERS_MS);
  }

  /** The authority wants no requests until then. Epoch milliseconds. */
  get notBeforeAt(): number {
    return this.#notBeforeAt;
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

  leaveAloneUntil(at: number): void {
    this.#notBeforeAt = Math.max(this.#notBeforeAt, at);
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
