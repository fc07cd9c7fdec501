import type { PurgeAnswer } from "../rules/judge.ts";
import type { Stamp, StoredHead } from "../rules/stored-response.ts";
import type { ViewDelta } from "./log-contract.ts";

const KEY_OVERHEAD_BYTES = 64;

/**
 * What an isolate knows of the log: for each purged key its highest number, bounded, with a floor beneath.
 * Within one log it only grows (R11). A wrong answer can only be "purged", which costs a fetch.
 */
export class View {
  readonly #mostBytes: number;
  #heldBytes = 0;
  #logId: string | null = null;
  #seq = 0;
  #floor = 0;
  /** In the order of their numbers, so that the oldest come first when keys are dropped. */
  readonly #purged = new Map<string, number>();
  /** Rises with every change of contents, floor or log; private to this isolate (R16). */
  #generation = 0;
  /** The generation under which each stored response was last found not purged. */
  readonly #checked = new WeakMap<StoredHead, number>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** How far the view has come; `null` before the first read. */
  get position(): Stamp | null {
    return this.#logId === null ? null : { logId: this.#logId, seq: this.#seq };
  }

  get heldKeys(): number {
    return this.#purged.size;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes in what the log told. Returns false, and changes nothing, if it would leave a gap (R12). */
  apply(delta: ViewDelta): boolean {
    if (delta.logId === this.#logId) {
      if (delta.from > this.#seq) return false;
    } else {
      if (delta.from > 0) return false;
      this.#logId = delta.logId;
      this.#seq = 0;
      this.#floor = 0;
      this.#purged.clear();
      this.#heldBytes = 0;
      this.#generation++;
    }
    const news = delta.purged.filter(([key, seq]) => seq > (this.#purged.get(key) ?? 0));
    for (const [key, seq] of news.sort(([, a], [, b]) => a - b)) {
      if (!this.#purged.delete(key)) this.#heldBytes += weigh(key);
      this.#purged.set(key, seq);
    }
    const floor = Math.max(this.#floor, delta.floor, this.#dropOldest());
    if (news.length > 0 || floor > this.#floor) this.#generation++;
    this.#floor = floor;
    this.#seq = Math.max(this.#seq, delta.to);
    return true;
  }

  /** What this view says of a stored response; `usable` tells whether the view's lease lives. */
  check(stored: StoredHead, usable: boolean): PurgeAnswer {
    if (this.#logId === null) return usable ? "purged" : "unknown";
    if (this.#checked.get(stored) !== this.#generation) {
      if (this.#isPurged(stored)) return "purged";
      this.#checked.set(stored, this.#generation);
    }
    return usable ? "not-purged" : "unknown";
  }

  #isPurged(stored: StoredHead): boolean {
    const { stamp } = stored;
    if (stamp === null || stamp.logId !== this.#logId || stamp.seq < this.#floor) return true;
    return stored.purgeKeys.some((key) => (this.#purged.get(key) ?? 0) > stamp.seq);
  }

  /** Drops the oldest keys beyond the bound; returns the floor that must cover them. */
  #dropOldest(): number {
    let floor = 0;
    for (const [key, seq] of this.#purged) {
      // Keys of one purge share a number: those left of a half-dropped purge lie on the floor and go with it.
      if (this.#heldBytes <= this.#mostBytes && seq > floor) break;
      this.#purged.delete(key);
      this.#heldBytes -= weigh(key);
      floor = Math.max(floor, seq);
    }
    return floor;
  }
}

/** What a key holds: its text, and its slot in the map. */
function weigh(key: string): number {
  return key.length * 2 + KEY_OVERHEAD_BYTES;
}
