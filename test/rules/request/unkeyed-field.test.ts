import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import type { Identity } from "../../../worker/rules/identity/identity.ts";
import { NO_OWNERS_FIELDS } from "../../../worker/rules/request/request-fields.ts";
import { isPlainRequest, unkeyedField } from "../../../worker/rules/request/unkeyed-field.ts";

type Lines = readonly (readonly [name: string, value: string])[];

const ofBrowser: Lines = [
  ["host", "www.example.com"],
  ["connection", "keep-alive"],
  ["cache-control", "max-age=0"],
  ["sec-ch-ua", '"Chromium";v="140", "Not=A?Brand";v="24"'],
  ["sec-ch-ua-mobile", "?0"],
  ["dnt", "1"],
  ["upgrade-insecure-requests", "1"],
  [
    "User-Agent",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  ],
  ["accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"],
  ["sec-fetch-site", "same-origin"],
  ["referer", "https://www.example.com/plog/?page=2&sort=a%20b"],
  ["accept-encoding", "gzip, deflate, br, zstd"],
  ["accept-language", "de-DE,de;q=0.9,en;q=0.8"],
  ["priority", "u=0, i"],
  ["if-none-match", 'W/"abc"'],
];
const ofCurl: Lines = [
  ["host", "www.example.com"],
  ["user-agent", "curl/8.14.1"],
  ["accept", "*/*"],
];
const ofCrawler: Lines = [
  ["user-agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
  ["from", "googlebot(at)googlebot.com"],
  ["accept", "text/html,*/*;q=0.8"],
];

const cases: readonly {
  name: string;
  fields: Lines;
  inKey?: readonly string[];
  identity?: Identity;
  plain: boolean;
}[] = [
  { name: "what a browser sends is plain", fields: ofBrowser, plain: true },
  { name: "what curl sends is plain", fields: ofCurl, plain: true },
  { name: "what a crawler sends is plain", fields: ofCrawler, plain: true },
  { name: "a request without fields is plain", fields: [], plain: true },
  { name: "an unknown field is not", fields: [["x-debug", "1"]], plain: false },
  { name: "what the origin never sees is", fields: [["x-http-method-override", "POST"]], plain: true },
  { name: "what takes neither HTML nor anything is not", fields: [["Accept", "text/evil"]], plain: false },
  { name: "it is where that is in the key", fields: [["accept", "text/evil"]], inKey: ["accept"], plain: true },
  { name: "what the owner drops is", fields: [["X-Dropped", "<any>"]], plain: true },
  { name: "what the owner trusts for errors is", fields: [["X-Harmless-1", "<any>"]], plain: true },
  { name: "that is not where it is too long", fields: [["x-harmless-1", "x".repeat(1025)]], plain: false },
  { name: "nor where it speaks of credentials", fields: [["x-harmless-token", "1"]], plain: false },
  {
    name: "what a script marks its requests with is not",
    fields: [["x-requested-with", "XMLHttpRequest"]],
    plain: false,
  },
  { name: "a request that another site's page made is not", fields: [["sec-fetch-site", "cross-site"]], plain: false },
  ...["Cross-Site", "", "evil", "same-origin, cross-site", "cross-site, cross-site"].map((value) => ({
    name: `a request of "${value}", which no browser says, is not`,
    fields: [["sec-fetch-site", value]] as const,
    plain: false,
  })),
  { name: "one that a page of a sibling site made is", fields: [["sec-fetch-site", "same-site"]], plain: true },
  { name: "one that the site's own page made is", fields: [["sec-fetch-site", "same-origin"]], plain: true },
  { name: "one that a browser sends ahead is not", fields: [["sec-purpose", "prefetch"]], plain: false },
  { name: "one that an older browser sends ahead is not", fields: [["purpose", "prefetch"]], plain: false },
  { name: "one for the script of a service worker is not", fields: [["service-worker", "script"]], plain: false },
  {
    name: "one that a browser sends while a service worker starts is",
    fields: [["service-worker-navigation-preload", "true"]],
    plain: true,
  },
  {
    name: "one that a browser sends ahead is, if that is in the key",
    fields: [["sec-purpose", "prefetch"]],
    inKey: ["sec-purpose"],
    plain: true,
  },
  { name: "a directive for caches is", fields: [["cache-control", "max-stale, stale-if-error=60"]], plain: true },
  { name: "a directive that none knows is not", fields: [["cache-control", "stale-if-evil=60"]], plain: false },
  ...["2", "1.5", "1.100000023841858", "99999"].map((value) => ({
    name: `a screen of ${value} is`,
    fields: [["dpr", value]] as const,
    plain: true,
  })),
  ...["x", "2x", "-1", ".5", "1e3", "100000", "1.000000000000000000", "1, 2"].map((value) => ({
    name: `a screen of ${value} is not`,
    fields: [["dpr", value]] as const,
    plain: false,
  })),
  {
    name: "a comment with escaped parentheses is",
    fields: [["user-agent", String.raw`docker/24.0.7 go/go1.20.10 UpstreamClient(Docker-Client/24.0.7 \(linux\))`]],
    plain: true,
  },
  { name: "a quoted text where none belongs is not", fields: [["user-agent", 'a" onload=b']], plain: false },
  { name: "a language that is none is not", fields: [["accept-language", "https://evil.example/"]], plain: false },
  { name: "a Via of another proxy is", fields: [["via", "1.1 office (squid)"]], plain: true },
  { name: "a field in the key is", fields: [["x-country", "de"]], inKey: ["x-country"], plain: true },
  {
    name: "a field in the key with an odd value is not",
    fields: [["x-country", "\u0001"]],
    inKey: ["x-country"],
    plain: false,
  },
  { name: "cookies that are all ignored are", fields: [["cookie", "_ga=1"]], plain: true },
  { name: "other cookies are not", fields: [["cookie", "session=1"]], identity: "cookies", plain: false },
  {
    name: "what the edge replaces may hold anything",
    fields: [
      ["cf-visitor", '{"scheme":"https"}'],
      ["x-forwarded-host", "<evil>"],
    ],
    plain: true,
  },
  { name: "a value of 1024 characters is", fields: [["user-agent", "x".repeat(1024)]], plain: true },
  { name: "a value of 1025 characters is not", fields: [["user-agent", "x".repeat(1025)]], plain: false },
  {
    name: "4096 characters of fields are",
    fields: [...Array(4)].map((_, index) => [`sec-ch-${index}`, "x".repeat(1016)] as const),
    plain: true,
  },
  {
    name: "4097 characters of fields are not",
    fields: [["dnt", "11"], ...[...Array(4)].map((_, index) => [`sec-ch-${index}`, "x".repeat(1015)] as const)],
    plain: false,
  },
  ...["\n", "\u0000", "é", "<script>", "{jndi:ldap}", "a\\b", "\\\\(a\\\\)", "a\\", "`id`"].map((value) => ({
    name: `${JSON.stringify(value)} in a value is not`,
    fields: [["user-agent", value]] as const,
    plain: false,
  })),
];

describe("isPlainRequest", () => {
  const owners = { keyFields: [], droppedFields: ["x-dropped"], trustedForErrors: ["x-harmless-*"] };

  test.each(cases)("$name", ({ fields, inKey = [], identity = "anonymous", plain }) => {
    expect(isPlainRequest(new Fields(fields), { inKey, identity, ...owners })).toBe(plain);
  });
});

describe("unkeyedField, with fields that the owner names", () => {
  const owners = { keyFields: [], droppedFields: ["x-dropped-*"], trustedFields: ["x-trusted-*"] };

  test.each<[name: string, fields: Lines, odd: string | null]>([
    ["what is dropped is not odd", [["x-dropped-1", "<any>"]], null],
    ["what is trusted is not", [["X-Trusted-1", '{"any":1}']], null],
    ["it is where it is too long", [["x-trusted-1", "x".repeat(1025)]], "x-trusted-1"],
    ["it is where it is not printable", [["x-trusted-1", "é"]], "x-trusted-1"],
    ["what speaks of credentials is, whatever a pattern covers", [["x-trusted-token", "1"]], "x-trusted-token"],
    ["another field is", [["x-other", "1"]], "x-other"],
  ])("%s", (_, fields, odd) => {
    expect(unkeyedField(new Fields(fields), [], owners)).toBe(odd);
  });
});

describe("unkeyedField", () => {
  test.each<{ name: string; fields: Lines; inKey?: readonly string[]; odd: string | null }>([
    { name: "what a browser sends is not odd", fields: ofBrowser, odd: null },
    { name: "another site's page may ask for what is for all", fields: [["sec-fetch-site", "cross-site"]], odd: null },
    { name: "a field of an application's own is", fields: [["HX-Request", "true"]], odd: "hx-request" },
    { name: "it is not where it is in the key", fields: [["HX-Request", "true"]], inKey: ["hx-request"], odd: null },
    {
      name: "what a connection keeps to itself is not",
      fields: [
        ["connection", "x-hop"],
        ["x-hop", "1"],
      ],
      odd: null,
    },
    {
      name: "what the edge takes away is not",
      fields: [
        ["x-forwarded-host", "evil.example"],
        ["range", "bytes=0-1"],
      ],
      odd: null,
    },
    {
      name: "what WebViews, players, tracers and clients of registries send is not",
      fields: [
        ["X-Requested-With", "com.example.app"],
        ["X-Request-Id", "<any>"],
        ["x-b3-traceid", "1"],
        ["icy-metadata", "1"],
        ["x-playback-session-id", "1"],
        ["Docker-Distribution-Api-Version", "registry/2.0"],
        ["cmcd-object", "br=3200,d=4004,ot=v"],
      ],
      odd: null,
    },
    {
      name: "what browsers send for a service worker is not",
      fields: [
        ["Service-Worker", "script"],
        ["Service-Worker-Navigation-Preload", "true"],
      ],
      odd: null,
    },
    {
      name: "what a service worker asks for is",
      fields: [["Service-Worker-Navigation-Preload", "json_fragment1"]],
      odd: "service-worker-navigation-preload",
    },
    { name: "a foreign Origin is", fields: [["origin", "https://evil.example"]], odd: "origin" },
  ])("$name", ({ fields, inKey = [], odd }) => {
    expect(unkeyedField(new Fields(fields), inKey, NO_OWNERS_FIELDS)).toBe(odd);
  });
});
