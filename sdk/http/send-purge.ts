import { CONTROL_PREFIX } from "../../wire/fields.ts";
import type { Clock } from "../clock.ts";
import { type PurgeError, PurgeRateLimited, PurgeUnreachable } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { PurgeRequest } from "../purge-request.ts";
import { type Receipt, receiptFrom } from "../receipt.ts";
import { readBody } from "./answer.ts";
import { withDeadline } from "./deadline.ts";
import { incomplete, timedOut, unexpected, unreachable } from "./failures.ts";
import { type Outcome, readAnswer } from "./read-answer.ts";
import { retryPauseMs } from "./retry-pause.ts";
import type { FetchAnswer, Transport } from "./transport.ts";

/** A purge that is ready to be sent. */
export interface PreparedPurge extends Settings {
  /** With its `id`, which every attempt carries. */
  request: PurgeRequest & { id: string };
  deadlineMs: number;
  retries: number;
  signals: readonly AbortSignal[];
}

/**
 * Sends a purge, and sends it again after a failure that is retryable, until there is a receipt, the retries are used
 * up, or the next pause would pass the deadline.
 */
export function sendPurge(
  purge: PreparedPurge,
  transport: Transport,
  { clock, random }: { readonly clock: Clock; random(): number },
): Promise<Receipt> {
  const { endpoint, deadlineMs, retries, signals } = purge;
  let attempts = 0;
  let lastError: PurgeError | undefined;

  const options = { clock, deadlineMs, signals, timedOut: () => timedOut(endpoint, deadlineMs, attempts, lastError) };
  return withDeadline(options, async (deadline) => {
    for (;;) {
      attempts += 1;
      const outcome = await attempt(purge, transport, deadline.signal, attempts);
      if (outcome.kind === "purged") return receiptFrom(outcome.receipt, clock.now(), clock);
      lastError = outcome.error;
      const pauseMs = retryPauseMs(attempts, retryAfterMsOf(lastError), random());
      if (!lastError.retryable || attempts > retries || pauseMs >= deadline.leftMs()) throw lastError;
      await clock.sleep(pauseMs, deadline.signal);
    }
  });
}

/** The most bytes of an answer that are read: enough for fifty refreshed URLs of the greatest length. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

async function attempt(
  { endpoint, token, request }: PreparedPurge,
  transport: Transport,
  signal: AbortSignal,
  attempts: number,
): Promise<Outcome> {
  signal.throwIfAborted();
  let answer: FetchAnswer;
  try {
    answer = await transport.fetch(`${endpoint}${CONTROL_PREFIX}purge`, {
      method: "POST",
      headers: {
        accept: "application/json, application/problem+json",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(request),
      redirect: "manual",
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return { kind: "failed", error: unreachable(endpoint, attempts, cause) };
  }

  const head = { endpoint, status: answer.status, headers: answer.headers, attempts };
  const body = await readBody(answer.body, MAX_ANSWER_BYTES);
  switch (body.kind) {
    case "whole":
      return readAnswer({ ...head, text: body.text });
    case "too-long":
      return { kind: "failed", error: unexpected(head, `with more than ${MAX_ANSWER_BYTES} bytes`, undefined) };
    case "cut-off":
      signal.throwIfAborted();
      return { kind: "failed", error: incomplete(head, body.cause) };
  }
}

function retryAfterMsOf(error: PurgeError): number | undefined {
  return error instanceof PurgeRateLimited || error instanceof PurgeUnreachable ? error.retryAfterMs : undefined;
}
