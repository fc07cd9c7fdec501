import { MAX_REFRESH_URLS } from "../../wire/purge-request.ts";
import {
  type ItemList,
  type ItemsInput,
  itemsOf,
  type PurgeCall,
  type PurgeItems,
  type PurgeOptions,
  type PurgeRequest,
  parseCall,
  parseItems,
  parseOptions,
} from "../purge-request.ts";
import { joinReceipts, newestOf, type Receipt } from "../receipt.ts";
import { type DividedCall, divideIntoPurges, PURGE_LIMITS } from "./divide.ts";
import { sendInTurn, sendOnly } from "./purge-incomplete.ts";

/**
 * Collects the changes of a request or a transaction. Each method can be called many times, and repeated items count
 * once. The call that adds an invalid item throws a `TypeError`.
 */
export interface PurgeCollector {
  urls(...urls: (string | URL | ItemList<string | URL>)[]): this;
  tags(...tags: (string | ItemList<string>)[]): this;
  prefixes(...prefixes: (string | ItemList<string>)[]): this;
  hosts(...hosts: (string | ItemList<string>)[]): this;
  /** Items of several kinds that belong together, like `{ tags: ["song:42"], urls: ["/songs/42"] }`. */
  add(items: ItemsInput): this;
  /** The whole site. The other items of the batch are then left out. */
  everything(): this;
}

/**
 * A collector that its caller commits. Nothing is sent before `commit`, which belongs after the commit of the database.
 * If an error skips `commit`, nothing is sent at all:
 *
 * ```ts
 * const batch = cdn.batch();
 * await database.transaction(async (tx) => { …; batch.tags("song:42"); });
 * await batch.commit();
 * ```
 */
