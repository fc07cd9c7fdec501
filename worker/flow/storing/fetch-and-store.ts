import type { Answer } from "../../ports/answer.ts";
import type { StreamedBody } from "../../ports/bodies.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { FoundResponse } from "../../ports/store.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { ANYBODY } from "../../rules/freshness/judge.ts";
import { isOriginError } from "../../rules/freshness/origin-error.ts";
import { fetchKeyText } from "../../rules/key/fetch-key.ts";
import { contentRange } from "../../rules/ranges/partial-content.ts";
import { mayLackReferer } from "../../rules/request/second-look.ts";
import { isAboutPage, mayBeOfOneRequest, type NotStored, notStoredDetail } from "../../rules/storing/not-stored.ts";
import { changedHead } from "../../rules/storing/stored-response.ts";
import { within } from "../../within.ts";
import { answerAsOfNow, isHeldByClient } from "../answering/answer-from-store.ts";
import {
  answerWith,
  markOutcome,
  notModifiedFields,
  reportFetched,
  reportFromStore,
  setBrowserLifetime,
  withSource,
} from "../answering/answers.ts";
import { forwardedOutcome, passOn, reportNotStored } from "../answering/pass-on.ts";
import { passOnUnlessHeld } from "../answering/pass-on-unless-held.ts";
import { failureOf, hasStandIn, isOfUseToOthers, staleAnswer } from "../answering/stale-answer.ts";
import { fetchKeyOf, sharedKeyOf } from "../collapsing/begin-fetch.ts";
import { type LeadingFetch, outcomeOfNotStored } from "../collapsing/collapsed-fetches.ts";
import { isReusable } from "../collapsing/followers.ts";
import { conditionsOf, type Miss, wordsOf } from "../miss.ts";
import { askOrigin, type FetchedResponse, hasFailed, type ReceivedAnswer } from "../origin/ask-origin.ts";
import { forwardWithReferer, withoutDoubtfulRange } from "../origin/forward.ts";
import { hintAtLinks } from "../origin/interim-responses.ts";
import { fetchWholeBytes } from "../plans.ts";
import { findAgain, isInMemory, startFillFor, startFillOf } from "../reading-bodies.ts";
import { clientOf, pageOf, type RequestContext } from "../request-context.ts";
import { lookAgain, lookAgainAfterConfirmation, toAskAgainAsSent } from "../second-look/second-look.ts";
import { selectInMemory } from "../selection.ts";
import type { ReadBody } from "./fill.ts";
import { forgetOutdated, forgetWithdrawn, freshen } from "./freshening.ts";
import { copyLargeBody } from "./large-body.ts";
import { decideStorage, type HeadToStore, linesWithout, type StorageDecision, withBody } from "./storage-decision.ts";
import { storeUnlessPurged, type TellFollowers, tellNobody } from "./store-unless-purged.ts";

/** How long a request for a part waits for a whole page: milliseconds. */
const PART_WAITS_MS = 5_000;
/** How often it looks after that whether a busy origin takes a request for the part: milliseconds. */
const PART_LOOKS_EVERY_MS = 1_000;

/** A complete answer of the origin to a miss. */
interface Fetched {
  readonly miss: Miss;
  readonly response: ReceivedAnswer;
  readonly tellFollowers: TellFollowers;
}

/**
 * Fetches from the origin, answers, and stores the answer if that is allowed. The stored response of `miss` is
 * validated. If the origin fails, the selected one replaces the answer, where that is allowed. Other requests may wait
 * for the outcome if it is a shared fetch.
 */
export function fetchAndStore(context: RequestContext, miss: Miss, fetch: LeadingFetch | null): Promise<Answer> {
  if (fetch === null) return fetchOnce(context, miss, tellOfOne(context));
  context.background.run(fetch.outcome); // Followers wait for it even if its client leaves.
  const { isolate, isUnattended } = context;
  if (isolate.originGate === null || isUnattended) return fetchOnce(context, miss, fetch.tell);
  fetch.place = isolate.originGate.placeOf(clientOf(context));
  return fetchOnce({ ...context, place: fetch.place }, miss, fetch.tell);
}

