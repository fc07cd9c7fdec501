/**
 * Which answers a shared cache may give, written from RFC 9110, RFC 9111, RFC 5861, RFC 9213, RFC 9875 and docs/http.md, and
 * not from the rules of the worker. Each function returns an objection in words, or none.
 */
import type { ClientAnswer } from "../../engine/engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import { objectionToForm } from "./form.ts";
import {
  ageSeconds,
  type Directives,
  directivesOf,
  lifetimeSeconds,
  type OwnersLifetimes,
  readDirectives,
  secondsOf,
} from "./lifetime.ts";
import { chosenBy, type Given, numberAtStart, numberIn, variesBy, visitorsCookie } from "./origin-record.ts";
import { type Composed, composedOf } from "./stored-page.ts";

/** The owner's rules, as far as they permit more, or less, than the origin says. */
export interface OwnersRules extends OwnersLifetimes {
  readonly ifErrorSeconds: number;
  readonly whileRevalidateSeconds: number;
  /** How long a page without a window of its own may be used after a soft purge. */
  readonly softForSeconds: number;
  /** Whether `s-maxage` alone permits stale answers. */
  readonly overSMaxage: boolean;
  /** Whether all of a visitor's directives are obeyed. */
  readonly obeysAll: boolean;
}

/** A push of a soft purge counts from its arrival, which is at most a lease late. */
const LEASE_SECONDS = 1;

/** What made pages unusable: those that the origin gave up to here, and that it covers. */
export interface Removal {
  readonly upTo: number;
  readonly covers: (page: Given) => boolean;
}

/** What made pages stale. */
export interface SoftRemoval extends Removal {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether it has settled, or the request carries its token. */
  readonly isKnown: boolean;
}

/** A request, and what was known when it arrived. */
export interface Asked {
  readonly request: ClientRequest;
  readonly host: string;
  readonly target: string;
  readonly at: number;
  /** The origin's record up to its arrival. What came since may have been for this request. */
  readonly upTo: number;
  /** Whether no other request was under way. */
  readonly isAlone: boolean;
  /** Whether the origin failed, or counted as down. */
  readonly hasFailed: boolean;
  /** Whether it has the token of a purge. */
  readonly hasToken: boolean;
  /** Hard purges that have settled, or whose token the request carries: not even the origin's word brings a page back. */
  readonly purges: readonly Removal[];
  /** All soft purges: an isolate may know of those, too, that it need not know. */
  readonly soft: readonly SoftRemoval[];
  /** Unsafe requests whose answers have been given: a page from before needs the origin's word. */
  readonly unsafe: readonly Removal[];
}

/** Why the edge may not answer like this; `null` if it may. */
export function objectionTo(
  answer: ClientAnswer,
  asked: Asked,
  record: readonly Given[],
  rules: OwnersRules,
): string | null {
  const last = numberIn(answer.fields);
  if (last === null) return objectionToOwn(answer, asked);
  const confirmed = record[last - 1]!;
  const whole = answer.status === 206 ? null : numberAtStart(answer.body);
  const possible = record.filter(
    ({ number, text }) => number === (whole ?? number) && (text !== "" || number === last),
  );
  const objections = possible.flatMap((page) => {
    const composed = composedOf(page, confirmed, record);
    return composed.map((each) => objectionToPage(answer, asked, each, record, rules));
  });
  if (objections.includes(null)) return null;
  return [...new Set(objections)].join("; or: ") || `answer ${last} does not confirm page ${whole}`;
}

/** An answer that the edge has made itself. */
function objectionToOwn({ status }: ClientAnswer, { request, hasFailed }: Asked): string | null {
  const isOnlyIfCached = readDirectives(request.fields?.["cache-control"]).has("only-if-cached");
  if (status === 504 && isOnlyIfCached) return null;
  if (hasFailed && [502, 503, 504].includes(status)) return null;
  return `${status} without a reason`;
}

