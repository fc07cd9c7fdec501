import * as z from "zod/mini";
import { MAX_PURGE_BYTES, purgeRequestSchema, tooManyItems } from "../wire/purge-request.ts";
import { WITH_VALUES } from "./check.ts";
import { misuse } from "./errors.ts";
import { deadlineMsSchema, isUrl, signalSchema } from "./options.ts";

/** How a purge is carried out and recorded: a part of a request, or the options of a call. */
export interface PurgeDetails {
  /**
   * `"hard"`: the named responses are gone. `"soft"`: they become stale. A stale response may still be served while a new
   * one is fetched, for as long as its own `stale-while-revalidate` or the site's `purge.softForMs` allows; after that
   * the origin must confirm it first. Default: `"hard"`.
   */
  mode?: "hard" | "soft" | undefined;
  /**
   * Only report what would be purged. Nothing changes; the receipt has `planned`, perhaps `warnings`, the number 0 and
   * no token. Default: false.
   */
  dryRun?: boolean | undefined;
  /**
   * Identifies this purge, so that it happens once however often it is sent: 1 to 128 printable ASCII characters
   * without spaces. The edge remembers an id for at least a day; the same id for another purge is a `PurgeConflict`.
   * Default: a fresh UUID for each call, which its retries share.
   */
  id?: string | undefined;
  /** The reason for the purge, for the edge's audit trail; at most 500 characters. Default: none. */
  reason?: string | undefined;
  /**
   * Purge the same items once more, this many milliseconds later: from 1 to 86400000, which is a day. It is for a
   * backend whose replicas lag, so that pages fetched from an old replica in the meantime are also purged. The receipt
   * is that of the first purge. Default: the purge is not repeated.
   */
  repeatAfterMs?: number | undefined;
  /**
   * Fetch the purged URLs again at once, in the PoP that receives the call; at most 50 URLs. It needs `urls`. The call
   * resolves only when they have been fetched, so give slow pages a longer `deadlineMs`, and do not await it in a
   * request of the origin, which may wait for itself. Default: false.
   */
  refresh?: boolean | undefined;
}

/** The items of a request. */
export interface PurgeRequestItems {
  /** Paths that start with `/` (the path on every host of the site) or whole `http(s)` URLs (under both schemes). */
  urls?: readonly string[] | undefined;
  /** Tags as responses carry them: printable ASCII without spaces and commas, at most 256 bytes each. */
  tags?: readonly string[] | undefined;
  /**
   * Whole path segments with everything below them: `/shop` on every host, `www.example.com/shop` on one. Queries do
   * not count.
   */
  prefixes?: readonly string[] | undefined;
  /** Hosts of the site, like `www.example.com`, with all of their pages. */
  hosts?: readonly string[] | undefined;
  /** The whole site. */
  everything?: true | undefined;
}

/** An object with at least one of these fields. */
export type AtLeastOne<Fields> = {
  [Name in keyof Fields]-?: Fields & { [Given in Name]-?: Exclude<Fields[Given], undefined> };
}[keyof Fields];

/**
 * What to purge: at least one kind of item, or `everything` alone; at most 10,000 items in all. Either all items are
 * purged or none.
 */
export type PurgeRequest = PurgeDetails & AtLeastOne<PurgeRequestItems>;

/** Options of one call. They override the same fields of the request. */
export interface PurgeOptions extends PurgeDetails {
  /**
   * Ends the call, which rejects with the signal's reason. Whether the purge happened is then unknown. Default: none.
   */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with all its attempts and pauses, and with the wait for other purges if many are running:
   * more than 0, at most 2147483647. A call that takes longer rejects with a `PurgeTimeout`. Default: the purger's
   * `deadlineMs`.
   */
  deadlineMs?: number | undefined;
  /**
   * The trace that the purge belongs to, as the `traceparent` of W3C Trace Context; it is passed on to the edge, and with
   * `refresh` to the origin. Default: none, unless a subscriber of the channel `tidemark:request` adds one.
   */
  traceparent?: string | undefined;
}

/** The field of W3C Trace Context, of any version. */
const traceparentSchema = z.optional(
  z
    .string()
    .check(
      z.regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/, "must be the value of a traceparent field"),
      z.regex(/^[!-~]{1,512}$/, "must be the value of a traceparent field"),
    ),
);

/** Several items, in a list or a set. */
export type ItemList<Item> = readonly Item[] | ReadonlySet<Item>;

/** The items of a request in every accepted form: lists or sets, and URLs as strings or `URL`s. */
export interface PurgeInputItems {
  /** Paths that start with `/` (the path on every host of the site) or whole `http(s)` URLs (under both schemes). */
  urls?: ItemList<string | URL> | undefined;
  /** Tags as responses carry them: printable ASCII without spaces and commas, at most 256 bytes each. */
  tags?: ItemList<string> | undefined;
  /** Whole path segments with everything below them: `/shop` on every host, `www.example.com/shop` on one. */
  prefixes?: ItemList<string> | undefined;
  /** Hosts of the site, like `www.example.com`, with all of their pages. */
  hosts?: ItemList<string> | undefined;
  /** The whole site. */
  everything?: true | undefined;
}

/** A request in every accepted form. It names items of at least one kind, or everything. */
export type PurgeInput = PurgeDetails & AtLeastOne<PurgeInputItems>;

