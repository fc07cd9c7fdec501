import type { Clock } from "../../worker/ports/clock.ts";
import type { Push } from "../../worker/purges/log/connected-log.ts";

/** The way between a reader and the object that it calls. A round trip takes up to a tenth longer, at random. */
export class ReaderWay {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #roundTripMs: number;
  readonly #onNews: () => void;

  /** `onNews`: called whenever the reader has got something over this way. */
  constructor(clock: Clock, random: () => number, roundTripMs: number, onNews: () => void) {
    this.#clock = clock;
    this.#random = random;
    this.#roundTripMs = roundTripMs;
    this.#onNews = onNews;
  }

  oneWay(): Promise<void> {
    return this.#clock.wait((this.#roundTripMs / 2) * (1 + 0.1 * this.#random())).over;
  }

  /** A call of the reader: its work is done at the object. */
  async call<T>(work: () => T | Promise<T>): Promise<T> {
    await this.oneWay();
    const reply = await work();
    await this.oneWay();
    queueMicrotask(this.#onNews);
    return reply;
  }

  /** What the object calls to have the reader learn. */
  push(learn: Push): Push {
    return async (delta) => {
      await this.oneWay();
      const hasReached = await learn(delta);
      this.#onNews();
      await this.oneWay();
      return hasReached;
    };
  }
}
