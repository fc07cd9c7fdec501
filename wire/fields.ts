/** The names that both ends of the purge contract write on the wire. */

/** Where the control plane lives on every host of the site. */
export const CONTROL_PREFIX = "/_tidemark/";

/** A request field: fetch from the origin although a copy is held. Its value is a token with the scope `purge`. */
export const REFRESH_FIELD = "tidemark-refresh";

/** A request field: answer only from what is at least as far along as this receipt's token. */
export const AFTER_FIELD = "tidemark-after";

/** The same as a cookie, for an editor's browser. */
export const AFTER_COOKIE = "tidemark-after";

/** A request field with the meaning of `id` in the body of a purge. */
export const IDEMPOTENCY_FIELD = "idempotency-key";

/** The field in which the SDK's `tagResponse` writes tags. The edge reads it and removes it. */
export const TAG_FIELD = "cache-tag";

/** The longest tag, in bytes of printable ASCII. */
export const MAX_TAG_BYTES = 256;
