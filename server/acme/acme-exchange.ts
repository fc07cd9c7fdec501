import type acme from "acme-client";
import { readRetryAfter } from "./renewal-info.ts";

/** The hook by which acme-client's HTTP client gets another way to send. */
type Adapter = Extract<typeof acme.axios.defaults.adapter, (...config: never[]) => unknown>;

export const ANSWER_WITHIN_MS = 30_000;
const ERROR = "urn:ietf:params:acme:error:";

/** An authority has answered by an error: a problem document of RFC 8555 §6.7. The message is its `detail`. */
export class AcmeProblem extends Error {
  override readonly name = "AcmeProblem";
  readonly status: number;
  /** For example `rateLimited`; empty if the answer is not a problem document. */
  readonly type: string;
  readonly retryAfterMs: number | null;

  constructor(status: number, type: string, detail: string, retryAfterMs: number | null) {
    super(detail);
    this.status = status;
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Sends the requests of acme-client by Node's own `fetch`. Its own way repeats what fails up to five times with pauses of its
 * own, forgets status and `Retry-After`, waits without end for an answer, and hides why a connection failed.
 */
export function exchangeBy(stopped: AbortSignal, now: () => number): Adapter {
  return async (config) => {
    const { method = "get", url = "", headers, data } = config;
    const answer = await fetch(url, {
      method: method.toUpperCase(),
      headers: { ...(headers.toJSON() as Record<string, string>) },
      body: (data as string | undefined) ?? null,
      signal: AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    });
    const text = await answer.text();
    if (answer.status >= 400) {
      const problem = problemOf(answer, text, now());
      if (problem.type !== "badNonce") throw problem; // the library sends that again with another nonce, as it should
    }
    const { status, statusText } = answer;
    return { status, statusText, headers: Object.fromEntries(answer.headers), data: text, config };
  };
}

export function problemOf({ status, headers }: Response, body: string, now: number): AcmeProblem {
  const { type, detail } = problemIn(body);
  const isKnown = typeof type === "string" && type.startsWith(ERROR);
  const words = typeof detail === "string" ? detail : `it answered with status ${status}`;
  const retryAfterMs = readRetryAfter(headers.get("retry-after"), now);
  return new AcmeProblem(status, isKnown ? type.slice(ERROR.length) : "", words, retryAfterMs);
}

function problemIn(body: string): { readonly type?: unknown; readonly detail?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {}; // a page of a proxy, perhaps
  }
}
