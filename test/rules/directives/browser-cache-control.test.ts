import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { browserCacheControl } from "../../../worker/rules/directives/browser-cache-control.ts";
import { parseCacheControl } from "../../../worker/rules/directives/cache-control.ts";
import { anyText } from "../fields/any-text.ts";

describe("browserCacheControl", () => {
  test.each<[name: string, sent: string | null, expected: string | null]>([
    ["only the owner's time if the origin says nothing", null, "max-age=610"],
    ["the owner's time in place of the origin's", "max-age=60, s-maxage=3600", "max-age=610"],
    ["no stale windows", "max-age=60, stale-while-revalidate=5, stale-if-error=5", "max-age=610"],
    ["what does not change", "max-age=60, immutable, no-transform", "immutable, no-transform, max-age=610"],
    ["must-revalidate", "max-age=60, must-revalidate", "must-revalidate, max-age=610"],
    ["private", "private", "private, max-age=610"],
    ["fields that are private", 'private="a, b"', 'private="a, b", max-age=610'],
    ["fields that are not used unasked", 'no-cache="a"', 'no-cache="a", max-age=610'],
    ["nothing beside no-cache", "no-cache, max-age=60", null],
    ["nothing beside no-store", "no-store, must-understand", null],
    ["nothing beside what cannot be read", "private; max-age=60", null],
  ])("tells %s", (_, sent, expected) => {
    expect(browserCacheControl(sent, 600, 10, Number.POSITIVE_INFINITY)).toBe(expected);
  });

  test("always tells the owner's time, and never allows what the origin forbids", () => {
    fc.assert(
      fc.property(anyText, fc.nat(1e9), fc.nat(1e9), (sent, ttlSeconds, ageSeconds) => {
        const told = browserCacheControl(sent, ttlSeconds, ageSeconds, Number.POSITIVE_INFINITY);
        const before = parseCacheControl(sent);
        expect(told === null).toBe(before.noStore || before.noCache === "whole");
        if (told === null) return;
        const { private: scope, noCache, mustRevalidate } = before;
        const maxAge = ageSeconds + ttlSeconds;
        expect(parseCacheControl(told)).toMatchObject({ private: scope, noCache, mustRevalidate, maxAge });
      }),
    );
  });
});
