import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ListenerSettings } from "../../../server/connections/listener.ts";
import { answer } from "../http1/running-listener.ts";
import { statuses } from "../raw-client.ts";
import { connected, startTlsListener, stopAll, stops } from "./tls-listener.ts";

/* Connections that have had an answer, and count as idle after 75 s. Time passes for the listener's sweeps alone. */

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n";

/** The connections that servers of this process have accepted. */
const accepted: Socket[] = [];
const onAccepted = (message: unknown) => void accepted.push((message as { readonly socket: Socket }).socket);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }); // by which a listener sweeps itself
  accepted.length = 0;
  subscribe("net.server.socket", onAccepted);
});

afterEach(async () => {
  unsubscribe("net.server.socket", onAccepted);
  await stopAll();
  vi.useRealTimers();
});

describe.each([
  { over: "plain", isOverTls: false, usesFastAnswers: true },
  { over: "plain, by Node's own objects", isOverTls: false, usesFastAnswers: false },
  { over: "TLS", isOverTls: true, usesFastAnswers: true },
  { over: "TLS, by Node's own objects", isOverTls: true, usesFastAnswers: false },
])("over $over", ({ isOverTls, usesFastAnswers }) => {
  async function start(first: string, more: Partial<ListenerSettings> = {}) {
    const settings = { keepAliveMs: 75_000, headersTimeoutMs: 60_000, ...more };
    const { listener, http, https } = await startTlsListener(() => answer("page"), { usesFastAnswers, settings });
    const socket = isOverTls ? await connected(https) : connect(http);
    stops.push(() => socket.destroy());
    const closed = once(socket, "close");
    let received = "";
    socket.setEncoding("latin1").on("data", (text) => {
      received += text;
    });
    const startedAt = Math.round(performance.now()); // sums of fractions may lose their last digits
    const sweepAt = (second: number) => listener.sweep(startedAt + (1000 + second) * 1000);
    /** Sends bytes, and waits until they have been read, or the connection has ended. */
    const send = async (bytes: string) => {
      const [server] = accepted;
      const before = server?.bytesRead ?? 0;
      socket.write(bytes);
      while (!socket.destroyed && (accepted[0]?.bytesRead ?? 0) === before) await new Promise(setImmediate);
      await new Promise(setImmediate);
    };
    const answered = async (count: number) => {
      while (!socket.destroyed && statuses(received).length < count) await new Promise(setImmediate);
      expect(statuses(received)).toEqual(Array(count).fill(200));
    };
    await send(first);
    await answered(1);
    sweepAt(0);
    return { socket, closed, sweepAt, send, answered };
  }

  test("a client that sends empty lines is idle", async () => {
    const { socket, closed, sweepAt, send } = await start(GET);
    for (let second = 5; second < 75; second += 5) {
      await send("\r\n");
      sweepAt(second);
    }
    expect(socket.destroyed).toBe(false);
    await send("\r\n");
    sweepAt(75);
    await closed;
  });

  test("a request behind empty lines restarts the time", async () => {
    const { closed, sweepAt, send, answered } = await start(GET);
    await send("\r\n");
    sweepAt(74);
    await send(GET);
    await answered(2);
    sweepAt(75);
    sweepAt(149);
    await send(GET);
    await answered(3);
    sweepAt(150);
    sweepAt(225);
    await closed;
  });

  test("a client whose head is arriving is not idle", async () => {
    const { sweepAt, send, answered } = await start(GET);
    sweepAt(70);
    await send(GET.slice(0, 10));
    for (const second of [71, 75, 130]) sweepAt(second);
    await send(GET.slice(10));
    await answered(2);
  });

  test("a client that stops in its head keeps no place for long on a server that is full", async () => {
    const { closed, sweepAt, send } = await start(GET, { maxConnections: 1 });
    await send("G");
    sweepAt(1);
    sweepAt(6);
    await closed;
  });

  test("a client is not idle while the rest of an answered upload comes", async () => {
    const { closed, sweepAt, send, answered } = await start(POST);
    for (const second of [50, 100]) {
      await send("x".repeat(50));
      sweepAt(second);
    }
    await send(GET);
    await answered(2);
    sweepAt(150);
    sweepAt(225);
    await closed;
  });
});
