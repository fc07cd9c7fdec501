import { describe, expect, test } from "vitest";
import { FrequentNames } from "../../tools/counting/frequent-names.ts";
import { Heap } from "../../tools/counting/heap.ts";
import { hashKey } from "../../tools/counting/key-hash.ts";
import { KeyTable } from "../../tools/counting/key-table.ts";
import { NamedCounts } from "../../tools/counting/named-counts.ts";
import { LoggedRequest } from "../../tools/logs/logged-request.ts";
import { TimeOrder } from "../../tools/logs/time-order.ts";
import { chances } from "../engine/chances.ts";

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

test("requests that wait to be put in order are fewer if they are long", () => {
  const mostWaiting = (chars: number) => {
    let waiting = 0;
    let most = 0;
    const order = new TimeOrder(() => waiting--, { seconds: 600, maxHeld: 100 });
    for (let second = 0; second < 400; second++) {
      order.add(Object.assign(new LoggedRequest(), { at: 1_000 * second, target: "/".padEnd(chars, "x") }));
      most = Math.max(most, ++waiting);
    }
    return most;
  };
  expect([200, 1_000, 10_000, 1_000_000].map(mostWaiting)).toEqual([100, 100, 10, 0]);
});

describe("frequent names", () => {
  test("are counted exactly while there is room for all", () => {
    const names = new FrequentNames(3);
    for (const [name, times] of [
      ["a", 1],
      ["b", 4],
      ["c", 2],
      ["a", 4],
      ["b", 1],
    ] as const)
      names.add(name, times);
    expect(names.most(2)).toEqual([
      ["a", 5],
      ["b", 5],
    ]);
  });

  test("make room for each other, so that each of those that stay loses as much", () => {
    const names = new FrequentNames(2);
    for (const [name, times] of [
      ["a", 5],
      ["b", 2],
      ["c", 3],
    ] as const)
      names.add(name, times);
    expect(names.most(9)).toEqual([
      ["a", 3],
      ["c", 1],
    ]);
    names.add("d", 1);
    expect(names.most(9)).toEqual([["a", 2]]);
  });

  test("are found among any number of others, and lose no more than the bound", () => {
    const names = new FrequentNames(100);
    for (let each = 0; each < 20_000; each++) {
      names.add(`rare ${each}`, 1);
      if (each % 10 === 0) names.add("often", 2);
    }
    const [[name, count]] = names.most(1) as [[string, number]];
    expect(name).toBe("often");
    expect(count).toBeLessThanOrEqual(4_000);
    expect(count).toBeGreaterThanOrEqual(4_000 - 24_000 / 100);
    expect(names.most(1_000).length).toBeLessThanOrEqual(100);
  });
});

test("the earliest of many ends is at hand, in whatever order they were added", () => {
  const random = chances(3);
  const times = Array.from({ length: 500 }, () => Math.floor(random() * 300));
  const ends = new Heap<number>((one, other) => one < other);
  expect(ends.first).toBeUndefined();
  const taken: number[] = [];
  const takeOne = () => {
    taken.push(ends.first!);
    ends.removeFirst();
  };
  for (const time of times) ends.add(time);
  while (ends.size > 0) takeOne();
  expect(taken).toEqual(times.toSorted((a, b) => a - b));
  // Added while others are taken: it stands where it belongs.
  for (const time of [5, 9, 1, 7]) ends.add(time);
  takeOne();
  ends.add(6);
  for (const time of [5, 6, 7, 9, undefined]) {
    expect(ends.first).toBe(time);
    ends.removeFirst();
  }
});
