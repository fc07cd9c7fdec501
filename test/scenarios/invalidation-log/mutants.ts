import type { Mutants } from "../../mutants/mutant.ts";

const INVALIDATION = "worker/flow/origin/invalidation.ts";
const INVALIDATIONS = "worker/purges/invalidations.ts";

/** Wrong rules of how invalidations are written to the log. */
export const mutants: Mutants = {
  "log-is-not-told": {
    name: "an invalidation stays in its own isolate",
    file: INVALIDATION,
    from: "ports.invalidations.tell([...new Set(purgeKeys)], background);",
    to: "",
    reddens: "invalidation-log/old-page-until-lease-ends",
  },
  "own-copy-is-kept": {
    name: "the isolate's own copy stays until the log is read",
    file: INVALIDATION,
    from: "ports.store.forget(cacheKey)",
    to: "Promise.resolve(cacheKey)",
    reddens: "invalidation-log/own-isolate-log-silent",
  },
  "old-fetch-is-waited-for": {
    name: "a request after a POST waits for a fetch that began before it",
    file: INVALIDATION,
    from: "collapsed.abandonPage(cacheKey);",
    to: "{}",
    reddens: "invalidation-log/follower-before-log-knows",
  },
  "pass-route-tells-the-log": {
    name: "a route that passes everything writes each unsafe request to the log",
    file: INVALIDATION,
    from: " || resolved.route.pass",
    to: "",
    reddens: "invalidation-log/pass-route-writes-nothing",
  },
  "log-is-told-each-time": {
    name: "one URL is written to the log more than once in a lease",
    file: INVALIDATIONS,
    from: " && !purgeKeys.some((key) => this.#told.has(key))",
    to: "",
    reddens: "invalidation-log/many-posts-one-url",
  },
  "log-is-told-once": {
    name: "a second invalidation within a lease is forgotten",
    file: INVALIDATIONS,
    from: "this.#flush ??= this.#flushAfterLease();",
    to: "this.#flush ??= Promise.resolve();",
    reddens: "invalidation-log/second-post-within-lease",
  },
  "waiting-is-not-merged": {
    name: "invalidations that wait for the next lease are written one by one",
    file: INVALIDATIONS,
    from: "await this.#tellNow(this.#beginLease(this.#clock.now()));",
    to: "for (const key of this.#beginLease(this.#clock.now())) await this.#tellNow([key]);",
    reddens: "invalidation-log/many-posts-many-urls",
  },
  "budget-is-larger": {
    name: "a storm of invalidations writes to the log more often than allowed",
    file: INVALIDATIONS,
    from: "MAX_APPENDS = 16",
    to: "MAX_APPENDS = 17",
    reddens: "invalidation-log/many-posts-many-urls",
  },
  "budget-is-smaller": {
    name: "a storm of invalidations writes to the log less often than allowed",
    file: INVALIDATIONS,
    from: "MAX_APPENDS = 16",
    to: "MAX_APPENDS = 15",
    reddens: "invalidation-log/many-posts-many-urls",
  },
  "log-is-not-told-again": {
    name: "an invalidation that the log did not receive is not sent again",
    file: INVALIDATIONS,
    from: "if (attempt === MAX_ATTEMPTS) return",
    to: "if (attempt > 0) return",
    reddens: "invalidation-log/retried-while-log-silent",
  },
  "log-is-told-for-ever": {
    name: "an invalidation that the log does not receive is sent once more than allowed",
    file: INVALIDATIONS,
    from: "MAX_ATTEMPTS = 5",
    to: "MAX_ATTEMPTS = 6",
    reddens: "invalidation-log/dropped-after-five-leases",
  },
  "log-is-given-up-early": {
    name: "an invalidation that the log does not receive is dropped a lease too early",
    file: INVALIDATIONS,
    from: "MAX_ATTEMPTS = 5",
    to: "MAX_ATTEMPTS = 4",
    reddens: "invalidation-log/dropped-after-five-leases",
  },
  "dropped-is-not-counted": {
    name: "an invalidation that is dropped is not counted",
    file: INVALIDATIONS,
    from: 'return this.#reporter.report({ kind: "invalidation-dropped" });',
    to: "return;",
    reddens: "invalidation-log/dropped-after-five-leases",
  },
};
