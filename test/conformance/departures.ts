import type { Grade } from "./public-suite.ts";

/** Tests of the public suite that Tidemark does not meet, and why. */
export interface Departure {
  readonly grade: Exclude<Grade, "met">;
  readonly because: string;
  readonly tests: readonly string[];
}

/** What the suite calls required. None of these is a requirement of RFC 9110 or RFC 9111. */
export const notMet: readonly Departure[] = [
  {
    grade: "not met",
    because:
      "the suite is older than RFC 9111 §5.1: of several ages the first counts, and one that is no number is ignored",
    tests: [
      "age-parse-nonnumeric",
      "age-parse-negative",
      "age-parse-float",
      "age-parse-prefix-twoline",
      "age-parse-dup-0",
      "age-parse-dup-0-twoline",
      "age-parse-dup-old",
      "age-parse-parameter",
      "age-parse-numeric-parameter",
    ],
  },
  {
    grade: "not met",
    because:
      "this release of the suite takes the 502 of a cache without its origin for a stored page; its revision b55b8bda does not",
    tests: [
      "stale-close-must-revalidate",
      "stale-close-proxy-revalidate",
      "stale-close-no-cache",
      "stale-close-s-maxage=2",
    ],
  },
  {
    grade: "not met",
    because: "no cookie of a 304 gets into a page that others are served",
    tests: ["304-etag-update-response-Set-Cookie2"],
  },
  {
    grade: "not set up",
    because: "a page that sets a cookie is not stored",
    tests: ["headers-store-Set-Cookie", "304-etag-update-response-Set-Cookie"],
  },
  {
    grade: "not set up",
    because: "a page in a coding that nobody has asked for is not stored",
    tests: ["headers-store-Content-Encoding", "304-etag-update-response-Content-Encoding"],
  },
  {
    grade: "not set up",
    because: "an answer in an unknown transfer coding is no answer (RFC 9112 §6.1)",
    tests: ["headers-store-Transfer-Encoding"],
  },
  {
    grade: "not set up",
    because:
      "a 304 with another strong tag confirms nothing (RFC 9111 §4.3.4), and the suite's origin has no whole answer to the next request",
    tests: ["304-etag-update-response-ETag"],
  },
  {
    grade: "not met",
    because: "the field is for a surrogate of another name: the edge announces none",
    tests: ["surrogate-fresh-cc-nostore"],
  },
  {
    grade: "for browsers",
    because: "the suite does not ask a shared cache",
    tests: [
      "freshness-max-age-s-maxage-private",
      "freshness-max-age-s-maxage-private-multiple",
      "cc-resp-immutable-stale",
    ],
  },
];

/** What a cache may do, and Tidemark does not. */
export const notTaken: readonly Departure[] = [
  { grade: "not met", because: "only GET is stored", tests: ["method-POST"] },
  {
    grade: "not met",
    because: "parts are not stored, only cut from a whole page ([0050](decisions/0050-parts-are-not-put-together.md))",
    tests: [
      "partial-store-partial-reuse-partial",
      "partial-store-partial-reuse-partial-byterange",
      "partial-store-partial-reuse-partial-absent",
      "partial-store-partial-reuse-partial-suffix",
      "partial-store-partial-complete",
    ],
  },
  { grade: "not met", because: "a page that sets a cookie is not stored", tests: ["other-set-cookie"] },
  {
    grade: "not met",
    because:
      "the stored page is dated later than the client's, so it is not the one that the client has (RFC 9111 §4.3.2)",
    tests: ["conditional-lm-fresh-no-lm"],
  },
  {
    grade: "not met",
    because:
      "an answer to credentials is stored only where the origin says public or s-maxage: must-revalidate says not that it is for everybody",
    tests: ["other-authorization-must-revalidate"],
  },
  {
    grade: "not met",
    because: "the field is for a surrogate of another name: the edge announces none",
    tests: ["surrogate-max-age-me-target"],
  },
  {
    grade: "for browsers",
    because: "the suite does not ask a shared cache",
    tests: ["cc-resp-private-private", "cc-resp-immutable-fresh"],
  },
];

/** The Workers runtime answers M-SEARCH with 501 before any worker sees it. */
export const ofTheRuntime: readonly Departure[] = [
  {
    grade: "not set up",
    because: "the runtime does not know the method",
    tests: ["invalidate-M-SEARCH", "invalidate-M-SEARCH-cl"],
  },
  { grade: "depends", because: "the runtime does not know the method", tests: ["invalidate-M-SEARCH-failed"] },
];
