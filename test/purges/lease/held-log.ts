import type {
  PurgeLogClient,
  ReaderPosition,
  UnreadRange,
  ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import { deltaOf } from "../view/delta.ts";

export const LEASE_MS = 1000;

/** A log that answers when the test says so. */
export class HeldLog implements PurgeLogClient {
  readonly reads: PromiseWithResolvers<ViewDelta>[] = [];
  /** The unread range that the last read asked for. */
  unread: UnreadRange | null | undefined;

  read(since: ReaderPosition | null): Promise<ViewDelta> {
    const read = Promise.withResolvers<ViewDelta>();
    this.reads.push(read);
    this.unread = since?.unread;
    return read.promise;
  }

  append(): Promise<never> {
    throw new Error("nothing is appended here");
  }

  answer(index: number, to: number, logId = "a"): void {
    this.reads[index]!.resolve(deltaOf(0, to, [], { logId, leaseMs: LEASE_MS }));
  }
}
