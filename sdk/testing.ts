/** A purger for the tests of a backend. It opens no connection and imports no transport. */

import type { PurgeCall, PurgeRequest } from "./purge-request.ts";
import { type Purger, purgerFrom } from "./purger.ts";
import type { Receipt } from "./receipt.ts";

export interface RecordingPurger extends Purger {
  /**
   * The requests of the calls, oldest first, including the calls that were made to fail. A request has an `id` only if
   * the call gave one.
   */
  readonly calls: readonly PurgeRequest[];
  /** Makes the next call reject with this error. Calling it twice makes the next two calls fail. */
  failNext(error: Error): void;
  /** Forgets the calls, and the failures that have not happened yet. */
  reset(): void;
}

/**
 * A purger for tests: it sends nothing, records every request, and its receipts have already settled. It refuses the
 * same misuse as a real purger. It does not remember ids, so that none of its receipts is `replayed`.
 */
export function createRecordingPurger(): RecordingPurger {
  const calls: PurgeRequest[] = [];
  const failures: Error[] = [];
  let seq = 0;

  async function send({ request, signal }: PurgeCall): Promise<Receipt> {
    signal?.throwIfAborted();
    calls.push(request);
    const failure = failures.shift();
    if (failure) throw failure;
    if (request.dryRun) return settledReceipt(0, request);
    seq += 1;
    return settledReceipt(seq, request);
  }

  return {
    ...purgerFrom({ send, close: async () => {} }),
    calls,
    failNext(error) {
      failures.push(error);
    },
    reset() {
      calls.length = 0;
      failures.length = 0;
    },
  };
}

function settledReceipt(seq: number, request: PurgeRequest): Receipt {
  const { urls = [], tags = [], prefixes = [], hosts = [], refresh, dryRun = false } = request;
  const items = [...urls, ...prefixes, ...hosts, ...tags];
  return {
    seq,
    logId: dryRun ? "" : "recorded",
    token: dryRun ? "" : `recorded-${seq}`,
    at: "2000-01-01T00:00:00.000Z",
    settlesInMs: 0,
    accepted: {
      urls: urls.length,
      tags: tags.length,
      prefixes: prefixes.length,
      hosts: hosts.length,
      everything: request.everything === true,
    },
    replayed: false,
    dryRun,
    ...(dryRun ? { planned: items.map((item) => ({ item, key: item })) } : {}),
    ...(refresh && !dryRun ? { refreshed: urls.map((url) => ({ url, status: 200, xCache: "BYPASS" })) } : {}),
    async settled(options) {
      options?.signal?.throwIfAborted();
    },
  };
}
