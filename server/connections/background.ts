import type { BackgroundWork } from "../../worker/ports/background-work.ts";

/** Work that goes on after its answer. Node runs it to its end anyway, so it is only counted, for a graceful stop. */
export class CountedWork implements BackgroundWork {
  readonly #done: () => void;
  readonly #failed: (cause: unknown) => void;
  #running = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  /** `failed` is told of work that rejects, which is a bug. */
  constructor(failed: (cause: unknown) => void) {
    this.#done = () => {
      this.#running--;
      if (this.#running > 0) return;
      this.#idle?.resolve();
      this.#idle = undefined;
    };
    this.#failed = (cause) => {
      failed(cause);
      this.#done();
    };
  }

  get running(): number {
    return this.#running;
  }

  run(work: Promise<unknown>): void {
    this.#running++;
    work.then(this.#done, this.#failed);
  }

  /** Resolves once nothing runs. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }
}
