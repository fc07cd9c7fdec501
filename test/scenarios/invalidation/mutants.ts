import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of which URLs an unsafe request invalidates. */
export const mutants: Mutants = {
  R15: {
    "an unsafe request whose answer is lost invalidates nothing": {
      in: "invalidateAfter",
      replace: "result.response.status : 200",
      by: "result.response.status : 500",
      foundBy: "invalidation/answer-is-lost",
    },
    "an unsafe request that takes too long invalidates nothing": {
      in: "invalidateAfter",
      replace: 'if (result.kind === "refused"',
      by: 'if ((result.kind === "failed" && result.answerInstead().status === 504) || result.kind === "refused"',
      foundBy: "invalidation/answer-is-late",
    },
  },
  "RFC 8586 §2": {
    "a request that the edge refused invalidates its URL": {
      in: "invalidateAfter",
      replace: 'result.kind === "refused" ||',
      by: "",
      foundBy: "invalidation/looped-request",
    },
  },
  "RFC 9111 §4.4": {
    "a Location that names the hidden origin counts as another host's": {
      in: "invalidateAfter",
      replace: "clientFields(context, result.response.fields)",
      by: "result.response.fields",
      foundBy: "invalidation/location-names-hidden-origin",
    },
    "a URL is invalidated in another spelling than that of its key": {
      in: "invalidateAfter",
      replace: "const target = resolve(each, incoming.child);",
      by: `const { href: cacheKey } = new URL(each.toLowerCase());
const pathAndQuery = cacheKey.slice(cacheKey.indexOf("/", 8));
const target = { ...resolve(each, incoming.child), cacheKey, pathAndQuery, kind: "resolved" };`,
      foundBy: "invalidation/any-spelling-of-url",
    },
    "an unsafe request invalidates the path without its query": {
      in: "withoutFragment",
      wrap: '(url) => original(url).split("?", 1)[0]',
      foundBy: "invalidation/query-belongs-to-url",
    },
    "an answer of 400 counts as a success": {
      in: "invalidatedUrls",
      replace: "status > 399",
      by: "status > 400",
      foundBy: "invalidation/post-answered-400",
    },
    "any failed request counts as a success": {
      in: "invalidatedUrls",
      replace: "|| status < 200 || status > 399",
      by: "",
      foundBy: "invalidation/post-answered-503",
    },
    "only a 2xx counts as a success": {
      in: "invalidatedUrls",
      replace: "status > 399",
      by: "status > 299",
      foundBy: "invalidation/post-answered-303",
    },
    "an answer of 399 does not count as a success": {
      in: "invalidatedUrls",
      replace: "status > 399",
      by: "status > 398",
      foundBy: "invalidation/post-answered-399",
    },
    "Location invalidates nothing": {
      in: "invalidatedUrls",
      replace: "[location, contentLocation,",
      by: "[contentLocation,",
      foundBy: "invalidation/absolute-location",
    },
    "Content-Location invalidates nothing": {
      in: "invalidatedUrls",
      replace: "[location, contentLocation,",
      by: "[location,",
      foundBy: "invalidation/absolute-content-location",
    },
    "a client's Destination invalidates whatever its method": {
      in: "destinationAt",
      replace: 'method === "MOVE" || method === "COPY"',
      by: "true",
      foundBy: "invalidation/post-to-b",
    },
    "a Destination counts only under the public URL": {
      in: "invalidateAfter",
      replace: "[url, incoming.url]",
      by: "[url]",
      foundBy: "invalidation/move-to-as-asked",
    },
    "a Destination counts only as the client has asked": {
      in: "invalidateAfter",
      replace: "[url, incoming.url]",
      by: "[incoming.url]",
      foundBy: "invalidation/move-to-the-public-host",
    },
    "a Destination under another scheme does not count": {
      in: "invalidateAfter",
      replace: "destinationAt(() => address, facts, [url, incoming.url])",
      by: 'facts.field("destination")',
      foundBy: "invalidation/move-to-this-site-over-tls",
    },
    "a Destination on any host is a page of this site": {
      in: "destinationAt",
      replace: "!urls.some((url) => hostIn(url) === hostIn(destination))",
      by: "false",
      foundBy: "invalidation/move-to-another-host",
    },
    "Content-Location is read only where there is no Location": {
      in: "invalidatedUrls",
      replace: "[location, contentLocation,",
      by: "[location ?? contentLocation,",
      foundBy: "invalidation/content-location-beside-location",
    },
    "only absolute locations are read": {
      in: "invalidatedUrls",
      replace: "URL.parse(text, target.href)",
      by: "URL.parse(text)",
      foundBy: "invalidation/relative-location",
    },
    "locations are resolved against the site, not against the request": {
      in: "invalidatedUrls",
      replace: "URL.parse(text, target.href)",
      by: "URL.parse(text, 'http://elsewhere.test/')",
      foundBy: "invalidation/path-relative-location",
    },
    "a location under another scheme is invalidated": {
      in: "invalidatedUrls",
      replace: "protocol === target.protocol &&",
      by: "",
      foundBy: "invalidation/location-under-another-scheme",
    },
    "one host invalidates pages of another": {
      in: "invalidatedUrls",
      replace: "host === target.host &&",
      by: "",
      foundBy: "invalidation/location-on-another-host",
    },
    ...Object.fromEntries(
      ["OPTIONS", "QUERY", "PROPFIND", "REPORT"].map((method) => [
        `${method} counts as unsafe`,
        {
          in: "SAFE_METHODS",
          replace: `"${method}",`,
          by: "",
          foundBy: `invalidation/${method.toLowerCase()}-is-safe`,
        },
      ]),
    ),

    "SEARCH counts as unsafe": {
      in: "SAFE_METHODS",
      replace: ', "SEARCH"',
      by: "",
      foundBy: "invalidation/search-is-safe",
    },
    "only the four usual methods are unsafe": {
      in: "isSafeMethod",
      wrap: '(method) => !["POST", "PUT", "PATCH", "DELETE"].includes(method)',
      foundBy: "invalidation/unknown-method",
    },
    ...Object.fromEntries(
      ["PUT", "POST", "DELETE", "PATCH"].map((method) => [
        `${method} counts as safe`,
        {
          in: "SAFE_METHODS",
          replace: '"GET", "HEAD"',
          by: `"GET", "HEAD", "${method}"`,
          foundBy: `invalidation/successful-${method.toLowerCase()}`,
        },
      ]),
    ),

    "an error invalidates groups": {
      in: "invalidateAfter",
      replace: "status < 400 ?",
      by: "true ?",
      foundBy: "invalidation/post-answered-400",
    },
    "a page that an unsafe request invalidated is thrown away": {
      in: "INVALIDATION",
      replace: 'mode: "invalidate"',
      by: 'mode: "hard"',
      foundBy: "invalidation/validated-not-refetched",
    },
  },
};
