import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Confirmed, Settlement } from "../../../worker/purges/settlement/settlement.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { SettlementModel } from "./settlement-model.ts";

const SKEW_MS = 250;
const BOUND_MS = 1250;
const EARLIEST_MS = 300;
const NOW = 10_000;
const FOR_EVER = Number.POSITIVE_INFINITY;
const MAX_WATCHED = 64;

const seed = Number(process.env.TEST_SEED ?? 1);

const at = (seq: number, logId = "a"): Stamp => ({ logId, seq });

/** Watches a purge as a log does. */
function watch(settlement: Settlement, seq: number, now = NOW, logId = "a") {
  return settlement.watch(at(seq, logId), now + EARLIEST_MS, now + BOUND_MS, SKEW_MS, now);
}

function joined(...readers: string[]): Settlement {
  const settlement = new Settlement();
  for (const reader of readers) settlement.join(reader, NOW + 60_000, NOW);
  return settlement;
}

const early = { settlesAt: NOW + EARLIEST_MS, maySettleSooner: false };
const late = { settlesAt: NOW + BOUND_MS, maySettleSooner: true };
const byTheClock = { settlesAt: NOW + BOUND_MS, maySettleSooner: false };

describe("a settlement", () => {
  test("lets a purge that nobody can lack settle as early as allowed", () => {
    expect(watch(new Settlement(), 1)).toEqual(early);
  });

  test.each([1, 60_000])("waits for a reader until its lease of %i ms has run out, with the allowance", (leaseMs) => {
    const settlement = new Settlement();
    settlement.join("one", NOW + 1 - SKEW_MS, NOW + 1 - SKEW_MS - leaseMs);
    expect(watch(settlement, 1)).toEqual(late);
    expect(watch(settlement, 2, NOW + 1)).toEqual({ settlesAt: NOW + 1 + EARLIEST_MS, maySettleSooner: false });
  });

  test("waits for the longest lease of a reader, even after a shorter one", () => {
    const settlement = new Settlement();
    settlement.join("one", NOW + 5000, NOW);
    settlement.join("one", NOW + 1000, NOW);
    expect(settlement.unconfirmed(at(1), NOW + 4999)).toEqual(["one"]);
    expect(settlement.unconfirmed(at(1), NOW + 5000)).toEqual([]);
  });

  test("ends the wait when every reader has confirmed the purge, or a later one", () => {
    const settlement = joined("one", "two");
    watch(settlement, 1);
    expect(settlement.confirm("one", at(1))).toEqual([]);
    expect(settlement.unconfirmed(at(1), NOW)).toEqual(["two"]);
    expect(settlement.confirm("two", at(2))).toMatchObject([{ seq: 1, logId: "a", earliest: NOW + EARLIEST_MS }]);
    expect(settlement.unconfirmed(at(1), NOW)).toEqual([]);
  });

  test("does not wait for a reader that knew of the purge before", () => {
    const settlement = joined("ahead");
    settlement.confirm("ahead", at(3));
    expect(watch(settlement, 3)).toEqual(early);
    expect(watch(settlement, 4)).toEqual(late);
  });

  test("does not wait for a lease that is granted after the purge, because its reply has the purge", () => {
    const settlement = joined("one");
    watch(settlement, 1);
    settlement.join("one", NOW + 1000, NOW + 800);
    settlement.join("new", NOW + 1000, NOW + 800);
    expect(settlement.confirm("new", at(1))).toEqual([]);
    expect(settlement.confirm("one", at(1))).toHaveLength(1);
  });

  test("does not wait for a reader that has left, unless it has got a lease over another connection since", () => {
    const settlement = new Settlement();
    const [one, two] = [{}, {}];
    settlement.join("reader", FOR_EVER, NOW, one);
    watch(settlement, 1);
    expect(settlement.leave("reader", two)).toEqual([]);
    expect(settlement.leave("reader", one)).toMatchObject([{ seq: 1 }]);
    settlement.join("reader", FOR_EVER, NOW, one);
    settlement.join("reader", FOR_EVER, NOW, two);
    watch(settlement, 2);
    expect(settlement.leave("reader", one)).toEqual([]);
    expect(settlement.leave("reader", two)).toMatchObject([{ seq: 2 }]);
  });

  test("waits for a reader whose connection has ended, if it has got a lease without one since", () => {
    const settlement = new Settlement();
    const connection = {};
    settlement.join("reader", NOW + 1000, NOW, connection);
    settlement.join("reader", NOW + 2000, NOW);
    watch(settlement, 1);
    expect(settlement.leave("reader", connection)).toEqual([]);
    expect(settlement.unconfirmed(at(1), NOW)).toEqual(["reader"]);
  });

  test("lets nothing settle by confirmations while an unknown reader may use an older view", () => {
    const settlement = joined("one");
    settlement.stranger(NOW - SKEW_MS + 1);
    expect(watch(settlement, 1)).toEqual(byTheClock);
    expect(settlement.confirm("one", at(1))).toEqual([]);
    expect(watch(settlement, 2, NOW + 1)).toMatchObject({ maySettleSooner: true });
    settlement.stranger(FOR_EVER);
    expect(watch(settlement, 3)).toEqual(byTheClock);
    settlement.stranger(-FOR_EVER);
    expect(watch(settlement, 4)).toEqual(late);
  });

  test("does not mistake another log's number for one of this log", () => {
    const settlement = joined("one");
    watch(settlement, 1);
    expect(settlement.confirm("one", at(9, "b"))).toEqual([]);
    expect(settlement.confirmedUpTo(at(1), NOW)).toBe(0);
    expect(settlement.confirm("one", at(1))).toHaveLength(1);
    watch(settlement, 1, NOW, "b");
    expect(settlement.confirm("one", at(1, "b"))).toMatchObject([{ seq: 1, logId: "b" }]);
  });

  test("watches a bounded number of purges, and lets others settle by the clock", () => {
    const settlement = joined("one");
    for (let seq = 1; seq <= MAX_WATCHED; seq++) expect(watch(settlement, seq)).toEqual(late);
    expect(watch(settlement, MAX_WATCHED + 1)).toEqual(byTheClock);
    expect(settlement.confirm("one", at(MAX_WATCHED + 1))).toHaveLength(MAX_WATCHED);
    for (let seq = 1; seq <= MAX_WATCHED; seq++) watch(settlement, 100 + seq);
    expect(watch(settlement, 300, NOW + BOUND_MS)).toMatchObject({ maySettleSooner: true }); // in place of those that settled
  });

  test("forgets readers whose leases ended long ago, even if nobody purges", () => {
    const settlement = new Settlement();
    for (let number = 0; number < 5000; number++) {
      settlement.join(`reader ${number}`, NOW + number * 100 + 1000, NOW + number * 100);
    }
    expect(settlement.size).toBeLessThan(2500);
  });
});

