import { MAX_PURGE_BYTES, MAX_PURGE_ITEMS } from "../../wire/purge-request.ts";
import { ITEM_KINDS, type PurgeItems, type PurgeRequest } from "../purge-request.ts";

/** A call of a batch whose items were sent in several purges. */
export interface DividedCall {
  items: readonly string[];
  /** The indexes of these purges in `receipts`. */
  purges: readonly number[];
}

/** The most that one purge may name. */
export interface PurgeLimits {
  readonly items: number;
  /** Bytes of the items as JSON. */
  readonly bytes: number;
  readonly urls: number;
}

/** The bytes that a purge needs besides its items: `reason`, `id` and the names of its fields. */
const ENVELOPE_BYTES = 8 * 1024;

/** The most that any purge may name. */
export const PURGE_LIMITS: PurgeLimits = {
  items: MAX_PURGE_ITEMS,
  bytes: MAX_PURGE_BYTES - ENVELOPE_BYTES,
  urls: Number.POSITIVE_INFINITY,
};

type Kind = keyof PurgeItems;

/** One item of a call. */
export interface Item {
  readonly kind: Kind;
  readonly text: string;
  /** A key that no item of another kind has. */
  readonly key: string;
  readonly bytes: number;
}

/**
 * Divides the items of calls into as few purges as their order allows. The items of one call stay in one purge if they
 * fit into one; for that, an item that several calls name may be in several purges. A larger call fills one purge after
 * another, and is reported.
 */
export function divideIntoPurges(
  calls: readonly PurgeItems[],
  limits: PurgeLimits,
): { requests: readonly PurgeRequest[]; divided: readonly DividedCall[] } {
  const purges: Purge[] = [];
  /** The last purge that names an item. */
  const purgeOf = new Map<string, number>();
  const divided: DividedCall[] = [];

  const put = (items: readonly Item[]) => {
    if (!purges.at(-1)?.hasRoomFor(items)) purges.push(new Purge(limits));
    for (const item of items) {
      purges.at(-1)!.add(item);
      purgeOf.set(item.key, purges.length - 1);
    }
  };

  for (const call of calls) {
    const items = itemsOf(call);
    const [first, ...others] = new Set(items.map(({ key }) => purgeOf.get(key)));
    if (first !== undefined && others.length === 0) continue;
    if (new Purge(limits).hasRoomFor(items)) {
      put(items);
      continue;
    }
    for (const item of items) if (!purgeOf.has(item.key)) put([item]);
    const places = [...new Set(items.map(({ key }) => purgeOf.get(key)!))].sort((a, b) => a - b);
    divided.push({ items: items.map(({ text }) => text), purges: places });
  }
  return { requests: purges.map((purge) => purge.request()), divided };
}

/** A purge that is being filled. It has each item once. */
export class Purge {
  readonly #limits: PurgeLimits;
  readonly #items = new Map<string, Item>();
  #bytes = 0;
  #urls = 0;

  constructor(limits: PurgeLimits) {
    this.#limits = limits;
  }

  hasRoomFor(items: readonly Item[]): boolean {
    let count = this.#items.size;
    let bytes = this.#bytes;
    let urls = this.#urls;
    for (const item of items) {
      if (this.#items.has(item.key)) continue;
      count += 1;
      bytes += item.bytes;
      if (item.kind === "urls") urls += 1;
    }
    return count <= this.#limits.items && bytes <= this.#limits.bytes && urls <= this.#limits.urls;
  }

  add(item: Item): void {
    if (this.#items.has(item.key)) return;
    this.#items.set(item.key, item);
    this.#bytes += item.bytes;
    if (item.kind === "urls") this.#urls += 1;
  }

  /** For a purge that has an item. */
  request(): PurgeRequest {
    const kinds = ITEM_KINDS.flatMap((kind) => {
      const items = [...this.#items.values()].filter((item) => item.kind === kind);
      return items.length === 0 ? [] : [[kind, items.map(({ text }) => text)]];
    });
    return Object.fromEntries(kinds) as PurgeRequest;
  }
}

/** The items of a call, each once. */
export function itemsOf(call: PurgeItems): Item[] {
  const encoder = new TextEncoder(); // Jest's jsdom has none, and imports this module.
  const items = new Map<string, Item>();
  for (const kind of ITEM_KINDS) {
    for (const text of call[kind] ?? []) {
      const key = `${kind} ${text}`;
      // The bytes of an item with the comma after it.
      if (!items.has(key)) items.set(key, { kind, text, key, bytes: encoder.encode(JSON.stringify(text)).length + 1 });
    }
  }
  return [...items.values()];
}
