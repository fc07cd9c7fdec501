import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { OriginAnswer, OriginFailure, OriginRequest, OriginResponse } from "../../ports/origin.ts";
import { reasonFieldIsBroken, reasonToRefuseFields } from "../../rules/fields/field-limits.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { memoize } from "../../rules/fields/memoize.ts";
import { destinationAt } from "../../rules/forwarding/destination.ts";
import { originRequestFields } from "../../rules/forwarding/origin-request-fields.ts";
import { isOriginError } from "../../rules/freshness/origin-error.ts";
import { isSafeMethod } from "../../rules/invalidation/safe-method.ts";
import { urlPurgeKey } from "../../rules/key/purge-key.ts";
import { type Choices, toldChoices } from "../../rules/request/choices.ts";
import { type KeyAndOwnersFields, nameAtGateways } from "../../rules/request/request-fields.ts";
import { announcedBytes, mayHaveBody } from "../../rules/storing/framing.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import { answerOurselves, edgeAnswer, reportOwn, reportPassedOn } from "../answering/answers.ts";
import { fetchKeyOf } from "../collapsing/begin-fetch.ts";
import type { Miss } from "../miss.ts";
import { clientOf, isLoop, pageOf, type RequestContext } from "../request-context.ts";
import { interimsFor } from "./interim-responses.ts";
import { endWith, type OriginGate } from "./origin-gate.ts";
import type { OriginTurn } from "./origin-turn.ts";
import { held, type RequestBody, requestBody } from "./request-body.ts";

/** An answer of the origin, as it came or as a 304 updated it. */
export interface FetchedResponse extends Pick<OriginResponse, "status" | "fields" | "parentAge" | "isByOtherRules"> {
  /** The position of the view before the request was sent to the origin, and the time (R1, R2). */
  readonly stamp: Stamp | null;
  readonly fetchedAt: number;
  /** The length in bytes of the body to be stored; `null` if it is unknown, or if the body is already stored. */
  readonly lengthBytes: number | null;
}

/** The origin's answer with its body. */
export type ReceivedAnswer = OriginResponse & FetchedResponse;

export type OriginResult =
  | { readonly kind: "answered"; readonly response: ReceivedAnswer }
  /**
   * The origin gave no answer: it failed, it is busy, the request may not be sent there, or the connection switched to
   * another protocol. `answerInstead` makes and counts the answer that the client gets then.
   */
  | { readonly kind: "failed" | "busy" | "refused" | "switched"; readonly answerInstead: () => Answer };

/**
 * Whether the origin failed, by an error status or by giving no answer, or is too busy to be asked. A stale response may
 * then replace the answer. RFC 5861 §4.
 */
export function hasFailed(result: OriginResult): boolean {
  return (
    result.kind === "failed" ||
    result.kind === "busy" ||
    (result.kind === "answered" && isOriginError(result.response.status))
  );
}

/** How the origin is asked. */
export interface OriginCall {
  /** True if the answer may be stored, or is a part of such an answer. Then no field outside the key may select it. */
  readonly storing: boolean;
  /** The edge's own conditions when it sends, if it has any (RFC 9111 §4.3.1), or the client's. */
  readonly conditions?: () => readonly (readonly [name: string, value: string])[] | null;
  /** Set if the conditions are the client's, so that the answer is for it alone. */
  readonly asks?: Miss["asks"];
  /** True if no answer is of use that a cache in place of the origin has stored. */
  readonly isAnew?: boolean;
  /** Whether a stale page may stand in for a failed origin. Default: none may. */
  readonly hasStandIn?: () => boolean;
}

/** Sends the request to the origin as the edge's own. */
export function askOrigin(context: RequestContext, call: OriginCall): OriginResult | Promise<OriginResult> {
  const { facts, ports, isolate } = context;
  if (isLoop(context)) return withoutAnswer(context, "refused", 508, "loop", "the request came back to this edge");
  if (isolate.originState.isDown(ports.clock.now())) {
    const result = knownDown(context, call);
    if (result) return result;
  }
  const { method } = facts;
  return method === "GET" || method === "HEAD" ? sendInTurn(context, call, null) : sendWithBody(context, call);
}

