import type { UnreadRange, ViewDelta } from "../log/log-contract.ts";

/**
 * What is unread once a view at `seq` has taken in a delta (R12). Deltas may come late and in any order: only what
 * reaches up to the end of the unread numbers shortens them.
 *
 * A key that was purged again since is told under its newer number. That suffices, because each reply tells what is
 * above the reader's position, too, in the same synchronous block.
 */
export function unreadAfter(unread: UnreadRange | null, seq: number, delta: ViewDelta): UnreadRange | null {
  const toldFrom = Math.max(delta.from, delta.truncatedAt);
  let left = shorten(unread, toldFrom, delta.to);
  if (delta.unread) left = shorten(left, Math.max(delta.unread.from, delta.truncatedAt), delta.unread.to);
  if (toldFrom > seq) left = { from: left?.from ?? seq, to: toldFrom };
  return left && left.to > delta.floor ? left : null;
}

function shorten(unread: UnreadRange | null, toldFrom: number, toldTo: number): UnreadRange | null {
  if (unread === null || toldTo < unread.to || toldFrom >= unread.to) return unread;
  return toldFrom > unread.from ? { from: unread.from, to: toldFrom } : null;
}
