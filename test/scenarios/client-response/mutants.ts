import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what a client sees. */
export const mutants: Mutants = {
  "docs/reference/worker.md#siteinput": {
    "a page's age is not added to the owner's lifetime": {
      in: "browserCacheControl",
      replace: "Math.min(ageSeconds + ttlSeconds",
      by: "Math.min(ttlSeconds",
      foundBy: "client-response/browser-ttl",
    },
    "Expires stays beside the owner's lifetime": {
      in: "setBrowserLifetime",
      drop: 'fields.delete("expires");',
      foundBy: "client-response/browser-ttl",
    },
    "a miss gives the origin's lifetime": {
      in: "answerWhileStoring",
      replace: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math",
      by: "setBrowserLifetime(fields, null, Math",
      foundBy: "client-response/browser-ttl",
    },
    "a hit gives the origin's lifetime": {
      in: "hit",
      replace: "{ xCache, outcome, ageSeconds, browserTtlSeconds }",
      by: "{ xCache, outcome, ageSeconds, browserTtlSeconds: null }",
      foundBy: "client-response/browser-ttl",
    },
    "one route's browserTtl applies to every path": {
      in: "compileChecked",
      replace: "compileRoute(checked.elsewhere, null, site)",
      by: "compileRoute({ ...checked.elsewhere, browserTtl: 600 }, null, site)",
      foundBy: "client-response/no-browser-ttl",
    },
    "browserTtl applies to a response that the edge does not store": {
      in: "passOn",
      replace: "const fields = clientFields(context, response.fields);",
      by: `const fields = clientFields(context, response.fields);
if (context.resolved.route.browserTtlSeconds) fields.set("cache-control", "max-age=600");`,
      foundBy: "client-response/browser-ttl-if-stored",
    },
    "errors get the owner's lifetime like pages": {
      in: "mostBrowserSeconds",
      replace: "status < 400",
      by: "status < 600",
      foundBy: "client-response/browser-ttl-and-errors",
    },
    "an error gives its own lifetime in other words where the owner's is longer": {
      in: "browserCacheControl",
      replace: "|| ttlSeconds > mostSeconds",
      by: "",
      foundBy: "client-response/browser-ttl-and-errors",
    },
    "the owner's lifetime begins anew until an error's own is over": {
      in: "browserCacheControl",
      replace: "Math.min(ageSeconds + ttlSeconds, mostSeconds)",
      by: "ageSeconds + ttlSeconds",
      foundBy: "client-response/browser-ttl-and-errors",
    },
    "an error's lifetime at the edge counts as the one in browsers": {
      in: "mostBrowserSeconds",
      replace: 'sMaxage: "absent"',
      by: "",
      foundBy: "client-response/browser-ttl-and-errors",
    },
    "an error without a lifetime in browsers has none": {
      in: "mostBrowserSeconds",
      replace: "Math.floor(freshnessSeconds)",
      by: "0",
      foundBy: "client-response/browser-ttl-and-errors",
    },
    "a page that was confirmed or is stale gives the origin's lifetime": {
      in: "answerAsOfNow",
      replace: "ageSeconds, browserTtlSeconds }",
      by: "ageSeconds, browserTtlSeconds: browserTtlSeconds && null }",
      foundBy: "client-response/browser-ttl-validated-or-stale",
    },
  },
  "RFC 9111 §5.2.2": {
    "the owner's lifetime is the only directive that stays": {
      in: "browserCacheControl",
      replace: "...said,",
      by: '...parseCacheControl(""),',
      foundBy: "client-response/browser-ttl-keeps-restrictions",
    },
    "the origin's stale-while-revalidate stays beside the owner's lifetime": {
      in: "browserCacheControl",
      replace: 'staleWhileRevalidate: "absent",',
      by: "",
      foundBy: "client-response/browser-ttl-keeps-restrictions",
    },
    "the origin's stale-if-error stays beside the owner's lifetime": {
      in: "browserCacheControl",
      replace: 'staleIfError: "absent",',
      by: "",
      foundBy: "client-response/browser-ttl-keeps-restrictions",
    },
    "the origin's s-maxage stays beside the owner's lifetime": {
      in: "browserCacheControl",
      replace: 'sMaxage: "absent",',
      by: "",
      foundBy: "client-response/browser-ttl-keeps-restrictions",
    },
  },
  "RFC 9111 §5.2.2.4": {
    "the owner's lifetime outranks no-cache": {
      in: "browserCacheControl",
      replace: '|| said.noCache === "whole"',
      by: "",
      foundBy: "client-response/browser-ttl-overrules-nothing",
    },
    "the owner's lifetime outranks no-store": {
      in: "browserCacheControl",
      replace: "said.noStore ||",
      by: "",
      foundBy: "client-response/browser-ttl-overrules-nothing",
    },
  },
  "RFC 9111 §4.3.2": {
    "a 304 does not give the lifetime": {
      in: "NOT_ON_304",
      replace: '"content-type",',
      by: '"content-type", "cache-control",',
      foundBy: "client-response/browser-ttl-on-304",
    },
    "a browser that holds the page gets it once more on a miss": {
      in: "answerWhileStoring",
      replace: "response.status === 200 && isHeldByClient(context, head)",
      by: "false",
      foundBy: "client-response/browser-ttl-on-miss",
    },
  },
  "docs/http.md#bodies-and-ranges": {
    "a large page gives the origin's lifetime": {
      in: "answerWhileStoring",
      replace: "setBrowserLifetime(fields, resolved.route.browserTtlSeconds, Math",
      by: "setBrowserLifetime(fields, null, Math",
      foundBy: "client-response/browser-ttl-in-two-steps",
    },
  },
  "RFC 9211 §2": {
    "a hit reports its whole lifetime as its ttl": {
      in: "judge",
      replace: "Math.floor(stored.freshnessSeconds - ageSeconds)",
      by: "stored.freshnessSeconds",
      foundBy: "client-response/fresh-is-hit",
    },
    "a stale answer does not give the reason": {
      in: "hit",
      replace: '...(verdict.kind !== "fresh" && { detail: verdict.because })',
      by: "",
      foundBy: "client-response/max-stale-is-hit",
    },
    "a stale page that is refetched behind the answer is reported as STALE": {
      in: "xCacheOf",
      replace: 'return "UPDATING";',
      by: 'return "STALE";',
      foundBy: "client-response/revalidating-is-hit",
    },
    "a stale page that is not refetched is reported as UPDATING": {
      in: "xCacheOf",
      replace: 'return "STALE";',
      by: 'return "UPDATING";',
      foundBy: "client-response/max-stale-is-hit",
    },
    "an answer in place of an error does not give the error's status": {
      in: "staleAnswer",
      replace: "status: response?.status,",
      by: "",
      foundBy: "client-response/stale-for-error-response",
    },
    "an answer in place of a failed origin's does not give the reason": {
      in: "staleAnswer",
      replace: 'collapsed: typeof failure === "string", because,',
      by: 'collapsed: typeof failure === "string",',
      foundBy: "client-response/stale-for-unreachable-origin",
    },
    "a page that the origin confirmed is reported as a hit": {
      in: "answerFreshened",
      replace: 'answerAsOfNow(context, own, "REVALIDATED", outcome)',
      by: 'answerAsOfNow(context, own, "HIT", outcome)',
      foundBy: "client-response/confirmed-is-revalidated",
    },
    "a confirmed page reports its own status as the origin's": {
      in: "answerFreshened",
      replace: "{ status: 304, stored: notStored === null",
      by: "{ status: stored.head.status, stored: notStored === null",
      foundBy: "client-response/confirmed-is-revalidated",
    },
    "a stale page is reported as a MISS": {
      in: "wordsOfReason",
      replace: '"EXPIRED"',
      by: '"MISS"',
      foundBy: "client-response/changed-is-expired",
    },
    "a page that must be validated each time does not give the reason": {
      in: "wordsOfReason",
      replace: 'detail: miss.because === "stale" ? undefined : miss.because',
      by: "detail: undefined",
      foundBy: "client-response/no-cache-gives-reason",
    },
    "a page that must be validated each time is reported as forwarded because of the request": {
      in: "reasonToValidate",
      replace: 'case "purge-state-unknown":',
      by: 'case "purge-state-unknown": case "no-cache":',
      foundBy: "client-response/no-cache-gives-reason",
    },
    "a missing variant is reported as a uri-miss": {
      in: "missOf",
      replace: 'hasVariants(context) ? "other-variants" : "nothing"',
      by: '"nothing"',
      foundBy: "client-response/other-variant-is-vary-miss",
    },
    "a missing page is reported as a vary-miss": {
      in: "missOf",
      replace: 'hasVariants(context) ? "other-variants" : "nothing"',
      by: '"other-variants"',
      foundBy: "client-response/not-stored-is-uri-miss",
    },
    "a part is reported as a miss of the page": {
      in: "miss:wordsOf",
      replace: 'miss.asks === "part"',
      by: "false",
      foundBy: "client-response/part-is-partial",
    },
    "a page that the request may not have is reported as not stored": {
      in: "reasonToFetch",
      replace: '{ kind: "refused", because }',
      by: '{ kind: "absent", because: "nothing" }',
      foundBy: "client-response/authorization-is-request",
    },
    "a page that the request does not accept is reported as stale": {
      in: "wordsOfReason",
      replace: 'case "doubted":',
      by: 'case "doubted": return { xCache: "MISS", reason: "stale", detail: miss.because };',
      foundBy: "client-response/no-cache-is-request",
    },
    "a purged page is reported as not stored": {
      in: "wordsOfReason",
      replace: 'reason: "stale", detail: miss.kind',
      by: 'reason: "request", detail: miss.kind',
      foundBy: "client-response/purged-is-stale",
    },
    "a page that its owner refreshes is reported as a MISS": {
      in: "wordsOfReason",
      replace: 'xCache: "BYPASS", reason: "request"',
      by: 'xCache: "MISS", reason: "request"',
      foundBy: "client-response/refresh-is-request",
    },
    "a GET that bypasses the cache is reported as forwarded because of the method": {
      in: "wordsOfReason",
      replace: 'miss.because === "method" ? "method" : "bypass"',
      by: '"method"',
      foundBy: "client-response/pass-route-is-bypass",
    },
    "a precondition on the origin's own state is reported as forwarded because of the method": {
      in: "wordsOfReason",
      replace: 'miss.because === "method" ? "method" : "bypass"',
      by: '"method"',
      foundBy: "client-response/precondition-is-bypass",
    },
    "an unsafe method is reported as a bypass": {
      in: "wordsOfReason",
      replace: 'miss.because === "method" ? "method" : "bypass"',
      by: '"bypass"',
      foundBy: "client-response/unsafe-method-is-method",
    },
    "an answer that is not stored does not give the reason": {
      in: "forwardedOutcome",
      replace: "detail: because ?? detail",
      by: "detail",
      foundBy: "client-response/not-storable-gives-reason",
    },
    "the edge's own answer does not say how the origin failed": {
      in: "failed",
      replace: "`origin-$",
      by: "`$",
      foundBy: "client-response/unreachable-origin-is-502",
    },
    "a request that does not meet the route's condition does not give the reason": {
      in: "wordsOfReason",
      replace: 'miss.because === "route-condition" ? miss.because : undefined',
      by: "undefined",
      foundBy: "client-response/route-condition-is-bypass",
    },
    "a HEAD that misses stores nothing, and says so": {
      in: "planFetch",
      replace: "mayFetchByGet(context, miss) ?",
      by: "false ?",
      foundBy: "client-response/head-is-uri-miss",
    },
    "the edge's own answer is reported as forwarded": {
      in: "cacheStatusMember",
      replace: "return `tidemark$",
      by: "return `tidemark; fwd=uri-miss$",
      foundBy: "client-response/only-if-cached-is-504",
    },
    "the edge's Cache-Status replaces that of the caches behind it": {
      in: "markOutcome",
      replace: 'fields.append("cache-status"',
      by: 'fields.set("cache-status"',
      foundBy: "client-response/cache-status-of-origin",
    },
  },
  "RFC 9111 §5.2.1.5": {
    "the answer to a HEAD is reported as stored": {
      in: "forwardHead",
      replace: "return passOnUnlessHeld(context, response, miss, notStored);",
      by: 'return passOnUnlessHeld(context, response, miss, { because: "stored" });',
      foundBy: "storing/head-that-forbids-storing",
    },
  },
  "RFC 6797 §8.1": {
    "lines of Strict-Transport-Security stay joined": {
      in: "toClientFields",
      replace: "firstMember(security)",
      by: "security",
      foundBy: "client-response/first-transport-security",
    },
    "a quoted comma ends Strict-Transport-Security": {
      in: "list-members:MEMBER",
      replace: '"(?:[^"\\\\]|\\\\.)*"?|[^,"]',
      by: "[^,]",
      foundBy: "client-response/first-transport-security",
    },
  },
  "docs/http.md#what-clients-see": {
    "clients see the tags": {
      in: "REPLACED",
      replace: ", ...TAG_FIELDS",
      by: "",
      foundBy: "client-response/tag-fields-are-hidden",
    },
    "clients see other ways to the origin": {
      in: "REPLACED",
      replace: '"alt-svc", ',
      by: "",
      foundBy: "client-response/alternative-services",
    },
  },
  "RFC 9110 §9.3.2": {
    "a HEAD answered the stored body": {
      in: "answerInForm",
      replace: "if (context.answersHead) return headAlone",
      by: "if (false) return headAlone",
      foundBy: "client-response/head-of-stored-page",
    },
    "a HEAD is answered without the stored length": {
      in: "headAlone",
      replace: 'headFields.set("content-length", String(bodyBytes));',
      by: "{}",
      foundBy: "client-response/head-of-stored-page",
    },
  },
};