async function sendWithBody(context: RequestContext, call: OriginCall): Promise<OriginResult> {
  const refused = reasonNotToSend(context, fieldsToSend(context, call));
  if (refused) return refused;
  const body = await bodyToSend(context);
  if (!body.isTooLarge() && !body.brokeOff()) return sendInTurn(context, call, body);
  if (body.stream !== context.incoming.request.body) giveBack(context, body);
  return body.isTooLarge() ? bodyTooLarge(context) : bodyBrokeOff(context);
}

/** The body as the origin is to get it: whole, unless the route streams it or there is no room. */
async function bodyToSend({ incoming, resolved, isolate, ports, background }: RequestContext): Promise<RequestBody> {
  const { requestBodyBytes, heldBodyBytes } = isolate.site.limits;
  const body = requestBody(incoming.request, requestBodyBytes, ports.bodies, background);
  if (resolved.route.streamsBody || body.isTooLarge()) return body;
  return held(body, heldBodyBytes, ports.bodies);
}

/**
 * Sends the request when it is its turn, and lets the next one through when the origin has done with it. What is sent is
 * made then: in a flood, most requests get no turn, and many wait.
 */
async function sendInTurn(context: RequestContext, call: OriginCall, body: RequestBody | null): Promise<OriginResult> {
  const { originGate: gate } = context.isolate;
  if (gate === null) return send(context, call, body, null);
  const { isUnattended, ports, incoming, resolved, facts, inLineSince } = context;
  const { pattern: route } = resolved.route;
  const entering = isUnattended
    ? Promise.resolve(gate.enterIfIdle(route))
    : gate.enter(
        context.place ?? gate.placeOf(clientOf(context)),
        { route, asksForStream: facts.asksForStream, isForOthers: call.storing && !call.asks, inLineSince },
        ports.reporter,
        incoming.request,
      );
  if (ports.losesRequests) context.background.run(entering.then((entered) => entered?.attend(ports.clock)));
  const turn = await entering;
  if (turn === null) {
    giveBack(context, body);
    return busy(context);
  }
  try {
    const result = await send(context, call, body, turn);
    if (result.kind === "answered") noteSessions(context, result.response, gate);
    else if (result.kind !== "switched") turn.end();
    return result;
  } catch (cause) {
    turn.end();
    throw cause;
  }
}

/** The sessions that the client gets by this answer. */
function noteSessions(context: RequestContext, { fields }: FetchedResponse, gate: OriginGate): void {
  if (context.isUnattended || context.resolved.route.stripsSetCookie) return;
  const setCookie = fields.getSetCookie();
  if (setCookie.length > 0) gate.noteSessions(setCookie, clientOf(context));
}

/** `turn`: what ends with the answer's last byte; `null` for none. */
async function send(
  context: RequestContext,
  call: OriginCall,
  body: RequestBody | null,
  turn: OriginTurn | null,
): Promise<OriginResult> {
  const { resolved, facts, ports } = context;
  const fields = fieldsToSend(context, call);
  const refused = reasonNotToSend(context, fields);
  if (refused) {
    giveBack(context, body);
    return refused;
  }
  const stamp = ports.purges.stamp();
  const fetchedAt = ports.clock.now();
  ports.reporter.report({ kind: "origin-asked" });
  const { pathAndQuery } = resolved;
  const sent = { method: facts.method, pathAndQuery, fields, body: body?.stream ?? null, cutOff: body?.cutOff };
  const { isRefresh, hasReceipt } = clientOf(context);
  const toCache = { after: call.isAnew ? null : neededPosition(context, stamp), isOfEditor: isRefresh || hasReceipt };
  const visitor = call.storing ? undefined : context.incoming.visitor;
  const asked = { ...sent, ...toCache, visitor, inform: interimsFor(context) };
  const answer = acceptable(context, fields, await ports.origin.fetch(asked));
  if (!body?.isTooLarge() && !body?.brokeOff()) noteState(context, answer, fetchedAt);
  if (turn && !(await endWith(answer, turn))) return noPlaceForStream(context, answer);
  if (answer.kind === "answered") return answered(context, answer.response, stamp, fetchedAt);
  if (answer.kind === "switched") return { kind: "switched", answerInstead: () => switchedAnswer(context, answer) };
  giveBack(context, body);
  if (body?.isTooLarge()) return bodyTooLarge(context);
  return body?.brokeOff() ? bodyBrokeOff(context) : failed(context, answer);
}

