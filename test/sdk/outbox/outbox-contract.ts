import * as fc from "fast-check";
import { expect, describe as vitestDescribe, test as vitestTest } from "vitest";
import type { PurgeInput } from "../../../sdk/index.ts";
import type {
  DeadPurge,
  DrainReport,
  EnqueueOptions,
  ListOptions,
  OutboxOptions,
  QueuedPurge,
} from "../../../sdk/outbox/sqlite.ts";
import { byDepth } from "../../suite/depth.ts";
import {
  accepts,
  createScriptedPurger,
  fails,
  forTags,
  heldUp,
  isBlocked,
  isHalfAccepted,
  isUnreachable,
  refreshesSlowly,
  refuses,
  type ScriptedPurger,
} from "./scripted-purger.ts";

/** An outbox over one of the databases. */
export interface OutboxUnderTest {
  /** Writes purges in one transaction and commits it, even if one is refused. */
  enqueue(...purges: [PurgeInput, EnqueueOptions?][]): Promise<string[]>;
  /** Writes a purge in a transaction and rolls that back. */
  enqueueAndRollBack(purge: PurgeInput): Promise<void>;
  drain(): Promise<DrainReport<string>>;
  list(options?: ListOptions): Promise<QueuedPurge[]>;
  requeue(ids?: Iterable<string>): Promise<number>;
  discard(ids: Iterable<string>): Promise<number>;
  close(): Promise<void>;
}

export interface DatabaseUnderTest {
  /** Opens an outbox over the same table with a connection of its own, as another process has it. */
  open(options: OutboxOptions<string>): Promise<OutboxUnderTest>;
  /** Empties the table, and closes all outboxes. */
  reset(): Promise<void>;
}

/** The longest lease: three deadlines. */
const LEASE_MS = 30_000;

const MINUTE_MS = 60_000;

/** More than a claim takes; with all tests, also more than it reads at once. */
const OLD_PURGES = byDepth({ test: 120, gate: 120, all: 600 });

/** Vitest's functions, as far as the contract calls them. Who collects the tests gives others. */
export interface TestFunctions {
  describe(name: string, define: () => void): unknown;
  test: {
    (name: string, run: () => Promise<void>): unknown;
    each<Case>(cases: readonly Case[]): (name: string, run: (each: Case) => Promise<void>) => unknown;
  };
}

