import {
  type ItemList,
  itemsOf,
  type PurgeCall,
  type PurgeOptions,
  type PurgeRequest,
  parseCall,
} from "./purge-request.ts";
import type { Receipt } from "./receipt.ts";

/**
 * Collects the changes of a request or a transaction for one purge. Nothing is sent before `commit`, which belongs after
 * the commit of the database. If an error skips `commit`, nothing is sent at all:
 *
 * ```ts
 * await using batch = cdn.batch();
 * await database.transaction(async (tx) => { …; batch.tags("song:42"); });
 * await batch.commit();
 * ```
 *
 * An item that cannot be right is a `TypeError` from the call that adds it.
 */
export interface PurgeBatch extends AsyncDisposable {
  urls(...urls: (string | URL | ItemList<string | URL>)[]): this;
  tags(...tags: (string | ItemList<string>)[]): this;
  prefixes(...prefixes: (string | ItemList<string>)[]): this;
  hosts(...hosts: (string | ItemList<string>)[]): this;
  /** The whole site. The other items of the batch are then left out. */
  everything(): this;
  /**
   * Sends one purge of all items, each of them once. Resolves to `null`, without sending anything, if there are none.
   * It can be called once; after that the batch is over.
   */
  commit(options?: PurgeOptions): Promise<Receipt | null>;
  /** Drops the items that were not committed. */
  [Symbol.asyncDispose](): Promise<void>;
}

type Kind = "urls" | "tags" | "prefixes" | "hosts";

export function createBatch(send: (call: PurgeCall) => Promise<Receipt>): PurgeBatch {
  const items: Record<Kind, Set<string>> = { urls: new Set(), tags: new Set(), prefixes: new Set(), hosts: new Set() };
  let everything = false;
  let isOver = false;

  function add(kind: Kind, args: readonly (string | URL | ItemList<string | URL>)[]): PurgeBatch {
    if (isOver) throw new TypeError(`batch.${kind}: ${BATCH_IS_OVER}`);
    const added = itemsOf(args);
    if (added.length > 0) parseCall(`batch.${kind}`, { [kind]: added });
    for (const item of added) items[kind].add(item);
    return batch;
  }

  const batch: PurgeBatch = {
    urls: (...urls) => add("urls", urls),
    tags: (...tags) => add("tags", tags),
    prefixes: (...prefixes) => add("prefixes", prefixes),
    hosts: (...hosts) => add("hosts", hosts),
    everything() {
      if (isOver) throw new TypeError(`batch.everything: ${BATCH_IS_OVER}`);
      everything = true;
      return batch;
    },
    async commit(options) {
      if (isOver) throw new TypeError(`batch.commit: ${BATCH_IS_OVER}`);
      isOver = true;
      const request = requestOf(items, everything);
      return request && (await send(parseCall("batch.commit", request, options)));
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
    },
  };
  return batch;
}

const BATCH_IS_OVER = "this batch is over; begin another one";

/** The request for all items; `null` if there are none. */
function requestOf(items: Readonly<Record<Kind, ReadonlySet<string>>>, everything: boolean): PurgeRequest | null {
  if (everything) return { everything: true };
  const lists = Object.entries(items).filter(([, list]) => list.size > 0);
  return lists.length === 0 ? null : Object.fromEntries(lists.map(([kind, list]) => [kind, [...list]]));
}
