import type { CdnAnswer } from "../cdn/answer.ts";
import { type Cdn, cdnOf } from "../cdn/cdn.ts";
import { ownCacheStatus } from "../cdn/own-cache-status.ts";
import type { ClaimResult } from "./claim-result.ts";
import { explanation, failOnEdgeError, failUndecided, type ResponseFacts } from "./explanation.ts";

/** The part of a `Response` that the matchers read. They do not read its body. */
export interface FetchedResponse {
  readonly status: number;
  readonly url: string;
  /** The fields; the matchers read `X-Cache`, `Cache-Status` and `Age`. */
  readonly headers: { get(name: string): string | null };
}

/** An answer, or the promise of one that `cdn.get(…)` returns. */
export type AnswerOrPromise = CdnAnswer | Promise<CdnAnswer>;

/** An answer of a CDN, or a `Response` that `fetch` got from an edge; or the promise of either. */
export type AnswerOrResponse = CdnAnswer | FetchedResponse | Promise<CdnAnswer | FetchedResponse>;

export function isHit(answer: AnswerOrResponse): Promise<ClaimResult> {
  return hasXCache(answer, ["HIT"], "a hit");
}

export function isMiss(answer: AnswerOrResponse): Promise<ClaimResult> {
  return hasXCache(answer, ["MISS", "EXPIRED"], "a miss");
}

export function isStale(answer: AnswerOrResponse): Promise<ClaimResult> {
  return hasXCache(answer, ["STALE", "UPDATING"], "a stale answer");
}

export function isBypass(answer: AnswerOrResponse): Promise<ClaimResult> {
  return hasXCache(answer, ["BYPASS"], "a bypass");
}

export async function isStored(answerOrPromise: AnswerOrPromise): Promise<ClaimResult> {
  const answer = await repeatable(answerOrPromise);
  const again = await sendAgain(answer, answer.isolate);
  if (!saysThatNoneAnswers(again)) await failOnEdgeError(again, "the answer is stored");
  return explained(again, {
    holds: again.xCache === "HIT",
    failure: `expected the answer to be stored, but the same request again was ${outcomeOf(again)}`,
    negatedFailure: "expected the answer not to be stored, but the same request again was a hit",
  });
}

export async function hasAgeAbout(
  answerOrResponse: AnswerOrResponse,
  seconds: number,
  tolerance = 1,
): Promise<ClaimResult> {
  const answer = await received(answerOrResponse);
  const { ageSeconds } = answer;
  const expected = `${seconds} s, give or take ${tolerance} s`;
  await failOnEdgeError(answer, `a page has an Age of ${expected}`);
  return explained(answer, {
    holds: ageSeconds !== null && Math.abs(ageSeconds - seconds) <= tolerance,
    failure: `expected an Age of ${expected}, got ${ageSeconds === null ? "none" : `${ageSeconds} s`}`,
    negatedFailure: `expected an Age other than ${expected}, got ${ageSeconds} s`,
  });
}

export async function neverShows(answerOrPromise: AnswerOrPromise, version: string): Promise<ClaimResult> {
  const answer = await repeatable(answerOrPromise);
  if (typeof version !== "string" || version === "") {
    throw new TypeError(`this takes the text that is not to be shown, like "v1" (got ${JSON.stringify(version)})`);
  }
  const { isolates } = cdnFor(answer).pop(answer.region);
  const isRepeatable = answer.request.method === "GET";
  let showing = (await shows(answer, version)) ? answer : undefined;
  for (let number = 0; isRepeatable && !showing && number < isolates; number++) {
    const again = await sendAgain(answer, number);
    if (await shows(again, version)) showing = again;
  }
  return explained(showing ?? answer, {
    holds: showing === undefined,
    failure: `expected never to see ${JSON.stringify(version)}, but it was shown`,
    negatedFailure: `expected to see ${JSON.stringify(version)}, but it was never shown`,
  });
}

