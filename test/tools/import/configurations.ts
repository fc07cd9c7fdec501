import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import type { ClientRequest } from "../../engine/scenario.ts";

/** A configuration in `configurations/`, with the site behind it and what its visitors ask for. */
export interface Configuration {
  readonly name: string;
  /** The `server_name` to import, where several have a cache. */
  readonly server?: string;
  /** Its hosts; the first is asked for most. */
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
  /** What requests may carry, beside what those of every site may. */
  readonly fields?: readonly Readonly<Record<string, string>>[];
  readonly cookies?: readonly string[];
  readonly queries?: readonly string[];
  /** Requests that come twice each, so that each difference of the list shows. */
  readonly asked?: readonly Omit<ClientRequest, "host">[];
  /** The origin's answers where they are not a plain page. */
  readonly pages?: Readonly<Record<string, Reply | ((request: SeenRequest) => Reply)>>;
}

const lasting = { fields: { "cache-control": "max-age=600" } };
const ofOneVisitor = { fields: { "cache-control": "private, max-age=600" } };

export const CONFIGURATIONS: readonly Configuration[] = [
  {
    name: "laptop",
    hosts: ["cdn.example.com"],
    paths: ["/", "/plog/a/", "/plog/b/", "/api/top.json", "/admin/", "/gone"],
    fields: [{ "secret-header": "1" }],
    pages: {
      "/api/top.json": lasting,
      "/admin/": ofOneVisitor,
      "/gone": { status: 404 },
    },
  },
  {
    name: "wordpress",
    asked: [{ path: "/head", method: "HEAD" }, { path: "/head" }],
    hosts: ["blog.example.com", "www.blog.example.com"],
    paths: [
      "/",
      "/hello-world/",
      "/WP-admin/",
      "/a/feed/",
      "/feed/",
      "/wp-login.php",
      "/sitemap.xml",
      "/.htaccess",
      "/old",
    ],
    cookies: [
      "wordpress_logged_in_abc=alice",
      "comment_author_1=bob",
      "x_wordpress_no_cache=1",
      "wordpress_test_cookie=1",
    ],
    queries: ["?p=1", "?s=cache"],
    pages: { "/old": { status: 301, fields: { location: "/hello-world/" } } },
  },
  {
    name: "autocomplete",
    hosts: ["songs.example.com"],
    paths: ["/api/autocomplete", "/api/songs/1", "/api/songs/2", "/api", "/"],
    asked: [{ path: "/api/songs/1?nocache=0" }],
    queries: ["?q=a", "?q=ab", "?q=ab&session=1", "?session=1&q=a", "?q=none", "?nocache=1", "?nocache=0"],
    pages: {
      "/api/autocomplete": ({ target }) => ({ status: target.includes("q=none") ? 404 : 200, body: "songs" }),
      "/": lasting,
    },
  },
  {
    name: "shop",
    hosts: ["shop.example.com"],
    paths: [
      "/",
      "/cart",
      "/cart/items.js",
      "/checkout",
      "/checkout/thanks",
      "/a.css",
      "/catalog/",
      "/catalog",
      "/catalog/shoe",
      "/catalog/shoe/preview",
      "/catalog/a.css",
      "/fr/account",
      "/frog",
      "/none.JS",
    ],
    pages: {
      "/a.css": { fields: { "cache-control": "max-age=60" } },
      "/none.JS": { status: 404 },
      "/catalog": { status: 404 },
    },
  },
  {
    name: "stale",
    asked: [{ path: "/new" }, { path: "/live/new" }, { path: "/live/score" }],
    hosts: ["news.example.com"],
    paths: [
      "/",
      "/story",
      "/shared",
      "/careful",
      "/moved",
      "/gone",
      "/live/score",
      "/live/shared",
      "/live/scores",
      "/live/none",
      "/live/login",
      "/live",
    ],
    pages: {
      "/shared": { fields: { "cache-control": "s-maxage=60" } },
      "/careful": { fields: { "cache-control": "max-age=60, must-revalidate" } },
      "/live/shared": { fields: { "cache-control": "s-maxage=5" } },
      "/moved": { status: 302, fields: { location: "/story" } },
      "/gone": { status: 404 },
      "/live/none": { status: 404 },
      "/live/login": { status: 401 },
    },
  },
  {
    name: "legacy",
    hosts: ["legacy.example.com"],
    paths: [
      "/",
      "/home",
      "/cookie",
      "/static/a.css",
      "/static/cookie.css",
      "/static/none",
      "/files/short",
      "/files/private",
      "/files/a",
      "/varying",
      "/static",
      "/dated",
      "/directed",
    ],
    fields: [{ "accept-language": "de" }],
    asked: [
      { path: "/static/cookie.css", method: "POST", body: "a=1" },
      { path: "/dated/now" },
      { path: "/dated/past" },
      { path: "/directed/now" },
      { path: "/directed/past" },
      { path: "/static/private" },
      { path: "/static/login" },
      { path: "/files" },
      { path: "/cookie" },
    ],
    pages: {
      "/cookie": { fields: { "set-cookie": "session=1" } },
      "/static/cookie.css": { fields: { "set-cookie": "session=1", "x-powered-by": "PHP" } },
      "/static/none": { status: 404 },
      "/static/private": ofOneVisitor,
      "/static/login": { status: 401 },
      "/files/short": { fields: { "cache-control": "max-age=20" } },
      "/files/private": ofOneVisitor,
      "/home": { fields: { "cache-control": "no-store" } },
      "/dated/now": { fields: { "cache-control": "max-age=0" } },
      "/dated/past": { fields: { expires: "Thu, 01 Jan 1970 00:00:01 GMT" } },
      "/directed/now": { fields: { "cache-control": "max-age=0" } },
      "/directed/past": { fields: { "cache-control": "max-age=600", expires: "Thu, 01 Jan 1970 00:00:01 GMT" } },
      "/varying": ({ fields }) => ({
        fields: { vary: "Accept-Language" },
        body: String(fields["accept-language"] ?? "en"),
      }),
    },
  },
  {
    name: "languages",
    hosts: ["world.example.com"],
    paths: ["/", "/about", "/prices/a", "/m/a", "/mine/a", "/near/a", "/prices", "/m", "/mine", "/near"],
    fields: [
      { "accept-language": "de-AT,de;q=0.9" },
      { "accept-language": "fr" },
      { "accept-language": "it, de;q=0.5" },
      { "user-agent": "Mozilla/5.0 (Linux; Android 15) Mobile Mobi" },
      { "user-agent": "Mozilla/5.0 (Windows Phone 10.0) Mobile" },
    ],
    cookies: ["currency=eur", "currency=gbp", "currency=xyz", "visitor=7", "visitor=8"],
    asked: [
      { path: "/m/new" },
      { path: "/m/new", fields: { "user-agent": "Mozilla/5.0 (Windows Phone 10.0) Mobile" } },
      { path: "/mine/new", fields: { cookie: "visitor=9" } },
      { path: "/new", fields: { "accept-language": "it, de;q=0.5" } },
    ],
  },
  {
    name: "members",
    hosts: ["club.example.com"],
    paths: ["/", "/news", "/account", "/account/card", "/login", "/board/", "/board/7", "/board"],
    fields: [{ "x-preview": "1" }, { "x-preview": "0" }, { pragma: "no-cache" }],
    cookies: ["sessionid=abc", "remember_token=1", "my_sessionid=1", "nocache=1", "draft=2"],
    asked: [
      { path: "/board/new", fields: { cookie: "nocache=1" } },
      { path: "/board/new" },
      { path: "/board/new", fields: { cookie: "draft=1" } },
      { path: "/news", fields: { cookie: "my_sessionid=1" } },
    ],
  },
  {
    name: "servers",
    server: "www.example.com",
    hosts: ["www.example.com", "m.example.com"],
    paths: ["/", "/page", "/robots.txt", "/old/page", "/new/", "/admin/", "/admin", "/tools/a", "/old", "/tools"],
  },
  {
    name: "statuses",
    asked: [{ path: "/stats/a" }, { path: "/stats" }],
    hosts: ["docs.example.com"],
    paths: [
      "/",
      "/gone",
      "/missing",
      "/forbidden",
      "/teapot",
      "/unauthorized",
      "/redirects/a",
      "/redirects/b",
      "/headers/a",
      "/headers/b",
      "/none/a",
      "/none/b",
      "/redirects",
      "/headers",
      "/none",
    ],
    pages: {
      "/gone": { status: 410 },
      "/missing": { status: 404 },
      "/forbidden": { status: 403 },
      "/teapot": { status: 500 },
      "/unauthorized": { status: 401 },
      "/redirects/a": { status: 301, fields: { location: "/" } },
      "/redirects/b": { status: 307, fields: { location: "/" } },
      "/headers/a": lasting,
      "/headers/b": { fields: { "cache-control": "no-cache" } },
      "/none/b": { status: 404 },
    },
  },
  {
    name: "microcache",
    hosts: ["busy.example.com"],
    paths: ["/", "/a", "/b", "/cookie"],
    fields: [{ "user-agent": "BadBot/1.0" }],
    cookies: ["no_cache=1"],
    asked: [
      { path: "/a" },
      { path: "/a", fields: { cookie: "no_cache=0" } },
      { path: "/head", method: "HEAD" },
      { path: "/head" },
    ],
    pages: { "/cookie": { fields: { "set-cookie": "a=1" } } },
  },
  {
    name: "django",
    asked: [{ path: "/new" }],
    hosts: ["app.example.com"],
    paths: ["/", "/plog/a/", "/plog/b/", "/admin/", "/favicon.ico"],
    pages: { "/plog/b/": lasting, "/admin/": ofOneVisitor },
  },
  {
    name: "gallery",
    hosts: ["photos.example.com"],
    paths: [
      "/",
      "/photos/7/small.jpg",
      "/PHOTOS/7/LARGE.JPEG",
      "/photos/7/edit",
      "/photos/7/edit/raw/a",
      "/raw/a",
      "/x/raw/a",
      "/raw/private/a",
      "/raw/private/public/a",
      "/raw/private/public/last",
      "/raw/private",
      "/albums/a/a",
      "/albums/a/b",
      "/first-of-all",
      "/the-last",
      "/lastly",
      "/none/raw/gone",
    ],
    cookies: ["anything=1"],
    asked: [{ path: "/raw/private/public" }, { path: "/albums/a/a" }],
    pages: { "/none/raw/gone": { status: 404 } },
  },
  {
    name: "identity",
    hosts: ["staff.example.com"],
    paths: ["/", "/team", "/open/a", "/open/b", "/open"],
    fields: [{ "x-role": "admin" }, { "x-remote-user": "alice" }, { "x-client-verify": "SUCCESS" }, { proxy: "evil" }],
    asked: [
      { path: "/team/new", fields: { "x-role": "admin", "x-remote-user": "alice" } },
      { path: "/open/new", fields: { "x-role": "admin" } },
    ],
  },
];
