/**
 * How many blocks of bodies are read at a time. Node reads files in four threads, and their results come to the event
 * loop together. With a few hundred downloads at once, all threads and whole turns of the loop would be theirs: a small
 * file would wait for hundreds of blocks to be read, and a new client for all of them to be written.
 */
const MAX_READS = 2;

/** The order in which the bodies of one process are read: each asks for one block, and then waits behind the others. */
export class ReadTurns {
  #reads = 0;
  readonly #waiting: (() => void)[] = [];

  /** Reads when it is this read's turn. */
  async take<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reads >= MAX_READS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#reads++;
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#reads--;
    }
  }
}
