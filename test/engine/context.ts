import { AsyncLocalStorage } from "node:async_hooks";

/** A value that belongs to some work and to all that comes of it, however late. */
export class Context<T> {
  readonly #storage = new AsyncLocalStorage<T>();

  /** The value of the work that asks; `undefined` outside of any. */
  get(): T | undefined {
    return this.#storage.getStore();
  }

  /**
   * Does the work with a value. `AsyncLocalStorage.run` alone would leave an entry of this storage behind in its caller:
   * it sets the value of before, `undefined` as well. After thousands of storages each promise would then carry, and each
   * `run` copy, thousands of entries. A snapshot puts back what was there.
   */
  run<R>(value: T, work: () => R): R {
    return AsyncLocalStorage.snapshot()(() => this.#storage.run(value, work));
  }
}
