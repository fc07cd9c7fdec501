import type { ClientAnswer } from "../engine/engine.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import type { Answering, Case } from "./case.ts";

/** One edge in front of an origin that answers by a function. */
export interface Meeting {
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** How often the origin has been asked. */
  asked(): number;
  stop(): Promise<void>;
}

export type Meet = (site: Case["site"], origin: Answering) => Promise<Meeting>;

/** What a visitor sees of an answer, without what tells of the cache and the time. */
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
  // Chunks are gone once a body is stored: then its length is told.
  const ofPage = Object.entries(fields).filter(([name]) => !OF_THE_CACHE.has(name) && name !== "content-length");
  return { status, body, fields: Object.fromEntries(ofPage) };
}

/** What the witness of a case tells: what a visitor got, or how often the origin was asked. */
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

/** What it has to tell: what the origin answers to the second visitor alone, and that it was asked once. */
export async function truth({ second, site, origin, witness = "second" }: Case, meet: Meet): Promise<unknown> {
  if (witness === "asked") return 1;
  const meeting = await meet(site, origin);
  try {
    return sightOf(await meeting.send(second));
  } finally {
    await meeting.stop();
  }
}

/** The `X-Cache` of the second visitor where nobody tries anything. */
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
