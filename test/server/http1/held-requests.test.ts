import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, test } from "vitest";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { turns } from "../../suite/turns.ts";
import { connected, startTlsListener, stopAll } from "../connections/tls-listener.ts";
import { RawClient, statuses } from "../raw-client.ts";
import { answer, arrived, type RunningListener, startTestListener, streamed } from "./running-listener.ts";

/*
 * What happens on a connection while a plain request waits for its answer. In the fast way that request has no objects of
 * Node until something happens; nobody can tell.
 */

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await stopAll();
});

const GET = "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n";
const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
const WEB_SOCKET = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
const BAN = "BAN / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** More than the kernel takes at once. */
const LARGE_BYTES = 20_000_000;
const LARGE = answer("x".repeat(LARGE_BYTES));

/** Answers that are given when the test says so, in the order of the requests. */
function held() {
  const waiting: PromiseWithResolvers<EdgeAnswer>[] = [];
  const changed: (() => void)[] = [];
  return {
    answering: () => {
      const asked = Promise.withResolvers<EdgeAnswer>();
      waiting.push(asked);
      for (const each of changed.splice(0)) each();
      return asked.promise;
    },
    answer: (index: number, with_: EdgeAnswer = answer(`page ${index}`)) => waiting[index]!.resolve(with_),
    fail: (index: number) => waiting[index]!.reject(new Error("a bug")),
    until: async (asked: number) => {
      while (waiting.length < asked) await new Promise<void>((resolve) => changed.push(resolve));
    },
  };
}

const none = () => undefined;
const gone = ({ listener }: RunningListener) => new Promise<void>((resolve) => listener.onceEmpty(resolve));

