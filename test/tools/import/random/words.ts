/** What configurations and visitors of the random comparison are made of. Both draw from the same words, so that they meet. */
export const PATHS: readonly string[] = [
  "/",
  "/news",
  "/news/a",
  "/blog/12",
  "/blog/12/edit",
  "/feed/",
  "/a/feed/",
  "/account/card",
  "/account",
  "/wp-admin/users",
  "/wp-admin/",
  "/shop/members/",
  "/wp-login.php",
  "/index.php",
  "/xmlrpc.php",
  "/cart",
  "/checkout/",
  "/my-account/",
  "/api/v1/items",
  "/api/private/me",
  "/static/a.css",
  "/static/app.JS",
  "/img/a.jpg",
  "/IMG/A.JPG",
  "/packs/app.js",
  "/emoji/a.svg",
  "/system/files/a",
  "/sites/default/files/b.png",
  "/user/login",
  "/old/page",
  "/.htaccess",
];

/**
 * Folders that nginx has on its disk, each with an `index.php`. Visitors ask for them with the slash alone: without it, nginx
 * redirects each of them in the same way.
 */
export const FOLDERS: readonly string[] = ["/", "/wp-admin/", "/my-account/", "/a/feed/", "/shop/members/"];

/** Spellings that nginx reads as another path than the edge does. */
export const ODD_PATHS: readonly string[] = [
  "//account/card",
  "/x//account/card",
  "/news//a",
  "/acc%6Funt/card",
  "/account%2Fcard",
  "/a/../account/card",
  "/caf%C3%A9",
  "/%C3%A9/a.jpg",
  "/a%20b",
  "/blog/%31%32",
];

export const QUERIES: readonly string[] = [
  "?p=1",
  "?s=word",
  "?page=2",
  "?preview=true",
  "?PREVIEW=1",
  "?nocache=1",
  "?nocache=0",
  "?redirect=/wp-admin/",
  "?x=wp-login.php",
  "?add-to-cart=7",
  "?a=1&nocache=1",
  "?",
];

/** Cookies of visitors; each value is another visitor's. */
export const COOKIES: readonly string[] = [
  "wordpress_logged_in_0a1b=",
  "comment_author_0a1b=",
  "wp-postpass_0a=",
  "PHPSESSID=",
  "sessionid=",
  "app_session=",
  "App_Session=",
  "SESS0a1b2c=",
  "member=",
  "MEMBER=",
  "nocache=",
  "x_nocache=",
  "theme=",
  "lang=",
  "remember_token=",
];

/** Expressions over `$http_cookie`, with the operator of an `if` and a map. */
export const COOKIE_REGEXES: readonly (readonly [operator: string, regex: string])[] = [
  ["~*", "comment_author|wordpress_[a-f0-9]+|wp-postpass|wordpress_no_cache|wordpress_logged_in"],
  ["~*", "session"],
  ["~", "SESS"],
  ["~", "(?:^|; )member="],
  ["~*", "PHPSESSID|remember_token"],
  ["~", "sessionid=[^;]+"],
  ["~", "."],
  ["~*", "member=.*;?"],
  ["~", "(nocache|theme)=1"],
];

/** Conditions on the value of a field, as an `if` has them. */
export const FIELD_TESTS: readonly string[] = [
  '$http_user_agent ~* "bot|spider"',
  "$http_user_agent ~ ^Bot",
  '$http_user_agent = "Bot"',
  "$http_user_agent !~ (Mozilla|Bot)",
  '$http_user_agent ~ "^$"',
  '$http_referer ~* "casino|poker"',
  "$http_referer ~ ^https://casino",
  '$http_referer != "https://casino.example/"',
  '$http_x_preview = "1"',
];

/** Values of `User-Agent` and `Referer`, some of them like those of several fields that a proxy has joined. */
export const AGENTS: readonly string[] = ["Bot", "A spider/1.0", "curl/8", "", "Mozilla/5.0, Bot", "Bot, Mozilla/5.0"];
export const REFERERS: readonly string[] = [
  "https://www.example.com/news",
  "https://www.example.com/news",
  "https://casino.example/",
  "https://a.example/?to=POKER",
  "https://casino.example/, https://a.example/",
];

/** Expressions over `$request_uri`, and over paths. */
export const URI_REGEXES: readonly (readonly [operator: string, regex: string])[] = [
  ["~*", "/wp-admin/|/xmlrpc.php|wp-.*.php|/feed/|index.php|sitemap(_index)?.xml"],
  ["~*", "/cart.*|/my-account.*|/checkout.*"],
  ["~", "^/account"],
  ["~", "/private/"],
  ["~*", "add-to-cart=|preview="],
  ["~", "^/user(/|$)"],
  ["~", "^/blog/\\d+/edit$"],
  ["~", "/wp-(admin|login|cron)"],
];

/** Lines that set a variable by a named group of an expression. */
export const captures = (name: string): readonly string[] => [
  `if ($http_cookie ~ "member=(?<${name}>\\w+)") { set $seen 1; }`,
  `if ($http_x_preview ~* "^(?P<${name}>.+)$") { set $seen 1; }`,
  `if ($request_uri ~ "^/(?'${name}'account|news)") { set $seen 1; }`,
  `rewrite "^/(?<${name}>blog)/" /news permanent;`,
];

export const LOCATIONS: readonly string[] = [
  "= /",
  "= /news",
  "= /wp-login.php",
  "= /index.php",
  "= /wp-admin/index.php",
  "~ ^/wp-admin/.*\\.php$",
  "~* /(?:members|uploads)/.*\\.php$",
  "~ /feed/index",
  "/news/",
  "/blog/",
  "/account/",
  "/account",
  "/api/",
  "/api/private/",
  "/static/",
  "/wp-admin/",
  "/user/",
  "^~ /static/",
  "^~ /system/files/",
  "^~ /api/private/",
  "~* \\.(jpg|jpeg|png|gif|svg|css|js)$",
  "~ \\.(css|js)$",
  "~ ^/(account|my-account|cart)",
  "~ ^/sites/.*/files/",
  "~ /\\.",
  "~* ^/wp-(admin|login)",
  "~ ^/blog/\\d+$",
  "~ ^/[^/]+/$",
  "~ ^/.{4}$",
  "~ /(private|edit)(/|$)",
  "~ ^/(packs|emoji|system)/",
  "~ [^/]\\.php(/|$)",
  "~ (a)\\1",
];
