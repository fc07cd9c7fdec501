import { describe, expect, test } from "vitest";
import { planPurge } from "../../worker/control/purging/purge-plan.ts";
import { resolveUrl } from "../../worker/rules/key/cache-key.ts";
import { urlPurgeKeys } from "../../worker/rules/key/purge-key.ts";
import { compileSite } from "../../worker/site/site.ts";

const HOSTS = ["www.example.com", "shop.example.com"];

/** What is purged of a site, and the keys under which a page is stored that was asked for at this URL. */
function planFor(site: { hosts?: string[]; publicUrl?: string }, anyHost: boolean, item: object, page: string) {
  const rules = compileSite({ origin: "http://127.0.0.1:1", ...site }, anyHost ? { hosts: null } : {});
  const { purgeKeys, errors } = planPurge(item, "http://127.0.0.1:1", rules);
  const asked = resolveUrl(page, rules);
  const keys = asked.kind === "refused" ? [] : urlPurgeKeys(asked.cacheKey);
  const isPurged = purgeKeys.some((key) => keys.includes(key));
  return { isPurged, errors: errors.map(({ message }) => message) };
}

const publicUrl = "https://www.example.com";

test.each([
  ["a host of the site", { hosts: HOSTS }, false, "https://shop.example.com/a", true],
  ["the public host", { hosts: HOSTS, publicUrl }, false, "http://www.example.com/a", true],
  ["another host of a site with a public URL", { hosts: HOSTS, publicUrl }, false, "https://shop.example.com/a", true],
  ["a port of the dev command", { publicUrl: "http://localhost:8787" }, true, "http://localhost:8789/a", true],
  ["a foreign host", { hosts: HOSTS, publicUrl }, false, "https://elsewhere.example/a", false],
  ["another page", { hosts: HOSTS, publicUrl }, false, "https://shop.example.com/b", false],
])("an absolute URL of %s, and a prefix of that host", (_, site, anyHost, url, isPurged) => {
  const { host, pathname } = new URL(url);
  const page = `https://${host === "elsewhere.example" ? "www.example.com" : host}/a`;
  expect(planFor(site, anyHost, { urls: [url] }, page).isPurged).toBe(isPurged);
  expect(planFor(site, anyHost, { prefixes: [host + pathname] }, page).isPurged).toBe(isPurged);
  if (pathname === "/a") expect(planFor(site, anyHost, { hosts: [host] }, page).isPurged).toBe(isPurged);
});

test("a host that is not the site's is refused, also where requests are served under a public URL", () => {
  const { errors } = planFor({ hosts: HOSTS, publicUrl }, false, { urls: ["https://elsewhere.example/a"] }, publicUrl);
  expect(errors).toEqual(['"https://elsewhere.example/a": elsewhere.example is not a host of this site']);
});

test.each([
  ["a site with any host", {}, true],
  ["a site with any host and a public URL", { publicUrl }, true],
  ["a site with its own hosts", { hosts: HOSTS }, false],
])("%s refuses a URL with a star in its host", (_, site, anyHost) => {
  const { errors } = planFor(site, anyHost, { urls: ["https://*.example.com/a"] }, publicUrl);
  expect(errors).toEqual([expect.stringContaining("a * in a host is not a wildcard; name each host")]);
});

describe("an address of the developer's machine, where requests reach the edge as ones for the public host", () => {
  const PUBLIC = "http://www.example.com";
  const ON_MACHINE = { urls: ["http://localhost:8787/a"], prefixes: ["localhost:8787/b"], hosts: ["localhost:8787"] };
  const warningsOf = (item: object, base: string, site: object = {}, anyHost = true) =>
    planPurge(item, base, compileSite({ origin: "http://127.0.0.1:1", ...site }, anyHost ? { hosts: null } : {}))
      .warnings;
  const warning = (item: string) =>
    `"${item}" names this machine, but the edge gets requests as ones for www.example.com: name that host, or only a path.`;

  test.each([
    [{ urls: ["http://localhost:8787/a"] }, "http://localhost:8787/a"],
    [{ urls: ["http://127.0.0.1:8787/a"] }, "http://127.0.0.1:8787/a"],
    [{ urls: ["http://[::1]:8787/a"] }, "http://[::1]:8787/a"],
    [{ prefixes: ["localhost:8787/a"] }, "localhost:8787/a"],
    [{ hosts: ["localhost:8787"] }, "localhost:8787"],
  ])("%j: a warning", (item, named) => {
    expect(warningsOf(item, PUBLIC)).toEqual([warning(named)]);
  });

  test.each([
    ["a path", { urls: ["/a"], prefixes: ["/b"] }, PUBLIC],
    ["another host of the site", { urls: ["http://shop.example.com/a"], hosts: ["localhost.example.com"] }, PUBLIC],
    ["the edge under this machine's address", ON_MACHINE, "http://localhost:8787"],
    ["another port of this machine", ON_MACHINE, "http://localhost:8788"],
    ["a public URL, which replaces every host", ON_MACHINE, PUBLIC, { publicUrl: PUBLIC }],
    ["an edge that has this host", ON_MACHINE, PUBLIC, { hosts: ["localhost:8787"] }, false],
  ])("%s: none", (_, item, base, site: object = {}, anyHost = true) => {
    expect(warningsOf(item, base, site, anyHost)).toEqual([]);
  });
});