describe.each([
  ["the fast way", true],
  ["the plain way", false],
])("while a request waits for its answer, in %s,", (_, usesFastAnswers) => {
  async function start(parts: Partial<ListenerParts> = {}) {
    const pages = held();
    const running = await startTestListener(pages.answering, { usesFastAnswers, ...parts });
    ends.push(() => running.stop());
    const one = new RawClient(running.where);
    ends.push(() => one.destroy());
    return { pages, running, one };
  }

  test("more requests are asked for, and are answered behind it", async () => {
    const { pages, one } = await start();
    await one.send(GET);
    await pages.until(1);
    await one.send(GET + GET);
    await pages.until(3);
    pages.answer(2);
    pages.answer(1);
    await turns(5);
    expect(one.received).toBe("");
    pages.answer(0);
    const received = await one.until((text) => text.includes("page 2"));
    expect(received.match(/page \d/g)).toEqual(["page 0", "page 1", "page 2"]);
    await one.send(GET);
    await pages.until(4);
    pages.answer(3);
    expect(await one.until((text) => text.includes("page 3"))).toContain("page 3");
  });

  test("a request with a body is answered behind it", async () => {
    const { pages, one } = await start();
    await one.send(GET);
    await pages.until(1);
    await one.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
    await pages.until(2);
    pages.answer(1);
    pages.answer(0);
    const received = await one.until((text) => text.includes("page 1"));
    expect(received.match(/page \d/g)).toEqual(["page 0", "page 1"]);
  });

  test("a client that ends its half gets the answer, and nothing else", async () => {
    const { pages, one } = await start();
    await one.send(GET);
    await pages.until(1);
    one.socket.end();
    await turns(5);
    pages.answer(0);
    await one.closed;
    expect(one.received).toMatch(/connection: keep-alive\r\n.*\r\n\r\npage 0$/s);
    expect(one.end).toBe("ended");
  });

  test.each([
    ["bytes that are no request", "nonsense\r\n\r\n", 400],
    ["a CONNECT", CONNECT, 501],
    ["a request for a WebSocket", WEB_SOCKET, 400],
    ["a BAN", BAN, 400],
  ])("%s are refused behind the answer", async (_, bytes, status) => {
    const { pages, one } = await start();
    await one.send(GET);
    await pages.until(1);
    await one.send(bytes);
    await turns(5);
    pages.answer(0);
    await one.until((text) => statuses(text).length === 2);
    expect(statuses(one.received)).toEqual([200, status]);
    expect(one.received).toMatch(/connection: keep-alive\r\n.*page 0HTTP.*connection: close\r\n/s);
    one.socket.end();
    await one.closed;
  });

  test("half a head that takes too long is refused behind the answer, also where that is a stream", async () => {
    const { pages, running, one } = await start({ settings: { headersTimeoutMs: 100 } });
    await one.send(`${GET}GET / HTTP/1.1\r\nHost: local`);
    await pages.until(1);
    const later = new RawClient(running.where);
    ends.push(() => later.destroy());
    await later.send("GET / HTTP/1.1\r\n");
    await later.until((text) => text.includes("408")); // The first one has taken longer.
    pages.answer(0, answer(streamed(["page"], 4)));
    await one.closed;
    expect(statuses(one.received)).toEqual([200, 408]);
  });

  test("a client that goes away has the answer's body cancelled, and a line in the log that says so", async () => {
    const logged = Promise.withResolvers<AnsweredExchange>();
    const cancelled = Promise.withResolvers<void>();
    const { pages, running, one } = await start({ accessLog: { record: logged.resolve } });
    await one.send(GET);
    await pages.until(1);
    one.socket.resetAndDestroy();
    await gone(running);
    const body = new PushedBody(4, { pause: none, resume: none, cancel: () => cancelled.resolve() });
    pages.answer(0, answer(body));
    await cancelled.promise;
    expect(await logged.promise).toMatchObject({ target: "/page", bodyBytes: 0, isWhole: false, version: "1.1" });
  });

  test("its client's end is told once, and not to those who have ceased to ask", async () => {
    const told: string[] = [];
    const left = Promise.withResolvers<void>();
    const running = await startTestListener(
      ({ request }) => {
        const forget = request.onceLeft!(() => told.push("a request that has its answer"));
        request.onceLeft!(() => {
          told.push(request.headers.get("x-name")!);
          left.resolve();
        });
        forget();
        return new Promise<EdgeAnswer>(none);
      },
      { usesFastAnswers },
    );
    ends.push(() => running.stop());
    const one = new RawClient(running.where);
    ends.push(() => one.destroy());
    await one.send(`GET / HTTP/1.0\r\nHost: localhost\r\nX-Name: one\r\n\r\n`);
    one.socket.end();
    await left.promise;
    await running.stop(); // ends the connection
    expect(told).toEqual(["one"]);
  });

  test("a graceful stop lets it be answered, as the last one", async () => {
    const { pages, running, one } = await start();
    await one.send(GET);
    await pages.until(1);
    const stopped = running.listener.close(10_000);
    pages.answer(0);
    await one.closed;
    expect(one.received).toMatch(/connection: close\r\n.*page 0$/s);
    expect(await stopped).toEqual({ cutOff: 0 });
  });

  test("the last request that a connection may carry ends it", async () => {
    const { pages, one } = await start({ settings: { maxRequestsPerConnection: 2 } });
    for (const index of [0, 1]) {
      await one.send(GET);
      await pages.until(index + 1);
      pages.answer(index);
      await one.until((text) => text.includes(`page ${index}`));
    }
    await one.closed;
    expect(one.received.match(/connection: [a-z-]+/g)).toEqual(["connection: keep-alive", "connection: close"]);
  });

  test("an isolate that rejects makes one 502, and the connection goes on", async () => {
    const { pages, running, one } = await start();
    await one.send(GET);
    await pages.until(1);
    pages.fail(0);
    await one.until((text) => text.includes("502"));
    await one.send(GET);
    await pages.until(2);
    await one.send(GET);
    await pages.until(3);
    pages.fail(1);
    pages.answer(2);
    await one.until((text) => text.includes("page 2"));
    expect(statuses(one.received)).toEqual([502, 502, 200]);
    expect(running.warnings).toHaveLength(2);
  });

  test("a slow client gets the whole of a large answer", async () => {
    const { pages, one } = await start();
    await one.send(GET);
    await pages.until(1);
    one.socket.pause();
    pages.answer(0, LARGE);
    await turns(5);
    one.socket.resume();
    await one.until(() => one.bytes > LARGE_BYTES);
    await one.send(GET);
    await pages.until(2);
    pages.answer(1);
    expect(await one.until((text) => text.endsWith("page 1"))).toContain("page 1");
  });

  test("a client that does not read a large answer is dropped after a while", async () => {
    const { pages, running, one } = await start({ settings: { stallMs: 50 } });
    await one.send(GET);
    await pages.until(1);
    one.socket.pause();
    pages.answer(0, LARGE);
    await gone(running);
  });

  test("the log tells of the answer", async () => {
    const logged: AnsweredExchange[] = [];
    const { pages, one } = await start({ accessLog: { record: (exchange) => logged.push(exchange) } });
    await one.send(`${GET.replace("\r\n\r\n", "\r\nReferer: a\r\n\r\n")}`);
    await pages.until(1);
    pages.answer(0, answer(arrived(["pa", "ge"], 4)));
    await one.until((text) => text.includes("page"));
    expect(logged).toEqual([
      expect.objectContaining({
        ...{ clientAddress: "127.0.0.1", method: "GET", target: "/page", version: "1.1", bodyBytes: 4, isWhole: true },
        answer: expect.objectContaining({ status: 200 }),
      }),
    ]);
    expect(logged[0]!.fields.get("referer")).toBe("a");
    expect(logged[0]!.tookMs).toBeGreaterThan(0);
  });

  test("over TLS, a client that ends its half gets the answer, as does the request behind it", async () => {
    const pages = held();
    const { https } = await startTlsListener(pages.answering, { usesFastAnswers });
    const one = await connected(https, { allowHalfOpen: true } as never);
    let received = "";
    one.on("data", (piece) => {
      received += piece.toString("latin1");
    });
    const closed = new Promise((resolve) => one.once("end", resolve));
    one.write(GET);
    await pages.until(1);
    one.end(GET);
    await pages.until(2);
    pages.answer(1);
    await turns(5);
    pages.answer(0);
    await closed;
    expect(received.match(/page \d/g)).toEqual(["page 0", "page 1"]);
  });
});

test("Node's objects are made for a request that waits only if something else happens, or its answer is a stream", async () => {
  let made = 0;
  const onStart = () => void made++;
  subscribe("http.server.request.start", onStart);
  ends.push(() => unsubscribe("http.server.request.start", onStart));
  const pages = held();
  const running = await startTestListener(pages.answering);
  ends.push(() => running.stop());
  const one = new RawClient(running.where);
  ends.push(() => one.destroy());
  const asked = async (index: number, with_: EdgeAnswer) => {
    await one.send(GET);
    await pages.until(index + 1);
    pages.answer(index, with_);
    await one.until((text) => statuses(text).length === index + 1);
  };
  await asked(0, answer("page"));
  await asked(1, answer(arrived(["pa", "ge"], 4)));
  await asked(2, answer(null, {}, 304, "Not Modified"));
  expect({ made, late: running.listener.lateAnswers }).toEqual({ made: 0, late: 3 });
  await asked(3, answer(streamed(["page"], 4)));
  await asked(4, new Response("of the control plane"));
  expect({ made, late: running.listener.lateAnswers }).toEqual({ made: 2, late: 3 });
  await one.send(GET + GET);
  await pages.until(7);
  expect({ made, late: running.listener.lateAnswers }).toEqual({ made: 4, late: 3 });
});
