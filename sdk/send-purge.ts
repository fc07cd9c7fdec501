import { CONTROL_PREFIX } from "../wire/fields.ts";
import { attemptsInWords } from "./answer.ts";
import { backOffMs } from "./back-off.ts";
import { within } from "./deadline.ts";
import { incomplete, unexpected, unreachable } from "./no-answer.ts";
import type { PurgeError } from "./purge-error.ts";
import { PurgeRateLimited } from "./purge-rate-limited.ts";
import type { PurgeRequest } from "./purge-request.ts";
import { PurgeTimeout } from "./purge-timeout.ts";
import { PurgeUnreachable } from "./purge-unreachable.ts";
import { type Outcome, readAnswer } from "./read-answer.ts";
import { readBody } from "./read-body.ts";
import type { Receipt } from "./receipt.ts";
import { receiptFrom } from "./receipt-from.ts";
import type { Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import type { FetchAnswer, Transport } from "./transport.ts";

/** A purge that is ready to be sent. */
export interface PreparedPurge extends Settings {
  /** With its `id`, which every attempt carries. */
  request: PurgeRequest & { id: string };
  deadlineMs: number;
  retries: number;
  signals: readonly AbortSignal[];
}

/** Sends a purge, again if that may help, until there is a receipt, the retries are used up, or time is. */
export function sendPurge(
  purge: PreparedPurge,
  transport: Transport,
  { clock, random }: Pick<Surroundings, "clock" | "random">,
): Promise<Receipt> {
  const { endpoint, deadlineMs, retries, signals } = purge;
  let attempts = 0;
  let lastError: PurgeError | undefined;

  const timedOut = () =>
    new PurgeTimeout(
      `No answer from ${endpoint} within ${deadlineMs} ms (${attemptsInWords(attempts)}). The purge may have happened; ` +
        "purge again to be sure, or give it a longer deadlineMs.",
      { attempts, cause: lastError },
    );

  return within({ clock, deadlineMs, signals, timedOut }, async (limit) => {
    for (;;) {
      attempts += 1;
      const outcome = await attempt(purge, transport, limit.signal, attempts);
      if (outcome.kind === "purged") return receiptFrom(outcome.receipt, clock.now(), clock);
      lastError = outcome.error;
      const pauseMs = backOffMs(attempts, askedPauseMs(lastError), random());
      if (!lastError.retryable || attempts > retries || pauseMs >= limit.leftMs()) throw lastError;
      await clock.sleep(pauseMs, limit.signal);
    }
  });
}

/** The most that is read of an answer. Fifty refreshed URLs of the longest kind fit in. */
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
      return { kind: "failed", error: unexpected(head, `and more than ${MAX_ANSWER_BYTES} bytes`, undefined) };
    case "cut-off":
      signal.throwIfAborted();
      return { kind: "failed", error: incomplete(head, body.cause) };
  }
}

function askedPauseMs(error: PurgeError): number | undefined {
  return error instanceof PurgeRateLimited || error instanceof PurgeUnreachable ? error.retryAfterMs : undefined;
}
