import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { exchange, RawClient, statuses } from "../raw-client.ts";
import { answer, type RunningListener, startTestListener } from "./running-listener.ts";

/** Node's parser does not know the method BAN, so the listener reads its head itself. */
let running: RunningListener;
let asked: { readonly line: string; readonly fields: Readonly<Record<string, string>> }[] = [];

beforeAll(async () => {
  running = await startTestListener(({ request, url }) => {
    const headers = request.headers as Iterable<readonly [string, string]>;
    asked.push({ line: `${request.method} ${url}`, fields: Object.fromEntries([...headers]) });
    return answer("banned", {}, 200, "Banned");
  });
});

afterAll(() => running.stop());

beforeEach(() => {
  asked = [];
});

const lines = (...each: string[]) => [...each, "", ""].join("\r\n");
const HOST = "Host: localhost";
const BAN = lines("BAN /a?b HTTP/1.1", HOST, "X-Url:  ^/shop/ ", "X-Cache-Tags: (^|,)(a)(,|$)", "Content-Length: 0");

describe("a BAN", () => {
  test("is answered, and ends its connection", async () => {
    const { received } = await exchange(running.where, BAN);
    expect(received).toMatch(/^HTTP\/1\.1 200 Banned\r\n/);
    expect(received).toMatch(/\r\nconnection: close\r\n/i);
    expect(received).toMatch(/\r\n\r\nbanned$/);
    const fields = { host: "localhost", "x-url": "^/shop/", "x-cache-tags": "(^|,)(a)(,|$)", "content-length": "0" };
    expect(asked).toEqual([{ line: "BAN http://localhost/a?b", fields }]);
  });

  test.each([6, 20, BAN.length - 2])("may come in two pieces, the first of %i bytes", async (length) => {
    const client = new RawClient(running.where);
    await client.send(BAN.slice(0, length));
    await client.send(BAN.slice(length));
    expect(await client.until((received) => received.endsWith("banned"))).toMatch(/^HTTP\/1\.1 200 Banned/);
    expect(asked.length).toBe(1);
    client.destroy();
  });

  test("may follow another request on its connection", async () => {
    const client = new RawClient(running.where);
    await client.send(lines("GET /first HTTP/1.1", HOST));
    await client.until((received) => received.endsWith("banned"));
    await client.send(BAN);
    await client.until((received) => received.split("banned").length === 3);
    expect(asked.map(({ line }) => line)).toEqual(["GET http://localhost/first", "BAN http://localhost/a?b"]);
    client.destroy();
  });

  test.each([0, 1])("is answered after %i other requests, although its client ends its half before", async (others) => {
    const { where, stop } = await startTestListener(async ({ request }) => {
      const left = new Promise<void>((resolve) => request.onceLeft!(resolve));
      if (request.method === "BAN") await left;
      return answer("banned");
    });
    const client = new RawClient(where);
    if (others > 0) await client.send(lines("GET /first HTTP/1.1", HOST));
    await client.until((received) => statuses(received).length === others);
    await client.send(BAN);
    client.socket.end();
    await client.closed;
    await stop();
    expect(statuses(client.received)).toHaveLength(others + 1);
    expect(client.received).toMatch(/\r\nconnection: close\r\n.*\r\n\r\nbanned$/is);
  });

  test.each<[name: string, bytes: string]>([
    ["two Host fields", lines("BAN / HTTP/1.1", HOST, HOST)],
    ["no Host field", lines("BAN / HTTP/1.1", "X-Url: .*")],
    ["a body", `${lines("BAN / HTTP/1.1", HOST, "Content-Length: 2")}ab`],
    ["a length that is none", lines("BAN / HTTP/1.1", HOST, "Content-Length: 0x0")],
    ["chunks", `${lines("BAN / HTTP/1.1", HOST, "Transfer-Encoding: chunked")}0\r\n\r\n`],
    ["a folded field", lines("BAN / HTTP/1.1", HOST, "X-A: 1", " 2")],
    ["a space before a colon", lines("BAN / HTTP/1.1", "Host : localhost")],
    ["a control character", lines("BAN / HTTP/1.1", HOST, "X-A: a\0b")],
    ["a line feed in a value", lines("BAN / HTTP/1.1", HOST, "X-A: a\nX-B: b")],
    ["a space in the target", lines("BAN /a b HTTP/1.1", HOST)],
    ["HTTP/2.0", lines("BAN / HTTP/2.0", HOST)],
    ["a head that does not end", `BAN / HTTP/1.1\r\n${"X-A: a\r\n".repeat(10_000)}`],
  ])("with %s is refused", async (_, bytes) => {
    const { received } = await exchange(running.where, bytes);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
  });

  test("with very many spaces in a value is answered", async () => {
    const { where, stop } = await startTestListener(({ request }) => answer(request.headers.get("x-a")), {
      settings: { maxHeadBytes: 300_000 },
    });
    const value = `a${" ".repeat(250_000)}b`;
    const { received } = await exchange(where, lines("BAN / HTTP/1.1", HOST, `X-A: ${value}`));
    await stop();
    expect(received.endsWith(value)).toBe(true);
  });

  test("that is cut off in its head is not carried out", async () => {
    const { end } = await exchange(running.where, `BAN / HTTP/1.1\r\n${HOST}\r\n`);
    expect({ end, asked }).toEqual({ end: "ended", asked: [] });
  });

  test("in HTTP/1.0 is for localhost if it names no host, gets the fields of the listener, and is in the access log", async () => {
    const logged: AnsweredExchange[] = [];
    const { where, stop } = await startTestListener(({ url }) => answer(url), {
      accessLog: { record: (each) => void logged.push(each) },
      strictTransportSecurity: "max-age=60",
      trustedProxies: [readNetwork("127.0.0.1")!],
    });
    const { received } = await exchange(where, lines("BAN /a HTTP/1.0", "X-Forwarded-Proto: https"));
    await stop();
    expect(received).toMatch(/\r\nstrict-transport-security: max-age=60\r\n[\s\S]*\r\n\r\nhttps:\/\/localhost\/a$/);
    const line = {
      method: "BAN",
      target: "/a",
      version: "1.0",
      bodyBytes: "https://localhost/a".length,
      isWhole: true,
    };
    expect(logged).toEqual([expect.objectContaining(line)]);
  });

  test("after which more comes is the last on its connection", async () => {
    const { received } = await exchange(running.where, BAN + lines("GET /next HTTP/1.1", HOST));
    expect(received.match(/HTTP\/1\.1/g)?.length).toBe(1);
    expect(asked.length).toBe(1);
  });
});

test("control: another unknown method is refused", async () => {
  const { received } = await exchange(running.where, lines("BANG / HTTP/1.1", HOST));
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
});
