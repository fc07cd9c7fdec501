import { describe, expect, test } from "vitest";
import { compressionSettings } from "../../../worker/site/compression-settings.ts";
import { refuseServerSettings } from "../../../worker/site/refuse-server-settings.ts";
import { reviewSite } from "../../../worker/site/review-site.ts";
import type { RouteInput, SiteInput } from "../../../worker/site/site-input.ts";

const origin = "http://origin.example.com";

function errorsOf(site: Omit<SiteInput, "origin">): string[] {
  return reviewSite({ origin, ...site }, {}).errors.map(({ path, message }) => `${path}: ${message}`);
}

test("no route has them unless the site says so", () => {
  expect(compressionSettings({ compression: {}, routes: [{ match: "/*" }] })!.deltas.size).toBe(0);
});

test("true means all defaults, and the first of two routes with the same pattern counts", () => {
  const routes: RouteInput[] = [
    { match: "/assets/*", deltas: true },
    { match: "/app/*", deltas: { match: "/app/:version/main.js", keep: "7d" } },
    { match: "/app/*", deltas: true },
  ];
  expect([...compressionSettings({ compression: {}, routes })!.deltas].sort()).toEqual([
    ["/app/*", { match: "/app/:version/main.js", keepMs: 7 * 86_400_000 }],
    ["/assets/*", { match: null, keepMs: 86_400_000 }],
  ]);
});

describe("mistakes are named", () => {
  test.each<[string, unknown, string]>([
    ["false", false, "routes[0].deltas: can only be true, or an object with match and keep"],
    ["an unknown key", { kept: "1d" }, "routes[0].deltas.kept: unknown key; did you mean keep?"],
    ["a path that does not begin with /", { match: "app/*" }, "routes[0].deltas.match: is not the pattern of a path"],
    [
      "a regular expression",
      { match: "/app/(\\d+)" },
      "routes[0].deltas.match: is not a URL pattern that browsers accept here",
    ],
    ["a query", { match: "/app?v=*" }, "routes[0].deltas.match: is not a URL pattern that browsers accept here"],
    ["a number", { keep: 60 }, "routes[0].deltas.keep: "],
    ["no time", { keep: "0s" }, "routes[0].deltas.keep: is not between 1ms and 90d"],
    ["too long", { keep: "91d" }, "routes[0].deltas.keep: is not between 1ms and 90d"],
  ])("%s", (_, deltas, message) => {
    const routes = [{ match: "/*", deltas: deltas as true }];
    expect(errorsOf({ compression: {}, routes }).join("\n")).toContain(message);
  });

  test.each<[string, Omit<RouteInput, "match">, string]>([
    ["nothing is stored", { pass: true }, "needs stored pages, but pass: true stores none"],
    [
      "a cookie selects",
      { key: { cookies: { theme: ["dark"] } } },
      "needs pages that are keyed only by their path: leave out key.cookies",
    ],
    ["a country selects", { key: { country: true } }, "leave out key.country"],
    ["languages select", { key: { languages: ["en"] } }, "leave out key.languages"],
    ["a field selects", { key: { fields: ["x-app"] } }, "leave out key.fields"],
    [
      "browsers get no time",
      { browserTtl: "0s" },
      "needs pages that browsers may keep for a while, but browserTtl allows no time",
    ],
  ])("a route whose pages could never be dictionaries: %s", (_, rules, message) => {
    const routes = [{ match: "/a" }, { match: "/*", deltas: true as const, ...rules }];
    expect(errorsOf({ compression: {}, routes })).toEqual([expect.stringMatching(/^routes\[1\]\.deltas: /)]);
    expect(errorsOf({ compression: {}, routes }).join("\n")).toContain(message);
  });

  test("a route whose key does not select pages is accepted", () => {
    const key = { query: { ignore: ["x"] }, country: false, fields: [] };
    expect(errorsOf({ compression: {}, routes: [{ match: "/*", deltas: true, key, browserTtl: "60s" }] })).toEqual([]);
  });

  test("deltas need compression, or visitors without an older version would get the page plain", () => {
    expect(errorsOf({ routes: [{ match: "/*", deltas: true }] })).toEqual([
      "routes[0].deltas: needs the site's compression, for visitors who have no older version: write compression: {} beside routes",
    ]);
  });
});

test("on Workers they are refused, with the reason", () => {
  expect(() => refuseServerSettings({ origin, routes: [{ match: "/a" }, { match: "/*", deltas: true }] })).toThrow(
    /routes\[1\]\.deltas: is only for tidemark serve: the Workers runtime cannot compress with a dictionary yet/,
  );
  expect(() => refuseServerSettings({ origin, routes: [{ match: "/*" }] })).not.toThrow();
});
