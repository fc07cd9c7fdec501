import { maySignRequest } from "../rules/identity/signed-request.ts";
import { fetchKeyText } from "../rules/key/fetch-key.ts";
import { unkeyedField } from "../rules/request/unkeyed-field.ts";
import { isHitForMiss, sharedKeyOf } from "./collapsing/begin-fetch.ts";
import { conditionsOf, type Miss, type MissReason, missBy } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";
import { fieldThatPasses } from "./second-look/second-look.ts";
import { selectingNames } from "./selection.ts";

/** The corridor's first decision about a request. Making it changes nothing. */
export type Entry =
  | { readonly kind: "look-up" }
  /** Fetched whatever is stored, if its `Tidemark-Refresh` is a token that may. */
  | { readonly kind: "refresh" }
  /** Sent to the origin unchanged. It is neither looked up nor stored. */
  | { readonly kind: "bypass"; readonly miss: Miss }
  /** Answered by the edge, because `Max-Forwards` lets the request go no further. */
  | { readonly kind: "last-hop" };

const LOOK_UP: Entry = { kind: "look-up" };
const REFRESH: Entry = { kind: "refresh" };
const LAST_HOP: Entry = { kind: "last-hop" };

export function entryOf(context: RequestContext): Entry {
  switch (context.facts.mode) {
    case "look-up":
      return marked(context) ?? LOOK_UP;
    case "refresh":
      return REFRESH;
    case "bypass":
      return bypassOf(context);
  }
}

/** The entry of a request that is not looked up, whatever its mode. */
export function bypassOf(context: RequestContext): Entry {
  if (context.facts.maxForwards.kind === "answer") return LAST_HOP;
  return { kind: "bypass", miss: missBy(reasonToPassOn(context)) };
}

/** A second look has found that a field of the request chooses the page: it is passed on. */
function marked(context: RequestContext): Entry | undefined {
  const field = fieldThatPasses(context);
  return field === undefined ? undefined : { kind: "bypass", miss: missBy({ kind: "marked", field }) };
}

function reasonToPassOn(context: RequestContext): MissReason {
  const { resolved } = context;
  const { method } = context.facts;
  const bypassedBy = context.facts.bypassedBy ?? resolved.bypassedBy;
  if (method !== "GET" && method !== "HEAD") return { kind: "passed-on", because: "method" };
  if (bypassedBy !== null) return { kind: "past-the-cache", because: bypassedBy };
  if (!resolved.mayStore) return { kind: "passed-on", because: "route-condition" };
  return { kind: "passed-on", because: resolved.route.pass ? "pass" : "condition" };
}

/** How a request that no stored response may answer goes to the origin. Deciding it changes nothing. */
export interface FetchPlan {
  /**
   * - `only-if-cached`: answered with 504, because the request accepts only a stored answer.
   * - `forward`: passed on because of its credentials or its session, and the answer is not stored.
   * - `part`: only the part is fetched. The answer is not stored.
   * - `date`: the origin is asked by the client's date. The answer is not stored.
   * - `fetch-for-one`: the answer may be for one visitor, so nobody waits for it. It is stored if it is for everybody.
   * - `head-by-get`: a HEAD for which the page is fetched by GET, and stored.
   * - `head`: a HEAD that is passed on. It may freshen what is stored.
   * - `fetch-unstored`: fetched for this request alone, because it forbids storing.
   * - `fetch`: fetched, and stored if that is allowed. Others may wait for the answer.
   */
  readonly kind:
    | "only-if-cached"
    | "forward"
    | "part"
    | "date"
    | "fetch-for-one"
    | "head-by-get"
    | "head"
    | "fetch-unstored"
    | "fetch";
  readonly miss: Miss;
}

export function planFetch(context: RequestContext, miss: Miss): FetchPlan {
  const { facts } = context;
  const { forbidsStoring, onlyIfCached } = facts.directives;
  const plan = (kind: FetchPlan["kind"]) => ({ kind, miss });
  if (onlyIfCached) return plan("only-if-cached");
  const needsSession = (miss.kind === "refused" && miss.because === "session") || losesSession(context);
  if (facts.authorized || needsSession) {
    const isSigned = maySignRequest(facts.field("authorization"));
    if (needsSession || !facts.isForWholePage || forbidsStoring || isSigned) return plan("forward");
    // It validates nothing and nobody joins it: until its head is there, its answer may be for one visitor.
    return { kind: "fetch-for-one", miss: { ...miss, selected: null, toValidate: null } };
  }
  if (facts.method === "HEAD") return plan(mayFetchByGet(context, miss) ? "head-by-get" : "head");
  if (facts.isPartial && !mayFetchWhole(context, miss)) return plan("part");
  if (mayAskByDate(context, miss)) return plan("date");
  return plan(forbidsStoring ? "fetch-unstored" : "fetch");
}

/**
 * Whether the page is fetched by GET and stored for a HEAD that misses. What is held is validated by the HEAD itself
 * (RFC 9111 §4.3.5), which costs the origin less. A GET with an unkeyed field would store nothing at once, and may lack what
 * the HEAD asks for: the offset of an upload (tus).
 */
function mayFetchByGet(context: RequestContext, { selected, toValidate }: Miss): boolean {
  const { facts, resolved, isolate, ports } = context;
  if (!resolved.route.storesOnHead || facts.directives.forbidsStoring) return false;
  if (selected !== null || toValidate !== null) return false;
  if (unkeyedField(facts.fields, selectingNames(context), resolved.route) !== null) return false;
  const key = sharedKeyOf(context);
  return !isolate.unstored.has(key, ports.clock.now(), "HEAD") && !isHitForMiss(context, key);
}

/**
 * Whether a request for a part fetches the whole page: if the page may be small, or if a stored response can be
 * confirmed.
 */
function mayFetchWhole(context: RequestContext, miss: Miss): boolean {
  const { isolate, ports } = context;
  const key = sharedKeyOf(context);
  const mayBeSmall = fetchWholeBytes(context, key) > 0 && !isolate.unstored.has(key, ports.clock.now(), "PARTS");
  return mayBeSmall || conditionsOf(context, miss) !== null;
}

/**
 * Whether the origin is asked by the client's date: if nothing else would be (RFC 9110 §13.2.2), and the page is known to
 * have a date and no lifetime.
 */
function mayAskByDate(context: RequestContext, { kind }: Miss): boolean {
  const { facts, isolate, ports } = context;
  if (kind !== "absent" || facts.field("if-modified-since") === null) return false;
  if (facts.field("if-none-match") !== null || facts.field("range") !== null) return false;
  return isolate.unstored.dated.has(fetchKeyText(sharedKeyOf(context)), ports.clock.now());
}

/** The largest page that is fetched for one of its parts. An origin that ignores ranges sends the whole anyway. */
export function fetchWholeBytes(context: RequestContext, key = sharedKeyOf(context)): number {
  const { isolate, ports } = context;
  const { fetchWholeBytes: chosen, storeBytes } = isolate.site.limits;
  return isolate.unstored.has(key, ports.clock.now(), "RANGE") ? storeBytes : chosen;
}

/** Whether the request's session does not reach the origin, because the route keys only by other cookies. */
function losesSession({ facts, resolved }: RequestContext): boolean {
  return resolved.route.hasOwnLifetime && facts.hasSession && facts.choices.cookie !== undefined;
}
