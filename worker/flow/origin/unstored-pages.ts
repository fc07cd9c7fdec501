import { ExpiringKeys } from "../../rules/key/expiring-keys.ts";
import { type FetchKey, fetchKeyText, withoutField } from "../../rules/key/fetch-key.ts";

/** How long that is known. */
const UNSTORED_MS = 3_600_000;
/** The most pages for which that is remembered. */
const MAX_PAGES = 2_000;

/**
 * The pages of which this isolate knows that a GET would store nothing: it is of no use in place of a HEAD, and only the
 * origin can encode its answer. Where others may store the page, that is known of some `requests` alone, or of those with the
 * odd field of the key: "HEAD", "PARTS" for GETs of the whole in place of a part, and "RANGE" for those of the part, because
 * the origin ignores ranges.
 */
export class UnstoredPages {
  readonly #keys = new ExpiringKeys(MAX_PAGES, UNSTORED_MS);
  /** The keys, as texts, of those with a date that only the lack of a lifetime keeps from being stored. */
  readonly dated = new ExpiringKeys(MAX_PAGES, UNSTORED_MS);

  /** `now` is epoch milliseconds. */
  remember(key: FetchKey, now: number, requests = ""): void {
    this.#keys.remember(`${requests} ${fetchKeyText(key)}`, now);
  }

  /** Whether nothing of this page is stored for such requests. */
  has(key: FetchKey, now: number, requests = ""): boolean {
    const texts = withoutField(key).map(fetchKeyText);
    return texts.some((text) => ["", requests].some((each) => this.#keys.has(`${each} ${text}`, now)));
  }
}
