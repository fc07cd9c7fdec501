import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importSummary } from "../../../tools/import/import-report.ts";
import { type ImportedSite, siteOf } from "../../../tools/import/imported-site.ts";
import { importNginx } from "../../../tools/import/nginx/import-nginx.ts";
import { resolveUrl } from "../../../worker/rules/key/cache-key.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { RouteInput } from "../../../worker/site/site-input.ts";
import { routesOf } from "./finders.ts";
import { importCases } from "./import-cases.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-leaks-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const ORIGIN = "http://10.0.0.1";
const CACHED = `proxy_pass ${ORIGIN}; proxy_cache c; proxy_cache_valid 200 1h;`;
/** Asks for the visitor's path behind an internal redirect, too. */
const ANY_PATH = CACHED.replace(ORIGIN, `${ORIGIN}$request_uri`);

/** The site of a server with these lines. */
function imported(server: string, http = ""): ImportedSite {
  const file = join(folder, "nginx.conf");
  writeFileSync(file, `http {\n${http}\nserver {\nserver_name www.example.com;\n${server}\n}\n}\n`);
  return importNginx(file, { origin: ORIGIN, host: null, server: null, root: null });
}

/** The rules of the route that the edge takes for a path. */
function routeOf(site: ImportedSite, path: string): Omit<RouteInput, "match"> | undefined {
  const config = siteOf(site);
  const page = resolveUrl(`https://www.example.com${path}`, compileSite(config, {}));
  if (page.kind !== "resolved") throw new Error(`no page has the path ${path}`);
  const found = config.routes?.find(({ match }) => match === page.route.pattern);
  if (found === undefined) return undefined;
  const { match: _, ...rules } = found;
  return rules;
}

const PASS = { pass: true };
const HOUR = { defaultTtl: { 200: "1h" } };

/** What the list says kept visitors out. */
const refused = ({ differences }: ImportedSite) =>
  differences.flatMap(({ kind, source }) => (kind === "access" ? [source!.text] : []));
const because = ({ locations }: ImportedSite) => locations.flatMap((each) => each.because);

describe("nested locations have what nginx gives them", () => {
  test("they do not inherit try_files from the outer location", () => {
    const site = imported(`location / { location /account/ { proxy_pass ${ORIGIN}; } try_files $uri @cached; }
      location @cached { ${CACHED} }`);
    expect(routeOf(site, "/account/card")).toEqual(PASS);
    expect(routeOf(site, "/news")).toEqual(HOUR);
  });

  test("they do not inherit rewrites and conditions from the outer location", () => {
    const site = imported(`location /a/ { return 403; location /a/b/ { ${CACHED} } }`);
    expect(routeOf(site, "/a/x")).toEqual(PASS);
    expect(routeOf(site, "/a/b/x")).toEqual(HOUR);
  });

  test.each([
    "auth_basic Staff;",
    "deny all;",
    "auth_request /check;",
    "access_by_lua_file check.lua;",
    "allow 10.0.0.0/8; deny all;",
  ])("they inherit %s from the outer location", (line) => {
    const site = imported(`location / { ${line} location /in/ { ${CACHED} } ${CACHED} }`);
    expect(routeOf(site, "/in/x")).toEqual(PASS);
    expect(routeOf(site, "/x")).toEqual(PASS);
    expect(refused(site)).toContain(line.split(";").at(-2)!.trim());
  });

  test("their own array replaces the outer one", () => {
    const site = imported(
      `location / { ${CACHED} proxy_no_cache $cookie_a; location /in/ { ${CACHED} proxy_no_cache $cookie_b; } }`,
    );
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, bypass: { cookies: [/\ba *=/i] } });
    expect(routeOf(site, "/in/x")).toEqual({ ...HOUR, bypass: { cookies: [/\bb *=/i] } });
  });

  test("files below an inner location with its own rules stay out, and what is internal stays so", () => {
    const site = imported(`location / { location ^~ /system/files/ { internal; ${CACHED} } ${CACHED} }`);
    expect(routeOf(site, "/system/files/a")).toEqual(PASS);
    expect(refused(site)).toEqual(["internal"]);
    const told = site.differences.find(({ source }) => source?.text === "internal");
    expect(told?.why).toContain("the origin must refuse this one, and send itself what it named in X-Accel-Redirect");
  });

  test("what is internal is so below, too", () => {
    const site = imported(`location /in/ { internal; location ~ css$ { ${CACHED} } } location / { ${CACHED} }`);
    expect([routeOf(site, "/in/a.css"), routeOf(site, "/a.css")]).toEqual([PASS, HOUR]);
  });

  test("two locations with a cache by try_files are two routes", () => {
    const site = imported(`location /a/ { try_files $uri @one; } location /b/ { try_files $uri @two; }
      location @one { ${CACHED} } location @two { ${CACHED} auth_basic Staff; }`);
    expect(routeOf(site, "/a/x")).toEqual(HOUR);
    expect(routeOf(site, "/b/x")).toEqual(PASS);
  });

  test("the longest prefix is chosen on each level by itself", () => {
    const site = imported(
      `location /a/ { location /a/b/c/ { ${CACHED} } ${CACHED} } location /a/b/ { proxy_pass ${ORIGIN}; }`,
    );
    expect(routeOf(site, "/a/b/c/x")).toEqual(PASS);
    expect(routeOf(site, "/a/x")).toEqual(HOUR);
  });
});

