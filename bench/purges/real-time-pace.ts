import { setTimeout as wait } from "node:timers/promises";
import type { Cdn } from "../../local/index.ts";

const STEP_MS = 50;

/** Advances the virtual time of a simulated CDN in real time, step by step, until it is disposed. */
export class RealTimePace implements AsyncDisposable {
  readonly #cdn: Cdn<string>;
  readonly #running: Promise<void>;
  /** The instant of `performance.now()` that the CDN's virtual time has reached. */
  #reached = performance.now();
  #isStopped = false;
  #longestLagMs = 0;

  constructor(cdn: Cdn<string>) {
    this.#cdn = cdn;
    this.#running = this.#run();
  }

  /** The longest that virtual time has been behind. Work that waits for virtual time waits that much longer. */
  get longestLagMs(): number {
    return this.#longestLagMs;
  }

  /** Resolves when virtual time has reached the present. */
  async caughtUp(): Promise<void> {
    const present = performance.now();
    while (this.#reached < present && !this.#isStopped) await wait(STEP_MS / 2);
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isStopped) {
        await wait(STEP_MS);
        const step = Math.floor(performance.now() - this.#reached);
        await this.#cdn.advance(`${step}ms`);
        this.#longestLagMs = Math.max(this.#longestLagMs, performance.now() - this.#reached);
        this.#reached += step;
      }
    } finally {
      this.#isStopped = true;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}
