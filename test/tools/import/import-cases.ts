/** A server of nginx whose locations store or not, by a path of each. The mutants of the import's rules must fail some. */
export interface ImportCase {
  readonly name: string;
  readonly server: string;
  readonly http?: string;
  /** The bypass of the route that stores the path; `null` for one that passes. */
  readonly routes: Readonly<Record<string, object | null>>;
}

const CACHED = "proxy_pass http://10.0.0.1; proxy_cache c; proxy_cache_valid 200 1h;";
/** Asks for the visitor's path behind an internal redirect, too. */
const ANY_PATH = CACHED.replace("10.0.0.1", "10.0.0.1$request_uri");
const STORES = {};

export const importCases: readonly ImportCase[] = [
  {
    name: "what is not inherited",
    server: `location / { location /in/ { proxy_pass http://10.0.0.1; } try_files $uri @app; } location @app { ${CACHED} }
      location /a/ { return 403; location /a/b/ { ${CACHED} } }
      location /i/ { internal; location /i/j/ { ${CACHED} } }
      location /l/ { limit_except POST { deny all; } location /l/m/ { ${CACHED} } }`,
    routes: { "/in/x": null, "/x": STORES, "/a/x": null, "/a/b/x": STORES, "/i/j/x": null, "/l/m/x": STORES },
  },
  {
    name: "an unknown directive",
    server: `location / { ${CACHED} unheard_of on; } location /other/ { ${CACHED} }`,
    routes: { "/x": null, "/other/x": STORES },
  },
  {
    name: "access of an outer block",
    server: `location / { deny all; location /in/ { ${CACHED} } ${CACHED} }`,
    routes: { "/in/x": null, "/x": null },
  },
  {
    name: "a zone that is off for members",
    server: `location / { ${CACHED.replace("cache c", "cache $zone")} }`,
    http: 'map $cookie_member $zone { default off; "" c; }',
    routes: { "/x": { cookies: [/\bmember *=/i] } },
  },
  {
    name: "a pattern of cookies",
    server: `location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`,
    http: 'map $http_cookie $skip { default 0; "~*session" 1; }',
    routes: { "/x": { cookies: [/session/i] } },
  },
  {
    name: "loops that may take exponential time",
    server: `location ~ ^/a/([\\w-]+/?)+$ { ${CACHED} }
      location /a/b/ { location ~ c$ { ${CACHED} proxy_no_cache $late; } }
      location / { ${CACHED} proxy_no_cache $skip; }
      location /f/ { ${CACHED} proxy_no_cache $named; }`,
    http: `map $http_cookie $skip { default 0; "~^(\\w+-?)+=1$" 1; } map $uri $late { default 0; "~^/(a*)*$" 1; }
      map $http_x_app $named { default 0; "~((a+)+)+" 1; }`,
    routes: { "/a/b/c": null, "/a/x": null, "/x": null, "/f/x": null },
  },
  {
    name: "a condition that leads elsewhere",
    server: `location / { error_page 418 = @no; if ($http_cookie ~ member) { return 418; } ${CACHED} }`,
    routes: { "/x": { cookies: [/member/] } },
  },
  {
    name: "a query that the key leaves out",
    server: `location / { ${CACHED} proxy_cache_key $host$uri; proxy_no_cache $args; proxy_cache_bypass $args; }`,
    routes: { "/x": { query: [/./] } },
  },
  {
    name: "an internal redirect",
    server: `location / { try_files $uri /index.php?$args; } location = /index.php { ${CACHED} }
      location /a/ { try_files $uri /all.php; }
      location = /all.php { ${CACHED.replace("10.0.0.1", "10.0.0.1$request_uri")} }`,
    routes: { "/x": null, "/a/x": STORES, "/index.php": STORES },
  },
  {
    name: "files that decide",
    server: `location / { try_files $uri =404; ${CACHED} }
      location /a/ { try_files /mine/$cookie_member $uri @app; } location /b/ { try_files $uri @app; }
      location /c/ { try_files $fastcgi_script_name @app; } location @app { ${CACHED} }`,
    routes: { "/x": null, "/a/x": null, "/b/x": STORES, "/c/x": STORES },
  },
  {
    name: "folders with an index",
    server: `index index.php; set $skip 0; if ($uri ~ /index) { set $skip 1; }
      location / { try_files $uri $uri/ @app; } location @app { ${CACHED} }
      location ~ ^/members/.*\\.php$ { proxy_pass http://10.0.0.1; } location ~ /\\.(?!well-known) { deny all; }
      location = /one/index.php { ${CACHED} } location /in { deny all; } location = /a/index.html { deny all; }
      location /all/ { try_files $uri $uri/ @app; location ~ \\.php$ { ${ANY_PATH} proxy_no_cache $cookie_a; } }
      location /same/ { try_files $uri $uri/ @app; location ~ \\.php$ { ${ANY_PATH} } }
      location /tests/ { try_files $uri $uri/ @skipped; location ~ \\.php$ { ${ANY_PATH} proxy_no_cache $skip; } }
      location @skipped { ${CACHED} proxy_no_cache $skip; }
      location ^~ /other/ { index index.$host.php; try_files $uri $uri/ @app; }
      location ^~ /cached/ { try_files /cache$uri/ @app; } location ^~ /up/ { try_files $uri $uri/ @app; ${CACHED} }`,
    routes: {
      "/x": STORES,
      "/x/": STORES,
      "/members/x/": null,
      "/members/x": STORES,
      "/one/": null,
      "/one/two/": STORES,
      "/a/": STORES,
      "/": null,
      "/all/x/": null,
      "/all/x": STORES,
      "/same/x/": STORES,
      "/tests/x/": null,
      "/tests/x": STORES,
      "/other/x": null,
      "/cached/x": null,
      "/up/x/": STORES,
    },
  },
  {
    name: "values of fields",
    server: `location / { if ($http_user_agent ~* bot) { return 403; } ${CACHED} }
      location /a/ { if ($http_x_app != 1) { return 403; } ${CACHED} }
      location /b/ { if ($http_x_app = 1) { return 403; } ${CACHED} }`,
    routes: {
      "/x": { fields: { "user-agent": [/bot/i] } },
      "/a/x": null,
      "/b/x": { fields: { "x-app": [/(?:^|, ?)1(?=,|$)/] } },
    },
  },
  {
    name: "who is let in",
    server: `location / { allow all; deny 10.0.0.1; ${CACHED} } location /a/ { allow 10.0.0.1; deny all; ${CACHED} }
      location /b/ { deny 10.0.0.1; allow all; ${CACHED} }`,
    routes: { "/x": STORES, "/a/x": null, "/b/x": null },
  },
  {
    name: "a map of several variables",
    server: `location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }`,
    http: `map $http_cookie $member { default 0; ~SESS 1; } map $is_args $asked { default 1; "" 0; }
      map $member$asked $skip { default 1; 00 0; }`,
    routes: { "/x": { cookies: [/SESS/], query: true } },
  },
  {
    name: "names with a dot",
    server: `location / { ${CACHED} } location ~ /\\.(git|svn) { deny all; }`,
    routes: { "/.git/a": null, "/git/a": STORES },
  },
  {
    name: "other spellings",
    server: `location / { ${CACHED} } location /account/ { proxy_pass http://10.0.0.1; }`,
    routes: { "//account/x": null, "/account": null, "/accounts": STORES },
  },
];
