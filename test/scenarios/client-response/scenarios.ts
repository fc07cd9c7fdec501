import type { Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const v1 = page("max-age=60");

/** What a client sees of the stored fields. */
export const scenarios: readonly Scenario[] = [
  {
    id: "client-response/head-of-stored-page",
    name: "HEAD is answered from a stored GET, with its length and without a body",
    source: "RFC 9110 §9.3.2",
    origin: { "/a": [{ ...v1, body: "twelve bytes" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { method: "HEAD", path: "/a" }, expect: { xCache: "HIT", body: "", fields: { "content-length": "12" } } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "client-response/tag-fields-are-hidden",
    name: "tag fields are read, and clients never see them",
    source: "docs/http.md#what-clients-see",
    origin: {
      "/a": [
        page("max-age=60", "v1", {
          "cache-tag": "a, b",
          "surrogate-key": "c d",
          xkey: "e",
          "x-cache": "HIT from origin",
        }),
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-tag": null, "surrogate-key": null, xkey: null } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "cache-tag": null, "surrogate-key": null, xkey: null } } },
      { purge: { tags: ["d"] } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "client-response/alternative-services",
    name: "clients do not see the origin's Alt-Svc, which names other ways to the origin",
    source: "docs/http.md#what-clients-see",
    origin: { "/a": [page("max-age=60", "v1", { "alt-svc": 'h3=":8443"; ma=86400' })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "alt-svc": null } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "alt-svc": null } } },
      { send: { method: "POST", path: "/a" }, expect: { xCache: "BYPASS", fields: { "alt-svc": null } } },
    ],
  },
  {
    id: "client-response/first-transport-security",
    name: "of several lines of Strict-Transport-Security clients get the first, because browsers ignore a joined value",
    source: "RFC 6797 §8.1",
    origin: {
      "/a": [
        {
          ...v1,
          fields: { ...v1.fields, "strict-transport-security": ['max-age="60"; x="a, \\", b"', "max-age=0"] },
        },
      ],
      "/b": [{ fields: { "strict-transport-security": "max-age=60 , max-age=0" } }],
    },
    steps: [
      {
        get: "/a",
        expect: { xCache: "MISS", fields: { "strict-transport-security": 'max-age="60"; x="a, \\", b"' } },
      },
      { get: "/a", expect: { xCache: "HIT", fields: { "strict-transport-security": 'max-age="60"; x="a, \\", b"' } } },
      { get: "/b", expect: { fields: { "strict-transport-security": "max-age=60" } } },
    ],
  },
  {
    id: "client-response/cache-status-of-origin",
    name: "the origin's own Cache-Status is kept, and the edge's comes after it",
    source: "RFC 9211 §2",
    origin: { "/a": [{ fields: { "cache-status": "inner; hit" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { cacheStatus: "inner; hit, tidemark; fwd=uri-miss; fwd-status=200; detail=no-freshness" } },
    ],
  },
];
