import { type Answered, type Fetched, FROM_STORE, type History, type Purged } from "./history.ts";

/** The limits by which a world's PoPs are bound. */
export interface Bounds {
  /**
   * How long an isolate may use its knowledge for a page, in milliseconds: the lease, or more if its route allows that.
   */
  readonly knowledgeMs: (target: string) => number;
  readonly leaseMs: number;
  /** How far clocks of one PoP may differ. */
  readonly skewMs: number;
  /** How much later than its receipt says a purge may settle. */
  readonly lateMs: number;
  /** How long a page without its own rule may be used after a soft purge. */
  readonly softForMs: number;
  /** For how long after a failure the origin may count as down, in milliseconds. */
  readonly knownDownMs: number;
  /** Whether the owner lets stale pages replace a failed origin's answer while the log is silent, too (R18). */
  readonly staleWhileSilent: boolean;
}

/** The part of a lease that has to be over before an isolate whose knowledge is complete reads the log again (R22). */
const RENEWED_AFTER = 0.25;

/** A promise of docs/protocol.md that was broken. */
export interface BrokenPromise {
  /** Its number there. */
  readonly promise: number;
  /** The rule of docs/protocol.md that should have kept it, the section of an RFC, or the site's limits. */
  readonly rule: string;
  readonly words: string;
}

/** The broken promises. They are found from the record alone. */
export function brokenPromises(history: History, bounds: Bounds): BrokenPromise[] {
  const ofAnswers = history.answers.flatMap((answer) => [
    ...shownToOthers(answer),
    ...shownToTheWrong(answer),
    ...outlivingAPurge(answer, history, bounds),
    ...unknown(answer, bounds),
    ...usedTooLong(answer, history, bounds),
  ]);
  const { unanswered, wrongBytes, forgotten, held } = history;
  return [
    ...ofAnswers,
    ...untoldChanges(history),
    ...wrongBytes.map((request) =>
      broken(4, "RFC 9112 §8", `${request} got other bytes than its fields say, as if they were whole`),
    ),
    ...lostOrDoubled(history),
    ...forgotten.map((name) => broken(5, "R13", `the log does not know ${name} any more`)),
    ...[...unanswered].map((request) => broken(6, "R21", `${request} was never answered`)),
    ...needlessErrors(history, bounds),
    ...needlessWork(history, bounds),
    ...held.map((words) => broken(7, "limits", `nothing is held once all is over, but ${words}`)),
  ];
}

function broken(promise: number, rule: string, words: string): BrokenPromise {
  return { promise, rule, words };
}

/**
 * Promise 1: an answer that one visitor caused is never shown to another, unless the origin says that it is for all.
 */
function shownToOthers({ request, identity, fetched, confirmed }: Answered): BrokenPromise[] {
  const shown = [...new Set([fetched, confirmed])].filter((each) => {
    if (each.identity === null && each.audience !== "one") return false;
    return each.audience !== "all" && each.identity !== identity;
  });
  return shown.map(({ number, identity: other }) =>
    broken(1, "RFC 9111 §3.5", `${request} of ${identity} was shown fetch ${number}, which ${other} caused`),
  );
}

/** Promises 1 and 4: nobody gets an answer selected for another visitor, or bytes that the validation was not about. */
function shownToTheWrong({ request, language, fetched, confirmed }: Answered): BrokenPromise[] {
  const wrong: BrokenPromise[] = [];
  const { number } = fetched;
  if (fetched.language !== null && fetched.language !== language) {
    wrong.push(
      broken(1, "R19", `${request} in ${language} was shown fetch ${number}, which is in ${fetched.language}`),
    );
  }
  if (fetched.version !== confirmed.version || fetched.target !== confirmed.target) {
    wrong.push(broken(4, "R3", `${request} was shown fetch ${number}, which ${confirmed.number} did not confirm`));
  }
  return wrong;
}

/**
 * Promise 2: no answer rests on a fetch from before a purge once the purge has settled; for the bearer of its token at
 * once, and from an isolate that has learned of it at once, too. After a soft purge, others may get it as stale, for a
 * while.
 */
function outlivingAPurge(answer: Answered, { purges }: History, bounds: Bounds): BrokenPromise[] {
  return purges.flatMap((purge) => {
    const rule = isFromBefore(answer, purge) ? ruleOfOutliving(answer, purge, purges, bounds) : null;
    if (rule === null) return [];
    return [
      broken(2, rule, `${answer.request} was shown fetch ${answer.fetched.number}, which ${purge.name} had ended`),
    ];
  });
}