describe("a URL with characters that some clients escape and others do not", () => {
  const rules = compileSite({ origin: "http://127.0.0.1:1", hosts: HOSTS }, {});
  const planOf = (urls: string[]) => planPurge({ urls }, "https://www.example.com", rules);
  const hosted = (...paths: string[]) => paths.map((path) => `//www.example.com${path}`);

  test.each([
    ["/q?a[]=1", "/q?a%5B%5D=1"],
    ["/p|q", "/p%7Cq"],
    ["/it's", "/it%27s"],
    ["/q?a=b|c^d", "/q?a=b%7Cc%5Ed"],
  ])("%s and its escaped form are purged together, whichever is named", (raw, escaped) => {
    for (const url of [raw, escaped, escaped.toLowerCase()]) {
      const { purgeKeys, errors } = planOf([`https://www.example.com${url}`]);
      expect(errors).toEqual([]);
      expect(purgeKeys).toEqual(hosted(escaped));
    }
    expect(planOf([raw]).purgeKeys).toEqual([`path:${escaped}`]);
  });

  test("one of which browsers escape a part is purged as they spell it", () => {
    const { purgeKeys } = planOf(["https://www.example.com/it's?a%5B%5D=it's"]);
    expect(purgeKeys).toEqual(hosted("/it%27s?a%5B%5D=it%27s"));
  });

  test("the plan names it as the caller did", () => {
    const { planned, refresh } = planOf(["/q?a%5B%5D=1", "/about"]);
    expect(planned).toEqual([
      { item: "/q?a%5B%5D=1", key: "/q?a%5B%5D=1", route: null },
      { item: "/about", key: "/about", route: null },
    ]);
    expect(refresh).toEqual(["https://www.example.com/q?a%5B%5D=1", "https://www.example.com/about"]);
  });

  test.each([
    ["/[id]/*", "/[id]/x?a=1", "/%5Bid%5D/x?a=1", "/%5Bid%5D/x"],
    ["/:code(....)/*", "/it's/x?a=1", "/it%27s/x?a=1", "/it%27s/x"],
    ["/:code(......)/*", "/it's/x?a=1", "/it%27s/x?a=1", "/it%27s/x?a=1"],
  ])("the route %s reads %s as its escaped form, so that both have one key", (match, raw, escaped, keyed) => {
    const routes = [{ match, key: { query: { only: [] } } }];
    const site = compileSite({ origin: "http://127.0.0.1:1", routes }, { hosts: null });
    for (const base of ["https://www.example.com", "http://[::1]"]) {
      const stored = [raw, escaped].map((url) => resolveUrl(base + url, site));
      const keys = stored.map((page) => (page.kind === "refused" ? [] : urlPurgeKeys(page.cacheKey)));
      expect(keys[0]).toEqual(keys[1]);
      for (const url of [raw, escaped]) {
        const { purgeKeys } = planPurge({ urls: [url, base + url, "/b"] }, base, site);
        expect(purgeKeys).toEqual([`path:${keyed}`, `//${new URL(base).host}${keyed}`, "path:/b"]);
        for (const key of purgeKeys.slice(0, 2)) expect(keys[0]).toContain(key);
      }
    }
  });

  test("one without its scheme is refused, and a prefix without it is that of its host", () => {
    const plan = planOf(["//www.example.com/a", "//a/b"]);
    const message = '"//www.example.com/a": it has no scheme; write https://www.example.com/a';
    expect(plan.errors).toEqual([{ path: "urls[0]", message }]);
    const site = compileSite({ origin: "http://127.0.0.1:1", hosts: ["www.example.com"] }, {});
    const { purgeKeys } = planPurge({ prefixes: ["//www.example.com/a"] }, "https://www.example.com", site);
    expect(purgeKeys).toEqual(["host:www.example.com/a"]);
  });

  test.each(["/about?a=1&b=%20", "/%2Fx;y", "http://[::1]/a"])("%s has one key", (url) => {
    const anyHost = compileSite({ origin: "http://127.0.0.1:1" }, { hosts: null });
    expect(planPurge({ urls: [url] }, "https://www.example.com", anyHost).purgeKeys).toHaveLength(1);
  });
});
