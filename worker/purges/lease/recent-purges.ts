import { ITEM_WORDS, type ViewDelta } from "../log/log-contract.ts";

/** The most items that isolates of a PoP share with each other: 60,000 bytes for each read of the log. */
export const MAX_RECENT_ITEMS = 5000;

/**
 * The newest purges that an isolate has read, as one delta without gaps, with `read` in front of the earlier `held`.
 * Purges beyond the bound are left out, the oldest first and never in part (R12).
 */
export function mergeRecent(held: ViewDelta | null, read: ViewDelta, maxItems: number = MAX_RECENT_ITEMS): ViewDelta {
  const readFrom = Math.max(read.from, read.truncatedAt);
  const base = held?.logId === read.logId && readFrom <= held.to ? held : null;
  if (base && read.to <= base.to) return base;
  const news = itemsAbove(read.items, base?.to ?? readFrom);
  const items = base ? concat(news, base.items) : news;
  const rest = { ...read, unread: null, truncatedAt: 0 };
  const firstLeftOut = items[maxItems * ITEM_WORDS + ITEM_WORDS - 1];
  if (firstLeftOut === undefined) return { ...rest, from: base?.from ?? readFrom, items };
  return { ...rest, from: firstLeftOut, items: itemsAbove(items.subarray(0, maxItems * ITEM_WORDS), firstLeftOut) };
}

/** The items above a number. The items are sorted, the newest first. */
function itemsAbove(items: Uint32Array, seq: number): Uint32Array {
  let end = 0;
  while (end < items.length && items[end + ITEM_WORDS - 1]! > seq) end += ITEM_WORDS;
  return items.slice(0, end);
}

function concat(newer: Uint32Array, older: Uint32Array): Uint32Array {
  if (newer.length === 0) return older;
  const items = new Uint32Array(newer.length + older.length);
  items.set(newer);
  items.set(older, newer.length);
  return items;
}
