import * as z from "zod";
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
  /** The purge's number, from 1 on. Numbers only rise within one log. 0 for a dry run, which takes no number. */
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
  /** Milliseconds from the arrival of this receipt until no PoP serves the purged responses. */
  settlesInMs: number;
  accepted: Accepted;
  /** True if this `id` had been accepted before: nothing new happened, and this is the first receipt again. */
  replayed: boolean;
  /** True if nothing was purged, because the call only asked what would be. */
  dryRun: boolean;
  /** Sentences about what the caller may not have expected. */
  warnings?: string[] | undefined;
  /** For a dry run: one entry for each item except `everything`. */
  planned?: Planned[] | undefined;
  /** One entry for each URL, if the purge asked for `refresh`. */
  refreshed?: Refreshed[] | undefined;
}

export interface SettledOptions {
  /** Ends the wait: the promise rejects with the signal's reason. The purge stands. Default: none. */
  signal?: AbortSignal | undefined;
}

export interface Receipt extends ReceiptBody {
  /**
   * Resolves when no PoP serves the purged responses any more: `settlesInMs` after the receipt arrived, by this machine's
   * monotonic clock, no matter when it is called. It sends nothing.
   */
  settled(options?: SettledOptions): Promise<void>;
}

const settledOptionsSchema = z.strictObject({ signal: signalSchema });

/** The signal of a call of `settled`. Throws a `TypeError` for an option that it does not have. */
export function settledSignal(options: SettledOptions = {}): AbortSignal | undefined {
  const parsed = settledOptionsSchema.safeParse(options);
  if (!parsed.success) throw misuse("settled", parsed.error, settledOptionsSchema);
  return parsed.data.signal;
}

/** A receipt that knows when it arrived. `arrivedAt` is a time of the clock. */
export function receiptFrom(body: ReceiptBody, arrivedAt: number, clock: Clock): Receipt {
  const settlesAt = arrivedAt + body.settlesInMs;
  return {
    ...body,
    async settled(options) {
      const signal = settledSignal(options);
      signal?.throwIfAborted();
      // A timer may fire a little early by the monotonic clock, so the time left is measured again after each sleep.
      for (let leftMs = settlesAt - clock.now(); leftMs > 0; leftMs = settlesAt - clock.now()) {
        await clock.sleep(Math.min(leftMs, MAX_SLEEP_MS), signal);
      }
    },
  };
}
