import { ITEM_WORDS, type ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { hashKeys } from "../../worker/purges/view/key-hash.ts";

/** The delta of log `a` with a hard purge of one tag at each sequence number after `from`, up to `to`. */
export function deltaOfTagPurges(from: number, to: number): ViewDelta {
  const count = to - from;
  const hashes = hashKeys(Array.from({ length: count }, (_, index) => `#tag:${to - index}`));
  const items = new Uint32Array(count * ITEM_WORDS);
  for (let index = 0; index < count; index++) {
    items.set([hashes[2 * index]!, hashes[2 * index + 1]!, to - index], index * ITEM_WORDS);
  }
  const heads = { hard: to, soft: 0, invalidate: 0 };
  return { logId: "a", from, to, unread: null, truncatedAt: 0, floor: 0, heads, items, leaseMs: 1000 };
}
