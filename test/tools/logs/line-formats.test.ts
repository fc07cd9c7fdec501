import { describe, expect, test } from "vitest";
import { type LineKind, LineReader } from "../../../tools/logs/line-reader.ts";
import { LoggedRequest } from "../../../tools/logs/logged-request.ts";

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

const page = { kind: "request", at: AT, method: "GET", target: "/a?q=x", status: 200, bytes: 2326 };

describe("a line of", () => {
  test.each<{ name: string; lines: readonly string[]; expect: Partial<LoggedRequest> }>([
    {
      name: "nginx combined",
      lines: [`192.0.2.7 - alice ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "https://a.example/" "Firefox"`],
      expect: { ...page, userAgent: "Firefox", host: "" },
    },
    {
      name: "nginx combined with $upstream_cache_status behind it",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox" 0.004 EXPIRED`],
      expect: { ...page, cacheStatus: "EXPIRED" },
    },
    {
      name: "Apache common",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.0" 200 2326`],
      expect: { ...page, userAgent: "" },
    },
    {
      name: "Apache common without a size",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.0" 304 -`],
      expect: { ...page, status: 304, bytes: 0 },
    },
    {
      name: "Apache with its virtual host in front",
      lines: [`www.example.com:443 192.0.2.7 - - ${TIME} "GET /a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com" },
    },
    {
      name: "Apache with escaped quotes",
      lines: [`192.0.2.7 - - ${TIME} "GET /a?q=\\"x\\" HTTP/1.1" 200 2326 "\\"" "Fire\\"fox"`],
      expect: { ...page, target: '/a?q=\\"x\\"', userAgent: 'Fire\\"fox' },
    },
    {
      name: "varnishncsa, with the URL in full",
      lines: [`192.0.2.7 - - ${TIME} "GET http://WWW.example.com/a?q=x HTTP/1.1" 200 2326 "-" "Firefox"`],
      expect: { ...page, host: "www.example.com" },
    },
    {
      name: "nginx as JSON",
      lines: [
        '{"time_iso8601":"2026-10-10T15:55:36+02:00","request_method":"GET","request_uri":"/a?q=x","status":"200","body_bytes_sent":"2326","host":"www.example.com","http_user_agent":"Firefox","upstream_cache_status":"HIT"}',
      ],
      expect: { ...page, host: "www.example.com", userAgent: "Firefox", cacheStatus: "HIT" },
    },
    {
      name: "nginx as JSON with the request line and $msec",
      lines: [`{"msec":"${AT / 1000}.000","request":"GET /a?q=x HTTP/2.0","status":200,"bytes_sent":2326}`],
      expect: page,
    },
    {
      name: "Cloudflare Logpush, with nanoseconds",
      lines: [
        `{"EdgeStartTimestamp":${AT}000000,"ClientRequestMethod":"GET","ClientRequestURI":"/a?q=x","ClientRequestHost":"www.example.com","EdgeResponseStatus":200,"EdgeResponseBytes":2326,"CacheCacheStatus":"miss"}`,
      ],
      expect: { ...page, host: "www.example.com", cacheStatus: "MISS" },
    },
    {
      name: "Caddy",
      lines: [
        `{"ts":${AT / 1000}.0,"request":{"method":"GET","host":"www.example.com","uri":"/a?q=x"},"status":200,"size":2326}`,
      ],
      expect: { ...page, host: "www.example.com" },
    },
    {
      name: "CloudFront",
      lines: [
        "#Version: 1.0",
        "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header",
        "2026-10-10\t13:55:36\tFRA2\t2326\t192.0.2.7\tGET\td111.cloudfront.net\t/a\t200\t-\tFirefox\tq=x\t-\tHit\tid\twww.example.com",
      ],
      expect: { ...page, host: "www.example.com", cacheStatus: "HIT" },
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
    '{"msec": "17599',
    '{"msec": 1}',
    "null",
  ])("no format is broken: %j", (line) => {
    expect(read(line).kind).toBe("broken");
  });

  test("a line without text says nothing, like a comment", () => {
    expect([read("").kind, read("#Version: 1.0").kind]).toEqual(["nothing", "nothing"]);
  });
});
