import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type OutgoingHttpHeaders,
  type Settings,
} from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import { SitesByHost } from "../../../server/connections/sites-by-host.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { connected, startTlsListener, stopAll, stops, talk, type Where } from "../connections/tls-listener.ts";
import { type Answering, answer, streamed } from "../http1/running-listener.ts";
import { FLAGS, frame, get, getHead, inPieces, literal, PREFACE, settings, TYPES, uint } from "./frames.ts";

afterEach(stopAll);

async function start(answering: Answering, parts: Partial<ListenerParts> = {}) {
  const logged: AnsweredExchange[] = [];
  const { promise: first, resolve } = Promise.withResolvers<AnsweredExchange>();
  const record = (exchange: AnsweredExchange) => {
    logged.push(exchange);
    resolve(exchange);
  };
  return { ...(await startTlsListener(answering, { accessLog: { record }, ...parts })), logged, firstLogged: first };
}

function session(where: Where, settings: Settings = {}): ClientHttp2Session {
  const opened = connectHttp2(`https://localhost:${where.port}`, { rejectUnauthorized: false, settings });
  opened.on("error", () => undefined);
  stops.push(() => opened.destroy());
  return opened;
}

interface Got {
  readonly head: Record<string, string | string[] | undefined>;
  readonly body: string;
  readonly rstCode: number;
}

async function read(stream: ClientHttp2Stream): Promise<Got> {
  let head: Got["head"] = {};
  let body = "";
  stream.on("response", (fields) => {
    head = { ...fields, ":status": String(fields[":status"]) };
  });
  stream.setEncoding("latin1").on("data", (piece: string) => {
    body += piece;
  });
  stream.on("error", () => undefined);
  await new Promise((resolve) => stream.on("close", resolve));
  return { head, body, rstCode: stream.rstCode! };
}

