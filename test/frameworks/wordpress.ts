import type { Reply } from "../../local/cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

/** Behind Apache, which adds `Vary`. The host is replaced, and `Cache-Tag` comes from the page's plugin. */
const FIELDS = {
  "x-pingback": "https://www.example.com/xmlrpc.php",
  "cache-tag": "post:1",
  link: '<https://www.example.com/wp-json/>; rel="https://api.w.org/", <https://www.example.com/?p=1>; rel=shortlink',
  vary: "Accept-Encoding",
  "content-type": "text/html; charset=UTF-8",
};
const NO_CACHE = {
  expires: "Wed, 11 Jan 1984 05:00:00 GMT",
  "cache-control": "no-cache, must-revalidate, max-age=0",
};

const post = (body: string): Reply => ({ fields: FIELDS, body });
const loggedIn = (body: string): Reply => ({ fields: { ...FIELDS, ...NO_CACHE }, body });
/** WordPress where it believes that the public name is another one than `Host`. */
const toPublicName: Reply = {
  status: 301,
  fields: {
    "x-pingback": "https://www.example.com/xmlrpc.php",
    "x-redirect-by": "WordPress",
    location: "https://www.example.test/",
    "content-type": "text/html; charset=UTF-8",
  },
  body: "",
};

const login: Reply = {
  fields: {
    ...NO_CACHE,
    "set-cookie": ["wordpress_test_cookie=WP%20Cookie%20check; path=/"],
    "x-frame-options": "SAMEORIGIN",
    vary: "Accept-Encoding",
    "content-type": "text/html; charset=UTF-8",
  },
  body: "form",
};
const api: Reply = {
  fields: {
    "x-robots-tag": "noindex",
    link: '<https://www.example.com/wp-json/>; rel="https://api.w.org/"',
    "x-content-type-options": "nosniff",
    "access-control-expose-headers": "X-WP-Total, X-WP-TotalPages, Link",
    "access-control-allow-headers": "Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type",
    "x-wp-total": "2",
    "x-wp-totalpages": "1",
    allow: "GET",
    vary: "Origin",
    "content-type": "application/json; charset=UTF-8",
  },
  body: "[]",
};
const results: Reply = {
  fields: {
    "cache-tag": "lists",
    link: '<https://www.example.com/wp-json/>; rel="https://api.w.org/"',
    vary: "Accept-Encoding",
    "content-type": "text/html; charset=UTF-8",
  },
  body: "results",
};

/** A file, which Apache sends. */
const style: Reply = {
  fields: {
    "last-modified": "Sat, 21 Nov 2026 00:18:14 GMT",
    etag: '"1732d-660be4bf1e618-gzip"',
    "accept-ranges": "bytes",
    vary: "Accept-Encoding",
    "content-type": "text/css",
  },
  body: "css",
};

/** A file of the media library, which Apache sends, too. */
const upload = (body: string): Reply => ({
  fields: {
    "last-modified": "Sun, 29 Nov 2026 13:26:03 GMT",
    etag: `"${body.length}-660be4bf1e618"`,
    "accept-ranges": "bytes",
    "content-type": "text/plain",
  },
  body,
});
/** After its deletion WordPress answers. */
const gone: Reply = {
  status: 404,
  fields: {
    ...NO_CACHE,
    "cache-tag": "lists",
    link: '<https://www.example.com/wp-json/>; rel="https://api.w.org/"',
    "content-type": "text/html; charset=UTF-8",
  },
  body: "not found",
};

const UPLOAD = "/wp-content/uploads/2026/11/report.txt";
const STYLE = "/wp-includes/css/dist/block-library/style.min.css";
const MODERATED = "/hello-world/?unapproved=6&moderation-hash=0147e9d341cd47efd75c9915fd64ddc8";
const HASH = "cc6fba0684be0cc4e5d6d3d8eb261f81";
const visitor = (cookie: string) => ({ ...BROWSER, cookie });
const ADA = visitor(
  `wordpress_test_cookie=WP%20Cookie%20check; wordpress_logged_in_${HASH}=ada%7C1795393784%7CN3W8GvWWkx5htdSWNxtpZ6qtpDPVs5jj3nX2LgvkRWo%7Cabdc622ebbe46ca757ec16a949ab641769cae1ac1d85c2b702588233e8c63e6b`,
);
const KNOWS_THE_PASSWORD = visitor(`wp-postpass_${HASH}=%24P%24B63.0RMejNvG0GfBxJJfsFrDhweTYM1`);
const CAROL = visitor(`comment_author_${HASH}=Carol; comment_author_email_${HASH}=carol%40example.com`);

function withoutBypassQuery(name: string): (site: SiteInput) => SiteInput {
  return (site) => {
    const named = site.bypass?.query;
    const query = Array.isArray(named) ? named.filter((each) => each !== name) : undefined;
    if (query?.length !== (Array.isArray(named) ? named.length : 0) - 1)
      throw new Error(`bypass does not name ${name}`);
    return { ...site, bypass: { ...site.bypass, query } };
  };
}

function withRoute(instead: string, match: string): (site: SiteInput) => SiteInput {
  return (site) => ({
    ...site,
    routes: site.routes!.map((route) => (route.match === instead ? { ...route, match } : route)),
  });
}

