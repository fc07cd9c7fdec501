import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { PurgeMode } from "../../../worker/ports/purge-log.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { sightingsIn } from "../../../worker/purges/view/first-seen.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import type { Stamp, StoredHead } from "../../../worker/rules/storing/stored-response.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";
import { byDepth } from "../../suite/depth.ts";
import { deltaOf, deltaOfTags, type PurgedText } from "./delta.ts";

const MIB = 1024 * 1024;

function entry(stamp: Stamp | null, ...givenPurgeKeys: string[]): StoredHead {
  return storedHead({ givenPurgeKeys, stamp });
}

const stamp = (seq: number, logId = "a"): Stamp => ({ logId, seq });

function viewAfter(...deltas: ViewDelta[]): PurgeView {
  const view = new PurgeView(MIB);
  for (const delta of deltas) view.apply(delta);
  return view;
}

describe("a view", () => {
  test("knows nothing before its first read", () => {
    const view = new PurgeView(MIB);
    expect(view.position).toBeNull();
    expect(view.readerPosition).toBeNull();
    expect(view.check(entry(null, "#t"), false)).toBe("unknown");
  });

  test("calls a response purged only if a purge above its stamp matches it", () => {
    const view = viewAfter(deltaOf(0, 5, [["#t", 5]]));
    expect(view.check(entry(stamp(4), "#t"), true)).toBe("purged");
    expect(view.check(entry(stamp(5), "#t"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(6), "#t"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(4), "#u"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(4), "#u"), false)).toBe("unknown");
  });

  test("story 15: does not trust a response that was fetched without a view (R1)", () => {
    const view = viewAfter(deltaOf(0, 0));
    expect(view.check(entry(null), true)).toBe("unverifiable");
    expect(view.check(entry(null), false)).toBe("unverifiable");
  });

  test("story 12: refuses a delta that leaves a gap, and stays unchanged (R12)", () => {
    const view = viewAfter(deltaOf(0, 3));
    expect(view.apply(deltaOf(4, 5, [["#t", 5]]))).toBe(false);
    expect(view.apply(deltaOf(1, 5, [["#t", 5]], { logId: "b" }))).toBe(false);
    expect(view.position).toEqual(stamp(3));
    expect(view.check(entry(stamp(3), "#t"), true)).toBe("not-purged");
  });

  test("story 13: keeps everything when an older delta arrives (R11)", () => {
    const view = viewAfter(deltaOf(0, 5, [["#t", 5]], { floor: 3 }));
    expect(view.apply(deltaOf(0, 2, [["#t", 2]]))).toBe(true);
    expect(view.position).toEqual(stamp(5));
    expect(view.check(entry(stamp(4), "#t"), true)).toBe("purged");
    expect(view.check(entry(stamp(2), "#u"), true)).toBe("unverifiable");
    expect(view.check(entry(stamp(3), "#u"), true)).toBe("not-purged");
  });

  test("story 14: does not trust the stamp of another log (R13)", () => {
    const view = viewAfter(deltaOf(0, 5), deltaOf(0, 1, [], { logId: "b" }));
    expect(view.position).toEqual(stamp(1, "b"));
    expect(view.check(entry(stamp(9, "a")), true)).toBe("unverifiable");
    expect(view.check(entry(stamp(1, "b")), true)).toBe("not-purged");
  });

  test("story 23: checks an entry again when another log has reached the same number (R16)", () => {
    const held = entry(stamp(1), "#t");
    const view = viewAfter(deltaOf(0, 1));
    expect(view.check(held, true)).toBe("not-purged");
    view.apply(deltaOf(0, 1, [["#t", 1]], { logId: "b" }));
    expect(view.check(held, true)).toBe("unverifiable");
  });

  test.each<[string, ViewDelta]>([
    ["when a purge comes", deltaOf(9, 10, [["#t", 10]])],
    ["when a purge of another mode comes", deltaOf(9, 10, [["#t", 10, "soft"]])],
    ["when the floor has risen", deltaOf(9, 9, [], { floor: 2 })],
    ["when another log has begun", deltaOf(0, 9, [], { logId: "b" })],
    ["when a reply had no room for all new purges", deltaOf(9, 12, [["#u", 12]], { truncatedAt: 11 })],
  ])("an entry that was found fresh is checked again %s (R16)", (_, delta) => {
    const held = entry(stamp(1), "#t");
    const view = viewAfter(deltaOf(0, 9));
    expect(view.check(held, true)).toBe("not-purged");
    view.apply(delta);
    expect(view.check(held, true)).not.toBe("not-purged");
  });

  test.each([
    [1, "unverifiable"],
    [2, "not-purged"],
    [3, "not-purged"],
  ])("under a floor of 2, an entry stamped %i is %s", (seq, expected) => {
    const view = viewAfter(deltaOf(0, 9, [["#t", 9]], { floor: 2 }));
    expect(view.check(entry(stamp(seq), "#untouched"), true)).toBe(expected);
  });

  test("takes 74 KiB when empty, and never more than its bound", () => {
    const view = new PurgeView(MIB / 4);
    expect(view.heldBytes).toBe(74 * 1024);
    view.apply(deltaOfTags(0, 50_000));
    expect(view.heldBytes).toBe(MIB / 4);
    expect(view.check(entry(stamp(49_998), "#tag:49999"), true)).toBe("purged");
    expect(view.check(entry(stamp(49_999), "#tag:49999"), true)).toBe("not-purged");
  });

  describe("keeps the modes of purges apart (R10)", () => {
    test.each<[string, PurgedText[], string]>([
      ["a soft purge", [["#t", 5, "soft"]], "soft"],
      ["a purge that only invalidates", [["#t", 5, "invalidate"]], "invalidated"],
      [
        "a purge that invalidates, and a soft one",
        [
          ["#t", 4, "invalidate"],
          ["#t", 5, "soft"],
        ],
        "invalidated",
      ],
      [
        "story 11: a hard purge, and then a soft one",
        [
          ["#t", 4],
          ["#t", 5, "soft"],
        ],
        "purged",
      ],
      [
        "a soft purge, and then a hard one of something else",
        [
          ["#t", 4, "soft"],
          ["#u", 5],
        ],
        "soft",
      ],
      ["a soft purge of something else", [["#u", 5, "soft"]], "not-purged"],
      ["a soft purge from before the fetch", [["#t", 3, "soft"]], "not-purged"],
      [
        "a hard purge from before the fetch, and then a soft one",
        [
          ["#t", 3],
          ["#t", 5, "soft"],
        ],
        "soft",
      ],
    ])("%s", (_, purged, expected) => {
      expect(viewAfter(deltaOf(0, 5, purged)).check(entry(stamp(3), "#t"), true)).toBe(expected);
    });

    test.each<[PurgeMode, string]>([
      ["hard", "purged"],
      // It may have been purged hard since then, so it must not be used before the origin has confirmed it.
      ["soft", "invalidated"],
      ["invalidate", "invalidated"],
    ])("story 8: knowledge of a %s purge counts even without a usable view (R8)", (mode, expected) => {
      expect(viewAfter(deltaOf(0, 5, [["#t", 5, mode]])).check(entry(stamp(4), "#t"), false)).toBe(expected);
    });
  });

  describe("that is told when the purges were made", () => {
    const applyAt = (view: PurgeView, now: number, delta: ViewDelta) => view.apply(delta, sightingsIn(delta, now));
    const madeStaleAt = (view: PurgeView, stored: StoredHead) => {
      view.check(stored, true);
      return view.madeStaleAt(stored);
    };

    test("knows since when it has known of a soft purge (R10)", () => {
      const view = new PurgeView(MIB);
      applyAt(view, 100, deltaOf(0, 5, [["#t", 5, "soft"]]));
      applyAt(view, 200, deltaOf(5, 9, [["#u", 9, "soft"]]));
      applyAt(view, 300, deltaOf(9, 12));
      expect(madeStaleAt(view, entry(stamp(4), "#t"))).toBe(100);
      expect(madeStaleAt(view, entry(stamp(4), "#u"))).toBe(200);
    });

    test("still knows it after any number of unsafe requests", () => {
      const view = new PurgeView(MIB);
      applyAt(view, 100, deltaOf(0, 1, [["/old", 1, "invalidate"]]));
      applyAt(view, 200, deltaOf(1, 2, [["#t", 2, "soft"]]));
      for (let seq = 3; seq < 1_000; seq++) applyAt(view, 200, deltaOf(seq - 1, seq, [["/form", seq, "invalidate"]]));
      expect(madeStaleAt(view, entry(stamp(1), "#t"))).toBe(200);
    });

    test("a purge that it cannot date counts as long ago", () => {
      expect(madeStaleAt(viewAfter(deltaOf(0, 5, [["#t", 5, "soft"]])), entry(stamp(4), "#t"))).toBe(-Infinity);
      const view = new PurgeView(MIB);
      applyAt(view, 100, deltaOf(0, 5, [["#t", 5, "soft"]]));
      applyAt(view, 100, deltaOf(0, 7, [["#t", 7, "soft"]], { logId: "b" }));
      expect(madeStaleAt(view, entry(stamp(4, "b"), "#t"))).toBe(100);
      expect(view.madeStaleAt(entry(stamp(4, "b"), "#never-checked"))).toBe(100);
    });
  });

  describe("that is too far behind for one reply", () => {
    /** A view at the head that has read the newest purges, but not those from 2 to 7. */
    const behind = () => viewAfter(deltaOf(0, 2, [["#old", 2]]), deltaOf(2, 9, [["#new", 9]], { truncatedAt: 7 }));

    test.each([
      [6, "unverifiable"],
      [7, "not-purged"],
      [8, "not-purged"],
    ])("does not vouch for unread purges: an untouched entry stamped %i is %s", (seq, expected) => {
      expect(behind().check(entry(stamp(seq), "#untouched"), true)).toBe(expected);
    });

    test("asks for the rest, and gets it piece by piece", () => {
      const view = behind();
      const held = entry(stamp(4), "#untouched");
      expect(view.readerPosition).toEqual({ ...stamp(9), unread: { from: 2, to: 7 } });
      view.apply(deltaOf(9, 10, [["#t", 6]], { unread: { from: 2, to: 7 }, truncatedAt: 5 }));
      expect(view.readerPosition).toEqual({ ...stamp(10), unread: { from: 2, to: 5 } });
      expect(view.check(held, true)).toBe("unverifiable");
      view.apply(deltaOf(10, 10, [["#u", 3]], { unread: { from: 2, to: 5 } }));
      expect(view.isComplete).toBe(true);
      expect(view.check(held, true)).toBe("not-purged");
      expect(view.check(entry(stamp(5), "#t"), true)).toBe("purged");
      expect(view.check(entry(stamp(2), "#u"), true)).toBe("purged");
      expect(view.check(entry(stamp(1), "#old"), true)).toBe("purged");
    });

    test.each<[string, ViewDelta, { from: number; to: number } | null]>([
      ["a complete new reply leaves it as it is", deltaOf(9, 12), { from: 2, to: 7 }],
      [
        "new numbers without room extend the unread range",
        deltaOf(9, 20, [], { truncatedAt: 15 }),
        { from: 2, to: 15 },
      ],
      ["a late reply that ends below it leaves it as it is", deltaOf(2, 5), { from: 2, to: 7 }],
      ["a late reply that reaches the end shortens it", deltaOf(2, 8, [], { truncatedAt: 4 }), { from: 2, to: 4 }],
      ["a complete reply from the start ends it", deltaOf(0, 9), null],
      ["a floor above it ends it", deltaOf(9, 9, [], { floor: 7 }), null],
      ["a floor within it leaves it as it is", deltaOf(9, 9, [], { floor: 6 }), { from: 2, to: 7 }],
      ["another log ends it", deltaOf(0, 1, [], { logId: "b" }), null],
    ])("%s", (_, delta, expected) => {
      const view = behind();
      view.apply(delta);
      expect(view.readerPosition?.unread).toEqual(expected);
    });
  });

  test("never calls a purged entry not purged: random purges, pages, deletions, lost and late replies, full tables", {
    tags: ["gate"],
  }, () => {
    const seen = { "not-purged": 0, purged: 0, unread: 0, whole: 0 };
    const steps = fc.array(event, { minLength: 20, maxLength: 120 });
    fc.assert(
      fc.property(steps, (events) => follow(events, seen)),
      { numRuns: byDepth({ test: 8, gate: 8, all: 60 }), endOnFailure: true },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20); // otherwise little was tried
  });

  test("at most 1 % of untouched entries are lost after 100,000 and after 1,000,000 purges of other tags", {
    tags: ["deep"],
  }, () => {
    const view = new PurgeView(8 * MIB);
    const entries = Array.from({ length: 5000 }, (_, index) => entry(stamp(0), ...keysOfPage(index)));
    const lost = () => entries.filter((held) => view.check(held, true) !== "not-purged").length / entries.length;
    view.apply(deltaOfTags(0, 100_000));
    expect(lost()).toBeLessThan(0.005);
    view.apply(deltaOfTags(100_000, 1_000_000));
    expect(lost()).toBeLessThan(0.01);
    expect(lost()).toBeGreaterThan(0); // otherwise nothing was measured
    expect(view.heldBytes).toBe(8 * MIB);
  });
});

