import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { type Case, isFirst, ONE_BROWSER, OTHER_BROWSER, page } from "./case.ts";

/** A page that is made for each visitor, without any statement about storing. */
const account: Reply = { body: "the account of the first visitor", fields: { "content-type": "text/css" } };
const STATIC_ROUTE = { routes: [{ match: "/static/*", defaultTtl: "1h" }] };

/** An origin that decodes the path once, and takes `/x/../account` and `/account;x` for `/account`. */
function decoding({ target }: { target: string }): Reply {
  const path = decodeURIComponent(target.split("?")[0]!)
    .replaceAll("\\", "/")
    .replaceAll(/;[^/]*/g, "");
  return new URL(path, "http://origin.internal").pathname === "/account" ? account : page("a file");
}

const looksStatic = [
  "/account/x.css",
  "/account/x.js?v=1",
  "/account;x.css",
  "/account%3Bx.png",
  "/account%23.css",
  "/account%3F.ico",
  "/account%2Fx.css",
  "/account.woff2",
  "//account/x.css",
];

/** Dynamic pages stay dynamic, whatever their URLs look like. */
export const dynamicPages: readonly Case[] = [
  ...looksStatic.map(
    (path): Case => ({
      name: `a page that the origin forbids to store is not stored, even if its URL looks like a file: ${path}`,
      origin: (request) => (isFirst(request) ? account : page("please log in")),
      first: { path, fields: ONE_BROWSER },
      second: { path, fields: OTHER_BROWSER },
      defence: {
        in: "decideStorage",
        replace: "defaultTtlSeconds: route.defaultTtlSeconds(status),",
        by: "defaultTtlSeconds: 60,",
      },
    }),
  ),
  ...["/static/..%2faccount", "/static/%2e%2e%2faccount", "/static/..%5caccount", "/static/..;/account"].map(
    (path): Case => ({
      name: `a path that leaves its route once it is decoded is refused: ${path}`,
      site: STATIC_ROUTE,
      origin: (request) => (isFirst(request) ? decoding(request) : page("please log in")),
      first: { path, fields: ONE_BROWSER },
      second: { path, fields: OTHER_BROWSER },
      control: { path: "/static/a.css" },
      defence: { in: "hasHiddenDots", wrap: "() => false" },
    }),
  ),
  ...["/static/%0A/account", "/static/x%00.css", "/static/%0d%0aset-cookie:x", "/static/%7f"].map(
    (path): Case => ({
      name: `an encoded control character in a path is refused: ${path}`,
      site: STATIC_ROUTE,
      origin: (request) => ({ body: isFirst(request) ? "the account of the first visitor" : "please log in" }),
      first: { path, fields: ONE_BROWSER },
      second: { path, fields: OTHER_BROWSER },
      control: { path: "/static/a.css" },
      defence: { in: "parsedUrl", replace: "if (/%(?:0[0-9a-f]|1[0-9a-f]|7f)/i.test(pathAsSent))", by: "if (false)" },
    }),
  ),
  {
    name: "a backslash in a path is refused",
    site: STATIC_ROUTE,
    origin: (request) => ({ body: isFirst(request) ? "the account of the first visitor" : "please log in" }),
    first: { path: "/static/x\\..\\a.css", fields: ONE_BROWSER },
    second: { path: "/static/x\\..\\a.css", fields: OTHER_BROWSER },
    control: { path: "/static/a.css" },
    defence: { in: "parsedUrl", replace: 'if (pathAsSent.includes("\\\\"))', by: "if (false)" },
  },
  ...["/%61dmin/x", "/adm%69n/x"].map(
    (path): Case => ({
      name: `the origin gets the path that was matched to a route: ${path} is under /admin`,
      site: { routes: [{ match: "/admin/*", pass: true }, ...STATIC_ROUTE.routes] },
      origin: (request) => page(isFirst(request) ? "the first one's desk" : "please log in"),
      first: { path, fields: ONE_BROWSER },
      second: { path, fields: OTHER_BROWSER },
      control: { path: "/static/a.css" },
      defence: {
        in: "resolveUrl",
        replace: "findRoute(rules.routes, asked.path)",
        by: 'findRoute(rules.routes, url.slice(url.indexOf("/", 8)))',
      },
    }),
  ),
  ...[
    ["/a/b", "/a%2Fb"],
    ["/a/b", "/a//b"],
    ["/a", "/A"],
    ["/a", "/a;"],
    ["/a?x=1&y=2", "/a?y=2&x=1"],
    ["/a?x", "/a?x="],
    ["/a?q=1", "/a?q=1&q=2"],
  ].map(
    ([one, other]): Case => ({
      name: `${one} and ${other} are kept apart`,
      origin: ({ target }) => page(`page of ${target}`),
      first: { path: one! },
      second: { path: other! },
      defence: {
        in: "resolveUrl",
        replace: "cacheKey: `",
        // One key for URLs that only look alike.
        by: 'cacheKey: ((_, scheme, host, path) => scheme + host + decodeURIComponent(path).toLowerCase().replace(/[;?].*/, "").replace(/[/]+/g, "/"))`',
      },
    }),
  ),
];