/**
 * Asks the origin for the part alone, or by the client's date. The answer is one of the page for which the key stands, so the
 * origin is asked as it is for the whole, but for the range and the client's conditions.
 */
export function fetchPart(context: RequestContext, miss: Miss, asks: Miss["asks"] = "part"): Promise<Answer> {
  return fetchOnce(withoutDoubtfulRange(context), { ...miss, asks }, tellNobody);
}

/** For a fetch that nobody waits for. If its answer can be stored, the next requests wait for each other again. */
function tellOfOne(context: RequestContext): TellFollowers {
  return ({ kind }) => {
    if (kind === "storable") context.isolate.collapsed.forgetHitForMiss(fetchKeyOf(context));
  };
}

async function fetchOnce(context: RequestContext, miss: Miss, tellFollowers: TellFollowers): Promise<Answer> {
  try {
    hintAtLinks(context, miss);
    const conditions = () => conditionsOf(context, miss);
    const { asks } = miss;
    const result = await askOrigin(context, {
      storing: true,
      conditions,
      asks,
      hasStandIn: () => hasStandIn(context, miss),
    });
    if (hasFailed(result)) {
      tellFollowers({ kind: "failing" }); // It may take long to know whether a stored page stands in.
      if (result.kind === "busy") tellFollowers({ kind: "failed", byOrigin: !context.isUnattended && "busy" });
      const answer = await staleAnswer(context, miss, result);
      // What is held goes on as long as it may, whatever lifetime the error has.
      const keepsHeld = isRefresh(context) || isOfUseToOthers(context, miss.selected);
      const error = result.kind === "answered" && keepsHeld ? result.response : null;
      if (answer || error) tellFollowers({ kind: "failed", byOrigin: failureOf(result) });
      if (answer) return answer;
      if (error) return passOn(context, error, miss, undefined);
    }
    if (result.kind !== "answered") {
      tellFollowers({ kind: "failed", byOrigin: result.kind === "failed" && "disconnected" });
      return result.answerInstead();
    }
    const { response } = result;
    const answer = asks
      ? answerAlone(context, miss, response)
      : answerBy(context, miss, response, tellOf(response, tellFollowers));
    return answer instanceof Promise ? await answer : answer;
  } catch (cause) {
    tellFollowers({ kind: "failed", byOrigin: false }); // No follower waits for a leader that a bug has ended.
    throw cause;
  }
}

/** Whether the page is fetched so that others find it fresh. */
function isRefresh({ isUnattended, facts }: RequestContext): boolean {
  return isUnattended === true || facts.mode === "refresh";
}

function isOfEarlierFetch({ parentAge }: FetchedResponse): boolean {
  return (parentAge?.fetchedBeforeMs ?? 0) > 0;
}

/** Tells the followers of the origin's answer, unless a later one has been told. */
function tellOf(response: FetchedResponse, tell: TellFollowers): TellFollowers {
  const told = { status: response.status, isOfEarlierFetch: isOfEarlierFetch(response) };
  return (news) => tell(news.kind === "storable" ? { ...told, ...news } : news);
}

/**
 * Passes on what the origin has sent for a part or by a date, which these may have chosen. Where a part is the whole page, the
 * next request for one fetches the page as everybody gets it (RFC 9110 §14.2). So does the next one with a date if the page
 * may be stored again: of that, a 304 tells as much as a 204, which has no body either.
 */
