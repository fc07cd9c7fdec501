import { beforeEach, describe, expect, test } from "vitest";
import { CONFIRM_WITHIN_MS, LogReaders } from "../../../server/log/log-readers.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { deltaOf } from "../../purges/view/delta.ts";

const at = (seq: number, logId = "a"): Stamp => ({ logId, seq });

describe("the readers of a log", () => {
  let scheduler: Scheduler;
  let head: Stamp;
  let settled: Stamp[];
  let hasStrangers: boolean;
  let readers: LogReaders;

  beforeEach(() => {
    scheduler = new Scheduler(1, 0);
    head = at(0);
    settled = [];
    hasStrangers = false;
    const log = {
      head: () => head,
      changesSince: (position: Stamp | null) =>
        deltaOf(position?.logId === head.logId ? position.seq : 0, head.seq, [], { logId: head.logId, leaseMs: 0 }),
      settleUpTo: (position: Stamp) => void settled.push(position),
    };
    readers = new LogReaders(log, scheduler, () => hasStrangers);
  });

  class Reader {
    readonly name: string;
    readonly pushed: ViewDelta[] = [];

    constructor(name: string) {
      this.name = name;
      readers.expect(name);
    }

    push(delta: ViewDelta): void {
      this.pushed.push(delta);
    }

    connect(position: Stamp | null = null): this {
      readers.connect(this.name, this, position);
      return this;
    }

    confirm(seq: number, logId = "a"): void {
      readers.confirm(this.name, at(seq, logId));
    }

    async admitted(): Promise<this> {
      const admission = readers.admit(this.name);
      this.confirm(head.seq, head.logId);
      await admission;
      this.pushed.length = 0;
      return this;
    }
  }

  const admitted = (name: string) => new Reader(name).connect().admitted();

  /** Gives the next number and pushes it. `result` is undefined while nothing is decided. */
  function purge(logId = "a") {
    head = at(logId === head.logId ? head.seq + 1 : 1, logId);
    const state: { result?: boolean } = {};
    void readers.push(head).then((result) => {
      state.result = result;
    });
    return state;
  }

  const rest = () => scheduler.advance(0);

  test("each gets a purge at once, and it has settled when the last one has confirmed it", async () => {
    const [one, two] = [await admitted("one"), await admitted("two")];
    const purged = purge();
    expect([one, two].map(({ pushed }) => pushed.map(({ from, to }) => [from, to]))).toEqual([[[0, 1]], [[0, 1]]]);
    one.confirm(1);
    await rest();
    expect(purged.result).toBeUndefined();
    expect(settled).toEqual([]);
    two.confirm(1);
    await rest();
    expect(purged.result).toBe(true);
    expect(settled).toEqual([at(1)]);
  });

  test("where nobody answers visitors, a purge has settled at once", async () => {
    const purged = purge();
    await rest();
    expect(purged.result).toBe(true);
  });

  test("pushes continue from each other, and a confirmation counts for all numbers up to it", async () => {
    const one = await admitted("one");
    const purges = [purge(), purge(), purge()];
    expect(one.pushed.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    one.confirm(3);
    await rest();
    expect(purges.map(({ result }) => result)).toEqual([true, true, true]);
  });

  test("one that does not confirm in time is not counted on, nor waited for again until it does", async () => {
    const [, late] = [await admitted("one"), await admitted("late")];
    const first = purge();
    readers.confirm("one", at(1));
    await scheduler.advance(CONFIRM_WITHIN_MS - 1);
    expect(first.result).toBeUndefined();
    await scheduler.advance(1);
    expect(first.result).toBe(false);
    const second = purge();
    readers.confirm("one", at(2));
    await rest();
    expect(second.result).toBe(false); // without a wait
    expect(settled).toEqual([]);
    late.confirm(2);
    expect(settled).toEqual([at(2)]); // the audit trail learns of it
    const third = purge();
    readers.confirm("one", at(3));
    await rest();
    expect(third.result).toBeUndefined();
    late.confirm(3);
    await rest();
    expect(third.result).toBe(true);
  });

  test("one whose process has ended holds no lease, and nobody waits for it", async () => {
    await admitted("one");
    await admitted("dead");
    const purged = purge();
    readers.confirm("one", at(1));
    readers.dismiss("dead");
    await rest();
    expect(purged.result).toBe(true);
  });

  test("one that lost its connection may still hold a lease; it gets what it has missed when it is back", async () => {
    const lost = await admitted("lost");
    readers.disconnect("lost", lost);
    const purged = purge();
    expect(lost.pushed).toEqual([]);
    await rest();
    expect(purged.result).toBeUndefined();
    lost.connect(at(0));
    expect(lost.pushed).toMatchObject([{ from: 0, to: 1 }]);
    lost.confirm(1);
    await rest();
    expect(purged.result).toBe(true);
  });

  test("a connection that is closed after the next one was made takes nothing away", async () => {
    const one = await admitted("one");
    const before = { push: () => undefined };
    readers.connect("one", before, at(0));
    one.connect(at(0));
    readers.disconnect("one", before);
    purge();
    expect(one.pushed).toHaveLength(1);
  });

  test("once another process keeps the log, nothing settles here: its readers are not known any more", async () => {
    await admitted("one");
    const before = purge();
    readers.dismissAll();
    const after = purge();
    await rest();
    expect([before.result, after.result]).toEqual([false, false]);
    expect(settled).toEqual([]);
  });

  test("while somebody may be alive that the log does not know, nothing settles by confirmations", async () => {
    hasStrangers = true;
    const one = await admitted("one");
    const first = purge();
    one.confirm(1);
    await rest();
    expect(first.result).toBe(false);
    expect(settled).toEqual([]);
    hasStrangers = false;
    const second = purge();
    one.confirm(2);
    await rest();
    expect(second.result).toBe(true);
    expect(settled.at(-1)).toEqual(at(2));
  });

  test("a confirmation of another log does not count", async () => {
    const one = await admitted("one");
    const purged = purge("b");
    one.confirm(9, "a");
    await rest();
    expect(purged.result).toBeUndefined();
    one.confirm(1, "b");
    await rest();
    expect(purged.result).toBe(true);
  });

  describe("a process that starts", () => {
    test("is admitted when it has confirmed the head, for without a view it could serve what was purged (R8)", async () => {
      head = at(3);
      const reader = new Reader("new").connect();
      let isAdmitted = false;
      void readers.admit("new").then(() => {
        isAdmitted = true;
      });
      expect(reader.pushed.at(-1)).toMatchObject({ from: 3, to: 3 }); // which makes it read the log
      reader.confirm(2);
      await rest();
      expect(isAdmitted).toBe(false);
      reader.confirm(3);
      await rest();
      expect(isAdmitted).toBe(true);
    });

    test("does not delay purges, and has to confirm those that happen before it is admitted", async () => {
      const reader = new Reader("new").connect();
      let isAdmitted = false;
      void readers.admit("new").then(() => {
        isAdmitted = true;
      });
      const purged = purge();
      await rest();
      expect(purged.result).toBe(true);
      reader.confirm(0);
      await rest();
      expect(isAdmitted).toBe(false);
      reader.confirm(1);
      await rest();
      expect(isAdmitted).toBe(true);
    });

    test("is admitted at once if it has confirmed the head before", async () => {
      const reader = new Reader("new").connect();
      reader.confirm(0);
      await readers.admit("new");
    });

    test("is asked again if it could not confirm the head", async () => {
      const reader = new Reader("new").connect();
      void readers.admit("new");
      await rest();
      reader.pushed.length = 0;
      await scheduler.advance(1000);
      expect(reader.pushed).toHaveLength(1);
      reader.confirm(0);
      await scheduler.advance(5000);
      expect(reader.pushed).toHaveLength(1);
    });

    test("is no longer waited for when it has ended", async () => {
      new Reader("new").connect();
      const admission = readers.admit("new");
      readers.dismiss("new");
      await expect(admission).rejects.toThrow("new has ended");
    });

    test("is refused if nobody expects it, and no worker of an earlier supervisor is alive", async () => {
      expect(readers.connect("stranger", { push: () => undefined }, null)).toBe(false);
      await expect(readers.admit("stranger")).rejects.toThrow("stranger has ended");
    });
  });
});
