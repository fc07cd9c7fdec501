import { expect, test } from "vitest";
import type { ComparedPages } from "../../wire/stats.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import { keyChanges } from "../../worker/metrics/key-changes.ts";
import type { StoredResponse } from "../../worker/rules/storing/stored-response.ts";

const NOW = Date.UTC(2026, 0, 1);

/** Pages that are fetched one after the other, two seconds apart, and what the comparison of them has counted. */
function comparedAfter(
  pages: readonly { url: string; body?: string; variant?: [string, string][] }[],
  selectingNames: readonly string[] = [],
): ComparedPages {
  const counters = new Counters("http://origin.test", () => undefined);
  for (const [turn, { url, body = "page", variant = [] }] of pages.entries()) {
    const at = NOW + turn * 2000;
    const key = variant.length === 0 ? url : `${url} ${JSON.stringify(variant)}`;
    const head = { key, variant, givenPurgeKeys: [], receivedAt: at, freshnessSeconds: 600, initialAgeMs: 0 };
    const stored = { head, body: new TextEncoder().encode(body) } as unknown as StoredResponse;
    counters.report({ kind: "fetched", route: "/*", selectingNames, url, stored, at });
  }
  const { routes } = counters.tree();
  return JSON.parse(JSON.stringify(routes))["/*"]?.compared ?? {};
}

test.each([
  ["/a?x=1&y=2", "drop x", "/a?y=2"],
  ["/a?x=1&y=2", "drop *", "/a?"],
  ["/a?y=2&x=1", "sort", "/a?x=1&y=2"],
  ["/a?y=2&x=2&x=1", "sort", "/a?x=2&x=1&y=2"],
  ["/a?x=AB&y=CD", "lowercase x", "/a?x=ab&y=CD"],
  ["/a?ad_x=1&ad_y=2&z=3", "drop ad_*", "/a?z=3"],
  ["/a?x=1&x=2", "drop x", "/a?"],
])("of %s, %s leaves %s", (url, change, changed) => {
  expect(keyChanges(url, [], []).get(change)).toBe(`${changed} []`);
});

test.each([
  ["no value", "/a?someone@example.com"],
  ["an odd name", "/a?some%20one=1"],
  ["a name that is too long", `/a?${"x".repeat(41)}=1`],
  ["a name that speaks of credentials", "/a?accessToken=1"],
])("a parameter with %s is left out, and the query is then never dropped", (_, url) => {
  expect([...keyChanges(url, [], []).keys()]).toEqual([]);
});

test("a URL of more than 512 characters is not compared with others", () => {
  const url = (length: number) => "/a?x=".padEnd(length, "1");
  expect(keyChanges(url(512), [], []).size).toBeGreaterThan(0);
  expect(keyChanges(url(513), [["accept-language", "de"]], []).size).toBe(0);
});

test("without a query and a Vary there is nothing to change", () => {
  expect(keyChanges("/a", [], []).size).toBe(0);
});

test("a name from the prototype of objects is a name like others", () => {
  const pages = ["1", "2", "3"].map((value) => ({ url: `/a?__proto__=${value}` }));
  expect(comparedAfter(pages).keys["drop __proto__"]).toEqual({ fetches: 2, same: 2 });
});

test("one that differs is counted", () => {
  const pages = ["page", "page", "PAGE"].map((body, value) => ({ url: `/a?x=${value}`, body }));
  expect(comparedAfter(pages).keys["drop x"]).toEqual({ fetches: 2, same: 1, different: 1 });
});

test("variants of one URL are compared without each of the fields that select them", () => {
  const pages = ["de", "en"].flatMap((language) =>
    ["1", "2"].map((app) => ({
      url: "/a",
      body: language,
      variant: [["accept-language", language] as [string, string], ["x-app", app] as [string, string]],
    })),
  );
  expect(comparedAfter(pages).keys).toEqual({
    "vary accept-language": { fetches: 2, different: 2 },
    "vary x-app": { fetches: 2, same: 2 },
  });
});

test("fields that the owner has put in the key or cannot drop, and Origin, are no change", () => {
  const names = ["accept-encoding", "cookie:currency", "host", "origin", "x-app", "x-tenant"];
  const changed = names.filter((name) => {
    const pages = ["1", "2"].map((value) => ({ url: "/a", variant: [[name, value] as [string, string]] }));
    return comparedAfter(pages, ["cookie:currency", "x-tenant"]).keys;
  });
  expect(changed).toEqual(["x-app"]);
});

test("a hundred parameters make at most fifty names and one more", () => {
  const pages = Array.from({ length: 100 }, (_, name) =>
    [1, 2].map((value) => ({ url: `/${name}?p${name}=${value}` })),
  );
  const names = Object.keys(comparedAfter(pages.flat()).keys);
  expect(names).toHaveLength(51);
  expect(names).toContain("(others)");
});

test("of a thousand pages that are fetched again, most are compared", () => {
  const pages = Array.from({ length: 1000 }, (_, page) => ({ url: `/${page}` }));
  const { same } = comparedAfter([...pages, ...pages]).refetched;
  expect(same).toBeGreaterThan(700);
  expect(same).toBeLessThanOrEqual(1000);
});

test("after ten thousand other pages the first ones are forgotten", () => {
  const others = Array.from({ length: 10_000 }, (_, page) => ({ url: `/other/${page}` }));
  expect(comparedAfter([{ url: "/a?x=1" }, ...others, { url: "/a?x=2" }]).keys).toBeUndefined();
});
