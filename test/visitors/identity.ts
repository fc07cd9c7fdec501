import { type Case, isFirst, MAX_AGE, ONE_BROWSER, OTHER_BROWSER, page } from "./case.ts";

/** A visitor's own content is not shown to another. */
export const identity: readonly Case[] = [
  {
    name: "an answer to credentials is not stored",
    origin: ({ fields }) => page(`for ${fields.authorization ?? "all"}`),
    first: { path: "/a", fields: { authorization: "Basic YTpi" } },
    second: { path: "/a" },
    defence: {
      in: "RequestFacts.constructor",
      replace: 'this.authorized = field("authorization") !== null',
      by: "this.authorized = false",
    },
  },
  {
    name: "must-revalidate alone does not let an answer to credentials be stored",
    origin: ({ fields }) =>
      page(`for ${fields.authorization ?? "all"}`, { "cache-control": "max-age=60, must-revalidate" }),
    first: { path: "/a", fields: { authorization: "Basic YTpi" } },
    second: { path: "/a" },
    defence: {
      in: "isWhollyMeantForAll",
      replace: "WHOLLY_SHAREABLE.has(status) && isMeantForAll(cacheControl)",
      by: "WHOLLY_SHAREABLE.has(status)",
    },
  },
  {
    name: "a redirect for credentials is not stored, even if it says public",
    origin: ({ fields }) =>
      fields.authorization === undefined
        ? page("the page")
        : { ...page("", { "cache-control": "public, max-age=60", location: "/yours" }), status: 302 },
    first: { path: "/a", fields: { authorization: "Basic YTpi" } },
    second: { path: "/a" },
    defence: {
      in: "isWhollyMeantForAll",
      replace: "WHOLLY_SHAREABLE.has(status) && isMeantForAll(cacheControl)",
      by: "isMeantForAll(cacheControl)",
    },
  },
  {
    name: "a request with credentials does not get a page stored for others",
    origin: ({ fields }) => page(`for ${fields.authorization ?? "all"}`),
    first: { path: "/a" },
    second: { path: "/a", fields: { authorization: "Basic YTpi" } },
    control: { path: "/a" },
    defence: {
      in: "mayBeAnsweredBy",
      replace: "return !request.authorized || stored.sharedWithAuthorized;",
      by: "return true;",
    },
  },
  {
    name: "a page for a session is not stored",
    origin: ({ fields }) => page(`for ${fields.cookie ?? "all"}`),
    first: { path: "/a", fields: { cookie: "session=1" } },
    second: { path: "/a" },
    defence: { in: "mayStoreAnswer", replace: 'return "if-for-everybody";', by: 'return "yes";' },
  },
  {
    name: "a session cookie among ignored cookies still counts",
    origin: ({ fields }) => page(`for ${fields.cookie ?? "all"}`),
    first: { path: "/a", fields: { cookie: "_ga=1; session=1; _gid=2" } },
    second: { path: "/a", fields: { cookie: "_ga=9" } },
    defence: { in: "mayStoreAnswer", replace: 'return "if-for-everybody";', by: 'return "yes";' },
  },
  {
    name: "an ignored cookie does not reach the origin",
    origin: ({ fields }) => page(`for ${fields.cookie ?? "all"}`),
    first: { path: "/a", fields: { cookie: "_ga=<evil>" } },
    second: { path: "/a" },
    witness: "first",
    defence: { in: "readCookies", replace: "[...ignored, ...ours]", by: "ours" },
  },
  {
    name: "an answer with Set-Cookie is not stored",
    origin: (request) => page("v1", isFirst(request) ? { "set-cookie": "session=1" } : {}),
    first: { path: "/a", fields: ONE_BROWSER },
    second: { path: "/a", fields: OTHER_BROWSER },
    defence: { in: "reasonInResponse", replace: 'return "set-cookie";', by: "return undefined;" },
  },
  {
    name: "an answer that hands out a session in a field is not stored for the owner's lifetime",
    site: { routes: [{ match: "/*", defaultTtl: "1h" }] },
    origin: (request) => ({ fields: isFirst(request) ? { "vendure-auth-token": "of ann" } : {}, body: "v1" }),
    first: { path: "/a", fields: ONE_BROWSER },
    second: { path: "/a", fields: OTHER_BROWSER },
    defence: {
      in: "storable",
      replace: "originAllowsReuse ? undefined : response.fields.lines(handsOutCredentials)[0]",
      by: "undefined",
    },
  },
  {
    name: "if a route strips Set-Cookie, nobody gets it",
    site: { routes: [{ match: "/*", stripSetCookie: true }] },
    origin: (request) => page("v1", isFirst(request) ? { "set-cookie": "session=1" } : {}),
    first: { path: "/a", fields: ONE_BROWSER },
    second: { path: "/a", fields: OTHER_BROWSER },
    defence: { in: "clientFields", replace: 'fields.delete("set-cookie");', by: "{}" },
  },
  ...(
    [
      ["private", 'return "private";'],
      ["no-store", 'return "no-store";'],
    ] as const
  ).map(
    ([directive, replace]): Case => ({
      name: `an answer that is ${directive} is not stored, whatever the route's lifetime`,
      site: { routes: [{ match: "/*", ttl: "1h" }] },
      origin: (request) =>
        isFirst(request) ? page("mine", { "cache-control": `${directive}, max-age=60` }) : page("for all"),
      first: { path: "/a", fields: ONE_BROWSER },
      second: { path: "/a", fields: OTHER_BROWSER },
      defence: { in: "reasonInResponse", replace, by: "return undefined;" },
    }),
  ),
  {
    name: "under Vary: Cookie, a page stored for visitors without cookies is only for them",
    origin: ({ fields }) =>
      page(`for ${fields.cookie ?? "all"}`, { "cache-control": "public, max-age=60", vary: "Cookie" }),
    first: { path: "/a" },
    second: { path: "/a", fields: { cookie: "session=1" } },
    control: { path: "/a" },
    defence: {
      in: "matchesVariant",
      replace: "const asked = request.value(name);",
      by: 'const asked = name === "cookie" ? value : request.value(name);',
    },
  },
  ...(
    [
      ["Django", "sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u"],
      ["PHP", "PHPSESSID=4qk3g5p8c2n1r7v6t9b0m3x5z1"],
    ] as const
  ).map(
    ([framework, cookie]): Case => ({
      name: `a visitor with a session of ${framework} does not get a page that the owner's lifetime stores for others`,
      site: { routes: [{ match: "/*", ttl: "1h" }] },
      origin: ({ fields }) => ({ body: `for ${fields.cookie ?? "all"}` }),
      first: { path: "/a" },
      second: { path: "/a", fields: { cookie } },
      control: { path: "/a" },
      defence: {
        in: "mayBeAnsweredInSession",
        replace: "return stored.sharedWithSessions || !request.hasSession;",
        by: "return true;",
      },
    }),
  ),
  ...[
    ["what varies by the client's address is not stored", "X-Forwarded-For"],
    ["what varies by the client's address in another platform's words is not stored", "X-Azure-ClientIP"],
    ["what varies by the client's address is not stored, spelled as gateways spell it", "X_Originating_IP"],
  ].map(
    ([name, vary]): Case => ({
      name: name!,
      origin: (request) => page(isFirst(request) ? "mine" : "for all", isFirst(request) ? { vary: vary! } : MAX_AGE),
      first: { path: "/a", fields: ONE_BROWSER },
      second: { path: "/a", fields: OTHER_BROWSER },
      defence: {
        in: "selectingFields",
        drop: 'if (named.some((name) => meaningInVary(name, owners) === "unknowable")) return "*";',
      },
    }),
  ),
];