/** The origin began a stream of events for which there is no place. An unsafe request may have changed something by then. */
function noPlaceForStream(context: RequestContext, answer: OriginAnswer): OriginResult {
  if (answer.kind === "answered") context.background.run(cancelBody(answer.response.body));
  if (isSafeMethod(context.facts.method)) return busy(context);
  return failed(context, {
    kind: "failed",
    because: "bad-response",
    cause: "a stream of events beyond origin.streams",
  });
}

/** Gives back the room of a body that was held and perhaps never read. */
function giveBack(context: RequestContext, body: RequestBody | null): void {
  if (body) context.background.run(cancelBody(body.stream));
}

/**
 * The answer without the origin, because that is down: nobody waits for it. Once a second, a request that changes nothing
 * asks whether it is back: behind its answer if it has a stale page to show, else it waits itself, and there is no answer
 * here.
 */
function knownDown(context: RequestContext, call: OriginCall): OriginResult | undefined {
  const { facts, ports, isolate } = context;
  const fields = fieldsToSend(context, call);
  const refused = reasonNotToSend(context, fields);
  if (refused) return refused;
  const { originState } = isolate;
  const changesNothing = facts.method === "GET" || facts.method === "HEAD";
  if (changesNothing && originState.mayAsk(ports.clock.now())) {
    if (!call.hasStandIn?.()) return undefined;
    askBehind(context, fields);
  }
  const { answerInstead } = withoutAnswer(context, "failed", 503, "origin-down", "the origin is down");
  // A request that was not sent has changed nothing.
  const comeSoon = () => {
    const told = answerInstead();
    told.fields.set("retry-after", "1");
    return told;
  };
  return { kind: changesNothing ? "failed" : "refused", answerInstead: comeSoon };
}

/** The answer to a request that gets no turn. A request that was not sent has changed nothing. */
function busy(context: RequestContext): OriginResult {
  const { method } = context.facts;
  const kind = method === "GET" || method === "HEAD" ? "busy" : "refused";
  return { kind, answerInstead: () => answerBusy(context) };
}

/** 503, for a request that gets no turn at the origin. All of them get the same, because in a flood they are most. */
export function answerBusy(context: RequestContext): Answer {
  reportOwn(context, 503, BUSY);
  return busyAnswer(`${context.isolate.originGate?.retryAfterSeconds ?? 1}`);
}

const BUSY = "origin-busy";
const busyAnswer = memoize((retryAfter: string) => {
  const answer = edgeAnswer(503, BUSY, "503: the origin is busy.");
  answer.fields.set("retry-after", retryAfter);
  return answer;
});

function askBehind(context: RequestContext, fields: OriginRequest["fields"]): void {
  const { facts, ports, background, resolved, isolate } = context;
  const { originGate } = isolate;
  const turn = originGate?.enterIfIdle(resolved.route.pattern);
  if (turn === null) return;
  const sentAt = ports.clock.now();
  ports.reporter.report({ kind: "origin-asked" });
  const toOrigin = { method: facts.method, pathAndQuery: resolved.pathAndQuery, fields, body: null, after: null };
  const asked = ports.origin.fetch(toOrigin).then(async (answer) => {
    noteState(context, answer, sentAt);
    if (answer.kind === "failed") reportFailed(context, answer);
    if (answer.kind !== "answered") return;
    reportAnswered(context, 0);
    await cancelBody(answer.response.body);
  });
  background.run(turn ? asked.finally(turn.end) : asked);
}

/**
 * Notes whether the origin has said anything at all. A connection that ends without an answer counts for neither: one
 * visitor's odd request may be the reason, and nobody waits long for it. Neither does a request that was not sent.
 */
