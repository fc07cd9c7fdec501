import { page } from "../page.ts";

/** Fresh for a minute, then usable for 30 seconds in place of an error. */
export const kept = page("max-age=60, stale-if-error=30");

export const newer = { ...kept, body: "v2" };

export const NOT_FRESH = { advanceMs: 60_000 };

export const TOKEN_FIELD = { "tidemark-after": "$token" };

export const RESET_ONCE = {
  on: ["memory"],
  because: "over sockets a GET is sent once more if the kept connection that carried it is reset",
} as const;

export const TIME_OUT = {
  on: ["memory"],
  because: "the wait for the origin is on real time in the runtime and on the server",
} as const;
