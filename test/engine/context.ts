import { AsyncLocalStorage } from "node:async_hooks";

/** A value that belongs to a piece of work and to everything that it starts, however late. */
export class Context<T> {
  readonly #storage = new AsyncLocalStorage<T>();

  /** The value of the work that calls this; `undefined` outside of any. */
  get(): T | undefined {
    return this.#storage.getStore();
  }

  /**
   * Does the work with a value. `AsyncLocalStorage.run` alone would leave an entry of this storage in its caller,
   * because it restores the earlier value even if that is `undefined`. After thousands of storages, each promise would
   * carry thousands of entries, and each `run` would copy them. A snapshot restores the earlier state exactly.
   */
  run<R>(value: T, work: () => R): R {
    return AsyncLocalStorage.snapshot()(() => this.#storage.run(value, work));
  }
}
