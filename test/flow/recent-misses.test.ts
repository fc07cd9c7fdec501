import { describe, expect, test } from "vitest";
import { RecentMisses } from "../../worker/flow/origin/recent-misses.ts";
import { chances } from "../engine/chances.ts";

describe("the recent misses of a network", () => {
  const misses = () => new RecentMisses(chances(1));

  test.each([
    ["an address of IPv4 is one of its own", "192.0.2.7", "192.0.2.8", 1],
    ["so is one that is mapped into IPv6", "::ffff:192.0.2.7", "::ffff:192.0.2.8", 1],
    ["addresses of IPv6 with the same 64 bits are one", "2001:db8::1", "2001:DB8:0:0:ffff::2", 2],
    ["with others they are not", "2001:db8::1", "2001:db8:0:1::1", 1],
    ["what is no address is one of its own", "unix", "unix:2", 1],
  ])("%s", (_, first, second, count) => {
    const counted = misses();
    counted.count(first, 0);
    expect(counted.count(second, 0)).toBe(count);
  });

  test.each([
    [179_999, 9],
    [180_000, 5],
    [359_999, 5],
    [360_000, 3],
    [1_800_000, 1],
    [Number.MAX_SAFE_INTEGER, 1],
  ])("eight of them and one more after %i ms are %i", (ms, count) => {
    const counted = misses();
    for (let each = 0; each < 8; each++) counted.count("192.0.2.7", 0);
    expect(counted.count("192.0.2.7", ms)).toBe(count);
  });

  test("are at most 255", () => {
    const counted = misses();
    for (let each = 0; each < 300; each++) counted.count("192.0.2.7", 0);
    expect(counted.count("192.0.2.7", 0)).toBe(255);
  });

  test("are told apart among 10,000 networks that ask for five pages each", () => {
    const counted = misses();
    const network = (index: number) => `10.0.${index >> 8}.${index & 255}`;
    for (let round = 0; round < 5; round++) for (let each = 0; each < 10_000; each++) counted.count(network(each), 0);
    const fresh = Array.from({ length: 1000 }, (_, each) => counted.count(`198.51.${each >> 8}.${each & 255}`, 0));
    expect(fresh.filter((count) => count > 5).length).toBeLessThan(30);
  });
});
