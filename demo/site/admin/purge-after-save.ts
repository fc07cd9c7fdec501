import type { UnsentPurge } from "../../data/database.ts";
import type { Site } from "../context.ts";
import { type Receipt, readReceipt } from "../purger.ts";

export type PurgeOutcome =
  | { kind: "purged"; tags: string[]; receipt: Receipt }
  | { kind: "failed"; tags: string[]; message: string }
  | { kind: "no-purger" };

/**
 * Sends a purge that was recorded together with a committed change, and waits for its receipt.
 *
 * The purge is never sent inside the transaction: the edge would fetch the page again while readers still see the old
 * row. The record is deleted when the receipt has arrived. Until then the editor can try again, even after a restart.
 */
export async function purgeAfterSave(site: Site, recorded: UnsentPurge | undefined): Promise<PurgeOutcome> {
  if (site.purger === undefined || recorded === undefined) return { kind: "no-purger" };
  const { tags, reason } = recorded;
  try {
    const receipt = readReceipt(await site.purger.purge({ tags, reason }));
    site.database.forgetPurge(recorded);
    site.report({ kind: "purged", tags, reason, seq: receipt.seq });
    return { kind: "purged", tags, receipt };
  } catch (error) {
    site.report({ kind: "purge-failed", tags, reason, error });
    return { kind: "failed", tags, message: error instanceof Error ? error.message : String(error) };
  }
}
