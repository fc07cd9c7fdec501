import { isKeepable } from "../../rules/freshness/judge.ts";
import { isOriginError } from "../../rules/freshness/stale-if-error.ts";
import type { StoreAsk } from "../../rules/request/request-facts.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { validationFields } from "../../rules/validation/conditional-request.ts";
import { answerFromStore, isHeldByClient } from "../answering/answer-from-store.ts";
import { toldOf } from "../answering/answer-metadata.ts";
import { answerWith, markForwarded, mayHaveBody, notModifiedFields, tellBrowsers } from "../answering/answers.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import type { FlightOutcome } from "../collapsing/flights.ts";
import { askOrigin, contentLength, forwarded, hasFailed, stream } from "../origin/ask-origin.ts";
import { letGo } from "../origin/cancel-body.ts";
import { forward } from "../origin/forward.ts";
import type { Miss, Passage } from "../request-context.ts";
import { keepSelected } from "../selection.ts";
import { fillBeside, type ReadBody } from "./fill.ts";
import { freshen, isWithdrawn, validatorsOf } from "./freshening.ts";
import { copyLarge } from "./large-body.ts";
import { type HeadToKeep, type Keepable, keepable, type OriginResponse } from "./storage-decision.ts";

type Land = (outcome: FlightOutcome) => void;

/**
 * Asks the origin, answers, and keeps the answer if it may be kept. What is in hand is validated, and stands in if the
 * origin fails and it may. With a flight key, others may wait for the outcome meanwhile.
 */
export async function fetchAndKeep(
  passage: Passage,
  storeAsk: StoreAsk,
  miss: Miss,
  flightKey: string | null,
): Promise<Response> {
  const { ports, flights, behind } = passage;
  const flight = flightKey === null ? null : flights.takeOff(flightKey);
  const land: Land = (outcome) => flight?.land(outcome, ports.clock.now());
  if (flight) behind.run(flight.outcome);
  try {
    return await ask(passage, storeAsk, miss, land);
  } catch (bug) {
    land({ kind: "failed", byOrigin: false }); // no follower waits for a leader that is no more
    throw bug;
  }
}

async function ask(passage: Passage, storeAsk: StoreAsk, miss: Miss, land: Land): Promise<Response> {
  const { ports } = passage;
  const stamp = ports.purges.stamp(); // what was held before the origin was asked (R1, R2)
  const fetchedAt = ports.clock.now();
  const conditions = validationFields(miss.held.map(validatorsOf));
  const asked = await askOrigin(passage, { storing: true, cookie: storeAsk.cookie, conditions: conditions ?? [] });
  const stale = hasFailed(asked) ? await staleAnswer(passage, miss, asked) : null;
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
  if (status === 304 && conditions) return answerFreshened(passage, storeAsk, miss, response, land);
  const verdict = keepable(passage, storeAsk, response);
  if (storeAsk.partial) return answerPart(passage, verdict, asked.response, miss, land);
  return answerFetched(passage, verdict, asked.response, miss, land);
}

/** The origin confirmed what is stored. RFC 9111 §4.3.3, §4.3.4. */
async function answerFreshened(
  passage: Passage,
  storeAsk: StoreAsk,
  miss: Miss,
  notModified: OriginResponse,
  land: Land,
): Promise<Response> {
  const { ports, behind } = passage;
  const freshened = freshen(passage, storeAsk, miss.held, notModified);
  // A 304 for something that is not in hand is of no use: asked again, without conditions.
  if (!freshened) return ask(passage, storeAsk, { ...miss, held: [] }, land);
  const { stored, passBecause } = freshened;
  if (passBecause !== null) ports.reporter.report({ kind: "not-stored", because: passBecause });
  if (passBecause === null) behind.run(keepUnlessPurged(passage, stored, land));
  else land(passedOutcome(passBecause, stored.head.status));
  if (isWithdrawn(passage, storeAsk, freshened)) behind.run(ports.store.forget(stored.head.key));

  const because = passBecause ?? undefined;
  const outcome = forwarded(miss, { status: 304, stored: passBecause === null, collapsed: false, because });
  const answer = await answerFromStore(passage, stored, toldOf(passage, stored, "REVALIDATED", outcome));
  // The body is gone from where it was stored apart: the origin has it.
  if (!answer) return ask(passage, storeAsk, { ...miss, held: [] }, () => undefined);
  const cookies = passage.target.route.stripsSetCookie ? [] : notModified.fields.getSetCookie();
  for (const cookie of cookies) answer.headers.append("set-cookie", cookie);
  ports.reporter.report({ kind: "answered", xCache: "REVALIDATED" });
  return answer;
}

