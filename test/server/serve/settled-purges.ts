import { systemClock } from "../../../server/system-clock.ts";

/** What a receipt says of when its purge holds everywhere. */
export interface Settling {
  readonly settlesInMs: number;
}

/**
 * Resolves to the receipt once its purge has settled: at once if every worker has confirmed it in time, which a worker that
 * does not run for a quarter of a second cannot, and otherwise by the clock.
 */
export async function settled<Receipt extends Settling>(receipt: Receipt): Promise<Receipt> {
  await systemClock.wait(receipt.settlesInMs).over;
  return receipt;
}

/** Purges until every worker has confirmed a purge in time, for which a busy computer may need several. */
export async function untilOneSettlesAtOnce(purge: () => Promise<Settling>): Promise<void> {
  while ((await settled(await purge())).settlesInMs > 0);
}
