import { expect, test } from "vitest";
import { type SharedLog, SharedLogKeeper } from "../../../server/postgres/shared-log-keeper.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { openLog } from "../../purges/log/a-log.ts";
import { purge } from "../../purges/log/a-purge.ts";

test("a purge that is waited for is looked up once a second, because a notice may be lost", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  let lookUps = 0;
  const log: SharedLog = {
    read: async (...asked) => storage.read(...asked),
    changesSince: async (position) => storage.changesSince(position),
    append: async (given) => storage.append(given),
    list: async (...asked) => storage.list(...asked),
    find: async (seq) => {
      lookUps++;
      return storage.find(seq);
    },
    settleUpTo: async (position) => storage.settleUpTo(position),
    nextDueInMs: async () => null,
    runDue: async () => undefined,
    unconfirmed: async () => new Map(),
    confirm: async () => true,
    beat: async () => undefined,
    leave: async () => undefined,
  };
  const keeper = await SharedLogKeeper.open({
    log,
    database: { listen: () => new Promise<never>(() => undefined), close: async () => undefined },
    ledger: null as never,
    closeLedger: () => undefined,
    clock: scheduler,
    grant: { leaseMs: 60_000, longestViewAgeMs: 60_000 },
    hasStrangers: () => false,
    onFailure: (cause) => expect.fail(String(cause)),
    onLateMachines: () => undefined,
  });
  storage.append(purge(["#a"]));
  await scheduler.advance(5000);
  expect(lookUps).toBe(0); // nobody waits
  let answeredAt: number | null = null;
  void keeper.find(1, 25_000).then((record) => {
    if (record?.settled) answeredAt = scheduler.now();
  });
  await scheduler.advance(1300);
  expect(answeredAt).toBeNull();
  storage.settleUpTo(storage.head);
  await scheduler.advance(1000);
  expect({ answeredAt, lookUps }).toEqual({ answeredAt: 7000, lookUps: 3 });
  await keeper.close();
});
