import type { ViewDelta } from "../log/log-contract.ts";

/**
 * Numbers that a view has passed without being told of them: above `from`, up to `to`. The log tells the newest first,
 * so a view that is too far behind for one reply is at the head at once, and counts all below as purged until it is told.
 */
export interface UnreadRange {
  readonly from: number;
  readonly to: number;
}

/**
 * What is untold once a view at `seq` has taken in a delta (R12). Deltas may come late and in any order: only what
 * reaches up to the end of the untold numbers shortens them.
 *
 * A key that was purged again since is told under its newer number. That suffices, because each reply tells what is
 * above the reader's position, too, in the same synchronous block.
 */
export function unreadAfter(untold: UnreadRange | null, seq: number, delta: ViewDelta): UnreadRange | null {
  const toldFrom = Math.max(delta.from, delta.toldAbove);
  let left = shorten(untold, toldFrom, delta.to);
  if (delta.untold) left = shorten(left, Math.max(delta.untold.from, delta.toldAbove), delta.untold.to);
  if (toldFrom > seq) left = { from: left?.from ?? seq, to: toldFrom };
  return left && left.to > delta.floor ? left : null;
}

function shorten(untold: UnreadRange | null, toldFrom: number, toldTo: number): UnreadRange | null {
  if (untold === null || toldTo < untold.to || toldFrom >= untold.to) return untold;
  return toldFrom > untold.from ? { from: untold.from, to: toldFrom } : null;
}
