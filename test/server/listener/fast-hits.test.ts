import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { tryFastHits } from "../../../server/listener/fast-hits-trial.ts";
import { Listener } from "../../../server/listener/listener.ts";
import { byDepth } from "../../suite/depth.ts";
import { rawMessage } from "../../visitors/raw-messages.ts";
import { exchange } from "../raw-client.ts";
import { type Answering, answer, type RunningListener, startTestListener, streamed } from "./running-listener.ts";

/*
 * Hits that are answered inside Node's parser, and the same requests without that: nobody can tell the two apart by
 * their bytes.
 */

const small = answer("a small page", { etag: '"1"', "x-cache": "HIT", "set-cookie": "a=1" });
const large = answer("x".repeat(40_000), { "x-cache": "HIT" });

/** Answers of every kind, by the last part of the path. */
const site: Answering = ({ request, url }) => {
  const { headers } = request;
  if (headers.get("if-none-match") === '"1"') return answer(null, { etag: '"1"' }, 304, "Not Modified");
  switch (new URL(url).pathname) {
    case "/small":
      return request.method === "HEAD" ? answer(null, { "content-length": "12" }) : small;
    case "/large":
      if (headers.get("range") !== null) return answer("xx", { "content-range": "bytes 0-1/40000" }, 206);
      return request.method === "HEAD" ? answer(null, { "content-length": "40000" }) : large;
    case "/empty":
      return answer(null, {}, 204, "No Content");
    case "/odd":
      return answer("odd", { "x-odd": "caf\u00e9" }, 404, "");
    case "/late":
      return new Promise((resolve) => setImmediate(() => resolve(answer("late"))));
    case "/stream":
      return answer(streamed(["first, ", "second"]));
    case "/response":
      return new Response("from the control plane", { headers: { "content-length": "22" } });
    default:
      return answer(`${request.method} ${url} ${[...headers].join(" ")}`);
  }
};

let fast: RunningListener;
let plain: RunningListener;

beforeAll(async () => {
  fast = await startTestListener(site, { usesFastHits: true });
  plain = await startTestListener(site, { usesFastHits: false });
});

afterAll(async () => {
  await fast.stop();
  await plain.stop();
});

/** Some answers carry the time at which they were made. */
function timeless(bytes: string): string {
  return bytes.replace(/date: [^\r]*/g, "date: …");
}

async function expectSameBytes(pieces: readonly string[]): Promise<string> {
  const [one, other] = await Promise.all([exchange(fast.where, ...pieces), exchange(plain.where, ...pieces)]);
  expect(timeless(one.received)).toBe(timeless(other.received));
  expect(one.end).toBe(other.end);
  return one.received;
}

const target = fc.constantFrom(
  "/small",
  "/small",
  "/large",
  "/empty",
  "/odd",
  "/late",
  "/stream",
  "/response",
  "/echo?q=1",
  "http://localhost/small",
  "https://localhost/small",
  "*",
);

const method = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("GET", "HEAD") },
  { weight: 1, arbitrary: fc.constantFrom("POST", "PURGE", "OPTIONS", "TRACE", "CONNECT", "BREW") },
);

const field = fc.oneof(
  fc.constantFrom(
    "Connection: close",
    "Connection: keep-alive",
    "connection: Keep-Alive, x-a",
    "Range: bytes=0-1",
    'If-None-Match: "1"',
    'If-None-Match: "2"',
    "Expect: 100-continue",
    "Expect: something",
    "Upgrade: websocket",
    "Upgrade: h2c",
    "Transfer-Encoding: chunked",
    "Content-Length: 3",
    "Content-Length: 0",
    "Cookie: a=1",
    "cookie: b=2",
    "X-Odd:",
    "X-Odd: caf\u00e9",
    "X-Odd:  \t spaces \t ",
    "Bad Name: 1",
    "HOST: localhost",
    " folded: 1",
    `X-Long: ${"y".repeat(3000)}`,
  ),
  fc
    .tuple(fc.stringMatching(/^[a-zA-Z-]{4,17}$/), fc.stringMatching(/^[a-zA-Z0-9 ;=]{0,9}$/))
    .map(([n, v]) => `${n}: ${v}`),
);

