import { chances } from "../../../engine/chances.ts";
import { COOKIE_REGEXES, captures, FIELD_TESTS, LOCATIONS, URI_REGEXES } from "./words.ts";

/*
 * Where the shares come from: how often directives stand in the files of test/tools/import/corpus.ts, in
 * those that they include, and in the template of roots/trellis.
 *
 *   in 376 locations     97 try_files, 94 return, 62 expires, 44 deny, 12 error_page, 9 auth_basic, 6 internal, 1 limit_except
 *   with 16 caches       25 cache_valid, 13 cache_key, 13 cache_bypass, 13 no_cache, 10 use_stale, 9 ignore_headers,
 *                        4 cache_lock, 3 intercept_errors, 2 slice, 1 min_uses
 *   in 13 keys           9 of host, path and query; 2 with the slice, 1 with the device, 1 without the query
 *   in 40 conditions     8 of cookies, 8 of methods, 6 of path and query, 4 of user agents, 3 of the query, 3 of the host, 3 of
 *                        referers, none of addresses or files
 *   in 26 maps           5 of other maps, 4 of path and query, 3 of cookies, 3 of hosts, 2 of the query, 2 of user agents, 2 of
 *                        credentials
 *
 * What is in none of them is drawn once in a while, so that it is proven, too.
 */

/** A server of nginx as people write them, with the maps and the zone beside it. It is one file of `sites-enabled`. */
export interface RandomConfiguration {
  readonly host: string;
  readonly text: string;
}

/** The configuration of a seed. `id` keeps its names apart from those of others in the same nginx. */
export function randomConfiguration(seed: number, id: number): RandomConfiguration {
  return new Writer(seed, id).write();
}

class Writer {
  readonly #chance: () => number;
  readonly #id: number;
  readonly #http: string[] = [];
  /** The parameters that `proxy_cache_bypass` and `proxy_no_cache` can name. */
  readonly #conditions: string[] = [];
  /** Keys with variables of the server. */
  readonly #keys: string[] = [];
  #names = 0;

  constructor(seed: number, id: number) {
    this.#chance = chances(seed);
    this.#id = id;
  }

  write(): RandomConfiguration {
    const host = `c${this.#id}.example.com`;
    this.#http.push(`proxy_cache_path /cache keys_zone=${this.#zone}:64k inactive=1h;`);
    const lines = [
      "listen 80;",
      `server_name ${host};`,
      "root disk;",
      "index index.php;",
      "add_header X-Cache $upstream_cache_status always;",
      ...this.#serverLines(),
    ];
    const locations = this.#locations();
    const text = [...this.#http, "server {", ...indented([...lines, ...locations]), "}", ""].join("\n");
    return { host, text };
  }

  get #zone(): string {
    return `zone${this.#id}`;
  }

