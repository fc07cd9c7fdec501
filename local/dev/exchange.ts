import type { AcceptedPurge } from "./early-purges.ts";

/** A request to an edge of the dev command, while it is answered and a while after. */
export interface Exchange {
  /** The time that it has waited for the origin; `null` until it asks. */
  originMs: number | null;
  /** The purge because of which it has fetched pages again, or `null`. Resolves once the request is answered. */
  refetchedFor(): Promise<AcceptedPurge | null>;
  /** Goes on with something behind the answer. */
  behind(work: Promise<unknown>): void;
}

/** What answers a request: at once out of memory, or later. */
export type Answer = Response | Promise<Response>;

/** An `AsyncLocalStorage`: the entry makes it, because the runtime's types do not know `node:async_hooks`. */
export interface CurrentExchange {
  run<T>(exchange: Exchange, work: () => T): T;
  getStore(): Exchange | undefined;
}
