import type { Mutants } from "./mutant.ts";

const MAY_STORE = "worker/rules/storing/storable.ts";
const COOKIES = "worker/rules/identity/cookies.ts";

const SHARED_BY_ZERO = "Cache-Control: s-maxage=0 does not share one visitor's page, whatever the route's lifetime";

/** Wrong rules of what one visitor caused and another may see. */
export const identity: Mutants = {
  "authorization-is-not-seen": {
    name: "a request with Authorization is like any other",
    file: "worker/rules/request/request-facts.ts",
    from: 'this.authorized = field("authorization") !== null',
    to: "this.authorized = false",
    reddens: "a response to a request with Authorization is never stored",
  },
  "authorization-may-take-all": {
    name: "a request with Authorization is answered with whatever is stored",
    file: "worker/rules/identity/identity.ts",
    from: "return !authorized || sharedWithAuthorized;",
    to: "return true;",
    reddens: "a request with Authorization is answered from store only if the stored response says that it may be",
  },
  "authorization-may-take-nothing": {
    name: "a request with Authorization is never answered from store",
    file: "worker/rules/identity/identity.ts",
    from: "return !authorized || sharedWithAuthorized;",
    to: "return !authorized;",
    reddens: "a request with Authorization is answered from store only if the stored response says that it may be",
  },
  "cookies-do-not-matter": {
    name: "an answer to a visitor with a session is stored for all",
    file: "worker/rules/identity/identity.ts",
    from: 'return "if-for-everybody";',
    to: 'return "yes";',
    reddens: "a response to a request with a session cookie is not stored unless the origin says that it is shared",
  },
  "cookies-always-matter": {
    name: "an answer to a visitor with a session is not stored, though the origin says that it is shared",
    file: MAY_STORE,
    from: '"if-for-everybody" && !isMeantForAll(cacheControl)',
    to: '"if-for-everybody"',
    reddens: "a response to a request with a session cookie is not stored unless the origin says that it is shared",
  },
  "s-maxage-zero-shares": {
    name: "s-maxage=0 says that an answer is for all",
    file: MAY_STORE,
    from: "sMaxage > 0",
    to: "sMaxage >= 0",
    reddens: SHARED_BY_ZERO,
  },
  "max-age-shares": {
    name: "max-age says that an answer is for all",
    file: MAY_STORE,
    from: "public: isPublic, sMaxage }",
    to: "public: isPublic, maxAge: sMaxage }",
    reddens: "Cache-Control: max-age=60, s-maxage=0 does not share one visitor's page, whatever the route's lifetime",
  },
  "malformed-s-maxage-shares": {
    name: "an s-maxage that is no number says that an answer is for all",
    file: MAY_STORE,
    from: 'typeof sMaxage === "number" && sMaxage > 0',
    to: 'sMaxage !== "absent" && sMaxage !== 0',
    reddens: "Cache-Control: s-maxage=foo does not share one visitor's page, whatever the route's lifetime",
  },
  "analytics-matter": {
    name: "cookies of analytics tell visitors apart",
    file: COOKIES,
    from: "[...ignored, ...ours]",
    to: "ours",
    reddens: "analytics cookies change nothing and do not reach the origin",
  },
  "our-cookie-reaches-the-origin": {
    name: "the edge's own cookie reaches the origin",
    file: COOKIES,
    from: "[...ignored, ...ours]",
    to: "ignored",
    reddens: "a cookie that may matter is forwarded, without the ignored ones beside it",
  },
  "ignored-cookies-go-along": {
    name: "ignored cookies go along with those that matter",
    file: COOKIES,
    from: 'kept.length > 0 ? kept.join("; ") : null',
    to: "kept.length > 0 ? field : null",
    reddens: "a cookie that may matter is forwarded, without the ignored ones beside it",
  },
};
