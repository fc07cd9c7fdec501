/** How many bodies are coded at a time: Node has four threads, of which files and digests need some, too. */
const AT_A_TIME = 2;
/** Bodies that wait for their turn, and their bytes. What is beyond stays plain until it is asked for again. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Lets a few work at a time, and the others wait. */
export class MakingQueue {
  #working = 0;
  #waitingBytes = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /** Does the work in its turn; `null` at once if too many wait. `bytes`: what is held until it is done. */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T> | null {
    if (this.#working < AT_A_TIME) {
      this.#working++;
      return this.#work(work);
    }
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) return null;
    const turn = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, begin: turn.resolve });
    this.#waitingBytes += bytes;
    return turn.promise.then(() => this.#work(work));
  }

  /** Works in a place, and hands it on: were it free until the next one begins, another could take it meanwhile. */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) {
        this.#waitingBytes -= next.bytes;
        next.begin();
      } else {
        this.#working--;
      }
    }
  }
}
