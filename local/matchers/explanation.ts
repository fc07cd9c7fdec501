import { AssertionError } from "node:assert";
import leven from "leven";
import type { CdnAnswer } from "../cdn/answer.ts";
import { type Cdn, cdnOf } from "../cdn/cdn.ts";
import { originRecord } from "./origin-record.ts";

/** Why an answer is as it is, for the message of a failing test. */
export async function explanation(answer: CdnAnswer | ResponseFacts): Promise<string> {
  if (!("request" in answer)) return explanationOfResponse(answer);
  const { request, region, isolate, status, xCache, cacheStatus } = answer;
  const from = isolate === 0 ? region : `${region}, isolate ${isolate}`;
  const lines: [name: string, value: string][] = [
    ["request", `${request.method} ${request.path} from ${from}`],
    ["answer", `${status}, X-Cache ${xCache ?? "none"}, ${JSON.stringify(shortened(answer.body))}`],
    ["Cache-Status", cacheStatus ?? "none"],
  ];
  const cdn = cdnOf(answer);
  if (cdn) {
    const keys = await keyLines(cdn, answer).catch(() => []); // The PoPs of a closed CDN do not answer.
    lines.push(...keys, ["the origin saw", originRecord(cdn, request.path)]);
  }
  return linesOf(lines);
}

/**
 * Throws an `AssertionError` for an error that the edge made itself, without a page: neither the claim nor its opposite
 * follows from it. `claim` is for the message, like `anything is stored`.
 */
export async function failOnEdgeError(answer: CdnAnswer | ResponseFacts, claim: string): Promise<void> {
  const { status, xCache, cacheStatus } = answer;
  if (xCache !== null || cacheStatus === null || status < 400) return;
  await failUndecided(answer, claim, `the edge itself answered ${status}`);
}

/** Throws an `AssertionError` for an answer from which neither the claim nor its opposite follows. */
export async function failUndecided(answer: CdnAnswer | ResponseFacts, claim: string, because: string): Promise<never> {
  const message = `cannot tell whether ${claim}: ${because}`;
  throw new AssertionError({ message: `${message}\n\n${await explanation(answer)}` });
}

/** The relevant parts of a response from `fetch`. */
export interface ResponseFacts {
  readonly status: number;
  readonly url: string;
  readonly xCache: string | null;
  readonly cacheStatus: string | null;
  readonly ageSeconds: number | null;
}

/** The same for a response from `fetch`, about which less is known. */
function explanationOfResponse({ status, url, xCache, cacheStatus, ageSeconds }: ResponseFacts): string {
  return linesOf([
    ["response", url === "" ? `${status}` : `${status} from ${url}`],
    ["X-Cache", xCache ?? "none"],
    ["Cache-Status", cacheStatus ?? "none"],
    ["Age", ageSeconds === null ? "none" : `${ageSeconds} s`],
  ]);
}

function linesOf(lines: readonly [name: string, value: string][]): string {
  return lines.map(([name, value]) => `  ${name.padEnd("nearest known key".length)}  ${value}`).join("\n");
}

async function keyLines(cdn: Cdn, { request, region, isolate }: CdnAnswer): Promise<[name: string, value: string][]> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return [["key", `none: a ${request.method} is not looked up`]];
  }
  const scheme = new URL(cdn.publicUrl).protocol;
  const { key } = await cdn
    .pop(region)
    .isolate(isolate)
    .keys(`${scheme}//${request.host}${request.path}`, request.fields ?? {});
  if (key === null) return [["key", "none: not looked up"]];
  const known = await knownKeys(cdn);
  const regions = known.get(key);
  known.delete(key);
  const [nearest] = [...known.keys()].sort((a, b) => leven(a, key) - leven(b, key));
  return [
    ["key", regions ? `${key}, now stored in ${regions.join(", ")}` : key],
    ["nearest known key", nearest === undefined ? "none" : `${nearest}, stored in ${known.get(nearest)!.join(", ")}`],
  ];
}

/** Each key that is stored somewhere, with its regions. */
async function knownKeys(cdn: Cdn): Promise<Map<string, string[]>> {
  const known = new Map<string, string[]>();
  for (const region of cdn.regions) {
    for (const stored of await storedIn(cdn, region)) known.set(stored, [...(known.get(stored) ?? []), region]);
  }
  return known;
}

async function storedIn(cdn: Cdn, region: string): Promise<Set<string>> {
  const pop = cdn.pop(region);
  await pop.finishWrites();
  const numbers = Array.from({ length: pop.isolates }, (_, number) => number);
  const keys = await Promise.all(numbers.map((number) => pop.isolate(number).keys(cdn.publicUrl, {})));
  return new Set(keys.flatMap(({ stored }) => stored));
}

function shortened(body: string): string {
  return body.length > 60 ? `${body.slice(0, 59)}…` : body;
}
