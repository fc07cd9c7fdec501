/**
 * For the tests of a backend: a purger that records, and a search for tags that are missing. It opens no connection and
 * imports no transport.
 */

import { DEFAULT_LISTED_PURGES } from "../wire/purge-record-query.ts";
import type { SiteCounts, SiteStats } from "../wire/stats.ts";
import { canonicalUrl } from "../worker/rules/key/canonical-url.ts";
import { parsePurgeHost } from "../worker/rules/key/purge-host.ts";
import { parsePurgePrefix } from "../worker/rules/key/purge-prefix.ts";
import { wildcardFault } from "../worker/rules/key/purge-url.ts";
import { listFaults, PurgeRejected, type RejectedItem } from "./errors.ts";
import type { PurgeRecord, PurgeRecordPage, ReadCall } from "./purge-record.ts";
import type { PurgeCall, PurgeRequest } from "./purge-request.ts";
import { type Purger, purgerFrom } from "./purger.ts";
import { type Receipt, settledSignal } from "./receipt.ts";
import type { StatsCall } from "./site-stats.ts";

export { findUntagged, type RecordOnPage, type RecordsOnPage, type TaggedPage } from "./tags/find-untagged.ts";

/** A purger that records its calls and sends nothing. */
export interface RecordingPurger extends Purger {
  /**
   * The requests of the calls, oldest first, including calls that failed on purpose. A request has an `id` only if the
   * call gave one, or if a batch became several.
   */
  readonly calls: readonly PurgeRequest[];
  /** Makes the next call reject with this error. Call it twice to make the next two calls fail. */
  failNext(error: Error): void;
  /** Forgets the calls with their records, and the failures that have not happened yet. */
  reset(): void;
}

/**
 * A purger for tests: it sends nothing, records every request, and its receipts have already settled. Its stats are
 * those of a site without requests. It refuses the same misuse as a real purger, and URLs, prefixes and hosts that no
 * edge can read; an unknown host is accepted. It does not remember ids, so no receipt is `replayed`.
 */
export function createRecordingPurger(): RecordingPurger {
  const calls: PurgeRequest[] = [];
  const failures: Error[] = [];
  const records: PurgeRecord[] = [];
  let seq = 0;
  let ids = 0;

  async function send({ request, signal }: PurgeCall): Promise<Receipt> {
    signal?.throwIfAborted();
    const errors = faultsOf(request);
    if (errors.length > 0) {
      const words = `Every edge refuses this purge (400): ${listFaults(errors)}. Correct it and purge again.`;
      throw new PurgeRejected(words, { code: "invalid", status: 400, attempts: 1, errors });
    }
    calls.push(request);
    const failure = failures.shift();
    if (failure) throw failure;
    if (request.dryRun) return settledReceipt(0, request);
    seq += 1;
    const receipt = settledReceipt(seq, request);
    records.push(recordOf(receipt, request));
    return receipt;
  }

  /** The recorded purges, as the audit trail of an edge has them. Dry runs and failures are not in it. */
  async function read({ query, signal }: ReadCall): Promise<PurgeRecordPage | null> {
    signal?.throwIfAborted();
    const newestFirst = records.toReversed();
    if ("seq" in query) {
      const record = newestFirst.find(({ seq }) => seq === query.seq);
      return record ? { purges: [record], next: null } : null;
    }
    const { before = Number.POSITIVE_INFINITY, limit = DEFAULT_LISTED_PURGES } = query;
    const left = newestFirst.filter(({ seq }) => seq < before);
    const purges = left.slice(0, limit);
    return { purges, next: left.length > limit ? purges.at(-1)!.seq : null };
  }

  async function stats({ query: { pop }, signal }: StatsCall): Promise<SiteStats> {
    signal?.throwIfAborted();
    return { ...NO_STATS, pop: pop ?? null };
  }

  return {
    ...purgerFrom({ send, read, stats, newId: () => `recorded-${++ids}`, close: async () => {} }),
    calls,
    failNext(error) {
      failures.push(error);
    },
    reset() {
      calls.length = 0;
      failures.length = 0;
      records.length = 0;
    },
  };
}

/** The items that an edge refuses, by its own rules. */
function faultsOf({ urls = [], prefixes = [], hosts = [] }: PurgeRequest): RejectedItem[] {
  const faults = (list: string, items: readonly string[], faultOf: (item: string) => string | null) =>
    items.flatMap((item, index) => {
      const because = faultOf(item);
      return because === null ? [] : [{ path: `${list}[${index}]`, message: `${JSON.stringify(item)}: ${because}` }];
    });
  return [
    ...faults("urls", urls, faultOfUrl),
    ...faults("prefixes", prefixes, (item) => becauseOf(parsePurgePrefix(item, null))),
    ...faults("hosts", hosts, (item) => becauseOf(parsePurgeHost(item, null))),
  ];
}

function faultOfUrl(text: string): string | null {
  const url = canonicalUrl(text.startsWith("/") ? `http://host.invalid${text}` : text);
  return url.kind === "refused" ? url.because : wildcardFault(url.path, url.host);
}

function becauseOf(verdict: { readonly kind: string; readonly because?: string }): string | null {
  return verdict.kind === "refused" ? verdict.because! : null;
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
      settledSignal(options)?.throwIfAborted();
    },
  };
}

function recordOf({ seq, at, accepted }: Receipt, request: PurgeRequest): PurgeRecord {
  const { urls = [], tags = [], prefixes = [], hosts = [], everything, reason = null, id = null, mode } = request;
  const items = [...urls, ...prefixes, ...hosts, ...tags, ...(everything ? ["everything"] : [])];
  const { length: itemCount } = items;
  const recorded = { by: "recorded", reason, mode: mode ?? "hard", accepted, items, itemCount, id, repeatOf: null };
  return { seq, at, ...recorded, settled: true };
}

const NO_COUNTS: SiteCounts = {
  requests: 0,
  fromCache: 0,
  answers: {},
  statuses: {},
  answeredByEdge: {},
  bytes: { fromCache: 0, fromOrigin: 0, unmeasuredBodies: 0 },
  times: {},
  origin: { asked: 0, answered: 0, failed: 0, awaited: 0, turnedAway: 0 },
  queue: { awaited: {}, turnedAway: {} },
  store: { stored: 0, storedBytes: 0, failed: 0, refused: {}, unkeyedFields: {}, discarded: {} },
  secondLooks: { asked: 0, marked: 0 },
  deltas: { sent: 0, bytes: 0, savedBytes: 0 },
  collapsed: 0,
  askedPastTheCache: 0,
  tokensRefused: 0,
  log: { reads: 0, failedReads: 0, shared: 0 },
  purges: 0,
  purgedKeysRead: 0,
  invalidationsDropped: 0,
  failures: 0,
};

/** A site without requests. */
const NO_STATS: SiteStats = {
  version: 1,
  scope: "site",
  from: "1999-12-31T00:00:00.000Z",
  to: "2000-01-01T00:00:00.000Z",
  pop: null,
  ...NO_COUNTS,
  isolates: {
    reported: 0,
    silent: 0,
    alive: 0,
    memoryBytes: 0,
    memoryMaxBytes: 0,
    heardMs: 0,
    unheardMs: 0,
    heardShare: 1,
  },
  spanMs: 3_600_000,
  spans: [],
  routes: {},
  top: null,
  pops: {},
};
