import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { configText } from "../../../tools/import/config-text.ts";
import { importFile } from "../../../tools/import/import-file.ts";
import { differenceLines, importSummary } from "../../../tools/import/import-report.ts";
import { type ImportedSite, siteOf } from "../../../tools/import/imported-site.ts";
import { seesEscapes } from "../../../tools/import/nginx/paths/escapes.ts";
import { bothPatterns, type Patterns, regexPatterns } from "../../../tools/import/nginx/paths/path-patterns.ts";
import { portableRegex } from "../../../tools/import/nginx/paths/portable-regex.ts";
import { tokenize } from "../../../tools/import/nginx/paths/tokens.ts";
import { findRoute } from "../../../worker/rules/key/route.ts";
import { compileSite } from "../../../worker/site/site.ts";
import { evaluateSite } from "../../docs/site-blocks.ts";
import { chances } from "../../engine/chances.ts";
import { run } from "../../packed/installed-package.ts";
import { windowsPathsIn } from "../../suite/on-windows.ts";
import { seed } from "../../suite/seed.ts";
import { FOLDER } from "./comparison.ts";
import { CONFIGURATIONS } from "./configurations.ts";

const IMPORT_FILE = new URL("../../../tools/import/import-file.ts", import.meta.url).href;
const NO_FLAGS = { origin: null, host: null, server: null, root: null };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-import-"));
});

afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true });
});

