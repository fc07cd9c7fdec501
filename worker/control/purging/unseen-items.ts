import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import type { LedgerClient } from "../../metrics/reports.ts";
import type { Sightings } from "../../metrics/sightings.ts";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import type { Clock } from "../../ports/clock.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { seenKeyText } from "../../rules/key/seen-key.ts";
import { within } from "../../within.ts";

/** The most items of one purge that are looked up. */
const MAX_LOOKED_UP = 50;

/** A ledger that is silent for so long delays no receipt further, which then says nothing: milliseconds. */
const ANSWER_WITHIN_MS = 250;

/** Who knows which keys stored pages have had lately: the isolate that is asked, and the site's ledger. */
export interface KnownKeys {
  readonly sightings: Sightings;
  /** `null` where isolates report to none. */
  readonly ledger: LedgerClient | null;
  readonly clock: Clock;
}

/** An item of a purge, and the key under which a page that it purges would have been seen. */
export interface LookedUp {
  readonly item: string;
  readonly key: string;
}

export type Unseen = NonNullable<PurgeReceiptBody["unseen"]>;

/**
 * The items that no page has had lately, as far as is known. Never rejects: while the ledger is silent, nothing is known.
 * What the ledger has not missed for long enough counts only beside a key that is nearly the same.
 */
export async function unseenItems(
  items: readonly LookedUp[],
  { sightings, ledger, clock }: KnownKeys,
): Promise<Unseen> {
  const asked = items.filter(({ key }) => !sightings.keys.has(key)).slice(0, MAX_LOOKED_UP);
  if (asked.length === 0 || !ledger) return [];
  const keys = JSON.stringify(asked.map(({ key }) => key));
  const told = await within(clock, ANSWER_WITHIN_MS, ledger.findUnseen(keys), () => "[]").catch(() => "[]");
  return (JSON.parse(told) as UnseenKey[]).flatMap(({ key, isSure, nearest = nearestKey(key, [...sightings.keys]) }) => {
    const { item } = asked.find((each) => each.key === key)!;
    if (nearest !== undefined) return [{ item, nearest: seenKeyText(nearest) }];
    return isSure ? [{ item }] : [];
  });
}

/** The same as a sentence. */
export function unseenWarning({ item, nearest }: Unseen[number]): string {
  const like = nearest === undefined ? "" : `; the nearest is ${JSON.stringify(nearest)}`;
  return `No page was stored lately under ${JSON.stringify(item)}${like}.`;
}
