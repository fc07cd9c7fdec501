import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { sharedLookup } from "../../../server/origin/shared-lookup.ts";
import { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { SocketOrigin } from "../../runtime/socket-origin.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const DAY_MS = 24 * 60 * 60_000;
const inFour = (address: string): LookupAddress[] => [{ address, family: 4 }];
const failure = (code: string) => Object.assign(new Error(code), { code });

/** A name, and the lookups of it that DNS has been asked for, each to be answered. */
function nameUnderTest() {
  const asked: Parameters<LookupFunction>[2][] = [];
  const lookup = sharedLookup(
    (_name, _options, done) => void asked.push(done),
    () => performance.now(),
  );
  /** What a connection hears, when it does. */
  const heard: unknown[] = [];
  const connect = (all = true) => {
    lookup("app.example.test", { all }, (error, found, family) => heard.push(error?.code ?? (all ? found : family)));
  };
  /** What the connections have heard since. */
  const takeHeard = async () => {
    await new Promise(setImmediate);
    return heard.splice(0);
  };
  return { asked, connect, takeHeard };
}

test("connections of one second ask DNS once, also while it is asked", async () => {
  const { asked, connect, takeHeard } = nameUnderTest();
  for (let at = 0; at < 3; at++) connect();
  asked[0]!(null, inFour("10.0.0.1"));
  vi.advanceTimersByTime(999);
  connect();
  connect(false);
  expect(await takeHeard()).toEqual([...Array(4).fill(inFour("10.0.0.1")), 4]);
  expect(asked).toHaveLength(1);
});

test("a name that leads elsewhere is followed after a second", async () => {
  const { asked, connect, takeHeard } = nameUnderTest();
  connect();
  asked[0]!(null, inFour("10.0.0.1"));
  await takeHeard();
  vi.advanceTimersByTime(1_000);
  connect();
  asked[1]!(null, inFour("10.0.0.2"));
  connect();
  expect(await takeHeard()).toEqual([inFour("10.0.0.2"), inFour("10.0.0.2")]);
});

test.each([
  ["EAI_AGAIN", DAY_MS - 1, inFour("10.0.0.1")],
  ["EAI_AGAIN", DAY_MS, "EAI_AGAIN"],
  ["ENOTFOUND", 1_000, "ENOTFOUND"],
])("after %s, %i ms after the last answer, a connection hears %j", async (code, ms, expected) => {
  const { asked, connect, takeHeard } = nameUnderTest();
  connect();
  asked[0]!(null, inFour("10.0.0.1"));
  await takeHeard();
  vi.advanceTimersByTime(ms);
  connect();
  asked[1]!(failure(code), []);
  expect(await takeHeard()).toEqual([expected]);
});

test("DNS that is silent holds up one second's connections, and is asked again once it has answered", async () => {
  const { asked, connect, takeHeard } = nameUnderTest();
  connect();
  asked[0]!(null, inFour("10.0.0.1"));
  await takeHeard();
  vi.advanceTimersByTime(1_000);
  connect();
  vi.advanceTimersByTime(999);
  expect(await takeHeard()).toEqual([]);
  vi.advanceTimersByTime(1);
  connect();
  expect(await takeHeard()).toEqual([inFour("10.0.0.1"), inFour("10.0.0.1")]);
  expect(asked).toHaveLength(2);
  asked[1]!(failure("EAI_AGAIN"), []);
  connect();
  asked[2]!(null, inFour("10.0.0.2"));
  expect(await takeHeard()).toEqual([inFour("10.0.0.2")]);
});

test("a name without a first answer waits for it, and fails as DNS does", async () => {
  const { asked, connect, takeHeard } = nameUnderTest();
  connect();
  vi.advanceTimersByTime(5_000);
  connect();
  expect(await takeHeard()).toEqual([]);
  asked[0]!(failure("EAI_AGAIN"), []);
  expect(await takeHeard()).toEqual(["EAI_AGAIN", "EAI_AGAIN"]);
});

test("an origin's connections share their lookups", async () => {
  let lookups = 0;
  const sockets = new Set<unknown>();
  const server = new SocketOrigin((_, socket) => {
    sockets.add(socket);
    if (sockets.size < 8) return;
    for (const each of sockets) (each as typeof socket).end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  const { port } = new URL(await server.start());
  const origin = new UndiciOrigin({
    address: { url: `http://app.example.test:${port}`, socketPath: null },
    timeoutMs: 10_000,
    bodies: nodeBodies,
    lookup: (_name, _options, done) => {
      lookups++;
      setImmediate(done, null, inFour("127.0.0.1"));
    },
  });
  const get = { method: "GET", pathAndQuery: "/", fields: [], body: null } as const;
  const answers = await Promise.all(Array.from({ length: 8 }, () => origin.fetch(get)));
  expect(answers.map(({ kind }) => kind)).toEqual(Array(8).fill("answered"));
  expect([sockets.size, lookups]).toEqual([8, 1]);
  await origin.close();
  await server.stop();
});
