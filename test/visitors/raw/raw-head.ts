import fc from "fast-check";
import { HIDDEN, HIDDEN_REQUEST, lineEnd, mostly, PAGE, RAW_HOST } from "./raw-bodies.ts";

const method = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom("GET", "POST") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PURGE", "PATCH", "QUERY"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...["get", "GETT", "", "G ET", "GET\t", "\r\nGET", "\n\nGET", " GET", "PRI", "X".repeat(300), "G\u0000ET"],
      ...["\u00e9", "GET\u0000", "GET,POST", "(GET)", "\u0016\u0003\u0001"],
    ),
  },
);

const target = mostly(
  PAGE,
  [
    ...[`http://${RAW_HOST}${PAGE}`, `http://evil.example${PAGE}`, `//evil.example${PAGE}`, `${PAGE}?x=1`, `${PAGE}#x`],
    ...["*", PAGE.slice(1), `${PAGE} ${HIDDEN}`, `${PAGE}\u0000`, `${PAGE}\u00ff`, `${PAGE}%00`, `/..${PAGE}`, ""],
    ...[`/%2e%2e${PAGE}`, "/_tidemark/health", `${RAW_HOST}:80`, `/${"x".repeat(20_000)}`, `${PAGE}\tx`, `${PAGE}%`],
    ...[`\\${PAGE}`, "http://", `${PAGE}\r`, `${PAGE}\n`, `${PAGE}?\u0080\u00e9`, `${PAGE}?a b`, `${PAGE}?"<>`, " "],
    ...[`http://${RAW_HOST}@evil.example${PAGE}`, `https://${RAW_HOST}${PAGE}`, `${PAGE}?${HIDDEN_REQUEST}`],
  ],
  5,
);

const version = mostly(
  "HTTP/1.1",
  [
    ...["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "HTTP/1.10", "http/1.1", "HTTP/1,1", "HTTP /1.1", "HTTP/11"],
    ...["HTTP/1.1 ", "HTTP/1.1\t", "HTTP/+1.1", "HTTP/1.1\u0000", "HTTP/1.1 x", "ICY/1.1", "", "HTTP/1.", "HTTP/01.1"],
  ],
  12,
);

const space = mostly(" ", ["  ", "\t", "", "\u000b", "\u000c", "\r", "\u00a0", " \t "], 30);

/** Between a field's name and its value. */
export const separator = mostly(
  ": ",
  [":", " : ", "\t: ", ":\t", ": \u000b", "", " ", ":\r\n ", ":\r\n\t", ":\n ", "::", "\u0000:", ":\u00a0", "\r\n: "],
  16,
);

const hostValue = mostly(RAW_HOST, [
  ...[
    "",
    "evil.example",
    `${RAW_HOST}:80`,
    `${RAW_HOST}:`,
    `${RAW_HOST}/x`,
    `a@${RAW_HOST}`,
    `${RAW_HOST}, evil.example`,
  ],
  ...[
    `${RAW_HOST}\u0000`,
    `${RAW_HOST}#`,
    "[::1]",
    "[",
    "%00",
    `${RAW_HOST} evil.example`,
    RAW_HOST.toUpperCase(),
    "\u00ff",
  ],
]);

const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...[
        "X-A",
        "Cookie",
        "Connection",
        "Expect",
        "Upgrade",
        "Trailer",
        "TE",
        "Keep-Alive",
        "Range",
        "X-Forwarded-Host",
      ],
      ...["Authorization", "Content-Type", "Max-Forwards", "If-None-Match", "Proxy-Connection", "HTTP2-Settings"],
    ),
  },
  fc.constantFrom(
    "x_a",
    "",
    "X A",
    "X\u0000",
    "X\u00e9",
    "(X)",
    "X".repeat(5000),
    " X-A",
    "\tX-A",
    "GET / HTTP/1.1",
    "X\r",
  ),
);

const value = fc.oneof(
  fc.constantFrom(
    ...["1", "", " 1 ", "a, b", "close", "keep-alive, x-a", "upgrade", "100-continue", "h2c", "websocket", "trailers"],
    ...["bytes=0-1", "host", "content-length", "transfer-encoding, content-length", "session=1", "0", "evil.example"],
  ),
  fc.constantFrom(
    ...["\u00ff\u0080", "a\u0000b", "a\rb", "a\nb", "a\r\n b", "a\r\n\tb", "\u007f", "\u001b", "x".repeat(9000)],
    ...[
      `a\r\n\r\n${HIDDEN_REQUEST}`,
      `a\r${HIDDEN_REQUEST}`,
      `a\n\n${HIDDEN_REQUEST}`,
      `a\nTransfer-Encoding: chunked`,
    ],
  ),
);

const fieldLine = fc.tuple(name, separator, value, lineEnd).map((parts) => parts.join(""));
const hostLine = fc.tuple(fc.constant("Host"), separator, hostValue, lineEnd).map((parts) => parts.join(""));
const longLine = fc.constantFrom(17_000, 70_000, 140_000).map((size) => `X-Long: ${"x".repeat(size)}\r\n`);

/** The first line and the fields, without those that frame a body. */
export const head = fc
  .tuple(
    fc.tuple(method, space, target, space, version, lineEnd).map((parts) => parts.join("")),
    fc.oneof(
      { weight: 12, arbitrary: hostLine },
      fc.constant(""),
      fc.tuple(hostLine, hostLine).map((two) => two.join("")),
    ),
    fc.array(fieldLine, { maxLength: 2 }),
    fc.oneof({ weight: 60, arbitrary: fc.constant("") }, longLine),
  )
  .map(([line, host, fields, long]) => line + host + fields.join("") + long);
