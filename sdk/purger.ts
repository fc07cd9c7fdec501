import { createBatch, type PurgeBatch } from "./batch.ts";
import { PurgeError } from "./errors.ts";
import {
  type ItemsThenOptions,
  type PurgeCall,
  type PurgeOptions,
  type PurgeRequest,
  parseCall,
  splitOptions,
} from "./purge-request.ts";
import type { Receipt } from "./receipt.ts";

/**
 * Purges the site behind one edge. Every purge rejects with a `TypeError` if the call cannot be right, and with a
 * `PurgeError` if the purge failed.
 */
export interface Purger {
  purge(request: PurgeRequest, options?: PurgeOptions): Promise<Receipt>;
  /** `purgeUrls("/about", "https://www.example.com/", { refresh: true })` */
  purgeUrls(...urls: ItemsThenOptions): Promise<Receipt>;
  /** `purgeTags("post:7", "front")` */
  purgeTags(...tags: ItemsThenOptions): Promise<Receipt>;
  /** `purgePrefixes("/shop", "www.example.com/blog")` */
  purgePrefixes(...prefixes: ItemsThenOptions): Promise<Receipt>;
  /** `purgeHosts("shop.example.com")` */
  purgeHosts(...hosts: ItemsThenOptions): Promise<Receipt>;
  purgeEverything(options?: PurgeOptions): Promise<Receipt>;
  /** Collects the changes of a request or a transaction, for one purge after its commit. */
  batch(): PurgeBatch;
  /**
   * Waits for the purges under way, then frees the connections. Later purges reject with the code `closed`. Calling it
   * is optional: an idle purger does not keep the process running.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Carries out the calls of a purger: over HTTP, or by recording them for a test. */
export interface Sender {
  /** May throw as well as reject. */
  send(call: PurgeCall): Promise<Receipt>;
  /** Called at most once, when no call is under way any more. */
  close(): Promise<void>;
}

/** A purger whose calls are checked here and carried out by the sender. */
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

  // A stack trace shows ten calls. Each method awaits its result, and few functions stand between it and the place of
  // the error, so that the trace still contains the caller's own line.
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
