import { describe, expect, expectTypeOf, test } from "vitest";
import type * as z from "zod/mini";
import { resolveUrl } from "../../worker/rules/key/cache-key.ts";
import { type CheckedSite, checkSite, type siteSchema } from "../../worker/site/check-site.ts";
import { compileChecked, compileSite, type Site, type SiteOverrides } from "../../worker/site/site.ts";
import { SiteError } from "../../worker/site/site-error.ts";
import type { RouteInput, SiteInput } from "../../worker/site/site-input.ts";
import { weakenedDefences } from "../../worker/site/weakened-defences.ts";

const origin = "https://origin.example.test";

function problemsOf(input: object): string[] {
  try {
    compileSite(input as SiteInput, {});
  } catch (error) {
    if (error instanceof SiteError) return error.errors.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

describe("the error for a mistake in a site's rules has its place, its value and what to do", () => {
  test.each<[string, object, RegExp]>([
    ["no origin", {}, /^origin: .*found nothing/],
    [
      "an origin with a path",
      { origin: `${origin}/app` },
      /^origin: is not an address like .* without a path; found "https:\/\/origin/,
    ],
    [
      "an origin that is not a URL",
      { origin: "localhost:8000" },
      /^origin: is not an address like .*; found "localhost:8000"$/,
    ],
    [
      "a socket",
      { origin: "unix:/run/app.sock" },
      /^origin: is a socket, which only tidemark serve can ask: name it with --origin or in TIDEMARK_ORIGIN; found "unix:/,
    ],
    [
      "a key of routes beside them",
      { origin, defaultTtl: "1m" },
      /^defaultTtl: belongs in routes, like \{ match: "\/\*", defaultTtl: … \}$/,
    ],
    ["a service without a name", { origin: { service: "" } }, /^origin\.service: is not the name of a binding/],
    [
      "a service by another key",
      { origin: { url: origin, worker: "APP" } },
      /^origin\.worker: unknown key\. Known here: url, service/,
    ],
    ["an origin that is a list", { origin: [origin] }, /^origin: is required: the address of the site/],
    [
      "one address of several with a path",
      { origin: { url: [origin, `${origin}/a`] } },
      /^origin\.url\[1\]: is not an address like .*; found "https/,
    ],
    ["a list of no addresses", { origin: { url: [] } }, /^origin\.url: needs at least 1 item; found \[\]$/],
    ["an address that is a number", { origin: { url: 8000 } }, /^origin\.url: must be an address in quotes, or a list/],
    [
      "the site itself among the addresses",
      { origin: { url: [origin, "https://www.example.test"] }, hosts: ["www.example.test"] },
      /^origin: "https:\/\/www\.example\.test" is an address of the site itself/,
    ],
    ["an origin with nothing to ask", { origin: {} }, /^origin: names neither a url nor a service; found {}$/],
    ["two origins", { origin: { url: origin, service: "APP" } }, /^origin: names a url and a service: keep one/],
    ["a url with a path", { origin: { url: `${origin}/a` } }, /^origin\.url: is not an address like .*; found "https/],
    [
      "an origin that is asked nothing",
      { origin: { url: origin, concurrency: 0 } },
      /^origin\.concurrency: must be more than 0; found 0$/,
    ],
    [
      "half a request",
      { origin: { url: origin, concurrency: 1.5 } },
      /^origin\.concurrency: must be a whole number; found 1\.5$/,
    ],
    [
      "a number in quotes",
      { origin: { url: origin, concurrency: "32" } },
      /^origin\.concurrency: must be a .*number; found "32"$/,
    ],
    [
      "an endless queue",
      { origin: { url: origin, concurrency: 1, queue: { maxMs: 60_001 } } },
      /^origin\.queue\.maxMs: must be at most 60000; found 60001$/,
    ],
    [
      "a wait with a unit",
      { origin: { url: origin, concurrency: 1, queue: { maxMs: "5s" } } },
      /^origin\.queue\.maxMs: must be a .*number; found "5s"$/,
    ],
    [
      "a queue of less than nobody",
      { origin: { url: origin, concurrency: 1, queue: { maxWaiting: -1 } } },
      /^origin\.queue\.maxWaiting: must be at least 0; found -1$/,
    ],
    [
      "a queue for nothing",
      { origin: { url: origin, queue: {} } },
      /^origin\.queue: needs concurrency: without it no request waits; found {}$/,
    ],
    [
      "a limit of streams alone",
      { origin: { url: origin, streams: 8 } },
      /^origin\.streams: needs concurrency: streams have their own limit beside it; found 8$/,
    ],
    [
      "a misspelt limit",
      { origin: { url: origin, concurency: 8 } },
      /^origin\.concurency: unknown key; did you mean concurrency\?/,
    ],
    ["an unknown key", { origin, route: [] }, /^route: unknown key; did you mean routes\?/],
    ["an unknown key far from any", { origin, zzzzzzzz: 1 }, /^zzzzzzzz: unknown key\. Known here: origin, hosts/],
    [
      "an unknown key deep inside",
      { origin, routes: [{ match: "/a", key: { query: { lowercas: [] } } }] },
      /^routes\[0\]\.key\.query\.lowercas: unknown key; did you mean lowercase\?/,
    ],
    [
      "an unknown key in a condition",
      { origin, routes: [{ match: "/a", store: { when: { query: { q: { maxLength: 9, maxlength: 9 } } } } }] },
      /did you mean maxLength\?/,
    ],
    [
      "a word of another cache",
      { origin, routes: [{ match: "/a", skip: true }] },
      /^routes\[0\]\.skip: unknown key; did you mean [a-z]+\? Known here: match, pass, concurrency, key/,
    ],
    [
      "a bypass in the singular",
      { origin, routes: [{ match: "/a", bypass: { cookie: ["x"] } }] },
      /^routes\[0\]\.bypass\.cookie: unknown key; did you mean cookies\?/,
    ],
    [
      "a bypass of everything",
      { origin, bypass: { cookies: ["*"] } },
      /^bypass\.cookies\[0\]: has a bare \*: write a route with pass: true for that/,
    ],
    [
      "a star inside the name of a cookie that bypasses",
      { origin, bypass: { cookies: ["sid", "*_session", /a*b/] } },
      /^bypass\.cookies\[1\]: has a \* before its end, where it matches only a \*; found "\*_session"$/,
    ],
    [
      "a star inside the name of a field that bypasses",
      { origin, routes: [{ match: "/a", bypass: { fields: ["x-*-preview"] } }] },
      /^routes\[0\]\.bypass\.fields\[0\]: has a \* before its end/,
    ],
    [
      "a star inside the name of a cookie to ignore",
      { origin, cookies: { ignore: ["_ga_*", "*_ab"] } },
      /^cookies\.ignore\[1\]: has a \* before its end/,
    ],
    ...["ignore", "only", "lowercase", "trim"].map((list): [string, object, RegExp] => [
      `a star inside the name of a parameter in ${list}`,
      { origin, routes: [{ match: "/a", key: { query: { [list]: ["q*", "*q"] } } }] },
      new RegExp(`^routes\\[0\\]\\.key\\.query\\.${list}\\[1\\]: has a \\* before its end`),
    ]),
    [
      "a star in the name of a parameter whose length counts",
      { origin, routes: [{ match: "/a", store: { when: { query: { "q*": { maxLength: 9 } } } } }] },
      /^routes\[0\]\.store\.when\.query\.q\*: has a \*, which matches only a \* here: name each one$/,
    ],
    [
      "a bypass by a pattern that goes on where it stopped",
      { origin, bypass: { cookies: [/session/g] } },
      /^bypass\.cookies\[0\]: is not a pattern like \/session\/i, with no other flags than i, m, s and u; found "\/session\/g"$/,
    ],
    [
      "a bypass by a query that is no list",
      { origin, bypass: { query: "preview" } },
      /^bypass\.query: must be true, false or a list like \["preview", \/draft\/i\]; found "preview"$/,
    ],
    [
      "a bypass by a query that is a pattern",
      { origin, bypass: { query: /draft/g } },
      /^bypass\.query: must be true, false or a list .*; found "\/draft\/g"$/,
    ],
    [
      "an address of several that is a number",
      { origin: { url: [origin, 5] } },
      /^origin\.url: must be an address in quotes, or a list of them; found \["https:\/\/origin\.example\.test",5\]$/,
    ],
    [
      "a host with a user",
      { origin, hosts: ["user@www.example.test"] },
      /^hosts\[0\]: is not a host name like www\.example\.com, .*; found "user@www/,
    ],
    [
      "a host with a query",
      { origin, hosts: ["www.example.test?a"] },
      /^hosts\[0\]: is not a host name like www\.example\.com/,
    ],
    ...["0.0.0.0/0", "::/0", "::/64", "::ffff:0:0/96"].map((network): [string, object, RegExp] => [
      `trust in ${network}, which is everybody`,
      { origin, trustedProxies: [network] },
      /^trustedProxies\[0\]: trusts everybody: name the proxies; found "/,
    ]),
    [
      "no time for the origin",
      { origin, limits: { originTimeout: "0s" } },
      /^limits\.originTimeout: leaves the origin no time; found "0s"$/,
    ],
    [
      "a pattern with an escape in lower case behind a name",
      { origin, routes: [{ match: "/:x/%c3%bc" }] },
      /^routes\[0\]\.match: matches nothing: the edge writes such paths as "\/:x\/%C3%BC"/,
    ],
    [
      "a bypass by something that is not a name",
      { origin, bypass: { query: [7] } } as unknown as SiteInput,
      /^bypass\.query/,
    ],
    [
      "a bypass by a field's value that is a name",
      { origin, bypass: { fields: { "user-agent": ["bot"] } } },
      /^bypass\.fields\.user-agent\[0\]: is not a pattern like \/session\/i, with no other flags than i, m, s and u/,
    ],
    [
      "a bypass by a field without a pattern",
      { origin, bypass: { fields: { "user-agent": [] } } },
      /^bypass\.fields\.user-agent: needs at least 1 item/,
    ],
    [
      "a bypass by the value of several fields",
      { origin, bypass: { fields: { "x-*": [/a/] } } },
      /^bypass\.fields: is neither a list of field names nor patterns by field name like \{ "user-agent": \[\/bot\/i\] \}/,
    ],
    [
      "a bypass by every field",
      { origin, routes: [{ match: "/a", bypass: { fields: ["*"] } }] },
      /^routes\[0\]\.bypass\.fields: has a bare \*: write a route with pass: true for that/,
    ],
    [
      "the bound on how late a purge may come, outside purge",
      { origin, routes: [{ match: "/a", maxViewAge: "60s" }] },
      /^routes\[0\]\.maxViewAge: unknown key\. Known here: match, pass, concurrency, key, .*, purge, tags, deltas$/,
    ],
    [
      "the bound on how late a purge may come, for the whole site",
      { origin, purge: { maxViewAge: "60s" } },
      /^purge\.maxViewAge: unknown key\. Known here: leaseMs, skewMs, softForMs, maxViewAgeImmutable, push, keepViewMs$/,
    ],
    [
      "a star that covers every field",
      { origin, fields: { trust: ["*"] } },
      /^fields\.trust\[0\]: covers every field: name them, like "x-app-version" or "x-app-\*"; found "\*"$/,
    ],
    [
      "a star inside the name of a field",
      { origin, fields: { drop: ["x-*-version"] } },
      /^fields\.drop\[0\]: has a \* before its end/,
    ],
    [
      "a claim that is trusted",
      { origin, routes: [{ match: "/a", fields: { trust: ["X-Forwarded-Host"] } }] },
      /^routes\[0\]\.fields\.trust\[0\]: names or covers a credential.*: name others, like "x-app-version"; found "X-Forwarded-Host"$/,
    ],
    ["a cookie that is trusted", { origin, fields: { trust: ["Cookie"] } }, /^fields\.trust\[0\]: names or covers/],
    ["a pattern that covers claims", { origin, fields: { trust: ["x-*"] } }, /^fields\.trust\[0\]: names or covers/],
    [
      "a field of credentials that is trusted for errors",
      { origin, fields: { trustForErrors: ["x-api-key"] } },
      /^fields\.trustForErrors\[0\]: carries credentials/,
    ],
    [
      "a field of credentials that is trusted",
      { origin, fields: { trust: ["x-app-version", "x-api-key"] } },
      /^fields\.trust\[1\]: carries credentials.*: name other fields, or drop it; found "x-api-key"$/,
    ],
    [
      "a list of fields under a wrong name",
      { origin, fields: { trusts: ["x-app-version"] } },
      /^fields\.trusts: unknown key; did you mean trust\? Known here: drop, trust, trustForErrors$/,
    ],
    ["a route without a pattern", { origin, routes: [{}] }, /^routes\[0\]\.match: .*found nothing/],
    [
      "a route without paths",
      { origin, routes: [{ ttl: "1h" }] },
      /^routes\[0\]\.match: is required: the paths of the route, like "\/blog\/:slug"; found nothing$/,
    ],
    [
      "a pattern that does not start with a slash",
      { origin, routes: [{ match: "admin/*" }] },
      /^routes\[0\]\.match: does not start with \/; found "admin\/\*"/,
    ],
    ["an invalid pattern", { origin, routes: [{ match: "/:" }] }, /^routes\[0\]\.match: is not a URLPattern pathname/],
    [
      "a pattern with an escape of an unreserved character",
      { origin, routes: [{ match: "/%7Eann/*" }] },
      /^routes\[0\]\.match: matches nothing: the edge writes such paths as "\/~ann\/\*"; found "\/%7Eann\/\*"$/,
    ],
    [
      "a pattern with escapes of characters that not all clients escape",
      { origin, routes: [{ match: "/%40team/*" }] },
      /^routes\[0\]\.match: matches nothing: the edge writes such paths as "\/@team\/\*"; found "\/%40team\/\*"$/,
    ],
    [
      "a pattern with an escape in lower case",
      { origin, routes: [{ match: "/caf%c3%a9/:id(%41)" }] },
      /^routes\[0\]\.match: matches nothing: the edge writes such paths as "\/caf%C3%A9\/:id\(%41\)"/,
    ],
    [
      "a duration with an unknown unit",
      { origin, routes: [{ match: "/a", ttl: "1 hour" }] },
      /^routes\[0\]\.ttl: is not a duration: write .*"24h".*; found "1 hour"$/,
    ],
    [
      "a negative duration",
      { origin, routes: [{ match: "/a", ttl: "-1s" }] },
      /^routes\[0\]\.ttl: is not a duration: .*; found "-1s"$/,
    ],
    [
      "a duration without a unit",
      { origin, routes: [{ match: "/a", ttl: 60 }] },
      /^routes\[0\]\.ttl: has no unit: write "60s" for seconds or "60ms" for milliseconds; found 60$/,
    ],
    [
      "a timeout without a unit",
      { origin, limits: { originTimeout: 30 } },
      /^limits\.originTimeout: has no unit: write "30s" for seconds or "30ms" for milliseconds; found 30$/,
    ],
    [
      "a default lifetime without a unit",
      { origin, routes: [{ match: "/a", defaultTtl: 60 }] },
      /^routes\[0\]\.defaultTtl: has no unit: write "60s" for seconds .*; found 60$/,
    ],
    [
      "a default lifetime of one status without a unit",
      { origin, routes: [{ match: "/a", defaultTtl: { 404: 60 } }] },
      /^routes\[0\]\.defaultTtl: is not a duration: write one like "24h", or one for each status .*; found \{"404":60\}$/,
    ],
    [
      "a duration that is a number below 0",
      { origin, routes: [{ match: "/a", ttl: -1 }] },
      /^routes\[0\]\.ttl: is not a duration: .*; found -1$/,
    ],
    [
      "a lifetime for browsers that is no whole number of seconds",
      { origin, routes: [{ match: "/a", browserTtl: "1500ms" }] },
      /^routes\[0\]\.browserTtl: is not a whole number of seconds; found "1500ms"$/,
    ],
    [
      "a misspelt bound on how late a purge may come",
      { origin, routes: [{ match: "/a", purge: { maxViewAgee: "60s" } }] },
      /^routes\[0\]\.purge\.maxViewAgee: unknown key; did you mean maxViewAge\? Known here: maxViewAge, maxViewAgeImmutable$/,
    ],
    [
      "an invalid size",
      { origin, limits: { storeBytes: "8 MB" } },
      /^limits\.storeBytes: is not a size: .*found "8 MB"$/,
    ],
    [
      "a longer wait for the origin than a timer can keep",
      { origin, limits: { originTimeout: "25d" } },
      /^limits\.originTimeout: is more than 24 hours, the maximum; found "25d"$/,
    ],
    [
      "a wait for another request's fetch of more than 24 hours",
      { origin, limits: { followTimeout: "86400001ms" } },
      /^limits\.followTimeout: is more than 24 hours, the maximum; found "86400001ms"$/,
    ],
    ["a lease that is too short to keep", { origin, purge: { leaseMs: 5 } }, /^purge\.leaseMs: .*found 5/],
    [
      "a tag with a space",
      { origin, routes: [{ match: "/a", tags: ["a b"] }] },
      /^routes\[0\]\.tags\[0\]: "a b" is not a tag: use printable ASCII/,
    ],
    [
      "a tag that names an unknown parameter",
      { origin, routes: [{ match: "/plog/:slug", tags: ["plog:{id}"] }] },
      /^routes\[0\]\.tags\[0\]: "plog:\{id\}" names \{id\}, which \/plog\/:slug does not have/,
    ],
    [
      "a host with a scheme",
      { origin, hosts: ["https://www.example.test"] },
      /^hosts\[0\]: is not a host name like www\.example\.com, .*; found "https:\/\/www\.example\.test"$/,
    ],
    [
      "a host with a star",
      { origin, hosts: ["*.example.test"] },
      /^hosts\[0\]: matches only itself: name each host, or set TIDEMARK_HOSTS to \* for any; found "\*\.example\.test"$/,
    ],
    ["an empty list of hosts", { origin, hosts: [] }, /^hosts: needs at least 1 item; found \[\]$/],
    [
      "a text in the place of an object",
      { origin, routes: [{ match: "/a", stale: "1h" }] },
      /^routes\[0\]\.stale: must be an object in \{ \}; found "1h"$/,
    ],
    ["a text in the place of a list", { origin, hosts: "a" }, /^hosts: must be a list in \[ \]; found "a"$/],
    ["a word for true", { origin, dashboard: "yes" }, /^dashboard: must be true or false; found "yes"$/],
    [
      "no number of fields",
      { origin, limits: { responseFields: 0 } },
      /^limits\.responseFields: must be more than 0; /,
    ],
    [
      "more fields than are read",
      { origin, limits: { responseFields: 2_001 } },
      /^limits\.responseFields: must be at most 2000; found 2001$/,
    ],
    [
      "more bytes of fields than are read",
      { origin, limits: { responseFieldBytes: "257KiB" } },
      /^limits\.responseFieldBytes: is more than 256 KiB, the maximum; found "257KiB"$/,
    ],
    ["no route", { origin, routes: [null] }, /^routes\[0\]: must be an object in \{ \}; found null$/],
    ["a fraction", { origin, limits: { responseFields: 1.5 } }, /^limits\.responseFields: must be a whole number; /],
    [
      "a share of a guess that is more than the whole",
      { origin, heuristic: { fraction: 1.5 } },
      /^heuristic\.fraction: .*found 1\.5$/,
    ],
    ["a share of a guess that is nothing", { origin, heuristic: { fraction: 0 } }, /^heuristic\.fraction: .*found 0$/],
    [
      "a longest guess that is no duration",
      { origin, heuristic: { maxTtl: "a day" } },
      /^heuristic\.maxTtl: is not a duration: .*found "a day"$/,
    ],
    [
      "a misspelt key of the guess",
      { origin, heuristic: { fractoin: 0.1 } },
      /^heuristic\.fractoin: unknown key; did you mean fraction\?/,
    ],
    [
      "a targeted field that is not a field name",
      { origin, targetedField: "cdn cache" },
      /^targetedField: is not a field name; found "cdn cache"/,
    ],
    [
      "Cache-Control as the field for this cache alone",
      { origin, targetedField: "Cache-Control" },
      /^targetedField: is read by other caches too: name a field that only this cache reads; found "Cache-Control"/,
    ],
    [
      "a lifetime for browsers that is none",
      { origin, routes: [{ match: "/a", browserTtl: "soon" }] },
      /^routes\[0\]\.browserTtl: is not a duration: .*found "soon"$/,
    ],
    [
      "a policy for visitors' directives that is none",
      { origin, routes: [{ match: "/a", requestDirectives: "none" }] },
      /^routes\[0\]\.requestDirectives: .*"harmless"\|"all"; found "none"/,
    ],
    [
      "a stale window that is no duration",
      { origin, stale: { ifError: -1 } },
      /^stale\.ifError: is not a duration: .*found -1$/,
    ],
    [
      "a misspelt key of a route's stale rules",
      { origin, routes: [{ match: "/a", stale: { ifErorr: 1 } }] },
      /^routes\[0\]\.stale\.ifErorr: unknown key; did you mean ifError\?/,
    ],
    [
      "a yes or no that is neither",
      { origin, stale: { ifErrorWhileLogSilent: "yes" } },
      /^stale\.ifErrorWhileLogSilent: .*found "yes"/,
    ],
    ["no variants at all", { origin, limits: { variants: 0 } }, /^limits\.variants: .*found 0$/],
    ["half a variant", { origin, limits: { variants: 1.5 } }, /^limits\.variants: .*found 1\.5$/],
    [
      "a size of large bodies that is none",
      { origin, limits: { largeBytes: "1 GB" } },
      /^limits\.largeBytes: is not a size: .*found "1 GB"$/,
    ],
    [
      "a size of parts that is none",
      { origin, limits: { fetchWholeBytes: -1 } },
      /^limits\.fetchWholeBytes: is not a size: .*found -1$/,
    ],
    [
      "an origin that is the site itself",
      { origin, hosts: ["ORIGIN.example.test"] },
      /^origin: .* is an address of the site itself/,
    ],
    ["so by its public address", { origin, publicUrl: "http://origin.example.test" }, /^origin: .* of the site itself/],
    [
      "a field that nobody may key by",
      { origin, routes: [{ match: "/*", key: { fields: ["Cookie"] } }] },
      /^routes\[0\]\.key\.fields\[0\]: cannot be keyed, because .*; found "Cookie"$/,
    ],
    [
      "a field value that would break the line",
      { origin, originFields: { "x-a": "b\r\nc" } },
      /^originFields\.x-a: is not a field value of printable ASCII$/,
    ],
    [
      "a host for the origin",
      { origin, originFields: { Host: "www.example.test" } },
      /^originFields\.Host: the origin gets its own name in Host, and the public one in X-Forwarded-Host$/,
    ],
    [
      "the visitor's host for the origin, where any host is served",
      { origin, forward: { host: "visitor" } },
      /^forward\.host: "visitor" needs hosts: without them, the origin would get any host that a visitor makes up$/,
    ],
    [
      "a field for the origin that the connection writes",
      { origin, originFields: { "Content-Length": "5" } },
      /^originFields\.Content-Length: is set by the connection, which ignores other values$/,
    ],
    [
      "or by which the edge knows its own requests",
      { origin, originFields: { "X.Forwarded_Host": "www.example.test" } },
      /^originFields\.X\.Forwarded_Host: is set by the edge, which depends on it$/,
    ],
    ["or that is about one connection", { origin, originFields: { TE: "trailers" } }, /^originFields\.TE: is set by/],
  ])("%s", (_, input, expected) => {
    expect(problemsOf(input)).toEqual([expect.stringMatching(expected)]);
  });

  test.each<[string, object]>([
    ["an address", { origin: "https://deploy:hunter2@origin.example.test/?" }],
    ["an address without a user", { origin: "https://:hunter2@origin.example.test" }],
    ["an address without a scheme", { origin: "deploy:hunter2@origin.example.test" }],
    ["an address that is no URL", { origin: "https://deploy:hunter2/@origin.example.test" }],
    ["a long address", { origin: `https://deploy:${"hunter2".repeat(20)}@origin.example.test` }],
    ["an object", { origin: { url: { href: "https://deploy:hunter2@origin.example.test" } } }],
    ["an address for visitors", { origin, publicUrl: "https://deploy:hunter2@www.example.test" }],
    ["a field for the origin", { origin, originFields: { "x-secret": "hunter2\nhunter2" } }],
    ["a field that is no text", { origin, originFields: { "x-secret": ["hunter2"] } }],
    ["a field in the place of all", { origin, originFields: "hunter2" }],
  ])("a secret in %s is not printed", (_, input) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain("hunter2");
  });

  test.each(["origin", "publicUrl"])("nor one in a variable for %s", (name) => {
    const address = "https://deploy:hunter2@origin.example.test";
    expect(() => compileSite({ origin }, { [name]: address })).toThrow(/; found "https:\/\/…@origin\.example\.test"$/);
  });

  test("all mistakes are reported at once", () => {
    expect(problemsOf({ hots: ["a"], routes: [{ match: "x" }] })).toHaveLength(3);
  });
});

describe("a site that a build has checked", () => {
  const input: SiteInput = {
    origin,
    hosts: ["www.example.test"],
    routes: [
      { match: "/blog/:slug", defaultTtl: { 200: "1h", 404: "1m" }, tags: ["blog:{slug}"], key: { fields: ["X-App"] } },
      { match: "/private/*", pass: true },
      {
        match: "/all",
        ttl: "10m",
        browserTtl: "30s",
        stale: { ifError: "1d" },
        bypass: { cookies: ["login", /session/i] },
      },
    ],
    trustedProxies: ["10.0.0.0/8"],
    countryField: "CloudFront-Viewer-Country",
    originFields: { "x-secret": "s" },
    heuristic: {},
    limits: { memoryBytes: "64MiB" },
    purge: { maxViewAgeImmutable: "1m" },
  };
  /** As the worker gets it. */
  const checked = JSON.parse(JSON.stringify(checkSite(input))) as CheckedSite;

  /** All but functions, which are compared by what they return. */
  const values = (site: Site) =>
    JSON.parse(JSON.stringify(site, (_, value) => (typeof value === "bigint" ? String(value) : value)));

  test.each<[string, SiteOverrides]>([
    ["as it is", {}],
    ["with another origin", { origin: "https://new.example.test" }],
    ["with other hosts", { hosts: ["a.example.test", "b.example.test:8443"], publicUrl: "https://c.example.test" }],
    ["with any host", { hosts: null }],
  ])("%s compiles to the same as its file does", (_, overrides) => {
    const [site, expected] = [compileChecked(checked, overrides), compileSite(input, overrides)];
    expect(values(site)).toEqual(values(expected));
    for (const path of ["/blog/a", "/private/x", "/all", "/else"]) {
      const said = ({ routes }: Site) =>
        routes.map(({ match, tags, defaultTtlSeconds }) => {
          const parameters = match(path);
          return [parameters, parameters && tags(parameters), [200, 404, 500].map(defaultTtlSeconds)];
        });
      expect(said(site)).toEqual(said(expected));
    }
  });

  test.each<[string, SiteOverrides]>([
    ["an origin with a path", { origin: `${origin}/app` }],
    ["an origin that is not a URL", { origin: "x".repeat(200) }],
    ["hosts that are none", { hosts: ["a b", "https://c.example.test/", "ok.example.test"] }],
    ["a host with a star", { hosts: ["*.example.test"] }],
    ["a public address that is none", { publicUrl: "www.example.test" }],
    ["the site itself as the origin", { origin: "https://www.example.test" }],
    ["all of them", { origin: "x", hosts: ["a/b"], publicUrl: "y" }],
  ])("%s as an override gets the same error", (_, overrides) => {
    const errorsOf = (compile: () => unknown) => {
      try {
        compile();
      } catch (error) {
        if (error instanceof SiteError) return error.message;
      }
      return "no error";
    };
    const message = errorsOf(() => compileChecked(checked, overrides));
    expect(message).toContain("the site's rules are not valid");
    expect(message).toBe(errorsOf(() => compileSite(input, overrides)));
  });
});

/** The schema's types do not mark properties as readonly; the written types do. */
type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;

test("the type SiteInput and the schema agree", () => {
  expectTypeOf<DeepReadonly<SiteInput>>().toEqualTypeOf<DeepReadonly<z.input<typeof siteSchema>>>();
});

describe("compileSite", () => {
  test("the defaults are in one place and are filled in", () => {
    const site = compileSite({ origin }, {});
    expect(site).toMatchObject({
      originUrl: origin,
      hosts: null,
      namesHosts: false,
      publicScheme: null,
      publicHost: null,
    });
    expect(site.limits).toEqual({
      urlBytes: 16_384,
      requestFieldBytes: 32_768,
      requestBodyBytes: 104_857_600,
      heldBodyBytes: 16_777_216,
      readAheadBytes: 16_777_216,
      responseFields: 256,
      responseFieldBytes: 65_536,
      storeBytes: 8_388_608,
      largeBytes: 536_870_912,
      fetchWholeBytes: 0,
      variants: 32,
      fillBytes: 33_554_432,
      fills: 256,
      memoryBytes: 33_554_432,
      tags: 1000,
      originTimeoutMs: 30_000,
      originDownAfter: 0,
      followTimeoutMs: 10_000,
    });
    const purge = {
      leaseMs: 1000,
      skewMs: 250,
      longestViewAgeMs: 1000,
      push: false,
      keepViewMs: 0,
    };
    expect(site.purge).toEqual(purge);
    expect(compileSite({ origin, purge: { push: true } }, {}).purge.keepViewMs).toBe(20_000);
  });

  test("receipts include the longest bound of a route that stores, or the lease", () => {
    const longest = (input: Omit<SiteInput, "origin">) => compileSite({ origin, ...input }, {}).purge.longestViewAgeMs;
    const route = (maxViewAge: string) => ({ match: "/a/*", purge: { maxViewAge } });
    expect(longest({ routes: [route("60s"), route("2m"), route("30s")] })).toBe(120_000);
    expect(longest({ routes: [route("1s")], purge: { leaseMs: 5000 } })).toBe(5000);
    expect(longest({ routes: [{ ...route("60s"), pass: true }] })).toBe(1000);
    expect(longest({ purge: { maxViewAgeImmutable: "60s" } })).toBe(60_000);
    expect(longest({ routes: [{ match: "/*", purge: { maxViewAgeImmutable: "5m" } }] })).toBe(300_000);
    expect(longest({ routes: [route("1h")] })).toBe(3_600_000);
    expect(() => longest({ routes: [route("3601s")] })).toThrow("is more than an hour, the maximum");
  });

  test("how late a purge may reach immutable pages is set by the route for all, for these, or by the site", () => {
    const purge = { maxViewAgeImmutable: "60s" };
    const site = compileSite(
      {
        origin,
        purge,
        routes: [
          { match: "/a", purge: { maxViewAge: "90s" } },
          { match: "/b", purge: { maxViewAgeImmutable: "0s" } },
          { match: "/c", purge: { maxViewAge: "10s", maxViewAgeImmutable: "20s" } },
        ],
      },
      {},
    );
    expect(site.routes.map((each) => each.purge)).toEqual([
      { maxViewAgeMs: 90_000, maxViewAgeImmutableMs: 90_000 },
      { maxViewAgeMs: 0, maxViewAgeImmutableMs: 0 },
      { maxViewAgeMs: 10_000, maxViewAgeImmutableMs: 20_000 },
      { maxViewAgeMs: 0, maxViewAgeImmutableMs: 60_000 },
    ]);
  });

  test("the environment overrides the file", () => {
    const site = compileSite(
      { origin, hosts: ["a.example.test"] },
      { origin: "http://127.0.0.1:8000", hosts: ["B.example.test"], publicUrl: "https://www.example.test" },
    );
    expect(site).toMatchObject({
      originUrl: "http://127.0.0.1:8000",
      hosts: ["b.example.test", "www.example.test"],
      publicScheme: "https",
      publicHost: "www.example.test",
    });
  });

  test("the environment names another address for the origin, whose limits stay", () => {
    const limits = { concurrency: 4, streams: 2, queue: { maxMs: 50, maxWaiting: 6 } };
    const site = compileSite({ origin: { url: origin, ...limits } }, { origin: "http://127.0.0.1:8000" });
    expect(site).toMatchObject({ originUrl: "http://127.0.0.1:8000", capacity: limits });
    expect(site.settings.origin).toEqual({ url: "http://127.0.0.1:8000", ...limits });
  });

  test("hosts are compared in the form of URLs, and the public address is one of them", () => {
    const hosts = ["WWW.Example.test:443", "b\u00fccher.example", "full.example.test.", "localhost:8080"];
    expect(compileSite({ origin, hosts, publicUrl: "https://public.example.test" }, {}).hosts).toEqual([
      "www.example.test",
      "xn--bcher-kva.example",
      "full.example.test",
      "localhost:8080",
      "public.example.test",
    ]);
  });

  test("a host that is named twice, by the public address for instance, is one host", () => {
    const hosts = ["a.example.test", "A.example.test:443", "b.example.test"];
    const publicUrl = "https://b.example.test";
    expect(compileSite({ origin, hosts, publicUrl }, {}).hosts).toEqual(["a.example.test", "b.example.test"]);
  });

  test("a single defaultTtl does not apply to errors", () => {
    const [route] = compileSite({ origin, routes: [{ match: "/*", defaultTtl: "1h" }] }, {}).routes;
    expect([200, 301, 404, 410, 500].map((status) => route!.defaultTtlSeconds(status))).toEqual([
      3600,
      3600,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("the first route that matches applies, and without a route the origin decides", () => {
    const site = compileSite(
      {
        origin,
        routes: [
          { match: "/a/*", pass: true },
          { match: "/a/b", ttl: "1s" },
        ],
      },
      {},
    );
    const routeOf = (path: string) => site.routes.find((route) => route.match(path));
    expect(routeOf("/a/b")).toMatchObject({ pattern: "/a/*", pass: true });
    expect(routeOf("/b")).toMatchObject({ pattern: null, pass: false, ttlSeconds: undefined });
  });

  test.each([
    ["/a{}b/*", "/a{}b/c"],
    ["/:x{}/*", "/q{}/c"],
    ["/:x(de|en)/{}b", "/de/{}b"],
    ["/shop{/{}b}?", "/shop/{}b"],
    ["/.well-known/{}b", "/.well-known/{}b"],
  ])(
    "the route %s, with any character, holds for it however it is spelt, or is refused with a pattern that does",
    (route, path) => {
      const refused: string[] = [];
      for (let code = 0x20; code < 0x7f; code++) {
        const encoded = `%${code.toString(16)}`;
        const raw = decodeURIComponent(encoded);
        if (route.includes(":x{") && /[\w.~-]/.test(raw)) continue; // it would be a part of the name
        let match = route.replace(/\{\}/, () => encoded);
        const [problem] = problemsOf({ origin, routes: [{ match }] });
        if (problem) {
          refused.push(raw);
          match = JSON.parse(/as (".*"); found /.exec(problem)![1]!);
        } else if (route.startsWith("/.") || /[({]/.test(route)) {
          if (/[A-Za-z0-9._~-]/.test(raw) || encoded !== encoded.toUpperCase()) continue; // nothing is said of these
        }
        const site = compileSite({ origin, routes: [{ match, pass: true }] }, {});
        const routeAt = (character: string) => {
          const page = resolveUrl(origin + path.replace("{}", () => character), site);
          return page.kind === "resolved" ? page.route.pattern : page.because;
        };
        const hasRaw = !/[ %/?#\\]/.test(raw); // these part a URL, or cannot be in one
        for (const spelling of [encoded, encoded.toUpperCase(), ...(hasRaw ? [raw] : [])]) {
          expect([match, spelling, routeAt(spelling)]).toEqual([match, spelling, match]);
        }
        expect([match, routeAt("%C3%A9")]).toEqual([match, null]);
      }
      expect(refused.join("")).toContain("!$&'()*+,");
      expect(refused).toEqual(expect.arrayContaining([..."@[]|:;="]));
    },
  );

  test("optional features are off, and have usual values when they are on", () => {
    const off = compileSite({ origin }, {});
    expect(off).toMatchObject({ heuristic: null, targetedFields: [], hiddenFields: ["surrogate-control"] });
    expect(off.routes[0]).toMatchObject({
      browserTtlSeconds: null,
      requestDirectives: "harmless",
      stale: {
        ifErrorSeconds: 0,
        ifDisconnectedSeconds: 0,
        ifErrorWhileUnknown: true,
        whileRevalidateSeconds: 0,
        overSMaxage: false,
      },
    });
    const on = compileSite({ origin, heuristic: {}, targetedField: "Example-Cache-Control" }, {});
    expect(on).toMatchObject({
      heuristic: { fraction: 0.1, maxSeconds: 86_400 },
      targetedFields: ["example-cache-control"],
      hiddenFields: ["example-cache-control", "surrogate-control"],
    });
  });

  test("a route's stale rules override the site's, one by one", () => {
    const site = compileSite(
      {
        origin,
        stale: { ifError: "1h", ifErrorWhileLogSilent: false, whileRevalidate: "5s", overSMaxage: true },
        routes: [
          { match: "/a", stale: { ifError: "1m" } },
          { match: "/b", stale: { ifErrorWhileLogSilent: true, ifDisconnected: "1d" } },
          { match: "/c", stale: { whileRevalidate: "1s", overSMaxage: false } },
        ],
      },
      {},
    );
    const ofSite = {
      ifErrorSeconds: 3600,
      ifDisconnectedSeconds: 0,
      ifErrorWhileUnknown: false,
      whileRevalidateSeconds: 5,
      softForMs: 0,
      overSMaxage: true,
    };
    expect(site.routes.map(({ stale }) => stale)).toEqual([
      { ...ofSite, ifErrorSeconds: 60 },
      { ...ofSite, ifErrorWhileUnknown: true, ifDisconnectedSeconds: 86_400 },
      { ...ofSite, whileRevalidateSeconds: 1, overSMaxage: false },
      ofSite,
    ]);
  });

  test("a whole page is fetched for a part only if it may be stored with its head", () => {
    const limits = { storeBytes: "1MiB", fetchWholeBytes: "1GiB" };
    expect(compileSite({ origin, limits }, {}).limits.fetchWholeBytes).toBe(1_048_576);
  });

  test("a route's tags take the parameters of its pattern", () => {
    const site = compileSite(
      { origin, routes: [{ match: "/:section/:slug", tags: ["{section}", "{section}:{slug}"] }] },
      {},
    );
    const [route] = site.routes;
    expect(route!.tags(route!.match("/plog/a-b")!)).toEqual(["plog", "plog:a-b"]);
  });
});

describe("choices in the key", () => {
  test.each<[string, object, RegExp]>([
    ["a cookie without values", { cookies: { a: [] } }, /^routes\[0\]\.key\.cookies\.a: needs at least one value/],
    [
      "a value that no cookie can have",
      { cookies: { a: ["x;y"] } },
      /^routes\[0\]\.key\.cookies\.a\[0\]: is not the value of/,
    ],
    [
      "a name that no cookie can have",
      { cookies: { "a b": ["x"] } },
      /^routes\[0\]\.key\.cookies.*: is not the name of a cookie$/,
    ],
    [
      "a pattern of fields",
      { fields: ["X-App-*"] },
      /^routes\[0\]\.key\.fields\[0\]: has a \*, .*: name each one; found "X-App-\*"$/,
    ],
    [
      "a pattern of cookies",
      { cookies: { "wp-*": ["1"] } },
      /^routes\[0\]\.key\.cookies\.wp-\*: has a \*, which matches only a \* here: name each one$/,
    ],
    ["no languages", { languages: [] }, /^routes\[0\]\.key\.languages: needs at least one language/],
    [
      "what is no language",
      { languages: ["en_US"] },
      /^routes\[0\]\.key\.languages\[0\]: is not a language like "en" or/,
    ],
    ["more languages than can be", { languages: Array(33).fill("en") }, /^routes\[0\]\.key\.languages: /],
    [
      "a field to read the country from",
      { country: "x-country-code" },
      /^routes\[0\]\.key\.country: must be true or false: the platform tells the country\. .*; found "x-country-code"$/,
    ],
    ["a misspelt choice", { language: ["en"] }, /^routes\[0\]\.key\.language: unknown key; did you mean languages\?/],
  ])("%s is refused", (_, key, message) => {
    expect(problemsOf({ origin, routes: [{ match: "/a", key }] })).toEqual([expect.stringMatching(message)]);
  });

  test("choices select entries together with the fields that a route keys by", () => {
    const key = { fields: ["X-A"], cookies: { c: ["1"] }, languages: ["en"], country: true, device: true };
    const [route] = compileSite({ origin, routes: [{ match: "/a", key }] }, {}).routes;
    expect(route!.keyFields).toEqual(["x-a"]);
    expect(route!.selectingNames).toEqual(["accept-language", "cookie:c", "x-a", "x-country", "x-device"]);
  });
});

describe("countries that a proxy tells", () => {
  const trustedProxies = ["198.51.100.0/24"];

  test.each<[string, object, RegExp]>([
    [
      "a field without proxies",
      { countryField: "X-Geo" },
      /^countryField: "x-geo" could come from any visitor: name the proxy that sends it in trustedProxies$/,
    ],
    [
      "a proxy by its name",
      { countryField: "X-Geo", trustedProxies: ["proxy.example.com"] },
      /^trustedProxies\[0\]: is not an address like "192\.0\.2\.7" or a network like "10\.0\.0\.0\/8"; found "proxy/,
    ],
    [
      "everybody",
      { countryField: "X-Geo", trustedProxies: ["0.0.0.0/0"] },
      /^trustedProxies\[0\]: trusts everybody: name the proxies; found "0\.0/,
    ],
    ...[
      "Accept-Language",
      "User-Agent",
      "Cookie",
      "Authorization",
      "Range",
      "Host",
      "Via",
      "Connection",
      "Tidemark-After",
      "X-Forwarded-For",
      "If-Range",
    ].map((field): [string, object, RegExp] => [
      `the field ${field}`,
      { countryField: field, trustedProxies },
      /^countryField: cannot tell a country: name a field of the proxy's own/,
    ]),
    [
      "a route that keys by the field itself",
      { countryField: "X-Geo", trustedProxies, routes: [{ match: "/a", key: { fields: ["X-Geo"] } }] },
      /^routes\[0\]\.key\.fields: names "x-geo", the countryField, .*: write key: \{ country: true \}$/,
    ],
    ["a pattern", { countryField: "X-Geo-*", trustedProxies }, /^countryField: has a \*, .*: name one field; found "X/],
    ["a misspelt setting", { contryField: "X-Geo" }, /^contryField: unknown key; did you mean countryField\?/],
  ])("%s is refused", (_, change, message) => {
    expect(problemsOf({ origin, ...change })).toEqual([expect.stringMatching(message)]);
  });

  test("proxies may be named without a field, for a server that believes their forwarding fields", () => {
    const { trustedProxies: networks, countryField } = compileSite({ origin, trustedProxies }, {});
    expect([networks.length, countryField]).toEqual([1, null]);
  });

  test("the field is told in any letter case, and does not reach the origin where an answer may be stored", () => {
    const routes = [{ match: "/a", fields: { trust: ["X-G*"] } }];
    const site = compileSite({ origin, countryField: "CF-IPCountry", trustedProxies, routes }, {});
    expect(site.countryField).toBe("cf-ipcountry");
    expect(site.routes.map(({ droppedFields }) => droppedFields)).toEqual([["cf-ipcountry"], ["cf-ipcountry"]]);
  });
});

describe("bypass", () => {
  const none = { cookies: null, fields: [], fieldValues: null, query: null };
  const named = (...names: string[]) => ({ names, patterns: [] });

  test("a route's lists replace the site's, one by one", () => {
    const bypass = { cookies: ["a"], fields: ["X-Debug"], query: ["preview"] };
    const routes = [{ match: "/a", bypass: { cookies: [], fields: ["X-Trace-*"] } }];
    const site = compileSite({ origin, bypass, routes }, {});
    expect(site.routes.map((route) => route.bypass)).toEqual([
      { cookies: null, fields: ["x-trace-*"], fieldValues: null, query: named("preview"), sessions: true },
      { cookies: named("a"), fields: ["x-debug"], fieldValues: null, query: named("preview"), sessions: true },
    ]);
  });

  test("fields are a list of names, or patterns for the values of some", () => {
    const bypass = { fields: { "User-Agent": [/bot/i, "/^$/"] } };
    const site = compileSite({ origin, bypass, routes: [{ match: "/a", bypass: { fields: [] } }] }, {});
    expect(site.routes.map((route) => [route.bypass.fields, route.bypass.fieldValues])).toEqual([
      [[], null],
      [[], [["user-agent", [/bot/i, /^$/]]]],
    ]);
    expect(JSON.stringify(site.settings)).toContain('{"User-Agent":["/bot/i","/^$/"]}');
  });

  test("patterns are distinguished from names, and every query from some", () => {
    const routes = [
      { match: "/a", bypass: { cookies: [/^sid/i, "theme"], query: true } },
      { match: "/b", bypass: { query: false } },
    ];
    const site = compileSite({ origin, bypass: { query: ["preview", /draft/] }, routes }, {});
    expect(site.routes.map(({ bypass }) => [bypass.cookies, bypass.query])).toEqual([
      [{ names: ["theme"], patterns: [/^sid/i] }, "any"],
      [null, null],
      [null, { names: ["preview"], patterns: [/draft/] }],
    ]);
    expect(JSON.stringify(site.settings)).toContain('"/^sid/i"');
  });

  test.each<[string, Partial<SiteInput>, boolean]>([
    ["without a lifetime of the owner's, for pages of an earlier one", { routes: [{ match: "/a" }] }, true],
    ["with ttl", { routes: [{ match: "/a", ttl: "1m" }] }, true],
    ["with defaultTtl", { routes: [{ match: "/a", defaultTtl: { 200: "1m" } }] }, true],
    ["turned off for the route", { routes: [{ match: "/a", ttl: "1m", bypass: { sessions: false } }] }, false],
    ["turned off for the site", { bypass: { sessions: false }, routes: [{ match: "/a", ttl: "1m" }] }, false],
    [
      "turned off for the site and on for the route",
      { bypass: { sessions: false }, routes: [{ match: "/a", ttl: "1m", bypass: { sessions: true } }] },
      true,
    ],
  ])("well-known sessions, %s", (_, input, sessions) => {
    expect(compileSite({ origin, ...input }, {}).routes[0]!.bypass).toEqual({ ...none, sessions });
  });
});

describe("loosened defences are reported at the start", () => {
  test.each<[string, readonly RouteInput[], readonly string[]]>([
    [
      "nothing",
      [
        { match: "/a", key: { fields: ["user-agent"] } },
        { match: "/admin/*", pass: true },
      ],
      [],
    ],
    [
      "Set-Cookie that is stripped",
      [{ match: "/a", stripSetCookie: true }],
      ["The route /a removes Set-Cookie from answers to GET and HEAD, and stores them for everybody."],
    ],
    [
      "a claim that is believed",
      [{ match: "/a", key: { fields: ["X-Original-Host"] } }],
      ["The route /a sends x-original-host to the origin as the visitor sent it, and adds it to the key."],
    ],
    [
      "fields that are trusted, but on a route that passes",
      [
        { match: "/a", fields: { trust: ["X-App-*"], drop: ["x-tenant"] } },
        { match: "/b", pass: true, fields: { trust: ["x-app-version"] } },
      ],
      ["The route /a sends x-app-* to the origin, and stores the answer for everybody."],
    ],
    [
      "fields that are trusted for errors, too",
      [{ match: "/a", fields: { trust: ["x-app-*"], trustForErrors: ["X-Tenant"] } }],
      [
        "The route /a sends x-app-* to the origin, and stores the answer for everybody.",
        "The route /a sends x-tenant to the origin, and stores the answer for everybody, errors too.",
      ],
    ],
    [
      "visitors' directives",
      [{ match: "/*", requestDirectives: "all" }],
      ["The route /* lets every visitor bypass the cache by Cache-Control."],
    ],
    [
      "sessions that get the pages of others",
      [
        { match: "/a", ttl: "1m", bypass: { sessions: false } },
        { match: "/b", bypass: { sessions: false } },
      ],
      ["The route /a answers visitors with a session like visitors without one."],
    ],
  ])("%s", (_, routes, lines) => {
    expect(weakenedDefences(compileSite({ origin, routes }, {}))).toEqual(lines);
  });

  test.each<[string, readonly RouteInput[]]>([
    ["without routes", []],
    ["with a route for all paths", [{ match: "/*" }]],
  ])("once for all paths, %s", (_, routes) => {
    const site = compileSite({ origin, routes, fields: { trust: ["x-app"] } }, {});
    expect(weakenedDefences(site)).toEqual([
      "The route /* sends x-app to the origin, and stores the answer for everybody.",
    ]);
  });
});

describe("a route's share of the origin", () => {
  const routes = [{ match: "/search", concurrency: 8 }];

  test("is a part of the site's", () => {
    const { capacity } = compileSite({ origin: { url: origin, concurrency: 32 }, routes }, {});
    expect(capacity).toMatchObject({ concurrency: 32, ofRoutes: new Map([["/search", 8]]) });
  });

  test("is that of the first route, of two with one pattern", () => {
    const two = [...routes, { match: "/search", concurrency: 9 }];
    const { capacity } = compileSite({ origin: { url: origin, concurrency: 32 }, routes: two }, {});
    expect(capacity!.ofRoutes).toEqual(new Map([["/search", 8]]));
  });

  test.each([
    [{ url: origin }, /routes\[0\]\.concurrency: needs origin\.concurrency, because it limits a part of that$/],
    [{ url: origin, concurrency: 8 }, /routes\[0\]\.concurrency: must be less than origin\.concurrency, which is 8$/],
  ])("is refused for %j", (given, words) => {
    expect(() => compileSite({ origin: given, routes }, {})).toThrow(words);
  });
});
