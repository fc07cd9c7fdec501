import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EvictingMap } from "../../worker/store/evicting-map.ts";

/** Requests a page of this size, and stores it if it was not there. */
function ask(map: EvictingMap<string>, key: string, bytes: number): boolean {
  if (map.get(key) !== undefined) return true;
  map.set(key, `value of ${key}`, bytes);
  return false;
}

describe("EvictingMap", () => {
  test("holds its entries within its bound, and reports each evicted entry exactly once", () => {
    const step = fc.record({
      call: fc.constantFrom("ask", "replace", "resize", "delete", "admit"),
      key: fc.integer({ min: 0, max: 40 }).map(String),
      bytes: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const held = new Map<string, number>();
        const map = new EvictingMap<string>(1000, (key, value) => {
          expect(value).toBe(`value of ${key}`);
          expect(held.delete(key)).toBe(true);
        });
        const put = (key: string, bytes: number, isAdmitted: boolean) => {
          held.set(key, bytes);
          expect(map.set(key, `value of ${key}`, bytes, isAdmitted)).toBe(held.has(key));
        };
        for (const { call, key, bytes } of steps) {
          if (call === "delete") {
            map.delete(key);
            held.delete(key);
          } else if (call === "resize") {
            if (held.has(key)) held.set(key, bytes);
            map.resize(key, bytes);
          } else if (call === "replace") put(key, bytes, false);
          else if (map.get(key) === undefined) {
            if (call === "ask") put(key, bytes, false);
            else if (map.admits(key, bytes)) put(key, bytes, true);
          }
          const different = [...held.keys()].filter((each) => map.peek(each) !== `value of ${each}`);
          if (different.length > 0) expect.fail(`other values: ${different}`); // an expect for each takes most of the time
          expect(map.size).toBe(held.size);
          expect(map.heldBytes).toBe([...held.values()].reduce((sum, each) => sum + each, 0));
          expect(map.heldBytes).toBeLessThanOrEqual(1000);
        }
      }),
    );
  });

  test("a loop over more pages than fit keeps some of them", () => {
    const map = new EvictingMap<string>(100);
    let hits = 0;
    for (let round = 0; round < 100; round++) {
      for (let page = 0; page < 200; page++) if (ask(map, String(page), 1)) hits++;
    }
    expect(hits / (100 * 200)).toBeGreaterThan(0.2);
  });

  test("pages that everybody requests for a while, and then nobody, make room for the next ones", () => {
    const map = new EvictingMap<string>(100);
    let hits = 0;
    let requests = 0;
    for (let time = 0; time < 5000; time++) {
      for (let page = 0; page < 10; page++) {
        requests++;
        if (ask(map, String(Math.floor(time / 50) * 10 + page), 1)) hits++;
      }
    }
    expect(hits / requests).toBeGreaterThan(0.95);
  });

  test("an entry that was just stored is there for the next request", () => {
    const map = new EvictingMap<string>(100);
    for (let page = 0; page < 1000; page++) {
      for (let time = 0; time < 10; time++) ask(map, `popular ${page % 80}`, 1);
      map.set(`new ${page}`, "v", 1);
      expect(map.get(`new ${page}`)).toBe("v");
    }
  });

  test("an entry that is not admitted changes nothing", () => {
    const map = new EvictingMap<string>(100);
    for (let time = 0; time < 10; time++) for (let page = 0; page < 100; page++) ask(map, String(page), 1);
    const held = map.size;
    expect(map.admits("seldom", 10)).toBe(false);
    expect(map.size).toBe(held);
  });

  test("less valuable entries stay if evicting them would not make enough room", () => {
    const map = new EvictingMap<string>(100);
    map.set("established", "v", 10, true);
    map.set("new", "v", 14);
    expect(map.admits("large", 95)).toBe(false);
    expect([...map.keys()]).toEqual(["established", "new"]);
    expect(map.heldBytes).toBe(24);
  });

  test("an entry that is evicted after a halving is remembered with its halved count", () => {
    const map = new EvictingMap<string>(100);
    for (let time = 0; time < 15; time++) ask(map, "popular", 10);
    // Misses for others that do not fit halve all counts several times.
    for (let miss = 0; miss < 6 * 16 * 1024; miss++) map.admits(`large ${miss}`, 1000);
    map.shrinkTo(0);
    for (let page = 0; page < 10; page++) for (let time = 0; time < 3; time++) ask(map, `other ${page}`, 10);
    expect(map.admits("popular", 10)).toBe(false);
  });

  test("a replaced entry keeps its count", () => {
    const map = new EvictingMap<string>(100);
    for (let time = 0; time < 15; time++) ask(map, "popular", 10);
    map.set("popular", "again", 10);
    for (let page = 0; page < 500; page++) ask(map, `once ${page}`, 10);
    expect(map.peek("popular")).toBe("again");
  });

  test.each([
    ["replaced, with room for all", 50],
    ["replaced and evicted", 200],
  ])("a page that is %s is not kept in memory", async (_, pages) => {
    const map = new EvictingMap<object>(100);
    const put: WeakRef<object>[] = [];
    for (let round = 0; round < 20; round++) {
      for (let page = 0; page < pages; page++) {
        const value = {};
        put.push(new WeakRef(value));
        map.set(String(page), value, 1);
      }
    }
    await setImmediate(); // A new reference keeps its object until then.
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    expect(put.filter((each) => each.deref() !== undefined)).toHaveLength(map.size);
  });
});
