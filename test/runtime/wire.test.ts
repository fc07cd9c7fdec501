import { createHash, randomBytes } from "node:crypto";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { IsolateStats } from "../../wire/stats.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { inGate } from "../suite/depth.ts";
import { sendBytes } from "./raw-connection.ts";
import { SocketOrigin } from "./socket-origin.ts";

/** Behaviour that only real sockets show. The clock stands at zero, so nothing here depends on time. */
const script = bundleWorker("local/runtime/virtual-time.worker.ts");
const agent = new Agent({ keepAlive: false });
let edge: EdgeRuntime;
let origin: SocketOrigin;
/** A new isolate takes over: its memory is empty, the Cache API is not. */
let restart: () => Promise<void>;

async function start(answer: ConstructorParameters<typeof SocketOrigin>[0]): Promise<void> {
  origin = new SocketOrigin(answer);
  const variables = { SITE: { origin: await origin.start() }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
  const worker = { script: await script, variables };
  edge = await startEdgeRuntime(worker, { port: 0 });
  restart = () => edge.reload(worker);
}

afterEach(async () => {
  await edge.stop();
  await origin.stop();
});

function respond(fields: readonly string[], body: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(["HTTP/1.1 200 OK", ...fields, "", ""].join("\r\n")), Buffer.from(body)]);
}

