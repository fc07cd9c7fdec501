import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3",
    requirement: "any response with a lifetime may be stored",
    does: "Only if the request's unkeyed fields were [usual ones](security.md#what-of-a-request-reaches-the-origin), at most 1024 characters each and 4096 together; for errors also only without cookies that count, and with an `Accept` that takes HTML or anything.",
    scenarios: [
      "identity/unusual-field",
      "identity/unusual-characters",
      "identity/long-field-value",
      "identity/too-much-field-text",
      "identity/unusual-field-in-vary",
      "identity/method-override-is-dropped",
      "identity/error-with-cookies",
      "identity/error-for-odd-accept",
      "identity/error-for-keyed-accept",
    ],
  },
  {
    table: "caching",
    section: "3, 4.1",
    requirement: "our own rule: what the client's software or something on the way adds to requests selects nothing",
    does: "Traces, numbers of requests, the names of apps and the like do not reach the origin where the answer may be stored, except for `traceparent`. In `Vary` they mean nothing.",
    scenarios: [
      "identity/software-fields",
      "identity/software-fields-pass",
      "identity/script-marks-its-requests",
      "identity/webview-and-vary",
    ],
  },
  {
    table: "caching",
    section: "3, 4.1",
    requirement: "our own rule: the owner may say what fields mean",
    does: "`fields.drop`: they do not reach the origin where the answer may be stored. `fields.trust`: they do, and its answers are stored for everybody; `Vary` is obeyed, errors are not stored, and claims, cookies and what speaks of credentials are not trusted.",
    scenarios: [
      "identity/dropped-fields",
      "identity/trusted-fields",
      "identity/trusted-fields-and-vary",
      "identity/trusted-fields-and-errors",
      "identity/trusted-pattern-and-credentials",
    ],
  },
  {
    table: "semantics",
    section: "9211 §2.8",
    requirement: "`detail` is a token or a string",
    does: "A token, and a string for `unkeyed-field` and the name of the field behind a colon, at most 64 characters of it.",
    scenarios: ["identity/unkeyed-field-is-named"],
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
    does: "Yes; `proxy-revalidate` is not enough, and nothing stale is served. Answers to such requests are stored with a status of 200, 203, 204, 300, 301 or 308 and with `public` or `s-maxage` above 0, for the lifetime that the origin gives; nobody waits for them.",
    scenarios: [
      "identity/authorization-and-shared-answers",
      "identity/authorization-and-statuses",
      "identity/authorization-and-ttl",
      "identity/authorization-and-vary",
      "identity/authorization-is-not-joined",
      "identity/authorization-and-conditions",
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
