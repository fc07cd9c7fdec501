import type { UnreadRange, ViewDelta } from "../log/log-contract.ts";

/**
 * The range that is still unread after a view at `seq` has taken in a delta (R12). Deltas may come late and in any
 * order; only one that reaches the end of the unread range shortens it.
 *
 * A key that has been purged again in the meantime is sent only under its newer number. That is enough, because the
 * same reply also holds everything above the reader's position, read in the same synchronous block.
 */
export function unreadAfter(unread: UnreadRange | null, seq: number, delta: ViewDelta): UnreadRange | null {
  const sentFrom = Math.max(delta.from, delta.truncatedAt);
  let left = shorten(unread, sentFrom, delta.to);
  if (delta.unread) left = shorten(left, Math.max(delta.unread.from, delta.truncatedAt), delta.unread.to);
  if (sentFrom > seq) left = { from: left?.from ?? seq, to: sentFrom };
  return left && left.to > delta.floor ? left : null;
}

function shorten(unread: UnreadRange | null, sentFrom: number, sentTo: number): UnreadRange | null {
  if (unread === null || sentTo < unread.to || sentFrom >= unread.to) return unread;
  return sentFrom > unread.from ? { from: unread.from, to: sentFrom } : null;
}
