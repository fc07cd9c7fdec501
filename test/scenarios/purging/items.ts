import type { Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";
import { control, v1 } from "./openings.ts";

/** The page at this path on the other host of the site. */
const onMobile = (path: string) => ({ path, host: "m.example.test" });

const TAG_FIELDS = [
  "cache-tag",
  "surrogate-key",
  "xkey",
  "cdn-tag",
  "x-cache-tags",
  "cache-tags",
  "x-magento-tags",
  "netlify-cache-tag",
  "vercel-cache-tag",
];

/** URLs as a purge names them, and the same ones as the visitors' clients have sent them. */
const SPELT_OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["/q?a%5b%5D=1", "/q?a[]=1"],
  ["/it%27s", "/it's"],
  ["/p|q", "/p%7Cq"],
  ["/x[]", "/x[%5D"],
  ["/q?b[]=1", "/q?b%5b%5d=1"],
  ["/q?c=a|b^c&d=%7C", "/q?c=a%7Cb^c&d=|"],
  ["/q?e={x}%60", "/q?e=%7bx}`"],
  ["/q?f=%5C", "/q?f=\\"],
  ["/q?g=%C3%A9", "/q?g=%c3%a9"],
  ["https://www.example.test/y[]", "/y%5B]"],
  ["/wiki/Foo_(film)", "/wiki/Foo_%28film%29"],
  ["/a%2Ab%21", "/a*b!"],
  ["/%40me%2C%24%3A", "/@me,$:"],
  ["/q?h=%7E%28%41%29", "/q?h=~(A)"],
  ["/q?i=https://a.test/?b", "/q?i=https%3A%2F%2Fa.test%2F%3Fb"],
  ["/q?j=a+b", "/q?j=a%20b"],
]);

const OTHER_PAGES = ["/w/x", "/q?k=1&l=2", "/q?m=1"];

