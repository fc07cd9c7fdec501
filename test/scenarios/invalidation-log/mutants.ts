import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of how invalidations are written to the log. */
export const mutants: Mutants = {
  R15: {
    "an invalidation stays in its own isolate": {
      in: "invalidateAfter",
      replace: "ports.invalidations.tell([...new Set(purgeKeys)], background);",
      by: "undefined;",
      foundBy: "invalidation-log/old-page-until-lease-ends",
    },
    "the end of a streamed answer to a POST changes nothing": {
      in: "invalidateAfter",
      replace: "if (ended)",
      by: "if (false)",
      foundBy: [
        "invalidation-log/fetched-while-answer-streams",
        "invalidation-log/fetched-elsewhere-while-answer-streams",
        "invalidation-log/fetched-before-log-replies",
      ],
    },
    "a request after a POST waits for a fetch that began before it": {
      in: "invalidateAfter",
      replace: "collapsed.abandonPage(cacheKey);",
      by: "{}",
      foundBy: ["invalidation-log/follower-before-log-knows", "invalidation-log/follower-log-silent"],
    },
    "a route that passes everything writes each unsafe request to the log": {
      in: "invalidateAfter",
      replace: "|| resolved.route.pass",
      by: "",
      foundBy: "invalidation-log/pass-route-writes-nothing",
    },
    "one URL is written to the log more than once in a lease": {
      in: "LogInvalidations.tell",
      replace: "&& !purgeKeys.some((key) => this.#told.has(key))",
      by: "",
      foundBy: "invalidation-log/many-posts-one-url",
    },
    "a second invalidation within a lease is forgotten": {
      in: "LogInvalidations.tell",
      replace: "this.#flush ??= this.#flushLater();",
      by: "this.#flush ??= Promise.resolve();",
      foundBy: "invalidation-log/second-post-within-lease",
    },
    "what was fetched before a POST is stored after it": {
      in: "isOutdated",
      replace: "|| isolate.collapsed.wasAbandonedSince(resolved.cacheKey, arrival.order)",
      by: "",
      foundBy: "invalidation-log/fetched-during-second-post",
    },
    "what was fetched before a POST to a long URL is stored after it": {
      in: "ExpiringKeys.remember",
      replace: "setNewest(",
      by: "if (key.length <= MAX_KEY_CHARACTERS) setNewest(",
      foundBy: "invalidation-log/long-url-fetched-during-post",
    },
    "what the last request to arrive before a POST ends has fetched is stored after it": {
      in: "CollapsedFetches.abandonPage",
      replace: "page, this.nextOrder()",
      by: "page, this.#arrivals",
      foundBy: "invalidation-log/unshared-fetch-during-post",
    },
    "a look-up that a POST overtakes brings the old page back": {
      in: "TieredStore.forget",
      drop: "this.#forgotten.remember(",
      foundBy: ["invalidation-log/look-up-outlasts-post", "invalidation-log/look-up-during-removal"],
    },
    "a look-up that a POST overtakes brings the old variants back": {
      in: "TieredStore.#unforgotten",
      replace: "at === undefined",
      by: "at === undefined || isMarker(found)",
      foundBy: "invalidation-log/variant-look-up-outlasts-post",
    },
    "a variant that another isolate stores after a POST brings the old variants back": {
      in: "TieredStore.#unforgotten",
      replace: "found.variants.filter(({ fetchedAt }) => fetchedAt > at)",
      by: "found.variants",
      foundBy: "invalidation-log/variant-listed-again-elsewhere",
    },
    "invalidations that wait for the next lease are written one by one": {
      in: "LogInvalidations.#flushLater",
      replace: "await this.#untilTold(this.#try(keys), keys);",
      by: "for (const key of keys) await this.#untilTold(this.#try([key]), [key]);",
      foundBy: "invalidation-log/many-posts-many-urls",
    },
    "a storm of invalidations writes to the log more often than allowed": {
      in: "MAX_APPENDS",
      replace: "MAX_APPENDS = 16",
      by: "MAX_APPENDS = 17",
      foundBy: "invalidation-log/many-posts-many-urls",
    },
    "a storm of invalidations writes to the log less often than allowed": {
      in: "MAX_APPENDS",
      replace: "MAX_APPENDS = 16",
      by: "MAX_APPENDS = 15",
      foundBy: "invalidation-log/many-posts-many-urls",
    },
    "an invalidation is sent to the log once, whether or not the log receives it": {
      in: "LogInvalidations.#untilTold",
      replace: "if (attempt === MAX_ATTEMPTS) return",
      by: "if (attempt > 0) return",
      foundBy: "invalidation-log/retried-while-log-silent",
    },
    "an invalidation that the log does not receive is sent once more than allowed": {
      in: "MAX_ATTEMPTS",
      replace: "MAX_ATTEMPTS = 5",
      by: "MAX_ATTEMPTS = 6",
      foundBy: "invalidation-log/dropped-after-five-leases",
    },
    "an invalidation that the log does not receive is dropped a lease too early": {
      in: "MAX_ATTEMPTS",
      replace: "MAX_ATTEMPTS = 5",
      by: "MAX_ATTEMPTS = 4",
      foundBy: "invalidation-log/dropped-after-five-leases",
    },
    "an invalidation that is dropped is not counted": {
      in: "LogInvalidations.#untilTold",
      replace: 'return this.#reporter.report({ kind: "invalidation-dropped" });',
      by: "return;",
      foundBy: "invalidation-log/dropped-after-five-leases",
    },
  },
  "RFC 9111 §4.4": {
    "the isolate's own copy stays until the log is read": {
      in: "invalidateAfter",
      replace: "ports.store.forget(key)",
      by: "Promise.resolve(key)",
      foundBy: "invalidation-log/own-isolate-log-silent",
    },
  },
};
