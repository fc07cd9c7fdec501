import type { Scenario } from "../../engine/scenario.ts";
import { control, v1 } from "./openings.ts";

const bearer = { authorization: "Bearer scenario-token-with-32-characters0" };

/** Dry runs, warnings, and the audit trail. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/dry-run",
    name: "a dry run says what would be purged, uses no sequence number and changes nothing",
    source: control,
    site: { routes: [{ match: "/song/:id", key: { query: { only: [] } } }] },
    origin: { "/song/1": [v1] },
    steps: [
      { get: "/song/1?ref=mail", expect: { xCache: "MISS" } },
      {
        purge: { urls: ["/song/1?ref=mail"], prefixes: ["/song/"], dryRun: true, refresh: true },
        expect: {
          status: 200,
          body: /"seq":0,.*"dryRun":true,"warnings":.*,"planned":\[\{"item":"\/song\/1\?ref=mail","key":"\/song\/1","route":"\/song\/:id"\},\{"item":"\/song\/","key":"\/song"\}\]/,
        },
      },
      { get: "/song/1", expect: { xCache: "HIT" } },
      { originSaw: { "/song/1": 1 } },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    id: "purging/warns-of-surprises",
    name: "a purge warns of consequences that its owner may not expect, but still happens",
    source: control,
    site: {
      routes: [
        { match: "/admin/*", pass: true },
        { match: "/song/:id", key: { query: { only: [] } }, ttl: "1h", browserTtl: "2h" },
      ],
    },
    origin: { "/song/1": [v1] },
    steps: [
      { get: "/song/1", expect: { xCache: "MISS" } },
      {
        purge: { urls: ["/admin/a", "/song/1?x=1"] },
        expect: {
          status: 200,
          body: /"warnings":\[.*\/admin\/a.* stores nothing\.",.*x=1.* has query parameters .*\.","Browsers may keep .* 7200 s, longer than the edge \(3600 s\)/,
        },
      },
      { get: "/song/1", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/audit-trail",
    name: "the audit trail lists who purged what, how and why, newest first, and whether each purge has settled",
    source: control,
    steps: [
      { purge: { urls: ["/a?x=1"], tags: ["song:42"], reason: "a correction" } },
      { advanceMs: 10_000 },
      { purge: { prefixes: ["/shop"], hosts: ["www.example.test"], mode: "soft", id: "deploy-7" } },
      {
        get: "/_tidemark/purges?limit=1",
        fields: bearer,
        expect: {
          status: 200,
          body: /^\{"purges":\[\{"seq":2,.*"mode":"soft",.*"id":"deploy-7",.*"settled":false,.*"items":\["prefix:\/shop","host:www\.example\.test"\],"itemCount":2\}\],"next":2\}$/m,
        },
      },
      {
        get: "/_tidemark/purges?before=2",
        fields: bearer,
        expect: {
          body: /^\{"purges":\[\{"seq":1,.*"reason":"a correction",.*"settled":true,.*"items":\["\/a\?x=1","tag:song:42"\],"itemCount":2\}\],"next":null\}$/m,
        },
      },
      { get: "/_tidemark/purges/1", fields: bearer, expect: { status: 200, body: /^\{"seq":1,/ } },
      { get: "/_tidemark/purges/3", fields: bearer, expect: { status: 404, body: /has no purge 3/ } },
      { get: "/_tidemark/purges?limit=0", fields: bearer, expect: { status: 400, body: /"path":"limit"/ } },
      { get: "/_tidemark/purges", expect: { status: 401 } },
    ],
  },
  {
    id: "purging/audit-trail-without-secrets",
    name: "the audit trail shows no secrets in URLs that the answer to a visitor's unsafe request invalidates",
    source: control,
    origin: {
      "/order": [
        {
          status: 303,
          fields: {
            location:
              "/keyboards/a=b/42;jsessionid=1%3Btoken=2/?lang=en&access%5Ftoken=abc&next=/?%74oken=d&to=%2F%3Fto%3D%252F%253Ftoken%253Dd&x=1",
          },
          body: "",
        },
      ],
    },
    steps: [
      { send: { method: "POST", path: "/order", body: "x" }, expect: { status: 303 } },
      { work: "finished" },
      {
        get: "/_tidemark/purges",
        fields: bearer,
        expect: {
          body: /"mode":"invalidate",.*"https:\/\/www\.example\.test\/keyboards\/a=b\/42;jsessionid=…;token=…\/\?lang=en&access_token=…&next=…&to=…&x=1"/,
        },
      },
      { purge: { urls: ["/order/42?token=abc"] } },
      { get: "/_tidemark/purges?limit=1", fields: bearer, expect: { body: /"items":\["\/order\/42\?token=abc"\]/ } },
    ],
  },
];
