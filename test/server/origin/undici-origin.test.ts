import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createRawTlsServer, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { SwitchedConnection } from "../../../server/http1/tunnel.ts";
import { readOriginAddress } from "../../../server/origin/origin-address.ts";
import { OriginExchange } from "../../../server/origin/origin-exchange.ts";
import { UndiciOrigin, type UndiciOriginOptions } from "../../../server/origin/undici-origin.ts";
import { ADDED_BYTES, ADDED_FIELDS } from "../../../server/tiers/room-for-tiers.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { MOST_RESPONSE_FIELD_BYTES, MOST_RESPONSE_FIELDS } from "../../../worker/site/most-response-fields.ts";
import { SocketOrigin } from "../../runtime/socket-origin.ts";
import { requestsIn } from "../../runtime/strict-requests.ts";
import { makeCertificate } from "../connections/make-certificate.ts";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

function connectTo(url: string, options: Partial<UndiciOriginOptions> = {}): UndiciOrigin {
  const address = readOriginAddress(url)!;
  const origin = new UndiciOrigin({ address, timeoutMs: 10_000, bodies: nodeBodies, ...options });
  ends.push(() => origin.close());
  return origin;
}

/** An origin that writes what a function says, and keeps what it received. */
async function rawOrigin(answer: (request: string, socket: Socket, count: number) => void) {
  const seen: string[] = [];
  const server = new SocketOrigin((request, socket) => {
    seen.push(request);
    answer(request, socket, seen.length);
  });
  ends.push(() => server.stop());
  return { url: await server.start(), seen };
}

/** Has a server listen on a Unix socket. Returns its path. */
async function listenOnFile(server: Server): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "origin-"));
  const path = join(folder, "origin.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  ends.push(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return path;
}

/** An answer of this process comes within it, also if the process does not run for a while. */
const SOON_MS = 400;

const get: OriginRequest = { method: "GET", pathAndQuery: "/a?b=1", fields: [["x-a", "1"]], body: null };

/** A kept connection can be used again a turn after its answer. */
const turn = () => new Promise(setImmediate);

async function textOf(body: StreamedBody | null): Promise<string> {
  if (body === null) return "";
  const reader = nodeBodies.readThrough(body);
  let text = "";
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
    text += Buffer.from(piece).toString("latin1");
  }
  return text;
}

function answered(answer: OriginAnswer) {
  if (answer.kind !== "answered") throw new Error(`no answer: ${JSON.stringify(answer)}`);
  return answer.response;
}

/** A body that comes in these pieces. */
function bodyOf(lengthBytes: number | null, ...pieces: string[]): PushedBody {
  const body: PushedBody = new PushedBody(lengthBytes, {
    begin: () => {
      for (const piece of pieces) body.push(Buffer.from(piece));
      body.end();
    },
    pause: () => undefined,
    resume: () => undefined,
    cancel: () => undefined,
  });
  return body;
}

