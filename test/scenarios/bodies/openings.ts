import { page } from "../page.ts";

export const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

export const UPPER = ALPHABET.toUpperCase();

export const large = page("max-age=60", ALPHABET);

export const larger = { ...large, body: UPPER };

export const tagged = { ...large, fields: { "cache-control": "max-age=60", etag: '"1"' } };

/** Here a body of more than ten bytes is large. */
export const SITE = { limits: { storeBytes: 10 } };

export const ALL_DONE = { work: "finished" } as const;

export const COUNTS_BYTES = {
  on: ["memory"],
  because: "only the tier in memory counts the bytes that are read",
} as const;