function answerAlone(context: RequestContext, miss: Miss, response: ReceivedAnswer): Answer | Promise<Answer> {
  const { status, fields } = response;
  const { facts, isolate, ports, resolved } = context;
  if (mayLackReferer(status, facts.fields, resolved.route)) return forwardWithReferer(context, response, miss);
  if (status === 200 && !fields.has("content-range") && facts.isPartial && facts.field("if-range") === null) {
    const decision = decideStorage(context, response);
    const mayStore = decision.kind === "store" && !decision.isLarge;
    if (mayStore) isolate.unstored.remember(sharedKeyOf(context), ports.clock.now(), "RANGE");
  }
  if (miss.asks === "date") {
    const decision = decideStorage(context, status === 304 ? { ...response, status: 204 } : response);
    noteDated(context, miss, response, decision);
    return passOn(context, response, miss, decision.kind === "store" ? undefined : decision);
  }
  return passOn(context, response, miss, undefined);
}

/** Answers by what the origin has sent. */
function answerBy(
  context: RequestContext,
  miss: Miss,
  response: ReceivedAnswer,
  tellFollowers: TellFollowers,
): Answer | Promise<Answer> {
  const { facts, background, isolate } = context;
  const { toValidate } = miss;
  const { status, fields, fetchedAt } = response;
  isolate.codings.learn(facts.originView.value("accept-encoding")!, fields.get("content-encoding"), fetchedAt);
  if (status === 304 && toValidate) return answerFreshened(context, miss, toValidate, response, tellFollowers);
  const decision = decideStorage(context, response);
  isolate.secondLooks.countAnswer();
  // The looks have compared pages. For an error or a redirect the origin may have missed the field.
  const asSent = toAskAgainAsSent(context, status === 200 && decision.kind === "store", fields);
  if (asSent) {
    background.run(cancelBody(response.body));
    return fetchOnce(asSent, miss, tellFollowers);
  }
  const passedOn = lookAgain(context, response, decision);
  const isRefused = decision.kind === "not-stored" && !isRefresh(context);
  if (isRefused && mayLackReferer(status, facts.fields, context.resolved.route)) {
    tellFollowers(outcomeOfNotStored(decision.because, status));
    return forwardWithReferer(context, passedOn, miss);
  }
  const fetched: Fetched = { miss, response: passedOn, tellFollowers };
  if (facts.isPartial) return answerPart(context, fetched, decision);
  // It may be of the GET alone: uploads under way (tus) have none, and URLs may be signed for HEAD.
  if (context.askByHead && decision.kind === "not-stored" && status >= 400 && !isOriginError(status)) {
    tellFollowers(outcomeOfNotStored(decision.because, status));
    background.run(cancelBody(response.body));
    return context.askByHead(decision);
  }
  const answer = answerFetched(context, fetched, decision);
  const isMadePart = answer.status === response.status && sentStatus(context, response) !== response.status;
  return isMadePart ? asOnePart(answer, response.lengthBytes!) : answer;
}

/** The status for a client without conditions. Of players that ask for all bytes by a range, some accept only a part. */
function sentStatus({ facts }: RequestContext, { status, lengthBytes }: ReceivedAnswer): number {
  return facts.asksForAllBytes && status === 200 && lengthBytes ? 206 : status;
}

/** The whole page for a client that asks for all bytes by a range. */
function asOnePart(answer: Answer, lengthBytes: number): Answer {
  const fields = Fields.copy(answer.fields);
  fields.set("content-range", contentRange({ first: 0, last: lengthBytes - 1 }, lengthBytes));
  return { ...answer, status: 206, statusText: "", fields };
}

