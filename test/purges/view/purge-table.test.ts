import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUCKET_BYTES, BUCKET_SLOTS } from "../../../worker/purges/view/bucket.ts";
import { hashKeys } from "../../../worker/purges/view/key-hash.ts";
import { PurgeTable } from "../../../worker/purges/view/purge-table.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

function words(count: number, seed: number): Uint32Array {
  return hashKeys(Array.from({ length: count }, (_, index) => `${seed}#${index}`));
}

function fill(table: PurgeTable, keys: Uint32Array, fromSeq = 1): void {
  for (let at = 0; at < keys.length; at += 2) table.raise(keys[at]!, keys[at + 1]!, fromSeq + at / 2);
}

describe("the purge table", () => {
  test("holds the highest number of each key, which never falls", () => {
    const table = new PurgeTable(KIB, KIB);
    expect(table.highest(1, 2)).toBe(0);
    expect(table.raise(1, 2, 7)).toBe(true);
    expect(table.raise(1, 2, 6)).toBe(false);
    expect(table.raise(1, 2, 7)).toBe(false);
    expect(table.highest(1, 2)).toBe(7);
    expect(table.raise(1, 2, 2 ** 32 - 1)).toBe(true);
    expect(table.highest(1, 2)).toBe(2 ** 32 - 1);
    expect(table.keys).toBe(1);
  });

  test("a bucket holds ten keys; the eleventh evicts the lowest number, which becomes the bucket's floor", () => {
    const table = new PurgeTable(BUCKET_BYTES, BUCKET_BYTES);
    const print = (key: number) => [key << 17, 0] as const;
    for (let key = 1; key <= BUCKET_SLOTS; key++) table.raise(...print(key), 100 + key);
    expect(table.highest(...print(99))).toBe(0);
    table.raise(...print(11), 111);
    expect(table.highest(...print(99))).toBe(101);
    expect(table.highest(...print(2))).toBe(102);
    expect(table.highest(...print(11))).toBe(111);
    table.raise(...print(12), 50); // older than all others in the table
    expect(table.highest(...print(12))).toBe(101);
    expect(table.highest(...print(2))).toBe(102);
  });

  test("numbers below the floor make room", () => {
    const table = new PurgeTable(BUCKET_BYTES, BUCKET_BYTES);
    for (let key = 1; key <= BUCKET_SLOTS; key++) table.raise(key << 17, 0, key);
    table.raiseFloor(5);
    for (let key = 11; key <= 15; key++) table.raise(key << 17, 0, key);
    expect(table.highest(99 << 17, 0)).toBe(0); // nothing was evicted
    table.raise(16 << 17, 0, 16);
    expect(table.highest(99 << 17, 0)).toBe(6);
  });

  test("never returns too low a number, for purges in any order, while it grows and evicts", () => {
    const key = fc.integer({ min: 0, max: 400 });
    const step = fc.record({ key, seq: fc.integer({ min: 1, max: 100_000 }), isLate: fc.boolean() });
    const keys = words(401, 5);
    const at = (index: number) => [keys[2 * index]!, keys[2 * index + 1]!] as const;
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 100, maxLength: 600 }),
        fc.integer({ min: 0, max: 4 }),
        (steps, growth) => {
          const table = new PurgeTable(4 * BUCKET_BYTES, 4 * BUCKET_BYTES * 2 ** growth);
          const exact = new Map<number, number>();
          for (const [index, { key, seq, isLate }] of steps.entries()) {
            const number = isLate ? seq : 100_000 + index;
            table.raise(...at(key), number);
            exact.set(key, Math.max(exact.get(key) ?? 0, number));
          }
          for (const [key, number] of exact) expect(table.highest(...at(key))).toBeGreaterThanOrEqual(number);
        },
      ),
      { numRuns: 150 },
    );
  });

  test("keys with equal fingerprints keep their numbers when the table doubles", () => {
    // They have the same fingerprint and, in a small table, the same bucket: only later doublings distinguish them.
    const [left, right] = [
      [0b01_00, 0],
      [0b10_00, 0],
    ] as const;
    const table = new PurgeTable(4 * BUCKET_BYTES, 64 * BUCKET_BYTES);
    table.raise(...left, 1);
    table.raise(...right, 2);
    fill(table, words(400, 1), 3);
    expect(table.heldBytes).toBe(64 * BUCKET_BYTES);
    expect(table.highest(...left)).toBeGreaterThanOrEqual(1);
    expect(table.highest(...right)).toBeGreaterThanOrEqual(2);
  });

  test("a number that a bucket evicted before the table doubled still counts in both buckets after it", () => {
    const table = new PurgeTable(4 * BUCKET_BYTES, 64 * BUCKET_BYTES);
    // All are in bucket 0; after the doubling, half of them belong in bucket 4.
    const inLineZero = (key: number) =>
      [(key << 17) | (key % 2 ? 0b100 : 0), (key << 17) | (key % 2 ? 0b100 : 0)] as const;
    for (let key = 1; key <= 12; key++) table.raise(...inLineZero(key), key);
    fill(table, words(60, 1), 20);
    expect(table.heldBytes).toBeGreaterThan(4 * BUCKET_BYTES * 2);
    for (let key = 1; key <= 12; key++) expect(table.highest(...inLineZero(key))).toBeGreaterThanOrEqual(key);
  });

  test.each([
    [7000, 64],
    [10_000, 128],
    [100_000, 1024],
  ])("%i keys take %i KiB, and a sixth more for the routes of its slots", (count, kib) => {
    const table = new PurgeTable(64 * KIB, 8 * MIB);
    fill(table, words(count, 1));
    expect(table.keys).toBeGreaterThan(count * 0.99);
    expect(table.heldBytes).toBe(kib * KIB * (1 + 10 / 64));
  });

  test("never takes more than 8 MiB for any number of keys, and never allocates more than that and 640 KiB beside it", {
    tags: ["deep"],
  }, () => {
    const keys = words(1_100_000, 1);
    const before = process.memoryUsage().arrayBuffers;
    const table = new PurgeTable(64 * KIB, 8 * MIB);
    fill(table, keys);
    const allocated = process.memoryUsage().arrayBuffers - before;
    expect(table.heldBytes).toBe(8 * MIB);
    expect(table.keys).toBeLessThanOrEqual((8 * MIB * BUCKET_SLOTS) / BUCKET_BYTES);
    expect(allocated).toBeLessThanOrEqual(8 * MIB + 640 * KIB);
  });

  test("grows to 256 segments at most, because a byte holds the number of one", () => {
    const table = new PurgeTable(BUCKET_BYTES, 512 * BUCKET_BYTES);
    fill(table, words(10_000, 1));
    expect(table.heldBytes).toBe(256 * BUCKET_BYTES);
  });
});
