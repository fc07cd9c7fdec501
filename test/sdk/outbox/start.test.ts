import { channel } from "node:diagnostics_channel";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Drain } from "../../../sdk/outbox/drain.ts";
import { createOutbox } from "../../../sdk/outbox/sqlite.ts";
import { sqliteStore } from "../../../sdk/outbox/sqlite-store.ts";
import { createVirtualClock, type VirtualClock } from "../virtual-clock.ts";
import { accepts, createScriptedPurger, fails, forTags, heldUp, isUnreachable, refuses } from "./scripted-purger.ts";

const PAUSE_MS = 500; // after the first failure, with a random part of 0
const EVERY_MS = 30_000;

let database: DatabaseSync;
let purger: ReturnType<typeof createScriptedPurger>;
let clock: VirtualClock;
let drain: Drain<string>;
let errors: unknown[];
/** The pauses of the background that have begun, and the end of a wait for the next one. */
let pauses: number[];
let paused: () => void;

beforeEach(() => {
  database = new DatabaseSync(":memory:");
  purger = createScriptedPurger();
  clock = createVirtualClock();
  errors = [];
  pauses = [];
  paused = () => {};
  const outbox = createOutbox({ database, purger });
  outbox.createTable();
  const platform = {
    clock,
    idle: (ms: number, signal: AbortSignal) => {
      pauses.push(ms);
      paused();
      return clock.sleep(ms, signal).catch(() => {});
    },
    random: () => 0,
    newId: () => crypto.randomUUID(),
  };
  const settings = { purger, maxAttempts: 20, deadlineMs: 10_000, onDead: () => {} };
  drain = new Drain(sqliteStore(database, clock.now, platform), settings, platform);
});

afterEach(async () => {
  await drain.close();
  database.close();
});

function enqueue(...tags: string[]): void {
  const outbox = createOutbox({ database, purger });
  database.exec("BEGIN");
  for (const tag of tags) outbox.enqueue(database, { tags: [tag] });
  database.exec("COMMIT");
}

/** Does something, and waits until the background pauses again. */
async function untilPaused(act: () => void): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  paused = resolve;
  act();
  await promise;
  return pauses.at(-1)!;
}

const start = () => drain.start({ onError: (error) => errors.push(error), everyMs: EVERY_MS });

test("The start sends what was left behind, and looks again after the time it was given", async () => {
  enqueue("a");
  expect(await untilPaused(start)).toBe(EVERY_MS);
  expect(purger.tags).toEqual(["a"]);
  enqueue("b"); // by another process
  expect(await untilPaused(() => clock.advance(EVERY_MS))).toBe(EVERY_MS);
  expect(purger.tags).toEqual(["a", "b"]);
});

test("A purge that failed is tried again when it is due", async () => {
  purger.answer = isUnreachable;
  enqueue("a");
  expect(await untilPaused(start)).toBe(PAUSE_MS);
  expect(await untilPaused(() => clock.advance(PAUSE_MS))).toBe(2 * PAUSE_MS);
  purger.answer = accepts;
  expect(await untilPaused(() => clock.advance(2 * PAUSE_MS))).toBe(EVERY_MS);
  expect(purger.tags).toEqual(["a", "a", "a"]);
});

test("A failure in a call of drain by the backend ends the pause of the background earlier", async () => {
  expect(await untilPaused(start)).toBe(EVERY_MS);
  purger.answer = fails;
  enqueue("a");
  expect(await untilPaused(() => void drain.drain())).toBe(PAUSE_MS);
  purger.answer = accepts;
  await untilPaused(() => clock.advance(PAUSE_MS));
  expect(purger.tags).toEqual(["a", "a"]);
});

test("An error of the database is reported, and the background tries again after pauses that grow", async () => {
  enqueue("a");
  database.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
  expect(await untilPaused(start)).toBe(PAUSE_MS);
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining("no such table") })]);
  expect(await untilPaused(() => clock.advance(PAUSE_MS))).toBe(2 * PAUSE_MS);
  database.exec("ALTER TABLE hidden RENAME TO tidemark_outbox");
  expect(await untilPaused(() => clock.advance(2 * PAUSE_MS))).toBe(EVERY_MS);
  expect([purger.tags, errors.length]).toEqual([["a"], 2]);
  database.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
  expect(await untilPaused(() => clock.advance(EVERY_MS))).toBe(PAUSE_MS);
});

test("An error of the database in a call of drain by the backend ends the pause of the background earlier", async () => {
  expect(await untilPaused(start)).toBe(EVERY_MS);
  enqueue("a");
  database.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
  expect(await untilPaused(() => void drain.drain().catch(() => {}))).toBe(PAUSE_MS);
  database.exec("ALTER TABLE hidden RENAME TO tidemark_outbox");
  await untilPaused(() => clock.advance(PAUSE_MS));
  expect([purger.tags, errors]).toEqual([["a"], []]);
});

test.each([
  [
    "throws",
    (reason: Error) => {
      throw reason;
    },
  ],
  ["rejects", (reason: Error) => Promise.reject(reason)],
])("If onError %s, both errors are printed, and the background continues", async (_, fail) => {
  const broken = new Error("no log");
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    database.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
    await untilPaused(() => drain.start({ onError: () => fail(broken), everyMs: EVERY_MS }));
    database.exec("ALTER TABLE hidden RENAME TO tidemark_outbox");
    enqueue("a");
    await untilPaused(() => clock.advance(PAUSE_MS));
    expect(purger.tags).toEqual(["a"]);
    const told = expect.objectContaining({ message: expect.stringContaining("no such table") });
    expect(print).toHaveBeenCalledExactlyOnceWith("onError failed:", broken, "It was told of:", told);
  } finally {
    print.mockRestore();
  }
});

