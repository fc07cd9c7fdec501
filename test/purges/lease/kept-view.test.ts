import { beforeEach, describe, expect, test } from "vitest";
import type { BackgroundWork } from "../../../worker/ports/background-work.ts";
import { PopSharing } from "../../../worker/purges/lease/pop-sharing.ts";
import { ViewLease } from "../../../worker/purges/lease/view-lease.ts";
import {
  type ConnectingReader,
  type LogConnection,
  type PurgeLogClient,
  REMEMBERED_BY_NAME_MS,
  REMEMBERED_MS,
  UNKNOWN_MS,
  type ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import { MemoryNotes } from "../../engine/memory/memory-notes.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { deltaOf } from "../view/delta.ts";

const LEASE_MS = 1000;
const KEEP_MS = 3000;

/** A log that answers at once, and counts how it is asked. */
class CountingLog implements PurgeLogClient {
  reads = 0;
  renewals = 0;
  readonly connections: ConnectingReader[] = [];
  open = 0;
  released = 0;
  names: (string | undefined)[] = [];
  /** The leases that reads have asked for. */
  readonly asked: number[] = [];
  /** Whether a connection answers. */
  answers = true;
  hasTooMany = false;
  head = 1;

  async read(_since: unknown, leaseMs: number, _longest?: number, _report?: string, name?: string): Promise<ViewDelta> {
    this.reads++;
    this.names.push(name);
    this.asked.push(leaseMs);
    return this.#delta();
  }

  async connect(reader: ConnectingReader): Promise<LogConnection | null> {
    if (this.hasTooMany) return null;
    if (!this.answers) return new Promise(() => undefined);
    this.connections.push(reader);
    this.open++;
    return {
      first: this.#delta(),
      renew: async () => {
        if (!this.answers) return new Promise(() => undefined);
        this.renewals++;
        return this.#delta();
      },
      release: async () => void this.released++,
      close: () => void this.open--,
    };
  }

  append(): Promise<never> {
    throw new Error("nothing is appended here");
  }

  #delta(): ViewDelta {
    return deltaOf(0, this.head, [], { logId: "a", leaseMs: LEASE_MS });
  }
}

