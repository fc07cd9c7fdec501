import { beforeEach, expect, test } from "vitest";
import { NearInvalidations } from "../../../server/log/near-invalidations.ts";
import type { EdgeEvent } from "../../../worker/ports/reporter.ts";
import { Scheduler } from "../../engine/scheduler.ts";

let scheduler: Scheduler;
let invalidations: NearInvalidations;
/** The keys of each append, which the test ends. */
let appends: { keys: readonly string[]; ended: PromiseWithResolvers<void> }[];
let events: EdgeEvent[];
/** The keys whose answers have been sent. */
let sent: string[];
let work: Promise<unknown>[];

function send(...keys: string[]): void {
  const background = { run: (promise: Promise<unknown>) => void work.push(promise) };
  void invalidations.tell(keys, background).then(() => void sent.push(...keys));
}

async function end(append: number): Promise<void> {
  appends[append]!.ended.resolve();
  await scheduler.advance(0);
}

async function fail(append: number): Promise<void> {
  appends[append]!.ended.reject(new Error("the log cannot be reached"));
  await scheduler.advance(0);
}

const told = () => appends.map(({ keys }) => keys);

beforeEach(() => {
  scheduler = new Scheduler(1, 100_000_000);
  [appends, events, sent, work] = [[], [], [], []];
  const log = {
    append: async ({ purgeKeys }: { readonly purgeKeys: readonly string[] }) => {
      const ended = Promise.withResolvers<void>();
      appends.push({ keys: purgeKeys, ended });
      await ended.promise;
      return { kind: "appended", seq: 1, logId: "log", at: 0, settlesInMs: 0, replayed: false } as const;
    },
  };
  invalidations = new NearInvalidations(log, scheduler, { report: (event) => void events.push(event) });
});

test("an answer waits until the log has what its request invalidates, also what was told before", async () => {
  send("//h/a");
  await scheduler.advance(999);
  expect(sent).toEqual([]);
  await end(0);
  expect(sent).toEqual(["//h/a"]);
  send("//h/a");
  await scheduler.advance(0);
  expect([told(), sent]).toEqual([[["//h/a"], ["//h/a"]], ["//h/a"]]);
  await end(1);
  expect(sent).toEqual(["//h/a", "//h/a"]);
});

test("what is told during an append goes together with the next one", async () => {
  send("//h/a");
  send("//h/b");
  send("//h/a", "//h/c");
  await scheduler.advance(100);
  expect(told()).toEqual([["//h/a"]]);
  await end(0);
  expect([told(), sent]).toEqual([[["//h/a"], ["//h/b", "//h/a", "//h/c"]], ["//h/a"]]);
  await end(1);
  expect(sent).toEqual(["//h/a", "//h/b", "//h/a", "//h/c"]);
  await scheduler.settle(Promise.all(work));
  expect(told()).toHaveLength(2);
});

test("an answer waits for a log that does not answer for a second", async () => {
  send("//h/a");
  await scheduler.advance(999);
  expect(sent).toEqual([]);
  await scheduler.advance(1);
  expect(sent).toEqual(["//h/a"]);
});

test("an append that fails is tried until it succeeds, together with what is told meanwhile; no answer waits for that", async () => {
  send("//h/a");
  await scheduler.advance(0);
  await fail(0);
  expect(sent).toEqual(["//h/a"]);
  await scheduler.advance(25);
  send("//h/b");
  await scheduler.advance(0);
  expect(sent).toEqual(["//h/a", "//h/b"]);
  await scheduler.advance(24);
  expect(appends).toHaveLength(1);
  await scheduler.advance(1);
  expect(told()[1]).toEqual(["//h/a", "//h/b"]);
  for (let attempt = 1; attempt < 100; attempt++) {
    await fail(attempt);
    await scheduler.advance(1_000);
  }
  expect(sent).toEqual(["//h/a", "//h/b"]);
  expect(
    told()
      .slice(1)
      .every((keys) => keys.length === 2),
  ).toBe(true);
  await end(100);
  expect(appends).toHaveLength(101);
  expect(events).toHaveLength(100);
  expect(events.every(({ kind }) => kind === "log-failed")).toBe(true);
  await scheduler.settle(Promise.all(work)); // no background work fails
});

test("the pauses between attempts are doubled up to a second, and short again after a success", async () => {
  send("//h/a");
  await scheduler.advance(0);
  for (const [attempt, pauseMs] of [50, 100, 200, 400, 800, 1_000, 1_000].entries()) {
    await fail(attempt);
    await scheduler.advance(pauseMs - 1);
    expect(appends).toHaveLength(attempt + 1);
    await scheduler.advance(1);
    expect(appends).toHaveLength(attempt + 2);
  }
  await end(7);
  send("//h/b");
  await scheduler.advance(0);
  await fail(8);
  await scheduler.advance(50);
  expect(told()[9]).toEqual(["//h/b"]);
});

test("what comes during an attempt that fails does not wait for the next one", async () => {
  send("//h/a");
  send("//h/b");
  await scheduler.advance(0);
  await fail(0);
  expect(sent).toEqual(["//h/a", "//h/b"]);
  await scheduler.advance(50);
  expect(told()[1]).toEqual(["//h/a", "//h/b"]);
});

test("if the keys that wait have more than 4 Mi characters, everything is invalidated", async () => {
  send("//h/a");
  await scheduler.advance(0);
  const long = (index: number) => `//h/${index}`.padEnd(16 * 1024, "a");
  for (let index = 0; index < 256; index++) send(long(index));
  send(long(0));
  await end(0);
  expect(told()[1]).toHaveLength(256);
  for (let index = 0; index < 257; index++) send(long(index));
  await end(1);
  expect(told()[2]).toEqual(["*"]);
});

test("if more than 10,000 keys wait, everything is invalidated", async () => {
  send("//h/a");
  await scheduler.advance(0);
  for (let index = 0; index < 10_000; index++) send(`//h/${index}`);
  await end(0);
  expect(told()[1]).toHaveLength(10_000);
  for (let index = 0; index < 10_001; index++) send(`//h/${index}`);
  send("//h/b");
  await end(1);
  expect(told()[2]).toEqual(["*"]);
});

test("the log may lack a key until an append with it has succeeded, and may lack any key when too many wait", async () => {
  const lacks = () => ["//h/a", "//h/b", "//h/c"].map((key) => invalidations.mayLack(key));
  send("//h/a");
  send("//h/b");
  expect(lacks()).toEqual([true, true, false]);
  await fail(0);
  expect(lacks()).toEqual([true, true, false]);
  await scheduler.advance(50);
  expect(lacks()).toEqual([true, true, false]);
  await end(1);
  expect(lacks()).toEqual([false, false, false]);
  send("group:https://h one");
  expect(lacks()).toEqual([true, true, true]);
  await end(2);
  expect(lacks()).toEqual([false, false, false]);
  send("//h/a");
  send(...Array.from({ length: 10_001 }, (_, at) => `//h/${at}`));
  await end(3);
  expect(lacks()).toEqual([true, true, true]);
});