function objectionToPage(
  answer: ClientAnswer,
  asked: Asked,
  composed: Composed,
  record: readonly Given[],
  rules: OwnersRules,
): string | null {
  const { page, confirmed, stored } = composed;
  if (page.host !== asked.host || page.target !== asked.target) return "the page of another URL";
  const isFromBefore = page.number <= asked.upTo;
  const isConfirmed = confirmed.number > asked.upTo;
  const directives = readDirectives(asked.request.fields?.["cache-control"]);
  const isSafe = asked.request.method === "GET" || asked.request.method === "HEAD";
  const isFromStoreAlone = isSafe && asked.isAlone && directives.has("only-if-cached");
  if (isFromStoreAlone && isConfirmed) return "the origin was asked";
  return (
    objectionToForm(answer, asked.request, composed, record) ??
    objectionToFieldsOfOne(answer, asked, stored, record) ??
    (isOwn(page, asked) ? null : objectionToSharing(asked, composed)) ??
    (isFromBefore && page.isCutOff ? "a page that broke off" : null) ??
    (isFromBefore && asked.purges.some((purge) => isRemoved(purge, page, page)) ? "a purged page" : null) ??
    (isFromBefore && !isConfirmed ? objectionToReuse(answer, asked, page, stored, rules) : null)
  );
}

function isRemoved({ upTo, covers }: Removal, page: Given, confirmed: Given): boolean {
  return confirmed.number <= upTo && (covers(page) || covers(confirmed));
}

/** Whether the origin gave it for this request. */
export function isOwn(given: Given, { request, host, target, upTo }: Asked): boolean {
  const { fields = {}, method = "GET" } = request;
  const isOfMethod = given.method === method || (method === "HEAD" && given.method === "GET");
  const isSame = (name: string) => (given.asked[name] ?? "") === (fields[name] ?? "");
  if (given.number <= upTo || !isOfMethod || given.host !== host || given.target !== target) return false;
  return (
    visitorsCookie(given.asked) === visitorsCookie(fields) &&
    ["authorization", "x-tenant", "accept-language"].every(isSame)
  );
}

/** RFC 9111 §3, §3.5, §4.1, §5.2.2; docs/http.md, what is stored. */
function objectionToSharing(asked: Asked, { page, confirmed, before, stored }: Composed): string | null {
  const { fields = {}, method = "GET" } = asked.request;
  // What the origin says to this request alone forbids others to have it.
  const shared = isOwn(confirmed, asked) ? before : stored;
  const askers = isOwn(confirmed, asked) ? [page] : [page, confirmed];
  const said = directivesOf(shared);
  if (method !== "GET" && method !== "HEAD") return `the answer to another ${method}`;
  if (page.method !== "GET") return `the answer to a ${page.method}`;
  if (said.has("must-understand") ? page.status === 299 : said.has("no-store")) return "a page that said no-store";
  if (said.get("private") === true) return "a private page";
  if (page.fields["set-cookie"] !== undefined) return "a page that sets a cookie";
  for (const each of askers) {
    if (isForAll(each === page ? page : shared)) continue;
    if (visitorsCookie(each.asked) !== "") return "a page that a cookie may have chosen";
    if (each.asked.authorization !== undefined) return "a page for credentials";
  }
  const isForAuthorized = isForAll(shared) || said.has("must-revalidate");
  if (fields.authorization !== undefined && !isForAuthorized) return "credentials get a page that is not for all";
  const names = variesBy(shared);
  if (names.includes("*")) return "a page that varies by anything";
  const isAskedLike = (each: Given) => names.every((name) => chosenBy(each.asked, name) === chosenBy(fields, name));
  if (![...askers, shared].some(isAskedLike)) {
    return `another variant: ${names}`;
  }
  const coding = page.fields["content-encoding"];
  if (coding && !/gzip(?!;q=0)/.test(fields["accept-encoding"] ?? ""))
    return `a coding that was not asked for: ${coding}`;
  return null;
}

function isForAll(given: Given): boolean {
  const said = directivesOf(given);
  return said.has("public") || (secondsOf(said, "s-maxage") ?? 0) > 0;
}

/** RFC 9111 §4, §4.2, §4.2.4, §4.4, §5.1, §5.2; RFC 5861; docs/http.md, stale responses. */
function objectionToReuse(
  answer: ClientAnswer,
  asked: Asked,
  page: Given,
  stored: Given,
  rules: OwnersRules,
): string | null {
  const said = directivesOf(stored);
  const age = ageSeconds(stored, asked.at);
  const lifetime = lifetimeSeconds(stored, rules);
  if (asked.unsafe.some((each) => isRemoved(each, page, stored))) return "a page from before an unsafe request";
  if (said.get("no-cache") === true) return "a page that said no-cache";
  const soft = asked.soft.filter((each) => isRemoved(each, page, stored));
  if (soft.some(({ isKnown }) => isKnown)) {
    const objection = objectionAfterSoftPurge(answer, asked, Math.max(...soft.map(({ at }) => at)), stored, rules);
    if (objection !== null) return objection;
  }
  if (age >= lifetime && age >= lifetime + staleSeconds(asked, said, lifetime, rules)) {
    return `a page ${age} s old that was fresh for ${lifetime}`;
  }
  const wanted = readDirectives(asked.request.fields?.["cache-control"]);
  const atMost = secondsOf(wanted, "max-age") ?? Number.POSITIVE_INFINITY;
  const isRefused =
    wanted.has("no-cache") ||
    age > atMost ||
    lifetime - age < (secondsOf(wanted, "min-fresh") ?? Number.NEGATIVE_INFINITY);
  if (rules.obeysAll && !asked.hasFailed && isRefused) return "a page that the request refuses";
  const told = Number(answer.fields.age);
  if (!(told >= Math.floor(age) && told <= age + 1)) return `it says an age of ${told}, and is ${age} s old`;
  return null;
}

