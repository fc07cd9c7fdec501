import type { PurgeBatch } from "./purge-batch.ts";
import type { PurgeOptions, PurgeRequest } from "./purge-request.ts";
import type { Receipt } from "./receipt.ts";

/** Items one by one, and options last if there are any. */
export type ItemsThenOptions = string[] | [...items: string[], options: PurgeOptions];

/**
 * Purges the site behind one edge. All of its purges reject with a `TypeError` if the call cannot be right, else with
 * a `PurgeError`.
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
  /** Collects what a request or a transaction has changed, for one purge after its commit. */
  batch(): PurgeBatch;
  /** Waits for the purges under way, frees the connections, and refuses what comes after. It need not be called. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
