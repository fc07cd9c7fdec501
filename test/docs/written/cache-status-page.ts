import type { MissReason, UnusableVerdict, UsableVerdict } from "../../../worker/flow/miss.ts";
import type { ForwardReason, XCache } from "../../../worker/rules/forwarding/cache-status.ts";
import type { StandInBecause } from "../../../worker/rules/freshness/stale-if-error.ts";
import type { NotStoredBecause } from "../../../worker/rules/storing/not-stored.ts";

/** The page that explains each value of `X-Cache` and `Cache-Status` once. */
export const CACHE_STATUS_PAGE = "docs/reference/cache-status.md";

type Meaning = string;
/** What it means, and what the owner can do. */
type Remedy = readonly [means: string, remedy: string];

/** The values of `X-Cache`, from the best to the worst. */
const OUTCOMES: Readonly<Record<XCache, Meaning>> = {
  HIT: "a fresh stored response",
  UPDATING: "a stale stored response; it is fetched again in the background",
  STALE: "a stale stored response, because the origin failed or is busy, or the request's `max-stale` allows it",
  REVALIDATED: "a stale stored response that the origin has confirmed with 304",
  EXPIRED: "the origin's answer; what was stored was stale",
  MISS: "the origin's answer; nothing usable was stored",
  BYPASS: "the origin's answer; the cache was not asked, or the request was a refresh",
};

/** The values of `fwd` (RFC 9211 §2.2). */
const FORWARDED: Readonly<Record<ForwardReason, Meaning>> = {
  "uri-miss": "nothing is stored for this URL",
  "vary-miss": "something is stored for this URL, but not the variant that the request selects",
  stale: "what is stored is stale or was purged; `detail` may say why",
  request: "what is stored may not answer this request; `detail` says why",
  partial: "a part of a page that is not stored whole was asked for",
  method: "the method is neither GET nor HEAD",
  bypass: "the owner's settings, or a condition of the request, send it past the cache",
};

/** The `detail` of an answer that was not stored, in the order in which the reasons are checked. */
const NOT_STORED: Readonly<Record<NotStoredBecause, Remedy>> = {
  "request-no-store": ["The request says `no-store`.", "Nothing: the next request stores the page."],
  authorization: [
    "The request has `Authorization`, and the answer is not for everybody.",
    "If it is, let the origin say `public` or `s-maxage`.",
  ],
  status: ["The status says nothing to other visitors (206, 401, 429 …).", "Nothing."],
  "unreadable-cache-control": [
    "`Cache-Control`, whose value is behind the colon, or `Surrogate-Control` cannot be read, so that it may forbid storing.",
    "Correct it at the origin: commas between directives, as in `public, max-age=60`.",
  ],
  "no-store": ["The origin says `no-store`.", "If the page may be stored, change the origin's `Cache-Control`."],
  private: ["The origin says `private`.", "The same, if the page is for everybody."],
  "x-accel-expires": ["The origin says `X-Accel-Expires: 0`, which nginx obeys.", "The same."],
  sendfile: [
    "`X-Accel-Redirect` or `X-Sendfile` asks a web server for a file, and none has sent it.",
    "Let the origin send the file itself, or keep its web server behind the edge.",
  ],
  "set-cookie": [
    "The answer sets a cookie; or only the owner gives a lifetime, and a field hands out credentials: `set-cookie:x-auth-token`.",
    "`stripSetCookie: true` on routes whose pages need no cookie. If all may have the field, let the origin say `public`.",
  ],
  vary: [
    "`Vary` is `*`, malformed, or names a field that cannot select.",
    "Correct the origin's `Vary`, or `fields.drop`.",
  ],
  cookie: [
    "The request has cookies that may have shaped the answer.",
    "`cookies.ignore` for those that do not, `key.cookies` for those that choose; or let the origin say `public`.",
  ],
  "error-for-odd-request": [
    "An error, for a request that is unlike a browser's, or that a browser sent ahead.",
    "Nothing; else `fields.trustForErrors`.",
  ],
  "unframed-body": [
    "The body ends with the connection, so that a cut looks like its end.",
    "Send `Content-Length` or chunks.",
  ],
  "no-freshness": [
    "Neither the origin nor a rule gives a lifetime, or it is `text/event-stream`.",
    "`Cache-Control` at the origin, or `defaultTtl`.",
  ],
  "no-cache": ["The origin says `no-cache`, and there is no validator to ask with.", "Let the origin send an `ETag`."],
  "stale-on-arrival": ["The lifetime was over when the answer came.", "See `Age`, `Date` and `max-age` of the origin."],
  "vary-too-long": [
    "`Vary` names too many fields, or their values are too long.",
    "`fields.drop` for a field that chooses nothing.",
  ],
  coding: ["`Content-Encoding` is not br, gzip, zstd or identity.", "Correct or remove it at the origin."],
  "too-many-parts": [
    "The ninth fresh value of a framework's field for parts of one page.",
    "Nothing, or `fields.drop`.",
  ],
  "too-many-tags": ["The answer has more tags than `limits.tags`.", "Send fewer tags, or raise the limit."],
  "tag-invalid": ["A tag is longer than 256 bytes or not printable ASCII.", "Correct the tag at the origin."],
  "unkeyed-field": [
    "The request has a field that is not in the key and may have chosen the answer: `unkeyed-field:x-app-version`.",
    "`key.fields` if it chooses the page, else `fields.drop` or (not for credentials) `fields.trust`; a second look may store it.",
  ],
  "redirects-to-itself": [
    "A redirect to the URL that was asked for.",
    "Correct the origin: it may need the scheme or host.",
  ],
  "too-large": ["The body is larger than the limits for bodies.", "`limits.storeBytes`, `limits.largeBytes`."],
  "other-rules": [
    "The parent has other rules, and may have asked for another visitor's choice.",
    "Give the parent and its children the same rules.",
  ],
  "being-stored": ["Another copy of this large body is being stored.", "Nothing: a later request is a hit."],
  "over-budget": [
    "Too many bodies were on their way, or too much of them; or this one stood still, or outlived its client by a minute.",
    "`limits.fillBytes`, `limits.fills`.",
  ],
  "cut-off": [
    "The body broke off: less than `Content-Length`, no last chunk, or a reset.",
    "See the origin's log for its timeouts and crashes.",
  ],
};

