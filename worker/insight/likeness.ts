import type { PassedOnEvent } from "../ports.ts";
import { fnvHash } from "../rules/hashing/fnv-hash.ts";
import { bodyDigest } from "../rules/storing/body-digest.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import { keyChanges } from "./key-changes.ts";

/** The most keys, pages and visitors that one isolate remembers. */
const MAX_KEYS = 2048;
const MAX_PAGES = 64;

/** Larger bodies are not compared. */
const MAX_BODY_BYTES = 256 * 1024;
/** The most bytes that are read to compare bodies, on average. */
const BYTES_PER_MS = 1024;

/** The visitors in succession who have to get the same page until it counts as the same for all. */
const ENOUGH_VISITORS = 20;

/** The lifetimes whose effect is counted. Seconds. */
export const LIFETIMES = [60, 600, 3600] as const;

interface Seen {
  readonly key: number;
  readonly body: string | null;
  readonly at: number;
  readonly until: number;
}

interface Page {
  readonly body: string;
  readonly visitors: Set<number>;
  count: number;
}

/** Adds `by`, or 1, under a path of names. */
export type Count = (path: readonly string[], by?: number) => void;

/**
 * Compares the pages that one isolate fetches: what would be one page under other settings, and whether it would have been
 * the same. It remembers no page: of names a hash of 32 bits, because two that share one change a count at most.
 */
export class Likeness {
  readonly #seen = new Map<number, Seen>();
  readonly #fresh = new Map<number, number[]>();
  readonly #pages = new Map<number, Page>();
  #nextBodyAt = 0;

  /** A response is stored. */
  stored(url: string, { head, body }: StoredResponse, now: number, count: Count): void {
    const { key, variant, receivedAt, freshnessSeconds, initialAgeMs } = head;
    const until = receivedAt + freshnessSeconds * 1000 - initialAgeMs;
    const seen = { key: fnvHash(key), body: this.#digest(body, now), at: now, until };
    this.#outlives("lifetimes", seen.key, now, count);
    const before = this.#seen.get(seen.key);
    if (before?.body && seen.body && before.until <= now) {
      count(["refetched", before.body === seen.body ? "same" : "different"]);
      count(["refetched", "elapsedMs"], Math.max(0, now - before.at));
    }
    put(this.#seen, seen.key, seen, MAX_KEYS);
    for (const [change, changed] of keyChanges(url, variant)) {
      const name = fnvHash(`${change} ${changed}`);
      const like = this.#seen.get(name);
      // The page that would have been stored under the changed key answers until its lifetime ends.
      if (!like || like.until <= now) put(this.#seen, name, seen, MAX_KEYS);
      else if (like.key !== seen.key) {
        count(["keys", change, "fetches"]);
        if (like.body && seen.body) count(["keys", change, like.body === seen.body ? "same" : "different"]);
      }
    }
  }

  /** A page is not stored, because it has no lifetime. */
  lacksLifetime(url: string, now: number, count: Count): void {
    this.#outlives("missingLifetimes", fnvHash(url), now, count);
  }

  /** Counts the lifetimes under which this fetch would have been a hit. */
  #outlives(name: string, key: number, now: number, count: Count): void {
    const since = this.#fresh.get(key) ?? LIFETIMES.map(() => Number.NEGATIVE_INFINITY);
    for (const [index, seconds] of LIFETIMES.entries()) {
      if (now - since[index]! < seconds * 1000) count([name, String(seconds)]);
      else since[index] = now;
    }
    put(this.#fresh, key, since, MAX_KEYS);
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

  #digest(body: Uint8Array | null, now: number): string | null {
    if (body === null || body.byteLength > MAX_BODY_BYTES || now < this.#nextBodyAt) return null;
    this.#nextBodyAt = now + body.byteLength / BYTES_PER_MS;
    return bodyDigest(body);
  }
}

/** The entry that was put first makes room. */
function put<T>(map: Map<number, T>, key: number, value: T, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value!);
  map.set(key, value);
}
