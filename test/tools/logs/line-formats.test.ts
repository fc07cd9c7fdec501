import { describe, expect, test } from "vitest";
import { LineReader } from "../../../tools/logs/line-reader.ts";
import { type LineKind, LoggedRequest, UNKNOWN_STATUS } from "../../../tools/logs/logged-request.ts";

const AT = Date.UTC(2026, 9, 10, 13, 55, 36);
const TIME = "[10/Oct/2026:15:55:36 +0200]";

/** Reads lines with one reader, and returns the last one's kind and request. */
function read(...lines: readonly string[]): Partial<LoggedRequest> & { readonly kind: LineKind } {
  const reader = new LineReader();
  const request = new LoggedRequest();
  let kind: LineKind = "nothing";
  for (const line of lines) kind = reader.read(line, request);
  return { kind, ...request };
}

/** A line of `tidemark serve --log-format json`. */
const ofServe = (answer: object) =>
  JSON.stringify({
    ...{ time: "2026-10-10T13:55:36.000Z", client: "192.0.2.7", method: "GET", target: "/a?q=x", bytes: 2326 },
    ...answer,
  });

const OF_LOGPUSH = {
  EdgeStartTimestamp: AT * 1_000_000,
  ClientRequestMethod: "GET",
  ClientRequestURI: "/a?q=x",
  EdgeResponseStatus: 200,
  EdgeResponseBytes: 2326,
};

const page = { kind: "request" as const, at: AT, method: "GET", target: "/a?q=x", status: 200, bytes: 2326 };

