import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what is stored. */
export const mutants: Mutants = {
  "RFC 9111 §3": {
    "a stream of events is stored": {
      in: "reasonInResponse",
      drop: 'if (isEventStream(field("content-type"))) return "no-freshness";',
      foundBy: "storing/stream-of-events",
    },
    "a lifetime that is not a number counts as an hour": {
      in: "secondsOrNone",
      wrap: '(value) => (value === "invalid" ? 3600 : original(value))',
      foundBy: "storing/malformed-max-age-is-not-stored",
    },
    "max-age=0 counts as no max-age": {
      in: "freshnessLifetime",
      replace: "seconds: secondsOrNone(maxAge)",
      by: "seconds: secondsOrNone(maxAge) || 60",
      foundBy: "storing/max-age-zero-is-not-stored",
    },
    "public alone makes a response fresh": {
      in: "freshnessLifetime",
      replace: 'seconds: 0, source: "none"',
      by: 'seconds: cacheControl.public ? 60 : 0, source: "none"',
      foundBy: "storing/public-alone-is-not-stored",
    },
    "what tells nginx not to store is stored": {
      in: "reasonInResponse",
      drop: 'if (atMostSeconds <= 0) return "x-accel-expires";',
      foundBy: "storing/x-accel-expires",
    },
    "a response is kept for longer than nginx is told to": {
      in: "storable",
      replace: "lifetime.seconds > atMost ? { ...lifetime, seconds: atMost } : lifetime",
      by: "lifetime",
      foundBy: "storing/x-accel-expires-shortens",
    },
    "the empty body is stored in whose place a web server would send a file": {
      in: "reasonInResponse",
      drop: 'if (asksForFile(field)) return "sendfile";',
      foundBy: "storing/sendfile",
    },
    "an unknown status is not stored, whatever lifetime is stated": {
      in: "reasonInResponse",
      replace: "cacheControl.mustUnderstand && !isUnderstoodStatus(status)",
      by: "!isUnderstoodStatus(status)",
      foundBy: "storing/any-status-with-lifetime",
    },
    "no error is stored": {
      in: "isStorableStatus",
      replace: "status >= 200 && status <= 599",
      by: "status >= 200 && status <= 399",
      foundBy: "storing/any-status-with-lifetime",
    },
    ...Object.fromEntries(
      [206, 226, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511].map((never) => [
        `a ${never} is stored`,
        {
          in: "isStorableStatus",
          wrap: `(status) => status === ${never} || original(status)`,
          foundBy: "storing/statuses-never-stored",
        },
      ]),
    ),

    "no-store does not prevent storing": {
      in: "reasonInResponse",
      replace: "if (cacheControl.noStore && !cacheControl.mustUnderstand)",
      by: "if (false)",
      foundBy: "storing/no-store-is-not-stored",
    },
    "private does not prevent storing": {
      in: "reasonInResponse",
      replace: 'if (cacheControl.private === "whole")',
      by: "if (false)",
      foundBy: "storing/private-is-not-stored",
    },
    "a response with no-cache is treated as fresh": {
      in: "rulesOf",
      replace: 'validateAlways: noCache === "whole"',
      by: "validateAlways: false",
      foundBy: "storing/no-cache-is-not-stored",
    },
    "every status is stored": {
      in: "reasonInResponse",
      replace: "if (!isStorableStatus(status))",
      by: "if (false)",
      foundBy: "storing/status-of-one-request",
    },
    "a response without explicit freshness is fresh for a minute": {
      in: "freshnessLifetime",
      replace: 'seconds: 0, source: "none"',
      by: 'seconds: 60, source: "none"',
      foundBy: "storing/error-without-freshness",
    },
    "a page that begins a session is stored for the owner's lifetime, because the origin withholds the cookie by name":
      {
        in: "storable",
        drop: 'if (field("set-cookie") !== null && !originAllowsReuse)',
        foundBy: "storing/cookie-withheld-by-origin",
      },
    "a page that sets a cookie is not stored, though the origin withholds the cookie by name and lets caches reuse the page":
      {
        in: "storable",
        replace: 'field("set-cookie") !== null && !originAllowsReuse',
        by: 'field("set-cookie") !== null',
        foundBy: "storing/cookie-withheld-beside-lifetime",
      },
    "a page that hands out credentials in a field is stored for the owner's lifetime": {
      in: "storable",
      replace: "originAllowsReuse ? undefined : response.fields.lines(handsOutCredentials)[0]",
      by: "undefined",
      foundBy: "storing/credentials-in-a-field",
    },
    "Cache-Status does not name the field that hands out credentials": {
      in: "notStoredDetail",
      replace: "field = given",
      by: "field",
      foundBy: "storing/credentials-in-a-field",
    },
    "a page with a field named like credentials is not stored, though its origin lets caches reuse it": {
      in: "storable",
      replace: "originAllowsReuse ? undefined :",
      by: "",
      foundBy: "storing/credentials-beside-lifetime",
    },
    "one visitor's Set-Cookie is stored for everybody": {
      in: "reasonInResponse",
      replace: 'if (field("set-cookie") !== null &&',
      by: "if (false &&",
      foundBy: "storing/set-cookie-is-not-stored",
    },
    "Vary: * counts as a field that selects nothing": {
      in: "varyFields",
      replace: 'if (name === "*" ||',
      by: "if (",
      foundBy: "storing/vary-star-is-not-stored",
    },
    "a response with a tag that no purge can name is stored": {
      in: "isTag",
      replace: "text.length <= MAX_TAG_BYTES &&",
      by: "",
      foundBy: "storing/tag-too-long",
    },
    "a HEAD that misses stores the page, although the owner says that it does not": {
      in: "mayFetchByGet",
      replace: "!resolved.route.storesOnHead ||",
      by: "",
      foundBy: "storing/head-miss-stores-nothing",
    },
    "a route that stores for HEAD on a site that does not stores nothing": {
      in: "compileRoute",
      replace: "rules.store.onHead ??",
      by: "",
      foundBy: "storing/head-miss-stores-nothing",
    },
  },
  "docs/reference/worker.md#siteinput": {
    "a query one character longer than the route allows is stored": {
      in: "withinConditions",
      replace: "value.length <= maxLength",
      by: "value.length <= maxLength + 1",
      foundBy: "storing/long-queries-kept-out",
    },
    "a query exactly as long as the route allows is not stored": {
      in: "withinConditions",
      replace: "value.length <= maxLength",
      by: "value.length < maxLength",
      foundBy: "storing/long-queries-kept-out",
    },
    "of a parameter that comes twice, one short value is enough": {
      in: "withinConditions",
      replace: "queryValues(search, name).every(",
      by: "queryValues(search, name).some(",
      foundBy: "storing/long-queries-kept-out",
    },
  },
  "docs/protocol.md#promise-4-whole-and-unchanged-or-not-at-all": {
    "the client gets no Via": {
      in: "markOutcome",
      drop: 'fields.append("via", "1.1 tidemark");',
      foundBy: "storing/status-fields-and-body",
    },
    "every response from store has status 200": {
      in: "decideStorage",
      replace: "toKeep(variant), status,",
      by: "toKeep(variant), status: 200,",
      foundBy: "storing/status-fields-and-body",
    },
  },
  "docs/http.md#memory-and-the-cache-api": {
    "nothing is put into the shared tier": {
      in: "TieredStore.keep",
      replace: "this.#shared.put(stored)",
      by: "Promise.resolve()",
      foundBy: "storing/found-by-another-isolate",
    },
    "the shared tier is not looked at": {
      in: "TieredStore.lookUp",
      wrap: "() => undefined",
      foundBy: "storing/found-after-restart",
    },
    "an entry that is found in the shared tier is ignored": {
      in: "candidates",
      replace: "[remembered, found].filter",
      by: "[remembered].filter",
      foundBy: "storing/found-after-restart",
    },
  },
  "RFC 9111 §4.2": {
    "a response that arrives just as old as its lifetime is stored": {
      in: "isUseless",
      replace: "ageMs < usableSeconds * 1000",
      by: "ageMs <= usableSeconds * 1000",
      foundBy: "storing/stale-on-arrival",
    },
  },
  "RFC 9110 §15.3.5": {
    "a 204 is not stored, because it has no length": {
      in: "isFramed",
      drop: "if (status === 204) return true;",
      foundBy: "storing/response-without-body",
    },
  },
  "docs/http.md#the-way-of-a-request": {
    "a HEAD that misses is forwarded, and stores nothing": {
      in: "planFetch",
      replace: "mayFetchByGet(context, miss) ?",
      by: "false ?",
      foundBy: "storing/head-miss-stores-the-page",
    },
    "a HEAD gets the error of the GET that was sent for it": {
      in: "answerBy",
      replace: "if (context.askByHead &&",
      by: "if (false &&",
      foundBy: "storing/head-where-get-is-an-error",
    },
    "a HEAD is sent again although the error of its GET is stored": {
      in: "answerBy",
      replace: 'context.askByHead && decision.kind === "not-stored" &&',
      by: "context.askByHead &&",
      foundBy: "storing/head-where-get-is-an-error",
    },
    "an origin that fails is asked twice for a HEAD": {
      in: "answerBy",
      replace: "&& !isOriginError(status)",
      by: "",
      foundBy: "storing/head-where-get-is-an-error",
    },
    "every HEAD is sent as a GET first, although that is known to be an error": {
      in: "headByGet",
      drop: 'isolate.unstored.remember(fetchKeyOf(context), ports.clock.now(), "HEAD");',
      foundBy: "storing/head-where-get-is-an-error",
    },
    "after a HEAD whose GET was an error, no whole page is fetched for a part": {
      in: "headByGet",
      replace: ', "HEAD"',
      by: "",
      foundBy: "storing/head-where-get-is-an-error",
    },
    "a private answer to one odd HEAD is every HEAD's": {
      in: "rememberUnstored",
      replace: "...sharedKeyOf(context)",
      by: "...fetchKeyOf(context)",
      foundBy: "storing/private-head-of-an-odd-request",
    },
    "a HEAD with an unkeyed field is sent as a GET": {
      in: "mayFetchByGet",
      drop: "if (unkeyedField(facts.fields, selectingNames(context), resolved.route) !== null) return false;",
      foundBy: "storing/heads-with-an-unkeyed-field",
    },
    "a HEAD with a field by which pages vary stores none": {
      in: "mayFetchByGet",
      replace: "selectingNames(context), resolved.route)",
      by: "[], resolved.route)",
      foundBy: "storing/heads-with-an-unkeyed-field",
    },
  },
  "RFC 9111 §4.3.5": {
    "a HEAD of a stale page fetches the page, although a HEAD would confirm it": {
      in: "mayFetchByGet",
      replace: "selected !== null || toValidate !== null",
      by: "false",
      foundBy: "freshening/head-without-validator",
    },
  },
  "docs/http.md#collapsed-requests": {
    "a HEAD that shares the fetch of a GET is not told the length of the page": {
      in: "answerInForm",
      replace: "if (context.answersHead) return headAlone",
      by: 'if (facts.method === "HEAD") return headAlone',
      foundBy: "storing/head-and-get-share-a-fetch",
    },
  },
  "RFC 9110 §14.2": {
    "the origin is asked by HEAD for a page that is to be stored": {
      in: "headByGet",
      replace: "facts: context.facts.forWholePage()",
      by: "facts: context.facts",
      foundBy: "storing/head-with-range-and-condition",
    },
  },
  "docs/protocol.md#what-a-purge-promises": {
    "a HEAD of a page that was purged stores nothing": {
      in: "mayFetchByGet",
      replace: "if (selected !== null ||",
      by: 'if (arguments[1].kind === "purged" || selected !== null ||',
      foundBy: "storing/head-of-a-purged-page",
    },
  },
  "RFC 9111 §5.2.1.5": {
    "a HEAD with no-store fetches the page by GET": {
      in: "mayFetchByGet",
      replace: "|| facts.directives.forbidsStoring",
      by: "",
      foundBy: "storing/head-that-forbids-storing",
    },
    "a HEAD is treated as a GET": {
      in: "openContext",
      replace: "new RequestFacts(method,",
      by: 'new RequestFacts("GET",',
      foundBy: "storing/head-that-forbids-storing",
    },
  },
  "docs/http.md#bodies-and-ranges": {
    "a large body is copied for a HEAD": {
      in: "answerFetched",
      replace: "if (context.answersHead) {",
      by: "if (false) {",
      foundBy: "storing/head-of-large-page",
    },
    "a page that a GET would store is called too large for a HEAD": {
      in: "answerFetched",
      replace: "return pass();",
      by: 'return pass({ because: "too-large" });',
      foundBy: "storing/head-of-large-page",
    },
    "every HEAD of a page that is not stored is a GET": {
      in: "rememberUnstored",
      replace: "&& !answersHead",
      by: "",
      foundBy: "storing/head-of-private-page",
    },
    "every HEAD of a page whose body outgrew the store is a GET": {
      in: "storeIfWhole",
      drop: 'if (read.kind === "too-large") rememberUnstored(context);',
      foundBy: "storing/head-of-large-page-without-length",
    },
    "a page that was once not stored is asked for by HEAD for ever": {
      in: "ExpiringKeys.when",
      replace: "Math.abs(now - at) < this.#forMs",
      by: "now > 0",
      foundBy: "storing/head-of-large-page",
    },
    "a page that was not stored is asked for by HEAD for less than an hour": {
      in: "UNSTORED_MS",
      replace: "3_600_000",
      by: "3_599_999",
      foundBy: "storing/head-of-large-page",
    },
    "a body that is not stored is left open for a HEAD": {
      in: "headByGet",
      replace: "background.run(cancelBody(answer.body));",
      by: "background.run(new Response(answer.body).text());",
      foundBy: "storing/head-leaves-the-body",
    },
  },
  "docs/protocol.md#promise-1-private-stays-private": {
    "one odd HEAD keeps the page from being stored for those that follow": {
      in: "answerFetched",
      replace: "if (!isOfVisitor) rememberUnstored(context)",
      by: "context.isolate.unstored.remember(fetchKeyOf(context), context.ports.clock.now())",
      foundBy: "storing/head-of-an-odd-request",
    },
  },
};
