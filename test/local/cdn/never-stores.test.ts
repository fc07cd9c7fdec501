import "tidemark/local/matchers";
import { assertNeverStores, type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

const NO_STORE = { fields: { "cache-control": "no-store" } };

describe("that a site keeps its paths out of the cache", () => {
  test("does not follow from what the origin says of one of them", async () => {
    await using cdn = await startCdn({ site: {}, origin: { "/admin/login": NO_STORE } });
    await expect(cdn).not.toNeverStore("/admin/*");
  });

  test("is seen of the paths of the origin's script as well, with their replies", async () => {
    const site = { routes: [{ match: "/admin/:page", pass: true }] };
    const page = { fields: { "cache-control": "public, max-age=60" } };
    await using cdn = await startCdn({ site, origin: { "/admin/deep/page": page } });
    await expect(cdn).not.toNeverStore("/admin/deep*");
  });

  test("holds for a route's own pattern, also one with a part that may be absent", async () => {
    const match = "/admin{/*}?";
    await using cdn = await startCdn({ site: { routes: [{ match, pass: true }] }, origin: {} });
    await expect(cdn).toNeverStore(match);
    expect(cdn.origin.targets).toEqual([]);
  });

  describe("is asked of paths that its pattern matches", () => {
    const asked = [
      { match: "/:lang(de|en)/account", paths: ["/de/account", "/de/account?a=1"] },
      { match: "/*.(jpg|png)", paths: ["/.jpg", "/a.jpg", "/a/b.jpg"] },
      { match: "/:lang?/account", paths: ["/a/account", "/account"] },
      { match: "/orders/:id(\\d+)", paths: ["/orders/1"] },
      { match: "/a(.*)", paths: ["/aa"] },
      { match: "/file\\(:name\\)", paths: ["/file(a)"] },
      { match: "/:path*", paths: ["/a"] },
      { match: "/:lang?", paths: ["/a"] },
      { match: "/*?", paths: ["/", "/a"] },
      { match: "/shop{/:page([a-c]|x)}?", paths: ["/shop/a", "/shop"] },
      { match: "/über uns/日本*", paths: ["/%C3%BCber%20uns/%E6%97%A5%E6%9C%AC"] },
    ];
    let cdn: Cdn;

    beforeAll(async () => {
      cdn = await startCdn({ site: { routes: asked.map(({ match }) => ({ match, pass: true })) }, origin: {} });
    });

    afterAll(() => cdn.close());

    test.each(asked)("$match", async ({ match, paths }) => {
      const before = cdn.origin.seen.length;
      await expect(cdn).toNeverStore(match);
      expect(cdn.origin.seen.slice(before).map(({ target }) => target)).toEqual(expect.arrayContaining(paths));
    });
  });

  test("is asked of the script's paths that a group matches", async () => {
    await using cdn = await startCdn({
      site: { routes: [{ match: "/de/account", pass: true }] },
      origin: { "/en/account?a=1": { fields: { "cache-control": "public, max-age=60" } } },
    });
    await expect(cdn).not.toNeverStore("/:lang(de|en)/account");
  });

  test("is told of each of several patterns that are asked at once, and the origin's default reply stays", async () => {
    const routes = ["/cart", "/admin/", "/admin/:page"].map((match) => ({ match, pass: true }));
    await using cdn = await startCdn({ site: { routes }, origin: {} });
    const asked = ["/cart", "/admin/*"].map((pattern) => assertNeverStores(cdn, pattern));
    const [cart, admin] = await Promise.allSettled(asked);
    expect(cart).toMatchObject({ status: "fulfilled" });
    expect(admin).toMatchObject({ reason: { message: expect.stringContaining("but /admin/a/b was when a guest") } });
    expect(await cdn.get("/unnamed")).toMatchObject({ status: 404 });
  });

  test("does not follow from errors of the edge, and neither does the opposite", async () => {
    await using cdn = await startCdn({ site: {}, origin: {} });
    await cdn.origin.goDown();
    const message =
      "cannot tell whether anything under /admin/* is stored: the edge itself answered 502\n\n  request            GET /admin/ from local";
    await expect(expect(cdn).toNeverStore("/admin/*")).rejects.toThrow(message);
    await expect(expect(cdn).not.toNeverStore("/admin/*")).rejects.toThrow(message);
    await expect(assertNeverStores(cdn, "/admin/*")).rejects.toMatchObject({ name: "AssertionError" });
  });

  const EARLIER = [
    { match: "/*.json", path: "/admin/a.json" },
    { match: "/*.(js|css)", path: "/admin/a.js" },
    { match: "/:any*/feed", path: "/admin/a/feed" },
    { match: "/*.json", path: "/admin/a.json", pattern: "/admin/:page" },
  ];
  const OTHER_EARLIER = [
    { match: "/:any*.json", path: "/admin/a.json" },
    { match: "/:section/:page.json", path: "/admin/a.json" },
    { match: "/(.*)\\.json", path: "/admin/a.json" },
    { match: "/{*/}?feed", path: "/admin/feed" },
    { match: "/{*.json}?", path: "/admin/a.json" },
    { match: "/:section/login", path: "/admin/login" },
    { match: "/admin/login", path: "/admin/login" },
    { match: "/*.json", path: "/admin/a.json", pattern: "/admin/(.*)" },
    { match: "/admin/übersicht", path: "/admin/%C3%BCbersicht" },
  ];
  const expectStored = async ({ match, path, pattern = "/admin/*" }: (typeof EARLIER)[number]) => {
    await using cdn = await startCdn({ site: { routes: [{ match }, { match: pattern, pass: true }] }, origin: {} });
    const error = `expected nothing under ${pattern} to be stored, but ${path} was when a guest requested it`;
    await expect(assertNeverStores(cdn, pattern)).rejects.toThrow(error);
  };
  test.each(EARLIER)("does not follow if an earlier route, $match, stores some of the paths", expectStored);
  test.each(OTHER_EARLIER)("nor if it is $match", { tags: ["deep"] }, expectStored);

  test("follows if only later routes would store some of the paths, and no route is asked of paths that it cannot have", async () => {
    const routes = [{ match: "/admin/*", pass: true }, { match: "/*.json" }, { match: "/blog/:slug" }];
    await using cdn = await startCdn({ site: { routes }, origin: {} });
    await expect(cdn).toNeverStore("/admin/*");
    const asked = new Set(cdn.origin.seen.map(({ target }) => target));
    const ownPaths = ["/admin/", "/admin/a", "/admin/a/b", "/admin/?a=1"];
    expect([...asked]).toEqual(ownPaths);
  });

  test("is asked of a path of each route that the script does not answer itself", async () => {
    const routes = [
      { match: "/admin/login", ttl: "1h" },
      { match: "/admin/*", pass: true },
    ];
    const login = { fields: { "cache-control": "private" } };
    await using cdn = await startCdn({ site: { routes }, origin: { "/admin/login": login } });
    await expect(cdn).not.toNeverStore("/admin/*");
  });

  test("is asked of one path of each route that has some", async () => {
    const below = Array.from({ length: 100 }, (_, at) => ({ match: `/api/v${at}/:name.json` }));
    const routes = [{ match: "/api/v1/*", pass: true }, { match: "/api/:version/*", pass: true }, ...below];
    await using cdn = await startCdn({ site: { routes }, origin: {} });
    await expect(cdn).toNeverStore("/api/:version/*");
    expect(new Set(cdn.origin.seen.map(({ target }) => target)).size).toBeLessThan(10);
  });

  test("is told on a Node without URLPattern, as Node 22 is", async () => {
    await using cdn = await startCdn({ site: { routes: [{ match: "/admin/*", pass: true }] }, origin: {} });
    vi.stubGlobal("URLPattern", undefined);
    try {
      await expect(cdn).toNeverStore("/admin/*");
      await expect(cdn).not.toNeverStore("/other/*");
    } finally {
      vi.unstubAllGlobals();
    }
  });

  describe("cannot be asked", () => {
    let cdn: Cdn;

    beforeAll(async () => {
      cdn = await startCdn({ site: {}, origin: {} });
    });

    afterAll(() => cdn.close());

    test.each([
      ["shop/*", 'toNeverStore: "shop/*" is not a path. '],
      ["", 'toNeverStore: "" is not a path. '],
      [":a", 'toNeverStore: ":a" is not a path. '],
      ["https://www.example.com/shop/*", 'toNeverStore: "https://www.example.com/shop/*" is not a path. '],
      ["*", "no path can be made up that * matches: name the paths themselves"],
      ["/a?b=1", 'toNeverStore: "/a?b=1" is not a URLPattern pathname'],
      ["/a(", 'toNeverStore: "/a(" is not a URLPattern pathname'],
      [
        "/:lang([a-z]{2})/account",
        "no path can be made up that /:lang([a-z]{2})/account matches: name the paths themselves",
      ],
    ])("of %j, which no path begins with, or for which none can be made up", async (pattern, message) => {
      await expect(assertNeverStores(cdn, pattern)).rejects.toThrow(message);
      await expect(assertNeverStores(cdn, pattern)).rejects.toBeInstanceOf(TypeError);
      expect(cdn.origin.seen).toEqual([]);
    });
  });

  test("does not follow from the origin's own Cache-Status, and neither does the opposite", async () => {
    const fields = { "cache-control": "public, max-age=60", "cache-status": "nginx; hit; ttl=9, varnish; stored" };
    const routes = [{ match: "/admin/*", pass: true }];
    await using cdn = await startCdn({ site: { routes }, origin: { "/admin/login": { fields }, "/open": { fields } } });
    await expect(cdn).toNeverStore("/admin/*");
    await expect(cdn).not.toNeverStore("/open");
  });
});
