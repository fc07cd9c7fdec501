import type { PassedOnEvent } from "../ports.ts";
import { fnvHash } from "../rules/hashing/fnv-hash.ts";
import { bodyDigest } from "../rules/storing/body-digest.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
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

/** The page that was stored under a key, or would have been under a changed one. */
interface Seen {
  /** Hashes of the key under which it is remembered, and of its own. */
  name: number;
  key: number;
  body: string | null;
  at: number;
  until: number;
  /** For each of the lifetimes: when a page came that would answer until it ends. */
  readonly since: number[];
}

const NEVER = Number.NEGATIVE_INFINITY;
const NOTHING = { key: 0, body: null, at: NEVER, until: NEVER };

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
 * one slot, in which it takes the place of another. No slot is made twice, because every miss takes some of them.
 */
export class Likeness {
  readonly #slots: Seen[] = new Array(SLOTS);
  readonly #pages = new Map<number, Page>();
  #nextBodyAt = 0;

  /** A response is stored. */
  stored(url: string, { head, body }: StoredResponse, now: number, count: Count): void {
    const { variant, receivedAt, freshnessSeconds, initialAgeMs } = head;
    const until = receivedAt + freshnessSeconds * 1000 - initialAgeMs;
    const page = { key: fnvHash(head.key), body: this.#digest(body, now), at: now, until };
    const before = this.#seen(page.key);
    outlives(before, "lifetimes", now, count);
    if (before.body && page.body && before.until <= now) {
      count(["refetched", before.body === page.body ? "same" : "different"]);
      count(["refetched", "elapsedMs"], Math.max(0, now - before.at));
    }
    Object.assign(before, page);
    for (const [change, changed] of keyChanges(url, variant)) {
      const like = this.#seen(fnvHash(`${change} ${changed}`));
      // The page that would have been stored under the changed key answers until its lifetime ends.
      if (like.until <= now) Object.assign(like, page);
      else if (like.key !== page.key) {
        count(["keys", change, "fetches"]);
        if (like.body && page.body) count(["keys", change, like.body === page.body ? "same" : "different"]);
      }
    }
  }

  /** A page is not stored, because it has no lifetime. */
  lacksLifetime(url: string, now: number, count: Count): void {
    outlives(this.#seen(fnvHash(url)), "missingLifetimes", now, count);
  }

  /** A page that is not stored went to a visitor. Two visitors are two if all that is known of them differs. */
  passed({ url, visitor, bytes, at }: PassedOnEvent, count: Count): void {
    const body = this.#digest(bytes, at);
    if (body === null) return;
    const key = fnvHash(url);
    const page = this.#pages.get(key) ?? { body, visitors: new Set(), count: 0 };
    if (page.body !== body) {
      count(["visitors", "different"]);
      this.#pages.delete(key);
      return;
    }
    const marks = visitor.map(fnvHash);
    if (marks.length > 0 && !marks.some((mark) => page.visitors.has(mark))) page.count++;
    for (const mark of marks) if (page.visitors.size < MAX_PAGES) page.visitors.add(mark);
    if (page.count < ENOUGH_VISITORS) put(this.#pages, key, page, MAX_PAGES);
    else {
      count(["visitors", "same"]);
      this.#pages.delete(key);
    }
  }

  /** What is remembered under a name; of another than the last in its slot, nothing. */
  #seen(name: number): Seen {
    const slot = (name ^ (name >>> 16)) & (SLOTS - 1);
    this.#slots[slot] ??= { ...NOTHING, name, since: LIFETIMES.map(() => NEVER) };
    const seen = this.#slots[slot];
    if (seen.name !== name) {
      Object.assign(seen, NOTHING).name = name;
      seen.since.fill(NEVER);
    }
    return seen;
  }

  #digest(body: Uint8Array | null, now: number): string | null {
    if (body === null || body.byteLength > MAX_BODY_BYTES || now < this.#nextBodyAt) return null;
    this.#nextBodyAt = now + body.byteLength / BYTES_PER_MS;
    return bodyDigest(body);
  }
}

/** Counts the lifetimes under which this fetch would have been a hit. */
function outlives({ since }: Seen, name: string, now: number, count: Count): void {
  for (let index = 0; index < LIFETIMES.length; index++) {
    const seconds = LIFETIMES[index]!;
    if (now - since[index]! < seconds * 1000) count([name, String(seconds)]);
    else since[index] = now;
  }
}

/** The entry that was put first makes room. */
function put<T>(map: Map<number, T>, key: number, value: T, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value!);
  map.set(key, value);
}
