import type { PurgeAnswer } from "../rules/freshness/judge.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { PurgeableHead, Stamp, StoredHead } from "../rules/storing/stored-response.ts";
import type { BackgroundWork } from "./background-work.ts";

/** This isolate's knowledge of the purges, by the rules of docs/protocol.md. */
export interface PurgeState {
  /**
   * For how long after its fetch a response of unknown purge state may be served (R8), in milliseconds, on a route that
   * accepts views of this age.
   */
  unknownForMs(now: number, maxViewAgeMs: number): number;
  /**
   * Whether the view may be used now: it has reached the token, and its lease is alive or it is younger than
   * `maxViewAgeMs`. No I/O.
   */
  isUsable(now: number, token: ReceiptToken | null, maxViewAgeMs?: number): boolean;
  /** Whether the view's renewal is due, and none is under way. */
  isDue(now: number): boolean;
  /**
   * Whether the view knows that the response is purged. `isUsable`: whether the view may be used; by default, only its
   * current content counts. No I/O.
   */
  check(stored: PurgeableHead, isUsable?: boolean): PurgeAnswer;
  /** When this isolate first learned of the soft purge that has made the response stale (R10): epoch milliseconds. */
  madeStaleAt(stored: StoredHead): number;
  /** The stamp for a fetch that begins now (R1). */
  stamp(): Stamp | null;
  /**
   * Reads the log. Resolves when the view is usable, or when it will not become usable for now because the read failed
   * or took longer than a lease (R21). Requests share the reads under way; with a token, the read begins after this
   * call (R9). Resolves to the token if it is still in force; to `null` once the view has reached it, or if it has
   * proved false.
   */
  renew(background: BackgroundWork, token: ReceiptToken | null): Promise<ReceiptToken | null>;
}

/** Tells the log which keys unsafe requests have invalidated (R15). */
export interface Invalidations {
  /**
   * Retries in the background, within its own budget. What it returns never rejects: the answer to the client waits for
   * it, where others of the PoP are told in so short a time.
   */
  tell(purgeKeys: readonly string[], background: BackgroundWork): Promise<unknown> | undefined;
  /**
   * Whether the log may lack a key that was told, so that a cache in place of the origin does not know of it. Absent where
   * there is no such cache.
   */
  mayLack?(purgeKey: string): boolean;
}
