import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules under which one visitor's page reaches another. */
export const mutants: Mutants = {
  "RFC 9111 §3.5": {
    "a request with Authorization is treated like any other": {
      in: "RequestFacts.constructor",
      replace: 'this.authorized = field("authorization") !== null',
      by: "this.authorized = false",
      foundBy: "identity/authorization-and-shared-answers",
    },
    "any response to a request with Authorization is stored": {
      in: "isWhollyMeantForAll",
      replace: "WHOLLY_SHAREABLE.has(status) && isMeantForAll(cacheControl)",
      by: "WHOLLY_SHAREABLE.has(status)",
      foundBy: "identity/authorization-and-shared-answers",
    },
    "no response to a request with Authorization is stored": {
      in: "planFetch",
      replace: "!facts.isForWholePage || forbidsStoring || isSigned",
      by: "true",
      foundBy: "identity/authorization-and-shared-answers",
    },
    "an error that answers a request with Authorization is stored": {
      in: "isWhollyMeantForAll",
      replace: "WHOLLY_SHAREABLE.has(status) && isMeantForAll(cacheControl)",
      by: "isMeantForAll(cacheControl)",
      foundBy: "identity/authorization-and-statuses",
    },
    "the conditions of a request with Authorization do not reach the origin": {
      in: "RequestFacts.isForWholePage",
      replace: "!this.isPartial && asksIf === null",
      by: "!this.isPartial",
      foundBy: "identity/authorization-and-conditions",
    },
    "a request with Authorization answered whatever is stored": {
      in: "mayBeAnsweredBy",
      wrap: "() => true",
      foundBy: "identity/authorization-served-from-store",
    },
    "a request with Authorization is never answered from store": {
      in: "mayBeAnsweredBy",
      replace: "return !request.authorized || stored.sharedWithAuthorized;",
      by: "return !request.authorized;",
      foundBy: "identity/authorization-served-from-store",
    },
    "must-revalidate shares a page that only the route's lifetime keeps with requests with Authorization": {
      in: "storable",
      replace: "(cacheControl.mustRevalidate && sharedWithSessions)",
      by: "cacheControl.mustRevalidate",
      foundBy: "identity/authorization-and-must-revalidate",
    },
    "s-maxage=0 marks a response as shared": {
      in: "isMeantForAll",
      replace: "sMaxage > 0",
      by: "sMaxage >= 0",
      foundBy: "identity/s-maxage-zero-shares-nothing",
    },
    "max-age marks a response as shared": {
      in: "isMeantForAll",
      replace: "public: isPublic, sMaxage }",
      by: "public: isPublic, maxAge: sMaxage }",
      foundBy: "identity/s-maxage-zero-with-max-age",
    },
    "an s-maxage that is not a number marks a response as shared": {
      in: "isMeantForAll",
      replace: 'typeof sMaxage === "number" && sMaxage > 0',
      by: 'sMaxage !== "absent" && sMaxage !== 0',
      foundBy: "identity/malformed-s-maxage-shares-nothing",
    },
  },
  "docs/http.md#cookies-sessions-and-authorization": {
    "a session that the owner ignores sends its visitors past the cache": {
      in: "Visitor.#carriesSession",
      replace: "&& carriesSession(readCookies(cookie, this.#rules.ignoredCookies, []).forwarded)",
      by: "",
      foundBy: "identity/ignored-session",
    },
    "a route's lifetimes are for responses to requests with Authorization, too": {
      in: "storable",
      replace: "isForCredentials && ofOrigin.seconds < ofOwner.seconds ? ofOrigin : ofOwner",
      by: "ofOwner",
      foundBy: "identity/authorization-and-ttl",
    },
    "a request with Authorization overrules a shorter ttl of the route": {
      in: "storable",
      replace: "&& ofOrigin.seconds < ofOwner.seconds",
      by: "",
      foundBy: "identity/authorization-and-shorter-ttl",
    },
    "a request whose Authorization signs its fields loses some of them on its way": {
      in: "planFetch",
      replace: "forbidsStoring || isSigned",
      by: "forbidsStoring",
      foundBy: "identity/signed-request-is-not-changed",
    },
    "credentials are a choice among variants": {
      in: "OF_ONE_VISITOR",
      replace: '["cookie", "authorization"]',
      by: '["cookie"]',
      foundBy: "identity/authorization-and-vary",
    },
    "a response to a request with a session is stored for everybody": {
      in: "mayStoreAnswer",
      replace: 'return "if-for-everybody";',
      by: 'return "yes";',
      foundBy: "identity/session-cookie",
    },
    "a response to a request with a session is not stored, although the origin says that it is shared": {
      in: "reasonInResponse",
      replace: '"if-for-everybody" && !isMeantForAll(cacheControl)',
      by: '"if-for-everybody"',
      foundBy: "identity/session-cookie",
    },
    "analytics cookies tell visitors apart": {
      in: "readCookies",
      replace: "[...ignored, ...ours]",
      by: "ours",
      foundBy: "identity/analytics-cookies",
    },
    "the edge's own cookie reaches the origin": {
      in: "readCookies",
      replace: "[...ignored, ...ours]",
      by: "ignored",
      foundBy: "identity/other-cookies-are-forwarded",
    },
    "ignored cookies are forwarded beside those that matter": {
      in: "readCookies",
      replace: 'kept.length > 0 ? kept.join("; ") : null',
      by: "kept.length > 0 ? field : null",
      foundBy: "identity/other-cookies-are-forwarded",
    },
  },
  "docs/decisions/0007-what-a-follower-may-take.md": {
    "other requests wait for the answer to a request with Authorization": {
      in: "fetchFromOrigin",
      replace: "fetchAndStore(withoutIdleFields(context), plan.miss, null)",
      by: "fetchAndStore(withoutIdleFields(context), plan.miss, context.isolate.collapsed.begin({ page: context.resolved.cacheKey, variant: [], audience: 'anonymous' }, false).fetch)",
      foundBy: "identity/authorization-is-not-joined",
    },
    "after a confirmation for an unusual request, every request fetches alone": {
      in: "answerFreshened",
      replace: "outcomeOfNotStored(notStored.because, stored.head.status)",
      by: '{ kind: "not-shareable" }',
      foundBy: "identity/unusual-request-validates",
    },
    "requests that waited for an unusual request fetch alone": {
      in: "mayBeOfOneRequest",
      replace: "return status >= 400 && (",
      by: "return false && (",
      foundBy: "identity/unusual-request-with-followers",
    },
  },
  "docs/protocol.md#promise-1-private-stays-private": {
    "an error is stored, however unusual its request was": {
      in: "reasonInResponse",
      replace: "isErrorStatus(status) && !request.isPlain",
      by: "false",
      foundBy: "identity/unusual-field-in-vary",
    },
    "a page is stored, however unusual its request was": {
      in: "mayStore",
      replace: "odd !== null",
      by: "false",
      foundBy: "identity/unusual-field",
    },
    "a field that Vary names counts as unusual": {
      in: "mayStore",
      replace: "unkeyedField(fields, names, rules)",
      by: "unkeyedField(fields, rules.keyFields, rules)",
      foundBy: "identity/unusual-field-in-vary",
    },
    "a usual field counts as usual, whatever its value": {
      in: "unkeyedField",
      replace: 'if (!form || (value !== "" && !form.test(value))) return name;',
      by: "if (!form) return name;",
      foundBy: "identity/unusual-characters",
    },
    "a backslash counts as usual, whatever it escapes": {
      in: "request-fields:WORDS",
      replace: String.raw`\\[()]`,
      by: String.raw`\\`,
      foundBy: "identity/escaped-letter",
    },
    "a value counts as usual, however long it is": {
      in: "unkeyedField",
      replace: "|| value.length > MAX_VALUE_CHARACTERS",
      by: "",
      foundBy: "identity/long-field-value",
    },
    "a request counts as usual, however large it is": {
      in: "unkeyedField",
      replace: "characters > MAX_CHARACTERS ||",
      by: "",
      foundBy: "identity/too-much-field-text",
    },
    "an error for a request with cookies is stored": {
      in: "isPlainRequest",
      drop: 'if (identity !== "anonymous") return false;',
      foundBy: "identity/error-with-cookies",
    },
    "an error is stored, although a browser sent its request ahead": {
      in: "oddField",
      drop: "if (special !== undefined) return special;",
      foundBy: "identity/error-for-prefetch",
    },
    "an error is stored, whatever its request accepted": {
      in: "oddField",
      replace: '!inKey.includes("accept") && !acceptsPages(fields.get("accept"))',
      by: "false",
      foundBy: "identity/error-for-odd-accept",
    },
    "an error is not stored for what Accept asks, though the route keys by it": {
      in: "oddField",
      replace: '!inKey.includes("accept") && !acceptsPages(fields.get("accept"))',
      by: '!acceptsPages(fields.get("accept"))',
      foundBy: "identity/error-for-keyed-accept",
    },
  },
  "docs/http.md#what-goes-to-the-origin": {
    "a field that the edge replaces makes a request unusual": {
      in: "unkeyedField",
      replace: "isContinued(name) || reachesOriginAsSent(name, value, rules)",
      by: "true",
      foundBy: "identity/method-override-is-dropped",
    },
  },
  "docs/security.md#what-of-a-request-reaches-the-origin": {
    "what the client's software sends reaches the origin, and makes a request unusual": {
      in: "TREATMENTS",
      replace: '"of-software": { asSent: "unless-stored"',
      by: '"of-software": { asSent: "always"',
      foundBy: "identity/software-fields",
    },
    "escaped parentheses make a request unusual": {
      in: "request-fields:WORDS",
      replace: String.raw`|\\[()]`,
      by: "",
      foundBy: "identity/escaped-parentheses",
    },
    "an answer to a request with a traceparent is not stored": {
      in: "ORDINARY_FORMS",
      replace: "traceparent: LIST,",
      by: "",
      foundBy: "identity/traceparent",
    },
    "a visitor's tracestate reaches the origin where the answer is stored": {
      in: "fieldsToSend",
      replace: 'facts.mode === "refresh" ? withTraceState(route) : route',
      by: "withTraceState(resolved.route)",
      foundBy: "identity/software-fields",
    },
    "what the client's software sends does not reach the origin where nothing is stored": {
      in: "TREATMENTS",
      replace: '"of-software": { asSent: "unless-stored"',
      by: '"of-software": { asSent: "never"',
      foundBy: "identity/software-fields-pass",
    },
    "what a script marks its requests with counts as the name of an app": {
      in: "isPackageName",
      replace: "(?:\\.[A-Za-z]\\w*)+$/",
      by: "(?:\\.[A-Za-z]\\w*)*$/",
      foundBy: "identity/script-marks-its-requests",
    },
  },
  "RFC 9111 §4.1": {
    "the name of an app selects, though the origin has not seen it": {
      in: "OriginView.field",
      replace: "treatmentOf(name, value, this.#rules).inVary",
      by: "treatmentOf(name, null, this.#rules).inVary",
      foundBy: "identity/webview-and-vary",
    },
    "a trusted field does not select, though Vary names it": {
      in: "selectingFields",
      replace: 'named.filter((name) => meaningInVary(name, owners) === "selects")',
      by: 'named.filter((name) => meaningInVary(name) === "selects")',
      foundBy: "identity/trusted-fields-and-vary",
    },
  },
  "docs/http.md#what-clients-see": {
    "an answer that is not stored does not say by which field": {
      in: "notStoredDetail",
      replace: "field === undefined ? because",
      by: "field !== undefined ? because",
      foundBy: "identity/unkeyed-field-is-named",
    },
    "the name of an unkeyed field is told at any length": {
      in: "mayStore",
      replace: "odd.slice(0, MAX_TOLD_CHARACTERS)",
      by: "odd",
      foundBy: "identity/unkeyed-field-is-named",
    },
    "unkeyed fields are not counted by name": {
      in: "reportNotStored",
      replace: "...notStored,",
      by: "because: notStored.because,",
      foundBy: "identity/unkeyed-field-is-named",
    },
  },
  "docs/security.md#fields-of-your-own": {
    "fields that the owner drops reach the origin": {
      in: "treatmentOf",
      replace: "return TREATMENTS.withheld;",
      by: 'return { ...TREATMENTS.withheld, asSent: "always" };',
      foundBy: "identity/dropped-fields",
    },
    "fields that the owner drops select, though the origin has not seen them": {
      in: "treatmentOf",
      replace: "return TREATMENTS.withheld;",
      by: 'return { ...TREATMENTS.withheld, inVary: "selects" };',
      foundBy: "identity/dropped-fields",
    },
    "Referer does not reach the origin, although the owner trusts it": {
      in: "treatmentOf",
      replace: "isTrusted(name, owners) ?",
      by: 'isTrusted(name, owners) && name !== "referer" ?',
      foundBy: "identity/trusted-referer",
    },
    "fields that the owner trusts keep answers from being stored": {
      in: "unkeyedField",
      replace: "|| isTrusted(name, owners)",
      by: "",
      foundBy: "identity/trusted-fields",
    },
    "a pattern of trusted fields covers what speaks of credentials": {
      in: "isTrusted",
      replace: "&& !speaksOfCredentials(name)",
      by: "",
      foundBy: "identity/trusted-pattern-and-credentials",
    },
    "errors are stored, though a trusted field may have provoked them": {
      in: "isPlainRequest",
      replace: "trustedFields: trustedForErrors",
      by: 'trustedFields: ["x-app-*"]',
      foundBy: "identity/trusted-fields-and-errors",
    },
    "what the owner trusts for errors counts for pages alone": {
      in: "isPlainRequest",
      replace: "trustedFields: trustedForErrors",
      by: "trustedFields: []",
      foundBy: "identity/trusted-for-errors",
    },
    "what is trusted for errors has to be trusted for pages by a second name": {
      in: "compileRoute",
      replace: "...rules.fields.trust, ...trustedForErrors",
      by: "...rules.fields.trust",
      foundBy: "identity/trusted-for-errors",
    },
    "any trusted field of a route with one that is trusted for errors is, too": {
      in: "mayStore",
      replace: "{ ...rules, inKey: rules.keyFields, identity }",
      by: "{ ...rules, trustedForErrors: rules.trustedFields, inKey: rules.keyFields, identity }",
      foundBy: "identity/trusted-for-errors-beside-others",
    },
  },
  "docs/security.md": {
    "the origin's answer to an unusual request about a stored page counts for everybody": {
      in: "appliesToEverybody",
      replace: "speaksForEverybody(facts.identity) && unkeyedField(facts.fields, keyed, resolved.route) === null",
      by: "speaksForEverybody(facts.identity)",
      foundBy: "identity/unusual-request-removes-nothing",
    },
  },
};
