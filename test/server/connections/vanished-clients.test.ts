import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { turns } from "../../suite/turns.ts";
import { answer } from "../http1/running-listener.ts";
import { get as getInHttp2, PREFACE, settings } from "../http2/frames.ts";
import { exchange, resetUnaccepted } from "../raw-client.ts";
import { connected, startTlsListener, stopAll, stops, type Where } from "./tls-listener.ts";

afterEach(stopAll);

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const GET_IN_HTTP2 = PREFACE + settings() + getInHttp2(1);
const PROXY = "PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n";

/** The kernel's timer of the server's end: what runs, and the seconds until it is due. `null` if none runs. */
function timerOf({ port }: Where, clientPort: number): { readonly runs: string; readonly inSeconds: number } | null {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, "0");
  const ends = `:${hex(port)} [0-9A-F]+:${hex(clientPort)}`;
  const line = new RegExp(`${ends} \\S+ \\S+ (\\S\\S):(\\S+)`).exec(readFileSync("/proc/self/net/tcp", "utf8"));
  const [, kind, ticks] = line!;
  const runs = { "01": "retransmission", "02": "keep-alive" }[kind!];
  return runs === undefined ? null : { runs, inSeconds: Number.parseInt(ticks!, 16) / 100 };
}

async function tcp(where: Where) {
  const socket = connect(where);
  stops.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** A server whose requests are never answered. */
async function start(usesProxyProtocol = false) {
  const trustedProxies = usesProxyProtocol ? [readNetwork("127.0.0.1")!] : [];
  return await startTlsListener(() => new Promise(() => undefined), { usesProxyProtocol, trustedProxies });
}

/** A listener with two handles, by the second one. */
async function twoHandles() {
  const { listener } = await start();
  const held: Server[] = [createServer(), createServer()];
  for (const each of held) await once(each.listen(0, "127.0.0.1"), "listening");
  await listener.listen({ handles: held.map((each) => (each as unknown as { _handle: object })._handle) });
  return { host: "127.0.0.1", port: (held[1]!.address() as { port: number }).port };
}

describe.skipIf(platform() !== "linux")(
  "of a client that has vanished and to which nothing is sent (timers from /proc)",
  () => {
    test.each([
      { on: "a plain connection", open: async () => [(await start()).http, tcp, GET] as const },
      { on: "a connection with TLS", open: async () => [(await start()).https, connected, GET] as const },
      { on: "a connection of a proxy", open: async () => [(await start(true)).http, tcp, PROXY + GET] as const },
      { on: "a further handle", open: async () => [await twoHandles(), tcp, GET] as const },
    ])("the kernel finds out within a minute, on $on", async ({ open }) => {
      const [where, connecting, bytes] = await open();
      const socket = await connecting(where);
      socket.write(bytes);
      await expect.poll(() => timerOf(where, socket.localPort!)?.runs).toBe("keep-alive");
      expect(timerOf(where, socket.localPort!)!.inSeconds).toBeLessThanOrEqual(50);
    });
  },
);

describe("a request of a client that resets its connection before anybody has asked for its address", () => {
  const startCounting = async () => {
    const asked: (string | null)[] = [];
    const started = await startTlsListener(({ clientAddress }) => {
      asked.push(clientAddress);
      return answer("page");
    });
    return { ...started, asked };
  };

  test("is not answered, as if it came by a unix socket", async () => {
    const { http, asked, listener } = await startCounting();
    await resetUnaccepted(http, GET);
    await turns(20);
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
    expect(asked).toEqual([]);
  });

  test.each(["http/1.1", "h2"])("is not answered over TLS: %s", async (protocol) => {
    const { https, asked, listener } = await startCounting();
    const carrier = connect(https);
    const client = connectTls({ socket: carrier, rejectUnauthorized: false, ALPNProtocols: [protocol] });
    stops.push(() => client.destroy());
    const bytes = protocol === "h2" ? GET_IN_HTTP2 : GET;
    client.once("secureConnect", () => {
      client.write(bytes, "latin1"); // together with the end of the handshake
      carrier.resetAndDestroy();
    });
    await once(
      client.on("error", () => undefined),
      "close",
    );
    await turns(20);
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
    expect(asked).toEqual([]);
  });

  test("is answered on a unix socket", async () => {
    const { listener, asked } = await startCounting();
    const path = join(mkdtempSync(join(TEMPORARY_ROOT, "tidemark-")), "edge.sock");
    stops.push(() => rmSync(dirname(path), { recursive: true }));
    await listener.listen({ path });
    expect((await exchange({ path }, GET)).received).toMatch(/page$/);
    expect(asked).toEqual([null]);
  });
});

/** Clients, one after the other, whose request and reset come together with the end of their handshake, as from another machine. */
async function resetWithRequest(where: Where, bytes: string, clients: number): Promise<void> {
  const script = `const { workerData: { where, bytes, clients } } = require("node:worker_threads");
    const { connect } = require("node:net");
    const next = (left) => {
      if (left === 0) return;
      const carrier = connect(where);
      const client = require("node:tls").connect({ socket: carrier, rejectUnauthorized: false });
      client.on("error", () => undefined).once("close", () => next(left - 1)).once("secureConnect", () => {
        client.write(bytes);
        carrier.resetAndDestroy();
      });
    };
    next(clients);`;
  await once(new Worker(script, { eval: true, workerData: { where, bytes, clients } }), "exit");
}

test("a client over TLS that resets its connection, of which Node may lose the error, leaves no answer that waits for it", async () => {
  const { https, listener } = await startTlsListener(async () => {
    await turns(5);
    return answer("page");
  });
  await resetWithRequest(https, GET, 200);
  while (listener.connections > 0) {
    await turns(20);
    listener.sweep(performance.now());
  }
});
