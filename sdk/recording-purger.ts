import type { PurgeCall } from "./purge-call.ts";
import type { PurgeRequest } from "./purge-request.ts";
import type { Purger } from "./purger.ts";
import { purgerFrom } from "./purger-from.ts";
import type { Receipt } from "./receipt.ts";

export interface RecordingPurger extends Purger {
  /** What was asked for, oldest first, also by the calls that were made to fail. An `id` only if the call gave one. */
  readonly calls: readonly PurgeRequest[];
  /** Makes the next call reject with this error, once. Said twice, the next two calls fail. */
  failNext(error: Error): void;
  /** Forgets the calls, and the failures that have not happened. */
  reset(): void;
}

/**
 * A purger for tests: it sends nothing, keeps what it was asked for, and its receipts have settled. What a real one
 * would refuse as misuse, it refuses too. It does not remember an `id`: no receipt of it is a replay.
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
