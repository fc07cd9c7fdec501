import { createBatch } from "./purge-batch.ts";
import { type PurgeCall, parseCall, splitOptions } from "./purge-call.ts";
import { PurgeError } from "./purge-error.ts";
import type { Purger } from "./purger.ts";
import type { Receipt } from "./receipt.ts";

/** What becomes of the calls of a purger. */
export interface Sender {
  /** May throw at once as well as later. */
  send(call: PurgeCall): Promise<Receipt>;
  /** Called at most once, when no call is under way any more. */
  close(): Promise<void>;
}

/** The verbs of a purger over whatever sends its calls. */
export function purgerFrom(sender: Sender): Purger {
  const underWay = new Set<Promise<Receipt>>();
  let closed: Promise<void> | undefined;

  async function send(call: PurgeCall): Promise<Receipt> {
    if (closed) {
      throw new PurgeError("This purger was closed. Create another one, or close it after its last purge.", {
        code: "closed",
        retryable: false,
        attempts: 0,
      });
    }
    const sending = sender.send(call);
    underWay.add(sending);
    try {
      return await sending;
    } finally {
      underWay.delete(sending);
    }
  }

  async function finish(): Promise<void> {
    await Promise.allSettled(underWay);
    await sender.close();
  }

  function close(): Promise<void> {
    closed ??= finish();
    return closed;
  }

  // Each verb awaits what it returns, and few functions stand between it and the error: only so does the stack of an
  // error, ten lines at most, lead back to the line that called.
  return {
    async purge(request, options) {
      return await send(parseCall("purge", request, options));
    },
    async purgeUrls(...args) {
      const [urls, options] = splitOptions(args);
      return await send(parseCall("purgeUrls", { urls }, options));
    },
    async purgeTags(...args) {
      const [tags, options] = splitOptions(args);
      return await send(parseCall("purgeTags", { tags }, options));
    },
    async purgePrefixes(...args) {
      const [prefixes, options] = splitOptions(args);
      return await send(parseCall("purgePrefixes", { prefixes }, options));
    },
    async purgeHosts(...args) {
      const [hosts, options] = splitOptions(args);
      return await send(parseCall("purgeHosts", { hosts }, options));
    },
    async purgeEverything(options) {
      return await send(parseCall("purgeEverything", { everything: true }, options));
    },
    batch: () => createBatch(send),
    close,
    [Symbol.asyncDispose]: close,
  };
}