export interface PurgeBatch extends PurgeCollector, AsyncDisposable {
  /**
   * Sends one purge of all items, each of them once. Resolves to `null`, without sending anything, if there are none.
   * It can be called once; after that the batch has ended.
   *
   * A batch that is larger than a purge may be (10,000 items, 4 MiB, or 50 URLs with `refresh`) becomes several purges,
   * which are sent one after another. The items of one call stay in one purge if they fit into one. If some of the
   * purges fail, it rejects with a `PurgeIncomplete`.
   */
  commit(options?: BatchOptions): Promise<BatchReceipt | null>;
  /** Drops the items that were not committed. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Options of a batch. If it becomes several purges, `deadlineMs` is the time for each of them, and they get the ids
 * `<id>.1`, `<id>.2` and so on, so an `id` has at most 120 characters. The same items in the same order are divided in
 * the same way, so a batch can be sent again with the same `id`. Only purges with URLs have `refresh`.
 */
export interface BatchOptions extends PurgeOptions {
  /**
   * Called for each purge that was accepted, in order. If it throws or rejects, the other purges are still sent, and then
   * the call rejects with its error. Default: nothing is called.
   */
  onReceipt?: ((receipt: Receipt, progress: BatchProgress) => void) | undefined;
}

/** The progress of sending a batch. */
export interface BatchProgress {
  /** How many of the purges have been sent. */
  done: number;
  /** How many purges the batch became. */
  purges: number;
}

/**
 * The receipt of a batch. If the batch became several purges, its number, token and time are those of the newest purge,
 * which cover the others, `accepted` is the sum, and `settled()` waits for all of them.
 */
export interface BatchReceipt extends Receipt {
  /** The receipt of each purge that was sent, in order. */
  receipts: readonly Receipt[];
  /** The calls whose items did not fit into one purge. Empty unless a single call names more than a purge may. */
  divided: readonly DividedCall[];
}

/** The result of `batch(work)`. */
export interface BatchOutcome<T> {
  /** The value that `work` returned. */
  value: T;
  /** `null` if the batch had no items. */
  receipt: BatchReceipt | null;
}

/** The parts of a purger that a batch uses. */
export interface BatchSender {
  /** Runs something that `close` waits for. Rejects if the purger was closed. */
  run<T>(start: () => Promise<T>): Promise<T>;
  send(call: PurgeCall): Promise<Receipt>;
  newId(): string;
}

export function createBatch(sender: BatchSender): PurgeBatch {
  const calls: PurgeItems[] = [];
  let everything = false;
  let isOver = false;

  function add(name: string, input: ItemsInput): PurgeBatch {
    if (isOver) throw new TypeError(`${name}: ${BATCH_IS_OVER}`);
    const items = parseItems(name, input);
    if (Object.keys(items).length > 0) calls.push(items);
    return batch;
  }

  const batch: PurgeBatch = {
    urls: (...urls) => add("batch.urls", { urls: itemsOf(urls) }),
    tags: (...tags) => add("batch.tags", { tags: itemsOf(tags) }),
    prefixes: (...prefixes) => add("batch.prefixes", { prefixes: itemsOf(prefixes) }),
    hosts: (...hosts) => add("batch.hosts", { hosts: itemsOf(hosts) }),
    add: (items) => add("batch.add", items),
    everything() {
      if (isOver) throw new TypeError(`batch.everything: ${BATCH_IS_OVER}`);
      everything = true;
      return batch;
    },
    async commit(options) {
      if (isOver) throw new TypeError(`batch.commit: ${BATCH_IS_OVER}`);
      const settings = parseBatchOptions("batch.commit", options);
      isOver = true;
      const { requests, divided } = requestsOf(calls, everything, settings.options.refresh === true);
      return requests.length === 0 ? null : await sendBatch(requests, divided, settings, sender);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
    },
  };
  return batch;
}

/** Does the work, then sends the collected items. If the work fails, nothing is sent. */
export async function batchAround<T>(
  work: (batch: PurgeCollector) => T | Promise<T>,
  options: BatchOptions | undefined,
  sender: BatchSender,
): Promise<BatchOutcome<T>> {
  if (typeof work !== "function") throw new TypeError("batch: the first argument must be a function; or leave it out");
  parseBatchOptions("batch", options);
  const batch = createBatch(sender);
  const { urls, tags, prefixes, hosts, add, everything } = batch;
  // Without commit: the batch is sent when the work is done.
  const collector = { urls, tags, prefixes, hosts, add, everything } as PurgeCollector;
  try {
    const value = await work(collector);
    return { value, receipt: await batch.commit(options) };
  } finally {
    await batch[Symbol.asyncDispose]();
  }
}

const BATCH_IS_OVER = "this batch has ended; begin another one";

function requestsOf(
  calls: readonly PurgeItems[],
  everything: boolean,
  refresh: boolean,
): { requests: readonly PurgeRequest[]; divided: readonly DividedCall[] } {
  if (everything) return { requests: [{ everything: true }], divided: [] };
  return divideIntoPurges(calls, refresh ? { ...PURGE_LIMITS, urls: MAX_REFRESH_URLS } : PURGE_LIMITS);
}

interface BatchSettings {
  readonly options: PurgeOptions;
  readonly onReceipt: BatchOptions["onReceipt"];
}

/** Of the 128 characters of an id, the rest is for the numbers of the purges that a batch may become. */
const MAX_BATCH_ID_LENGTH = 120;

/** Checks the options of a batch. Throws a `TypeError`. */
export function parseBatchOptions(name: string, { onReceipt, ...options }: BatchOptions = {}): BatchSettings {
  const { id = "" } = parseOptions(name, options);
  if (id.length > MAX_BATCH_ID_LENGTH) {
    throw new TypeError(`${name}, options: id: can have at most ${MAX_BATCH_ID_LENGTH} characters in a batch`);
  }
  if (onReceipt !== undefined && typeof onReceipt !== "function") {
    throw new TypeError(`${name}, options: onReceipt: must be a function`);
  }
  return { options, onReceipt };
}

async function sendBatch(
  requests: readonly PurgeRequest[],
  divided: readonly DividedCall[],
  { options, onReceipt }: BatchSettings,
  { run, send, newId }: BatchSender,
): Promise<BatchReceipt> {
  const isOne = requests.length === 1;
  const id = isOne ? options.id : (options.id ?? newId());
  const calls = requests.map((request, index) => {
    const refresh = request.urls ? options.refresh : undefined;
    return parseCall("batch.commit", request, { ...options, refresh, id: isOne ? id : `${id}.${index + 1}` });
  });
  const sendAll = isOne ? sendOnly : sendInTurn;
  const receipts = await run(() =>
    sendAll(calls, send, (receipt, done) => onReceipt?.(receipt, { done, purges: calls.length })),
  );
  return { ...joinReceipts(receipts, newestOf(receipts)), receipts, divided };
}
