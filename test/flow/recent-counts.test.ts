import { describe, expect, test } from "vitest";
import { RecentCounts } from "../../worker/flow/origin/recent-counts.ts";

describe("recent counts", () => {
  const counts = () => new RecentCounts("secret");

  test.each([
    [179_999, 9],
    [180_000, 5],
    [359_999, 5],
    [360_000, 3],
    [1_800_000, 1],
    [Number.MAX_SAFE_INTEGER, 1],
  ])("eight and one more after %i ms are %i", (ms, count) => {
    const counted = counts();
    for (let each = 0; each < 8; each++) counted.count("192.0.2.7", 0);
    expect(counted.count("192.0.2.7", ms)).toBe(count);
  });

  test("go by the new time after the clock was set back", () => {
    const counted = counts();
    counted.count("192.0.2.7", 21_600_000);
    for (let each = 0; each < 8; each++) counted.count("192.0.2.7", 0);
    expect(counted.count("192.0.2.7", 180_000)).toBeLessThan(8);
  });

  test("are at most 255", () => {
    const counted = counts();
    for (let each = 0; each < 300; each++) counted.count("192.0.2.7", 0);
    expect(counted.count("192.0.2.7", 0)).toBe(255);
  });

  test("are separate for 10,000 keys that come five times each", () => {
    const counted = counts();
    const network = (index: number) => `10.0.${index >> 8}.${index & 255}`;
    for (let round = 0; round < 5; round++) for (let each = 0; each < 10_000; each++) counted.count(network(each), 0);
    const fresh = Array.from({ length: 1000 }, (_, each) => counted.count(`198.51.${each >> 8}.${each & 255}`, 0));
    expect(fresh.filter((count) => count > 5).length).toBeLessThan(30);
  });
});
