import type { ClientAnswer } from "../../engine/engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import type { Answering, Case } from "../case.ts";

/** An edge in front of an origin that answers by a function. */
export interface Meeting {
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** How many requests the origin has received. */
  asked(): number;
  stop(): Promise<void>;
}

export type Meet = (site: Case["site"], origin: Answering) => Promise<Meeting>;

/** An answer as a visitor sees it, without the fields about the cache and the time. */
export interface Sight {
  readonly status: number;
  readonly body: string;
  readonly fields: Readonly<Record<string, string>>;
}

const OF_THE_CACHE = new Set([
  "age",
  "cache-status",
  "connection",
  "date",
  "keep-alive",
  "transfer-encoding",
  "via",
  "x-cache",
]);

export function sightOf({ status, body, fields }: ClientAnswer): Sight {
  // A stored body has a length instead of chunks.
  const ofPage = Object.entries(fields).filter(([name]) => !OF_THE_CACHE.has(name) && name !== "content-length");
  return { status, body, fields: Object.fromEntries(ofPage) };
}

/** The result of a case: a visitor's answer, or the number of the origin's requests. */
export async function testimony(
  { first, second, site, origin, witness = "second" }: Case,
  meet: Meet,
): Promise<unknown> {
  const meeting = await meet(site, origin);
  try {
    if (witness === "asked") {
      await meeting.send(second);
      await meeting.send(first);
      return meeting.asked();
    }
    const ofFirst = await meeting.send(first);
    if (witness === "first") return sightOf(ofFirst);
    return sightOf(await meeting.send(second));
  } finally {
    await meeting.stop();
  }
}

/** The expected result: the origin's answer to the second visitor alone, and one request to the origin. */
export async function truth({ second, site, origin, witness = "second" }: Case, meet: Meet): Promise<unknown> {
  if (witness === "asked") return 1;
  const meeting = await meet(site, origin);
  try {
    return sightOf(await meeting.send(second));
  } finally {
    await meeting.stop();
  }
}

/** The second visitor's `X-Cache` when nobody tries a trick. */
export async function xCacheWithoutTrick(
  { second, control, site, origin }: Case,
  meet: Meet,
): Promise<string | undefined> {
  const meeting = await meet(site, origin);
  try {
    await meeting.send(control ?? second);
    return (await meeting.send(control ?? second)).fields["x-cache"];
  } finally {
    await meeting.stop();
  }
}
