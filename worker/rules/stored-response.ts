/** What a purge view had reached when the fetch of a response began. Rule R1 in docs/protocol.md. */
export interface Stamp {
  readonly logId: string;
  readonly seq: number;
}

/** All of a stored response but its body. Both tiers keep the same. */
export interface StoredHead {
  /** The primary cache key that it was stored under. */
  readonly key: string;
  readonly status: number;
  /** End-to-end fields as clients get them, names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  /** When the fetch that brought it began: epoch milliseconds of this PoP's clock. */
  readonly fetchedAt: number;
  /** When its head arrived: epoch milliseconds of this PoP's clock. */
  readonly receivedAt: number;
  readonly initialAgeMs: number;
  readonly freshnessSeconds: number;
  /** True if it may answer a request with `Authorization`. RFC 9111 §3.5. */
  readonly sharedWithAuthorized: boolean;
  /** What purges find it under, sorted by nothing: its URL, its path, its tags, everything. */
  readonly purgeKeys: readonly string[];
  /** `null` if no view was held when the fetch began: every usable view refuses it. */
  readonly stamp: Stamp | null;
}

/** A stored response with its body. */
export interface StoredResponse {
  readonly head: StoredHead;
  readonly body: Uint8Array<ArrayBuffer>;
}