type Because<Reason, Kind> = Extract<Reason, { readonly kind: Kind; readonly because: string }>["because"];

/** Why a stored response was not used as it was. `stale` has no detail. */
const NOT_USED: Readonly<Record<Exclude<UnusableVerdict["because"], "stale"> | "body-gone", Meaning>> = {
  purged: "a hard purge has ended it",
  "soft-purge": "a soft purge has made it stale",
  invalidated: "an unsafe request (POST, PUT …) has invalidated it",
  "purge-state-unknown": "the purge log does not answer, so that it may have been purged",
  unverifiable:
    "it may have been purged: this isolate has not read all purges since it was fetched, or another log is in use",
  authorization: "it may not answer a request with `Authorization`",
  session: "it is for visitors without a session, and the request has one",
  "no-cache": "the origin wants to be asked each time",
  "request-directive": "the request's `Cache-Control` wants a fresher one",
  "body-gone": "its large body has left the cache, or is still on its way",
};

/** Why the cache was not asked. */
const NOT_LOOKED_UP: Readonly<
  Record<`bypass-${Because<MissReason, "past-the-cache">}` | "route-condition" | "unkeyed-field:…" | "refresh", Meaning>
> = {
  "bypass-cookie": "the request has a cookie that `bypass` names",
  "bypass-field": "the request has a field that `bypass` names",
  "bypass-query": "the URL has a parameter that `bypass` names",
  "bypass-session": "the path has a session: `;jsessionid=`",
  "route-condition": "the query does not meet the route's condition",
  "unkeyed-field:…": "a second look has found that this field chooses pages here",
  refresh: "the request is a refresh with a token",
};

/** Why a stale response was used. */
const STALE_USED: Readonly<Record<Because<UsableVerdict, "stale-usable"> | StandInBecause, Meaning>> = {
  "stale-while-revalidate": "the response's own `stale-while-revalidate`",
  "stale.whileRevalidate": "the setting of route or site",
  "soft-purge": "a soft purge: it answers while it is fetched again",
  "stale-if-error": "`stale-if-error` of the response or request",
  "stale.ifError": "the setting of route or site",
  "stale.ifDisconnected": "the setting of route or site; the origin gave no answer at all",
  "max-stale": "the request's `max-stale`",
};

