import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of conditional requests. */
export const mutants: Mutants = {
  "RFC 9110 §13.1.1": {
    "a request with If-Match is looked up in the store": {
      in: "modeOf",
      replace: 'field("if-match") !== null',
      by: "false",
      foundBy: "validation/precondition-goes-to-origin",
    },
    "a request with If-Unmodified-Since is looked up in the store": {
      in: "modeOf",
      replace: 'field("if-unmodified-since") !== null',
      by: "false",
      foundBy: "validation/precondition-goes-to-origin",
    },
    "If-Unmodified-Since is answered from store": {
      in: "modeOf",
      replace: '|| field("if-unmodified-since") !== null',
      by: "",
      foundBy: "validation/precondition-despite-fresh-page",
    },
  },
  "RFC 9111 §4.3.2": {
    "a weak entity tag does not match the strong one of the stored page": {
      in: "isNotModified",
      replace: "matchesWeakly(tag, etag)",
      by: "tag === etag",
      foundBy: "validation/client-304-from-store",
    },
    "any entity tag of a client matches the stored page": {
      in: "isNotModified",
      replace: "matchesWeakly(tag, etag)",
      by: "true",
      foundBy: "validation/client-304-from-store",
    },
    "a 304 has all fields of the stored page": {
      in: "notModifiedFields",
      replace: "!NOT_ON_304.has(name) &&",
      by: "",
      foundBy: "validation/client-304-from-store",
    },
    "a page without a Last-Modified is always sent again": {
      in: "isNotModified",
      replace: "stored.lastModified ?? stored.date ?? null",
      by: "stored.lastModified",
      foundBy: "validation/date-for-last-modified",
    },
    "a client's condition is evaluated on hits alone, not after a validation": {
      in: "answerInForm",
      replace: "if (isHeldByClient(context, head))",
      by: 'if (metadata.xCache === "HIT" && isHeldByClient(context, head))',
      foundBy: "validation/client-304-after-validation",
    },
    "a client that holds the very page that was refetched is sent it": {
      in: "answerWhileStoring",
      replace: "isHeldByClient(context, head)",
      by: "false",
      foundBy: "validation/client-304-after-validation",
    },
    "a client that holds a page that is not stored is sent it": {
      in: "passOnUnlessHeld",
      replace: "!isHeldByClient(context, { fields: tag })",
      by: "true",
      foundBy: "validation/client-holds-unstored-page",
    },
    "an answer that is not stored becomes a 304 by a date": {
      in: "passOnUnlessHeld",
      replace: 'response.fields.lines((name) => name === "etag")',
      by: "response.fields.lines(() => true)",
      foundBy: "validation/client-holds-unstored-page",
    },
    "an error that is not stored becomes a 304": {
      in: "passOnUnlessHeld",
      replace: "response.status !== 200 ||",
      by: "",
      foundBy: "validation/client-holds-unstored-page",
    },
    "the origin gets the client's condition instead of the edge's own": {
      in: "fetchOnce",
      replace: "=> conditionsOf(context, miss)",
      by: '=> [["if-none-match", context.incoming.request.headers.get("if-none-match") ?? ""]]',
      foundBy: "validation/client-holds-another-page",
    },
  },
  "RFC 9110 §15.4.5": {
    "a 304 has the date of the page beside its entity tag": {
      in: "notModifiedFields",
      replace: '&& !(hasTag && name === "last-modified")',
      by: "",
      foundBy: "validation/304-for-another-origin",
    },
    "a 304 cannot be read by the scripts of another site": {
      in: "notModifiedFields",
      replace: "!NOT_ON_304.has(name) &&",
      by: '!NOT_ON_304.has(name) && !name.startsWith("access-control-") &&',
      foundBy: "validation/304-for-another-origin",
    },
    "a 304 to a request without conditions reaches the client": {
      in: "acceptable",
      replace: "const isUnasked = status === 304",
      by: "const isUnasked = false",
      foundBy: "validation/304-to-no-condition",
    },
    "a 304 to a client's own condition counts as a failure": {
      in: "acceptable",
      replace: '!sent.some(([name]) => name.startsWith("if-"))',
      by: "true",
      foundBy: "validation/304-to-no-condition",
    },
  },
  "RFC 9110 §13.2.1": {
    "a stored error answered 304 to a client that holds its entity tag": {
      in: "answerInForm",
      replace: "if (head.status === 200)",
      by: "if (true)",
      foundBy: "validation/stored-error-is-never-304",
    },
  },
  "docs/protocol.md#what-a-purge-promises": {
    "a purged page answered 304 to a client that holds it": {
      in: "judge",
      replace: 'if (answer === "purged")',
      by: "if (false)",
      foundBy: "validation/purged-is-never-304",
    },
  },
  "RFC 9111 §4.3.1": {
    "a client's condition is forwarded to the origin, which answers 304": {
      in: "REQUEST_FIELDS",
      replace: '"if-none-match",',
      by: "",
      foundBy: "validation/client-304-is-not-stored",
    },
    "a stale page is always fetched in full": {
      in: "fetchOnce",
      replace: "=> conditionsOf(context, miss)",
      by: "=> null",
      foundBy: "validation/confirmed-is-fresh-again",
    },
    "a weak tag is not sent to the origin": {
      in: "validationFields",
      replace: "isEntityTag(etag)",
      by: 'isEntityTag(etag) && !etag.startsWith("W/")',
      foundBy: "validation/by-weak-tag",
    },
    "a weak tag in a 304 confirms nothing": {
      in: "confirms",
      replace: "return matchesWeakly(stored.etag, etag)",
      by: "return stored.etag === etag && !isWeak(etag)",
      foundBy: "validation/by-weak-tag",
    },
    "Last-Modified is not sent to the origin": {
      in: "validationFields",
      replace: "if (lastModified !== null &&",
      by: "if (false && lastModified !== null &&",
      foundBy: "validation/by-date-alone",
    },
    "Last-Modified is not sent beside an entity tag": {
      in: "validationFields",
      replace: "if (lastModified !== null &&",
      by: "if (fields.length === 0 && lastModified !== null &&",
      foundBy: "validation/by-tag-and-date",
    },
    "a text that is not an entity tag is sent as one": {
      in: "validationFields",
      replace: "etag !== null && isEntityTag(etag)",
      by: "etag !== null",
      foundBy: "validation/malformed-tag-and-date",
    },
    "a text that is not a date is sent as one": {
      in: "validationFields",
      replace: "&& parseHttpDate(lastModified, now) !== undefined",
      by: "",
      foundBy: "validation/tag-and-malformed-date",
    },
    "a page without a validator is validated by If-None-Match: *": {
      in: "validationFields",
      replace: "fields.length === 0 ? null : fields",
      by: 'fields.length === 0 ? [["if-none-match", "*"]] : fields',
      foundBy: "validation/no-validator",
    },
    "a tag without quotes is none": {
      in: "entityTags",
      replace: '|^[^", *]+$',
      by: "",
      foundBy: "validation/by-tag-without-quotes",
    },
    "a tag without quotes is not sent to the origin": {
      in: "validationFields",
      replace: "isEntityTag(etag)",
      by: "isEntityTag(etag) && etag.endsWith('\"')",
      foundBy: "validation/by-tag-without-quotes",
    },
    "a star counts as an entity tag": {
      in: "entityTags",
      replace: '[^", *]',
      by: '[^", ]',
      foundBy: "validation/malformed-tag-alone",
    },
    "a number counts as a date": {
      in: "parseHttpDate",
      replace: "if (text === null) return undefined;",
      by: "if (text === null) return undefined; if (/^[0-9]+$/.test(text)) return Number(text);",
      foundBy: "validation/malformed-date-alone",
    },
  },
  "RFC 9111 §4.3.3": {
    "any answer to a validation is treated as a 304": {
      in: "answerBy",
      replace: "if (status === 304 && toValidate)",
      by: "if (toValidate)",
      foundBy: "validation/page-has-changed",
    },
  },
  "RFC 9111 §5.2.2.4": {
    "a page with no-cache is answered from store without validation": {
      in: "judge",
      replace: "if (stored.reuse.validateAlways)",
      by: "if (false)",
      foundBy: "validation/no-cache-each-time",
    },
    "a page with a tag without quotes counts as one that cannot be validated": {
      in: "hasValidator",
      replace: 'isEntityTag(field("etag") ?? "")',
      by: 'field("etag")?.endsWith(\'"\')',
      foundBy: "validation/no-cache-without-quotes",
    },
    "a response that is never fresh is not stored, although it can be validated": {
      in: "isUseless",
      replace: "if (isNeverFresh && !isExplicit(freshness))",
      by: "if (isNeverFresh)",
      foundBy: "validation/max-age-zero-each-time",
    },
    "an Expires in the past does not count as a stated lifetime": {
      in: "isExplicit",
      replace: 'source === "max-age" || source === "expires"',
      by: 'source === "max-age"',
      foundBy: "validation/past-expires-each-time",
    },
    "a follower takes a page that must be validated for each request": {
      in: "isReusable",
      replace: "return mayAnswer(judge(head, request, unpurged, resolved.route.stale, clock.now()));",
      by: "return true;",
      foundBy: "validation/follower-and-no-cache",
    },
    "a follower refuses even an answer that was requested after it arrived": {
      in: "mayFollow",
      replace: "fetch.order > arrival.order",
      by: "false",
      foundBy: "validation/follower-and-no-cache",
    },
  },
  R8: {
    "a page that may have been purged is fetched in full": {
      in: "judge",
      replace: 'return { kind: "validate", because: "purge-state-unknown" };',
      by: 'return { kind: "none", because: "purged" };',
      foundBy: "validation/silent-log-validates",
    },
  },
  "docs/http.md#memory-and-the-cache-api": {
    "a page that a 304 confirmed is kept in memory alone": {
      in: "storeFreshened",
      replace: "storing.run(storeUnlessPurged(context, stored, tellFollowers));",
      by: '{ context.ports.store.remember(stored); tellFollowers({ kind: "storable", stored, kept: Promise.resolve() }); }',
      foundBy: "validation/confirmed-after-restart",
    },
    "the shared tier is not looked at when memory holds a stale page": {
      in: "candidates",
      replace: "[remembered, found].filter",
      by: "[remembered ?? found].filter",
      foundBy: "validation/confirmed-by-another-isolate",
    },
  },
  "RFC 9111 §4": {
    "each request has a stale page validated for itself": {
      in: "collapse",
      replace: "fetchAndStore(context, miss, begun.fetch)",
      by: "fetchAndStore(context, miss, miss.toValidate !== null ? null : begun.fetch)",
      foundBy: "validation/one-validation-for-many",
    },
    "a follower takes a page that has become stale on the way": {
      in: "isReusable",
      replace: "judge(head, request, unpurged",
      by: "judge({ ...head, freshnessSeconds: 3600 }, facts, unpurged",
      foundBy: "validation/follower-and-short-lifetime",
    },
  },
  R2: {
    "a page that a 304 confirmed is stamped at the 304's arrival": {
      in: "answerBy",
      replace: "answerFreshened(context, miss, toValidate, response, tellFollowers)",
      by: "answerFreshened(context, miss, toValidate, { ...response, stamp: context.ports.purges.stamp() }, tellFollowers)",
      foundBy: "validation/purge-during-validation",
    },
    "a page that a 304 confirmed outlives the next purge": {
      in: "freshen",
      replace: "{ ...decision.head, givenPurgeKeys",
      by: "{ ...decision.head, stamp: decision.head.stamp && { ...decision.head.stamp, seq: decision.head.stamp.seq + 1 }, givenPurgeKeys",
      foundBy: "validation/confirmed-before-purge-known",
    },
  },
  "RFC 9110 §13.1.2": {
    "a client's weak tag does not match the stored strong one": {
      in: "isNotModified",
      replace: "matchesWeakly(tag, etag)",
      by: "tag === etag",
      foundBy: "validation/if-none-match",
    },
    "If-None-Match: * matches nothing": {
      in: "isNotModified",
      replace: 'held === "*"',
      by: "false",
      foundBy: "validation/if-none-match",
    },
    "If-Modified-Since counts where If-None-Match did not match": {
      in: "isNotModified",
      replace: "return etag !== null && entityTags(ifNoneMatch).some((tag) => matchesWeakly(tag, etag));",
      by: "if (etag !== null && entityTags(ifNoneMatch).some((tag) => matchesWeakly(tag, etag))) return true;",
      foundBy: "validation/if-none-match",
    },
    "a list of entity tags is split at every comma, and spaces count": {
      in: "entityTags",
      wrap: '(text) => text.split(",")',
      foundBy: "validation/if-none-match",
    },
  },
  "RFC 9110 §8.8.3": {
    "a tag without quotes may be one of a list": {
      in: "entityTags",
      replace: '|^[^", *]+$',
      by: '|[^", *]+',
      foundBy: "validation/tag-without-quotes",
    },
    "a tag without quotes serves If-Range": {
      in: "matchesStrongly",
      replace: `one.startsWith('"')`,
      by: "!isWeak(one)",
      foundBy: "validation/tag-without-quotes",
    },
  },
  "RFC 9110 §13.1.3": {
    "no client's date goes to the origin": {
      in: "planFetch",
      replace: "if (mayAskByDate(context, miss))",
      by: "if (false)",
      foundBy: "validation/date-of-unstored-page",
    },
    "those who ask for the page at the same time wait for the answer to a client's date": {
      in: "fetchFromOrigin",
      replace: "ofKey(fetchPart(context, miss, plan.kind))",
      by: 'ofKey(plan.kind === "part" ? fetchPart(context, miss) : collapse({ context, miss: { ...miss, asks: "date" }, token, lookAgain }))',
      foundBy: "validation/date-beside-a-fetch",
    },
    "a client's date goes to the origin beside a tag": {
      in: "mayAskByDate",
      replace: 'facts.field("if-none-match") !== null',
      by: "false",
      foundBy: "validation/date-of-unstored-page",
    },
    "a client's date goes to the origin beside a range": {
      in: "mayAskByDate",
      replace: 'facts.field("range") !== null',
      by: "false",
      foundBy: "validation/date-of-unstored-page",
    },
    "a client's date is sent where a stored page may be confirmed": {
      in: "mayAskByDate",
      replace: 'kind !== "absent" ||',
      by: "",
      foundBy: "validation/date-of-page-that-another-isolate-stores",
    },
    "the answer to a client's date does not say why it is not stored": {
      in: "answerAlone",
      replace: "status === 304 ? { ...response, status: 204 } : response",
      by: "response",
      foundBy: "validation/date-of-unstored-page",
    },
    "a client's date goes to the origin after an answer that forbids storing": {
      in: "noteDated",
      replace: 'decision.because === "no-freshness" &&',
      by: "",
      foundBy: "validation/date-of-page-that-is-stored-again",
    },
    "a client's date goes to the origin after an error": {
      in: "noteDated",
      replace: "response.status === 200 &&",
      by: "",
      foundBy: "validation/date-of-page-that-is-stored-again",
    },
    "a client's date goes to the origin for a page without one": {
      in: "noteDated",
      replace: 'response.fields.has("last-modified") &&',
      by: "",
      foundBy: "validation/date-of-page-that-is-stored-again",
    },
    "a client's date goes to the origin right after a stored page has lost its lifetime": {
      in: "noteDated",
      replace: "!selected &&",
      by: "",
      foundBy: "validation/date-of-page-that-is-stored-again",
    },
    "a client's date goes to the origin although the page may be stored again": {
      in: "noteDated",
      replace: "dated.forget(key)",
      by: "undefined",
      foundBy: "validation/date-of-page-that-is-stored-again",
    },
    "a client's date goes to the origin although a lifetime may be guessed": {
      in: "noteDated",
      replace: "!isolate.site.heuristic",
      by: "true",
      foundBy: "validation/date-where-lifetimes-are-guessed",
    },
    "a client that holds the page of exactly this date is sent it again": {
      in: "isNotModified",
      replace: "modifiedAt <= since",
      by: "modifiedAt < since",
      foundBy: "validation/if-modified-since",
    },
    "a 304 for a page without an entity tag has no validator": {
      in: "notModifiedFields",
      replace: "hasTag &&",
      by: "",
      foundBy: "validation/if-modified-since",
    },
    "a two-digit year in If-Modified-Since is of another century": {
      in: "isNotModified",
      replace: "parseHttpDate(ifModifiedSince, now)",
      by: "parseHttpDate(ifModifiedSince, Date.UTC(1950, 0, 1))",
      foundBy: "validation/if-modified-since",
    },
  },
  "RFC 9110 §5.6.7": {
    "a two-digit year in Last-Modified is of another century, so that every client holds the page": {
      in: "isNotModified",
      replace: "stored.date ?? null, now)",
      by: "stored.date ?? null, Date.UTC(1950, 0, 1))",
      foundBy: "validation/two-digit-year-of-the-origin",
    },
    "a Last-Modified with a two-digit year validates nothing": {
      in: "validationFields",
      replace: "parseHttpDate(lastModified, now)",
      by: "(/-/.test(lastModified) ? undefined : parseHttpDate(lastModified, now))",
      foundBy: "validation/two-digit-year-of-the-origin",
    },
  },
};
