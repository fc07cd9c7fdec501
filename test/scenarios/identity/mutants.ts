import type { Mutants } from "../../mutants/mutant.ts";

const COOKIES = "worker/rules/identity/cookies.ts";
const MAY_STORE = "worker/rules/storing/may-store.ts";
const STORAGE_DECISION = "worker/rules/storing/may-store.ts";
const UNKEYED_FIELD = "worker/rules/request/unkeyed-field.ts";

/** Wrong rules under which one visitor's page reaches another. */
export const mutants: Mutants = {
  "authorization-is-not-seen": {
    name: "a request with Authorization is treated like any other",
    file: "worker/rules/request/request-facts.ts",
    from: 'this.authorized = field("authorization") !== null',
    to: "this.authorized = false",
    reddens: "identity/authorization-is-never-stored",
  },
  "authorization-may-take-all": {
    name: "a request with Authorization is answered with whatever is stored",
    file: "worker/rules/identity/identity.ts",
    from: "return !authorized || sharedWithAuthorized;",
    to: "return true;",
    reddens: "identity/authorization-served-from-store",
  },
  "authorization-may-take-nothing": {
    name: "a request with Authorization is never answered from store",
    file: "worker/rules/identity/identity.ts",
    from: "return !authorized || sharedWithAuthorized;",
    to: "return !authorized;",
    reddens: "identity/authorization-served-from-store",
  },
  "cookies-do-not-matter": {
    name: "a response to a request with a session is stored for everybody",
    file: "worker/rules/identity/identity.ts",
    from: 'return "if-for-everybody";',
    to: 'return "yes";',
    reddens: "identity/session-cookie",
  },
  "cookies-always-matter": {
    name: "a response to a request with a session is not stored, although the origin says that it is shared",
    file: "worker/rules/storing/storable.ts",
    from: '"if-for-everybody" && !isMeantForAll(cacheControl)',
    to: '"if-for-everybody"',
    reddens: "identity/session-cookie",
  },
  "s-maxage-zero-shares": {
    name: "s-maxage=0 marks a response as shared",
    file: "worker/rules/storing/storable.ts",
    from: "sMaxage > 0",
    to: "sMaxage >= 0",
    reddens: "identity/s-maxage-zero-shares-nothing",
  },
  "max-age-shares": {
    name: "max-age marks a response as shared",
    file: "worker/rules/storing/storable.ts",
    from: "public: isPublic, sMaxage }",
    to: "public: isPublic, maxAge: sMaxage }",
    reddens: "identity/s-maxage-zero-with-max-age",
  },
  "malformed-s-maxage-shares": {
    name: "an s-maxage that is not a number marks a response as shared",
    file: "worker/rules/storing/storable.ts",
    from: 'typeof sMaxage === "number" && sMaxage > 0',
    to: 'sMaxage !== "absent" && sMaxage !== 0',
    reddens: "identity/malformed-s-maxage-shares-nothing",
  },
  "analytics-matter": {
    name: "analytics cookies tell visitors apart",
    file: COOKIES,
    from: "[...ignored, ...ours]",
    to: "ours",
    reddens: "identity/analytics-cookies",
  },
  "our-cookie-reaches-the-origin": {
    name: "the edge's own cookie reaches the origin",
    file: COOKIES,
    from: "[...ignored, ...ours]",
    to: "ignored",
    reddens: "identity/other-cookies-are-forwarded",
  },
  "ignored-cookies-go-along": {
    name: "ignored cookies are forwarded beside those that matter",
    file: COOKIES,
    from: 'kept.length > 0 ? kept.join("; ") : null',
    to: "kept.length > 0 ? field : null",
    reddens: "identity/other-cookies-are-forwarded",
  },
  "error-of-unusual-request-is-stored": {
    name: "an error is stored, however unusual its request was",
    file: "worker/rules/storing/storable.ts",
    from: "isErrorStatus(status) && !request.isPlain",
    to: "false",
    reddens: "identity/unusual-field-in-vary",
  },
  "page-of-unusual-request-is-stored": {
    name: "a page is stored, however unusual its request was",
    file: STORAGE_DECISION,
    from: "unkeyedField(fields, names) !== null",
    to: "false",
    reddens: "identity/unusual-field",
  },
  "keyed-fields-are-unusual": {
    name: "a field that Vary names counts as unusual",
    file: STORAGE_DECISION,
    from: "unkeyedField(fields, names) !== null",
    to: "unkeyedField(fields, keyFields) !== null",
    reddens: "identity/unusual-field-in-vary",
  },
  "unusual-values-count-as-usual": {
    name: "a usual field counts as usual, whatever its value",
    file: UNKEYED_FIELD,
    from: 'if (!form || (value !== "" && !form.test(value))) return name;',
    to: "if (!form) return name;",
    reddens: "identity/unusual-characters",
  },
  "long-values-count-as-usual": {
    name: "a value counts as usual, however long it is",
    file: UNKEYED_FIELD,
    from: " || value.length > MAX_VALUE_CHARACTERS",
    to: "",
    reddens: "identity/long-field-value",
  },
  "many-fields-count-as-usual": {
    name: "a request counts as usual, however large it is",
    file: UNKEYED_FIELD,
    from: "characters > MAX_CHARACTERS || ",
    to: "",
    reddens: "identity/too-much-field-text",
  },
  "replaced-fields-are-unusual": {
    name: "a field that the edge replaces makes a request unusual",
    file: UNKEYED_FIELD,
    from: "CONTINUED.has(name) || reachesOriginAsSent(name, inKey)",
    to: "true",
    reddens: "identity/method-override-is-dropped",
  },
  "unusual-requests-speak-for-all": {
    name: "the origin's answer to an unusual request about a stored page counts for everybody",
    file: "worker/flow/storing/freshening.ts",
    from: "speaksForEverybody(facts.identity) && unkeyedField(facts.fields, keyed) === null",
    to: "speaksForEverybody(facts.identity)",
    reddens: "identity/unusual-request-removes-nothing",
  },
  "unusual-confirmation-is-not-shareable": {
    name: "after a confirmation for an unusual request, every request fetches alone",
    file: "worker/flow/storing/fetch-and-store.ts",
    from: "outcomeOfPass(passBecause, stored.head.status)",
    to: '{ kind: "not-shareable" }',
    reddens: "identity/unusual-request-validates",
  },
  "error-with-cookies-is-stored": {
    name: "an error for a request with cookies is stored",
    file: UNKEYED_FIELD,
    from: 'if (identity !== "anonymous") return false;',
    to: "",
    reddens: "identity/error-with-cookies",
  },
  "followers-go-alone": {
    name: "requests that waited for an unusual request fetch alone",
    file: "worker/rules/storing/not-stored.ts",
    from: "return status >= 400 && (",
    to: "return false && (",
    reddens: "identity/unusual-request-with-followers",
  },
};
