import type { PurgeMode } from "../../ports/purge-log.ts";
import type { PurgeAnswer } from "../../rules/freshness/judge.ts";
import { type PurgeableHead, purgeKeysOf, type Stamp, type StoredHead } from "../../rules/storing/stored-response.ts";
import { ITEM_WORDS, type ReaderPosition, type UnreadRange, type ViewDelta } from "../log/log-contract.ts";
import { FirstSeen, type Sighting } from "./first-seen.ts";
import { HASH_WORDS, hashKeys, hashWordFor } from "./key-hash.ts";
import { PurgeTable } from "./purge-table.ts";

/** The size of an empty view, unless its maximum is smaller. Enough for 7,000 keys. */
const FIRST_BYTES = 64 * 1024;

/**
 * The answer for a purge of each mode. The first mode that applies decides, so that nothing weakens a hard purge (R10).
 */
const ANSWERS: readonly (readonly [mode: PurgeMode, answer: PurgeAnswer])[] = [
  ["hard", "purged"],
  ["invalidate", "invalidated"],
  ["soft", "soft"],
];

/**
 * An isolate's knowledge of the log: for each purged key, the highest sequence number in each mode, in a table of
 * bounded size with a floor. Within one log it only grows (R11). A wrong answer costs at most one fetch.
 */
export class PurgeView {
  readonly #maxBytes: number;
  readonly #firstSeen = new FirstSeen();
  #table: PurgeTable;
  /** One object for all entries that are stamped with it. */
  #position: Stamp | null = null;
  #floor = 0;
  #unread: UnreadRange | null = null;
  #heads: Record<PurgeMode, number> = { hard: 0, invalidate: 0, soft: 0 };
  /** Rises with every change of contents, floor or log; private to this isolate (R16). */
  #generation = 0;
  readonly #checked = new WeakMap<PurgeableHead, Checked>();

  /** `maxBytes` is rounded down to a power of two. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#table = this.#emptyTable();
  }

  /** The sequence number up to which the view has read; `null` before the first read. */
  get position(): Stamp | null {
    return this.#position;
  }

  /** The position, and the range below it that the next read has to request. */
  get readerPosition(): ReaderPosition | null {
    return this.#position && { ...this.#position, unread: this.#unread };
  }

  /** Whether the view has read everything that the log still holds. */
  get isComplete(): boolean {
    return this.#unread === null;
  }

  get heldKeys(): number {
    return this.#table.keys;
  }

  get heldBytes(): number {
    return this.#table.heldBytes;
  }