describe("bodies", () => {
  const TITLE = "a body in %s is stored and comes back byte for byte, from either tier, whole and in part";
  const comesBack = async (coding: string, encode: (page: string) => Buffer) => {
    const page = randomBytes(3_000).toString("hex");
    const encoded = encode(page);
    const asked: (string | undefined)[] = [];
    await start((text, socket) => {
      asked.push(/^accept-encoding: (.*)\r$/im.exec(text)?.[1]);
      const fields = ["cache-control: max-age=60", `content-encoding: ${coding}`, `content-length: ${encoded.length}`];
      socket.write(respond(fields, encoded));
    });
    const seen = async (tier: string, fields: Record<string, string> = {}) => {
      const { incoming, bytes } = await rawGet("/a", { "accept-encoding": `deflate, ${coding};q=0.9`, ...fields });
      const { headers, statusCode } = incoming;
      return { tier, statusCode, coding: headers["content-encoding"], length: headers["content-length"], bytes };
    };
    const whole = { statusCode: 200, coding, length: String(encoded.length), bytes: encoded };
    const part = { statusCode: 206, coding, length: "100", bytes: encoded.subarray(7, 107) };
    expect(await seen("origin")).toEqual({ tier: "origin", ...whole });
    expect(await seen("memory")).toEqual({ tier: "memory", ...whole });
    expect(await seen("memory", { range: "bytes=7-106" })).toEqual({ tier: "memory", ...part });
    while (!(await isInCacheApi()));
    await restart();
    expect(await seen("Cache API", { range: "bytes=7-106" })).toEqual({ tier: "Cache API", ...part });
    await restart();
    expect(await seen("Cache API")).toEqual({ tier: "Cache API", ...whole });
    expect(asked).toEqual([coding]);
    await rawGet("/a", { "accept-encoding": `*, ${coding};q=0` });
    expect(asked).toHaveLength(2);
  };
  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const)(TITLE, { tags: ["deep"] }, comesBack);

  test("a stored body comes back byte for byte, whatever the bytes", async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
    await start((_, socket) => {
      socket.write(respond(["cache-control: max-age=60", `content-length: ${bytes.length}`], bytes));
    });
    expect((await rawGet("/a")).bytes.equals(bytes)).toBe(true);
    const second = await rawGet("/a");
    expect(second.incoming.headers["x-cache"]).toBe("HIT");
    expect(second.bytes.equals(bytes)).toBe(true);
  });

  test("an answer reaches the client while the origin is still sending it", async () => {
    const rest = Promise.withResolvers<void>();
    await start((_, socket) => {
      socket.write(respond(["cache-control: max-age=60", "content-length: 10"], "first"));
      void rest.promise.then(() => socket.write(" last"));
    });
    const incoming = await rawHead("/a");
    const first = await new Promise<Buffer>((resolve) => incoming.once("data", resolve));
    expect(first.toString()).toBe("first");
    rest.resolve();
    expect((await readAll(incoming)).toString()).toBe(" last");
  });

  test("a request body reaches the origin while the client is still sending it", async () => {
    const firstPart = Promise.withResolvers<void>();
    let received = "";
    await start((text, socket) => {
      received += text;
      if (received.includes("first")) firstPart.resolve();
      if (received.includes("last")) socket.write(respond(["content-length: 2"], "ok"));
    });
    const outgoing = httpRequest({ ...address(), method: "POST", path: "/a", headers: { host: HOST } });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.on("response", resolve).on("error", reject),
    );
    outgoing.write("first");
    await firstPart.promise;
    outgoing.end("last");
    expect((await readAll(await answered)).toString()).toBe("ok");
  });

  test("a client that expects a 100 sends its body and gets the answer (RFC 9110 §10.1.1)", async () => {
    let received = "";
    await start((text, socket) => {
      received += text;
      // As any HTTP server does. The runtime would take the 100 for the answer.
      if (/^expect:/im.test(text)) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      if (received.includes("upload")) socket.write(respond(["content-length: 2"], "ok"));
    });
    const fields = { host: HOST, expect: "100-continue", "content-length": "6" };
    const outgoing = httpRequest({ ...address(), method: "POST", path: "/a", headers: fields });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.on("response", resolve).on("error", reject),
    );
    outgoing.end("upload");
    const incoming = await answered;
    const answer = { status: incoming.statusCode, text: (await readAll(incoming)).toString() };
    expect(answer).toEqual({ status: 200, text: "ok" });
    expect(received.match(/^POST /gm)).toHaveLength(1);
  });

  test("chunks override a Content-Length beside them (RFC 9112 §6.3)", async () => {
    await start((_, socket) => {
      socket.write(respond(["content-length: 3", "transfer-encoding: chunked"], "6\r\nchunks\r\n0\r\n\r\n"));
    });
    const { incoming, bytes } = await rawGet("/a");
    expect({ status: incoming.statusCode, text: bytes.toString() }).toEqual({ status: 200, text: "chunks" });
  });

  test.each([
    ["the first", "5;a=b\r\nhello\r\n6\r\n world\r\n", ""],
    ["the second", "5\r\nhello\r\n6;a=b\r\n world\r\n", "hello"],
  ])(
    "end before the first chunk with an extension, and are not stored: %s",
    { tags: ["deep"] },
    async (_, chunks, body) => {
      await start((_, socket) => {
        socket.write(respond(["cache-control: max-age=60", "transfer-encoding: chunked"], `${chunks}0\r\n\r\n`));
      });
      for (let asked = 0; asked < 2; asked++) {
        const { incoming, bytes } = await rawGet("/a");
        expect([incoming.headers["x-cache"], bytes.toString()]).toEqual(["MISS", body]);
      }
    },
  );

  test("a body of 20 MB is stored in two steps, and comes back byte for byte", { tags: ["deep"] }, async () => {
    const body = randomBytes(20 * 1024 * 1024);
    let asked = 0;
    await start((_, socket) => {
      asked++;
      socket.write(respond(["cache-control: max-age=60", `content-length: ${body.length}`], body));
    });
    let answer: Awaited<ReturnType<typeof rawGet>>;
    let answers = 0;
    do {
      answer = await rawGet("/a");
      answers++;
      expect(answer.bytes.equals(body)).toBe(true);
    } while (answer.incoming.headers["x-cache"] !== "HIT"); // the entry is stored behind the first answer
    expect(asked).toBeLessThan(answers);
  });
});

