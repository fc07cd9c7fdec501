import { expect, test } from "vitest";
import { RecentMisses } from "../../../server/disk/recent-misses.ts";

test("a miss is told once, and for a second", () => {
  const misses = new RecentMisses();
  misses.remember("/a", "a.entry", 5_000);
  expect(misses.take("/b", 5_000)).toBeUndefined();
  expect(misses.take("/a", 5_999)).toBe("a.entry");
  expect(misses.take("/a", 5_999)).toBeUndefined();
  misses.remember("/a", "a.entry", 5_000);
  expect(misses.take("/a", 6_000)).toBeUndefined();
});

test("a thousand misses are remembered, the last ones, and no long keys", () => {
  const misses = new RecentMisses();
  misses.remember("/first", "first.entry", 0);
  for (let at = 0; at < 999; at++) misses.remember(`/${at}`, `${at}.entry`, 0);
  misses.remember("/first", "first.entry", 0);
  misses.remember("/last", "last.entry", 0);
  expect(misses.take("/0", 0)).toBeUndefined();
  expect(misses.take("/1", 0)).toBe("1.entry");
  expect(misses.take("/first", 0)).toBe("first.entry");
  const long = `/${"x".repeat(1_000)}`;
  misses.remember(long, "long.entry", 0);
  expect(misses.take(long, 0)).toBeUndefined();
});
