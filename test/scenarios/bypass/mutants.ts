import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of what goes past the cache. */
export const mutants: Mutants = {
  "docs/security.md#who-gets-past-the-cache": {
    "a request with a cookie that the owner names is looked up": {
      in: "bypassReason",
      replace: "rules.cookies !== null",
      by: "false",
      foundBy: "bypass/by-name",
    },
    "a request with a field that the owner names is looked up": {
      in: "bypassReason",
      replace: "rules.fields.length > 0",
      by: "false",
      foundBy: "bypass/by-name",
    },
    "the value of a field that the owner names is not looked at": {
      in: "bypassReason",
      replace: "rules.fieldValues !== null",
      by: "false",
      foundBy: "bypass/by-a-fields-value",
    },
    "a field that is not sent has no value": {
      in: "bypassReason",
      replace: 'fields.get(name) ?? ""',
      by: 'fields.get(name) ?? "-"',
      foundBy: "bypass/by-a-fields-value",
    },
    "a pattern is looked for in nothing": {
      in: "picks",
      drop: "if (patterns.some((pattern) => pattern.test(text))) return true;",
      foundBy: "bypass/by-pattern",
    },
    "a pattern loses its flags": {
      in: "readPattern",
      replace: "new RegExp(source, flags)",
      by: "new RegExp(source)",
      foundBy: "bypass/by-pattern",
    },
    "every query means none": {
      in: "isPickedQuery",
      replace: 'canonical !== ""',
      by: "false",
      foundBy: "bypass/by-any-query",
    },
    "parameters that the key leaves out count as a query": {
      in: "isPickedQuery",
      replace: 'canonical !== ""',
      by: "true",
      foundBy: "bypass/by-any-query",
    },
    "a request with a parameter that the owner names is looked up": {
      in: "resolveUrl",
      replace: "isPickedQuery(asked.search, query, route.bypass.query) ?",
      by: "false ?",
      foundBy: "bypass/by-name",
    },
    "the origin gets the query of the key from a request that goes past the cache by its query": {
      in: "forward",
      replace: "withWholeQuery(asked)",
      by: 'miss.kind === "past-the-cache" ? asked : withWholeQuery(asked)',
      foundBy: "bypass/by-name",
    },
    "requests that go past the cache by the owner's word are not counted": {
      in: "corridor:bypass",
      replace: 'miss.kind === "past-the-cache"',
      by: "false",
      foundBy: "bypass/by-name",
    },
  },
  "docs/reference/worker.md#siteinput": {
    "the site's list counts on a route that has a list of its own": {
      in: "compileRoute",
      replace: "rules.bypass.cookies ?? site.bypass.cookies",
      by: "site.bypass.cookies ?? rules.bypass.cookies",
      foundBy: "bypass/of-a-route",
    },
  },
  "docs/http.md#cookies-sessions-and-authorization": {
    "a page that a ttl had made storable is for sessions, too, once the ttl is removed": {
      in: "compileRoute",
      replace: "sessions: rules.bypass.sessions ?? site.bypass.sessions ?? true",
      by: "sessions: hasOwnLifetime && (rules.bypass.sessions ?? site.bypass.sessions ?? true)",
      foundBy: "bypass/session-and-ttl-that-was-removed",
    },
    "the page that only the owner's ttl stores answers visitors with a session": {
      in: "storable",
      replace: '!freshness.source.startsWith("route")',
      by: 'freshness.source !== "route-default"',
      foundBy: "bypass/session-and-ttl",
    },
    "the page that only the owner's defaultTtl stores answers visitors with a session": {
      in: "storable",
      replace: '!freshness.source.startsWith("route")',
      by: 'freshness.source !== "route"',
      foundBy: "bypass/session-and-default-ttl",
    },
    "a stale page is validated for visitors with a session, and stands in for a failed origin": {
      in: "judge",
      drop: 'if (!mayBeAnsweredInSession(stored, request)) return { kind: "none", because: "session" };',
      foundBy: "bypass/session-and-failed-origin",
    },
    "visitors with a session get whatever is stored": {
      in: "judge",
      drop: 'if (!mayBeAnsweredInSession(stored, request)) return { kind: "none", because: "session" };',
      foundBy: "bypass/session-and-default-ttl",
    },
    "the owner's ttl counts as the origin's wish": {
      in: "storable",
      replace: "ofOrigin.seconds > 0",
      by: "ofOwner.seconds > 0",
      foundBy: "bypass/session-and-ttl",
    },
    "the origin's max-age=0 counts as a lifetime": {
      in: "storable",
      replace: "ofOrigin.seconds > 0",
      by: "ofOrigin.seconds >= 0",
      foundBy: "bypass/session-and-ttl-over-max-age-zero",
    },
    "where the owner has a ttl, the origin's own lifetime does not let visitors with a session have the page": {
      in: "storable",
      replace: "ofOrigin.seconds > 0",
      by: "ofOrigin.seconds < 0",
      foundBy: "bypass/session-and-origins-lifetime",
    },
    "where the owner has a ttl, public does not let visitors with a session have the page": {
      in: "storable",
      replace: "isMeantForAll(cacheControl) || ofOrigin",
      by: "ofOrigin",
      foundBy: "bypass/session-and-public",
    },
    "a guessed lifetime counts as the owner's": {
      in: "storable",
      replace: '!freshness.source.startsWith("route")',
      by: 'freshness.source === "max-age"',
      foundBy: "bypass/session-and-heuristic-lifetime",
    },
    "the owner's word that sessions do not matter is ignored": {
      in: "compileRoute",
      replace: "rules.bypass.sessions ?? site.bypass.sessions ?? true",
      by: "true",
      foundBy: "bypass/session-that-is-let-in",
    },
    "a visitor with a session joins the fetches of others instead of going past the cache": {
      in: "planFetch",
      replace: '(miss.kind === "refused" && miss.because === "session") ||',
      by: "",
      foundBy: "bypass/session-and-ttl",
    },
  },
  "docs/decisions/0007-what-a-follower-may-take.md": {
    "a visitor with a session gets the answer of a fetch for one without": {
      in: "follow",
      drop: "if (!mayBeAnsweredInSession(stored.head, context.facts)) return null;",
      foundBy: "bypass/session-does-not-follow-later-fetches",
    },
  },
  "docs/http.md#memory-and-the-cache-api": {
    "the shared tier does not keep for whom a page is": {
      in: "EnvelopeHead.constructor",
      replace: 'has("sharedWithSessions")',
      by: "true",
      foundBy: "bypass/session-after-restart",
    },
    "the shared tier takes every page for one of visitors without a session": {
      in: "flagsOf",
      replace: "{ sharedWithAuthorized, sharedWithSessions, ...reuse }",
      by: "{ sharedWithAuthorized, sharedWithSessions: false && sharedWithSessions, ...reuse }",
      foundBy: "bypass/session-after-restart",
    },
  },
};