/** The purge keys of a page: a URL, its path, 5 tags, 6 prefixes, a host. */
function keysOfPage(page: number): string[] {
  const tags = Array.from({ length: 5 }, (_, index) => `#page:${page}:${index}`);
  const prefixes = Array.from({ length: 6 }, (_, index) => `/p${page}/${index}/`);
  return [`www.example.test/p${page}`, `/p${page}`, ...tags, ...prefixes, `host${page}.example.test`];
}

const REPLIES = ["arrives", "late", "lost"] as const;
const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("purge" as const),
      keys: fc.array(fc.nat(60), { minLength: 1, maxLength: 8 }),
      mode: fc.constantFrom("hard" as const, "soft" as const, "invalidate" as const),
      reply: fc.constantFrom(...REPLIES),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("read" as const), reply: fc.constantFrom(...REPLIES) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("late reply" as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("new isolate" as const) }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** The answers, from the strongest to the weakest. */
const MODE_ANSWERS = [
  ["hard", "purged"],
  ["invalidate", "invalidated"],
  ["soft", "soft"],
  [null, "not-purged"],
] as const;

/**
 * Sends purges to a log with short replies, and its replies to a view with few lines. An exact list of purges decides
 * what is right.
 */
function follow(events: readonly Event[], seen: Record<"not-purged" | "purged" | "unread" | "whole", number>): void {
  const log = new SqlPurgeLog(
    sqlOver(new DatabaseSync(":memory:")),
    { maxReplyKeys: 10, maxHeldKeys: 40 },
    () => 0,
    () => "a",
  );
  let view = new PurgeView(512);
  const purges: { seq: number; keys: readonly number[]; mode: PurgeMode }[] = [];
  const late: ViewDelta[] = [];
  const hear = (delta: ViewDelta, reply: (typeof REPLIES)[number]) => {
    if (reply === "late") late.push(delta);
    if (reply === "arrives") view.apply(delta);
  };
  for (const step of events) {
    if (step.kind === "purge") {
      const result = log.append({ ...purgeOf(step.keys), mode: step.mode, since: view.position });
      if (result.kind !== "appended") throw new Error("a purge without an id has no conflicts");
      purges.push({ seq: result.seq, keys: step.keys, mode: step.mode });
      hear(result.delta, step.reply);
    } else if (step.kind === "read") hear(log.read(view.readerPosition, 1), step.reply);
    else if (step.kind === "late reply") for (const delta of late.splice(step.which, 1)) view.apply(delta);
    else view = new PurgeView(512);
    const reached = view.position?.seq ?? -1;
    if (view.position !== null) seen[view.isComplete ? "whole" : "unread"]++;
    for (let key = 0; key <= 60; key += 6) {
      for (let seq = Math.max(0, reached - 12); seq <= reached; seq++) {
        const known = purges.filter((purge) => purge.seq > seq && purge.seq <= reached && purge.keys.includes(key));
        const answer = view.check(entry(stamp(seq), `#${key}`), true);
        const atLeast = MODE_ANSWERS.findIndex(([mode]) => mode === null || known.some((purge) => purge.mode === mode));
        expect(MODE_ANSWERS.findIndex(([, words]) => words === answer)).toBeLessThanOrEqual(atLeast);
        if (answer === "purged" || answer === "not-purged") seen[answer]++;
      }
    }
  }
}

function purgeOf(keys: readonly number[]) {
  const accepted = { urls: 0, tags: keys.length, prefixes: 0, hosts: 0, everything: false };
  const about = { id: null, content: "", repeatAfterMs: null, reason: null, by: "test", skewMs: 0, leaseMs: 1 };
  return { ...about, accepted, purgeKeys: keys.map((key) => `#${key}`) };
}
