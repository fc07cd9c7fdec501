import { describe, expect, test } from "vitest";
import { UnstoredPages } from "../../worker/flow/origin/unstored-pages.ts";
import { ExpiringKeys } from "../../worker/rules/key/expiring-keys.ts";
import type { FetchKey } from "../../worker/rules/key/fetch-key.ts";

const HOUR_MS = 3_600_000;

function page(cacheKey: string): FetchKey {
  return { page: cacheKey, variant: [], audience: "anonymous" };
}

describe("UnstoredPages", () => {
  test("remembers a page for an hour, which starts again each time", () => {
    const pages = new UnstoredPages();
    expect(pages.has(page("a"), 0)).toBe(false);
    pages.remember(page("a"), 0);
    expect(pages.has(page("a"), HOUR_MS - 1)).toBe(true);
    expect(pages.has(page("a"), HOUR_MS)).toBe(false);
    expect(pages.has(page("b"), 0)).toBe(false);
    pages.remember(page("a"), 1000);
    expect(pages.has(page("a"), HOUR_MS)).toBe(true);
  });

  test("knows it of some requests alone", () => {
    const pages = new UnstoredPages();
    pages.remember(page("a"), 0, "PARTS");
    expect(["PARTS", "HEAD", ""].filter((requests) => pages.has(page("a"), 0, requests))).toEqual(["PARTS"]);
    pages.remember({ ...page("b"), field: "x-debug" }, 0);
    const ofFields = ["x-debug", "x-other"].filter((field) => pages.has({ ...page("b"), field }, 0, "HEAD"));
    expect(ofFields).toEqual(["x-debug"]);
    expect(pages.has(page("b"), 0, "HEAD")).toBe(false);
    pages.remember(page("b"), 0);
    expect(pages.has({ ...page("b"), field: "x-other" }, 0, "HEAD")).toBe(true);
  });

  test("forgets a page if the clock is set back by more than an hour", () => {
    const pages = new UnstoredPages();
    pages.remember(page("a"), 10 * HOUR_MS);
    expect(pages.has(page("a"), 9 * HOUR_MS + 1)).toBe(true);
    expect(pages.has(page("a"), 9 * HOUR_MS)).toBe(false);
  });

  test("holds 2000 pages and forgets the oldest first", () => {
    const pages = new UnstoredPages();
    for (let number = 0; number < 2000; number++) pages.remember(page(`${number}`), 0);
    pages.remember(page("0"), 0);
    expect(pages.has(page("1"), 1)).toBe(true);
    pages.remember(page("one more"), 0);
    expect(pages.has(page("0"), 1)).toBe(true);
    expect(pages.has(page("1"), 1)).toBe(false);
    expect(pages.has(page("2"), 1)).toBe(true);
    expect(pages.has(page("one more"), 1)).toBe(true);
  });

  test.each([511, 512, 513, 2_000])("remembers a key of %i characters, and no other with its beginning", (length) => {
    const keys = new ExpiringKeys(2, HOUR_MS);
    const key = "x".repeat(length);
    keys.remember(key, 0);
    expect([key, `${key}x`, `${key.slice(0, -1)}y`].filter((each) => keys.has(each, 0))).toEqual([key]);
    keys.forget(key);
    expect(keys.has(key, 0)).toBe(false);
  });
});
