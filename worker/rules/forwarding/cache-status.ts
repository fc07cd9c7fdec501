/** The outcome of a request in nginx's words. All outcomes but `BYPASS` come from a lookup. */
export type XCache = "HIT" | "MISS" | "EXPIRED" | "REVALIDATED" | "UPDATING" | "STALE" | "BYPASS";

/** Why a request went to the origin. RFC 9211 §2.2. */
export type ForwardReason = "bypass" | "method" | "uri-miss" | "vary-miss" | "stale" | "request" | "partial";

/** The outcome of a request in the terms of RFC 9211. */
export type Outcome =
  /** `ttlSeconds` is 0 or less for a stale response; `detail` then says why it was used. */
  | { readonly kind: "hit"; readonly ttlSeconds: number; readonly detail?: string }
  | {
      readonly kind: "forwarded";
      readonly reason: ForwardReason;
      readonly status?: number | undefined;
      readonly stored: boolean;
      readonly collapsed: boolean;
      readonly detail?: string | undefined;
    }
  | { readonly kind: "answered-by-edge"; readonly detail: string };

/** One member of `Cache-Status`. RFC 9211 §2: a structured field list whose parameters are integers, tokens, strings. */
export function cacheStatusMember(outcome: Outcome): string {
  switch (outcome.kind) {
    case "hit":
      return `tidemark; hit; ttl=${outcome.ttlSeconds}${detail(outcome.detail)}`;
    case "forwarded": {
      let member = `tidemark; fwd=${outcome.reason}`;
      if (outcome.status !== undefined) member += `; fwd-status=${outcome.status}`;
      if (outcome.stored) member += "; stored";
      if (outcome.collapsed) member += "; collapsed";
      return member + detail(outcome.detail);
    }
    case "answered-by-edge":
      return `tidemark${detail(outcome.detail)}`;
  }
}

/** A string or a token, as RFC 9211 §2.8 lets a cache choose: what more than one word says is a string. RFC 9651 §3.3. */
function detail(text: string | undefined): string {
  if (text === undefined) return "";
  return `; detail=${/^[a-z][a-z0-9-]*$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`}`;
}
