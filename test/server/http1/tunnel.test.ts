import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import { readOriginAddress } from "../../../server/origin/origin-address.ts";
import { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { listenLocally } from "../../suite/local-url.ts";
import { RawClient, statuses } from "../raw-client.ts";
import { type Answering, answer, startTestListener } from "./running-listener.ts";

/** A WebSocket, or what looks like one to a server in between: bytes that go both ways after a 101. */
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const SWITCH =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
const ASK = [
  "GET /socket HTTP/1.1",
  "Host: localhost",
  "Upgrade: WebSocket",
  "Connection: keep-alive, Upgrade",
  "Sec-WebSocket-Key: k",
  "",
  "",
].join("\r\n");

/** An origin that switches as this function says, and the corridor's way to it. */
async function startTunnels(switched: (socket: Socket, head: Buffer) => void, parts: Partial<ListenerParts> = {}) {
  const keys: unknown[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(403, { "content-length": 2 }).end("no"));
  server.on("connection", (socket) => sockets.add(socket));
  server.on("upgrade", (request, socket, head) => {
    keys.push(request.headers["sec-websocket-key"]);
    socket.on("error", () => undefined);
    switched(socket as Socket, head);
  });
  const url = await listenLocally(server);
  const origin = new UndiciOrigin({ address: readOriginAddress(url)!, timeoutMs: 10_000, bodies: nodeBodies });
  const answering: Answering = async ({ request, url: asked }) => {
    const isSocket = request.headers.get("upgrade") !== null;
    const fields = [...request.headers].filter(([name]) => name.startsWith("sec-")) as [string, string][];
    if (isSocket) fields.push(["upgrade", "websocket"], ["connection", "upgrade"]);
    const pathAndQuery = asked.slice(asked.indexOf("/", 7));
    const result = await origin.fetch({ method: request.method, pathAndQuery, fields, body: null });
    if (result.kind === "switched") {
      return { status: 101, statusText: "", fields: new Fields(), body: null, switchedTo: result.connection };
    }
    if (result.kind === "failed") return answer("failed", {}, 502);
    const { status, statusText, fields: own, body } = result.response;
    return { status, statusText, fields: own, body };
  };
  const running = await startTestListener(answering, parts);
  ends.push(
    () => server.close(),
    () => origin.close(),
    () => running.stop(),
  );
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { running, keys };
}

function client(where: { host: string; port: number }): RawClient {
  const made = new RawClient(where);
  ends.push(() => made.destroy());
  return made;
}

test("bytes go both ways after a 101, whose fields are the origin's", async () => {
  const { running, keys } = await startTunnels((socket) => {
    socket.write(`${SWITCH}welcome`);
    socket.pipe(socket);
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("welcome"));
  await one.send("ping");
  const received = await one.until((text) => text.includes("ping"));
  expect(received).toBe(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\nwelcomeping",
  );
  expect(keys).toEqual(["k"]);
});

test("what the client sends before the 101 reaches the origin", async () => {
  const { running } = await startTunnels((socket, head) => {
    socket.write(SWITCH);
    if (head.byteLength > 0) socket.write(head);
    socket.pipe(socket);
  });
  const one = client(running.where);
  await one.send(`${ASK}early`);
  expect(await one.until((text) => text.endsWith("early"))).toContain("101");
});

test("a side that ends its half still gets what the other sends", async () => {
  const { running } = await startTunnels((socket) => {
    socket.write(SWITCH);
    socket.on("data", () => undefined);
    socket.on("end", () => socket.end("last words"));
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("\r\n\r\n"));
  one.socket.end();
  await one.closed;
  expect(one.received).toContain("last words");
});

test("a tunnel whose one side has ended its half ends when no bytes have passed for a while", async () => {
  const settings = { stallMs: 50 };
  const byOrigin = await startTunnels((socket) => void socket.end(SWITCH), { settings });
  const silent = connect({ ...byOrigin.running.where, allowHalfOpen: true });
  ends.push(() => silent.destroy());
  silent.on("error", () => undefined).resume();
  silent.write(ASK);
  await once(silent, "end");
  await byOrigin.running.listener.close(60_000); // which waits for the tunnel

  let ofOrigin: Socket | undefined;
  const byClient = await startTunnels(
    (socket) => {
      ofOrigin = socket.resume();
      socket.write(SWITCH);
    },
    { settings },
  );
  const one = client(byClient.running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("\r\n\r\n"));
  one.socket.end();
  await byClient.running.listener.close(60_000);
  // The system tells of a connection that is gone when one writes again.
  while (!ofOrigin!.destroyed) {
    ofOrigin!.write("too late");
    await new Promise(setImmediate);
  }
});

test("an origin that goes away ends the tunnel", async () => {
  let ofOrigin: Socket | undefined;
  const { running } = await startTunnels((socket) => {
    ofOrigin = socket;
    socket.write(SWITCH);
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("\r\n\r\n"));
  ofOrigin!.resetAndDestroy();
  await one.closed;
});

test("a client that goes away ends the tunnel", async () => {
  const gone = Promise.withResolvers<void>();
  const { running } = await startTunnels((socket) => {
    socket.on("close", () => gone.resolve());
    socket.on("end", () => socket.end());
    socket.resume();
    socket.write(SWITCH);
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("\r\n\r\n"));
  one.socket.resetAndDestroy();
  await gone.promise;
});

test("a client that has gone before the 101 leaves no connection to the origin", async () => {
  const toOrigin = new Duplex({ read: () => undefined });
  const closed = new Promise((resolve) => toOrigin.on("close", resolve));
  const running = await startTestListener(async () => {
    const gone = new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
    one.socket.resetAndDestroy();
    await gone;
    const switchedTo = { fields: new Fields(), socket: toOrigin };
    return { status: 101, statusText: "", fields: new Fields(), body: null, switchedTo };
  });
  ends.push(() => running.stop());
  const one = client(running.where);
  await one.send(ASK);
  await closed;
});

test("a tunnel is in the access log once it has ended, with all bytes that the client got", async () => {
  const logged = Promise.withResolvers<AnsweredExchange>();
  const { running } = await startTunnels((socket) => socket.end(`${SWITCH}welcome`), {
    accessLog: { record: logged.resolve },
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.endsWith("welcome"));
  one.socket.end();
  const { answer: answered, ...line } = await logged.promise;
  expect(answered.status).toBe(101);
  expect(line).toMatchObject({
    method: "GET",
    target: "/socket",
    version: "1.1",
    bodyBytes: one.received.length,
    isWhole: true,
  });
});

test("the access log counts for a tunnel no bytes of earlier answers on its connection", async () => {
  const lines: AnsweredExchange[] = [];
  const tunnel = Promise.withResolvers<void>();
  const record = (line: AnsweredExchange) => {
    if (lines.push(line) === 2) tunnel.resolve();
  };
  const { running } = await startTunnels((socket) => socket.end(`${SWITCH}welcome`), { accessLog: { record } });
  const one = client(running.where);
  await one.send("GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await one.until((text) => text.endsWith("no"));
  const before = one.received.length;
  await one.send(ASK);
  await one.until((text) => text.endsWith("welcome"));
  one.socket.end();
  await tunnel.promise;
  expect(lines.map(({ bodyBytes }) => bodyBytes)).toEqual([2, one.received.length - before]);
});

test("an origin that refuses to switch is answered as it answers, and the connection ends", async () => {
  const { running } = await startTunnels((socket) =>
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
  );
  const one = client(running.where);
  await one.send(ASK);
  await one.closed;
  expect(one.received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(one.received).toContain("connection: close\r\n");
  expect(one.received.endsWith("no")).toBe(true);
});

test("a client that leaves in the middle of a refusal to switch ends it at its source, too", async () => {
  const letGo = Promise.withResolvers<void>();
  const ignore = () => undefined;
  const begin = () => body.push(Buffer.from("no"));
  const body: PushedBody = new PushedBody(null, { begin, pause: ignore, resume: ignore, cancel: letGo.resolve });
  const running = await startTestListener(() => answer(body, {}, 403));
  ends.push(() => running.stop());
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("no"));
  one.socket.resetAndDestroy();
  await letGo.promise;
});

test("a request for another protocol is a request without that wish", async () => {
  const { running } = await startTunnels(() => undefined);
  const one = client(running.where);
  await one.send(ASK.replace("Upgrade: WebSocket", "X-No: 1"));
  expect(await one.until((text) => text.includes("no"))).toContain("connection: keep-alive");
});

test("a HEAD that wishes for a WebSocket is a HEAD without that wish", async () => {
  const { running, keys } = await startTunnels((socket) => socket.write(SWITCH));
  const one = client(running.where);
  await one.send(ASK.replace("GET", "HEAD"));
  const head = await one.until((text) => text.endsWith("\r\n\r\n"));
  expect(head).toMatch(/^HTTP\/1\.1 403 /);
  expect(head).toContain("content-length: 2\r\n");
  expect(head).toContain("connection: keep-alive\r\n");
  expect(keys).toEqual([]);
});

test("a WebSocket that the Connection field does not name is no wish", async () => {
  const { running, keys } = await startTunnels((socket) => socket.write(SWITCH));
  const one = client(running.where);
  await one.send(ASK.replace("keep-alive, Upgrade", "keep-alive") + PLAIN);
  one.socket.end();
  await one.closed;
  expect(statuses(one.received)).toEqual([403, 403]);
  expect(keys).toEqual([]);
});

test("a WebSocket behind other requests that wait is refused once they are answered", async () => {
  const { running } = await startTunnels((socket) => socket.write(SWITCH));
  const one = client(running.where);
  await one.send(`GET / HTTP/1.1\r\nHost: localhost\r\n\r\n${ASK}`);
  await one.closed;
  expect(statuses(one.received)).toEqual([403, 400]);
});

test("a tunnel is cut off when a graceful stop takes too long", async () => {
  const { running } = await startTunnels((socket) => {
    socket.resume();
    socket.write(SWITCH);
  });
  const one = client(running.where);
  await one.send(ASK);
  await one.until((text) => text.includes("\r\n\r\n"));
  expect(await running.listener.close(20)).toEqual({ cutOff: 1 });
  await one.closed;
});

test("HTTP/1.0 knows no other protocol: the field is ignored", async () => {
  const { running, keys } = await startTunnels((socket) => socket.write(SWITCH));
  const ask = ASK.replace("HTTP/1.1", "HTTP/1.0");
  const plain = "GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
  for (const bytes of [ask, plain + ask]) {
    const one = client(running.where);
    await one.send(bytes);
    one.socket.end();
    await one.closed;
    expect(statuses(one.received)).toEqual(Array(bytes === ask ? 1 : 2).fill(403));
  }
  expect(keys).toEqual([]);
});

test("a connection above the limit gets no WebSocket", async () => {
  const running = await startTestListener(() => answer("page"), { settings: { maxConnections: 0 } });
  ends.push(() => running.stop());
  const one = client(running.where);
  await one.send(ASK);
  await one.closed;
  expect(one.received).toMatch(/^HTTP\/1\.1 503 /);
});

const PLAIN = ASK.replace("Upgrade: WebSocket", "X-No: 1");
const REFUSED = /^HTTP\/1\.1 503 .*\r\ncache-status: tidemark; detail=too-many-connections\r\n/s;

test("a tunnel counts as two connections, until the origin's has ended", async () => {
  let atOrigin = 0;
  let ofOrigin: Socket | undefined;
  const { running } = await startTunnels(
    (socket) => {
      atOrigin++;
      ofOrigin = socket;
      socket.write(SWITCH);
    },
    { settings: { maxConnections: 3 } },
  );
  const begun = async () => {
    const made = client(running.where);
    await made.send(ASK);
    await made.until((text) => text.includes("\r\n\r\n"));
    return made;
  };
  const tunnel = await begun();
  expect(tunnel.received).toMatch(/^HTTP\/1\.1 101 /);
  const other = client(running.where);
  await other.send(PLAIN);
  expect(await other.until((text) => text.includes("no"))).toMatch(/^HTTP\/1\.1 403 /);
  const third = client(running.where);
  await third.send(PLAIN);
  await third.closed;
  expect(third.received).toMatch(REFUSED);
  // The connection is taken already, and has no room for one to the origin.
  other.received = "";
  await other.send(ASK);
  await other.closed;
  expect(other.received).toMatch(REFUSED);
  expect(other.received).toContain("connection: close\r\n");
  expect(atOrigin).toBe(1);
  ofOrigin!.resetAndDestroy();
  await tunnel.closed;
  await new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
  expect((await begun()).received).toMatch(/^HTTP\/1\.1 101 /);
  const last = client(running.where);
  await last.send(PLAIN);
  expect(await last.until((text) => text.includes("no"))).toMatch(/^HTTP\/1\.1 403 /);
});

test("a tunnel whose origin has left before it begins ends at once, and counts no longer", async () => {
  const running = await startTestListener(
    async () => {
      const socket = new Duplex({ read: () => undefined }).destroy();
      await once(socket, "close");
      const switchedTo = { fields: new Fields(), socket };
      return { status: 101, statusText: "", fields: new Fields(), body: null, switchedTo };
    },
    { settings: { maxConnections: 2 } },
  );
  ends.push(() => running.stop());
  for (let turn = 0; turn < 3; turn++) {
    const one = client(running.where);
    await one.send(ASK);
    await one.closed;
    expect(one.received).toMatch(/^HTTP\/1\.1 101 /);
  }
});

test("what was no tunnel in the end counts no longer", async () => {
  const { running } = await startTunnels(
    (socket) => socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
    {
      settings: { maxConnections: 2 },
    },
  );
  for (let turn = 0; turn < 3; turn++) {
    const one = client(running.where);
    await one.send(ASK);
    await one.closed;
    expect(one.received).toMatch(/^HTTP\/1\.1 403 /);
  }
});