/** A whole answer: kept beside or in two steps, or passed on. */
function answerFetched(
  passage: Passage,
  verdict: Keepable,
  response: Response,
  miss: Miss,
  land: Land,
): Response | Promise<Response> {
  const { limits } = passage.site;
  if (verdict.kind === "pass") {
    // A status that is not kept may be the doing of this one request.
    land(passedOutcome(verdict.because, response.status));
    return stream(passage, response, miss, verdict.because);
  }
  const lengthBytes = mayHaveBody(response.status) ? contentLength(response) : null;
  if (lengthBytes !== null && lengthBytes > limits.storeBytes) {
    land({ kind: "not-shareable" });
    if (lengthBytes > limits.largeBytes) return stream(passage, response, miss, "too-large");
    const toClient = copyLarge(passage, response.body!, verdict.head, lengthBytes);
    if (!toClient) return stream(passage, response, miss, "being-stored");
    return answerKept(passage, response, verdict, miss, toClient);
  }
  return keepBeside(passage, response, verdict, miss, land);
}

/**
 * The client wants a part: the whole is kept, and the part cut from it, if the whole is small. Else the origin is asked
 * for the part alone.
 */
async function answerPart(
  passage: Passage,
  verdict: Keepable,
  response: Response,
  miss: Miss,
  land: Land,
): Promise<Response> {
  const { ports, site, fills, behind } = passage;
  const lengthBytes = contentLength(response);
  if (verdict.kind === "store" && lengthBytes !== null && lengthBytes <= site.limits.fetchWholeBytes) {
    const share = fills.open(ports.clock.now());
    const fill = fillBeside(response.body, lengthBytes, site.limits.storeBytes, share, ports.bodies);
    behind.run(letGo(fill.body));
    behind.run(fill.delivered);
    const read = await fill.read;
    behind.run(keep(passage, verdict.head, read, land));
    if (read.kind === "whole") {
      const stored = withBody(verdict.head, read.bytes);
      const outcome = forwarded(miss, { status: response.status, stored: true, collapsed: false });
      const part = await answerFromStore(passage, stored, toldOf(passage, stored, miss.xCache, outcome));
      if (part) {
        ports.reporter.report({ kind: "answered", xCache: miss.xCache });
        return part;
      }
    }
  } else {
    behind.run(letGo(response.body));
    land({ kind: "failed", byOrigin: false });
  }
  return forward(passage, { ...miss, reason: "partial" });
}

function withBody(head: HeadToKeep, bytes: Uint8Array<ArrayBuffer>): StoredResponse {
  return { head: { ...head, bodyBytes: bytes.byteLength, bodyKey: null }, body: bytes };
}

function passedOutcome(because: string, status: number): FlightOutcome {
  const byRequest = because === "status" || because === "error-for-odd-request" || because === "no-freshness";
  if (byRequest && status >= 400) return { kind: "failed", byOrigin: isOriginError(status) };
  const isOfRequest = because === "status" || because === "unkeyed-field";
  return isOfRequest ? { kind: "failed", byOrigin: false } : { kind: "not-shareable" };
}

/** Streams the answer to the client and keeps a verified copy: the flight lands when the whole body has been read. */
function keepBeside(
  passage: Passage,
  response: Response,
  kept: Keepable & { kind: "store" },
  miss: Miss,
  land: Land,
): Response {
  const { ports, site, fills, behind } = passage;
  const hasBody = mayHaveBody(response.status);
  const share = fills.open(ports.clock.now());
  const fill = fillBeside(
    hasBody ? response.body : null,
    hasBody ? contentLength(response) : null,
    site.limits.storeBytes,
    share,
    ports.bodies,
  );
  behind.run(fill.read.then((read) => keep(passage, kept.head, read, land)));
  behind.run(fill.delivered);
  return answerKept(passage, response, kept, miss, fill.body);
}

/** The answer to the client of what is being kept. `body` need not be read by anybody. */
function answerKept(
  { ports, behind, target, request }: Passage,
  response: Response,
  { head, fields }: Keepable & { kind: "store" },
  miss: Miss,
  body: ReadableStream | null,
): Response {
  tellBrowsers(fields, target.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000));
  markForwarded(fields, miss.xCache, forwarded(miss, { status: response.status, stored: true, collapsed: false }));
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  if (response.status === 200 && isHeldByClient(request.headers, head)) {
    behind.run(letGo(body)); // it is read for the store alone
    return answerWith(null, 304, notModifiedFields(fields));
  }
  return answerWith(body, response.status, fields, response.statusText);
}

async function keep(passage: Passage, head: HeadToKeep, read: ReadBody, land: Land): Promise<void> {
  const { reporter } = passage.ports;
  if (read.kind !== "whole") {
    if (read.kind === "cut-off") reporter.report({ kind: "body-cut-off" });
    else reporter.report({ kind: "fill-discarded", because: read.kind });
    return land(read.kind === "too-large" ? { kind: "not-shareable" } : { kind: "failed", byOrigin: false });
  }
  await keepUnlessPurged(passage, withBody(head, read.bytes), land);
}

/** What the view of now already speaks against goes to those who asked in time, and is not kept (R23). */
async function keepUnlessPurged(passage: Passage, stored: StoredResponse, land: Land): Promise<void> {
  const { purges, reporter } = passage.ports;
  const isPurged = !isKeepable(purges.check(stored.head, false));
  if (isPurged) reporter.report({ kind: "fill-discarded", because: "purged" });
  const kept = isPurged ? Promise.resolve() : keepSelected(passage, stored);
  land({ kind: "storable", stored });
  await kept;
}