/** The rule by which an answer should not have outlived a purge; `null` if it may. */
function ruleOfOutliving(answer: Answered, purge: Purged, purges: readonly Purged[], bounds: Bounds): string | null {
  const { arrivedAt, xCache, after, chosenBy } = answer;
  if (after === purge) return "R9";
  const heardAt = chosenBy.heardAt(purge);
  if (purge.mode === "soft" && (xCache === "UPDATING" || xCache === "STALE")) {
    return heardAt !== null && !isUsableAfter(lastSoftAt(answer, purges, bounds.leaseMs), answer, bounds)
      ? "R10"
      : null;
  }
  if (heardAt !== null) return "R4";
  if (arrivedAt <= purge.settledAt + bounds.lateMs || standsInUnknown(answer, bounds)) return null;
  return isUsedLongerThanKnown(answer, purge, bounds) ? null : "R6";
}

/**
 * R13: a new log of which nobody has said that there was one before it knows how long its own readers may use a view, and
 * not that a reader of the log before may do so for longer than a lease.
 */
function isUsedLongerThanKnown({ arrivedAt, chosenBy }: Answered, purge: Purged, { skewMs }: Bounds): boolean {
  return (
    purge.unknownUntil !== undefined && arrivedAt > chosenBy.lease.until && arrivedAt <= purge.unknownUntil + skewMs
  );
}

/** Whether a fetch is from before a purge. A 304 may leave out tags that its page has. */
export function isFromBefore({ fetched, confirmed }: Pick<Answered, "fetched" | "confirmed">, purge: Purged): boolean {
  return confirmed.order < purge.order && (purge.matches(fetched) || purge.matches(confirmed));
}

/**
 * When the last soft purge of the page was made that the isolate knows, which is all that a view holds. It may take the time
 * when it learned of it, at most a lease later.
 */
function lastSoftAt(answer: Answered, purges: readonly Purged[], leaseMs: number): number {
  const soft = purges.filter((purge) => purge.mode === "soft" && isFromBefore(answer, purge));
  const heardAt = (purge: Purged) => answer.chosenBy.heardAtLast(purge) ?? Number.NEGATIVE_INFINITY;
  return Math.max(...soft.map((purge) => Math.min(heardAt(purge), purge.at + leaseMs)));
}

/**
 * R10: after a soft purge, a page may be used for as long as it says itself, or else as the site says, counted from
 * the purge.
 */
function isUsableAfter(purgedAt: number, { arrivedAt, xCache, confirmed }: Answered, bounds: Bounds): boolean {
  if (xCache === "STALE") return true; // in place of an error: `usedTooLong` checks its own time for every page
  const usableMs = confirmed.staleWhileRevalidateMs || bounds.softForMs;
  return arrivedAt <= purgedAt + usableMs + bounds.skewMs;
}

/** Promise 3: without a lease, only a response that was fetched less than a lease ago is served. */
function unknown(answer: Answered, bounds: Bounds): BrokenPromise[] {
  const { request, arrivedAt, fetched, confirmed, givenBy, parent } = answer;
  const knowledgeMs = bounds.knowledgeMs(confirmed.target);
  const knew = [givenBy, ...(parent ? [parent] : [])];
  const knewUntil = Math.max(...knew.flatMap(({ lease }) => [lease.until, lease.askedAt + knowledgeMs]));
  if (arrivedAt <= knewUntil + 1 || arrivedAt <= confirmed.sentAt + knowledgeMs + bounds.skewMs) return [];
  if (standsInUnknown(answer, bounds)) return [];
  const words = `${request} was shown fetch ${fetched.number} by an isolate that could not know whether it was purged`;
  return [broken(3, "R8", words)];
}

/**
 * RFC 9111 §4.2.4, RFC 5861: a stale response is served only as the origin permits, and never to a request that awaits
 * a purge.
 */
