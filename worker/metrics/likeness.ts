import type { EdgeEvent, PassedOnEvent } from "../ports/reporter.ts";
import { freshUntil } from "../rules/freshness/current-age.ts";
import { fnvHash } from "../rules/hashing/fnv-hash.ts";
import { setNewest } from "../rules/key/set-newest.ts";
import { bodyDigest } from "../rules/storing/body-digest.ts";
import { keyChanges } from "./key-changes.ts";

/** What one isolate remembers: keys in as many slots, a power of two, and at most so many pages and visitors. */
const SLOTS = 4096;
const MAX_PAGES = 64;

/** Larger bodies are not compared. */
const MAX_BODY_BYTES = 256 * 1024;
/** The most bytes that are read to compare bodies, on average. */
const BYTES_PER_MS = 1024;

/** The visitors in succession who have to get the same page until it counts as the same for all. */
const ENOUGH_VISITORS = 20;

/** The lifetimes whose effect is counted. Seconds. */
export const LIFETIMES = [60, 600, 3600] as const;

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A slot is as many numbers, side by side: the hash of the name under which a page is remembered, that of the page's key,
 * its two times, and for each of the lifetimes when a page came that would answer until it ends.
 */
const KEY = 1;
const AT = 2;
const UNTIL = 3;
const SINCE = 4;
const NUMBERS = SINCE + LIFETIMES.length;

interface Page {
  readonly body: string;
  readonly visitors: Set<number>;
  count: number;
}

/** Adds `by`, or 1, under a path of names. */
export type Count = (path: readonly string[], by?: number) => void;

/**
 * Compares the pages that one isolate fetches: what would be one page under other settings, and whether it would have been
 * the same. It remembers no page: of names a hash of 32 bits, because two that share one change a count at most. Each has
 * one slot, in which it takes the place of another. No slot is an object, because every miss takes some of them.
 */
export class Likeness {
  readonly #slots = new Float64Array(SLOTS * NUMBERS).fill(NEVER);
  readonly #bodies = new Array<string | null>(SLOTS).fill(null);
  readonly #pages = new Map<number, Page>();
  #nextBodyAt = 0;

  /** A response is stored. */
  stored({ url, selectingNames, stored, at: now }: EdgeEvent & { kind: "fetched" }, count: Count): void {
    const { head, body } = stored;
    const until = freshUntil(head);
    const key = fnvHash(head.key);
    const digest = this.#digest(body, now);
    const slots = this.#slots;
    const before = this.#slotOf(key);
    this.#outlives(before, "lifetimes", now, count);
    const bodyBefore = this.#bodies[before / NUMBERS];
    if (bodyBefore && digest && slots[before + UNTIL]! <= now) {
      count(["refetched", bodyBefore === digest ? "same" : "different"]);
      count(["refetched", "elapsedMs"], Math.max(0, now - slots[before + AT]!));
    }
    const put = (slot: number) => {
      slots[slot + KEY] = key;
      slots[slot + AT] = now;
      slots[slot + UNTIL] = until;
      this.#bodies[slot / NUMBERS] = digest;
    };
    put(before);
    for (const [change, changed] of keyChanges(url, head.variant, selectingNames)) {
      const like = this.#slotOf(fnvHash(`${change} ${changed}`));
      // The page that would have been stored under the changed key answers until its lifetime ends.
      if (slots[like + UNTIL]! <= now) put(like);
      else if (slots[like + KEY] !== key) {
        count(["keys", change, "fetches"]);
        const bodyLike = this.#bodies[like / NUMBERS];
        if (bodyLike && digest) count(["keys", change, bodyLike === digest ? "same" : "different"]);
      }
    }
  }

  /** A page is not stored, because it has no lifetime. */
  lacksLifetime(url: string, now: number, count: Count): void {
    this.#outlives(this.#slotOf(fnvHash(url)), "missingLifetimes", now, count);
  }

  /** A page that is not stored went to a visitor. Two visitors are two if all that is known of them differs. */
  passed({ url, visitor, bytes, at }: PassedOnEvent, count: Count): void {
    const body = this.#digest(bytes, at);
    if (body === null) return;
    const key = fnvHash(url);
    const page = this.#pages.get(key) ?? { body, visitors: new Set(), count: 0 };
    this.#pages.delete(key);
    if (page.body !== body) {
      count(["visitors", "different"]);
      return;
    }
    const marks = visitor.map(fnvHash);
    if (marks.length > 0 && !marks.some((mark) => page.visitors.has(mark))) page.count++;
    for (const mark of marks) if (page.visitors.size < MAX_PAGES) page.visitors.add(mark);
    if (page.count >= ENOUGH_VISITORS) count(["visitors", "same"]);
    else setNewest(this.#pages, key, page, MAX_PAGES);
  }

  /** Where the slot of a name begins. It is empty if another name was the last in it. */
  #slotOf(name: number): number {
    const number = (name ^ (name >>> 16)) & (SLOTS - 1);
    const slot = number * NUMBERS;
    if (this.#slots[slot] !== name) {
      this.#slots.fill(NEVER, slot, slot + NUMBERS)[slot] = name;
      this.#bodies[number] = null;
    }
    return slot;
  }

  /** Counts the lifetimes under which this fetch would have been a hit. */
  #outlives(slot: number, name: string, now: number, count: Count): void {
    const slots = this.#slots;
    for (const [index, seconds] of LIFETIMES.entries()) {
      const at = slot + SINCE + index;
      if (now - slots[at]! < seconds * 1000) count([name, String(seconds)]);
      else slots[at] = now;
    }
  }

  #digest(body: Uint8Array | null, now: number): string | null {
    if (body === null || body.byteLength > MAX_BODY_BYTES || now < this.#nextBodyAt) return null;
    this.#nextBodyAt = now + body.byteLength / BYTES_PER_MS;
    return bodyDigest(body);
  }
}
