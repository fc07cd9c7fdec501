import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { exchange, RawClient } from "../raw-client.ts";
import {
  type Answering,
  answer,
  arrived,
  DATE,
  type RunningListener,
  startTestListener,
  streamed,
} from "./running-listener.ts";

/** How the bytes of answers look on the wire, with both ways of writing them. */
const pages: Readonly<Record<string, Answering>> = {
  "/bytes": () => answer("page", { "x-a": "1" }),
  "/none": () => answer(null),
  "/no-content": () => answer(null, { "content-length": "4" }, 204, "No Content"),
  "/reset-content": () => answer(null, {}, 205, "Reset Content"),
  "/reset-and-bytes": () => answer("page", {}, 205, "Reset Content"),
  "/reset-and-stream": () => answer(streamed(["page"]), {}, 205, "Reset Content"),
  "/not-modified": () => answer(null, { etag: '"1"', "content-length": "4" }, 304, "Not Modified"),
  "/announced": () => answer(streamed(["pa", "ge"], 4)),
  "/announced-and-here": () => answer(arrived(["pa", "ge"], 4)),
  "/here-and-short": () => answer(arrived(["pa"], 4)),
  "/here-and-cut-off": () => answer(arrived(["pa"], 4, true)),
  "/announced-in-a-field": () => answer(streamed(["pa", "ge"]), { "content-length": "4" }),
  "/unknown": () => answer(streamed(["pa", "", "ge"])),
  "/short": () => answer(streamed(["pa"], 4)),
  "/long": () => answer(streamed(["page", "more"], 4)),
  "/cut-off": () => answer(streamed(["pa"], 4, true)),
  "/cut-off-unknown": () => answer(streamed(["pa"], null, true)),
  "/cut-off-at-once": () => answer(streamed([], 4, true)),
  "/silent": () => answer(silent),
  "/silent-file": () => answer(silent, FILE),
  "/cut-off-file": () => answer(streamed([], 4, true), FILE),
  "/head-only": () => answer(null, { "content-length": "4" }),
  "/hop-by-hop": () =>
    answer("page", { connection: "x-a", "keep-alive": "timeout=5", "transfer-encoding": "chunked", upgrade: "h2c" }),
  "/cookies": () => {
    const { fields, ...rest } = answer("page");
    fields.append("set-cookie", "a=1");
    fields.append("set-cookie", "b=2");
    return { ...rest, fields };
  },
  "/challenges": () => answer("log in", { "www-authenticate": challenges }, 401, "Unauthorized"),
  "/odd-value": () => answer("page", { "x-a": "a\r\nx-b: 1", "x-c": "\u010d\u010ax-d: 1" }, 200, "O\r\nK"),
  "/dateless": () => ({ ...answer("page"), fields: new (answer("").fields.constructor as new () => never)() }),
};

/** A name beyond ASCII: each character is a byte, and two of them are one in UTF-8. */
const FILE = { "content-disposition": 'attachment; filename="caf\u00c3\u00a9"' };

/** Nothing comes until a test pushes it. */
let silent: PushedBody;

/** The lines of the origin's `WWW-Authenticate`, joined by commas. */
let challenges: string;

const site: Answering = (incoming) => pages[new URL(incoming.url).pathname]!(incoming);

let listeners: Readonly<Record<"fast" | "plain", RunningListener>>;

beforeAll(async () => {
  listeners = {
    fast: await startTestListener(site, { usesFastAnswers: true }),
    plain: await startTestListener(site, { usesFastAnswers: false }),
  };
});

afterAll(async () => {
  await listeners.fast.stop();
  await listeners.plain.stop();
});

const OK = `HTTP/1.1 200 OK\r\ndate: ${DATE}\r\n`;