/** Whether an error of the edge says that no stored response may answer. */
function saysThatNoneAnswers({ cacheStatus }: Received): boolean {
  return ownCacheStatus(cacheStatus).detail === "only-if-cached";
}

async function shows(answer: CdnAnswer, version: string): Promise<boolean> {
  const claim = `${JSON.stringify(version)} is shown`;
  await failOnEdgeError(answer, claim);
  if (answer.body.includes(version)) return true;
  if (answer.request.method === "HEAD" || [206, 304, 416].includes(answer.status)) {
    throw new TypeError(
      "the answers to a HEAD, a 206, a 304 and a 416 may lack the page or parts of it: send a GET without Range or a condition",
    );
  }
  if (answer.cutOff) await failUndecided(answer, claim, "the connection ended before the body did");
  return false;
}

async function hasXCache(
  answerOrResponse: AnswerOrResponse,
  values: readonly string[],
  name: string,
): Promise<ClaimResult> {
  const answer = await received(answerOrResponse);
  if (!values.includes("HIT") || !saysThatNoneAnswers(answer)) await failOnEdgeError(answer, `a page is ${name}`);
  return explained(answer, {
    holds: answer.xCache !== null && values.includes(answer.xCache),
    failure: `expected ${name}, got ${outcomeOf(answer)}`,
    negatedFailure: `expected anything but ${name}, got ${outcomeOf(answer)}`,
  });
}

/** An answer, or the relevant parts of a `Response`. */
type Received = CdnAnswer | ResponseFacts;

async function received(answerOrResponse: AnswerOrResponse): Promise<Received> {
  const given = await answerOrResponse;
  if (isAnswer(given)) return given;
  if (!isResponse(given)) throw new TypeError(`this takes ${WHAT_IT_TAKES}, a Response, or a promise of one`);
  const { status, url, headers } = given;
  const age = headers.get("age");
  const facts = { xCache: headers.get("x-cache"), cacheStatus: headers.get("cache-status") };
  return { status, url, ...facts, ageSeconds: age === null ? null : Number(age) };
}

/** An answer whose request can be sent again. */
async function repeatable(answerOrPromise: AnswerOrPromise): Promise<CdnAnswer> {
  const given: unknown = await answerOrPromise;
  if (isAnswer(given)) return given;
  const instead = isResponse(given)
    ? "This matcher sends the same request again, but a Response does not carry its request: fetch twice and use toHit."
    : "";
  throw new TypeError(`this takes ${WHAT_IT_TAKES}. ${instead}`.trimEnd());
}

const WHAT_IT_TAKES = "an answer of a simulated CDN, as cdn.get and cdn.request return it";

function isAnswer(given: unknown): given is CdnAnswer {
  return typeof given === "object" && given !== null && "xCache" in given && "request" in given;
}

function isResponse(given: unknown): given is FetchedResponse {
  const { headers } = (given ?? {}) as Partial<FetchedResponse>;
  return typeof headers?.get === "function";
}

function explained(answer: Received, claim: ClaimResult): ClaimResult {
  return {
    ...claim,
    explanation: () => explanation(answer),
  };
}

function outcomeOf(answer: Received): string {
  if (answer.xCache !== null) return answer.xCache;
  if (answer.cacheStatus !== null || isAnswer(answer)) return `an answer that the edge made itself, ${answer.status}`;
  return "a response without X-Cache: it did not come through a Tidemark edge";
}

function sendAgain(answer: CdnAnswer, isolate: number): Promise<CdnAnswer> {
  const { path, ...request } = answer.request;
  return cdnFor(answer).request(path, { ...request, from: answer.region, isolate });
}

function cdnFor(answer: CdnAnswer): Cdn {
  const cdn = cdnOf(answer);
  if (!cdn) throw new TypeError(`this takes ${WHAT_IT_TAKES}`);
  return cdn;
}
