import { ITEM_WORDS, type ViewDelta } from "../log/log-contract.ts";

/** So many items are the most that isolates of a PoP pass on to each other: 60,000 bytes, each time the log is read. */
export const WINDOW_ITEMS = 5000;

/**
 * What an isolate has been told of the log lately, as one delta without gaps: `told` put before what was `held`, and the
 * oldest purges beyond the bound left out, whole (R12). It never grows to the table of a view.
 */
export function rollWindow(held: ViewDelta | null, told: ViewDelta, mostItems: number = WINDOW_ITEMS): ViewDelta {
  const toldFrom = Math.max(told.from, told.toldAbove);
  const base = held?.logId === told.logId && toldFrom <= held.to ? held : null;
  if (base && told.to <= base.to) return base;
  const news = itemsAbove(told.items, base?.to ?? toldFrom);
  const items = base ? joined(news, base.items) : news;
  const rest = { ...told, untold: null, toldAbove: 0 };
  const firstLeftOut = items[mostItems * ITEM_WORDS + ITEM_WORDS - 1];
  if (firstLeftOut === undefined) return { ...rest, from: base?.from ?? toldFrom, items };
  return { ...rest, from: firstLeftOut, items: itemsAbove(items.subarray(0, mostItems * ITEM_WORDS), firstLeftOut) };
}

/** The items above a number, of items of which the newest come first. */
function itemsAbove(items: Uint32Array, seq: number): Uint32Array {
  let end = 0;
  while (end < items.length && items[end + ITEM_WORDS - 1]! > seq) end += ITEM_WORDS;
  return items.slice(0, end);
}

function joined(newer: Uint32Array, older: Uint32Array): Uint32Array {
  if (newer.length === 0) return older;
  const items = new Uint32Array(newer.length + older.length);
  items.set(newer);
  items.set(older, newer.length);
  return items;
}