/** A body of unknown length whose pieces the test sends. */
function bodyInTime(): PushedBody {
  const control = { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
  return new PushedBody(null, control);
}

describe("requests", () => {
  const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  test("a request has the fields that it is given, and those of its connection", async () => {
    const { url, seen } = await rawOrigin((_, socket) => socket.write(ok));
    await connectTo(url).fetch({ ...get, fields: [...get.fields, ["x-a", "2"], ["via", "1.1 caf\xe9"]] });
    const [request] = requestsIn(seen.join(""));
    expect(request!.line).toBe("GET /a?b=1 HTTP/1.1");
    expect(request!.fields).toEqual([
      `host: ${new URL(url).host}`,
      "connection: keep-alive",
      "x-a: 1",
      "x-a: 2",
      "via: 1.1 caf\xe9",
    ]);
  });

  test("Host is the public host where the site says so, and never the client's word", async () => {
    const { url, seen } = await rawOrigin((_, socket) => socket.write(ok));
    const fields = [
      ["host", "evil.example"],
      ["x-forwarded-host", "www.example.test:8443"],
    ] as const;
    await connectTo(url, { tellsPublicHost: true }).fetch({ ...get, fields });
    const [request] = requestsIn(seen.join(""));
    expect(request!.fields.filter((field) => field.startsWith("host:"))).toEqual(["host: www.example.test:8443"]);
  });

  test("a body of known length has its length, and one of unknown length has chunks", async () => {
    const { url, seen } = await rawOrigin((request, socket) => {
      if (/hello|0\r\n\r\n$/.test(request)) socket.write(ok);
    });
    const origin = connectTo(url);
    const fields = [["expect", "100-continue"]] as const;
    await origin.fetch({ ...get, method: "POST", fields, body: bodyOf(10, "hello", "hello") });
    const known = requestsIn(seen.join(""))[0]!;
    expect(known.fields).toContain("content-length: 10");
    expect(known.fields.join()).not.toContain("expect");
    expect(known.body).toBe("hellohello");
    seen.length = 0;
    await origin.fetch({ ...get, method: "POST", fields: [], body: bodyOf(null, "abc", "de") });
    const chunked = requestsIn(seen.join(""))[0]!;
    expect(chunked.fields).toContain("transfer-encoding: chunked");
    expect(chunked.body).toBe("5\r\nabcde\r\n0\r\n\r\n");
  });

  test("a body that is cut off leaves no request that looks whole", async () => {
    const { url, seen } = await rawOrigin(() => body.fail(new Error("cut off")));
    const body: PushedBody = new PushedBody(10, {
      begin: () => body.push(Buffer.from("hello")),
      pause: () => undefined,
      resume: () => undefined,
      cancel: () => undefined,
    });
    const answer = await connectTo(url).fetch({ ...get, method: "POST", body });
    expect(answer).toMatchObject({ kind: "failed", because: "unreachable" });
    expect(() => requestsIn(seen.join(""))).toThrow("half a request");
  });

  test("a body that an origin answers without reading it is let go", async () => {
    const letGo = Promise.withResolvers<void>();
    const { url } = await rawOrigin((_, socket) =>
      socket.end("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    );
    const ignore = () => undefined;
    const begin = () => body.push(Buffer.from("first"));
    const body: PushedBody = new PushedBody(10, { begin, pause: ignore, resume: ignore, cancel: letGo.resolve });
    const answer = await connectTo(url).fetch({ ...get, method: "POST", body });
    expect(answered(answer).status).toBe(413);
    body.push(Buffer.from("more"));
    await letGo.promise;
  });

  test("an answer that begins before the whole body has come may last as long as it wants", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const whole = Promise.withResolvers<Socket>();
    let received = "";
    const { url } = await rawOrigin((request, socket) => {
      if (received === "") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npa");
      received += request;
      if (received.endsWith("0\r\n\r\n")) whole.resolve(socket);
    });
    const body = bodyInTime();
    const answer = connectTo(url, { timeoutMs: 10_000 }).fetch({ ...get, method: "POST", body });
    body.push(Buffer.from("first"));
    const page = answered(await answer).body;
    body.push(Buffer.from("second"));
    body.end();
    const socket = await whole.promise;
    vi.advanceTimersByTime(10_000);
    socket.write("ge");
    expect(await textOf(page)).toBe("page");
  });

  describe("that the origin closes before it has read the body", () => {
    const POSTED = { ...get, method: "POST", fields: [] } as const;

    /** Origins by how one connects to them: each calls this with the first bytes of a request. */
    const origins = {
      "over TCP": async (answer: (socket: Socket) => void) => {
        const { url } = await rawOrigin((_, socket) => answer(socket));
        return connectTo(url);
      },
      "on a Unix socket": async (answer: (socket: Socket) => void) => {
        const socketPath = await listenOnFile(
          createTcpServer((socket) => void socket.once("data", () => answer(socket))),
        );
        return connectTo(`unix:${socketPath}`);
      },
      "over TLS": async (answer: (socket: Socket) => void) => {
        const { chain, key } = makeCertificate(["b.example.test"]);
        const server = createRawTlsServer({ cert: chain, key }, (socket) => {
          socket.once("data", () => answer(socket));
        });
        const address = { url: "https://b.example.test", socketPath: await listenOnFile(server) };
        return connectTo(address.url, { address, tls: { ca: chain } });
      },
    };

    /** The origin does as told when it has the head. Before the edge reads the answer, the client sends more. */
    async function post(over: keyof typeof origins, atHead: (socket: Socket) => void): Promise<OriginAnswer> {
      const body = bodyInTime();
      const origin = await origins[over]((socket) => {
        atHead(socket);
        for (const piece of ["second", "third", "fourth"]) body.push(Buffer.from(piece));
      });
      body.push(Buffer.from("first"));
      return origin.fetch({ ...POSTED, body });
    }

    test("is no answer if it has said nothing", async () => {
      const answer = await post("over TCP", (socket) => socket.resetAndDestroy());
      expect(answer).toMatchObject({ kind: "failed", because: "unreachable", saysNothing: true });
    });

    test.each(Object.keys(origins) as (keyof typeof origins)[])(
      "is answered by what it said before, %s",
      async (over) => {
        const answer = await post(over, (socket) => {
          socket.write("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large");
          socket.destroy();
        });
        const { status, body } = answered(answer);
        expect([status, await textOf(body)]).toEqual([413, "too large"]);
      },
    );
  });

  test("what cannot be sent is a failure, not an exception", async () => {
    const { url } = await rawOrigin((_, socket) => socket.write(ok));
    const answer = await connectTo(url).fetch({ ...get, fields: [["x-a", "a\r\nb: 1"]] });
    expect(answer).toMatchObject({ kind: "failed", because: "bad-response" });
    expect(answer).not.toHaveProperty("wasNeverSent"); // Otherwise a visitor could make an address count as failed.
  });

  test("unix sockets", async () => {
    const path = await listenOnFile(createServer((request, response) => response.end(request.headers.host)));
    const answer = await connectTo(`unix:${path}`).fetch(get);
    expect(await textOf(answered(answer).body)).toBe("localhost");
  });

  test.each([
    ["http://a:8000/", { url: "http://a:8000", socketPath: null }],
    ["https://a/b/", { url: "https://a/b", socketPath: null }],
    ["unix:/run/a.sock", { url: "http://localhost", socketPath: "/run/a.sock" }],
    ["unix:///run/a.sock", { url: "http://localhost", socketPath: "/run/a.sock" }],
    ["ftp://a", null],
    ["unix:a.sock", null],
    ["a", null],
  ])("the address %s", (text, expected) => expect(readOriginAddress(text)).toEqual(expected));
});

describe("answers", () => {
  async function fetched(bytes: string, request: Partial<OriginRequest> = {}): Promise<OriginAnswer> {
    const { url } = await rawOrigin((_, socket) => {
      socket.end(Buffer.from(bytes, "latin1"));
    });
    return connectTo(url).fetch({ ...get, ...request });
  }

  test("fields come as they are, and nothing is decoded or followed", async () => {
    const bytes = [
      "HTTP/1.1 302 Moved A Bit",
      "Content-Encoding: gzip",
      "X-A: caf\xe9",
      "Set-Cookie: a=1",
      "x-a: 2",
      "Set-Cookie: b=2",
      "Location: /b",
      "__proto__: x",
      "Content-Length: 4",
      "",
      "page",
    ].join("\r\n");
    const { status, statusText, fields, body } = answered(await fetched(bytes));
    expect([status, statusText]).toEqual([302, "Moved A Bit"]);
    expect([...fields]).toEqual([
      ["content-encoding", "gzip"],
      ["x-a", "caf\xe9, 2"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["location", "/b"],
      ["__proto__", "x"],
      ["content-length", "4"],
    ]);
    expect(await textOf(body)).toBe("page");
  });

  test.each([
    [["/b", "/b "], "/b"],
    [["/b", "/c"], "/b, /c"],
  ])("the lines %j of Location are %j, because browsers follow one that comes twice", async (lines, location) => {
    const head = ["HTTP/1.1 302 Found", ...lines.map((line) => `Location: ${line}`), "Content-Length: 0", "", ""];
    expect(answered(await fetched(head.join("\r\n"))).fields.get("location")).toBe(location);
  });

  test("fields have no whitespace around their values: RFC 9110 §5.5, RFC 9113 §8.2.1", async () => {
    const bytes = [
      "HTTP/1.1 200 OK",
      'ETag: \t "a" ',
      "Set-Cookie: a=1 \t ",
      "Set-Cookie: b=2\t",
      "X-A: 1\xa0 ",
      "X-B: 1 ",
      "x-b: 2\t",
      "X-C: \t ",
      "Content-Length: 2",
      "",
      "ok",
    ].join("\r\n");
    const { fields, body } = answered(await fetched(bytes));
    expect([...fields]).toEqual([
      ["etag", '"a"'],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["x-a", "1\xa0"],
      ["x-b", "1, 2"],
      ["x-c", ""],
      ["content-length", "2"],
    ]);
    expect(await textOf(body)).toBe("ok");
  });

  test.each([
    ["fields", [...Array(MOST_RESPONSE_FIELDS + ADDED_FIELDS).keys()].map((n) => `x-${n}: a`)],
    ["bytes of fields", [`x-a: ${"a".repeat(MOST_RESPONSE_FIELD_BYTES + ADDED_BYTES)}`]],
  ])("as many %s as a site may allow, and what parents add, are read", async (_, lines) => {
    const { fields } = answered(await fetched(["HTTP/1.1 204 No Content", ...lines, "", ""].join("\r\n")));
    expect([...fields]).toHaveLength(lines.length);
  });

  describe("interim ones", () => {
    const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const interims = (count: number, link = "</a>") =>
      `HTTP/1.1 103 Early Hints\r\nLink: ${link}\r\n\r\n`.repeat(count);

    test("are told one by one, with their fields, and are not the answer", async () => {
      const told: (readonly [number, ...(readonly [string, string])[]])[] = [];
      const bytes = `${interims(1)}HTTP/1.1 102 Processing\r\nX-A: 1\r\nX-A: 2\r\n\r\n${FINAL}`;
      const inform: OriginRequest["inform"] = ({ status, fields }) => void told.push([status, ...fields]);
      const { status, fields, body } = answered(await fetched(bytes, { inform }));
      expect(status).toBe(200);
      expect([...fields]).toEqual([["content-length", "2"]]);
      expect(await textOf(body)).toBe("ok");
      expect(told).toEqual([
        [103, ["link", "</a>"]],
        [102, ["x-a", "1, 2"]],
      ]);
    });

    test("need nobody who reads them", async () => {
      expect(await textOf(answered(await fetched(interims(2) + FINAL)).body)).toBe("ok");
    });

    test.each([
      ["as many as may come", interims(32), "answered", 32],
      ["one more", interims(33), "bad-response", 32],
      ["as many bytes as may come", interims(2, "x".repeat(32 * 1024 - 4)), "answered", 2],
      [
        "one more byte",
        interims(1, "x".repeat(32 * 1024 - 4)) + interims(1, "x".repeat(32 * 1024 - 3)),
        "bad-response",
        1,
      ],
    ])("%s", async (_, bytes, outcome, count) => {
      let told = 0;
      const answer = await fetched(bytes + FINAL, { inform: () => void told++ });
      expect(answer.kind === "failed" ? answer.because : answer.kind).toBe(outcome);
      expect(told).toBe(count);
    });

    test("before a connection that breaks are no answer", async () => {
      expect(await fetched(interims(1))).toMatchObject({ kind: "failed", because: "unreachable" });
    });
  });

  test.each([
    ["whole", "page", "page"],
    ["cut off", "pag", "cut off"],
  ])("spaces behind a length are no part of it: a body is %s", async (_, sent, expected) => {
    const { url } = await rawOrigin((_request, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 4  \r\n\r\n${sent}`),
    );
    const { fields, body } = answered(await connectTo(url).fetch(get));
    expect(fields.get("content-length")).toBe("4");
    expect(await textOf(body).catch(() => "cut off")).toBe(expected);
  });

  test("chunks with trailers are a whole body", async () => {
    const bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n";
    expect(await textOf(answered(await fetched(bytes)).body)).toBe("ok");
  });

  test("a body may end with the connection", async () => {
    expect(await textOf(answered(await fetched("HTTP/1.0 200 OK\r\n\r\npage")).body)).toBe("page");
  });

  test.each([
    ["a length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npage"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n"],
  ])("a body with %s that is cut off is an error", async (_, bytes) => {
    await expect(textOf(answered(await fetched(bytes)).body)).rejects.toThrow();
  });

  test.each([
    ["an end", (socket: Socket) => socket.end(), "page"],
    ["a reset", (socket: Socket) => socket.resetAndDestroy(), "cut off"],
  ])("%s of the connection, for a body that ends with it", async (_, end, expected) => {
    const { url } = await rawOrigin((_request, socket) =>
      socket.write("HTTP/1.1 200 OK\r\n\r\npage", () => sent.resolve(socket)),
    );
    const sent = Promise.withResolvers<Socket>();
    const { body } = answered(await connectTo(url).fetch(get));
    end(await sent.promise);
    expect(await textOf(body).catch(() => "cut off")).toBe(expected);
  });

  test.each([
    ["HEAD", { method: "HEAD" }, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"],
    ["204", {}, "HTTP/1.1 204 No Content\r\n\r\n"],
    ["304", {}, "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"],
    ["a length of 0", {}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ])("%s has no body", async (_, request, bytes) => {
    expect(answered(await fetched(bytes, request)).body).toBeNull();
  });

  test.each([
    ["no HTTP", "220 mail.example\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab"],
    ["a space behind chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked \r\n\r\n1\r\na\r\n0\r\n\r\n"],
    ["a transfer coding without chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabcd"],
    ["a transfer coding in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"],
    [
      "chunks within another coding",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ],
    [
      "chunks within chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ],
    ["a folded field", "HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n\r\n"],
    ["a space in the name of a field", "HTTP/1.1 200 OK\r\nX A: a\r\nContent-Length: 0\r\n\r\n"],
    ["a space before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\na"],
    ["line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 1\n\na"],
    [
      "more fields than anybody sends",
      `HTTP/1.1 200 OK\r\n${[...Array(5_000).keys()].map((n) => `x${n}: 1\r\n`).join("")}Content-Length: 0\r\n\r\n`,
    ],
    ["a status beyond 599", "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n"],
    ["a NUL in a field", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n"],
    ["more fields than are read", `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(530_000)}\r\n\r\n`],
    ["a status that is none before the answer", `HTTP/1.1 099 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`],
    ["no status at all before it", `HTTP/1.1 000 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`],
    [
      "a switch to no protocol before it",
      `HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
    ],
    ["a switch that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["a 100 that nobody asked for", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ])("%s is a bad response", async (_, bytes) => {
    const inform = () => expect.fail("this is no interim response");
    expect(await fetched(bytes, { inform })).toMatchObject({ kind: "failed", because: "bad-response" });
  });

  test("the cause names a 100 that nobody asked for, so that the log does", async () => {
    const cause = expect.objectContaining({ message: expect.stringContaining("100 (Continue)") });
    expect(await fetched("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")).toMatchObject({ cause });
  });

  test.each([
    ["another protocol", "Upgrade: h2c"],
    ["several protocols", "Upgrade: websocket\r\nUpgrade: h2c"],
  ])("a switch to %s than the one asked for is a bad response, and its connection ends", async (_, upgrade) => {
    const closed = Promise.withResolvers<void>();
    const { url } = await rawOrigin((_request, socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\nConnection: upgrade\r\n\r\n`);
    });
    const fields = [["upgrade", "websocket"]] as const;
    const cause = expect.stringMatching(/^status 101 with Upgrade: .*h2c$/);
    expect(await connectTo(url).fetch({ ...get, fields })).toEqual({ kind: "failed", because: "bad-response", cause });
    await closed.promise;
  });

  test("the cause says what helps if a certificate is not trusted, or the port speaks no TLS", async () => {
    const { chain, key } = makeCertificate(["localhost"]);
    const servers = [createTlsServer({ cert: chain, key }), createServer()];
    const causes = servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      ends.push(() => server.close());
      const answer = await connectTo(`https://localhost:${(server.address() as AddressInfo).port}`).fetch(get);
      expect(answer).toMatchObject({ kind: "failed", because: "unreachable", wasNeverSent: true });
      return (answer as { cause: Error }).cause.message;
    });
    expect(await Promise.all(causes)).toEqual([
      expect.stringMatching(/^its certificate is not trusted: self-signed certificate\. .*NODE_EXTRA_CA_CERTS$/),
      expect.stringMatching(/^TLS failed: [a-z ]+\. If its port is for plain HTTP, its address begins with http:\/\/$/),
    ]);
  });

  const failedBy = (code: string, address = "127.0.0.1") =>
    Object.assign(new Error(`connect ${code} ${address}:8000`), { code, address });
  const [noFile, noPort, refused] = ["EMFILE", "EADDRNOTAVAIL", "ECONNREFUSED"].map((code) => failedBy(code));
  const ofSeveral = (...errors: unknown[]) => Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });

  const silenceThenRefusal = Object.assign(new Error("Connect Timeout Error"), {
    code: "UND_ERR_CONNECT_TIMEOUT",
    cause: ofSeveral(failedBy("ETIMEDOUT", "127.0.0.2"), refused),
  });

  test.each([
    ["has no file", noFile, "this server lacks open files: connect EMFILE 127.0.0.1:8000"],
    [
      "has no port, after a refusal by another address of the name",
      ofSeveral(refused, noPort),
      "this server lacks free ports, or an address of that kind: connect EADDRNOTAVAIL 127.0.0.1:8000",
    ],
  ])("a connection for which this machine %s says nothing of the origin", async (_, cause, message) => {
    const exchange = new OriginExchange(false);
    exchange.onResponseError(undefined, cause!);
    const answer = await exchange.answer;
    expect(answer).toMatchObject({ kind: "failed", because: "unreachable", saysNothing: true, cause: { message } });
  });

  test.each([
    ["after a lack of ports", ofSeveral(noPort, refused)],
    ["before one of IPv6, which this machine does not have", ofSeveral(refused, failedBy("EADDRNOTAVAIL", "::1"))],
    ["after the silence of another one, of which undici makes a timeout", silenceThenRefusal],
  ])("a connection that an address of the name refuses %s is refused", async (_, cause) => {
    const exchange = new OriginExchange(false);
    exchange.onResponseError(undefined, cause);
    const answer = await exchange.answer;
    expect(answer).toMatchObject({ kind: "failed", because: "unreachable" });
    expect(answer).not.toHaveProperty("saysNothing");
  });

  test("a connection that is refused, and one that ends without an answer", async () => {
    const refused = await connectTo("http://127.0.0.1:1").fetch(get);
    expect(refused).toMatchObject({ kind: "failed", because: "unreachable", wasNeverSent: true });
    expect(refused).not.toHaveProperty("saysNothing");
    const hungUp = { kind: "failed", because: "unreachable", saysNothing: true };
    for (const bytes of ["", "HTTP/1.1 200 OK\r\nX-A"]) {
      const answer = await fetched(bytes);
      expect(answer).toMatchObject(hungUp);
      expect(answer).not.toHaveProperty("wasNeverSent");
    }
  });

  test("a head that takes too long is a timeout, and its connection ends", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await rawOrigin((_, socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\n");
    });
    expect(await connectTo(url, { timeoutMs: 50 }).fetch(get)).toMatchObject({ kind: "failed", because: "timed-out" });
    await closed.promise;
  });

  test("the wait for a connection counts", async () => {
    const { url, seen } = await rawOrigin((_, socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npa"),
    );
    const origin = connectTo(url, { timeoutMs: SOON_MS, maxConnections: 1 });
    const { body } = answered(await origin.fetch(get));
    const cause = "the request waited too long for a connection to the origin";
    expect(await origin.fetch(get)).toEqual({ kind: "failed", because: "timed-out", cause });
    expect(seen.length).toBe(1);
    await body!.cancel();
  });

  test("a request that has waited too long for a connection is not sent when there is one", async () => {
    const { url, seen } = await rawOrigin((request, socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npa${request.startsWith("GET /first") ? "" : "ge"}`),
    );
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const origin = connectTo(url, { timeoutMs: 10_000, maxConnections: 1 });
    const { body } = answered(await origin.fetch({ ...get, pathAndQuery: "/first" }));
    const late = origin.fetch({ ...get, method: "POST", pathAndQuery: "/late" });
    vi.advanceTimersByTime(10_000);
    expect(await late).toMatchObject({ kind: "failed", because: "timed-out" });
    const next = origin.fetch({ ...get, pathAndQuery: "/next" });
    await body!.cancel();
    expect(await textOf(answered(await next).body)).toBe("page");
    expect(seen.map((request) => request.split(" ", 2)[1])).toEqual(["/first", "/next"]);
  });

  test("a body may take longer than a head", async () => {
    let rest: (() => void) | undefined;
    const { url } = await rawOrigin((_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npa");
      rest = () => socket.write("ge");
    });
    const slow = connectTo(url, { timeoutMs: SOON_MS });
    const { body } = answered(await slow.fetch(get));
    const { url: silent } = await rawOrigin(() => undefined);
    await connectTo(silent, { timeoutMs: SOON_MS + 100 }).fetch(get); // Longer than the limit of the other.
    rest!();
    expect(await textOf(body)).toBe("page");
  });

  test.each([
    ["answers after that", true, { kind: "answered" }],
    ["has its time after that", false, { kind: "failed", because: "timed-out" }],
  ])(
    "a client may take longer to send its body than an origin to answer, which %s",
    { tags: ["deep"] },
    async (_, answers, expected) => {
      let received = "";
      const { url } = await rawOrigin((request, socket) => {
        received += request;
        if (answers && received.endsWith("0\r\n\r\n")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
      const { url: silent } = await rawOrigin(() => undefined);
      const body = bodyInTime();
      const answer = connectTo(url, { timeoutMs: SOON_MS }).fetch({ ...get, method: "POST", body });
      for (const piece of ["first", "second", "third"]) {
        await connectTo(silent, { timeoutMs: SOON_MS + 100 }).fetch(get); // Longer than the limit of the other.
        body.push(Buffer.from(piece));
      }
      body.end();
      expect(await answer).toMatchObject(expected);
      expect(received).toMatch(/first.*second.*third/s);
    },
  );

  test("a body that pauses too long is cut off, and one whose reader takes as long is not", {
    tags: ["deep"],
  }, async () => {
    const whole = Buffer.alloc(8 * 1024 * 1024);
    const { url } = await rawOrigin((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${whole.length}\r\n\r\n`);
      socket.write(whole);
    });
    const slowly = nodeBodies.readThrough(answered(await connectTo(url, { silenceMs: 1 }).fetch(get)).body!);
    let read = (await slowly.next())!.length;

    const { url: silent } = await rawOrigin((_, socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npa"),
    );
    const { body } = answered(await connectTo(silent, { silenceMs: 1 }).fetch(get));
    await expect(textOf(body)).rejects.toThrow();

    for (let piece = await slowly.next(); piece !== null; piece = await slowly.next()) read += piece.length;
    expect(read).toBe(whole.length);
  });

  test("an origin that sends faster than its reader reads is held up", { tags: ["deep"] }, async () => {
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024);
    const total = 40 * 1024 * 1024;
    const { url } = await rawOrigin((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      const more = () => {
        while (sent < total) {
          sent += piece.byteLength;
          if (!socket.write(piece)) return void socket.once("drain", more);
        }
      };
      more();
    });
    const { body } = answered(await connectTo(url).fetch(get));
    const reader = nodeBodies.readThrough(body!);
    await reader.next();
    for (let turn = 0; turn < 300; turn++) await new Promise(setImmediate);
    expect(sent).toBeLessThan(total);
    let bytes = 0;
    for (let each = await reader.next(); each !== null; each = await reader.next()) bytes += each.byteLength;
    expect(bytes).toBeGreaterThan(total - 200_000);
  });

  test("a body that came with its head can be taken whole, once, in memory of its own", async () => {
    const { url } = await rawOrigin((_, socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"));
    const body = answered(await connectTo(url).fetch(get)).body!;
    expect(nodeBodies.takeWhole!(body, 3)).toBeUndefined();
    const whole = nodeBodies.takeWhole!(body, 4)!;
    expect(Buffer.from(whole).toString()).toBe("page");
    expect(whole.buffer.byteLength).toBe(4);
    expect(nodeBodies.takeWhole!(body, 4)).toBeUndefined();
    expect(() => nodeBodies.readThrough(body)).toThrow("at most once");
  });

  test("a body that is on its way, was cut off, or is read is not taken whole, and streams", async () => {
    const rest = Promise.withResolvers<void>();
    const { url } = await rawOrigin((_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npa");
      void rest.promise.then(() => socket.write("ge"));
    });
    const body = answered(await connectTo(url).fetch(get)).body!;
    expect(nodeBodies.takeWhole!(body, 4)).toBeUndefined();
    expect(nodeBodies.takeWhole!(body, 2)).toBeUndefined();
    rest.resolve();
    expect(await textOf(body)).toBe("page");
    expect(nodeBodies.takeWhole!(body, 4)).toBeUndefined();
    const cut = bodyOf(4);
    cut.push(Buffer.from("page"));
    cut.fail(new Error("cut off"));
    expect(nodeBodies.takeWhole!(cut, 4)).toBeUndefined();
  });

  test("a body that nobody reads to its end ends its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await rawOrigin((_, socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npage");
    });
    const { body } = answered(await connectTo(url).fetch(get));
    await body!.cancel();
    await closed.promise;
  });
});

