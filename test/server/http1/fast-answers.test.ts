import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { Listener } from "../../../server/connections/listener.ts";
import { tryFastAnswers } from "../../../server/http1/fast-answers-trial.ts";
import type { IncomingRequest } from "../../../worker/flow/request-context.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { byDepth } from "../../suite/depth.ts";
import { rawMessage } from "../../visitors/raw/raw-messages.ts";
import { exchange } from "../raw-client.ts";
import {
  type Answering,
  answer,
  arrived,
  type RunningListener,
  startTestListener,
  streamed,
} from "./running-listener.ts";

/*
 * Plain requests that are answered without Node's own objects, at once or later, and the same requests without that:
 * nobody can tell the two apart by their bytes.
 */

const small = answer("a small page", { etag: '"1"', "x-cache": "HIT", "set-cookie": "a=1" });
const large = answer("x".repeat(40_000), { "x-cache": "HIT" });

/** Answers of every kind, by the last part of the path. What is below `/late` comes after some turns of the event loop. */
const site: Answering = (incoming) => {
  const { pathname } = new URL(incoming.url);
  const [, turns, page] = /^\/late(\d+)(\/.*)$/.exec(pathname) ?? [];
  return page === undefined ? pageAt(pathname, incoming) : answerAfter(Number(turns), () => pageAt(page, incoming));
};

async function answerAfter(turns: number, make: () => EdgeAnswer): Promise<EdgeAnswer> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  return make();
}

function pageAt(pathname: string, { request, url }: IncomingRequest): EdgeAnswer {
  const { headers } = request;
  if (headers.get("if-none-match") === '"1"') return answer(null, { etag: '"1"' }, 304, "Not Modified");
  switch (pathname) {
    case "/small":
      return request.method === "HEAD" ? answer(null, { "content-length": "12" }) : small;
    case "/large":
      if (headers.get("range") !== null) return answer("xx", { "content-range": "bytes 0-1/40000" }, 206);
      return request.method === "HEAD" ? answer(null, { "content-length": "40000" }) : large;
    case "/empty":
      return answer(null, {}, 204, "No Content");
    case "/odd":
      return answer("odd", { "x-odd": "caf\u00e9" }, 404, "");
    case "/once":
      return { ...answer("a page for one"), isOnce: true };
    case "/here":
      return answer(arrived(["first, ", "second"], 13), { "x-cache": "MISS" });
    case "/here-and-short":
      return answer(arrived(["first, "], 13));
    case "/here-and-cut":
      return answer(arrived(["first, "], 13, true));
    case "/stream":
      return answer(streamed(["first, ", "second"]));
    case "/announced":
      return answer(streamed(["first, ", "second"]), { "content-length": "13" });
    case "/bug":
      throw new Error("a bug");
    case "/response":
      return new Response("from the control plane", { headers: { "content-length": "22" } });
    default:
      return answer(`${request.method} ${url} ${[...headers].join(" ")}`);
  }
}

let fast: RunningListener;
let plain: RunningListener;

beforeAll(async () => {
  fast = await startTestListener(site, { usesFastAnswers: true });
  plain = await startTestListener(site, { usesFastAnswers: false });
});

afterAll(async () => {
  await fast.stop();
  await plain.stop();
});

/** Some answers carry the time at which they were made. */
function timeless(bytes: string): string {
  return bytes.replace(/date: [^\r]*/g, "date: …");
}

/** `turns`: of the event loop after each piece, before the next one and before the client's end. */
async function expectSameBytes(pieces: readonly string[], turns = 1): Promise<string> {
  const bytes = pieces.flatMap((piece) => [piece, ...Array(turns - 1).fill("")]);
  const [one, other] = await Promise.all([exchange(fast.where, ...bytes), exchange(plain.where, ...bytes)]);
  expect(timeless(one.received)).toBe(timeless(other.received));
  expect(one.end).toBe(other.end);
  return one.received;
}

const page = fc.constantFrom(
  "/small",
  "/small",
  "/large",
  "/empty",
  "/odd",
  "/once",
  "/here",
  "/stream",
  "/announced",
  "/response",
  "/bug",
  "/echo?q=1",
);

const late = fc.tuple(fc.constantFrom(0, 0, 1, 2, 5), page).map(([turns, path]) => `/late${turns}${path}`);

/**
 * Later than the body of the same piece: an answer that comes at once finds that body read or not, by how Node has read the
 * connection, and says accordingly whether it stays open.
 */
const afterBody = late.filter((path) => !path.startsWith("/late0"));

const target = fc.oneof(
  { weight: 3, arbitrary: page },
  { weight: 3, arbitrary: afterBody },
  { weight: 1, arbitrary: fc.constantFrom("http://localhost/small", "https://localhost/small", "*") },
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
  const before = answered();
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 4 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 3 }),
      async (requests, cuts) => {
        await expectSameBytes(cut(requests.join(""), cuts));
      },
    ),
    { numRuns: byDepth({ test: 80, gate: 80, all: 1_000 }) },
  );
  expectBothKinds(before);
}, 120_000);

