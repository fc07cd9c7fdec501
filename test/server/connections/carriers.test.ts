import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { connect, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { Carriers, carrierOf } from "../../../server/connections/carriers.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { LOCALHOST, stopAll, stops } from "./tls-listener.ts";

afterEach(stopAll);

/** Opens connections to a server with TLS: their carriers, and what joins them, each in the order of their handshakes. */
async function handshakes(count: number, carriers: Carriers) {
  const encrypted: TLSSocket[] = [];
  const inner = createTlsServer({ cert: LOCALHOST.chain, key: LOCALHOST.key });
  inner.on("connection", (carrier: Socket) => carriers.add(carrier));
  const all = new Promise<void>((resolve) => {
    inner.on("secureConnection", (socket) => {
      encrypted.push(socket);
      if (encrypted.length === count) resolve();
    });
  });
  const server = createServer((socket) => inner.emit("connection", socket));
  await listenLocally(server);
  stops.push(() => server.close());
  const port = Number(new URL(localUrl(server)).port);
  for (let client = 0; client < count; client++) {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    socket.on("error", () => undefined);
    stops.push(() => socket.destroy());
  }
  await all;
  return encrypted;
}

describe("the TCP connection below TLS", () => {
  test.each([
    ["as Node keeps it", false],
    ["by its two ends, where Node keeps none", true],
  ])("is found %s", async (_, isForgotten) => {
    const carriers = new Carriers(() => undefined);
    const encrypted = await handshakes(3, carriers);
    expect(carriers.handshaking).toBe(3);
    for (const socket of encrypted) {
      if (isForgotten) Object.assign(socket, { _parent: null });
      carriers.join(socket, () => undefined);
      expect(carrierOf(socket)).not.toBe(socket);
      expect(carrierOf(socket).remotePort).toBe(socket.remotePort);
    }
    expect(carriers.handshaking).toBe(0);
    expect(new Set(encrypted.map(carrierOf)).size).toBe(3);
  });

  test("is forgotten when it ends", async () => {
    let left = 0;
    const carriers = new Carriers(() => void left++);
    const [socket] = (await handshakes(1, carriers)) as [TLSSocket];
    const closed = once(socket, "close");
    carriers.destroyAll();
    await closed;
    expect([carriers.handshaking, left]).toEqual([0, 1]);
  });
});
