import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of collapsed forwarding. */
export const mutants: Mutants = {
  "docs/http.md#collapsed-requests": {
    "every request that misses fetches for itself": {
      in: "CollapsedFetches.find",
      wrap: "() => undefined",
      foundBy: "collapsing/one-fetch-for-many",
    },
    "followers of an answer that cannot be shared wait for its end": {
      in: "answerFetched",
      drop: "tellFollowers(outcomeOfNotStored(decision.because, response.status));",
      foundBy: "collapsing/not-storable-frees-followers",
    },
    "a leader whose body is cut off does not tell its followers": {
      in: "storeIfWhole",
      replace: 'return tellFollowers(read.kind === "too-large"',
      by: 'if (read.kind === "cut-off") return; return tellFollowers(read.kind === "too-large"',
      foundBy: "collapsing/leader-fails",
    },
    "a follower waits as long as its leader takes": {
      in: "waitFor",
      replace: "within(ports.clock, isolate.site.limits.followTimeoutMs, fetch.outcome, enough)",
      by: "fetch.outcome",
      foundBy: "collapsing/wait-is-limited",
    },
    "a follower waits a millisecond longer than the site allows": {
      in: "waitFor",
      replace: "within(ports.clock, isolate.site.limits.followTimeoutMs",
      by: "within(ports.clock, isolate.site.limits.followTimeoutMs + 1",
      foundBy: "collapsing/wait-is-limited",
    },
    "a follower waits a millisecond less than the site allows": {
      in: "waitFor",
      replace: "within(ports.clock, isolate.site.limits.followTimeoutMs",
      by: "within(ports.clock, isolate.site.limits.followTimeoutMs - 1",
      foundBy: "collapsing/wait-is-limited",
    },
    "each follower waits anew for a leader that never ends": {
      in: "followOrTryAgain",
      drop: "collapsed.abandon(fetch);",
      foundBy: "collapsing/leader-never-ends",
    },
    "followers that have waited enough wait for one another": {
      in: "collapse",
      replace: "attempt.hasWaitedEnough ? fetchAndStore(context, miss, null) :",
      by: "",
      foundBy: "collapsing/followers-wait-once",
    },
    "requests wait for an endless body that they would have to validate": {
      in: "CollapsedFetches.begin",
      drop: "if (!news.isReusable())",
      foundBy: "collapsing/endless-body-to-validate",
    },
    "requests wait for an endless body that they would have to validate if it is fetched for a part": {
      in: "storeOnceWhole",
      replace: "fetched.tellFollowers(",
      by: "if (!context.facts.isPartial) fetched.tellFollowers(",
      foundBy: "collapsing/endless-body-behind-part",
    },
    "a reload of one visitor ends the wait of others for a slow body": {
      in: "storeOnceWhole",
      replace: "head, ANYBODY)",
      by: "head)",
      foundBy: "collapsing/slow-body",
    },
    "requests wait a millisecond longer for a body that they would have to validate": {
      in: "MAX_BODY_WAIT_MS",
      replace: "3_000",
      by: "3_001",
      foundBy: "collapsing/endless-body-to-validate",
    },
    "requests wait a second for a body that they would have to validate, and then each fetches it": {
      in: "MAX_BODY_WAIT_MS",
      replace: "3_000",
      by: "1_000",
      foundBy: "collapsing/slow-body-to-validate",
    },
    "requests wait three seconds for any body, and then each fetches it": {
      in: "CollapsedFetches.begin",
      replace: "!news.isReusable()",
      by: "true",
      foundBy: "collapsing/slow-body",
    },
    "a page is fetched although it was stored while the follower waited": {
      in: "followOrTryAgain",
      drop: "if (stored && mayAnswer(await judgeAfterWait(context, stored.head))) return lookAgain();",
      foundBy: "collapsing/stored-while-waiting",
    },
  },
  "docs/http.md#cookies-sessions-and-authorization": {
    "requests wait for the fetch of one with a session": {
      in: "fetchKeyText",
      replace: 'audience === "anonymous"',
      by: "true",
      foundBy: "collapsing/cookie-follows-anonymous",
    },
    "a request with a cookie does not wait for an anonymous one": {
      in: "mayJoinFetchesOf",
      replace: 'return ["anonymous", "cookies"];',
      by: 'return ["cookies"];',
      foundBy: "collapsing/cookie-follows-anonymous",
    },
  },
  "docs/decisions/0007-what-a-follower-may-take.md": {
    "a visitor with a cookie takes a page for which each request is to ask the origin": {
      in: "mayFollow",
      replace: "&& !mustAskForItself(context, stored)",
      by: "",
      foundBy: "collapsing/cookie-refuses-page-to-validate",
    },
    "a visitor with a cookie waits for a page for which each request is to ask the origin": {
      in: "beginFetch",
      replace: "|| mustAskForItself(context)",
      by: "",
      foundBy: "collapsing/cookie-waits-for-no-validation",
    },
    "a visitor with a cookie waits for a page that is never fresh": {
      in: "mustAskForItself",
      replace: "|| head.freshnessSeconds <= 0",
      by: "",
      foundBy: "collapsing/cookie-waits-for-no-validation",
    },
    "a visitor with a cookie waits for no page that is held": {
      in: "mustAskForItself",
      replace: "head.reuse.validateAlways || head.freshnessSeconds <= 0",
      by: "true",
      foundBy: "collapsing/cookie-follows-anonymous",
    },
  },
  "docs/http.md#bodies-and-ranges": {
    "followers of a body that is too large to store wait for its end": {
      in: "pump",
      drop: "tell({ kind });",
      foundBy: "collapsing/body-too-large",
    },
  },
  R19: {
    "after a slow body that is stored, requests do not wait for each other for a minute": {
      in: "CollapsedFetches.begin",
      replace: 'if (news.kind === "storable") this.forgetHitForMiss(key);',
      by: "",
      foundBy: "collapsing/after-slow-body-to-validate",
    },
    "an error of the origin that must not be stored makes every request fetch for itself": {
      in: "outcomeOfNotStored",
      drop: 'if (isOriginError(status)) return { kind: "failed", byOrigin: "error" };',
      foundBy: "collapsing/error-with-no-store",
    },
    "an answer for one visitor to a request with an odd field makes every request fetch for itself": {
      in: "sharedKeyOf",
      replace: "field !== null",
      by: "false",
      foundBy: "collapsing/answer-to-odd-field",
    },
    "requests wait for the fetch of one with an odd field": {
      in: "fetchKeyText",
      drop: "if (field !== undefined) return `${key} ${audience} ${field}`;",
      foundBy: "collapsing/odd-field-is-not-joined",
    },
    "a request with an odd field waits for no fetch of one without it": {
      in: "joinableKeys",
      replace: "withoutField({ ...key, audience })",
      by: "[{ ...key, audience }]",
      foundBy: "collapsing/odd-field-is-not-joined",
    },
    "requests with an odd field wait for each other, though what others get cannot be shared": {
      in: "CollapsedFetches.unstoredAt",
      replace: "withoutField(key)",
      by: "[key]",
      foundBy: "collapsing/own-answers-to-odd-field",
    },
    "one visitor's long values make every request fetch for itself": {
      in: "mayBeOfOneRequest",
      replace: 'because === "vary-too-long" ||',
      by: "",
      foundBy: "collapsing/values-too-long-to-vary-by",
    },
    "requests for a page that another isolate has stored meanwhile do not wait for each other": {
      in: "isHitForMiss",
      replace: "!held || held.head.fetchedAt <= unstoredAt",
      by: "true",
      foundBy: "collapsing/shared-again-once-stored-elsewhere",
    },
    "a long poll waits for another, because the last message is forgotten": {
      in: "HIT_FOR_MISS_MS",
      replace: "60_000",
      by: "5_000",
      foundBy: "collapsing/long-poll",
    },
    "requests for a page that was stored meanwhile do not wait for each other": {
      in: "tellOfOne",
      drop: 'if (kind === "storable") context.isolate.collapsed.forgetHitForMiss(fetchKeyOf(context));',
      foundBy: "collapsing/shared-again-once-stored",
    },
    "one visitor's no-store keeps other requests from sharing a fetch": {
      in: "planFetch",
      replace: 'forbidsStoring ? "fetch-unstored" : "fetch"',
      by: '"fetch"',
      foundBy: "collapsing/no-store-of-one-visitor",
    },
    "an answer for one visitor is forgotten if its URL is long": {
      in: "ExpiringKeys.remember",
      replace: "setNewest(",
      by: "if (key.length <= MAX_KEY_CHARACTERS) setNewest(",
      foundBy: "collapsing/answer-for-one-visitor-of-long-url",
    },
    "an answer for one visitor counts for all long URLs that begin like its own": {
      in: "shortened",
      replace: " + fnvHash(key)",
      by: "",
      foundBy: "collapsing/answer-for-one-visitor-of-long-url",
    },
    "an answer for one visitor alone stops collapsing for ever": {
      in: "ExpiringKeys.when",
      replace: "at !== undefined && Math.abs(now - at) < this.#forMs",
      by: "at !== undefined",
      foundBy: "collapsing/answer-for-one-visitor",
    },
  },
  "RFC 9211 §2.6": {
    "the answer to a follower does not say collapsed": {
      in: "follow",
      replace: "collapsed: true",
      by: "collapsed: false",
      foundBy: "collapsing/follower-is-reported",
    },
    "a follower of a validation is told the status of the stored page": {
      in: "follow",
      replace: "{ status, stored: false",
      by: "{ status: stored.head.status, stored: false",
      foundBy: "collapsing/follower-of-a-validation-is-reported",
    },
    "a follower of a validation is told that its page had expired": {
      in: "follow",
      replace: 'status === 304 ? "REVALIDATED" : wordsOf(miss).xCache',
      by: "wordsOf(miss).xCache",
      foundBy: "collapsing/follower-of-a-validation-is-reported",
    },
    "followers are told of a 304 that confirmed nothing": {
      in: "tellOf",
      replace: "{ ...told, ...news }",
      by: "{ ...news, ...told }",
      foundBy: "collapsing/follower-of-a-validation-is-reported",
    },
    "Cache-Status does not say collapsed": {
      in: "cacheStatusMember",
      drop: "if (outcome.collapsed) member",
      foundBy: "collapsing/follower-is-reported",
    },
  },
};