/** What an outbox does, whatever its database. */
export function describeOutbox(
  database: DatabaseUnderTest,
  { describe, test }: TestFunctions = { describe: vitestDescribe, test: vitestTest },
): void {
  let now = 0;

  async function open(
    more: Partial<OutboxOptions<string>> = {},
  ): Promise<OutboxUnderTest & { purger: ScriptedPurger }> {
    const purger = createScriptedPurger();
    const outbox = await database.open({ purger, now: () => now, ...more });
    return { ...outbox, purger };
  }

  const tagged = (...lists: string[]): [PurgeInput][] => lists.map((tags) => [{ tags: tags.split(" ") }]);

  describe("after the commit", () => {
    test("a purge is sent once, with the id that enqueue gave", async () => {
      const outbox = await open();
      const [id] = await outbox.enqueue([
        { tags: new Set(["a", "b"]), urls: [new URL("https://a.example/")] },
        { reason: "r" },
      ]);
      const request = { tags: ["a", "b"], urls: ["https://a.example/"], reason: "r", id };
      expect(await outbox.list()).toEqual([
        {
          id,
          request,
          state: "waiting",
          failures: 0,
          lastError: null,
          enqueuedAt: expect.any(Number),
          dueAt: 0,
          deadAt: null,
        },
      ]);
      expect(await outbox.drain()).toEqual({
        sent: [{ id, request, receipt: id, failures: 0 }],
        failed: [],
        dead: [],
        nextDueInMs: null,
      });
      expect(await outbox.list()).toEqual([]);
      await outbox.drain();
      expect(outbox.purger.requests).toEqual([request]);
    });

    test("the id may be the backend's own, and stands in the table once", async () => {
      const outbox = await open();
      const again: [PurgeInput, EnqueueOptions] = [{ tags: ["b", "a"] }, { id: "order-7", reason: "again" }];
      await outbox.enqueue([{ tags: ["a", "b"] }, { id: "order-7", mode: "hard" }], again, ...tagged("c"));
      expect(await outbox.enqueue(again)).toEqual(["order-7"]);
      const { sent } = await outbox.drain();
      expect(sent.map(({ request }) => request.tags).toSorted()).toEqual([["a", "b"], ["c"]]);
    });

    test("the id of a purge that was given up gives it all its attempts again", async () => {
      const outbox = await open();
      outbox.purger.answer = refuses;
      await outbox.enqueue([{ tags: ["a"] }, { id: "order-7" }]);
      await outbox.drain();
      await outbox.enqueue([{ tags: ["a"] }, { id: "order-7" }]);
      expect(await outbox.list()).toMatchObject([{ id: "order-7", state: "waiting", failures: 0 }]);
      outbox.purger.answer = accepts;
      expect((await outbox.drain()).sent.map(({ id }) => id)).toEqual(["order-7"]);
    });

    test("the id of a purge that was given up gives it all its attempts again, whatever the order of its items", async () => {
      const outbox = await open();
      outbox.purger.answer = refuses;
      await outbox.enqueue([{ tags: ["a", "b"], urls: ["/c"] }, { id: "order-7" }]);
      await outbox.drain();
      await outbox.enqueue([{ urls: ["/c"], tags: ["b", "a"] }, { id: "order-7" }]);
      expect(await outbox.list()).toMatchObject([{ id: "order-7", state: "waiting", failures: 0 }]);
      outbox.purger.answer = accepts;
      expect((await outbox.drain()).sent.map(({ id }) => id)).toEqual(["order-7"]);
    });

    test("the id of another purge in the table is refused", async () => {
      const outbox = await open();
      await outbox.enqueue([{ tags: ["a"] }, { id: "order-7" }]);
      for (const [items, mode] of [
        [{ tags: ["b"] }, "hard"],
        [{ urls: ["/a"] }, "hard"],
        [{ tags: ["a"] }, "soft"],
      ] as const) {
        await expect(outbox.enqueue([items, { id: "order-7", mode }])).rejects.toThrow(
          /^enqueue: id: the outbox has another purge with the id "order-7"/,
        );
      }
      expect((await outbox.drain()).sent.map(({ request }) => request.tags)).toEqual([["a"]]);
    });

    test("the id of another purge that was given up is refused, and leaves that as it is", async () => {
      const outbox = await open();
      outbox.purger.answer = refuses;
      await outbox.enqueue([{ tags: ["a"] }, { id: "order-7" }]);
      await outbox.drain();
      await expect(outbox.enqueue([{ tags: ["b"] }, { id: "order-7" }])).rejects.toThrow(
        /^enqueue: id: the outbox has/,
      );
      expect(await outbox.list()).toMatchObject([{ id: "order-7", state: "dead", failures: 1 }]);
    });

    test("a transaction that is rolled back purges nothing", async () => {
      const outbox = await open();
      await outbox.enqueueAndRollBack({ tags: ["a"] });
      expect(await outbox.drain()).toEqual({ sent: [], failed: [], dead: [], nextDueInMs: null });
      expect(outbox.purger.requests).toEqual([]);
    });

    test("a thousand purges are sent by one call, at most eight at once, and the rest by the next", async () => {
      const outbox = await open();
      await outbox.enqueue(...Array.from({ length: 1_001 }, (_, index) => tagged(`t${index}`)[0]!));
      const first = await outbox.drain();
      expect([first.sent.length, first.nextDueInMs]).toEqual([1_000, 0]);
      expect(outbox.purger.mostAtOnce).toBe(8);
      const second = await outbox.drain();
      expect([second.sent.length, second.nextDueInMs]).toEqual([1, null]);
    });

    test("a call during another one reports the purges of both", async () => {
      const outbox = await open();
      const slow = heldUp();
      outbox.purger.answer = forTags(["a"], slow.answer);
      await outbox.enqueue(...tagged("a"));
      const first = outbox.drain();
      await slow.arrived;
      const [id] = await outbox.enqueue(...tagged("b"));
      const others = [outbox.drain(), outbox.drain()];
      slow.end(accepts);
      await first;
      for (const report of await Promise.all(others)) expect(report.sent.map((sent) => sent.id)).toContain(id);
      expect(outbox.purger.tags).toEqual(["a", "b"]);
    });
  });

  describe("the order", () => {
    test("purges with a tag in common are sent in their order, one after another", async () => {
      const outbox = await open();
      await outbox.enqueue(...tagged("a", "a b", "b", "a", "c"));
      await outbox.drain();
      const orderOf = (tag: string) => outbox.purger.tags.filter((tags) => tags.includes(tag));
      expect([orderOf("a"), orderOf("b")]).toEqual([
        ["a", "a b", "a"],
        ["a b", "b"],
      ]);
      expect(outbox.purger.tags.indexOf("c")).toBe(1); // beside the first
    });

    test("a purge is not overtaken by a later one of its tag while it waits for its next attempt, but by others", async () => {
      const outbox = await open();
      outbox.purger.answer = forTags(["a"], fails);
      await outbox.enqueue(...tagged("a", "a b", "b c", "d"));
      const report = await outbox.drain();
      expect(outbox.purger.tags).toEqual(["a", "d"]);
      expect(report).toMatchObject({
        sent: [{ request: { tags: ["d"] } }],
        failed: [{ request: { tags: ["a"] }, failures: 1 }],
      });
      expect(report.nextDueInMs).toBe(report.failed[0]!.dueInMs);

      outbox.purger.answer = accepts;
      await outbox.enqueue(...tagged("a", "e"));
      await outbox.drain();
      expect(outbox.purger.tags).toEqual(["a", "d", "e"]);

      now += 1_000;
      await outbox.drain();
      expect(outbox.purger.tags).toEqual(["a", "d", "e", "a", "a b", "b c", "a"]);
      expect(new Set(outbox.purger.requests.map(({ id }) => id)).size).toBe(6);
    });

    test("a purge is not overtaken while another process sends it", async () => {
      const [one, other] = [await open(), await open()];
      const slow = heldUp();
      one.purger.answer = forTags(["a"], slow.answer);
      await one.enqueue(...tagged("a"));
      const first = one.drain();
      await slow.arrived;
      await other.enqueue(...tagged("a", "b"));
      expect(await other.drain()).toMatchObject({ sent: [{ request: { tags: ["b"] } }], nextDueInMs: 1_000 });
      slow.end(accepts);
      await first;
      await other.drain();
      expect([...one.purger.tags, ...other.purger.tags]).toEqual(["a", "a", "b"].sort());
    });

    test("no order of failures, processes and pauses makes a later purge of a tag happen first", async () => {
      const tags = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 2 });
      const step = fc.oneof(
        fc.record({ enqueue: fc.array(tags, { minLength: 1, maxLength: 4 }) }),
        fc.record({
          failing: fc.subarray(["a", "b", "c", "d"]),
          drains: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
        }),
        fc.record({ passMs: fc.constantFrom(1, 600, 2_000, 40_000) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          await database.reset();
          const happened: string[] = [];
          const enqueued: { id: string; tags: readonly string[] }[] = [];
          const outboxes = [await open(), await open(), await open()];
          const answer = (failing: readonly string[]) =>
            forTags(failing, fails, async ({ id }) => {
              happened.push(id!);
              return id!;
            });
          for (const each of steps) {
            if ("passMs" in each) now += each.passMs;
            else if ("enqueue" in each) {
              const ids = await outboxes[0]!.enqueue(...each.enqueue.map((tags): [PurgeInput] => [{ tags }]));
              enqueued.push(...ids.map((id, index) => ({ id, tags: each.enqueue[index]! })));
            } else {
              for (const { purger } of outboxes) purger.answer = answer(each.failing);
              await Promise.all(each.drains.map((index) => outboxes[index]!.drain()));
            }
          }
          for (const { purger } of outboxes) purger.answer = answer([]);
          now += 3_600_000;
          await Promise.all(outboxes.map((outbox) => outbox.drain()));
          await outboxes[0]!.drain();
          for (const tag of ["a", "b", "c", "d"]) {
            const expected = enqueued.filter(({ tags }) => tags.includes(tag)).map(({ id }) => id);
            expect(happened.filter((id) => expected.includes(id))).toEqual(expected);
          }
          expect(await outboxes[0]!.list()).toEqual([]);
        }),
        { numRuns: byDepth({ test: 8, gate: 8, all: 30, explore: 200 }) },
      );
    });
  });

  describe("a purge that fails", () => {
    test("is tried again with the same id when its pause is over, and not before", async () => {
      const outbox = await open();
      outbox.purger.answer = fails;
      const [id] = await outbox.enqueue(...tagged("a"));
      const { failed } = await outbox.drain();
      const [{ dueInMs }] = failed as [(typeof failed)[0]];
      expect(dueInMs).toBeGreaterThanOrEqual(500);
      expect(dueInMs).toBeLessThanOrEqual(1_000);
      expect(await outbox.list()).toMatchObject([{ failures: 1, lastError: "Error: it failed", dueAt: now + dueInMs }]);

      outbox.purger.answer = accepts;
      now += dueInMs - 1;
      expect(await outbox.drain()).toMatchObject({ sent: [], nextDueInMs: 1 });
      now += 1;
      expect(await outbox.drain()).toMatchObject({ sent: [{ id, failures: 1 }], nextDueInMs: null });
      expect(outbox.purger.requests.map((request) => request.id)).toEqual([id, id]);
    });

    test("does not hold up others, even if what the purger throws has no text", async () => {
      const outbox = await open();
      await outbox.enqueue(...tagged("a"), ...tagged("b"));
      outbox.purger.answer = async (request) => {
        if (request.tags?.includes("a")) throw Object.assign(Object.create(null), { status: 500 });
        return await accepts(request);
      };
      const { sent, failed } = await outbox.drain();
      expect([sent, failed]).toMatchObject([[{ request: { tags: ["b"] } }], [{ request: { tags: ["a"] } }]]);
      expect(await outbox.list()).toMatchObject([{ failures: 1, lastError: expect.stringContaining("status: 500") }]);
    });

    test("is given up after the last attempt, reported, listed, and sent again once it is requeued", async () => {
      const told: DeadPurge[] = [];
      const outbox = await open({ maxAttempts: 3, onDead: (purge) => told.push(purge) });
      outbox.purger.answer = fails;
      const [id] = await outbox.enqueue(...tagged("a", "a"));
      for (const kind of ["failed", "failed", "dead"] as const) {
        expect((await outbox.drain())[kind].map((purge) => purge.id)).toContain(id);
        now += 3_600_000;
      }
      expect(told).toEqual([
        { id, request: { tags: ["a"], id }, error: new Error("it failed"), failures: 3, because: "attempts" },
      ]);
      expect(await outbox.list({ state: "dead" })).toMatchObject([
        { id, state: "dead", failures: 3, lastError: "Error: it failed", deadAt: expect.any(Number) },
      ]);

      outbox.purger.answer = accepts;
      expect((await outbox.drain()).sent).toHaveLength(1); // the one behind it
      expect(await outbox.requeue()).toBe(1);
      expect(await outbox.list()).toMatchObject([{ id, state: "waiting", failures: 0 }]);
      expect((await outbox.drain()).sent).toMatchObject([{ id }]);
      expect(await outbox.list()).toEqual([]);
    });

    test("is given up at once if the edge refuses the request, and holds back no other", async () => {
      const outbox = await open();
      outbox.purger.answer = forTags(["bad"], refuses);
      await outbox.enqueue(...tagged("bad a", "a"));
      expect(await outbox.drain()).toMatchObject({
        sent: [{ request: { tags: ["a"] } }],
        dead: [{ request: { tags: ["bad", "a"] }, because: "refused", failures: 1 }],
        nextDueInMs: null,
      });
    });

    test("ends the call if the edge cannot be reached: the others keep their attempts, and are due at once", async () => {
      const outbox = await open();
      outbox.purger.answer = isUnreachable;
      await outbox.enqueue(...Array.from({ length: 20 }, (_, index) => tagged(`t${index}`)[0]!));
      const report = await outbox.drain();
      expect(report.failed).toHaveLength(8);
      expect(report.nextDueInMs).toBeGreaterThanOrEqual(500);
      expect((await outbox.list()).map(({ failures }) => failures)).toEqual([
        ...Array(8).fill(1),
        ...Array(12).fill(0),
      ]);
      const other = await open();
      expect((await other.drain()).sent.map(({ failures }) => failures)).toEqual(Array(12).fill(0));
    });

    test("holds up no other purge if the edge accepts these", async () => {
      const outbox = await open();
      outbox.purger.answer = forTags(["a"], isUnreachable);
      await outbox.enqueue(...Array.from({ length: 20 }, (_, index) => tagged(index === 0 ? "a" : `t${index}`)[0]!));
      expect(await outbox.drain()).toMatchObject({ sent: Array(19).fill({}), failed: [{ failures: 1 }] });
    });

    test("that a firewall blocks is tried again, and holds up no others, not even those of its tags", async () => {
      const outbox = await open();
      outbox.purger.answer = forTags(["blocked"], isBlocked);
      await outbox.enqueue(...tagged("songs blocked", "songs 2", "songs 3"));
      const { failed } = await outbox.drain();
      now += failed[0]!.dueInMs - 1;
      await outbox.drain();
      expect((await outbox.list()).map(({ request, state }) => [request.tags, state])).toEqual([
        [["songs", "blocked"], "waiting"],
      ]);
      expect(outbox.purger.tags).toEqual(["songs blocked", "songs 2", "songs 3"]);
    });

    test("is sent again within a minute of the end of an outage, with those behind it", async () => {
      const outbox = await open();
      outbox.purger.answer = isUnreachable;
      await outbox.enqueue(...tagged("a", "a b"));
      for (let minutes = 0; minutes < 3 * 60; minutes++) {
        await outbox.drain();
        now += 60_000;
      }
      outbox.purger.answer = accepts;
      expect((await outbox.drain()).sent.map(({ request }) => request.tags!.join(" "))).toEqual(["a", "a b"]);
    });

    test("at one edge of several holds up no purges at the others, whatever their tags", async () => {
      const outbox = await open();
      outbox.purger.answer = isHalfAccepted;
      await outbox.enqueue(...Array.from({ length: 20 }, (_, index) => tagged(`t${index} all`)[0]!));
      const { failed, nextDueInMs } = await outbox.drain();
      expect(failed).toHaveLength(20);
      expect(nextDueInMs).toBe(Math.min(...failed.map(({ dueInMs }) => dueInMs)));
      await outbox.enqueue(...tagged("later all"));
      expect((await outbox.drain()).failed).toMatchObject([{ request: { tags: ["later", "all"] } }]);

      outbox.purger.answer = accepts;
      now += 1_000;
      expect((await outbox.drain()).sent).toHaveLength(21);
    });

    test("at one edge of several is tried again after new purges, and only a few times for each call", async () => {
      const outbox = await open();
      outbox.purger.answer = isHalfAccepted;
      await outbox.enqueue(...Array.from({ length: OLD_PURGES }, (_, index) => tagged(`old:${index}`)[0]!));
      await outbox.drain();
      now += 60_000;

      await outbox.enqueue(...tagged("new"));
      const before = outbox.purger.requests.length;
      const { failed, nextDueInMs } = await outbox.drain();
      const sent = outbox.purger.tags.slice(before);
      expect([sent[0], sent.slice(1).every((tag) => tag.startsWith("old:"))]).toEqual(["new", true]);
      expect(sent.length).toBeLessThanOrEqual(1 + 8);
      expect(nextDueInMs).toBe(Math.min(...failed.map(({ dueInMs }) => dueInMs)));

      outbox.purger.answer = accepts;
      now += 60_000;
      expect((await outbox.drain()).sent).toHaveLength(OLD_PURGES + 1);
    });

    test("at one edge of several until it is given up ends the call, like one that is tried again", async () => {
      const outbox = await open({ maxAttempts: 2 });
      outbox.purger.answer = isHalfAccepted;
      await outbox.enqueue(...Array.from({ length: 20 }, (_, index) => tagged(`t${index}`)[0]!));
      await outbox.drain();
      now += 60_000;
      expect((await outbox.drain()).dead).toHaveLength(8);
    });

    test("at one edge of several is sent again without refresh: the other has fetched its pages again", async () => {
      const outbox = await open();
      outbox.purger.answer = isHalfAccepted;
      await outbox.enqueue([{ urls: ["/a"], refresh: true }]);
      await outbox.drain();
      outbox.purger.answer = accepts;
      now += 1_000;
      expect((await outbox.drain()).sent).toHaveLength(1);
      expect(outbox.purger.requests.map(({ refresh }) => refresh)).toEqual([true, false]);
    });

    test("because its pages take longer than the deadline is sent again without refresh, and stops no others", async () => {
      const outbox = await open();
      outbox.purger.answer = refreshesSlowly;
      const request = { urls: ["/slow"], refresh: true };
      await outbox.enqueue([request], ...Array.from({ length: 20 }, (_, index) => tagged(`t${index}`)[0]!));
      const first = await outbox.drain();
      expect([first.sent.length, first.failed.length]).toEqual([20, 1]);
      now += 1_000;
      expect(await outbox.drain()).toMatchObject({ sent: [{ request, failures: 1 }], nextDueInMs: null });
    });

    test("is due at once after requeue with its id; a purge that waits cannot be discarded", async () => {
      const outbox = await open();
      outbox.purger.answer = fails;
      const [a, b] = await outbox.enqueue(...tagged("a", "b"));
      await outbox.drain();
      expect([await outbox.discard([a!]), await outbox.requeue([a!, "unknown"])]).toEqual([0, 1]);
      outbox.purger.answer = accepts;
      expect((await outbox.drain()).sent.map(({ id }) => id)).toEqual([a]);
      expect((await outbox.list()).map(({ id }) => id)).toEqual([b]);
    });

    test("has all its attempts again after requeue, even if one is under way, whose failure does not count", async () => {
      const outbox = await open({ maxAttempts: 2 });
      outbox.purger.answer = fails;
      const [id] = await outbox.enqueue(...tagged("a"));
      await outbox.drain();
      now += 1_000;
      const slow = heldUp();
      outbox.purger.answer = slow.answer;
      const second = outbox.drain();
      await slow.arrived;
      expect(await outbox.requeue([id!])).toBe(1);
      const other = await open();
      expect((await other.drain()).sent).toEqual([]); // it is still being sent
      slow.end(fails);
      expect(await second).toMatchObject({ failed: [], dead: [] });
      expect(await outbox.list()).toMatchObject([{ state: "waiting", failures: 0 }]);
      now += LEASE_MS;
      expect((await other.drain()).sent).toMatchObject([{ id, failures: 0 }]);
    });

    test("can be discarded once it was given up", async () => {
      const outbox = await open();
      outbox.purger.answer = refuses;
      const ids = await outbox.enqueue(...tagged("a", "b"));
      await outbox.drain();
      expect(await outbox.discard([ids[0]!])).toBe(1);
      expect((await outbox.list({ state: "dead", limit: 5 })).map(({ id }) => id)).toEqual([ids[1]]);
      expect(await outbox.list({ state: "waiting" })).toEqual([]);
      expect(await outbox.list({ limit: 1 })).toHaveLength(1);
    });
  });

  describe("several processes", () => {
    test("share the work: no purge is sent twice", async () => {
      const outboxes = [await open(), await open(), await open(), await open()];
      const ids = await outboxes[0]!.enqueue(
        ...Array.from({ length: 300 }, (_, index) => tagged(`t${index % 90}`)[0]!),
      );
      await Promise.all(outboxes.map((outbox) => outbox.drain()));
      await outboxes[0]!.drain(); // those behind a row that another process was sending
      const sent = outboxes.flatMap(({ purger }) => purger.requests.map(({ id }) => id!));
      expect(sent.sort()).toEqual(ids.sort());
    });

    test("take over the purges of one that was killed when its lease is over, with the same id", async () => {
      const [killed, other] = [await open(), await open()];
      const slow = heldUp();
      killed.purger.answer = slow.answer;
      const [id] = await killed.enqueue(...tagged("a"));
      const first = killed.drain();
      await slow.arrived;
      now += LEASE_MS - 1;
      expect(await other.drain()).toMatchObject({ sent: [], nextDueInMs: 1 });
      now += 1;
      expect(await other.drain()).toMatchObject({ sent: [{ id }] });
      slow.end(accepts);
      expect((await first).sent).toHaveLength(1);
      expect(await other.list()).toEqual([]);
    });

    test("send what waits for an instant of a clock that was five minutes ahead, in its order", async () => {
      const [killed, other] = [await open(), await open()];
      now += 5 * MINUTE_MS;
      killed.purger.answer = fails;
      await killed.enqueue(...tagged("a"));
      await killed.drain();
      const slow = heldUp();
      killed.purger.answer = slow.answer;
      await killed.enqueue(...tagged("b"));
      const first = killed.drain();
      await slow.arrived;
      now -= 5 * MINUTE_MS;
      await other.enqueue(...tagged("a b"));
      expect((await other.drain()).sent).toHaveLength(3);
      expect(other.purger.tags).toEqual(["a", "b", "a b"]);
      slow.end(accepts);
      await first;
    });

    test("are not disturbed by the late failure of one that was stopped for longer than its lease", async () => {
      const [stopped, other] = [await open(), await open()];
      const [slow, slower] = [heldUp(), heldUp()];
      stopped.purger.answer = slow.answer;
      other.purger.answer = slower.answer;
      await stopped.enqueue(...tagged("a"));
      const first = stopped.drain();
      await slow.arrived;
      now += LEASE_MS;
      const second = other.drain();
      await slower.arrived;
      slow.end(refuses);
      expect(await first).toMatchObject({ sent: [], failed: [], dead: [] });
      expect(await other.list()).toMatchObject([{ state: "waiting", failures: 0 }]);
      slower.end(accepts);
      expect((await second).sent).toHaveLength(1);
    });

    test("do not report a purge as one to be tried again that another one has sent meanwhile", async () => {
      const [stopped, other] = [await open(), await open()];
      const slow = heldUp();
      stopped.purger.answer = slow.answer;
      await stopped.enqueue(...tagged("a"));
      const first = stopped.drain();
      await slow.arrived;
      now += LEASE_MS;
      expect((await other.drain()).sent).toHaveLength(1);
      slow.end(isUnreachable);
      expect(await first).toMatchObject({ sent: [], failed: [], dead: [] });
      expect(await other.list()).toEqual([]);
    });
  });

  test("A closed outbox finishes running sends, and starts no more", async () => {
    const outbox = await open();
    const slow = heldUp();
    outbox.purger.answer = slow.answer;
    await outbox.enqueue(...tagged("a", "a"));
    const draining = outbox.drain();
    await slow.arrived;
    const closed = outbox.close();
    slow.end(accepts);
    await closed;
    expect((await draining).sent).toHaveLength(1);
    expect(await outbox.drain()).toEqual({ sent: [], failed: [], dead: [], nextDueInMs: null });
    expect(outbox.purger.tags).toEqual(["a"]);
    const other = await open();
    expect((await other.drain()).sent).toHaveLength(1); // its lease was given back
  });

  test("A call that waits for another resolves with the report of that one if the outbox is closed", async () => {
    const outbox = await open();
    const slow = heldUp();
    outbox.purger.answer = slow.answer;
    await outbox.enqueue(...tagged("a"));
    const first = outbox.drain();
    await slow.arrived;
    const second = outbox.drain();
    const closed = outbox.close();
    slow.end(accepts);
    await closed;
    expect(await second).toEqual(await first);
  });

  test("Fractions of a millisecond in the deadline and in the clock are rounded", async () => {
    const outbox = await open({ deadlineMs: 1_234.5, now: () => now + 0.25 });
    outbox.purger.answer = fails;
    await outbox.enqueue(...tagged("a"));
    const { failed } = await outbox.drain();
    expect(await outbox.list()).toMatchObject([{ dueAt: now + failed[0]!.dueInMs }]);
    outbox.purger.answer = accepts;
    now += 1_000;
    expect((await outbox.drain()).sent).toHaveLength(1);
  });

  test("A callback that throws loses no purge, and is not swallowed", async () => {
    const outbox = await open({
      onDead: () => {
        throw new Error("in the callback");
      },
    });
    outbox.purger.answer = forTags(["bad"], refuses);
    await outbox.enqueue(...tagged("bad", "bad", "a"));
    await expect(outbox.drain()).rejects.toThrow("in the callback");
    await expect(outbox.drain()).rejects.toThrow("in the callback");
    expect((await outbox.list()).map(({ state }) => state)).toEqual(["dead", "dead"]);
    expect(outbox.purger.tags).toEqual(["bad", "a", "bad"]);
  });

  const callbacks: {
    waits: string;
    ends: boolean;
    onDead(outbox: OutboxUnderTest, purge: DeadPurge): Promise<unknown>;
  }[] = [
    {
      waits: "for another drain",
      ends: true,
      async onDead(outbox, { id }) {
        await outbox.discard([id]);
        await outbox.drain();
      },
    },
    { waits: "for the close", ends: true, onDead: (outbox) => outbox.close() },
    { waits: "for ever", ends: false, onDead: () => new Promise(() => {}) },
  ];
  test.each(callbacks)("A callback that waits $waits does not hold up the drain", async ({ ends, onDead }) => {
    let called: Promise<unknown> = Promise.resolve();
    const outbox = await open({
      onDead(purge) {
        called = onDead(outbox, purge);
        return called;
      },
    });
    outbox.purger.answer = forTags(["bad"], refuses);
    await outbox.enqueue(...tagged("bad", "a"));
    const { dead, sent } = await outbox.drain();
    expect([dead.length, sent.length]).toEqual([1, 1]);
    if (ends) await called; // before its table goes
  });

  describe("misuse", () => {
    const WRONG: { name: string; purge: PurgeInput; options: EnqueueOptions; says: RegExp }[] = [
      { name: "an empty list", purge: { tags: [] }, options: {}, says: /^enqueue: tags: name at least one tag/ },
      {
        name: "a tag with a space",
        purge: { tags: ["a b"] },
        options: {},
        says: /^enqueue: tags\[0\]: a tag must be printable/,
      },
      {
        name: "a URL with a space beside a tag",
        purge: { tags: ["a"], urls: ["/a b"] },
        options: {},
        says: /^enqueue: urls\[0\]: a URL cannot have a space/,
      },
      {
        name: "more than an edge takes",
        purge: { urls: Array.from({ length: 300 }, (_, index) => `/${index}${"x".repeat(14_000)}`) },
        options: {},
        says: /^enqueue: has 42\d{5} bytes as JSON; one purge can have at most 4194304, so split it$/,
      },
      { name: "a dry run", purge: { tags: ["a"], dryRun: true }, options: {}, says: /^enqueue: dryRun/ },
      {
        name: "a deadline",
        purge: { tags: ["a"] },
        options: { deadlineMs: 5 } as object,
        says: /^enqueue: deadlineMs is an option for calls that send/,
      },
    ];
    test.each(WRONG)("enqueue refuses $name, and writes nothing", async ({ purge, options, says }) => {
      const outbox = await open();
      await expect(outbox.enqueue([purge, options])).rejects.toThrow(says);
      expect(await outbox.list()).toEqual([]);
    });

    test("options that do not exist are refused", async () => {
      await expect(open({ maxAttempt: 3 } as object)).rejects.toThrow(
        /^createOutbox: maxAttempt: unknown key; did you mean maxAttempts/,
      );
      await expect(open({ purger: {} } as object)).rejects.toThrow(/^createOutbox: purger: must be a purger/);
      const outbox = await open();
      await expect(outbox.list({ state: "sent" } as object)).rejects.toThrow(
        /^list: state: must be "waiting" or "dead"/,
      );
      await expect(outbox.requeue([7] as unknown as string[])).rejects.toThrow("requeue: an id must be a string");
    });
  });
}
