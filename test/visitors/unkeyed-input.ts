import { type Case, page, reflecting } from "./case.ts";

const FIELDS = "worker/rules/request/request-fields.ts";

/** Fields with which a client pretends to be somebody else, each with the source text that stops it. */
const claims: readonly (readonly [field: string, from: string, to: string])[] = [
  ["x-forwarded-host", 'written: { asSent: "never"', 'written: { asSent: "always"'],
  ["x-forwarded-proto", 'written: { asSent: "never"', 'written: { asSent: "always"'],
  ["x-forwarded-for", 'address: { asSent: "never"', 'address: { asSent: "always"'],
  ["x-forwarded-prefix", '"x-forwarded",', ""],
  ["x_forwarded_host", 'name.replaceAll("_", "-")', "name"],
  ["forwarded", '"forwarded",', ""],
  ["x-host", '"x-host",', ""],
  ["x-original-url", '"x-original-",', ""],
  ["x-rewrite-url", '"x-rewrite-",', ""],
  ["x-override-url", '"x-override-url",', ""],
  ["x-real-ip", '"x-real-ip",', ""],
  ["true-client-ip", '"true-client-ip",', ""],
  ["client-ip", '"client-ip",', ""],
  ["fastly-client-ip", '"fastly-",', ""],
  ["cf-connecting-ip", '"cf-",', ""],
  ["x-middleware-subrequest", '"x-middleware-",', ""],
  ["proxy", '"proxy",', ""],
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
  ["content-type", "application/evil"],
  ["content-encoding", "evil"],
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
  ["dpr", "9"],
  ["viewport-width", "1"],
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
  ["x-requested-with", "XMLHttpRequest"],
  ["hx-request", "true"],
  ["turbo-frame", "main"],
  ["rsc", "1"],
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
  ["via", "1.1 <evil>"],
  ["cache-control", "made-up"],
  ["pragma", "x-get-cache-key"],
  ["accept-language", `en,${"x".repeat(1024)}`],
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
const ORIGIN_IS_NO_KEY = {
  file: "worker/rules/variants/vary.ts",
  from: ": asked === value;",
  to: ': name === "origin" || asked === value;',
};

/** Input outside the key does not determine stored responses. */
export const unkeyedInput: readonly Case[] = [
  ...(
    [
      [
        "a made-up value of a cookie that a route keys by",
        { cookies: { currency: ["eur"] } },
        "cookie",
        "currency=<evil>",
      ],
      ["a made-up language", { languages: ["en", "de"] }, "accept-language", "en-<evil>"],
      ["a made-up country", { country: true }, "x-country", "<evil>"],
      ["a made-up device", { device: true }, "x-device", "<evil>"],
      ["a made-up browser, on a route that keys by device", { device: true }, "user-agent", "evil"],
    ] as const
  ).map(
    ([what, key, field, value]): Case => ({
      name: `${what} does not reach the origin`,
      site: { routes: [{ match: "/*", key }] },
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence:
        field === "cookie"
          ? {
              file: "worker/rules/request/choices.ts",
              from: "value !== undefined && values.includes(value) ? value : null",
              to: "value ?? null",
            }
          : {
              file: "worker/rules/forwarding/origin-request-fields.ts",
              from: "!isChosen(name) && ",
              to: "",
            },
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
      file: "worker/flow/request-context.ts",
      from: "!isWithin(peerAddress, trustedProxies)",
      to: "false",
    },
  },
  {
    name: "what a trusted proxy tells of the country is one of few values",
    // The network of both visitors' own address.
    site: { ...BEHIND_PROXY, trustedProxies: ["192.0.2.0/24"] },
    origin: reflecting("x-country"),
    first: { path: "/a", fields: { "cf-ipcountry": "<evil>" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      file: "worker/rules/request/choices.ts",
      from: "/^[A-Z][A-Z0-9]$/.test(country)",
      to: "country.length > 0",
    },
  },
  {
    name: "the field of a trusted proxy does not reach the origin from anybody where nothing is stored",
    site: { ...BEHIND_PROXY, countryField: "X-Geo" },
    origin: reflecting("x-geo"),
    first: { path: "/pass", fields: { "x-geo": "DE" } },
    second: { path: "/pass" },
    control: { path: "/a" },
    witness: "first",
    defence: {
      file: "worker/flow/origin/ask-origin.ts",
      from: "if (countryField === null) return chosen;",
      to: "if (countryField !== undefined) return chosen;",
    },
  },
  ...claims.map(
    ([field, from, to]): Case => ({
      name: `a client's ${field} does not reach the origin as it was sent`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: "evil.example" } },
      second: { path: "/a" },
      witness: "first",
      defence: { file: FIELDS, from, to },
    }),
  ),
  ...selecting.map(
    ([field, value]): Case => ({
      name: `a client's ${field} does not reach the origin where the answer may be stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence: { file: FIELDS, from: `"${field}",`, to: "" },
    }),
  ),
  ...software.map(
    ([field, value]): Case => ({
      name: `${field}: ${value} does not reach the origin where the answer may be stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      witness: "first",
      defence: {
        file: FIELDS,
        from: '"of-software": { asSent: "unless-stored"',
        to: '"of-software": { asSent: "always"',
      },
    }),
  ),
  {
    name: "a GET's max-forwards does not reach the origin where the answer may be stored",
    origin: reflecting("max-forwards"),
    first: { path: "/a", fields: { "max-forwards": "0" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      file: "worker/rules/forwarding/origin-request-fields.ts",
      from: "!storing && forwarded.maxForwards",
      to: "forwarded.maxForwards",
    },
  },
  ...odd.map(
    ([field, value]): Case => ({
      name: `what an origin answers to ${field}: ${value.slice(0, 40)}, without a word in Vary, is not stored`,
      origin: reflecting(field),
      first: { path: "/a", fields: { [field]: value } },
      second: { path: "/a" },
      defence: {
        file: "worker/rules/storing/may-store.ts",
        from: "odd !== null",
        to: "false",
      },
    }),
  ),
  {
    name: "a client's own coding does not reach the origin, nor an order of preference",
    origin: reflecting("accept-encoding"),
    first: { path: "/a", fields: { "accept-encoding": "gzip;q=0.1, evil, br" } },
    second: { path: "/a", fields: { "accept-encoding": "br, gzip" } },
    witness: "first",
    defence: {
      file: "worker/rules/forwarding/origin-request-fields.ts",
      from: '["accept-encoding", forwarded.acceptedCodings]',
      to: '["accept-encoding", client.get("accept-encoding") ?? "identity"]',
    },
  },
  ...["utm_content=x;callback=evil", "fbclid=%22evil", "utm_source=1&gclid=evil"].map(
    (query): Case => ({
      name: `dropped parameters do not reach the origin: ${query}`,
      origin: ({ target }) => page(`page of ${target}`),
      first: { path: `/a?${query}` },
      second: { path: "/a" },
      defence: {
        file: "worker/rules/key/cache-key.ts",
        from: "pathAndQuery: route.pass || bypassesByQuery ? asked.path + asked.search : keyed",
        to: "pathAndQuery: asked.path + asked.search",
      },
    }),
  ),
  {
    name: "a lowercased parameter is sent as it is keyed",
    site: { routes: [{ match: "/search", key: { query: { lowercase: ["q"] } } }] },
    origin: ({ target }) => page(`results of ${target}`),
    first: { path: "/search?q=LAN" },
    second: { path: "/search?q=lan" },
    defence: {
      file: "worker/rules/key/cache-key.ts",
      from: "pathAndQuery: route.pass || bypassesByQuery ? asked.path + asked.search : keyed",
      to: "pathAndQuery: asked.path + asked.search",
    },
  },
  {
    name: "what only one origin's scripts may read is stored for that origin, though Vary is silent",
    origin: ({ fields }) =>
      page("data", { "access-control-allow-origin": String(fields.origin ?? "https://own.example") }),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data", fields: { origin: "https://good.example" } },
    defence: ORIGIN_IS_NO_KEY,
  },
  {
    name: "what every origin's scripts may read is kept apart for each that asked",
    origin: ({ fields }) => page(`for ${fields.origin ?? "all"}`, { "access-control-allow-origin": "*" }),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data", fields: { origin: "https://good.example" } },
    defence: ORIGIN_IS_NO_KEY,
  },
  {
    name: "an answer to a foreign Origin that says nothing of origins is not stored",
    origin: ({ fields }) => page(fields.origin === "https://evil.example" ? "refused" : "data"),
    first: { path: "/data", fields: { origin: "https://evil.example" } },
    second: { path: "/data" },
    defence: {
      file: "worker/rules/storing/may-store.ts",
      from: "odd !== null",
      to: "false",
    },
  },
  {
    name: "a field that a route lets through is in the key",
    site: { routes: [{ match: "/*", key: { fields: ["X-Original-Host"] } }] },
    origin: reflecting("x-original-host"),
    first: { path: "/a", fields: { "x-original-host": "evil.example" } },
    second: { path: "/a", fields: { "x-original-host": "one.example" } },
    defence: {
      file: "worker/rules/request/origin-view.ts",
      from: '!isKeyed && treatmentOf(name, value, this.#rules).inVary !== "selects"',
      to: 'treatmentOf(name, value, this.#rules).inVary !== "selects"',
    },
  },
  {
    name: "a field that the owner drops does not reach the origin where the answer may be stored",
    site: { fields: { drop: ["x-app-*"] } },
    origin: reflecting("x-app-version"),
    first: { path: "/a", fields: { "x-app-version": "evil" } },
    second: { path: "/a" },
    witness: "first",
    defence: {
      file: FIELDS,
      from: 'dropped: { asSent: "unless-stored"',
      to: 'dropped: { asSent: "always"',
    },
  },
  {
    name: "a pattern of trusted fields does not cover what speaks of credentials",
    site: { fields: { trust: ["x-app-*"] } },
    origin: reflecting("x-app-token"),
    first: { path: "/a", fields: { "x-app-token": "secret" } },
    second: { path: "/a" },
    defence: { file: FIELDS, from: " && !speaksOfCredentials(name)", to: "" },
  },
  {
    name: "a field by which an origin chooses without a word in Vary passes the cache once that is found out",
    origin: ({ fields }) => page(fields["hx-request"] === undefined ? "whole" : "part"),
    first: { path: "/a", fields: { "hx-request": "true" } },
    second: { path: "/a", fields: { "hx-request": "true" } },
    control: { path: "/a" },
    defence: { file: "worker/flow/entry.ts", from: "marked(context) ?? ", to: "" },
  },
  {
    name: "what an origin reflects of an unknown field reaches nobody by a second look",
    origin: reflecting("x-app-version"),
    first: { path: "/a", fields: { "x-app-version": "evil" } },
    second: { path: "/a", fields: { "x-other": "1" } },
    control: { path: "/a" },
    defence: { file: "worker/rules/storing/may-store.ts", from: "odd !== null", to: "false" },
  },
  {
    name: "the body of a GET does not reach the origin",
    origin: ({ body }) => page(`you sent: ${body}`),
    first: { path: "/a", body: "q=evil" },
    second: { path: "/a" },
    witness: "first",
    defence: {
      file: "worker/flow/origin/ask-origin.ts",
      from: 'facts.method !== "GET" && facts.method !== "HEAD"',
      to: "true",
    },
  },
  {
    name: "an origin that says so in Vary gets the field, and each visitor his own page",
    origin: ({ fields }) => page(`in ${fields["accept-language"]}`, { vary: "Accept-Language" }),
    first: { path: "/a", fields: { "accept-language": "de" } },
    second: { path: "/a", fields: { "accept-language": "en" } },
    defence: {
      file: "worker/rules/variants/vary.ts",
      from: ": asked === value;",
      to: ": true;",
    },
  },
];