/** The answers that the edge makes itself, by status and `detail`. */
const OWN_ANSWERS: readonly (readonly [status: string, detail: string, means: Meaning])[] = [
  ["200", "max-forwards", "`Max-Forwards: 0` of a TRACE or OPTIONS ends here"],
  ["200", "acme-challenge", "`tidemark serve` answers the certificate authority"],
  [
    "200",
    "health",
    "`tidemark serve` answers a probe: `OPTIONS *`, `OPTIONS /` of HTTP/1.0 without `Host`, and with several sites the health check",
  ],
  ["301, 308", "redirect", "`tidemark serve` sends http to https"],
  ["400", "url-refused", "the URL is malformed"],
  ["400", "bad-request", "the message is not HTTP/1.1 as RFC 9112 wants it; also with 408, 413, 421, 431, 501 and 505"],
  ["400", "request-fields-broken", "a field's name or value has a character that HTTP forbids"],
  ["400", "request-body-cut-off", "the client has not sent its body to the end; no failure of the origin"],
  ["400, 403", "no-child", "a child shows no valid token, or does not say whom it asks for"],
  ["401, 403", "refresh-refused", "`Tidemark-Refresh` has no token that may purge"],
  ["413", "request-body-too-large", "more than `limits.requestBodyBytes`"],
  ["414", "url-too-long", "more than `limits.urlBytes`"],
  ["417", "expectation", "an `Expect` other than `100-continue`"],
  ["421", "host-unknown", "the host is not one of the site's"],
  ["431", "request-fields-too-large", "more than `limits.requestFieldBytes`"],
  ["501", "connect", "CONNECT: this is no proxy"],
  ["502", "origin-unreachable", "the origin cannot be reached, or hung up before it answered"],
  ["502", "origin-bad-response", "the origin's answer is not one that HTTP allows, or over the limits"],
  ["502", "failed", "the edge failed; its log says why"],
  ["503", "no-hosts", "no hosts are configured"],
  ["503", "misconfigured", "the settings are not valid; the log says which"],
  ["503", "log-silent", "`tidemark serve` starts, and the purge log does not answer yet"],
  ["503", "too-many-connections", "`tidemark serve` has as many connections as it may"],
  ["503", "origin-down", "[the origin is known to be down](../http.md#an-origin-that-is-down)"],
  [
    "503",
    "origin-busy",
    "[the origin has no place](../http.md#an-origin-that-is-busy), and the request has waited for it",
  ],
  ["504", "origin-timed-out", "the origin took longer than `limits.originTimeout`"],
  ["504", "only-if-cached", "the request wants a stored response only, and there is none"],
  ["508", "loop", "the request came back to this edge"],
];

const INTRODUCTION = `# Reference: X-Cache and Cache-Status

Why was this a miss? Why was it not stored? \`npm run docs\` makes this page from tables beside the types in the sources.

\`\`\`console
$ curl -sI https://www.example.com/ | grep -i cache
x-cache: MISS
cache-status: tidemark; fwd=uri-miss; fwd-status=200; detail=no-freshness
\`\`\`

\`Cache-Status\` is a list (RFC 9211), in which Tidemark's member is the last: \`tidemark; hit; ttl=…\` for a stored response, or
\`tidemark; fwd=…; fwd-status=…; stored; collapsed; detail=…\`. \`stored\`: the answer is being stored. \`collapsed\`: the request
shared the fetch of another. \`tidemark explain URL\` says what would happen, and why, in sentences.`;

export function cacheStatusPage(): string {
  const of = (table: Readonly<Record<string, Meaning>>) =>
    Object.entries(table).map(([name, means]) => [code(name), means]);
  const sections = [
    INTRODUCTION,
    `## X-Cache\n\n${table(["value", "the client gets"], of(OUTCOMES))}`,
    `## fwd\n\n${table(["`fwd`", "why the origin was asked"], of(FORWARDED))}`,
    `## Not stored\n\nThe first reason that holds is given. What shows only on the body's way (\`over-budget\`, \`cut-off\`, and \`too-large\` without
\`Content-Length\`) comes after \`stored\` was sent: \`tidemark explain\` tells it. \`store.refused\` of the stats counts
them, and \`store.unkeyedFields\` the first 50 names of fields.\n\n${table(
      ["`detail`", "why the answer was not stored", "what to do"],
      Object.entries(NOT_STORED).map(([name, [means, remedy]]) => [code(name), means, remedy]),
    )}`,
    `## Stored, but not used as it was\n\n${table(["`detail`", "why"], of(NOT_USED))}`,
    `## Not looked up\n\n${table(["`detail`", "why"], of(NOT_LOOKED_UP))}`,
    `## Used although stale\n\n${table(["`detail`", "allowed by"], of(STALE_USED))}`,
    `## The edge's own answers\n\nThey have \`Cache-Status: tidemark; detail=…\`, \`Cache-Control: no-store\`, \`Content-Security-Policy: default-src 'none';
frame-ancestors 'none'\`, \`X-Content-Type-Options: nosniff\`, and no \`X-Cache\`.\n\n${table(
      ["status", "`detail`", "when"],
      OWN_ANSWERS.map(([status, detail, means]) => [status, code(detail), means]),
    )}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function code(name: string): string {
  return `\`${name}\``;
}