describe("a view that is kept alive", () => {
  let scheduler: Scheduler;
  let log: CountingLog;
  let notes: MemoryNotes;
  let lease: ViewLease;
  const behind: BackgroundWork = { run: (work) => void work };

  function start(push: boolean): void {
    scheduler = new Scheduler(1, 100_000_000);
    log = new CountingLog();
    notes = new MemoryNotes(scheduler);
    lease = isolate(push);
  }

  /** Another isolate of the PoP. */
  function isolate(push: boolean): ViewLease {
    const reporter = { report: () => undefined };
    const settings = { leaseMs: LEASE_MS, skewMs: 250, keepViewMs: KEEP_MS, push };
    const pop = new PopSharing(notes, settings, scheduler, reporter);
    const view = new PurgeView(10_000);
    return new ViewLease({ settings, view, log, pop, clock: scheduler, random: () => 0.5, reporter });
  }

  /** A request, as the corridor handles one for a page in memory. Returns whether it waits for the log. */
  async function request(): Promise<boolean> {
    const now = scheduler.now();
    if (lease.isUsable(now, null)) {
      if (lease.isDue(now)) void lease.renew(behind, null);
      await scheduler.advance(0);
      return false;
    }
    const renewal = lease.renew(behind, null);
    await scheduler.advance(0);
    await renewal;
    return true;
  }

  /** A renewal whose connection does not answer for half a lease. */
  async function renewUnanswered(): Promise<void> {
    const renewal = lease.renew(behind, null);
    await scheduler.advance(LEASE_MS / 2);
    await renewal;
  }

  describe.each([
    ["by reading the log", false],
    ["over a connection", true],
  ])("%s", (_, push) => {
    beforeEach(() => start(push));

    test("spares the next request the wait, if it comes in time (R26)", async () => {
      expect(await request()).toBe(true);
      await scheduler.advance(KEEP_MS - 1);
      expect(await request()).toBe(false);
    });

    test("is kept only as long as the site says", async () => {
      await request();
      await scheduler.advance(KEEP_MS + LEASE_MS);
      expect(await request()).toBe(true);
      await scheduler.advance(60_000);
      const asked = log.reads + log.renewals;
      await scheduler.advance(60_000);
      expect({ asked: log.reads + log.renewals, open: log.open }).toEqual({ asked, open: 0 });
    });

    test("is handed over to later requests before the first one's work has to end", async () => {
      await request();
      for (let seconds = 0; seconds < 120; seconds += 2) {
        await scheduler.advance(2000);
        expect(await request()).toBe(false);
      }
      if (push) expect(log.connections.length).toBeGreaterThan(120 / 25);
      if (push) expect(log.connections.length).toBeLessThan(120 / 10);
    });
  });

  test("is renewed once if a request and the keeper find it ending at the same time (R21)", async () => {
    start(false);
    const reply = log.read.bind(log);
    log.read = async (...asked) => {
      await scheduler.wait(log.reads === 0 ? LEASE_MS * 0.94 : 0).over;
      return reply(...asked);
    };
    const look = notes.read.bind(notes);
    notes.read = async (name) => {
      await scheduler.wait(20).over;
      return look(name);
    };
    void lease.renew(behind, null);
    await scheduler.advance(LEASE_MS * 0.97);
    expect(log.reads).toBe(1);
    await request();
    await scheduler.advance(100);
    expect(log.reads).toBe(2);
  });

  test("over a connection costs no reads, and the isolate has one name", async () => {
    start(true);
    await request();
    await scheduler.advance(KEEP_MS);
    expect({ reads: log.reads, open: log.open, released: log.released }).toEqual({ reads: 0, open: 0, released: 1 });
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
    expect(log.renewals).toBeGreaterThan(2);
    await request();
    expect(new Set(log.connections.map(({ name }) => name)).size).toBe(1);
  });

  describe("a response of unknown purge state (R8)", () => {
    const FOR_A_LEASE = LEASE_MS;

    test("is served for a lease by an isolate without a name, until a day after its last read", async () => {
      start(false);
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(UNKNOWN_MS);
      await request();
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(FOR_A_LEASE);
      await scheduler.advance(REMEMBERED_MS);
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(FOR_A_LEASE); // it has been kept for a while
      await scheduler.advance(KEEP_MS);
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(UNKNOWN_MS);
    });

    test("is served for a lease by an isolate with a name, until a minute after its last renewal", async () => {
      start(true);
      expect(lease.unknownForMs(scheduler.now(), 5000)).toBe(UNKNOWN_MS);
      await request();
      log.answers = false;
      await scheduler.advance(REMEMBERED_BY_NAME_MS - 1);
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(FOR_A_LEASE);
      expect(lease.unknownForMs(scheduler.now(), 5000)).toBe(5000);
      await scheduler.advance(1);
      expect(lease.unknownForMs(scheduler.now(), 5000)).toBe(UNKNOWN_MS);
    });

    test("is not served for a lease by an isolate that has given up its own", async () => {
      start(true);
      await request();
      await scheduler.advance(KEEP_MS);
      expect(log.released).toBe(1);
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(UNKNOWN_MS);
      await request();
      expect(lease.unknownForMs(scheduler.now(), 0)).toBe(FOR_A_LEASE);
    });

    test("is not served for a lease once the clock has stepped back", async () => {
      start(false);
      await request();
      const now = scheduler.now() - 1000;
      lease.isUsable(now, null);
      expect(lease.unknownForMs(now, 0)).toBe(UNKNOWN_MS);
    });
  });

  test("takes in the log's pushes, and confirms them", async () => {
    start(true);
    await request();
    const { learn } = log.connections[0]!;
    expect(await learn(deltaOf(1, 2, [["#a", 2]], { logId: "a" }))).toBe(true);
    expect(lease.stamp()).toEqual({ logId: "a", seq: 2 });
  });

  test("works without the connection if that does not answer", async () => {
    start(true);
    log.answers = false;
    await renewUnanswered();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(log.names).toEqual([lease.name]);
    log.answers = true;
    await scheduler.advance(LEASE_MS);
    await request();
    expect(log.connections).toHaveLength(1);
    log.answers = false; // the connection is cut, and neither side knows
    await scheduler.advance(LEASE_MS * 2);
    await renewUnanswered();
    expect(lease.isUsable(scheduler.now(), null)).toBe(true);
    expect(log.reads).toBe(2);
  });

  test("works without a name if the log has too many connections, and shares its reads (R22, R26)", async () => {
    start(true);
    await request();
    log.hasTooMany = true;
    await scheduler.advance(KEEP_MS + LEASE_MS);
    await request();
    expect(log.names).toEqual([undefined]);
    expect(lease.name).toBeUndefined();
    log.hasTooMany = false;
    const other = isolate(false);
    await scheduler.settle(other.renew(behind, null));
    expect(other.isUsable(scheduler.now(), null)).toBe(true);
    await scheduler.advance(KEEP_MS + LEASE_MS);
    await request();
    expect(log.connections).toHaveLength(1);
  });

  test("keeps no connection that comes when nobody waits for it any more", async () => {
    start(true);
    const { connect } = log;
    log.connect = async (reader) => {
      await scheduler.wait(LEASE_MS).over;
      return connect.call(log, reader);
    };
    await renewUnanswered();
    await scheduler.advance(LEASE_MS);
    expect(log.connections).toHaveLength(1);
    expect(log.open).toBe(0);
  });

  test("leaves no trace of its name if a later connection exceeds the limit (R25)", async () => {
    start(true);
    await request();
    log.hasTooMany = true;
    for (let seconds = 0; lease.name !== undefined; seconds++) {
      await scheduler.advance(1000);
      if (!(await request())) expect(seconds).toBeLessThan(20);
    }
    const { renewals } = log;
    await scheduler.advance(LEASE_MS);
    expect({ open: log.open, renewals: log.renewals }).toEqual({ open: 0, renewals });
  });

  test("is not read again if another read renewed it while it waited for a connection (R22)", async () => {
    start(true);
    log.answers = false;
    const renewal = lease.renew(behind, null);
    await scheduler.advance(LEASE_MS / 4);
    void lease.renew(behind, { logId: "a", seq: 1 });
    await scheduler.advance(0);
    expect(log.reads).toBe(1);
    await scheduler.advance(LEASE_MS / 4);
    await renewal;
    expect(log.reads).toBe(1);
  });

  test("is not shared by an isolate with a name, which could not confirm for the others (R22, R25)", async () => {
    start(true);
    log.answers = false;
    await renewUnanswered();
    expect(log.names).toEqual([lease.name]);
    await scheduler.settle(isolate(false).renew(behind, null));
    expect(log.names).toEqual([lease.name, undefined]);
  });

  test("is not renewed from a copy by an isolate with a name, because the log would not know of that lease", async () => {
    start(true);
    await scheduler.settle(isolate(false).renew(behind, null));
    log.answers = false;
    await renewUnanswered();
    expect(log.names).toEqual([undefined, lease.name]);
  });

  test("is not brought back by a late reply once it has been given up (R25)", async () => {
    start(true);
    await request();
    await scheduler.advance(KEEP_MS - 1);
    const call = lease.beginCall();
    await scheduler.advance(1);
    expect(log.released).toBe(1);
    lease.takeReply(deltaOf(0, 1, [], { logId: "a", leaseMs: LEASE_MS }), call);
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
  });

  test("is not brought back by a late reply after a purge's own reply (R25)", async () => {
    start(true);
    await request();
    await scheduler.advance(KEEP_MS - 1);
    const call = lease.beginCall();
    await scheduler.advance(1);
    lease.takeReply(deltaOf(0, 2, [], { logId: "a", leaseMs: 0 }), lease.beginCall());
    lease.takeReply(deltaOf(0, 1, [], { logId: "a", leaseMs: LEASE_MS }), call);
    expect(lease.isUsable(scheduler.now(), null)).toBe(false);
  });
});