describe("invalid answers", () => {
  test.each(
    inGate(2, [
      [
        "an interim answer in place of a final one",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
      ],
      ["half a status line", "HTTP/1.1 20"],
      ["no HTTP at all", "220 mail.example.test ESMTP\r\n"],
      ["lengths that contradict each other", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokk"],
    ]),
  )("%s is a 502 that says so", async (_, bytes) => {
    await start((_, socket) => socket.end(bytes));
    const answer = await exchange(edge.url, agent, { path: "/a" });
    expect(answer.status).toBe(502);
    expect(answer.fields["cache-status"]).toMatch(/^tidemark; detail=origin-/);
    expect(answer.fields).not.toHaveProperty("x-cache");
  });
});

describe("what an origin sends after its answer", () => {
  const OTHER = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 5\r\n\r\nother";
  test.each([
    ["a second answer", `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok${OTHER}`],
    ["a body with a 204", `HTTP/1.1 204 No Content\r\ncontent-length: ${OTHER.length}\r\n\r\n${OTHER}`],
  ])("is taken for the answer to the next request: %s", { tags: ["deep"] }, async (_, bytes) => {
    await start((_, socket) => socket.write(bytes));
    await exchange(edge.url, agent, { path: "/a" });
    const { body, fields } = await exchange(edge.url, agent, { path: "/b" });
    expect({ body, status: fields["cache-status"] }).toEqual({
      body: "other",
      status: expect.stringMatching(/; stored$/),
    });
  });
});

describe("the status line", () => {
  test.each(
    inGate(1, [
      [200, "OK", {}],
      [404, "Not Found", {}],
      [301, "Moved Permanently", { location: "/b" }],
    ]),
  )("of a %i is the same on a miss and on a hit", async (status, phrase, more) => {
    await start((_, socket) => {
      const fields = Object.entries({ "cache-control": "max-age=60", "content-length": "2", ...more });
      const lines = fields.map(([name, value]) => `${name}: ${value}`);
      socket.write([`HTTP/1.1 ${status} As The Origin Likes`, ...lines, "", "ok"].join("\r\n"));
    });
    const [miss, hit] = [await statusLine("/a"), await statusLine("/a")];
    expect(miss).toEqual({ line: `HTTP/1.1 ${status} ${phrase}`, xCache: "MISS" });
    expect(hit).toEqual({ line: `HTTP/1.1 ${status} ${phrase}`, xCache: "HIT" });
  });

  test("of the edge's own answers has a reason phrase", { tags: ["deep"] }, async () => {
    await start((_, socket) => {
      socket.write(respond(["cache-control: max-age=60", 'etag: "1"', "content-length: 2"], "ok"));
    });
    await rawGet("/a");
    const line = async (...fields: string[]) => (await statusLine("/a", fields)).line;
    expect(await line('if-none-match: "1"')).toBe("HTTP/1.1 304 Not Modified");
    expect(await line("range: bytes=0-0")).toBe("HTTP/1.1 206 Partial Content");
    expect(await line("range: bytes=9-")).toBe("HTTP/1.1 416 Range Not Satisfiable");
    expect((await statusLine("/b%00")).line).toBe("HTTP/1.1 400 Bad Request");
  });

  test("of a forwarded answer is the origin's", { tags: ["deep"] }, async () => {
    await start((_, socket) => {
      socket.write("HTTP/1.1 200 As The Origin Likes\r\ncache-control: no-store\r\ncontent-length: 2\r\n\r\nok");
    });
    expect((await statusLine("/a")).line).toBe("HTTP/1.1 200 As The Origin Likes");
  });

  test("of a forwarded answer has the usual phrase where the origin's has a control character", async () => {
    await start((_, socket) => {
      socket.write("HTTP/1.1 404 No\u0001Page\r\ncache-control: no-store\r\ncontent-length: 2\r\n\r\nok");
    });
    expect((await statusLine("/a")).line).toBe("HTTP/1.1 404 Not Found");
  });
});

describe("fields", () => {
  test("several lines of Set-Cookie stay separate (RFC 9110 §5.3), and other lines may be joined", {
    tags: ["deep"],
  }, async () => {
    await start((_, socket) => {
      socket.write(respond(["set-cookie: a=1; Path=/", "set-cookie: b=2", "link: </a>", "link: </b>"], ""));
      socket.end();
    });
    const { headers } = await rawHead("/a");
    expect(headers["set-cookie"]).toEqual(["a=1; Path=/", "b=2"]);
    expect(headers.link).toBe("</a>, </b>");
  });

  test("values in UTF-8 stay as they are, and other bytes beyond ASCII are lost on their way in", {
    tags: ["deep"],
  }, async () => {
    const asBytes = (text: string) => Buffer.from(text).toString("latin1");
    let received = "";
    await start((text, socket) => {
      received = text;
      const fields = ["content-length: 2", "cache-control: no-store", "x-latin: caf\xe9", `x-utf8: ${asBytes("café")}`];
      socket.write(Buffer.from(["HTTP/1.1 200 OK", ...fields, "", "ok"].join("\r\n"), "latin1"));
    });
    const lines = ["POST /a HTTP/1.1", `host: ${HOST}`, "connection: close", "content-length: 0"];
    const cookie = `cookie: a=caf\xe9; b=${asBytes("café")}`;
    const { answered } = await sendBytes(edge.url, [...lines, cookie, "", ""].join("\r\n"));
    expect(received).toContain(`: a=${asBytes("caf\ufffd")}; b=${asBytes("café")}\r\n`);
    expect(answered).toContain(`x-latin: ${asBytes("caf\ufffd")}\r\n`);
    expect(answered).toContain(`x-utf8: ${asBytes("café")}\r\n`);
  });
});

describe("what must not leak", () => {
  test("the edge's own tokens never reach the origin, on storing and on passing routes", async () => {
    let received = "";
    await start((text, socket) => {
      received += text;
      socket.write(respond(["content-length: 2"], "ok"));
    });
    const fields = { "tidemark-refresh": TOKEN, "tidemark-after": "log.1", cookie: "tidemark-after=log.1; a=1" };
    await exchange(edge.url, agent, { path: "/a", fields });
    await exchange(edge.url, agent, { method: "POST", path: "/a", fields });
    expect(received).toMatch(/^cookie: a=1\r$/im);
    expect(received.toLowerCase()).not.toContain("tidemark-");
    expect(received).not.toContain(TOKEN);
  });
});

describe("WebSockets", () => {
  test("an upgrade is passed on, and messages go both ways", { tags: ["deep"] }, async () => {
    await start((text, socket) => {
      const key = /sec-websocket-key: (\S+)/i.exec(text)?.[1];
      if (key === undefined) return void socket.write(echoOf(Buffer.from(text, "latin1")));
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const fields = ["upgrade: websocket", "connection: upgrade", `sec-websocket-accept: ${accept}`];
      socket.write(["HTTP/1.1 101 Switching Protocols", ...fields, "", ""].join("\r\n"));
    });
    const socket = new WebSocket(`ws://${edge.url.host}/chat`);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("the upgrade failed"));
    });
    const answer = new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(data);
    });
    socket.send("hello");
    expect(await answer).toBe("hello");
    socket.close();
  });
});

