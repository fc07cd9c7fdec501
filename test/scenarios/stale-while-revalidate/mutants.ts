import type { Mutants } from "../../mutants/mutant.ts";

const BACKGROUND_REFRESH = "worker/flow/storing/background-refresh.ts";
const CORRIDOR = "worker/flow/corridor.ts";
const JUDGE = "worker/rules/freshness/judge.ts";

/** Wrong rules of when a stale page is served while it is refetched. */
export const mutants: Mutants = {
  "refresh-is-not-made": {
    name: "a stale page is answered and never refetched",
    file: CORRIDOR,
    from: 'if (xCache === "UPDATING") refreshInBackground',
    to: "if (false) refreshInBackground",
    reddens: "stale-while-revalidate/refreshed-once",
  },
  "everybody-refreshes": {
    name: "each stale answer causes a refresh of its own",
    file: BACKGROUND_REFRESH,
    from: "if (leader) return;",
    to: "",
    reddens: "stale-while-revalidate/refreshed-once",
  },
  "refresh-counts-as-an-answer": {
    name: "a background refresh is counted as an answer",
    file: BACKGROUND_REFRESH,
    from: "withoutAnswerEvents(ports.reporter)",
    to: "ports.reporter",
    reddens: "stale-while-revalidate/refreshed-once",
  },
  "failed-refresh-counts-as-an-answer": {
    name: "a background refresh that fails is counted as an answer of the edge",
    file: "worker/flow/storing/without-answer-events.ts",
    from: ' && event.kind !== "answered-by-edge"',
    to: "",
    reddens: "stale-while-revalidate/refresh-finds-no-origin",
  },
  "updating-is-told-as-stale": {
    name: "a stale page that is refetched behind the answer is reported as STALE",
    file: "worker/flow/miss.ts",
    from: 'return "UPDATING";',
    to: 'return "STALE";',
    reddens: "stale-while-revalidate/refreshed-once",
  },
  "reason-is-not-told": {
    name: "a stale hit does not say why it was allowed",
    file: CORRIDOR,
    from: '...(verdict.kind !== "fresh" && { detail: verdict.because })',
    to: "",
    reddens: "stale-while-revalidate/refreshed-once",
  },
  "refresh-is-a-head": {
    name: "a HEAD is refreshed with a HEAD",
    file: "worker/rules/request/request-facts.ts",
    from: 'new RequestFacts("GET", ',
    to: "new RequestFacts(this.method, ",
    reddens: "stale-while-revalidate/head-of-stale-page",
  },
  "refresh-is-of-a-part": {
    name: "a part is refreshed with a request for the part",
    file: "worker/rules/request/request-facts.ts",
    from: "this.#circumstances, true)",
    to: "this.#circumstances, false)",
    reddens: "stale-while-revalidate/part-of-stale-page",
  },
  "refresh-does-not-validate": {
    name: "a refresh always fetches in full",
    file: BACKGROUND_REFRESH,
    from: '.kind !== "none" ? found : null',
    to: '.kind === "none" ? found : null',
    reddens: "stale-while-revalidate/refresh-is-conditional",
  },
  "all-wait-for-a-personal-refresh": {
    name: "requests without cookies wait for a refresh that was begun for one with cookies",
    file: BACKGROUND_REFRESH,
    from: "collapsed.begin(own)",
    to: 'collapsed.begin(own.replace(" cookies", ""))',
    reddens: "stale-while-revalidate/no-wait-for-cookie-refresh",
  },
  "window-ends-late": {
    name: "stale-while-revalidate lasts a millisecond too long",
    file: JUDGE,
    from: "staleMs < reuse.staleWhileRevalidateSeconds * 1000",
    to: "staleMs <= reuse.staleWhileRevalidateSeconds * 1000",
    reddens: "stale-while-revalidate/within-its-window",
  },
  "window-counts-from-the-fetch": {
    name: "stale-while-revalidate is counted from the fetch, not from the end of freshness",
    file: JUDGE,
    from: "answer, ageMs - lifetimeMs)",
    to: "answer, ageMs)",
    reddens: "stale-while-revalidate/within-its-window",
  },
  "bearer-gets-stale": {
    name: "a request with a receipt's token is answered stale",
    file: JUDGE,
    from: "mayServeStale || awaitsPurge || authorized || ",
    to: "mayServeStale || authorized || ",
    reddens: "stale-while-revalidate/with-receipt-token",
  },
  "authorized-gets-stale": {
    name: "a request with Authorization is answered stale",
    file: JUDGE,
    from: "awaitsPurge || authorized || ",
    to: "awaitsPurge || ",
    reddens: "stale-while-revalidate/with-authorization",
  },
  "unknown-is-answered-stale": {
    name: "while the log is silent, a stale page is answered at once",
    file: JUDGE,
    from: ' || answer !== "not-purged"',
    to: "",
    reddens: "stale-while-revalidate/log-is-silent",
  },
  "usable-is-not-stored": {
    name: "a response that is stale on arrival is not stored, although it may be used while it is refetched",
    file: "worker/rules/storing/storable.ts",
    from: "(mayServeStale ? staleWhileRevalidateSeconds : 0)",
    to: "0",
    reddens: "stale-while-revalidate/stale-on-arrival",
  },
  "useless-is-stored": {
    name: "a response that is stale on arrival is stored for a window that must-revalidate forbids",
    file: "worker/rules/storing/storable.ts",
    from: "(mayServeStale ? staleWhileRevalidateSeconds : 0)",
    to: "staleWhileRevalidateSeconds",
    reddens: "stale-while-revalidate/stale-on-arrival",
  },
};
