import { isOfItsItems, PurgeError, setTextWithoutCall, textWithoutCall } from "../errors.ts";
import type { PurgeCall, PurgeRequest } from "../purge-request.ts";
import type { Receipt } from "../receipt.ts";

/** One failed purge, if a call became several. */
export interface PurgeFailure {
  /** The edge that did not accept it, for a purger with several `endpoints`; otherwise absent. */
  endpoint?: string | undefined;
  /**
   * The purge with its `id`: `purger.purge(failure.request)` sends it again. However often that is done, it happens
   * once with this `id`.
   */
  request: PurgeRequest;
  error: PurgeError;
}

/**
 * One call became several purges, because of several `endpoints` or a batch larger than a purge may be, and not all of
 * them were accepted. `code`, `status` and `cause` are those of the first failure; `retryable` is true if every failure
 * is.
 *
 * Accepted purges stand. To carry out the others, send the same call again with the same `id`, or send each `request`
 * of `failures`: an edge that already accepted a purge with this `id` returns the first receipt again. On Node, a call
 * without an `id` may have been merged with others, with another `id`, because eight were under way: an edge that
 * accepted it then purges its items once more.
 */
export class PurgeIncomplete extends PurgeError {
  override readonly name = "PurgeIncomplete";
  /** The receipts of the purges that were accepted. */
  readonly receipts: readonly Receipt[];
  readonly failures: readonly PurgeFailure[];

  constructor(receipts: readonly Receipt[], failures: readonly PurgeFailure[]) {
    const { error: first } = failures[0]!;
    const all = receipts.length + failures.length;
    const text =
      `${failures.length} of ${all} purges failed, and ${receipts.length} ${receipts.length === 1 ? "was" : "were"} accepted. ` +
      "Sending the same items again with the same id is safe. The first failure: ";
    super(text + first.message, {
      code: first.code,
      status: first.status,
      retryable: failures.every(({ error }) => error.retryable),
      attempts: attemptsOf(failures),
      cause: first,
    });
    setTextWithoutCall(this, text + textWithoutCall(first));
    this.receipts = receipts;
    this.failures = failures;
  }
}

/** The requests that were sent for failures. Purges that were not sent have the error of the previous one. */
function attemptsOf(failures: readonly PurgeFailure[]): number {
  const errors = new Set(failures.map(({ error }) => error));
  return [...errors].reduce((sum, error) => sum + error.attempts, 0);
}

type Send = (call: PurgeCall) => Promise<Receipt>;
type OnReceipt = (receipt: Receipt, done: number) => unknown;

/** Sends the only purge of a batch. Its error is that of the purge. */
export async function sendOnly(
  [call]: readonly PurgeCall[],
  send: Send,
  onReceipt: OnReceipt,
): Promise<readonly Receipt[]> {
  const receipt = await send(call!);
  await onReceipt(receipt, 1);
  return [receipt];
}

/**
 * Sends purges one after another. The others are still sent if one is refused or blocked, or if fetching its pages again
 * takes too long; of several edges, if one accepts or refuses it. After any other failure, and the second time-out
 * without an answer between them, they are not sent, because they would also fail, and each counts as failed at every
 * edge. If any failed, it rejects with a `PurgeIncomplete`, or else with the first error of `onReceipt`, which stops no
 * purge.
 */
export async function sendInTurn(
  calls: readonly PurgeCall[],
  send: Send,
  onReceipt: OnReceipt,
): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  const failures: PurgeFailure[] = [];
  const errorsOfCallback: unknown[] = [];
  let done = 0;
  let wasTooSlow = false;
  for (const [index, call] of calls.entries()) {
    let receipt: Receipt;
    try {
      receipt = await send(call);
    } catch (error) {
      if (!(error instanceof PurgeError)) throw error;
      // The purger of several edges has already said which of them failed.
      const failed = error instanceof PurgeIncomplete ? error.failures : [{ request: call.request, error }];
      const accepted = error instanceof PurgeIncomplete ? error.receipts : [];
      receipts.push(...accepted);
      failures.push(...failed);
      const isAnswered = accepted.length > 0 || failed.some(({ error }) => isOfItsItems(error));
      // An edge that hangs would hold up each of the others for a deadline too.
      if (isAnswered || (!wasTooSlow && failed.some(isTooSlow))) {
        wasTooSlow = !isAnswered;
        continue;
      }
      const unsent = calls.slice(index + 1);
      failures.push(...unsent.flatMap(({ request }) => failed.map((failure) => ({ ...failure, request }))));
      break;
    }
    wasTooSlow = false;
    receipts.push(receipt);
    done += 1;
    try {
      await onReceipt(receipt, done);
    } catch (error) {
      errorsOfCallback.push(error);
    }
  }
  if (failures.length > 0) throw new PurgeIncomplete(receipts, failures);
  if (errorsOfCallback.length > 0) throw errorsOfCallback[0];
  return receipts;
}

/** Whether fetching the pages of a purge again took too long, or its edge hangs. */
function isTooSlow({ request, error }: PurgeFailure): boolean {
  return error.code === "timeout" && request.refresh === true;
}