const host = fc.oneof(
  { weight: 8, arbitrary: fc.constant<string[]>(["Host: localhost"]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<string[]>([], ["host: a", "Host: b"], ["Host: a/b"], ["Host:"], ["HoSt: [::1]:80"]),
  },
);

const request = fc
  .tuple(
    method,
    target,
    fc.constantFrom("1.1", "1.1", "1.1", "1.0", "2.0", "0.9"),
    host,
    fc.array(field, { maxLength: 4 }),
    fc.constantFrom("", "", "", "abc", "3\r\nabc\r\n0\r\n\r\n"),
  )
  .map(([m, t, version, hosts, fields, body]) =>
    [`${m} ${t} HTTP/${version}`, ...hosts, ...fields, "", body].join("\r\n"),
  );

/** Cuts bytes into pieces at these fractions of their length. */
function cut(bytes: string, fractions: readonly number[]): string[] {
  const places = [...new Set(fractions.map((each) => Math.floor(each * bytes.length)))].sort((a, b) => a - b);
  return [0, ...places]
    .map((from, index) => bytes.slice(from, places[index] ?? bytes.length))
    .filter((each) => each !== "");
}

test("generated requests get the same bytes in both ways", async () => {
  const before = fast.listener.fastHits;
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 4 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 3 }),
      async (requests, cuts) => {
        await expectSameBytes(cut(requests.join(""), cuts));
      },
    ),
    { numRuns: process.env.TEST_DEPTH === undefined ? 150 : 1_000 },
  );
  expect(fast.listener.fastHits).toBeGreaterThan(before);
  expect(plain.listener.fastHits).toBe(0);
}, 120_000);

test("damaged requests and noise get the same bytes in both ways", async () => {
  const before = fast.listener.fastHits;
  await fc.assert(
    fc.asyncProperty(fc.array(rawMessage, { minLength: 1, maxLength: 2 }), async (messages) => {
      await expectSameBytes([messages.join("")]);
    }),
    { numRuns: byDepth({ test: 200, gate: 2_000, all: 10_000 }) },
  );
  expect(fast.listener.fastHits).toBeGreaterThan(before);
}, 300_000);

test("requests split at every byte get the same bytes in both ways", async () => {
  const bytes = [
    "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HEAD /large HTTP/1.1\r\nhost: localhost\r\nX-A: 1\r\n\r\n",
    "GET /small HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  ].join("");
  for (let at = 1; at < bytes.length; at++) await expectSameBytes([bytes.slice(0, at), bytes.slice(at)]);
  const received = await expectSameBytes([...bytes]);
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(5);
}, 60_000);

test.each([
  ["many hits at once", "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500)],
  ["hits and misses at once", "GET /small HTTP/1.1\r\nHost: a\r\n\r\nGET /late HTTP/1.1\r\nHost: a\r\n\r\n".repeat(60)],
  ["large hits at once", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50)],
  [
    "many misses, then bodies and hits",
    "GET /late HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100) +
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n".concat("x".repeat(5000)).repeat(3) +
      "GET /small HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100),
  ],
  ["many misses, then no request", `${"GET /late HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100)}nonsense\r\n\r\n`],
  ["bytes after the last request", "GET /late HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /small HTTP/1.1\r\n"],
  ["no request after a hit", "GET /small HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"],
  ["no request after a miss", "GET /late HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"],
])("%s get the same bytes in both ways", async (_, bytes) => {
  expect(await expectSameBytes([bytes])).toContain("HTTP/1.1 200 OK");
});

test("the trial at the start finds that the fast way works here", async () => {
  const warn = () => undefined;
  const make = (isolate: never, usesFastHits: boolean) =>
    new Listener({ isolate, bodies: nodeBodies, warn, usesFastHits });
  expect(await tryFastHits(make as never)).toBeNull();
});

test("the trial fails where hits are not answered inside the parser", async () => {
  const warn = () => undefined;
  const make = (isolate: never) => new Listener({ isolate, bodies: nodeBodies, warn, usesFastHits: false });
  expect(await tryFastHits(make as never)).toBe("0 of 5 hits were answered in this way");
});
