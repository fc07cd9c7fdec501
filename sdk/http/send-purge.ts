import type { Turns } from "../../package/turns.ts";
import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import type { Clock } from "../clock.ts";
import type { Settings } from "../options.ts";
import type { PurgeRequest } from "../purge-request.ts";
import { type AskWhetherSettled, type Receipt, type ReceiptBody, receiptFrom } from "../receipt.ts";
import { type AnswerHead, MAX_ANSWER_BYTES, readBody } from "./answer.ts";
import { type CallLimits, failed, type Outcome, withRetries } from "./attempts.ts";
import { type RequestEvent, requestFields, tracedOutcome } from "./diagnostics.ts";
import { type WarningPlatform, watchForEarlyPurge } from "./early-purge.ts";
import { incomplete, purgeUnreachable, timedOut, unexpected } from "./failures.ts";
import { hasSettled } from "./has-settled.ts";
import { type Expected, readAnswer } from "./read-answer.ts";
import type { FetchAnswer, Transport } from "./transport.ts";

/** A purge that is ready to be sent. */
export interface PreparedPurge extends Settings, CallLimits {
  /** With its `id`, which every attempt carries. */
  request: PurgeRequest & { id: string };
  traceparent: string | undefined;
  /** For the questions whether it has settled. Default: each is sent at once. */
  turns?: Turns | undefined;
}

/** The parts of the platform that a purge needs. */
export interface SendPlatform extends WarningPlatform {
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  random(): number;
}

/** Sends a purge until there is a receipt, or as often as its limits allow. */
export function sendPurge(purge: PreparedPurge, transport: Transport, platform: SendPlatform): Promise<Receipt> {
  const { endpoint, deadlineMs } = purge;
  return withRetries(
    {
      ...purge,
      attempt: (signal, attempts) => attempt(purge, transport, signal, attempts, platform),
      timedOut: (attempts, lastError) => timedOut(endpoint, deadlineMs, attempts, lastError),
    },
    platform,
  );
}

function attempt(
  purge: PreparedPurge,
  transport: Transport,
  signal: AbortSignal,
  attempts: number,
  platform: SendPlatform,
): Promise<Outcome<Receipt>> {
  const { endpoint, traceparent } = purge;
  const event: RequestEvent = {
    method: "POST",
    url: `${endpoint}${CONTROL_PREFIX}purge`,
    attempt: attempts,
    headers: traceparent === undefined ? {} : { traceparent },
  };
  return tracedOutcome(event, () => request(purge, event, transport, signal, platform));
}

const RECEIPT: Expected<ReceiptBody> = { schema: purgeReceiptSchema, name: "a receipt" };

async function request(
  { endpoint, token, request, turns }: PreparedPurge,
  event: RequestEvent,
  transport: Transport,
  signal: AbortSignal,
  platform: SendPlatform,
): Promise<Outcome<Receipt>> {
  const { url, attempt: attempts } = event;
  signal.throwIfAborted();
  let answer: FetchAnswer;
  try {
    answer = await transport.fetch(url, {
      method: "POST",
      headers: requestFields(event, {
        accept: "application/json, application/problem+json",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      }),
      body: JSON.stringify(request),
      redirect: "manual",
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return failed(purgeUnreachable(endpoint, attempts, cause));
  }
  event.status = answer.status;
  const { status, headers } = answer;
  const head: AnswerHead = { endpoint, status, headers, scope: "purge", attempts };
  const body = await readBody(answer.body, MAX_ANSWER_BYTES);
  switch (body.kind) {
    case "whole": {
      const outcome = readAnswer({ ...head, text: body.text }, RECEIPT);
      if (outcome.kind !== "done") return outcome;
      // A page that the repetition will purge again may still be the old one.
      if (!request.repeatAfterMs) watchForEarlyPurge(head, outcome.value.seq, transport, platform);
      const { clock } = platform;
      const ask: AskWhetherSettled = (purge, waitMs, signal) =>
        hasSettled({ endpoint, token }, { purge, waitMs, signal, turns }, transport, platform);
      return { kind: "done", value: receiptFrom(outcome.value, clock.now(), clock, ask) };
    }
    case "too-long":
      return failed(unexpected(head, `with more than ${MAX_ANSWER_BYTES} bytes`, undefined));
    case "cut-off":
      signal.throwIfAborted();
      return failed(incomplete(head, body.cause));
  }
}
