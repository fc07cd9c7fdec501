import type { Mutants } from "../../mutants/mutant.ts";

const INVALIDATED_URLS = "worker/rules/invalidation/invalidated-urls.ts";
const INVALIDATION = "worker/flow/origin/invalidation.ts";
const SAFE_METHOD = "worker/rules/invalidation/safe-method.ts";

/** Wrong rules of which URLs an unsafe request invalidates. */
export const mutants: Mutants = {
  "lost-answer-is-a-failure": {
    name: "an unsafe request whose answer is lost invalidates nothing",
    file: INVALIDATION,
    from: "result.response.status : 200",
    to: "result.response.status : 500",
    reddens: "invalidation/answer-is-lost",
  },
  "late-answer-is-a-failure": {
    name: "an unsafe request that takes too long invalidates nothing",
    file: INVALIDATION,
    from: 'if (result.kind === "refused"',
    to: 'if ((result.kind === "failed" && result.answer().status === 504) || result.kind === "refused"',
    reddens: "invalidation/answer-is-late",
  },
  "loop-invalidates": {
    name: "a request that the edge refused invalidates its URL",
    file: INVALIDATION,
    from: 'result.kind === "refused" || ',
    to: "",
    reddens: "invalidation/looped-request",
  },
  "hidden-origin-is-another-host": {
    name: "a Location that names the hidden origin counts as another host's",
    file: INVALIDATION,
    from: "clientFields(context, result.response.fields)",
    to: "result.response.fields",
    reddens: "invalidation/location-names-hidden-origin",
  },
  "spelling-counts": {
    name: "a URL is invalidated in another spelling than that of its key",
    file: INVALIDATION,
    from: "const target = context.resolve(each);",
    to: 'const target = { ...context.resolve(each), cacheKey: each.toLowerCase(), kind: "resolved" };',
    reddens: "invalidation/any-spelling-of-url",
  },
  "query-does-not-count": {
    name: "an unsafe request invalidates the path without its query",
    file: INVALIDATED_URLS,
    from: "withoutFragment(url: URL): string {",
    to: "withoutFragment(url: URL): string {\n  url.search = '';",
    reddens: "invalidation/query-belongs-to-url",
  },
  "error-invalidates": {
    name: "an answer of 400 counts as a success",
    file: INVALIDATED_URLS,
    from: "status > 399",
    to: "status > 400",
    reddens: "invalidation/post-answered-400",
  },
  "every-error-invalidates": {
    name: "any failed request counts as a success",
    file: INVALIDATED_URLS,
    from: " || status < 200 || status > 399",
    to: "",
    reddens: "invalidation/post-answered-503",
  },
  "redirect-is-no-success": {
    name: "only a 2xx counts as a success",
    file: INVALIDATED_URLS,
    from: "status > 399",
    to: "status > 299",
    reddens: "invalidation/post-answered-303",
  },
  "last-success-is-none": {
    name: "an answer of 399 does not count as a success",
    file: INVALIDATED_URLS,
    from: "status > 399",
    to: "status > 398",
    reddens: "invalidation/post-answered-399",
  },
  "location-is-not-read": {
    name: "Location invalidates nothing",
    file: INVALIDATED_URLS,
    from: "[location, contentLocation]",
    to: "[contentLocation]",
    reddens: "invalidation/absolute-location",
  },
  "content-location-is-not-read": {
    name: "Content-Location invalidates nothing",
    file: INVALIDATED_URLS,
    from: "[location, contentLocation]",
    to: "[location]",
    reddens: "invalidation/absolute-content-location",
  },
  "first-field-is-enough": {
    name: "Content-Location is read only where there is no Location",
    file: INVALIDATED_URLS,
    from: "[location, contentLocation]",
    to: "[location ?? contentLocation]",
    reddens: "invalidation/content-location-beside-location",
  },
  "relative-is-malformed": {
    name: "only absolute locations are read",
    file: INVALIDATED_URLS,
    from: "URL.parse(text, target.href)",
    to: "URL.parse(text)",
    reddens: "invalidation/relative-location",
  },
  "relative-is-to-the-root": {
    name: "locations are resolved against the site, not against the request",
    file: INVALIDATED_URLS,
    from: "URL.parse(text, target.href)",
    to: "URL.parse(text, 'http://elsewhere.test/')",
    reddens: "invalidation/path-relative-location",
  },
  "other-scheme-counts": {
    name: "a location under another scheme is invalidated",
    file: INVALIDATED_URLS,
    from: "protocol === target.protocol && ",
    to: "",
    reddens: "invalidation/location-under-another-scheme",
  },
  "other-host-counts": {
    name: "one host invalidates pages of another",
    file: INVALIDATED_URLS,
    from: "host === target.host && ",
    to: "",
    reddens: "invalidation/location-on-another-host",
  },
  ...Object.fromEntries(
    ["OPTIONS", "QUERY", "PROPFIND", "REPORT"].map((method) => [
      `${method.toLowerCase()}-invalidates`,
      {
        name: `${method} counts as unsafe`,
        file: SAFE_METHOD,
        from: `"${method}", `,
        to: "",
        reddens: `invalidation/${method.toLowerCase()}-is-safe`,
      },
    ]),
  ),
  "search-invalidates": {
    name: "SEARCH counts as unsafe",
    file: SAFE_METHOD,
    from: ', "SEARCH"',
    to: "",
    reddens: "invalidation/search-is-safe",
  },
  "unknown-is-safe": {
    name: "only the four usual methods are unsafe",
    file: SAFE_METHOD,
    from: "return SAFE_METHODS.has(method);",
    to: 'return !["POST", "PUT", "PATCH", "DELETE"].includes(method);',
    reddens: "invalidation/unknown-method",
  },
  ...Object.fromEntries(
    ["PUT", "POST", "DELETE", "PATCH"].map((method) => [
      `${method.toLowerCase()}-is-safe`,
      {
        name: `${method} counts as safe`,
        file: SAFE_METHOD,
        from: '"GET", "HEAD"',
        to: `"GET", "HEAD", "${method}"`,
        reddens: `invalidation/successful-${method.toLowerCase()}`,
      },
    ]),
  ),
  "groups-of-errors-count": {
    name: "an error invalidates groups",
    file: INVALIDATION,
    from: "status < 400 ?",
    to: "true ?",
    reddens: "invalidation/post-answered-400",
  },
  "invalidated-is-gone": {
    name: "a page that an unsafe request invalidated is thrown away",
    file: "worker/purges/invalidations.ts",
    from: 'mode: "invalidate"',
    to: 'mode: "hard"',
    reddens: "invalidation/validated-not-refetched",
  },
};