/** Purges by prefix and by host, and the fields that tags are read from. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/by-prefix",
    name: "a purge by prefix reaches whole path segments on every host, whatever the query, and nothing beside them",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/shop": [v1], "/shop/a/b?x=1": [v1], "/shopping": [v1], "/a/shop": [v1] },
    steps: [
      { get: "/shop", expect: { xCache: "MISS" } },
      { get: "/shop/a/b?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/shop"), expect: { xCache: "MISS" } },
      { get: "/shopping", expect: { xCache: "MISS" } },
      { get: "/a/shop", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/shop"] } },
      { get: "/shop", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { get: "/shop/a/b?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/shop"), expect: { xCache: "MISS" } },
      { get: "/shopping", expect: { xCache: "HIT" } },
      { get: "/a/shop", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/prefix-with-host",
    name: "a prefix that begins with a host reaches only the pages of that host, for http and https",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/shop/a": [v1] },
    steps: [
      { get: "/shop/a", expect: { xCache: "MISS" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
      { purge: { prefixes: ["m.example.test/shop"] } },
      { get: "/shop/a", expect: { xCache: "HIT" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
      { purge: { prefixes: ["https://M.example.test/shop/a/"] } },
      { get: "/shop/a", expect: { xCache: "HIT" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/next-router",
    name: "a purge of a page by URL also reaches the parts that Next's router fetches with `_rsc`, and no other page",
    source: control,
    origin: { "/": [v1], "/?_rsc=1": [v1], "/a?x=1&_rsc=2&y": [v1], "/a?_rsc=2": [v1], "/a?rsc=1": [v1] },
    steps: [
      { get: "/", expect: { xCache: "MISS" } },
      { get: "/?_rsc=1", expect: { xCache: "MISS" } },
      { get: "/a?x=1&_rsc=2&y", expect: { xCache: "MISS" } },
      { get: "/a?_rsc=2", expect: { xCache: "MISS" } },
      { get: "/a?rsc=1", expect: { xCache: "MISS" } },
      { purge: { urls: ["/?_rsc=1"] } },
      { get: "/", expect: { xCache: "HIT" } },
      { get: "/?_rsc=1", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { purge: { urls: ["/", "/a?x=1&y"] } },
      { get: "/", expect: { xCache: "MISS" } },
      { get: "/?_rsc=1", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { get: "/a?x=1&_rsc=2&y", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { get: "/a?_rsc=2", expect: { xCache: "HIT" } },
      { purge: { urls: ["/a"] } },
      { get: "/a?_rsc=2", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { get: "/a?rsc=1", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/prefix-is-normalized",
    name: "a prefix matches in the key's normal form, with or without a trailing slash",
    source: "docs/http.md#the-cache-key",
    origin: { "/caf%C3%A9/~a": [v1] },
    steps: [
      { get: "/caf%c3%a9/%7Ea", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/café/./x/../%7ea/"] } },
      { get: "/caf%C3%A9/~a", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/caf%c3%A9"] } },
      { get: "/caf%C3%A9/~a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/prefix-too-deep",
    name: "a prefix that is deeper than the index purges everything below its deepest indexed segment",
    source: control,
    origin: { "/1/2/3/4/5/6/7/8/9/10/11/12/13/14": [v1], "/1/2/3/4/5/6/7/8/9/10/11/x": [v1] },
    steps: [
      { get: "/1/2/3/4/5/6/7/8/9/10/11/12/13/14", expect: { xCache: "MISS" } },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/x", expect: { xCache: "MISS" } },
      {
        purge: { prefixes: ["/1/2/3/4/5/6/7/8/9/10/11/12/13/14"] },
        expect: {
          status: 200,
          body: /too deep or too long: everything below \/1\/2\/3\/4\/5\/6\/7\/8\/9\/10\/11\/12 is purged/,
        },
      },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/x", expect: { xCache: "HIT" } },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/12/13/14", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/refused-prefixes",
    name: "a prefix without a segment, with a star, or for another site is refused, and nothing is purged",
    source: "docs/protocol.md#promise-5-purges-are-whole-and-durable",
    origin: { "/shop/a": [v1] },
    steps: [
      { get: "/shop/a", expect: { xCache: "MISS" } },
      {
        purge: { prefixes: ["/shop", "/"] },
        expect: { status: 400, body: /prefixes\[1\].*use hosts or everything/ },
      },
      { purge: { prefixes: ["www.example.test/"] }, expect: { status: 400, body: /use hosts or everything/ } },
      { purge: { prefixes: ["/shop/*"] }, expect: { status: 400, body: /leave out the \*/ } },
      {
        purge: { prefixes: ["/shop", "elsewhere.example/shop"] },
        expect: { status: 400, body: /not a host of this site/ },
      },
      { get: "/shop/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/by-host",
    name: "a purge by host reaches every page of that host and of no other",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/": [v1], "/a?x=1": [v1] },
    steps: [
      { get: "/a?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/"), expect: { xCache: "MISS" } },
      { send: onMobile("/a?x=1"), expect: { xCache: "MISS" } },
      { purge: { hosts: ["M.EXAMPLE.test:443"] } },
      { get: "/a?x=1", expect: { xCache: "HIT" } },
      { send: onMobile("/"), expect: { xCache: "MISS" } },
      { send: onMobile("/a?x=1"), expect: { xCache: "MISS" } },
      { purge: { hosts: ["elsewhere.example"] }, expect: { status: 400, body: /hosts\[0\].*not a host of this site/ } },
      { purge: { hosts: ["https://m.example.test/"] }, expect: { status: 400, body: /without scheme and path/ } },
    ],
  },
  {
    id: "purging/escaped-by-clients",
    name: "a purge of a URL reaches the page of which other characters are escaped, and none where an escape means another page",
    source: control,
    origin: Object.fromEntries([...SPELT_OTHERWISE.values(), ...OTHER_PAGES].map((url) => [url, [v1]])),
    steps: [
      ...[...SPELT_OTHERWISE.values(), ...OTHER_PAGES].map((get) => ({ get, expect: { xCache: "MISS" } }) as const),
      { work: "finished" },
      { purge: { urls: [...SPELT_OTHERWISE.keys()] }, expect: { status: 200, body: /^(?!.*unseen)/ } },
      ...[...SPELT_OTHERWISE.values()].map((get) => ({ get, expect: { xCache: "MISS" } }) as const),
      { purge: { urls: ["/w%2Fx", "/q?k=1%26l=2", "/q?m%3D1"] } },
      ...OTHER_PAGES.map((get) => ({ get, expect: { xCache: "HIT" } }) as const),
    ],
  },
  {
    id: "purging/escaped-on-another-route",
    name: "a purge of a URL reaches its page on the route that matches it in another spelling",
    source: control,
    site: {
      routes: [
        { match: "/docs/[id]/*", key: { query: { only: [] } } },
        { match: "/it's/*", key: { query: { ignore: ["a"] } }, ttl: "1m", browserTtl: "1h" },
        { match: "/b%5D/*", key: { query: { only: [] } } },
      ],
    },
    origin: { "/docs/[id]/x?v=a": [v1], "/it's/x?a=1": [v1], "/b%5D/x?utm=1": [v1] },
    steps: [
      { get: "/docs/[id]/x?v=a", expect: { xCache: "MISS" } },
      { get: "/it's/x?a=1", expect: { xCache: "MISS" } },
      { get: "/b%5D/x?utm=1", expect: { xCache: "MISS" } },
      { work: "finished" },
      {
        purge: { urls: ["/docs/%5Bid%5D/x?v=a", "/it%27s/x?a=1", "/b]/x?utm=1"] },
        expect: { status: 200, body: /^(?!.*unseen).*Browsers may keep pages of the route \/it's\/\* / },
      },
      { get: "/docs/[id]/x?v=a", expect: { xCache: "MISS" } },
      { get: "/it's/x?a=1", expect: { xCache: "MISS" } },
      { get: "/b%5D/x?utm=1", expect: { xCache: "MISS" } },
      {
        purge: { prefixes: ["/it's"] },
        expect: { status: 200, body: /Browsers may keep pages of the route \/it's\/\* / },
      },
    ],
  },
  {
    id: "purging/prefix-escaped-by-clients",
    name: "a purge of a prefix reaches pages below it whose brackets are escaped, or not, other than its own",
    source: control,
    origin: { "/x[%5D/a": [v1], "/x[/a": [v1] },
    steps: [
      { get: "/x[%5D/a", expect: { xCache: "MISS" } },
      { get: "/x[/a", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/x%5b]/"] }, expect: { status: 200, body: /^(?!.*warnings)/ } },
      { get: "/x[%5D/a", expect: { xCache: "MISS" } },
      { get: "/x[/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/tag-field-spellings",
    name: "tags are read from every spelling of their field, split at commas and spaces, and hidden from clients",
    source: "docs/http.md#what-clients-see",
    origin: Object.fromEntries(
      TAG_FIELDS.map((name) => [`/${name}`, [page("max-age=3600", "v1", { [name]: `a, b  ${name}` })]]),
    ),
    steps: TAG_FIELDS.flatMap((name) => [
      { get: `/${name}`, expect: { xCache: "MISS", fields: { [name]: null } } },
      { get: `/${name}`, expect: { xCache: "HIT", fields: { [name]: null } } },
      { purge: { tags: [name] } },
      { get: `/${name}`, expect: { xCache: "MISS" } },
    ]),
  },
  {
    id: "purging/too-many-or-invalid-tags",
    name: "a response with too many tags or an invalid one is not stored, and is counted",
    source: "docs/http.md#what-clients-see",
    site: { limits: { tags: 2 } },
    origin: {
      "/two": [page("max-age=3600", "v1", { "cache-tag": "a b a" })],
      "/three": [page("max-age=3600", "v1", { "cache-tag": "a b", xkey: "c" })],
      "/256": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "x".repeat(256) }, body: "v1" }],
      "/257": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "x".repeat(257) }, body: "v1" }],
    },
    steps: [
      { get: "/two", expect: { cacheStatus: /stored/ } },
      { get: "/two", expect: { xCache: "HIT" } },
      { get: "/three", expect: { xCache: "MISS", cacheStatus: /detail=too-many-tags/ } },
      { get: "/256", expect: { cacheStatus: /stored/ } },
      { get: "/257", expect: { xCache: "MISS", cacheStatus: /detail=tag-invalid/ } },
      { stats: { "store.refused.too-many-tags": 1, "store.refused.tag-invalid": 1 } },
    ],
  },
];
