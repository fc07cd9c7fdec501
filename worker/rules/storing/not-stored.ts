/**
 * The reasons for not storing an answer, as the `detail` of `Cache-Status` gives them, in the order in which they are
 * checked. The first one that holds is given. What shows only on the body's way, after the fields have been sent, is
 * counted and explained alone.
 */
export type NotStoredBecause =
  // Reasons in the request: `storable.ts`.
  | "request-no-store"
  // Reasons in the response: `storable.ts`.
  | "authorization"
  | "status"
  | "unreadable-cache-control"
  | "no-store"
  | "private"
  | "x-accel-expires"
  | "sendfile"
  | "set-cookie"
  | "vary"
  | "cookie"
  | "error-for-odd-request"
  | "unframed-body"
  | "no-freshness"
  | "no-cache"
  | "stale-on-arrival"
  // Limits of this cache: `may-store.ts`, which can also give "vary", and `flow/storing/storage-decision.ts`.
  | "vary-too-long"
  | "coding"
  | "too-many-parts"
  | "too-many-tags"
  | "tag-invalid"
  | "unkeyed-field"
  | "redirects-to-itself"
  | "too-large"
  // Not a rule of this cache: its parent's are others.
  | "other-rules"
  // Not a rule: this isolate is already storing the same large body (`flow/storing/fetch-and-store.ts`).
  | "being-stored"
  // Not rules: the copy was given up, or broke off, while the body was on its way (`flow/storing/fill.ts`).
  | "over-budget"
  | "cut-off";

/** The reason why an answer is not stored. */
export interface NotStored {
  readonly because: NotStoredBecause;
  /** The name of the field that is to blame, where it is one that is not in the key. */
  readonly field?: string;
  /** What of the answer is to blame: the name of a field that hands out credentials, or what cannot be read. */
  readonly given?: string;
}

/** The reason in one word, with what is to blame after a colon. */
export function notStoredDetail({ because, given, field = given }: NotStored): string {
  return field === undefined ? because : `${because}:${field}`;
}

/** Whether the request itself may have caused this answer, so that another request may get one that can be stored. */
export function mayBeOfOneRequest(because: NotStoredBecause, status: number): boolean {
  if (because === "status" || because === "unkeyed-field") return true;
  if (because === "vary-too-long" || because === "too-many-parts") return true;
  return status >= 400 && (because === "error-for-odd-request" || because === "no-freshness");
}

/**
 * Whether a full answer that is not stored shows that what is stored is out of date. RFC 9111 §4.3.3. Most errors may be
 * about this request or moment alone, and so may an answer whose reason lies in the request.
 */
export function isAboutPage(because: NotStoredBecause, status: number): boolean {
  if (status >= 400) return status === 404 || status === 410;
  return because !== "request-no-store" && because !== "other-rules" && !mayBeOfOneRequest(because, status);
}

/**
 * Whether the origin has withdrawn the stored response: these bytes are now for one visitor, must not be stored, or cannot
 * be selected by any request (`Vary: *`, RFC 9111 §4.1).
 */
export function isWithdrawal(because: NotStoredBecause | null): boolean {
  return (
    because === "private" || because === "no-store" || because === "unreadable-cache-control" || because === "vary"
  );
}
