import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of when a stale page is served while it is refetched. */
export const mutants: Mutants = {
  "RFC 5861 §3": {
    "stale-while-revalidate beside s-maxage permits nothing": {
      in: "rulesOf",
      replace: "(staleWhileRevalidateSeconds ?? 0) > 0 ||",
      by: "",
      foundBy: "stale-while-revalidate/beside-s-maxage",
    },
    "a page that Next calls stale is kept for a whole lifetime": {
      in: "nextSeconds",
      replace: 'value === "STALE" ? 1 : Number.POSITIVE_INFINITY',
      by: "Number.POSITIVE_INFINITY",
      foundBy: "stale-while-revalidate/stale-at-origin",
    },
    "a stale page is answered and never refetched": {
      in: "hit",
      replace: 'if (xCache === "UPDATING") refreshInBackground',
      by: "if (false) refreshInBackground",
      foundBy: "stale-while-revalidate/refreshed-once",
    },
    "each stale answer causes a refresh of its own": {
      in: "beginRefresh",
      replace: "collapsed.find(key)",
      by: "undefined",
      foundBy: "stale-while-revalidate/refreshed-once",
    },
    "each unknown field causes a refresh of its own": {
      in: "beginRefresh",
      replace: 'field: "*"',
      by: "field: shared.field",
      foundBy: "stale-while-revalidate/refreshed-once-for-odd-fields",
    },
    "a refresh that never ends keeps its page from being refreshed": {
      in: "beginRefresh",
      replace: "context.ports.clock.now() - (fetch.begunAt ?? Infinity) <= DEAD_AFTER_MS",
      by: "true",
      foundBy: "stale-while-revalidate/refresh-never-ends",
    },
    "a refresh counts as dead a millisecond too early": {
      in: "beginRefresh",
      replace: "<= DEAD_AFTER_MS",
      by: "< DEAD_AFTER_MS",
      foundBy: "stale-while-revalidate/refresh-never-ends",
    },
    "a background refresh is counted as an answer": {
      in: "unattended",
      replace: "withoutAnswerEvents(ports.reporter)",
      by: "ports.reporter",
      foundBy: "stale-while-revalidate/refreshed-once",
    },
    "a background refresh that fails is counted as an answer of the edge": {
      in: "withoutAnswerEvents",
      replace: '&& event.kind !== "answered-by-edge"',
      by: "",
      foundBy: "stale-while-revalidate/refresh-finds-no-origin",
    },
    "a stale page that is refetched behind the answer is reported as STALE": {
      in: "xCacheOf",
      replace: 'return "UPDATING";',
      by: 'return "STALE";',
      foundBy: "stale-while-revalidate/refreshed-once",
    },
    "a stale hthe answer does not say why it was allowed": {
      in: "hit",
      replace: '...(verdict.kind !== "fresh" && { detail: verdict.because })',
      by: "",
      foundBy: "stale-while-revalidate/refreshed-once",
    },
    "a HEAD is refreshed with a HEAD": {
      in: "RequestFacts.forWholePage",
      replace: 'new RequestFacts("GET",',
      by: "new RequestFacts(this.method,",
      foundBy: "stale-while-revalidate/head-of-stale-page",
    },
    "a part is refreshed with a request for the part": {
      in: "RequestFacts.forWholePage",
      replace: "this.#circumstances, true)",
      by: "this.#circumstances, false)",
      foundBy: "stale-while-revalidate/part-of-stale-page",
    },
    "a refresh always fetches in full": {
      in: "background-refresh:refresh",
      replace: "toValidate: found",
      by: "toValidate: null",

      foundBy: "stale-while-revalidate/refresh-is-conditional",
    },
    "requests without cookies wait for a refresh that was begun for one with cookies": {
      in: "beginRefresh",
      replace: "collapsed.begin(key, true)",
      by: 'collapsed.begin({ ...key, audience: "anonymous" }, true)',
      foundBy: "stale-while-revalidate/no-wait-for-cookie-refresh",
    },
    "each request with cookies refetches a stale page that it cannot renew": {
      in: "CollapsedFetches.refreshesInVain",
      replace: "|| Math.abs(now - this.unstoredAt(key)) < VAIN_REFRESH_MS",
      by: "",
      foundBy: "stale-while-revalidate/refresh-with-cookies-in-vain",
    },
    "a page is not refreshed for as long as nobody waits for a fetch": {
      in: "VAIN_REFRESH_MS",
      replace: "5_000",
      by: "60_000",
      foundBy: "stale-while-revalidate/stored-for-others-since",
    },
    "each request for a stale page asks an origin that has failed again": {
      in: "background-refresh:refresh",
      drop: "if (answer.status >= 400) isolate.collapsed.rememberFailedRefresh(fetch.key);",
      foundBy: "stale-while-revalidate/refresh-finds-no-origin",
    },
    "an error with a lifetime takes the place of the page that is refreshed": {
      in: "isRefresh",
      replace: "isUnattended === true ||",
      by: "",
      foundBy: "stale-while-revalidate/refresh-is-an-error",
    },
    "stale-while-revalidate lasts a millisecond too long": {
      in: "usableWhileStale",
      replace: "staleMs < secondsWhileRevalidated",
      by: "staleMs <= secondsWhileRevalidated",
      foundBy: "stale-while-revalidate/within-its-window",
    },
    "stale-while-revalidate is counted from the fetch, not from the end of freshness": {
      in: "judge",
      replace: "rules, ageMs - lifetimeMs)",
      by: "rules, ageMs)",
      foundBy: "stale-while-revalidate/within-its-window",
    },
    "a response that is stale on arrival is not stored, although it may be used while it is refetched": {
      in: "isUseless",
      replace: "(mayBeStale(reuse, stale) ? secondsWhileRevalidated(stored, stale) : 0)",
      by: "0",
      foundBy: ["stale-while-revalidate/stale-on-arrival", "stale-while-revalidate/stale-on-arrival-by-rule"],
    },
    "a response that is stale on arrival is stored for a window that must-revalidate forbids": {
      in: "isUseless",
      replace: "(mayBeStale(reuse, stale) ? secondsWhileRevalidated(stored, stale) : 0)",
      by: "secondsWhileRevalidated(stored, stale)",
      foundBy: ["stale-while-revalidate/stale-on-arrival", "stale-while-revalidate/stale-on-arrival-by-rule"],
    },
    "a response that is stale on arrival is not stored for a window of the owner's": {
      in: "isUseless",
      replace: "secondsWhileRevalidated(stored, stale)",
      by: "(reuse.staleWhileRevalidateSeconds ?? 0)",
      foundBy: "stale-while-revalidate/stale-on-arrival-by-rule",
    },
  },
  "docs/http.md#stale-responses": {
    "the owner's whileRevalidate outranks a window of the response": {
      in: "secondsWhileRevalidated",
      replace: "reuse.staleWhileRevalidateSeconds ?? (isCovered ? whileRevalidateSeconds : 0)",
      by: "isCovered ? whileRevalidateSeconds : (reuse.staleWhileRevalidateSeconds ?? 0)",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
    "the owner's whileRevalidate covers a page that was never fresh": {
      in: "secondsWhileRevalidated",
      replace: "freshnessSeconds > 0 &&",
      by: "",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
    "the owner's whileRevalidate covers an error of the origin": {
      in: "secondsWhileRevalidated",
      replace: "&& !isOriginError(status)",
      by: "",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
    "the owner's whileRevalidate covers no other error": {
      in: "secondsWhileRevalidated",
      replace: "!isOriginError(status)",
      by: "status < 400",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
    "the owner's whileRevalidate lasts a millisecond too long": {
      in: "usableWhileStale",
      replace: "staleMs < secondsWhileRevalidated(stored, rules) * 1000",
      by: "staleMs < secondsWhileRevalidated(stored, rules) * 1000 + 1",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
    "the site's whileRevalidate outranks the route's": {
      in: "compileRoute",
      replace: "rules.stale.whileRevalidate ?? site.stale.whileRevalidate",
      by: "site.stale.whileRevalidate ?? rules.stale.whileRevalidate",
      foundBy: "stale-while-revalidate/allowed-by-site",
    },
  },
  R9: {
    "a request with a receipt's token is answered stale": {
      in: "usableWhileStale",
      replace: "mayBeStale(reuse, rules) || awaitsPurge || authorized ||",
      by: "mayBeStale(reuse, rules) || authorized ||",
      foundBy: "stale-while-revalidate/with-receipt-token",
    },
  },
  "RFC 9111 §3.5": {
    "a request with Authorization is answered stale": {
      in: "usableWhileStale",
      replace: "awaitsPurge || authorized ||",
      by: "awaitsPurge ||",
      foundBy: "stale-while-revalidate/with-authorization",
    },
  },
  R8: {
    "while the log is silent, a stale page is answered at once": {
      in: "usableWhileStale",
      replace: '|| answer !== "not-purged"',
      by: "",
      foundBy: "stale-while-revalidate/log-is-silent",
    },
  },
};
