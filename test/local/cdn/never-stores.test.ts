import "tidemark/local/matchers";
import { assertNeverStores, type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

const NO_STORE = { fields: { "cache-control": "no-store" } };
const PUBLIC = { fields: { "cache-control": "public, max-age=60" } };
const OWN_STATUS = {
  fields: { ...PUBLIC.fields, "cache-status": "nginx; hit; ttl=9, varnish; stored" },
};

interface Earlier {
  readonly match: string;
  /** What it stores of the paths that the site keeps out of the cache. */
  readonly path: string;
  /** Those paths. Default: all below the first part of `path`. */
  readonly pattern?: string;
}

/** Routes before the one that keeps a section of the site out of the cache. Each has a section of its own. */
const EARLIER: readonly Earlier[] = [
  { match: "/*.json", path: "/one/a.json" },
  { match: "/*.(js|css)", path: "/two/a.js" },
  { match: "/:any*/feed", path: "/three/a/feed" },
  { match: "/*.([gG][iI][fF]|[pP][nN][gG])", path: "/five/a.gif" },
  { match: "/*.json", path: "/four/a.json", pattern: "/four/:page" },
];

const sectionOf = ({ path }: Earlier) => path.slice(0, path.indexOf("/", 1));
const patternOf = (earlier: Earlier) => earlier.pattern ?? `${sectionOf(earlier)}/*`;

/** The others of these routes store nothing in its section. */
const keptFromOthers = EARLIER.flatMap((earlier) =>
  EARLIER.filter(({ match }) => match !== earlier.match).map(({ match }) => ({
    match: sectionOf(earlier) + match,
    pass: true,
  })),
);

/** One site for most tests: each has paths of its own, and what it needs of the routes for them. */
const ROUTES = [
  { match: "/mail/@ann", pass: true },
  { match: "/mail/@:name(ann|bob)", ttl: "1h" },
  { match: "/mail/@*", pass: true },
  { match: "/first/*", pass: true },
  { match: "/login/form", ttl: "1h" },
  { match: "/login/*", pass: true },
  { match: "/api/v1/*", pass: true },
  { match: "/api/:version/*", pass: true },
  { match: "/script/:page", pass: true },
  { match: "/de/account", pass: true },
  ...["/cart", "/several/", "/several/:page"].map((match) => ({ match, pass: true })),
  { match: "/status/*", pass: true },
  ...keptFromOthers,
  ...EARLIER.slice(0, 4).map(({ match }) => ({ match })),
  ...EARLIER.map((earlier) => ({ match: patternOf(earlier), pass: true })),
  { match: "/blog/:slug" },
  ...Array.from({ length: 20 }, (_, at) => ({ match: `/api/v${at}/:name.json` })),
];

const ORIGIN = {
  "/said/login": NO_STORE,
  "/script/deep/page": PUBLIC,
  "/en/account?a=1": PUBLIC,
  "/login/form": { fields: { "cache-control": "private" } },
  "/status/login": OWN_STATUS,
  "/mail/%40bob": PUBLIC,
  "/open": OWN_STATUS,
};

let cdn: Cdn;

beforeAll(async () => {
  cdn = await startCdn({ site: { routes: ROUTES }, origin: ORIGIN });
});

afterAll(() => cdn.close());

describe("that a site keeps its paths out of the cache", () => {
  test("is asked of a path of the script that a client spells otherwise than the pattern", async () => {
    await expect(cdn).not.toNeverStore("/mail/@*");
  });

  test("does not follow from what the origin says of one of them", async () => {
    await expect(cdn).not.toNeverStore("/said/*");
  });

  test("is seen of the paths of the origin's script as well, with their replies", async () => {
    await expect(cdn).not.toNeverStore("/script/deep*");
  });

  describe("is asked of paths that its pattern matches", () => {
    const optional = "/admin{/*}?";
    const asked = [
      { match: "/:lang(de|en)/account", paths: ["/de/account", "/de/account?a=1"] },
      { match: "/*.(jpg|png)", paths: ["/.jpg", "/a.jpg", "/a/b.jpg"] },
      { match: "/:lang?/account", paths: ["/a/account", "/account"] },
      { match: "/orders/:id(\\d+)", paths: ["/orders/1"] },
      { match: "/a(.*)", paths: ["/aa"] },
      { match: "/*%([C-F].*)", paths: ["/a%CA"] },
      { match: "/:lang([a-z]{2})/account", paths: ["/aa/account"] },
      { match: "/photos/(\\d+x\\d{2,4}\\.(?:jpe?g|png)|[^1a-c]\\p{L}*)", paths: ["/photos/1x11.jpg"] },
      { match: "/file\\(:name\\)", paths: ["/file(a)"] },
      { match: "/:path*", paths: ["/a"] },
      { match: "/:lang?", paths: ["/a"] },
      { match: "/*?", paths: ["/", "/a"] },
      { match: "/shop{/:page([a-c]|x)}?", paths: ["/shop/a", "/shop"] },
      { match: "/über uns/日本*", paths: ["/%C3%BCber%20uns/%E6%97%A5%E6%9C%AC"] },
    ];
    let passing: Cdn;

    beforeAll(async () => {
      const routes = [optional, ...asked.map(({ match }) => match)].map((match) => ({ match, pass: true }));
      passing = await startCdn({ site: { routes }, origin: {} });
    });

    afterAll(() => passing.close());

    test.each(asked)("$match", async ({ match, paths }) => {
      const before = passing.origin.seen.length;
      await expect(passing).toNeverStore(match);
      expect(passing.origin.seen.slice(before).map(({ target }) => target)).toEqual(expect.arrayContaining(paths));
    });

    test("and holds for a route's own pattern, also one with a part that may be absent", async () => {
      await expect(passing).toNeverStore(optional);
      expect(passing.origin.targets).toEqual([]);
    });
  });

  test("is asked of the script's paths that a group matches", async () => {
    await expect(cdn).not.toNeverStore("/:lang(de|en)/account");
  });

  test("is told of each of several patterns that are asked at once, and the origin's default reply stays", async () => {
    const asked = ["/cart", "/several/*"].map((pattern) => assertNeverStores(cdn, pattern));
    const [cart, several] = await Promise.allSettled(asked);
    expect(cart).toMatchObject({ status: "fulfilled" });
    expect(several).toMatchObject({
      reason: { message: expect.stringContaining("but /several/a/b was when a guest") },
    });
    expect(await cdn.get("/unnamed")).toMatchObject({ status: 404 });
  });

  test("does not follow from errors of the edge, and neither does the opposite", async () => {
    await cdn.origin.goDown();
    try {
      const message =
        "cannot tell whether anything under /down/* is stored: the edge itself answered 502\n\n  request            GET /down/ from local";
      await expect(expect(cdn).toNeverStore("/down/*")).rejects.toThrow(message);
      await expect(expect(cdn).not.toNeverStore("/down/*")).rejects.toThrow(message);
      await expect(assertNeverStores(cdn, "/down/*")).rejects.toMatchObject({ name: "AssertionError" });
    } finally {
      await cdn.origin.comeUp();
    }
  });

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
  const expectStored = async (edge: Cdn, pattern: string, path: string) => {
    const error = `expected nothing under ${pattern} to be stored, but ${path} was when a guest requested it`;
    await expect(assertNeverStores(edge, pattern)).rejects.toThrow(error);
  };
  test.each(EARLIER)("does not follow if an earlier route, $match, stores some of the paths", (earlier) =>
    expectStored(cdn, patternOf(earlier), earlier.path),
  );
  test.each(OTHER_EARLIER)("nor if it is $match", { tags: ["deep"] }, async ({ match, path, pattern = "/admin/*" }) => {
    const routes = [{ match }, { match: pattern, pass: true }];
    await using other = await startCdn({ site: { routes }, origin: {} });
    await expectStored(other, pattern, path);
  });

  test("follows if only later routes would store some of the paths, and no route is asked of paths that it cannot have", async () => {
    const before = cdn.origin.seen.length;
    await expect(cdn).toNeverStore("/first/*");
    const asked = new Set(cdn.origin.seen.slice(before).map(({ target }) => target));
    expect([...asked]).toEqual(["/first/", "/first/a", "/first/a/b", "/first/?a=1"]);
  });

  test("is asked of a path of each route that the script does not answer itself", async () => {
    await expect(cdn).not.toNeverStore("/login/*");
  });

  test("is asked of one path of each route that has some", async () => {
    const before = cdn.origin.seen.length;
    await expect(cdn).toNeverStore("/api/:version/*");
    expect(new Set(cdn.origin.seen.slice(before).map(({ target }) => target)).size).toBeLessThan(10);
  });

  test("is told on a Node without URLPattern, as Node 22 is", async () => {
    vi.stubGlobal("URLPattern", undefined);
    try {
      await expect(cdn).toNeverStore("/first/*");
      await expect(cdn).not.toNeverStore("/other/*");
    } finally {
      vi.unstubAllGlobals();
    }
  });

  describe("cannot be asked", () => {
    test.each([
      ["shop/*", 'toNeverStore: "shop/*" is not a path. '],
      ["", 'toNeverStore: "" is not a path. '],
      [":a", 'toNeverStore: ":a" is not a path. '],
      ["https://www.example.com/shop/*", 'toNeverStore: "https://www.example.com/shop/*" is not a path. '],
      ["*", "no path can be made up that * matches: name the paths themselves"],
      ["/a?b=1", 'toNeverStore: "/a?b=1" is not a URLPattern pathname'],
      ["/a(", 'toNeverStore: "/a(" is not a URLPattern pathname'],
      [
        "/:lang((?!a)[a-z]{2})/account",
        "no path can be made up that /:lang((?!a)[a-z]{2})/account matches: name the paths themselves",
      ],
    ])("of %j, which no path begins with, or for which none can be made up", async (pattern, message) => {
      const before = cdn.origin.seen.length;
      await expect(assertNeverStores(cdn, pattern)).rejects.toThrow(message);
      await expect(assertNeverStores(cdn, pattern)).rejects.toBeInstanceOf(TypeError);
      expect(cdn.origin.seen).toHaveLength(before);
    });
  });

  test("cannot be asked if no path can be made up of a route that may store some, until the script has one", async () => {
    const photos = "/:photos((?!a)[a-z]{6})/:photo";
    const routes = [
      { match: "/photos/:photo((?!a)[a-z]{2})", pass: true },
      { match: photos },
      { match: "/shop/:page((?!a)[a-z])" },
    ];
    await using other = await startCdn({
      site: { routes: [...routes, { match: "/photos/*", pass: true }] },
      origin: {},
    });
    const message = `no path can be made up of the route ${photos}: add a path of it to the origin's script`;
    const asking = assertNeverStores(other, "/photos/*");
    await expect(asking).rejects.toThrow(message);
    await expect(asking).rejects.toBeInstanceOf(TypeError);
    expect(other.origin.seen).toEqual([]);
    other.origin.reply("/photos/b", PUBLIC);
    await expect(assertNeverStores(other, "/photos/*")).rejects.toThrow("but /photos/b was when a guest requested it");
  });

  test("does not follow from the origin's own Cache-Status, and neither does the opposite", async () => {
    await expect(cdn).toNeverStore("/status/*");
    await expect(cdn).not.toNeverStore("/open");
  });
});
