import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { type AddressInfo, connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { ticketKey } from "../../../server/connections/ticket-keys.ts";
import { openSockets } from "../../../server/supervisor/listening-sockets.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { turns } from "../../suite/turns.ts";
import { type Answering, answer, streamed } from "../http1/running-listener.ts";
import { RawClient, statuses } from "../raw-client.ts";
import {
  certificate,
  connected,
  LOCALHOST,
  startTlsListener as start,
  stopAll,
  stops,
  talk,
  type Where,
} from "./tls-listener.ts";

afterEach(stopAll);

const GET = "GET /page HTTP/1.1\r\nHost: www.example.test\r\nConnection: close\r\n\r\n";
const shown: Answering = ({ url, clientAddress }) => answer(`${url} for ${clientAddress}`);
const names = (socket: TLSSocket) => socket.getPeerCertificate().subjectaltname;

describe("over TLS", () => {
  test("the URL has the scheme of the connection, in the fast and the plain way, with and without TLS", async () => {
    for (const usesFastAnswers of [true, false]) {
      const { listener, https, http } = await start(shown, { usesFastAnswers });
      expect(await talk(https, GET)).toMatch(/https:\/\/www\.example\.test\/page for 127\.0\.0\.1$/);
      const plain = new RawClient(http);
      stops.push(() => plain.destroy());
      await plain.send(GET);
      await plain.closed;
      expect(plain.received).toMatch(/http:\/\/www\.example\.test\/page for 127\.0\.0\.1$/);
      expect(listener.fastHits).toBe(usesFastAnswers ? 2 : 0);
    }
  });
});

describe("a client over TLS that sends a request in parts behind others, and ends its half", () => {
  const first = GET.replace("Connection: close\r\n", "");
  const POST = GET.replace("GET", "POST").replace("Connection", "Content-Length: 4\r\nConnection");

  test.each([
    ["a head", GET.slice(0, 9), GET.slice(9)],
    ["a body", POST, "body"],
  ])("has it answered: %s", async (_, part, rest) => {
    let asked = 0;
    const page = answer("x".repeat(100_000));
    const { https } = await start(({ request }) => {
      if (request.body !== null)
        return nodeBodies
          .read(request.body as StreamedBody)
          .next()
          .then(() => page);
      // The large ones wait behind the first one, so that Node pauses its parser.
      return asked++ === 0 ? turns(20).then(() => page) : page;
    });
    const options = { ...https, allowHalfOpen: true, rejectUnauthorized: false };
    const client = connect(options);
    stops.push(() => client.destroy());
    // Before the end of the handshake, so that all comes in one go.
    client.write(first.repeat(4) + part);
    client.end(rest);
    let received = "";
    for await (const piece of client.setEncoding("latin1")) received += piece;
    expect(statuses(received)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe("a client over TLS that reads slowly", () => {
  const BYTES = 24_000_000;
  const MORE_THAN_KERNEL_HOLDS = 7_000_000;

  test("gets its answer as long as it reads, and is dropped when it stops reading", { tags: ["deep"] }, async () => {
    const served: Socket[] = [];
    const onStart = (message: unknown) => served.push((message as { socket: Socket }).socket);
    subscribe("http.server.request.start", onStart);
    stops.push(() => unsubscribe("http.server.request.start", onStart));
    const { https } = await start(() => answer("x".repeat(BYTES)), { usesFastAnswers: false });
    const client = await connected(https);
    let bytes = 0;
    const read = async (atLeast: number) => {
      for (const until = bytes + atLeast; bytes < until; ) {
        const piece = client.read() as Buffer | null;
        if (piece) bytes += piece.byteLength;
        else await once(client, "readable");
      }
    };
    client.on("readable", () => undefined);
    client.write(GET);
    await read(1);
    for (let time = 0; time < 3; time++) {
      await read(MORE_THAN_KERNEL_HOLDS);
      served[0]!.emit("timeout");
      expect(served[0]!.destroyed).toBe(false);
    }
    while (!served[0]!.destroyed) {
      served[0]!.emit("timeout");
      await new Promise(setImmediate);
    }
    expect(bytes).toBeLessThan(BYTES);
  });
});

test("a client that offers only HTTP/1.0 is answered", async () => {
  const { https } = await start(shown);
  const asked = "GET /page HTTP/1.0\r\nHost: www.example.test\r\n\r\n";
  expect(await talk(https, asked, { ALPNProtocols: ["http/1.0"] })).toContain("https://www.example.test/page for ");
});

describe("further handles of a socket", () => {
  // Two sockets stand for two handles of one, which only processes can have.
  test.each([
    ["https", false],
    ["https", true],
    ["http", false],
    ["http", true],
  ] as const)(
    "accept connections like the first one, of %s, with the PROXY protocol: %s",
    async (scheme, usesProxyProtocol) => {
      const address = { host: "127.0.0.1", port: 0, scheme };
      const sockets = await openSockets([address, address], systemClock, () => false);
      const ports = sockets.map((socket) => Number(socket.address.split(":")[1]));
      const loopback = [readNetwork("127.0.0.1")!];
      let clientEnds: Promise<unknown> | undefined;
      const afterTheEnd: Answering = async (incoming) => {
        await clientEnds;
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
        return shown(incoming);
      };
      const proxied = usesProxyProtocol ? { usesProxyProtocol, trustedProxies: loopback } : {};
      const { listener } = await start(afterTheEnd, proxied);
      await listener.listen({ scheme, handles: sockets.map(({ handle }) => handle) });
      for (const port of ports) {
        const tcp = connectTcp(port, "127.0.0.1");
        stops.push(() => tcp.destroy());
        if (usesProxyProtocol) tcp.write("PROXY TCP4 198.51.100.7 203.0.113.1 40000 443\r\n");
        const client =
          scheme === "https" ? connect({ socket: tcp, servername: "localhost", rejectUnauthorized: false }) : tcp;
        clientEnds = once(client, "finish");
        client.end(GET); // it waits for its answer all the same
        let received = "";
        for await (const piece of client.setEncoding("latin1")) received += piece;
        expect(received).toContain(`/page for ${usesProxyProtocol ? "198.51.100.7" : "127.0.0.1"}`);
      }
      await listener.close(0);
      await expect(once(connectTcp(ports[1]!, "127.0.0.1"), "connect")).rejects.toThrow("ECONNREFUSED");
    },
  );

  test("share one limit of connections, including those in their handshakes", async () => {
    const address = { host: "127.0.0.1", port: 0, scheme: "https" } as const;
    const [first, second] = await openSockets([address, address], systemClock, () => false);
    const { listener } = await start(shown, { settings: { maxConnections: 1 } });
    await listener.listen({ scheme: "https", handles: [first!.handle, second!.handle] });
    const ended = Array.from({ length: 40 }, (_, at) => {
      const tcp = connectTcp(Number([first, second][at % 2]!.address.split(":")[1]), "127.0.0.1");
      stops.push(() => tcp.destroy());
      return once(
        tcp.resume().on("error", () => undefined),
        "close",
      );
    });
    await Promise.all(ended.slice(-1));
    expect(listener.connections).toBeLessThanOrEqual(12); // a tenth and ten more
  });
});

describe("the certificate", () => {
  const tls = {
    ticketSecret: "secret",
    certificates: [
      LOCALHOST,
      certificate(["www.example.test"], { kind: "rsa" }),
      certificate(["www.example.test", "*.shop.test"]),
      certificate(["rsa.test"], { kind: "rsa" }),
      certificate(["old.test"], { validUntil: new Date("2030-01-01") }),
      certificate(["old.test", "new.test"], { validUntil: new Date("2031-01-01") }),
      certificate(["expired.test"], { validUntil: new Date("2021-01-01") }),
      certificate(["expired.test", "rsa.expired.test"], { kind: "rsa" }),
    ],
  };

  test.each([
    ["www.example.test", "DNS:www.example.test, DNS:*.shop.test"],
    ["WWW.Example.TEST", "DNS:www.example.test, DNS:*.shop.test"],
    ["a.shop.test", "DNS:www.example.test, DNS:*.shop.test"],
    ["a.b.shop.test", "DNS:localhost"],
    ["shop.test", "DNS:localhost"],
    ["unknown.test", "DNS:localhost"],
    ["rsa.test", "DNS:rsa.test"],
    ["old.test", "DNS:old.test, DNS:new.test"],
    ["expired.test", "DNS:expired.test, DNS:rsa.expired.test"],
    ["", "DNS:localhost"],
  ])("for the name %j is that of %s", async (servername, expected) => {
    const { https } = await start(shown, { tls });
    expect(names(await connected(https, { servername }))).toBe(expected);
  });

  test("is not shown to clients that are too old", async () => {
    const { https } = await start(shown, { tls });
    const old = { maxVersion: "TLSv1.1", minVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
    await expect(connected(https, old)).rejects.toThrow(/version|protocol/i);
    const static_ = { maxVersion: "TLSv1.2", ciphers: "AES128-GCM-SHA256" } as const;
    await expect(connected(https, static_)).rejects.toThrow(/handshake/i);
  });
});

describe("a session of one worker", () => {
  const resumes = async (secrets: readonly [string, string], maxVersion: "TLSv1.2" | "TLSv1.3") => {
    const [one, two] = [await withSecret(secrets[0]), await withSecret(secrets[1])];
    const session = Promise.withResolvers<Buffer>();
    const first = await connected(one.https, { maxVersion }, session.resolve);
    first.write(GET);
    const second = await connected(two.https, { maxVersion, session: await session.promise });
    return second.isSessionReused();
  };
  const withSecret = (ticketSecret: string) => start(shown, { tls: { certificates: [LOCALHOST], ticketSecret } });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("is resumed by another one in %s", async (version) => {
    expect(await resumes(["shared", "shared"], version)).toBe(true);
  });
  test("is not resumed if the secret is different", async () => {
    expect(await resumes(["one", "other"], "TLSv1.3")).toBe(false);
  });
  test("has a key that changes with time", () => {
    expect(ticketKey("secret", 1)).toHaveLength(48);
    expect(ticketKey("secret", 1)).toEqual(ticketKey("secret", 1));
    expect(ticketKey("secret", 1)).not.toEqual(ticketKey("secret", 2));
    expect(ticketKey("secret", 1)).not.toEqual(ticketKey("other", 1));
  });
});

describe("Strict-Transport-Security", () => {
  const strictTransportSecurity = "max-age=31536000; includeSubDomains";
  const lines = (received: string) => received.match(/^strict-transport-security: .*(?=\r)/gim);
  const origins = answer("page", { "strict-transport-security": "max-age=1" });

  test.each([true, false])("is on all answers over TLS, and on no others (fast way: %s)", async (usesFastAnswers) => {
    const { https, http } = await start(() => origins, { strictTransportSecurity, usesFastAnswers });
    expect(lines(await talk(https, GET))).toEqual([`strict-transport-security: ${strictTransportSecurity}`]);
    expect(lines(await talk(https, GET.replace("www.example.test", "a b")))).toHaveLength(1);
    const long = GET.replace("/page", `/${"long".repeat(20_000)}`);
    for (const misread of [GET.replace("GET", "NO METHOD"), long, GET.replace("GET /page", "CONNECT a.test:1")]) {
      expect(lines(await talk(https, misread))).toHaveLength(1);
    }
    const plain = new RawClient(http);
    await plain.send(GET);
    await plain.closed;
    expect(lines(plain.received)).toEqual(["strict-transport-security: max-age=1"]);
    const misread = new RawClient(http);
    await misread.send("NO METHOD");
    await misread.closed;
    expect(misread.received).toContain("400 Bad Request");
    expect(lines(misread.received)).toBeNull();
  });

  test("is the origin's unless the owner sets one", async () => {
    const { https } = await start(() => origins);
    expect(lines(await talk(https, GET))).toEqual(["strict-transport-security: max-age=1"]);
  });
});

test("a client that speaks plain HTTP to a port for TLS is told so", async () => {
  const { https } = await start(() => answer("page"));
  const client = new RawClient(https);
  stops.push(() => client.destroy());
  await client.send(GET);
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*this port speaks TLS\. Ask with https\.\n$/s);
});

describe("a redirect to https", () => {
  const toHttps = { status: 308, port: 443, hosts: ["www.example.test"], publicHost: null } as const;
  const asked = async (where: Where, head: string) => {
    const client = new RawClient(where);
    stops.push(() => client.destroy());
    await client.send(`${head}\r\nConnection: close\r\n\r\n`);
    await client.closed;
    return client.received;
  };

  test.each([true, false])("goes to the same page (fast way: %s)", async (usesFastAnswers) => {
    const { http, https } = await start(shown, { toHttps, usesFastAnswers });
    const received = await asked(http, "GET /a?b=c HTTP/1.1\r\nHost: www.example.test");
    expect(received).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/);
    expect(received).toContain("\r\nlocation: https://www.example.test/a?b=c\r\n");
    expect(received).toContain("\r\ncache-control: no-store\r\n");
    expect(await talk(https, GET)).toMatch(/https:\/\/www\.example\.test\/page/);
  });
  test("also applies to requests with bodies and to the control plane", async () => {
    const { http } = await start(shown, { toHttps });
    const post = await asked(http, "POST /_tidemark/purge HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 0");
    expect(post).toContain("\r\nlocation: https://www.example.test/_tidemark/purge\r\n");
  });
  test("does not apply to health checks, which use the server's address", async () => {
    const { http } = await start(shown, { toHttps: { ...toHttps, publicHost: "www.example.test" } });
    const askedHere = (target: string) => asked(http, `${target} HTTP/1.1\r\nHost: 127.0.0.1:8080`);
    for (const path of ["/_tidemark/health", "/_tidemark/health?ready"]) {
      expect(await askedHere(`GET ${path}`)).toContain(`http://127.0.0.1:8080${path} for`);
      expect(await askedHere(`HEAD ${path}`)).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const other of ["POST /_tidemark/health", "GET /_tidemark/health?a", "GET /_tidemark/healthy", "GET /a"]) {
      expect(await askedHere(other)).toMatch(/^HTTP\/1\.1 308 /);
    }
  });
  test.each(["PURGE /a", "BAN /a"])("does not apply to %s, whose senders follow none", async (asking) => {
    const { http } = await start(shown, { toHttps });
    expect(await asked(http, `${asking} HTTP/1.1\r\nHost: www.example.test`)).toMatch(/^HTTP\/1\.1 200 /);
  });
  test("does not go to a host that is not the site's", async () => {
    const { http } = await start(shown, { toHttps });
    expect(await asked(http, "GET / HTTP/1.1\r\nHost: evil.test")).toContain("http://evil.test/ for");
  });
  test("does not apply to requests that came to a trusted proxy over https", async () => {
    const trustedProxies = [readNetwork("127.0.0.0/8")!];
    const head = "GET / HTTP/1.1\r\nHost: www.example.test\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: ";
    for (const usesFastAnswers of [true, false]) {
      const trusting = await start(shown, { toHttps, trustedProxies, usesFastAnswers });
      expect(await asked(trusting.http, `${head}https`)).toContain("https://www.example.test/ for 192.0.2.1");
      expect(await asked(trusting.http, `${head}http`)).toMatch(/^HTTP\/1\.1 308 /);
      const wary = await start(shown, { toHttps, usesFastAnswers });
      expect(await asked(wary.http, `${head}https`)).toMatch(/^HTTP\/1\.1 308 /);
    }
  });
});

describe("a connection with TLS", () => {
  test("carries several requests, and large bodies in both directions", async () => {
    const { https, listener } = await start(async ({ request }) => {
      if (request.body === null) return answer("x".repeat(3_000_000));
      const reader = nodeBodies.readThrough(request.body);
      let bytes = 0;
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) bytes += piece.byteLength;
      return answer(String(bytes));
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    stops.push(() => agent.destroy());
    const ask = async (method: string, body?: Buffer) => {
      const sent = httpsRequest({ ...https, method, agent, headers: { host: "a.test" } }).end(body);
      const [got] = await once(sent, "response");
      let text = "";
      for await (const piece of got) text += piece;
      return text;
    };
    expect(await ask("GET")).toHaveLength(3_000_000);
    expect(await ask("POST", Buffer.alloc(5_000_000))).toBe("5000000");
    expect(listener.connections).toBe(1);
  });

  test("shows that a body without a length was cut off", async () => {
    const { https } = await start(() => answer(streamed(["part"], null, true)));
    const socket = await connected(https);
    const failed = once(socket, "error");
    socket.write("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
    socket.resume();
    expect(await failed).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
  });

  test("gets an error when its head takes too long", async () => {
    const { https } = await start(shown, { settings: { headersTimeoutMs: 400 } });
    expect(await talk(https, "GET / HT")).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("on which no request begins is closed without an answer", async () => {
    const { https } = await start(shown, { settings: { headersTimeoutMs: 400 } });
    expect(await talk(https, "")).toBe("");
  });

  test("ends if its handshake takes too long", async () => {
    const { https, listener } = await start(shown, { settings: { headersTimeoutMs: 400 } });
    const client = new RawClient(https);
    await client.closed;
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
  });

  test("that leaves in its handshake is forgotten at once", async () => {
    const { https, listener } = await start(shown);
    const client = new RawClient(https);
    while (listener.connections === 0) await new Promise(setImmediate);
    client.socket.end();
    await client.closed;
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
  });

  test("whose client has closed its side gets the answer that it waits for", async () => {
    const { https } = await start(() => new Promise((resolve) => setImmediate(() => resolve(answer("late")))));
    const socket = await connected(https, { allowHalfOpen: true } as ConnectionOptions);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.end(GET);
    await once(socket, "end");
    expect(received).toMatch(/late$/);
  });

  test.each(["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x00\x05hello", "\x00".repeat(50)])(
    "that sends %j instead of a handshake is closed, and others are served",
    async (bytes) => {
      const { https, warnings } = await start(shown);
      const client = new RawClient(https);
      await client.send(bytes);
      await client.closed;
      expect(await talk(https, GET)).toContain("for 127.0.0.1");
      expect(warnings).toEqual([]);
    },
  );

  test("above the limit gets a 503", async () => {
    const { https } = await start(shown, { settings: { maxConnections: 1 } });
    const first = await connected(https);
    expect(await talk(https, GET)).toMatch(/^HTTP\/1\.1 503 /);
    first.destroy();
  });

  test("in HTTP/2 ends sooner when it is idle and none is free", async () => {
    const { https, listener } = await start(shown, { settings: { maxConnections: 1 } });
    const session = connectHttp2("https://localhost", {
      createConnection: () => connect({ ...https, rejectUnauthorized: false, ALPNProtocols: ["h2"] }),
    });
    stops.push(() => session.destroy());
    await once(session.request().resume(), "close");
    const ended = once(session, "close");
    listener.sweep(performance.now() + 6_000);
    await ended;
  });

  test("ends with the listener, in its handshake and when idle", async () => {
    const { https, listener } = await start(shown);
    const idle = await connected(https);
    const waiting = connectTcp(https);
    await once(waiting, "connect");
    waiting.on("error", () => undefined);
    while (listener.connections < 2) await new Promise(setImmediate);
    const closed = Promise.all([once(idle, "close"), once(waiting, "close")]);
    expect(await listener.close(0)).toEqual({ cutOff: 1 }); // no request can have come in a handshake
    await closed;
  });

  test("in its handshake is waited for when the listener stops, and answered", async () => {
    const { https, listener } = await start(shown);
    const tcp = connectTcp(https);
    await once(tcp, "connect");
    while (listener.connections === 0) await new Promise(setImmediate);
    const stopped = listener.close(60_000);
    const socket = connect({ socket: tcp, servername: "localhost", rejectUnauthorized: false });
    stops.push(() => socket.destroy());
    await once(socket, "secureConnect");
    socket.setEncoding("latin1").write(GET);
    expect((await once(socket, "data"))[0]).toContain("for 127.0.0.1");
    socket.end();
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("whose handshake ends long after the listener stopped ends, if no request comes", async () => {
    const { https, listener } = await start(shown);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const tcp = connectTcp(https);
    await once(tcp, "connect");
    while (listener.connections === 0) await new Promise(setImmediate);
    const stopped = listener.close(60_000);
    await vi.advanceTimersByTimeAsync(5_000);
    const socket = connect({ socket: tcp, servername: "localhost", rejectUnauthorized: false });
    stops.push(() => socket.destroy());
    await once(socket.resume(), "secureConnect");
    while (!socket.destroyed) {
      await turns(20);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("can become a tunnel", async () => {
    const { createServer } = await import("node:net");
    const origin = createServer((socket) => void socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(origin, "listening");
    stops.push(() => origin.close());
    const { https } = await start(() => {
      const socket = connectTcp((origin.address() as AddressInfo).port, "127.0.0.1");
      const fields = answer("", { upgrade: "websocket" }, 101).fields;
      return { ...answer(null, {}, 101), switchedTo: { fields, socket } };
    });
    const client = await connected(https);
    client.setEncoding("latin1");
    client.write("GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect((await once(client, "data"))[0]).toMatch(/^HTTP\/1\.1 101 /);
    client.write("ping");
    expect((await once(client, "data"))[0]).toBe("ping");
    client.end();
    await once(client, "close");
  });
});
