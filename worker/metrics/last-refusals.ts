import { MAX_KEY_CHARACTERS } from "../rules/key/expiring-keys.ts";
import { setNewest } from "../rules/key/set-newest.ts";

/** Why and when the last answer of a page was not stored. */
export interface Refusal {
  /** The `detail` of its `Cache-Status`. */
  readonly because: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The most pages that are remembered: at most half a megabyte, without long URLs. */
export const MAX_REFUSALS = 500;

/** The last refusals that one isolate has seen, for those who ask why a page is not stored. */
export class LastRefusals {
  readonly #refusals = new Map<string, Refusal>();

  remember(url: string, refusal: Refusal): void {
    if (url.length > MAX_KEY_CHARACTERS) return;
    setNewest(this.#refusals, url, refusal, MAX_REFUSALS);
  }

  /** The page has been stored since. */
  forget(url: string): void {
    this.#refusals.delete(url);
  }

  of(url: string): Refusal | undefined {
    return this.#refusals.get(url);
  }
}
