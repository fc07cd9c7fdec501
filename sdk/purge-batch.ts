import { type PurgeCall, parseCall } from "./purge-call.ts";
import type { PurgeOptions, PurgeRequest } from "./purge-request.ts";
import type { Receipt } from "./receipt.ts";

/**
 * What a request or a transaction changes, collected for one purge. Nothing is sent before `commit`, which belongs after
 * the commit of the database; after an error that skips it nothing is sent at all:
 *
 * ```ts
 * await using batch = cdn.batch();
 * await database.transaction(async (tx) => { …; batch.tags("song:42"); });
 * await batch.commit();
 * ```
 *
 * What cannot be right is a `TypeError` where it is added.
 */
export interface PurgeBatch extends AsyncDisposable {
  urls(...urls: string[]): this;
  tags(...tags: string[]): this;
  prefixes(...prefixes: string[]): this;
  hosts(...hosts: string[]): this;
  /** The whole site; what else is named is then left out. */
  everything(): this;
  /** Sends one purge of all that was named, each item once. `null` if nothing was. It can be called once. */
  commit(options?: PurgeOptions): Promise<Receipt | null>;
  /** Drops what was not committed. */
  [Symbol.asyncDispose](): Promise<void>;
}

type Kind = "urls" | "tags" | "prefixes" | "hosts";

export function createBatch(send: (call: PurgeCall) => Promise<Receipt>): PurgeBatch {
  const named: Record<Kind, Set<string>> = { urls: new Set(), tags: new Set(), prefixes: new Set(), hosts: new Set() };
  let everything = false;
  let isOver = false;

  function add(kind: Kind, items: readonly string[]): PurgeBatch {
    if (isOver) throw new TypeError(`batch.${kind}: this batch is over; begin another one`);
    if (items.length > 0) parseCall(`batch.${kind}`, { [kind]: items });
    for (const item of items) named[kind].add(item);
    return batch;
  }

  const batch: PurgeBatch = {
    urls: (...urls) => add("urls", urls),
    tags: (...tags) => add("tags", tags),
    prefixes: (...prefixes) => add("prefixes", prefixes),
    hosts: (...hosts) => add("hosts", hosts),
    everything() {
      add("urls", []);
      everything = true;
      return batch;
    },
    async commit(options) {
      if (isOver) throw new TypeError("batch.commit: this batch is over; begin another one");
      isOver = true;
      const request = requestOf(named, everything);
      return request && (await send(parseCall("batch.commit", request, options)));
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
    },
  };
  return batch;
}

/** `null` if nothing is named. */
function requestOf(named: Readonly<Record<Kind, ReadonlySet<string>>>, everything: boolean): PurgeRequest | null {
  if (everything) return { everything: true };
  const lists = Object.entries(named).filter(([, items]) => items.size > 0);
  return lists.length === 0 ? null : Object.fromEntries(lists.map(([kind, items]) => [kind, [...items]]));
}
