import { isWorthStoring } from "../../rules/freshness/judge.ts";
import { isOriginError } from "../../rules/freshness/stale-if-error.ts";
import type { StorageRequest } from "../../rules/request/request-facts.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { validationFields } from "../../rules/validation/conditional-request.ts";
import { answerFromStore, isHeldByClient } from "../answering/answer-from-store.ts";
import { answerMetadata } from "../answering/answer-metadata.ts";
import { answerWith, markForwarded, mayHaveBody, notModifiedFields, tellBrowsers } from "../answering/answers.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import type { SharedFetchOutcome } from "../collapsing/flights.ts";
import { askOrigin, contentLength, forwarded, hasFailed, stream } from "../origin/ask-origin.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import { forward } from "../origin/forward.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { storeSelected } from "../selection.ts";
import { type ReadBody, startFill } from "./fill.ts";
import { freshen, isWithdrawn, validatorsOf } from "./freshening.ts";
import { copyLargeBody } from "./large-body.ts";
import { decideStorage, type HeadToStore, type OriginResponse, type StorageDecision } from "./storage-decision.ts";

type Land = (outcome: SharedFetchOutcome) => void;

/**
 * Asks the origin, answers, and keeps the answer if it may be kept. What is in hand is validated, and stands in if the
 * origin fails and it may. With a flight key, others may wait for the outcome meanwhile.
 */
export async function fetchAndStore(
  context: RequestContext,
  storageRequest: StorageRequest,
  miss: Miss,
  flightKey: string | null,
): Promise<Response> {
  const { ports, collapsed, background } = context;
  const flight = flightKey === null ? null : collapsed.begin(flightKey);
  const land: Land = (outcome) => flight?.land(outcome, ports.clock.now());
  if (flight) background.run(flight.outcome);
  try {
    return await ask(context, storageRequest, miss, land);
  } catch (bug) {
    land({ kind: "failed", byOrigin: false }); // no follower waits for a leader that is no more
    throw bug;
  }
}

async function ask(context: RequestContext, storageRequest: StorageRequest, miss: Miss, land: Land): Promise<Response> {
  const { ports } = context;
  const stamp = ports.purges.stamp(); // what was held before the origin was asked (R1, R2)
  const fetchedAt = ports.clock.now();
  const conditions = validationFields(miss.held.map(validatorsOf));
  const asked = await askOrigin(context, {
    storing: true,
    cookie: storageRequest.cookie,
    conditions: conditions ?? [],
  });
  const stale = hasFailed(asked) ? await staleAnswer(context, miss, asked) : null;
  if (stale) {
    land({ kind: "failed", byOrigin: true });
    return stale;
  }
  if (asked.kind !== "answered") {
    land({ kind: "failed", byOrigin: asked.kind === "failed" });
    return asked.answer();
  }
  const { status, headers: fields } = asked.response;
  const response: OriginResponse = { status, fields, stamp, fetchedAt };
  if (status === 304 && conditions) return answerFreshened(context, storageRequest, miss, response, land);
  const verdict = decideStorage(context, storageRequest, response);
  if (storageRequest.partial) return answerPart(context, verdict, asked.response, miss, land);
  return answerFetched(context, verdict, asked.response, miss, land);
}

/** The origin confirmed what is stored. RFC 9111 §4.3.3, §4.3.4. */
async function answerFreshened(
  context: RequestContext,
  storageRequest: StorageRequest,
  miss: Miss,
  notModified: OriginResponse,
  land: Land,
): Promise<Response> {
  const { ports, background } = context;
  const freshened = freshen(context, storageRequest, miss.held, notModified);
  // A 304 for something that is not in hand is of no use: asked again, without conditions.
  if (!freshened) return ask(context, storageRequest, { ...miss, held: [] }, land);
  const { stored, passBecause } = freshened;
  if (passBecause !== null) ports.reporter.report({ kind: "not-stored", because: passBecause });
  if (passBecause === null) background.run(storeUnlessPurged(context, stored, land));
  else land(passedOutcome(passBecause, stored.head.status));
  if (isWithdrawn(context, storageRequest, freshened)) background.run(ports.store.forget(stored.head.key));

  const because = passBecause ?? undefined;
  const outcome = forwarded(miss, { status: 304, stored: passBecause === null, collapsed: false, because });
  const answer = await answerFromStore(context, stored, answerMetadata(context, stored, "REVALIDATED", outcome));
  // The body is gone from where it was stored apart: the origin has it.
  if (!answer) return ask(context, storageRequest, { ...miss, held: [] }, () => undefined);
  const cookies = context.target.route.stripsSetCookie ? [] : notModified.fields.getSetCookie();
  for (const cookie of cookies) answer.headers.append("set-cookie", cookie);
  ports.reporter.report({ kind: "answered", xCache: "REVALIDATED" });
  return answer;
}

