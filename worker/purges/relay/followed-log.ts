import type { PurgeRecord } from "../../ports/purge-log.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import type { BookedLog } from "../log/connected-log.ts";
import { REMEMBERED_BY_NAME_MS, type ReaderPosition, type ViewDelta } from "../log/log-contract.ts";
import type { SqlPurgeLog } from "../log/sql-purge-log.ts";
import { type Confirmed, Settlement } from "../settlement/settlement.ts";

/**
 * A relay's copy of the log (R27), with the readers to which the relay has granted leases. Each instance of the relay begins
 * without any, and has a name of its own in the log's book.
 */
export class FollowedLog implements BookedLog<Pick<PurgeRecord, "settled">> {
  readonly #copy: SqlPurgeLog;
  readonly #now: () => number;
  readonly #rememberedMs: number;
  readonly #settlement = new Settlement();
  /** The log that this instance follows. One before it may go on for a while, and follow another over the same copy. */
  #logId: string;
  /** For each head of it that some reader may not have reached, when none of them can be in use without it any more. */
  #pending = new Map<number, number>();
  /** `null` before it has followed any log. */
  #confirmed: Stamp | null;
  #grantedUntil = Number.NEGATIVE_INFINITY;

  constructor(copy: SqlPurgeLog, now: () => number, rememberedMs = REMEMBERED_BY_NAME_MS) {
    this.#copy = copy;
    this.#now = now;
    this.#rememberedMs = rememberedMs;
    this.#logId = copy.head.logId;
    this.#confirmed = copy.beganHere ? null : copy.head;
  }

  get head(): Stamp {
    return this.#copy.head;
  }

  /** The highest number that no view of the relay's readers lacks while it can be in use. */
  get confirmed(): Stamp | null {
    for (const [seq, at] of this.#pending) {
      if (at > this.#now()) break;
      this.#pending.delete(seq);
      this.#confirmed = { logId: this.#logId, seq };
    }
    return this.#confirmed;
  }

  /** Whether a reader may hold a lease, or serve responses of unknown purge state for one. */
  get hasReaders(): boolean {
    return this.#settlement.size > 0 && this.#now() < this.#grantedUntil;
  }

  /**
   * Takes in what the log has sent. Returns whether there was news. `longestMs`: the longest lease or view age that a
   * reader may have been granted.
   */
  follow(delta: ViewDelta, longestMs: number, skewMs: number): boolean {
    const { seq } = this.head;
    const isOfAnotherLog = delta.logId !== this.#logId;
    this.#copy.follow(delta);
    if (!isOfAnotherLog && delta.to <= seq) return false;
    const now = this.#now();
    const head = { logId: delta.logId, seq: delta.to };
    const { settlesAt } = this.#settlement.watch(head, now, now + longestMs + skewMs, skewMs, now);
    if (isOfAnotherLog) {
      this.#logId = delta.logId;
      this.#pending.clear();
      this.#confirmed = { logId: delta.logId, seq: 0 };
    }
    this.#pending.set(delta.to, settlesAt);
    return true;
  }

  read(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number, reader: string, by: object): ViewDelta {
    const useMs = Math.max(leaseMs, longestViewAgeMs);
    const now = this.#now();
    const reply = { ...this.changesSince(since), leaseMs };
    this.#settlement.join(reader, now + Math.max(useMs, this.#rememberedMs), now, by);
    if (since !== null) this.confirm(reader, since); // it may be ahead
    this.#grantedUntil = Math.max(this.#grantedUntil, now + useMs + this.#rememberedMs);
    return reply;
  }

  /**
   * A reader may be ahead, because it has also read the log itself. The copy may then lack purges of its unread range,
   * so the reader goes on without that range until the copy has caught up (R12).
   */
  changesSince(position: ReaderPosition | null): ViewDelta {
    const { logId, seq } = this.head;
    const isAhead = position?.logId === logId && position.seq > seq;
    return this.#copy.changesSince(isAhead ? { ...position, seq, unread: null } : position);
  }

  confirm(reader: string, position: Stamp): boolean {
    return this.#noteConfirmed(this.#settlement.confirm(reader, position));
  }

  release(reader: string, by: object): boolean {
    return this.#noteConfirmed(this.#settlement.leave(reader, by));
  }

  find(seq: number): Pick<PurgeRecord, "settled"> {
    return { settled: (this.confirmed?.seq ?? 0) >= seq };
  }

  settlesAt(seq: number): number {
    let settlesAt = Number.NEGATIVE_INFINITY;
    for (const [pending, at] of this.#pending) {
      settlesAt = Math.max(settlesAt, at);
      if (pending >= seq) return settlesAt;
    }
    return Number.POSITIVE_INFINITY;
  }

  #noteConfirmed(confirmed: readonly Confirmed[]): boolean {
    const ofThisLog = confirmed.filter((each) => each.logId === this.#logId);
    for (const { seq } of ofThisLog) if (this.#pending.has(seq)) this.#pending.set(seq, this.#now());
    return ofThisLog.length > 0;
  }
}