function noteState({ ports, isolate, resolved }: RequestContext, answer: OriginAnswer, sentAt: number): void {
  const now = ports.clock.now();
  if (answer.kind !== "failed" || answer.because === "bad-response") isolate.originState.noteAnswer(now);
  else if (!answer.saysNothing)
    isolate.originState.noteFailure(resolved.host + resolved.pathAndQuery.split("?", 1)[0], sentAt, now);
}

/** The request's fields as the origin gets them. */
function fieldsToSend(
  context: RequestContext,
  { storing, conditions }: OriginCall,
): (readonly [name: string, value: string])[] {
  const { incoming, resolved, facts, isolate } = context;
  const { scheme, host, route } = resolved;
  const { site } = isolate;
  const { maxForwards } = facts;
  const chosen = storing ? facts.choices.fields : toldChoices(facts.choices);
  const destination = destinationAt(() => addressAtOrigin(context), facts, [resolved.cacheKey, incoming.url]);
  const fields = originRequestFields(facts.fields, {
    scheme,
    host,
    clientAddress: incoming.clientAddress,
    storing,
    forward: site.forward,
    acceptedCodings: offeredCodings(context),
    cookie: storing ? facts.visitor.cookies.forwarded : facts.visitor.cookieToPassOn,
    maxForwards: maxForwards.kind === "forward" ? maxForwards.field : null,
    fieldRules: facts.mode === "refresh" ? withTraceState(route) : route,
    chosenFields: withoutProxysWord(
      site,
      destination === null ? chosen : new Map([...chosen, ["destination", destination]]),
    ),
    conditions: conditions?.() ?? [],
    extra: site.originFields,
    isReflected: facts.method === "TRACE",
  });
  if (facts.isWebSocket) fields.push(["upgrade", "websocket"], ["connection", "upgrade"]);
  return fields;
}

/** This site's address as the origin has it, by its own scheme and `Host`. A worker or a parent has the public one. */
function addressAtOrigin({ ports, resolved, isolate }: RequestContext): string {
  const { forward, originService } = isolate.site;
  const { url, isCache } = ports.origin;
  if (isCache || originService) return `${resolved.scheme}://${resolved.host}`;
  return forward.host === "visitor" ? url.replace(/\/\/.*/, `//${resolved.host}`) : url;
}

/**
 * The codings that the origin is offered. None on a route that asks for plain bytes, which the edge then codes itself. It
 * codes nothing that it does not store, so a page of which it knows that is asked for as the client accepts it.
 */
function offeredCodings(context: RequestContext): string {
  const { facts, resolved, isolate, ports } = context;
  const isUnstored = resolved.route.asksPlain && isolate.unstored.has(fetchKeyOf(context), ports.clock.now());
  return isUnstored ? facts.originView.acceptedCodings : facts.originView.value("accept-encoding")!;
}

/** The refusal of a request whose fields are broken or too large. */
function reasonNotToSend(
  context: RequestContext,
  fields: readonly (readonly [name: string, value: string])[],
): OriginResult | undefined {
  const broken = reasonFieldIsBroken(fields);
  if (broken !== null) {
    return withoutAnswer(context, "refused", 400, "request-fields-broken", `the request has ${broken}`);
  }
  const { incoming, isolate } = context;
  const requestFieldBytes = isolate.site.limits.requestFieldBytes + (incoming.child?.addedFieldBytes ?? 0);
  if (fields.reduce((bytes, [name, value]) => bytes + name.length + value.length, 0) <= requestFieldBytes) return;
  const words = `the request has more than ${requestFieldBytes} bytes of fields`;
  return withoutAnswer(context, "refused", 431, "request-fields-too-large", words);
}

/** `bytes`: of the body that is read; `null` if its length is not announced. */
function reportAnswered(context: RequestContext, bytes: number | null): void {
  context.ports.reporter.report({ kind: "origin-answered", ...pageOf(context), bytes });
}

function reportFailed({ ports }: RequestContext, failure: OriginFailure): void {
  ports.reporter.report({ ...failure, kind: "origin-failed", at: ports.clock.now() });
}

