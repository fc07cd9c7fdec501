import { afterEach, describe, expect, test } from "vitest";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import { inGate } from "../../suite/depth.ts";
import { RawClient, statuses } from "../raw-client.ts";
import { type Answering, answer, type RunningListener, startTestListener } from "./running-listener.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(answering: Answering, parts: Partial<ListenerParts> = {}): Promise<RunningListener> {
  const running = await startTestListener(answering, parts);
  ends.push(() => running.stop());
  return running;
}

function client({ where }: RunningListener): RawClient {
  const made = new RawClient(where);
  ends.push(() => made.destroy());
  return made;
}

const gone = ({ listener }: RunningListener) => new Promise<void>((resolve) => listener.onceEmpty(resolve));

/** More than the kernel takes at once. */
const BYTES = 20_000_000;
const PIECE_BYTES = 64 * 1024;

/** A body of an origin that sends it as fast as it is read; `cancelled` is called if nobody wants the rest. */
function large(cancelled: () => void = () => undefined): PushedBody {
  let left = BYTES;
  let isPaused = true;
  const push = () => {
    while (!isPaused && left > 0) {
      const bytes = Math.min(left, PIECE_BYTES);
      left -= bytes;
      made.push(Buffer.alloc(bytes, "x"));
    }
    if (left === 0) made.end();
  };
  const resume = () => {
    isPaused = false;
    setImmediate(push);
  };
  const pause = () => {
    isPaused = true;
  };
  const made: PushedBody = new PushedBody(BYTES, { begin: resume, pause, resume, cancel: cancelled });
  return made;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
const WEB_SOCKET = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
const BAN = "BAN / HTTP/1.1\r\nHost: localhost\r\n\r\n";

describe("a CONNECT", () => {
  test.each(
    inGate(1, [
      ["", ["/1", "/2", "/3", CONNECT]],
      [" on their way", ["/1", "/2", "/3"]],
    ]),
  )("behind requests whose answers are due%s is refused behind them", async (_, sent: readonly string[]) => {
    const running = await start(() => answer(large()));
    const one = client(running);
    await one.send(sent.map((each) => (each === CONNECT ? each : get(each))).join(""));
    await one.until((text) => text.length > 0);
    if (!sent.includes(CONNECT)) await one.send(CONNECT);
    await one.closed;
    expect(statuses(one.received)).toEqual([...Array(3).fill(200), 501]);
    expect(one.received.length).toBeGreaterThan(3 * BYTES);
  });

  test.each([
    ["", ["/1", "/2", "/3", CONNECT]],
    [" on their way", ["/1", "/2", "/3"]],
  ])(
    "behind requests whose answers are due%s leaves nothing when its client goes",
    async (_, sent: readonly string[]) => {
      const cancelled: string[] = [];
      const all = Promise.withResolvers<void>();
      const running = await start(async ({ url }) => {
        const body = large(() => {
          if (cancelled.push(url) === 3) all.resolve();
        });
        return answer(body);
      });
      const one = client(running);
      await one.send(sent.map((each) => (each === CONNECT ? each : get(each))).join(""));
      await one.until((text) => text.length > 0);
      if (!sent.includes(CONNECT)) await one.send(CONNECT);
      one.destroy();
      await all.promise;
      await gone(running);
    },
  );

  test("behind requests whose answers its client does not read ends with the connection after a while", async () => {
    const running = await start(() => answer(large()), { settings: { stallMs: 50, keepAliveMs: 500 } });
    const one = client(running);
    one.socket.pause();
    await one.send(get("/1") + get("/2") + CONNECT);
    await gone(running);
  });

  test("behind a hit that is still on its way is refused in words", { tags: ["deep"] }, async () => {
    const running = await start(() => answer("x".repeat(BYTES)));
    const one = client(running);
    await one.send(get("/") + CONNECT);
    await one.closed;
    expect(statuses(one.received)).toEqual([200, 501]);
  });

  test("behind a hit that its client does not read ends with the connection after a while", async () => {
    const running = await start(() => answer("x".repeat(BYTES)), { settings: { stallMs: 50, keepAliveMs: 500 } });
    const one = client(running);
    one.socket.pause();
    await one.send(get("/") + CONNECT);
    await gone(running);
  });
});

describe.each([
  ["for a WebSocket that is answered otherwise", WEB_SOCKET],
  ["with the method BAN", BAN],
])("a request %s", (_, request) => {
  test.each([
    ["a stream", () => large()],
    ["whole", () => Buffer.alloc(BYTES, "x")],
  ])("whose answer, %s, is not read ends after a while", { tags: ["deep"] }, async (_, body) => {
    const settings = { stallMs: 50, keepAliveMs: 500 };
    const logged = Promise.withResolvers<AnsweredExchange>();
    const running = await start(() => answer(body()), { settings, accessLog: { record: logged.resolve } });
    const one = client(running);
    one.socket.pause();
    await one.send(request);
    await gone(running);
    expect((await logged.promise).answer.status).toBe(200);
  });

  test("whose client has left before the answer has that cancelled", async () => {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const running = await start(async () => {
      asked.resolve();
      await left.promise;
      return answer(large(cancelled.resolve));
    });
    const one = client(running);
    await one.send(request);
    await asked.promise;
    one.socket.resetAndDestroy();
    await gone(running);
    left.resolve();
    await cancelled.promise;
  });

  test("is answered in any number of pieces, with no more listeners than for one", { tags: ["deep"] }, async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    ends.push(() => process.off("warning", onWarning));
    const running = await start(() => answer(large()));
    const one = client(running);
    one.socket.on("data", () => {
      one.socket.pause(); // so that the kernel has no room again and again
      setImmediate(() => setImmediate(() => one.socket.resume()));
    });
    await one.send(request);
    await one.closed;
    expect(one.bytes).toBeGreaterThan(BYTES);
    expect(warnings).toEqual([]);
  });
});
