import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { Listener, type ListenerParts } from "../../../server/connections/listener.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { inGate } from "../../suite/depth.ts";
import { type Answering, answer, type RunningListener, startTestListener } from "../http1/running-listener.ts";
import { exchange, RawClient, statuses } from "../raw-client.ts";

const open: RunningListener[] = [];
const clients: RawClient[] = [];

async function start(answering: Answering, parts: Partial<ListenerParts> = {}): Promise<RunningListener> {
  const running = await startTestListener(answering, parts);
  open.push(running);
  return running;
}

function client({ where }: RunningListener): RawClient {
  const made = new RawClient(where);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const each of clients.splice(0)) each.destroy();
  for (const running of open.splice(0)) await running.stop();
  vi.useRealTimers();
});

/** The time of the listener is the test's from now on, but for what Node itself waits. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
}

/** Lets the time of the listener pass, and what was due in it happen. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** What was sent is read within it, also if the process does not run for a while. Node itself, and the sweep, take this time. */
const READ_WITHIN_MS = 400;
const count = (text: string, part: string) => text.split(part).length - 1;

/** Answers that are given when the test says so, in the order of the requests. */
function held() {
  const waiting: ((answer: EdgeAnswer) => void)[] = [];
  const changed: (() => void)[] = [];
  return {
    answering: () =>
      new Promise<EdgeAnswer>((resolve) => {
        waiting.push(resolve);
        for (const each of changed.splice(0)) each();
      }),
    get asked() {
      return waiting.length;
    },
    answer: (index: number, with_: EdgeAnswer = answer(`page ${index}`)) => waiting[index]!(with_),
    until: async (asked: number) => {
      while (waiting.length < asked) await new Promise<void>((resolve) => changed.push(resolve));
    },
  };
}

test("a client that closes its side still gets the answer that it waits for", async () => {
  const pages = held();
  const running = await start(pages.answering);
  const one = client(running);
  await one.send(GET);
  one.socket.end();
  await pages.until(1);
  pages.answer(0);
  await one.closed;
  expect(one.received).toContain("page 0");
  expect(one.end).toBe("ended");
});

test("pipelined requests are answered in order, whichever is ready first", async () => {
  const pages = held();
  const one = client(await start(pages.answering));
  await one.send(GET.repeat(3));
  await pages.until(3);
  pages.answer(2);
  pages.answer(1);
  pages.answer(0);
  const received = await one.until((text) => text.includes("page 2"));
  expect(received.match(/page \d/g)).toEqual(["page 0", "page 1", "page 2"]);
});