function answered(
  context: RequestContext,
  response: OriginResponse,
  stamp: Stamp | null,
  fetchedAt: number,
): OriginResult {
  const { status, fields, body } = response;
  const hasBody = mayHaveBody(status);
  const lengthBytes = hasBody ? announcedBytes((name) => fields.get(name)) : null;
  reportAnswered(context, body === null || context.facts.method === "HEAD" || !hasBody ? 0 : lengthBytes);
  return { kind: "answered", response: { ...response, stamp, fetchedAt, lengthBytes } };
}

function switchedAnswer(context: RequestContext, { connection }: OriginAnswer & { kind: "switched" }): Answer {
  reportPassedOn(context, "BYPASS", 101);
  return { status: 101, statusText: "", fields: new Fields(), body: null, switchedTo: connection };
}

const FAILED_WORDS = {
  unreachable: "the origin cannot be reached, or hung up before it answered",
  "timed-out": "the origin took too long to answer",
  "bad-response": "the origin's answer was not valid HTTP, or exceeded this edge's limits",
};

function failed(context: RequestContext, answer: OriginFailure): OriginResult {
  reportFailed(context, answer);
  const { because } = answer;
  const status = because === "timed-out" ? 504 : 502;
  return withoutAnswer(context, "failed", status, `origin-${because}`, FAILED_WORDS[because]);
}

/**
 * How far a cache in place of the origin must have read the log to answer from its store: as far as this one, whose
 * stamp counts from there (R1), and as far as the request's token says (R9). `null` if nothing stored may answer: a
 * refresh, a token of another log, whose numbers mean nothing in this one, or a page whose invalidation waits for the log.
 */
export function neededPosition({ facts, resolved, ports }: RequestContext, stamp: Stamp | null): Stamp | null {
  const { receiptToken: token } = facts;
  if (facts.mode === "refresh" || stamp === null) return null;
  if (ports.origin.isCache && ports.invalidations.mayLack?.(urlPurgeKey(resolved.host, resolved.pathAndQuery)))
    return null;
  if (token === null) return stamp;
  if (token.logId !== stamp.logId) return null;
  return token.seq > stamp.seq ? token : stamp;
}

/** Treats an answer with too many fields, with broken ones, or a 304 to no condition, as a failure of the origin. */
function acceptable(
  { isolate, background }: RequestContext,
  sent: OriginRequest["fields"],
  answer: OriginAnswer,
): OriginAnswer {
  if (answer.kind !== "answered") return answer;
  const { status, fields, body } = answer.response;
  const { responseFields: maxFields, responseFieldBytes: maxBytes } = isolate.site.limits;
  const isUnasked = status === 304 && !sent.some(([name]) => name.startsWith("if-"));
  const because = isUnasked ? "a 304 to no condition" : reasonToRefuseFields(fields, { maxFields, maxBytes });
  if (because === null) return answer;
  background.run(cancelBody(body));
  return { kind: "failed", because: "bad-response", cause: because };
}

function bodyTooLarge(context: RequestContext): OriginResult {
  const words = `the request's body has more than ${context.isolate.site.limits.requestBodyBytes} bytes`;
  return withoutAnswer(context, "refused", 413, "request-body-too-large", words);
}

function bodyBrokeOff(context: RequestContext): OriginResult {
  return withoutAnswer(context, "refused", 400, "request-body-cut-off", "the request's body ended too early");
}

function withoutAnswer<Kind extends "failed" | "refused">(
  context: RequestContext,
  kind: Kind,
  status: number,
  detail: string,
  words: string,
): { readonly kind: Kind; readonly answerInstead: () => Answer } {
  return { kind, answerInstead: () => answerOurselves(context, status, detail, `${status}: ${words}.`) };
}

/** Somebody with a token asks for a refresh, so that all of its trace may reach the origin, not only `traceparent`. */
function withTraceState(rules: KeyAndOwnersFields): KeyAndOwnersFields {
  return { ...rules, keyFields: [...rules.keyFields, "tracestate"] };
}

/** The field with the country that a proxy sets is read here, and never reaches the origin. */
function withoutProxysWord(
  { countryField }: RequestContext["isolate"]["site"],
  chosen: Choices["fields"],
): Choices["fields"] {
  if (countryField === null) return chosen;
  return new Map([[nameAtGateways(countryField), null], ...chosen]);
}
