import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { AppendRequest, AppendResult, ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { purge } from "./a-purge.ts";

vi.mock("cloudflare:workers", () => {
  class DurableObject {
    readonly ctx: object;

    constructor(ctx: object) {
      this.ctx = ctx;
    }
  }
  return { DurableObject, RpcTarget: class {} };
});

interface Log {
  append(purge: AppendRequest): Promise<AppendResult>;
  read(since: null, leaseMs: number): ViewDelta;
  alarm(): Promise<void>;
}

// Without its types, which need those of Workers.
const { PurgeLog } = await vi.importActual<{ PurgeLog: new (ctx: object) => Log }>(
  "../../../worker/purges/log/purge-log.ts",
);

/** Storage whose alarms never ring, and objects over it. */
function platform() {
  const sql = sqlOver(new DatabaseSync(":memory:"));
  const world = { now: 0, alarms: [] as number[] };
  class LogAtOwnTime extends PurgeLog {
    protected now(): number {
      return world.now;
    }
  }
  const storage = {
    sql: { exec: (...statement: Parameters<typeof sql.exec>) => ({ toArray: () => sql.exec(...statement) }) },
    transactionSync: sql.transaction,
    setAlarm: async (at: number) => world.alarms.push(at),
  };
  return Object.assign(world, { start: (): Log => new LogAtOwnTime({ storage }) });
}

/** One that has lost the alarm for a repetition, at 6000. */
async function withLostAlarm() {
  const world = platform();
  const log = world.start();
  await log.append(purge(["#a"], { repeatAfterMs: 5000 }));
  expect(world.alarms.splice(0)).toContain(5000);
  world.now = 6000;
  return Object.assign(world, { log });
}

test("a purge wakes the log for the repetition of an earlier one whose alarm was given up", async () => {
  const { log, alarms } = await withLostAlarm();
  await log.append(purge(["#b"]));
  expect(alarms).toEqual([5000]);
});

test("a log that starts again wakes for a repetition whose alarm was given up, whoever calls it", async () => {
  const { start, alarms } = await withLostAlarm();
  const log = start();
  log.read(null, 1000);
  await vi.waitFor(() => expect(alarms).toEqual([5000]));
  log.read(null, 1000);
  await log.alarm();
  expect(alarms).toEqual([5000]);
});

test("a log that starts by its alarm, and one without a repetition, set none", async () => {
  const { start, alarms } = await withLostAlarm();
  await start().alarm();
  const log = start();
  expect(log.read(null, 1000).to).toBe(2);
  await log.append(purge(["#b"]));
  expect(alarms).toEqual([]);
});

test("a log that has made the repetition that was due wakes for the next one", async () => {
  const world = platform();
  const log = world.start();
  await log.append(purge(["#a"], { repeatAfterMs: 5000 }));
  await log.append(purge(["#b"], { repeatAfterMs: 9000 }));
  world.alarms.length = 0;
  world.now = 5000;
  await log.alarm();
  expect(world.alarms).toContain(9000);
});
