import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { ListenerSettings } from "../../../server/connections/listener.ts";
import type { Connection } from "../../../server/http1/connection.ts";
import type { NodeRequest } from "../../../server/http1/node-request.ts";
import type { ClientRequest } from "../../../worker/ports/answer.ts";
import { turns } from "../../suite/turns.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { exchange, RawClient } from "../raw-client.ts";
import { type Answering, answer, type RunningListener, startTestListener } from "./running-listener.ts";

let running: RunningListener;

afterEach(async () => {
  vi.useRealTimers();
  await running.stop();
});

async function textOf({ body }: ClientRequest): Promise<string> {
  if (body === null) return "(none)";
  const reader = nodeBodies.readThrough(body);
  let text = "";
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
    text += Buffer.from(piece).toString("latin1");
  }
  return text;
}

const echo: Answering = async ({ request }) => answer(await textOf(request));
const lines = (...each: string[]) => [...each, "", ""].join("\r\n");
const POST = ["POST / HTTP/1.1", "Host: localhost"];

test("a body with a length and one in chunks are read as they came", async () => {
  running = await startTestListener(echo);
  const { received } = await exchange(
    running.where,
    `${lines(...POST, "Content-Length: 5")}hello`,
    `${lines(...POST, "Transfer-Encoding: chunked")}3\r\nabc\r\n`,
    `2\r\nde\r\n0\r\n\r\n`,
    lines(...POST, "Content-Length: 0"),
  );
  expect(received.match(/hello|abcde|\(none\)/g)).toEqual(["hello", "abcde", "(none)"]);
});

test("whether a body was read is known", async () => {
  const used: boolean[] = [];
  running = await startTestListener(async ({ request }) => {
    used.push(request.bodyUsed);
    await textOf(request);
    used.push(request.bodyUsed);
    return answer("page");
  });
  await exchange(running.where, `${lines(...POST, "Content-Length: 5")}hello`);
  expect(used).toEqual([false, true]);
});

test("a body that is cut off is an error for its reader", async () => {
  const failed = Promise.withResolvers<unknown>();
  running = await startTestListener(async ({ request }) => {
    await textOf(request).catch(failed.resolve);
    return answer("page");
  });
  const client = new RawClient(running.where);
  await client.send(`${lines(...POST, "Content-Length: 5")}he`);
  client.socket.end();
  expect(await failed.promise).toBeInstanceOf(Error);
  await client.closed;
});

test.each([
  ["of which little is missing", "Content-Length: 5", "he"],
  ["of which much is missing", "Content-Length: 3000000", "he"],
  ["in chunks", "Transfer-Encoding: chunked", "2\r\nhe\r\n"],
])("a body %s is an error for its reader, too, if its client leaves once it has its answer", async (_, field, sent) => {
  const read = Promise.withResolvers<string>();
  running = await startTestListener(({ request }) => {
    if (request.body !== null) void textOf(request).then(read.resolve, read.reject);
    return answer("refused", {}, 401);
  });
  const client = new RawClient(running.where);
  await client.send(`${lines("GET / HTTP/1.1", "Host: localhost")}${lines(...POST, field)}${sent}`);
  await client.until((text) => text.match(/refused/g)?.length === 2);
  client.socket.resetAndDestroy();
  await expect(read.promise).rejects.toThrow("hung up");
});

test("a body that its client ends early behind its answer is an error for its reader, and gets no second answer", async () => {
  const read = Promise.withResolvers<string>();
  running = await startTestListener(({ request }) => {
    void textOf(request).then(read.resolve, read.reject);
    return answer("refused", {}, 401);
  });
  const client = new RawClient(running.where);
  await client.send(`${lines(...POST, "Content-Length: 5")}he`);
  await client.until((text) => text.includes("refused"));
  client.socket.end();
  await expect(read.promise).rejects.toThrow("cut off");
  await client.closed;
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
});

test("a body that its client ends early behind the beginning of the last answer is an error for its reader", async () => {
  const read = Promise.withResolvers<string>();
  const none = () => undefined;
  const body = new PushedBody(null, { pause: none, resume: none, cancel: none });
  body.push(Buffer.from("begun"));
  running = await startTestListener(({ request }) => {
    void textOf(request).then(read.resolve, read.reject);
    return answer(body);
  });
  const client = new RawClient(running.where);
  await client.send(`${lines(...POST, "Transfer-Encoding: chunked")}2\r\nhe\r\n`);
  await client.until((text) => text.includes("begun"));
  client.socket.end();
  await expect(read.promise).rejects.toThrow("cut off");
  body.end();
  await client.closed;
  expect(client.received).toMatch(/\r\n0\r\n\r\n$/);
});

