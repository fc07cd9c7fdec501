import { describe, expect, test } from "vitest";
import type { ViewDelta } from "../../worker/purges/log-contract.ts";
import { View } from "../../worker/purges/view.ts";
import type { Stamp, StoredHead } from "../../worker/rules/stored-response.ts";
import { storedHead } from "../rules/stored-head.ts";

function entry(stamp: Stamp | null, ...purgeKeys: string[]): StoredHead {
  return storedHead({ purgeKeys: ["*", ...purgeKeys], stamp });
}

function delta(from: number, to: number, purged: [string, number][] = [], rest: Partial<ViewDelta> = {}): ViewDelta {
  return { logId: "a", from, to, floor: 0, purged, leaseMs: 1000, ...rest };
}

const stamp = (seq: number, logId = "a"): Stamp => ({ logId, seq });

describe("a view", () => {
  test("before its first read it knows nothing", () => {
    const view = new View(10_000);
    expect(view.position).toBeNull();
    expect(view.check(entry(null, "#t"), false)).toBe("unknown");
  });

  test("finds purged what matches a purge above its stamp, and only that", () => {
    const view = new View(10_000);
    view.apply(delta(0, 5, [["#t", 5]]));
    expect(view.check(entry(stamp(4), "#t"), true)).toBe("purged");
    expect(view.check(entry(stamp(5), "#t"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(4), "#u"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(4), "#u"), false)).toBe("unknown");
  });

  test("story 15: what was filled without a view is purged for every view (R1)", () => {
    const view = new View(10_000);
    view.apply(delta(0, 0));
    expect(view.check(entry(null), true)).toBe("purged");
    expect(view.check(entry(null), false)).toBe("purged");
  });

  test("story 12: a delta that leaves a gap is refused and changes nothing (R12)", () => {
    const view = new View(10_000);
    view.apply(delta(0, 3));
    expect(view.apply(delta(4, 5, [["#t", 5]]))).toBe(false);
    expect(view.position).toEqual(stamp(3));
    expect(view.check(entry(stamp(3), "#t"), true)).toBe("not-purged");
  });

  test("story 13: an older delta takes nothing back (R11)", () => {
    const view = new View(10_000);
    view.apply(delta(0, 5, [["#t", 5]]));
    expect(view.apply(delta(0, 2, [["#t", 2]]))).toBe(true);
    expect(view.position).toEqual(stamp(5));
    expect(view.check(entry(stamp(4), "#t"), true)).toBe("purged");
  });

  test("story 14: what another log stamped is purged (R13)", () => {
    const view = new View(10_000);
    view.apply(delta(0, 5));
    view.apply(delta(0, 1, [], { logId: "b" }));
    expect(view.position).toEqual(stamp(1, "b"));
    expect(view.check(entry(stamp(9, "a")), true)).toBe("purged");
    expect(view.check(entry(stamp(1, "b")), true)).toBe("not-purged");
  });

  test("story 23: an entry found fresh is checked anew when another log has reached the same number (R16)", () => {
    const view = new View(10_000);
    const held = entry(stamp(1), "#t");
    view.apply(delta(0, 1));
    expect(view.check(held, true)).toBe("not-purged");
    view.apply(delta(0, 1, [["#t", 1]], { logId: "b" }));
    expect(view.check(held, true)).toBe("purged");
  });

  test("an entry found fresh is checked anew when the floor has risen (R16)", () => {
    const view = new View(10_000);
    const held = entry(stamp(1), "#t");
    view.apply(delta(0, 9));
    expect(view.check(held, true)).toBe("not-purged");
    view.apply(delta(9, 9, [], { floor: 2 }));
    expect(view.check(held, true)).toBe("purged");
  });

  test("holds no more keys than its bound, and the floor covers what it drops", () => {
    const view = new View(3 * 68);
    view.apply(
      delta(0, 5, [
        ["#1", 1],
        ["#2", 2],
        ["#3", 3],
        ["#4", 4],
        ["#5", 5],
      ]),
    );
    expect(view.heldKeys).toBe(3);
    expect(view.check(entry(stamp(1), "#untouched"), true)).toBe("purged");
    expect(view.check(entry(stamp(2), "#untouched"), true)).toBe("not-purged");
    expect(view.check(entry(stamp(2), "#3"), true)).toBe("purged");
  });

  test("a purge with more items than the bound leaves no half of itself behind", () => {
    const view = new View(3 * 68);
    view.apply(
      delta(
        0,
        1,
        Array.from({ length: 10 }, (_, index) => [`#${index}`, 1] as [string, number]),
      ),
    );
    expect(view.heldKeys).toBeLessThanOrEqual(3);
    for (let index = 0; index < 10; index++) expect(view.check(entry(stamp(0), `#${index}`), true)).toBe("purged");
    expect(view.check(entry(stamp(1), "#0"), true)).toBe("not-purged");
  });
});
