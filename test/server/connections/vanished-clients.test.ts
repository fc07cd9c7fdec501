import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { platform } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { connected, startTlsListener, stopAll, stops, type Where } from "./tls-listener.ts";

afterEach(stopAll);

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
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
