import type { CdnAnswer } from "../answer.ts";
import { type Cdn, cdnOf } from "../cdn.ts";
import type { ClaimResult } from "./claim-result.ts";
import { explanation } from "./explanation.ts";

/** An answer, or the promise of one that `cdn.get(…)` returns. */
export type AnswerOrPromise = CdnAnswer | Promise<CdnAnswer>;

export function isHit(answer: AnswerOrPromise): Promise<ClaimResult> {
  return hasXCache(answer, ["HIT"], "a hit");
}

export function isMiss(answer: AnswerOrPromise): Promise<ClaimResult> {
  return hasXCache(answer, ["MISS", "EXPIRED"], "a miss");
}

export function isStale(answer: AnswerOrPromise): Promise<ClaimResult> {
  return hasXCache(answer, ["STALE", "UPDATING"], "a stale answer");
}

export function isBypass(answer: AnswerOrPromise): Promise<ClaimResult> {
  return hasXCache(answer, ["BYPASS"], "a bypass");
}

export async function isStored(answerOrPromise: AnswerOrPromise): Promise<ClaimResult> {
  const answer = await answerOrPromise;
  const again = await sendAgain(answer, answer.isolate);
  return explained(again, {
    holds: again.xCache === "HIT",
    failure: `expected the answer to be stored, but the same request again was ${outcomeOf(again)}`,
    negatedFailure: "expected the answer not to be stored, but the same request again was a hit",
  });
}

export async function hasAgeAbout(
  answerOrPromise: AnswerOrPromise,
  seconds: number,
  tolerance = 1,
): Promise<ClaimResult> {
  const answer = await answerOrPromise;
  const { ageSeconds } = answer;
  const expected = `${seconds} s, give or take ${tolerance} s`;
  return explained(answer, {
    holds: ageSeconds !== null && Math.abs(ageSeconds - seconds) <= tolerance,
    failure: `expected an Age of ${expected}, got ${ageSeconds === null ? "none" : `${ageSeconds} s`}`,
    negatedFailure: `expected an Age other than ${expected}, got ${ageSeconds} s`,
  });
}

export async function neverShows(answerOrPromise: AnswerOrPromise, version: string): Promise<ClaimResult> {
  const answer = await answerOrPromise;
  const { isolates } = cdnFor(answer).pop(answer.region);
  const isRepeatable = answer.request.method === "GET" || answer.request.method === "HEAD";
  let showing = answer.body.includes(version) ? answer : undefined;
  for (let number = 0; isRepeatable && !showing && number < isolates; number++) {
    const again = await sendAgain(answer, number);
    if (again.body.includes(version)) showing = again;
  }
  return explained(showing ?? answer, {
    holds: showing === undefined,
    failure: `expected never to see ${JSON.stringify(version)}, but it was shown`,
    negatedFailure: `expected to see ${JSON.stringify(version)}, but it was never shown`,
  });
}

async function hasXCache(
  answerOrPromise: AnswerOrPromise,
  values: readonly string[],
  name: string,
): Promise<ClaimResult> {
  const answer = await answerOrPromise;
  return explained(answer, {
    holds: answer.xCache !== null && values.includes(answer.xCache),
    failure: `expected ${name}, got ${outcomeOf(answer)}`,
    negatedFailure: `expected anything but ${name}, got ${outcomeOf(answer)}`,
  });
}

async function explained(answer: CdnAnswer, { holds, failure, negatedFailure }: ClaimResult): Promise<ClaimResult> {
  const facts = await explanation(answer);
  return { holds, failure: `${failure}\n\n${facts}`, negatedFailure: `${negatedFailure}\n\n${facts}` };
}

function outcomeOf({ xCache, status }: CdnAnswer): string {
  return xCache ?? `an answer that the edge made itself, ${status}`;
}

function sendAgain(answer: CdnAnswer, isolate: number): Promise<CdnAnswer> {
  const { path, ...request } = answer.request;
  return cdnFor(answer).request(path, { ...request, from: answer.region, isolate });
}

function cdnFor(answer: CdnAnswer): Cdn {
  const cdn = cdnOf(answer);
  if (!cdn) throw new TypeError("this takes an answer of a simulated CDN, as cdn.get and cdn.request return it");
  return cdn;
}