function put(file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** The site of a server with these locations. */
const imported = (text: string, file = "nginx.conf", flags = {}): Promise<ImportedSite> =>
  importFile(put(file, text), { ...NO_FLAGS, ...flags });

const server = (body: string) => `http {\nserver {\nserver_name www.example.com;\n${body}\n}\n}\n`;
const CACHED = "proxy_pass http://10.0.0.1; proxy_cache c;";
const PASSED = "proxy_pass http://10.0.0.1;";

describe("what is written", () => {
  test.each(CONFIGURATIONS)(
    "from $name is a config that the site's parser accepts, with each line that it came from",
    async ({ name, server = null }) => {
      const site = await importFile(join(FOLDER, name, "nginx.conf"), { ...NO_FLAGS, server });
      const text = configText(site);
      expect(await evaluateSite(text)).toEqual(siteOf(site));
      expect(compileSite(siteOf(site), {}).namesHosts).toBe(true);
      const places = [...text.matchAll(/^ +\/\/ (\S+):(\d+): (\S+)/gm)];
      expect(places.length).toBeGreaterThan(4);
      for (const [, from, line, word] of places) {
        const lines = readFileSync(join(FOLDER, name, from!), "utf8").split("\n");
        expect(lines[Number(line) - 1]).toContain(word!.replace(/["'].*$/, ""));
      }
    },
  );

  test.each(CONFIGURATIONS)(
    "from $name is the same on a Node without URLPattern, as Node 22 is",
    async ({ name, server = null }) => {
      const read = () => importFile(join(FOLDER, name, "nginx.conf"), { ...NO_FLAGS, server });
      const site = await read();
      vi.stubGlobal("URLPattern", undefined);
      expect(await read()).toEqual(site);
    },
  );

  test("runs no code from the file", async () => {
    const evil = 'proxy_set_header X-Evil "a\\n*/ globalThis.wasRun = true; /*";';
    const text = configText(await imported(server(`location / { ${CACHED} ${evil} }`)));
    await evaluateSite(text);
    expect(globalThis).not.toHaveProperty("wasRun");
    expect(text).toContain("wasRun");
  });
});

describe("an expression of a location", () => {
  const PATHS = [
    "/",
    "/a",
    "/a/b.jpg",
    "/b.JPG",
    "/blog/12",
    "/blog/12/edit",
    "/blog/x",
    "/wp-login.php",
    "/x/wp-admin/y",
    "/ab",
    "/b/a",
    "/caf%C3%A9",
    "/a-b_c",
    "/api/v1.0/",
    "/de/account",
    "/a/last",
    "/,",
  ];

  const PIECES = [
    ".",
    ".",
    "[^/]",
    "[^A-C]",
    "[^%3]",
    "\\D",
    "\\W",
    "\\d",
    "[A-C]",
    "[0-9.]",
    "A",
    "3",
    "9",
    "a",
    "/",
    "\\.",
  ];

  test.each([
    "\\.(jpg|png)$",
    "^/blog/\\d+$",
    "^/blog/\\d{1,2}",
    "^/(?:de|fr)/account",
    "/wp-admin/|/wp-.*\\.php",
    "(^/a|last$)",
    "^/a(?:/|$)",
    "[^/]+/b",
    "b",
    "/a",
    "^/[a-c_-]+$",
    "^/[+--]$",
    "^/[\\+-\\.]$",
    "^/[,-B]$",
    "^/api/v1\\.0/$",
    "a.*b",
    "^",
    "^/a/?$",
    "(?<name>b)\\.jpg",
    "^/.*/.*",
    "x?",
  ])("%s matches the same paths as a route", (regex) => {
    for (const ignoreCase of [false, true]) {
      for (const prefix of [null, "/a", "/blog/"]) {
        const found = regexPatterns(regex, { ignoreCase, prefix });
        if (found.kind !== "patterns") throw new Error(`unsupported: ${found.construct}`);
        const patterns = found.patterns.map((pathname) => new URLPattern({ pathname }));
        const plain = new RegExp(regex, ignoreCase ? "i" : "");
        const wanted = PATHS.filter((path) => plain.test(path) && path.startsWith(prefix ?? ""));
        const matched = PATHS.filter((path) => patterns.some((pattern) => pattern.test({ pathname: path })));
        expect({ ignoreCase, prefix, matched }).toEqual({ ignoreCase, prefix, matched: wanted });
      }
    }
  });

  test("has a match where nginx finds one in the bytes of a path, which the route sees as escapes", () => {
    const chance = chances(seed);
    const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
    const some = (most: number, write: () => string) =>
      Array.from({ length: 1 + Math.floor(chance() * most) }, write).join("");
    const quantifier = () => oneOf(["", "", "", "", "*", "+", "?", "*?", "+?", "{2}", "{0,2}", "{1,}"]);
    const expression = (depth: number): string =>
      some(4, () => {
        if (depth === 0 || chance() < 0.8) return oneOf(PIECES) + quantifier();
        const inner = expression(depth - 1);
        return oneOf([
          `(${inner})${quantifier()}`,
          `(?:${inner}|${expression(depth - 1)})${quantifier()}`,
          `(?!${inner})`,
        ]);
      });
    let compared = 0;
    for (let count = 0; count < 400; count++) {
      const regex = oneOf(["", "", "^/", ".*"]) + expression(2) + oneOf(["", "", "$", "|A"]);
      const ignoreCase = chance() < 0.3;
      const prefix = oneOf([null, null, "/a", "/a/"]);
      const tokens = tokenize(regex, ignoreCase);
      if (typeof tokens === "string" || seesEscapes(tokens)) continue;
      const found = regexPatterns(regex, { ignoreCase, prefix });
      if (found.kind !== "patterns") continue; // It would take exponential time.
      const patterns = found.patterns.map((pathname) => new URLPattern({ pathname }));
      const plain = new RegExp(regex, ignoreCase ? "i" : "");
      for (let at = 0; at < 20; at++) {
        const path = `/${some(6, () => oneOf(["/", "a", "b", ".", "A", "C", "3", "9", "%C3", "%A9", "%B3", "%9C", "%AA"]))}`;
        if (/\/\.{1,2}(?:\/|$)/.test(path)) continue; // A URL has no such segments.
        const bytes = path.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
        const wanted = plain.test(bytes) && bytes.startsWith(prefix ?? "");
        const isMatched = patterns.some((pattern) => pattern.test({ pathname: path }));
        expect({ regex, ignoreCase, prefix, path, isMatched }).toEqual({
          regex,
          ignoreCase,
          prefix,
          path,
          isMatched: wanted,
        });
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(4_000);
  });

  test("matches decoded characters in the form that URLs have", () => {
    const found = regexPatterns("^/café\\.html$", { ignoreCase: false, prefix: null });
    expect(found).toEqual({ kind: "patterns", patterns: ["/caf%C3%A9.html"] });
  });

  test("may have a backslash before any character", () => {
    const found = regexPatterns("^/\\😀$", { ignoreCase: false, prefix: null });
    expect(found).toEqual({ kind: "patterns", patterns: ["/%F0%9F%98%80"] });
  });

  test.each([
    ...["(a)\\1", "b(?i)a", "(?i:a)", "a++", "(?>a)", "\\p{L}", "\\h", "\\K", "a{,3}", "a{2, 3}", "a{ 2 }"],
    ...["[[:space:]]", "[[:^alpha:]]", "[^\\x00-\\x7F]", "[\\h]", "[\\n]", "[\\p{L}]", "[\\Qa-z\\E]"],
  ])("%s cannot be expressed by a pattern, and is not searched for in other texts", (regex) => {
    expect(regexPatterns(regex, { ignoreCase: false, prefix: null }).kind).toBe("unsupported");
    expect(portableRegex(regex, { ignoreCase: false })).toBe(null);
  });

  test("in a field's class may begin with ], which is another class in JavaScript", () => {
    for (const regex of ["[^]a]", "[]a]"]) expect(portableRegex(regex, { ignoreCase: false })).toBe(null);
  });
});

describe("an expression that no pattern can say", () => {
  const SECOND = `location /blog/ { ${CACHED} } location / { ${CACHED} } location = /a { ${CACHED} }`;

  test.each([
    ["location ~ (?>jpg|png)$", "deny all;", "no cache in 1, location ~", "A route's pattern cannot express (?>"],
    ["location ~ (a+)+$", CACHED, "location ~", "This expression may take exponential time"],
  ])("is named where it keeps locations behind it from storing: %s { %s }", async (head, body, because, why) => {
    const site = await imported(server(`${head} { ${body} } ${SECOND}`));
    expect(site.locations.filter(({ stores }) => stores).map(({ source }) => source.text)).toEqual(["location = /a"]);
    expect(importSummary(site)).toContain(`4 locations: 1 store, 3 pass, because of: ${because}`);
    const list = differenceLines(site.differences, 1000).filter((line) => line.includes(head));
    expect(list.filter((line) => line.includes(`: ${why}`))).toHaveLength(1);
    for (const each of ["location /blog/", "location /"])
      expect(list.filter((line) => line.includes(`${each}: Nothing is stored here`))).toHaveLength(1);
  });

  test("covers those that begin as it does alone", async () => {
    const site = await imported(
      server(`location ~ ^/blog/(?>a|b) { deny all; } ${SECOND} location ^~ /blog/c { ${CACHED} }`),
    );
    expect(
      site.locations.flatMap(({ source, isCached, stores }) => (isCached && !stores ? [source.text] : [])),
    ).toEqual(["location /blog/"]);
  });
});

test.each(["location ~ (?i)\\.(jpg|png)$", 'location ~ "(?i)^/IMG/"', "location ~* (?i)/img/"])(
  "%s is one of both letter cases",
  async (head) => {
    const site = await imported(
      server(`${head} { proxy_pass http://10.0.0.1; } location / { ${CACHED} proxy_cache_valid 200 1h; }`),
    );
    const passing = site.routes
      .filter(({ value }) => value.pass)
      .map(({ value }) => new URLPattern({ pathname: value.match }));
    const passes = (pathname: string) => passing.some((each) => each.test({ pathname }));
    expect([passes("/img/a.JPG"), passes("/blog/a")]).toEqual([true, false]);
    expect(site.locations.map(({ stores }) => stores)).toEqual([false, true]);
  },
);

describe("in doubt nothing is stored", () => {
  const passes = ({ routes }: ImportedSite) => routes.every(({ value }) => value.pass === true);

  test.each([
    ["an expression that no pattern can say", server(`location ~ (a)\\1 { ${CACHED} }`)],
    [
      "such an expression, of which one alternative begins elsewhere",
      server(`location ~ ^/blog/(a++)|^/private/ { deny all; } location / { ${CACHED} }`),
    ],
    ["a key by something that is not the edge's", server(`location / { ${CACHED} proxy_cache_key $uri$remote_addr; }`)],
    ["a condition that the import cannot read", server(`location / { ${CACHED} proxy_no_cache $lua_says; }`)],
  ])("nginx: %s", async (_, text) => expect(passes(await imported(text))).toBe(true));

  test.each(["(*UTF8)^/x", "(", "/[a-Z]", "^/[a--b]", "^/[é]", "^/x)", "^*"])(
    "the expression %s, which JavaScript does not know",
    async (regex) => {
      for (const locations of [
        `location ~ ${regex} { ${CACHED} }`,
        `location ~* ${regex} { ${CACHED} }`,
        `location /q/ { rewrite ${regex} /z break; ${CACHED} }`,
        `location ~ ^/q { rewrite ${regex} /z break; ${CACHED} }`,
        `location /q/ { if ($uri ~ ${regex}) { return 403; } ${CACHED} }`,
      ]) {
        expect(passes(await imported(server(locations)))).toBe(true);
      }
    },
  );
});

describe("a location without a slash at the beginning", () => {
  test.each(["robots.txt", "foo/", "^~ foo", "= foo", "$x"])("%s is told, because it never matches", async (text) => {
    const site = await imported(server(`location ${text} { ${CACHED} } location / { ${CACHED} }`));
    expect(site.routes.map(({ value }) => value.match)).toEqual(["/*"]);
    const told = site.differences.find(({ source }) => source?.text === `location ${text}`);
    expect(told).toMatchObject({ kind: "dropped", why: expect.stringContaining("never matches"), aspects: [] });
  });

  test("matches if it is an expression, also without a space before it", async () => {
    const site = await imported(server(`location ~private { deny all; } location / { ${CACHED} }`));
    expect(site.routes.map(({ value }) => value)).toContainEqual({ match: "/*private*", pass: true });
  });
});

describe("an expression that begins with anything", () => {
  const LONG = "a".repeat(4_000);

  test.each([
    ["over cookies", (regex: string) => portableRegex(regex, { ignoreCase: false })!, LONG],
    [
      "within a prefix",
      (regex: string) => lookedFor(regexPatterns(regex, { ignoreCase: false, prefix: "/a" })),
      `/${LONG}`,
    ],
    [
      "over a path",
      (regex: string) => {
        const plain = { regex: "a", ignoreCase: false };
        return lookedFor(bothPatterns([{ regex, ignoreCase: false }, plain], null));
      },
      `/${LONG}`,
    ],
  ])("%s takes no longer than without that, and matches the same", (_, regexOf, text) => {
    for (const regex of [".*a.*b", ".*?.*a.*b"]) {
      const found = regexOf(regex);
      expect(found.test(`${text.slice(0, 9)}b`)).toBe(true);
      const before = process.threadCpuUsage();
      expect(found.test(text)).toBe(false);
      const { user } = process.threadCpuUsage(before);
      expect(user).toBeLessThan(1_500_000); // and would take eight seconds
    }
    expect(portableRegex(".*", { ignoreCase: false })).toEqual(/.*/);
    expect(portableRegex(".*|a", { ignoreCase: false })!.test("b")).toBe(true);
  });

  function lookedFor(patterns: Patterns): Pick<RegExp, "test"> {
    if (patterns.kind !== "patterns") throw new Error("not expressed");
    const all = patterns.patterns.map((pathname) => new URLPattern({ pathname }));
    return { test: (pathname) => all.some((each) => each.test({ pathname })) };
  }
});

describe("an expression with nested quantifiers", () => {
  const LOOP = "^/([\\w-]+/?)+$";
  const why = ({ differences }: ImportedSite) => differences.map((each) => each.why).join("\n");

  test("makes a route that passes, and says what to do", async () => {
    const site = await imported(server(`location ~ ${LOOP} { ${CACHED} }`));
    expect(site.routes.map(({ value }) => value)).toEqual([{ match: "/*", pass: true }]);
    expect(why(site)).toMatch(/may take exponential time.*hang a worker \(write it without nested quantifiers\)/);
  });

  test("within a location, and over cookies, too", async () => {
    const skip = (variable: string) =>
      imported(
        server(`if (${variable} ~ ${LOOP}) { set $skip 1; }
      location ~ b$ { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`),
      );
    for (const site of [await skip("$uri"), await skip("$http_cookie"), await skip("$http_x_app")]) {
      expect(site.routes.every(({ value }) => value.pass)).toBe(true);
      expect(why(site)).toMatch(/may take exponential time.*write it without nested quantifiers/);
    }
  });
});

describe("a file that cannot be imported is refused with its place", () => {
  test.each([
    [
      "a missing semicolon",
      server(`location / { ${CACHED}\nproxy_cache_valid 200 1h }`),
      /^nginx\.conf:5: .*"proxy_cache_valid"/,
    ],
    [
      "a block that is not closed",
      `http {\nserver {\nlocation / { ${CACHED} }\n`,
      /^nginx\.conf:2: the block of "server" is not closed/,
    ],
    [
      "a key of a map in another encoding than UTF-8, but not a comment",
      `# caf\uFFFD\nmap $uri $skip {\n/caf\uFFFD 1; }`,
      /^nginx\.conf:3: "\/caf\uFFFD" is not UTF-8/,
    ],
    ["a brace too many", `${server(`location / { ${CACHED} }`)}\n}\n`, /^nginx\.conf:\d+: there is an extra "}"/],
    [
      "an include that is not there",
      server("include missing.conf;"),
      /^nginx\.conf:4: there is no file .*missing\.conf/,
    ],
    ["a VCL", 'vcl 4.1;\nbackend b { .host = "10.0.0.1"; }', /is VCL, which is a program.*From VCL to a route/],
    [
      "a VCL without its version",
      '# Varnish\nbackend web-1 { .host = "10.0.0.1"; }',
      /is VCL, which is a program.*From VCL to a route/,
    ],
    [
      "a Caddyfile",
      "www.example.com {\n\treverse_proxy localhost:8080\n}\n",
      /is for Caddy, and the import reads only files of nginx.*tidemark report/,
    ],
    [
      "a Caddyfile with a block on one line",
      "www.example.com\nhandle /api/* { reverse_proxy localhost:8080 }\n",
      /is for Caddy/,
    ],
    ["a Caddyfile for PHP", "www.example.com\nroot * /srv\nphp_fastcgi unix//run/php.sock\n", /is for Caddy/],
    [
      "a file of HAProxy",
      "global\n  maxconn 100\nfrontend www\n  bind *:80\n  default_backend app\nbackend app\n  server a 10.0.0.1:80\n",
      /is for HAProxy/,
    ],
    [
      "a file of HAProxy without frontends",
      "listen stats # page\n  bind *:9000\nlisten app.1\n  server a 10.0.0.1:80\n",
      /is for HAProxy/,
    ],
    [
      "a file of Apache",
      "<VirtualHost *:80>\n  ServerName www.example.com\n  ProxyPass / http://10.0.0.1/\n</VirtualHost>\n",
      /is for Apache/,
    ],
    [
      "a file of Apache with patterns",
      "<LocationMatch ^/a>\n  Require all granted\n</LocationMatch>\n",
      /is for Apache/,
    ],
    ["a file of Apache with a pattern", "ProxyPassMatch ^/(.*)$ http://10.0.0.1/$1\n", /is for Apache/],
    ["a file of Apache with the way back alone", "\tProxyPassReverse / http://10.0.0.1/\n", /is for Apache/],
    ["a VCL that others include", "sub vcl_recv {\n}\n", /is VCL, which is a program.*From VCL to a route/],
    ["files to try that are missing", server(`location / { ${CACHED} try_files; }`), /^nginx\.conf:4: try_files/],
    ["a field without a name", server(`location / { ${CACHED} proxy_set_header ; }`), /^nginx\.conf:4: .*originFields/],
    [
      "a status that is none",
      server(`location / { ${CACHED} proxy_cache_valid $ 1h; }`),
      /^nginx\.conf:4: .*defaultTtl/,
    ],
    [
      "an invalid time",
      server(`location / { ${CACHED} proxy_cache_valid 200 soon; }`),
      /^nginx\.conf:4: "soon" is not a time/,
    ],
    [
      "a time of browsers that is none",
      server(`location / { ${CACHED} expires 1.5h; }`),
      /^nginx\.conf:4: "1\.5h" is not a time/,
    ],
    [
      "a time to wait that is none",
      server(`location / { ${CACHED} proxy_read_timeout soon; }`),
      /^nginx\.conf:4: "soon" is not a time/,
    ],
    [
      "blocks in blocks without end",
      `http {\nserver {\n${"location / {\n".repeat(3000)}${"}\n".repeat(3000)}}\n}`,
      /^nginx\.conf:\d+: blocks are more than 100 levels deep in each other/,
    ],
    ["no cache", server("location / { proxy_pass http://10.0.0.1; }"), /no location has a cache/],
    [
      "an origin made of variables",
      server("location / { proxy_pass http://$backend; proxy_cache c; }"),
      /^nginx\.conf:4: .*--origin/,
    ],
    [
      "an origin that is the site itself",
      server("location / { proxy_pass http://www.example.com; proxy_cache c; }"),
      /address of the site itself/,
    ],
    [
      "uwsgi",
      server("location / { uwsgi_pass unix:/run/app.sock; uwsgi_cache c; }"),
      /^nginx\.conf:4: .*speaks uwsgi.*--origin/,
    ],
  ])("%s", async (_, text, message) => {
    await expect(imported(text)).rejects.toThrow(message);
  });

  describe("but not because of the words of another server within a text", () => {
    const WORDS = "\nfile_server on\nfrontend www\nProxyPass /\nsub vcl_recv\n";

    test("of nginx", async () => {
      const site = await imported(`log_format main '${WORDS}';\n${server(`location / { ${CACHED} }`)}`);
      expect(site.origin.value).toBe("http://10.0.0.1");
    });

    test("of a file with another fault, which is told", async () => {
      const text = `log_format main '${WORDS}';\n${server("location / { proxy_pass http://10.0.0.1; }")}`;
      await expect(imported(text)).rejects.toThrow(/no location has a cache/);
    });
  });

  describe("an origin that the other paths do not have", () => {
    const SCRIPT =
      "location = /js/s.js { proxy_pass https://plausible.io/js/s.js; proxy_cache c; proxy_cache_valid 1h; }";
    const APP = "location / { proxy_pass http://app; }";
    const both = (app: string) =>
      `http {\nupstream app { server 127.0.0.1:3000; }\n${server(`${app}\n${SCRIPT}`).slice(7)}`;

    test.each([APP, "location / { try_files $uri @app; } location @app { fastcgi_pass unix:/run/php.sock; }"])(
      "%s",
      async (app) => {
        await expect(imported(both(app))).rejects.toThrow(
          /^nginx\.conf:6: proxy_pass https:\/\/plausible\.io\/js\/s\.js .*nginx\.conf:5: \w+_pass .*--origin/,
        );
      },
    );

    test("until it is named: then what goes elsewhere is told", async () => {
      const site = await imported(both(APP), "nginx.conf", { origin: "http://127.0.0.1:3000" });
      expect(siteOf(site).routes).toEqual([
        { match: "/js/s.js", pass: true },
        { match: "/*", pass: true },
      ]);
      const told = site.differences.filter(({ why }) => why.startsWith("A site has one origin"));
      expect(told.map(({ source }) => source!.place)).toEqual(["nginx.conf:6"]);
    });

    test("but not one of the first page alone", async () => {
      const site = await imported(
        server(`location = / { proxy_pass http://10.0.0.2; }\nlocation / { ${CACHED} proxy_cache_valid 200 1h; }`),
      );
      expect(site.origin.value).toBe("http://10.0.0.1");
    });
  });

  test("two servers with a cache, until one is named", async () => {
    const two = ["a.example.com", "b.example.com"].map(
      (name) => `server { server_name ${name}; location / { ${CACHED} } }`,
    );
    const text = `http {\n${two.join("\n")}\n}`;
    await expect(imported(text)).rejects.toThrow(/2 servers.*--server.*nginx\.conf:2 \(a\.example\.com\)/);
    expect(siteOf(await imported(text, "nginx.conf", { server: "b.example.com" })).hosts).toEqual(["b.example.com"]);
  });

  test("two servers of one name with a cache, until the place of one is given", async () => {
    const two = [80, 443].map(
      (port) => `server { listen ${port}; server_name example.com; location /at-${port} { ${CACHED} } }`,
    );
    const text = `http {\n${two.join("\n")}\nserver { server_name example.com; return 404; }\n}`;
    await expect(imported(text, "nginx.conf", { server: "example.com" })).rejects.toThrow(
      /2 servers.*--server.*nginx\.conf:2 \(example\.com\), nginx\.conf:3 \(example\.com\)$/,
    );
    const { routes } = siteOf(await imported(text, "nginx.conf", { server: "nginx.conf:3" }));
    expect(routes).toContainEqual(expect.objectContaining({ match: "/at-443*" }));
  });

  test("a file that includes itself", async () => {
    await expect(imported("include nginx.conf;")).rejects.toThrow(
      /nginx\.conf:1: files include each other more than 16 levels deep/,
    );
  });
});

describe("the largest body of a request is nginx's", () => {
  test.each([
    ["", "", "1MiB"],
    ["client_max_body_size 20m;", "", "20MiB"],
    ["client_max_body_size 2m;", "client_max_body_size 1g;", "1GiB"],
    ["client_max_body_size 2m;", "client_max_body_size 512k;", "2MiB"],
    ["", "client_max_body_size 5000000;", 5_000_000],
    ["client_max_body_size 2m;", "client_max_body_size 0;", "1024GiB"],
  ])("'%s' around '%s'", async (outer, inner, size) => {
    const text = server(`${outer} location / { ${CACHED} } location /upload { ${inner} ${CACHED} }`);
    const site = siteOf(await imported(text));
    expect(site.limits?.requestBodyBytes).toBe(size);
    compileSite(site, {});
  });
});

describe("a config with values that let the edge in at the origin", () => {
  const withFields = async (...lines: readonly string[]) => {
    const fields = lines.map((line) => `proxy_set_header ${line};`).join(" ");
    return configText(await imported(server(`${fields} location / { ${CACHED} }`)));
  };

  test("says at its top which, and that others must not read them", async () => {
    const text = await withFields("X-Api-Key abc", "Authorization 'Basic YTpi'", "X-Role guest");
    expect(text.split("export default")[0]).toContain(
      " * It contains secrets, the values of X-Api-Key, Authorization: protect it as nginx's file was.\n",
    );
  });

  test("says nothing of values that are no secrets, or empty", async () => {
    expect(await withFields("X-Role guest", 'X-Api-Key ""')).not.toContain("secrets");
  });
});

describe("the origin has as long as in nginx", () => {
  const LIVE = `location /live/ { ${CACHED} proxy_read_timeout 5s; }`;
  test.each([
    ["where no line says how long", `location / { ${CACHED} }`, "60s"],
    ["where one location of several has a line", `location / { ${CACHED} } ${LIVE}`, "60s"],
    ["where each has one", `location / { ${CACHED} proxy_read_timeout 1m30s; } ${LIVE}`, "90s"],
    [
      "where another location answers",
      `location / { try_files $uri @app; } location @app { ${CACHED} proxy_read_timeout 300s; }`,
      "300s",
    ],
    ["where the server has a line", `proxy_read_timeout 20s; location / { ${CACHED} } ${LIVE}`, "20s"],
  ])("%s", async (_, locations, wait) => {
    expect(siteOf(await imported(server(locations))).limits?.originTimeout).toBe(wait);
  });
});

describe("the wait for the origin, which is the same on all routes,", () => {
  const waitsOf = async (locations: string) => {
    const site = await imported(server(locations));
    const told = site.differences.filter(({ source }) => source?.text.includes("proxy_read_timeout"));
    return { wait: siteOf(site).limits?.originTimeout, told };
  };
  const SOCKET = "proxy_read_timeout 86400s; proxy_set_header Upgrade $http_upgrade;";

  test("is not that of a location for WebSockets, which waits for hours", async () => {
    const { wait, told } = await waitsOf(`location / { ${CACHED} } location /ws/ { ${CACHED} ${SOCKET} }`);
    expect({ wait, told }).toMatchObject({ wait: "60s", told: [{ kind: "changed", affects: { routes: ["/ws/*"] } }] });
    expect((await waitsOf(`location / { ${CACHED} ${SOCKET} }`)).wait).toBe("86400s");
    const erased = 'proxy_read_timeout 2m; proxy_set_header Upgrade "";';
    expect((await waitsOf(`location / { ${CACHED} } location /a/ { ${CACHED} ${erased} }`)).wait).toBe("120s");
  });

  test("is that of a location for pages and WebSockets, which waits for minutes", async () => {
    const both = "proxy_read_timeout 300s; proxy_set_header Upgrade $http_upgrade;";
    const { wait } = await waitsOf(
      `location / { ${CACHED} ${both} } location /static/ { ${CACHED} proxy_read_timeout 1500ms; }`,
    );
    expect(wait).toBe("300s");
  });

  test("is told where nginx waits for a shorter time", async () => {
    const { told } = await waitsOf(
      `location / { ${CACHED} } location /b/ { ${CACHED} } location /a/ { ${CACHED} proxy_read_timeout 5m; }`,
    );
    expect(told).toMatchObject([
      {
        kind: "changed",
        source: { text: "server (proxy_read_timeout is 60s by default)" },
        why: "The edge waits up to 300s for the origin on all routes. nginx waits 60s here.",
        affects: { routes: ["/b/*", "/*"] },
      },
    ]);
    expect((await waitsOf(`location / { ${CACHED} }`)).told).toEqual([]);
  });

  test("is nginx's own where a line leaves the origin none", async () => {
    const { wait, told } = await waitsOf(`location / { ${CACHED} proxy_read_timeout 0; }`);
    expect({ wait, told }).toMatchObject({
      wait: "60s",
      told: [{ kind: "changed", why: expect.stringContaining("nginx waits 0s here"), affects: { routes: ["/*"] } }],
    });
    const other = await waitsOf(
      `location /a/ { ${CACHED} proxy_read_timeout 0; } location / { ${CACHED} proxy_read_timeout 5s; }`,
    );
    expect(other).toMatchObject({ wait: "5s", told: [{ affects: { routes: ["/a/*"] } }] });
  });

  test("is at most a day", async () => {
    const { wait, told } = await waitsOf(`location / { ${CACHED} proxy_read_timeout 7d; }`);
    expect({ wait, told }).toMatchObject({
      wait: "86400s",
      told: [{ why: expect.stringMatching(/up to 86400s .* nginx waits 604800s here/) }],
    });
  });
});

describe("browsers are told when to ask again", () => {
  test.each([
    ["1h", "1h", "changed"],
    ["+30d", "30d", "changed"],
    ["0", "0s", "changed"],
    ["-1", "0s", "changed"],
    ["epoch", "0s", "changed"],
    ["max", undefined, "dropped"],
    ["modified 1h", undefined, "dropped"],
    ["$expires", undefined, "dropped"],
  ])("expires %s", async (time, browserTtl, kind) => {
    const site = await imported(server(`location / { ${CACHED} expires ${time}; }`));
    expect(site.routes.find(({ value: { match } }) => match === "/*")?.value.browserTtl).toBe(browserTtl);
    expect(site.differences.filter(({ source }) => source?.text.startsWith("expires"))).toMatchObject([{ kind }]);
  });
});

test("an nginx as the origin is told how it compresses for the edge", async () => {
  const { differences } = await imported(server(`gzip on; location / { ${CACHED} }`));
  expect(differences.find(({ source }) => source?.text === "gzip on")?.why).toContain("gzip_proxied any;");
});

describe("what nginx does to answers is told", () => {
  const CONDITION = (line: string) => `location / { ${CACHED} if ($http_x_app) { ${line} } }`;

  test.each([
    [
      "that hide a field where there is no cache",
      "proxy_hide_header X-A",
      (line: string) => `location /a/ { ${PASSED} ${line} }`,
    ],
    [
      "of the server that hide a field",
      "proxy_hide_header X-A",
      (line: string) => `${line} location /a/ { ${PASSED} }`,
    ],
    [
      "that hide a field where nothing is stored",
      "proxy_hide_header X-A",
      (line: string) => `location /a/ { ${CACHED} auth_basic a; ${line} }`,
    ],
    ["of conditions that add a field", "add_header X-A b", CONDITION],
    ["of conditions for browsers", "expires 30d", CONDITION],
    ["of conditions that clear fields", "more_clear_headers Set-Cookie*", CONDITION],
    ["that limit the speed", "limit_rate 10k", CONDITION],
    [
      "that limit the speed where there is no cache",
      "limit_rate 10k",
      (line: string) => `location /a/ { ${PASSED} ${line} }`,
    ],
  ])("by lines %s", async (_, line, within) => {
    const { differences } = await imported(
      server(`${within(`${line};`)} location /b/ { ${CACHED} proxy_hide_header X-B; }`),
    );
    expect(differences.filter(({ source }) => source?.text === line)).toMatchObject([{ kind: "dropped" }]);
  });
});

test("secrets of nginx's lines are in no comment of the config", async () => {
  const lines = (field: string) => `proxy_set_header ${field} s3cret; if ($http_x_api_key != 's3cret') { return 403; }
    if ($arg_token = s3cret) { return 204; } secure_link_md5 "$uri s3cret";`;
  const text = configText(
    await imported(
      server(`location / { ${CACHED} ${lines("X-Api-Key")} proxy_set_header X-Origin-Secret "s3cret"; }
        location /a { ${PASSED} ${lines("Authorization")} }`),
    ),
  );
  expect(text).toContain("nginx.conf:4: if ($http_x_api_key != …)");
  expect(text).not.toContain("s3cret");
});

test.each(['proxy_set_header X-Api-Key ""', "proxy_set_header X-Api-Key $key", "proxy_set_header X-Role guest"])(
  "a line that has no secret is shown whole: %s",
  async (line) => {
    const { differences } = await imported(server(`location / { ${CACHED} ${line}; } location /a { ${PASSED} }`));
    expect(differences.map(({ source }) => source?.text)).toContain(line);
  },
);

describe("at an https origin", () => {
  const told = async (lines: string, pass = "https://10.0.0.1") => {
    const text = server(
      `${lines} location / { proxy_pass ${pass}; proxy_cache c; } location /a { proxy_pass ${pass}; }`,
    );
    return (await imported(text)).differences
      .filter(({ why }) => why.includes("certificate"))
      .map(({ kind, source }) => `${kind}: ${source!.text}`);
  };

  test("it is told once that the edge verifies the certificate, and shows none", async () => {
    expect(await told("")).toEqual(["changed: proxy_pass https://10.0.0.1"]);
    expect(await told("proxy_ssl_verify off;")).toEqual(["changed: proxy_pass https://10.0.0.1"]);
    expect(await told("proxy_ssl_verify on;")).toEqual([]);
    expect(await told("proxy_ssl_verify on; proxy_ssl_certificate c.pem;")).toEqual([
      "dropped: proxy_ssl_certificate c.pem",
    ]);
  });

  test("it is told by which name the edge verifies the certificate, if nginx takes another", async () => {
    const verified = "proxy_ssl_verify on; proxy_ssl_name";
    expect(await told(`${verified} app.example;`)).toEqual(["changed: proxy_ssl_name app.example"]);
    expect(await told(`${verified} App.example;`, "https://app.example")).toEqual([]);
    expect(await told(`${verified} $proxy_host;`, "https://app.example")).toEqual([]);
  });

  test("but not at one without TLS", async () => {
    expect(await told("proxy_ssl_certificate c.pem; proxy_ssl_name a.example;", "http://10.0.0.1")).toEqual([]);
  });
});

test.each([
  ["on", ["The edge does not assemble pages: the origin must."]],
  ["off", []],
])("ssi %s is told if nginx assembled pages", async (value, told) => {
  const { differences } = await imported(server(`ssi_types text/plain; location / { ${CACHED} ssi ${value}; }`));
  expect(differences.filter(({ source }) => source?.text.startsWith("ssi")).map(({ why }) => why)).toEqual(told);
});

describe("a host is named with each port that visitors name", () => {
  test.each([
    ["listen 127.0.0.1:22080;", ["www.example.com", "www.example.com:22080"]],
    ["listen 8080; listen [::]:8080 default_server;", ["www.example.com", "www.example.com:8080"]],
    ["listen 80; listen 8443 ssl;", ["www.example.com", "www.example.com:8443"]],
    ["listen *:80; listen [::]:80; listen 443 ssl;", ["www.example.com"]],
    ["listen 10.0.0.1; listen [::1]; listen localhost; listen unix:/run/nginx.sock;", ["www.example.com"]],
    ["", ["www.example.com"]],
  ])("%s", async (listen, hosts) => {
    const site = await imported(server(`${listen} location / { ${CACHED} }`));
    expect(siteOf(site).hosts).toEqual(hosts);
    expect(compileSite(siteOf(site), {}).namesHosts).toBe(true);
  });

  test("unless it is given", async () => {
    const text = server(`listen 8080; location / { ${CACHED} }`).replace("server_name www.example.com;", "");
    expect(siteOf(await imported(text, "nginx.conf", { host: "a.example.com" })).hosts).toEqual(["a.example.com"]);
  });
});

describe("comments", () => {
  const site = (text: string) => imported(text).then((each) => ({ ...each, ...siteOf(each) }));

  test.each([
    ["after a directive", "proxy_cache_valid 200 1h; #one hour\nproxy_no_cache $cookie_sid;"],
    ["between a directive and its value", "proxy_cache_valid #one hour\n200 1h; proxy_no_cache #it's {\n$cookie_sid;"],
    ["indented by a tab", "proxy_cache_valid 200 1h;\n\t#one hour; {\n\tproxy_no_cache $cookie_sid;"],
    ["without a space before it", "proxy_cache_valid 200 1h;#one hour\nproxy_no_cache $cookie_sid;#}"],
  ])("a comment %s takes nothing with it", async (_, lines) => {
    const { routes, differences } = await site(server(`location / { ${CACHED} ${lines}\n}`));
    expect(routes).toEqual([{ match: "/*", defaultTtl: { 200: "1h" }, bypass: { cookies: [/\bsid *=/i] } }]);
    expect(differences.filter(({ kind }) => kind === "dropped")).toEqual([]);
  });

  test("a deny behind a comment is told", async () => {
    const { differences } = await imported(server(`location / { ${CACHED}\n\t#staff alone\n\tdeny all; }`));
    expect(differences).toContainEqual(
      expect.objectContaining({ kind: "access", source: { place: "nginx.conf:6", text: "deny all" } }),
    );
  });

  test("a site of Debian that is commented out", async () => {
    const text = `server {\n\tserver_name a.example.com;\n\tlocation / { ${CACHED} }
\t# pass PHP scripts to FastCGI server
\t#
\t#location ~ \\.php$ {
\t#\tinclude snippets/fastcgi-php.conf;
\t#
\t#\t# With php-fpm (or other unix sockets):
\t#\tfastcgi_pass unix:/run/php/php7.4-fpm.sock;
\t#}
\t# deny access to .htaccess files, if Apache's document root
\t#location ~ /\\.ht {
\t#\tdeny all;
\t#}
}
#server {
#\tlisten 80;
#}`;
    const { hosts, routes, differences } = await site(text);
    expect({ hosts, routes }).toEqual({ hosts: ["a.example.com"], routes: [{ match: "/*" }] });
    expect(differences.filter(({ source, kind }) => source !== null && kind !== "safer")).toEqual([]);
  });

  test("a # within a word or in quotes is none", async () => {
    const fields = `proxy_set_header X-A a#b; proxy_set_header X-B "c #d"; proxy_set_header X-C 'e' ;`;
    expect(await site(server(`location / { ${CACHED} ${fields} }`))).toMatchObject({
      originFields: { "X-A": "a#b", "X-B": "c #d", "X-C": "e" },
    });
  });

  test("a # in a block of Lua is its operator for a length", async () => {
    const lua = "access_by_lua_block { local t = {}; if #t == 0 then t[1] = {} end return #t }";
    const { differences } = await imported(server(`${lua}\nlocation / { ${CACHED} deny all; }`));
    const told = differences.flatMap(({ source }) => (source === null ? [] : [source.text]));
    expect(told).toEqual(["location /", expect.stringContaining("access_by_lua_block"), "deny all"]);
  });
});

describe("a word is nginx's own", () => {
  test.each([
    ["it's", "it's"],
    ['a"b', 'a"b'],
    ["a}b", "a}b"],
    ["b\\;c", "b\\;c"],
    ["a\\{1,4\\}", "a\\{1,4\\}"],
    ["a\\ b", "a\\ b"],
    ["\\#a", "\\#a"],
    ["a\\\"b\\\\c\\'", "a\"b\\c'"],
    ["'a;{b}'", "a;{b}"],
    ["'a\\'b'", "a'b"],
    ['"it\'s"', "it's"],
    [')a"', ')a"'],
  ])("%s as a value is %s", async (written, value) => {
    const site = await imported(server(`location / { ${CACHED} proxy_set_header X-A ${written}; }`));
    expect(siteOf(site).originFields).toEqual({ "X-A": value });
  });

  test("with a quote within it hides no location up to the next one", async () => {
    const site = await imported(
      server(`location = /what's-new { return 301 /news; }
        location /intern { auth_basic Staff; proxy_pass http://10.0.0.1; }
        location = /who's-who { return 301 /people; }
        location / { ${CACHED} }`),
    );
    expect(siteOf(site).routes).toContainEqual({ match: "/intern*", pass: true });
    expect(site.differences).toContainEqual(
      expect.objectContaining({ kind: "access", source: expect.objectContaining({ text: "auth_basic Staff" }) }),
    );
  });

  test("in a map may have a quote, and in an expression braces with a backslash", async () => {
    const text = `map $http_user_agent $skip { default 0; ~*O'Reilly 1; }
      server { rewrite ^/(?:\\d\\{1,4\\}) /a; location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; } }`;
    const { routes } = siteOf(await imported(`http { ${text} }`));
    expect(routes?.at(-1)).toMatchObject({ match: "/*", bypass: { fields: { "user-agent": [/O'Reilly/i] } } });
  });

  test("with a variable in braces opens no block", async () => {
    const site = await imported(server(`location / { ${CACHED} proxy_cache_key \${host}$request_uri\${cookie_a}; }`));
    expect(siteOf(site).routes).toEqual([{ match: "/*", bypass: { cookies: [expect.any(RegExp)] } }]);
  });

  test.each([
    ["'a'b;", "the text in quotes \"'a'b;\" has no end, or no space after it"],
    ["'a';;", 'there is nothing before this ";"'],
    ["'a' }", '"proxy_set_header" has no ";" or "{" at its end'],
    ["'a", 'the text in quotes "\'a" has no end, or no space after it'],
    ["a\\", '"proxy_set_header" has no ";" or "{" at its end'],
  ])("that nginx refuses is refused with its place: %s", async (written, why) => {
    const text = `http { server {\nlocation / { ${CACHED}\nproxy_set_header X-A ${written}`;
    await expect(imported(text)).rejects.toThrow(`nginx.conf:3: ${why}`);
  });
});

describe("a block of Lua", () => {
  const told = ({ differences }: ImportedSite) =>
    differences.flatMap(({ source, why }) => (source === null ? [] : [`${source.place} ${source.text}: ${why}`]));
  const NOT_CARRIED = "Code is not carried over.";

  test.each([
    ["a variable that it sets", "set_by_lua_block $x { return ngx.now() }", "set_by_lua_block $x"],
    ["a brace in a string", `log_by_lua_block { f("}", '{', "}\\"", '\\\\') }`, "log_by_lua_block"],
    ["a brace in a comment", "log_by_lua_block { f() -- it's }\n}", "log_by_lua_block"],
    ["a brace in a long string", "log_by_lua_block { f([[}]], [==[ ]] } ]=] ]==]) }", "log_by_lua_block"],
    ["a brace in a long comment", "log_by_lua_block { --[[ } \n } ]] f() --[=[ ]] } ]=] }", "log_by_lua_block"],
    ["an odd quote in a comment", `log_by_lua_block { f() -- don't "\n }`, "log_by_lua_block"],
    ["tables in tables", "log_by_lua_block { local t = {{}, {1, {2}}} }", "log_by_lua_block"],
  ])("with %s is read over and reported at its line", async (_, lua, text) => {
    const site = await imported(server(`${lua}\nlocation / { ${CACHED} charset utf-8; }`));
    const after = 4 + lua.split("\n").length;
    expect(told(site)).toEqual([
      `nginx.conf:4 ${text}: ${NOT_CARRIED}`,
      expect.stringContaining(`nginx.conf:${after} charset utf-8: `),
    ]);
    expect(site.routes.map(({ value }) => value)).toEqual([{ match: "/*" }]);
  });

  test("may end right before the brace that closes its location", async () => {
    const site = await imported(server(`location /lua { content_by_lua_block { f() }}\nlocation / { ${CACHED} }`));
    expect(told(site)).toEqual([`nginx.conf:4 content_by_lua_block: ${NOT_CARRIED} Nothing is stored here.`]);
    expect(site.routes.map(({ value }) => value.match).slice(-2)).toEqual(["/lua*", "/*"]);
  });

  test.each(["{ f({ }", "{ f([[ }) }", "{ f() -- }"])("that nothing ends is an error: %s", async (lua) => {
    await expect(imported(`http {\nset_by_lua_block $x\n${lua}`)).rejects.toThrow(
      'nginx.conf:3: the Lua of "set_by_lua_block" is not closed by "}"',
    );
  });

  test.each([
    ["and another line sets first", "set $skip 0;\nset_by_lua_block $skip { return 1 }"],
    ["in an if", "set $skip 0;\nif ($arg_a) { set_by_lua $skip 'return 1'; }"],
    ["from a file", "set $skip 0;\nset_by_lua_file $skip skip.lua;"],
  ])("whose variable decides what is stored, %s, leaves nothing stored", async (_, lua) => {
    const site = await imported(
      server(`${lua}\nlocation / { ${CACHED} proxy_cache_bypass $skip; proxy_no_cache $skip; }`),
    );
    expect(site.routes.map(({ value }) => value)).toEqual([{ match: "/*", pass: true }]);
  });

  const BALANCED = `http {\nupstream app {\nserver 0.0.0.1;\nbalancer_by_lua_block { }\n}\nserver {
    server_name www.example.com;\nlocation / { proxy_pass http://app; proxy_cache c; }\n}\n}\n`;

  test("that chooses the server leaves the origin to be named", async () => {
    await expect(imported(BALANCED)).rejects.toThrow(
      "nginx.conf:4: balancer_by_lua_block chooses the server: name the site's address with --origin",
    );
    const site = await imported(BALANCED, "nginx.conf", { origin: "http://10.0.0.1" });
    expect(told(site)).toContain(`nginx.conf:4 balancer_by_lua_block: ${NOT_CARRIED}`);
  });
});

test("what several lines say alike is told once, with all places", async () => {
  const { differences } = await imported(
    server(`location /a { ${CACHED}\ncharset utf-8; }\nlocation /b { ${CACHED}\ncharset utf-8; }`),
  );
  const lines = differenceLines(differences, 200).filter((line) => line.includes("charset"));
  expect(lines).toEqual(["  - nginx.conf:5, nginx.conf:7: charset utf-8: The origin must name its charset."]);
});

test("an answer of the origin that no stale page replaces is told with a reason that fits a 429, too", async () => {
  const { differences } = await imported(server(`location / { ${CACHED} proxy_cache_use_stale http_404 http_429; }`));
  expect(differences.find(({ source }) => source?.text.includes("http_429"))).toMatchObject({
    kind: "safer",
    why: "A 404 or 429 of the origin is passed on, because it is the origin's answer, and not its failure.",
  });
});

test.each(["gzip on", "brotli on", "zstd on"])("%s leads to the server's own compression", async (line) => {
  const { differences } = await imported(server(`${line};\nlocation / { ${CACHED} }`));
  expect(differences.find(({ source }) => source?.text === line)).toMatchObject({
    kind: "dropped",
    why: expect.stringMatching(/tidemark serve.*has compression: \{\}.*docs\/server\.md/),
  });
});

describe("a site on a Unix socket", () => {
  const SOCKET = "upstream app { server unix:/run/gunicorn.sock fail_timeout=0; }";
  const location = (pass: string) => `location / { ${pass}; proxy_cache c; proxy_cache_valid 200 1h; }`;
  const ROUTES = [{ match: "/*", defaultTtl: { 200: "1h" } }];

  test.each([
    ["of an upstream", `http { ${SOCKET}\nserver { ${location("proxy_pass http://app")} } }`],
    ["by itself", server(location("proxy_pass http://unix:/run/gunicorn.sock"))],
    ["with a path", server(location("proxy_pass http://unix:/run/gunicorn.sock:/"))],
  ])("%s has its rules, and its address is for tidemark serve", async (_, text) => {
    const site = await imported(text);
    expect(site.origin.value).toBe("unix:/run/gunicorn.sock");
    expect(siteOf(site)).toMatchObject({ origin: "http://unix-socket.invalid", routes: ROUTES });
    expect(await evaluateSite(configText(site))).toEqual(siteOf(site));
    expect(configText(site)).toContain("--origin unix:/run/gunicorn.sock");
    expect(compileSite(siteOf(site), {}).namesHosts).toBe(site.hosts !== null);
  });

  const WITH_HOST = "proxy_set_header Host $http_host; proxy_set_header X-Real-IP $remote_addr; proxy_pass http://app";

  test("gets the visitor's Host where nginx sends it, because apps refuse a host that they do not know", async () => {
    const named = (name: string) => `http { ${SOCKET}\nserver { ${name} ${location(WITH_HOST)} } }`;
    const site = await imported(named("server_name www.example.com;"));
    expect(siteOf(site).forward).toEqual({ host: "visitor", realIp: true });
    expect(await evaluateSite(configText(site))).toEqual(siteOf(site));
    const nameless = await imported(named(""));
    expect(siteOf(nameless).forward).toEqual({ realIp: true });
    expect(nameless.differences).toContainEqual(expect.objectContaining({ field: "host", kind: "dropped" }));
  });

  test.each([
    ["is spelled in two ways", `location /a { proxy_set_header Host $host; proxy_pass http://app; }`],
    ["is not sent to another upstream", "location /a { proxy_pass http://10.0.0.2; }"],
    ["is another for another upstream", "location /a { proxy_pass http://10.0.0.2; proxy_set_header Host a.test; }"],
  ])("gets the visitor's Host where it %s", async (_, other) => {
    const realIp = other.includes("http://app") ? "proxy_set_header X-Real-IP $remote_addr;" : "";
    const at = other.replace("{", `{ ${realIp}`);
    const site = await imported(
      `http { ${SOCKET}\nserver { server_name www.example.com; ${location(WITH_HOST)}\n${at} } }`,
    );
    expect(siteOf(site).forward).toEqual({ host: "visitor", realIp: true });
    const told = site.differences.filter(({ field }) => field === "host").map(({ why }) => why);
    expect(told).toEqual(other.includes("a.test") ? [expect.stringMatching(/host localhost.*not for a\.test\.$/)] : []);
  });

  test.each(["$server_name", "$host:$server_port", "$http_host:$server_port"])(
    "is told that it does not get %s as Host, which may not be the visitor's",
    async (value) => {
      const site = await imported(
        `http { ${SOCKET}\nserver { server_name www.example.com m.example.com; ${location(WITH_HOST.replace("$http_host", () => value))} } }`,
      );
      expect(siteOf(site).forward).toEqual({ realIp: true });
      expect(site.differences).toContainEqual(expect.objectContaining({ field: "host", kind: "dropped" }));
    },
  );

  test("is told what Host it gets otherwise, which is no name of its own", async () => {
    const { differences } = await imported(
      `http { ${SOCKET}\nserver { server_name www.example.com; ${location(WITH_HOST)}\nlocation /a { proxy_pass http://app; } } }`,
    );
    expect(differences.find(({ field }) => field === "host")?.why).toMatch(
      /^A socket has no name, so Host is localhost\. .*forward: \{ host: "visitor" \}/,
    );
  });

  test("has the path of another location told, as behind an address", async () => {
    const { differences } = await imported(server(location("proxy_pass http://unix:/run/gunicorn.sock:/app/")));
    expect(differences).toContainEqual(
      expect.objectContaining({ kind: "dropped", why: expect.stringContaining("not for one below /app/") }),
    );
  });

  test.each([
    ["TLS", "proxy_pass https://unix:/run/app.sock"],
    ["a relative path", "proxy_pass http://unix:app.sock"],
    ["a path that a shell would not leave alone", "proxy_pass 'http://unix:/run/$(id).sock'"],
  ])("with %s is refused", async (_, pass) => {
    await expect(imported(server(location(pass)))).rejects.toThrow(/^nginx\.conf:4: .*--origin/);
  });
});

describe("try_files", () => {
  const PHP = "location ~ \\.php$ { fastcgi_pass 127.0.0.1:9000; fastcgi_cache c; fastcgi_cache_valid 200 1h; }";

  test("what is no file has the rules of the location that it falls back to", async () => {
    const text = server(`location / { try_files $uri $uri/ /index.php?$args; }\n${PHP}`);
    const { routes } = siteOf(await imported(text, "nginx.conf", { origin: "http://127.0.0.1:8080" }));
    expect(routes).toEqual([
      { match: "/*.php", defaultTtl: { 200: "1h" } },
      { match: "/*", defaultTtl: { 200: "1h" } },
    ]);
  });

  test("files alone are not stored", async () => {
    const text = server(`location / { try_files $uri =404; }\n${PHP}`);
    const { routes } = siteOf(await imported(text, "nginx.conf", { origin: "http://127.0.0.1:8080" }));
    expect(routes?.slice(-2)).toEqual([
      { match: "/*.php", defaultTtl: { 200: "1h" } },
      { match: "/*", pass: true },
    ]);
  });
});

describe("names with underscores", () => {
  const told = async (line: string) =>
    (await imported(server(`${line} location / { ${CACHED} }`))).differences
      .filter(({ why }) => why.startsWith("nginx reads X_Name as X-Name"))
      .map(({ kind, source }) => `${kind}: ${source!.text}`);

  test.each(["underscores_in_headers on", "ignore_invalid_headers off"])("are told of with %s", async (line) => {
    expect(await told(`${line};`)).toEqual([`dropped: ${line}`]);
  });

  test.each(["underscores_in_headers off", "ignore_invalid_headers on"])("are left out with %s", async (line) => {
    expect(await told(`${line};`)).toEqual([]);
  });
});

describe("large files", () => {
  test("keys of a map, by hundred thousands, are read and written", { tags: ["deep"], timeout: 60_000 }, async () => {
    const keys = Array.from({ length: 150_000 }, (_, at) => `k${at} v${at};`).join("\n");
    const site = await imported(`http { map $http_x_app $app { ${keys} } map $cookie_app $skip { ${keys} }
      server { location / { ${CACHED} proxy_cache_key $app$request_uri; proxy_no_cache $skip; } } }`);
    expect(siteOf(site).routes).toMatchObject([{ match: "/*", key: { fields: ["x-app"] } }]);
    expect(configText(site)).toContain("k149999 v149999");
  });

  describe("the paths of a long map", () => {
    const keysOf = (at: number) => [
      `/old-${at}`,
      `/Alt/${at}/Straße.html`,
      `/shop/a(${at})`,
      `/shop/b-${at}.php`,
      `/q+${at}`,
      `/20${at}/`,
    ];
    const keys = Array.from({ length: 120 }, (_, at) => keysOf(at)).flat();
    const text = `http { map $uri $moved { ${keys.map((key) => `${key} /new;`).join("\n")} }
      server { server_name www.example.com; if ($moved) { return 301 $moved; }
      location / { ${CACHED} } location /shop/ { ${CACHED} proxy_cache_valid 200 1h; }
      location = /old-7 { ${CACHED} }
      location ~ \\.php$ { ${CACHED} proxy_cache_valid 200 2h; } } }`;
    /** nginx compares without regard to the case of ASCII. */
    const swapped = (path: string) =>
      path
        .replace(/%..|[a-z]/gi, (each) => (each >= "a" ? each.toUpperCase() : each.toLowerCase()))
        .replaceAll(/%../g, (each) => each.toUpperCase());

    test("share few routes, and only these paths pass", async () => {
      const site = siteOf(await imported(text));
      const { routes } = compileSite(site, {});
      const passes = (path: string) => findRoute(routes, path).route.pass;
      for (const path of keys.map((key) => encodeURI(key)))
        expect([path, passes(path), passes(swapped(path))]).toEqual([path, true, true]);
      const others = keys.map(encodeURI).flatMap((path) => [`${path}x`, `${path}/`, `/x${path}`, `/shop/x${path}`]);
      const stored = new Set(keys.map((key) => encodeURI(key)));
      for (const path of others)
        if (!stored.has(path)) expect([path, passes(path)]).toEqual([path, path.includes("//")]);
      // Those of digits are on their own: such routes take next to no time.
      expect(site.routes!.filter(({ match }) => !/^\/\d+\/$/.test(match)).length).toBeLessThan(40);
    });

    test("are below the line of the first, which names the last", async () => {
      const lines = configText(await imported(text)).split("\n");
      expect(lines.filter((line) => line.includes("/old-0 /new"))[0]).toMatch(
        /nginx\.conf:1: \/old-0 \/new \(\d+ lines, to nginx\.conf:\d+: .* \/new\)$/,
      );
    });
  });

  test("tens of thousands of locations take seconds", { tags: ["deep"], timeout: 60_000 }, async () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `location = /old/${at} { return 301 /new/${at}; }`);
    const site = await imported(server(`${lines.join("\n")}\nlocation / { ${CACHED} }`));
    expect(site.routes.length).toBeGreaterThan(60_000);
  });
});

describe("includes", () => {
  test("relative paths are below --root where the main file is elsewhere", async () => {
    put("etc/nginx/snippets/cached.conf", "proxy_cache_valid 200 2m;");
    const text = server(`location / { ${CACHED} include snippets/cached.conf; }`);
    const site = await imported(text, "etc/nginx/sites-enabled/site.conf", { root: folder });
    expect(siteOf(site).routes).toEqual([{ match: "/*", defaultTtl: { 200: "2m" } }]);
    await expect(imported(text, "elsewhere/site.conf")).rejects.toThrow(
      /there is no file .*elsewhere\/snippets\/cached\.conf\. .*import nginx\.conf.*--root/,
    );
  });

  test.each(["sites-enabled", "sites-available", "conf.d"])(
    "relative paths of a file in %s are in the folder around it, where nginx.conf is",
    async (name) => {
      put("etc/nginx/proxy_params", "proxy_no_cache $cookie_a; proxy_cache_bypass $cookie_a;");
      put(`etc/nginx/${name}/proxy_params`, "proxy_cache_valid 200 2m;");
      const text = server(`location / { ${CACHED} include proxy_params; }`);
      const site = await imported(text, `etc/nginx/${name}/site.conf`);
      expect(siteOf(site).routes).toEqual([{ match: "/*", bypass: { cookies: [expect.any(RegExp)] } }]);
    },
  );

  test("a missing file of nginx's package is told once, because it may hold rules of the owner", async () => {
    const text = server(
      `location / { ${CACHED} include proxy_params; }\nlocation /a/ { ${CACHED} include proxy_params; }`,
    );
    const { differences } = await imported(`types { include mime.types; }\n${text}`);
    const told = differences.filter(({ source }) => source?.text.startsWith("include"));
    expect(told.map(({ kind, source }) => `${kind} at ${source!.place}`).sort()).toEqual([
      "access at nginx.conf:5",
      "access at nginx.conf:6",
    ]);
    const lines = differenceLines(told, 1_000);
    expect(lines).toEqual([
      lines[0],
      expect.stringMatching(/include proxy_params: No file was found for this line.*--root/),
    ]);
  });

  test("a pattern in a folder that is missing is told, and one in an empty folder is not", async () => {
    mkdirSync(join(folder, "here"));
    const lines = ["/nowhere/a/*.conf", "nowhere/*.conf", "here/*.conf", "modules-enabled/*.conf"];
    const includes = lines.map((each) => `include ${each};`).join(" ");
    const { differences } = await imported(server(`location / { ${CACHED} ${includes} }`));
    const told = differences.filter(({ source }) => source?.text.startsWith("include"));
    expect(told.map(({ kind, source }) => `${kind}: ${source!.text}`)).toEqual([
      "access: include /nowhere/a/*.conf",
      "access: include nowhere/*.conf",
    ]);
  });

  test("a file without the http block around its servers is told not to be the whole", async () => {
    const told = async (text: string) =>
      (await imported(text)).differences.filter(({ why }) => why.startsWith("Only this file was read."));
    const whole = server(`location / { ${CACHED} }`);
    expect(await told(whole)).toEqual([]);
    expect(await told(whole.slice("http {".length, whole.lastIndexOf("}")))).toMatchObject([
      { kind: "access", source: null, why: expect.stringMatching(/import nginx\.conf.*nginx -T.*--server/) },
    ]);
  });

  test("absolute paths are below --root, and a pattern takes its files in order", async () => {
    put("etc/nginx/conf.d/b.conf", "proxy_cache_valid 200 2m;");
    put("etc/nginx/conf.d/a.conf", "proxy_set_header X-A a;");
    put("etc/nginx/conf.d/.hidden.conf", "broken");
    const text = `http { include /etc/nginx/conf.d/*.conf; include mime.types; ${server(`location / { ${CACHED} }`).slice("http {".length)}`;
    const site = await imported(text, "etc/nginx/nginx.conf", { root: folder });
    expect(site.files).toEqual(["nginx.conf", "conf.d/a.conf", "conf.d/b.conf"]);
    expect(siteOf(site)).toMatchObject({
      originFields: { "X-A": "a" },
      routes: [{ match: "/*", defaultTtl: { 200: "2m" } }],
    });
  });
});

describe("links, as in sites-enabled of Debian,", () => {
  const MAIN = "http { include /etc/nginx/sites-enabled/*; }";
  const SITE = server(`location / { ${CACHED} }`).slice("http {".length, -"}\n".length);
  const link = (target: string, path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(target, join(folder, path));
  };
  const below = (text = MAIN) => imported(text, "etc/nginx/nginx.conf", { root: folder });

  test.each([
    ["that are absolute", "/etc/nginx/sites-available/shop", "etc/nginx/sites-enabled/shop"],
    ["of a folder", "/etc/nginx/sites-available", "etc/nginx/sites-enabled"],
    [
      "that lead out of --root",
      "../../../../../../../../../../../etc/nginx/sites-available",
      "etc/nginx/sites-enabled",
    ],
  ])("%s lead to files below --root", async (_, target, path) => {
    put("etc/nginx/sites-available/shop", SITE);
    link(target, path);
    expect((await below()).files).toEqual(["nginx.conf", "sites-enabled/shop"]);
  });

  test("of links, and of a file that one line names", async () => {
    put("srv/shop", SITE);
    link("/srv", "mnt");
    link("/mnt/shop", "etc/nginx/sites-available/shop");
    link("../sites-available/shop", "etc/nginx/sites-enabled/shop");
    const site = await below(MAIN.replace("*", "shop"));
    expect(site.files).toEqual(["nginx.conf", "sites-enabled/shop"]);
  });

  test("for nginx.conf itself, too", async () => {
    put("srv/nginx.conf", server(`location / { ${CACHED} }`));
    link("/srv/nginx.conf", "etc/nginx/nginx.conf");
    const site = await importFile(join(folder, "etc/nginx/nginx.conf"), { ...NO_FLAGS, root: folder });
    expect(site.files).toEqual(["nginx.conf"]);
  });

  test.each(["*", "shop"])("without their files are refused with place, link and target: %s", async (name) => {
    link("/etc/nginx/sites-available/shop", "etc/nginx/sites-enabled/shop");
    await expect(below(MAIN.replace("*", name))).rejects.toThrow(
      /^nginx\.conf:1: .*etc\/nginx\/sites-enabled\/shop is a link to \/etc\/nginx\/sites-available\/shop, and there is no/,
    );
  });

  test("of modules may lead out of what was copied", async () => {
    link("/usr/share/nginx/modules-available/mod-http-geoip2.conf", "etc/nginx/modules-enabled/50-geoip2.conf");
    link("/usr/share/nginx/mime.types", "etc/nginx/mime.types");
    const text = `include /etc/nginx/modules-enabled/*.conf; include mime.types; ${server(`location / { ${CACHED} }`)}`;
    expect((await below(text)).files).toEqual(["nginx.conf"]);
  });

  test.each([true, false])("that lead round in a circle are refused, too; with --root: %s", async (hasRoot) => {
    link("b", "etc/nginx/sites-enabled/a");
    link("a", "etc/nginx/sites-enabled/b");
    const text = MAIN.replace("/etc/nginx/", "");
    await expect(imported(text, "etc/nginx/nginx.conf", hasRoot ? { root: folder } : {})).rejects.toThrow(
      /^nginx\.conf:1: .*sites-enabled\/a is a link to b, and there is no such file/,
    );
  });
});

describe("the output of nginx -T", () => {
  const DUMP = `nginx: the configuration file /etc/nginx/nginx.conf syntax is ok
nginx: configuration file /etc/nginx/nginx.conf test is successful
# configuration file /etc/nginx/nginx.conf:
http {
include conf.d/*.conf;
include /etc/nginx/sites/a;
}

# configuration file /etc/nginx/conf.d/b.conf:
proxy_set_header X-A a;

# configuration file /etc/nginx/sites/a:
server {
server_name www.example.com;
location / { ${CACHED} proxy_cache_valid 200 2m; }
location /x { deny all; }
}
`;

  test("has all files in it, and lines have their places in those", async () => {
    const site = await imported(DUMP, "all.conf");
    expect(site.files).toEqual(["nginx.conf", "conf.d/b.conf", "sites/a"]);
    expect(siteOf(site)).toMatchObject({ hosts: ["www.example.com"], originFields: { "X-A": "a" } });
    expect(site.differences).toContainEqual(
      expect.objectContaining({ kind: "access", source: { place: "sites/a:4", text: "deny all" } }),
    );
  });

  test("without an included file is refused", async () => {
    await expect(imported(DUMP.replace("file /etc/nginx/sites/a:", "file /etc/nginx/sites/b:"))).rejects.toThrow(
      /^nginx\.conf:3: \/etc\/nginx\/sites\/a is not in this output of nginx -T/,
    );
  });
});

describe("on Windows", () => {
  /** All by one process, which takes far longer to start than to import them. */
  const importedFiles = async (...paths: string[]) => {
    const importing = `
      import { importFile } from ${JSON.stringify(IMPORT_FILE)};
      const sites = await Promise.all(${JSON.stringify(paths)}.map((path) => importFile(path, ${JSON.stringify(NO_FLAGS)})));
      console.log(JSON.stringify(sites.map(({ files }) => files)));`;
    const args = ["--import", windowsPathsIn("/tools/import/"), "--input-type=module", "--eval", importing];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder });
    expect(stderr).toBe("");
    return JSON.parse(stdout) as string[][];
  };
  const including = (pattern: string) => server(`location / { ${CACHED} include ${pattern}; }`);

  test("a pattern of includes finds its files, which may be on another drive or in the output of nginx -T", async () => {
    put("nginx.conf", including("snippets/*.conf"));
    for (const file of ["snippets/a.conf", "snippets\\a.conf"]) put(file, "proxy_cache_valid 200 2m;");
    put("D:\\nginx.conf", including("D:/shared.conf"));
    for (const file of ["D:\\shared.conf", "D:/shared.conf"]) put(file, "proxy_cache_valid 200 2m;");
    const text = including("conf.d/*.conf");
    // It has the paths of the machine that it is from.
    const dump = `# configuration file /etc/nginx/nginx.conf:\n${text}\n# configuration file /etc/nginx/conf.d/a.conf:\n`;
    put("all.conf", dump);
    expect(await importedFiles("nginx.conf", "D:\\nginx.conf", "all.conf")).toEqual([
      ["nginx.conf", "snippets\\a.conf"],
      ["nginx.conf", "shared.conf"],
      ["nginx.conf", "conf.d/a.conf"],
    ]);
  });
});