describe("what nginx kept from the origin makes no page for all, though the origin may call it public:", () => {
  const ERASED = (field: string, value = '""') => `${CACHED} proxy_set_header ${field} ${value};`;
  const SESSION = "location /account/ { proxy_pass http://10.0.0.1; }";
  const NO_COOKIES = { key: { cookies: { none: ["none"] } } };
  const toldOfCookies = ({ differences }: ImportedSite) =>
    differences.filter(({ field }) => field === "cookie").map(({ kind }) => kind);

  test.each(['""', "lang=de", "$clean"])("cookies, of which one of two locations with a cache sends %s", (value) => {
    const site = imported(`location / { ${ERASED("Cookie", value)} } location /shop/ { ${CACHED} }`);
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, ...NO_COOKIES });
    expect(routeOf(site, "/shop/x")).toEqual(HOUR);
    expect(siteOf(site).cookies).toBeUndefined();
    expect(toldOfCookies(site)).toEqual(["changed"]);
  });

  test("cookies, by the name of one that nobody has, which the list explains", () => {
    const site = imported(`location / { ${ERASED("Cookie")} } location /shop/ { ${CACHED} }`);
    const why = site.differences.find(({ field }) => field === "cookie")?.why;
    expect(why).toMatch(
      /^The origin gets no cookies .* It is only sent those in the route's key\.cookies, and no visitor has the cookie none\.$/,
    );
    const everywhere = imported(`location / { ${ERASED("Cookie")} }`);
    expect(everywhere.differences.find(({ field }) => field === "cookie")?.why).not.toContain("key.cookies");
  });

  test("cookies, where all locations with a cache erase them, and others need them", () => {
    const site = imported(`${SESSION} location / { ${ERASED("Cookie")} } location /shop/ { ${ERASED("Cookie")} }`);
    expect([routeOf(site, "/x"), routeOf(site, "/shop/x")]).toEqual([HOUR, HOUR]);
    expect(siteOf(site).cookies).toEqual({ ignore: ["*"] });
    expect(toldOfCookies(site)).toEqual(["changed", "changed"]);
  });

  test("but those of a location without a cache reach the origin, which is told", () => {
    const site = imported(`location / { ${CACHED} } location /a { proxy_pass ${ORIGIN}; proxy_set_header Cookie ""; }`);
    expect([routeOf(site, "/x"), routeOf(site, "/a")]).toEqual([HOUR, PASS]);
    expect(toldOfCookies(site)).toEqual(["dropped"]);
  });

  test("cookies, beside those that are in the key", () => {
    const site = imported(
      `location / { ${ERASED("Cookie", "lang=$lang")} proxy_cache_key $request_uri$lang; } location /b { ${CACHED} }`,
      "map $cookie_lang $lang { default en; de de; }",
    );
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, key: { cookies: { lang: ["de"] } } });
  });

  test("but not for PHP, which gets cookies beside a line for others", () => {
    const site = imported(`proxy_set_header Cookie ""; location ~ php$ { fastcgi_pass 10.0.0.1; fastcgi_cache c; }
      location / { ${CACHED} }`);
    expect(siteOf(site).cookies).toBeUndefined();
    expect(routeOf(site, "/x.php")).toEqual({});
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, ...NO_COOKIES });
  });

  test("but a visitor's own cookies that nginx passed on do", () => {
    expect(routeOf(imported(`location / { ${ERASED("Cookie", "$http_cookie")} }`), "/x")).toEqual(HOUR);
  });

  test("credentials, which another location sends", () => {
    const site = imported(`${SESSION} location / { ${ERASED("Authorization")} }`);
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, bypass: { fields: ["authorization"] } });
  });

  test("but not where no location sends any", () => {
    const site = imported(
      `location / { ${ERASED("Authorization")} } location /b/ { ${ERASED("Authorization", "$token")} }`,
    );
    expect(routeOf(site, "/x")).toEqual(HOUR);
  });

  test.each([
    ["Accept-Language", '""'],
    ["Accept-Language", "$chosen"],
    ["User-Agent", "edge"],
    ["Accept", "*/*"],
  ])("fields of browsers: %s %s", (field, value) => {
    const site = imported(`location / { ${ERASED(field, value)} } location /b { proxy_pass ${ORIGIN}; }`);
    expect(routeOf(site, "/x")).toEqual({ ...HOUR, fields: { drop: [field.toLowerCase()] } });
  });

  test("but not those that the edge sends in the same way, or never where it stores", () => {
    const site = imported(`location / { ${ERASED("User-Agent", "edge")} proxy_set_header Referer ""; }`);
    expect(routeOf(site, "/x")).toEqual(HOUR);
    expect(siteOf(site).originFields).toEqual({ "User-Agent": "edge" });
  });
});