const readers = ["one", "two", "three"];
const reader = fc.constantFrom(...readers);
const connection = fc.constantFrom({}, {});
const logId = fc.constantFrom("a" as const, "a" as const, "a" as const, "b" as const);
const HIGHEST = 12;
const position = fc.record({ logId, seq: fc.integer({ min: 1, max: HIGHEST }) });
const durationMs = fc.constantFrom(0, 1, 200, 300, 1000, 3000);

describe(`a settlement under random calls (TEST_SEED=${seed})`, () => {
  test("answers like the model", { tags: ["gate"] }, () => {
    const call = fc.oneof(
      fc.record({ call: fc.constant("join" as const), reader, forMs: durationMs, by: connection }),
      fc.record({ call: fc.constant("confirm" as const), reader, position }),
      fc.record({ call: fc.constant("leave" as const), reader, by: connection }),
      fc.record({ call: fc.constant("stranger" as const), forMs: fc.constantFrom(-1000, -1000, 100) }),
      fc.record({ call: fc.constant("watch" as const), logId, earliestMs: fc.constantFrom(0, 300, 2000) }),
      fc.record({ call: fc.constant("pass" as const), forMs: durationMs }),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60, size: "max" }), (calls) => {
        const [settlement, model] = [new Settlement(), new SettlementModel(MAX_WATCHED)];
        const heads = { a: 0, b: 0 };
        const bounds = new Map<string, number>();
        const stampOf = ({ logId: log, seq }: Stamp) => `${log} ${seq}`;
        const unsettled = (told: readonly Stamp[]) => told.map(stampOf).filter((stamp) => now < bounds.get(stamp)!);
        let now = NOW;
        for (const each of calls) {
          if (each.call === "pass") now += each.forMs;
          else if (each.call === "join") {
            settlement.join(each.reader, now + each.forMs, now, each.by);
            model.join(each.reader, now + each.forMs, each.by);
          } else if (each.call === "confirm") {
            const told = settlement.confirm(each.reader, each.position);
            expect(unsettled(told)).toEqual(unsettled(model.confirm(each.reader, each.position, now)));
          } else if (each.call === "leave") {
            const told = settlement.leave(each.reader, each.by);
            expect(unsettled(told)).toEqual(unsettled(model.leave(each.reader, each.by, now)));
          } else if (each.call === "stranger") {
            settlement.stranger(now + each.forMs);
            model.stranger(now + each.forMs);
          } else {
            const purged = at(++heads[each.logId], each.logId);
            const times = [now + each.earliestMs, now + BOUND_MS, SKEW_MS, now] as const;
            bounds.set(stampOf(purged), now + BOUND_MS);
            expect(settlement.watch(purged, ...times)).toEqual(model.watch(purged, ...times));
          }
          const highest = settlement.confirmedUpTo(at(HIGHEST), now);
          for (let seq = 1; seq <= HIGHEST; seq++) {
            const unconfirmed = settlement.unconfirmed(at(seq), now);
            expect(unconfirmed.sort()).toEqual(model.unconfirmed(at(seq), now).sort());
            expect(unconfirmed.length === 0).toBe(seq <= highest);
          }
        }
      }),
      { seed, numRuns: 200 },
    );
  });

  test("prevents the use of a view that lacks a settled purge, whatever is late, lost or doubled", () => {
    const leaseMs = fc.constantFrom(0, 1000, 1000);
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ step: fc.constant("renew" as const), reader, leaseMs, isLost: fc.boolean() }),
      },
      { weight: 6, arbitrary: fc.record({ step: fc.constant("push" as const), reader }) },
      { weight: 8, arbitrary: fc.record({ step: fc.constant("deliver" as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ step: fc.constant("leave" as const), reader }) },
      { weight: 3, arbitrary: fc.record({ step: fc.constant("purge" as const) }) },
      { weight: 1, arbitrary: fc.record({ step: fc.constant("newLog" as const) }) },
      {
        weight: 4,
        arbitrary: fc.record({ step: fc.constant("pass" as const), forMs: fc.constantFrom(1, 100, 200, 300, 1000) }),
      },
    );
    let settledSooner = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
        const settlement = new Settlement();
        /** What each isolate knows, and until when it may use that. */
        const isolates = new Map(readers.map((name) => [name, { view: at(0), until: 0, by: {} }]));
        /** Confirmations that are on their way. They may arrive in any order, again and again, or never. */
        const onTheWay: { reader: string; position: Stamp }[] = [];
        const settles = new Map<number, number>();
        let head = at(0);
        let now = NOW;
        const learn = (settled: readonly Confirmed[]) => {
          for (const { logId, seq, earliest } of settled) {
            if (logId !== head.logId) continue;
            settledSooner++;
            settles.set(seq, Math.min(settles.get(seq)!, Math.max(now, earliest)));
          }
        };
        for (const each of steps) {
          if (each.step === "pass") now += each.forMs;
          else if (each.step === "purge") {
            head = at(head.seq + 1, head.logId);
            settles.set(head.seq, watch(settlement, head.seq, now, head.logId).settlesAt);
          } else if (each.step === "newLog") {
            head = at(0, `${head.logId}'`);
            settles.clear();
            for (const isolate of isolates.values()) isolate.until = 0; // their log is gone, with what it had promised
          } else if (each.step === "deliver") {
            const message = onTheWay[each.which % onTheWay.length];
            if (message) learn(settlement.confirm(message.reader, message.position));
          } else {
            const isolate = isolates.get(each.reader)!;
            if (each.step === "renew") {
              settlement.join(each.reader, now + each.leaseMs, now, isolate.by);
              if (!each.isLost)
                Object.assign(isolate, { view: head, until: Math.max(isolate.until, now + each.leaseMs) });
            } else if (each.step === "push") {
              isolate.view = head;
              onTheWay.push({ reader: each.reader, position: head });
            } else {
              isolate.until = 0;
              learn(settlement.leave(each.reader, isolate.by));
              isolate.by = {};
            }
          }
          const settled = [...settles].filter(([, settlesAt]) => settlesAt <= now).map(([seq]) => seq);
          for (const { view, until } of isolates.values()) {
            if (now >= until || view.logId !== head.logId) continue;
            expect(Math.max(0, ...settled)).toBeLessThanOrEqual(view.seq);
          }
        }
      }),
      { seed, numRuns: 500 },
    );
    expect(settledSooner).toBeGreaterThan(100);
  });
});
