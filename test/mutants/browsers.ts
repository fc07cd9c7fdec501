import type { Mutants } from "./mutant.ts";

const ANSWERS = "worker/flow/answering/answers.ts";
const BROWSER_CACHE_CONTROL = "worker/rules/directives/browser-cache-control.ts";

const FROM_NOW_ON =
  "browsers are told to keep a page for the owner's time from now on, however old it is, and Expires goes";
const RESTRICTS = "what the origin restricts stays when the owner's lifetime takes the place of its own";
const NOT_OVERRULED = "an origin that lets no browser keep a page, or use it unasked, is not overruled";
const ALSO =
  "browsers are told the owner's lifetime also with a page that the origin confirmed, that is stale, or that another fetched";

/** Wrong rules of what browsers are told. */
export const browsers: Mutants = {
  "age-is-not-added": {
    name: "browsers take what a page has aged off the owner's time",
    file: BROWSER_CACHE_CONTROL,
    from: "maxAge: ageSeconds + ttlSeconds",
    to: "maxAge: ttlSeconds",
    reddens: FROM_NOW_ON,
  },
  "expires-stays": {
    name: "Expires stays beside the owner's time",
    file: ANSWERS,
    from: 'fields.delete("expires");',
    to: "",
    reddens: FROM_NOW_ON,
  },
  "a-miss-says-what-the-origin-said": {
    name: "who has the page fetched is told what the origin said",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math",
    to: "setBrowserLifetime(fields, null, Math",
    reddens: FROM_NOW_ON,
  },
  "hits-say-what-the-origin-said": {
    name: "who gets the page from store is told what the origin said",
    file: "worker/flow/corridor.ts",
    from: "{ xCache, outcome, ageSeconds, browserTtlSeconds }",
    to: "{ xCache, outcome, ageSeconds, browserTtlSeconds: null }",
    reddens: FROM_NOW_ON,
  },
  "told-of-every-path": {
    name: "what one route tells browsers is told of every path",
    file: "worker/site/site.ts",
    from: 'compileRoute(route.parse({ match: "/*" }), null, site)',
    to: 'compileRoute(route.parse({ match: "/*", browserTtl: "10m" }), null, site)',
    reddens: "browsers are told what the origin said where no browserTtl is for the path",
  },
  "restrictions-are-lost": {
    name: "only the owner's time is told",
    file: BROWSER_CACHE_CONTROL,
    from: "...said,\n",
    to: '...parseCacheControl(""),\n',
    reddens: RESTRICTS,
  },
  "origins-stale-window-stays": {
    name: "the origin's stale window is added to the owner's time",
    file: BROWSER_CACHE_CONTROL,
    from: '    staleWhileRevalidate: "absent",\n',
    to: "",
    reddens: RESTRICTS,
  },
  "origins-failure-window-stays": {
    name: "the origin's window for failures is added to the owner's time",
    file: BROWSER_CACHE_CONTROL,
    from: '    staleIfError: "absent",\n',
    to: "",
    reddens: RESTRICTS,
  },
  "origins-shared-lifetime-stays": {
    name: "caches on the way to the browser keep the page for the origin's time",
    file: BROWSER_CACHE_CONTROL,
    from: '    sMaxage: "absent",\n',
    to: "",
    reddens: RESTRICTS,
  },
  "no-cache-is-overruled": {
    name: "the owner's time outranks no-cache",
    file: BROWSER_CACHE_CONTROL,
    from: ' || said.noCache === "whole"',
    to: "",
    reddens: NOT_OVERRULED,
  },
  "no-store-is-overruled": {
    name: "the owner's time outranks no-store",
    file: BROWSER_CACHE_CONTROL,
    from: "said.noStore || ",
    to: "",
    reddens: NOT_OVERRULED,
  },
  "told-of-what-is-not-stored": {
    name: "browsers are told to keep what the edge does not",
    file: "worker/flow/answering/pass-on.ts",
    from: "  const fields = clientFields(context, response.headers);\n  const outcome",
    to: '  const fields = clientFields(context, response.headers);\n  if (context.resolved.route.browserTtlSeconds) fields.set("cache-control", "max-age=600");\n  const outcome',
    reddens: "what is not stored is told to browsers as the origin said it",
  },
  "not-modified-says-nothing": {
    name: "a 304 does not tell the lifetime",
    file: "worker/rules/validation/not-modified.ts",
    from: '  "cache-control",\n',
    to: "",
    reddens:
      "a browser that asks again is answered 304 by the edge, with the same lifetime that a HEAD and a whole answer tell",
  },
  "not-modified-is-whole-on-a-miss": {
    name: "a browser that holds the page gets it once more on a miss",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "response.status === 200 && isHeldByClient(facts, head)",
    to: "false",
    reddens: "a browser that holds the page when the edge does not is answered 304, and told the owner's lifetime",
  },
  "other-ways-say-what-the-origin-said": {
    name: "a page that was confirmed, or is stale, tells what the origin said",
    file: "worker/flow/answering/answer-metadata.ts",
    from: "ageSeconds: Math.floor(ageMs / 1000), browserTtlSeconds",
    to: "ageSeconds: Math.floor(ageMs / 1000), browserTtlSeconds: browserTtlSeconds && null",
    reddens: ALSO,
  },
  "large-pages-say-what-the-origin-said": {
    name: "a large page tells what the origin said",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math",
    to: "setBrowserLifetime(fields, null, Math",
    reddens: "browsers are told the owner's lifetime also with a large page that is stored in two steps",
  },
};