test("a body that has come whole is read to its end, though its client leaves before that", async () => {
  const goOn = Promise.withResolvers<void>();
  const read = Promise.withResolvers<string>();
  running = await startTestListener(({ request }) => {
    const reader = nodeBodies.readThrough(request.body!);
    const readLater = async () => {
      await goOn.promise;
      let text = "";
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) text += Buffer.from(piece);
      return text;
    };
    void readLater().then(read.resolve, read.reject);
    return answer("refused", {}, 401);
  });
  const client = new RawClient(running.where);
  const total = 1100; // More pieces than wait for a reader.
  await client.send(`${lines(...POST, "Transfer-Encoding: chunked")}${"1\r\nx\r\n".repeat(total)}0\r\n\r\n`);
  await client.until((text) => text.includes("refused"));
  client.destroy();
  await new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
  goOn.resolve();
  expect(await read.promise).toHaveLength(total);
});

test("a 100 is sent once the body is wanted, and not before", async () => {
  const wanted = Promise.withResolvers<void>();
  running = await startTestListener(async ({ request }) => {
    await wanted.promise;
    return answer(await textOf(request));
  });
  const client = new RawClient(running.where);
  await client.send(lines(...POST, "Content-Length: 5", "Expect: 100-Continue"));
  await client.send("");
  expect(client.received).toBe("");
  wanted.resolve();
  expect(await client.until((text) => text.endsWith("\r\n\r\n"))).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  await client.send("hello");
  expect(await client.until((text) => text.endsWith("hello"))).toContain("connection: keep-alive");
  client.destroy();
});

test("a refusal of a body that was announced comes without a 100, and ends the connection", async () => {
  running = await startTestListener(() => answer("too large", {}, 413));
  const client = new RawClient(running.where);
  await client.send(lines(...POST, "Content-Length: 5", "Expect: 100-continue"));
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 413 /);
  expect(client.received).toContain("connection: close");
});

test("HTTP/1.0 knows no 100", async () => {
  running = await startTestListener(echo);
  const { received } = await exchange(
    running.where,
    `${lines("POST / HTTP/1.0", "Host: localhost", "Content-Length: 5", "Expect: 100-continue")}hello`,
  );
  expect(received).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(received).toContain("hello");
});