test("A rejection of onDead is printed, and told to onError once the outbox was started; the drain ends", async () => {
  const broken = new Error("no mail");
  const told = Promise.withResolvers<unknown>();
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  const outbox = createOutbox({ database, purger, onDead: () => Promise.reject(broken) });
  purger.answer = refuses;
  try {
    enqueue("a");
    expect((await outbox.drain()).dead).toHaveLength(1);
    expect(print).toHaveBeenCalledExactlyOnceWith("onDead failed:", broken);
    enqueue("b");
    outbox.start({ onError: told.resolve });
    expect((await outbox.drain()).dead).toHaveLength(1);
    expect(await told.promise).toBe(broken);
    expect(print).toHaveBeenCalledOnce();
  } finally {
    print.mockRestore();
    await outbox.close();
  }
});

test("After an error of the database, the background pauses although a purge is due", async () => {
  const onError = (error: unknown) => {
    if (errors.push(error) === 1) return;
    void drain.close(); // it would go on for ever, and let nothing else happen
    paused();
  };
  purger.answer = isUnreachable;
  enqueue("a");
  await untilPaused(() => drain.start({ onError, everyMs: EVERY_MS }));
  database.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
  expect(await untilPaused(() => clock.advance(PAUSE_MS))).toBe(PAUSE_MS);
  expect(errors).toHaveLength(1);
});

test("An error of the database while rows get their leases back is reported", async () => {
  database.exec(`CREATE TRIGGER broken BEFORE UPDATE ON tidemark_outbox
    WHEN new.lease_until = 0 AND new.failures = old.failures BEGIN SELECT raise(FAIL, 'broken'); END`);
  purger.answer = isUnreachable;
  enqueue("a", "a");
  await expect(drain.drain()).rejects.toThrow("broken");
});

test("A call of drain during another one looks again, each time", async () => {
  for (const [first, late] of [
    ["a", "b"],
    ["c", "d"],
  ] as const) {
    const slow = heldUp();
    purger.answer = forTags([first], slow.answer);
    enqueue(first);
    const drained = drain.drain();
    await slow.arrived;
    enqueue(late);
    const following = drain.drain();
    slow.end(accepts);
    await drained;
    expect((await following).sent.map(({ request }) => request.tags)).toContainEqual([late]);
  }
});

test("Closing waits for running sends, and a second start is refused", async () => {
  const slow = heldUp();
  purger.answer = slow.answer;
  enqueue("a");
  start();
  expect(start).toThrow("start: this outbox was started already");
  await slow.arrived;
  const closed = drain.close();
  slow.end(accepts);
  await closed;
  expect(database.prepare("SELECT count(*) AS n FROM tidemark_outbox").get()?.n).toBe(0);
});

test("A purge behind one that another process sends, which is closed then, is sent within a second of it", async () => {
  const other = createOutbox({ database, purger, now: clock.now });
  const slow = heldUp();
  purger.answer = forTags(["a"], slow.answer);
  enqueue("a");
  const sending = other.drain();
  await slow.arrived;
  enqueue("a", "b");
  expect(await untilPaused(start)).toBe(1_000);
  expect(purger.tags).toEqual(["a", "b"]);
  const closed = other.close();
  slow.end(accepts);
  await Promise.all([closed, sending]);
  purger.answer = accepts;
  expect(await untilPaused(() => clock.advance(1_000))).toBe(EVERY_MS);
  expect(purger.tags).toEqual(["a", "b", "a"]);
});

test("A row is sent only while its lease covers the whole attempt; the others get a new lease", async () => {
  const leftMs: number[] = [];
  const leaseOf = database.prepare("SELECT lease_until FROM tidemark_outbox WHERE id = ?");
  // Each attempt takes as long as it may.
  purger.answer = async (request) => {
    leftMs.push(Number(leaseOf.get(request.id!)?.lease_until) - clock.now());
    clock.advance(10_000);
    return accepts(request);
  };
  enqueue("a", "a", "a", "a", "a");
  const { sent } = await drain.drain();
  expect(sent).toHaveLength(5);
  expect(leftMs).toEqual([30_000, 20_000, 10_000, 30_000, 20_000]);
});

test("The outcome of a purge is published on a channel", async () => {
  const seen: string[] = [];
  const subscribed = ["sent", "failed", "dead"].map((kind) => {
    const listener = (message: unknown) => {
      const { id, request, failures } = message as {
        id: string;
        request: { tags: string[]; id: string };
        failures: number;
      };
      seen.push(`${kind} ${request.tags} ${failures} ${id === request.id}`);
    };
    channel(`tidemark:outbox:${kind}`).subscribe(listener);
    return () => channel(`tidemark:outbox:${kind}`).unsubscribe(listener);
  });
  purger.answer = forTags(["bad"], refuses, forTags(["slow"], fails));
  enqueue("good", "slow", "bad");
  await drain.drain();
  for (const unsubscribe of subscribed) unsubscribe();
  expect(seen.sort()).toEqual(["dead bad 1 true", "failed slow 1 true", "sent good 0 true"]);
});

test("A script with a started outbox ends by itself", async () => {
  const { spawnSync } = await import("node:child_process");
  const script = `
    import { DatabaseSync } from "node:sqlite";
    import { createOutbox } from "./sdk/outbox/sqlite.ts";
    const outbox = createOutbox({ database: new DatabaseSync(":memory:"), purger: { async purge() {} } });
    outbox.createTable();
    outbox.start({ onError: console.error });`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
