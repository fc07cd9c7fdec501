import type { Turns } from "../../package/turns.ts";
import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import type { Clock } from "../clock.ts";
import type { Settings } from "../options.ts";
import type { PurgeRequest } from "../purge-request.ts";
import { type AskWhetherSettled, type Receipt, type ReceiptBody, receiptFrom } from "../receipt.ts";
import type { AnswerHead } from "./answer.ts";
import { askEdge } from "./ask-edge.ts";
import type { CallLimits } from "./attempts.ts";
import { type WarningPlatform, watchForEarlyPurge } from "./early-purge.ts";
import { purgeUnreachable, timedOut } from "./failures.ts";
import { hasSettled } from "./has-settled.ts";
import type { Expected } from "./read-answer.ts";
import type { Transport } from "./transport.ts";

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
  const { endpoint, deadlineMs, request, traceparent } = purge;
  return askEdge(
    purge,
    {
      path: `${CONTROL_PREFIX}purge`,
      body: JSON.stringify(request),
      scope: "purge",
      traceparent,
      unreachable: purgeUnreachable,
      expected: RECEIPT,
      resultOf: (body, head) => receiptOf(body, head, purge, transport, platform),
      timedOut: (attempts, lastError) => timedOut(endpoint, deadlineMs, attempts, lastError),
    },
    transport,
    platform,
  );
}

const RECEIPT: Expected<ReceiptBody> = { schema: purgeReceiptSchema, name: "a receipt" };

function receiptOf(
  body: ReceiptBody,
  head: AnswerHead,
  { endpoint, token, request, turns }: PreparedPurge,
  transport: Transport,
  platform: SendPlatform,
): Receipt {
  // A page that the repetition will purge again may still be the old one.
  if (!request.repeatAfterMs) watchForEarlyPurge(head, body.seq, transport, platform);
  const { clock } = platform;
  const ask: AskWhetherSettled = (purge, waitMs, signal) =>
    hasSettled({ endpoint, token }, { purge, waitMs, signal, turns }, transport, platform);
  return receiptFrom(body, clock.now(), clock, ask);
}