function usedTooLong(answer: Answered, { failures }: History, bounds: Bounds): BrokenPromise[] {
  const { skewMs } = bounds;
  const { request, arrivedAt, xCache, after, fetched, confirmed } = answer;
  if (!FROM_STORE.includes(xCache)) return [];
  const wrong: BrokenPromise[] = [];
  if (after !== null && xCache !== "HIT") {
    wrong.push(broken(2, "R9", `${request} awaits a purge and was shown what is stale`));
  }
  const windowMs = { UPDATING: confirmed.staleWhileRevalidateMs, STALE: confirmed.staleIfErrorMs }[xCache!] ?? 0;
  if (arrivedAt - confirmed.receivedAt > confirmed.freshMs + windowMs + skewMs) {
    const words = `${request} was shown fetch ${fetched.number} as ${xCache} after its time`;
    wrong.push(broken(3, "RFC 9111 §4.2.4", words));
  }
  if (xCache === "STALE" && !hasFailed(failures, confirmed.target, arrivedAt, bounds)) {
    wrong.push(broken(6, "R18", `${request} was shown what is stale, and the origin had not failed`));
  }
  return wrong;
}

/** RFC 9111 §4.4: each change is written to the log, under a number that no fetch from before the change can have. */
export function untoldChanges({ changes, purges, gaveUp }: History): BrokenPromise[] {
  const untold = changes.filter(({ target, order, isolate }) => {
    const isTold = purges.some(
      (purge) => purge.kind === "invalidation" && purge.order > order && purge.matches({ target, tags: [] }),
    );
    return !isTold && !gaveUp.has(isolate);
  });
  return untold.map(({ target, isolate }) =>
    broken(2, "R15", `the log never heard from ${isolate} that ${target} was changed`),
  );
}

/** Promise 5: a purge happens once under its id, its repetition takes place, and its pages are refetched. */
function lostOrDoubled({ numbersOfIds, owed, refreshed, fetches }: History): BrokenPromise[] {
  const doubled = [...numbersOfIds].filter(([, numbers]) => numbers.size > 1);
  const isFetched = ({ purge, target, upTo }: History["refreshed"][number]) =>
    [...fetches.values()].some((each) => each.target === target && each.order > purge.order && each.order < upTo);
  return [
    ...doubled.map(([id, numbers]) => broken(5, "R20", `the purge with the id ${id} has the numbers ${[...numbers]}`)),
    ...owed
      .filter(({ isPaid }) => !isPaid)
      .map(({ name }) => broken(5, "R20", `${name} was to be repeated, and was not`)),
    ...refreshed
      .filter((each) => !isFetched(each))
      .map(({ purge, target }) => broken(5, "R20", `${purge.name} was to fetch ${target} anew, and did not`)),
  ];
}

/** Whether the origin has failed since the request came, or may still count as down after an earlier failure. */
function hasFailed(failures: History["failures"], target: string, arrivedAt: number, { knownDownMs }: Bounds): boolean {
  return failures.some((failure) =>
    failure.at >= arrivedAt ? failure.target === target : failure.at > arrivedAt - knownDownMs,
  );
}

/** Promise 6: while the origin works, the edge does not answer with an error of its own. */
function needlessErrors({ errors, failures }: History, bounds: Bounds): BrokenPromise[] {
  const needless = errors.filter(({ target, arrivedAt }) => !hasFailed(failures, target, arrivedAt, bounds));
  return needless.map(({ request }) =>
    broken(6, "R18", `${request} was answered with an error, and the origin had not failed`),
  );
}

/**
 * Promise 7: an isolate stores nothing that it would itself refuse (R23), and does not read the log without need (R22).
 */
function needlessWork({ kept, reads, purges }: History, { leaseMs }: Bounds): BrokenPromise[] {
  const refused = kept.flatMap((page) => {
    const by = purges.find((purge) => isFromBefore(page, purge) && page.told.heardAt(purge) !== null);
    if (!by) return [];
    return [broken(7, "R23", `${page.isolate} kept fetch ${page.fetched.number}, though it knew of ${by.name}`)];
  });
  const early = reads.filter(
    ({ begunAt, goodSince }) => goodSince !== null && begunAt < goodSince + leaseMs * RENEWED_AFTER,
  );
  const needless = early.map(({ isolate, begunAt }) =>
    broken(7, "R22", `${isolate} read the log at ${begunAt} without need`),
  );
  return [...refused, ...needless];
}

function standsInUnknown({ xCache }: Answered, { staleWhileSilent }: Bounds): boolean {
  return xCache === "STALE" && staleWhileSilent;
}

/** Whether a purge of this kind has happened between a fetch and now. */
export function isCrossedBy(fetched: Fetched, purges: readonly Purged[], kind: Purged["kind"]): boolean {
  return purges.some((purge) => purge.kind === kind && purge.order > fetched.order && purge.matches(fetched));
}
