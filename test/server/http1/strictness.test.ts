import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { turns } from "../../suite/turns.ts";
import { exchange, RawClient, statuses } from "../raw-client.ts";
import { answer, type RunningListener, startTestListener } from "./running-listener.ts";

/** Requests that two servers could read differently do not reach the edge. */
let running: RunningListener;
let asked: string[] = [];

beforeAll(async () => {
  running = await startTestListener(({ request, url }) => {
    asked.push(`${request.method} ${url}`);
    return answer("page");
  });
});

afterAll(() => running.stop());

beforeEach(() => {
  asked = [];
});

const lines = (...each: string[]) => [...each, "", ""].join("\r\n");
const HOST = "Host: localhost";
const empty = (count: number) => Array.from({ length: count }, (_, number) => `X-${number}:`);

test.each<[name: string, bytes: string, status: number]>([
  ["two Host fields", lines("GET / HTTP/1.1", HOST, "host: evil.example"), 400],
  ["two equal Host fields", lines("GET / HTTP/1.1", HOST, HOST), 400],
  ["no Host field in HTTP/1.1", lines("GET / HTTP/1.1"), 400],
  ["an empty Host", lines("GET / HTTP/1.1", "Host:"), 400],
  ["a Host with a path", lines("GET / HTTP/1.1", "Host: a/b"), 400],
  ["a Host with user information", lines("GET / HTTP/1.1", "Host: a@b"), 400],
  ["a Host with a query", lines("GET / HTTP/1.1", "Host: a?b"), 400],
  ["a port that is none", lines("PURGE / HTTP/1.1", "Host: localhost:99999"), 400],
  ["an IPv6 address that is none", lines("PURGE / HTTP/1.1", "Host: [::::]"), 400],
  ["a list of hosts", lines("GET / HTTP/1.1", "Host: a, b"), 400],
  ["a folded field", lines("GET / HTTP/1.1", HOST, "X-A: 1", " 2"), 400],
  ["a space before a colon", lines("GET / HTTP/1.1", "Host : localhost"), 400],
  ["line feeds alone", `GET / HTTP/1.1\n${HOST}\n\n`, 400],
  ["a NUL in a value", lines("GET / HTTP/1.1", HOST, "X-A: a\0b"), 400],
  ["a DEL in a value", lines("GET / HTTP/1.1", HOST, "X-A: a\x7fb"), 400],
  ["a carriage return in a value", lines("GET / HTTP/1.1", HOST, "X-A: a\rb"), 400],
  ["a space in the target", lines("GET /a b HTTP/1.1", HOST), 400],
  ["a byte beyond ASCII in the target", lines("GET /\xff HTTP/1.1", HOST), 400],
  ["a fragment in the target", lines("DELETE /photos/#1.jpg HTTP/1.1", HOST), 400],
  ["a fragment in the target of a GET", lines("GET /photos/#1.jpg HTTP/1.1", HOST), 400],
  ["a fragment in a whole URL", lines("DELETE http://localhost#/photos/ HTTP/1.1", HOST), 400],
  ["an asterisk as target of a GET", lines("GET * HTTP/1.1", HOST), 400],
  ["OPTIONS * without Host in HTTP/1.1", lines("OPTIONS * HTTP/1.1"), 400],
  ["a target without a slash", lines("GET a HTTP/1.1", HOST), 400],
  ["an encrypted URL on a connection that is not", lines("GET https://localhost/ HTTP/1.1", HOST), 421],
  ["a whole URL with user information", lines("GET http://a@localhost/ HTTP/1.1", HOST), 400],
  ["HTTP/2.0", lines("GET / HTTP/2.0", HOST), 505],
  ["HTTP/0.9", "GET /\r\n\r\n", 505],
  ["an unknown method", lines("BREW / HTTP/1.1", HOST), 400],
  ["CONNECT", lines("CONNECT a:80 HTTP/1.1", "Host: a:80"), 501],
  ["Transfer-Encoding in HTTP/1.0", `${lines("POST / HTTP/1.0", HOST, "Transfer-Encoding: chunked")}0\r\n\r\n`, 400],
  ["two codings", `${lines("POST / HTTP/1.1", HOST, "Transfer-Encoding: gzip, chunked")}0\r\n\r\n`, 501],
  ["an empty coding", `${lines("GET / HTTP/1.1", HOST, "Transfer-Encoding: ")}0\r\n\r\n`, 400],
  [
    "chunked twice",
    `${lines("POST / HTTP/1.1", HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked")}0\r\n\r\n`,
    400,
  ],
  [
    "a length and chunks",
    `${lines("POST / HTTP/1.1", HOST, "Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n`,
    400,
  ],
  ["two lengths", `${lines("POST / HTTP/1.1", HOST, "Content-Length: 1", "Content-Length: 1")}a`, 400],
  ["a list of lengths", `${lines("POST / HTTP/1.1", HOST, "Content-Length: 1, 1")}a`, 400],
  ["a length with a sign", `${lines("POST / HTTP/1.1", HOST, "Content-Length: +1")}a`, 400],
  ["a length in hexadecimal digits", `${lines("POST / HTTP/1.1", HOST, "Content-Length: 0x1")}a`, 400],
  ["more bytes of fields than a request may have", lines("GET / HTTP/1.1", HOST, `X-A: ${"a".repeat(70_000)}`), 431],
  ["one field more than a request may have", lines("GET / HTTP/1.1", HOST, ...empty(1000)), 431],
  ["another expectation than 100-continue", lines("GET / HTTP/1.1", HOST, "Expect: tea"), 417],
])("%s is refused, and the connection ends", async (_, bytes, status) => {
  // What follows would be a request of its own to a server that reads otherwise.
  const client = await exchange(running.where, bytes + lines("GET /smuggled HTTP/1.1", HOST));
  expect(client.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(statuses(client.received)).toHaveLength(1);
  expect(client.received).toContain("connection: close\r\n");
  expect(asked).toEqual([]);
});

const UPGRADE = [HOST, "Connection: Upgrade, keep-alive"];
const H2C = [...UPGRADE, "Upgrade: h2c"];
const WEB_SOCKET = [...UPGRADE, "Upgrade: websocket"];

describe.each(["fast", "plain"])("the %s way: behind a wish for another protocol that is ignored,", (way) => {
  const startReading = async () => {
    const paths: string[] = [];
    const made = await startTestListener(
      async ({ request, url }) => {
        paths.push(new URL(url).pathname);
        const reader = request.body && nodeBodies.readThrough(request.body);
        while (reader && (await reader.next()) !== null);
        await turns(3);
        return answer("page");
      },
      { usesFastAnswers: way === "fast" },
    );
    return { made, paths };
  };

  // Node loses what comes in one piece with such a request, so the next piece may begin in the middle of another one.
  test.each<[name: string, bytes: string]>([
    ["h2c", lines("GET / HTTP/1.1", ...H2C)],
    ["h2c, with a body", `${lines("POST / HTTP/1.1", ...H2C, "Content-Length: 3")}abc`],
    ["h2c, with a body in chunks", `${lines("POST / HTTP/1.1", ...H2C, "Transfer-Encoding: chunked")}0\r\n\r\n`],
    ["TLS", lines("OPTIONS / HTTP/1.1", ...UPGRADE, "Upgrade: TLS/1.0")],
    ["a WebSocket, by HEAD", lines("HEAD / HTTP/1.1", ...WEB_SOCKET)],
    ["a WebSocket, in HTTP/1.0", lines("GET / HTTP/1.0", ...WEB_SOCKET)],
  ])("nothing is a request: %s", async (_, bytes) => {
    const { made, paths } = await startReading();
    const smuggled = lines("GET /smuggled HTTP/1.1", HOST);
    const post = lines("POST /next HTTP/1.1", HOST, `Content-Length: ${smuggled.length}`);
    for (const before of ["", lines("GET /before HTTP/1.1", HOST)]) {
      paths.length = 0;
      const { received, end } = await exchange(made.where, before + bytes + post, smuggled, smuggled);
      expect(paths).toEqual(before === "" ? ["/"] : ["/before", "/"]);
      expect(statuses(received)).toEqual(paths.map(() => 200));
      expect(received.match(/connection: [a-z-]+/g)!.at(-1)).toBe("connection: close");
      expect(end).toBe("ended");
    }
    await made.stop();
  });

  // Java's client wishes for h2c with each request.
  test.each<[name: string, bytes: string]>([
    ["h2c", lines("GET / HTTP/1.1", ...H2C)],
    ["h2c, with a body", `${lines("POST / HTTP/1.1", ...H2C, "Content-Length: 3")}abc`],
  ])("the next request is answered on the same connection if it comes after the answer: %s", async (_, bytes) => {
    const { made } = await startReading();
    const client = new RawClient(made.where);
    for (const count of [1, 2, 3]) {
      await client.send(bytes);
      await client.until((text) => text.split("page").length > count);
      expect(statuses(client.received)).toEqual(Array(count).fill(200));
    }
    expect(client.received.match(/connection: [a-z-]+/g)).toEqual(Array(3).fill("connection: keep-alive"));
    client.destroy();
    await made.stop();
  });

  const post = lines("POST / HTTP/1.1", ...H2C, "Content-Length: 104");
  test.each<[name: string, first: string, rest: string]>([
    ["in the middle of the head's end", lines("GET / HTTP/1.1", ...H2C).slice(0, -1), "\n"],
    ["in front of a body as long as the head", post, "a".repeat(post.length)],
    ["in a body", `${post}a`, "a".repeat(103)],
  ])("nothing is a request if it is cut %s", async (_, first, rest) => {
    const { made, paths } = await startReading();
    const client = new RawClient(made.where);
    const lost = lines("GET /lost HTTP/1.1", HOST);
    await client.send(lines("GET / HTTP/1.1", HOST) + first);
    await client.until((text) => text.includes("page"));
    await client.send(rest + lost);
    await client.until((text) => text.split("page").length > 2);
    await client.send(lost);
    client.socket.end();
    await client.closed;
    expect(paths).toEqual(["/", "/"]);
    expect(client.received.match(/connection: [a-z-]+/g)!.at(-1)).toBe("connection: close");
    await made.stop();
  });
});

test.each<[name: string, bytes: string, expected: string]>([
  ["a path", lines("GET /a?b HTTP/1.1", HOST), "GET http://localhost/a?b"],
  ["a host with a port", lines("GET / HTTP/1.1", "Host: LocalHost:8080"), "GET http://LocalHost:8080/"],
  ["an IPv6 address", lines("GET / HTTP/1.1", "Host: [::1]:80"), "GET http://[::1]:80/"],
  ["a whole URL, whose host counts", lines("GET http://a/b HTTP/1.1", HOST), "GET http://a/b"],
  ["a whole URL without a path", lines("GET http://a?b HTTP/1.1", HOST), "GET http://a/?b"],
  ["HTTP/1.0 with Host", lines("GET / HTTP/1.0", HOST), "GET http://localhost/"],
  ["empty lines before the request", `\r\n\r\n${lines("GET / HTTP/1.1", HOST)}`, "GET http://localhost/"],
  ["a path as it came", lines("GET /%7e//..;/a\\b HTTP/1.1", HOST), "GET http://localhost/%7e//..;/a\\b"],
  ["TRACE", lines("TRACE / HTTP/1.1", HOST), "TRACE http://localhost/"],
  ["PURGE", lines("PURGE / HTTP/1.1", HOST), "PURGE http://localhost/"],
  ["OPTIONS of a page", lines("OPTIONS / HTTP/1.0", HOST), "OPTIONS http://localhost/"],
  ["OPTIONS of a whole URL without Host", lines("OPTIONS http://a/ HTTP/1.0"), "OPTIONS http://a/"],
])("%s reaches the edge", async (_, bytes, expected) => {
  const client = await exchange(running.where, bytes);
  expect(client.received).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(asked).toEqual([expected]);
});

test("HTTP/1.0 without Host is for localhost, as a health check of HAProxy for a path is", async () => {
  const urls: string[] = [];
  const { where, stop } = await startTestListener(({ url }) => {
    urls.push(url);
    return answer("page");
  });
  await exchange(where, lines("GET /_tidemark/health HTTP/1.0"));
  expect(urls).toEqual(["http://localhost/_tidemark/health"]);
  await stop();
});

test.each([
  ["OPTIONS *", lines("OPTIONS * HTTP/1.1", HOST)],
  ["OPTIONS * for a host of no site", lines("OPTIONS * HTTP/1.1", "Host: elsewhere.test")],
  ["OPTIONS * in HTTP/1.0", lines("OPTIONS * HTTP/1.0")],
  ["HAProxy's health check without settings", lines("OPTIONS / HTTP/1.0")],
])("%s asks no site whether the server runs", async (_, bytes) => {
  const { received } = await exchange(running.where, bytes);
  expect(statuses(received)).toEqual([200]);
  expect(received).toContain("cache-status: tidemark; detail=health\r\n");
  expect(asked).toEqual([]);
});

test("what is asked before bytes that are no request is answered before they are refused", async () => {
  const client = await exchange(running.where, `${lines("GET / HTTP/1.1", HOST)}nonsense\r\n`);
  expect(statuses(client.received)).toEqual([200, 400]);
});
