import { retryAfterMs, whole } from "#tidemark/internal";
import { type CacheAnswer, cacheAnswer } from "./cache-answer.ts";
import type { HttpAnswer, HttpClient, NoAnswer } from "./http-client.ts";
import { MAX_PAUSE_MS, type Pace } from "./pace.ts";

/** The result of requesting one page. */
export type PageAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headMs: number;
      readonly bytes: number;
      readonly cache: CacheAnswer;
      /** How many redirects led to this answer. */
      readonly redirects: number;
      /** Where it redirects to, if that is not a page of this site; `null` otherwise. */
      readonly elsewhere: string | null;
    }
  | {
      readonly kind: "failed";
      readonly because: string;
      /** Whether nothing answered. */
      readonly isSilent: boolean;
      /** Whether the site's Retry-After is longer than the crawl waits. */
      readonly endsCrawl: boolean;
    };

export interface AskPage {
  readonly client: HttpClient;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  /** Where the path is requested. */
  readonly base: URL;
  readonly fields?: Readonly<Record<string, string>>;
  /** The path of a redirect's target, if it is a page of this site that may be requested; `null` otherwise. */
  readonly follow: (target: URL) => string | null;
}

const MAX_REDIRECTS = 5;

/** How often a request is sent if the answer asks to retry later. */
const MAX_ATTEMPTS = 3;

/** The pause after a 429 that does not say how long to wait. */
const USUAL_PAUSE_MS = 5_000;

/** Requests a page, and the target of its redirects. */
export async function askPage(path: string, { follow, ...asking }: AskPage): Promise<PageAnswer> {
  let url = new URL(asking.base.origin + path);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await askPolitely(url, asking);
    if (answer.kind === "failed") return answer;
    const { status, headMs, bytes, field } = answer;
    const target = redirectTarget(answer, url);
    const next = target === null ? null : follow(target);
    if (next === null) {
      const elsewhere = target === null ? null : target.href;
      return { kind: "answered", status, headMs, bytes, cache: cacheAnswer(field), redirects, elsewhere };
    }
    url = new URL(asking.base.origin + next);
  }
  return failure(`it redirects more than ${MAX_REDIRECTS} times`);
}

type Asking = Omit<AskPage, "follow" | "base">;
type Failed = Extract<PageAnswer, { kind: "failed" }>;

/** Sends a request in its turn, and again after the pause that a 429 or a 503 asks for. */
export async function askPolitely(url: URL, asking: Asking, keepBytes = 0): Promise<HttpAnswer | Failed> {
  for (let attempts = 1; ; attempts++) {
    const answer = await sendInTurn(url, asking, keepBytes);
    if (answer.kind === "failed") return silence(answer);
    const pauseMs = pauseOf(answer);
    if (pauseMs === null) {
      return answer.status >= 500 && keepBytes === 0 ? failure(`it answered ${answer.status}`) : answer;
    }
    if (pauseMs > MAX_PAUSE_MS) {
      const seconds = whole(Math.ceil(pauseMs / 1000));
      return failure(`it answered ${answer.status} with a Retry-After of ${seconds} s`, true);
    }
    asking.pace.pauseFor(pauseMs);
    if (attempts === MAX_ATTEMPTS) return failure(`it answered ${answer.status} ${MAX_ATTEMPTS} times`);
  }
}

/** Sends a request in its turn, and once more in another if its connection was over. */
async function sendInTurn(
  url: URL,
  { client, pace, signal, fields }: Asking,
  keepBytes: number,
): Promise<HttpAnswer | NoAnswer> {
  const send = async () => {
    await pace.turn(signal);
    return client.get(url, { signal, keepBytes, ...(fields && { fields }) });
  };
  const answer = await send();
  return answer.kind === "failed" && answer.connectionWasOver ? send() : answer;
}

/** How long an answer asks to wait; `null` if it does not. RFC 6585 §4, RFC 9110 §15.6.4. */
function pauseOf({ status, field }: HttpAnswer): number | null {
  if (status !== 429 && status !== 503) return null;
  return retryAfterMs({ get: field }) ?? (status === 429 ? USUAL_PAUSE_MS : null);
}

function redirectTarget({ status, field }: HttpAnswer, url: URL): URL | null {
  const location = [301, 302, 303, 307, 308].includes(status) ? field("location") : null;
  return location === null ? null : URL.parse(location, url.href);
}

function silence({ because, isSilent }: NoAnswer): Failed {
  return { kind: "failed", because, isSilent, endsCrawl: false };
}

function failure(because: string, endsCrawl = false): Failed {
  return { kind: "failed", because, isSilent: false, endsCrawl };
}
