import type { Clock } from "../clock.ts";
import type { PurgeError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { type AnswerHead, MAX_ANSWER_BYTES, readBody } from "./answer.ts";
import { type Attempts, type CallLimits, failed, type Outcome, withRetries } from "./attempts.ts";
import { type RequestEvent, requestFields, tracedOutcome } from "./diagnostics.ts";
import { incomplete, unexpected } from "./failures.ts";
import { type Expected, readAnswer } from "./read-answer.ts";
import type { FetchAnswer, Transport } from "./transport.ts";

/** What an edge is asked, and what its answer means. */
interface EdgeRequest<Body, T> extends Pick<Attempts<T>, "timedOut"> {
  readonly path: string;
  /** JSON, which is sent by POST; `undefined` for a GET. */
  readonly body: string | undefined;
  readonly scope: AnswerHead["scope"];
  readonly traceparent?: string | undefined;
  /** Makes the error for a connection that failed before an answer began. */
  unreachable(endpoint: string, attempts: number, cause: unknown): PurgeError;
  readonly expected: Expected<Body>;
  /** Makes the result from what the edge has answered as it was expected to. */
  resultOf(body: Body, head: AnswerHead): T;
}

/** Asks an edge until it has answered, or as often as the limits of the call allow. Rejects with a `PurgeError`. */
export function askEdge<Body, T>(
  call: Settings & CallLimits,
  asked: EdgeRequest<Body, T>,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<T> {
  const { path, body, traceparent, timedOut } = asked;
  const attempt = (signal: AbortSignal, attempts: number) => {
    const event: RequestEvent = {
      method: body === undefined ? "GET" : "POST",
      url: call.endpoint + path,
      attempt: attempts,
      headers: traceparent === undefined ? {} : { traceparent },
    };
    return tracedOutcome(event, () => request(call, asked, event, transport, signal));
  };
  return withRetries({ ...call, attempt, timedOut }, platform);
}

async function request<Body, T>(
  { endpoint, token }: Settings,
  { body: sent, scope, unreachable, expected, resultOf }: EdgeRequest<Body, T>,
  event: RequestEvent,
  transport: Transport,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const { url, method, attempt: attempts } = event;
  signal.throwIfAborted();
  let answer: FetchAnswer;
  try {
    answer = await transport.fetch(url, {
      method,
      headers: requestFields(event, {
        accept: "application/json, application/problem+json",
        authorization: `Bearer ${token}`,
        ...(sent !== undefined && { "content-type": "application/json" }),
      }),
      ...(sent !== undefined && { body: sent }),
      redirect: "manual",
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return failed(unreachable(endpoint, attempts, cause));
  }
  event.status = answer.status;
  const { status, headers } = answer;
  const head: AnswerHead = { endpoint, status, headers, scope, attempts };
  const body = await readBody(answer.body, MAX_ANSWER_BYTES);
  switch (body.kind) {
    case "whole": {
      const outcome = readAnswer({ ...head, text: body.text }, expected);
      return outcome.kind === "done" ? { kind: "done", value: resultOf(outcome.value, head) } : outcome;
    }
    case "too-long":
      return failed(unexpected(head, `with more than ${MAX_ANSWER_BYTES} bytes`, undefined));
    case "cut-off":
      signal.throwIfAborted();
      return failed(incomplete(head, body.cause));
  }
}
