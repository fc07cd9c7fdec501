/** The part of Node's module that workers have with the flag `nodejs_als` or `nodejs_compat`, and that is used. */
declare module "node:async_hooks" {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, work: () => R): R;
    getStore(): T | undefined;
  }
}
