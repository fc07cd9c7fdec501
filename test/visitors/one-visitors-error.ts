import { type Case, isFirst, ONE_BROWSER, OTHER_BROWSER, page } from "./case.ts";

const ODD = { in: "mayStore", replace: "odd !== null", by: "false" };

/** An error that one odd request caused is that visitor's alone. */
export const oneVisitorsError: readonly Case[] = [
  ...(
    [
      ["an oversized field", { "x-padding": "x".repeat(9000) }],
      ["an oversized value of a usual field", { "accept-language": "x".repeat(9000) }],
      ["an unknown field", { "x-oversized-header": "x" }],
      ["a character that servers refuse", { "user-agent": "a\u0080b" }],
      ["a value that looks like an attack to a firewall", { "user-agent": "() { :; }; /bin/eject" }],
    ] as const
  ).map(
    ([what, fields]): Case => ({
      name: `an error page about ${what} is not stored, whatever its status`,
      origin: (request) => (isPlain(request.fields) ? page("the page") : page("this request is bad")),
      first: { path: "/a", fields },
      second: { path: "/a" },
      defence: ODD,
    }),
  ),
  ...(
    [
      [
        "a page of another site",
        "cross-site",
        { in: "reasonInResponse", replace: "isErrorStatus(status) && !request.isPlain", by: "false" },
      ],
      [
        "a Sec-Fetch-Site of no browser",
        "Cross-Site",
        {
          in: "isPlainRequest",
          replace: '!OWN_SITE.has(fields.get("sec-fetch-site"))',
          by: 'fields.get("sec-fetch-site") === "cross-site"',
        },
      ],
    ] as const
  ).map(
    ([what, site, defence]): Case => ({
      name: `an error that ${what} provokes is not stored`,
      origin: ({ fields }) =>
        fields["sec-fetch-site"] === site ? { ...page("not from there"), status: 403 } : page("the page"),
      first: { path: "/a", fields: { "sec-fetch-site": site } },
      second: { path: "/a", fields: { "sec-fetch-site": "same-origin" } },
      defence,
    }),
  ),
  {
    name: "an error that a strange Accept provokes is not stored",
    origin: ({ fields }) =>
      fields.accept === "text/evil" ? { ...page("no such type"), status: 400 } : page("the page"),
    first: { path: "/a", fields: { accept: "text/evil" } },
    second: { path: "/a", fields: { accept: "text/html,*/*;q=0.8" } },
    defence: {
      in: "oddField",
      replace: '!inKey.includes("accept") && !acceptsPages(fields.get("accept"))',
      by: "false",
    },
  },
  {
    name: "an error that a trusted field provokes is not stored",
    site: { fields: { trust: ["x-app-version"] } },
    origin: ({ fields }) =>
      fields["x-app-version"] === undefined ? page("the page") : { ...page("bad version"), status: 400 },
    first: { path: "/a", fields: { "x-app-version": "evil" } },
    second: { path: "/a" },
    defence: {
      in: "isPlainRequest",
      replace: "trustedFields: trustedForErrors",
      by: 'trustedFields: ["x-app-version"]',
    },
  },
  {
    name: "an error that an oversized field provokes is not stored, even if the field is trusted for errors",
    site: { fields: { trustForErrors: ["x-app-version"] } },
    origin: ({ fields }) =>
      fields["x-app-version"] === undefined ? page("the page") : { ...page("bad version"), status: 400 },
    first: { path: "/a", fields: { "x-app-version": "9".repeat(2000) } },
    second: { path: "/a" },
    defence: {
      in: "unkeyedField",
      drop: "if (characters > MAX_CHARACTERS || value.length > MAX_VALUE_CHARACTERS || !PRINTABLE.test(value)) return name;",
    },
  },
  {
    name: "an error for a broken session is not stored, even if it says public",
    origin: ({ fields }) =>
      fields.cookie === undefined
        ? page("the page")
        : { ...page("broken session", { "cache-control": "public, max-age=60" }), status: 500 },
    first: { path: "/a", fields: { cookie: "session=%" } },
    second: { path: "/a" },
    defence: {
      in: "isPlainRequest",
      drop: 'if (identity !== "anonymous") return false;',
    },
  },
  ...[401, 407, 406, 408, 412, 416, 421, 425, 428, 429, 431].map(
    (status): Case => ({
      name: `${status} concerns one request, and is not stored`,
      origin: (request) => (isFirst(request) ? { ...page("only you"), status } : page("the page")),
      first: { path: "/a", fields: ONE_BROWSER },
      second: { path: "/a", fields: OTHER_BROWSER },
      defence: { in: "isStorableStatus", replace: "!NEVER_STORED.has(status)", by: "true" },
    }),
  ),
  {
    name: "a GET does not get the answer to a POST",
    origin: ({ method }) => page(method === "GET" ? "the page" : "posted"),
    first: { method: "POST", path: "/a" },
    second: { path: "/a" },
    defence: {
      in: "modeOf",
      drop: 'if (method !== "GET" && method !== "HEAD") return "bypass";',
    },
  },
  {
    name: "a part that looks like a whole page is not stored for others",
    site: { limits: { fetchWholeBytes: "1KiB" } },
    origin: ({ fields }) => page(fields.range === undefined ? "the whole page" : "th"),
    first: { path: "/a", fields: { range: "bytes=0-1" } },
    second: { path: "/a" },
    defence: {
      in: "originRequestFields",
      replace: "reachesOriginAsSent(name, value, fieldRules, storing)",
      by: 'name === "range" || reachesOriginAsSent(name, value, fieldRules, storing)',
    },
  },
  {
    name: "a visitor who cannot decode a page does not get it encoded, even without Vary",
    origin: ({ fields }) =>
      String(fields["accept-encoding"]).includes("gzip")
        ? page("zipped", { "content-encoding": "gzip" })
        : page("plain"),
    first: { path: "/a", fields: { "accept-encoding": "gzip" } },
    second: { path: "/a" },
    defence: {
      in: "matchesVariant",
      replace: "contentEncoding !== null && !acceptsCoding(request.acceptedCodings, contentEncoding)",
      by: "false",
    },
  },
  {
    name: "a request to switch protocols is not forwarded",
    origin: ({ fields }) => page(`upgrade: ${fields.upgrade ?? "none"}`),
    first: { path: "/a", fields: { upgrade: "h2c" } },
    second: { path: "/a" },
    witness: "first",
    defence: { in: "HOP_BY_HOP", replace: '"upgrade",', by: "" },
  },
  {
    name: "fields that Connection names are not forwarded",
    origin: ({ fields }) => page(`x-hop: ${fields["x-hop"] ?? "none"}`),
    first: { path: "/a", fields: { connection: "x-hop", "x-hop": "evil" } },
    second: { path: "/a" },
    witness: "first",
    defence: { in: "originRequestFields", replace: "!ownHop.has(name) &&", by: "" },
  },
  {
    name: "a redirect to the page itself is not stored",
    origin: (request) =>
      isFirst(request) ? { ...page("", { location: "/a?utm_source=x#top" }), status: 301 } : page("the page"),
    first: { path: "/a", fields: ONE_BROWSER },
    second: { path: "/a", fields: OTHER_BROWSER },
    defence: {
      in: "mayStore",
      drop: 'if (response.redirectsToItself) return notStored("redirects-to-itself");',
    },
  },
];

/** Whether a server with narrow limits and a strict firewall would accept a request. */
function isPlain(fields: Readonly<Record<string, string | string[] | undefined>>): boolean {
  return Object.entries(fields).every(
    ([name, value]) =>
      !name.startsWith("x-padding") && !name.startsWith("x-over") && /^[\x20-\x7a]{0,8000}$/.test(String(value)),
  );
}
