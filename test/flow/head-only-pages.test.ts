import { describe, expect, test } from "vitest";
import { HeadOnlyPages } from "../../worker/flow/origin/head-only-pages.ts";

const HOUR_MS = 3_600_000;

describe("HeadOnlyPages", () => {
  test("remembers a page for an hour, and begins anew each time", () => {
    const pages = new HeadOnlyPages();
    expect(pages.has("a", 0)).toBe(false);
    pages.remember("a", 0);
    expect(pages.has("a", HOUR_MS - 1)).toBe(true);
    expect(pages.has("a", HOUR_MS)).toBe(false);
    expect(pages.has("b", 0)).toBe(false);
    pages.remember("a", 1000);
    expect(pages.has("a", HOUR_MS)).toBe(true);
  });

  test("holds 2000 pages: the one that was remembered first goes first", () => {
    const pages = new HeadOnlyPages();
    for (let number = 0; number < 2000; number++) pages.remember(`${number}`, 0);
    pages.remember("0", 0);
    expect(pages.size).toBe(2000);
    pages.remember("one more", 0);
    expect(pages.size).toBe(2000);
    expect(pages.has("0", 1)).toBe(true);
    expect(pages.has("1", 1)).toBe(false);
    expect(pages.has("one more", 1)).toBe(true);
  });

  test("a key that is too long to be remembered counts as one that is", () => {
    const pages = new HeadOnlyPages();
    expect(pages.has("x".repeat(512), 0)).toBe(false);
    expect(pages.has("x".repeat(513), 0)).toBe(true);
    pages.remember("x".repeat(513), 0);
    expect(pages.size).toBe(0);
  });
});