describe("a location inside that of an expression", () => {
  const within = (lines: string, outer = `proxy_pass ${ORIGIN};`) =>
    imported(`location ~ ^/a { location ~ php$ { ${lines} } ${outer} } location / { ${CACHED} }`);

  test.each(["deny all", "return 403", "auth_basic Staff", "internal", "limit_except GET"])(
    "has what keeps visitors out told: %s",
    (line) => {
      const site = within(
        `${line === "limit_except GET" ? `${line} { deny all; }` : `${line};`} proxy_pass ${ORIGIN};`,
      );
      expect(refused(site)).toContain(line);
      expect(routeOf(site, "/a.php")).toEqual(PASS);
    },
  );

  test("has its files told", () => {
    expect(refused(within("expires 1d;"))).toEqual(["location ~ php$"]);
    expect(refused(within("", CACHED))).toEqual(["location ~ php$"]);
  });

  test("lets no visitor say who he is", () => {
    const site = within(`proxy_set_header X-Remote-User $remote_user; proxy_pass ${ORIGIN};`);
    expect(siteOf(site).originFields).toEqual({ "X-Remote-User": "" });
    expect(refused(site)).toEqual(["proxy_set_header X-Remote-User $remote_user"]);
  });

  test("has its cache told, which stores nothing", () => {
    const site = within(`${CACHED} proxy_hide_header X-A;`);
    expect(site.locations.filter(({ isCached }) => isCached)).toMatchObject([
      { source: { text: "location /" }, stores: true },
      { source: { text: "location ~ php$" }, stores: false, because: ["location ~ php$"] },
    ]);
    const told = site.differences.filter(({ source }) => /php|hide/.test(source?.text ?? ""));
    expect(told.map(({ why }) => why)).toEqual([
      expect.stringMatching(/inside a regular expression's location is not carried over. Nothing is stored in it/),
      expect.stringContaining("The edge passes X-A on"),
    ]);
  });

  test("takes bodies as large as nginx did", () => {
    const site = within(`proxy_pass ${ORIGIN}; client_max_body_size 1g;`);
    expect(siteOf(site).limits).toMatchObject({ requestBodyBytes: "1GiB" });
  });
});

describe("a zone that a variable names", () => {
  test("is off for requests with the cookie", () => {
    const site = imported(
      `location / { ${CACHED.replace("cache c", "cache $zone")} }`,
      `map $cookie_member $zone { default off; "" c; }`,
    );
    expect(routeOf(site, "/")).toEqual({ ...HOUR, bypass: { cookies: [/\bmember *=/i] } });
  });

  test.each([
    ["by what no site can say", `map $remote_addr $zone { default c; 10.0.0.1 off; }`],
    ["to one of two zones", `map $http_x_app $zone { default c; a other; }`],
    ["without a line that sets it", ""],
  ])("stores nothing %s", (_, map) => {
    const site = imported(`location / { ${CACHED.replace("cache c", "cache $zone")} }`, map);
    expect(routeOf(site, "/")).toEqual(PASS);
    expect(because(site)).not.toEqual([]);
  });
});

describe("a condition that leads elsewhere", () => {
  const COOKIE = { ...HOUR, bypass: { cookies: [/member/] } };

  test.each([
    ["by an error", "error_page 418 = @nocache; if ($http_cookie ~ member) { return 418; }"],
    ["by a rewrite", "if ($http_cookie ~ member) { rewrite ^ /private last; }"],
    ["to another upstream", "if ($http_cookie ~ member) { proxy_pass http://10.0.0.2; }"],
  ])("%s sends requests with the cookie past the cache", (_, lines) => {
    expect(routeOf(imported(`location / { ${lines} ${CACHED} }`), "/")).toEqual(COOKIE);
    if (!lines.includes("proxy_pass")) {
      expect(routeOf(imported(`${lines} location / { ${CACHED} }`), "/")).toEqual(COOKIE);
    }
  });

  test.each([
    "if ($remote_addr = 10.0.0.1) { return 418; }",
    "if ($http_user_agent) { rewrite ^ /bots last; }",
    'if ($cookie_member = "") { return 302 /login; }',
    "if ($request_method = GET) { return 403; }",
    "if (-f $document_root/down) { return 503; }",
    "try_files $uri @nowhere;",
    "return 302 /login;",
    "unheard_of on;",
    "rewrite ^/(.*)$ /app/$1 break;",
    'proxy_no_cache "$remote_addr";',
    "proxy_method POST;",
    "proxy_buffering off;",
  ])("that a site cannot express stores nothing: %s", (line) => {
    const site = imported(`location / { ${line} ${CACHED} } location /other { ${CACHED} }`);
    expect(routeOf(site, "/")).toEqual(PASS);
    expect(routeOf(site, "/other")).toEqual(HOUR);
    expect(because(site)).toHaveLength(1);
  });

  test("on methods that are never answered from the cache is no condition", () => {
    const site = imported(`if ($request_method !~ ^(GET|HEAD|POST)$) { return 405; } location / { ${CACHED} }`);
    expect(routeOf(site, "/")).toEqual(HOUR);
  });

  test("in which a break skips the line that clears a variable counts as true", () => {
    const lines = "set $skip 1; if ($http_x_a) { break; } set $skip 0;";
    const site = imported(`location / { ${lines} ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`);
    expect(routeOf(site, "/")).toEqual(PASS);
  });

  test("on the path of a server is one of each location", () => {
    const site = imported(`rewrite ^/old/ /new/ permanent; location / { ${CACHED} }`);
    expect(routeOf(site, "/old/a")).toEqual(PASS);
    expect(routeOf(site, "/a")).toEqual(HOUR);
  });

  test("is checked again with the new path after an internal redirect", () => {
    const site = imported(`if ($uri ~ .php$) { set $skip 1; } set $skip2 0;
      location / { try_files $uri /index.php?$args; }
      location ~ .php$ { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`);
    expect(routeOf(site, "/")).toEqual(PASS);
  });

  test("on the query is told as it is behind the redirect", () => {
    const site = imported(`location / { try_files $uri /index.php?q=$uri; }
      location = /index.php { ${CACHED} proxy_no_cache $args; proxy_cache_bypass $args; }`);
    expect(routeOf(site, "/a")).toEqual(PASS);
  });

  test("on errors of the origin that another page stands in for stores nothing", () => {
    const site = imported(`location / { ${CACHED} proxy_intercept_errors on; error_page 404 /404.html; }`);
    expect(routeOf(site, "/")).toEqual(PASS);
  });
});

describe("a pattern of cookies is nginx's own", () => {
  const bypassed = (cookie: string, ...lines: string[]) => {
    const site = imported(`location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`, lines.join("\n"));
    const [pattern] = routeOf(site, "/")!.bypass!.cookies as RegExp[];
    return pattern!.test(cookie);
  };

  test.each(["session=1", "app_session=1", "Session=1", "a=1; b=my_SESSION"])("~* session finds %s", (cookie) => {
    expect(bypassed(cookie, 'map $http_cookie $skip { default 0; "~*session" 1; }')).toBe(true);
  });

  test("~. finds any cookie", () => {
    expect(bypassed("theme=dark", 'map $http_cookie $skip { default 0; "~." 1; }')).toBe(true);
  });

  test("a name is found in any letter case, and as the whole name", () => {
    const map = 'map $cookie_Sid $skip { "" 0; default 1; }';
    expect(bypassed("a=1; sid=2", map)).toBe(true);
    expect(bypassed("side=2", map)).toBe(false);
  });

  test.each([
    'map $http_cookie $skip { default 0; "~(?>a)" 1; }',
    'map $http_cookie $skip { default 0; "~[[:alpha:]]" 1; }',
    'map $http_cookie $skip { default 1; "~public" 0; }',
    'map $request_method $skip { default 1; "~^(?>POST|PUT)$" 0; }',
  ])("that only nginx could find stores nothing: %s", (map) => {
    const site = imported(`location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`, map);
    expect(routeOf(site, "/")).toEqual(PASS);
  });

  test("maps of maps are followed", () => {
    const maps = `map $cookie_a $one { "" 0; default 1; } map $arg_b $two { "" $one; default 1; }`;
    const site = imported(`location / { ${CACHED} proxy_no_cache $two; proxy_cache_bypass $two; }`, maps);
    expect(routeOf(site, "/")).toEqual({ ...HOUR, bypass: { cookies: [/\ba *=/i], query: [/(?:^|&)b=/i] } });
  });

  test.each(["delete", "proxy", "ranges", "proxy_recursive", "hostnames", "volatile"])(
    "the word %s with a value is a key of a map",
    (word) => {
      const lines = `${CACHED} proxy_cache_key $request_uri$view; proxy_no_cache $skip; proxy_cache_bypass $skip;`;
      const maps = `map $arg_action $skip { volatile; default 0; ${word} 1; }
        map $cookie_view $view { default a; ${word} b; list c; }`;
      expect(routeOf(imported(`location / { ${lines} }`, maps), "/")).toEqual({
        ...HOUR,
        bypass: { query: [/(?:^|&)action=/i] },
        key: { cookies: { view: [word, "list"] } },
      });
    },
  );

  test("a map of several variables is one of each of them", () => {
    const lines = "proxy_no_cache $skip; proxy_cache_bypass $skip;";
    const through = (keys: string, http = "") =>
      routeOf(
        imported(
          `location / { ${CACHED} ${lines} }`,
          `map $http_cookie $member { default 0; ~SESS 1; } map $is_args $asked { default 1; "" 0; }
          map $member$asked $skip { ${keys} } ${http}`,
        ),
        "/",
      );
    const both = { ...HOUR, bypass: { cookies: [/SESS/], query: true } };
    expect(through("default 1; 00 0;")).toEqual(both);
    expect(through("default 1; 00 0; 11 0;")).toEqual(both);
    expect(through("default 1; 000 0;")).toEqual(PASS);
    expect(through("default 1; ~00 0;")).toEqual(PASS);
    // A key of which one part is always another says nothing of those requests.
    expect(through("default 1; 10 0;")).toEqual(PASS);
  });

  test("several variables in one text are true where they are not empty, even as 00", () => {
    const both = (maps: string) =>
      routeOf(imported(`location / { ${CACHED} proxy_no_cache $a$b; proxy_cache_bypass $a$b; }`, maps), "/");
    const zeros = `map $cookie_a $a { "" 0; default 1; } map $cookie_b $b { "" 0; default 1; }`;
    expect(both(zeros)).toEqual(PASS);
    expect(both(zeros.replaceAll('"" 0', '"" ""'))).toEqual({ ...HOUR, bypass: { cookies: [/\ba *=/i, /\bb *=/i] } });
  });
});

describe("the value of a field", () => {
  const fieldsOf = (condition: string, http = "") =>
    routeOf(imported(`location / { if (${condition}) { return 403; } ${CACHED} }`, http), "/")?.bypass?.fields;

  test("of any field can be one that goes past the cache", () => {
    expect(fieldsOf("$http_user_agent ~* (bot|spider)")).toEqual({ "user-agent": [/(bot|spider)/i] });
    expect(fieldsOf("$bad", "map $http_referer $bad { default 0; ~(?i)casino 1; }")).toEqual({ referer: [/casino/i] });
    expect(fieldsOf("$http_x_app", "")).toEqual(["x-app"]);
  });

  test.each([
    ["$http_x_app = 1", "1", "10"],
    ["$http_x_app = 1", "2, 1, 3", "2, 3"],
    ["$http_x_app ~ ^Lynx", "Lynx/2", "A Lynx"],
    ["$http_referer ~ ^$", "", "a"],
    ["$http_user_agent !~ Mozilla", "curl", "Mozilla/5.0"],
    ["$http_user_agent !~ Mozilla", "", "Mozilla/5.0"],
    ["$http_user_agent !~* (?i)mozilla", "curl, Mozilla", "MOZILLA"],
    ["$http_user_agent != a", "b", "a"],
  ])("in %s is found in '%s', and not in '%s'", (condition, found, other) => {
    const [[pattern]] = Object.values(fieldsOf(condition) as Record<string, RegExp[]>) as [[RegExp]];
    expect([pattern.test(found), pattern.test(other)]).toEqual([true, false]);
  });

  test("that most visitors do not send stores nothing where it is missing", () => {
    for (const condition of ["$http_x_forwarded_proto != https", "$http_x_app !~ a", '$http_x_app = ""'])
      expect(routeOf(imported(`location / { if (${condition}) { return 403; } ${CACHED} }`), "/")).toEqual(PASS);
  });

  test("that only nginx could find stores nothing", () => {
    expect(fieldsOf("$http_user_agent ~ (?>Bot)")).toBe(undefined);
    expect(routeOf(imported(`location / { if ($http_user_agent ~ (?>Bot)) { return 403; } ${CACHED} }`), "/")).toEqual(
      PASS,
    );
  });

  test("that made nginx fetch the page again goes past the cache, unless it is a secret", () => {
    const site = (field: string) =>
      imported(`set $b 0; if (${field}) { set $b 1; } location / { ${CACHED} proxy_cache_bypass $b; }`);
    expect(routeOf(site("$http_user_agent ~ Bot"), "/")).toEqual({
      ...HOUR,
      bypass: { fields: { "user-agent": [/Bot/] } },
    });
    expect(routeOf(site("$http_x_secret = 123"), "/")).toEqual(HOUR);
  });
});

describe("the visitor's address", () => {
  test("is read of geo, whose last value counts", () => {
    const geo = (lines: string) =>
      routeOf(
        imported(
          `if ($bad) { return 403; } location / { ${CACHED} }`,
          `map $http_x_bad $bad { default 1; } geo $bad { ${lines} }`,
        ),
        "/",
      );
    expect(geo("default 0; 10.0.0.0/8 0;")).toEqual(HOUR);
    expect(geo("default 0; 10.0.0.0/8 1;")).toEqual(PASS);
    expect(geo("proxy_recursive; proxy 10.0.0.1; delete 10.0.0.0/8; default 0;")).toEqual(HOUR);
  });

  test.each([
    ["allow all;", HOUR],
    ["allow all; deny 10.0.0.1;", HOUR],
    ["deny 10.0.0.1; allow all;", PASS],
    ["allow 10.0.0.1;", PASS],
  ])("is not asked behind allow all: %s", (lines, rules) => {
    const site = imported(`location / { ${lines} ${CACHED} } location /other { ${CACHED} }`);
    expect(routeOf(site, "/")).toEqual(rules);
    expect(refused(site).length > 0).toBe(rules === PASS);
  });
});

describe("a device", () => {
  const MOBILE = 'set $m ""; if ($http_user_agent ~* (iPhone|Android)) { set $m "m_"; }';
  const key = (lines: string) =>
    routeOf(imported(`location / { ${lines} ${CACHED} proxy_cache_key $m$host$request_uri; }`), "/");

  test("in the key by set and if is the site's", () => {
    expect(key(MOBILE)).toEqual({ ...HOUR, key: { device: true } });
    expect(key(`${MOBILE} if ($cookie_a) { set $m a; }`)).toEqual(PASS);
    expect(key("set $m $http_user_agent;")).toEqual(PASS);
  });

  // The last two are those of detectmobilebrowsers.com.
  test.each([
    "mobile|android|webOS|iPhone|iPod|BlackBerry|Windows Phone|opera mini",
    "(?i)\\b(?:ipad|tablet|kindle)\\b",
    "android(?!.*mobi)",
    "(android|bb\\d+|meego).+mobile|avantgo|bada\\/|blackberry|blazer|compal|elaine|fennec|hiptop|iemobile|ip(hone|od)|iris|kindle|lge |maemo|midp|mmp|mobile.+firefox|netfront|opera m(ob|in)i|palm( os)?|phone|p(ixi|re)\\/|plucker|pocket|psp|series(4|6)0|symbian|treo|up\\.(browser|link)|vodafone|wap|windows ce|xda|xiino",
    "^(1207|6310|6590|3gso|4thp|50[1-6]i|770s|802s|a wa|abac|your|zeto|zte\\-)",
  ])("is told by words of phones and tablets alone: %s", (words) => {
    expect(key(`if ($http_user_agent ~* "${words}") { set $m m; }`)).toEqual({ ...HOUR, key: { device: true } });
  });

  test.each(["googlebot", "googlebot-mobile", "mobile|bot", "mobile(?!.*bot)", "android [0-4]", "windows nt", "^$"])(
    "is not told by other words: %s",
    (words) => expect(key(`if ($http_user_agent ~* "${words}") { set $m m; }`)).toEqual(PASS),
  );
});

describe("the origin's lifetimes that nginx ignores", () => {
  const ignoring = (fields: string, valid = "any 1h") => {
    const site = imported(
      `location / { proxy_pass ${ORIGIN}; proxy_cache c; proxy_ignore_headers ${fields}; proxy_cache_valid ${valid}; }`,
    );
    const told = site.differences.filter(({ source }) => source?.text.startsWith("proxy_ignore_headers"));
    return { rules: routeOf(site, "/"), why: told.map(({ why }) => why).join(" ") };
  };

  test("are replaced by the route's only if it ignores both fields", () => {
    expect(ignoring("Cache-Control Expires").rules?.ttl).toBe("1h");
    for (const one of ["Cache-Control", "Expires", "X-Accel-Expires Expires", "Cache-Control Set-Cookie"]) {
      const { rules, why } = ignoring(one);
      expect([one, rules?.ttl, typeof rules?.defaultTtl]).toEqual([one, undefined, "object"]);
      expect(why).toMatch(/A lifetime from the origin counts/);
    }
  });

  test("that end in the past beside a Cache-Control are told", () => {
    expect(ignoring("Cache-Control").why).toContain("even beside an Expires in the past");
    expect(ignoring("Expires").why).not.toContain("in the past");
  });
});

test("slices are stored as a whole", () => {
  const lines = "slice 1m; proxy_cache_key $host$request_uri$slice_range; proxy_set_header Range $slice_range;";
  const site = imported(`location / { ${lines} ${CACHED} }`);
  expect(routeOf(site, "/")).toEqual(HOUR);
  const told = site.differences.find(({ source }) => source?.text.startsWith("slice"));
  expect(told?.why).toMatch(
    /part of a file that is not stored is passed on.*limits\.fetchWholeBytes.*limits\.storeBytes/,
  );
});

describe("a pattern of path and query", () => {
  const passed = (regex: string) =>
    imported(`set $s 0; if ($request_uri ~ "${regex}") { set $s 1; }
      location / { ${CACHED} proxy_no_cache $s; proxy_cache_bypass $s; }`);

  test.each([
    ["/wp-admin/", "/wp-admin/a", [/\/wp-admin\//]],
    ["^/account", "/account/a", undefined],
    ["wp-.*\\.php", "/wp-login.php", [/\.php/]],
    ["preview=", "/x-preview=1", [/preview=/]],
  ] as const)("%s passes %s, and queries in which it can be found", (regex, path, query) => {
    const site = passed(regex);
    expect(routeOf(site, path)).toEqual(PASS);
    expect(routeOf(site, "/news")).toEqual({ ...HOUR, ...(query && { bypass: { query } }) });
  });

  test("that ends anywhere passes every query", () => {
    expect(routeOf(passed("/cart.*"), "/news")).toEqual({ ...HOUR, bypass: { query: true } });
  });
});

test("a query bypasses the cache even where the key leaves it out", () => {
  const lines = "proxy_cache_key $host$uri; proxy_no_cache $args; proxy_cache_bypass $args;";
  expect(routeOf(imported(`location / { ${CACHED} ${lines} }`), "/")?.bypass).toEqual({ query: [/./] });
});

test.each(["location /shop/", "location ^~ /shop/"])("the path that nginx redirects to %s is not stored", (head) => {
  const site = imported(`location / { ${CACHED} } ${head} { ${CACHED} }`);
  expect([routeOf(site, "/shop"), routeOf(site, "/shop/"), routeOf(site, "/shops")]).toEqual([PASS, HOUR, HOUR]);
});

test.each([
  [CACHED, ["nginx redirects /shop to /shop/. The edge asks the origin for /shop."]],
  ["rewrite ^ /index.php last;", []],
])("that redirect is told where nginx makes it, for its own handler alone: %s", (lines, told) => {
  const site = imported(`location /shop/ { ${lines} } location = /index.php { ${CACHED} } location / { ${CACHED} }`);
  expect(site.differences.map(({ why }) => why).filter((why) => why.startsWith("nginx redirects"))).toEqual(told);
});

test.each([
  ["~ /\\.(git|svn)", "/.git/a", "/git/a"],
  ["~ /\\.", "/a/.b", "/a/b"],
  ["/.", "/.well", "/well"],
])("location %s is one of names with a dot", (head, passed, stored) => {
  const site = imported(`location / { ${CACHED} } location ${head} { deny all; }`);
  expect([routeOf(site, passed), routeOf(site, stored)]).toEqual([PASS, HOUR]);
});

test("a path that passes in one location is stored by another", () => {
  const conditions = "proxy_no_cache $skip; proxy_cache_bypass $skip;";
  const site = imported(
    `location ~ \\.php$ { ${CACHED} ${conditions} } location /account/ { ${CACHED} }`,
    "map $request_uri $skip { default 0; ~^/account 1; }",
  );
  expect([routeOf(site, "/account/a.php"), routeOf(site, "/a.php"), routeOf(site, "/account/a")]).toEqual([
    PASS,
    HOUR,
    HOUR,
  ]);
});

describe("what an edge cannot refuse ends --strict", () => {
  test.each([
    "access_by_lua_file check.lua",
    "js_access main.check",
    "auth_ldap Staff",
    "auth_pam Staff",
    "auth_jwt Staff",
    "return 403",
    "return 302 /login",
    "internal",
    "satisfy any",
  ])("%s", (line) => {
    const site = imported(`location / { ${line}; ${CACHED} } location /other { ${CACHED} }`);
    expect(refused(site)).toEqual([line]);
    expect(routeOf(site, "/")).toEqual(PASS);
  });

  test.each(['if ($cookie_member = "") { return 302 /login; }', "if ($http_x_a) { return 403; }"])("%s", (line) => {
    expect(refused(imported(`location / { ${line} ${CACHED} } location /other { ${CACHED} }`))).toHaveLength(1);
  });

  test.each(["auth_basic off", "ssl_verify_client off", "satisfy all", "proxy_buffering on"])(
    "%s does not, and pages are stored",
    (line) => {
      const site = imported(`${line}; location / { ${CACHED} }`);
      expect([refused(site), routeOf(site, "/")]).toEqual([[], HOUR]);
    },
  );

  test.each(["return 301 /new", "auth_basic off"])("%s does not", (line) => {
    expect(refused(imported(`location / { ${line}; ${CACHED} } location /other { ${CACHED} }`))).toEqual([]);
  });
});

test.each(["allow 10.0.0.0/8", "deny 10.0.0.1"])("%s is told with the address that the origin sees", (line) => {
  const site = imported(`location / { ${CACHED} ${line}; }`);
  const told = site.differences.find(({ source }) => source?.text === line);
  expect(told?.why).toContain("It gets the edge's address: the visitor's is in X-Forwarded-For");
});

describe("what nginx did not ask the origin for is public now, which ends --strict:", () => {
  test.each([
    ["location /a { root /srv; }", "location /a"],
    ["location /a { alias /srv/; autoindex on; }", "location /a"],
    ["location /a { try_files $uri =404; }", "location /a"],
    ["root /srv; location /a { }", "location /a"],
    ["location /a { expires 1d; }", "location /a"],
    ["location /a { gzip on; charset utf-8; default_type text/plain; sub_filter a b; }", "location /a"],
    ["location /a { set_real_ip_from 10.0.0.1; }", "location /a"],
    ["location ^~ /.well-known/acme-challenge/ { allow all; }", "location ^~ /.well-known/acme-challenge/"],
  ])("%s", (line, text) => {
    const site = imported(`${line} location / { ${CACHED} }`);
    expect(refused(site)).toEqual([text]);
    const told = site.differences.find(({ kind }) => kind === "access");
    expect(told?.why).toMatch(/nginx answered here from its own files, or with 404.*the origin.*public/);
  });

  test("beside a limit, which is told, too", () => {
    const site = imported(`location /a { limit_req zone=a; } location / { ${CACHED} }`);
    expect(refused(site).toSorted()).toEqual(["limit_req zone=a", "location /a"]);
  });

  describe("another server of the same name", () => {
    const beside = (name: string, lines: string) =>
      refused(imported(`location / { ${CACHED} }`, `server { listen 443 ssl; server_name ${name}; ${lines} }`));

    test.each(["auth_basic Staff;", "location /staff/ { deny all; }", "location / { limit_except GET { deny all; } }"])(
      "that lets not all visitors in: %s",
      (lines) => expect(beside("www.example.com", lines).at(-1)).toMatch(/^(?:auth_basic Staff|deny all)$/),
    );

    test.each([
      "if ($host = www.example.com) { return 301 https://$host$request_uri; } return 404;",
      "location /.well-known/acme-challenge/ { allow all; } auth_basic off;",
    ])("but not one that lets all in: %s", (lines) => expect(beside("www.example.com", lines)).toEqual([]));

    test("but not one of another name, whose requests get 421", () => {
      expect(beside("staff.example.com", "auth_basic Staff;")).toEqual([]);
    });
  });

  test("paths in no location", () => {
    const site = imported(`location /news/ { ${CACHED} }`);
    expect(site.differences.filter(({ kind }) => kind === "access")).toMatchObject([
      { source: { text: "server" }, why: expect.stringMatching(/in no location.*public/), affects: { routes: ["/*"] } },
    ]);
  });

  test.each([
    "location /a { return 301 /b; }",
    "location /a { try_files $uri @app; } location @app { proxy_pass http://10.0.0.1; }",
  ])("but not %s", (line) => expect(refused(imported(`${line} location / { ${CACHED} }`))).toEqual([]));
});

describe("an internal redirect", () => {
  const FRONT = `${CACHED} proxy_cache_key $host$request_uri;`;

  test.each([
    "location / { try_files $uri /index.php?$args; }",
    "location / { rewrite ^ /index.php last; }",
    "location / { try_files $uri @app; } location @app { rewrite ^ /index.php last; }",
  ])("asks the origin for the new path, which is not the visitor's: %s", (lines) => {
    const site = imported(`${lines} location = /index.php { ${FRONT} }`);
    expect([routeOf(site, "/news"), routeOf(site, "/index.php")]).toEqual([PASS, { ...HOUR }]);
    expect(because(site)).toEqual([`proxy_pass ${ORIGIN}`]);
    expect(site.differences.map(({ why }) => why)).toContain(
      "The edge asks the origin for the visitor's path, not for /index.php: the origin must serve the page at that path.",
    );
  });

  test("to a target with $uri asks for the new path, too", () => {
    const site = imported(`location / { try_files $uri /index.php?$args; }
      location = /index.php { ${FRONT.replace(ORIGIN, `${ORIGIN}$uri$is_args$args`)} }`);
    expect([routeOf(site, "/news"), routeOf(site, "/index.php")]).toEqual([PASS, HOUR]);
  });

  test.each([
    ["$request_uri", `location = /index.php { ${FRONT.replace(ORIGIN, `${ORIGIN}$request_uri`)} }`],
    [
      "another module",
      "location = /index.php { fastcgi_pass 10.0.0.1:9000; fastcgi_cache c; fastcgi_cache_valid 1h; }",
    ],
  ])("keeps the visitor's path with %s", (_, location) => {
    const site = imported(`location / { try_files $uri /index.php?$args; } ${location}`);
    expect(routeOf(site, "/news")).not.toEqual(PASS);
  });

  test("to a location that tries the same file ends there", () => {
    const site = imported(`location / { try_files $uri /index.php?$args; }
      location ~ .php$ { try_files $uri $uri/ /index.php?$args; ${ANY_PATH} }`);
    expect([routeOf(site, "/a"), routeOf(site, "/a.php")]).toEqual([HOUR, HOUR]);
  });

  test("to a location that tries the same file is asked of both paths", () => {
    const site = imported(`set $s 0; if ($uri ~ ^/index) { set $s 1; }
      location ~ .php$ { try_files $uri /index.php; ${ANY_PATH} proxy_no_cache $s; }`);
    expect(routeOf(site, "/a.php")).toEqual(PASS);
  });

  test("to a named location keeps the visitor's path", () => {
    expect(routeOf(imported(`location / { try_files $uri @app; } location @app { ${CACHED} }`), "/news")).toEqual(HOUR);
  });
});

describe("files of nginx", () => {
  test("without which it refuses a path keep an upstream from storing", () => {
    const site = imported(`location / { try_files $uri =404; ${CACHED} } location /other { ${CACHED} }`);
    expect([routeOf(site, "/a"), routeOf(site, "/other")]).toEqual([PASS, HOUR]);
    expect(because(site)).toEqual(["try_files $uri =404"]);
  });

  test("of scripts are PHP's own", () => {
    const site = imported(
      "location ~ .php$ { try_files $uri =404; fastcgi_pass 10.0.0.1:9000; fastcgi_cache c; fastcgi_cache_valid 200 1h; }",
    );
    expect(routeOf(site, "/a.php")).toEqual(HOUR);
  });

  test("at the end of a redirect are always the same one", () => {
    const site = imported(`location / { try_files $uri /index.php?$args; }
      location ~ .php$ { try_files $uri =404; ${ANY_PATH} }`);
    expect([routeOf(site, "/a"), routeOf(site, "/a.php")]).toEqual([HOUR, PASS]);
  });

  test.each(["/cache/$cookie_member$uri", "/cache/$http_x_app$uri", "$cached"])(
    "that not all visitors have keep a location from storing: %s",
    (files) => {
      const site = imported(`location / { try_files ${files} $uri @app; } location @app { ${CACHED} }`);
      expect(routeOf(site, "/a")).toEqual(PASS);
    },
  );

  test.each([
    ["/files/a/", "~* /(?:uploads|files)/.*\\.php$ { deny all; }", "/a/"],
    ["/a/", "= /a/index.php { deny all; }", "/a/b/"],
    ["/a/b/", "~ index { deny all; }", "/a"],
    ["/a/", "~ /a/i { deny all; }", "/b/"],
    ["/a/", "~ ^/a/+index\\.(html|php)$ { deny all; }", "/a"],
  ])("do not store the folder %s, whose index is in %s", (folder, location, stored) => {
    const site = imported(`index index.php; location / { try_files $uri $uri/ @app; } location @app { ${CACHED} }
      location ${location}`);
    expect([routeOf(site, folder), routeOf(site, stored)]).toEqual([PASS, HOUR]);
    const told = site.differences.find(({ why }) => why.startsWith("nginx answers a folder with an index through"));
    expect(told?.source?.text).toBe("try_files $uri $uri/ @app");
  });

  test.each([
    ["~ \\.php$", "~ /purge(/.*)", HOUR],
    ["~ [^/]\\.php(/|$)", "~ /purge(/.*)", HOUR],
    ["~ ^/a/.*\\.php$", "~ /purge(/.*)", PASS],
    ["~ (?<=/a/index)\\.php$", "~ /purge(/.*)", PASS],
    ["~ \\bphp$", "~ /purge(/.*)", PASS],
    ["~ /b/index\\.php$", "~ /purge(/.*)", PASS],
    ["~ \\.php$", "= /hello/index.php", PASS],
  ])("beside %s, which has every index, ask %s nothing behind it", (first, second, rules) => {
    const site = imported(`index index.php; location / { try_files $uri $uri/ @app; } location @app { ${CACHED} }
      location ${first} { ${ANY_PATH} } location ${second} { allow 127.0.0.1; deny all; return 200; }`);
    expect(routeOf(site, "/hello/")).toEqual(rules);
  });

  test.each(["(a)\\1", "/a++/"])("before %s, which only nginx can find, store nothing", (text) => {
    const site = imported(`index index.php; location ~ ${text} { try_files $uri $uri/ /index.php?$args; }
      location ~ \\.php$ { ${ANY_PATH} }`);
    expect(routeOf(site, "/aa/")).toEqual(PASS);
  });

  test("of a WordPress with a location for purges store its folders", () => {
    const site = imported(`root /srv/www; index index.php;
      location / { try_files $uri $uri/ /index.php?$args; } location ~ \\.php$ { ${ANY_PATH} }
      location ~ /purge(/.*) { allow 127.0.0.1; deny all; return 200; }`);
    expect(["/", "/hello/", "/a/purge/b/"].map((path) => routeOf(site, path))).toEqual([HOUR, HOUR, PASS]);
  });

  test.each([
    "~* \\.(?:css|js|jpe?g)$",
    "~ /\\.",
    "~ /\\.(?!well-known).*",
    "~* (?:#.*#|\\.(?:bak|conf|in[ci]|sw[op])|~)$",
    "= /index.html",
    "^~ /wp-admin/",
  ])("do not keep folders from being stored whose index is not in %s", (head) => {
    const site = imported(`index index.php; location / { try_files $uri $uri/ @app; } location @app { ${CACHED} }
      location ${head} { deny all; }`);
    expect(routeOf(site, "/a/")).toEqual(HOUR);
  });

  test("that all visitors have are told, and the rest is stored", () => {
    const site = imported(`location / { try_files $uri $uri.html @app; } location @app { ${CACHED} }`);
    expect(routeOf(site, "/a")).toEqual(HOUR);
    const told = site.differences.find(({ source }) => source?.text.startsWith("try_files"));
    expect(told?.why).toContain("are stored by this location's rules");
  });
});

describe("caching is not lost", () => {
  test.each([
    "match ok { status 200; }",
    "keyval_zone zone=k:1m; keyval $arg_k $kept zone=k;",
    "session_log_zone /tmp/s zone=s:1m; session_log s;",
    "grpc_read_timeout 1d; grpc_set_header X-A a;",
    "memcached_read_timeout 5s;",
    "image_filter_buffer 2M;",
    "otel_exporter { endpoint 10.0.0.9:4317; } otel_trace on;",
    "opentracing on;",
    "acme_issuer ca { uri https://ca.example/dir; } acme_shared_zone zone=ca:1M;",
    "js_fetch_timeout 5s; js_shared_dict_zone zone=d:1m;",
    "open_log_file_cache max=10; read_ahead 512k;",
    "early_hints $http2;",
    "proxy_pass_trailers on;",
    "fancyindex_header /header.html;",
    "userid off; dav_methods off; proxy_store off; pagespeed off;",
  ])("by %s, which changes no page", (line) => {
    const site = imported(`location / { ${CACHED} }`, line);
    expect(routeOf(site, "/")).toEqual(HOUR);
  });

  test.each([
    "if ($scheme = http) { return 301 https://$host$request_uri; }",
    'if ($scheme != "https") { return 308 https://www.example.com$request_uri; }',
    "if ($scheme = http) { rewrite ^ https://$host$request_uri? permanent; }",
    "if ($https = '') { rewrite ^/(.*)$ https://www.example.com/$1 permanent; }",
    "if ($server_port = 80) { return 301 https://$host:443$request_uri; }",
    "if ($host != www.example.com) { return 302 https://www.example.com$request_uri; }",
    // As Nginx Proxy Manager writes it.
    `set $test ""; if ($scheme = "http") { set $test "H"; } if ($request_uri = /test) { set $test "\${test}T"; }
     if ($http_x_forwarded_proto = "https") { set $test "\${test}S"; }
     if ($test = H) { return 301 https://$host$request_uri; }`,
  ])("by a redirect to the same page at another address, which is told: %s", (line) => {
    const site = imported(`server_name example.com; ${line} location / { ${CACHED} }`);
    expect(routeOf(site, "/x")).toEqual(HOUR);
    const told = site.differences.filter(({ source }) => source?.text.startsWith("if ("));
    expect(told).toMatchObject([{ kind: "dropped", aspects: ["answer", "stored"], affects: { routes: null } }]);
    expect(told[0]!.why).toContain("The edge serves the page at this address, too");
  });

  test.each([
    "if ($scheme = http) { return 301 https://$host/login; }",
    "if ($scheme = http) { return 301 $request_uri; }",
    "if ($scheme = http) { return 403; }",
    "if ($scheme = http) { return 200 https://$host$request_uri; }",
    "if ($scheme = http) { set $args a=1; return 301 https://$host$request_uri; }",
    "if ($ssl_client_verify != SUCCESS) { return 301 https://$host$request_uri; }",
    "if ($scheme = http) { set $to H; } if ($to = H) { return 301 https://$host$request_uri; }",
    "set $to H; if ($scheme = http) { set $to H; } if ($to = H) { return 301 https://$host$request_uri; }",
    'set $to ""; if ($cookie_a) { set $to H; } if ($to = H) { return 301 https://$host$request_uri; }',
    'set $to ""; set $to H; if ($to = H) { return 301 https://$host$request_uri; }',
    'set $to ""; set $to $arg_to; if ($to = H) { return 301 https://$host$request_uri; }',
    `set $to ""; set $to "\${arg_to}H"; if ($to = H) { return 301 https://$host$request_uri; }`,
    'set $to ""; if ($scheme = http) { set $to H; } if ($to != H) { return 301 https://$host$request_uri; }',
    "if ($http_host_of = a) { rewrite ^ https://$host$request_uri? permanent; }",
    "if ($scheme = http) { rewrite ^ https://$host$request_uri? last; }",
    "if ($scheme = http) { rewrite ^/(.*)$ /$1 permanent; }",
    "if ($scheme = http) { rewrite ^/old/(.*)$ https://$host/$1 permanent; }",
  ])("but another answer of nginx's keeps its requests from the cache: %s", (line) => {
    const site = imported(`${line} location / { ${CACHED} }`);
    expect(routeOf(site, "/x")).not.toEqual(HOUR);
  });

  test("by probes of the origin", () => {
    const site = imported(`location / { ${CACHED} health_check match=ok; }`);
    expect(routeOf(site, "/")).toEqual(HOUR);
    expect(site.differences.find(({ source }) => source?.text === "health_check match=ok")?.why).toMatch(
      /no requests of its own/,
    );
  });

  test.each([
    "grpc_pass grpc://10.0.0.2:50051;",
    "memcached_pass 10.0.0.2:11211;",
    "image_filter resize 10 10;",
    "keyval_x a;",
    "userid on;",
    "proxy_store on;",
  ])("but nothing is stored in a location with %s", (line) => {
    const site = imported(`location / { ${CACHED} } location /a/ { proxy_cache c; proxy_cache_valid 200 1h; ${line} }`);
    expect([routeOf(site, "/a/x"), routeOf(site, "/x")]).toEqual([PASS, HOUR]);
  });

  test.each(["$request_uri", "$uri$is_args$args"])("a target with %s is that of the visitor", (uri) => {
    const site = imported(`location / { proxy_pass ${ORIGIN}${uri}; proxy_cache c; proxy_cache_valid 200 1h; }`);
    expect(routeOf(site, "/")).toEqual(HOUR);
  });

  test("a target in a variable that one line sets is a target", () => {
    const site = imported(
      `set $app 10.0.0.1; location / { ${CACHED.replace("10.0.0.1", "$app")} } location /x { ${CACHED} }`,
    );
    expect(routeOf(site, "/")).toEqual(HOUR);
  });

  test.each(["http://$arg_to", "http://$host", `${ORIGIN}/app$uri`, `${ORIGIN}$uri`])(
    "the target %s stores nothing",
    (target) => {
      const site = imported(`location /a { proxy_pass ${target}; proxy_cache c; } location / { ${CACHED} }`);
      expect(routeOf(site, "/a")).toEqual(PASS);
    },
  );

  test.each(["\\.php$", "[^/]\\.php(/|$)", "^(.+\\.php)(.*)$", "^/index\\.php(?:$|/)"])(
    "%s is the front controller",
    (regex) => {
      const site = imported(
        `location / { try_files $uri $uri/ /index.php$is_args$args; } location ~ ${regex} { ${ANY_PATH} }`,
      );
      expect(routeOf(site, "/news")).toEqual(HOUR);
    },
  );

  test("a rewrite of every path leads to the front controller, too", () => {
    const site = imported(`location / { try_files $uri @app; } location @app { rewrite ^/(.*)$ /index.php last; }
      location ~ \\.php$ { ${ANY_PATH} }`);
    expect(routeOf(site, "/news")).toEqual(HOUR);
  });

  test("the origin is what most locations have", () => {
    const site = imported(`location /a/ { proxy_pass http://10.0.0.2; proxy_cache c; } location ~ ^/news/ { ${CACHED} }
      location /b/ { proxy_pass ${ORIGIN}; }`);
    expect([routeOf(site, "/a/x"), routeOf(site, "/news/x")]).toEqual([PASS, HOUR]);
  });

  test("the summary says how many locations store, and why others do not", () => {
    const site = imported(
      `location / { ${CACHED} } location /a { ${CACHED} unheard_of on; } location /b { proxy_pass ${ORIGIN}; }`,
    );
    expect(importSummary(site)).toBe("3 locations: 1 store, 2 pass, because of: no cache in 1, unheard_of on");
  });
});

describe("an expression for every path of its location", () => {
  test.each([
    ["/img/", "rewrite ^/img/(.*)$ /$1 break;"],
    ["/img/", "rewrite ^/img/.* /x break;"],
    ["/img/", "rewrite ^/img/ /x break;"],
    ["/img/", "rewrite /img/(.*) /$1 break;"],
    ["/img/", "rewrite ^/i(.*)$ /$1 break;"],
    ["/img/", "if ($uri ~ ^/img/) { return 403; }"],
    ["/img.d/", "rewrite ^/img\\.d/(.*)$ /$1 break;"],
    ["~ ^/img/", "rewrite ^/img/(.*)$ /$1 break;"],
    ["~ ^/img/(.*)$", "rewrite ^/img/(.*)$ /$1 break;"],
    ["= /img/a", "rewrite ^/img/(.*)$ /$1 break;"],
  ])("counts as one that stores nothing: location %s { %s }", (location, line) => {
    const site = imported(`location ${location} { ${line} ${CACHED} } location / { ${CACHED} }`);
    expect(site.locations.map(({ stores }) => stores)).toEqual([false, true]);
    expect(because(site)).toEqual([expect.stringContaining(line.slice(0, 7))]);
    expect(site.differences.map(({ why }) => why).join()).toContain("Nothing is stored here");
  });

  test.each([
    ["/img", "rewrite ^/img/(.*)$ /$1 break;", "/imgs"],
    ["/img/", "rewrite ^/img/(.+)$ /$1 break;", "/img/"],
    ["/img/", "rewrite ^/img/$ /x break;", "/img/a"],
    ["/img/", "rewrite ^/img/a/(.*)$ /x break;", "/img/b"],
    ["/img/", "rewrite a/img/(.*) /x break;", "/img/b"],
    ["~ ^/img/", "rewrite ^/img/a/(.*)$ /x break;", "/img/b"],
  ])("but not one for some of them: location %s { %s } stores %s", (location, line, path) => {
    const site = imported(`location ${location} { ${line} ${CACHED} } location / { ${CACHED} }`);
    expect(site.locations.map(({ stores }) => stores)).toEqual([true, true]);
    expect(routeOf(site, path)).toEqual(HOUR);
  });
});

describe("spellings of a path", () => {
  test.each(["//account/a", "/x//account/a", "/x%2Faccount/a", "/a%20b"])(
    "that nginx reads differently are not stored: %s",
    (path) => {
      const site = imported(`location / { ${CACHED} } location /account/ { proxy_pass ${ORIGIN}; }`);
      expect(routeOf(site, path)).toEqual(PASS);
      expect(routeOf(site, "/caf%C3%A9")).toEqual(HOUR);
    },
  );

  test.each([
    ["\\bx", PASS],
    ["^/[!-~]+$", PASS],
    ["(?<=A9)/", PASS],
    ["^/é+$", PASS],
    ["/xmlrpc.php", HOUR],
    ["^/.$", HOUR],
    ["^/[^/]{3}/", HOUR],
    ["^/[^0-9]+x$", HOUR],
    ["A9$", HOUR],
    ["\\.(jpg|png)$", HOUR],
    ["^/blog/.*/edit$", HOUR],
    ["[^/]\\.php(/|$)", HOUR],
  ])("an expression that could count bytes keeps escapes out: %s", (regex, expected) => {
    const site = imported(
      `location / { ${CACHED} } location ~ ${regex.includes("{") ? `"${regex}"` : regex} { proxy_pass ${ORIGIN}; }`,
    );
    expect(routeOf(site, "/caf%C3%A9")).toEqual(expected);
    const told = site.differences.flatMap(({ why, source }) => (why.includes("bytes") ? [source!.text] : []));
    expect(told).toEqual(expected === PASS ? [`location ~ ${regex}`] : []);
  });

  test.each([
    ["^/.$", "/%C3", "/a%C3"],
    ["^/.{5}$", "/caf%C3%A9", "/%C3%A9"],
    ["/xmlrpc.php", "/xmlrpc%C3php", "/xmlrpc%C3%A9php"],
    ["^/[^0-9/]+x$", "/%C3%A9x", "/%C3%A95x"],
    ["A9$", "/xA9", "/%A9"],
    ["^/.*A9$", "/%A9A9", "/%A9"],
  ])("the expression %s counts the bytes of %s as nginx does, and of %s", (regex, found, other) => {
    const site = imported(`location / { ${CACHED} } location ~ "${regex}" { proxy_pass ${ORIGIN}; }`);
    expect([routeOf(site, found), routeOf(site, other)]).toEqual([PASS, HOUR]);
  });

  test("an expression over the path as sent has the characters of escapes", () => {
    const site = imported(`location / { ${CACHED} if ($request_uri ~ "^/.{6}$|C4") { return 403; } }`);
    expect(routeOf(site, "/%C3%A9")).toEqual(PASS);
    expect(routeOf(site, "/%C4%A9/")).toEqual(PASS);
    expect(routeOf(site, "/%C3%A9/")).toEqual(expect.objectContaining(HOUR));
  });

  test.each(["/{abc", "/%7Babc", "/%5Eabc", "/%60abc"])(
    "nor does one store %s, which has an escape in patterns",
    (path) => {
      const site = imported(`location / { ${CACHED} } location ~ "^/.{4}$" { proxy_pass ${ORIGIN}; }`);
      expect(routeOf(site, path)).toEqual(PASS);
    },
  );

  test.each(["/a+b/x", "/a%2Bb/x", "/%40b/x", "/@b/x", "/%5Bb/x"])("%s is in its location, as in nginx", (path) => {
    const site = imported(`location / { proxy_pass ${ORIGIN}; }
      location /a+b/ { ${CACHED} } location ~ ^/@b/ { ${CACHED} } location ~ ^/\\[b/ { ${CACHED} }`);
    expect(routeOf(site, path)).toEqual(HOUR);
  });

  test("a location may have any character in its name", () => {
    const site = imported(
      `location "/a\`{b}^|%[c]/" { ${CACHED} } location /b\` { ${CACHED} } location ~ x\`$ { ${CACHED} }`,
    );
    expect(routeOf(site, "/b%60")).toEqual(HOUR);
  });

  test.each([
    ["^/%40team/", "/%40team/x", PASS],
    ["^/%40team/", "/@team/x", PASS],
    ["^/%40team/", "/steam/x", HOUR],
    ["^/a%24b%c3", "/a$b%C3%A9", PASS],
    ["^/%7ball", "/%7Ball", PASS],
    ["^/a%2ex", "/a.x", PASS],
    ["^/a%2ex", "/abx", HOUR],
    ["^/(?!%40team)", "/@team/x", PASS],
  ])(
    "an escape in an expression over the path as sent is found however routes see it: %s in %s",
    (regex, path, rules) => {
      const site = imported(`location / { ${CACHED} if ($request_uri ~ "${regex}") { return 403; } }`);
      expect(routeOf(site, path)).toEqual(rules === HOUR ? expect.objectContaining(HOUR) : rules);
    },
  );
});

test.each(importCases)("the case of the mutants: $name", (each) => {
  expect(routesOf({ importNginx }, each)).toEqual(each.routes);
});
