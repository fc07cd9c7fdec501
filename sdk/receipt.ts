import * as z from "zod/mini";
import { WITHOUT_VALUES } from "./check.ts";
import { type Clock, MAX_SLEEP_MS } from "./clock.ts";
import { misuse } from "./errors.ts";
import { signalSchema } from "./options.ts";

/** The result of fetching one URL again, for a purge with `refresh`. */
export interface Refreshed {
  url: string;
  /** The status of the answer; 502 or 504 if the origin gave none. */
  status: number;
  /** The answer's `X-Cache`; absent if the edge had to answer itself. */
  xCache?: string | undefined;
  /** Why the fetch failed; absent if it did not fail. The purge stands in either case. */
  error?: string | undefined;
}

/** One item of a dry run. */
export interface Planned {
  /** The item as the call named it. */
  item: string;
  /** The item in the normal form that the edge's keys have. */
  key: string;
  /** The route that a URL matches, as the site writes it; `null` if none does, absent if the item is not a URL. */
  route?: string | null | undefined;
}

/** An item of a purge that may have matched nothing. The purge was still carried out. */
export interface Unseen {
  /** The item in the form that `tidemark purge -` reads, like `tag:song:42`. */
  item: string;
  /** The most similar key of a stored page, in the same form; absent if none is similar. */
  nearest?: string | undefined;
}

/** How many items of each kind were accepted. */
export interface Accepted {
  urls: number;
  tags: number;
  prefixes: number;
  hosts: number;
  everything: boolean;
}

/** The edge's answer to a purge that it accepted. The purge is recorded by then and cannot be lost. */
export interface ReceiptBody {
  /** The purge's number, from 1. Numbers only rise within one log. 0 for a dry run, which uses no number. */
  seq: number;
  /** The log that gave the number; a number means nothing in another log. Empty for a dry run. */
  logId: string;
  /**
   * A request that carries it in the field `Tidemark-After` gets a response that is at least as recent as this purge,
   * from any PoP. Empty for a dry run.
   */
  token: string;
  /** When the purge was accepted: RFC 3339, UTC, by the log's clock. */
  at: string;
  /**
   * Milliseconds from the arrival of this receipt until no PoP serves the purged responses. After a soft purge one may do so
   * while it fetches the new ones.
   */
  settlesInMs: number;
  accepted: Accepted;
  /** True if this `id` had been accepted before: nothing new happened, and this is the first receipt again. */
  replayed: boolean;
  /** True if nothing was purged, because it was a dry run. */
  dryRun: boolean;
  /** True if the purge may settle earlier than `settlesInMs` says; the edge says so as soon as it has. */
  maySettleSooner?: boolean | undefined;
  /** Sentences about what the caller may not have expected. */
  warnings?: string[] | undefined;
  /**
   * The tags that no stored page has had lately, and the URLs at which none was stored, as far as the edge knows. Each
   * is also a sentence in `warnings`.
   */
  unseen?: Unseen[] | undefined;
  /** For a dry run: one entry for each item except `everything`. */
  planned?: Planned[] | undefined;
  /** One entry for each URL, if the purge asked for `refresh`. */
  refreshed?: Refreshed[] | undefined;
}

