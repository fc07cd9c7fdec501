import { SEEN_KINDS, type SeenKind, seenKeysOf, seenKindOf } from "../rules/key/seen-key.ts";
import type { StoredHead } from "../rules/storing/stored-response.ts";

/** The most characters that the keys of one kind take in a report, and the longest key that is remembered. */
const MAX_CHARACTERS = 100_000;
const MAX_KEY_CHARACTERS = 512;

/** The tags and the paths that stored pages have had for a while. */
export type SeenKeys = Readonly<Record<SeenKind, SeenOfKind>>;

export interface SeenOfKind {
  readonly keys: readonly string[];
  /** False if there were more than one report holds. */
  readonly isWhole: boolean;
}

/** What the isolate has seen of one kind since its last report. */
class Seen {
  readonly keys = new Set<string>();
  isWhole = true;
  #characters = 0;

  add(key: string): void {
    if (this.keys.has(key)) return;
    // With its quotes and its comma.
    this.#characters += key.length + 3;
    if (this.#characters > MAX_CHARACTERS) this.isWhole = false;
    else this.keys.add(key);
  }
}

type SeenByKind = Readonly<Record<SeenKind, Seen>>;

/**
 * The tags and the paths of the pages that one isolate has stored, or has found in the shared tier, since its last report.
 * Answers out of memory are not looked at: their pages came into memory in one of these ways.
 */
export class Sightings {
  #now = nothingSeen();
  /** Those of the last report, which may still be on its way. */
  #reported = nothingSeen();
  /** The pages that were found, so that a page is looked at once for each report. */
  #found = new Set<string>();

  /** A page was stored. */
  see(head: Pick<StoredHead, "key" | "givenPurgeKeys">): void {
    for (const key of seenKeysOf(head)) {
      if (key.length <= MAX_KEY_CHARACTERS) this.#now[seenKindOf(key)!].add(key);
    }
  }

  /** A page was found in the shared tier. */
  find(head: Pick<StoredHead, "key" | "givenPurgeKeys">): void {
    if (this.#found.has(head.key) || !this.#now.path.isWhole) return;
    this.#found.add(head.key);
    this.see(head);
  }

  has(key: string): boolean {
    return this.#ofKind(key).some(({ keys }) => keys.has(key));
  }

  /** All that are remembered of the kind of a key. */
  alike(key: string): string[] {
    return this.#ofKind(key).flatMap(({ keys }) => [...keys]);
  }

  /** For the next report. */
  take(): SeenKeys {
    const taken = this.#now;
    this.#reported = taken;
    this.#now = nothingSeen();
    this.#found = new Set();
    return byKind((kind) => ({ keys: [...taken[kind].keys], isWhole: taken[kind].isWhole }));
  }

  #ofKind(key: string): Seen[] {
    const kind = seenKindOf(key);
    return kind === null ? [] : [this.#now[kind], this.#reported[kind]];
  }
}

function nothingSeen(): SeenByKind {
  return byKind(() => new Seen());
}

function byKind<T>(make: (kind: SeenKind) => T): Readonly<Record<SeenKind, T>> {
  return Object.fromEntries(SEEN_KINDS.map((kind) => [kind, make(kind)])) as Record<SeenKind, T>;
}
