/** The most fields of an answer, and bytes of them, that a site may allow. The server reads no more than twice as many. */
export const MOST_RESPONSE_FIELDS = 2_000;
export const MOST_RESPONSE_FIELD_BYTES = 256 * 1024;
