import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { resolveUrl, variantKey } from "../../../worker/rules/key/cache-key.ts";
import { canonicalUrl } from "../../../worker/rules/key/canonical-url.ts";
import { urlPurgeKeys } from "../../../worker/rules/key/purge-key.ts";
import {
  canonicalQuery,
  type QueryRules,
  TRACKING_PARAMETERS,
  withParameters,
} from "../../../worker/rules/key/query.ts";
import { compileSite } from "../../../worker/site/site.ts";
import { byDepth } from "../../suite/depth.ts";

const plain: QueryRules = { ignore: TRACKING_PARAMETERS, lowercase: [], trim: [], sort: false };

/** Every character that may stand in a URL, and some that may not, but for `#`. */
const PIECES = [..."!\"$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~ é\t", "/.", "..", "%2e", "%41"];

describe("canonicalUrl", () => {
  test.each([
    ["http://WWW.Example.test:80/a", "www.example.test", "/a"],
    ["https://www.example.test:8443/a", "www.example.test:8443", "/a"],
    ["http://x.test", "x.test", "/"],
    ["http://X.test./a", "x.test", "/a"],
    ["http://x.test.:80/a%41", "x.test", "/aA"],
    ["https://x.test.:8443/a", "x.test:8443", "/a"],
    ["http://x.test../a", "x.test..", "/a"],
    ["http://./a", ".", "/a"],
    ["http://x.test/%7Ea/%c3%a9", "x.test", "/~a/%C3%A9"],
    ["http://x.test/a/./b/../c", "x.test", "/a/c"],
    ["http://x.test/a/%2e%2e/c", "x.test", "/c"],
    ["http://x.test//a", "x.test", "//a"],
    ["http://x.test/a..b/..c;x/...", "x.test", "/a..b/..c;x/..."],
    ["http://x.test/a%2fb;c|d", "x.test", "/a%2Fb;c|d"],
    ["http://x.test/a%5cb", "x.test", "/a%5Cb"],
  ])("%s", (text, host, path) => {
    expect(canonicalUrl(text)).toMatchObject({ kind: "url", host, path });
  });

  test.each([
    "http://x.test/a\\b",
    "http://x.test/static/..%2faccount",
    "http://x.test/static%2F%2e%2e%2Faccount",
    "http://x.test/static/..;/account",
    "http://x.test/static/..%3Bx/account",
    "http://x.test/static%5C..%5Caccount",
    "http://x.test/%zz",
    "http://x.test/%",
    "http://x.test/a%00",
    "http://x.test/a%0Ab",
    "http://x.test/a b",
    "http://x.test/a\tb",
    "http://user:pw@x.test/",
    "ftp://x.test/",
    "nonsense",
    "",
  ])("%j is refused with a reason", (text) => {
    expect(canonicalUrl(text)).toEqual({ kind: "refused", because: expect.stringMatching(/\w+ \w+/) });
  });

  test("a URL of plain characters is read as the URL parser reads it", () => {
    const pieces = fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 4 });
    const host = fc.constantFrom(
      "x.test",
      "X.test:80",
      "x.test:443",
      "x.test.",
      "127.1",
      "x_y",
      "x.test:99999",
      "x%2etest",
      "",
    );
    const scheme = fc.constantFrom("http", "https", "HTTP");
    fc.assert(
      fc.property(scheme, host, pieces, fc.option(pieces), (named, address, path, query) => {
        const text = `${named}://${address}/${path}${query === null ? "" : `?${query}`}`;
        expect(canonicalUrl(text)).toEqual(canonicalUrl(`${text}#`));
      }),
      { numRuns: 5000 },
    );
  });
});

