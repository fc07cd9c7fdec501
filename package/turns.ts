/** Lets a few work at a time. The others wait, and begin in the order in which they came. */
export class Turns {
  readonly #atATime: number;
  #working = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(atATime: number) {
    this.#atATime = atATime;
  }

  /** Whether work that comes now would begin at once. */
  get isFree(): boolean {
    return this.#working < this.#atATime;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.isFree) this.#working++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is handed on: were it free until the next one begins, another could take it meanwhile.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#working--;
    }
  }
}