/** Answers with the stored response that the origin confirmed. RFC 9111 §4.3.3, §4.3.4. */
async function answerFreshened(
  context: RequestContext,
  miss: Miss,
  toValidate: FoundResponse,
  notModified: FetchedResponse,
  tellFollowers: TellFollowers,
): Promise<Answer> {
  const { background } = context;
  const found = await findAgain(context, toValidate);
  const freshened = found && freshen(context, found, notModified);
  // A 304 that does not confirm the stored response cannot be used, so the request is sent again without conditions.
  if (!freshened) {
    background.run(cancelBody(found?.body ?? null));
    return fetchOnce(context, { ...miss, toValidate: null }, tellFollowers);
  }
  const { notStored } = freshened;
  const asSent = toAskAgainAsSent(context, notStored === null, notModified.fields);
  if (asSent) {
    forgetWithdrawn(context, freshened);
    if (!isInMemory(freshened.stored)) background.run(cancelBody(freshened.stored.body));
    return fetchOnce(asSent, miss, tellFollowers);
  }
  const stored = notStored === null ? storeFreshened(context, freshened.stored, tellFollowers) : freshened.stored;
  if (notStored !== null) {
    reportNotStored(context, notStored);
    tellFollowers(outcomeOfNotStored(notStored.because, stored.head.status));
    lookAgainAfterConfirmation(context, notModified.fields, stored.head.status, notStored);
  }
  forgetWithdrawn(context, freshened);

  const because = notStored === null ? undefined : notStoredDetail(notStored);
  const outcome = forwardedOutcome(miss, { status: 304, stored: notStored === null, collapsed: false, because });
  const own = { head: changedHead(stored.head, { fields: freshened.ownFields }), body: stored.body };
  const answer = await answerAsOfNow(context, own, "REVALIDATED", outcome);
  // The body that was stored apart is gone, so it is fetched from the origin.
  if (!answer) return fetchOnce(context, { ...miss, toValidate: null }, tellNobody);
  const cookies = context.resolved.route.stripsSetCookie ? [] : notModified.fields.getSetCookie();
  for (const cookie of cookies) answer.fields.append("set-cookie", cookie);
  reportFromStore(context, "origin", "REVALIDATED", answer, stored);
  return answer;
}

/** Stores a response that the origin has confirmed. Returns it with the body for the client, which may be left unread. */
function storeFreshened(context: RequestContext, stored: FoundResponse, tellFollowers: TellFollowers): FoundResponse {
  const { storing } = context;
  if (isInMemory(stored)) {
    storing.run(storeUnlessPurged(context, stored, tellFollowers));
    return stored;
  }
  const { head, body } = stored;
  const { bodyBytes: lengthBytes } = head;
  const fill = startFillFor(context, body as StreamedBody, lengthBytes, lengthBytes);
  const fetched = { response: { lengthBytes }, tellFollowers };
  storing.run(fill.read.then((read) => storeIfWhole(context, fetched, head, read)));
  return { head, body: fill.body };
}

/**
 * Handles a complete answer. Depending on its size it is stored together with its head or apart from it while it
 * streams to the client, or it is passed on without being stored.
 */
function answerFetched(context: RequestContext, fetched: Fetched, decision: StorageDecision): Answer {
  const { miss, response, tellFollowers } = fetched;
  const { lengthBytes } = response;
  const pass = (notStored?: NotStored) =>
    passOnUnlessHeld(context, response, miss, notStored, sentStatus(context, response));
  noteDated(context, miss, response, decision);
  if (decision.kind === "not-stored") {
    tellFollowers(outcomeOfNotStored(decision.because, response.status));
    const isOfVisitor = decision.because === "request-no-store" || mayBeOfOneRequest(decision.because, response.status);
    if (!isOfVisitor) rememberUnstored(context);
    if (miss.toValidate && isAboutPage(decision.because, response.status)) forgetOutdated(context, miss.toValidate);
    return pass(decision);
  }
  if (decision.isLarge && lengthBytes !== null) {
    if (context.answersHead) {
      tellFollowers({ kind: "failed", byOrigin: false });
      rememberUnstored(context);
      return pass(); // no rule refuses the page: a GET would store it at its client's pace
    }
    // A page that others may have at once is of more use to them than one that is only coming.
    const othersHaveOne =
      (isRefresh(context) || miss.kind === "doubted" || miss.kind === "refused") &&
      isOfUseToOthers(context, miss.toValidate ?? selectInMemory(context));
    const toClient = copyLargeBody(context, response.body!, decision.head, lengthBytes, tellFollowers, !othersHaveOne);
    if (toClient) return answerWhileStoring(context, fetched, decision, toClient);
    tellFollowers({ kind: "not-shareable" });
    return pass({ because: "being-stored" });
  }
  return storeWhileStreaming(context, fetched, decision);
}