describe("canonicalQuery", () => {
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["?utm_source=a&x=1&fbclid=2", plain, "?x=1"],
    ["?utm_source=a", plain, ""],
    ["?", plain, ""],
    ["?&&x=1&", plain, "?x=1"],
    ["?b=1&a=2", plain, "?b=1&a=2"],
    ["?b=1&a=2&b=0", { ...plain, sort: true }, "?a=2&b=1&b=0"],
    ["?Q=A&q=B", { ...plain, lowercase: ["q"] }, "?Q=A&q=b"],
    ["?q=%20A+b+", { ...plain, only: ["q"], lowercase: ["q"], trim: ["q"] }, "?q=a%20b"],
    ["?q", { ...plain, lowercase: ["q"] }, "?q"],
    ["?%71=A&r=1", { ...plain, only: ["q"] }, "?%71=A"],
    ["?q=A&f_a=B+&f=C", { ...plain, only: ["q", "f_*"], lowercase: ["f*"], trim: ["f_*"] }, "?q=A&f_a=b"],
    ["?q=%zz", { ...plain, lowercase: ["q"] }, "?q=%zz"],
    ["?q=M%FCnchen", { ...plain, lowercase: ["q"], trim: ["q"] }, "?q=M%FCnchen"],
  ] as const)("%s", (search, rules, expected) => {
    expect(canonicalQuery(search, rules)).toBe(expected);
  });

  // To catch an exception takes many times as long as to decode, and a URL has room for thousands.
  test.each(["%", "%zz", "%ff", "%c0%80", "%ed%a0%80", "%f4%90%80%80", "%e2%82", "%80"])(
    "a query full of %s, which is not UTF-8, causes no exception",
    (text) => {
      const decode = vi.spyOn(globalThis, "decodeURIComponent");
      const search = `?${`${text}=${text}&q=${text}&`.repeat(100)}a`;
      expect(canonicalQuery(search, { ...plain, lowercase: ["q"] })).toBe(search);
      expect(decode.mock.results.filter(({ type }) => type === "throw")).toHaveLength(0);
    },
  );

  test("values of a route's parameters are rewritten where they are UTF-8, and only there", () => {
    const edges = ["", "%", "%2", "%7f", "%80", "%bf", "%c1", "%C2", "%df", "%e0", "%9f", "%a0", "%ed", "%ef", "%f0"];
    const escapes = fc.array(fc.constantFrom(...edges, "%8f", "%90", "%f1", "%f4", "%F5", "+", "A"), { maxLength: 6 });
    fc.assert(
      fc.property(escapes, (pieces) => {
        const text = pieces.join("");
        const value = readForm(text);
        const expected = value === null ? text : encodeURIComponent(value.toLowerCase());
        expect(canonicalQuery(`?q=${text}`, { ...plain, lowercase: ["q"] })).toBe(`?q=${expected}`);
      }),
      { numRuns: 5000 },
    );
  });

  const anyRules = fc.record({
    ignore: fc.constant(TRACKING_PARAMETERS),
    only: fc.option(fc.constant(["q", "a"]), { nil: undefined }),
    lowercase: fc.subarray(["q", "a"]),
    trim: fc.subarray(["q", "a"]),
    sort: fc.boolean(),
  });
  const anySearch = fc
    .array(fc.stringMatching(/^(q|a|b|utm_x)(=[A-Za-z0-9%+ .é]{0,8})?$/), { maxLength: 5 })
    .map((parts) => new URL(`http://x.test/?${parts.join("&")}`).search);

  test("applying it to its own result changes nothing", () => {
    fc.assert(
      fc.property(anySearch, anyRules, (search, rules) => {
        const once = canonicalQuery(search, rules);
        expect(canonicalQuery(once, rules)).toBe(once);
      }),
    );
  });

  test("without a route's rules, only tracking parameters and empty members are dropped", () => {
    fc.assert(
      fc.property(anySearch, (search) => {
        const members = search
          .slice(1)
          .split("&")
          .filter((member) => member !== "" && !member.startsWith("utm_x"));
        expect(canonicalQuery(search, plain)).toBe(members.length ? `?${members.join("&")}` : "");
      }),
    );
  });
});

describe("the parameters that a redirect's URL gets", () => {
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["/b", ["a=1"], "/b?a=1"],
    ["/b?#top", ["a=1", "a=2"], "/b?&a=1&a=2#top"],
    ["/b?x=1&%61=9", ["a=1", "c"], "/b?x=1&%61=9&c"],
    ["/b?a?=9", ["a=1"], "/b?a?=9&a=1"],
    ["/b#?a", ["a=1"], "/b?a=1#?a"],
    ["/b?a", ["%61=1"], "/b?a"],
  ])("%s with %s", (url, parameters, expected) => {
    expect(withParameters(url, parameters)).toBe(expected);
  });

  test("are sought in a query that is decoded once, however many they are", () => {
    const decode = vi.spyOn(globalThis, "decodeURIComponent");
    const url = `/b?${"+&".repeat(100)}x`;
    expect(withParameters(url, Array(100).fill("_gl"))).toBe(`${url}${"&_gl".repeat(100)}`);
    expect(decode.mock.calls.length).toBeLessThan(300);
  });
});

