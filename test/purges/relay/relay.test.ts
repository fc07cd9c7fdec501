import { beforeEach, describe, expect, test } from "vitest";
import { ConnectedLog, type Push } from "../../../worker/purges/log/connected-log.ts";
import {
  RELAY_AGE_MS,
  REMEMBERED_BY_NAME_MS,
  REMEMBERED_MS,
  type ReaderPosition,
  relayedForMs,
  type ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Relay, type RelayedLog } from "../../../worker/purges/relay/relay.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import { chances } from "../../engine/chances.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { emptyStorage, openLog, settlesAfter } from "../log/a-log.ts";
import { purge } from "../log/a-purge.ts";

const START = 100_000;
const SKEW_MS = 250;
const LEASE_MS = 1000;
const NAMED_MS = LEASE_MS + relayedForMs(SKEW_MS);
/** A purge settles then if nobody confirms it. */
const BOUND_MS = NAMED_MS + SKEW_MS;

describe("a relay of the log (R27)", () => {
  let scheduler: Scheduler;
  let log: SqlPurgeLog;
  let connected: ConnectedLog;
  let relay: Relay;
  /** Whether the relay reaches the log. */
  let isReached: boolean;
  /** How long a push of the log is under way to the relay. */
  let pushTakesMs: number;
  let copies: Sql;
  let replyTakesMs: number;
  let reads: number;
  const random = chances(1);

  beforeEach(() => start({}));

  async function start(settings: Partial<LogSettings>): Promise<void> {
    scheduler = new Scheduler(1, START);
    isReached = true;
    pushTakesMs = 0;
    replyTakesMs = 0;
    reads = 0;
    makeLog("log-1", settings);
    await scheduler.advance(2 * REMEMBERED_MS);
    copies = emptyStorage();
    relay = startRelay();
  }

  function makeLog(id: string, settings: Partial<LogSettings> = {}): void {
    let made = 0;
    log = openLog(scheduler, { settings, newId: () => (made++ === 0 ? id : `${id} anew`) });
    connected = new ConnectedLog(log, scheduler);
    log.read(null, 1, 1, "the first");
  }

  const openCopy = () => openLog(scheduler, { storage: copies, newId: () => "a copy" });

  /** An instance of the relay's object, which ends when another one takes its place. */
  function startRelay(): Relay {
    const isConnected = () => isReached && relay === started;
    const reach = () => {
      reads++;
      if (!isConnected()) throw new Error("the log cannot be reached");
    };
    const root: RelayedLog = {
      read: async (since, leaseMs, longestMs, _, name) => {
        reach();
        return log.read(since, leaseMs, longestMs, name);
      },
      connect: async ({ learn, ...asked }) => {
        reach();
        const to = connected;
        const { first, connection } = to.open(asked, async (delta) => {
          if (!isConnected()) throw new Error("the relay cannot be reached");
          if (pushTakesMs > 0) await scheduler.wait(pushTakesMs).over;
          return learn(delta);
        })!;
        return {
          first,
          renew: async (since, leaseMs, longestMs) => {
            reach();
            if (to !== connected) throw new Error("another log has taken its place");
            const delta = to.renew(connection, since, leaseMs, longestMs);
            if (replyTakesMs > 0) await scheduler.wait(replyTakesMs).over;
            return delta;
          },
          release: async () => to.release(connection),
          close: () => to.disconnect(connection),
        };
      },
    };
    const started = new Relay(openCopy(), root, scheduler, random);
    return started;
  }

  const append = () => {
    const result = log.append(purge(["#a"], { reader: "purger", longestViewAgeMs: NAMED_MS }));
    connected.push();
    return result;
  };

  async function reader(name: string, push: Push, since: ReaderPosition | null = null, leaseMs = LEASE_MS) {
    const longestViewAgeMs = leaseMs + relayedForMs(SKEW_MS);
    const opened = await relay.open({ name, since, leaseMs, longestViewAgeMs, skewMs: SKEW_MS }, push);
    return opened!;
  }

  const at = (seq: number, logId = "log-1"): ReaderPosition => ({ logId, seq });

  const settlesIn = (seq: number) => settlesAfter(connected, seq, scheduler);

  test("passes a purge on at once, and confirms it when all of its readers have", async () => {
    const pushed: number[] = [];
    await reader("one", async ({ to }) => pushed.push(to) > 0);
    await reader("two", async () => {
      await scheduler.wait(700).over;
      return true;
    });
    expect(append()).toMatchObject({ settlesInMs: BOUND_MS, maySettleSooner: true });
    const settles = settlesIn(1);
    await scheduler.advance(0);
    expect(pushed).toEqual([1]);
    expect(await settles).toBe(700);
  });

  test("confirms as soon as the log allows it, if its readers are quick", async () => {
    await reader("one", async () => true);
    append();
    expect(await settlesIn(1)).toBe(300);
  });

  test.each<[string, Push]>([
    ["cannot be reached", () => Promise.reject(new Error("lost"))],
    ["cannot take it in", async () => false],
    ["does not answer", () => new Promise(() => undefined)],
  ])("does not confirm for a reader that %s before its lease is over", async (_, push) => {
    await reader("one", push);
    append();
    expect(await settlesIn(1)).toBe(BOUND_MS);
  });

  test("confirms late what a reader has confirmed by its renewal", async () => {
    const { connection } = await reader("one", async () => false);
    append();
    await scheduler.advance(800);
    await relay.renew(connection, at(1), LEASE_MS, NAMED_MS);
    expect(log.find(1)).toMatchObject({ settled: false });
    await scheduler.advance(RELAY_AGE_MS / 4);
    expect(log.find(1)).toMatchObject({ settled: true });
  });

  test("answers by a read of the log that is a second old, and no older", async () => {
    const { connection } = await reader("one", async () => true);
    isReached = false;
    const renew = () => relay.renew(connection, at(0), LEASE_MS, NAMED_MS);
    await scheduler.advance(RELAY_AGE_MS);
    expect((await renew()).leaseMs).toBe(LEASE_MS);
    await scheduler.advance(1);
    await expect(renew()).rejects.toThrow("the relay does not reach the log");
    isReached = true;
    expect((await renew()).leaseMs).toBe(LEASE_MS);
  });

  test("counts the age of what it knows from the start of its read, however late the reply is", async () => {
    const { connection } = await reader("one", async () => true);
    replyTakesMs = 600;
    await scheduler.advance(RELAY_AGE_MS / 4 + 1); // its next read has begun
    isReached = false;
    await scheduler.advance(RELAY_AGE_MS - 2);
    const renew = () => relay.renew(connection, at(0), LEASE_MS, NAMED_MS);
    expect((await renew()).leaseMs).toBe(LEASE_MS);
    await scheduler.advance(2);
    await expect(renew()).rejects.toThrow("the relay does not reach the log");
  });

  test("a purge waits for what a relay may have granted that is cut off from the log", async () => {
    await reader("one", async () => true);
    isReached = false;
    append();
    expect(await settlesIn(1)).toBe(BOUND_MS);
  });

  test("tells the log of a longer lease before it grants it", async () => {
    await reader("one", async () => true);
    expect(append()).toMatchObject({ settlesInMs: BOUND_MS });
    await reader("two", async () => true, null, 5 * LEASE_MS);
    expect(append()).toMatchObject({ settlesInMs: BOUND_MS + 4 * LEASE_MS });
  });

  test("that has restarted does not confirm for readers that it has forgotten, for a minute", async () => {
    await reader("one", async () => true);
    relay = startRelay();
    await reader("two", async () => true);
    await scheduler.advance(100);
    expect(append()).toMatchObject({ settlesInMs: BOUND_MS, maySettleSooner: true });
    expect(await settlesIn(1)).toBe(BOUND_MS);
    await scheduler.advance(REMEMBERED_BY_NAME_MS);
    await reader("three", async () => true);
    append();
    expect(await settlesIn(2)).toBe(300);
  });

  test("reads the log anew for a reader of another log, which may be a newer one", async () => {
    await reader("one", async () => true);
    makeLog("log-2");
    append();
    const before = reads;
    const { first } = await reader("two", async () => true, at(1, "log-2"));
    expect(first).toMatchObject({ logId: "log-2", to: 1 });
    expect(reads).toBeGreaterThan(before);
  });

  test("confirms no purge of a log by the numbers of the next one (R13)", async () => {
    await reader("one", () => new Promise(() => undefined));
    await reader("two", async () => true);
    append();
    await scheduler.advance(RELAY_AGE_MS / 2);
    const earlier = log;
    makeLog("log-2");
    append();
    const opening = reader("three", async () => true, at(1, "log-2"));
    await scheduler.advance(RELAY_AGE_MS / 4);
    const { connection } = await opening;
    await relay.renew(connection, at(1, "log-2"), LEASE_MS, NAMED_MS);
    await scheduler.advance(RELAY_AGE_MS / 2); // it gives the push of the earlier log its answer
    expect(earlier.find(1)).toMatchObject({ settled: false });
  });

  test("tells a log whose storage went back in time of a number that its readers have not confirmed (R13)", async () => {
    await reader("one", async () => false);
    append();
    append();
    await scheduler.advance(1);
    makeLog("log-1");
    append();
    const { first } = await reader("two", async () => true, null, 2 * LEASE_MS); // for which it has to read the log
    expect(log.head).toEqual(at(1, "log-1 anew"));
    expect(first).toMatchObject({ logId: "log-1 anew", to: 1 });
  });

  test("reads all that the log has before it answers, however many replies that takes (R12)", async () => {
    await start({ maxReplyKeys: 2 });
    for (const key of ["#a", "#b", "#c", "#d", "#e", "#f"]) log.append(purge([key], { reader: "purger" }));
    const { first } = await reader("one", async () => true);
    expect(first).toMatchObject({ from: 0, to: 6, truncatedAt: 0 });
    expect(first.items.length / 3).toBe(6);
  });

  test("sends what it has of an older purge after a later one of the same key", async () => {
    const pushed: ViewDelta[] = [];
    const view = new PurgeView(64 * 1024);
    const { first } = await reader("one", async (delta) => {
      pushed.push(delta);
      return view.apply(delta);
    });
    view.apply(first);
    append();
    append();
    await scheduler.advance(500);
    expect(view.position).toEqual(at(2));
    const late = await reader("two", async () => true);
    expect([...late.first.items].filter((_, index) => index % 3 === 2)).toEqual([2]);
  });

  test("keeps a key's highest number, in whatever order what the log has sent arrives (R11)", () => {
    const copy = openCopy();
    const [first, second] = [1, 2].map(() => {
      log.append(purge(["#a"], { reader: "purger" }));
      return log.changesSince(null);
    });
    copy.follow(second!);
    copy.follow(first!);
    expect(copy.changesSince(null)).toEqual(second);
  });

  test("writes to its storage only what is new to it", async () => {
    await reader("one", async () => false); // so that the log sends each purge again until the lease is over
    const changes = () => copies.exec("SELECT total_changes() AS n")[0]!.n;
    append();
    await scheduler.advance(1);
    expect(changes()).toBeGreaterThan(0);
    const before = changes();
    const readsBefore = reads;
    await scheduler.advance(10_000);
    expect(reads).toBeGreaterThan(readsBefore + 10);
    expect(changes()).toBe(before);
  });

  test("passes on what the log has forgotten (R13)", async () => {
    await start({ maxHeldKeys: 2 });
    for (const key of ["#a", "#b", "#c", "#d"]) log.append(purge([key], { reader: "purger" }));
    const { first } = await reader("one", async () => true);
    expect(first).toMatchObject({ to: 4, floor: 2 });
  });

  test("a reader that is ahead of it changes nothing, and is not waited for", async () => {
    await reader("one", async () => true);
    isReached = false;
    append();
    const { first } = await reader("two", () => Promise.reject(new Error("never asked")), at(1));
    expect(first).toMatchObject({ logId: "log-1", from: 0, to: 0, leaseMs: LEASE_MS });
    isReached = true;
    expect(await settlesIn(1)).toBeLessThan(BOUND_MS);
  });

  test("a reader that is ahead of it is not told that it has read what the relay lacks (R12)", async () => {
    await start({ maxReplyKeys: 2 });
    const view = new PurgeView(64 * 1024);
    const { first, connection } = await reader("one", async () => false);
    view.apply(first);
    isReached = false;
    for (const key of ["#a", "#b", "#c", "#d"]) log.append(purge([key], { reader: "purger" }));
    view.apply(log.read(view.readerPosition, 0, NAMED_MS, "one"));
    expect(view.readerPosition).toEqual({ ...at(4), unread: { from: 0, to: 2 } });
    const renew = async () => view.apply(await relay.renew(connection, view.readerPosition, LEASE_MS, NAMED_MS));
    await renew();
    expect(view.isComplete).toBe(false);
    isReached = true;
    await scheduler.advance(RELAY_AGE_MS);
    await renew();
    expect(view.isComplete).toBe(true);
    expect(view.heldKeys).toBe(4);
  });

  test("gives up its lease when its readers have, and reads the log anew for the next one", async () => {
    const { connection } = await reader("one", async () => true);
    await scheduler.advance(10_000);
    relay.release(connection);
    relay.disconnect(connection);
    await scheduler.advance(RELAY_AGE_MS / 2);
    expect(connected.size).toBe(0);
    isReached = false;
    await expect(reader("two", async () => true)).rejects.toThrow("the relay does not reach the log");
    expect(append()).toMatchObject({ settlesInMs: 300, maySettleSooner: false });
    const before = reads;
    await scheduler.advance(60_000);
    expect(reads).toBe(before);
  });

  test("opens no connection for a push that arrives when its readers have gone", async () => {
    await start({ maxReplyKeys: 2 });
    const { connection } = await reader("one", async () => true);
    pushTakesMs = RELAY_AGE_MS;
    for (const key of ["#a", "#b", "#c"]) log.append(purge([key], { reader: "purger" }));
    connected.push();
    isReached = false;
    relay.release(connection);
    relay.disconnect(connection);
    await scheduler.advance(RELAY_AGE_MS / 2);
    isReached = true;
    const before = reads;
    await scheduler.advance(60_000);
    expect(reads).toBe(before);
    expect(connected.size).toBe(0);
  });

  test("closes its connection if the reader that it was opened for is gone before the answer", async () => {
    const { connection } = await reader("one", () => Promise.reject(new Error("lost")));
    append();
    await scheduler.advance(2 * REMEMBERED_BY_NAME_MS);
    expect(connected.size).toBe(0);
    const renewal = relay.renew(connection, at(1), LEASE_MS, NAMED_MS);
    relay.disconnect(connection);
    await expect(renewal).rejects.toThrow("has been closed");
    await scheduler.advance(RELAY_AGE_MS);
    expect(connected.size).toBe(0);
  });

  test("forgets the lease that a reader has asked for when it has gone", async () => {
    const { connection } = await reader("one", async () => true, null, 5 * LEASE_MS);
    relay.release(connection);
    relay.disconnect(connection);
    await scheduler.advance(2 * REMEMBERED_MS);
    await reader("two", async () => true);
    expect(append()).toMatchObject({ settlesInMs: BOUND_MS });
  });

  test("keeps on for as long as a reader that has gone without a word may use what it knows", async () => {
    const { connection } = await reader("one", async () => false);
    relay.disconnect(connection);
    await scheduler.advance(REMEMBERED_BY_NAME_MS);
    expect(connected.size).toBe(1);
    await scheduler.advance(NAMED_MS + RELAY_AGE_MS);
    expect(connected.size).toBe(0);
  });

  test("does not take a connection back whose reader has closed it during a renewal", async () => {
    const { connection } = await reader("one", async () => true);
    await scheduler.advance(RELAY_AGE_MS * 2);
    isReached = false;
    await scheduler.advance(RELAY_AGE_MS + 1);
    isReached = true;
    const renewal = relay.renew(connection, at(0), LEASE_MS, NAMED_MS);
    relay.disconnect(connection);
    await expect(renewal).rejects.toThrow("has been closed");
  });
});
