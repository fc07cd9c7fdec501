import { CountedWarning } from "../counted-warning.ts";

/** The bytes that may wait to be written in one process. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** What waits for the disk. Without a bound, a disk that hangs would fill the memory with pages. */
export class Backlog {
  readonly #refused: CountedWarning;
  #bytes = 0;

  constructor(folder: string, say: (line: string) => void) {
    this.#refused = new CountedWarning((line) => say(`The disk of the cache in ${folder} ${line}`));
  }

  /** Whether this many bytes may wait, until `leave`. The owner is told if not. */
  enter(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > MAX_WAITING_BYTES) {
      this.#refused.add("does not keep up, so pages are kept in memory alone");
      return false;
    }
    this.#bytes += bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
  }
}
