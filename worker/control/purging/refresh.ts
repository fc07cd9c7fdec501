import { BROWSER_CODINGS, REFRESH_FIELD } from "../../../wire/fields.ts";
import type { PurgeReceiptBody } from "../../../wire/purge-receipt.ts";
import type { Answer } from "../../ports/answer.ts";
import type { Bodies, BodyReader } from "../../ports/bodies.ts";
import type { Clock } from "../../ports/clock.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { within } from "../../within.ts";

/** The pages fetched at once: the runtime allows six connections per request, and the log uses one. */
const CONCURRENT_FETCHES = 5;

type Refreshed = NonNullable<PurgeReceiptBody["refreshed"]>;

/** How long an answer waits for the store that a page goes to: milliseconds. */
const STORED_WITHIN_MS = 5_000;

/**
 * Sends a GET for a page through the corridor. `noteStoring` gets, before the answer comes, the work that stores the page and
 * resolves to true if it is stored.
 */
export type FetchPage = (url: string, fields: Fields, noteStoring: (work: Promise<unknown>) => void) => Promise<Answer>;

/** The ports that a refresh calls. */
interface RefreshPorts {
  readonly bodies: Bodies;
  readonly clock: Clock;
}

/** Fields of the requests for the pages. */
export type RefreshFields = readonly (readonly [name: string, value: string])[];

/**
 * The fields with which a caller's pages are fetched: the token, the codings of the browsers that will ask for them, and the
 * trace that the call belongs to. A malformed `traceparent` is ignored, and so is the `tracestate` beside it
 * (www.w3.org/TR/trace-context, §3.2.2.5, §3.3).
 */
export function refreshFields(token: string, { headers }: Request): RefreshFields {
  const hasTrace = TRACEPARENT.test(headers.get("traceparent") ?? "");
  const trace = hasTrace ? [...headers].filter(([name]) => /^trace(?:parent|state)$/.test(name)) : [];
  return [[REFRESH_FIELD, token], ["accept-encoding", BROWSER_CODINGS], ...trace];
}

/** Versions to come may have more parts. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-[\w-]*)?$/;

/**
 * Fetches pages again through the corridor, until they are stored, so that other isolates find them. A failed fetch does
 * not affect the purge.
 */
export async function refreshUrls(
  urls: readonly string[],
  fields: RefreshFields,
  fetchPage: FetchPage,
  ports: RefreshPorts,
): Promise<Refreshed> {
  const refreshed: Refreshed = [];
  const waiting = [...urls.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, url] = next;
      refreshed[index] = await refreshOne(url, fields, fetchPage, ports);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_FETCHES }, work));
  return refreshed;
}

async function refreshOne(
  url: string,
  fields: RefreshFields,
  fetchPage: FetchPage,
  ports: RefreshPorts,
): Promise<Refreshed[number]> {
  const storing: Promise<unknown>[] = [];
  let answer: Answer;
  try {
    answer = await fetchPage(new URL(url).href, new Fields(fields), (work) => storing.push(work));
  } catch {
    return { url, status: 502, error: "the edge failed on this page" };
  }
  const { status, body } = answer;
  const xCache = answer.fields.get("x-cache");
  if (xCache === null) return { url, status, error: wordsOf(body) };
  try {
    if (body !== null && !(body instanceof Uint8Array)) await readToEnd(ports.bodies.readThrough(body));
  } catch {
    return { url, status, error: "the origin's answer was cut off" };
  }
  const outcomes: readonly { readonly status: string; readonly value?: unknown }[] = await within(
    ports.clock,
    STORED_WITHIN_MS,
    Promise.allSettled(storing),
    () => [],
  );
  const isStored = outcomes.every(({ value }) => value);
  return { url, status, xCache, ...(!isStored && { error: "the page could not be stored here" }) };
}

/** The detail of an answer that the edge itself made, without the status. */
function wordsOf(body: Answer["body"]): string {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : "";
  return text.trim().replace(/^\d{3}: /, "");
}

async function readToEnd(reader: BodyReader): Promise<void> {
  while ((await reader.next()) !== null);
}
