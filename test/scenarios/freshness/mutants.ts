import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of lifetimes, dates and ages. */
export const mutants: Mutants = {
  "RFC 9111 §4.2": {
    "a response just as old as its lifetime is fresh": {
      in: "judge",
      replace: "ageMs < lifetimeMs",
      by: "ageMs <= lifetimeMs",
      foundBy: "freshness/fresh-to-last-millisecond",
    },
    "a page that has become stale is reported as one that was never stored": {
      in: "wordsOfReason",
      replace: '"EXPIRED"',
      by: '"MISS"',
      foundBy: "freshness/fresh-to-last-millisecond",
    },
  },
  "RFC 9111 §5.2.2.10": {
    "max-age outranks s-maxage": {
      in: "freshnessLifetime",
      replace: 'if (sMaxage !== "absent")',
      by: 'if (maxAge === "absent" && sMaxage !== "absent")',
      foundBy: "freshness/s-maxage-outranks-max-age",
    },
  },
  "RFC 9111 §4.2.1": {
    "Expires gives no lifetime": {
      in: "freshnessLifetime",
      replace: "if (expires !== null)",
      by: "if (false)",
      foundBy: "freshness/expires-minus-date",
    },
    "Expires outranks max-age": {
      in: "freshnessLifetime",
      replace: 'if (maxAge !== "absent") return',
      by: 'if (maxAge !== "absent" && response.field("expires") === null) return',
      foundBy: "freshness/cache-control-outranks-expires",
    },
    "Expires counts where max-age is not a number": {
      in: "freshnessLifetime",
      replace: 'if (maxAge !== "absent") return',
      by: 'if (maxAge !== "absent" && (maxAge !== "invalid" || response.field("expires") === null)) return',
      foundBy: "freshness/cache-control-outranks-expires",
    },
    "a heuristic lifetime replaces one that is not a number": {
      in: "freshnessLifetime",
      replace: 'if (maxAge !== "absent") return',
      by: 'if (maxAge !== "absent" && (maxAge !== "invalid" || rules.heuristic === null)) return',
      foundBy: "freshness/malformed-lifetime-no-heuristic",
    },
    "a heuristic lifetime outranks a stated one": {
      in: "freshnessLifetime",
      replace: 'if (maxAge !== "absent") return',
      by: 'if (maxAge !== "absent" && !(rules.heuristic && response.field("last-modified"))) return',
      foundBy: "freshness/heuristic-outranks-default",
    },
    "a route's default outranks a heuristic lifetime": {
      in: "freshnessLifetime",
      replace: "if (rules.heuristic !== null &&",
      by: "if (rules.heuristic !== null && rules.defaultTtlSeconds === undefined &&",
      foundBy: "freshness/heuristic-outranks-default",
    },
  },
  "docs/reference/worker.md#siteinput": {
    "a route's ttl has no effect": {
      in: "freshnessLifetime",
      replace: "if (rules.ttlSeconds !== undefined &&",
      by: "if (false &&",
      foundBy: "freshness/route-ttl",
    },
    "a route's default lifetime has no effect": {
      in: "freshnessLifetime",
      replace: "if (rules.defaultTtlSeconds !== undefined)",
      by: "if (false)",
      foundBy: "freshness/route-default-ttl",
    },
    "a route's default lifetime outranks the origin's": {
      in: "decideStorage",
      replace: "...route,",
      by: "...route, ttlSeconds: route.defaultTtlSeconds(status),",
      foundBy: "freshness/route-default-ttl",
    },
    "a single default lifetime covers errors as well": {
      in: "compileRoute",
      replace: "PLAIN_STATUSES.has(status) ? defaultTtl : undefined",
      by: "defaultTtl",
      foundBy: "freshness/route-default-ttl",
    },
    "a route's ttl applies to failures as well": {
      in: "freshnessLifetime",
      replace: "&& OBEYS_TTL.has(response.status)",
      by: "",
      foundBy: "freshness/route-ttl-and-failures",
    },
  },
  "RFC 9111 §4.2.3": {
    "the Age that a response arrives with does not count": {
      in: "initialAgeMs",
      replace: "statedAgeMs(age) + responseDelayMs",
      by: "responseDelayMs",
      foundBy: "freshness/received-age-counts",
    },
    "of several Age members, the last counts": {
      in: "statedAgeMs",
      replace: "members?.find(Boolean)",
      by: "members?.findLast(Boolean)",
      foundBy: "freshness/larger-of-age-and-date",
    },
    "an Age that is not a whole number counts as the greatest age": {
      in: "statedAgeMs",
      replace: 'seconds === "invalid" ? 0',
      by: 'seconds === "invalid" ? 2_147_483_648',
      foundBy: "freshness/larger-of-age-and-date",
    },
    "an Age with a fraction counts": {
      in: "statedAgeMs",
      replace: "members?.find(Boolean)",
      by: 'members?.find(Boolean)?.replace(/\\..*/, "")',
      foundBy: "freshness/larger-of-age-and-date",
    },
    "a page stays fresh for as long as the clock was set back": {
      in: "judge",
      drop: 'if (isAgeUnknown(stored.receivedAt, now)) return { kind: "validate", because: "stale" };',
      foundBy: "freshness/clock-set-back",
    },
    "after the clock was set back, the new page is not stored while the old one seems newer": {
      in: "TieredStore.#put",
      drop: "if (held && isAgeUnknown(held.head.fetchedAt, this.#clock.now())) this.#memory.delete(key);",
      foundBy: "freshness/clock-set-back",
    },
    "a page that arrived slightly ahead of the clock is stale": {
      in: "isAgeUnknown",
      replace: "now + MAX_SKEW_MS",
      by: "now",
      foundBy: "freshness/clock-set-back-a-little",
    },
    "after the clock was set back, a page that must not be served stale stands in for an error": {
      in: "mayServeOnError",
      replace: " || isAgeUnknown(stored.receivedAt, now)",
      by: "",
      foundBy: "freshness/clock-set-back-and-origin-fails",
    },
    "an old Date does not make a response old": {
      in: "initialAgeMs",
      replace: "Math.max(apparentAgeMs, statedAgeMs(age)",
      by: "Math.max(0, statedAgeMs(age)",
      foundBy: "freshness/larger-of-age-and-date",
    },
    "Age is not read": {
      in: "initialAgeMs",
      replace: "statedAgeMs(age) + responseDelayMs",
      by: "responseDelayMs",
      foundBy: "freshness/larger-of-age-and-date",
    },
    "Age and the age by Date are added up": {
      in: "initialAgeMs",
      replace: "Math.max(apparentAgeMs, statedAgeMs(age) + responseDelayMs)",
      by: "apparentAgeMs + statedAgeMs(age) + responseDelayMs",
      foundBy: "freshness/larger-of-age-and-date",
    },
    "the time that the origin takes does not count": {
      in: "initialAgeMs",
      replace: "statedAgeMs(age) + responseDelayMs",
      by: "statedAgeMs(age)",
      foundBy: "freshness/response-delay-counts",
    },
  },
  "RFC 9111 §4": {
    "the time in store does not count as age": {
      in: "currentAgeMs",
      replace: "initialAge + Math.max(0, now - receivedAt)",
      by: "initialAge",
      foundBy: "freshness/answered-with-age",
    },
    "an answer from store has no Age": {
      in: "storedFields",
      drop: 'fields.set("age", String(metadata.ageSeconds));',
      foundBy: "freshness/answered-with-age",
    },
    "a hit does not say how long it stays fresh": {
      in: "cacheStatusMember",
      replace: "; ttl=$",
      by: "; lifetime=$",
      foundBy: "freshness/answered-with-age",
    },
    "an answer that is being stored does not say so": {
      in: "cacheStatusMember",
      drop: "if (outcome.stored) member",
      foundBy: "freshness/answered-with-age",
    },
  },
  "RFC 9110 §5.6.7": {
    "a date with a two-digit year is not read": {
      in: "parseHttpDate",
      replace: "!RFC_850.test(date)",
      by: "true",
      foundBy: "freshness/expires-date-formats",
    },
    "a date in asctime format is not read": {
      in: "parseHttpDate",
      replace: "if (ASCTIME.test(date)) return",
      by: "if (false) return",
      foundBy: "freshness/expires-date-formats",
    },
    "a date in lower case is not read": {
      in: "parseHttpDate",
      replace: "const date = text.trim();",
      by: "if (!/[A-Z]/.test(text)) return undefined; const date = text.trim();",
      foundBy: "freshness/expires-date-formats",
    },
    "Expires counts from the arrival, whatever Date says": {
      in: "secondsToExpiry",
      replace: "(expiresAt - generationOf(response)) / 1000",
      by: "(expiresAt - response.receivedAt) / 1000",
      foundBy: "freshness/expires-date-formats",
    },
    "without a Date, Expires counts from 1970": {
      in: "generationOf",
      replace: 'parseHttpDate(field("date"), receivedAt) ?? receivedAt',
      by: 'parseHttpDate(field("date"), receivedAt) ?? 0',
      foundBy: "freshness/expires-date-formats",
    },
  },
  "RFC 9111 §5.3": {
    "a date in another zone than GMT is read": {
      in: "IMF_FIXDATE",
      replace: "gmt$",
      by: "[a-z]+$",
      foundBy: "freshness/invalid-expires",
    },
    "31 February counts as a day in March": {
      in: "instant",
      drop: "if (midnight.getUTCDate() !== day) return undefined;",
      foundBy: "freshness/invalid-expires",
    },
    "an Expires that is not a date is fresh for a minute": {
      in: "secondsToExpiry",
      replace: "if (expiresAt === undefined) return 0;",
      by: "if (expiresAt === undefined) return 60;",
      foundBy: "freshness/invalid-expires",
    },
  },
  "RFC 9110 §6.6.1": {
    "a response without a Date gets none": {
      in: "toClientFields",
      replace: 'if (!fields.has("date")) fields.set',
      by: "if (false) fields.set",
      foundBy: "freshness/missing-date",
    },
    "the edge gives every answer a new Date": {
      in: "toClientFields",
      replace: 'if (!fields.has("date")) fields.set',
      by: "if (true) fields.set",
      foundBy: "freshness/date-is-passed-on",
    },
    "a 304 without a Date takes that of the stored page": {
      in: "freshenedFields",
      replace: 'if (!from304.has("date"))',
      by: "if (false)",
      foundBy: "freshness/origin-without-clock",
    },
  },
  "RFC 9111 §1.2.2": {
    "an Age too large to represent is ignored": {
      in: "statedAgeMs",
      replace: 'seconds === "invalid" ? 0',
      by: 'seconds === "invalid" || seconds >= 2_147_483_648 ? 0',
      foundBy: "freshness/largest-age",
    },
  },
  "RFC 9111 §4.2.2": {
    "there is a heuristic lifetime although the owner has not asked for one": {
      in: "compileChecked",
      replace: "maxSeconds: site.heuristic.maxTtl } : null",
      by: "maxSeconds: site.heuristic.maxTtl } : { fraction: 0.1, maxSeconds: 60 }",
      foundBy: "freshness/no-heuristic-by-default",
    },
    "a heuristic lifetime is the whole time since the last modification": {
      in: "heuristicFreshnessSeconds",
      replace: "* rules.fraction",
      by: "",
      foundBy: "freshness/heuristic-lifetime",
    },
    "a heuristic lifetime has no maximum": {
      in: "heuristicFreshnessSeconds",
      replace: "Math.min(guessedSeconds, rules.maxSeconds)",
      by: "guessedSeconds",
      foundBy: "freshness/heuristic-fraction-and-maximum",
    },
    "a Date in the future lengthens a heuristic lifetime": {
      in: "freshnessLifetime",
      replace: "Math.min(generationOf(response), response.receivedAt)",
      by: "generationOf(response)",
      foundBy: "freshness/heuristic-lifetime",
    },
    "there is a heuristic lifetime for every status": {
      in: "freshnessLifetime",
      replace: "&& isHeuristicallyCacheable(response.status, cacheControl.public)",
      by: "",
      foundBy: "freshness/no-heuristic-lifetime",
    },
    "a status without a meaning gets no heuristic lifetime, though the response is public": {
      in: "isHeuristicallyCacheable",
      replace: "isPublic ||",
      by: "",
      foundBy: "freshness/heuristic-lifetime-of-public",
    },
    "there is a heuristic lifetime from a Last-Modified in the future": {
      in: "heuristicFreshnessSeconds",
      replace:
        "modifiedAt === undefined || modifiedAt > generatedAt) return undefined; const guessedSeconds = Math.floor(((generatedAt - modifiedAt)",
      by: `modifiedAt === undefined) return undefined;
const guessedSeconds = Math.ceil((Math.abs(generatedAt - modifiedAt)`,
      foundBy: "freshness/no-heuristic-lifetime",
    },
  },
};