describe("connections", () => {
  const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  test("are kept and used again", async () => {
    const sockets = new Set<Socket>();
    const { url } = await rawOrigin((_, socket) => {
      sockets.add(socket);
      socket.write(ok);
    });
    const origin = connectTo(url);
    for (let at = 0; at < 5; at++) {
      await textOf(answered(await origin.fetch(get)).body);
      await turn();
      await turn();
    }
    expect(sockets.size).toBe(1);
  });

  test.each([
    ["says nothing of it", "", 1_500],
    ["keeps them for a longer time that it names, until two seconds before", "Keep-Alive: timeout=5\r\n", 3_000],
    ["keeps them for a shorter one", "Keep-Alive: timeout=3\r\n", 1_000],
  ])("are kept while idle for less than the origin does, if it %s", async (_, field, ms) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sockets = new Set<Socket>();
    const { url } = await rawOrigin((_request, socket) => {
      sockets.add(socket);
      socket.write(ok.replace("Content-Length", `${field}Content-Length`));
    });
    const origin = connectTo(url);
    const counts: number[] = [];
    for (const idleMs of [0, ms - 1, ms]) {
      vi.advanceTimersByTime(idleMs);
      await textOf(answered(await origin.fetch(get)).body);
      await turn();
      counts.push(sockets.size);
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  describe("to a name that may lead elsewhere by now", () => {
    const lookup: UndiciOriginOptions["lookup"] = (_name, _options, callback) =>
      callback(null, [{ address: "127.0.0.1", family: 4 }]);

    const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";

    /** An origin that tells the connections of its requests apart, and answers `/slow` when it is told to. */
    async function numberingOrigin() {
      vi.useFakeTimers({ toFake: ["performance"] });
      vi.advanceTimersByTime(100_000);
      const sockets: Socket[] = [];
      const { url } = await rawOrigin((request, socket) => {
        if (!sockets.includes(socket)) sockets.push(socket);
        if (/^upgrade:/m.test(request)) socket.write(SWITCHED);
        else socket.write(request.includes("/slow") ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no" : ok);
      });
      return { port: new URL(url).port, sockets };
    }

    test.each([
      ["app.example.test", 60_000, 1],
      ["app.example.test", 60_001, 2],
      ["127.0.0.1", 60_001, 1],
    ])("are made anew, however busy: %s after %i ms", async (host, ms, connections) => {
      const { port, sockets } = await numberingOrigin();
      const origin = connectTo(`http://${host}:${port}`, { lookup });
      for (let at = 0; at < 2; at++) {
        await textOf(answered(await origin.fetch(get)).body);
        await turn();
        vi.advanceTimersByTime(ms);
      }
      expect(sockets).toHaveLength(connections);
    });

    test.each([
      [null, 2],
      [1, 1],
    ])("end an answer that is under way, and count for a limit of %s: at most %i at a time", async (limit, most) => {
      const { port, sockets } = await numberingOrigin();
      const origin = connectTo(`http://app.example.test:${port}`, { lookup, maxConnections: limit });
      const open = () => sockets.filter(({ destroyed }) => !destroyed);
      const { body } = answered(await origin.fetch({ ...get, pathAndQuery: "/slow" }));
      vi.advanceTimersByTime(60_001);
      const posted = origin.fetch({ ...get, method: "POST", fields: [], body: bodyOf(5, "order") });
      if (limit === null) await posted;
      for (let at = 0; at < 50; at++) await turn();
      expect(open()).toHaveLength(most);
      const closed = new Promise((resolve) => sockets[0]!.once("close", resolve));
      sockets[0]!.write("k");
      expect(await textOf(body)).toBe("ok");
      expect(await textOf(answered(await posted).body)).toBe("ok");
      await turn();
      await textOf(answered(await origin.fetch(get)).body);
      await closed;
      expect(open()).toHaveLength(most);
    });

    test("are left to a WebSocket that has taken one over", async () => {
      const { port, sockets } = await numberingOrigin();
      const origin = connectTo(`http://app.example.test:${port}`, { lookup });
      const switched = await origin.fetch({ ...get, fields: [["upgrade", "websocket"]] });
      if (switched.kind !== "switched") throw new Error(switched.kind);
      vi.advanceTimersByTime(60_001);
      await textOf(answered(await origin.fetch(get)).body);
      const { socket } = switched.connection as SwitchedConnection;
      expect([sockets.length, socket.destroyed]).toEqual([2, false]);
      socket.destroy();
    });
  });

  describe("that a visitor has logged in to are nobody else's", () => {
    const login = (value: string): OriginRequest => ({ ...get, fields: [["authorization", value]] });

    test.each([
      ["NTLM", login("NTLM TlRMTVNTUAAD"), ok],
      ["Negotiate, as others may write it", login("nEGOTIATE YIIB"), ok],
      ["an answer to HEAD", { ...login("NTLM TlRMTVNTUAAD"), method: "HEAD" }, ok.slice(0, -2)],
      [
        "a refused WebSocket",
        { ...login("NTLM TlRMTVNTUAAD"), fields: [...login("NTLM TlRMTVNTUAAD").fields, ["upgrade", "websocket"]] },
        ok,
      ],
    ] satisfies [string, OriginRequest, string][])("%s", async (_, asked, answer) => {
      const loggedIn = new Set<Socket>();
      const answeredAs: string[] = [];
      const { url } = await rawOrigin((request, socket) => {
        const logsIn = request.includes("authorization: ");
        if (logsIn) loggedIn.add(socket);
        answeredAs.push(`${logsIn ? "one" : "another"}, as ${loggedIn.has(socket) ? "one" : "nobody"}`);
        socket.write(logsIn ? answer : ok);
      });
      const origin = connectTo(url, { maxConnections: 1 });
      const fetch = async (request: OriginRequest) => textOf(answered(await origin.fetch(request)).body);
      await Promise.all([fetch(asked), fetch(get)]); // the second one waits for the connection
      await turn();
      await fetch(get);
      expect(answeredAs).toEqual(["one, as one", "another, as nobody", "another, as nobody"]);
    });
  });

  /** An origin that ends a connection at the second request on it, as if it had been idle for too long. */
  async function closingOrigin() {
    const used = new WeakSet<Socket>();
    return rawOrigin((_, socket) => {
      if (used.has(socket)) socket.resetAndDestroy();
      else socket.write(ok);
      used.add(socket);
    });
  }

  test("a kept connection that the origin has just closed costs no answer", async () => {
    const { url, seen } = await closingOrigin();
    const origin = connectTo(url);
    for (let at = 0; at < 3; at++) {
      expect(await textOf(answered(await origin.fetch(get)).body)).toBe("ok");
      await turn();
    }
    expect(seen).toHaveLength(5);
  });

  test("a request that is sent again has no more time than one that is not", async () => {
    const { url, seen } = await rawOrigin((_, socket, count) => {
      if (count > 1) vi.advanceTimersByTime(count === 2 ? 9_999 : 1);
      if (count === 2) socket.resetAndDestroy();
      else socket.write(ok);
    });
    const origin = connectTo(url, { timeoutMs: 10_000 });
    expect(await textOf(answered(await origin.fetch(get)).body)).toBe("ok");
    await turn();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    expect(await origin.fetch(get)).toMatchObject({ kind: "failed", because: "timed-out" });
    expect(seen).toHaveLength(3);
  });

  test("a request that may change something is not sent again", async () => {
    const { url, seen } = await closingOrigin();
    const origin = connectTo(url);
    await textOf(answered(await origin.fetch(get)).body);
    await turn();
    const answer = await origin.fetch({ ...get, method: "DELETE" });
    expect(answer).toMatchObject({ kind: "failed", because: "unreachable" });
    expect(seen).toHaveLength(2);
  });

  test("but one that has not begun when its connection turns out to be closed is sent on another one", async () => {
    const sockets: Socket[] = [];
    const { url, seen } = await rawOrigin((request, socket) => {
      sockets.push(socket);
      if (!request.startsWith("POST") || request.endsWith("order")) socket.write(ok);
    });
    const origin = connectTo(url);
    await textOf(answered(await origin.fetch(get)).body);
    await turn();
    await turn();
    sockets[0]!.resetAndDestroy();
    const answer = await origin.fetch({ ...get, method: "POST", body: bodyOf(5, "order") });
    expect(await textOf(answered(answer).body)).toBe("ok");
    expect(seen.join("").match(/^POST /gm)).toHaveLength(1);
  });

  test("a new connection that ends without an answer is not tried again", async () => {
    const { url, seen } = await rawOrigin((_, socket) => socket.destroy());
    expect(await connectTo(url).fetch(get)).toMatchObject({ kind: "failed", because: "unreachable" });
    expect(seen).toHaveLength(1);
  });

  test("a kept connection that ends in the middle of an answer is not tried again", async () => {
    const { url, seen } = await rawOrigin((_, socket, count) => {
      if (count === 1) socket.write(ok);
      else socket.end("HTTP/1.1 200 OK\r\nX-");
    });
    const origin = connectTo(url);
    await textOf(answered(await origin.fetch(get)).body);
    await turn();
    expect(await origin.fetch(get)).toMatchObject({ kind: "failed" });
    expect(seen).toHaveLength(2);
  });

  test("what follows an answer is not taken for the next one", async () => {
    const { url } = await rawOrigin((_, socket) =>
      socket.write(`${ok}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
    );
    const origin = connectTo(url);
    for (let at = 0; at < 3; at++) {
      const answer = await origin.fetch(get);
      if (answer.kind === "answered")
        expect(await textOf(answer.response.body).catch(() => "cut off")).not.toBe("evil");
    }
  });
});

test("an origin over https is asked for its own name, and its certificate is checked", async () => {
  const names: unknown[] = [];
  const server = createTcpServer((socket) => {
    socket.once("data", (hello: Buffer) => {
      names.push(/localhost/.test(hello.toString("latin1")));
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  ends.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await connectTo(`https://localhost:${port}`).fetch(get);
  expect(answer).toMatchObject({ kind: "failed", because: "unreachable" });
  expect(names).toContain(true);
});

describe("an origin over https", () => {
  const OWN = "b.example.test";

  /** An origin whose certificate has one name, at any https address. */
  async function secureOrigin(certified: string) {
    const { chain, key } = makeCertificate([certified]);
    const asked: unknown[] = [];
    const server = createTlsServer({ cert: chain, key }, ({ socket, headers }, response) => {
      asked.push([(socket as TLSSocket).servername, headers.host]);
      response.end("page");
    });
    const socketPath = await listenOnFile(server);
    const connect = (url: string, options: Partial<UndiciOriginOptions> = {}) =>
      connectTo(url, { address: { url, socketPath }, tls: { ca: chain }, ...options });
    return { connect, asked };
  }

  const forHost = (host: string): OriginRequest => ({ ...get, fields: [["x-forwarded-host", host]] });

  test.each([`https://${OWN}`, `https://${OWN}:8443`])(
    "has the name of its address, %s, also if Host is that of another",
    async (url) => {
      const { connect, asked } = await secureOrigin(OWN);
      for (const host of ["a.example.test", "a.example.test:8444", "10.0.0.1"]) {
        const answer = await connect(url, { host }).fetch(get);
        expect(await textOf(answered(answer).body)).toBe("page");
        expect(asked.pop()).toEqual([OWN, host]);
      }
      await connect(url).fetch(get);
      expect(asked).toEqual([[OWN, new URL(url).host]]);
    },
  );

  test("has the public host's name, by which it finds the certificate, if it is told that", async () => {
    const { connect, asked } = await secureOrigin("one.test");
    const origin = connect(`https://${OWN}`, { tellsPublicHost: true });
    await origin.fetch(forHost("one.test"));
    expect(asked).toEqual([["one.test", "one.test"]]);
    const answer = await origin.fetch(forHost("two.test"));
    const message = expect.stringMatching(/two\.test.*forward\.host "visitor", the certificate must be for the public/);
    expect(answer).toMatchObject({ kind: "failed", cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID", message } });
  });

  test("may have the certificate of the host that it gets in place of its own, and of no other", async () => {
    const { connect, asked } = await secureOrigin("a.example.test");
    await connect(`https://${OWN}`, { host: "a.example.test:8443" }).fetch(get);
    expect(asked).toEqual([[OWN, "a.example.test:8443"]]);
    const answer = await connect(`https://${OWN}`, { host: "c.example.test" }).fetch(get);
    expect(answer).toMatchObject({ kind: "failed", cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } });
  });

  test.each(["https://127.0.0.1", "https://[::1]:8443"])("has the name in Host if its address is %s", async (url) => {
    const { connect, asked } = await secureOrigin("one.test");
    await connect(url, { tellsPublicHost: true }).fetch(forHost("one.test:8080"));
    await connect(url, { host: "one.test" }).fetch(get);
    expect(asked).toEqual([
      ["one.test", "one.test:8080"],
      ["one.test", "one.test"],
    ]);
  });
});
