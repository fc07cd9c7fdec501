import type { PurgeReceiptBody } from "../purge-receipt.ts";

/** An item of a purge that may have matched nothing, as a sentence. */
export function unseenWarning({ item, nearest }: NonNullable<PurgeReceiptBody["unseen"]>[number]): string {
  return `No page was stored lately under ${item}${nearest ? `; the nearest is ${nearest}` : ""}.`;
}
