import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3",
    requirement: "any response with a lifetime may be stored",
    does: "Only if the request's unkeyed fields were [usual ones](security.md#what-of-a-request-reaches-the-origin), at most 1024 characters each and 4096 together; for errors also only without cookies that count.",
    scenarios: [
      "identity/unusual-field",
      "identity/unusual-characters",
      "identity/long-field-value",
      "identity/too-much-field-text",
      "identity/unusual-field-in-vary",
      "identity/method-override-is-dropped",
      "identity/error-with-cookies",
    ],
  },
  {
    table: "caching",
    section: "3, 4",
    requirement: "our own rule: an unusual request's error",
    does: "Not shared; no answer to such a request changes or removes what is stored.",
    scenarios: [
      "identity/unusual-request-with-followers",
      "identity/unusual-request-removes-nothing",
      "identity/unusual-request-validates",
    ],
  },
  {
    table: "caching",
    section: "3.5",
    requirement:
      "a stored response serves a request with `Authorization` only with `public`, `s-maxage` or `must-revalidate`",
    does: "Yes; `proxy-revalidate` is not enough, and nothing stale is served. Answers to such requests are **never stored**: one field that an origin forgot to look at would show one visitor's page to all.",
    scenarios: [
      "identity/authorization-is-never-stored",
      "identity/authorization-served-from-store",
      "directives/authorization-and-s-maxage",
      "directives/authorization-and-must-revalidate",
      "directives/authorization-and-proxy-revalidate",
      "stale-while-revalidate/with-authorization",
      "stale-if-error/with-authorization",
    ],
  },
  {
    table: "caching",
    section: "7.1",
    requirement: "cache poisoning",
    does: "Only keyed fields and those in `Vary` may select: [security](security.md).",
    scenarios: ["identity/unusual-field"],
  },
];
