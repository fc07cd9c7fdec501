import type { Fetched } from "./history.ts";

/** The directives of an origin's pages, in words and in seconds. */
export interface Directives {
  readonly said: string;
  readonly audience: Fetched["audience"];
  readonly fresh: number;
  readonly whileRevalidate?: number;
  readonly ifError?: number;
}

export const DIRECTIVES: readonly Directives[] = [
  { said: "max-age=600", audience: "unsaid", fresh: 600 },
  { said: "max-age=600, public", audience: "all", fresh: 600 },
  { said: "s-maxage=600", audience: "all", fresh: 600 },
  { said: "max-age=1, stale-if-error=2", audience: "unsaid", fresh: 1, ifError: 2 },
  {
    said: "max-age=1, stale-while-revalidate=3, stale-if-error=60",
    audience: "unsaid",
    fresh: 1,
    whileRevalidate: 3,
    ifError: 60,
  },
  { said: "max-age=1, public, stale-while-revalidate=60", audience: "all", fresh: 1, whileRevalidate: 60 },
  { said: "max-age=1, must-revalidate, stale-while-revalidate=60, stale-if-error=60", audience: "unsaid", fresh: 1 },
  { said: "no-cache", audience: "unsaid", fresh: 0 },
  { said: "private, max-age=600", audience: "one", fresh: 600 },
  { said: "no-store", audience: "one", fresh: 0 },
  { said: "max-age=600, s-maxage=0", audience: "unsaid", fresh: 0 },
];

/** Those of pages that everybody may be shown for long. */
export const LONG_LIVED: readonly Directives[] = DIRECTIVES.filter(
  ({ audience, fresh }) => fresh === 600 && audience !== "one",
);

/** The language of a page for a request with this `Accept-Language`. */
export function languageOf(asked: string | undefined): string {
  return asked || "en";
}
