/** How long, and how many, requests wait for their turn at the origin. */
export interface QueueLimits {
  /** The longest wait: milliseconds. */
  readonly maxMs: number;
  /** The most that wait at a time. */
  readonly maxWaiting: number;
}

/** A request that waits for its turn at the origin. */
export interface Waiting {
  /** When it came: epoch milliseconds. */
  readonly since: number;
}

/** Whether one more may wait, while so many do. */
export function mayWait(waiting: number, { maxWaiting }: QueueLimits): boolean {
  return waiting < maxWaiting;
}

/** Whether a request has waited as long as it may: it is not sent to the origin any more. */
export function hasWaitedTooLong({ since }: Waiting, now: number, { maxMs }: QueueLimits): boolean {
  return now - since >= maxMs;
}

/**
 * Which of those that wait has the next turn: the one that came first, of two that came at once the one that stands first
 * in the list. `undefined` if nobody waits.
 */
export function nextInLine<Each extends Waiting>(waiting: Iterable<Each>): Each | undefined {
  let next: Each | undefined;
  for (const each of waiting) if (next === undefined || each.since < next.since) next = each;
  return next;
}
