import { Turns } from "../../package/turns.ts";

/** How many bodies are coded at a time: Node has four threads, and files and digests need some of them. */
const AT_A_TIME = 2;
/** The most bodies that wait for their turn, and the most bytes. Further bodies stay plain until their next request. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** The order in which bodies are coded. */
export class MakingQueue {
  readonly #turns = new Turns(AT_A_TIME);
  #waitingBytes = 0;

  /** Does the work in its turn; `null` at once if too much waits. `bytes`: the memory that is held until it is done. */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T> | null {
    if (this.#turns.isFree) return this.#turns.take(work);
    if (this.#turns.waiting >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) return null;
    this.#waitingBytes += bytes;
    return this.#turns.take(() => {
      this.#waitingBytes -= bytes;
      return work();
    });
  }
}
