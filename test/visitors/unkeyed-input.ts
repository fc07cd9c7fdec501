import type { Change } from "../mutants/mutant.ts";
import { type Case, page, reflecting } from "./case.ts";

/** Leaves a field out of a list of the rules for request fields. */
const unlisted = (name: string, list = "REQUEST_FIELDS"): Change => ({ in: list, replace: `"${name}",`, by: "" });
const unlistedPrefix = (prefix: string) => unlisted(prefix, "CLAIM_PREFIXES");
const sent = (treatment: string): Change => ({
  in: "TREATMENTS",
  replace: `${treatment}: { asSent: "never"`,
  by: `${treatment}: { asSent: "always"`,
});

/** Gateways read the field under another name: RFC 3875 §4.1.18. */
const OTHER_SPELLING: Change = { in: "treatmentByName", replace: "nameAtGateways(name)", by: "name" };

/** Fields with which a client pretends to be somebody else, each without the piece of the sources that stops it. */
const claims: readonly (readonly [field: string, defence: Change])[] = [
  ["x-forwarded-host", sent("written")],
  ["x-forwarded-proto", sent("written")],
  ["x-forwarded-for", sent("address")],
  ["x-forwarded-prefix", unlistedPrefix("x-forwarded")],
  ["x_forwarded_host", OTHER_SPELLING],
  ["content_length", OTHER_SPELLING],
  ["transfer_encoding", OTHER_SPELLING],
  ["x.forwarded.host", { in: "nameAtGateways", replace: "[^a-z\\d-]", by: "_" }],
  ["forwarded", unlisted("forwarded")],
  ["x-host", unlisted("x-host")],
  ["x-original-url", unlistedPrefix("x-original-")],
  ["x-rewrite-url", unlistedPrefix("x-rewrite-")],
  ["x-override-url", unlisted("x-override-url")],
  ["x-real-ip", unlisted("x-real-ip")],
  ["true-client-ip", unlisted("true-client-ip")],
  ["client-ip", unlisted("client-ip")],
  ["fastly-client-ip", unlistedPrefix("fastly-")],
  ["cf-connecting-ip", unlistedPrefix("cf-")],
  ["x-middleware-subrequest", unlistedPrefix("x-middleware-")],
  ["proxy", unlisted("proxy")],
];

/**
 * Fields that select another answer, and do not reach the origin if the answer may be stored. `If-Match` and
 * `If-Unmodified-Since` are not among them: such a request is passed on, and its answer is not stored.
 */
