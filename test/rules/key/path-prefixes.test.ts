import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_PREFIX_CHARACTERS, MAX_PREFIX_SEGMENTS, pathPrefixes } from "../../../worker/rules/key/path-prefixes.ts";

const deep = (segments: number) => Array.from({ length: segments }, (_, index) => `/${index}`).join("");

describe("the prefixes that a path is filed under", () => {
  test.each([
    { name: "whole segments, the shortest first", path: "/shop/a/b", prefixes: ["/shop", "/shop/a", "/shop/a/b"] },
    { name: "a slash at the end does not make another segment", path: "/shop/a/", prefixes: ["/shop", "/shop/a"] },
    { name: "an empty segment is not a prefix, but keeps its place", path: "/a//b", prefixes: ["/a", "/a//b"] },
    { name: "an empty first segment", path: "//a", prefixes: ["//a"] },
    { name: "an encoded slash separates nothing", path: "/a%2Fb", prefixes: ["/a%2Fb"] },
    { name: "the front page has none", path: "/", prefixes: [] },
  ])("$name: $path", ({ path, prefixes }) => {
    expect(pathPrefixes(path)).toEqual(prefixes);
  });

  test.each([
    [MAX_PREFIX_SEGMENTS - 1, MAX_PREFIX_SEGMENTS - 1],
    [MAX_PREFIX_SEGMENTS, MAX_PREFIX_SEGMENTS],
    [MAX_PREFIX_SEGMENTS + 1, MAX_PREFIX_SEGMENTS],
  ])("a path of %d segments has %d", (segments, count) => {
    const prefixes = pathPrefixes(deep(segments));
    expect(prefixes).toHaveLength(count);
    expect(prefixes.at(-1)).toBe(deep(count));
  });

  test.each([
    [MAX_PREFIX_CHARACTERS - 1, 2],
    [MAX_PREFIX_CHARACTERS, 2],
    [MAX_PREFIX_CHARACTERS + 1, 1],
  ])("a second prefix of %d characters makes %d", (characters, count) => {
    expect(pathPrefixes(`/a/${"x".repeat(characters - 3)}`)).toHaveLength(count);
  });

  test("every page below a prefix is filed under the key that the prefix purges", () => {
    const segments = fc.array(fc.stringMatching(/^[a-c]{0,2}$/), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(segments, segments, fc.boolean(), (above, below, endsWithSlash) => {
        const prefix = above.map((segment) => `/${segment}`).join("");
        const purged = pathPrefixes(prefix + (endsWithSlash ? "/" : "")).at(-1);
        if (purged === undefined) return;
        expect(pathPrefixes(prefix)).toContain(purged);
        expect(pathPrefixes(prefix + below.map((segment) => `/${segment}`).join(""))).toContain(purged);
      }),
      { numRuns: 2000 },
    );
  });
});
