import type { Mutants } from "./mutant.ts";

const CACHE_CONTROL = "worker/rules/directives/cache-control.ts";
const CACHE_DIRECTIVES = "worker/rules/directives/cache-directives.ts";
const MAY_STORE = "worker/rules/storing/storable.ts";
const REQUEST_DIRECTIVES = "worker/rules/directives/request-directives.ts";
const JUDGE = "worker/rules/freshness/judge.ts";
const REUSE = "worker/rules/directives/reuse-rules.ts";

const WRITTEN =
  "a lifetime is read as origins write it: in any case, quoted, beside unknown and empty members, over several lines";
const RESTRICTIVE = "where directives conflict, or a lifetime is no number, the most restrictive reading counts";
const PRIVATE_FIELDS =
  'fields that private="…" names go to the one who asked, and not into the store; the rest of the page does';
const RELOAD =
  "a visitor who reloads, with no-cache, max-age, min-fresh or Pragma, is answered from store: no stranger decides what the origin is asked";
const OLDEST = "on a route that obeys visitors, max-age is the oldest answer that is taken";
const MIN_FRESH = "on a route that obeys visitors, min-fresh is how long the answer has to stay fresh";
const MAX_STALE = "max-stale takes an answer that is stale for so long, and no staler one";
const ONLY_IF_CACHED = "only-if-cached is answered from store or with 504, and never asks the origin";
const STALE_IF_ERROR =
  "a visitor's stale-if-error takes an answer that is stale for so long where the origin fails, and no staler one";
const MUST_UNDERSTAND =
  "must-understand outranks no-store where the status is understood, and forbids storing where it is not";

function never(directives: string): string {
  return `Cache-Control: ${directives} is served stale to nobody, whatever visitors and the owner would take`;
}