test("what is left of a small body that nobody reads is dropped, and the connection goes on", async () => {
  running = await startTestListener(() => answer("page"));
  const { received } = await exchange(
    running.where,
    `${lines(...POST, "Content-Length: 5")}he`,
    `llo${lines("GET / HTTP/1.1", "Host: localhost")}`,
  );
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

test("a client that is still sending a large body can read the refusal", async () => {
  running = await startTestListener(() => answer("too large", {}, 413));
  const client = new RawClient(running.where);
  await client.send(lines(...POST, "Content-Length: 3000000"));
  await client.until((text) => text.includes("too large"));
  for (let sent = 0; sent < 3_000_000; sent += 100_000) await client.send("x".repeat(100_000));
  client.socket.end();
  await client.closed;
  expect(client.received).toContain("too large");
  expect(client.received).toContain("connection: close");
  expect(client.end).toBe("ended");
});

test("a large body is read only as fast as its reader takes it", async () => {
  const goOn = Promise.withResolvers<void>();
  let bytes = 0;
  running = await startTestListener(async ({ request }) => {
    const reader = nodeBodies.readThrough(request.body!);
    await reader.next();
    await goOn.promise;
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) bytes += piece.byteLength;
    return answer("page");
  });
  const client = new RawClient(running.where);
  const total = 40_000_000; // More than the kernel holds.
  await client.send(lines(...POST, `Content-Length: ${total}`));
  let isSent = false;
  const sending = client.send("x".repeat(total)).then(() => {
    isSent = true;
  });
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(isSent).toBe(false);
  goOn.resolve();
  await sending;
  await client.until((text) => text.includes("page"));
  expect(bytes).toBeGreaterThan(total - 1_000_000);
  client.destroy();
});

describe("bodies in one-byte chunks take little more memory than their bytes", () => {
  const CLIENTS = 4;
  const CHUNKS = 60_000; // Of more than 64 KiB, the rest may not be read.
  const MAX_GROWTH_BYTES = 5_000_000;
  const chunks = "1\r\nx\r\n".repeat(CHUNKS);
  const inChunks = lines(...POST, "Transfer-Encoding: chunked");
  const getLarge = lines("GET /large HTTP/1.1", "Host: localhost");
  const large = answer("x".repeat(8_000_000)); // More than the kernel holds.

  /** Clients that have sent this and read nothing, and what they make the process hold. */
  async function hold(answering: Answering, sent: string, settings?: ListenerSettings) {
    const sockets = new Set<Socket>();
    const onRequest = (message: unknown) => sockets.add((message as { readonly socket: Socket }).socket);
    subscribe("http.server.request.start", onRequest);
    onTestFinished(() => void unsubscribe("http.server.request.start", onRequest));
    const either: Answering = (incoming) => (incoming.url.endsWith("/large") ? large : answering(incoming));
    running = await startTestListener(either, { settings });
    const clients = Array.from({ length: CLIENTS }, () => new RawClient(running.where));
    onTestFinished(() => {
      for (const client of clients) client.destroy();
    });
    const before = usedHeapBytes();
    for (const client of clients) {
      client.socket.pause();
      void client.send(sent);
    }
    const readBytes = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    for (let read = -1; sockets.size < CLIENTS || read < readBytes(); await turns(100)) read = readBytes();
    return { clients, readBytes: readBytes(), grownBytes: usedHeapBytes() - before };
  }

  test.each<[string, boolean]>([
    ["of which nobody has read anything yet", false],
    ["whose reader stops after the first piece", true],
  ])("%s", async (_, isBegun) => {
    const goOn = Promise.withResolvers<void>();
    const reads: Answering = async ({ request }) => {
      const reader = nodeBodies.readThrough(request.body!);
      let bytes = isBegun ? (await reader.next())!.byteLength : 0;
      await goOn.promise;
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) bytes += piece.byteLength;
      return answer(`${bytes} bytes`);
    };
    const { clients, readBytes, grownBytes } = await hold(reads, inChunks + chunks);
    expect(readBytes).toBe(CLIENTS * (inChunks.length + chunks.length));
    expect(grownBytes).toBeLessThan(MAX_GROWTH_BYTES);
    goOn.resolve();
    for (const client of clients) {
      await client.send("0\r\n\r\n");
      client.socket.resume();
      expect(await client.until((text) => text.includes("bytes"))).toContain(`${CHUNKS} bytes`);
    }
  });

  test("behind an answer that their clients do not read", async () => {
    const { grownBytes } = await hold(echo, getLarge + inChunks + chunks);
    expect(grownBytes).toBeLessThan(MAX_GROWTH_BYTES);
  });

  test("behind the last answer of a connection", async () => {
    const { grownBytes } = await hold(echo, getLarge + inChunks + chunks, { maxRequestsPerConnection: 1 });
    expect(grownBytes).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

/** Moves the timer of a connection into virtual time, where arriving bytes do not restart it. */
function virtualTimer(socket: Socket): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let timer: NodeJS.Timeout | undefined;
  socket.setTimeout = (ms) => {
    clearTimeout(timer);
    if (ms > 0) timer = setTimeout(() => socket.emit("timeout"), ms);
    return socket;
  };
}

test("a client has the whole time to go on with its body each time that somebody wants more of it", async () => {
  const stallMs = 60_000;
  const waiting = 70_000; // More bytes than wait for a reader.
  const began = Promise.withResolvers<void>();
  const wanted = Promise.withResolvers<void>();
  running = await startTestListener(
    async ({ request }) => {
      const connection = (request as NodeRequest).client as Connection;
      const { socket } = connection;
      virtualTimer(socket);
      connection.watchStall(); // as for an earlier answer
      vi.advanceTimersByTime(stallMs - 1);
      const reader = nodeBodies.readThrough(request.body!);
      let bytes = 0;
      const read = async () => {
        bytes += (await reader.next())!.byteLength;
      };
      const first = read();
      vi.advanceTimersByTime(1);
      began.resolve();
      await first;
      while (socket.bytesRead < waiting) await turns(1);
      vi.advanceTimersByTime(2 * stallMs - 2);
      while (bytes <= waiting) await read();
      vi.advanceTimersByTime(1);
      wanted.resolve();
      await read();
      return answer(`${bytes} bytes`);
    },
    { settings: { stallMs } },
  );
  const client = new RawClient(running.where);
  await client.send(lines(...POST, `Content-Length: ${waiting + 2}`));
  await began.promise;
  await client.send("x");
  await turns(5);
  await client.send("x".repeat(waiting));
  await Promise.race([wanted.promise, client.closed]);
  await client.send("x");
  expect(await client.until((text) => text.includes("bytes"))).toContain(`${waiting + 2} bytes`);
  client.destroy();
});