const HOST = { ":authority": "www.example.test" };
/** For what ends after a while. A client of this process answers a PING within it, also if the process does not run for some time. */
const A_WHILE_MS = 500;
const ask = (on: ClientHttp2Session, fields: OutgoingHttpHeaders = {}, body?: string) => {
  const stream = on.request({ ...HOST, ...fields }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return read(stream);
};

const shown: Answering = ({ request, url, clientAddress }) =>
  answer(
    `${request.method} ${url} ${clientAddress} ${[...request.headers].map(([name, value]) => `${name}=${value}`)}`,
  );

/** The same, when it is not in memory. */
const later: Answering = (incoming) => new Promise((resolve) => setImmediate(() => resolve(shown(incoming))));

// :method GET, :scheme https, :path /, and :authority a.test.
const HEAD = getHead("/");
const SETTINGS = settings();
const { headers: HEADERS, rstStream: RST_STREAM, goaway: GOAWAY, continuation: CONTINUATION } = TYPES;
const SETTINGS_ACK = frame(TYPES.settings, FLAGS.ack, 0);
const headers = (stream: number) => get(stream);
const reset = (stream: number) => frame(RST_STREAM, 0, stream, "\0\0\0\x08");

describe("a request in HTTP/2", () => {
  test("reaches the edge as one in HTTP/1.1 does", async () => {
    const { https } = await start(shown);
    const { head, body } = await ask(session(https), { ":path": "/a?b", accept: "text/html", cookie: ["a=1", "b=2"] });
    expect(head[":status"]).toBe("200");
    expect(body).toBe(
      "GET https://www.example.test/a?b 127.0.0.1 host=www.example.test,accept=text/html,cookie=a=1; b=2",
    );
  });

  test("beside requests in HTTP/1.1 on the same port", async () => {
    const { https, listener } = await start(shown);
    const one = await talk(https, "GET /a HTTP/1.1\r\nHost: www.example.test\r\nConnection: close\r\n\r\n");
    const two = await ask(session(https), { ":path": "/a" });
    expect(one).toContain(two.body.slice(0, two.body.indexOf("host=")));
    expect(listener.fastHits).toBe(1);
  });

  test("that a trusted proxy got over http has no Strict-Transport-Security, as in HTTP/1.1", async () => {
    const strictTransportSecurity = "max-age=60";
    const { https } = await start(shown, { strictTransportSecurity, trustedProxies: [readNetwork("127.0.0.1")!] });
    const on = session(https);
    const fieldOf = async (proto: string) =>
      (await ask(on, { "x-forwarded-proto": proto })).head["strict-transport-security"];
    expect([await fieldOf("https"), await fieldOf("http")]).toEqual([strictTransportSecurity, undefined]);
  });

  test("may name the scheme by which a trusted proxy got it, as in HTTP/1.1", async () => {
    const { https } = await start(shown, { trustedProxies: [readNetwork("127.0.0.1")!] });
    const on = session(https);
    const statusOf = async (scheme: string, proto: string) =>
      (await ask(on, { ":scheme": scheme, "x-forwarded-proto": proto })).head[":status"];
    expect([await statusOf("http", "http"), await statusOf("https", "http")]).toEqual(["200", "200"]);
    expect([await statusOf("http", "https"), await statusOf("ftp", "https")]).toEqual(["421", "421"]);
  });

  test.each<[string, OutgoingHttpHeaders, number, RegExp]>([
    ["with another Host than :authority", { host: "other.test" }, 400, /:authority and Host contradict/],
    ["for a host that is none", { ":authority": "a:b" }, 400, /host is not valid/],
    ["with a fragment", { ":path": "/photos/#1.jpg", ":method": "DELETE" }, 400, /write %23/],
    ["with bytes in its path that no URL has", { ":path": "/caf\xc3\xa9" }, 400, /not a path/],
    ["without encryption", { ":scheme": "http" }, 421, /encrypted/],
    ["with an expectation that is not met", { expect: "more" }, 417, /100-continue/],
  ])("%s is refused", async (_, fields, status, words) => {
    const { https } = await start(shown);
    const { head, body } = await ask(session(https), fields);
    expect(head[":status"]).toBe(String(status));
    expect(body).toMatch(words);
  });

  // nghttp2 says nothing of such a field. RFC 9113 §8.2.1 calls the request malformed.
  test.each([
    ["a line end in its value", literal("x-a", "b\r\nx-b: c")],
    ["a control character in its value", literal("cookie", "a=1\x01")],
    ["a NUL in its value", literal("authorization", "Bearer a\0b")],
    ["a space in its name", literal("x a", "b")],
    ["a line end in its name", literal("x-a: b\r\nx-b", "c")],
  ])("loses a field with %s", async (_, field) => {
    const { https } = await start(shown);
    const { write, until } = await rawClient(https);
    await write(get(1, "/", field + literal("x-good", "yes")));
    const isBody = ({ type, payload }: Frame) => type === TYPES.data && payload.length > 0;
    const [body] = (await until(isBody)).filter(isBody);
    expect(body!.payload.toString("latin1")).toMatch(/ host=a\.test,x-good=yes$/);
  });

  test("has no spaces and tabs around the values of its fields, as in HTTP/1.1", async () => {
    const { https } = await start(shown);
    const fields = { "x-a": "b  ", cookie: " \tc=1\t", "x-c": " d \t e", "x-empty": " \t", expect: "100-continue " };
    const { write, until } = await rawClient(https);
    const literals = Object.entries(fields).map(([name, value]) => literal(name, value));
    await write(get(1, "/", literals.join("")));
    const isBody = ({ type, payload }: Frame) => type === TYPES.data && payload.length > 0;
    const [body] = (await until(isBody)).filter(isBody);
    const lines = Object.entries({ ...fields, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
    const inHttp1 = await talk(https, `GET / HTTP/1.1\r\nhost: a.test\r\n${lines.join("")}\r\n`);
    const seen = "GET https://a.test/ 127.0.0.1 host=a.test,x-a=b,cookie=c=1,x-c=d \t e,x-empty=,expect=100-continue";
    expect(body!.payload.toString("latin1")).toBe(seen);
    expect(inHttp1).toContain(seen);
  });

  test.each([
    { ":authority": "" },
    { ":authority": "a b" },
    { ":authority": "user@www.example.test" },
    { ":path": "nowhere" },
    { ":path": "*" },
    { ":path": "/a b" },
    { ":method": "A B" },
  ])("with %j is malformed", async (fields) => {
    const { https, logged } = await start(shown);
    expect(await ask(session(https), fields)).toMatchObject({ rstCode: constants.NGHTTP2_PROTOCOL_ERROR });
    expect(logged).toEqual([]);
  });

  test("for * asks no site whether the server runs", async () => {
    const { https } = await start(shown);
    const { head, body } = await ask(session(https), { ":path": "*", ":method": "OPTIONS" });
    expect(head).toMatchObject({ ":status": "200", "cache-status": "tidemark; detail=health" });
    expect(body).toBe("200: this server runs.\n");
  });

  test("with the same Host as :authority is taken", async () => {
    const { https } = await start(shown);
    expect((await ask(session(https), { host: "WWW.example.test" })).head[":status"]).toBe("200");
  });

  test("for a tunnel is refused, and one for a WebSocket too, and others go on", async () => {
    const { https } = await start(shown);
    const on = session(https);
    const tunnel = on.request({ ":method": "CONNECT", ":authority": "origin.test:22" });
    expect((await read(tunnel)).head[":status"]).toBe("501");
    for (const method of ["FOO", "get"]) expect((await ask(on, { ":method": method })).head[":status"]).toBe("501");
    expect(on.remoteSettings.enableConnectProtocol).toBe(false);
    expect((await ask(on)).head[":status"]).toBe("200");
  });

  test("has its body, whole, and trailers behind it are ignored", async () => {
    const { https } = await start(async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      let text = "";
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
        text += Buffer.from(piece).toString("latin1");
      }
      return answer(`${text.length} ${text.slice(-3)} ${[...request.headers].map(([name]) => name)}`);
    });
    const on = session(https);
    const sent = "x".repeat(1_000_000);
    expect((await ask(on, { ":method": "POST" }, `${sent}end`)).body).toMatch(/^1000003 end /);
    const stream = on.request({ ...HOST, ":method": "POST" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-trailer": "1" }));
    stream.end("body");
    expect((await read(stream)).body).toBe("4 ody host");
  });

  test.each([
    ["an empty frame", frame(TYPES.data, FLAGS.endStream, 1)],
    ["trailers alone", frame(HEADERS, FLAGS.endStream | FLAGS.endHeaders, 1, literal("x-trailer", "1"))],
  ])("whose body is %s has an empty one, also if that is read after its end", async (_, end) => {
    const next = Promise.withResolvers<void>();
    const { https } = await start(async ({ request }) => {
      if (request.body === null) {
        next.resolve();
        return answer("next");
      }
      await next.promise;
      await new Promise(setImmediate);
      return answer(`read: ${await nodeBodies.readThrough(request.body).next()}`);
    });
    const client = await rawClient(https);
    await client.write(frame(HEADERS, FLAGS.endHeaders, 1, HEAD.replace("\x82", "\x83")) + end + get(3));
    const isBody = ({ type, stream }: Frame) => type === TYPES.data && stream === 1;
    expect((await client.until(isBody)).find(isBody)!.payload.toString()).toBe("read: null");
    client.socket.destroy();
  });

  test("gets a 100 once its body is read, and not before", async () => {
    const { https } = await start(async ({ request, url }) => {
      if (url.endsWith("/unread")) return answer("not read");
      await nodeBodies.readThrough(request.body!).next();
      return answer("read");
    });
    const on = session(https);
    for (const [path, expected] of [
      ["/unread", 0],
      ["/read", 1],
    ] as const) {
      const stream = on.request({ ...HOST, ":method": "POST", ":path": path, expect: "100-continue" });
      let continued = 0;
      stream.on("continue", () => {
        continued++;
        stream.end("body");
      });
      await read(stream);
      expect(continued).toBe(expected);
    }
  });

  test("gets interim responses before its answer, as HTTP/2 writes them, and none after it", async () => {
    const late = Promise.withResolvers<() => void>();
    const hints = {
      status: 103,
      fields: new Fields([
        ["link", "</a.css>; rel=preload"],
        ["keep-alive", "1"],
      ]),
    };
    const { https } = await start(async ({ request }) => {
      await Promise.resolve();
      request.inform?.(hints);
      request.inform?.({ status: 102, fields: new Fields() });
      request.hint?.("</b.css>; rel=preload");
      late.resolve(() => request.hint?.("</c.css>; rel=preload"));
      return answer("page");
    });
    const stream = session(https).request(HOST);
    const interims: unknown[] = [];
    stream.on("headers", (fields) => interims.push(Object.fromEntries(Object.entries(fields))));
    const { head, body } = await read(stream);
    (await late.promise)();
    expect([head[":status"], body]).toEqual(["200", "page"]);
    expect(interims).toEqual([
      { ":status": 103, link: "</a.css>; rel=preload" },
      { ":status": 102 },
      { ":status": 103, link: "</b.css>; rel=preload" },
    ]);
  });

  test("whose body nobody reads is answered, and the rest of it is not asked for", async () => {
    const { https } = await start(() => answer("no, thanks", {}, 413, "Content Too Large"));
    const on = session(https);
    const stream = on.request({ ...HOST, ":method": "POST" });
    stream.write("x".repeat(400_000)); // more than the window of a stream
    const { head, body, rstCode } = await read(stream);
    expect([head[":status"], body, rstCode]).toEqual(["413", "no, thanks", constants.NGHTTP2_NO_ERROR]);
    expect((await ask(on)).head[":status"]).toBe("413");
  });

  test.each(["GET", "HEAD"])(
    "for a page by %s has its body dropped as it comes, while the answer is awaited",
    async (method) => {
      const goOn = Promise.withResolvers<void>();
      const bodies: unknown[] = [];
      const { https } = await start(async ({ request }) => {
        bodies.push(request.body);
        await goOn.promise;
        return answer("page");
      });
      const on = session(https);
      const stream = on.request({ ...HOST, ":method": method }, { endStream: false });
      await new Promise((resolve) => stream.write("x".repeat(2_000_000), resolve)); // more than any window
      goOn.resolve();
      const { head, body, rstCode } = await read(stream);
      expect([head[":status"], body, rstCode]).toEqual(["200", method === "GET" ? "page" : "", 0]);
      expect(bodies).toEqual([null]);
    },
  );

  test("with a body in frames of one byte that wait for its reader takes little more memory than the bytes", async () => {
    const STREAMS = 2;
    const FRAMES = 250_000; // The window of a stream takes no more.
    const goOn = Promise.withResolvers<void>();
    const { https } = await start(async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      const isBegun = request.headers.get("x-begun") !== null;
      let bytes = isBegun ? (await reader.next())!.byteLength : 0;
      await goOn.promise;
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) bytes += piece.byteLength;
      return answer(`${bytes} bytes`);
    });
    const socket = await connected(https, { ALPNProtocols: ["h2"] });
    let received = "";
    let changed = Promise.withResolvers<void>();
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      changed.resolve();
      changed = Promise.withResolvers();
    });
    const until = async (pattern: RegExp, count: number) => {
      while (received.split(pattern).length <= count) await changed.promise;
    };
    const streams = Array.from({ length: STREAMS }, (_, at) => 2 * at + 1);
    const before = usedHeapBytes();
    socket.write(Buffer.from(PREFACE + SETTINGS + SETTINGS_ACK, "latin1"));
    for (const [at, stream] of streams.entries()) {
      const head = getHead("/", at % 2 === 0 ? literal("x-begun", "1") : "").replace("\x82", "\x83"); // a POST
      const data = Buffer.from(frame(TYPES.data, 0, stream, "x").repeat(FRAMES), "latin1");
      socket.write(frame(HEADERS, FLAGS.endHeaders, stream, head), "latin1");
      await new Promise((resolve) => socket.write(data, resolve));
    }
    socket.write(frame(TYPES.ping, 0, 0, "all sent"));
    await until(/all sent/, 1);
    expect(usedHeapBytes() - before).toBeLessThan(5_000_000);
    goOn.resolve();
    for (const stream of streams) socket.write(frame(TYPES.data, FLAGS.endStream, stream), "latin1");
    await until(new RegExp(`${FRAMES} bytes`), STREAMS);
  });

  test("whose client gives up while the origin works is logged with 499, or with its 400 if its body was cut off", async () => {
    const release = Promise.withResolvers<void>();
    const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { https, logged } = await start(async ({ request: { body }, url }) => {
      asked[Number(url.at(-1))]!.resolve();
      if (body === null) {
        await release.promise;
        return answer("page");
      }
      const reader = nodeBodies.readThrough(body);
      try {
        while ((await reader.next()) !== null);
        await release.promise;
        return answer("page");
      } catch {
        return answer("cut off", {}, 400);
      }
    });
    const client = session(https);
    const got = client.request({ ...HOST, ":path": "/0" });
    const posted = client.request({ ...HOST, ":method": "POST", ":path": "/1" });
    posted.end("whole");
    const cut = client.request({ ...HOST, ":method": "POST", ":path": "/2" });
    cut.write("ab");
    for (const stream of [got, posted, cut]) stream.on("error", () => undefined);
    for (const each of asked) await each.promise;
    for (const stream of [got, posted, cut]) stream.destroy(new Error("given up"));
    await ask(client, { ":path": "/" }, undefined).catch(() => undefined);
    release.resolve();
    await vi.waitUntil(() => logged.length >= 4);
    const statusOf = (target: string) => logged.find((each) => each.target === target)?.answer.status;
    expect(["/0", "/1", "/2"].map(statusOf)).toEqual([499, 499, 400]);
  });

  test("whose client gives up while it waits is told so, once", async () => {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    let told = 0;
    const { https } = await start(({ request, url }) => {
      if (url.endsWith("/other")) return answer("page");
      request.onceLeft!(() => void told++)();
      request.onceLeft!(() => {
        told++;
        left.resolve();
      });
      asked.resolve();
      return new Promise<never>(() => undefined);
    });
    const client = session(https);
    const got = client.request({ ...HOST, ":path": "/" });
    got.on("error", () => undefined);
    await asked.promise;
    got.close(constants.NGHTTP2_CANCEL);
    await left.promise;
    expect((await ask(client, { ":path": "/other" })).body).toBe("page");
    expect(told).toBe(1);
  });

  test("whose client gives up while it waits gets nothing of its answer, whose source is told", async () => {
    const asked = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const { https } = await start(async ({ request }) => {
      const left = new Promise<void>((resolve) => request.onceLeft!(resolve));
      asked.resolve();
      await left;
      const ignore = () => undefined;
      return answer(new PushedBody(null, { pause: ignore, resume: ignore, cancel: letGo.resolve }));
    });
    const got = session(https).request(HOST);
    got.on("error", () => undefined);
    await asked.promise;
    got.close(constants.NGHTTP2_CANCEL);
    await letGo.promise;
  });

  test("whose client gives up on its body fails for its reader", async () => {
    const failure = Promise.withResolvers<unknown>();
    const { https } = await start(async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      await reader.next();
      await reader.next().then(failure.resolve, failure.resolve);
      return answer("late");
    });
    const on = session(https);
    const stream = on.request({ ...HOST, ":method": "POST", "content-length": "10" });
    stream.on("error", () => undefined);
    stream.write("half");
    stream.once("ready", () => setImmediate(() => stream.close(constants.NGHTTP2_CANCEL)));
    expect(await failure.promise).toBeInstanceOf(Error);
  });

  test("is logged with its version, and whether its answer was whole", async () => {
    const { https, firstLogged } = await start(() => answer("page"));
    await ask(session(https), { ":path": "/a?b" });
    const expected = { version: "2.0", method: "GET", target: "/a?b", clientAddress: "127.0.0.1", bodyBytes: 4 };
    expect(await firstLogged).toMatchObject({ ...expected, isWhole: true });
  });

  test.each([
    { name: "a whole answer", window: 4, isWhole: true },
    { name: "one that was not, if the server ends before it is", window: 3, isWhole: false },
  ])("whose body was read is logged with $name", async ({ window, isWhole }) => {
    const { https, listener, firstLogged } = await start(async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      while ((await reader.next()) !== null);
      return answer("page");
    });
    const stream = session(https, { initialWindowSize: window }).request({ ...HOST, ":method": "POST" });
    stream.on("error", () => undefined).end("body");
    await once(stream, "response");
    if (!isWhole) await listener.close(0);
    stream.resume();
    expect(await firstLogged).toMatchObject({ bodyBytes: 4, isWhole });
  });

  test.each([
    { name: "", made: () => answer("page") },
    { name: " in pieces", made: () => answer(streamed(["pa", "ge"], 4)) },
  ])("whose body was read is logged with an answer$name that the client cut off without an error", async ({ made }) => {
    const { https, firstLogged } = await start(async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      while ((await reader.next()) !== null);
      return made();
    });
    const client = await rawClient(https);
    const post = frame(HEADERS, FLAGS.endHeaders, 1, HEAD.replace("\x82", "\x83"));
    await client.write(settings([4, 3]) + post + frame(TYPES.data, FLAGS.endStream, 1, "body"));
    await client.until(({ type }) => type === TYPES.data);
    await client.settled();
    await client.write(frame(RST_STREAM, 0, 1, uint(constants.NGHTTP2_NO_ERROR, 4)));
    expect(await firstLogged).toMatchObject({ bodyBytes: 4, isWhole: false });
  });
});