/** A whole answer: kept beside or in two steps, or passed on. */
function answerFetched(
  context: RequestContext,
  verdict: StorageDecision,
  response: Response,
  miss: Miss,
  land: Land,
): Response | Promise<Response> {
  const { limits } = context.site;
  if (verdict.kind === "pass") {
    // A status that is not kept may be the doing of this one request.
    land(passedOutcome(verdict.because, response.status));
    return stream(context, response, miss, verdict.because);
  }
  const lengthBytes = mayHaveBody(response.status) ? contentLength(response) : null;
  if (lengthBytes !== null && lengthBytes > limits.storeBytes) {
    land({ kind: "not-shareable" });
    if (lengthBytes > limits.largeBytes) return stream(context, response, miss, "too-large");
    const toClient = copyLargeBody(context, response.body!, verdict.head, lengthBytes);
    if (!toClient) return stream(context, response, miss, "being-stored");
    return answerWhileStoring(context, response, verdict, miss, toClient);
  }
  return storeWhileStreaming(context, response, verdict, miss, land);
}

/**
 * The client wants a part: the whole is kept, and the part cut from it, if the whole is small. Else the origin is asked
 * for the part alone.
 */
async function answerPart(
  context: RequestContext,
  verdict: StorageDecision,
  response: Response,
  miss: Miss,
  land: Land,
): Promise<Response> {
  const { ports, site, fills, background } = context;
  const lengthBytes = contentLength(response);
  if (verdict.kind === "store" && lengthBytes !== null && lengthBytes <= site.limits.fetchWholeBytes) {
    const share = fills.open(ports.clock.now());
    const fill = startFill(response.body, lengthBytes, site.limits.storeBytes, share, ports.bodies);
    background.run(cancelBody(fill.body));
    background.run(fill.delivered);
    const read = await fill.read;
    background.run(storeIfWhole(context, verdict.head, read, land));
    if (read.kind === "whole") {
      const stored = withBody(verdict.head, read.bytes);
      const outcome = forwarded(miss, { status: response.status, stored: true, collapsed: false });
      const part = await answerFromStore(context, stored, answerMetadata(context, stored, miss.xCache, outcome));
      if (part) {
        ports.reporter.report({ kind: "answered", xCache: miss.xCache });
        return part;
      }
    }
  } else {
    background.run(cancelBody(response.body));
    land({ kind: "failed", byOrigin: false });
  }
  return forward(context, { ...miss, reason: "partial" });
}

function withBody(head: HeadToStore, bytes: Uint8Array<ArrayBuffer>): StoredResponse {
  return { head: { ...head, bodyBytes: bytes.byteLength, bodyKey: null }, body: bytes };
}

function passedOutcome(because: string, status: number): SharedFetchOutcome {
  const byRequest = because === "status" || because === "error-for-odd-request" || because === "no-freshness";
  if (byRequest && status >= 400) return { kind: "failed", byOrigin: isOriginError(status) };
  const isOfRequest = because === "status" || because === "unkeyed-field";
  return isOfRequest ? { kind: "failed", byOrigin: false } : { kind: "not-shareable" };
}

/** Streams the answer to the client and keeps a verified copy: the flight lands when the whole body has been read. */
function storeWhileStreaming(
  context: RequestContext,
  response: Response,
  kept: StorageDecision & { kind: "store" },
  miss: Miss,
  land: Land,
): Response {
  const { ports, site, fills, background } = context;
  const hasBody = mayHaveBody(response.status);
  const share = fills.open(ports.clock.now());
  const fill = startFill(
    hasBody ? response.body : null,
    hasBody ? contentLength(response) : null,
    site.limits.storeBytes,
    share,
    ports.bodies,
  );
  background.run(fill.read.then((read) => storeIfWhole(context, kept.head, read, land)));
  background.run(fill.delivered);
  return answerWhileStoring(context, response, kept, miss, fill.body);
}

/** The answer to the client of what is being kept. `body` need not be read by anybody. */
function answerWhileStoring(
  { ports, background, target, request }: RequestContext,
  response: Response,
  { head, fields }: StorageDecision & { kind: "store" },
  miss: Miss,
  body: ReadableStream | null,
): Response {
  tellBrowsers(fields, target.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000));
  markForwarded(fields, miss.xCache, forwarded(miss, { status: response.status, stored: true, collapsed: false }));
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  if (response.status === 200 && isHeldByClient(request.headers, head)) {
    background.run(cancelBody(body)); // it is read for the store alone
    return answerWith(null, 304, notModifiedFields(fields));
  }
  return answerWith(body, response.status, fields, response.statusText);
}

async function storeIfWhole(context: RequestContext, head: HeadToStore, read: ReadBody, land: Land): Promise<void> {
  const { reporter } = context.ports;
  if (read.kind !== "whole") {
    if (read.kind === "cut-off") reporter.report({ kind: "body-cut-off" });
    else reporter.report({ kind: "fill-discarded", because: read.kind });
    return land(read.kind === "too-large" ? { kind: "not-shareable" } : { kind: "failed", byOrigin: false });
  }
  await storeUnlessPurged(context, withBody(head, read.bytes), land);
}

/** What the view of now already speaks against goes to those who asked in time, and is not kept (R23). */
async function storeUnlessPurged(context: RequestContext, stored: StoredResponse, land: Land): Promise<void> {
  const { purges, reporter } = context.ports;
  const isPurged = !isWorthStoring(purges.check(stored.head, false));
  if (isPurged) reporter.report({ kind: "fill-discarded", because: "purged" });
  const kept = isPurged ? Promise.resolve() : storeSelected(context, stored);
  land({ kind: "storable", stored });
  await kept;
}