test("an answer that ends the connection waits for earlier answers", async () => {
  const pages = held();
  const one = client(await start(({ url }) => (url.endsWith("/held") ? pages.answering() : answer("last"))));
  await one.send(GET.replace("/", "/held").repeat(2) + GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await pages.until(2);
  pages.answer(0);
  pages.answer(1);
  await one.closed;
  expect(one.received.match(/page \d|last/g)).toEqual(["page 0", "page 1", "last"]);
});

test("a graceful stop answers all requests that came on a connection", async () => {
  const pages = held();
  const running = await start(pages.answering);
  const one = client(running);
  await one.send(GET.repeat(3));
  await pages.until(3);
  const stopped = running.listener.close(10_000);
  for (const index of [1, 2, 0]) pages.answer(index);
  await one.closed;
  expect(one.received.match(/page \d/g)).toEqual(["page 0", "page 1", "page 2"]);
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("at most 32 requests of a connection are in work at a time, and all are answered", async () => {
  const pages = held();
  const one = client(await start(pages.answering));
  await one.send(GET.repeat(100));
  await pages.until(32);
  await new Promise(setImmediate);
  expect(pages.asked).toBe(32);
  for (let at = 0; at < 100; at++) {
    await pages.until(at + 1);
    expect(pages.asked).toBeLessThanOrEqual(at + 32);
    pages.answer(at);
  }
  const received = await one.until((text) => text.includes("page 99"));
  expect(count(received, "HTTP/1.1 200 OK")).toBe(100);
});

test.each([true, false])(
  "a pipeline of 1,500 requests makes Node's objects only as it is answered (fast way: %s)",
  { tags: ["deep"] },
  async (usesFastAnswers) => {
    let read = 0;
    const onRead = () => void read++;
    subscribe("http.server.request.start", onRead);
    const pages = held();
    const one = client(await start(pages.answering, { usesFastAnswers }));
    await one.send(GET.repeat(1_500));
    await pages.until(32);
    for (let at = 0; at < 1_500; at++) {
      await pages.until(at + 1);
      expect(read).toBeLessThanOrEqual(at + 100);
      pages.answer(at);
    }
    const received = await one.until((text) => text.includes("page 1499"));
    unsubscribe("http.server.request.start", onRead);
    const numbers = Array.from({ length: 1_500 }, (_, at) => `page ${at}`);
    expect(received.match(/page \d+/g)).toEqual(numbers);
    expect(read).toBe(1_500);
  },
);

test.each([true, false])(
  "a WebSocket request behind a pipeline gets its own answer (fast way: %s)",
  async (usesFastAnswers) => {
    const one = client(await start(() => Promise.resolve(answer("page")), { usesFastAnswers }));
    const upgrade = GET.replace("\r\n\r\n", "\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    await one.send(GET.repeat(100) + upgrade);
    await one.closed;
    expect(count(one.received, "HTTP/1.1 200 OK")).toBe(100);
    expect(count(one.received, "HTTP/1.1 400 ")).toBe(1);
  },
);

describe.each([true, false])("behind a pipeline of large hits (fast way: %s)", (usesFastAnswers) => {
  const many = 100;
  const startLarge = () => start(() => answer("x".repeat(100_000)), { usesFastAnswers });

  test("the next request is read and answered", async () => {
    const one = client(await startLarge());
    await one.send(GET.repeat(many));
    await one.until(() => one.bytes > many * 100_000);
    await one.send(GET);
    await one.until(() => one.bytes > (many + 1) * 100_000);
    expect(count(one.received, "HTTP/1.1 200 OK")).toBe(many + 1);
  });

  test("the client's end ends the connection", async () => {
    const { received, end } = await exchange((await startLarge()).where, GET.repeat(many));
    expect(count(received, "HTTP/1.1 200 OK")).toBe(many);
    expect(end).toBe("ended");
  });
});

test("a client that sends 1,000 requests with bodies and waits for no answer is cut off", async () => {
  const pages = held();
  const running = await start(pages.answering, { usesFastAnswers: true });
  const one = client(running);
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
  await one.send(post.repeat(1_000));
  await one.closed;
  const other = client(running);
  await other.send(GET);
  await pages.until(33);
  pages.answer(32);
  expect(await other.until((text) => text.includes("page"))).toContain("page 32");
});

describe.each([true, false])("requests behind the last answer of a connection (fast way: %s)", (usesFastAnswers) => {
  /** How many requests Node has made objects for, and the connection of the first one. */
  const read: { requests: number; first: Socket | undefined } = { requests: 0, first: undefined };
  const onRead = (message: unknown) => {
    read.requests++;
    read.first ??= (message as { readonly socket: Socket }).socket;
  };
  beforeEach(() => {
    Object.assign(read, { requests: 0, first: undefined });
    subscribe("http.server.request.start", onRead);
  });
  afterEach(() => unsubscribe("http.server.request.start", onRead));

  /** A client that waits for a page whose end is that of the connection. */
  async function askForPage() {
    const none = () => undefined;
    const page = new PushedBody(null, { pause: none, resume: none, cancel: none });
    const pages = held();
    const one = client(await start(pages.answering, { usesFastAnswers }));
    await one.send("GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    await pages.until(1);
    pages.answer(0, answer(page));
    page.push(Buffer.from("first part"));
    await one.until((text) => text.includes("first part"));
    return { one, page, pages };
  }

  test("are read and dropped", async () => {
    const { one, page, pages } = await askForPage();
    const before = read.first!.bytesRead;
    const pipeline = GET.repeat(20_000);
    void one.send(pipeline);
    while (read.first!.bytesRead < before + pipeline.length) await new Promise(setImmediate);
    expect(read.requests).toBeLessThan(50);
    page.push(Buffer.from(", and the rest"));
    page.end();
    await one.closed;
    expect(one.received).toMatch(/\r\n\r\nfirst part, and the rest$/);
    expect(pages.asked).toBe(1);
  });

  test("end it, or are dropped, if they have bodies", { tags: ["deep"] }, async () => {
    const { one, pages } = await askForPage();
    const before = read.first!.bytesRead;
    const pipeline = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx".repeat(20_000);
    void one.send(pipeline);
    const isRead = () => read.first!.destroyed || read.first!.bytesRead >= before + pipeline.length;
    while (!isRead()) await new Promise(setImmediate);
    expect(read.requests).toBeLessThan(3_000);
    expect(pages.asked).toBe(1);
  });
});

test.each(inGate(1, [true, false]))(
  "a client that does not read delays only its own requests (fast way: %s)",
  async (usesFastAnswers) => {
    const page = answer("x".repeat(100_000));
    let asked = 0;
    const running = await start(
      () => {
        asked++;
        return page;
      },
      { usesFastAnswers },
    );
    const one = client(running);
    one.socket.pause();
    void one.send(GET.repeat(20_000));
    const other = client(running);
    for (let at = 1; at <= 50; at++) {
      await other.send(GET);
      await other.until((text) => count(text, "HTTP/1.1 200 OK") === at);
    }
    const before = asked;
    expect(before).toBeLessThan(2_000);
    one.socket.resume();
    await one.until(() => one.bytes > (before + 1) * 100_000);
  },
);

test("a stream is read only as fast as its client reads", async () => {
  const PIECES = 1_500; // More than the kernel holds.
  let pieces = 0;
  const body = () => {
    const made: PushedBody = new PushedBody(null, {
      begin: () => push(),
      pause: () => {
        isPaused = true;
      },
      resume: () => {
        isPaused = false;
        push();
      },
      cancel: () => undefined,
    });
    let isPaused = false;
    const push = () => {
      while (!isPaused && pieces < PIECES) {
        pieces++;
        made.push(Buffer.alloc(16 * 1024));
      }
      if (pieces === PIECES) made.end();
    };
    return made;
  };
  const running = await start(() => answer(body()));
  const one = client(running);
  one.socket.pause();
  await one.send(GET);
  const other = client(running);
  for (let at = 0; at < 20; at++) {
    await other.send("OPTIONS * HTTP/1.1\r\n");
    await new Promise(setImmediate);
  }
  expect(pieces).toBeLessThan(PIECES);
  one.socket.resume();
  await one.until(() => one.bytes > PIECES * 16 * 1024);
});

test("if a client leaves in the middle of a stream, the stream is cancelled", async () => {
  const cancelled = Promise.withResolvers<void>();
  const running = await start(() => {
    let goesOn = true;
    const body: PushedBody = new PushedBody(null, {
      begin: () => push(),
      pause: () => undefined,
      resume: () => undefined,
      cancel: () => {
        goesOn = false;
        cancelled.resolve();
      },
    });
    // Only when something is written can the listener learn that the client has not just ended its half.
    const push = () => {
      body.push(Buffer.from("tick"));
      if (goesOn) setImmediate(push);
    };
    return answer(body);
  });
  const one = client(running);
  await one.send(GET);
  await one.until((text) => text.includes("tick"));
  one.destroy();
  await cancelled.promise;
});

test.each([true, false])(
  "a client that reads no answers has the edge make few more (fast way: %s)",
  async (usesFastAnswers) => {
    let asked = 0;
    const large = Buffer.alloc(4 * 1024 * 1024, "x");
    const running = await start(
      () => {
        asked++;
        return answer(large);
      },
      { usesFastAnswers },
    );
    const one = client(running);
    one.socket.pause();
    await one.send(GET.repeat(20));
    await exchange(running.where, GET); // by then the others have been read
    expect(asked).toBeLessThan(1 + 8);
    one.socket.resume();
    await one.until(() => one.bytes > 20 * large.byteLength);
    expect(asked).toBe(1 + 20);
  },
);

test("a client that does not read is dropped after a while", async () => {
  const asked = Promise.withResolvers<void>();
  const page = answer("x".repeat(20_000_000));
  const answering = () => {
    asked.resolve();
    return page;
  };
  const running = await start(answering, { settings: { stallMs: 50 } });
  const one = client(running);
  one.socket.pause();
  await one.send(GET);
  await asked.promise;
  await new Promise<void>((resolve) => running.listener.onceEmpty(resolve));
});

test("a client that waits for a slow answer is not dropped", { tags: ["deep"] }, async () => {
  const pages = held();
  const running = await start(pages.answering, { settings: { stallMs: READ_WITHIN_MS, keepAliveMs: READ_WITHIN_MS } });
  const one = client(running);
  await one.send(GET);
  await pages.until(1);
  const idle = client(running);
  await idle.closed; // As long as this takes, the other connection waits.
  pages.answer(0);
  expect(await one.until((text) => text.includes("page 0"))).toContain("200 OK");
});

test("an idle connection ends after a while", async () => {
  const running = await start(() => answer("page"), { settings: { keepAliveMs: READ_WITHIN_MS } });
  const one = client(running);
  await one.send(GET);
  await one.closed;
  expect(one.received).toContain("page");
});

describe.each([true, false])("a head that takes too long (fast way: %s)", (usesFastAnswers) => {
  test("a client that sends half a head is told that it took too long", { tags: ["deep"] }, async () => {
    const running = await start(() => answer("page"), {
      usesFastAnswers,
      settings: { headersTimeoutMs: READ_WITHIN_MS },
    });
    const one = client(running);
    await one.send("GET / HTTP/1.1\r\nHost: local");
    await one.closed;
    expect(one.received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("a client that sends nothing is disconnected without an answer", async () => {
    const running = await start(() => answer("page"), { usesFastAnswers, settings: { headersTimeoutMs: 50 } });
    const one = client(running);
    await one.closed;
    expect(one.received).toBe("");
  });
});

test("a client that stops in the middle of its body is dropped after a while", async () => {
  const running = await start(
    async ({ request }) => {
      const reader = nodeBodies.read(request.body!);
      while ((await reader.next()) !== null);
      return answer("page");
    },
    { settings: { stallMs: 50 } },
  );
  const one = client(running);
  await one.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf");
  await one.closed;
  expect(one.received).not.toContain("200 OK");
});

test.each([true, false])(
  "the last request that a connection may carry ends it (fast way: %s)",
  async (usesFastAnswers) => {
    const running = await start(() => answer("page"), { usesFastAnswers, settings: { maxRequestsPerConnection: 2 } });
    const { received, end } = await exchange(running.where, GET.repeat(3));
    expect(received.match(/connection: [a-z-]+/g)).toEqual(["connection: keep-alive", "connection: close"]);
    expect(end).toBe("ended");
  },
);

test.each([true, false])(
  "the last answer of a connection reaches a client that keeps sending (fast way: %s)",
  async (usesFastAnswers) => {
    const settings = { maxRequestsPerConnection: 1 };
    const later = () => new Promise<EdgeAnswer>((resolve) => setImmediate(resolve, answer("page")));
    const one = client(await start(later, { usesFastAnswers, settings }));
    one.socket.pause();
    for (let sent = 0; sent < 3; sent++) {
      await one.send(GET);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    }
    one.socket.resume();
    await one.closed;
    expect(statuses(one.received)).toEqual([200]);
    expect(one.end).toBe("ended");
  },
);

test.each([true, false])(
  "a client with requests beyond the last answer is disconnected as soon as it ends (fast way: %s)",
  async (usesFastAnswers) => {
    const served: Socket[] = [];
    const onSocket = (message: unknown) => served.push((message as { readonly socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    onTestFinished(() => void unsubscribe("net.server.socket", onSocket));
    const settings = { maxRequestsPerConnection: 1 };
    const { listener, where } = await start(() => answer("x".repeat(100_000)), { usesFastAnswers, settings });
    await exchange(where, GET.repeat(3));
    await new Promise<void>((resolve) => listener.onceEmpty(resolve));
    // Otherwise the connection was dropped when its time was over.
    expect(served.map((socket) => socket.readableEnded)).toEqual([true]);
  },
);

test.each([
  ["a GET", GET],
  ["a BAN", GET.replace("GET", "BAN")],
  ["a CONNECT", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ["bytes that are no request", "\0\r\n\r\n"],
])("a connection above the limit gets a 503 for %s", async (_, bytes) => {
  const running = await start(() => answer("page"), { settings: { maxConnections: 0 } });
  const { received } = await exchange(running.where, bytes);
  expect(statuses(received)).toEqual([503]);
  expect(received).toMatch(/\r\nconnection: close\r\n/);
});

test("a connection above the limit gets a 503, and the others continue", async () => {
  const running = await start(() => answer("page"), { settings: { maxConnections: 2 } });
  const [one, two] = [client(running), client(running)];
  await Promise.all([one.send(GET), two.send(GET)]);
  await Promise.all([one.until((text) => text.includes("page")), two.until((text) => text.includes("page"))]);
  const three = await exchange(running.where, GET);
  expect(three.received).toMatch(/^HTTP\/1\.1 503 /);
  one.socket.end();
  await one.closed;
  await two.send(GET);
  expect(await two.until((text) => count(text, "page") === 2)).not.toContain("503");
});

test("connections far above the limit are closed without an answer, on all addresses together, and the owner is told", async () => {
  const running = await start(() => answer("page"), { settings: { maxConnections: 1 } });
  const { listener } = running;
  const other = (await listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
  const many = Array.from({ length: 12 }, () => client(running)); // 1.1 of one, rounded up, and ten
  while (listener.connections < many.length) await new Promise(setImmediate);
  expect(running.warnings).toEqual([]);
  for (const { port } of [running.where, other]) expect((await exchange({ port }, GET)).received).toBe("");
  expect(running.warnings).toEqual([
    "connections were closed without an answer, far above the 1 that this worker takes: 1 so far.",
  ]);
  many[0]!.destroy();
  while (listener.connections === many.length) await new Promise(setImmediate);
  expect((await exchange(running.where, GET)).received).toMatch(/^HTTP\/1\.1 503 /);
});

test("a graceful stop answers what was asked, and says that the connection ends", async () => {
  const pages = held();
  const running = await start(pages.answering);
  const one = client(running);
  await one.send(GET);
  await pages.until(1);
  const stopped = running.listener.close(10_000);
  pages.answer(0);
  await one.closed;
  expect(one.received).toContain("connection: close\r\n");
  expect(one.received).toContain("page 0");
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("a request that meets a stopping listener on an open connection is still answered", async () => {
  const running = await start(() => answer("page"));
  const one = client(running);
  await one.send(GET);
  await one.until((text) => text.includes("page"));
  const stopped = running.listener.close(10_000);
  await one.send(GET);
  await one.closed;
  expect(one.received.match(/connection: [a-z-]+/g)).toEqual(["connection: keep-alive", "connection: close"]);
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("a request that arrives after a stopping listener ended the connection is not executed", async () => {
  let asked = 0;
  const running = await start(() => {
    asked++;
    return answer("page");
  });
  holdTime();
  const socket = connect({ ...running.where, allowHalfOpen: true });
  socket.write(GET);
  await once(socket, "data");
  const ended = once(socket.resume(), "end");
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await ended;
  socket.write("POST /order HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx");
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  await pass(10_000);
  expect(await stopped).toEqual({ cutOff: 0 });
  expect(asked).toBe(1);
  socket.destroy();
});

test.each([
  { on: "a new connection", before: "", usesFastAnswers: true },
  { on: "a new connection, by Node's own objects", before: "", usesFastAnswers: false },
  { on: "one that has carried another", before: GET, usesFastAnswers: true },
  { on: "one that has carried another, by Node's own objects", before: GET, usesFastAnswers: false },
])("a request whose head was arriving on $on when the listener stopped is answered", async ({ before, ...how }) => {
  const running = await start(() => answer("page"), how);
  holdTime();
  const one = client(running);
  await one.send(`${before}${GET.slice(0, 10)}`);
  while (running.listener.connections === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await one.send(GET.slice(10));
  await one.closed;
  expect(count(one.received, "page")).toBe(before === "" ? 1 : 2);
  expect(one.received.match(/connection: [a-z-]+/g)?.at(-1)).toBe("connection: close");
  expect(await stopped).toEqual({ cutOff: 0 });
});

test.each([
  { of: "comes", rest: "56789", usesFastAnswers: true },
  { of: "comes, by Node's own objects", rest: "56789", usesFastAnswers: false },
  { of: "never comes", rest: "", usesFastAnswers: true },
  { of: "never comes, by Node's own objects", rest: "", usesFastAnswers: false },
])("a stopping listener ends a connection with an answered request whose body's rest $of", async ({ rest, ...how }) => {
  const running = await start(() => answer("page"), how);
  holdTime();
  const one = client(running);
  await one.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n01234");
  await one.until((text) => text.includes("page"));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await one.send(rest);
  for (let second = 0; second < 60; second++) await pass(1_000);
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("a graceful stop ends idle connections, and cuts off what takes longer than its limit", async () => {
  const pages = held();
  const running = await start(pages.answering);
  const [idle, busy] = [client(running), client(running)];
  await Promise.all([idle.send(""), busy.send(GET)]);
  await pages.until(1);
  const stopped = await running.listener.close(60);
  expect(stopped.cutOff).toBeGreaterThanOrEqual(1);
  await Promise.all([idle.closed, busy.closed]);
});

/** More than the kernel takes at once. */
const LARGE_BYTES = 20_000_000;
const LARGE = answer("x".repeat(LARGE_BYTES));
const POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";

test.each([
  ["a hit, while the listener stops", GET, true],
  ["a page, while the listener stops", GET, false],
  ["a hit, with bytes behind it that are no request", `${GET}nonsense\r\n\r\n`, true],
  ["an answer to a request whose body it does not want", POST, true],
])("a slow client gets the whole of %s", async (_, bytes, usesFastAnswers) => {
  const running = await start(() => LARGE, { usesFastAnswers });
  holdTime();
  const one = client(running);
  await one.send(bytes);
  await one.until((text) => text.length > 0);
  one.socket.pause();
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await pass(10_000);
  one.socket.resume();
  await passUntilClosed(one);
  expect(one.bytes).toBeGreaterThan(LARGE_BYTES);
  expect(await stopped).toEqual({ cutOff: 0 });
});

test.each([
  ["a hit", true],
  ["a page", false],
])("a request that follows the end of %s, which began before the stop, is answered", async (_, usesFastAnswers) => {
  const running = await start(() => LARGE, { usesFastAnswers });
  holdTime();
  const one = client(running);
  await one.send(GET);
  await one.until((text) => text.length > 0);
  one.socket.pause();
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await pass(1_000);
  one.socket.resume();
  while (one.bytes < LARGE_BYTES) await new Promise(setImmediate);
  await one.send(GET);
  await passUntilClosed(one);
  expect(one.bytes).toBeGreaterThan(2 * LARGE_BYTES);
  expect(await stopped).toEqual({ cutOff: 0 });
});

async function passUntilClosed(one: RawClient): Promise<void> {
  let isClosed = false;
  const closed = one.closed.then(() => (isClosed = true));
  while (!isClosed) await pass(1_000);
  await closed;
}

test("a graceful stop does not wait for a client that has stopped reading", async () => {
  const running = await start(() => LARGE, { settings: { stallMs: 50 } });
  holdTime();
  const one = client(running);
  await one.send(GET);
  await one.until((text) => text.length > 0);
  one.socket.pause();
  const stopped = running.listener.close(60_000);
  await pass(1_000);
  await stopped;
});

test.each([
  ["small", 4],
  ["large", LARGE_BYTES],
])("a client that has its last answer, a %s one, and keeps sending is disconnected after a while", async (_, bytes) => {
  const running = await start(() => answer("x".repeat(bytes)));
  const one = client(running);
  holdTime();
  one.socket.removeAllListeners("end"); // it does not end its half
  const end = once(one.socket, "end");
  await one.send(`${GET}nonsense\r\n\r\n`);
  await end;
  expect(running.listener.connections).toBe(1);
  while (running.listener.connections > 0) await pass(2_000);
});

describe("a client that sends on after its upload was refused", () => {
  async function refused(usesFastAnswers: boolean) {
    const running = await start(() => answer("too large", {}, 413), { usesFastAnswers });
    holdTime();
    const one = client(running);
    one.socket.pause();
    await one.send(POST);
    await pass(0);
    return { one, listener: running.listener };
  }

  test.each([true, false])("can read the refusal 28 s later (fast way: %s)", async (usesFastAnswers) => {
    const { one } = await refused(usesFastAnswers);
    for (let pieces = 0; pieces < 7; pieces++) {
      await one.send("x".repeat(100_000));
      await pass(4_000);
    }
    one.socket.resume();
    await one.closed;
    expect(statuses(one.received)).toEqual([413]);
    expect(one.end).toBe("ended");
  });

  test("is disconnected after 30 s", async () => {
    const { one, listener } = await refused(true);
    let passedMs = 0;
    while (listener.connections > 0 && passedMs < 60_000) {
      await one.send("x");
      await pass(1_000);
      passedMs += 1_000;
    }
    expect(passedMs).toBeGreaterThanOrEqual(30_000);
    expect(passedMs).toBeLessThanOrEqual(31_000); // it begins once the last bytes have been written
  });
});

test("a graceful stop waits for work in the background", async () => {
  const work = Promise.withResolvers<void>();
  const running = await start(({ background }) => {
    background.run(work.promise);
    return answer("page");
  });
  await exchange(running.where, GET);
  expect(running.listener.work.running).toBe(1);
  const stopped = running.listener.close(10_000);
  work.resolve();
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("a failed background task is reported", async () => {
  const running = await start(({ background }) => {
    background.run(Promise.reject(new Error("a bug")));
    return answer("page");
  });
  await exchange(running.where, GET);
  expect(running.warnings).toEqual([expect.stringContaining("a bug")]);
});

test.each([
  ["rejects", () => Promise.reject(new Error("a bug"))],
  [
    "throws",
    () => {
      throw new Error("a bug");
    },
  ],
])("an isolate that %s makes a 502, and the connection continues", async (_, answering) => {
  const running = await start(({ url }) => (url.endsWith("/bug") ? answering() : answer("page")));
  const { received } = await exchange(running.where, GET.replace("/", "/bug") + GET);
  expect(statuses(received)).toEqual([502, 200]);
  expect(running.warnings).toHaveLength(1);
});

test("it listens on unix sockets, on IPv6 and on inherited sockets, all at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "listener-"));
  const path = join(folder, "listener.sock");
  const addresses: (string | null)[] = [];
  const isolate = {
    fetch: ({ clientAddress }: { clientAddress: string | null }) => {
      addresses.push(clientAddress);
      return answer("page");
    },
  };
  const listener = new Listener({ isolate, bodies: nodeBodies, warn: () => undefined, usesFastAnswers: true });
  const held = createTcpServer();
  await new Promise<void>((resolve) => held.listen(0, "127.0.0.1", resolve));
  const heldPort = (held.address() as { port: number }).port;
  await listener.listen({ path });
  await listener.listen({ handles: [(held as unknown as { _handle: object })._handle] });
  const six = (await listener.listen({ host: "::", port: 0 })) as { port: number };
  for (const where of [
    { path },
    { port: heldPort },
    { host: "::1", port: six.port },
    { host: "127.0.0.1", port: six.port },
  ]) {
    expect((await exchange(where, GET)).received).toContain("page");
  }
  expect(addresses).toEqual([null, expect.stringMatching(/127\.0\.0\.1|::1/), "::1", "127.0.0.1"]);
  await listener.close(0);
  expect(existsSync(path)).toBe(false);
  rmSync(folder, { recursive: true });
});

test("an address that is in use is an error", async () => {
  const running = await start(() => answer("page"));
  await expect(running.listener.listen(running.where)).rejects.toThrow("EADDRINUSE");
});
