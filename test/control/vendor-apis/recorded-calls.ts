import { expect } from "vitest";
import { type ClientRequest, HOST, TOKEN } from "../../engine/scenario.ts";
import { DOOR_TOKENS, EVERY_DOOR, ZONE } from "./door-edges.ts";

/** A call at a door, its answer, and the pages that no longer come from the store after it. */
export interface DoorCase {
  readonly name: string;
  readonly request: ClientRequest;
  readonly status: number;
  /** Parts of its JSON, or a text that it contains; `null` for an empty body. */
  readonly answer: object | string | null;
  /** Of `PAGES`. Default: none. */
  readonly purged?: readonly string[];
  /** Of the purge in the audit trail. Default: hard. */
  readonly mode?: "hard" | "soft";
}

/** The pages of the site, with their tags. */
export const PAGES: Readonly<Record<string, string>> = {
  "/about": "song:1, about",
  "/shop/a": "shop, a/b, home.banner",
  "/wiki/M*A*S*H": "wiki",
  "/wiki/*NSYNC": "wiki",
};
const all = Object.keys(PAGES);

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { "content-type": "application/json" };

/** As the clients 7.3.0 of npm and 5.9.0 of PyPI send it, without the fields that only describe the client. */
const cloudflare = (body: object | string, fields = bearer(DOOR_TOKENS.cloudflare[0]), zone = ZONE): ClientRequest => ({
  method: "POST",
  path: `/_tidemark/doors/cloudflare/client/v4/zones/${zone}/purge_cache`,
  fields: { accept: "application/json", "user-agent": "Cloudflare/JS 7.3.0", ...json, ...fields },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

const AUTHENTICATION_ERROR = {
  success: false,
  errors: [{ code: 10000, message: "Authentication error" }],
  messages: [],
  result: null,
};

const cloudflareError = (code: number, message: unknown) => ({ success: false, errors: [{ code, message }] });

export const CLOUDFLARE: readonly DoorCase[] = [
  {
    name: "files",
    request: cloudflare({ files: [`https://${HOST}/about`] }),
    status: 200,
    answer: { success: true, errors: [], messages: [], result: { id: ZONE } },
    purged: ["/about"],
  },
  {
    name: "files with fields of their keys",
    request: cloudflare({ files: [{ url: `https://${HOST}/about`, headers: { "CF-Device-Type": "mobile" } }] }),
    status: 200,
    answer: { success: true },
    purged: ["/about"],
  },
  {
    name: "tags",
    request: cloudflare({ tags: ["shop"] }),
    status: 200,
    answer: { success: true },
    purged: ["/shop/a"],
  },
  {
    name: "hosts",
    request: cloudflare({ hosts: [HOST] }),
    status: 200,
    answer: { success: true },
    purged: all,
  },
  {
    name: "prefixes",
    request: cloudflare({ prefixes: [`${HOST}/shop`] }),
    status: 200,
    answer: { success: true },
    purged: ["/shop/a"],
  },
  {
    name: "tags, and false for everything",
    request: cloudflare({ tags: ["shop"], purge_everything: false } as never),
    status: 200,
    answer: { success: true },
    purged: ["/shop/a"],
  },
  {
    name: "everything, with a key beside an address, and a field of ours that Cloudflare does not know",
    request: cloudflare({ purge_everything: true, dryRun: true }, {
      "x-auth-email": "a@example.test",
      "x-auth-key": DOOR_TOKENS.cloudflare[0],
    } as never),
    status: 200,
    answer: { success: true, result: { id: ZONE } },
    purged: all,
  },
  {
    name: "files by DELETE, as plugins of WordPress send it",
    request: { ...cloudflare({ files: [`https://${HOST}/about`] }), method: "DELETE" },
    status: 200,
    answer: { success: true },
    purged: ["/about"],
  },
  {
    name: "a file with a query that is not kept apart, with a warning",
    request: cloudflare({ files: [`https://${HOST}/about?utm_source=a`] }),
    status: 200,
    answer: {
      success: true,
      messages: [{ code: 1000, message: expect.stringContaining("the page without them is purged") }],
    },
    purged: ["/about"],
  },
  {
    name: "no token",
    request: cloudflare({ purge_everything: true }, {} as never),
    status: 400,
    answer: cloudflareError(9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers"),
  },
  ...["a-wrong-token", TOKEN, DOOR_TOKENS.fastly[0], DOOR_TOKENS.otherZone[0]].map((token) => ({
    name: `the token ${token}`,
    request: cloudflare({ purge_everything: true }, bearer(token)),
    status: 403,
    answer: AUTHENTICATION_ERROR,
  })),
  {
    name: "another zone",
    request: cloudflare({ purge_everything: true }, undefined, "f".repeat(32)),
    status: 403,
    answer: AUTHENTICATION_ERROR,
  },
  {
    name: "a zone by its name",
    request: cloudflare({ purge_everything: true }, undefined, "example.test"),
    status: 404,
    answer: {
      errors: [
        {
          code: 7003,
          message:
            "Could not route to /client/v4/zones/example.test/purge_cache, perhaps your object identifier is invalid?",
        },
        { code: 7000, message: "No route for that URI" },
      ],
    },
  },
  {
    name: "nothing",
    request: cloudflare({ files_to_purge: ["/about"] }),
    status: 400,
    answer: cloudflareError(1012, expect.stringMatching(/^Request must contain one of "purge_everything", "files"/)),
  },
  { name: "a body that is not JSON", request: cloudflare("{"), status: 400, answer: { errors: [{ code: 1012 }] } },
  {
    name: "a long text that does not end, which would keep a slow reader busy for hours",
    request: cloudflare(`"${'\\"'.repeat(1_000_000)}`),
    status: 400,
    answer: { errors: [{ code: 1012 }] },
  },
  {
    name: "a list that stands twice, of which the first would be left",
    request: cloudflare('{"tags":["shop"],"tags":["about"]}'),
    status: 400,
    answer: cloudflareError(1000, 'Unable to purge, the name "tags" stands twice in one object'),
  },
  {
    name: "a list that is none",
    request: cloudflare({ files: `https://${HOST}/about` }),
    status: 400,
    answer: cloudflareError(1014, expect.stringContaining("must be an array")),
  },
  {
    name: "everything and more",
    request: cloudflare({ purge_everything: true, tags: ["shop"] }),
    status: 400,
    answer: cloudflareError(
      1092,
      'Request cannot contain "purge_everything" and any of "files", "tags", "hosts" or "prefixes"',
    ),
  },
  {
    name: "a file of another site beside one of this",
    request: cloudflare({ files: [`https://${HOST}/about`, "https://other.example/about"] }),
    status: 400,
    answer: cloudflareError(1000, expect.stringMatching(/^Unable to purge, urls\[1\]: .*is not a host of this site/)),
  },
  {
    name: "more items than a purge may have",
    request: cloudflare({ tags: ["shop", ...Array.from({ length: 10_000 }, (_, index) => `t${index}`)] }),
    status: 400,
    answer: cloudflareError(1000, expect.stringMatching(/^Unable to purge, .*10,?000/)),
  },
  {
    name: "a file that is a number",
    request: cloudflare({ files: [1] }),
    status: 400,
    answer: cloudflareError(1000, expect.stringMatching(/^Unable to purge, urls\[0\]: /)),
  },
];

/** As the client 13.0.0 of npm sends it. */
const fastly = (path: string, fields: Readonly<Record<string, string>> = {}, body?: string): ClientRequest => ({
  method: "POST",
  path: `/_tidemark/doors/fastly/${path}`,
  fields: {
    accept: "application/json",
    "user-agent": "fastly-js/13.0.0",
    "fastly-key": DOOR_TOKENS.fastly[0],
    ...json,
    ...fields,
  },
  ...(body !== undefined && { body }),
});

const SERVICE = `service/${EVERY_DOOR.fastly.service}`;
const PURGED_BY_FASTLY = { status: "ok", id: expect.stringMatching(/^\S+\.\d+$/) };
const CREDENTIALS = { msg: "Provided credentials are missing or invalid" };

export const FASTLY: readonly DoorCase[] = [
  {
    name: "a key",
    request: fastly(`${SERVICE}/purge/shop`),
    status: 200,
    answer: PURGED_BY_FASTLY,
    purged: ["/shop/a"],
  },
  {
    name: "a key with a slash, as the client sends it",
    request: fastly(`${SERVICE}/purge/a/b`),
    status: 200,
    answer: PURGED_BY_FASTLY,
    purged: ["/shop/a"],
  },
  {
    name: "a key with a question mark, which is not another key",
    request: fastly(`${SERVICE}/purge/shop?a`),
    status: 200,
    answer: PURGED_BY_FASTLY,
  },
  {
    name: "keys in Surrogate-Key",
    request: fastly(`${SERVICE}/purge`, { "surrogate-key": "shop about" }),
    status: 200,
    answer: { shop: expect.stringMatching(/\.\d+$/), about: expect.stringMatching(/\.\d+$/) },
    purged: ["/about", "/shop/a"],
  },
  {
    name: "keys in the body, softly",
    request: fastly(`${SERVICE}/purge`, { "fastly-soft-purge": "1" }, '{"surrogate_keys":["shop"]}'),
    status: 200,
    answer: { shop: expect.stringMatching(/\.\d+$/) },
    purged: ["/shop/a"],
    mode: "soft",
  },
  {
    name: "everything",
    request: fastly(`${SERVICE}/purge_all`),
    status: 200,
    answer: { status: "ok" },
    purged: all,
  },
  {
    name: "a URL",
    request: fastly(`purge/${HOST}/about`),
    status: 200,
    answer: PURGED_BY_FASTLY,
    purged: ["/about"],
  },
  {
    name: "PURGE of a page",
    request: { method: "PURGE", path: "/about", fields: { "fastly-key": DOOR_TOKENS.fastly[0] } },
    status: 200,
    answer: PURGED_BY_FASTLY,
    purged: ["/about"],
  },
  {
    name: "PURGE of a page under the door, softly",
    request: {
      method: "PURGE",
      path: "/_tidemark/doors/fastly/about",
      fields: { "fastly-key": DOOR_TOKENS.fastly[0], "fastly-soft-purge": "1" },
    },
    status: 200,
    answer: PURGED_BY_FASTLY,
    purged: ["/about"],
    mode: "soft",
  },
  {
    name: "PURGE of a page with a wrong token",
    request: { method: "PURGE", path: "/about", fields: { "fastly-key": TOKEN } },
    status: 401,
    answer: CREDENTIALS,
  },
  {
    name: "a wrong token",
    request: fastly(`${SERVICE}/purge_all`, { "fastly-key": "wrong" }),
    status: 401,
    answer: CREDENTIALS,
  },
  {
    name: "a right token in another field",
    request: fastly(`${SERVICE}/purge_all`, { "fastly-key": "", ...bearer(DOOR_TOKENS.fastly[0]) }),
    status: 401,
    answer: CREDENTIALS,
  },
  {
    name: "another service",
    request: fastly("service/other/purge_all"),
    status: 404,
    answer: { msg: "Record not found", details: "Cannot find service" },
  },
  {
    name: "a call that is no purge",
    request: fastly(`${SERVICE}/version`),
    status: 404,
    answer: { msg: "Record not found" },
  },
  {
    name: "a key with a space",
    request: fastly(`${SERVICE}/purge/a%20b`),
    status: 400,
    answer: { msg: "Bad request", details: expect.stringMatching(/^tags\[0\]: a tag must be printable ASCII/) },
  },
  {
    name: "a URL of another site",
    request: fastly("purge/other.example/about"),
    status: 400,
    answer: { msg: "Bad request", details: expect.stringContaining("is not a host of this site") },
  },
  { name: "no keys", request: fastly(`${SERVICE}/purge`), status: 400, answer: { msg: "Bad request" } },
];

/** As the clients 0.2.2 of npm and 0.4.3 of PyPI send it. */
const keycdn = (
  method: string,
  path: string,
  body?: object | string,
  token: string = DOOR_TOKENS.keycdn[0],
): ClientRequest => ({
  method,
  path: `/_tidemark/doors/keycdn/${path}`,
  fields: {
    accept: "application/json",
    authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}`,
    ...(typeof body === "object" ? json : body && { "content-type": "application/x-www-form-urlencoded" }),
  },
  ...(body !== undefined && { body: typeof body === "object" ? JSON.stringify(body) : body }),
});

const CLEARED = { status: "success", description: "Cache has been cleared for zone 4711." };
const DENIED = { status: "error", description: "Access denied" };

export const KEYCDN: readonly DoorCase[] = [
  {
    name: "a zone",
    request: keycdn("GET", "zones/purge/4711.json"),
    status: 200,
    answer: CLEARED,
    purged: all,
  },
  {
    name: "URLs",
    request: keycdn("DELETE", "zones/purgeurl/4711.json", { urls: [`${HOST}/about`] }),
    status: 200,
    answer: CLEARED,
    purged: ["/about"],
  },
  {
    name: "tags",
    request: keycdn("DELETE", "zones/purgetag/4711.json", { tags: ["shop"] }),
    status: 200,
    answer: CLEARED,
    purged: ["/shop/a"],
  },
  {
    name: "tags in a form, as plugins in PHP send it",
    request: keycdn("DELETE", "zones/purgetag/4711.json", "tags%5B0%5D=shop&tags%5B1%5D=about"),
    status: 200,
    answer: CLEARED,
    purged: ["/about", "/shop/a"],
  },
  {
    name: "a wrong token",
    request: keycdn("GET", "zones/purge/4711.json", undefined, TOKEN),
    status: 403,
    answer: DENIED,
  },
  {
    name: "a right token as Bearer",
    request: { path: "/_tidemark/doors/keycdn/zones/purge/4711.json", fields: bearer(DOOR_TOKENS.keycdn[0]) },
    status: 403,
    answer: DENIED,
  },
  {
    name: "another zone",
    request: keycdn("GET", "zones/purge/1.json"),
    status: 404,
    answer: { status: "error", description: "The requested item does not exist" },
  },
  { name: "a call that is no purge", request: keycdn("GET", "zones.json"), status: 404, answer: { status: "error" } },
  {
    name: "a URL of another site",
    request: keycdn("DELETE", "zones/purgeurl/4711.json", { urls: ["foo-1.kxcdn.com/about"] }),
    status: 400,
    answer: {
      status: "error",
      description: expect.stringMatching(/^Bad request: urls\[0\]: .*not a host of this site/),
    },
  },
  {
    name: "a URL that is no text",
    request: keycdn("DELETE", "zones/purgeurl/4711.json", { urls: [{ toString: 1 }] }),
    status: 400,
    answer: { status: "error", description: expect.stringMatching(/^Bad request: urls\[0\]: /) },
  },
  {
    name: "no URLs",
    request: keycdn("DELETE", "zones/purgeurl/4711.json", { tags: ["shop"] }),
    status: 400,
    answer: { status: "error" },
  },
];

/** As the client 5.3.0 of npm (`@netlify/functions`) sends it. */
const netlify = (body: object, token: string = DOOR_TOKENS.netlify[0], path = "api/v1/purge"): ClientRequest => ({
  method: "POST",
  path: `/_tidemark/doors/netlify/${path}`,
  fields: { "content-type": "application/json; charset=utf8", ...bearer(token) },
  body: JSON.stringify(body),
});

const site_id = EVERY_DOOR.netlify.site;

export const NETLIFY: readonly DoorCase[] = [
  { name: "tags", request: netlify({ cache_tags: ["shop"], site_id }), status: 202, answer: null, purged: ["/shop/a"] },
  { name: "a site", request: netlify({ site_id }), status: 202, answer: null, purged: all },
  { name: "a domain", request: netlify({ domain: HOST }), status: 202, answer: null, purged: all },
  {
    name: "a wrong token",
    request: netlify({ site_id }, TOKEN),
    status: 401,
    answer: { code: 401, message: "Access Denied" },
  },
  {
    name: "another site",
    request: netlify({ site_id: "other" }),
    status: 404,
    answer: { code: 404, message: "Not Found" },
  },
  { name: "no site", request: netlify({ cache_tags: ["shop"] }), status: 404, answer: { code: 404 } },
  {
    name: "another call",
    request: netlify({ site_id }, undefined, "api/v1/sites"),
    status: 404,
    answer: { code: 404 },
  },
  { name: "a bad tag", request: netlify({ cache_tags: ["a b"], site_id }), status: 400, answer: { code: 400 } },
  {
    name: "a preview",
    request: netlify({ cache_tags: ["shop"], site_id, deploy_alias: "deploy-preview-11" }),
    status: 400,
    answer: { code: 400, message: expect.stringContaining("deploy_alias") },
  },
  {
    name: "tags of one domain",
    request: netlify({ cache_tags: ["shop"], site_id, domain: HOST }),
    status: 400,
    answer: { code: 400 },
  },
];

/** As the client 1.28 of npm (`@vercel/sdk`) sends it. */
const vercel = (how: string, body: object, token: string = DOOR_TOKENS.vercel[0], project = "") => ({
  method: "POST",
  path: `/_tidemark/doors/vercel/v1/edge-cache/${how}?projectIdOrName=${project || EVERY_DOOR.vercel.project}`,
  fields: { accept: "*/*", ...json, ...bearer(token) },
  body: JSON.stringify(body),
});

export const VERCEL: readonly DoorCase[] = [
  {
    name: "tags, softly",
    request: vercel("invalidate-by-tags", { tags: ["shop"] }),
    status: 200,
    answer: null,
    purged: ["/shop/a"],
    mode: "soft",
  },
  {
    name: "tags in one text",
    request: vercel("dangerously-delete-by-tags", { tags: "shop,about", target: "production" }),
    status: 200,
    answer: null,
    purged: ["/about", "/shop/a"],
  },
  {
    name: "a wrong token",
    request: vercel("invalidate-by-tags", { tags: ["shop"] }, TOKEN),
    status: 403,
    answer: { error: { code: "forbidden", message: "Not authorized" } },
  },
  {
    name: "another project",
    request: vercel("invalidate-by-tags", { tags: ["shop"] }, undefined, "other"),
    status: 404,
    answer: { error: { code: "not_found", message: "Project not found" } },
  },
  {
    name: "images",
    request: vercel("invalidate-by-src-images", { srcImages: ["/a.png"] }),
    status: 404,
    answer: { error: { code: "not_found" } },
  },
  {
    name: "a bad tag",
    request: vercel("invalidate-by-tags", { tags: [""] }),
    status: 400,
    answer: { error: { code: "bad_request", message: expect.stringMatching(/^Invalid request: tags\[0\]: /) } },
  },
  {
    name: "a preview",
    request: vercel("invalidate-by-tags", { tags: ["shop"], target: "preview" }),
    status: 400,
    answer: { error: { code: "bad_request" } },
  },
  {
    name: "a deadline",
    request: vercel("dangerously-delete-by-tags", { tags: ["shop"], revalidationDeadlineSeconds: 60 }),
    status: 400,
    answer: { error: { code: "bad_request" } },
  },
];

/** `BAN /` with the fields that FOSHttpCache 2 and 3 set, by their sources, and those given. */
const ban = (fields: Readonly<Record<string, string>>, token: string = DOOR_TOKENS.varnish[0]): ClientRequest => ({
  method: "BAN",
  path: "/",
  fields: { "x-host": ".*", "x-url": ".*", "x-content-type": ".*", ...bearer(token), ...fields },
});

const purge = (fields: Readonly<Record<string, string>>, path = "/about", token: string = DOOR_TOKENS.varnish[0]) => ({
  method: "PURGE",
  path,
  fields: { ...bearer(token), ...fields },
});

const BANNED = "<title>200 Banned</title>";
const NOT_BANNED = "<p>This ban is not supported</p>";
const NOT_ALLOWED = "<title>405 Not allowed</title>";

export const VARNISH: readonly DoorCase[] = [
  {
    name: "PURGE of a page",
    request: purge({}),
    status: 200,
    answer: "<title>200 Purged</title>",
    purged: ["/about"],
  },
  ...["/wiki/M*A*S*H", "/wiki/*NSYNC"].map((page) => ({
    name: `PURGE of ${page}, as MediaWiki sends it`,
    request: purge({}, page),
    status: 200,
    answer: "<title>200 Purged</title>",
    purged: [page],
  })),
  {
    name: "PURGE of a * for a directory",
    request: purge({}, "/wiki/*"),
    status: 400,
    answer: "a * is not a wildcard",
  },
  {
    name: "PURGE of a page under the door",
    request: purge({}, "/_tidemark/doors/varnish/about"),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "xkey-purge",
    request: purge({ "xkey-purge": "shop" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/shop/a"],
  },
  {
    name: "xkey-softpurge",
    request: purge({ "xkey-softpurge": "about shop" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/about", "/shop/a"],
    mode: "soft",
  },
  {
    name: "the tags of Shopware 6",
    request: purge({ xkey: "shop product-0190a1" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/shop/a"],
  },
  ...["surrogate-key", "x-cache-tags", "cache-tags", "cache-tag", "purge-cache-tags"].map((field) => ({
    name: `the tags in ${field}`,
    request: purge({ [field]: "shop,node:1" }, "/about"),
    status: 200,
    answer: "Purged",
    purged: ["/shop/a"],
  })),
  {
    name: "the tags of Magento 2",
    request: purge({ "x-magento-tags-pattern": "((^|,)song:1(,|$))|((^|,)cat_p_12(,|$))" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "a tag of Magento 2 with a dot, which it does not escape",
    request: purge({ "x-magento-tags-pattern": "((^|,)cat_p_12(,|$))|((^|,)home.banner(,|$))" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/shop/a"],
  },
  {
    name: "everything of Magento 2",
    request: purge({ "x-magento-tags-pattern": ".*" }, "/"),
    status: 200,
    answer: "Purged",
    purged: all,
  },
  {
    name: "a directory of WordPress's Proxy Cache Purge",
    request: purge({ "x-purge-method": "regex" }, "/shop/.*"),
    status: 200,
    answer: "Purged",
    purged: ["/shop/a"],
  },
  {
    name: "the whole site of WordPress's Proxy Cache Purge",
    request: purge({ "x-purge-method": "regex" }, "/.*"),
    status: 200,
    answer: "Purged",
    purged: all,
  },
  {
    name: "the whole site of W3 Total Cache, which names no field",
    request: purge({}, "/.*"),
    status: 200,
    answer: "Purged",
    purged: all,
  },
  {
    name: "the tags of WordPress's Proxy Cache Purge",
    request: purge({ "x-purge-method": "tags", "x-cache-tags-pattern": "other-2|song:1" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "a page of WordPress's Proxy Cache Purge",
    request: purge({ "x-purge-method": "default" }),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "the tags of TYPO3's mkvarnish",
    request: purge({ "x-cache-tags": "(song\\:1|pages_419)(,.+)?$", "x-typo3-sitename": "abc123" }, "/"),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "everything of TYPO3's mkvarnish",
    request: purge({ "x-varnish-purge-all": "1", "x-typo3-sitename": "abc123" }, "/"),
    status: 200,
    answer: "Purged",
    purged: all,
  },
  {
    name: "a page of WordPress's VCaching",
    request: purge({ "x-vc-purge-method": "default", "x-vc-purge-host": HOST, "x-vc-purge-key": "secret" }),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  {
    name: "the whole site of WordPress's VCaching",
    request: purge({ "x-vc-purge-method": "regex", "x-vc-purge-host": HOST, "x-purge-method": "regex" }, "/.*"),
    status: 200,
    answer: "Purged",
    purged: all,
  },
  {
    name: "a page, with usual fields of clients",
    request: purge({
      "user-agent": "PurgeBot/1.0",
      "x-api-key": "a",
      "x-purge-token": "a",
      "x-auth-key": "a",
      "idempotency-key": "a",
      "fastly-soft-purge": "1",
      "x-datadog-tags": "_dd.p.dm=-1",
      "sec-speculation-tags": "null",
      "x-host": HOST,
      accept: "*/*",
      "accept-language": "*",
      "accept-encoding": "gzip, br",
      "content-type": "application/json",
      cookie: "a=1",
      date: "Thu, 01 Jan 2026 00:00:00 GMT",
      origin: `https://${HOST}`,
      referer: `https://${HOST}/wp-admin/`,
      "sec-fetch-mode": "cors",
      "x-requested-with": "XMLHttpRequest",
      te: "trailers",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      via: "1.1 proxy",
      "x-amzn-tls-version": "TLSv1.3",
      "x-forwarded-for": "192.0.2.1",
      "x-real-ip": "192.0.2.1",
      "x-request-id": "1",
    }),
    status: 200,
    answer: "Purged",
    purged: ["/about"],
  },
  ...[
    "x-purge-path-regex",
    "x-purge-host",
    "x-url",
    "x-ban-tags",
    "x-cachetag",
    "my-tags",
    "key",
    "x-pool",
    "x-location-id",
    "x-invalidate-pattern",
    "x-lang",
  ].map((field) => ({
    name: `PURGE with ${field}, which no door reads`,
    request: purge({ [field]: "shop" }),
    status: 400,
    answer: `<p>${field} is not understood: name exact tags in xkey, or send a PURGE of each URL without it</p>`,
  })),
  ...["(sh.p)(,.+)?$", "(shop|)(,.+)?$", "^shop$", "shop|about", "shop.+", ".*"].map((pattern) => ({
    name: `PURGE with the tags ${pattern}`,
    request: purge({ "x-cache-tags": pattern }),
    status: 400,
    answer: `<p>x-cache-tags does not name exact tags: ${pattern}</p>`,
  })),
  ...(
    [
      [{ xkey: "" }, "/"],
      [{ "x-varnish-purge-all": "0" }, "/"],
      [{ "x-vc-purge-method": "regex" }, "/about"],
      [{ xkey: "shop", "surrogate-key": "shop" }, "/"],
      [{ "x-magento-tags-pattern": "((^|,)cat_p_\\d+(,|$))" }, "/"],
      [{ "x-magento-tags-pattern": "((^|,)cat_p_.+(,|$))" }, "/"],
      [{ "x-magento-tags-pattern": "*" }, "/"],
      [{ "x-magento-tags-pattern": "shop" }, "/"],
      [{ "x-magento-tags-pattern": "((^|,)a|b(,|$))" }, "/"],
      [{ "x-magento-tags-pattern": "((^|,)shop(,|$))|.*" }, "/"],
      [{ "x-purge-method": "regex" }, "/shop.*"],
      [{ "x-purge-method": "regex" }, "/sh(op|ip)/.*"],
      [{ "x-purge-method": "regex" }, "/about"],
      [{ "x-purge-method": "regex", xkey: "shop" }, "/.*"],
      [{ "x-purge-method": "tags" }, "/about"],
      [{ "x-purge-method": "regex", "x-cache-tags-pattern": "shop" }, "/shop/.*"],
      [{ "x-purge-method": "tags", "x-cache-tags-pattern": "sh.p" }, "/"],
      [{ "x-cache-tags-pattern": "\\bshop\\b" }, "/"],
      [{ "x-purge-all": "true" }, "/about"],
      [{ "x-purge-regex": "/shop/.*" }, "/"],
    ] as const
  ).map(([fields, path]) => ({
    name: `PURGE ${path} with ${JSON.stringify(fields)}`,
    request: purge(fields as Readonly<Record<string, string>>, path),
    status: 400,
    answer: "<title>400 Bad Request</title>",
  })),
  {
    name: "the tags of Magento 2 with a token for all purges",
    request: purge({ "x-magento-tags-pattern": ".*" }, "/", TOKEN),
    status: 405,
    answer: NOT_ALLOWED,
  },
  { name: "a ban of everything", request: ban({}), status: 200, answer: BANNED, purged: all },
  {
    name: "a ban of tags",
    request: ban({ "x-cache-tags": "(^|,)(song\\:1|other\\-2)(,|$)" }),
    status: 200,
    answer: BANNED,
    purged: ["/about"],
  },
  {
    name: "a ban of tags by FOSHttpCache 2.0",
    request: ban({ "x-cache-tags": "(shop)(,.+)?$" }),
    status: 200,
    answer: BANNED,
    purged: ["/shop/a"],
  },
  {
    name: "a ban with usual fields of clients",
    request: ban({ "x-url": "^/about$", "user-agent": "a", "x-request-id": "1", "x-invalidate-token": "a" }),
    status: 200,
    answer: BANNED,
    purged: ["/about"],
  },
  ...["my-tags", "x-lang"].map((field) => ({
    name: `a ban with ${field}, which no door reads`,
    request: ban({ [field]: "(^|,)(shop)(,|$)" }),
    status: 400,
    answer: `<p>${field} is not understood: a ban can name X-Host, X-Url and X-Cache-Tags</p>`,
  })),
  { name: "a ban of a host", request: ban({ "x-host": `^(${HOST})$` }), status: 200, answer: BANNED, purged: all },
  { name: "a ban of a URL", request: ban({ "x-url": "^/about$" }), status: 200, answer: BANNED, purged: ["/about"] },
  {
    name: "a ban of a URL of a host",
    request: ban({ "x-url": "^/about$", "x-host": `^(${HOST})$` }),
    status: 200,
    answer: BANNED,
    purged: ["/about"],
  },
  {
    name: "a ban of a directory",
    request: ban({ "x-url": "^/shop/" }),
    status: 200,
    answer: BANNED,
    purged: ["/shop/a"],
  },
  {
    name: "a ban of a directory of a host",
    request: ban({ "x-url": "^/shop/.*$", "x-host": `^${HOST.replaceAll(".", "\\.")}$` }),
    status: 200,
    answer: BANNED,
    purged: ["/shop/a"],
  },
  ...(
    [
      { "x-url": "/shop" },
      { "x-url": "^/shop" },
      { "x-url": "\\.png$" },
      { "x-url": "^/(about|shop/a)$" },
      { "x-url": "^/about.$" },
      { "x-url": "^/shop\\?a=1/" },
      { "x-host": "example" },
      { "x-host": "^(www.*)$" },
      { "x-host": `^www\\.example\\.test|${HOST}$` },
      { "x-host": `^(${HOST}$` },
      { "x-content-type": "text/html" },
      { "x-cache-tags": "shop" },
      { "x-cache-tags": "(^|,)(shop|)(,|$)" },
      { "x-cache-tags": "(^|,)(sh.p)(,|$)" },
      { "x-cache-tags": "(^|,)(shop)(,|$)", "x-url": "^/about$" },
      { cookie: "PHPSESSID=1" },
    ] as const
  ).map((fields) => ({
    name: `a ban of ${JSON.stringify(fields)}`,
    request: ban(fields),
    status: 400,
    answer: NOT_BANNED,
  })),
  {
    name: "a ban of the URL itself",
    request: { method: "BAN", path: "/about", fields: bearer(DOOR_TOKENS.varnish[0]) },
    status: 400,
    answer: NOT_BANNED,
  },
  {
    name: "both kinds of keys",
    request: purge({ "xkey-purge": "a", "xkey-softpurge": "b" }),
    status: 400,
    answer: "<title>400 Bad Request</title>",
  },
  {
    name: "a key with markup",
    request: ban({ "x-host": "^<b>$" }),
    status: 400,
    answer: "&lt;b>",
  },
  { name: "a ban with a wrong token", request: ban({}, "wrong"), status: 405, answer: NOT_ALLOWED },
  { name: "a ban with a token for all purges", request: ban({}, TOKEN), status: 405, answer: NOT_ALLOWED },
  { name: "a ban without a token", request: ban({ authorization: "" }), status: 405, answer: NOT_ALLOWED },
  { name: "a PURGE without a token", request: { method: "PURGE", path: "/about" }, status: 405, answer: NOT_ALLOWED },
  {
    name: "keys with a token for all purges",
    request: purge({ "xkey-purge": "shop" }, "/", TOKEN),
    status: 405,
    answer: NOT_ALLOWED,
  },
  {
    name: "a page with a token for all purges, which is not a call at the door",
    request: purge({}, "/about", TOKEN),
    status: 200,
    answer: { accepted: { urls: 1 } },
    purged: ["/about"],
  },
  {
    name: "a GET under the door",
    request: { path: "/_tidemark/doors/varnish/about", fields: bearer(DOOR_TOKENS.varnish[0]) },
    status: 405,
    answer: NOT_ALLOWED,
  },
];
