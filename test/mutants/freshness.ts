import type { Mutants } from "./mutant.ts";

const LIFETIME = "worker/rules/freshness/freshness-lifetime.ts";

/** Wrong rules of how long a stored answer is fresh, and how old it is. */
export const freshness: Mutants = {
  "fresh-at-its-end": {
    name: "what is just as old as its lifetime is fresh",
    file: "worker/rules/freshness/judge.ts",
    from: "ageMs < lifetimeMs",
    to: "ageMs <= lifetimeMs",
    reddens: "a response is fresh up to its last millisecond and not beyond",
  },
  "s-maxage-is-not-read": {
    name: "max-age outranks s-maxage",
    file: LIFETIME,
    from: 'if (sMaxage !== "absent")',
    to: 'if (maxAge === "absent" && sMaxage !== "absent")',
    reddens: "s-maxage outranks max-age in a shared cache",
  },
  "expires-is-not-read": {
    name: "Expires gives no lifetime",
    file: LIFETIME,
    from: "if (expires !== null)",
    to: "if (false)",
    reddens: "Expires less Date is the lifetime where Cache-Control gives none",
  },
  "malformed-is-fresh": {
    name: "a lifetime that is no number is an hour",
    file: "worker/rules/directives/delta-seconds.ts",
    from: 'typeof value === "number" ? value : 0',
    to: 'typeof value === "number" ? value : value === "invalid" ? 3600 : 0',
    reddens: "Cache-Control: max-age=1h is not stored",
  },
  "zero-is-fresh": {
    name: "max-age=0 is taken for no max-age",
    file: LIFETIME,
    from: "seconds: secondsOrNone(maxAge)",
    to: "seconds: secondsOrNone(maxAge) || 60",
    reddens: "Cache-Control: max-age=0 is not stored",
  },
  "public-is-fresh": {
    name: "public alone makes an answer fresh",
    file: LIFETIME,
    from: 'seconds: 0, source: "none"',
    to: 'seconds: cacheControl.public ? 60 : 0, source: "none"',
    reddens: "Cache-Control: public is not stored",
  },
  "route-ttl-is-not-used": {
    name: "a route's ttl replaces nothing",
    file: LIFETIME,
    from: "if (rules.ttlSeconds !== undefined && ",
    to: "if (false && ",
    reddens: "a route's ttl replaces the lifetime, but makes nothing storable that is not",
  },
  "default-is-not-used": {
    name: "a route's default lifetime stands in for nothing",
    file: LIFETIME,
    from: "if (rules.defaultTtlSeconds !== undefined)",
    to: "if (false)",
    reddens: "a route's default lifetime applies by status, and only where the origin gives none",
  },
  "default-outranks-the-origin": {
    name: "a route's default lifetime outranks the origin's",
    file: "worker/flow/storing/storage-decision.ts",
    from: "ttlSeconds: route.ttlSeconds,",
    to: "ttlSeconds: route.defaultTtlSeconds(status),",
    reddens: "a route's default lifetime applies by status, and only where the origin gives none",
  },
  "one-default-is-for-errors": {
    name: "one default lifetime is for errors, too",
    file: "worker/site/site.ts",
    from: "PLAIN_STATUSES.has(status) ? defaultTtl : undefined",
    to: "defaultTtl",
    reddens: "a route's default lifetime applies by status, and only where the origin gives none",
  },
  "age-is-not-read": {
    name: "the age that an answer brings does not count",
    file: "worker/rules/freshness/current-age.ts",
    from: "statedAgeMs(age) + responseDelayMs",
    to: "responseDelayMs",
    reddens: "the age that a response brings counts",
  },
  "age-stands-still": {
    name: "the time in store does not count as age",
    file: "worker/rules/freshness/current-age.ts",
    from: "initialAge + Math.max(0, now - receivedAt)",
    to: "initialAge",
    reddens: "a fresh response is answered from store, with its age",
  },
};
