import type { AcceptedPurge } from "./early-purges.ts";

/** A request to an edge of the dev command, while it is answered and a while after. */
export interface Exchange {
  /** The time that it has waited for the origin; `null` until it asks. */
  originMs: number | null;
  /** The purge that made it fetch pages again, or `null`. Resolves once the request is answered. */
  refetchedFor(): Promise<AcceptedPurge | null>;
  /** Runs work after the answer. */
  behind(work: Promise<unknown>): void;
}

/** The handler of a request: it answers at once from memory, or later. */
export type Answer = Response | Promise<Response>;

/** An `AsyncLocalStorage`: the entry makes it, because the runtime's types do not know `node:async_hooks`. */
export interface CurrentExchange {
  run<T>(exchange: Exchange, work: () => T): T;
  getStore(): Exchange | undefined;
}
