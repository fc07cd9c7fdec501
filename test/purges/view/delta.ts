import type { PurgeMode } from "../../../worker/ports/purge-log.ts";
import { ITEM_WORDS, type ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { hashKeys, hashWordFor } from "../../../worker/purges/view/key-hash.ts";

export type PurgedText = readonly [key: string, seq: number, mode?: PurgeMode];

/** A delta as the log would send it; by default of log `a`. */
export function deltaOf(
  from: number,
  to: number,
  purged: readonly PurgedText[] = [],
  rest: Partial<ViewDelta> = {},
): ViewDelta {
  const newestFirst = purged.toSorted(([, left], [, right]) => right - left);
  const highest = (wanted: PurgeMode) =>
    Math.max(0, ...purged.filter(([, , mode = "hard"]) => mode === wanted).map(([, seq]) => seq));
  return {
    logId: "a",
    from,
    to,
    unread: null,
    truncatedAt: 0,
    floor: 0,
    heads: { hard: highest("hard"), soft: highest("soft"), invalidate: highest("invalidate") },
    items: Uint32Array.from(newestFirst.flatMap(([key, seq, mode]) => [...hashOf(key, mode), seq])),
    leaseMs: 1000,
    ...rest,
  };
}

/** A delta with a hard purge of one tag for each number, in the text `#tag:<number>`. */
export function deltaOfTags(from: number, to: number): ViewDelta {
  const hashes = hashKeys(Array.from({ length: to - from }, (_, index) => `#tag:${to - index}`));
  const items = new Uint32Array((to - from) * ITEM_WORDS);
  for (let index = 0; index < to - from; index++) {
    items[ITEM_WORDS * index] = hashes[2 * index]!;
    items[ITEM_WORDS * index + 1] = hashes[2 * index + 1]!;
    items[ITEM_WORDS * index + 2] = to - index;
  }
  return { ...deltaOf(from, to), heads: { hard: to, soft: 0, invalidate: 0 }, items };
}

/** A delta's items for these keys, as texts again; keys without an item are left out. */
export function toldOf({ items }: ViewDelta, keys: readonly string[], mode: PurgeMode = "hard"): [string, number][] {
  const told: [string, number][] = [];
  for (let at = 0; at < items.length; at += ITEM_WORDS) {
    const key = keys.find((text) => hashOf(text, mode).every((word, index) => word === items[at + index]));
    if (key !== undefined) told.push([key, items[at + ITEM_WORDS - 1]!]);
  }
  return told;
}

export function toldCount({ items }: ViewDelta): number {
  return items.length / ITEM_WORDS;
}

function hashOf(key: string, mode: PurgeMode = "hard"): number[] {
  return [...hashKeys([key])].map((word) => hashWordFor(mode, word));
}