/** `null` for escapes that are broken or not UTF-8. */
function readForm(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

describe("the key", () => {
  const site = compileSite({ origin: "http://origin.test", routes: [{ match: "/pass/*", pass: true }] }, {});

  test("resolving a key gives the same key", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        const target = resolveUrl(url, site);
        if (target.kind === "refused") return;
        expect(resolveUrl(target.cacheKey, site)).toMatchObject({ cacheKey: target.cacheKey });
      }),
    );
  });

  test("the key contains everything that the origin is asked for what may be stored", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        const target = resolveUrl(url, site);
        if (target.kind === "refused") return;
        expect(target.cacheKey).toBe(`${target.scheme}://${target.host}${target.pathAndQuery}`);
      }),
    );
  });

  test("two requests that the origin could tell apart never share a key", () => {
    const path = fc.constantFrom("/a", "/A", "//a", "/a/", "/a;b", "/a%2Fb", "/a/b", "/%61", "/a%20b", "/a+b");
    const query = fc.constantFrom("", "?", "?x=1", "?X=1", "?x=%31", "?x=1&y=2", "?y=2&x=1", "?x=1&utm_source=a", "?x");
    const url = fc.tuple(fc.constantFrom("http", "https"), fc.constantFrom("x.test", "y.test", "X.test"), path, query);
    let shared = 0;
    fc.assert(
      fc.property(url, url, (one, other) => {
        const [a, b] = [one, other].map(([scheme, host, at, search]) =>
          resolveUrl(`${scheme}://${host}${at}${search}`, site),
        );
        if (a?.kind !== "resolved" || b?.kind !== "resolved" || a.cacheKey !== b.cacheKey) return;
        shared++;
        const asked = ({ scheme, host, pathAndQuery }: typeof a) => ({ scheme, host, pathAndQuery });
        expect(asked(a)).toEqual(asked(b));
      }),
      { numRuns: byDepth({ test: 5_000, gate: 5_000, all: 20_000 }) },
    );
    expect(shared).toBeGreaterThan(12);
  });

  test("the whole query is kept beside the one in the key", () => {
    const told = { pathAndQuery: "/a?x=1", pathAndWholeQuery: "/a?utm_x=1&x=1" };
    expect(resolveUrl("http://x.test/a?utm_x=1&x=1", site)).toMatchObject(told);
  });
});

describe("a host that is not the site's", () => {
  const hosts = ["www.example.test", "shop.example.test:8443", "[::1]:8080"];
  test.each([
    ["http://www.example.test:8081/", "www.example.test:8081", ", but www.example.test is: the port counts"],
    ["https://shop.example.test/", "shop.example.test", ", but shop.example.test:8443 is: the port counts"],
    ["http://shop.example.test:8080/", "shop.example.test:8080", ", but shop.example.test:8443 is: the port counts"],
    ["http://[::1]/", "[::1]", ", but [::1]:8080 is: the port counts"],
    ["http://[::2]/", "[::2]", ""],
    ["http://example.test/", "example.test", ""],
    ["http://a.www.example.test:8081/", "a.www.example.test:8081", ""],
  ])(
    "is refused with its name, and the refusal mentions no other host than one of that name: %s",
    (url, host, hint) => {
      const site = compileSite({ origin: "http://origin.test", hosts }, {});
      const because = `${host} is not a host of this site${hint}`;
      expect(resolveUrl(url, site)).toEqual({ kind: "refused", status: 421, because });
    },
  );
});

describe("the purge keys that follow from a cache key", () => {
  test.each([
    ["https://x.test/", ["host:x.test", "//x.test/", "path:/"]],
    ["http://x.test/?a=/b%20?c", ["host:x.test", "//x.test/?a=/b%20?c", "path:/?a=/b%20?c"]],
    ["https://[::1]:8443/a", ["host:[::1]:8443", "//[::1]:8443/a", "path:/a", "prefix:/a", "host:[::1]:8443/a"]],
    ["http://x.test//a", ["host:x.test", "//x.test//a", "path://a", "prefix://a", "host:x.test//a"]],
    ["http://x.test/?_rsc=1", ["host:x.test", "//x.test/?_rsc=1", "path:/?_rsc=1", "//x.test/", "path:/"]],
    [
      "http://x.test/?b&%5Frsc&a",
      ["host:x.test", "//x.test/?b&_rsc&a", "path:/?b&_rsc&a", "//x.test/?b&a", "path:/?b&a"],
    ],
  ])("%s, and of its variants", (key, keys) => {
    expect(urlPurgeKeys(key)).toEqual(keys);
    expect(urlPurgeKeys(variantKey(key, [["accept", "a / b?"]]))).toEqual(keys);
  });
});
