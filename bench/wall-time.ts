import { setTimeout as wait } from "node:timers/promises";
import type { Cdn } from "../cdn/index.ts";

const STEP_MS = 50;

/** Moves a simulated CDN's time along with this machine's, step by step, until it is stopped. */
export class WallTime implements AsyncDisposable {
  readonly #cdn: Cdn<string>;
  readonly #going: Promise<void>;
  /** The instant of `performance.now()` that the CDN's time has reached. */
  #reached = performance.now();
  #isStopped = false;
  #longestLagMs = 0;

  constructor(cdn: Cdn<string>) {
    this.#cdn = cdn;
    this.#going = this.#go();
  }

  /** How far the CDN's time has ever been behind: what waits for it waits for as much longer. */
  get longestLagMs(): number {
    return this.#longestLagMs;
  }

  /** Resolves once the CDN's time has reached the present. */
  async caughtUp(): Promise<void> {
    const present = performance.now();
    while (this.#reached < present && !this.#isStopped) await wait(STEP_MS / 2);
  }

  async #go(): Promise<void> {
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
    await this.#going;
  }
}
