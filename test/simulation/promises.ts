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
  /** Whether the owner lets stale pages replace a failed origin's answer while the log is silent, too (R18). */
  readonly staleWhileSilent: boolean;
}

/** The part of a lease that has to be over before an isolate whose knowledge is complete reads the log again (R22). */
const RENEWED_AFTER = 0.25;

/** The broken promises of docs/design.md, in words. They are found from the record alone. */
export function brokenPromises(history: History, bounds: Bounds): string[] {
  const ofAnswers = history.answers.flatMap((answer) => [
    ...shownToOthers(answer),
    ...shownToTheWrong(answer),
    ...outlivingAPurge(answer, history, bounds),
    ...unknown(answer, bounds),
    ...usedTooLong(answer, history, bounds),
  ]);
  const { unanswered, cutShort, forgotten } = history;
  return [
    ...ofAnswers,
    ...untoldChanges(history),
    ...cutShort.map((request) => `${request} got an answer that ends before its time, as if it were whole`),
    ...lostOrDoubled(history),
    ...forgotten.map((name) => `the log does not know ${name} any more`),
    ...[...unanswered].map((request) => `${request} was never answered`),
    ...needlessErrors(history),
    ...needlessWork(history, bounds),
  ];
}

/**
 * Promise 1: an answer that one visitor caused is never shown to another, unless the origin says that it is for all.
 */
function shownToOthers({ request, identity, fetched, confirmed }: Answered): string[] {
  const shown = [...new Set([fetched, confirmed])].filter((each) => {
    if (each.identity === null && each.audience !== "one") return false;
    return each.audience !== "all" && each.identity !== identity;
  });
  return shown.map((each) => `${request} of ${identity} was shown fetch ${each.number}, which ${each.identity} caused`);
}

/** Promises 1 and 4: nobody gets an answer selected for another visitor, or bytes that the validation was not about. */
function shownToTheWrong({ request, language, fetched, confirmed }: Answered): string[] {
  const wrong: string[] = [];
  if (fetched.language !== null && fetched.language !== language) {
    wrong.push(`${request} in ${language} was shown fetch ${fetched.number}, which is in ${fetched.language}`);
  }
  if (fetched.version !== confirmed.version || fetched.target !== confirmed.target) {
    wrong.push(`${request} was shown fetch ${fetched.number}, which ${confirmed.number} did not confirm`);
  }
  return wrong;
}

/**
 * Promise 2: no answer rests on a fetch from before a purge once the purge has settled; for the bearer of its token at
 * once, and from an isolate that has learned of it at once, too. After a soft purge, others may get it as stale, for a
 * while.
 */
function outlivingAPurge(answer: Answered, { purges }: History, bounds: Bounds): string[] {
  const { request, arrivedAt, xCache, after, fetched, chosenBy } = answer;
  const broken = purges.filter((purge) => {
    if (!isFromBefore(answer, purge)) return false;
    if (after === purge) return true;
    const heardAt = chosenBy.heardAt(purge);
    if (purge.mode === "soft" && (xCache === "UPDATING" || xCache === "STALE")) {
      return heardAt !== null && !isUsableAfter(lastSoftAt(answer, purges), answer, bounds);
    }
    if (heardAt !== null) return true;
    return arrivedAt > purge.settledAt + bounds.lateMs && !standsInUnknown(answer, bounds);
  });
  return broken.map(({ name }) => `${request} was shown fetch ${fetched.number}, which ${name} had ended`);
}

/** Whether a fetch is from before a purge. A 304 may leave out tags that its page has. */
export function isFromBefore({ fetched, confirmed }: Pick<Answered, "fetched" | "confirmed">, purge: Purged): boolean {
  return confirmed.order < purge.order && (purge.matches(fetched) || purge.matches(confirmed));
}

/** When the isolate can have learned first of the last soft purge of the page, which is all that a view holds. */
function lastSoftAt(answer: Answered, purges: readonly Purged[]): number {
  const soft = purges.filter((purge) => purge.mode === "soft" && isFromBefore(answer, purge));
  return Math.max(...soft.map((purge) => answer.chosenBy.heardAtLast(purge) ?? Number.NEGATIVE_INFINITY));
}

/**
 * R10: after a soft purge, a page may be used for as long as it says itself, or else as the site says, counted from
 * when the isolate learned of the purge.
 */
function isUsableAfter(heardAt: number, { arrivedAt, xCache, confirmed }: Answered, bounds: Bounds): boolean {
  if (xCache === "STALE") return true; // in place of an error: `usedTooLong` checks its own time for every page
  const usableMs = confirmed.staleWhileRevalidateMs || bounds.softForMs;
  return arrivedAt <= heardAt + usableMs + bounds.skewMs;
}