/** The items of a request in every accepted form, without `everything`. */
export type ItemsInput = Omit<PurgeInputItems, "everything">;

/** The kinds of items, without `everything`. */
export const ITEM_KINDS = ["urls", "tags", "prefixes", "hosts"] as const;

/** The items of a request, without `everything`. */
export type PurgeItems = Omit<PurgeRequestItems, "everything">;

/** The items, one by one or in lists and sets, then the options if there are any. */
export type ItemsThenOptions<Item = string> =
  | (Item | ItemList<Item>)[]
  | [...items: (Item | ItemList<Item>)[], options: PurgeOptions];

/** One call of a purger, after its check. */
export interface PurgeCall {
  /** The body to send. Its `id` is absent if the caller gave none. */
  request: PurgeRequest;
  signal: AbortSignal | undefined;
  deadlineMs: number | undefined;
  traceparent: string | undefined;
}

const purgeOptionsSchema = z.strictObject({
  mode: purgeRequestSchema.shape.mode,
  dryRun: purgeRequestSchema.shape.dryRun,
  id: purgeRequestSchema.shape.id,
  reason: purgeRequestSchema.shape.reason,
  refresh: purgeRequestSchema.shape.refresh,
  repeatAfterMs: purgeRequestSchema.shape.repeatAfterMs,
  signal: signalSchema,
  deadlineMs: deadlineMsSchema,
  traceparent: traceparentSchema,
});

/** Checks a request and its options, and joins them. Throws a `TypeError` that begins with the name of the call. */
export function parseCall(name: string, input: PurgeInput, options: PurgeOptions = {}): PurgeCall {
  const { signal, deadlineMs, traceparent, ...details } = parseOptions(name, options);
  const given = Object.entries(details).filter(([, value]) => value !== undefined);
  const request = typeof input === "object" ? { ...withLists(input), ...Object.fromEntries(given) } : input;
  const tooMany = tooManyItems(request);
  if (tooMany) throw new TypeError(`${name}: ${tooMany}`);
  const parsed = purgeRequestSchema.safeParse(request, WITH_VALUES);
  if (!parsed.success) throw misuse(name, parsed.error, purgeRequestSchema);
  return { request: parsed.data as PurgeRequest, signal, deadlineMs, traceparent };
}

/** Why the body of a purge is larger than an edge takes; `null` if it is not. */
export function tooManyBytes(request: PurgeRequest): string | null {
  const { length } = new TextEncoder().encode(JSON.stringify(request));
  if (length <= MAX_PURGE_BYTES) return null;
  return `has ${length} bytes as JSON; one purge can have at most ${MAX_PURGE_BYTES}, so split it`;
}

/** Checks the options of a call. Throws a `TypeError` that begins with the name of the call. */
export function parseOptions(name: string, options: PurgeOptions = {}): PurgeOptions {
  const parsed = purgeOptionsSchema.safeParse(options, WITH_VALUES);
  if (!parsed.success) throw misuse(`${name}, options`, parsed.error, purgeOptionsSchema);
  return parsed.data;
}

const { urls, tags, prefixes, hosts } = purgeRequestSchema.shape;
const itemsSchema = z.strictObject({ urls, tags, prefixes, hosts });

/** Checks items, however many there are, and leaves out empty lists. Throws a `TypeError` that begins with the name. */
export function parseItems(name: string, input: ItemsInput): PurgeItems {
  const lists = typeof input === "object" && input !== null ? Object.entries(withLists(input)) : null;
  const named = lists && Object.fromEntries(lists.filter(([, list]) => !Array.isArray(list) || list.length > 0));
  const parsed = itemsSchema.safeParse(named ?? input, WITH_VALUES);
  if (!parsed.success) throw misuse(name, parsed.error, itemsSchema);
  return parsed.data;
}

/** Separates the items of `purgeUrls` and similar calls from the options after them. */
export function splitOptions<Item>(
  args: ItemsThenOptions<Item>,
): [items: (Item | ItemList<Item>)[], options: PurgeOptions | undefined] {
  const last = args.at(-1);
  const isOptions = typeof last === "object" && last !== null && !isIterable(last) && !isUrl(last);
  // An argument of any other wrong type stays among the items, where the check refuses it.
  return isOptions
    ? [args.slice(0, -1) as (Item | ItemList<Item>)[], last as PurgeOptions]
    : [args as (Item | ItemList<Item>)[], undefined];
}

/** The items of a call in one list, from lists and sets, with `URL`s as strings. They are checked later. */
export function itemsOf(args: readonly (string | URL | ItemList<string | URL>)[]): string[] {
  return args.flatMap((arg) => (isIterable(arg) ? [...arg] : [arg])).map((item) => (isUrl(item) ? item.href : item));
}

/** A request whose sets are lists and whose `URL`s are text; everything else is left to the check. */
function withLists(input: ItemsInput): object {
  const lists = ITEM_KINDS.flatMap((kind) => (isIterable(input?.[kind]) ? [[kind, itemsOf([input[kind]])]] : []));
  return { ...input, ...Object.fromEntries(lists) };
}

/** A string is iterable too, but a string instead of a list is a mistake. */
function isIterable(value: unknown): value is Iterable<string | URL> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