/**
 * Answers a request for a part. If the whole is small, or has changed and is not larger than it was, it is stored and the
 * part is cut from it; otherwise the origin is asked for the part alone.
 */
async function answerPart(context: RequestContext, fetched: Fetched, decision: StorageDecision): Promise<Answer> {
  const { miss, response, tellFollowers } = fetched;
  const { lengthBytes } = response;
  const { background } = context;
  const { toValidate } = miss;
  const heldBytes = lengthBytes === null || toValidate === null ? 0 : toValidate.head.bodyBytes;
  const wholeBytes = Math.max(fetchWholeBytes(context), heldBytes);
  const isOutdated = decision.kind === "store" || isAboutPage(decision.because, response.status);
  let mayBeStored = false;
  // One that does not tell its length is read until it turns out to be too large, or slow.
  if (decision.kind === "store" && !decision.isLarge && wholeBytes > 0 && (lengthBytes ?? 0) <= wholeBytes) {
    const fill = startFillFor(context, response.body, lengthBytes, wholeBytes);
    background.run(cancelBody(fill.body));
    storeOnceWhole(context, fetched, decision.head, fill.read);
    const read = await waitForWhole(context, fill.read);
    mayBeStored = read === null || read.kind === "whole";
    if (read?.kind === "whole") {
      const own = withBody({ ...decision.head, fields: linesWithout([], decision.fields) }, read.bytes);
      const outcome = forwardedOutcome(miss, { status: response.status, stored: true, collapsed: false });
      const answer = await answerAsOfNow(context, own, wordsOf(miss).xCache, outcome);
      if (answer) {
        reportFetched(context, wordsOf(miss).xCache, answer.status);
        return answer;
      }
    }
  } else {
    background.run(cancelBody(response.body));
    const isOfVisitor = decision.kind === "not-stored" && mayBeOfOneRequest(decision.because, response.status);
    const field = decision.kind === "not-stored" ? decision.field : undefined;
    if (field || (isOutdated && !isOfVisitor)) rememberUnstored(context, field);
    tellFollowers({ kind: "failed", byOrigin: false });
  }
  if (toValidate && isOutdated && !mayBeStored) forgetOutdated(context, toValidate);
  return fetchPart(context, { ...miss, selected: isOutdated ? null : miss.selected });
}

/** The whole page; `null` if it is slow, and the origin takes another request meanwhile, which may be later. */
async function waitForWhole({ ports, isolate, resolved }: RequestContext, whole: Promise<ReadBody>) {
  const { originGate } = isolate;
  for (let waitMs = PART_WAITS_MS; ; waitMs = PART_LOOKS_EVERY_MS) {
    const read = await within(ports.clock, waitMs, whole, () => null);
    if (read || !originGate?.isBusy(resolved.route.pattern)) return read;
  }
}

/**
 * Remembers that a GET has stored nothing, where the next request would else be another one. `field`: the unkeyed one that
 * kept it from being stored. It counts where the variants in memory have it in their key, and this answer does not.
 */
function rememberUnstored(context: RequestContext, field?: string): void {
  const { answersHead, facts, isolate, ports, resolved } = context;
  const { isPartial } = facts;
  if (!isPartial && !answersHead && !resolved.route.asksPlain) return;
  const key = { ...(field !== undefined && { field }), ...sharedKeyOf(context) };
  isolate.unstored.remember(key, ports.clock.now(), isPartial && key.field === undefined ? "PARTS" : "");
}

/**
 * Remembers a page with a date that only the lack of a lifetime keeps from being stored, so that clients' dates go to the
 * origin, until an answer may be stored. Where lifetimes are guessed, a page that has just changed gets one later.
 */
