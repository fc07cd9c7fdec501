import type * as z from "zod/mini";
import type { Problem } from "../../wire/problem.ts";
import { problemSchema } from "../../wire/problem-schema.ts";
import { WITHOUT_VALUES } from "../check.ts";
import type { Clock } from "../clock.ts";
import { type PurgeError, PurgeTimeout, PurgeUnreachable } from "../errors.ts";
import type { Settings } from "../options.ts";
import { type AnswerHead, isUnavailable, jsonOrUndefined, MAX_ANSWER_BYTES, readBody } from "./answer.ts";
import { type CallLimits, failed, type Outcome, withRetries } from "./attempts.ts";
import { type RequestEvent, tracedOutcome } from "./diagnostics.ts";
import { brokenOff, rateLimited, refusedRead, serverError, unexpected, unreachable } from "./failures.ts";
import { retryAfterMs } from "./retry-pause.ts";
import type { FetchAnswer, Transport } from "./transport.ts";

/** A read that is ready to be sent. */
export interface PreparedRead<T> extends Settings, CallLimits {
  readonly path: string;
  readonly schema: z.ZodMiniType<T>;
  /** The name of the result, for messages. */
  readonly name: string;
  /** The result if the edge does not have it. Default: a failure. */
  readonly missing?: T;
}

/** Reads from the edge's log: the audit trail, or the site's ledger. */
export function readFromEdge<T>(
  read: PreparedRead<T>,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<T> {
  const { endpoint, deadlineMs, retries, signals } = read;
  return withRetries(
    {
      deadlineMs,
      retries,
      signals,
      attempt: (signal, attempts) => attempt(read, transport, signal, attempts),
      timedOut: (attempts, cause) => {
        const words = `No answer from ${endpoint} within ${deadlineMs} ms. Try again later, or set a longer deadlineMs.`;
        return new PurgeTimeout(words, { attempts, cause });
      },
    },
    platform,
  );
}

function attempt<T>(
  read: PreparedRead<T>,
  transport: Transport,
  signal: AbortSignal,
  attempts: number,
): Promise<Outcome<T>> {
  const url = read.endpoint + read.path;
  const event: RequestEvent = { method: "GET", url, attempt: attempts, headers: {} };
  return tracedOutcome(event, () => request(read, event, transport, signal));
}

async function request<T>(
  read: PreparedRead<T>,
  event: RequestEvent,
  transport: Transport,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const { endpoint, token } = read;
  const { url, attempt: attempts } = event;
  signal.throwIfAborted();
  const accept = "application/json, application/problem+json";
  const headers = { ...event.headers, accept, authorization: `Bearer ${token}` };
  let answer: FetchAnswer;
  try {
    answer = await transport.fetch(url, { method: "GET", headers, redirect: "manual", signal });
  } catch (cause) {
    signal.throwIfAborted();
    return failed(unreachable(endpoint, attempts, cause));
  }
  event.status = answer.status;
  const head = { endpoint, status: answer.status, headers: answer.headers, attempts };
  const body = await readBody(answer.body, MAX_ANSWER_BYTES);
  switch (body.kind) {
    case "whole":
      return readAnswer(head, body.text, read);
    case "too-long":
      return failed(unexpected(head, `with more than ${MAX_ANSWER_BYTES} bytes`, undefined));
    case "cut-off":
      signal.throwIfAborted();
      return failed(brokenOff(head, body.cause));
  }
}

function readAnswer<T>(head: AnswerHead, text: string, { schema, name, missing }: PreparedRead<T>): Outcome<T> {
  const { status } = head;
  if (status === 429) return failed(rateLimited(head));
  const json = jsonOrUndefined(text);
  if (status === 200) {
    const parsed = schema.safeParse(json, WITHOUT_VALUES);
    if (parsed.success) return { kind: "done", value: parsed.data };
    return failed(unexpected(head, `with JSON that is not ${name}`, parsed.error));
  }
  const problem = problemSchema.safeParse(json, WITHOUT_VALUES);
  if (isUnavailable(status)) return failed(unavailable(head, problem.data));
  if (!problem.success) return failed(unexpected(head, "with something that is not a problem report", problem.error));
  if (status === 404 && missing !== undefined) return { kind: "done", value: missing };
  const isFailure = status >= 500;
  return failed(isFailure ? serverError(head, problem.data) : refusedRead(head, problem.data, `a request for ${name}`));
}

function unavailable({ endpoint, status, headers, attempts }: AnswerHead, problem: Problem | undefined): PurgeError {
  return new PurgeUnreachable(
    `The edge at ${endpoint} cannot read its purge log at the moment (${status}). Try again later; if this ` +
      "continues, look at the edge's log.",
    { code: "unavailable", status, retryable: true, attempts, retryAfterMs: retryAfterMs(headers), cause: problem },
  );
}
