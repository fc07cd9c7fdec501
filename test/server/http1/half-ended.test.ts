import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { Listener } from "../../../server/connections/listener.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { turns } from "../../suite/turns.ts";
import { connected, startTlsListener, stopAll } from "../connections/tls-listener.ts";
import { RawClient, statuses } from "../raw-client.ts";
import { answer, startTestListener } from "./running-listener.ts";

/*
 * Clients that have ended their half of the connection. Some still read, such as `printf … | nc`; others are gone, and
 * only the second write shows which.
 */

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await stopAll();
});

const none = () => undefined;

/** The body of an answer that goes on when the test says so. */
function openBody() {
  const cancelled = Promise.withResolvers<void>();
  const body = new PushedBody(null, { pause: none, resume: none, cancel: () => cancelled.resolve() });
  const push = (piece: string) => body.push(Buffer.from(piece, "latin1"));
  return { body, push, cancelled: cancelled.promise };
}

/** An edge that answers each path in its own way, and tells when a client has ended its half. */
function edge(pages: Readonly<Record<string, () => EdgeAnswer | Promise<EdgeAnswer>>>) {
  const left = Promise.withResolvers<void>();
  return {
    left: left.promise,
    answering: ({ request, url }: { request: { onceLeft?(tell: () => void): unknown }; url: string }) => {
      request.onceLeft!(left.resolve);
      return pages[new URL(url).pathname]!();
    },
  };
}

const get = (path: string, version = "1.1") => `GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`;

describe.each([
  ["the fast way", true],
  ["the plain way", false],
])("a client that has ended its half, in %s,", (_, usesFastAnswers) => {
  async function start(pages: Parameters<typeof edge>[0]) {
    const { answering, left } = edge(pages);
    const running = await startTestListener(answering, { usesFastAnswers });
    const one = new RawClient(running.where);
    ends.push(
      () => running.stop(),
      () => one.destroy(),
    );
    const startedAt = performance.now();
    return { one, left, sweepAt: (second: number) => running.listener.sweep(startedAt + second * 1000) };
  }

  test.each([
    ["1.0", "close", "reset"],
    ["1.0", "keep-alive", "reset"],
    ["1.1", "close", "ended"],
    ["1.1", "keep-alive", "ended"],
  ])(
    "is sent a stream while that goes on, and cut off once it is silent (HTTP/%s, %s)",
    async (version, connection, end) => {
      const { body, push, cancelled } = openBody();
      const { one, left, sweepAt } = await start({ "/stream": () => answer(body) });
      await one.send(get("/stream", version).replace("\r\n\r\n", `\r\nConnection: ${connection}\r\n\r\n`));
      push("first");
      await one.until((text) => text.includes("first"));
      sweepAt(0);
      sweepAt(600); // It has not ended its half.
      one.socket.end();
      await left;
      sweepAt(1000);
      push("second");
      await one.until((text) => text.includes("second"));
      sweepAt(1005);
      sweepAt(1008);
      push("third");
      await one.until((text) => text.includes("third"));
      sweepAt(1010);
      sweepAt(1015);
      await cancelled;
      await one.closed;
      expect(one.end).toBe(end);
      expect(one.received.endsWith("0\r\n\r\n")).toBe(false);
    },
  );

  test("waits for an answer that has not begun, also where one behind it has", async () => {
    const { body, push } = openBody();
    const slow = Promise.withResolvers<EdgeAnswer>();
    const { one, left, sweepAt } = await start({ "/slow": () => slow.promise, "/stream": () => answer(body) });
    await one.send(get("/slow") + get("/stream"));
    one.socket.end();
    push("first");
    await left;
    await turns(5);
    sweepAt(0);
    sweepAt(600);
    slow.resolve(answer("slow page"));
    await one.until((text) => text.includes("first"));
    push("last");
    body.end();
    await one.closed;
    expect(statuses(one.received)).toEqual([200, 200]);
    expect(one.received).toMatch(/slow page.*first.*last\r\n0\r\n\r\n$/s);
    expect(one.end).toBe("ended");
  });

  test("may read slowly", async () => {
    const { body, push } = openBody();
    const { one, left, sweepAt } = await start({ "/large": () => answer(body) });
    one.socket.pause();
    await one.send(get("/large"));
    push("x".repeat(20_000_000)); // more than the kernel takes at once
    one.socket.end();
    await left;
    sweepAt(0);
    sweepAt(50);
    body.end();
    one.socket.resume();
    await one.closed;
    expect(one.received.endsWith("x\r\n0\r\n\r\n")).toBe(true);
    expect(one.end).toBe("ended");
  });

  test("gets what was sent before the silence, however late it reads", async () => {
    const { body, push, cancelled } = openBody();
    const { one, left, sweepAt } = await start({ "/large": () => answer(body) });
    one.socket.pause();
    await one.send(get("/large"));
    push(`${"x".repeat(200_000)}y`);
    one.socket.end();
    await left;
    sweepAt(0);
    sweepAt(5);
    await cancelled;
    one.socket.resume();
    await one.closed;
    expect(one.received).toContain("xy");
  });

  test.each(["TLS", "a unix socket"])("is not waited for once the answer is silent, also over %s", async (way) => {
    const { body, push, cancelled } = openBody();
    const { answering, left } = edge({ "/stream": () => answer(body) });
    const { https, listener } = await startTlsListener(answering, { usesFastAnswers });
    const one = way === "TLS" ? await connected(https, HALF_OPEN) : await unixClient(listener);
    one.on("error", none);
    const begun = new Promise((resolve) => one.once("data", resolve));
    one.write(get("/stream"));
    push("first");
    await begun;
    one.end();
    await left;
    const now = performance.now();
    listener.sweep(now);
    listener.sweep(now + 5000);
    await cancelled;
  });
});

/** Node passes it on to the connection below TLS, which its types do not say. */
const HALF_OPEN: object = { allowHalfOpen: true };

async function unixClient(listener: Listener): Promise<Socket> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-half-ended-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "socket");
  await listener.listen({ path });
  const { socket } = new RawClient({ path });
  ends.push(() => socket.destroy());
  return socket;
}
