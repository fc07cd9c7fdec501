import type { Scenario, Step } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const MOBILE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1";
const SESSION = "sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u";
const DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** A request for `/a` with these fields, and the page that it gets. */
function asking(fields: Readonly<Record<string, string>>, xCache: "MISS" | "HIT", body: string): Step {
  return { get: "/a", fields, expect: { xCache, body } };
}

/** The same as a trusted proxy sends it on. */
function behindProxy(
  fields: Readonly<Record<string, string>>,
  xCache: "MISS" | "HIT",
  body: string,
  address = "198.51.100.9",
): Step {
  return { send: { path: "/a", fields, address }, expect: { xCache, body } };
}

/** Choices in the key, each in a bounded set of values. */
export const scenarios: readonly Scenario[] = [
  {
    id: "key/choice-of-cookie",
    name: "a route that keys by a cookie has an entry for each named value and one for all other values, and the origin gets no other cookie",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/*", key: { cookies: { currency: ["eur", "usd"], theme: ["dark"] } } }] },
    origin: {
      "/a": ["euro", "dollar", "none", "dark euro"].map((body) => page("max-age=60", body, { vary: "Cookie" })),
    },
    steps: [
      asking({ cookie: "session=1; currency=eur; _ga=1" }, "MISS", "euro"),
      { originLastSaw: "/a", fields: { cookie: "currency=eur" } },
      asking({ cookie: "currency=usd" }, "MISS", "dollar"),
      asking({ cookie: "currency=gbp; session=2" }, "MISS", "none"),
      { originLastSaw: "/a", fields: { cookie: null } },
      asking({ cookie: "theme=dark; currency=eur" }, "MISS", "dark euro"),
      { originLastSaw: "/a", fields: { cookie: "currency=eur; theme=dark" } },
      asking({ cookie: "currency=eur; session=3" }, "HIT", "euro"),
      asking({ cookie: "other=1,currency=usd" }, "HIT", "dollar"),
      asking({}, "HIT", "none"),
      asking({ cookie: "currency=EUR" }, "HIT", "none"),
      asking({ cookie: "currency=eur; currency=usd; theme=light" }, "HIT", "euro"),
      asking({ cookie: "currency=eur; theme=dark" }, "HIT", "dark euro"),
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    id: "key/choices-of-part",
    name: "a part of a page that is not stored is asked for with the choices of the whole page, and no other cookie or dropped field",
    source: "docs/http.md#the-cache-key",
    site: {
      fields: { drop: ["x-theme"] },
      routes: [{ match: "/*", key: { cookies: { currency: ["eur", "usd"] }, languages: ["en", "de"] } }],
    },
    origin: { "/a": [{ status: 206, ...page("max-age=60", "e", { "content-range": "bytes 0-0/4" }) }] },
    steps: [
      {
        get: "/a",
        fields: {
          range: "bytes=0-0",
          cookie: "session=1; currency=eur; _ga=1",
          "accept-language": "de-AT, fr",
          "x-theme": "dark",
        },
        expect: { status: 206, xCache: "MISS" },
      },
      {
        originLastSaw: "/a",
        fields: { range: "bytes=0-0", cookie: "currency=eur", "accept-language": "de", "x-theme": null },
      },
    ],
  },
  {
    id: "key/choice-that-is-not-made-any-more",
    name: "once a route keys by a cookie no more, its pages are fetched and stored anew",
    source: "docs/http.md#the-cache-key",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", key: { cookies: { currency: ["eur"] } } }] },
    origin: { "/a": ["none", "euro", "one for all"].map((body) => page("max-age=60", body)) },
    steps: [
      asking({}, "MISS", "none"),
      asking({ cookie: "currency=eur" }, "MISS", "euro"),
      { work: "finished" },
      { deploy: { routes: [{ match: "/*", key: { cookies: { theme: ["dark"] } } }] } },
      { restart: "isolate" },
      asking({ cookie: "currency=eur" }, "MISS", "one for all"),
      asking({}, "HIT", "one for all"),
    ],
  },
  {
    id: "key/choice-that-comes-back",
    name: "a page that was stored without a choice is not used once the route keys by it again",
    source: "docs/http.md#the-cache-key",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", key: { cookies: { theme: ["light"] } } }] },
    origin: { "/a": ["light", "dark, for Alice", "plain"].map((body) => page("public, max-age=3600", body)) },
    steps: [
      asking({ cookie: "theme=light" }, "MISS", "light"),
      { work: "finished" },
      { deploy: { routes: [] } },
      { restart: "isolate" },
      asking({ cookie: "theme=dark; name=Alice" }, "MISS", "dark, for Alice"),
      { work: "finished" },
      { deploy: { routes: [{ match: "/*", key: { cookies: { theme: ["light"] } } }] } },
      { restart: "isolate" },
      asking({}, "MISS", "plain"),
    ],
  },
  {
    id: "key/choice-that-nothing-needs",
    name: "once a route keys by languages no more, all visitors share a page that names none",
    source: "docs/http.md#the-cache-key",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", key: { languages: ["en", "de"] } }] },
    origin: { "/a": ["German", "for all"].map((body) => page("max-age=3600", body)) },
    steps: [
      asking({ "accept-language": "de" }, "MISS", "German"),
      { work: "finished" },
      { deploy: { routes: [] } },
      { restart: "isolate" },
      asking({ "accept-language": "fr" }, "MISS", "for all"),
      asking({ "accept-language": "it" }, "HIT", "for all"),
    ],
  },
  {
    id: "key/choice-of-language",
    name: "a route with languages has an entry for each, negotiated from Accept-Language, and asks the origin for that language",
    source: "RFC 4647 §3.4; RFC 9110 §12.5.4",
    site: { routes: [{ match: "/*", key: { languages: ["en", "de", "pt-BR"] } }] },
    origin: {
      "/a": ["English", "Deutsch", "Português"].map((body) => page("max-age=60", body, { vary: "Accept-Language" })),
    },
    steps: [
      asking({ "accept-language": "fr-FR,fr;q=0.9" }, "MISS", "English"),
      { originLastSaw: "/a", fields: { "accept-language": "en" } },
      asking({ "accept-language": "de-AT, en;q=0.5" }, "MISS", "Deutsch"),
      { originLastSaw: "/a", fields: { "accept-language": "de" } },
      asking({ "accept-language": "pt-br" }, "MISS", "Português"),
      { originLastSaw: "/a", fields: { "accept-language": "pt-BR" } },
      asking({ "accept-language": "en;q=0.5, de;q=0.8" }, "HIT", "Deutsch"),
      asking({ "accept-language": "de;q=0, fr" }, "HIT", "English"),
      asking({ "accept-language": "en-GB" }, "HIT", "English"),
      asking({}, "HIT", "English"),
      asking({ "accept-language": `x${"-y".repeat(600)}` }, "HIT", "English"),
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "key/choice-of-country",
    name: "a route that keys by country has an entry for each country that the platform reports, and one for unknown countries, whatever the client claims",
    source: "docs/http.md#the-cache-key",
    site: {
      secondLook: false,
      routes: [
        { match: "/*", key: { country: true } },
        { match: "/b", pass: true },
      ],
    },
    origin: { "/a": ["Germany", "unknown"].map((body) => page("max-age=60", body, { vary: "X-Country" })) },
    steps: [
      {
        send: { path: "/a", country: "DE", fields: { x_country: "US", "x.country": "US" } },
        expect: { xCache: "MISS", body: "Germany", cacheStatus: /detail="unkeyed-field:x[._]country"$/ },
      },
      { originLastSaw: "/a", fields: { "x-country": "DE", x_country: null, "x.country": null } },
      { reply: { "/a": ["Germany", "unknown"].map((body) => page("max-age=60", body, { vary: "X-Country" })) } },
      {
        send: { path: "/a", country: "DE", fields: { "x-country": "US" } },
        expect: { xCache: "MISS", body: "Germany" },
      },
      { originLastSaw: "/a", fields: { "x-country": "DE" } },
      asking({ "x-country": "DE" }, "MISS", "unknown"),
      { originLastSaw: "/a", fields: { "x-country": "XX" } },
      { send: { path: "/a", country: "DE" }, expect: { xCache: "HIT", body: "Germany" } },
      { send: { path: "/a", country: "de<b>" }, expect: { xCache: "HIT", body: "unknown" } },
      {
        send: {
          path: "/a",
          country: "DE",
          fields: { authorization: "Basic eDp5", "x-country": "US", range: "bytes=0-1" },
        },
        expect: { xCache: "MISS" },
      },
      { originLastSaw: "/a", fields: { "x-country": "DE", authorization: "Basic eDp5" } },
    ],
  },
  {
    id: "key/choice-of-country-behind-a-proxy",
    name: "only a trusted proxy's country field counts; the field is never forwarded as it was sent",
    source: "docs/http.md#the-cache-key",
    site: {
      trustedProxies: ["198.51.100.0/24", "2001:db8::/32"],
      countryField: "X-Geo",
      routes: [
        { match: "/a", key: { country: true } },
        { match: "/c", pass: true },
      ],
    },
    origin: {
      "/a": ["Germany", "France", "unknown"].map((body) => page("max-age=60", body)),
      "/b": [page("max-age=60", "for all")],
      "/c": [{ body: "passed" }],
    },
    steps: [
      behindProxy({ "X-Geo": "DE" }, "MISS", "Germany"),
      { originLastSaw: "/a", fields: { "x-country": "DE", "x-geo": null, "x-forwarded-for": "198.51.100.9" } },
      behindProxy({ "X-Geo": "DE" }, "HIT", "Germany", "::ffff:198.51.100.1"),
      behindProxy({ "X-Geo": " de" }, "HIT", "Germany", "2001:db8::7"),
      behindProxy({ "X-Geo": "FR", "X-Country": "DE" }, "MISS", "France"),
      { originLastSaw: "/a", fields: { "x-country": "FR", "x-geo": null } },
      asking({ "X-Geo": "DE" }, "MISS", "unknown"),
      { originLastSaw: "/a", fields: { "x-country": "XX", "x-geo": null } },
      behindProxy({ "X-Geo": "DE, FR" }, "HIT", "unknown"),
      behindProxy({ "X-Geo": "Germany" }, "HIT", "unknown"),
      behindProxy({}, "HIT", "unknown"),
      behindProxy({ "X-Geo": "DE" }, "HIT", "unknown", "198.51.101.9"),
      { send: { path: "/a", country: "DE", fields: { "X-Geo": "FR" } }, expect: { xCache: "HIT", body: "Germany" } },
      {
        send: { path: "/a", country: "DE", address: "198.51.100.9", fields: {} },
        expect: { xCache: "HIT", body: "unknown" },
      },
      { originSaw: { "/a": 3 } },
      { get: "/b", fields: { "X-Geo": "DE" }, expect: { xCache: "MISS", cacheStatus: /; stored$/, body: "for all" } },
      { originLastSaw: "/b", fields: { "x-geo": null } },
      { get: "/b", fields: { "X-Geo": "FR" }, expect: { xCache: "HIT", body: "for all" } },
      { get: "/c", fields: { "X-Geo": "FR", x_geo: "FR" }, expect: { xCache: "BYPASS", body: "passed" } },
      { originLastSaw: "/c", fields: { "x-geo": null, x_geo: null } },
    ],
  },
  {
    id: "key/choice-of-device",
    name: "a route that keys by device has an entry for mobile and one for desktop, and the origin learns nothing else about the browser",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/*", key: { device: true } }] },
    origin: {
      "/a": ["small", "large"].map((body) =>
        page("max-age=60", body, { vary: "User-Agent, X-Device, Sec-CH-UA-Mobile, Sec-CH-UA-Platform" }),
      ),
    },
    steps: [
      asking({ "user-agent": MOBILE, "sec-ch-ua-platform": '"iOS"' }, "MISS", "small"),
      {
        originLastSaw: "/a",
        fields: {
          "x-device": "mobile",
          "sec-ch-ua-mobile": "?1",
          "sec-ch-ua-platform": null,
          "user-agent": "Mozilla/5.0 (compatible; Tidemark) Mobile",
        },
      },
      asking({ "user-agent": DESKTOP, "x-device": "mobile" }, "MISS", "large"),
      {
        originLastSaw: "/a",
        fields: {
          "x-device": "desktop",
          "sec-ch-ua-mobile": "?0",
          "user-agent": "Mozilla/5.0 (compatible; Tidemark)",
        },
      },
      asking({ "user-agent": DESKTOP, "sec-ch-ua-mobile": "?1" }, "HIT", "small"),
      asking({ "user-agent": MOBILE, "sec-ch-ua-mobile": "?0" }, "HIT", "large"),
      asking({ "user-agent": MOBILE.replace("iPhone", "iPad") }, "HIT", "large"),
      asking({}, "HIT", "large"),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "key/choices-for-odd-fields",
    name: "a page is stored, however odd the fields and cookies are in whose place the origin gets the choices",
    source: "docs/http.md#the-cache-key",
    site: {
      routes: [{ match: "/*", key: { cookies: { currency: ["eur"] }, languages: ["en", "de"], device: true } }],
    },
    origin: {
      "/a": [page("max-age=60", "v1", { vary: "User-Agent, Cookie, Accept-Language" })],
      "/error": [{ status: 404, fields: { "cache-control": "max-age=60" }, body: "none" }],
    },
    steps: ["/a", "/error"].flatMap((get): Step[] => {
      const fields = {
        cookie: `currency=eur; theme=${"x".repeat(1_024)}`,
        "accept-language": 'de, "x"',
        "user-agent": `${MOBILE} "{x}"`,
        "sec-ch-ua-model": "\\",
        "x-device": "<any>",
      };
      return [
        { get, fields, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
        { originLastSaw: get, fields: { cookie: "currency=eur", "sec-ch-ua-model": null, "x-device": "mobile" } },
        {
          get,
          fields: { cookie: "currency=eur", "accept-language": "de", "user-agent": MOBILE },
          expect: { xCache: "HIT" },
        },
      ];
    }),
  },
  {
    id: "key/choices-and-purges",
    name: "a purge by URL, tag or prefix reaches the entry of every choice",
    source: "docs/protocol.md#what-happens-on-a-purge",
    site: { routes: [{ match: "/*", key: { cookies: { currency: ["eur"] }, languages: ["en", "de"], device: true } }] },
    origin: { "/shop/a": [page("max-age=60", "v1", { "cache-tag": "shop" })] },
    steps: [{ urls: ["/shop/a"] }, { tags: ["shop"] }, { prefixes: ["/shop"] }].flatMap((purge): Step[] => {
      const each = [{ cookie: "currency=eur" }, { "accept-language": "de" }, { "user-agent": MOBILE }, {}];
      const get = (xCache: string) =>
        each.map((fields): Step => ({ get: "/shop/a", fields: fields as Record<string, string>, expect: { xCache } }));
      return [...get("MISS"), ...get("HIT"), { purge }];
    }),
  },
  {
    id: "key/choices-and-sessions",
    name: "on a route that keys by a cookie, a session that the owner names bypasses the cache with all its cookies",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/*", key: { cookies: { currency: ["eur"] } }, bypass: { cookies: ["sid"] } }] },
    origin: { "/a": [page("max-age=60", "for all"), page("private", "for one")] },
    steps: [
      asking({ cookie: "currency=eur; theme=dark" }, "MISS", "for all"),
      { get: "/a", fields: { cookie: "currency=eur; sid=1" }, expect: { xCache: "BYPASS", body: "for one" } },
      { originLastSaw: "/a", fields: { cookie: "currency=eur; sid=1" } },
      asking({ cookie: "currency=eur" }, "HIT", "for all"),
    ],
  },
  {
    id: "key/choices-select-without-vary",
    name: "choices select entries even if the origin sends no Vary",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/*", key: { country: true, device: true } }] },
    origin: { "/a": ["German desktop", "German mobile", "unknown"].map((body) => page("max-age=60", body)) },
    steps: [
      { send: { path: "/a", country: "DE" }, expect: { xCache: "MISS", body: "German desktop" } },
      {
        send: { path: "/a", country: "DE", fields: { "user-agent": MOBILE } },
        expect: { xCache: "MISS", body: "German mobile" },
      },
      { send: { path: "/a" }, expect: { xCache: "MISS", body: "unknown" } },
      { send: { path: "/a", country: "DE" }, expect: { xCache: "HIT", body: "German desktop" } },
    ],
  },
  {
    id: "key/choices-and-well-known-sessions",
    name: "on a route that keys by a cookie and has its own lifetime, a framework's session always reaches the origin",
    source: "docs/security.md#who-gets-past-the-cache",
    site: { routes: [{ match: "/*", ttl: "1h", key: { cookies: { currency: ["eur"] } } }] },
    origin: { "/a": [{ body: "Hello, Ann" }, { body: "Log in" }, { body: "Hello, Ann" }] },
    steps: [
      asking({ cookie: `currency=eur; ${SESSION}` }, "MISS", "Hello, Ann"),
      { originLastSaw: "/a", fields: { cookie: `currency=eur; ${SESSION}` } },
      asking({ cookie: "currency=eur" }, "MISS", "Log in"),
      asking({ cookie: `currency=eur; ${SESSION}` }, "MISS", "Hello, Ann"),
      asking({ cookie: "currency=eur" }, "HIT", "Log in"),
      { stats: { askedPastTheCache: 2 } },
    ],
  },
];
