import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong readings of Cache-Control. */
export const mutants: Mutants = {
  "RFC 9111 §5.2": {
    "the names of directives are case-sensitive": {
      in: "readCacheDirectives",
      replace: "text.slice(nameAt, nameEnd).toLowerCase()",
      by: "text.slice(nameAt, nameEnd)",
      foundBy: "directives/lifetime-spellings",
    },
    "quotes count as part of an argument": {
      in: "readCacheDirectives",
      replace: "text.slice(start + 1, end - 1)",
      by: "text.slice(start + 1, end)",
      foundBy: "directives/lifetime-spellings",
    },
    "an empty member makes the field unreadable": {
      in: "readCacheDirectives",
      replace: "} else if (hasName) {",
      by: "} else if (!hasName) { return undefined; } else {",
      foundBy: "directives/lifetime-spellings",
    },
    "a comma in quotes ends a directive": {
      in: "endOfString",
      replace: "return at + 1;",
      by: "return at + 1; if (text[at] === ',') return at;",
      foundBy: "directives/lifetime-spellings",
    },
    "of two lifetimes, the last counts": {
      in: "parseText",
      replace: "stricterOf(said[known.key], readDeltaSeconds(value))",
      by: "readDeltaSeconds(value)",
      foundBy: "directives/lifetime-spellings",
    },
  },
  "RFC 9111 §4.2.1": {
    "of a valid lifetime and an invalid one, the valid one counts": {
      in: "stricterOf",
      replace: 'return one === "invalid" || other === "invalid" ? "invalid" : Math.min(one, other);',
      by: 'if (one === "invalid") return other; return other === "invalid" ? one : Math.min(one, other);',
      foundBy: "directives/most-restrictive-reading",
    },
    "a number with a fraction or a sign counts as a lifetime": {
      in: "readDeltaSeconds",
      replace: "if (digit < 0 || digit > 9) return",
      by: "if (value[at] === '-' || value[at] === '.') continue; if (digit < 0 || digit > 9) return",
      foundBy: "directives/most-restrictive-reading",
    },
    "a permission counts as given, whatever its argument says": {
      in: "parseText",
      replace: "||= value === undefined || !PERMISSIONS.has(name)",
      by: "= true",
      foundBy: "directives/most-restrictive-reading",
    },
    "a list of fields without quotes counts as a list": {
      in: "parseText",
      replace: 'isQuoted ? readFieldScope(value!) : "whole"',
      by: 'value === undefined ? "whole" : readFieldScope(value)',
      foundBy: "directives/most-restrictive-reading",
    },
    "a list that names no field applies to nothing": {
      in: "readFieldScope",
      replace: "names.length > 0 && names.every",
      by: "names.every",
      foundBy: "directives/most-restrictive-reading",
    },
    "a list with an invalid field name counts as a list": {
      in: "readFieldScope",
      replace: "names.length > 0 && names.every(isToken)",
      by: "names.length > 0",
      foundBy: "directives/most-restrictive-reading",
    },
    "a star in a list is the name of a field": {
      in: "readFieldScope",
      replace: '&& !names.includes("*")',
      by: "",
      foundBy: "directives/most-restrictive-reading",
    },
    "of private with and without field names, the first counts": {
      in: "widerScope",
      replace: 'if (one === "whole" || other === "whole" || other === "absent") return "whole";',
      by: 'if (one === "whole" || other === "absent") return "whole"; if (other === "whole") return one;',
      foundBy: "directives/most-restrictive-reading",
    },
  },
  "RFC 9111 §1.2.2": {
    "a lifetime has no upper limit": {
      in: "readDeltaSeconds",
      replace: "Math.min(seconds * 10 + digit, MAX_DELTA_SECONDS)",
      by: "seconds * 10 + digit",
      foundBy: "directives/largest-lifetime",
    },
  },
  "RFC 9111 §5.2.2.7": {
    "fields that are private to one visitor are stored": {
      in: "withheldFields",
      replace: 'typeof ofOne === "string" ? [] : ofOne',
      by: 'typeof ofOne === "string" ? [] : []',
      foundBy: "directives/private-with-field-names",
    },
    "fields that are not stored do not reach the client that asked, either": {
      in: "decideStorage",
      replace: "const withheld = verdict.withheldFields;",
      by: "const withheld = verdict.withheldFields; for (const name of withheld) fields.delete(name);",
      foundBy: "directives/private-with-field-names",
    },
    "a follower gets its leader's private fields": {
      in: "decideStorage",
      replace: "linesWithout(withheld, fields)",
      by: "linesWithout([], fields)",
      foundBy: "directives/private-fields-and-followers",
    },
    "who asks for a part does not get fields that are for one client": {
      in: "answerPart",
      replace: "fields: linesWithout([], decision.fields)",
      by: "fields: decision.head.fields",
      foundBy: "directives/private-fields-and-parts",
    },
    "the client that brought a 304 does not get its fields that are for one client": {
      in: "freshen",
      replace: "ownFields: linesWithout(withheld, decision.fields)",
      by: "ownFields: decision.head.fields",
      foundBy: "directives/private-fields-beside-304",
    },
    "fields that are for the client that brought a 304 are stored": {
      in: "answerFreshened",
      replace: "storeFreshened(context, freshened.stored, tellFollowers)",
      by: "storeFreshened(context, { ...freshened.stored, head: changedHead(freshened.stored.head, { fields: freshened.ownFields }) }, tellFollowers)",
      foundBy: "directives/private-fields-beside-304",
    },
    "a stored field goes to a client although the 304 has made it private": {
      in: "freshen",
      replace: "linesWithout(withheld, decision.fields)",
      by: "linesWithout([], decision.fields)",
      foundBy: "directives/fields-made-private-by-304",
    },
    "a stored field goes to a client although a 304 that is not stored has made it private": {
      in: "freshen",
      replace: "linesWithout(withheld, clientFields(context, fields))",
      by: "linesWithout([], clientFields(context, fields))",
      foundBy: "directives/fields-made-private-by-unstored-304",
    },
    "Set-Cookie prevents storing even where private names it": {
      in: "reasonInResponse",
      replace: '&& !withheldFields(cacheControl).includes("set-cookie")',
      by: "",
      foundBy: "directives/private-with-field-names",
    },
  },
  "RFC 9111 §5.2.2.4": {
    "fields that no-cache names are stored": {
      in: "withheldFields",
      replace: 'typeof noCache === "string" ? ofOneVisitor : [...new Set([...ofOneVisitor, ...noCache])]',
      by: "ofOneVisitor",
      foundBy: "directives/no-cache-with-field-names",
    },
  },
  "docs/http.md#memory-and-the-cache-api": {
    "private fields are stored in the tier that isolates share": {
      in: "headParts",
      replace: "head.fields,",
      by: '[...head.fields, "x-user", "jo"],',
      foundBy: "directives/private-fields-across-isolates",
    },
  },
  "RFC 9110 §15.4.5": {
    "a 304 loses the cookie that the origin sent along": {
      in: "NOT_ON_304",
      replace: '"content-type",',
      by: '"content-type", "set-cookie",',
      foundBy: "directives/cookie-beside-304",
    },
  },
  "RFC 9111 §5.2.2.3": {
    "must-understand does not outrank no-store": {
      in: "reasonInResponse",
      replace: "cacheControl.noStore && !cacheControl.mustUnderstand",
      by: "cacheControl.noStore",
      foundBy: "directives/must-understand",
    },
    "must-understand is satisfied by any status": {
      in: "reasonInResponse",
      replace: "cacheControl.mustUnderstand && !isUnderstoodStatus(status)",
      by: "false",
      foundBy: "directives/must-understand",
    },
  },
  "RFC 9111 §3.5": {
    "s-maxage does not let a stored page answer a request with Authorization": {
      in: "isMeantForAll",
      replace: 'isPublic || (typeof sMaxage === "number" && sMaxage > 0)',
      by: "isPublic",
      foundBy: "directives/authorization-and-s-maxage",
    },
    "must-revalidate does not let a stored page answer a request with Authorization": {
      in: "storable",
      replace: "isMeantForAll(cacheControl) || (cacheControl.mustRevalidate && sharedWithSessions)",
      by: "isMeantForAll(cacheControl)",
      foundBy: "directives/authorization-and-must-revalidate",
    },
    "proxy-revalidate lets a stored page answer a request with Authorization": {
      in: "storable",
      replace: "(cacheControl.mustRevalidate && sharedWithSessions)",
      by: "cacheControl.mustRevalidate || cacheControl.proxyRevalidate",
      foundBy: "directives/authorization-and-proxy-revalidate",
    },
  },
  "RFC 9111 §5.2.1": {
    "every visitor decides when the origin is asked": {
      in: "parse",
      drop: 'if (policy === "harmless") return harmless;',
      foundBy: "directives/reload-is-a-hit",
    },
    "every visitor's Pragma decides when the origin is asked": {
      in: "readRequestDirectives",
      replace: 'policy === "all" && saysNoCache',
      by: "saysNoCache",
      foundBy: "directives/reload-is-a-hit",
    },
    "a request's no-cache is obeyed on no route": {
      in: "parse",
      replace: 'noCache: has("no-cache")',
      by: "noCache: false",
      foundBy: "directives/obeyed-no-cache-refetches",
    },
    "a request's Pragma is obeyed on no route": {
      in: "readRequestDirectives",
      replace: "{ ...NO_DIRECTIVES, noCache: true }",
      by: "NO_DIRECTIVES",
      foundBy: "directives/obeyed-pragma-refetches",
    },
    "an answer that a request directive forced is not stored": {
      in: "mayStore",
      replace: "forbidsStoring: directives.forbidsStoring",
      by: "forbidsStoring: directives.forbidsStoring || directives.noCache",
      foundBy: "directives/obeyed-no-cache-refetches",
    },
    "a request's max-age is obeyed on no route": {
      in: "asksForFresher",
      replace: "if (maxAgeSeconds !== null &&",
      by: "if (false &&",
      foundBy: "directives/obeyed-max-age-zero-refetches",
    },
    "a request's min-fresh is not read": {
      in: "parse",
      replace: 'Math.max(0, ...statedSeconds(directives, "min-fresh"))',
      by: "0",
      foundBy: "directives/obeyed-min-fresh-refetches",
    },
  },
  "RFC 9111 §5.2.1.1": {
    "Pragma counts beside Cache-Control": {
      in: "readRequestDirectives",
      replace: "if (text !== null) return parse(text, policy);",
      by: 'if (text !== null && field("pragma") === null) return parse(text, policy);',
      foundBy: "directives/obeyed-max-age",
    },
    "an answer exactly as old as a request's max-age is refused": {
      in: "asksForFresher",
      replace: "ageMs > maxAgeSeconds * 1000",
      by: "ageMs >= maxAgeSeconds * 1000",
      foundBy: "directives/obeyed-max-age",
    },
    "an answer up to a second older than a request's max-age is accepted": {
      in: "asksForFresher",
      replace: "ageMs > maxAgeSeconds * 1000",
      by: "ageMs > maxAgeSeconds * 1000 + 999",
      foundBy: "directives/obeyed-max-age",
    },
    "of a request's two max-age, the larger counts": {
      in: "parse",
      replace: "Math.min(...maxAges)",
      by: "Math.max(...maxAges)",
      foundBy: "directives/obeyed-max-age",
    },
    "a request's max-age that is not a number accepts nothing old": {
      in: "statedSeconds",
      replace: '.filter((seconds) => seconds !== "invalid")',
      by: '.map((seconds) => (seconds === "invalid" ? 0 : seconds))',
      foundBy: "directives/obeyed-max-age",
    },
  },
  "RFC 9111 §5.2.1.4": {
    "a request's no-cache fetches the page in full, whatever is stored": {
      in: "missOf",
      replace: "toValidate: stored }",
      by: "toValidate: context.facts.directives.noCache ? null : stored }",
      foundBy: "directives/obeyed-no-cache-validates",
    },
  },
  "RFC 9111 §5.2.1.3": {
    "an answer that stays fresh exactly as long as min-fresh says is refused": {
      in: "asksForFresher",
      replace: "lifetimeMs - ageMs < minFreshSeconds * 1000",
      by: "lifetimeMs - ageMs <= minFreshSeconds * 1000",
      foundBy: "directives/obeyed-min-fresh",
    },
    "a request's min-fresh is obeyed on no route": {
      in: "asksForFresher",
      replace: "return minFreshSeconds > 0 && lifetimeMs",
      by: "return false && lifetimeMs",
      foundBy: "directives/obeyed-min-fresh",
    },
    "of a request's two min-fresh, the smaller counts": {
      in: "parse",
      replace: 'Math.max(0, ...statedSeconds(directives, "min-fresh"))',
      by: 'statedSeconds(directives, "min-fresh").reduce((one, other) => Math.min(one, other), 3600)',
      foundBy: "directives/obeyed-min-fresh",
    },
  },
  "RFC 9111 §5.2.1.7": {
    "a request with only-if-cached is forwarded to the origin": {
      in: "parse",
      replace: 'has("only-if-cached")',
      by: "false",
      foundBy: "directives/only-if-cached",
    },
    "a request with only-if-cached is refused, whatever is stored": {
      in: "lookUp",
      replace: "const remembered = selectInMemory(context);",
      by: `if (context.facts.directives.onlyIfCached) return fetchFromOrigin(context, BODY_GONE, null);
const remembered = selectInMemory(context);`,
      foundBy: "directives/only-if-cached",
    },
  },
  "RFC 9111 §5.2.1.2": {
    "max-stale accepts an answer, however stale": {
      in: "usableWhileStale",
      replace: "staleMs < directives.maxStaleSeconds * 1000",
      by: "directives.maxStaleSeconds > 0",
      foundBy: "directives/max-stale",
    },
    "max-stale accepts an answer that has been stale for exactly that long": {
      in: "usableWhileStale",
      replace: "staleMs < directives.maxStaleSeconds * 1000",
      by: "staleMs <= directives.maxStaleSeconds * 1000",
      foundBy: "directives/max-stale",
    },
    "max-stale has no effect": {
      in: "usableWhileStale",
      replace: 'directives.maxStaleSeconds * 1000 ? "max-stale" : undefined',
      by: "directives.maxStaleSeconds * 1000 ? undefined : undefined",
      foundBy: "directives/max-stale",
    },
    "max-stale without a number accepts nothing stale": {
      in: "parse",
      replace: '"max-stale", Number.POSITIVE_INFINITY',
      by: '"max-stale", 0',
      foundBy: "directives/max-stale",
    },
    "of a request's two max-stale, the larger counts": {
      in: "toleratedSeconds",
      replace: "Math.min(...tolerated)",
      by: "Math.max(...tolerated)",
      foundBy: "directives/max-stale",
    },
    "a max-stale that is not a number accepts an answer, however stale": {
      in: "toleratedSeconds",
      replace: "secondsOrNone(readDeltaSeconds(value))",
      by: "Number(readDeltaSeconds(value)) >= 0 ? Number(readDeltaSeconds(value)) : bareSeconds",
      foundBy: "directives/malformed-max-stale",
    },
  },
  "docs/protocol.md#promise-2-purged-is-purged": {
    "max-stale accepts a purged page": {
      in: "judge",
      replace: 'if (answer === "purged") return',
      by: 'if (answer === "purged" && request.directives.maxStaleSeconds === 0) return',
      foundBy: "directives/purged-despite-max-stale",
    },
  },
  "RFC 9111 §4.2.4": {
    "a response with must-revalidate may be served stale": {
      in: "rulesOf",
      replace: "mayServeStaleOverSMaxage = !mustRevalidate &&",
      by: "mayServeStaleOverSMaxage =",
      foundBy: "directives/must-revalidate-never-stale",
    },
    "a response with proxy-revalidate may be served stale": {
      in: "rulesOf",
      replace: "!proxyRevalidate &&",
      by: "",
      foundBy: "directives/proxy-revalidate-never-stale",
    },
    "a response with s-maxage may be served stale": {
      in: "rulesOf",
      replace: '&& (sMaxage === "absent" || namesWindow)',
      by: "",
      foundBy: "directives/s-maxage-never-stale",
    },
    "a response with no-cache may replace a failed origin's answer unvalidated": {
      in: "rulesOf",
      replace: '&& noCache !== "whole"',
      by: "",
      foundBy: "directives/no-cache-never-stale",
    },
  },
  "RFC 5861 §4": {
    "a request's stale-if-error has no effect": {
      in: "parse",
      replace: 'toleratedSeconds(directives, "stale-if-error", 0)',
      by: "0",
      foundBy: "directives/request-stale-if-error",
    },
    "a request's stale-if-error accepts an answer that has been stale for exactly that long": {
      in: "mayServeOnError",
      replace: "if (staleMs < Math.max",
      by: "if (staleMs <= Math.max",
      foundBy: "directives/request-stale-if-error",
    },
  },
  "RFC 9111 §5.2.1.5": {
    "a request's Cache-Control that cannot be read forbids nothing": {
      in: "parse",
      replace: "{ ...NO_DIRECTIVES, forbidsStoring: true }",
      by: "NO_DIRECTIVES",
      foundBy: "directives/malformed-request-cache-control",
    },
    "a 304 that answers a request with no-store is stored": {
      in: "answerFreshened",
      replace: "notStored === null ? storeFreshened(",
      by: "true ? storeFreshened(",
      foundBy: "directives/no-store-and-validation",
    },
    "a request's no-store is ignored": {
      in: "parse",
      replace: 'forbidsStoring: has("no-store")',
      by: "forbidsStoring: false",
      foundBy: "directives/request-no-store",
    },
  },
  "RFC 5861 §3": {
    "a request with no-store starts a background refresh that is thrown away": {
      in: "refreshInBackground",
      drop: "if (facts.directives.forbidsStoring) return;",
      foundBy: "directives/no-store-and-background-refresh",
    },
  },
  "RFC 9111 §5.2.3": {
    "clients get only the directives that Tidemark knows": {
      in: "toClientFields",
      replace: 'if (!fields.has("date"))',
      by: `fields.set("cache-control", (fields.get("cache-control") ?? "").replace(/, ext.*/, ""));
if (!fields.has("date"))`,
      foundBy: "directives/unchanged-for-clients",
    },
  },
  "docs/protocol.md#promise-1-private-stays-private": {
    "a Cache-Control that cannot be read forbids nothing": {
      in: "parseText",
      replace: "return UNREADABLE;",
      by: "return said;",
      foundBy: "directives/malformed-private-semicolon",
    },
    "a semicolon is part of a directive's name": {
      in: "PARTS",
      replace: "~\\w-]/, NAME",
      by: "~\\w;-]/, NAME",
      foundBy: "directives/malformed-no-store-semicolon",
    },
    "a space is part of a directive's name": {
      in: "PARTS",
      replace: "~\\w-]/, NAME",
      by: "~\\w -]/, NAME",
      foundBy: "directives/malformed-missing-comma",
    },
    "a quoted string that does not end leaves the rest of the field readable": {
      in: "readCacheDirectives",
      replace: 'text[at] !== ",") return undefined;',
      by: 'text[at] !== ",") return directives;',
      foundBy: "directives/malformed-open-quote",
    },
  },
};
