import { describe, expect, test } from "vitest";
import { hashKey } from "../../tools/counting/key-hash.ts";
import { KeyTable } from "../../tools/counting/key-table.ts";
import { NamedCounts } from "../../tools/counting/named-counts.ts";

describe("a table of keys", () => {
  const MAX_SLOTS = 1 << 12;

  function tableAfter(keys: number): KeyTable {
    const table = new KeyTable([16, 1_000], 0, MAX_SLOTS);
    for (let key = 0; key < keys; key++) {
      for (const name of [`/page/${key}`, "/front"]) {
        hashKey(name);
        table.count(key, 0xffffffff);
      }
    }
    return table;
  }

  test("counts every key until it is full", () => {
    const table = tableAfter(2_000);
    expect(table).toMatchObject({ keys: 2_001, heldKeys: 2_001, isExact: true, standardError: 0 });
  });

  test("holds no more keys than it has room for, and knows about how many there were", () => {
    const table = tableAfter(100_000);
    expect(table.heldKeys).toBeLessThanOrEqual(MAX_SLOTS);
    expect(table.isExact).toBe(false);
    expect(table.standardError).toBeGreaterThan(0);
    expect(Math.abs(table.keys / 100_001 - 1)).toBeLessThan(0.05);
  });

  test("keeps the key that is requested most, which stands for itself alone", () => {
    const table = tableAfter(100_000);
    hashKey("/front");
    expect(table.requestsOf()).toBe(100_000);
    expect(table.count(100_000, 0)).toBe(1);
  });

  test("has a key miss again when its lifetime is over, or when it is invalidated", () => {
    const table = new KeyTable([16, 1_000], 0, MAX_SLOTS);
    const missed = (tick: number) => {
      hashKey("/page");
      table.count(tick, 0xffffffff);
      return table.missed;
    };
    expect([missed(1), missed(16), missed(17), missed(32), missed(33)]).toEqual([0b11, 0, 0b01, 0, 0b01]);
    hashKey("/page");
    table.invalidate();
    expect(missed(34)).toBe(0b11);
    hashKey("/error");
    table.count(1, 0);
    expect([table.missed, table.count(2, 0), table.missed]).toEqual([0b11, 1, 0b11]);
  });
});

test("counts by name are for a bounded number of names, and the others are counted together", () => {
  const counts = new NamedCounts(3, () => ({ times: 0 }));
  for (const name of ["a", "b", "c", "d", "e", "a"]) counts.at(name).times++;
  expect([...counts.entries()]).toEqual([
    ["a", { times: 2 }],
    ["b", { times: 1 }],
    ["c", { times: 1 }],
  ]);
  expect(counts.others).toEqual({ times: 2 });
});
