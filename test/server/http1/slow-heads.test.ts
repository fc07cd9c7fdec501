import { afterEach, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { RawClient, statuses } from "../raw-client.ts";
import { type Answering, answer, startTestListener } from "./running-listener.ts";

/*
 * Clients that take long for the heads of their requests, with 60 s for each head. Time passes for the listener's sweeps
 * alone. A piece has been read to its end once the answer to its first request is there.
 */

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const HALF = "GET / HTTP/1.1\r\nHost: local";
const REST = "host\r\n\r\n";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(answering: Answering = () => answer("page"), keepAliveMs = 75_000) {
  const settings = { headersTimeoutMs: 60_000, keepAliveMs };
  const running = await startTestListener(answering, { settings });
  const client = new RawClient(running.where);
  ends.push(
    () => client.destroy(),
    () => running.stop(),
  );
  const startedAt = Math.round(performance.now());
  /** Has the listener sweep at these seconds, all later than the time that the test itself takes. */
  const sweepAt = (...seconds: number[]) => {
    for (const second of seconds) running.listener.sweep(startedAt + (1000 + second) * 1000);
  };
  /** Sends a piece, and waits until so many requests are answered. */
  const send = async (piece: string, answers: number) => {
    await client.send(piece);
    expect(statuses(await client.until((text) => statuses(text).length >= answers))).toHaveLength(answers);
  };
  return { client, sweepAt, send };
}

test.each([
  ["half a head", HALF],
  ["one byte of a head", "G"],
])("%s behind an answered request is refused after 60 s", async (_, half) => {
  const { client, sweepAt, send } = await start();
  await send(GET + half, 1);
  sweepAt(0, 59);
  expect(client.end).toBeNull();
  sweepAt(60);
  await client.closed;
  expect(statuses(client.received)).toEqual([200, 408]);
});

test.each([
  ["half a head", HALF],
  ["half the head of a BAN", "BAN / HTTP/1.1\r\nHost: local"],
])("%s in a piece of its own is refused", async (_, half) => {
  const { client, sweepAt, send } = await start(undefined, Number.POSITIVE_INFINITY);
  await send(GET, 1);
  await client.send(half);
  for (let second = 0; client.end === null; second += 61) {
    sweepAt(second);
    await new Promise(setImmediate);
  }
  expect(statuses(client.received)).toEqual([200, 408]);
});

test("a head that still comes, byte by byte, is refused as well", async () => {
  const { client, sweepAt, send } = await start();
  await send(GET + HALF, 1);
  for (let second = 0; second <= 60; second += 5) {
    sweepAt(second);
    if (second < 60) await client.send("x");
  }
  await client.closed;
  expect(statuses(client.received)).toEqual([200, 408]);
});

test("each head has its own 60 s", async () => {
  const { sweepAt, send } = await start();
  await send(GET + HALF, 1);
  sweepAt(0, 59);
  await send(REST + HALF, 2);
  sweepAt(61, 119);
  await send(REST, 3);
});

test("the time between requests is not that of a head", async () => {
  const { client, sweepAt, send } = await start();
  await send(GET, 1);
  sweepAt(0, 74);
  await send(GET, 2);
  sweepAt(75, 149);
  await send(GET + HALF, 3);
  sweepAt(150, 209);
  await send(REST, 4);
  sweepAt(210, 285);
  await client.closed;
  expect(statuses(client.received)).toEqual([200, 200, 200, 200]);
});

test("a body may take longer than a head", async () => {
  const { client, sweepAt, send } = await start(async ({ request }) => {
    if (request.body === null) return answer("page");
    const reader = nodeBodies.read(request.body);
    while ((await reader.next()) !== null);
    return answer("posted");
  });
  await send(`${GET}POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab`, 1);
  sweepAt(0, 61, 122);
  await send("cd", 2);
  expect(client.received).toContain("posted");
});

test("a request may wait for its answer longer than a head may take", async () => {
  const pending = Promise.withResolvers<EdgeAnswer>();
  const asked = Promise.withResolvers<void>();
  const { client, sweepAt, send } = await start(() => {
    asked.resolve();
    return pending.promise;
  });
  await client.send(GET);
  await asked.promise;
  sweepAt(0, 61, 122);
  pending.resolve(answer("page"));
  await send("", 1);
  await send(GET, 2);
});

test("a head takes no time while the listener itself leaves the rest unread", async () => {
  const pending: ((answer: EdgeAnswer) => void)[] = [];
  const { client, sweepAt, send } = await start(() => new Promise((resolve) => pending.push(resolve)));
  await client.send(GET.repeat(100));
  while (pending.length < 32) await new Promise(setImmediate);
  for (const resolve of pending.slice(0, 20)) resolve(answer("page"));
  while (pending.length < 52) await new Promise(setImmediate);
  sweepAt(0, 61, 122);
  for (let at = 20; at < 100; at++) {
    while (pending.length <= at) await new Promise(setImmediate);
    pending[at]!(answer("page"));
  }
  await send("", 100);
  expect(new Set(statuses(client.received))).toEqual(new Set([200]));
});

test("without fast answers Node's own watch refuses a slow head, behind a PROXY header as well", async () => {
  const running = await startTestListener(() => answer("page"), {
    usesFastAnswers: false,
    usesProxyProtocol: true,
    trustedProxies: [readNetwork("127.0.0.1")!],
    settings: { headersTimeoutMs: 100 },
  });
  const client = new RawClient(running.where);
  ends.push(
    () => client.destroy(),
    () => running.stop(),
  );
  await client.send(`PROXY TCP4 192.0.2.1 192.0.2.2 1234 80\r\n${GET}${HALF}`);
  await client.closed;
  expect(statuses(client.received)).toEqual([200, 408]);
});
