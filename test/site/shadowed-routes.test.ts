import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shadowedRoutes } from "../../worker/site/shadowed-routes.ts";
import { byDepth } from "../suite/depth.ts";

/** The pairs of random patterns that are compared. */
const PAIRS = byDepth({ test: 3_000, gate: 3_000, all: 30_000 });

function isShadowed(earlier: string, later: string): boolean {
  return shadowedRoutes([{ match: earlier }, { match: later }]).length > 0;
}

describe("a route that never matches is found", () => {
  test.each([
    ["/*", "/admin/*"],
    ["/*", "/"],
    ["/*", "/shop{/*}?"],
    ["/about", "/about"],
    ["/a{/*}?", "/a{/*}?"],
    ["/plog/:slug", "/plog/feed.xml"],
    ["/plog/:slug", "/plog/:id"],
    ["/plog/*", "/plog/:slug"],
    ["/plog/*", "/plog/a/b/c"],
    ["/plog/*", "/plog/"],
    ["/plog/*", "/plog/a*"],
    ["/plog/*", "/plog/a/:b?"],
    ["/plog/*", "/plog/a/:id.json"],
    ["/:lang/about", "/en/about"],
    ["/:lang/*", "/en/plog/:slug"],
    ["/admin{/*}?", "/admin"],
    ["/admin{/*}?", "/admin/users/:id"],
    ["/admin{/*}?", "/admin/*"],
    ["/admin{/*}?", "/admin/users{/*}?"],
    ["/:lang{/*}?", "/en/plog/:slug"],
  ])("%s before %s", (earlier, later) => expect(isShadowed(earlier, later)).toBe(true));

  test("with the places of both", () => {
    const routes = ["/a", "/plog/*", "/b", "/plog/:slug"].map((match) => ({ match }));
    const by = { match: "/plog/*", index: 1 };
    expect(shadowedRoutes(routes)).toEqual([{ match: "/plog/:slug", index: 3, by }]);
  });
});

describe("a route that can match is not reported", () => {
  test.each([
    ["/admin/*", "/*"],
    ["/plog/*", "/plog"],
    ["/plog/*", "/plog/:slug?"],
    ["/plog/*", "/plog/*?"],
    ["/plog/*", "/plog{/*}?"],
    ["/plog/:slug", "/plog/"],
    ["/plog/:slug", "/plog/a/b"],
    ["/plog/:slug", "/plog/*"],
    ["/plog/feed.xml", "/plog/:slug"],
    ["/:a", "/:b/:c"],
    ["/a*", "/a/*/b"],
    ["/About", "/about"],
    ["/admin{/*}?", "/administrators"],
    ["/admin{/*}?", "/admin*"],
    ["/admin{/*}?", "/admin/../b"],
    ["/a/*", "/a/../b"],
    ["/a/*", "/a/..{/b}?"],
    ["/a/*", "/a/..{b}?"],
    ["/a/*", "/a/{..}/b"],
    ["/a/*", "/a/\\../b"],
    ["/a/*", "/a/%2E{.}/b"],
    ["/a/*", "/a/..:b"],
    ["/a/*", "/a/..*"],
  ])("%s before %s", (earlier, later) => expect(isShadowed(earlier, later)).toBe(false));
});

test("no path reaches a route that is reported as shadowed", () => {
  const segment = fc.constantFrom(
    "",
    "a",
    "b",
    "a.b",
    ":x",
    ":y",
    ":x?",
    ":x*",
    ":x+",
    ":x.a",
    "*",
    "a*",
    "*?",
    "(a|b)",
    "..",
    "{..}",
    "\\..",
    "..:x",
    "..*",
  );
  const group = fc.constantFrom("", "", "{/*}?", "{/a}", "{/:z}*", "{b}?");
  const pattern = fc
    .tuple(fc.array(segment, { maxLength: 3 }), group)
    .map(([segments, end]) => `/${segments.join("/")}${end}`)
    .filter((match) => patternOf(match) !== null);
  const path = fc
    .array(fc.constantFrom("", "a", "b", "a.b", "c", "x.a"), { maxLength: 4 })
    .map((all) => `/${all.join("/")}`);
  let found = 0;
  fc.assert(
    fc.property(pattern, pattern, fc.array(path, { minLength: 20, maxLength: 20 }), (earlier, later, paths) => {
      if (!isShadowed(earlier, later)) return;
      found++;
      const [first, second] = [patternOf(earlier)!, patternOf(later)!];
      const reaches = paths.filter((pathname) => second.test({ pathname }) && !first.test({ pathname }));
      expect({ earlier, later, reaches }).toEqual({ earlier, later, reaches: [] });
    }),
    { numRuns: PAIRS },
  );
  expect(found).toBeGreaterThan(PAIRS / 60);
});

function patternOf(pathname: string): URLPattern | null {
  try {
    return new URLPattern({ pathname });
  } catch {
    return null; // A pattern that is none.
  }
}
