import { SEEN_KINDS, type SeenKind } from "../rules/key/seen-key.ts";
import { purgeKeysOf, type StoredHead } from "../rules/storing/stored-response.ts";

/** The most characters that the keys of one kind take in a report, and the longest key that is remembered. */
const MAX_CHARACTERS = 100_000;
const MAX_KEY_CHARACTERS = 512;

/** The keys of one kind that stored pages have had for a while. */
export interface SeenKeys {
  readonly kind: SeenKind;
  readonly keys: readonly string[];
  /** False if there were more than one report holds. */
  readonly isWhole: boolean;
}

/** After so many pages were found, each is looked at again. */
const MAX_FOUND = 5000;

type SeenHead = Pick<StoredHead, "key" | "givenPurgeKeys">;

/**
 * The tags and the paths of the pages that one isolate has stored, or has found in the shared tier, since its last report.
 * Answers out of memory are not looked at: their pages came into memory in one of these ways.
 */
export class Sightings {
  #seen = nothingSeen();
  /** The pages that were found, so that a page is looked at once for each report. */
  #found = new Set<string>();

  /** A page was stored. */
  see(head: SeenHead): void {
    for (const key of purgeKeysOf(head)) this.#ofKind(key)?.add(key);
  }

  /** A page was found in the shared tier. */
  find(head: SeenHead): void {
    if (this.#found.has(head.key)) return;
    if (this.#found.size === MAX_FOUND) this.#found.clear();
    this.#found.add(head.key);
    this.see(head);
  }

  /** The keys of the kind of this key. */
  alike(key: string): ReadonlySet<string> {
    return this.#ofKind(key)!.keys;
  }

  /** For the next report. */
  take(): SeenKeys[] {
    const taken = this.#seen;
    this.#seen = nothingSeen();
    this.#found = new Set();
    return taken.map(({ kind, keys, isWhole }) => ({ kind, keys: [...keys], isWhole }));
  }

  #ofKind(key: string): Seen | undefined {
    return this.#seen.find(({ kind }) => key.startsWith(kind));
  }
}

/** What was seen of one kind. */
class Seen {
  readonly kind: SeenKind;
  readonly keys = new Set<string>();
  isWhole = true;
  #characters = 0;

  constructor(kind: SeenKind) {
    this.kind = kind;
  }

  add(key: string): void {
    if (this.keys.has(key) || key.length > MAX_KEY_CHARACTERS) return;
    // With its quotes and its comma.
    this.#characters += key.length + 3;
    if (this.#characters > MAX_CHARACTERS) this.isWhole = false;
    else this.keys.add(key);
  }
}

function nothingSeen(): Seen[] {
  return SEEN_KINDS.map((kind) => new Seen(kind));
}
