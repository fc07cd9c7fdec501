import { type ClientRequest, type Scenario, TOKEN } from "../../engine/scenario.ts";
import { page } from "../page.ts";
import { control } from "./openings.ts";

const hello = page("max-age=86400", "hello", { "cache-tag": "plog:hello" });
const other = page("max-age=86400", "other", { "cache-tag": "shop" });

/** Like the URL of `hello`, but longer than any that is remembered. */
const LONG_URL = `/hello${"-".repeat(513)}`;

const MINUTE_MS = 61_000;
const HOUR_MS = 3_600_000;

/** The answer says nothing of unseen items. */
const SILENT = /^(?!.*(?:unseen|No page was stored))\{"seq":\d/;

const nearHello =
  /"warnings":\["No page was stored lately under tag:plog-hello; the nearest is tag:plog:hello\."\],"unseen":\[\{"item":"tag:plog-hello","nearest":"tag:plog:hello"\}\]/;

/** A dry run whose answer is not waited for. */
function dryRun(items: object): ClientRequest {
  const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  return { method: "POST", path: "/_tidemark/purge", fields, body: JSON.stringify({ ...items, dryRun: true }) };
}

/** Purges that hit nothing. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/unseen-tag",
    name: "a purge of a tag that no page has had is accepted, and suggests the nearest tag",
    source: control,
    origin: { "/hello": [hello] },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { purge: { tags: ["plog-hello"] }, expect: { status: 200, body: nearHello } },
      { get: "/hello", expect: { xCache: "HIT" } },
      { purge: { tags: ["plog:hello"] }, expect: { status: 200, body: SILENT } },
      { get: "/hello", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/unseen-in-dry-run",
    name: "a dry run lists its tags and URLs under which no page was stored; a purge of more than one page does not",
    source: control,
    origin: { "/hello": [hello] },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      {
        purge: { tags: ["plog:hello", "plog-hello"], urls: ["/Hello", "/hello"], dryRun: true },
        expect: {
          status: 200,
          body: /"unseen":\[\{"item":"\/Hello","nearest":"\/hello"\},\{"item":"tag:plog-hello","nearest":"tag:plog:hello"\}\]/,
        },
      },
      { purge: { prefixes: ["/helo"], hosts: ["www.example.test"] }, expect: { status: 200, body: SILENT } },
      { purge: { urls: ["/Hello"], refresh: true }, expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-long-url",
    name: "a purge of a URL that is too long to be compared is accepted",
    source: control,
    origin: { "/hello": [hello] },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { purge: { urls: [`/${"é".repeat(4_000)}`] }, expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-key-not-remembered",
    name: "a purge of a stored page whose URL is too long to be remembered says nothing of it",
    source: control,
    origin: { "/hello": [hello], [LONG_URL]: [other] },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { get: LONG_URL, expect: { xCache: "MISS" } },
      { work: "finished" },
      { purge: { urls: [LONG_URL] }, expect: { status: 200, body: SILENT } },
      { get: LONG_URL, expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
    ],
  },
  {
    id: "purging/unseen-known-by-the-ledger",
    name: "the ledger remembers tags and URLs from isolates that have ended",
    source: control,
    origin: { "/hello": [hello] },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: MINUTE_MS },
      { get: "/hello", expect: { xCache: "HIT" } },
      { work: "finished" },
      { restart: "isolate" },
      { purge: { tags: ["plog-hello"] }, expect: { status: 200, body: nearHello } },
      { purge: { tags: ["plog:hello"], urls: ["/hello"] }, expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-by-all-isolates",
    name: "a purge through one isolate knows the tags and URLs that another has stored",
    source: control,
    origin: { "/hello": [hello] },
    only: { on: ["memory", "server"], because: "the runtime has one isolate" },
    steps: [
      { send: { path: "/hello", isolate: "b" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: MINUTE_MS },
      { send: { path: "/hello", isolate: "b" }, expect: { xCache: "HIT" } },
      { work: "finished" },
      { purge: { tags: ["plog-hello"] }, expect: { status: 200, body: nearHello } },
      { purge: { tags: ["plog:hello"], urls: ["/hello"] }, expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-after-an-hour",
    name: "only an edge that has run for an hour reports tags and URLs that resemble no known one",
    source: control,
    origin: { "/hello": [hello], "/other": [other] },
    steps: [
      { purge: { tags: ["unrelated"], urls: ["/nowhere"] }, expect: { status: 200, body: SILENT } },
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: MINUTE_MS },
      { get: "/hello", expect: { xCache: "HIT" } },
      { work: "finished" },
      { purge: { tags: ["unrelated"], urls: ["/nowhere"] }, expect: { status: 200, body: SILENT } },
      { advanceMs: HOUR_MS },
      { get: "/other", expect: { xCache: "MISS" } },
      { work: "finished" },
      {
        purge: { tags: ["shop", "unrelated"], urls: ["https://www.example.test/nowhere", "/other"] },
        expect: {
          status: 200,
          body: /"unseen":\[\{"item":"https:\/\/www\.example\.test\/nowhere"\},\{"item":"tag:unrelated"\}\]/,
        },
      },
    ],
  },
  {
    id: "purging/unseen-large-page",
    name: "a large page is known by its tags and its URL once it is stored",
    source: control,
    site: { limits: { storeBytes: 5 } },
    origin: {
      "/hello": [hello],
      "/hello/": [page("max-age=86400", "a large body", { "cache-tag": "plog-hello", "content-length": "12" })],
    },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { get: "/hello/", expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      { work: "finished" },
      { purge: { tags: ["plog-hello"], urls: ["/hello/"] }, expect: { status: 200, body: SILENT } },
      { get: "/hello/", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
    ],
  },
  {
    id: "purging/unseen-while-the-ledger-is-down",
    name: "while the ledger cannot be reached, a dry run says nothing about unseen items",
    source: control,
    origin: { "/hello": [hello] },
    only: { on: ["memory", "server"], because: "only there can the log be out of reach" },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { log: "down" },
      { purge: { tags: ["plog-hello"], dryRun: true }, expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-until-now",
    name: "a page that is stored while the ledger is asked is not unseen, nor the nearest to itself",
    source: control,
    origin: { "/hello": [hello] },
    only: { on: ["memory"], because: "only there does a call of the log take time" },
    steps: [
      { get: "/missing", expect: { status: 404 } },
      { work: "finished" },
      { logTakesMs: 200 },
      { begin: "dry run", send: dryRun({ urls: ["/hello"] }) },
      { get: "/hello", expect: { xCache: "MISS" } },
      { advanceMs: 200 },
      { finish: "dry run", expect: { status: 200, body: SILENT } },
    ],
  },
  {
    id: "purging/unseen-while-the-ledger-is-slow",
    name: "a receipt waits at most a quarter of a second for the ledger, and not at all if the isolate knows the page",
    source: control,
    origin: { "/hello": [hello] },
    only: { on: ["memory"], because: "only there does a call of the log take time" },
    steps: [
      { get: "/hello", expect: { xCache: "MISS" } },
      { work: "finished" },
      { logTakesMs: 3_600_000 },
      { purge: { tags: ["plog:hello"], dryRun: true }, expect: { status: 200, body: SILENT } },
      { begin: "dry run", send: dryRun({ tags: ["plog-hello"] }) },
      { advanceMs: 250 },
      { finish: "dry run", expect: { status: 200, body: SILENT } },
    ],
  },
];
