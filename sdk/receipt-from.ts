import { type Clock, LONGEST_SLEEP_MS } from "./clock.ts";
import type { Receipt, ReceiptBody } from "./receipt.ts";

/** A receipt that knows when it arrived. `arrivedAt` is on the clock given. */
export function receiptFrom(body: ReceiptBody, arrivedAt: number, clock: Clock): Receipt {
  const settlesAt = arrivedAt + body.settlesInMs;
  return {
    ...body,
    async settled(options) {
      options?.signal?.throwIfAborted();
      // A timer may fire a little early by the monotonic clock, so its word is checked and not taken.
      for (let leftMs = settlesAt - clock.now(); leftMs > 0; leftMs = settlesAt - clock.now()) {
        await clock.sleep(Math.min(leftMs, LONGEST_SLEEP_MS), options?.signal);
      }
    },
  };
}
