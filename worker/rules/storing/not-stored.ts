/**
 * Why an answer is not stored, as the `detail` of `Cache-Status` says it, in the order in which the reasons are
 * checked: the first one that holds is given.
 */
export type NotStoredBecause =
  // The request: `storable.ts`.
  | "request-no-store"
  // The response: `storable.ts`.
  | "authorization"
  | "status"
  | "no-store"
  | "private"
  | "set-cookie"
  | "vary"
  | "cookie"
  | "error-for-odd-request"
  | "unframed-body"
  | "no-freshness"
  | "no-cache"
  | "stale-on-arrival"
  // The limits of this cache: `may-store.ts`, which may also give "vary" once more.
  | "vary-too-long"
  | "too-many-tags"
  | "tag-invalid"
  | "unkeyed-field"
  | "redirects-to-itself"
  | "too-large"
  // Not a rule: this isolate is storing the same large body already (`flow/storing/fetch-and-store.ts`).
  | "being-stored";

/** That an answer is not stored, and why. */
export interface NotStored {
  readonly because: NotStoredBecause;
  /** The name of the field that is to blame, where it is one that is not in the key. */
  readonly field?: string;
}

/** The reason in one word, with the field behind a colon. */
export function notStoredDetail({ because, field }: NotStored): string {
  return field === undefined ? because : `${because}:${field}`;
}

/** Whether the answer may be the doing of the request that fetched it, so that another request may get a better one. */
export function mayBeOfOneRequest(because: NotStoredBecause, status: number): boolean {
  if (because === "status" || because === "unkeyed-field") return true;
  return status >= 400 && (because === "error-for-odd-request" || because === "no-freshness");
}

/** Whether the origin has taken back what is stored: these bytes are for one visitor now, or for no store. */
export function isWithdrawal(because: NotStoredBecause | null): boolean {
  return because === "private" || because === "no-store";
}
