import type { PurgeMode } from "../../ports.ts";
import type { PurgeAnswer } from "../../rules/freshness/judge.ts";
import type { Stamp, StoredHead } from "../../rules/storing/stored-response.ts";
import { ITEM_WORDS, type ReaderPosition, type ViewDelta } from "../log/log-contract.ts";
import { FirstSeen } from "./first-seen.ts";
import { HASH_WORDS, hashKeys, inMode } from "./key-hash.ts";
import { PurgeTable } from "./purge-table.ts";
import { type UnreadRange, unreadAfter } from "./unread-range.ts";

/** What an empty view takes, unless less is all that it may take. Enough for 7,000 keys. */
const FIRST_BYTES = 64 * 1024;

/** What each mode makes of an entry. The first that applies is the answer, so that nothing weakens a hard purge (R10). */
const ANSWERS: readonly (readonly [mode: PurgeMode, answer: PurgeAnswer])[] = [
  ["hard", "purged"],
  ["invalidate", "invalidated"],
  ["soft", "soft"],
];

/**
 * What an isolate knows of the log: for each purged key its highest number in each mode, in a table of bounded size,
 * with a floor beneath. Within one log it only grows (R11). A wrong answer can only be one that costs a fetch.
 */
export class View {
  readonly #mostBytes: number;
  readonly #now: () => number;
  readonly #sightings = new FirstSeen();
  #table: PurgeTable;
  #logId: string | null = null;
  #seq = 0;
  #floor = 0;
  #untold: UnreadRange | null = null;
  #heads: Record<PurgeMode, number> = { hard: 0, invalidate: 0, soft: 0 };
  /** Rises with every change of contents, floor or log; private to this isolate (R16). */
  #generation = 0;
  readonly #checked = new WeakMap<StoredHead, Checked>();

  /** `mostBytes` is rounded down to a power of two. Without a clock, soft purges count as seen long ago. */
  constructor(mostBytes: number, now: () => number = () => Number.NEGATIVE_INFINITY) {
    this.#mostBytes = mostBytes;
    this.#now = now;
    this.#table = this.#emptyTable();
  }

  /** How far the view has come; `null` before the first read. */
  get position(): Stamp | null {
    return this.#logId === null ? null : { logId: this.#logId, seq: this.#seq };
  }

  /** The position with what is missing below it: what the next read has to ask for. */
  get readerPosition(): ReaderPosition | null {
    return this.position && { ...this.position, untold: this.#untold };
  }

  /** Whether all that the log still knows has been told to this view. */
  get isWhole(): boolean {
    return this.#untold === null;
  }

  get heldKeys(): number {
    return this.#table.keys;
  }

  get heldBytes(): number {
    return this.#table.heldBytes;
  }

  /** Takes in what the log told. Returns false, and changes nothing, if it would leave a gap (R12). */
  apply(delta: ViewDelta): boolean {
    if (delta.logId !== this.#logId) {
      if (delta.from > 0) return false;
      this.#begin(delta.logId);
    } else if (delta.from > this.#seq) {
      return false;
    }
    const floorBefore = this.#lowestStamp;
    this.#floor = Math.max(this.#floor, delta.floor);
    this.#table.raiseFloor(this.#floor);
    let hasNews = this.#raiseAll(delta.items);
    const { soft, invalidate } = this.#heads;
    for (const [mode] of ANSWERS) this.#heads[mode] = Math.max(this.#heads[mode], delta.heads[mode]);
    if (this.#heads.soft > soft || this.#heads.invalidate > invalidate) this.#sightings.note(delta.to, this.#now());
    this.#untold = unreadAfter(this.#untold, this.#seq, delta);
    this.#seq = Math.max(this.#seq, delta.to);
    hasNews ||= this.#lowestStamp !== floorBefore;
    if (hasNews) this.#generation++;
    return true;
  }

  /** What this view says of a stored response; `usable` tells whether the view's lease lives. What is known is said anyway. */
  check(stored: StoredHead, usable: boolean): PurgeAnswer {
    if (this.#logId === null) return usable ? "unverifiable" : "unknown";
    let checked = this.#checked.get(stored);
    if (checked === undefined) {
      checked = { generation: -1, answer: "purged", seq: 0, hashes: null };
      this.#checked.set(stored, checked);
    }
    if (checked.generation !== this.#generation) {
      checked.answer = this.#ask(stored, checked);
      checked.generation = this.#generation;
    }
    if (usable) return checked.answer;
    if (checked.answer === "not-purged") return "unknown";
    // What was purged softly may have been purged hard since: nothing of it is of use before the origin was asked.
    return checked.answer === "soft" ? "invalidated" : checked.answer;
  }

  /** Since when this view knows of the soft or invalidating purge that `check` has found: epoch milliseconds. */
  madeStaleAt(stored: StoredHead): number {
    return this.#sightings.firstSeenAt(this.#checked.get(stored)?.seq ?? 0);
  }

  #ask({ stamp, purgeKeys }: StoredHead, checked: Checked): PurgeAnswer {
    if (stamp === null || stamp.logId !== this.#logId || stamp.seq < this.#lowestStamp) return "unverifiable";
    for (const [mode, answer] of ANSWERS) {
      if (this.#heads[mode] <= stamp.seq) continue;
      checked.hashes ??= hashKeys(purgeKeys);
      checked.seq = this.#firstAbove(stamp.seq, checked.hashes, mode);
      if (checked.seq > 0) return answer;
    }
    return "not-purged";
  }

  /** A number above this one that a purge of one of the keys has; 0 if there is none. */
  #firstAbove(seq: number, hashes: Uint32Array, mode: PurgeMode): number {
    for (let at = 0; at < hashes.length; at += HASH_WORDS) {
      const highest = this.#table.highest(inMode(hashes[at]!, mode), inMode(hashes[at + 1]!, mode));
      if (highest > seq) return highest;
    }
    return 0;
  }

  #raiseAll(items: Uint32Array): boolean {
    let hasNews = false;
    // From the oldest on: a full line then pushes out what is older, not what comes next.
    for (let at = items.length - ITEM_WORDS; at >= 0; at -= ITEM_WORDS) {
      if (this.#table.raise(items[at]!, items[at + 1]!, items[at + 2]!)) hasNews = true;
    }
    return hasNews;
  }

  /** What is stamped below this may have been purged unseen. */
  get #lowestStamp(): number {
    return Math.max(this.#floor, this.#untold?.to ?? 0);
  }

  #begin(logId: string): void {
    this.#logId = logId;
    this.#seq = 0;
    this.#floor = 0;
    this.#untold = null;
    this.#heads = { hard: 0, invalidate: 0, soft: 0 };
    this.#sightings.forget();
    this.#table = this.#emptyTable();
    this.#generation++;
  }

  #emptyTable(): PurgeTable {
    return new PurgeTable(Math.min(FIRST_BYTES, this.#mostBytes), this.#mostBytes);
  }
}

/** What was found of a stored response, under which generation, and its hashes, once they were needed. */
interface Checked {
  generation: number;
  answer: PurgeAnswer;
  /** The number by which it was found; 0 if it was found by none. */
  seq: number;
  hashes: Uint32Array | null;
}
