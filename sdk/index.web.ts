/** The purge client on workers, edge runtimes and in browsers, over the global `fetch`. */

import { createHttpPurger } from "./http-purger.ts";
import type { Purger } from "./purger.ts";
import type { PurgerOptions } from "./purger-options.ts";
import { platform } from "./surroundings.ts";
import { openFetch } from "./transport-fetch.ts";

/**
 * Makes a client of the edge in front of a site. Nothing is read or opened before its first use: without an endpoint
 * and a token, in the options or the environment, that rejects with a `PurgeError` of the code `not-configured`.
 */
export function createPurger(options: PurgerOptions = {}): Purger {
  return createHttpPurger(options, {
    ...platform,
    openTransport: () => openFetch((url, init) => globalThis.fetch(url, init)),
  });
}

export type { PurgeBatch } from "./purge-batch.ts";
export { PurgeConflict } from "./purge-conflict.ts";
export { PurgeError, type PurgeErrorCode } from "./purge-error.ts";
export { PurgeForbidden } from "./purge-forbidden.ts";
export { PurgeRateLimited } from "./purge-rate-limited.ts";
export { PurgeRejected, type RejectedItem } from "./purge-rejected.ts";
export type { PurgeDetails, PurgeOptions, PurgeRequest } from "./purge-request.ts";
export { PurgeTimeout } from "./purge-timeout.ts";
export { PurgeUnauthorized } from "./purge-unauthorized.ts";
export { PurgeUnreachable } from "./purge-unreachable.ts";
export type { ItemsThenOptions, Purger } from "./purger.ts";
export type { PurgerOptions } from "./purger-options.ts";
export type { Accepted, Planned, Receipt, ReceiptBody, Refreshed, SettledOptions } from "./receipt.ts";
export { type HeadersLike, type ResponseLike, type ServerResponseLike, tagResponse } from "./tag-response.ts";
export type { Fetch, FetchAnswer, FetchBody, FetchBodyReader, FetchInit } from "./transport.ts";