/** The unmasked echo of one short masked text frame. RFC 6455 §5.2. */
function echoOf(frame: Buffer): Buffer {
  const length = frame[1]! & 0x7f;
  const mask = frame.subarray(2, 6);
  const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ mask[index % 4]!);
  return Buffer.concat([Buffer.from([0x81, length]), text]);
}

/** Whether a page is in the Cache API, into which it is written behind its answer. */
async function isInCacheApi(): Promise<boolean> {
  const request = { path: "/_tidemark/stats?scope=isolate", fields: { authorization: `Bearer ${TOKEN}` } };
  const { body } = await exchange(edge.url, agent, request);
  return (JSON.parse(body) as IsolateStats).store.stored > 0;
}

function address(): { host: string; port: string; agent: Agent } {
  return { host: edge.url.hostname, port: edge.url.port, agent };
}

/** The status line as it comes off the socket. */
async function statusLine(path: string, fields: readonly string[] = []): Promise<{ line: string; xCache?: string }> {
  const lines = [`GET ${path} HTTP/1.1`, `host: ${HOST}`, "connection: close", ...fields, "", ""];
  const { answered } = await sendBytes(edge.url, lines.join("\r\n"));
  const xCache = /^x-cache: (.*)\r$/im.exec(answered)?.[1];
  return { line: answered.split("\r\n", 1)[0]!, ...(xCache !== undefined && { xCache }) };
}

function rawHead(path: string, fields: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ ...address(), path, headers: { host: HOST, ...fields } }, resolve)
      .on("error", reject)
      .end();
  });
}

async function rawGet(
  path: string,
  fields: Record<string, string> = {},
): Promise<{ incoming: IncomingMessage; bytes: Buffer }> {
  const incoming = await rawHead(path, fields);
  return { incoming, bytes: await readAll(incoming) };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