function noteDated(
  context: RequestContext,
  { selected }: Miss,
  response: ReceivedAnswer,
  decision: StorageDecision,
): void {
  const { isolate, ports } = context;
  const { dated } = isolate.unstored;
  const lacksLifetime =
    decision.kind === "not-stored" &&
    decision.because === "no-freshness" &&
    response.status === 200 &&
    response.fields.has("last-modified") &&
    !selected &&
    !isolate.site.heuristic;
  const mayBeStored = decision.kind === "store" && dated.size > 0;
  if (!lacksLifetime && !mayBeStored) return;
  const key = fetchKeyText(sharedKeyOf(context));
  if (mayBeStored) dated.forget(key);
  else dated.remember(key, ports.clock.now());
}

/**
 * Streams the answer to the client and stores a verified copy. Followers learn of it when the whole body has been read.
 */
function storeWhileStreaming(
  context: RequestContext,
  fetched: Fetched,
  decision: StorageDecision & { kind: "store" },
): Answer {
  const { response, tellFollowers } = fetched;
  const { body, lengthBytes } = response;
  const { ports, storing } = context;
  const bytes = body && lengthBytes ? ports.bodies.takeWhole?.(body, lengthBytes) : undefined;
  // A body that has arrived takes no share of the budget, which is for arriving bodies.
  if (bytes) {
    const answer: Answer = { ...answerWhileStoring(context, fetched, decision, bytes), isOnce: true };
    storing.run(storeUnlessPurged(context, withBody(decision.head, bytes), tellFollowers));
    return answer;
  }
  const fill = startFillOf(context, response);
  storeOnceWhole(context, fetched, decision.head, fill.read);
  return answerWhileStoring(context, fetched, decision, fill.body);
}

/** The answer to the client while the response is being stored. `body` may be left unread. */
function answerWhileStoring(
  context: RequestContext,
  { miss, response }: Fetched,
  { head, fields }: StorageDecision & { kind: "store" },
  body: Answer["body"],
): Answer {
  const { background, ports, resolved } = context;
  ports.compression?.mark(context, head, fields);
  setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000), head);
  markOutcome(
    fields,
    wordsOf(miss).xCache,
    forwardedOutcome(miss, { status: response.status, stored: true, collapsed: false }),
  );
  const isUnchanged = response.status === 200 && isHeldByClient(context, head);
  reportFetched(context, wordsOf(miss).xCache, isUnchanged ? 304 : sentStatus(context, response));
  const source = { head, isOfEarlierFetch: isOfEarlierFetch(response) };
  if (isUnchanged) {
    background.run(cancelBody(body)); // the body is read for the store alone
    return withSource(context, answerWith(null, 304, notModifiedFields(fields)), source);
  }
  return withSource(context, answerWith(body, response.status, fields), source);
}

/** Followers learn how long the body is, and whether they may have it, because it may take long. */
function storeOnceWhole(context: RequestContext, fetched: Fetched, head: HeadToStore, body: Promise<ReadBody>): void {
  const { lengthBytes } = fetched.response;
  fetched.tellFollowers({ kind: "being-stored", lengthBytes, isReusable: () => isReusable(context, head, ANYBODY) });
  context.storing.run(body.then((read) => storeIfWhole(context, fetched, head, read)));
}

async function storeIfWhole(
  context: RequestContext,
  { response, tellFollowers }: Pick<Fetched, "tellFollowers"> & { response: Pick<ReceivedAnswer, "lengthBytes"> },
  head: HeadToStore,
  read: ReadBody,
): Promise<unknown> {
  if (read.kind !== "whole") {
    // Of a page that is too large to be fetched for a part, others may still store the whole.
    if (read.kind !== "too-large" || !context.facts.isPartial) reportNotStored(context, { because: read.kind });
    if (read.kind === "too-large") rememberUnstored(context);
    return tellFollowers(read.kind === "too-large" ? { kind: "not-shareable" } : { kind: "failed", byOrigin: false });
  }
  if (response.lengthBytes === null && read.bytes.byteLength > 0) {
    context.ports.reporter.report({ kind: "body-measured", ...pageOf(context), bytes: read.bytes.byteLength });
  }
  return storeUnlessPurged(context, withBody(head, read.bytes), tellFollowers);
}