describe.each(["fast", "plain"] as const)("the %s way", (way) => {
  async function get(path: string, version = "1.1", method = "GET", ...fields: string[]) {
    const client = await exchange(
      listeners[way].where,
      [`${method} ${path} HTTP/${version}`, "Host: localhost", ...fields, "", ""].join("\r\n"),
    );
    return { bytes: client.received, end: client.end };
  }

  test("bytes in memory have their length", async () => {
    expect((await get("/bytes")).bytes).toBe(`${OK}x-a: 1\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\npage`);
  });

  test("an answer without a body says so", async () => {
    expect((await get("/none")).bytes).toBe(`${OK}connection: keep-alive\r\ncontent-length: 0\r\n\r\n`);
  });

  test("204 and 304 have no body and no length, and 205 has the length 0", async () => {
    const date = `date: ${DATE}\r\n`;
    expect((await get("/no-content")).bytes).toBe(`HTTP/1.1 204 No Content\r\n${date}connection: keep-alive\r\n\r\n`);
    expect((await get("/not-modified")).bytes).toBe(
      `HTTP/1.1 304 Not Modified\r\n${date}etag: "1"\r\nconnection: keep-alive\r\n\r\n`,
    );
    for (const path of ["/reset-content", "/reset-and-bytes", "/reset-and-stream"]) {
      const reset = (connection: string) =>
        `HTTP/1.1 205 Reset Content\r\n${date}connection: ${connection}\r\ncontent-length: 0\r\n\r\n`;
      expect((await get(path)).bytes).toBe(reset("keep-alive"));
      expect((await get(path, "1.1", "BAN")).bytes).toBe(reset("close"));
    }
  });

  test("a stream of known length has its length, and no chunks", async () => {
    const expected = `${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\npage`;
    expect((await get("/announced")).bytes).toBe(expected);
    expect((await get("/announced-in-a-field")).bytes).toBe(expected);
    expect((await get("/announced-and-here")).bytes).toBe(expected);
  });

  test("a stream of unknown length is chunked in HTTP/1.1", async () => {
    const { bytes } = await get("/unknown");
    expect(bytes).toBe(`${OK}connection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n`);
  });

  test("a stream of unknown length ends with the connection in HTTP/1.0", async () => {
    const { bytes, end } = await get("/unknown", "1.0", "GET", "Connection: keep-alive");
    expect(bytes).toBe(`${OK}connection: close\r\n\r\npage`);
    expect(end).toBe("ended");
  });

  test("HEAD gets the fields of a GET and no body", async () => {
    const length = "content-length: 4\r\n";
    for (const path of ["/announced", "/announced-and-here", "/announced-in-a-field", "/head-only"]) {
      expect((await get(path, "1.1", "HEAD")).bytes).toBe(`${OK}connection: keep-alive\r\n${length}\r\n`);
    }
    expect((await get("/bytes", "1.1", "HEAD")).bytes).toBe(`${OK}x-a: 1\r\nconnection: keep-alive\r\n${length}\r\n`);
    expect((await get("/unknown", "1.1", "HEAD")).bytes).toBe(`${OK}connection: keep-alive\r\n\r\n`);
  });

  test.each(["/short", "/cut-off", "/here-and-short", "/here-and-cut-off"])(
    "%s: a body that ends early never looks whole",
    async (path) => {
      const { bytes } = await get(path);
      expect(bytes.startsWith(`${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\n`)).toBe(true);
      expect(bytes.endsWith("page")).toBe(false);
    },
  );

  test("a body that is longer than announced is cut off at its announced length or before", async () => {
    expect((await get("/long")).bytes).not.toContain("more");
  });

  test("a chunked body that is cut off has no last chunk", async () => {
    const { bytes } = await get("/cut-off-unknown");
    expect(bytes).toContain("transfer-encoding: chunked");
    expect(bytes).not.toContain("0\r\n\r\n");
  });

  test("a cut-off body that would end with the connection ends with a reset", async () => {
    expect((await get("/cut-off-unknown", "1.0")).end).toBe("reset");
  });

  test("a cut-off body that would end with a unix socket ends it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const where = { path: join(folder, "edge.sock") };
    await listeners[way].listener.listen(where);
    const cut = await exchange(where, "GET /cut-off-unknown HTTP/1.0\r\nHost: localhost\r\n\r\n");
    expect(cut.received).toMatch(/\r\n\r\npa$/);
    const ban = await exchange(where, "BAN /cut-off-unknown HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(ban.received).toMatch(/\r\n\r\npa$/);
    rmSync(folder, { recursive: true });
  });

  test("a body that fails before its first byte ends the connection after the head", async () => {
    expect(await get("/cut-off-at-once")).toEqual({
      bytes: `${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\n`,
      end: "ended",
    });
  });

  test("the head does not wait for the first piece of a body", async () => {
    const none = () => undefined;
    silent = new PushedBody(4, { pause: none, resume: none, cancel: none });
    const client = new RawClient(listeners[way].where);
    await client.send("GET /silent HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await client.until((received) => received.includes("\r\n\r\n"))).toBe(
      `${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\n`,
    );
    silent.push(Buffer.from("page"));
    silent.end();
    expect(await client.until((received) => received.endsWith("page"))).toBe(
      `${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\npage`,
    );
    client.destroy();
  });

  test("bytes beyond ASCII stay as they are in a head that goes before its body", async () => {
    const head = `${OK}content-disposition: ${FILE["content-disposition"]}\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\n`;
    const none = () => undefined;
    silent = new PushedBody(4, { pause: none, resume: none, cancel: none });
    const client = new RawClient(listeners[way].where);
    await client.send("GET /silent-file HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await client.until((received) => received.includes("\r\n\r\n"))).toBe(head);
    silent.push(Buffer.from("page"));
    silent.end();
    expect(await client.until((received) => received.endsWith("page"))).toBe(`${head}page`);
    client.destroy();
    expect((await get("/cut-off-file")).bytes).toBe(head);
  });

  test("fields of the connection are the listener's own", async () => {
    expect((await get("/hop-by-hop")).bytes).toBe(`${OK}connection: keep-alive\r\ncontent-length: 4\r\n\r\npage`);
  });

  test("each Set-Cookie stays a line of its own", async () => {
    expect((await get("/cookies")).bytes).toContain("set-cookie: a=1\r\nset-cookie: b=2\r\n");
  });

  test.each([
    ["Negotiate", ["Negotiate"]],
    ['Negotiate, Basic realm="x"', ["Negotiate", 'Basic realm="x"']],
    ["Negotiate YII==, NTLM", ["Negotiate YII==", "NTLM"]],
    [
      'Digest realm="a, Basic", qop="auth", nonce=b , opaque = "c",Digest realm="d",algorithm=MD5',
      ['Digest realm="a, Basic", qop="auth", nonce=b , opaque = "c"', 'Digest realm="d",algorithm=MD5'],
    ],
    [
      'Newauth realm="a\\", Basic", type=1, Basic realm="b"',
      ['Newauth realm="a\\", Basic", type=1', 'Basic realm="b"'],
    ],
    ['Basic, realm="x"', ['Basic, realm="x"']],
    [', Basic realm="x",\t,Bearer ,', ['Basic realm="x"', "Bearer"]],
    ['Basic realm="x, NTLM', ['Basic realm="x, NTLM']],
    [",", []],
  ])("each challenge of WWW-Authenticate has a line of its own: %s", async (joined, lines) => {
    challenges = joined;
    const { bytes } = await get("/challenges");
    expect([...bytes.matchAll(/^www-authenticate: (.*)\r$/gm)].map(([, value]) => value)).toEqual(lines);
  });

  test("nothing in a value or in the reason phrase can end a line", async () => {
    expect((await get("/odd-value")).bytes).toBe(
      `HTTP/1.1 200 OK\r\ndate: ${DATE}\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\npage`,
    );
  });

  test("an answer without a date gets one", async () => {
    expect((await get("/dateless")).bytes).toMatch(/\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  });

  test("HTTP/1.0 keeps the connection only if the client asks for it", async () => {
    expect((await get("/bytes", "1.0")).bytes).toContain("connection: close\r\n");
    expect((await get("/bytes", "1.0", "GET", "Connection: keep-alive")).bytes).toContain("connection: keep-alive\r\n");
  });
});