describe("a line of", () => {
  test.each<{ name: string; lines: readonly string[]; expect: Partial<LoggedRequest> & { kind?: LineKind } }>([
    {
      name: "nginx combined",
      lines: [`192.0.2.7 - alice ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "https://a.example/" "Firefox"`],
      expect: { ...page, userAgent: "Firefox", host: "", client: "192.0.2.7", tookMs: null },
    },
    {
      name: "nginx combined with $upstream_cache_status behind it",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" 0.004 EXPIRED`],
      expect: { ...page, cacheStatus: "EXPIRED", client: "192.0.2.7", tookMs: null },
    },
    {
      name: "nginx, whose user has brackets in the name",
      lines: [`192.0.2.7 - a[l]ice ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, userAgent: "Firefox", client: "192.0.2.7" },
    },
    {
      name: "a server that writes IPv6 addresses in brackets",
      lines: [`[2001:db8::7] - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, userAgent: "Firefox", client: "2001:db8::7" },
    },
    {
      name: "Apache with milliseconds",
      lines: ['192.0.2.7 - - [10/Oct/2026:15:55:36.057 +0200] "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"'],
      expect: { ...page, at: AT + 57, userAgent: "Firefox", client: "192.0.2.7" },
    },
    {
      name: "Apache common",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.0" 200 2326`],
      expect: { ...page, userAgent: "", client: "192.0.2.7", tookMs: null },
    },
    {
      name: "Apache common without a size",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.0" 304 -`],
      expect: { ...page, status: 304, bytes: 0 },
    },
    {
      name: "Apache with its virtual host in front",
      lines: [`www.example.com:443 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    {
      name: "Apache with a host in capitals",
      lines: [`WWW.Example.com 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    {
      name: "Apache with X-Forwarded-For in front of the balancer's address, which is no host",
      lines: ["203.0.113.5", "2001:db8::7", "::ffff:203.0.113.5", "-"].map(
        (visitor) => `${visitor} 10.0.0.5 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
      ),
      expect: { ...page, host: "", client: "10.0.0.5" },
    },
    {
      name: "Apache with a virtual host that has an address for its name",
      lines: [`192.0.2.1:8080 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "192.0.2.1:8080", client: "192.0.2.7" },
    },
    ...["2026-10-10T13:55:36.123456789Z", "2026-10-10T15:55:36+02:00", "[pod/web-6c9d/nginx]"].map((prefix) => ({
      name: `nginx behind ${prefix}, which Docker or Kubernetes wrote, and which is no host`,
      lines: [`${prefix} 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "", client: "192.0.2.7" },
    })),
    {
      name: "lighttpd, which has the host behind the visitor",
      lines: [`192.0.2.7 WWW.example.com:80 - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    ...["alice", "www.alice.example"].map((user) => ({
      name: `lighttpd, of the user ${user}`,
      lines: [`192.0.2.7 WWW.example.com:80 ${user} ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    })),
    {
      name: "Apache, with a name of identd and a user, which are no hosts",
      lines: [`192.0.2.7 ident alice ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "" },
    },
    {
      name: "a word, a host and a user in front of an address, of which the host is none",
      lines: [`web www.example.com alice 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "", client: "192.0.2.7" },
    },
    {
      name: "lighttpd, of a visitor with IPv6 and a local host",
      lines: [`2001:db8::7 shop:8080 - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "shop:8080", client: "2001:db8::7" },
    },
    {
      name: "nginx with $host between the time and the request",
      lines: [
        `192.0.2.7 - - ${TIME} WWW.example.com "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
        `192.0.2.7 - - ${TIME} www.example.com:443 "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
      ],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    {
      name: "nginx with something else between the time and the request",
      lines: [
        `192.0.2.7 - - ${TIME} 0.004 "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
        `192.0.2.7 - - ${TIME} 10.0.0.2:8080 "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
        `192.0.2.7 - - ${TIME} to web.example "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`,
      ],
      expect: { ...page, host: "", client: "192.0.2.7" },
    },
    {
      name: "tidemark serve, whose line ends with X-Cache and the seconds",
      lines: [`2001:db8::7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" MISS 0.004`],
      expect: { ...page, cacheStatus: "MISS", client: "2001:db8::7", tookMs: 4 },
    },
    {
      name: "tidemark serve with several sites, of a request that no cache judged, on a unix socket",
      lines: [`shop unix: - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" - 12.500`],
      expect: { ...page, host: "shop", cacheStatus: "", client: "", tookMs: 12_500 },
    },
    {
      name: "tidemark serve, of an answer in the origin's place, whose seconds are those in the queue",
      lines: [`2001:db8::7 - - ${TIME} "GET /a?q=x HTTP/1.1" 503 20 "-" "Firefox" - 5.000`],
      expect: { ...page, status: 503, bytes: 20, client: "2001:db8::7", tookMs: null },
    },
    {
      name: "nginx behind syslog, with a number at its end that nothing names",
      lines: [
        `<190>Oct 10 13:55:36 web nginx: 192.0.2.7 - alice ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" 0.004`,
      ],
      expect: { ...page, client: "192.0.2.7", tookMs: null },
    },
    {
      name: "nginx with $http_x_forwarded_for in front, which is no host: the last address is the one that no client can invent",
      lines: [`203.0.113.5, 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "", client: "192.0.2.7" },
    },
    {
      name: "nginx, whose user has a dash with spaces in the name",
      lines: [`192.0.2.7 - a - b ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, client: "192.0.2.7" },
    },
    {
      name: "varnishncsa with %{Varnish:hitmiss}x behind it",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" hit`],
      expect: { ...page, cacheStatus: "HIT" },
    },
    {
      name: "nginx with a word behind it that only begins like a cache's",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" "a miss" missed`],
      expect: { ...page, cacheStatus: "" },
    },
    {
      name: "Apache with escaped quotes",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=\\"x\\" HTTP/1.1" 200 2326 "\\"" "Fire\\"fox"`],
      expect: { ...page, target: '/a?q="x"', userAgent: 'Fire\\"fox' },
    },
    {
      name: "Apache with an escaped backslash before letters that are no escape",
      lines: [`192.0.2.7 - - ${TIME} "GET /a\\\\x22\\t HTTP/1.1" 200 2326 "-" "-"`],
      expect: { ...page, target: "/a\\x22\t" },
    },
    {
      name: "varnishncsa, with the URL in full",
      lines: [`192.0.2.7 - - ${TIME} "GET http://WWW.example.com/a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com" },
    },
    {
      name: "nginx as JSON",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request_method":"GET","request_uri":"/a?q=x","status":"200","body_bytes_sent":"2326","host":"www.example.com","http_user_agent":"Firefox","upstream_cache_status":"HIT","remote_addr":"192.0.2.7","request_time":"0.250","upstream_response_time":"0.002, 0.120"}',
      ],
      expect: {
        ...page,
        host: "www.example.com",
        userAgent: "Firefox",
        cacheStatus: "HIT",
        client: "192.0.2.7",
        tookMs: 122,
      },
    },
    {
      name: "nginx as JSON, of a request that reached no upstream",
      lines: [
        `{"msec":"${AT / 1000}.000","request":"GET /a?q=x HTTP/2.0","status":200,"bytes_sent":2326,"request_time":0.25,"upstream_response_time":"-"}`,
      ],
      expect: { ...page, client: "", tookMs: 250 },
    },
    {
      name: "nginx as JSON with the request line and $msec",
      lines: [`{"msec":"${AT / 1000}.000","request":"GET /a?q=x HTTP/2.0","status":200,"bytes_sent":2326}`],
      expect: { ...page, client: "", tookMs: null },
    },
    {
      name: "Apache as JSON, with %t for the time",
      lines: [
        '{"time":"[10/Oct/2026:15:55:36 +0200]","remoteIP":"192.0.2.7","host":"www.example.com","request":"GET /a?q=x HTTP/1.1","status":"200","bytes":"2326"}',
      ],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    ...["192.0.2.7", "2001:db8::7"].map((client) => ({
      name: `JSON in which the host is the visitor's, ${client}`,
      lines: [
        `{"time":"2026-10-10T15:55:36+02:00","host":"${client}","method":"GET","uri":"/a?q=x","status":"200","bytes":"2326"}`,
      ],
      expect: { ...page, host: "", client },
    })),
    {
      name: "JSON with a site that is asked for by its address",
      lines: [
        '{"time":"2026-10-10T15:55:36+02:00","remote_addr":"192.0.2.7","host":"192.0.2.1","method":"GET","uri":"/a?q=x","status":"200","bytes":"2326"}',
      ],
      expect: { ...page, host: "192.0.2.1", client: "192.0.2.7" },
    },
    {
      name: "Apache as JSON, with %U as the request, and %q, which begins with its question mark",
      lines: [
        '{"time":"2026-10-10T15:55:36+0200","remoteIP":"192.0.2.7","request":"/a","query":"?q=x","method":"HEAD","status":"200","bytes":"2326"}',
      ],
      expect: { ...page, method: "HEAD", client: "192.0.2.7" },
    },
    {
      name: "nginx as JSON with $uri and $args",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request_method":"GET","uri":"/a","args":"q=x","status":200,"bytes_sent":2326}',
      ],
      expect: page,
    },
    {
      name: "nginx as JSON with the request line and $uri, which a rewrite has changed",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request":"GET /a?q=x HTTP/1.1","uri":"/index.php","args":"p=a","status":200,"bytes_sent":2326}',
      ],
      expect: page,
    },
    {
      name: "nginx as JSON with the request line, and with the path of the log, which a shipper added",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request":"HEAD /a?q=x HTTP/1.1","path":"/var/log/nginx/access.json","status":200,"bytes_sent":2326}',
      ],
      expect: { ...page, method: "HEAD" },
    },
    ...["log", "MESSAGE", "message"].flatMap((name) => [
      {
        name: `nginx combined within JSON of Docker, journald or Filebeat, as ${name}`,
        lines: [
          JSON.stringify({
            [name]: `192.0.2.7 - - ${TIME} "GET /caf\u00e9 HTTP/1.1" 200 2326 "-" "Firefox"\n`,
            time: "2026-10-10T13:55:40.1Z",
          }),
        ].map((line) => Buffer.from(line).toString("latin1")),
        expect: { ...page, target: "/caf%C3%A9", userAgent: "Firefox", client: "192.0.2.7" },
      },
      {
        name: `JSON within JSON, as ${name}`,
        lines: [JSON.stringify({ [name]: ofServe({ status: 200, ms: 4 }), stream: "stdout" })],
        expect: { ...page, client: "192.0.2.7", tookMs: 4 },
      },
      {
        name: `JSON with a message of its own, as ${name}`,
        lines: [ofServe({ status: 200, [name]: "handled request" })],
        expect: page,
      },
    ]),
    ...["caddy-1  | ", "2026-10-10T13:55:36.123456789Z ", "[pod/web-6c9d/nginx] ", "Oct 10 13:55:36 web nginx: "].map(
      (prefix) => ({
        name: `JSON behind "${prefix}"`,
        lines: [`${prefix}{"msec":"${AT / 1000}.000","request":"GET /a?q=x HTTP/2.0","status":200,"bytes_sent":2326}`],
        expect: page,
      }),
    ),
    {
      name: "nginx as JSON without escape=json, which escapes as no JSON does",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request":"GET /a?q=\\x22caf\\xC3\\xA9\\x5C HTTP/1.1","status":200,"bytes_sent":2326,"http_user_agent":"Fire\\x22fox"}',
      ],
      expect: { ...page, target: '/a?q="caf%C3%A9\\', userAgent: 'Fire"fox' },
    },
    {
      name: "ingress-nginx, as in its documentation",
      lines: [
        '{"time": "2026-10-10T15:55:36+02:00", "remote_addr": "192.0.2.7", "x_forwarded_for": "192.0.2.7", "request_id": "id", "remote_user": "", "bytes_sent": 2326, "request_time": 0.012, "status": 200, "vhost": "www.example.com", "request_proto": "HTTP/1.1", "path": "/a", "request_query": "q=x", "request_length": 120, "duration": 0.012, "method": "GET", "http_referrer": "", "http_user_agent": "Firefox" }',
      ],
      expect: { ...page, host: "www.example.com", userAgent: "Firefox", client: "192.0.2.7", tookMs: 12 },
    },
    {
      name: "Cloudflare Logpush, with nanoseconds",
      lines: [
        `{"EdgeStartTimestamp":${AT}000000,"ClientRequestMethod":"GET","ClientRequestURI":"/a?q=x","ClientRequestHost":"www.example.com","EdgeResponseStatus":200,"EdgeResponseBytes":2326,"CacheCacheStatus":"miss","ClientIP":"2001:db8::7","OriginResponseDurationMs":87}`,
      ],
      expect: { ...page, host: "www.example.com", cacheStatus: "MISS", client: "2001:db8::7", tookMs: 87 },
    },
    ...[{ WorkerSubrequest: true }, { ClientRequestSource: "edgeWorkerCacheAPI" }].map((source) => ({
      name: `Cloudflare Logpush, of a worker's request, which is no visitor's: ${Object.keys(source)}`,
      lines: [JSON.stringify({ ...OF_LOGPUSH, ...source })],
      expect: { kind: "nothing" as const },
    })),
    {
      name: "Cloudflare Logpush, of a visitor's request to a worker",
      lines: [JSON.stringify({ ...OF_LOGPUSH, WorkerSubrequest: false, ClientRequestSource: "eyeball" })],
      expect: page,
    },
    {
      name: "Caddy",
      lines: [
        `{"ts":${AT / 1000}.0,"request":{"method":"GET","host":"www.example.com","uri":"/a?q=x","remote_ip":"10.0.0.1","client_ip":"192.0.2.7"},"status":200,"size":2326,"duration":0.0125}`,
      ],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7", tookMs: 12.5 },
    },
    {
      name: "Caddy with a crawler's request, whose fields are lists",
      lines: [
        `{"ts":${AT / 1000}.0,"request":{"method":"GET","host":"www.example.com","uri":"/a?q=x","headers":{"User-Agent":["Googlebot/2.1"],"Accept":["*/*"]}},"status":200,"size":2326}`,
      ],
      expect: { ...page, userAgent: "Googlebot/2.1" },
    },
    {
      name: "an older Caddy, which has the port with the address",
      lines: [
        `{"ts":${AT / 1000}.0,"request":{"method":"GET","remote_addr":"192.0.2.7:41342","uri":"/a?q=x"},"status":200,"size":2326}`,
      ],
      expect: { ...page, client: "192.0.2.7", tookMs: null },
    },
    {
      name: "tidemark serve as JSON, of a request that waited for its turn at the origin",
      lines: [
        `{"time":"2026-10-10T13:55:36.000Z","client":"192.0.2.7","method":"GET","target":"/a?q=x","protocol":"HTTP/1.1","host":"www.example.com","status":200,"bytes":2326,"referer":null,"userAgent":"Firefox","xCache":"MISS","detail":null,"ms":130.5,"whole":true,"queue":{"client":"other","ms":100,"turn":true}}`,
      ],
      expect: {
        ...page,
        host: "www.example.com",
        userAgent: "Firefox",
        cacheStatus: "MISS",
        client: "192.0.2.7",
        tookMs: 30.5,
      },
    },
    {
      name: "tidemark serve as JSON, of a request that left before its turn at the origin had come",
      lines: [
        ofServe({ status: 499, xCache: null, detail: null, ms: 700, queue: { client: "other", ms: 700, turn: false } }),
      ],
      expect: { ...page, status: 499, tookMs: null },
    },
    {
      name: "tidemark serve as JSON, of an answer in the origin's place, which says nothing of the origin's",
      lines: [ofServe({ status: 504, xCache: null, detail: "origin-timed-out", ms: 30_000 })],
      expect: { kind: "request", target: "/a?q=x", status: UNKNOWN_STATUS, bytes: 0, cacheStatus: "", tookMs: 30_000 },
    },
    {
      name: "tidemark serve as JSON, of an answer to a request that is none of the site's",
      lines: [ofServe({ status: 421, xCache: null, detail: "host-unknown", ms: 0.2 })],
      expect: { kind: "own" },
    },
    {
      name: "tidemark serve as JSON, of a page that was not stored",
      lines: [ofServe({ status: 200, xCache: "MISS", detail: "private", ms: 20 })],
      expect: { ...page, cacheStatus: "MISS", tookMs: 20 },
    },
    {
      name: "CloudFront",
      lines: [
        "#Version: 1.0",
        "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header time-taken",
        "2026-10-10\t13:55:36\tFRA2\t2326\t192.0.2.7\tGET\td111.cloudfront.net\t/a\t200\t-\tFirefox\tq=x\t-\tHit\tid\twww.example.com\t0.125",
      ],
      expect: { ...page, host: "www.example.com", cacheStatus: "HIT", client: "192.0.2.7", tookMs: 125 },
    },
    {
      name: "IIS, whose durations are in milliseconds",
      lines: [
        "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) sc-status sc-win32-status sc-bytes time-taken",
        "2026-10-10 13:55:36 10.0.0.1 GET /a q=x 443 192.0.2.7 Firefox 200 0 2326 46",
      ],
      expect: { ...page, client: "192.0.2.7", tookMs: 46 },
    },
    {
      name: "others with columns, whose durations are in a unit that nothing names",
      lines: [
        "#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes time-taken",
        "2026-10-10 13:55:36 192.0.2.7 GET /a q=x 200 2326 46",
      ],
      expect: { ...page, client: "192.0.2.7", tookMs: null },
    },
    {
      name: "an AWS Application Load Balancer, as in its documentation",
      lines: [
        'https 2026-10-10T13:55:36.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 2326 "GET https://www.example.com:443/a?q=x HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "arn:aws:acm:us-east-2:123456789012:certificate/12345678-1234-1234-1234-123456789012" 1 2026-10-10T13:55:36.000000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1234abcd5678ef90',
      ],
      expect: {
        ...page,
        at: AT + 186,
        host: "www.example.com",
        userAgent: "curl/7.46.0",
        client: "192.168.131.39",
        tookMs: 48,
      },
    },
    {
      name: "an AWS Application Load Balancer that reached no target",
      lines: [
        'h2 2026-10-10T13:55:36.000000Z app/my-loadbalancer/50dc6c495c0c9188 10.0.1.252:48160 - -1 -1 -1 503 - 5 257 "GET http://www.example.com:8080/ HTTP/2.0" "-" - - - "Root=1-58337327-72bd00b0343d75b906739c42" "-" "-" 0 2026-10-10T13:55:36.000000Z "fixed-response" "-" "-" "-" "-" "-" "-"',
      ],
      expect: {
        status: 503,
        target: "/",
        host: "www.example.com:8080",
        userAgent: "",
        bytes: 257,
        client: "10.0.1.252",
        tookMs: null,
      },
    },
    {
      name: "an AWS Application Load Balancer, of bytes that are no HTTP",
      lines: [
        'http 2026-10-10T13:55:36.000000Z app/my-loadbalancer/50dc6c495c0c9188 10.0.1.252:48160 - -1 -1 -1 400 - 0 272 "- http://my-loadbalancer-1.us-east-2.elb.amazonaws.com:80- -" "-" - - - "-" "-" "-" - 2026-10-10T13:55:36.000000Z "-" "-" "-" "-" "-" "-" "-"',
      ],
      expect: { kind: "request", at: AT, method: "", status: 400 },
    },
    {
      name: "HAProxy's httplog behind syslog, as in its documentation",
      lines: [
        'Oct 10 13:55:36 localhost haproxy[14389]: 10.0.1.2:33317 [10/Oct/2026:13:55:36.655] http-in static/srv1 10/0/30/69/109 200 2326 - - ---- 1/1/1/1/0 0/0 {www.example.com|Mozilla/5.0} {} "GET /a?q=x HTTP/1.1"',
      ],
      expect: { ...page, at: AT + 655, host: "www.example.com", client: "10.0.1.2", tookMs: 99 },
    },
    {
      name: "HAProxy's httpslog, without captured fields, whose lines have a host only if they are of HTTP/2",
      lines: [
        '2001:db8::7:33317 [10/Oct/2026:13:55:36.000] https~ static/srv1 10/20/30/69/+129 200 +2326 - - ---- 1/1/1/1/0 0/0 "GET https://www.example.com/a?q=x HTTP/2.0" 0/0000000000000000/0/0/0 www.example.com/TLSv1.3/TLS_AES_256_GCM_SHA384',
      ],
      expect: { ...page, host: "", client: "2001:db8::7", tookMs: 99 },
    },
    {
      name: "HAProxy's httpslog of HTTP/2, with the host captured",
      lines: [
        '192.0.2.7:33317 [10/Oct/2026:13:55:36.000] https~ static/srv1 10/0/30/69/109 200 2326 - - ---- 1/1/1/1/0 0/0 {WWW.example.com:8443} "GET https://www.example.com:8443/a?q=x HTTP/2.0" 0/0000000000000000/0/0/0 www.example.com/TLSv1.3/TLS_AES_256_GCM_SHA384',
      ],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7" },
    },
    {
      name: "HAProxy, which escapes quotes, its own sign and bytes outside of ASCII",
      lines: [
        '192.0.2.7:33317 [10/Oct/2026:13:55:36.000] https~ static/srv1 10/0/30/69/109 200 2326 - - ---- 1/1/1/1/0 0/0 "GET /caf#C3#A9?q=#22x#22&#23 HTTP/1.1"',
      ],
      expect: { ...page, target: '/caf%C3%A9?q="x"&#' },
    },
    {
      name: "HAProxy, of a request that it could not read",
      lines: [
        'haproxy[14389]: 10.0.1.2:33313 [10/Oct/2026:13:55:36.000] http-in http-in/<NOSRV> -1/-1/-1/-1/+50001 408 +2 - - cR-- 2/2/0/0/+2 0/0 "<BADREQ>"',
      ],
      expect: { kind: "request", method: "", status: 408, client: "10.0.1.2", tookMs: null },
    },
    {
      name: "Traefik as JSON",
      lines: [
        '{"ClientAddr":"192.0.2.7:52654","ClientHost":"192.0.2.7","ClientPort":"52654","ClientUsername":"-","DownstreamContentSize":2326,"DownstreamStatus":200,"Duration":3454189,"OriginContentSize":999,"OriginDuration":3427197,"OriginStatus":201,"Overhead":26992,"RequestAddr":"www.example.com","RequestContentSize":0,"RequestCount":5,"RequestHost":"www.example.com","RequestMethod":"GET","RequestPath":"/a?q=x","RequestPort":"-","RequestProtocol":"HTTP/2.0","RequestScheme":"https","RetryAttempts":0,"RouterName":"shop@docker","StartLocal":"2026-10-10T15:55:36.189830187+02:00","StartUTC":"2026-10-10T13:55:36.189830187Z","entryPointName":"websecure","level":"info","msg":"","request_User-Agent":"Firefox","time":"2026-10-10T13:55:39Z"}',
      ],
      expect: {
        ...page,
        at: AT + 189,
        host: "www.example.com",
        userAgent: "Firefox",
        client: "192.0.2.7",
        tookMs: 3.427197,
      },
    },
    {
      name: "Fastly's JSON, as its logging endpoints begin with it",
      lines: [
        '{"timestamp":"2026-10-10T13:55:36+0000","client_ip":"192.0.2.7","geo_country":"germany","geo_city":"berlin","host":"www.example.com","url":"/a?q=x","request_method":"GET","request_protocol":"HTTP/2","request_referer":"","request_user_agent":"Firefox","response_state":"HIT-CLUSTER","response_status":200,"response_reason":"OK","response_body_size":2326,"fastly_server":"cache-fra-1","fastly_is_edge":true}',
      ],
      expect: {
        ...page,
        host: "www.example.com",
        userAgent: "Firefox",
        cacheStatus: "HIT",
        client: "192.0.2.7",
        tookMs: null,
      },
    },
    {
      name: "Fastly's JSON with the method as the request",
      lines: [
        `{"time_start":"2026-10-10T13:55:36UTC","request":"HEAD","host":"www.example.com","url":"/a?q=x","request_user_agent":"Firefox","status":"200","cache_status":"HIT-STALE","resp_body_size":"2326"}`,
      ],
      expect: { ...page, method: "HEAD", host: "www.example.com", userAgent: "Firefox", cacheStatus: "STALE" },
    },
    {
      name: "Fastly, of a request to its shield, which is no visitor's",
      lines: [
        '{"timestamp":"2026-10-10T13:55:36+0000","host":"www.example.com","url":"/a","request_method":"GET","response_state":"MISS","response_status":200,"response_body_size":2326,"fastly_is_edge":false}',
      ],
      expect: { kind: "nothing" },
    },
    {
      name: "Nginx Proxy Manager, of a proxied host",
      lines: [
        `${TIME} HIT - 200 - GET https www.example.com "/a?q=x" [Client 192.0.2.7] [Length 2326] [Gzip -] [Sent-to 10.0.0.5] "Firefox" "-"`,
      ],
      expect: { ...page, host: "www.example.com", client: "192.0.2.7", userAgent: "Firefox", cacheStatus: "HIT" },
    },
    {
      name: "Nginx Proxy Manager, after a second attempt at an upstream, with an escaped quote",
      lines: [
        `${TIME} - 502, 200 200 - GET https www.example.com "/a?q=\\x22" [Client 2001:db8::7] [Length 2326] [Gzip 2.5] [Sent-to app:80] "Fire\\x22fox" "https://a.example/"`,
      ],
      expect: {
        ...page,
        target: '/a?q="',
        host: "www.example.com",
        client: "2001:db8::7",
        userAgent: "Fire\\x22fox",
        cacheStatus: "",
      },
    },
    {
      name: "Nginx Proxy Manager, of a host without an upstream",
      lines: [
        `${TIME} 301 - GET http www.example.com "/a?q=x" [Client 192.0.2.7] [Length 2326] [Gzip -] "Firefox" "-"`,
      ],
      expect: { ...page, status: 301, host: "www.example.com", client: "192.0.2.7", userAgent: "Firefox" },
    },
    {
      name: "Nginx Proxy Manager, of bytes that are no HTTP",
      lines: [`${TIME} 400 - - http localhost "-" [Client 192.0.2.7] [Length 154] [Gzip -] "-" "-"`],
      expect: { kind: "request", method: "", status: 400, client: "192.0.2.7" },
    },
    ...["www.example.com", "www.example.com:443"].map((host) => ({
      name: `NPMplus, of ${host}`,
      lines: [
        `${TIME} ${host} 192.0.2.7 0.012 "GET /a?q=x HTTP/2.0" 200 2326 2801 https://a.example/ Mozilla/5.0 (X11; Linux) Firefox`,
      ],
      expect: {
        ...page,
        host: "www.example.com",
        client: "192.0.2.7",
        userAgent: "Mozilla/5.0 (X11; Linux) Firefox",
        tookMs: 12,
      },
    })),
    {
      name: "NPMplus, on another port, without a user agent",
      lines: [`${TIME} www.example.com:8443 2001:db8::7 0.012 "GET /a?q=x HTTP/2.0" 200 2326 2801 - -`],
      expect: { ...page, host: "www.example.com:8443", client: "2001:db8::7", userAgent: "" },
    },
    {
      name: "tidemark serve, of a probe of its control plane, which is no page",
      lines: [`192.0.2.7 - - ${TIME} "GET /_tidemark/health HTTP/1.1" 200 33 "-" "kube-probe" - 0.001`],
      expect: { kind: "nothing" },
    },
    {
      name: "tidemark serve's JSON, of a scrape of its metrics, which is no page",
      lines: [
        '{"time":"2026-10-10T13:55:36.000Z","method":"GET","target":"/_tidemark/metrics","status":200,"bytes":9,"xCache":null,"ms":1}',
      ],
      expect: { kind: "nothing" },
    },
    {
      name: "a page with a name like the control plane's",
      lines: [`192.0.2.7 - - ${TIME} "GET /_tidemarks/a HTTP/1.1" 200 33 "-" "Firefox" MISS 0.001`],
      expect: { kind: "request", target: "/_tidemarks/a" },
    },
  ])("$name is read", ({ lines, expect: expected }) => {
    expect(read(...lines)).toMatchObject(expected);
  });

  test.each([
    { name: "bytes that are not UTF-8 are percent-encoded", target: "/caf\u00e9", expected: "/caf%E9" },
    { name: "the escapes of nginx are undone", target: "/a\\x22b\\xE9", expected: '/a"b%E9' },
    { name: "spaces in a target belong to it", target: "/a b", expected: "/a b" },
  ])("nginx: $name", ({ target, expected }) => {
    expect(read(`192.0.2.7 - - ${TIME} "GET ${target} HTTP/1.1" 200 5 "-" "-"`)).toMatchObject({
      kind: "request",
      target: expected,
    });
  });

  test.each([
    { name: "of two bytes", text: "/caf\u00e9", target: "/caf%C3%A9" },
    { name: "of three bytes", text: "/\u20ac", target: "/%E2%82%AC" },
    { name: "of four bytes", text: "/\u{1f600}", target: "/%F0%9F%98%80" },
  ])("a character $name is the same page in every format", ({ text, target }) => {
    const json = (fields: string) => `{"msec":${AT / 1000},"status":200,${fields}}`;
    const escaped = text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const lines = [
      `192.0.2.7 - - ${TIME} "GET ${text} HTTP/1.1" 200 5 "-" "-"`,
      json(`"request":"GET ${text} HTTP/1.1"`),
      json(`"uri":"${text}"`),
      json(`"uri":"${escaped}"`),
    ];
    // A file is read with one character per byte.
    const bytes = (line: string) => Buffer.from(line).toString("latin1");
    expect(lines.map((line) => read(bytes(line)).target)).toEqual(lines.map(() => target));
    expect(read(bytes(json(`"uri":"/a","args":"${text}"`))).target).toBe(`/a?${target}`);
  });

  test.each([
    `192.0.2.7 - - ${TIME} "\\x16\\x03\\x01" 400 157 "-" "-"`,
    `192.0.2.7 - - ${TIME} "-" 408 0 "-" "-"`,
    `192.0.2.7 - - ${TIME} "" 400 0 "-" "-"`,
  ])("something else than HTTP is a request without a method: %s", (line) => {
    expect(read(line)).toMatchObject({ kind: "request", method: "", target: "" });
  });

  test.each([
    "hello",
    "\u0000\u0000",
    '192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "GET /cut',
    '192.0.2.7 - - [10/Okt/2026:15:55:36 +0200] "GET / HTTP/1.1" 200 5',
    '192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "GET / HTTP/1.1" - 5',
    '192.0.2.7 - - [31/Feb/2026:15:55:36 +0200] "GET / HTTP/1.1" 200 5',
    '192.0.2.7 - - [00/Oct/2026:15:55:36 +0200] "GET / HTTP/1.1" 200 5',
    '192.0.2.7 - - [10/Oct/2026:24:00:36 +0200] "GET / HTTP/1.1" 200 5',
    '192.0.2.7 - - [10/Oct/2026:15:60:36 +0200] "GET / HTTP/1.1" 200 5',
    '{"time": "2026-02-31T13:55:36Z", "request": "GET / HTTP/1.1", "status": 200}',
    '{"time": "2026-10-10T13:55:61Z", "request": "GET / HTTP/1.1", "status": 200}',
    '{"msec": "17599',
    `{"msec": ${AT / 1000}, "request": "GET /\\xZZ HTTP/1.1", "status": 200, "cut": "\\x2`,
    '{"msec": 1}',
    'web {"msec": 1}',
    "web {",
    '{"log": "hello\\n", "stream": "stdout"}',
    `{"log": ${"["}`,
    "null",
  ])("no format is broken: %j", (line) => {
    expect(read(line).kind).toBe("broken");
  });

  const columns = (bytes: string) => [
    "#Fields: date time cs-method cs-uri-stem sc-status sc-bytes",
    `2026-10-10 13:55:36 GET /a 200 ${bytes}`,
  ];
  test.each([
    [[`{"msec":${AT / 1000},"request":"GET /a HTTP/2.0","status":200,"bytes":5.5}`], 5],
    [[`{"msec":${AT / 1000},"request":"GET /a HTTP/2.0","status":200,"bytes":-5}`], 0],
    [[`{"msec":${AT / 1000},"request":"GET /a HTTP/2.0","status":200,"bytes":1e300}`], 0],
    [columns("5.5"), 5],
    [columns("-5"), 0],
    [columns("Infinity"), 0],
    [[`192.0.2.7 - - ${TIME} "GET /a HTTP/1.1" 200 99999999999999999999 "-" "-"`], 0],
    [[`192.0.2.7 - - ${TIME} "GET /a HTTP/1.1" 200 1099511627776 "-" "-"`], 2 ** 40],
  ])("a size is a whole number that a body may have, or unknown: %j", (lines, bytes) => {
    expect(read(...lines)).toMatchObject({ kind: "request", bytes });
  });

  test("a line does not show the fields of the one before it", () => {
    const before = `192.0.2.7 - - ${TIME} "GET /b HTTP/1.1" 500 5 "-" "Firefox" MISS 0.004`;
    const line = `{"msec":"${AT / 1000}.000","request":"GET /a?q=x HTTP/2.0","status":200,"bytes_sent":2326}`;
    expect(read(before, line)).toEqual(read(line));
    const common = `- - - ${TIME} "GET /a?q=x HTTP/1.0" 200 2326`;
    expect(read(before, common)).toEqual(read(common));
  });

  test("a line without text says nothing, like a comment", () => {
    expect([read("").kind, read("#Version: 1.0").kind]).toEqual(["nothing", "nothing"]);
  });
});
