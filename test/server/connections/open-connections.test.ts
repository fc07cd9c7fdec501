import { afterEach, expect, test } from "vitest";
import type { ListenerSettings } from "../../../server/connections/listener.ts";
import { chances } from "../../engine/chances.ts";
import { answer, startTestListener } from "../http1/running-listener.ts";
import { exchange, RawClient, statuses } from "../raw-client.ts";

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const KEEP_ALIVE_MS = 75_000;

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(clients: number, wishes: ListenerSettings = {}) {
  const settings = { keepAliveMs: KEEP_ALIVE_MS, ...wishes };
  const running = await startTestListener(() => answer("page"), { settings });
  ends.push(() => running.stop());
  const connected: RawClient[] = [];
  for (let count = 0; count < clients; count++) {
    const client = new RawClient(running.where);
    ends.push(() => client.destroy());
    await client.send(GET);
    expect(statuses(await client.until((text) => statuses(text).length === 1))).toEqual([200]);
    connected.push(client);
  }
  return { ...running, connected };
}

test.each([1, 2, 3, 4])(
  "clients leave in any order, and the listener knows the remaining ones (seed %i)",
  async (seed) => {
    const { listener, connected } = await start(20);
    const random = chances(seed);
    const left = [...connected];
    for (let count = 0; count < 13; count++) {
      const [client] = left.splice(Math.floor(random() * left.length), 1);
      client!.destroy();
      while (listener.connections > left.length) await new Promise(setImmediate);
    }
    expect(listener.connections).toBe(7);
    for (const client of left) {
      await client.send(GET);
      expect(statuses(await client.until((text) => statuses(text).length === 2))).toEqual([200, 200]);
    }
    const now = performance.now();
    // The first sweep finds requests that it has not seen, so that a connection counts as idle from then on.
    listener.sweep(now);
    listener.sweep(now + KEEP_ALIVE_MS + 1); // A sum of fractions may lose its last digits.
    await Promise.all(left.map(({ closed }) => closed));
    while (listener.connections > 0) await new Promise(setImmediate);
  },
);

test.each([
  ["a quarter is free", 6, KEEP_ALIVE_MS],
  ["an eighth is free", 7, KEEP_ALIVE_MS / 2],
  ["none is free", 8, 5_000],
])("of eight connections, if %s, an idle one is kept for its share of the time", async (_, clients, keptMs) => {
  const { listener, connected, where } = await start(clients, { maxConnections: 8 });
  const now = performance.now();
  listener.sweep(now);
  listener.sweep(now + keptMs - 1);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(listener.connections).toBe(clients);
  listener.sweep(now + keptMs + 1);
  await Promise.all(connected.map(({ closed }) => closed));
  while (listener.connections > 0) await new Promise(setImmediate);
  expect(statuses((await exchange(where, GET)).received)).toEqual([200]);
});
