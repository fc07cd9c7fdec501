import { MAX_KEY_CHARACTERS } from "../rules/key/expiring-keys.ts";
import { seenKindOf } from "../rules/key/seen-key.ts";
import { purgeKeysOf, type StoredHead } from "../rules/storing/stored-response.ts";

/** The most characters of keys in a report, and twice as many with those of tags. */
const MAX_CHARACTERS = 100_000;

/** After this many pages were found, each is checked again. */
const MAX_FOUND = 5000;

type SeenHead = Pick<StoredHead, "key" | "givenPurgeKeys">;

/**
 * The tags and the paths of the pages that one isolate has stored, or has found in the shared tier, since its last report.
 * Answers out of memory are not looked at: their pages came into memory in one of these ways.
 */
export class Sightings {
  /** A kind itself is among its keys if there were more than one report holds. */
  readonly keys = new Set<string>();
  #characters = 0;
  /** The pages that were found, so that a page is looked at once for each report, unless its key is too long to hold. */
  readonly #found = new Set<string>();

  /** A page was stored. */
  see(head: SeenHead): void {
    for (const key of purgeKeysOf(head)) {
      const kind = seenKindOf(key);
      if (!kind || this.keys.has(key) || key.length > MAX_KEY_CHARACTERS) continue;
      if (this.#characters > (kind === "#" ? 2 : 1) * MAX_CHARACTERS) {
        this.keys.add(kind);
        continue;
      }
      // With its quotes and its comma.
      this.#characters += key.length + 3;
      this.keys.add(key);
    }
  }

  /** A page was found in the shared tier. */
  find(head: SeenHead): void {
    if (this.#found.has(head.key)) return;
    if (this.#found.size === MAX_FOUND) this.#found.clear();
    if (head.key.length <= MAX_KEY_CHARACTERS) this.#found.add(head.key);
    this.see(head);
  }

  /** For the next report. */
  take(): string[] {
    const taken = [...this.keys];
    this.keys.clear();
    this.#found.clear();
    this.#characters = 0;
    return taken;
  }
}
