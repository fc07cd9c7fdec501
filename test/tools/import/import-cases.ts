/** A server of nginx whose locations store or not, by a path of each. The mutants of the import's rules must fail some. */
export interface ImportCase {
  readonly name: string;
  readonly server: string;
  readonly http?: string;
  /** The bypass, or the key, of the route that stores the path; `null` for one that passes. */
  readonly routes: Readonly<Record<string, object | null>>;
  readonly compares?: "bypass" | "key";
}

const CACHED = "proxy_pass http://10.0.0.1; proxy_cache c; proxy_cache_valid 200 1h;";
/** Asks for the visitor's path behind an internal redirect, too. */
const ANY_PATH = CACHED.replace("10.0.0.1", "10.0.0.1$request_uri");
const STORES = {};
const MANY = Array.from({ length: 30 }, (_, at) => at);

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
    name: "methods",
    server: `location /write/ { ${CACHED} if ($request_method != GET) { set $skip 1; } proxy_no_cache $skip; }
      location /map/ { ${CACHED} proxy_no_cache $write; }
      location /get/ { ${CACHED} if ($request_method != POST) { set $skip 1; } proxy_no_cache $skip; }
      location /head/ { ${CACHED} if ($request_method = HEAD) { set $skip 1; } proxy_no_cache $skip; }`,
    http: "map $request_method $write { default 1; GET 0; }",
    routes: { "/write/x": STORES, "/map/x": STORES, "/get/x": null, "/head/x": null },
  },
  {
    name: "a key of a map that begins with a tilde",
    server: `location / { ${CACHED} proxy_no_cache $home; proxy_cache_bypass $home; }
      location /a/ { ${CACHED} proxy_no_cache $role; proxy_cache_bypass $role; }`,
    http: `map $http_cookie $home { default 0; "\\~.*" 1; } map $http_cookie $role { default 0; \\admin 1; }`,
    routes: { "/x": { cookies: [/^~\.\*$/i] }, "/a/x": { cookies: [/^admin$/i] } },
  },
  {
    name: "many paths of a map, by texts and by expressions",
    server: `if ($moved) { return 301 $moved; } location / { ${CACHED} } location /shop/ { ${CACHED} }`,
    http: `map $uri $moved { ${MANY.map((at) => `~^/exact-${at}$ /; /any-${at} /; ~^/sho.+x-${at}$ /; /shop/any-${at} /;`).join(" ")} }`,
    routes: {
      "/exact-9": null,
      "/EXACT-9": STORES,
      "/any-9": null,
      "/ANY-9": null,
      "/any-99": STORES,
      "/shop/x-9": null,
      "/shop/ANY-9": null,
      "/shop/any-99": STORES,
    },
  },
  {
    name: "lifetimes of which none counts",
    server: `location / { proxy_pass http://10.0.0.1; proxy_cache c; proxy_ignore_headers Cache-Control Expires; }
      location /a/ { ${CACHED.replace("200 1h", "any 0s")} proxy_ignore_headers Cache-Control Expires; }
      location /b/ { ${CACHED} proxy_ignore_headers Cache-Control Expires; }`,
    routes: { "/x": null, "/a/x": null, "/b/x": STORES },
  },
  {
    name: "a query that is set",
    server: `location / { ${CACHED} set $args ""; }
      location /a/ { ${CACHED} if ($arg_lang) { set $args "lang=$arg_lang"; } }
      location /b/ { ${CACHED} set $other ""; }`,
    routes: { "/x": null, "/a/x": { query: [/(?:^|&)lang=/i] }, "/b/x": STORES },
  },
  {
    name: "networks of a field",
    server: `location / { ${CACHED} proxy_no_cache $near; proxy_cache_bypass $near; }`,
    http: "geo $http_x_ip $near { default 0; 10.0.0.0/8 1; }",
    routes: { "/x": null },
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
    name: "a variable that is set again",
    server: `set $skip 0; set $flag 0; if ($http_cookie ~ sess) { set $flag 1; } if ($flag) { set $skip 1; }
      set $flag 0; if ($args ~ draft) { set $flag 1; } if ($flag) { set $skip 1; }
      if ($http_cookie ~ banned) { set $out 1; } if ($out) { return 403; } set $out 0;
      location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }
      location /a/ { set $skip 0; ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }
      location /b/ { set $mine ""; ${CACHED} proxy_no_cache $again; proxy_cache_bypass $again; }
      set $mine $cookie_member; if ($again) { set $seen 1; }`,
    http: "map $mine $again { default $mine; none 0; }",
    routes: {
      "/x": { cookies: [/banned/, /sess/], query: [/draft/] },
      "/a/x": { cookies: [/banned/] },
      "/b/x": { cookies: [/banned/, /\bmember *=/i] },
    },
  },
  {
    name: "variables in another letter case",
    server: `set $skipCache 0; if ($request_uri ~* "^/account") { set $skipcache 1; }
      if ($HTTP_X_Preview) { set $SKIPCACHE 1; } if ($isMember) { set $skipcache 1; }
      location / { ${CACHED} proxy_no_cache \${skipCache}; proxy_cache_bypass $skipCache; }
      location /b/ { ${CACHED} set $Args ""; }`,
    http: "map $Cookie_SESSID $IsMember { default 1; '' 0; }",
    routes: {
      "/account/x": null,
      "/x": { cookies: [/\bSESSID *=/i], fields: ["x-preview"] },
      "/b/x": null,
    },
  },
  {
    name: "a key of variables in another letter case",
    server: `location / { ${CACHED} proxy_cache_key $Host$Request_URI; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$Lang; }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$HTTP_X_App; }
      location /c/ { ${CACHED} proxy_cache_key $URI$Arg_Page; }`,
    http: "map $Cookie_Lang $lang { default en; de de; }",
    compares: "key",
    routes: {
      "/x": STORES,
      "/a/x": { cookies: { Lang: ["de"] } },
      "/b/x": { fields: ["x-app"] },
      "/c/x": { query: { only: ["Page"] } },
    },
  },
  {
    name: "a key with more values than a route may have",
    server: `location / { ${CACHED} proxy_cache_key $request_uri$few; } location /a/ { ${CACHED} proxy_cache_key $request_uri$many; }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$none; } location /c/ { ${CACHED} proxy_cache_key $request_uri$tongues; }`,
    http: `map $cookie_shop $few { ${MANY.map((at) => `s${at} ${at};`).join(" ")} }
      map $cookie_shop $many { ${MANY.map((at) => `s${at} ${at}; t${at} ${at};`).join(" ")} } map $cookie_shop $none { default a; }
      map $http_accept_language $tongues { ${MANY.map((at) => `~a${at} de-${at}; ~b${at} en-${at};`).join(" ")} }`,
    compares: "key",
    routes: {
      "/x": { cookies: { shop: MANY.map((at) => `s${at}`) } },
      "/a/x": null,
      "/b/x": null,
      "/c/x": { fields: ["accept-language"] },
    },
  },
  {
    name: "what an expression sets by a named group",
    server: `set $one ""; set $two ""; set $three ""; set $four ""; set $five ""; set $six ""; set $seven "";
      if ($http_x_preview ~ "^(?<One>.+)$") { set $seen 1; } rewrite "^/(?P<two>de|fr)/" /x redirect;
      if ($http_cookie ~ "lang=(?'three'de|fr)") { set $seen 1; }
      location / { ${CACHED} proxy_no_cache $six; proxy_cache_bypass $six; }
      location /a/ { ${CACHED} proxy_no_cache $one; proxy_cache_bypass $one; }
      location /b/ { ${CACHED} proxy_no_cache $two; proxy_cache_bypass $two; }
      location /c/ { ${CACHED} proxy_cache_key $request_uri$three; }
      location /d/ { location ~ ^/d/(?<four>e|f)/ { ${CACHED} proxy_no_cache $four; proxy_cache_bypass $four; } }
      location /e/ { ${CACHED} proxy_no_cache $five $host_of; proxy_cache_bypass $five; }
      location /f/ { ${CACHED} proxy_cache_key $request_uri$four$seven; }
      location /g/ { try_files $uri @g; } location @g { ${CACHED} set $seven ""; if ($uri ~ (?<seven>h)) { set $seen 1; }
        proxy_no_cache $seven; proxy_cache_bypass $seven; }`,
    http: "map $http_cookie $host_of { default 0; ~member=(?<five>.+) 0; }",
    routes: {
      "/x": STORES,
      "/a/x": null,
      "/b/x": null,
      "/c/x": null,
      "/d/e/x": null,
      "/e/x": null,
      "/f/x": {},
      "/g/x": null,
    },
  },
  {
    name: "a result of a map that is replaced",
    server: `if ($request_uri ~ ^/account) { set $skip 1; } location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$app; } location /b/ { ${CACHED} }
      if ($http_user_agent ~ Mobile) { set $app m; }`,
    http: "map $http_x_app $skip { default 0; a 1; } map $http_x_app $app { default 0; a 1; }",
    routes: { "/account/x": null, "/a/x": null, "/b/x": STORES },
  },
  {
    name: "a key of what is set to one value",
    server: `set $version v2; location / { ${CACHED} proxy_cache_key $version$request_uri; }
      location /a/ { ${CACHED} proxy_cache_key $m$request_uri; if ($http_user_agent ~ Mobile) { set $m m; } }`,
    compares: "key",
    routes: { "/x": STORES, "/a/x": { device: true } },
  },
  {
    name: "a key of what a break may skip",
    server: `set $v v1; location / { ${CACHED} proxy_cache_key $v$request_uri; }
      location /a/ { ${CACHED} proxy_cache_key $v$request_uri; if ($http_cookie ~ beta) { break; } set $v v2; }
      location /b/ { ${CACHED} proxy_cache_key $v$request_uri; if ($http_cookie ~ beta) { return 403; } set $v v2; }
      location /c/ { ${CACHED} proxy_cache_key $v$request_uri; set $v v2; if ($http_cookie ~ beta) { break; } }
      location /d/ { ${CACHED} proxy_cache_key $m$request_uri; if ($http_user_agent ~ Mobile) { set $m m; break; } }`,
    compares: "key",
    routes: { "/x": STORES, "/a/x": null, "/b/x": STORES, "/c/x": STORES, "/d/x": { device: true } },
  },
  {
    name: "a key of what a map reads",
    server: `location / { ${CACHED} proxy_cache_key $request_uri$lang; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$group; }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$client; }
      location /c/ { ${CACHED} proxy_cache_key $request_uri$http_x_forwarded_for; }
      location /d/ { ${CACHED} proxy_cache_key $request_uri$site$app; }`,
    http: `map $cookie_lang $lang { default $remote_addr; de de; } map $host $group { default $cookie_group; a.example a; }
      map $http_x_forwarded_for $client { "" none; default some; } map $host $site { default $host; b.example a; }
      map $http_x_app $app { default $http_x_app; "" none; }`,
    routes: { "/x": null, "/a/x": null, "/b/x": null, "/c/x": null, "/d/x": STORES },
  },
  {
    name: "captures of a map",
    server: `location / { ${CACHED} proxy_cache_key $request_uri$tenant$first$app$lang; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$member; }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$other; }
      location /c/ { ${CACHED} proxy_cache_key $request_uri$last; }
      location /d/ { ${CACHED} proxy_cache_key $request_uri$client; }`,
    http: `map $host $tenant { ~^(?<t>[^.]+)\\. $t; } map $host $first { default x; ~^([^.]+)\\. $1; }
      map $http_x_app $app { ~^v(?P<m>\\d+) $m; } map $http_accept_language $lang { ~*^(?<l>de|fr) $l; }
      map $cookie_member $member { ~(?<c>.+) $c; } map $host $other { default x; ~^a $c; }
      map $host $last { default $1; a.example a; } map $http_x_forwarded_for $client { ~(?<from>.+) $from; }`,
    routes: { "/x": STORES, "/a/x": null, "/b/x": null, "/c/x": null, "/d/x": null },
  },
  {
    name: "a map that yields what it reads",
    server: `location / { ${CACHED} proxy_cache_key $request_uri$agent; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$lang; }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$device; }
      location /c/ { ${CACHED} proxy_cache_key $request_uri$cookie; }
      location /d/ { ${CACHED} proxy_cache_key $request_uri$tablet; }`,
    http: `map $http_user_agent $tablet { default $host; ~iPad tablet.$host; } map $http_user_agent $agent { default $http_user_agent; ~Mobile mobile; }
      map $http_accept_language $lang { default $http_accept_language; ~^de de; }
      map $http_user_agent $device { default ""; ~Mobile mobile; } map $cookie_a $cookie { default $cookie_a; de de; }`,
    compares: "key",
    routes: {
      "/x": { fields: ["user-agent"] },
      "/a/x": { fields: ["accept-language"] },
      "/b/x": { device: true },
      "/c/x": null,
      "/d/x": { device: true },
    },
  },
  {
    name: "a key of bots",
    server: `location / { ${CACHED} proxy_cache_key $request_uri$bot; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$m; if ($http_user_agent ~* googlebot) { set $m bot; } }
      location /b/ { ${CACHED} proxy_cache_key $request_uri$kind; }`,
    http: `map $http_user_agent $bot { default ""; ~*googlebot|bingbot bot; }
      map $http_user_agent $kind { default ""; ~*googlebot bot; ~*iphone|android mobile; }`,
    compares: "key",
    routes: { "/x": { fields: ["user-agent"] }, "/a/x": null, "/b/x": { fields: ["user-agent"] } },
  },
  {
    name: "lines of a map that are missing",
    server: `location / { ${CACHED} proxy_no_cache $skip; proxy_cache_bypass $skip; }
      location /a/ { ${CACHED} proxy_cache_key $request_uri$group; }`,
    http: `map $http_cookie $skip { default 0; include /nowhere/skip/*.map; }
      map $http_x_app $group { default ""; include /nowhere/groups/*.map; }`,
    routes: { "/x": null, "/a/x": null },
  },
  {
    name: "escapes that nginx does not read",
    server: `location / { proxy_pass http://10.0.0.1; } location /caf%C3%A9/ { ${CACHED} } location /café/de/ { ${CACHED} }
      location ~ ^/b%C3%A9/ { ${CACHED} }
      location /in/ { ${CACHED} if ($request_uri ~ "%C3%A9|[%]E9") { return 403; } }`,
    routes: {
      "/caf%C3%A9/x": null,
      "/caf%C3%A9/de/x": STORES,
      "/b%C3%A9/x": null,
      "/in/%C3%A9": null,
      "/in/%E9": null,
      "/in/x": { query: [/%C3%A9|[%]E9/] },
    },
  },
  {
    name: "escapes that routes see as characters",
    server: `location / { ${CACHED} if ($request_uri ~ "^/%40team/|^/c%23") { return 403; } }
      location /a/ { ${CACHED} if ($request_uri ~ "^/a/(?!%40team)") { return 403; } } location /b\`/ { ${CACHED} }`,
    routes: { "/@team/x": null, "/c%23": null, "/steam/x": STORES, "/a/@team": null },
  },
  {
    name: "escapes in another letter case",
    server: `location / { ${CACHED} if ($request_uri ~ "^/caf%c3%a9/") { return 403; } }
      location /a/ { ${CACHED} if ($request_uri ~ "^/a/(?!caf%C3%A9/)") { return 403; } }
      location /b/ { ${CACHED} if ($request_uri ~* "^/b/(?!caf%C3%A9/)") { return 403; } }
      location /c/ { ${CACHED} if ($request_uri ~ "^/c/caf%(?:c3|e9)") { return 403; } }
      location /d/ { ${CACHED} if ($request_uri ~ "^/d/caf[%_]c3/") { return 403; } }
      location /e/ { ${CACHED} if ($request_uri ~ "^/e/%C3%A9/[^a-z/]") { return 403; } }`,
    routes: {
      "/caf%C3%A9/x": null,
      "/caf%C3%A8/x": STORES,
      "/a/caf%C3%A9/x": null,
      "/b/caf%C3%A9/x": STORES,
      "/b/x": null,
      "/c/caf%C3%A9/x": null,
      "/c/x": STORES,
      "/d/caf%C3/x": null,
      "/d/x": STORES,
      "/e/%C3%A9/X": null,
    },
  },
  {
    name: "bytes of a path",
    server: `location / { ${CACHED} if ($request_uri ~ "^/.{6}$") { return 403; } }
      location ~ "^/.{4}$|A9$" { proxy_pass http://10.0.0.1; } location /b/ { ${CACHED} }`,
    routes: { "/%C3%A9": null, "/%C3%A9xy": null, "/%C3%A9xyA9": null, "/b/%A9": STORES, "/b/%C3%A9x": STORES },
  },
  {
    name: "lookbehinds over bytes of a path",
    server: `location / { ${CACHED} } location ~ "(?<!A9)x$" { proxy_pass http://10.0.0.1; }`,
    routes: { "/%A9x": null, "/x/y": STORES },
  },
  {
    name: "a condition on bytes of a path",
    server: `location / { ${CACHED} if ($uri ~ \\bsecret) { set $skip 1; } proxy_no_cache $skip; }`,
    routes: { "/%C3%A9secret": null, "/x/y": STORES },
  },
  {
    name: "a location that disregards letter case by itself",
    server: `location / { ${CACHED} } location ~ (?i)^/account/ { proxy_pass http://10.0.0.1; }`,
    routes: { "/Account/x": null, "/x": STORES },
  },
  {
    name: "other spellings",
    server: `location / { ${CACHED} } location /account/ { proxy_pass http://10.0.0.1; }`,
    routes: { "//account/x": null, "/account": null, "/accounts": STORES },
  },
];