/** Promise 3: without a lease, only a response that was fetched less than a lease ago is served. */
function unknown(answer: Answered, bounds: Bounds): string[] {
  const { request, arrivedAt, fetched, confirmed, givenBy, parent } = answer;
  const knowledgeMs = bounds.knowledgeMs(confirmed.target);
  const knew = [givenBy, ...(parent ? [parent] : [])];
  const knewUntil = Math.max(...knew.flatMap(({ lease }) => [lease.until, lease.askedAt + knowledgeMs]));
  if (arrivedAt <= knewUntil + 1 || arrivedAt <= confirmed.sentAt + knowledgeMs + bounds.skewMs) return [];
  if (standsInUnknown(answer, bounds)) return [];
  return [`${request} was shown fetch ${fetched.number} by an isolate that could not know whether it was purged`];
}

/**
 * RFC 9111 §4.2.4, RFC 5861: a stale response is served only as the origin permits, and never to a request that awaits
 * a purge.
 */
function usedTooLong(answer: Answered, { failures }: History, { skewMs }: Bounds): string[] {
  const { request, arrivedAt, xCache, after, fetched, confirmed } = answer;
  if (!FROM_STORE.includes(xCache)) return [];
  const wrong: string[] = [];
  if (after !== null && xCache !== "HIT") wrong.push(`${request} awaits a purge and was shown what is stale`);
  const windowMs = { UPDATING: confirmed.staleWhileRevalidateMs, STALE: confirmed.staleIfErrorMs }[xCache!] ?? 0;
  if (arrivedAt - confirmed.receivedAt > confirmed.freshMs + windowMs + skewMs) {
    wrong.push(`${request} was shown fetch ${fetched.number} as ${xCache} after its time`);
  }
  const hasFailed = failures.some(({ target, at }) => target === confirmed.target && at >= arrivedAt);
  if (xCache === "STALE" && !hasFailed) wrong.push(`${request} was shown what is stale, and the origin had not failed`);
  return wrong;
}

/** RFC 9111 §4.4: each change is written to the log, under a number that no fetch from before the change can have. */
function untoldChanges({ changes, purges, gaveUp }: History): string[] {
  const untold = changes.filter(({ target, order, isolate }) => {
    const isTold = purges.some(
      (purge) => purge.kind === "invalidation" && purge.order > order && purge.matches({ target, tags: [] }),
    );
    return !isTold && !gaveUp.has(isolate);
  });
  return untold.map(({ target, isolate }) => `the log never heard from ${isolate} that ${target} was changed`);
}

/** Promise 5: a purge happens once under its id, its repetition takes place, and its pages are refetched. */
function lostOrDoubled({ numbersOfIds, owed, refreshed, fetches }: History): string[] {
  const doubled = [...numbersOfIds].filter(([, numbers]) => numbers.size > 1);
  const isFetched = ({ purge, target, upTo }: History["refreshed"][number]) =>
    [...fetches.values()].some((each) => each.target === target && each.order > purge.order && each.order < upTo);
  return [
    ...doubled.map(([id, numbers]) => `the purge with the id ${id} has the numbers ${[...numbers]}`),
    ...owed.filter(({ isPaid }) => !isPaid).map(({ name }) => `${name} was to be repeated, and was not`),
    ...refreshed
      .filter((each) => !isFetched(each))
      .map(({ purge, target }) => `${purge.name} was to fetch ${target} anew, and did not`),
  ];
}

/** Promise 6: while the origin works, the edge does not answer with an error of its own. */
function needlessErrors({ errors, failures }: History): string[] {
  const needless = errors.filter(
    ({ target, arrivedAt }) => !failures.some((failure) => failure.target === target && failure.at >= arrivedAt),
  );
  return needless.map(({ request }) => `${request} was answered with an error, and the origin had not failed`);
}

/**
 * Promise 7: an isolate stores nothing that it would itself refuse (R23), and does not read the log without need (R22).
 */
function needlessWork({ kept, reads, purges }: History, { leaseMs }: Bounds): string[] {
  const refused = kept.flatMap((page) => {
    const by = purges.find((purge) => isFromBefore(page, purge) && page.told.heardAt(purge) !== null);
    return by ? [`${page.isolate} kept fetch ${page.fetched.number}, though it knew of ${by.name}`] : [];
  });
  const early = reads.filter(
    ({ begunAt, goodSince }) => goodSince !== null && begunAt < goodSince + leaseMs * RENEWED_AFTER,
  );
  return [...refused, ...early.map(({ isolate, begunAt }) => `${isolate} read the log at ${begunAt} without need`)];
}

function standsInUnknown({ xCache }: Answered, { staleWhileSilent }: Bounds): boolean {
  return xCache === "STALE" && staleWhileSilent;
}

/** Whether a purge of this kind has happened between a fetch and now. */
export function isCrossedBy(fetched: Fetched, purges: readonly Purged[], kind: Purged["kind"]): boolean {
  return purges.some((purge) => purge.kind === kind && purge.order > fetched.order && purge.matches(fetched));
}