/** Options of `settled`. */
export interface SettledOptions {
  /** Ends the wait: the promise rejects with the signal's reason. The purge stands. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The receipt of one of several edges. Its number and token mean something to this edge alone. */
export interface EdgeReceipt extends Receipt {
  /** The origin that the edge serves. */
  endpoint: string;
}

/** The receipt of a purge that was accepted: the answer of the edge, and a way to wait until the purge has settled. */
export interface Receipt extends ReceiptBody {
  /**
   * The receipt of each edge, in the order of `endpoints`; absent for a purger of one edge. The number, log, token and
   * time beside it are those of the first edge.
   */
  edges?: readonly EdgeReceipt[] | undefined;
  /**
   * Resolves when no PoP serves the purged responses any more: `settlesInMs` after the receipt arrived, by this
   * machine's monotonic clock, no matter when it is called. After a soft purge a PoP may serve them while it fetches
   * the new ones. If the purge `maySettleSooner`, it asks the edge, and resolves as soon as the edge says so; that
   * takes a token with the scope `read`. If the edge cannot tell, the clock does. Otherwise it sends nothing.
   */
  settled(options?: SettledOptions): Promise<void>;
}

const settledOptionsSchema = z.strictObject({ signal: signalSchema });

/** The signal of a call of `settled`. Throws a `TypeError` for an option that it does not have. */
export function settledSignal(options: SettledOptions = {}): AbortSignal | undefined {
  const parsed = settledOptionsSchema.safeParse(options, WITHOUT_VALUES);
  if (!parsed.success) throw misuse("settled", parsed.error, settledOptionsSchema);
  return parsed.data.signal;
}

/** Asks the edge for up to so many milliseconds whether a purge has settled. Rejects if the edge cannot tell. */
export type AskWhetherSettled = (receipt: ReceiptBody, waitMs: number, signal: AbortSignal) => Promise<boolean>;

/** A receipt that knows when it arrived. `arrivedAt` is a time of the clock. Without `ask`, only the clock tells. */
export function receiptFrom(body: ReceiptBody, arrivedAt: number, clock: Clock, ask?: AskWhetherSettled): Receipt {
  const settlesAt = arrivedAt + body.settlesInMs;
  const untilByClock = async (signal: AbortSignal | undefined) => {
    // A timer may fire a little early by the monotonic clock, so the time left is measured again after each sleep.
    for (let leftMs = settlesAt - clock.now(); leftMs > 0; leftMs = settlesAt - clock.now()) {
      await clock.sleep(Math.min(leftMs, MAX_SLEEP_MS), signal);
    }
  };
  return {
    ...body,
    async settled(options) {
      const signal = settledSignal(options);
      signal?.throwIfAborted();
      const leftMs = settlesAt - clock.now();
      if (!ask || !body.maySettleSooner || leftMs <= 0) return untilByClock(signal);
      const done = new AbortController();
      // Not AbortSignal.any, which Next's edge runtime lacks.
      signal?.addEventListener("abort", () => done.abort(signal.reason), { once: true, signal: done.signal });
      const byClock = untilByClock(done.signal);
      const asked = ask(body, Math.ceil(leftMs), done.signal).catch(() => false);
      try {
        await Promise.race([byClock, asked.then((hasSettled) => (hasSettled ? undefined : byClock))]);
      } finally {
        done.abort();
      }
    },
  };
}

/** The receipt with the highest number, from receipts in order of arrival; those of an earlier log do not count. */
export function newestOf(receipts: readonly Receipt[]): Receipt {
  const { logId } = receipts.at(-1)!;
  return receipts.filter((receipt) => receipt.logId === logId).reduce((a, b) => (b.seq > a.seq ? b : a));
}

/** One receipt for several purges: it settles when all of them have, and its number and token are those of `leading`. */
export function joinReceipts(receipts: readonly Receipt[], leading: Receipt): Receipt {
  const sum = (kind: "urls" | "tags" | "prefixes" | "hosts") =>
    receipts.reduce((total, { accepted }) => total + accepted[kind], 0);
  const all = <T>(list: (receipt: Receipt) => readonly T[] | undefined) => receipts.flatMap((each) => list(each) ?? []);
  const lists = {
    warnings: [...new Set(all(({ warnings }) => warnings))],
    unseen: all(({ unseen }) => unseen),
    planned: all(({ planned }) => planned),
    refreshed: all(({ refreshed }) => refreshed),
  };
  const { seq, logId, token, at } = leading;
  const settlesInMs = Math.max(...receipts.map((each) => each.settlesInMs));
  const maySettleSooner = receipts.every((each) => each.maySettleSooner || each.settlesInMs < settlesInMs);
  return {
    seq,
    logId,
    token,
    at,
    settlesInMs,
    accepted: {
      urls: sum("urls"),
      tags: sum("tags"),
      prefixes: sum("prefixes"),
      hosts: sum("hosts"),
      everything: receipts.some(({ accepted }) => accepted.everything),
    },
    replayed: receipts.every(({ replayed }) => replayed),
    dryRun: leading.dryRun,
    ...(maySettleSooner && { maySettleSooner }),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
    ...(leading.edges && { edges: leading.edges.map(({ endpoint }) => joinOfEdge(endpoint, receipts)) }),
    async settled(options) {
      await Promise.all(receipts.map((receipt) => receipt.settled(options)));
    },
  };
}

function joinOfEdge(endpoint: string, receipts: readonly Receipt[]): EdgeReceipt {
  const own = receipts.flatMap(({ edges = [] }) => edges.filter((edge) => edge.endpoint === endpoint));
  return { ...joinReceipts(own, newestOf(own)), endpoint };
}

/** One receipt for one purge of several edges, the leading one first. */
export function receiptOfEdges(edges: readonly [EdgeReceipt, ...EdgeReceipt[]]): Receipt {
  const [{ accepted, planned }] = edges;
  const joined = joinReceipts(edges, edges[0]);
  return { ...joined, accepted, ...(planned && { planned }), edges };
}
