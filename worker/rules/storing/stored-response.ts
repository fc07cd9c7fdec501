import type { ReuseRules } from "../directives/reuse-rules.ts";
import { fieldIn } from "../fields/fields.ts";
import { EVERYTHING_PURGE_KEY, readPurgeKey, urlPurgeKeys } from "../key/purge-key.ts";
import type { VariantFields } from "../variants/vary.ts";

/** How far the purge view had read when the fetch of a response began (rule R1 in docs/protocol.md). */
export interface Stamp {
  readonly logId: string;
  readonly seq: number;
}

/**
 * A stored response without its body. Both tiers store the same.
 *
 * The parts that only answers need may be parsed when they are first read. A spread would lose them, so this is
 * declared as a class and not as an interface: the compiler then rejects a spread.
 */
export declare abstract class StoredHead {
  /** Its key in the store: the primary cache key, or that of its variant. */
  readonly key: string;
  /**
   * The fields of the request that selected it, with their values; empty for a response that does not vary. RFC 9111
   * §4.1.
   */
  abstract get variant(): VariantFields;
  readonly status: number;
  /** End-to-end fields as clients see them, with names in lower case. */
  abstract get fields(): StoredFields;
  /** Fields that are kept from clients, but needed again when a 304 updates the others. */
  abstract get hiddenFields(): StoredFields;
  readonly bodyBytes: number;
  /** The key of the body if it is stored apart from the head; `null` if it is stored with it. */
  readonly bodyKey: string | null;
  /** The start of its latest fetch or validation (R2): epoch milliseconds of this PoP's clock. */
  readonly fetchedAt: number;
  /** The arrival of that answer's head: epoch milliseconds of this PoP's clock. */
  readonly receivedAt: number;
  readonly initialAgeMs: number;
  readonly freshnessSeconds: number;
  /** Whether and how long it may be used when it is stale. */
  readonly reuse: ReuseRules;
  /** True if it may answer a request with `Authorization`. RFC 9111 §3.5. */
  readonly sharedWithAuthorized: boolean;
  /** True if it may answer a request with a framework's session, for the origin itself said that it may be stored. */
  readonly sharedWithSessions: boolean;
  /** The purge keys that do not follow from its key: those of its tags and groups, in no order. */
  abstract get givenPurgeKeys(): readonly string[];
  /** `null` if no view was held when the fetch began. Every usable view then refuses it. */
  readonly stamp: Stamp | null;
}

/** What decides whether a stored response is purged. */
export type PurgeableHead = Pick<StoredHead, "key" | "givenPurgeKeys" | "stamp"> &
  Partial<Pick<StoredHead, "receivedAt">>;

/** Names and values in turn. */
export type StoredFields = readonly string[];

/** A stored response with its body. */
export interface StoredResponse {
  readonly head: StoredHead;
  /** `null` where the body is stored apart, under `head.bodyKey`. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/**
 * The entry under the primary key of a URL whose responses vary. It decides nothing: each response is itself compared
 * with the request (R19).
 */
export interface VariantMarker {
  readonly head: Pick<StoredHead, "key" | "stamp" | "fetchedAt">;
  /** The stored variants, the most recently used first. */
  readonly variants: readonly Variant[];
}

export interface Variant {
  readonly key: string;
  readonly fields: VariantFields;
  /** Its `Content-Encoding`; `null` for none. */
  readonly encoding: string | null;
  /** The start of its latest fetch or validation, and the end of its freshness: epoch milliseconds. */
  readonly fetchedAt: number;
  readonly freshUntil: number;
  /** The fields by which it varies by itself, and not because others of its URL do. */
  readonly variesBy: readonly string[];
}

/** The value that a tier stores under one key. */
export type Stored = StoredResponse | VariantMarker;

export function isMarker(stored: { readonly head: unknown }): stored is VariantMarker {
  return "variants" in stored;
}

/** Whether `held` has a later stamp of the same log than `stored`, or the same stamp and a later fetch. */
export function isNewer(held: Stored, stored: Stored): boolean {
  const [a, b] = [held.head.stamp, stored.head.stamp];
  if (a?.logId !== b?.logId) return false;
  if (a && b && a.seq !== b.seq) return a.seq > b.seq;
  return held.head.fetchedAt > stored.head.fetchedAt;
}

/** One field of a stored response; `null` if it does not have the field. */
export function storedField({ fields }: Pick<StoredHead, "fields">, name: string): string | null {
  return fieldIn(fields, name);
}

/**
 * The validators of a stored response, for validation and for comparison with a client's conditions. RFC 9110 §8.8, RFC
 * 9111 §4.3.2.
 */
export function validatorsOf(head: Pick<StoredHead, "fields">): {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly date: string | null;
} {
  return {
    etag: storedField(head, "etag"),
    lastModified: storedField(head, "last-modified"),
    date: storedField(head, "date"),
  };
}

/**
 * The keys by which purges find a stored response, in no order. They are made when they are needed, because most responses
 * are gone before a purge that is newer than they are.
 */
export function purgeKeysOf({ key, givenPurgeKeys }: Pick<StoredHead, "key" | "givenPurgeKeys">): string[] {
  return [EVERYTHING_PURGE_KEY, ...urlPurgeKeys(key), ...givenPurgeKeys];
}

/** The tags of a stored response. */
export function tagsOf({ givenPurgeKeys }: Pick<StoredHead, "givenPurgeKeys">): string[] {
  return givenPurgeKeys.flatMap((key) => {
    const item = readPurgeKey(key);
    return item?.kind === "tag" ? [item.tag] : [];
  });
}

/** The same head with these changes. */
export function changedHead(head: StoredHead, change: Partial<StoredHead>): StoredHead {
  const { variant, fields, hiddenFields, givenPurgeKeys } = head;
  return { ...head, variant, fields, hiddenFields, givenPurgeKeys, ...change };
}
