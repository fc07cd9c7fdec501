import { describe, expect, test } from "vitest";
import { urlWarnings } from "../../worker/control/purging/purge-warnings.ts";
import { type ResolvedUrl, resolveUrl } from "../../worker/rules/key/cache-key.ts";
import { compileSite } from "../../worker/site/site.ts";

const site = compileSite(
  {
    origin: "https://origin.example.test",
    bypass: { query: ["preview"] },
    routes: [{ match: "/search", store: { when: { query: { q: { maxLength: 3 } } } } }],
  },
  {},
);

describe("urlWarnings", () => {
  test.each<[string, readonly string[]]>([
    ["/a", []],
    ["/a?b=1", []],
    ["/a;jsessionid=1", ['"/a;jsessionid=1" has a query or session that the site does not store.']],
    ["/a?preview=1", ['"/a?preview=1" has a query or session that the site does not store.']],
    ["/search?q=long", ['"/search?q=long" has a query or session that the route /search does not store.']],
  ])("%s: %j", (url, expected) => {
    const absolute = `https://www.example.test${url}`;
    expect(urlWarnings(url, absolute, resolveUrl(absolute, site) as ResolvedUrl)).toEqual(expected);
  });
});