/** Wrong readings of `Cache-Control`, the origin's and the visitor's. */
export const directives: Mutants = {
  "case-counts": {
    name: "directives differ in case",
    file: CACHE_DIRECTIVES,
    from: "text.slice(nameAt, nameEnd).toLowerCase()",
    to: "text.slice(nameAt, nameEnd)",
    reddens: WRITTEN,
  },
  "quotes-are-kept": {
    name: "quotes are part of an argument",
    file: CACHE_DIRECTIVES,
    from: "text.slice(start + 1, end - 1)",
    to: "text.slice(start + 1, end)",
    reddens: WRITTEN,
  },
  "empty-members-are-garbage": {
    name: "an empty member makes the field unreadable",
    file: CACHE_DIRECTIVES,
    from: "} else if (hasName) {",
    to: "} else if (!hasName) {\n      return undefined;\n    } else {",
    reddens: WRITTEN,
  },
  "quoted-commas-split": {
    name: "a comma in quotes ends a directive",
    file: CACHE_DIRECTIVES,
    from: "if (text[at] === '\"') return at + 1;",
    to: "if (text[at] === '\"') return at + 1;\n    if (text[at] === ',') return at;",
    reddens: WRITTEN,
  },
  "last-lifetime-counts": {
    name: "of two lifetimes the last counts",
    file: CACHE_CONTROL,
    from: "stricterOf(said[known.key], readDeltaSeconds(value))",
    to: "readDeltaSeconds(value)",
    reddens: WRITTEN,
  },
  "number-outranks-garbage": {
    name: "of a lifetime and one that is none the lifetime counts",
    file: "worker/rules/directives/delta-seconds.ts",
    from: 'return one === "invalid" || other === "invalid" ? "invalid" : Math.min(one, other);',
    to: 'if (one === "invalid") return other;\n  return other === "invalid" ? one : Math.min(one, other);',
    reddens: RESTRICTIVE,
  },
  "fractions-are-lifetimes": {
    name: "a number with a fraction or a sign is a lifetime",
    file: "worker/rules/directives/delta-seconds.ts",
    from: "if (digit < 0 || digit > 9) return",
    to: "if (value[at] === '-' || value[at] === '.') continue;\n    if (digit < 0 || digit > 9) return",
    reddens: RESTRICTIVE,
  },
  "lifetimes-have-no-end": {
    name: "a lifetime may be larger than the largest",
    file: "worker/rules/directives/delta-seconds.ts",
    from: "Math.min(seconds * 10 + digit, MAX_DELTA_SECONDS)",
    to: "seconds * 10 + digit",
    reddens: "a lifetime too large to count is the largest that counts, 2^31 seconds",
  },
  "bare-lists-are-lists": {
    name: "a list of fields without quotes is taken for the whole list",
    file: CACHE_CONTROL,
    from: 'isQuoted ? readFieldScope(value!) : "whole"',
    to: 'value === undefined ? "whole" : readFieldScope(value)',
    reddens: RESTRICTIVE,
  },
  "empty-lists-name-nothing": {
    name: "a list that names no field is about nothing",
    file: CACHE_CONTROL,
    from: "names.length > 0 && names.every",
    to: "names.every",
    reddens: RESTRICTIVE,
  },
  "malformed-lists-are-lists": {
    name: "a list with what is no field name is a list",
    file: CACHE_CONTROL,
    from: "names.length > 0 && names.every(isLowerCaseToken)",
    to: "names.length > 0",
    reddens: RESTRICTIVE,
  },
  "first-scope-counts": {
    name: "of private with and without field names the first counts",
    file: CACHE_CONTROL,
    from: 'if (one === "whole" || other === "whole" || other === "absent") return "whole";',
    to: 'if (one === "whole" || other === "absent") return "whole";\n  if (other === "whole") return one;',
    reddens: RESTRICTIVE,
  },
  "private-fields-are-stored": {
    name: "fields that are for one visitor are stored",
    file: MAY_STORE,
    from: 'typeof ofOne === "string" ? [] : ofOne',
    to: 'typeof ofOne === "string" ? [] : []',
    reddens: PRIVATE_FIELDS,
  },
  "no-cache-fields-are-stored": {
    name: "fields that must not be used again are stored",
    file: MAY_STORE,
    from: 'typeof noCache === "string" ? ofOneVisitor : [...new Set([...ofOneVisitor, ...noCache])]',
    to: "ofOneVisitor",
    reddens: 'fields that no-cache="…" names are not used again, and the page is used without asking',
  },
  "private-fields-reach-another-isolate": {
    name: "fields that are for one visitor lie in the tier that isolates share",
    file: "worker/store/opened-head.ts",
    from: "head.fields.flat()",
    to: '[...head.fields.flat(), "x-user", "jo"]',
    reddens:
      "another isolate of the PoP finds the same page, without the fields that are for one visitor, and stale for who takes it stale",
  },
  "withheld-fields-reach-nobody": {
    name: "fields that are not stored do not reach the one who asked, either",
    file: "worker/flow/storing/storage-decision.ts",
    from: "const withheld = new Set(verdict.withheldFields);",
    to: "const withheld = new Set(verdict.withheldFields);\n  for (const name of withheld) fields.delete(name);",
    reddens: PRIVATE_FIELDS,
  },
  "followers-get-what-is-anothers": {
    name: "who waits gets the leader's own fields",
    file: "worker/flow/storing/storage-decision.ts",
    from: "!MADE_FOR_EACH_ANSWER.has(name) && !withheld.has(name)",
    to: "!MADE_FOR_EACH_ANSWER.has(name)",
    reddens: "who waits for another one's fetch does not get the fields that are for that one",
  },
  "named-cookie-keeps-the-page-out": {
    name: "Set-Cookie keeps a page out of the store also where it is named as private",
    file: MAY_STORE,
    from: ' && !withheldFields(cacheControl).includes("set-cookie")',
    to: "",
    reddens: PRIVATE_FIELDS,
  },
  "not-modified-has-no-cookie": {
    name: "a 304 loses the cookie that the origin sent along",
    file: "worker/rules/validation/not-modified.ts",
    from: '  "set-cookie",\n',
    to: "",
    reddens: "a visitor whose page has not changed still gets the cookie that the origin sent along",
  },
  "must-understand-is-not-read": {
    name: "must-understand does not outrank no-store",
    file: MAY_STORE,
    from: "cacheControl.noStore && !cacheControl.mustUnderstand",
    to: "cacheControl.noStore",
    reddens: MUST_UNDERSTAND,
  },
  "every-status-is-understood": {
    name: "must-understand is met by any status",
    file: MAY_STORE,
    from: "cacheControl.mustUnderstand && !isUnderstoodStatus(status)",
    to: "false",
    reddens: MUST_UNDERSTAND,
  },
  "s-maxage-does-not-share": {
    name: "s-maxage does not let a stored page answer a request with Authorization",
    file: MAY_STORE,
    from: 'isPublic || (typeof sMaxage === "number" && sMaxage > 0)',
    to: "isPublic",
    reddens: "Cache-Control: s-maxage=60 is a HIT for a request with Authorization",
  },
  "must-revalidate-does-not-share": {
    name: "must-revalidate does not let a stored page answer a request with Authorization",
    file: MAY_STORE,
    from: "isMeantForAll(cacheControl) || cacheControl.mustRevalidate",
    to: "isMeantForAll(cacheControl)",
    reddens: "Cache-Control: max-age=60, must-revalidate is a HIT for a request with Authorization",
  },
  "proxy-revalidate-shares": {
    name: "proxy-revalidate lets a stored page answer a request with Authorization",
    file: MAY_STORE,
    from: "isMeantForAll(cacheControl) || cacheControl.mustRevalidate",
    to: "isMeantForAll(cacheControl) || cacheControl.mustRevalidate || cacheControl.proxyRevalidate",
    reddens: "Cache-Control: max-age=60, proxy-revalidate is a MISS for a request with Authorization",
  },
  "stranger-decides": {
    name: "every visitor decides what the origin is asked",
    file: REQUEST_DIRECTIVES,
    from: 'if (policy === "harmless") return harmless;',
    to: "",
    reddens: RELOAD,
  },
  "strangers-pragma-decides": {
    name: "every visitor's Pragma decides what the origin is asked",
    file: REQUEST_DIRECTIVES,
    from: 'policy === "all" && saysNoCache',
    to: "saysNoCache",
    reddens: RELOAD,
  },
  "no-cache-is-not-obeyed": {
    name: "a visitor's no-cache is obeyed nowhere",
    file: REQUEST_DIRECTIVES,
    from: 'noCache: has("no-cache")',
    to: "noCache: false",
    reddens: "on a route that obeys visitors, cache-control: no-cache asks the origin, and the answer is kept for all",
  },
  "pragma-is-not-obeyed": {
    name: "a visitor's Pragma is obeyed nowhere",
    file: REQUEST_DIRECTIVES,
    from: "{ ...NONE, noCache: true }",
    to: "NONE",
    reddens: "on a route that obeys visitors, pragma: no-cache asks the origin, and the answer is kept for all",
  },
  "pragma-outranks-cache-control": {
    name: "Pragma counts beside Cache-Control",
    file: REQUEST_DIRECTIVES,
    from: "if (text !== null) return parse(text, policy);",
    to: 'if (text !== null && field("pragma") === null) return parse(text, policy);',
    reddens: OLDEST,
  },
  "forced-answer-is-not-kept": {
    name: "what a visitor has fetched anew is kept for nobody",
    file: "worker/rules/storing/may-store.ts",
    from: "forbidsStoring: directives.forbidsStoring",
    to: "forbidsStoring: directives.forbidsStoring || directives.noCache",
    reddens: "on a route that obeys visitors, cache-control: no-cache asks the origin, and the answer is kept for all",
  },
  "no-cache-asks-for-all": {
    name: "a visitor's no-cache fetches the whole page, whatever is stored",
    file: "worker/flow/miss.ts",
    from: "toValidate: [stored, ...otherVariants(context, stored)],\n    };",
    to: "toValidate: context.facts.directives.noCache ? [] : [stored, ...otherVariants(context, stored)],\n    };",
    reddens: "on a route that obeys visitors, no-cache is a question to the origin, which may confirm what is stored",
  },
  "max-age-refuses-its-own": {
    name: "an answer as old as a visitor's max-age is too old",
    file: JUDGE,
    from: "ageMs > maxAgeSeconds * 1000",
    to: "ageMs >= maxAgeSeconds * 1000",
    reddens: OLDEST,
  },
  "max-age-has-a-second-more": {
    name: "an answer may be up to a second older than a visitor's max-age",
    file: JUDGE,
    from: "ageMs > maxAgeSeconds * 1000",
    to: "ageMs > maxAgeSeconds * 1000 + 999",
    reddens: OLDEST,
  },
  "largest-max-age-counts": {
    name: "of a visitor's two max-age the larger counts",
    file: REQUEST_DIRECTIVES,
    from: "Math.min(...maxAges)",
    to: "Math.max(...maxAges)",
    reddens: OLDEST,
  },
  "garbage-max-age-is-zero": {
    name: "a visitor's max-age that is no number takes nothing old",
    file: REQUEST_DIRECTIVES,
    from: '.filter((seconds) => seconds !== "invalid")',
    to: '.map((seconds) => (seconds === "invalid" ? 0 : seconds))',
    reddens: OLDEST,
  },
  "max-age-is-not-obeyed": {
    name: "a visitor's max-age is obeyed nowhere",
    file: JUDGE,
    from: "if (maxAgeSeconds !== null && ",
    to: "if (false && ",
    reddens: "on a route that obeys visitors, cache-control: max-age=0 asks the origin, and the answer is kept for all",
  },
  "min-fresh-is-not-read": {
    name: "a visitor's min-fresh is not read",
    file: REQUEST_DIRECTIVES,
    from: 'Math.max(0, ...statedSeconds(directives, "min-fresh"))',
    to: "0",
    reddens:
      "on a route that obeys visitors, cache-control: min-fresh=3600 asks the origin, and the answer is kept for all",
  },
  "min-fresh-wants-more": {
    name: "an answer that stays fresh for just as long as min-fresh says is refused",
    file: JUDGE,
    from: "lifetimeMs - ageMs < minFreshSeconds * 1000",
    to: "lifetimeMs - ageMs <= minFreshSeconds * 1000",
    reddens: MIN_FRESH,
  },
  "min-fresh-is-not-obeyed": {
    name: "min-fresh is obeyed nowhere",
    file: JUDGE,
    from: "return minFreshSeconds > 0 && lifetimeMs",
    to: "return false && lifetimeMs",
    reddens: MIN_FRESH,
  },
  "smallest-min-fresh-counts": {
    name: "of a visitor's two min-fresh the smaller counts",
    file: REQUEST_DIRECTIVES,
    from: 'Math.max(0, ...statedSeconds(directives, "min-fresh"))',
    to: 'statedSeconds(directives, "min-fresh").reduce((one, other) => Math.min(one, other), 3600)',
    reddens: MIN_FRESH,
  },
  "only-if-cached-asks": {
    name: "only-if-cached asks the origin",
    file: REQUEST_DIRECTIVES,
    from: 'has("only-if-cached")',
    to: "false",
    reddens: ONLY_IF_CACHED,
  },
  "only-if-cached-looks-nowhere": {
    name: "only-if-cached is refused whatever is stored",
    file: "worker/flow/corridor.ts",
    from: `  const token = facts.receiptToken;
  const remembered`,
    to: `  const token = facts.receiptToken;
  if (facts.directives.onlyIfCached) return fetchFromOrigin(context, BODY_GONE, token);
  const remembered`,
    reddens: ONLY_IF_CACHED,
  },
  "max-stale-has-no-end": {
    name: "max-stale takes an answer however stale",
    file: JUDGE,
    from: "staleMs < directives.maxStaleSeconds * 1000",
    to: "directives.maxStaleSeconds > 0",
    reddens: MAX_STALE,
  },
  "max-stale-has-a-millisecond-more": {
    name: "max-stale takes an answer that is stale for just as long",
    file: JUDGE,
    from: "staleMs < directives.maxStaleSeconds * 1000",
    to: "staleMs <= directives.maxStaleSeconds * 1000",
    reddens: MAX_STALE,
  },
  "max-stale-is-not-obeyed": {
    name: "max-stale is obeyed nowhere",
    file: JUDGE,
    from: 'directives.maxStaleSeconds * 1000 ? "max-stale" : undefined',
    to: "directives.maxStaleSeconds * 1000 ? undefined : undefined",
    reddens: MAX_STALE,
  },
  "bare-max-stale-is-none": {
    name: "max-stale without a number takes nothing stale",
    file: REQUEST_DIRECTIVES,
    from: '"max-stale", Number.POSITIVE_INFINITY',
    to: '"max-stale", 0',
    reddens: MAX_STALE,
  },
  "largest-max-stale-counts": {
    name: "of a visitor's two max-stale the larger counts",
    file: REQUEST_DIRECTIVES,
    from: "Math.min(...tolerated)",
    to: "Math.max(...tolerated)",
    reddens: MAX_STALE,
  },
  "garbage-max-stale-is-endless": {
    name: "a max-stale that is no number takes an answer however stale",
    file: REQUEST_DIRECTIVES,
    from: "secondsOrNone(readDeltaSeconds(value))",
    to: "Number(readDeltaSeconds(value)) >= 0 ? Number(readDeltaSeconds(value)) : bareSeconds",
    reddens: "a max-stale that is no number takes nothing stale",
  },
  "max-stale-takes-what-was-purged": {
    name: "who takes what is stale takes what was purged",
    file: JUDGE,
    from: 'if (answer === "purged") return',
    to: 'if (answer === "purged" && request.directives.maxStaleSeconds === 0) return',
    reddens: "what was purged is not stale but gone, whatever a visitor would take",
  },
  "must-revalidate-may-be-stale": {
    name: "what must be revalidated may be served stale",
    file: REUSE,
    from: "mayServeStale: !mustRevalidate && ",
    to: "mayServeStale: ",
    reddens: never("max-age=60, must-revalidate"),
  },
  "proxy-revalidate-may-be-stale": {
    name: "what proxies must revalidate may be served stale",
    file: REUSE,
    from: "!proxyRevalidate && ",
    to: "",
    reddens: never("max-age=60, proxy-revalidate"),
  },
  "s-maxage-may-be-stale": {
    name: "what has an s-maxage may be served stale",
    file: REUSE,
    from: 'sMaxage === "absent" && ',
    to: "",
    reddens: never("s-maxage=60"),
  },
  "no-cache-may-be-stale": {
    name: "what has to be validated each time may stand in unvalidated",
    file: REUSE,
    from: ' && noCache !== "whole"',
    to: "",
    reddens: never("no-cache, max-age=60"),
  },
  "visitors-stale-if-error-is-not-read": {
    name: "a visitor's stale-if-error is obeyed nowhere",
    file: REQUEST_DIRECTIVES,
    from: 'toleratedSeconds(directives, "stale-if-error", 0)',
    to: "0",
    reddens: STALE_IF_ERROR,
  },
  "visitors-stale-if-error-has-a-millisecond-more": {
    name: "an answer stands in that is stale for just as long as stale-if-error says",
    file: "worker/rules/freshness/stale-if-error.ts",
    from: "return staleMs < Math.max",
    to: "return staleMs <= Math.max",
    reddens: STALE_IF_ERROR,
  },
  "unreadable-request-may-be-stored": {
    name: "a visitor's Cache-Control that cannot be read forbids nothing",
    file: REQUEST_DIRECTIVES,
    from: "{ ...NONE, forbidsStoring: true }",
    to: "NONE",
    reddens: "a Cache-Control of a visitor that cannot be read counts as no-store, and empties nothing",
  },
  "confirmed-for-one-is-kept-for-all": {
    name: "what is confirmed for a visitor who forbids storing is kept",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "if (passBecause === null) background.run(",
    to: "if (true) background.run(",
    reddens: "what the origin confirms for a visitor who forbids storing is not kept",
  },
  "refresh-is-thrown-away": {
    name: "a visitor who forbids storing has a page fetched that nobody keeps",
    file: "worker/flow/storing/background-refresh.ts",
    from: "if (facts.directives.forbidsStoring) return;",
    to: "",
    reddens: "a visitor who forbids storing does not keep others from a new page: the next one has it fetched",
  },
};
