import type { Site } from "../context.ts";
import { type Receipt, readReceipt } from "../purger.ts";

export type PurgeOutcome =
  | { kind: "purged"; tags: readonly string[]; receipt: Receipt }
  | { kind: "failed"; tags: readonly string[]; message: string }
  | { kind: "no-purger" };

/**
 * Sends a purge that was written in the transaction of a change, and waits for its receipt.
 *
 * The purge is never sent inside the transaction: the edge would fetch the page again while readers still see the old
 * row. Its row is deleted when the receipt has arrived. Until then it is tried again, even after a restart.
 */
export async function purgeAfterSave({ outbox }: Site, id: string | undefined): Promise<PurgeOutcome> {
  if (outbox === undefined || id === undefined) return { kind: "no-purger" };
  const waiting = outbox.list({ state: "waiting" });
  const tags = waiting.find((purge) => purge.id === id)?.request.tags ?? [];
  // The editor is waiting, and an earlier purge of the same tag would block this one until the end of its pause.
  outbox.requeue(waiting.map((purge) => purge.id));
  try {
    const { sent, failed, dead } = await outbox.drain();
    const done = sent.find((purge) => purge.id === id);
    if (done) return { kind: "purged", tags: done.request.tags ?? [], receipt: readReceipt(done.receipt) };
    const error = [...failed, ...dead].find((purge) => purge.id === id)?.error;
    return {
      kind: "failed",
      tags,
      message: error === undefined ? "an earlier purge must be sent first" : text(error),
    };
  } catch (error) {
    return { kind: "failed", tags, message: text(error) };
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
