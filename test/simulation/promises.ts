import { type Answered, type Fetched, FROM_STORE, type History, type Purged } from "./history.ts";

/** What a world's PoPs are bound to. */
export interface Bounds {
  /** How long an isolate may go by what it was told of a page: the lease, or what its route allows beyond it. Milliseconds. */
  readonly knowledgeMs: (target: string) => number;
  readonly leaseMs: number;
  /** How far clocks of one PoP may differ. */
  readonly skewMs: number;
  /** How much later than its receipt says a purge may settle. */
  readonly lateMs: number;
  /** For how long a page is of use after a soft purge that says nothing of it itself. */
  readonly softForMs: number;
  /** Whether the owner lets stale pages stand in for a failed origin while the log is silent, too (R18). */
  readonly staleWhileSilent: boolean;
}

/** What of a lease has to be over before an isolate reads the log again that has been told everything (R22). */
const RENEWED_AFTER = 0.25;

/** What breaks a promise of docs/design.md, in words. Decided from the record alone. */
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

/** Promise 1: what one identity caused is never shown to another, unless the origin says that it is for all. */
function shownToOthers({ request, identity, fetched, confirmed }: Answered): string[] {
  const shown = [...new Set([fetched, confirmed])].filter((each) => {
    if (each.identity === null && each.audience !== "one") return false;
    return each.audience !== "all" && each.identity !== identity;
  });
  return shown.map((each) => `${request} of ${identity} was shown fetch ${each.number}, which ${each.identity} caused`);
}

/** Promise 1 and 4: nobody gets what was selected for another, or bytes that their validation was not about. */
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
 * Promise 2: once settled, for the bearer of its token at once, and from an isolate that has heard of it, nothing is
 * served that rests on a fetch from before the purge. A soft one lets others have it as stale, for a while.
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

/** A 304 may leave out tags that its page has. */
export function isFromBefore({ fetched, confirmed }: Pick<Answered, "fetched" | "confirmed">, purge: Purged): boolean {
  return confirmed.order < purge.order && (purge.matches(fetched) || purge.matches(confirmed));
}

/** When the isolate first heard of the last soft purge that has hit the page: a view holds no more than that. */
function lastSoftAt(answer: Answered, purges: readonly Purged[]): number {
  const soft = purges.filter((purge) => purge.mode === "soft" && isFromBefore(answer, purge));
  return Math.max(...soft.map((purge) => answer.chosenBy.heardAt(purge) ?? Number.NEGATIVE_INFINITY));
}

/** R10: as long after a soft purge as the page says itself, else as the site says, counted from the news of it. */
function isUsableAfter(heardAt: number, { arrivedAt, xCache, confirmed }: Answered, bounds: Bounds): boolean {
  if (xCache === "STALE") return true; // for a failed origin: its own time decides, which is looked at for every page
  const usableMs = confirmed.staleWhileRevalidateMs || bounds.softForMs;
  return arrivedAt <= heardAt + usableMs + bounds.skewMs;
}

/** Promise 3: without a lease on what was purged, only what was fetched less than a lease ago is served. */
function unknown(answer: Answered, bounds: Bounds): string[] {
  const { request, arrivedAt, fetched, confirmed, givenBy } = answer;
  const knowledgeMs = bounds.knowledgeMs(confirmed.target);
  const knewUntil = Math.max(givenBy.lease.until, givenBy.lease.askedAt + knowledgeMs);
  if (arrivedAt <= knewUntil + 1 || arrivedAt <= confirmed.sentAt + knowledgeMs + bounds.skewMs) return [];
  if (standsInUnknown(answer, bounds)) return [];
  return [`${request} was shown fetch ${fetched.number} by an isolate that could not know whether it was purged`];
}

/** RFC 9111 §4.2.4, RFC 5861: what is stale is served only as the origin lets it, and to nobody who awaits a purge. */
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

/** RFC 9111 §4.4: the log gets to know of each change, under a number that no fetch from before the change can have. */
function untoldChanges({ changes, purges, gaveUp }: History): string[] {
  const untold = changes.filter(({ target, order, isolate }) => {
    const isTold = purges.some(
      (purge) => purge.kind === "invalidation" && purge.order > order && purge.matches({ target, tags: [] }),
    );
    return !isTold && !gaveUp.has(isolate);
  });
  return untold.map(({ target, isolate }) => `the log never heard from ${isolate} that ${target} was changed`);
}

/** Promise 5: under one id a purge happens once; what is to be repeated is; what was to be fetched anew was. */
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

/** Promise 6: where the origin does not fail, the edge does not answer in its place. */
function needlessErrors({ errors, failures }: History): string[] {
  const needless = errors.filter(
    ({ target, arrivedAt }) => !failures.some((failure) => failure.target === target && failure.at >= arrivedAt),
  );
  return needless.map(({ request }) => `${request} was answered with an error, and the origin had not failed`);
}

/** Promise 7: nothing is kept that the isolate itself refuses (R23), and the log is not read without need (R22). */
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

/** Whether a purge of this kind has come between a fetch and now. */
export function isCrossedBy(fetched: Fetched, purges: readonly Purged[], kind: Purged["kind"]): boolean {
  return purges.some((purge) => purge.kind === kind && purge.order > fetched.order && purge.matches(fetched));
}