const selecting = [
  ["x-http-method-override", "DELETE"],
  ["x-http-method", "DELETE"],
  ["x-method-override", "DELETE"],
  ["if-none-match", '"x"'],
  ["if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ["expect", "200-ok"],
  ["referer", "https://evil.example/"],
  ["content-encoding", "evil"],
] as const;

/** The same in the spelling of gateways. */
const spelledOtherwise = [
  ["if_none_match", "*"],
  ["x_http_method_override", "DELETE"],
  ["accept_encoding", "evil"],
] as const;

/** What the client's software adds, which does not reach the origin where the answer may be stored. */
const software: readonly (readonly [field: string, value: string])[] = [
  ["alt-used", "evil.example"],
  ["x-requested-with", "com.evil.app"],
  ["x-purpose", "preview"],
  ["x-moz", "prefetch"],
  ["a-im", "feed"],
  ["available-dictionary", ":ZXZpbA==:"],
  ["dictionary-id", '"evil"'],
  ["icy-metadata", "1"],
  ["x-playback-session-id", "evil"],
  ["rtt", "9"],
  ["downlink", "1"],
  ["ect", "2g"],
  ["tracestate", "evil=1"],
  ["baggage", "page=evil"],
  ["sentry-trace", "<evil>"],
  ["b3", "evil"],
  ["x-b3-traceid", "evil"],
  ["x-request-id", "<evil>"],
  ["x-correlation-id", "<evil>"],
  ["x-amzn-trace-id", "Root=evil"],
  ["x-cloud-trace-context", "evil"],
  ["x-datadog-trace-id", "evil"],
  ["uber-trace-id", "evil"],
  ["newrelic", "evil"],
];

/** Fields that are forwarded, because somebody may need them, and that no `Vary` of this origin names. */
const odd: readonly (readonly [field: string, value: string])[] = [
  ["hx-target", "main"],
  ["x-up-fail-target", "main"],
  ["x-nextjs-data", "1"],
  ["x-timer", "S1"],
  ["x-amz-server-side-encryption", "evil"],
  ["x-wap-profile", "https://evil.example/p.xml"],
  ["prefer", "return=minimal"],
  ["user-agent", "<script>alert(1)</script>"],
  ["user-agent", '" onload="alert(1)'],
  ["accept-language", "en, <b>"],
  ["accept", "text/evil'"],
  ["sec-ch-ua-model", "`evil`"],
  ["sec-tenant", "evil"],
  ["via", "1.1 <evil>"],
  ["dpr", "<evil>"],
  ["viewport-width", "evil"],
  ["cache-control", "made-up"],
  ["pragma", "x-get-cache-key"],
  ["accept-language", `en,${"x".repeat(1024)}`],
];

/** The origin gets what the client sent beside what the route has chosen. */
const BESIDE_CHOICE: Change = { in: "originRequestFields", replace: "!isChosen(name) &&", by: "" };

/** Values of what a route keys by, of which the origin gets one of few, each without the piece that chooses it. */
const madeUp: readonly (readonly [
  what: string,
  key: NonNullable<NonNullable<NonNullable<Case["site"]>["routes"]>[number]["key"]>,
  field: string,
  value: string,
  defence: Change,
])[] = [
  [
    "a made-up value of a cookie that a route keys by",
    { cookies: { currency: ["eur"] } },
    "cookie",
    "currency=<evil>",
    {
      in: "readChoices",
      replace: "value !== undefined && values.includes(value) ? value : null",
      by: "value ?? null",
    },
  ],
  [
    "a made-up language",
    { languages: ["en", "de"] },
    "accept-language",
    "en-<evil>",
    {
      in: "readChoices",
      replace: 'negotiatedLanguage(field("accept-language"), languages)',
      by: 'field("accept-language")',
    },
  ],
  [
    "a made-up country",
    { country: true },
    "x-country",
    "<evil>",
    {
      in: "readChoices",
      replace: "fields.set(COUNTRY_FIELD, country !== null",
      by: "fields.set(COUNTRY_FIELD, field(COUNTRY_FIELD) ? field(COUNTRY_FIELD) : country !== null",
    },
  ],
  [
    "a made-up device",
    { device: true },
    "x-device",
    "<evil>",
    {
      in: "readChoices",
      replace: "fields.set(DEVICE_FIELD, device)",
      by: "fields.set(DEVICE_FIELD, field(DEVICE_FIELD) ?? device)",
    },
  ],
  [
    "a made-up browser, on a route that keys by device",
    { device: true },
    "user-agent",
    "evil",
    {
      in: "readChoices",
      replace: '"user-agent", device === "mobile"',
      by: '"user-agent", field("user-agent") ? field("user-agent") : device === "mobile"',
    },
  ],
  // In the spelling of gateways, which the route's list of dropped fields does not know.
  ["a made-up language with underscores", { languages: ["en", "de"] }, "accept_language", "en-<evil>", BESIDE_CHOICE],
  ["a made-up country with underscores", { country: true }, "x_country", "<evil>", BESIDE_CHOICE],
  ["a made-up device with underscores", { device: true }, "x_device", "<evil>", BESIDE_CHOICE],
  [
    "a made-up browser with underscores, on a route that keys by device",
    { device: true },
    "user_agent",
    "evil",
    BESIDE_CHOICE,
  ],
];

/** A site behind a proxy that tells countries, and that the visitors go around. */
const BEHIND_PROXY: Case["site"] = {
  trustedProxies: ["198.51.100.0/24"],
  countryField: "CF-IPCountry",
  routes: [
    { match: "/pass", pass: true },
    { match: "/*", key: { country: true } },
  ],
};

/** The field counts as keyed, but is not. */
const isNoKey = (field: string) => ({
  in: "matchesVariant",
  replace: ": asked === value;",
  by: `: name === "${field}" || asked === value;`,
});

/** Input outside the key does not determine stored responses. */
export const unkeyedInput: readonly Case[] = [
  ...madeUp.map(
    ([what, key, field, value, defence]): Case => ({
      name: `${what} does not reach the origin`,
      site: { routes: [{ match: "/*", key }] },
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence,
    }),
  ),
  {
    name: "a stranger's word in the field of a trusted proxy tells no country",
    site: BEHIND_PROXY,
    origin: ({ fields }) => page(`in ${fields["x-country"]}, ${fields["cf-ipcountry"]}`),
    first: { path: "/a", fields: { "cf-ipcountry": "DE" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      in: "visitorsCountry",
      replace: "!isWithin(peerAddress, trustedProxies)",
      by: "false",
    },
  },
  {
    name: "a trusted proxy's country is one of few values",
    // The network of both visitors' own address.
    site: { ...BEHIND_PROXY, trustedProxies: ["192.0.2.0/24"] },
    origin: reflecting("x-country"),
    first: { path: "/a", fields: { "cf-ipcountry": "<evil>" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      in: "readChoices",
      replace: "/^[A-Z][A-Z0-9]$/.test(country)",
      by: "country.length > 0",
    },
  },
  {
    name: "the country field never reaches the origin, even if nothing is stored",
    site: { ...BEHIND_PROXY, countryField: "X-Geo" },
    origin: reflecting("x-geo"),
    first: { path: "/pass", fields: { "x-geo": "DE" } },
    second: { path: "/pass" },
    control: { path: "/a" },
    witness: "first",
    defence: {
      in: "withoutProxysWord",
      replace: "if (countryField === null) return chosen;",
      by: "if (countryField !== undefined) return chosen;",
    },
  },
  ...claims.map(
    ([field, defence]): Case => ({
      name: `a client's ${field} does not reach the origin as it was sent`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: "evil.example" } },
      second: { path: "/a" },
      witness: "first",
      defence,
    }),
  ),
  ...selecting.map(
    ([field, value]): Case => ({
      name: `a client's ${field} does not reach the origin if the answer may be stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence: unlisted(field),
    }),
  ),
  ...spelledOtherwise.map(
    ([field, value]): Case => ({
      name: `a client's ${field} does not reach the origin if the answer may be stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence: OTHER_SPELLING,
    }),
  ),
  {
    name: "the answer to a GET with a made-up Content-Type is for that Content-Type alone",
    origin: reflecting("content-type"),
    first: { path: "/a", fields: { "content-type": "application/evil" } },
    second: { path: "/a", fields: { "content-type": "application/json" } },
    defence: isNoKey("content-type"),
  },
  ...software.map(
    ([field, value]): Case => ({
      name: `${field}: ${value} does not reach the origin if the answer may be stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence: {
        in: "TREATMENTS",
        replace: '"of-software": { asSent: "unless-stored"',
        by: '"of-software": { asSent: "always"',
      },
    }),
  ),
  {
    name: "a GET's Max-Forwards does not reach the origin if the answer may be stored",
    origin: reflecting("max-forwards"),
    first: { path: "/a", fields: { "max-forwards": "0" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      in: "originRequestFields",
      replace: "!storing && forwarded.maxForwards",
      by: "forwarded.maxForwards",
    },
  },
  {
    name: "an odd Via is one, too, where Connection names it",
    origin: reflecting("via"),
    first: { path: "/a", fields: { connection: "via", via: "1.1 <evil>" } },
    second: { path: "/a" },
    defence: {
      in: "unkeyedField",
      replace: "&& !isContinued(name)",
      by: "",
    },
  },
  {
    name: "a Via by which answers vary selects one, too, where Connection names it",
    origin: ({ fields }) => page(`via: ${fields.via}`, { vary: "via" }),
    first: { path: "/a", fields: { connection: "via", via: "1.1 other" } },
    second: { path: "/a" },
    defence: {
      in: "OriginView.field",
      replace: "&& !isContinued(name)",
      by: "",
    },
  },
  ...odd.map(
    ([field, value]): Case => ({
      name: `an answer to ${field}: ${value.slice(0, 40)} without Vary is not stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      defence: {
        in: "mayStore",
        replace: "odd !== null",
        by: "false",
      },
    }),
  ),
  {
    name: "neither a client's unknown codings nor its order of preference reach the origin",
    origin: reflecting("accept-encoding"),
    first: { path: "/a", fields: { "accept-encoding": "gzip;q=0.1, evil, br" } },
    second: { path: "/a", fields: { "accept-encoding": "br, gzip" } },
    witness: "first",
    defence: {
      in: "originRequestFields",
      replace: '["accept-encoding", forwarded.acceptedCodings]',
      by: '["accept-encoding", client.get("accept-encoding") ?? "identity"]',
    },
  },
  ...["utm_content=x;callback=evil", "fbclid=%22evil", "utm_source=1&gclid=evil"].map(
    (query): Case => ({
      name: `dropped parameters do not reach the origin: ${query}`,
      origin: ({ target }) => page(`page of ${target}`),
      first: { path: `/a?${query}` },
      second: { path: "/a" },
      defence: {
        in: "resolveUrl",
        replace: "pathAndQuery: keyed",
        by: "pathAndQuery: asked.path + asked.search",
      },
    }),
  ),
  {
    name: "the origin gets a lowercased parameter in the form that is in the key",
    site: { routes: [{ match: "/search", key: { query: { lowercase: ["q"] } } }] },
    origin: ({ target }) => page(`results of ${target}`),
    first: { path: "/search?q=LAN" },
    second: { path: "/search?q=lan" },
    defence: {
      in: "resolveUrl",
      replace: "pathAndQuery: keyed",
      by: "pathAndQuery: asked.path + asked.search",
    },
  },
  {
    name: "what only one origin's scripts may read is stored for that origin, though Vary is silent",
    origin: ({ fields }) =>
      page("data", { "access-control-allow-origin": String(fields.origin ?? "https://own.example") }),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data", fields: { origin: "https://good.example" } },
    defence: isNoKey("origin"),
  },
  {
    name: "an answer that every origin's scripts may read is stored separately for each origin",
    origin: ({ fields }) => page(`for ${fields.origin ?? "all"}`, { "access-control-allow-origin": "*" }),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data", fields: { origin: "https://good.example" } },
    defence: isNoKey("origin"),
  },
  {
    name: "an answer to a foreign Origin without CORS fields is not stored",
    origin: ({ fields }) => page(fields.origin === "https://evil.example" ? "refused" : "data"),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data" },
    defence: {
      in: "mayStore",
      replace: "odd !== null",
      by: "false",
    },
  },
  {
    name: "a field that a route lets through is in the key",
    site: { routes: [{ match: "/*", key: { fields: ["X-Original-Host"] } }] },
    origin: reflecting("x-original-host"),
    first: { path: "/a", fields: { "x-original-host": "evil.example" } },
    second: { path: "/a", fields: { "x-original-host": "one.example" } },
    defence: {
      in: "OriginView.field",
      replace: '!isKeyed && treatmentOf(name, value, this.#rules).inVary !== "selects"',
      by: 'treatmentOf(name, value, this.#rules).inVary !== "selects"',
    },
  },
  {
    name: "a field that the owner drops does not reach the origin if the answer may be stored",
    site: { fields: { drop: ["x-app-*"] } },
    origin: reflecting("x-app-version"),
    first: { path: "/a", fields: { "x-app-version": "evil" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      in: "TREATMENTS",
      replace: 'withheld: { asSent: "unless-stored"',
      by: 'withheld: { asSent: "always"',
    },
  },
  {
    name: "a pattern of trusted fields does not cover a field whose name suggests credentials",
    site: { fields: { trust: ["x-app-*"] } },
    origin: reflecting("x-app-token"),
    first: { path: "/a", fields: { "x-app-token": "secret" } },
    second: { path: "/a" },
    defence: { in: "isTrusted", replace: "&& !speaksOfCredentials(name)", by: "" },
  },
  {
    name: "a field that changes the page without Vary bypasses the cache once the edge has found this out",
    origin: ({ fields }) => page(fields["x-mobile"] === undefined ? "whole" : "part"),
    first: { path: "/a", fields: { "x-mobile": "1" } },
    second: { path: "/a", fields: { "x-mobile": "1" } },
    control: { path: "/a" },
    defence: { in: "entryOf", replace: "marked(context) ??", by: "" },
  },
  {
    name: "a framework's request for a part does not get the page, even without Vary",
    origin: ({ fields }) => page(fields["hx-request"] === undefined ? "whole" : "part"),
    first: { path: "/a" },
    second: { path: "/a", fields: { "hx-request": "true" } },
    defence: { in: "entryKeyOf", replace: "partsKey(resolved.cacheKey)", by: "resolved.cacheKey" },
  },
  {
    name: "an unknown field that the origin reflects reaches nobody through a second look",
    origin: reflecting("x-app-version"),
    first: { path: "/a", fields: { "x-app-version": "evil" } },
    second: { path: "/a", fields: { "x-other": "1" } },
    control: { path: "/a" },
    defence: { in: "mayStore", replace: "odd !== null", by: "false" },
  },
  {
    name: "the body of a GET does not reach the origin",
    origin: ({ body }) => page(`you sent: ${body}`),
    first: { path: "/a", body: "q=evil" },
    second: { path: "/a" },
    witness: "first",
    defence: {
      in: "askOrigin",
      replace: 'method === "GET" || method === "HEAD"',
      by: "false",
    },
  },
  {
    name: "if Vary names a field, the origin gets it, and each visitor gets the right page",
    origin: ({ fields }) => page(`in ${fields["accept-language"]}`, { vary: "Accept-Language" }),
    first: { path: "/a", fields: { "accept-language": "de" } },
    second: { path: "/a", fields: { "accept-language": "en" } },
    defence: {
      in: "matchesVariant",
      replace: ": asked === value;",
      by: ": true;",
    },
  },
];
