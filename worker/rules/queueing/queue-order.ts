import { CLIENT_CLASSES, type Standing } from "./client-class.ts";

/** A permit that is free in another isolate comes within this time, so a shorter wait is no queue: milliseconds. */
export const BROUGHT_WITHIN_MS = 100;

/** How long, and how many, requests wait for their turn at the origin. */
export interface QueueLimits {
  /** The longest wait: milliseconds. */
  readonly maxMs: number;
  /** The most that wait at a time. */
  readonly maxWaiting: number;
}

/** A request that waits for its turn at the origin. */
export interface Waiting extends Standing {
  /** When it came: epoch milliseconds. */
  readonly since: number;
}

/**
 * How many may wait now. `turnsLately`: how many of them have their turn within the longest wait; `null` if that is not
 * known.
 */
export function mostWaiting(turnsLately: number | null, { maxWaiting }: QueueLimits): number {
  return Math.min(maxWaiting, turnsLately ?? maxWaiting);
}

/** Whether one more may wait, while so many do. */
export function mayWait(waiting: number, turnsLately: number | null, limits: QueueLimits): boolean {
  return waiting < mostWaiting(turnsLately, limits);
}

/** Whether a request has waited too long, so that it is not sent to the origin any more. */
export function hasWaitedTooLong({ since }: Waiting, now: number, { maxMs }: QueueLimits): boolean {
  return now - since >= maxMs;
}

/**
 * Whether a request that came at `cameAt` waits on when another for the same page is turned away: if that has waited more
 * than twice as long. If those whose wait is nearly over went on, too, a crowd would be woken for each of them.
 */
export function outlasts(cameAt: number, { since }: Waiting, now: number): boolean {
  return now - since > 2 * (now - cameAt);
}

/**
 * Below 0 if the first one has its turn before the other: it is of a better class, or has had less of the origin, or as
 * much, and came earlier.
 */
export function compareTurns(one: Waiting, other: Waiting): number {
  return compareStandings(one, other) || one.since - other.since;
}

/** Below 0 if the first one is of a better class than the other, or of the same and has had less of the origin. */
export function compareStandings(one: Standing, other: Standing): number {
  return rankOf(one) - rankOf(other) || one.recentMisses - other.recentMisses;
}

function rankOf({ client }: Standing): number {
  return CLIENT_CLASSES.indexOf(client);
}

/** One of so many turns goes to the request that came first, whoever sent it: 5 % of what the origin can do. */
const TURNS_OF_THE_FIRST = 20;

/**
 * The waiting request that gets the next turn, after this many `turns`; of equal ones, the first in the list.
 * `undefined` if none waits.
 */
export function nextInLine<Each extends Waiting>(waiting: Iterable<Each>, turns: number): Each | undefined {
  const isOfTheFirst = turns % TURNS_OF_THE_FIRST === TURNS_OF_THE_FIRST - 1;
  const compare = isOfTheFirst ? (one: Each, other: Each) => one.since - other.since : compareTurns;
  let next: Each | undefined;
  for (const each of waiting) if (next === undefined || compare(each, next) < 0) next = each;
  return next;
}

/** The waiting request that gets its turn last; of equal ones, the last in the list. `undefined` if none waits. */
export function lastInLine<Each extends Waiting>(waiting: Iterable<Each>): Each | undefined {
  let last: Each | undefined;
  for (const each of waiting) if (last === undefined || compareTurns(each, last) >= 0) last = each;
  return last;
}
