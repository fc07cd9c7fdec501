import type { AcmeFolder } from "./acme-folder.ts";
import { MOST_FOR_OTHERS_MS } from "./attempts.ts";

/** The attempts of which the authority knows, on the disk: they count also if the server is started again and again. */
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

  /** Until then the authority wants to be asked for nothing. Epoch milliseconds. */
  get notBeforeAt(): number {
    return this.#notBeforeAt;
  }

  /** When the name was last tried in vain, or is being tried. Epoch milliseconds. */
  lastAt(name: string): number | null {
    return this.#lastAt.get(name) ?? null;
  }

  /** Before an attempt: what cannot be written down could be ordered again and again. Throws what the disk throws. */
  begin(name: string, at: number): void {
    this.#lastAt.set(name, at);
    this.#write();
  }

  /** The attempt does not count, because it has succeeded, or nobody was asked. */
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
      // This process remembers it, and the next attempt is not made if it cannot be written down.
    }
  }

  #write(): void {
    this.#folder.noteAttempts({ lastAt: Object.fromEntries(this.#lastAt), notBeforeAt: this.#notBeforeAt });
  }
}
