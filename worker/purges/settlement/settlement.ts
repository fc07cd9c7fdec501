import type { Stamp } from "../../rules/storing/stored-response.ts";

/** More purges than this are not watched at the same time. The others settle when the leases have run out (R6). */
const MAX_WATCHED = 64;

/** From this many readers on, those whose leases have ended are forgotten. */
const PRUNE_FROM = 1000;
/** Longer than any allowance, in milliseconds. */
const LONG_AFTER_MS = 60_000;

/** A reader that confirms, and so is known by a name: an isolate, a worker process or a machine. */
interface Reader {
  /** Until then it may use what it has read before: epoch milliseconds. */
  until: number;
  /** Its view has reached this position. A view only grows (R11), so one confirmation speaks for all its leases. */
  confirmed: Stamp | null;
  /** The connection over which it got its last lease; `undefined` for none. */
  by: object | undefined;
}

/** A purge that is waiting for confirmations. */
interface Watched extends Stamp {
  /** No confirmation settles it earlier: epoch milliseconds. */
  readonly earliest: number;
  /** Then it settles even without confirmations: epoch milliseconds. */
  readonly bound: number;
  /** The readers that have not confirmed it. */
  readonly missing: Set<string>;
}

/** A purge that nobody has to confirm any more. It has settled at `earliest`, and not before now. */
export type Confirmed = Omit<Watched, "missing" | "bound">;

/** When a purge settles as far as is known now, in epoch milliseconds, and whether confirmations may change that. */
export interface Prospect {
  readonly settlesAt: number;
  readonly maySettleSooner: boolean;
}

/**
 * Which readers may still use a view that lacks a purge, and until when (R24, R25). It has no effects, and knows the time
 * only as an argument: epoch milliseconds.
 */
export class Settlement {
  readonly #readers = new Map<string, Reader>();
  #watched: readonly Watched[] = [];
  #strangersUntil = Number.NEGATIVE_INFINITY;
  #pruneAt = PRUNE_FROM;

  /** The number of readers that are remembered. */
  get size(): number {
    return this.#readers.size;
  }

  /**
   * The reader may use what it has read until then, in addition to earlier leases. `until` is infinite for one that says
   * when it leaves, and negative infinity for one that may use nothing yet. `by`: the connection over which it got the lease.
   */
  join(reader: string, until: number, now: number, by?: object): void {
    const known = this.#readers.get(reader);
    if (known === undefined && this.#readers.size >= this.#pruneAt) this.#prune(now);
    const latest = Math.max(until, known?.until ?? Number.NEGATIVE_INFINITY);
    this.#readers.set(reader, { until: latest, confirmed: known?.confirmed ?? null, by });
  }

  /** The reader's view has reached a position. Returns the watched purges that nobody has to confirm any more. */
  confirm(reader: string, { logId, seq }: Stamp): readonly Confirmed[] {
    const known = this.#readers.get(reader);
    if (known === undefined || reaches(known.confirmed, { logId, seq })) return [];
    known.confirmed = { logId, seq };
    return this.#strike(reader, (each) => each.logId === logId && each.seq <= seq);
  }

  /**
   * The reader has given up its leases, or has ended. `by`: the connection that says so, which counts only if the last lease
   * was granted over it, because otherwise the reader may have got one since. Returns the same as `confirm`.
   */
  leave(reader: string, by?: object): readonly Confirmed[] {
    if (by !== undefined && this.#readers.get(reader)?.by !== by) return [];
    this.#readers.delete(reader);
    return this.#strike(reader, () => true);
  }

  /** Somebody who confirms nothing may use an older view until then. It takes the place of what was said before. */
  stranger(until: number): void {
    this.#strangersUntil = until;
  }

  /**
   * Begins to watch a purge that has just got its number. `earliest`: no confirmation counts before. `bound`: all leases
   * have run out by then, with the allowance.
   */
  watch({ logId, seq }: Stamp, earliest: number, bound: number, skewMs: number, now: number): Prospect {
    for (const [reader, { until }] of this.#readers) if (now >= until + skewMs) this.#readers.delete(reader);
    this.#watched = this.#watched.filter((each) => now < each.bound);
    if (now < this.#strangersUntil + skewMs || bound <= earliest) return { settlesAt: bound, maySettleSooner: false };
    const missing = new Set(this.unconfirmed({ logId, seq }, now - skewMs));
    if (missing.size === 0) return { settlesAt: earliest, maySettleSooner: false };
    const isWatched = this.#watched.length < MAX_WATCHED;
    if (isWatched) this.#watched = [...this.#watched, { logId, seq, earliest, bound, missing }];
    return { settlesAt: bound, maySettleSooner: isWatched };
  }

  /** The readers with a name that may use a view which lacks this purge. */
  unconfirmed(position: Stamp, now: number): string[] {
    const mayLack = ({ until, confirmed }: Reader) => now < until && !reaches(confirmed, position);
    return [...this.#readers].filter(([, reader]) => mayLack(reader)).map(([name]) => name);
  }

  /** Whether the reader has confirmed this position. */
  hasConfirmed(reader: string, position: Stamp): boolean {
    return reaches(this.#readers.get(reader)?.confirmed ?? null, position);
  }

  /** The highest number, up to that of a position, that all readers with a name have; 0 if there is none. */
  confirmedUpTo({ logId, seq }: Stamp, now: number): number {
    let lowest = seq;
    for (const { until, confirmed } of this.#readers.values()) {
      if (now < until) lowest = Math.min(lowest, confirmed?.logId === logId ? confirmed.seq : 0);
    }
    return lowest;
  }

  /** Forgets leases that ended long ago. On a site without purges, nothing else forgets them. */
  #prune(now: number): void {
    for (const [reader, { until }] of this.#readers) {
      if (now >= until + LONG_AFTER_MS) this.#readers.delete(reader);
    }
    this.#pruneAt = 2 * this.#readers.size + PRUNE_FROM;
  }

  /** No longer waits for the reader in these purges. Returns those that wait for nobody any more. */
  #strike(reader: string, isOne: (each: Watched) => boolean): readonly Confirmed[] {
    const settled = this.#watched.filter((each) => isOne(each) && each.missing.delete(reader) && !each.missing.size);
    if (settled.length > 0) this.#watched = this.#watched.filter((each) => !settled.includes(each));
    return settled;
  }
}

/** A number of another log says nothing about this one. */
function reaches(confirmed: Stamp | null, { logId, seq }: Stamp): boolean {
  return confirmed?.logId === logId && confirmed.seq >= seq;
}
