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

test("of many routes, each is found by the first that covers it alone", () => {
  const kinds = [
    "/a",
    "/a/:x",
    "/:x/b",
    "/a/*",
    "/a/b",
    "/a{/*}?",
    "/(a|b)",
    "/(a|b){/*}?",
    "/a/(b)",
    "/a*",
    "/b+",
    "/:x",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 12 }), (all) => {
      const by = all.map((later, at) => all.slice(0, at).findIndex((earlier) => isShadowed(earlier, later)));
      const found = new Map(shadowedRoutes(all.map((match) => ({ match }))).map((each) => [each.index, each.by.index]));
      expect(all.map((_match, at) => found.get(at) ?? -1)).toEqual(by);
    }),
    { numRuns: 1_000 },
  );
});

test("of 20,000 routes, each is not compared with all others: that took 20 s", () => {
  const routes = Array.from({ length: 20_000 }, (_, at) => ({ match: at % 2 ? `/old-${at}` : `/([oO]ld-${at})` }));
  const [first] = routes as [{ match: string }];
  const began = performance.now();
  expect(shadowedRoutes([...routes, first])).toMatchObject([{ index: 20_000, by: { index: 0 } }]);
  expect(performance.now() - began).toBeLessThan(3_000);
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
