import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { SENT_AT_ONCE } from "../../../sdk/outbox/claims.ts";
import { Drain } from "../../../sdk/outbox/drain.ts";
import type { OutboxStore } from "../../../sdk/outbox/outbox-store.ts";
import { createOutbox } from "../../../sdk/outbox/sqlite.ts";
import { sqliteStore } from "../../../sdk/outbox/sqlite-store.ts";
import type { PurgeRequest } from "../../../sdk/purge-request.ts";
import { createVirtualClock } from "../virtual-clock.ts";

const DEADLINE_MS = 10_000;
/** A lease of three deadlines. */
const LEASE_MS = 30_000;

/** A table with so many purges, for processes with one clock. */
function outboxOf(purges: number) {
  const clock = createVirtualClock();
  const platform = { clock, idle: clock.sleep, random: () => 0, newId: () => crypto.randomUUID() };
  const database = new DatabaseSync(":memory:");
  const outbox = createOutbox({ database, purger: { purge: async () => "unused" }, now: clock.now });
  outbox.createTable();
  database.exec("BEGIN");
  for (let each = 0; each < purges; each++) outbox.enqueue(database, { tags: [`song:${each}`] });
  database.exec("COMMIT");
  const store = sqliteStore(database, clock.now, platform);

  /** A process that drains the table, and what it has sent. */
  function startDrain(answer: (request: PurgeRequest) => Promise<string>, parts: Partial<OutboxStore> = {}) {
    const sent: PurgeRequest[] = [];
    const purge = (request: PurgeRequest) => {
      sent.push(request);
      return answer(request);
    };
    const settings = { purger: { purge }, maxAttempts: 20, deadlineMs: DEADLINE_MS, onDead: () => {} };
    return { sent, report: new Drain({ ...store, ...parts }, settings, platform).drain() };
  }
  return { clock, database, store, startDrain };
}

/** Until everything that can happen at this instant has happened. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

test("A process that was stopped for longer than its lease sends nothing more of it, and gives back nothing of others", async () => {
  // One more than are sent at once, so that one is leased and not sent.
  const { clock, database, startDrain } = outboxOf(SENT_AT_ONCE + 1);
  const [late, slow] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const stopped = startDrain(() => late.promise);
  await turns();
  clock.advance(LEASE_MS);
  const other = startDrain(() => slow.promise);
  await turns();
  late.reject(new Error("it failed"));
  expect((await stopped.report).sent).toEqual([]);
  const third = startDrain(async () => "a receipt");
  expect((await third.report).sent).toEqual([]);
  slow.resolve("a receipt");
  expect((await other.report).sent).toHaveLength(SENT_AT_ONCE + 1);
  expect([stopped, other, third].map(({ sent }) => sent.length)).toEqual([SENT_AT_ONCE, SENT_AT_ONCE + 1, 0]);
  database.close();
});

test("A lease counts from before the database told its time, however long that took", async () => {
  const { clock, database, store, startDrain } = outboxOf(1);
  const untils: number[] = [];
  const leaseUntil = database.prepare("SELECT lease_until AS until FROM tidemark_outbox");
  const purge = async () => {
    untils.push((leaseUntil.get() as { until: number }).until - clock.now());
    return "a receipt";
  };
  let calls = 0;
  const now = async () => {
    const at = await store.now();
    if (calls++ === 0) clock.advance(LEASE_MS - DEADLINE_MS + 1); // less than a deadline is left
    return at;
  };
  await startDrain(purge, { now }).report;
  expect(untils).toEqual([LEASE_MS]); // the first lease was given back, and another one taken
  database.close();
});
