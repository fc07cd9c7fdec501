import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of when a stale page replaces an error. */
export const mutants: Mutants = {
  "docs/http.md#an-origin-that-is-down": {
    "every request waits for an origin that is down": {
      in: "OriginState.isDown",
      wrap: "() => () => false",
      foundBy: "stale-if-error/known-down",
    },
    "a POST asks whether the origin is back": {
      in: "knownDown",
      replace: 'facts.method === "GET" || facts.method === "HEAD"',
      by: "true",
      foundBy: "stale-if-error/known-down-until-asked",
    },
    "who has a stale page waits for an origin that is down": {
      in: "knownDown",
      replace: "if (!call.hasStandIn?.()) return undefined;",
      by: "return undefined;",
      foundBy: "stale-if-error/known-down-asked-behind",
    },
    "an origin that is down is asked all the time": {
      in: "OriginState.mayAsk",
      drop: "if (now - this.#askedAt < ASK_EVERY_MS) return false;",
      foundBy: "stale-if-error/known-down-still",
    },
    "one path that hangs takes the whole site down": {
      in: "noteState",
      replace: 'resolved.pathAndQuery.split("?", 1)[0]',
      by: "resolved.pathAndQuery",
      foundBy: "stale-if-error/known-down-one-path",
    },
    "paths for which the origin hangs up take the whole site down": {
      in: "noteState",
      replace: "!answer.hasHungUp",
      by: "true",
      foundBy: "stale-if-error/known-down-hung-up",
    },
    "an origin that is back still counts as down": {
      in: "askBehind",
      drop: "noteState(context, answer, sentAt);",
      foundBy: "stale-if-error/known-down-asked-behind",
    },
    "an answer in between does not count": {
      in: "OriginState.noteAnswer",
      drop: "this.#failed.clear();",
      foundBy: "stale-if-error/known-down-after-answer",
    },
    "a request that hangs while others are answered counts": {
      in: "OriginState.noteFailure",
      drop: "if (sentAt < this.#answeredAt) return;",
      foundBy: "stale-if-error/known-down-hanging-paths",
    },
    "what fails in another isolate does not count": {
      in: "OriginState.#hear",
      drop: "for (const [path, sentAt] of counting) { if (this.#failed.size < this.#downAfter) this.#failed.set(path, sentAt); }",
      foundBy: ["stale-if-error/known-down-together", "stale-if-error/known-down-to-a-new-one"],
    },
    "an answer to another isolate does not show that the origin is back": {
      in: "OriginState.noteAnswer",
      drop: "this.#tellAnswer();",
      foundBy: "stale-if-error/known-up-together",
    },
    "each isolate asks once a second whether the origin is back": {
      in: "OriginState.#hear",
      drop: "this.#askedAt = Math.max(this.#askedAt, askedAt);",
      foundBy: "stale-if-error/known-down-asked-by-one",
    },
    "an isolate that starts during an outage hears nothing of it": {
      in: "OriginState.mayAsk",
      drop: "this.#tellFailures();",
      foundBy: "stale-if-error/known-down-to-a-new-one",
    },
    "an isolate hears its own news in place of the others'": {
      in: "OriginNewsOffice.#passOn",
      replace: "box !== from",
      by: "box === from",
      foundBy: "stale-if-error/known-down-together",
    },
  },
  "RFC 9111 §4.2.4": {
    "must-revalidate does not forbid stale-while-revalidate": {
      in: "usableWhileStale",
      replace: "!mayBeStale(reuse, rules) || awaitsPurge || authorized || answer",
      by: "awaitsPurge || authorized || answer",
      foundBy: "stale-if-error/forbidden-by-must-revalidate",
    },
    "must-revalidate forbids nothing": {
      in: "rulesOf",
      replace: "!mustRevalidate && !proxyRevalidate &&",
      by: "!proxyRevalidate &&",
      foundBy: "stale-if-error/forbidden-by-must-revalidate",
    },
    "proxy-revalidate forbids nothing": {
      in: "rulesOf",
      replace: "!mustRevalidate && !proxyRevalidate &&",
      by: "!mustRevalidate &&",
      foundBy: "stale-if-error/forbidden-by-proxy-revalidate",
    },
    "s-maxage does not mean proxy-revalidate": {
      in: "rulesOf",
      replace: '&& (sMaxage === "absent" || namesWindow)',
      by: "",
      foundBy: "stale-if-error/forbidden-by-s-maxage",
    },
    "an empty window beside s-maxage permits stale answers": {
      in: "rulesOf",
      replace: "(staleIfErrorSeconds ?? 0) > 0",
      by: "staleIfErrorSeconds !== null",
      foundBy: "stale-if-error/empty-window-beside-s-maxage",
    },
    "stale-if-error beside s-maxage permits nothing": {
      in: "rulesOf",
      replace: "|| (staleIfErrorSeconds ?? 0) > 0",
      by: "",
      foundBy: "stale-if-error/beside-s-maxage",
    },
    "a page with no-cache replaces an error": {
      in: "rulesOf",
      replace: '&& noCache !== "whole"',
      by: "",
      foundBy: "stale-if-error/forbidden-by-no-cache",
    },
    "must-revalidate does not forbid stale-if-error": {
      in: "mayServeOnError",
      drop: "if (isStale && !mayBeStale(reuse, rules)) return null;",
      foundBy: "stale-if-error/forbidden-by-must-revalidate",
    },
  },
  "RFC 9111 §5.2.2.4": {
    "no-cache with field names forbids stale answers": {
      in: "rulesOf",
      replace: 'noCache !== "whole"',
      by: 'noCache === "absent"',
      foundBy: "stale-if-error/no-cache-with-field-names",
    },
    "a fresh page that must be validated each time replaces an error": {
      in: "mayServeOnError",
      replace: "|| reuse.validateAlways",
      by: "",
      foundBy: "stale-if-error/validated-each-time",
    },
  },
  "docs/http.md#stale-responses": {
    "a stale-if-error of 0, or one that is not a number, leaves the decision to the site": {
      in: "rulesOf",
      replace: "null : secondsOrNone(staleIfError)",
      by: "null : secondsOrNone(staleIfError) || null",
      foundBy: "stale-if-error/allowed-by-site",
    },
    "the longer of the site's window and the response's counts": {
      in: "mayServeOnError",
      drop: "if (own !== null) return null;",
      foundBy: "stale-if-error/allowed-by-site",
    },
    "s-maxage forbids what the owner's rule says, overSMaxage or not": {
      in: "mayBeStale",
      replace: "|| (overSMaxage && reuse.mayServeStaleOverSMaxage)",
      by: "",
      foundBy: "stale-if-error/over-s-maxage",
    },
    "the owner's rule covers s-maxage without overSMaxage": {
      in: "mayBeStale",
      replace: "overSMaxage && reuse.mayServeStaleOverSMaxage",
      by: "reuse.mayServeStaleOverSMaxage",
      foundBy: "stale-if-error/over-s-maxage",
    },
    "overSMaxage overrules must-revalidate, too": {
      in: "mayBeStale",
      replace: "(overSMaxage && reuse.mayServeStaleOverSMaxage)",
      by: "overSMaxage",
      foundBy: "stale-if-error/over-s-maxage",
    },
    "ifDisconnected covers errors that the origin answers, too": {
      in: "mayServeOnError",
      replace: 'failure === "disconnected" &&',
      by: "",
      foundBy: "stale-if-error/if-disconnected",
    },
    "followers are told of an error where the origin gives no answer": {
      in: "fetchOnce",
      replace: 'byOrigin: result.kind === "answered" ? "error" : "disconnected"',
      by: 'byOrigin: "error"',
      foundBy: "stale-if-error/followers-while-disconnected",
    },
    "ifDisconnected lasts a millisecond too long": {
      in: "mayServeOnError",
      replace: "staleMs < rules.ifDisconnectedSeconds",
      by: "staleMs <= rules.ifDisconnectedSeconds",
      foundBy: "stale-if-error/if-disconnected",
    },
    "an origin that gives no answer counts as one that answers an error": {
      in: "failureOf",
      replace: 'isError ? "error" : "disconnected"',
      by: '"error"',
      foundBy: "stale-if-error/if-disconnected",
    },
    "the site's rule for stale pages outranks the route's": {
      in: "compileRoute",
      replace: "rules.stale.ifError ?? site.stale.ifError ?? 0",
      by: "site.stale.ifError ?? rules.stale.ifError ?? 0",
      foundBy: "stale-if-error/allowed-by-site",
    },
  },
  "RFC 5861 §4": {
    "500 does not count as a failure of the origin": {
      in: "ORIGIN_FAILED",
      replace: "[500, 502, 503, 504]",
      by: "[502, 503, 504]",
      foundBy: "stale-if-error/replaces-500",
    },
    "502 does not count as a failure of the origin": {
      in: "ORIGIN_FAILED",
      replace: "[500, 502, 503, 504]",
      by: "[500, 503, 504]",
      foundBy: "stale-if-error/replaces-502",
    },
    "503 does not count as a failure of the origin": {
      in: "ORIGIN_FAILED",
      replace: "[500, 502, 503, 504]",
      by: "[500, 502, 504]",
      foundBy: "stale-if-error/replaces-503",
    },
    "504 does not count as a failure of the origin": {
      in: "ORIGIN_FAILED",
      replace: "[500, 502, 503, 504]",
      by: "[500, 502, 503]",
      foundBy: "stale-if-error/replaces-504",
    },
    "a stale page replaces every 5xx": {
      in: "isOriginError",
      wrap: "(status) => status >= 500",
      foundBy: "stale-if-error/passes-501-on",
    },
    "a stale page replaces a 404": {
      in: "ORIGIN_FAILED",
      replace: "[500, 502, 503, 504]",
      by: "[404, 500, 502, 503, 504]",
      foundBy: "stale-if-error/passes-404-on",
    },
    "a stale page is served only where no answer came at all": {
      in: "hasFailed",
      replace: '|| (result.kind === "answered" && isOriginError(result.response.status))',
      by: "",
      foundBy: "stale-if-error/replaces-503",
    },
    "a stale page is served only in place of an answer": {
      in: "hasFailed",
      replace: 'result.kind === "failed" ||',
      by: "",
      foundBy: "stale-if-error/within-its-window",
    },
    "a stale page is served only where the origin takes too long": {
      in: "fetchOnce",
      replace: "hasFailed(result)",
      by: 'hasFailed(result) && (result.kind !== "failed" || result.answerInstead().status === 504)',
      foundBy: "stale-if-error/origin-hangs-up",
    },
    "no stale page is served where the origin takes too long": {
      in: "fetchOnce",
      replace: "hasFailed(result)",
      by: 'hasFailed(result) && (result.kind !== "failed" || result.answerInstead().status !== 504)',
      foundBy: "stale-if-error/origin-times-out",
    },
    "stale-if-error lasts a millisecond too long": {
      in: "mayServeOnError",
      replace: "staleMs < Math.max",
      by: "staleMs <= Math.max",
      foundBy: "stale-if-error/within-its-window",
    },
    "the stale-if-error of the response is not read": {
      in: "mayServeOnError",
      replace: "Math.max(own ?? 0,",
      by: "Math.max(0,",
      foundBy: "stale-if-error/replaces-503",
    },
    "the stale-if-error of a request is not obeyed": {
      in: "mayServeOnError",
      replace: "Math.max(own ?? 0, request.directives.staleIfErrorSeconds)",
      by: "(own ?? 0)",
      foundBy: "stale-if-error/accepted-by-visitor",
    },
    "a follower of a fetch that failed asks the origin again": {
      in: "followOrTryAgain",
      replace: "outcome.byOrigin ? await staleAnswer(context, miss, outcome.byOrigin) : null",
      by: "null",
      foundBy: "stale-if-error/followers-of-failed-fetch",
    },
    "a leader that gets the stale page does not tell its followers that the origin failed": {
      in: "fetchOnce",
      replace: 'byOrigin: result.kind === "answered" ? "error" : "disconnected"',
      by: "byOrigin: false",
      foundBy: "stale-if-error/followers-of-failed-fetch",
    },
    "a leader that gets an error does not tell its followers that the origin hung up": {
      in: "fetchOnce",
      replace: 'byOrigin: result.kind === "failed" && "disconnected"',
      by: "byOrigin: false",
      foundBy: "stale-if-error/only-follower-origin-hangs-up",
    },
    "a leader that gets an error does not tell its followers that it was the origin's": {
      in: "outcomeOfNotStored",
      replace: 'byOrigin: because !== "unkeyed-field" && isOriginError(status) && "error"',
      by: "byOrigin: false",
      foundBy: "stale-if-error/only-follower-error-response",
    },
    "a follower that gets the stale page is not reported as collapsed": {
      in: "staleAnswer",
      replace: 'collapsed: typeof failure === "string"',
      by: "collapsed: false",
      foundBy: "stale-if-error/followers-of-failed-fetch",
    },
    "a stale page does not report the status of the origin's answer": {
      in: "staleAnswer",
      replace: "...(response && { status: response.status }),",
      by: "",
      foundBy: "stale-if-error/replaces-503",
    },
    "a page that replaces an error is reported as HIT": {
      in: "staleAnswer",
      replace: 'answerAsOfNow(context, stored, "STALE", outcome)',
      by: 'answerAsOfNow(context, stored, "HIT", outcome)',
      foundBy: "stale-if-error/replaces-503",
    },
    "no stale page is served for a HEAD": {
      in: "forwardHead",
      replace: "hasFailed(result) ? await staleAnswer(context, miss, result) : null",
      by: "null",
      foundBy: "stale-if-error/head-part-and-condition",
    },
    "a HEAD gets the origin's failure although a stale page may replace it": {
      in: "forwardHead",
      drop: "if (answer) return answer;",
      foundBy: "stale-if-error/head-of-stale-page",
    },
  },
  R9: {
    "a request with a receipt's token gets a stale page in place of an error": {
      in: "mayServeOnError",
      replace: "request.awaitsPurge ||",
      by: "",
      foundBy: "stale-if-error/with-receipt-token",
    },
  },
  R18: {
    "a page that was purged while the origin was awaited is served stale": {
      in: "mayServeOnError",
      replace: 'answer === "purged" ||',
      by: "",
      foundBy: "stale-if-error/purged-by-another-isolate",
    },
    "the view is not brought up to date before a stale page is served": {
      in: "staleAnswer",
      drop: "if (!purges.isUsable(clock.now(), null)) await purges.renew(background, null);",
      foundBy: "stale-if-error/purged-by-another-isolate",
    },
    "the owner cannot forbid stale pages while the log is silent": {
      in: "mayStandInWhileUnknown",
      wrap: "() => true",
      foundBy: "stale-if-error/forbidden-while-log-silent",
    },
    "while the log is silent, no page is served stale unless the owner says so": {
      in: "compileRoute",
      replace: "site.stale.ifErrorWhileLogSilent ?? true",
      by: "site.stale.ifErrorWhileLogSilent ?? false",
      foundBy: "stale-if-error/log-and-origin-silent",
    },
    "the site's rule for a silent log outranks the route's": {
      in: "compileRoute",
      replace: "rules.stale.ifErrorWhileLogSilent ?? site.stale.ifErrorWhileLogSilent",
      by: "site.stale.ifErrorWhileLogSilent ?? rules.stale.ifErrorWhileLogSilent",
      foundBy: "stale-if-error/forbidden-while-log-silent",
    },
  },
  "RFC 9111 §4.3.3": {
    "a full answer that is not stored leaves the page that it outdates": {
      in: "answerFetched",
      drop: "if (miss.toValidate && isAboutPage(decision.because, response.status)) forgetOutdated(context, miss.toValidate);",
      foundBy: "stale-if-error/after-private-page",
    },
    "a 404 or 410 that is not stored leaves the page that it outdates": {
      in: "isAboutPage",
      replace: "if (status >= 400) return status === 404 || status === 410;",
      by: "if (status >= 400) return false;",
      foundBy: "stale-if-error/after-410",
    },
  },
  "docs/protocol.md#promise-1-private-stays-private": {
    "an error that may be about one visitor removes the page for all": {
      in: "isAboutPage",
      replace: "if (status >= 400) return status === 404 || status === 410;",
      by: "if (status >= 400) return true;",
      foundBy: "stale-if-error/kept-after-403",
    },
    "an answer to a session removes the page for all": {
      in: "forgetOutdated",
      replace: "if (appliesToEverybody(context, stored))",
      by: "",
      foundBy: "stale-if-error/kept-after-page-for-a-session",
    },
    "an answer that a client forbids to store removes the page for all": {
      in: "isAboutPage",
      replace: 'because !== "request-no-store" &&',
      by: "",
      foundBy: "stale-if-error/kept-after-request-with-no-store",
    },
  },
};