export const wordpress: FrameworkTrial = {
  heading: "WordPress",
  recordedFrom: "WordPress 6.1.9",
  origin: {
    "/hello-world/": [
      loggedIn("with ada's bar"),
      post("a post"),
      loggedIn("with ada's bar"),
      post("with Carol's comment, which awaits moderation"),
      post("a new post"),
    ],
    "/secret/": [post("asks for the password"), post("the secret")],
    "/?p=9&preview=true": [loggedIn("a draft")],
    "/wp-login.php": [login],
    "/wp-json/wp/v2/posts": [api],
    "/?rest_route=/wp/v2/posts": [api],
    "/index.php/wp-json/wp/v2/posts": [api],
    "/?s=hello": [results],
    [MODERATED]: [post("with the comment, which awaits moderation")],
    [STYLE]: [style],
    [UPLOAD]: [upload("the salaries"), gone, upload("a summary")],
    "/": [toPublicName],
  },
  steps: [
    { get: "/hello-world/", fields: ADA, expect: { body: "with ada's bar" } },
    { get: "/hello-world/", fields: BROWSER, expect: { body: "a post" } },
    { get: "/hello-world/", fields: BROWSER, expect: { body: "a post", xCache: "HIT" } },
    { get: "/hello-world/", fields: ADA, expect: { body: "with ada's bar" } },
    { get: "/hello-world/", fields: CAROL, expect: { body: /Carol's comment/ } },
    { get: "/hello-world/", fields: BROWSER, expect: { body: "a post", xCache: "HIT" } },
    { get: "/secret/", fields: BROWSER, expect: { body: "asks for the password" } },
    { get: "/secret/", fields: KNOWS_THE_PASSWORD, expect: { body: "the secret" } },
    { get: "/secret/", fields: BROWSER, expect: { body: "asks for the password", xCache: "HIT" } },
    { get: "/?p=9&preview=true", fields: ADA, expect: { body: "a draft", cacheStatus: /detail=bypass-query/ } },
    {
      get: "/wp-login.php",
      fields: BROWSER,
      expect: { xCache: "BYPASS", fields: { "set-cookie": /^wordpress_test/ } },
    },
    { get: "/wp-json/wp/v2/posts", fields: BROWSER, expect: { xCache: "BYPASS" } },
    { get: "/?rest_route=/wp/v2/posts", fields: BROWSER, expect: { cacheStatus: /detail=bypass-query/ } },
    { get: "/index.php/wp-json/wp/v2/posts", fields: BROWSER, expect: { xCache: "BYPASS" } },
    { get: "/?s=hello", fields: BROWSER, expect: { cacheStatus: /detail=bypass-query/ } },
    { get: MODERATED, fields: BROWSER, expect: { body: /awaits/, cacheStatus: /detail=bypass-query/ } },
    { get: "/", fields: BROWSER, expect: { status: 301, cacheStatus: /fwd-status=301/ } },
    { get: "/", fields: BROWSER, expect: { status: 301, xCache: "MISS" } },
    { get: STYLE, fields: BROWSER, expect: { body: "css" } },
    { advanceMs: 23 * 3_600_000 },
    { get: STYLE, fields: BROWSER, expect: { body: "css", xCache: "HIT" } },
    { get: UPLOAD, fields: BROWSER, expect: { body: "the salaries" } },
    { get: UPLOAD, fields: BROWSER, expect: { body: "the salaries", xCache: "HIT" } },
    { purge: { prefixes: [UPLOAD] } },
    { advanceMs: SETTLED_MS },
    { get: UPLOAD, fields: BROWSER, expect: { status: 404 } },
    { get: UPLOAD, fields: BROWSER, expect: { body: "a summary" } },
    { get: UPLOAD, fields: BROWSER, expect: { body: "a summary", xCache: "HIT" } },
    { purge: { tags: ["post:1"] } },
    { advanceMs: SETTLED_MS },
    { get: "/hello-world/", fields: BROWSER, expect: { body: "a new post" } },
    { get: "/hello-world/", fields: BROWSER, expect: { body: "a new post", xCache: "HIT" } },
  ],
  without: {
    "comment_author_* in bypass.cookies": withoutBypassCookie("comment_author_*"),
    "wp-postpass_* in bypass.cookies": withoutBypassCookie("wp-postpass_*"),
    "wordpress_logged_in_* in bypass.cookies, and the rule for sessions": (site) => {
      const { bypass, ...others } = withoutBypassCookie("wordpress_logged_in_*")(site);
      return { ...others, bypass: { ...bypass, sessions: false } };
    },
    "s in bypass.query": withoutBypassQuery("s"),
    "preview in bypass.query": withoutBypassQuery("preview"),
    "unapproved in bypass.query": withoutBypassQuery("unapproved"),
    "rest_route in bypass.query": withoutBypassQuery("rest_route"),
    "the API below a script": withRoute("/*.php{/wp-json*}?", "/*.php"),
    "the route of files": withoutRoute("/wp-:part(content|includes)/*"),
    "the route of scripts": withoutRoute("/*.php{/wp-json*}?"),
    "the route of the API": withoutRoute("/wp-:part(admin|json){/*}?"),
    defaultTtl: withoutRoute("/*"),
  },
};
