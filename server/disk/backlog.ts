import { CountedWarning } from "../counted-warning.ts";

/** The bytes that may wait to be written in one process. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** The bytes that a file takes besides its body, about. */
const HEAD_BYTES = 4096;

/** What waits for the disk. Without a bound, a disk that hangs would fill the memory with pages. */
export class Backlog {
  readonly #refused: CountedWarning;
  #bytes = 0;

  constructor(folder: string, say: (line: string) => void) {
    this.#refused = new CountedWarning((line) => say(`The disk of the cache in ${folder} ${line}`));
  }

  /** Whether a file with a body of this size may wait, until `leave`. The owner is told if not. */
  enter(bodyBytes: number): boolean {
    const bytes = HEAD_BYTES + bodyBytes;
    if (this.#bytes > 0 && this.#bytes + bytes > MAX_WAITING_BYTES) {
      this.#refused.add("is too slow, so some pages are kept only in memory");
      return false;
    }
    this.#bytes += bytes;
    return true;
  }

  leave(bodyBytes: number): void {
    this.#bytes -= HEAD_BYTES + bodyBytes;
  }
}