describe("an answer in HTTP/2", () => {
  test("has the fields of the edge's, and none of a connection", async () => {
    const fields = { "x-a": "caf\u00e9", "keep-alive": "timeout=5", "proxy-connection": "close", upgrade: "h2c" };
    const page = answer("page", { ...fields, "transfer-encoding": "chunked", te: "trailers" });
    page.fields.append("set-cookie", "a=1");
    page.fields.append("set-cookie", "b=2");
    const { https } = await start(() => page, { strictTransportSecurity: "max-age=60" });
    const { head } = await ask(session(https));
    expect(Object.keys(head).sort()).toEqual(
      [":status", "content-length", "date", "set-cookie", "strict-transport-security", "x-a"].sort(),
    );
    expect(head).toMatchObject({ "content-length": "4", "set-cookie": ["a=1", "b=2"], "x-a": "caf\u00e9" });
  });

  test("has a line for each challenge of WWW-Authenticate", async () => {
    const { https } = await start(() => answer("log in", { "www-authenticate": 'Negotiate, Basic realm="x"' }, 401));
    const [, , lines] = await once(session(https).request({}), "response");
    const challenges = (lines as string[]).filter((_, at) => lines[at - 1] === "www-authenticate");
    expect(challenges).toEqual(["Negotiate", 'Basic realm="x"']);
  });

  test("has fields whose names JavaScript knows", async () => {
    const names = ["constructor", "__proto__", "valueof"];
    const page = answer("page");
    for (const name of names) page.fields.append(name, "x");
    const { https } = await start(() => page);
    const { head } = await ask(session(https));
    expect(names.map((name) => Object.getOwnPropertyDescriptor(head, name)?.value)).toEqual(["x", "x", "x"]);
  });

  test.each([
    { name: "to HEAD has a length and no body", method: "HEAD", with_: answer("page"), body: "", length: "4" },
    { name: "204 has neither", method: "GET", with_: answer(null, {}, 204), body: "", length: undefined },
    { name: "304 has neither", method: "GET", with_: answer(null, {}, 304), body: "", length: undefined },
    { name: "205 has the length 0", method: "GET", with_: answer("page", {}, 205), body: "", length: "0" },
    { name: "205 drops a stream", method: "GET", with_: answer(streamed(["page"], 4), {}, 205), body: "", length: "0" },
    { name: "may be empty", method: "GET", with_: answer(""), body: "", length: "0" },
    {
      name: "may be large",
      method: "GET",
      with_: answer("x".repeat(900_000)),
      body: "x".repeat(900_000),
      length: "900000",
    },
  ])("$name", async ({ method, with_, body, length }) => {
    const { https } = await start(() => with_);
    const got = await ask(session(https), { ":method": method });
    expect([got.body === body, got.rstCode]).toEqual([true, 0]);
    expect([got.head[":status"], got.head["content-length"]]).toEqual([String(with_.status), length]);
  });

  test("may be of the web's class, and may come in pieces, with or without a length", async () => {
    const { https } = await start(({ url }) => {
      if (url.endsWith("/web")) return new Response("from the control plane", { status: 201 });
      return answer(streamed(["first, ", "second"], url.endsWith("/length") ? 13 : null));
    });
    const on = session(https);
    expect(await ask(on, { ":path": "/web" })).toMatchObject({ body: "from the control plane" });
    expect(await ask(on, { ":path": "/length" })).toMatchObject({ body: "first, second", rstCode: 0 });
    expect(await ask(on, { ":path": "/none" })).toMatchObject({ body: "first, second", rstCode: 0 });
  });

  test.each([
    ["is cut off", () => streamed(["part"], null, true)],
    ["is cut off, with a length", () => streamed(["part"], 10, true)],
    ["is shorter than announced", () => streamed(["part"], 10)],
    ["is longer than announced", () => streamed(["part", "more"], 5)],
  ])("that %s ends with an error, and is logged as such", async (_, body) => {
    const { https, firstLogged, listener } = await start(() => answer(body()));
    const on = session(https);
    expect((await ask(on)).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await firstLogged).isWhole).toBe(false);
    expect(listener.connections).toBe(1);
  });

  test("may have a head as large as sites may permit", async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x-${at}`, "x".repeat(1000)]));
    const { https } = await start(() => answer("page", fields));
    const on = session(https, { maxHeaderListSize: 2 ** 20 });
    const { head, body } = await ask(on);
    expect([Object.keys(head).filter((name) => name.startsWith("x-")).length, body]).toEqual([100, "page"]);
  });

  test("whose client gives up is logged with the bytes that were handed over", async () => {
    const { https, firstLogged } = await start(() => answer("x".repeat(2_000_000)));
    const stream = session(https).request(HOST);
    await once(stream, "response");
    stream.close(constants.NGHTTP2_CANCEL);
    const { isWhole, bodyBytes } = await firstLogged;
    expect([isWhole, bodyBytes < 200_000]).toEqual([false, true]);
  });

  test("fails alone if the edge fails", async () => {
    const { https, warnings } = await start(({ url }) => {
      if (url.endsWith("/sync")) throw new Error("a bug");
      if (url.endsWith("/async")) return Promise.reject(new Error("a bug"));
      return answer("page");
    });
    const on = session(https);
    for (const path of ["/sync", "/async"]) expect((await ask(on, { ":path": path })).head[":status"]).toBe("502");
    expect((await ask(on)).body).toBe("page");
    expect(warnings).toHaveLength(2);
  });

  const posted = (flags: number) =>
    frame(HEADERS, FLAGS.endHeaders, 1, HEAD.replace("\x82", "\x83")) +
    frame(TYPES.data, flags, 1, "nobody reads this");
  const END = "the end";
  const NO_ERROR = "a reset without an error";

  // Node holds an end back that has no bytes, and tells nobody when it sends it.
  test.each([
    { name: "", request: get(1), pieces: ["pa", "ge"], length: 4, ends: [END] },
    { name: ", without a length", request: get(1), pieces: ["pa", "ge"], length: null, ends: [END] },
    { name: ", without a byte", request: get(1), pieces: [], length: null, ends: [END] },
    { name: ", to a body that came", request: posted(FLAGS.endStream), pieces: ["pa", "ge"], length: 4, ends: [END] },
    { name: ", to a body that comes", request: posted(0), pieces: ["pa", "ge"], length: 4, ends: [END, NO_ERROR] },
  ])("that fills the window of its client ends once there is room$name", async ({ request, pieces, length, ends }) => {
    const { https } = await start(() => answer(streamed(pieces, length)));
    const client = await rawClient(https);
    await client.write(settings([4, pieces.join("").length]) + request);
    await client.until(({ type }) => type === (pieces.length === 0 ? HEADERS : TYPES.data));
    await client.settled();
    await client.write(frame(TYPES.windowUpdate, 0, 1, uint(1, 4)));
    const endOf = ({ type, flags, payload }: Frame) => {
      if (type === RST_STREAM && payload.readUInt32BE(0) === constants.NGHTTP2_NO_ERROR) return NO_ERROR;
      return type === TYPES.data && flags === FLAGS.endStream ? END : null;
    };
    const seen = await client.until((frame) => [ends.at(-1), NO_ERROR].includes(endOf(frame)!));
    client.socket.destroy();
    expect(seen.map(endOf).filter((end) => end !== null)).toEqual(ends);
  });

  test("that nobody reads waits, and does not hold up others; its source is told when the client gives up", async () => {
    let pulled = 0;
    const cancelled = Promise.withResolvers<void>();
    const endless = () => {
      let isPaused = false;
      const pump = () => {
        while (!isPaused) {
          pulled += 10_000;
          body.push(Buffer.alloc(10_000));
        }
      };
      const body: PushedBody = new PushedBody(null, {
        begin: () => setImmediate(pump),
        pause: () => {
          isPaused = true;
        },
        resume: () => {
          isPaused = false;
          setImmediate(pump);
        },
        cancel: () => {
          isPaused = true;
          cancelled.resolve();
        },
      });
      return body;
    };
    const { https } = await start(({ url }) => answer(url.endsWith("/endless") ? endless() : "page"));
    const on = session(https);
    const stream = on.request({ ...HOST, ":path": "/endless" });
    stream.on("error", () => undefined);
    await once(stream, "response");
    for (let turn = 0; turn < 5; turn++) expect((await ask(on)).body).toBe("page");
    expect(pulled).toBeLessThan(1_000_000);
    stream.close(constants.NGHTTP2_CANCEL);
    await cancelled.promise;
  });

  test("is given while as many others as a connection carries wait for their reader, in pieces as large as a disk's", async () => {
    const pieces = Array.from({ length: 4 }, () => "x".repeat(256 * 1024));
    const { https } = await start(({ url }) => answer(url.endsWith("/large") ? streamed(pieces) : "page"));
    const on = session(https);
    for (let number = 0; number < 127; number++) {
      const stream = on.request({ ...HOST, ":path": "/large" });
      await once(stream, "response"); // rejects if the stream is refused
      stream.on("error", () => undefined);
    }
    expect((await ask(on)).body).toBe("page");
  });
});

describe("a connection in HTTP/2", () => {
  /** Answers that wait until the test lets them go. */
  function held() {
    const waiting: ((answer: EdgeAnswer) => void)[] = [];
    let changed = Promise.withResolvers<void>();
    return {
      answering: () =>
        new Promise<EdgeAnswer>((resolve) => {
          waiting.push(resolve);
          changed.resolve();
          changed = Promise.withResolvers();
        }),
      until: async (count: number) => {
        while (waiting.length < count) await changed.promise;
      },
      letGo: () => {
        for (const resolve of waiting.splice(0)) resolve(answer("held"));
      },
      get count() {
        return waiting.length;
      },
    };
  }

  test("carries many requests at once, and tells how many", async () => {
    const pages = held();
    const { https, listener } = await start(pages.answering);
    const on = session(https);
    const asked = Array.from({ length: 128 }, () => ask(on));
    await pages.until(128);
    expect(on.remoteSettings).toMatchObject({ maxConcurrentStreams: 128, maxHeaderListSize: 65_536 });
    expect(listener.connections).toBe(1);
    pages.letGo();
    for (const got of await Promise.all(asked)) expect(got.body).toBe("held");
  });

  test("lets its client send much of a body before the edge has taken any, so that a distant one is fast", async () => {
    const { https } = await start(shown);
    const on = session(https);
    await ask(on);
    expect(on.remoteSettings.initialWindowSize).toBe(256 * 1024);
    expect(on.state.remoteWindowSize).toBe(1024 * 1024);
  });

  test("ends after its last answer when the listener stops", async () => {
    const pages = held();
    const { https, listener } = await start(pages.answering);
    const on = session(https);
    const asked = ask(on);
    await pages.until(1);
    const told = once(on, "goaway");
    const stopped = listener.close(60_000);
    expect((await told)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    pages.letGo();
    expect((await asked).body).toBe("held");
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("answers what was on its way when the listener stopped, and says with the answer that it was the last", async () => {
    const { https, listener } = await start(shown);
    const on = session(https);
    await ask(on);
    const told = once(on, "goaway");
    const stopped = listener.close(60_000);
    expect((await ask(on)).head[":status"]).toBe("200");
    expect((await told).slice(0, 2)).toEqual([constants.NGHTTP2_NO_ERROR, 3]);
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("that had more requests at a time before waits for as many when the listener stops, but not for ever", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { https, listener } = await start(shown);
    const on = session(https);
    await Promise.all([ask(on), ask(on)]);
    let last: number | null = null;
    on.on("goaway", (_code, id) => {
      last = id;
    });
    const stopped = listener.close(60_000);
    expect((await ask(on)).head[":status"]).toBe("200");
    expect((await ask(on)).head[":status"]).toBe("200");
    expect(last).toBeNull();
    const told = once(on, "goaway");
    vi.advanceTimersByTime(1_000);
    await told;
    expect(last).toBe(7);
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("that is cut off when the listener stops shows that its answer is not whole", async () => {
    const nothing = () => undefined;
    const events = new PushedBody(null, { pause: nothing, resume: nothing, cancel: nothing });
    const { https, listener, logged } = await start(() => answer(events));
    const stream = session(https).request(HOST);
    const asked = read(stream);
    events.push(Buffer.from("half"));
    await once(stream, "data");
    await listener.close(0);
    expect(await asked).toMatchObject({ body: "half", rstCode: constants.NGHTTP2_INTERNAL_ERROR });
    expect(stream).toMatchObject({ readableEnded: false, errored: expect.any(Error) });
    expect(logged).toEqual([
      expect.objectContaining({ isWhole: false, answer: expect.objectContaining({ status: 200 }) }),
    ]);
  });

  test("that begins while the listener stops answers its first requests", async () => {
    const { https, listener } = await start(shown);
    const client = await rawClient(https);
    const stopped = listener.close(60_000);
    await client.write(headers(1) + headers(3));
    const frames = await client.until(({ stream, type }) => stream === 3 && type === TYPES.data);
    expect(frames.filter(({ type }) => type === HEADERS).map(({ stream }) => stream)).toEqual([1, 3]);
    expect(frames.find(({ type }) => type === GOAWAY)!.payload.readUInt32BE(0)).toBe(3);
    client.socket.destroy();
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("that is read slowly carries the rest of its answer when the listener stops", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const page = "x".repeat(2_000_000); // more than the client takes without reading
    const { https, listener } = await start(() => answer(page));
    const on = session(https);
    const stream = on.request(HOST);
    await once(stream, "response");
    const told = once(on, "goaway");
    const stopped = listener.close(60_000);
    await told;
    vi.advanceTimersByTime(2_000); // from here on no request is taken
    expect((await read(stream)).body).toBe(page);
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("whose only answer is late is kept", async () => {
    const pages = held();
    const { https, listener } = await start(pages.answering);
    const asked = ask(session(https));
    await pages.until(1);
    for (const minutes of [1, 2, 3]) listener.sweep(performance.now() + minutes * 60_000);
    pages.letGo();
    expect((await asked).body).toBe("held");
  });

  test("whose client has vanished ends, although the kernel takes the events for it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = Promise.withResolvers<void>();
    const nothing = () => undefined;
    const events = new PushedBody(null, { begin: nothing, pause: nothing, resume: nothing, cancel: stopped.resolve });
    const { https, listener } = await start(() => answer(events));
    const { write, until, ended, settled } = await rawClient(https);
    await write(SETTINGS_ACK + get(1));
    await until(({ type }) => type === HEADERS);
    const from = performance.now();
    listener.sweep(from);
    await settled();
    for (const seconds of [50, 109]) listener.sweep(from + 1000 * seconds);
    events.push(Buffer.from("an event"));
    const isPing = ({ type, flags }: Frame) => type === TYPES.ping && flags !== FLAGS.ack;
    expect((await until(({ type }) => type === TYPES.data)).some(isPing)).toBe(false);
    listener.sweep(from + 111_000);
    await until(isPing);
    vi.advanceTimersByTime(60_000);
    await stopped.promise;
    await ended;
  });

  test("ends after as many requests as it may carry", async () => {
    const { https } = await start(shown, { settings: { maxRequestsPerConnection: 2 } });
    const on = session(https);
    await ask(on);
    const told = once(on, "goaway");
    expect((await ask(on)).head[":status"]).toBe("200");
    await told;
  });

  test("above the limit gets a 503, and ends", async () => {
    const { https, listener } = await start(shown, { settings: { maxConnections: 1 } });
    const first = session(https);
    await ask(first);
    const second = session(https);
    expect((await ask(second)).head[":status"]).toBe("503");
    await once(second, "close");
    expect(listener.connections).toBe(1);
  });

  test("ends when it carries nothing, and when its client has gone", { tags: ["deep"] }, async () => {
    const { https, listener } = await start(shown, { settings: { keepAliveMs: A_WHILE_MS } });
    const idle = session(https);
    await ask(idle);
    await once(idle, "close");
    const gone = session(https);
    await ask(gone);
    const empty = new Promise<void>((resolve) => listener.onceEmpty(resolve));
    gone.destroy();
    await empty;
  });

  test("ends a stream whose client does not send its body, and no other one", {
    tags: ["gate"],
  }, async () => {
    const { https } = await start(
      async ({ request }) => {
        if (request.body === null) return answer("page");
        const reader = nodeBodies.readThrough(request.body);
        while ((await reader.next()) !== null);
        return answer("read");
      },
      { settings: { stallMs: A_WHILE_MS } },
    );
    const on = session(https);
    const stream = on.request({ ...HOST, ":method": "POST" });
    stream.write("half");
    expect((await read(stream)).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await ask(on)).body).toBe("page");
    // It has answered the PING: its connection is still there when the answer was due.
    const late = on.request({ ...HOST, ":method": "POST" });
    late.write("half");
    expect((await read(late)).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await ask(on)).body).toBe("page");
  });

  test("ends a stream whose client does not read", { tags: ["deep"] }, async () => {
    const { https, firstLogged } = await start(() => answer("x".repeat(5_000_000)), {
      settings: { stallMs: A_WHILE_MS },
    });
    const on = session(https);
    const stream = on.request(HOST);
    stream.on("error", () => undefined);
    await once(stream, "response");
    expect((await firstLogged).isWhole).toBe(false);
  });

  test("ends the connection of a client that reads nothing at all", { tags: ["deep"] }, async () => {
    const { https, listener } = await start(() => answer("x".repeat(5_000_000)), { settings: { stallMs: A_WHILE_MS } });
    const deaf = await connected(https, { ALPNProtocols: ["h2"] });
    deaf.pause().write(PREFACE + SETTINGS + get(1), "latin1");
    expect(listener.connections).toBe(1);
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
  });

  /** A client that permits more than the kernel holds, and reads nothing yet: its streams end while their bytes wait. */
  async function lateReader() {
    const requests = Array.from({ length: 128 }, (_, at) => get(2 * at + 1));
    const page = "x".repeat(65_000);
    let asked = 0;
    const { https, listener } = await start(() => {
      asked++;
      return answer(page);
    });
    const { socket, ended, write } = await rawClient(https);
    socket.pause();
    await write(frame(TYPES.windowUpdate, 0, 0, "\x01\0\0\0") + requests.join(""));
    await vi.waitUntil(() => asked === requests.length, { timeout: 10_000 });
    return { listener, socket, ended, bytes: requests.length * page.length };
  }

  test.each([
    ["", false],
    [" while the listener stops", true],
  ])("whose client permits whole answers and reads nothing ends%s", async (_, isStopping) => {
    const { listener } = await lateReader();
    if (isStopping) void listener.close(600_000);
    let now = performance.now();
    await vi.waitUntil(
      () => {
        now += 60_000;
        listener.sweep(now);
        return listener.connections === 0;
      },
      { timeout: 10_000 },
    );
  });

  test.each([
    ["of which a part has been written", 500_000],
    ["of which all has been written", 50_000],
  ])(
    "that carries requests frees a stream without room for its answer, %s, once it is reset without an error",
    async (_, length) => {
      const late = held();
      const { https, listener, firstLogged } = await start((asked) =>
        asked.url.endsWith("/late") ? late.answering() : answer("x".repeat(length)),
      );
      const { write, until } = await rawClient(https);
      await write(settings([4, 100]) + get(1, "/late") + get(3));
      await until(({ type, stream }) => type === TYPES.data && stream === 3);
      await write(frame(RST_STREAM, 0, 3, uint(constants.NGHTTP2_NO_ERROR, 4)));
      const sweeper = setInterval(() => listener.sweep(performance.now()), 10);
      onTestFinished(() => clearInterval(sweeper));
      expect(await firstLogged).toMatchObject({ isWhole: false });
      expect(listener.connections).toBe(1);
    },
  );

  test("whose client has reset it while it carries requests ends, also if Node has lost the news", async () => {
    const accepted: Socket[] = [];
    const onAccepted = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onAccepted);
    onTestFinished(() => void unsubscribe("net.server.socket", onAccepted));
    const pages = held();
    const { https, listener } = await start(pages.answering);
    const carrier = connectTcp(https);
    const client = await connected(https, { ALPNProtocols: ["h2"], socket: carrier });
    client.on("error", () => undefined).write(PREFACE + SETTINGS + get(1), "latin1");
    await pages.until(1);
    listener.sweep(performance.now());
    expect(listener.connections).toBe(1);
    const { _handle: handle } = accepted[0] as Socket & { readonly _handle?: { readStop(): void } };
    handle!.readStop();
    carrier.resetAndDestroy();
    await vi.waitUntil(
      () => {
        listener.sweep(performance.now());
        return listener.connections === 0;
      },
      { timeout: 10_000 },
    );
  });

  test("whose client permits whole answers and reads them slowly carries them", async () => {
    const { listener, socket, ended, bytes } = await lateReader();
    const from = performance.now();
    while (socket.bytesRead < bytes && !socket.destroyed) {
      listener.sweep(from + socket.bytesRead / 55); // half a megabit per second
      socket.resume();
      await Promise.race([once(socket, "data"), ended]);
      socket.pause();
      await new Promise((resolve) => setImmediate(resolve)); // the server writes
    }
    expect(socket.bytesRead).toBeGreaterThan(bytes);
  });

  test("ends a stream whose client does not read, also if the origin was slower before than a client may be", {
    tags: ["deep"],
  }, async () => {
    const slow = Promise.withResolvers<void>();
    const { https } = await start(
      async ({ request }) => {
        const reader = nodeBodies.readThrough(request.body!);
        while ((await reader.next()) !== null);
        await slow.promise;
        return answer("x".repeat(5_000_000));
      },
      { settings: { stallMs: A_WHILE_MS } },
    );
    const on = session(https);
    const first = on.request({ ...HOST, ":method": "POST" });
    first.on("error", () => undefined);
    first.end("body");
    const second = on.request({ ...HOST, ":method": "POST" });
    second.write("half");
    expect((await read(second)).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR); // the first one has waited for as long
    slow.resolve();
    await once(first, "response");
    await new Promise((resolve) => first.on("close", resolve));
    expect(first.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  const MANY = Array.from({ length: 1001 }, (_, at) => literal(`x-${at}`, "x"));
  const LARGE = Array.from({ length: 66 }, (_, at) => literal(`x-${at}`, "x".repeat(1000)));
  /** One that the table keeps, and a byte each time that it is sent again. RFC 7541 §6.1, §6.2.1. */
  const REPEATED = [literal("x", "x".repeat(4000)).replace("\x00", "\x40"), "\xbe".repeat(900)];

  // A server's settings count once the client has acknowledged them, which a hostile one never does. RFC 9113 §6.5.3.
  test.each([
    ["many", SETTINGS_ACK, MANY],
    ["many, before it knows the limits,", "", MANY],
    ["large", SETTINGS_ACK, LARGE],
    ["large, before it knows the limits,", "", LARGE],
    ["large though they take few bytes on the way", SETTINGS_ACK, REPEATED],
    ["large, before it knows the limits, though they take few bytes on the way,", "", REPEATED],
  ])("whose fields are too %s ends that stream alone", async (_, acknowledgement, fields) => {
    const asked: string[] = [];
    const { https } = await start(({ url }) => {
      asked.push(url);
      return answer("page");
    });
    const client = await rawClient(https);
    await client.write(acknowledgement);
    await client.write(inPieces(1, getHead("/", fields.join(""))).join("") + get(3, "/after"));
    const answered = await client.until(({ type, stream }) => type === HEADERS && stream === 3);
    const [refused] = answered.filter(({ stream }) => stream === 1);
    expect([refused?.type, refused?.payload.readUInt32BE(0)]).toEqual([
      RST_STREAM,
      constants.NGHTTP2_ENHANCE_YOUR_CALM,
    ]);
    expect(asked).toEqual(["https://a.test/after"]);
    client.socket.destroy();
  });
});

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A client that writes frames, and reads those that come. */
async function rawClient(where: Where) {
  const socket = await connected(where, { ALPNProtocols: ["h2"] });
  socket.on("error", () => undefined);
  let received = "";
  const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  const write = (bytes: string) =>
    new Promise<void>((resolve) => socket.write(Buffer.from(bytes, "latin1"), () => resolve()));
  await write(PREFACE + SETTINGS);
  const frames = () => {
    const bytes = Buffer.from(received, "latin1");
    const whole: Frame[] = [];
    for (let at = 0; at + 9 <= bytes.length; ) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      const payload = bytes.subarray(at + 9, end);
      whole.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream: bytes.readUInt32BE(at + 5), payload });
      at = end;
    }
    return whole;
  };
  const goawayCode = () =>
    frames()
      .find(({ type }) => type === GOAWAY)
      ?.payload.readUInt32BE(4) ?? null;
  /** Resolves to all frames once one of them is such. */
  const until = async (isSuch: (frame: Frame) => boolean) => {
    while (!frames().some(isSuch)) await once(socket, "data");
    return frames();
  };
  /** Resolves when the server has answered what was written before, and done what it does soon after. */
  let asked = 0;
  const settled = async () => {
    for (const payload of ["?", "!"].map((mark) => `${asked++}`.padStart(7) + mark)) {
      await write(frame(TYPES.ping, 0, 0, payload));
      await until((frame) => frame.type === TYPES.ping && frame.payload.toString("latin1") === payload);
    }
  };
  return { socket, write, ended, frames, goawayCode, until, settled };
}

describe("floods", () => {
  // The kernel resets a connection whose client goes on sending, and the reset may overtake the GOAWAY.
  const END_OR_RESET = [constants.NGHTTP2_NO_ERROR, null];
  /** What a client may do does not grow, however long the test takes. */
  const stopAllowances = () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
  };
  const flooded = async (bytes: (turn: number) => string, answering: Answering = shown) => {
    stopAllowances();
    let asked = 0;
    const running = await start((incoming) => {
      asked++;
      return answering(incoming);
    });
    const client = await rawClient(running.https);
    for (let turn = 0; turn < 500 && !client.socket.destroyed; turn++) await client.write(bytes(turn));
    await client.ended;
    const { listener, warnings } = running;
    const seen = { code: client.goawayCode(), floods: listener.floods, warnings: warnings.length, asked };
    expect((await ask(session(running.https), { ":path": "/after" })).body !== "").toBe(true);
    return seen;
  };

  test("of requests that are reset at once end the connection, and nobody else's", async () => {
    const seen = await flooded((turn) => {
      const streams = Array.from({ length: 10 }, (_, at) => 2 * (10 * turn + at) + 1);
      return streams.map((stream) => headers(stream) + reset(stream)).join("");
    }, later);
    expect(seen).toMatchObject({ floods: 1, warnings: 1 });
    expect(END_OR_RESET).toContain(seen.code);
    expect(seen.asked).toBeLessThan(500);
  });

  test("of requests that are reset while the edge works on them end the connection", async () => {
    const never: Answering = ({ url }) => (url.endsWith("/after") ? answer("page") : new Promise(() => undefined));
    const seen = await flooded((turn) => headers(2 * turn + 1) + (turn > 0 ? reset(2 * turn - 1) : ""), never);
    expect(seen).toMatchObject({ floods: 1 });
    expect(END_OR_RESET).toContain(seen.code);
    // As many as it works on at a time, and a few that came at once.
    expect(seen.asked).toBeLessThan(450);
  });

  /** A client with an order under way, which resets so many other requests that the connection ends. */
  async function impatient(parts: Partial<ListenerParts> = {}) {
    const asked: string[] = [];
    const { promise: saved, resolve: save } = Promise.withResolvers<EdgeAnswer>();
    const { https, listener, warnings } = await start(({ request }) => {
      asked.push(request.method);
      return request.method === "POST" ? saved : new Promise(() => undefined);
    }, parts);
    const client = await rawClient(https);
    await client.write(headers(1).replace("\x82", "\x83"));
    const pictures = (from: number) => Array.from({ length: 300 }, (_, at) => 2 * (from + at) + 1);
    const resetAll = (from: number) =>
      client.write(
        pictures(from)
          .map((id) => get(id) + reset(id))
          .join(""),
      );
    await resetAll(1);
    await Promise.race([client.until(({ type }) => type === GOAWAY), client.ended]);
    return { client, resetAll, asked, save: () => save(answer("saved")), listener, warnings };
  }

  test("of resets leave what runs to be answered, or a browser would ask for it again", async () => {
    const { client, resetAll, asked, save, listener, warnings } = await impatient();
    const askedBefore = asked.length;
    await resetAll(301); // which the connection no longer takes
    save();
    const data = client.until(({ type, stream }) => type === TYPES.data && stream === 1);
    expect(await Promise.race([data, client.ended])).toBeDefined();
    await client.ended;
    expect(client.goawayCode()).toBe(constants.NGHTTP2_NO_ERROR);
    expect(asked.filter((method) => method === "POST")).toEqual(["POST"]);
    expect([asked.length, listener.floods, warnings.length]).toEqual([askedBefore, 1, 1]);
  });

  // A proxy sends the requests of other visitors at once with the resets, which may be without an error, as Envoy's.
  test.each([
    { name: "do not end that of a trusted proxy, which carries many visitors", proxy: "127.0.0.1", floods: 0 },
    { name: "end that of a proxy that no site trusts", proxy: "192.0.2.1", floods: 1 },
  ])("of resets on one connection $name", async ({ proxy, floods }) => {
    const trustedProxies = [readNetwork(proxy)!];
    const pages: Answering = ({ url }) => (url.endsWith("/page") ? answer("page") : new Promise(() => undefined));
    const site = { name: "a", hosts: ["a.test"], isolate: { fetch: pages }, trustedProxies };
    for (const parts of [{ trustedProxies }, { sites: new SitesByHost([site]) }]) {
      const { https, listener } = await start(pages, parts);
      const client = await rawClient(https);
      const of = (wave: number) => Array.from({ length: 100 }, (_, at) => 2 * (100 * wave + at) + 1);
      const leave = (wave: number) =>
        of(wave)
          .map((id) => frame(RST_STREAM, 0, id, uint(constants.NGHTTP2_NO_ERROR, 4)))
          .join("");
      const ask = (wave: number, path: string) =>
        of(wave)
          .map((id) => get(id, path))
          .join("");
      await client.write(SETTINGS_ACK + ask(0, "/slow"));
      for (let wave = 0; wave < 8; wave++) {
        await Promise.race([client.settled(), client.ended]);
        await client.write(leave(wave) + ask(wave + 1, wave === 7 ? "/page" : "/slow"));
      }
      await Promise.race([client.settled(), client.ended]);
      const answered = client.frames().filter(({ type, stream }) => type === TYPES.data && of(8).includes(stream));
      expect([answered.length, listener.floods]).toEqual([floods === 0 ? 100 : 0, floods]);
    }
  });

  test("of resets leave a trusted proxy its connection, also if thousands come at once", async () => {
    const pages: Answering = ({ url }) => (url.endsWith("/page") ? answer("page") : new Promise(() => undefined));
    const { https, listener } = await start(pages, { trustedProxies: [readNetwork("127.0.0.1")!] });
    const client = await rawClient(https);
    const streams = (from: number) => Array.from({ length: 1000 }, (_, at) => 2 * (from + at) + 1);
    await client.write(SETTINGS_ACK + streams(0).map(headers).join(""));
    await client.settled();
    await client.write(streams(0).map(reset).join("") + streams(1000).map(headers).join(""));
    await Promise.race([client.settled(), client.ended]);
    await client.write(get(4001, "/page"));
    const isAnswer = ({ type, stream }: Frame) => type === TYPES.data && stream === 4001;
    expect((await Promise.race([client.until(isAnswer), client.ended])) !== undefined).toBe(true);
    expect(listener.floods).toBe(0);
  });

  test("of requests that a trusted proxy gives up are worked on up to twice as many as it may have open", async () => {
    let asked = 0;
    const never: Answering = () => {
      asked++;
      return new Promise(() => undefined);
    };
    const { https } = await start(never, { trustedProxies: [readNetwork("127.0.0.1")!] });
    const client = await rawClient(https);
    const streams = (from: number) => Array.from({ length: 1000 }, (_, at) => 2 * (from + at) + 1);
    await client.write(SETTINGS_ACK);
    for (const from of [0, 1000, 2000]) {
      await client.write(streams(from).map(headers).join(""));
      await client.settled();
      if (from < 2000) await client.write(streams(from).map(reset).join(""));
      await client.settled(); // otherwise streams count that are being reset
    }
    const refused = client.frames().filter(({ type, stream }) => type === TYPES.rstStream && stream > 4000);
    expect([asked, refused.length]).toEqual([2048, 952]);
  });

  test("of resets leave what runs no longer than a client may stall", async () => {
    const { client, listener } = await impatient();
    const now = performance.now();
    for (const seconds of [0, 59]) listener.sweep(now + 1000 * seconds);
    expect(listener.connections).toBe(1);
    listener.sweep(now + 61_000);
    await client.ended;
    expect([listener.floods, client.goawayCode()]).toEqual([1, constants.NGHTTP2_NO_ERROR]);
  });

  test("of resets that go on end though nobody sees that the client has left", { tags: ["deep"] }, async () => {
    const { client, resetAll, listener } = await impatient({ settings: { stallMs: A_WHILE_MS } });
    // nghttp2 reads nothing more after 10,000 requests that it ignores, and those that it permits each second.
    for (let turn = 1; turn < 50; turn++) await Promise.race([resetAll(300 * turn + 1), client.ended]);
    client.socket.destroy();
    const sweeper = setInterval(() => listener.sweep(performance.now()), A_WHILE_MS / 5);
    onTestFinished(() => clearInterval(sweeper));
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
    expect([listener.floods, client.goawayCode()]).toEqual([1, constants.NGHTTP2_NO_ERROR]);
  });

  test("of pings after resets end the connection at once", async () => {
    const { client, listener } = await impatient();
    await client.write(frame(TYPES.ping, 0, 0, "12345678").repeat(300));
    await client.ended;
    expect(listener.floods).toBe(1);
  });

  test("of answers that are given up midway are ten times as large", { tags: ["gate"] }, async () => {
    stopAllowances();
    const large = "x".repeat(80_000); // more than a client takes before it has read
    const { https, listener } = await start(({ url }) => answer(url.endsWith("/page") ? "page" : large));
    const on = session(https);
    const ended = new Promise((resolve) => on.on("close", resolve));
    const giveUp = () => {
      const stream = on.request(HOST);
      stream.on("response", () => stream.close(constants.NGHTTP2_CANCEL));
      return read(stream);
    };
    for (let turn = 0; turn < 40; turn++) await Promise.all(Array.from({ length: 64 }, giveUp));
    expect((await ask(on, { ":path": "/page" })).body).toBe("page");
    expect(listener.floods).toBe(0);
    await giveUp();
    await ended;
    expect(listener.floods).toBe(1);
  });

  test.each([
    { name: "settings", bytes: frame(4, 0, 0, "\0\x04\0\0\xff\xff") },
    { name: "pings", bytes: frame(6, 0, 0, "12345678") },
  ])("of $name end the connection", async ({ bytes }) => {
    const seen = await flooded(() => bytes);
    expect(seen).toMatchObject({ floods: 1, asked: 0 });
    expect([constants.NGHTTP2_ENHANCE_YOUR_CALM, null]).toContain(seen.code);
  });

  test("do not count what a browser does that leaves a page of many pictures", { tags: ["deep"] }, async () => {
    const { https, listener } = await start(
      () => new Promise((resolve) => setImmediate(() => resolve(answer("page")))),
    );
    const on = session(https);
    for (let page = 0; page < 2; page++) {
      await ask(on);
      const pictures = Array.from({ length: 100 }, () => on.request(HOST));
      for (const each of pictures) each.on("error", () => undefined);
      await new Promise(setImmediate);
      for (const each of pictures) each.close(constants.NGHTTP2_CANCEL);
      expect((await ask(on)).body).toBe("page");
    }
    expect(listener.floods).toBe(0);
  });
});

describe("bytes that are not HTTP/2", () => {
  test.each([
    ["noise", "\x00\xff".repeat(500)],
    ["HTTP/1.1", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"],
    ["a preface that is cut short", PREFACE.slice(0, 10)],
    ["a frame that is larger than allowed", PREFACE + SETTINGS + frame(0, 0, 1, "x".repeat(20_000))],
    ["data on a stream that was not opened", PREFACE + SETTINGS + frame(0, 0, 1, "x")],
    ["a head that cannot be decoded", PREFACE + SETTINGS + frame(HEADERS, 5, 1, "\xff\xff\xff\xff\xff\xff")],
    ["an even stream", PREFACE + SETTINGS + frame(HEADERS, 5, 2, HEAD)],
    ["a window that overflows", PREFACE + SETTINGS + frame(8, 0, 0, "\x7f\xff\xff\xff").repeat(2)],
    [
      "a head that never ends",
      PREFACE + SETTINGS + frame(HEADERS, 1, 1, HEAD) + frame(CONTINUATION, 0, 1).repeat(5_000),
    ],
    ["many malformed heads", PREFACE + SETTINGS + manyHeads(3_000)],
  ])("%s end the connection, and the next one is served", async (_, bytes) => {
    const { https, warnings } = await start(shown);
    const socket = await connected(https, { ALPNProtocols: ["h2"] });
    expect(socket.alpnProtocol).toBe("h2");
    socket.on("error", () => undefined);
    socket.resume();
    socket.end(Buffer.from(bytes, "latin1"));
    await once(socket, "close");
    expect((await ask(session(https))).head[":status"]).toBe("200");
    expect(warnings.filter((line) => !line.includes("flooded"))).toEqual([]);
  });

  /** Requests with a field of a connection, each of which is malformed. RFC 9113 §8.2.2. */
  function manyHeads(count: number): string {
    let frames = "";
    for (let stream = 1; stream < 2 * count; stream += 2) {
      frames += frame(HEADERS, 5, stream, `${HEAD}\x00\x0aconnection\x05close`);
    }
    return frames;
  }
});
