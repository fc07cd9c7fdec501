import type { UnsentPurge } from "../database.ts";
import { type Receipt, readReceipt } from "../purger.ts";
import type { Site } from "../site.ts";

export type PurgeOutcome =
  | { kind: "purged"; tags: string[]; receipt: Receipt }
  | { kind: "failed"; tags: string[]; message: string }
  | { kind: "no-purger" };

/**
 * Sends a purge that was noted with a committed change, and waits for its receipt.
 *
 * Never inside the transaction: the page would be fetched again while the old row is still what readers see. The note
 * goes when the receipt is there; until then the editor can try again, also after a restart.
 */
export async function publish(site: Site, noted: UnsentPurge | undefined): Promise<PurgeOutcome> {
  if (site.purger === undefined || noted === undefined) return { kind: "no-purger" };
  const { tags, reason } = noted;
  try {
    const receipt = readReceipt(await site.purger.purge({ tags, reason }));
    site.database.forgetPurge(noted);
    site.report({ kind: "purged", tags, reason, seq: receipt.seq });
    return { kind: "purged", tags, receipt };
  } catch (error) {
    site.report({ kind: "purge-failed", tags, reason, error });
    return { kind: "failed", tags, message: error instanceof Error ? error.message : String(error) };
  }
}
