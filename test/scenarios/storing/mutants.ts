import type { Mutants } from "../../mutants/mutant.ts";

const CACHE_KEY = "worker/rules/key/cache-key.ts";
const CORRIDOR = "worker/flow/corridor.ts";
const FRESHNESS_LIFETIME = "worker/rules/freshness/freshness-lifetime.ts";
const MAY_STORE = "worker/rules/storing/may-store.ts";
const STORABLE_STATUS = "worker/rules/storing/storable-status.ts";

/** Wrong rules of what is stored. */
export const mutants: Mutants = {
  "malformed-is-fresh": {
    name: "a lifetime that is not a number counts as an hour",
    file: "worker/rules/directives/delta-seconds.ts",
    from: 'typeof value === "number" ? value : 0',
    to: 'typeof value === "number" ? value : value === "invalid" ? 3600 : 0',
    reddens: "storing/malformed-max-age-is-not-stored",
  },
  "zero-is-fresh": {
    name: "max-age=0 counts as no max-age",
    file: FRESHNESS_LIFETIME,
    from: "seconds: secondsOrNone(maxAge)",
    to: "seconds: secondsOrNone(maxAge) || 60",
    reddens: "storing/max-age-zero-is-not-stored",
  },
  "public-is-fresh": {
    name: "public alone makes a response fresh",
    file: FRESHNESS_LIFETIME,
    from: 'seconds: 0, source: "none"',
    to: 'seconds: cacheControl.public ? 60 : 0, source: "none"',
    reddens: "storing/public-alone-is-not-stored",
  },
  "long-queries-are-stored": {
    name: "a query one character longer than the route allows is stored",
    file: CACHE_KEY,
    from: "value.length <= maxLength",
    to: "value.length <= maxLength + 1",
    reddens: "storing/long-queries-kept-out",
  },
  "longest-query-is-not-stored": {
    name: "a query exactly as long as the route allows is not stored",
    file: CACHE_KEY,
    from: "value.length <= maxLength",
    to: "value.length < maxLength",
    reddens: "storing/long-queries-kept-out",
  },
  "one-short-value-is-enough": {
    name: "of a parameter that comes twice, one short value is enough",
    file: CACHE_KEY,
    from: "queryValues(search, name).every(",
    to: "queryValues(search, name).some(",
    reddens: "storing/long-queries-kept-out",
  },
  "unknown-statuses-are-not-stored": {
    name: "an unknown status is not stored, whatever lifetime is stated",
    file: "worker/rules/storing/storable.ts",
    from: "cacheControl.mustUnderstand && !isUnderstoodStatus(status)",
    to: "!isUnderstoodStatus(status)",
    reddens: "storing/any-status-with-lifetime",
  },
  "errors-are-not-stored": {
    name: "no error is stored",
    file: STORABLE_STATUS,
    from: "status >= 200 && status <= 599",
    to: "status >= 200 && status <= 399",
    reddens: "storing/any-status-with-lifetime",
  },
  ...Object.fromEntries(
    [206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511].map((status) => [
      `${status}-is-stored`,
      {
        name: `a ${status} is stored`,
        file: STORABLE_STATUS,
        from: "!NEVER_STORED.has(status);",
        to: `(status === ${status} || !NEVER_STORED.has(status));`,
        reddens: "storing/statuses-never-stored",
      },
    ]),
  ),
  "via-is-not-shown": {
    name: "the client gets no Via",
    file: "worker/flow/answering/answers.ts",
    from: 'fields.append("via", "1.1 tidemark");',
    to: "",
    reddens: "storing/status-fields-and-body",
  },
  "shared-tier-stays-empty": {
    name: "nothing is put into the shared tier",
    file: "worker/store/tiered-store.ts",
    from: "await this.#shared.put(stored);",
    to: "",
    reddens: "storing/found-by-another-isolate",
  },
  "shared-tier-is-not-asked": {
    name: "the shared tier is not looked at",
    file: "worker/store/tiered-store.ts",
    from: "return this.#orReport(() => this.#shared.get(key));",
    to: "return Promise.resolve(undefined);",
    reddens: "storing/found-after-restart",
  },
  "another-isolates-entry-is-refused": {
    name: "an entry that is found in the shared tier is ignored",
    file: CORRIDOR,
    from: "[selectInMemory(context), found]",
    to: "[selectInMemory(context)]",
    reddens: "storing/found-after-restart",
  },
  "no-store-is-stored": {
    name: "no-store does not prevent storing",
    file: "worker/rules/storing/storable.ts",
    from: "if (cacheControl.noStore && !cacheControl.mustUnderstand)",
    to: "if (false)",
    reddens: "storing/no-store-is-not-stored",
  },
  "private-is-stored": {
    name: "private does not prevent storing",
    file: "worker/rules/storing/storable.ts",
    from: 'if (cacheControl.private === "whole")',
    to: "if (false)",
    reddens: "storing/private-is-not-stored",
  },
  "no-cache-is-stored": {
    name: "a response with no-cache is treated as fresh",
    file: "worker/rules/directives/reuse-rules.ts",
    from: 'validateAlways: noCache === "whole"',
    to: "validateAlways: false",
    reddens: "storing/no-cache-is-not-stored",
  },
  "every-status-is-stored": {
    name: "every status is stored",
    file: "worker/rules/storing/storable.ts",
    from: "if (!isStorableStatus(status))",
    to: "if (false)",
    reddens: "storing/status-of-one-request",
  },
  "errors-are-fresh-unasked": {
    name: "a response without explicit freshness is fresh for a minute",
    file: "worker/rules/freshness/freshness-lifetime.ts",
    from: 'seconds: 0, source: "none"',
    to: 'seconds: 60, source: "none"',
    reddens: "storing/error-without-freshness",
  },
  "set-cookie-is-stored": {
    name: "one visitor's Set-Cookie is stored for everybody",
    file: "worker/rules/storing/storable.ts",
    from: 'if (field("set-cookie") !== null && ',
    to: "if (false && ",
    reddens: "storing/set-cookie-is-not-stored",
  },
  "vary-star-is-stored": {
    name: "Vary: * counts as a field that selects nothing",
    file: "worker/rules/variants/vary.ts",
    from: 'if (name === "*" || ',
    to: "if (",
    reddens: "storing/vary-star-is-not-stored",
  },
  "stale-on-arrival-is-stored": {
    name: "a response that arrives just as old as its lifetime is stored",
    file: "worker/rules/storing/storable.ts",
    from: "ageMs < usableSeconds * 1000",
    to: "ageMs <= usableSeconds * 1000",
    reddens: "storing/stale-on-arrival",
  },
  "long-tag-is-stored": {
    name: "a response with a tag that no purge can name is stored",
    file: "worker/rules/storing/tags.ts",
    from: "text.length <= MAX_TAG_BYTES && ",
    to: "",
    reddens: "storing/tag-too-long",
  },
  "bodiless-answer-is-unframed": {
    name: "a 204 is not stored, because it has no length",
    file: "worker/rules/storing/framing.ts",
    from: "if (status === 204) return true;",
    to: "",
    reddens: "storing/response-without-body",
  },
  "head-is-a-get": {
    name: "a HEAD is treated as a GET",
    file: "worker/flow/request-context.ts",
    from: "new RequestFacts(method, ",
    to: 'new RequestFacts("GET", ',
    reddens: "storing/head-miss-stores-nothing",
  },
  "statuses-are-forgotten": {
    name: "every response from store has status 200",
    file: "worker/flow/storing/storage-decision.ts",
    from: `variant,
      status,`,
    to: `variant,
      status: 200,`,
    reddens: "storing/status-fields-and-body",
  },
};
