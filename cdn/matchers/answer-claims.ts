import type { CdnAnswer } from "../answer.ts";
import { type Cdn, cdnOf } from "../cdn.ts";
import { explanation } from "./explanation.ts";
import type { Judgement } from "./claim-result.ts";

/** An answer, or a promise of one: `cdn.get(…)` as it is. */
export type Answering = CdnAnswer | Promise<CdnAnswer>;

/** Answered from store: `HIT`. */
export function isHit(answering: Answering): Promise<Judgement> {
  return saysOneOf(answering, ["HIT"], "a hit");
}

/** Looked up, and nothing usable was there: `MISS`, or `EXPIRED` where it was stale and was fetched anew. */
export function isMiss(answering: Answering): Promise<Judgement> {
  return saysOneOf(answering, ["MISS", "EXPIRED"], "a miss");
}

/** Answered from store although stale: `STALE`, `UPDATING`. */
export function isStale(answering: Answering): Promise<Judgement> {
  return saysOneOf(answering, ["STALE", "UPDATING"], "a stale answer");
}

/** Not looked up: `BYPASS`. */
export function isBypass(answering: Answering): Promise<Judgement> {
  return saysOneOf(answering, ["BYPASS"], "a bypass");
}

/** The same request, sent again to the same isolate, is a hit. */
export async function isStored(answering: Answering): Promise<Judgement> {
  const answer = await answering;
  const again = await askAgain(answer, answer.isolate);
  return judged(again, again.xCache === "HIT", {
    against: `expected the answer to be stored, but the same request again was ${told(again)}`,
    for: "expected the answer not to be stored, but the same request again was a hit",
  });
}

/** `Age` is so many seconds, give or take `tolerance` (default 1). */
export async function hasAgeAbout(answering: Answering, seconds: number, tolerance = 1): Promise<Judgement> {
  const answer = await answering;
  const { ageSeconds } = answer;
  const holds = ageSeconds !== null && Math.abs(ageSeconds - seconds) <= tolerance;
  const expected = `${seconds} s, give or take ${tolerance}`;
  return judged(answer, holds, {
    against: `expected an Age of ${expected}, got ${ageSeconds === null ? "none" : `${ageSeconds} s`}`,
    for: `expected an Age other than ${expected}, got ${ageSeconds} s`,
  });
}

/** Neither this answer nor a further one, of any isolate of that PoP, has the version in its body. */
export async function neverShows(answering: Answering, version: string): Promise<Judgement> {
  const answer = await answering;
  const { isolates } = cdnFor(answer).pop(answer.region);
  const isRepeatable = answer.asked.method === "GET" || answer.asked.method === "HEAD";
  let culprit = answer.body.includes(version) ? answer : undefined;
  for (let number = 0; isRepeatable && !culprit && number < isolates; number++) {
    const again = await askAgain(answer, number);
    if (again.body.includes(version)) culprit = again;
  }
  return judged(culprit ?? answer, culprit === undefined, {
    against: `expected never to see ${JSON.stringify(version)}, but it was shown`,
    for: `expected to see ${JSON.stringify(version)}, but it was never shown`,
  });
}

async function saysOneOf(answering: Answering, values: readonly string[], name: string): Promise<Judgement> {
  const answer = await answering;
  return judged(answer, answer.xCache !== null && values.includes(answer.xCache), {
    against: `expected ${name}, got ${told(answer)}`,
    for: `expected anything but ${name}, got ${told(answer)}`,
  });
}

async function judged(
  answer: CdnAnswer,
  holds: boolean,
  words: { readonly against: string; readonly for: string },
): Promise<Judgement> {
  const why = await explanation(answer);
  return { holds, against: `${words.against}\n\n${why}`, for: `${words.for}\n\n${why}` };
}

function told({ xCache, status }: CdnAnswer): string {
  return xCache ?? `an answer of the edge itself, ${status}`;
}

function askAgain(answer: CdnAnswer, isolate: number): Promise<CdnAnswer> {
  const { path, ...asked } = answer.asked;
  return cdnFor(answer).request(path, { ...asked, from: answer.region, isolate });
}

function cdnFor(answer: CdnAnswer): Cdn {
  const cdn = cdnOf(answer);
  if (!cdn) throw new TypeError("this takes an answer of a simulated CDN: what cdn.get or cdn.request gave");
  return cdn;
}
