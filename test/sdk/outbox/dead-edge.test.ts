import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { FetchAnswer, FetchInit } from "../../../sdk/http/transport.ts";
import { Drain } from "../../../sdk/outbox/drain.ts";
import { createOutbox } from "../../../sdk/outbox/sqlite.ts";
import { sqliteStore } from "../../../sdk/outbox/sqlite-store.ts";
import type { PurgeRequest } from "../../../sdk/purge-request.ts";
import { receiptBody } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";
import { createVirtualClock } from "../virtual-clock.ts";

const HEALTHY = "https://healthy.example.test";
const DEAD = "https://dead.example.test";

const refuses = () => Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }));
const isUnavailable = () => Promise.resolve(Response.json({}, { status: 503 }));
const hangs = ({ signal }: FetchInit) =>
  new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test.each([
  ["refuses connections", refuses, 2_000],
  ["answers 503", isUnavailable, 2_000],
  // The first purges wait for their deadline, and the others eight at a time for a second.
  ["hangs", hangs, 10_000 + 13 * 1_000],
])("While one edge %s, a hundred purges reach the other soon", async (_, atDeadEdge, withinMs) => {
  const clock = createVirtualClock();
  const arrivals = new Map<unknown, number>();
  const fetch = (url: string, init: FetchInit) => {
    if (url.startsWith(DEAD)) return atDeadEdge(init) as Promise<FetchAnswer>;
    const { id } = JSON.parse(init.body!);
    if (!arrivals.has(id)) arrivals.set(id, clock.now());
    return Promise.resolve(Response.json(receiptBody) as FetchAnswer);
  };
  await using purger = purgerUnderTest(
    { endpoints: [HEALTHY, DEAD] },
    { clock, openTransport: () => ({ fetch, close: async () => undefined }) },
  );
  using database = new DatabaseSync(":memory:");
  const outbox = createOutbox({ database, purger });
  outbox.createTable();
  database.exec("BEGIN");
  for (let each = 0; each < 100; each++) outbox.enqueue(database, { tags: [`song:${each}`] });
  database.exec("COMMIT");
  const platform = { clock, idle: clock.sleep, random: () => 0, newId: () => crypto.randomUUID() };
  const settings = { purger, maxAttempts: 20, deadlineMs: 10_000, onDead: () => {} };
  const drain = new Drain(sqliteStore(database, clock.now, platform), settings, platform);

  const begun = clock.now();
  let isOver = false;
  const drained = drain.drain().finally(() => (isOver = true));
  while (!isOver) {
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    clock.advance(100);
  }
  await drained;

  expect(arrivals.size).toBe(100);
  expect(Math.max(...arrivals.values()) - begun).toBeLessThanOrEqual(withinMs);
});

test("A purge that takes long holds up only those that have an item in common with it", async () => {
  const clock = createVirtualClock();
  using database = new DatabaseSync(":memory:");
  const slow = Promise.withResolvers<string>();
  const othersSent = Promise.withResolvers<void>();
  const sent: string[] = [];
  const purger = {
    purge: async ({ tags }: PurgeRequest) => {
      sent.push(tags!.join(" "));
      if (sent.length === 41) othersSent.resolve();
      return tags!.includes("slow") && !tags!.includes("too") ? slow.promise : "a receipt";
    },
  };
  const outbox = createOutbox({ database, purger, now: clock.now });
  outbox.createTable();
  database.exec("BEGIN");
  outbox.enqueue(database, { tags: ["slow"] });
  outbox.enqueue(database, { tags: ["slow", "too"] });
  for (let each = 0; each < 40; each++) outbox.enqueue(database, { tags: [`song:${each}`] });
  database.exec("COMMIT");

  const drained = outbox.drain();
  await othersSent.promise;
  expect(sent).not.toContain("slow too");
  slow.resolve("a receipt");
  await drained;
  expect(sent.at(-1)).toBe("slow too");
});