/** docs/protocol.md, soft purges. `madeStaleAt`: when the latest of them was made, in epoch milliseconds. */
function objectionAfterSoftPurge(
  { fields }: ClientAnswer,
  { request, at, hasToken, hasFailed }: Asked,
  madeStaleAt: number,
  stored: Given,
  rules: OwnersRules,
): string | null {
  const said = directivesOf(stored);
  if (fields["x-cache"] === "HIT") return "a softly purged page as a hit";
  if (hasToken) return "a softly purged page for the token of a purge";
  if (request.fields?.authorization !== undefined) return "a softly purged page for credentials";
  if (mustNotBeStale(said, rules)) return "a softly purged page that must not be stale";
  const own = secondsOf(said, "stale-while-revalidate") ?? 0;
  const asks = secondsOf(readDirectives(request.fields?.["cache-control"]), "stale-if-error") ?? 0;
  const onError = hasFailed ? Math.max(secondsOf(said, "stale-if-error") ?? rules.ifErrorSeconds, asks) : 0;
  const allowed = Math.max(own > 0 ? own : rules.softForSeconds, onError);
  const since = (at - madeStaleAt) / 1000 - LEASE_SECONDS;
  if (since >= allowed) return `a page ${since} s after a soft purge, which allows ${allowed}`;
  const age = ageSeconds(stored, at);
  const end = lifetimeSeconds(stored, rules) + Math.max(own, onError);
  return age >= end ? `a softly purged page ${age} s old, which ends at ${end}` : null;
}

function mustNotBeStale(said: Directives, { overSMaxage }: OwnersRules): boolean {
  if (said.has("must-revalidate") || said.has("proxy-revalidate")) return true;
  const hasWindow = secondsOf(said, "stale-while-revalidate") !== null || secondsOf(said, "stale-if-error") !== null;
  return said.has("s-maxage") && !hasWindow && !overSMaxage;
}

/** For how many seconds it may be used stale. */
function staleSeconds({ request, hasFailed }: Asked, said: Directives, lifetime: number, rules: OwnersRules): number {
  const whileRevalidate = secondsOf(said, "stale-while-revalidate");
  const ifError = secondsOf(said, "stale-if-error");
  if (mustNotBeStale(said, rules)) return 0;
  const wanted = readDirectives(request.fields?.["cache-control"]);
  const tolerated = wanted.get("max-stale") === true ? Number.POSITIVE_INFINITY : secondsOf(wanted, "max-stale");
  const onError = Math.max(ifError ?? rules.ifErrorSeconds, secondsOf(wanted, "stale-if-error") ?? 0);
  const byOwner = lifetime > 0 ? rules.whileRevalidateSeconds : 0;
  return Math.max(whileRevalidate ?? byOwner, tolerated ?? 0, hasFailed ? onError : 0);
}

/** Fields that the origin gave to one visitor, or not without its word. RFC 9111 §5.2.2.4, §5.2.2.7, §7.3. */
function objectionToFieldsOfOne(
  { fields }: ClientAnswer,
  asked: Asked,
  stored: Given,
  record: readonly Given[],
): string | null {
  const giver = record[Number(/^sid=(\d+)$/.exec(fields["set-cookie"] ?? "")?.[1] ?? Number.NaN) - 1];
  if (giver && !isOwn(giver, asked)) return "another visitor's cookie";
  const teller = record[Number(fields["x-price"] ?? Number.NaN) - 1];
  if (!teller || isOwn(teller, asked)) return null;
  const said = directivesOf(stored);
  if (said.get("private") === "x-price") return "a field of another visitor";
  if (said.get("no-cache") === "x-price" && stored.number <= asked.upTo) return "a field that had to be confirmed";
  return null;
}
