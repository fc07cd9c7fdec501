import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import type { LedgerClient } from "../../metrics/reports.ts";
import type { Sightings } from "../../metrics/sightings.ts";
import type { Clock } from "../../ports/clock.ts";
import { MAX_KEY_CHARACTERS } from "../../rules/key/expiring-keys.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { seenKindOf } from "../../rules/key/seen-key.ts";
import { shownUrl } from "../../rules/request/shown-url.ts";
import { within } from "../../within.ts";
import { purgeItemText } from "./purge-item-text.ts";

/** The most items of one purge that are looked up. */
const MAX_LOOKED_UP = 50;

/** How long a receipt waits for the ledger. After that the receipt has no counts. Milliseconds. */
const ANSWER_WITHIN_MS = 250;

/** The sources that know which keys stored pages have had lately: the isolate that is asked, and the site's ledger. */
export interface KnownKeys {
  readonly sightings: Sightings;
  /** `null` where isolates report to none. */
  readonly ledger: LedgerClient | null;
  readonly clock: Clock;
}

export type Unseen = NonNullable<PurgeReceiptBody["unseen"]>;

/**
 * The items that no page has had lately, as far as is known. Never rejects: while the ledger is silent, nothing is
 * known. An item that the ledger has not missed for long enough is named only if a key is nearly the same.
 */
export async function unseenItems(
  purgeKeys: readonly string[],
  { sightings, ledger, clock }: KnownKeys,
): Promise<Unseen> {
  const { keys } = sightings;
  const asked = purgeKeys
    .flatMap((key) => {
      const seen = seenAs(key);
      return seen && seen.length <= MAX_KEY_CHARACTERS && !keys.has(seen) ? [{ key, seen }] : [];
    })
    .slice(0, MAX_LOOKED_UP);
  if (asked.length === 0 || !ledger) return [];
  const told = ledger.findUnseen(asked.map(({ seen }) => seen));
  const missing = await within(clock, ANSWER_WITHIN_MS, told, () => []).catch(() => []);
  return missing.flatMap(({ at, isSure, nearest = nearestKey(asked[at]!.seen, [...keys]) }) => {
    if (keys.has(asked[at]!.seen)) return []; // stored meanwhile
    const item = purgeItemText(asked[at]!.key);
    if (nearest) return [{ item, nearest: shownUrl(purgeItemText(nearest)) }];
    return isSure ? [{ item }] : [];
  });
}

/** The key under which every page is remembered that a purge of this key reaches; `undefined` if there is none. */
function seenAs(purgeKey: string): string | undefined {
  const key = purgeKey.replace(/^\/\/[^/]*/, "path:");
  return seenKindOf(key) && key;
}