  /**
   * Takes in a reply of the log. Returns false, without a change, if the reply would leave a gap (R12). `sightings`: when its
   * purges were made. Default: long ago.
   */
  apply(delta: ViewDelta, sightings: readonly Sighting[] = []): boolean {
    const isOfThisLog = delta.logId === this.#position?.logId;
    const seq = isOfThisLog ? this.#position!.seq : 0;
    if (delta.from > seq) return false;
    if (!isOfThisLog) this.#begin();
    const floorBefore = this.#lowestStamp;
    this.#floor = Math.max(this.#floor, delta.floor);
    this.#table.raiseFloor(this.#floor);
    let hasNews = this.#raiseAll(delta.items);
    const { soft } = this.#heads;
    for (const [mode] of ANSWERS) this.#heads[mode] = Math.max(this.#heads[mode], delta.heads[mode]);
    // What unsafe requests have invalidated is never used stale: there may be many, and they need no time.
    if (this.#heads.soft > soft) for (const { seq, at } of sightings) this.#firstSeen.note(seq, at);
    this.#unread = unreadAfter(this.#unread, seq, delta);
    this.#position = { logId: delta.logId, seq: Math.max(seq, delta.to) };
    hasNews ||= this.#lowestStamp !== floorBefore;
    if (hasNews) this.#generation++;
    return true;
  }

  /**
   * Whether a stored response is purged: by a purge that came after its stamp, which says how far this view had read when
   * the fetch began. So a purge during the fetch counts. Known purges count even if the view may not be used.
   */
  check(stored: PurgeableHead, isUsable = false): PurgeAnswer {
    if (this.#position === null) return isUsable ? "unverifiable" : "unknown";
    const answer = this.#answerFor(stored, this.#position);
    if (isUsable) return answer;
    if (answer === "not-purged") return "unknown";
    // A response that was purged softly may have been purged hard since then, so the origin has to validate it.
    return answer === "soft" ? "invalidated" : answer;
  }

  /** Moves on to a stamp of this log above the position. What lies between counts as unread (R12). */
  skipTo(stamp: Stamp): void {
    this.#unread = { from: this.#unread?.from ?? this.#position!.seq, to: stamp.seq };
    this.#position = stamp;
  }

  /** The sightings of purges above this number, for other isolates of the PoP. */
  sightingsAbove(seq: number): readonly Sighting[] {
    return this.#firstSeen.above(seq);
  }

  /** When the soft purge was made that `check` has found, or this view first saw it: epoch milliseconds. */
  madeStaleAt(stored: StoredHead): number {
    return this.#firstSeen.firstSeenAt(this.purgeOf(stored));
  }

  /** The number of the purge that `check` last reported for this response; 0 if it reported none. */
  purgeOf(stored: StoredHead): number {
    return this.#checked.get(stored)?.seq ?? 0;
  }

  #answerFor(stored: PurgeableHead, { logId, seq }: Stamp): PurgeAnswer {
    const { stamp } = stored;
    if (stamp === null || stamp.logId !== logId || stamp.seq < this.#lowestStamp) return "unverifiable";
    // Nothing was purged since, so there is nothing to remember.
    if (seq <= stamp.seq) return "not-purged";
    let checked = this.#checked.get(stored);
    if (checked === undefined) {
      checked = { generation: -1, answer: "purged", seq: 0, hashes: null };
      this.#checked.set(stored, checked);
    }
    if (checked.generation !== this.#generation) {
      checked.answer = this.#findAnswer(stamp, stored, checked);
      checked.generation = this.#generation;
    }
    return checked.answer;
  }

  #findAnswer(stamp: Stamp, stored: PurgeableHead, checked: Checked): PurgeAnswer {
    for (const [mode, answer] of ANSWERS) {
      if (this.#heads[mode] <= stamp.seq) continue;
      checked.hashes ??= hashKeys(purgeKeysOf(stored));
      checked.seq = this.#latestAbove(stamp.seq, checked.hashes, mode);
      if (checked.seq > 0) return answer;
    }
    return "not-purged";
  }

  /** The number of the latest purge of one of the keys that is above `seq`; 0 if there is none. */
  #latestAbove(seq: number, hashes: Uint32Array, mode: PurgeMode): number {
    let latest = 0;
    for (let at = 0; at < hashes.length; at += HASH_WORDS) {
      const highest = this.#table.highest(hashWordFor(mode, hashes[at]!), hashWordFor(mode, hashes[at + 1]!));
      if (highest > latest) latest = highest;
    }
    return latest > seq ? latest : 0;
  }

  #raiseAll(items: Uint32Array): boolean {
    let hasNews = false;
    // Begins with the oldest item, so that a full bucket drops an older number and not a later one.
    for (let at = items.length - ITEM_WORDS; at >= 0; at -= ITEM_WORDS) {
      if (this.#table.raise(items[at]!, items[at + 1]!, items[at + 2]!)) hasNews = true;
    }
    return hasNews;
  }

  /**
   * The lowest stamp that can be judged: a response with a lower one may have been purged without this view having read
   * of it.
   */
  get #lowestStamp(): number {
    return Math.max(this.#floor, this.#unread?.to ?? 0);
  }

  #begin(): void {
    this.#floor = 0;
    this.#unread = null;
    this.#heads = { hard: 0, invalidate: 0, soft: 0 };
    this.#firstSeen.forget();
    this.#table = this.#emptyTable();
  }

  #emptyTable(): PurgeTable {
    return new PurgeTable(Math.min(FIRST_BYTES, this.#maxBytes), this.#maxBytes);
  }
}

/**
 * The answer for a stored response, the generation of the view that gave it, and the hashes of its keys once they are
 * needed.
 */
interface Checked {
  generation: number;
  answer: PurgeAnswer;
  /** The number of the purge that was found; 0 if there was none. */
  seq: number;
  hashes: Uint32Array | null;
}

/**
 * The range that is still unread after a view at `seq` has taken in a delta (R12). Deltas may come late and in any
 * order; only one that reaches the end of the unread range shortens it.
 *
 * A key that has been purged again in the meantime is sent only under its newer number. That is enough, because the
 * same reply also holds everything above the reader's position, read in the same synchronous block.
 */
function unreadAfter(unread: UnreadRange | null, seq: number, delta: ViewDelta): UnreadRange | null {
  const sentFrom = Math.max(delta.from, delta.truncatedAt);
  let left = shorten(unread, sentFrom, delta.to);
  if (delta.unread) left = shorten(left, Math.max(delta.unread.from, delta.truncatedAt), delta.unread.to);
  if (sentFrom > seq) left = { from: left?.from ?? seq, to: sentFrom };
  return left && left.to > delta.floor ? left : null;
}

function shorten(unread: UnreadRange | null, sentFrom: number, sentTo: number): UnreadRange | null {
  if (unread === null || sentTo < unread.to || sentFrom >= unread.to) return unread;
  return sentFrom > unread.from ? { from: unread.from, to: sentFrom } : null;
}