/** Many plain requests, so that the fast way has most of them, and what may come behind them. */
test("plain requests get the same bytes in both ways, whenever they come and are answered", async () => {
  const before = answered();
  const plainRequest = (...versionsAndFields: readonly (readonly [version: string, ...fields: string[]])[]) =>
    fc
      .tuple(
        fc.constantFrom("GET", "GET", "HEAD"),
        fc.oneof(page, late, late, late),
        fc.constantFrom(...versionsAndFields),
      )
      .map(([m, t, [version, ...fields]]) => [`${m} ${t} HTTP/${version}`, "Host: localhost", ...fields, "", ""])
      .map((lines) => lines.join("\r\n"));
  const kept = plainRequest(["1.1"], ["1.1", 'If-None-Match: "1"']);
  // Nothing is sent behind it later on, when the connection may be closed already.
  const last = fc.oneof(
    kept,
    plainRequest(["1.1", "Connection: close"], ["1.0"], ["1.0", "Connection: keep-alive"]),
    fc.constantFrom("", "nonsense\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "GET /half"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(kept, { maxLength: 5 }),
      last,
      fc.constantFrom("apart", "apart", "at once", "in thirds"),
      fc.constantFrom(1, 2, 4, 10),
      async (requests, end, how, turns) => {
        const all = [...requests, end];
        const pieces = how === "apart" ? all : cut(all.join(""), how === "at once" ? [] : [1 / 3, 2 / 3]);
        await expectSameBytes(pieces, turns);
      },
    ),
    { numRuns: byDepth({ test: 80, gate: 80, all: 2_000, explore: 10_000 }) },
  );
  expectBothKinds(before);
}, 300_000);

const answered = () => ({ hits: fast.listener.fastHits, late: fast.listener.lateAnswers });

/** The fast way has given answers of both kinds, and the plain way none. */
function expectBothKinds(before: ReturnType<typeof answered>): void {
  expect(fast.listener.fastHits).toBeGreaterThan(before.hits);
  expect(fast.listener.lateAnswers).toBeGreaterThan(before.late);
  expect(plain.listener.fastHits + plain.listener.lateAnswers).toBe(0);
}

test("damaged requests and noise get the same bytes in both ways", { tags: ["deep"], timeout: 300_000 }, async () => {
  const before = fast.listener.fastHits;
  await fc.assert(
    fc.asyncProperty(fc.array(rawMessage, { minLength: 1, maxLength: 2 }), async (messages) => {
      await expectSameBytes([messages.join("")]);
    }),
    { numRuns: byDepth({ test: 80, gate: 80, all: 2_000, explore: 10_000 }) },
  );
  expect(fast.listener.fastHits).toBeGreaterThan(before);
});

/** How far apart the places are at which requests are split in two. They also come byte by byte. */
const BYTES_APART = byDepth({ test: 4, gate: 4, all: 1 });

test("requests split at every byte get the same bytes in both ways", async () => {
  const bytes = [
    "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HEAD /large HTTP/1.1\r\nhost: localhost\r\nX-A: 1\r\n\r\n",
    "GET /late0/here HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /small HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  ].join("");
  for (let at = 1; at < bytes.length; at += BYTES_APART) await expectSameBytes([bytes.slice(0, at), bytes.slice(at)]);
  const received = await expectSameBytes([...bytes]);
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(6);
}, 60_000);

test.each([
  ["many hits at once", "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500)],
  [
    "hits and misses at once",
    "GET /small HTTP/1.1\r\nHost: a\r\n\r\nGET /late1/small HTTP/1.1\r\nHost: a\r\n\r\n".repeat(60),
  ],
  ["large hits at once", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50)],
  [
    "many misses, then bodies and hits",
    "GET /late1/small HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100) +
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n".concat("x".repeat(5000)).repeat(3) +
      "GET /small HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100),
  ],
  ["many misses, then no request", `${"GET /late1/small HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100)}nonsense\r\n\r\n`],
  [
    "bytes after the last request",
    "GET /late1/small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /small HTTP/1.1\r\n",
  ],
  ["no request after a hit", "GET /small HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"],
  ["no request after a miss", "GET /late1/small HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"],
])("%s get the same bytes in both ways", async (_, bytes) => {
  expect(await expectSameBytes([bytes])).toContain("HTTP/1.1 200 OK");
});

test("the trial at the start finds that the fast way works here", async () => {
  const warn = () => undefined;
  const make = (isolate: never, usesFastAnswers: boolean) =>
    new Listener({ isolate, bodies: nodeBodies, warn, usesFastAnswers });
  expect(await tryFastAnswers(make as never)).toBeNull();
});

test("the trial fails where hits are not answered inside the parser", async () => {
  const warn = () => undefined;
  const make = (isolate: never) => new Listener({ isolate, bodies: nodeBodies, warn, usesFastAnswers: false });
  expect(await tryFastAnswers(make as never)).toBe("0 of 5 hits were answered in the faster way");
});