  #maybe(share: number): boolean {
    return this.#chance() < share;
  }

  #oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.#chance() * list.length)]!;
  }

  #some<T>(list: readonly T[], most: number): readonly T[] {
    const count = list.length === 0 ? 0 : Math.floor(this.#chance() * (most + 1));
    return [...new Set(Array.from({ length: count }, () => this.#oneOf(list)))];
  }

  #when(share: number, line: () => string | readonly string[]): readonly string[] {
    return this.#maybe(share) ? [line()].flat() : [];
  }

  #newName(): string {
    return `v${this.#id}_${this.#names++}`;
  }

  /** What the server says for all locations: above all, when to leave the cache alone. */
  #serverLines(): readonly string[] {
    const style = this.#chance();
    return [
      ...(style < 0.4 ? this.#skipBySet() : []),
      ...(style >= 0.4 && style < 0.85 ? this.#skipByMaps() : []),
      ...this.#when(0.1, () => `proxy_set_header Host $host;`),
      ...this.#when(0.15, () => "if ($request_method !~ ^(GET|HEAD|POST)$) { return 405; }"),
      ...this.#when(0.08, () => "rewrite ^/old/ /news permanent;"),
      ...this.#when(0.05, () => "rewrite ^/feed/$ /index.php?feed=1 last;"),
      ...this.#when(0.08, () => this.#effectfulIf()),
      ...this.#when(0.15, () => "error_page 500 502 503 504 /50x.html;"),
      ...this.#when(0.05, () => "error_page 404 /404.html;"),
      ...this.#when(0.01, () => this.#oneOf(["deny 192.0.2.1;", "auth_basic Staff; auth_basic_user_file /srv/none;"])),
      ...this.#when(0.1, () => "gzip on;"),
      ...this.#when(0.1, () => "client_max_body_size 20m;"),
      ...this.#when(0.12, () => `proxy_cache ${this.#zone};`),
      ...this.#when(0.12, () => "proxy_cache_valid 200 301 10m;"),
      ...this.#when(0.06, () => "try_files $uri @app;"),
      ...this.#when(0.06, () => this.#capturedKey()),
    ];
  }

  /** A variable for the key that is set to one value, and perhaps by an expression, too. */
  #capturedKey(): readonly string[] {
    this.#keys.push("$group$host$request_uri");
    return ["set $group all;", ...this.#when(0.3, () => this.#oneOf(captures("group")))];
  }

  /** `set $skip_cache 0; if (…) { set $skip_cache 1; }`, as in most configurations of WordPress. */
  #skipBySet(): readonly string[] {
    const name = "$skip_cache";
    this.#conditions.push(name);
    const spelled = () => (this.#maybe(0.1) ? this.#oneOf(["$Skip_Cache", "$SKIP_CACHE"]) : name);
    const on = (condition: string) =>
      `if (${condition}) { set ${spelled()} ${this.#oneOf(["1", "1", "1", '"yes"'])}; }`;
    const tests = [
      ...this.#when(0.8, () => "$request_method = POST"),
      ...this.#when(0.7, () => this.#oneOf(['$query_string != ""', "$args", "$is_args"])),
      ...this.#when(0.8, () => this.#uriTest("$request_uri")),
      ...this.#when(0.8, () => this.#cookieTest()),
      ...this.#when(0.15, () => "$cookie_nocache"),
      ...this.#when(0.1, () => '$cookie_member != ""'),
      ...this.#when(0.1, () => "$arg_nocache"),
      ...this.#when(0.08, () => this.#uriTest("$uri")),
      ...this.#when(0.06, () => "$http_x_preview"),
      ...this.#when(0.03, () => '$cookie_theme = "1"'),
      ...this.#when(0.005, () => "$remote_addr = 192.0.2.1"),
      ...this.#when(0.3, () => this.#oneOf(FIELD_TESTS)),
    ];
    return [
      ...this.#when(0.95, () => `set ${name} ${this.#oneOf(["0", "0", '""'])};`),
      ...tests.map(on),
      ...this.#when(0.03, () => "if ($http_x_preview) { break; }"),
      ...this.#when(0.03, () => `set ${name} 0;`),
      ...this.#when(0.05, () => 'if ($http_x_preview = "1") { set $skip_cache "$skip_cache$http_x_preview"; }'),
      ...this.#when(0.015, () => this.#oneOf(captures("skip_Cache"))),
    ];
  }

  #uriTest(variable: string): string {
    const [operator, regex] = this.#oneOf(URI_REGEXES);
    return `${variable} ${operator} "${regex}"`;
  }

  #cookieTest(): string {
    const [operator, regex] = this.#oneOf(COOKIE_REGEXES);
    return `$http_cookie ${operator} "${regex}"`;
  }

  #skipByMaps(): readonly string[] {
    const count = 1 + Math.floor(this.#chance() * 3);
    for (let index = 0; index < count; index++) this.#conditions.push(`$${this.#map(0)}`);
    if (this.#maybe(0.15)) this.#conditions.push(this.#conditions.slice(0, 2).join(""));
    if (count > 1 && this.#maybe(0.2)) this.#conditions.push(`$${this.#mapOfAll(this.#conditions.slice(0, count))}`);
    if (this.#maybe(0.3))
      this.#conditions.push(this.#oneOf(["$cookie_nocache", "$arg_nocache", "$cookie_member", "$args"]));
    if (this.#maybe(0.12))
      this.#conditions.push(this.#oneOf(["$http_authorization", "$http_pragma", "$http_x_preview"]));
    if (this.#maybe(0.05)) this.#conditions.push("$cookie_member$arg_preview");
    return [];
  }

  /** A map that is true for requests that are not for all. */
  #map(depth: number): string {
    const name = this.#newName();
    const no = this.#oneOf(["0", "0", '""']);
    const inner = depth < 2 && this.#maybe(0.2) ? `$${this.#map(depth + 1)}` : null;
    const [of, ...lines] = this.#oneOf([
      () => ["$http_cookie", ...this.#some(COOKIE_REGEXES, 3).map(([sign, regex]) => `"${sign}${regex}" 1;`)],
      () => ["$request_uri", ...this.#some(URI_REGEXES, 2).map(([sign, regex]) => `"${sign}${regex}" 1;`)],
      () => ["$request_method", ...(this.#maybe(0.5) ? ["POST 1;"] : ["default 1;", `GET ${no};`, `HEAD ${no};`])],
      () => ["$cookie_member", `"" ${inner ?? no};`, "default 1;"],
      () => ["$cookie_PHPSESSID", `"" ${no};`, "default 1;"],
      () => ["$arg_nocache", "1 1;", ...this.#when(0.3, () => `"" ${inner ?? no};`)],
      () => ["$uri", '"~^/account" 1;', "/news 1;"],
      () => ["$http_x_preview", `"" ${no};`, "default 1;"],
      () => ["$http_authorization", `"" ${no};`, "default 1;"],
      () => ["$http_user_agent", '"~*bot|spider" 1;', "~^Lynx 0;", "curl/8 1;"],
      () => ["$http_referer", '"~*(casino|poker)" 1;'],
      ...(this.#maybe(0.04)
        ? [() => ["$remote_addr", "192.0.2.1 1;"], () => ["$http_cookie", "default 1;", `"~public" ${no};`]]
        : []),
    ])();
    const hasDefault = lines.some((line) => line.startsWith("default"));
    const fallback = hasDefault ? [] : [`default ${inner ?? no};`];
    this.#http.push(`map ${of} $${name} {`, ...indented([...fallback, ...lines]), "}");
    return name;
  }

  /** A map that is true unless all of these are 0. */
  #mapOfAll(variables: readonly string[]): string {
    const name = this.#newName();
    const zeros = "0".repeat(variables.length);
    this.#http.push(`map ${variables.join("")} $${name} { default 1; ${zeros} 0; }`);
    return name;
  }

  #effectfulIf(): string {
    const condition = this.#oneOf([
      () => this.#cookieTest(),
      () => this.#cookieTest(),
      () => this.#uriTest("$request_uri"),
      () => this.#uriTest("$uri"),
      () => this.#uriTest("$request_uri"),
      () => this.#uriTest("$uri"),
      () => '$cookie_member = ""',
      () => "$cookie_nocache",
      () => "$arg_preview",
      () => "$http_x_preview",
      () => this.#oneOf(FIELD_TESTS),
      () => this.#oneOf(FIELD_TESTS),
      () => "$host != $server_name",
      ...(this.#maybe(0.1) ? [() => "-f $request_filename", () => "$remote_addr = 192.0.2.1"] : []),
    ])();
    const effect = this.#oneOf(["return 403;", "return 302 /login;", "rewrite ^ /account/card last;", "return 418;"]);
    return `if (${condition}) { ${effect} }`;
  }

  #locations(): readonly string[] {
    const hasFrontController = this.#maybe(0.35);
    const chosen = withoutDoubles(this.#some(this.#maybe(0.03) ? LOCATIONS : LOCATIONS.slice(0, -1), 5));
    const root = hasFrontController
      ? this.#block("/", [
          this.#oneOf([
            "try_files $uri $uri/ /index.php?$args;",
            "try_files $uri $uri/ /index.php?$args;",
            "try_files $uri /index.php$is_args$args;",
            "try_files $uri @app;",
            this.#maybe(0.3) ? "try_files $uri $uri/ @app;" : "try_files $uri @app;",
          ]),
        ])
      : this.#block("/", this.#bodyOf(0.8));
    return [
      ...root,
      ...chosen.flatMap((each) => this.#location(each, 0)),
      ...this.#block("@app", this.#maybe(0.15) ? ["rewrite ^ /index.php last;"] : this.#bodyOf(0.85)),
      ...this.#block("@nocache", this.#uncached()),
      ...this.#block(
        "~ \\.php$",
        this.#maybe(0.85)
          ? this.#cached(`http://127.0.0.1:8000${this.#maybe(0.98) ? "$request_uri" : ""}`)
          : ["proxy_pass http://127.0.0.1:8000;", "proxy_cache off;"],
      ),
    ];
  }

  #location(head: string, depth: number): readonly string[] {
    const prefix = /^(?:\^~ )?(\/[^ ]*)$/.exec(head)?.[1];
    const canNest = depth < 2 && prefix !== undefined;
    const inner = canNest
      ? LOCATIONS.filter(
          (each) => each.startsWith("~") || (each.replace("^~ ", "").startsWith(prefix) && each !== head),
        )
      : [];
    const nested = inner.length > 0 && this.#maybe(0.25) ? withoutDoubles(this.#some(inner.slice(0, -1), 2)) : [];
    // Behind a redirect to it, a front controller knows the visitor's path: in the public files, by another module.
    const target = head.includes("php") && this.#maybe(0.95) ? "http://127.0.0.1:8000$request_uri" : null;
    return this.#block(head, [
      ...this.#bodyOf(0.45, target),
      ...nested.flatMap((each) => this.#location(each, depth + 1)),
    ]);
  }

  #block(head: string, lines: readonly string[]): readonly string[] {
    return [`location ${head.includes("{") ? head.replace(/ (\S+)$/, ' "$1"') : head} {`, ...indented(lines), "}"];
  }

  #bodyOf(cachedShare: number, target: string | null = null): readonly string[] {
    return this.#maybe(cachedShare) ? this.#cached(target) : this.#uncached();
  }

  #uncached(): readonly string[] {
    return this.#oneOf([
      () => ["proxy_pass http://127.0.0.1:8000;", ...this.#when(0.5, () => "proxy_cache off;")],
      () => ["proxy_pass http://127.0.0.1:8000;", "proxy_cache off;"],
      () => ["deny all;"],
      () => ["return 404;"],
      () => [
        this.#oneOf(["try_files $uri @app;", "try_files $uri $uri/ @app;", "try_files $uri $uri/ /index.php?$args;"]),
      ],
      () => ["internal;", "proxy_pass http://127.0.0.1:8000;"],
      () => ["expires 1d;"],
    ])();
  }

  #cached(target: string | null = null): readonly string[] {
    const conditions = this.#some(this.#conditions, 4);
    const passes = conditions.join(" ");
    const targets = [
      "http://127.0.0.1:8000",
      "http://127.0.0.1:8000",
      "http://127.0.0.1:8000",
      "http://127.0.0.1:8000$request_uri",
    ];
    return [
      `proxy_pass ${target ?? this.#oneOf(targets)};`,
      `proxy_cache ${this.#maybe(0.06) ? this.#zoneByMap() : this.#zone};`,
      this.#oneOf([
        "proxy_cache_valid 200 10m;",
        "proxy_cache_valid 200 301 302 10m;",
        "proxy_cache_valid any 5m;",
        "proxy_cache_valid 10m;",
        "proxy_cache_valid 200 404 1h;",
      ]),
      ...this.#when(0.5, () => this.#key()),
      ...(conditions.length === 0
        ? this.#when(0.15, () => "proxy_cache_bypass $http_x_refresh;")
        : this.#oneOf([
            [`proxy_cache_bypass ${passes};`, `proxy_no_cache ${passes};`],
            [`proxy_cache_bypass ${passes};`, `proxy_no_cache ${passes};`],
            [`proxy_cache_bypass ${passes};`, `proxy_no_cache ${passes};`],
            [`proxy_cache_bypass ${passes} $http_x_refresh;`],
            [`proxy_no_cache ${passes};`],
          ])),
      ...this.#when(
        0.25,
        () =>
          `proxy_ignore_headers ${this.#oneOf(["Cache-Control Expires", "Cache-Control Expires Set-Cookie", "Set-Cookie", "Vary"])};`,
      ),
      ...this.#when(0.1, () => "proxy_hide_header Set-Cookie;"),
      ...this.#when(0.4, () => "proxy_cache_use_stale error timeout updating http_500;"),
      ...this.#when(0.3, () => "proxy_cache_lock on;"),
      ...this.#when(0.5, () => [
        "proxy_set_header Host $host;",
        "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
      ]),
      ...this.#when(0.1, () => ["add_header X-Served-By edge;", "add_header X-Cache $upstream_cache_status always;"]),
      ...this.#when(0.05, () => "expires 1h;"),
      ...this.#when(0.04, () => this.#effectfulIf()),
      ...this.#when(0.04, () => `error_page 418 = @nocache; if (${this.#cookieTest()}) { return 418; }`),
      ...this.#when(0.03, () => "if ($request_method = OPTIONS) { return 204; }"),
      ...this.#when(0.03, () => "proxy_intercept_errors on;"),
      ...this.#when(0.012, () =>
        this.#oneOf([
          "auth_basic off;",
          "allow all;",
          "deny 192.0.2.0/24;",
          "satisfy any;",
          "auth_basic Staff; auth_basic_user_file /srv/none;",
        ]),
      ),
      ...this.#when(0.012, () =>
        this.#oneOf([
          "rewrite ^/blog/(.*)$ /news/$1 break;",
          "limit_except GET { deny all; }",
          "proxy_method GET;",
          "internal;",
        ]),
      ),
      ...this.#when(0.02, () => "proxy_cache_min_uses 2;"),
      ...this.#when(0.02, () => `proxy_buffering ${this.#oneOf(["off", "on"])};`),
    ];
  }

  #key(): string {
    const keys = [
      "$scheme$host$request_uri",
      "$scheme$request_method$host$request_uri",
      "$host$uri$is_args$args",
      "$host$request_uri",
    ];
    const rare = [
      ...this.#keys,
      ...this.#keys,
      "$host$uri",
      "$host$uri$cookie_lang",
      "$host$request_uri$http_x_preview",
      "$host$uri$arg_page",
      ...(this.#maybe(0.3) ? ["$host$request_uri$remote_addr"] : []),
    ];
    return `proxy_cache_key "${this.#oneOf(this.#maybe(0.15) ? rare : keys)}";`;
  }

  #zoneByMap(): string {
    const name = this.#newName();
    const [of, off] = this.#oneOf([
      ["$cookie_member", `"" ${this.#zone}; default off;`],
      ["$http_cookie", `"~*session" off; default ${this.#zone};`],
      ["$request_method", `POST off; default ${this.#zone};`],
    ] as const);
    this.#http.push(`map ${of} $${name} { ${off} }`);
    return `$${name}`;
  }
}

/** nginx takes each prefix once on a level, with or without `^~`. */
function withoutDoubles(heads: readonly string[]): readonly string[] {
  return heads.filter((head, at) => heads.findIndex((other) => bare(other) === bare(head)) === at);
}

function bare(head: string): string {
  return head.replace("^~ ", "");
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
