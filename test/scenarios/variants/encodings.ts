import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";
import { WAITING_REQUESTS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { form, plain } from "./openings.ts";

function encoded(body: string, coding: string, more: Reply["fields"] = { vary: "accept-encoding" }): Reply {
  return { fields: { "cache-control": "max-age=60", "content-encoding": coding, ...more }, body };
}

/** A request with this `Accept-Encoding`; `null` for none. */
function accepting(codings: string | null, expect: object): Step {
  return { get: "/a", ...(codings !== null && { fields: { "accept-encoding": codings } }), expect };
}

/** Content codings are variants: docs/decisions/0011-encodings-are-variants.md. */
export const scenarios: readonly Scenario[] = [
  {
    id: "variants/other-coding-is-not-validated",
    name: "a variant in another coding is not validated, because a weak entity tag may match both",
    source: "RFC 9110 §12.5.3, §8.8.3.3",
    origin: {
      "/a": [
        encoded("zipped", "gzip", { vary: "accept-encoding", etag: 'W/"1"' }),
        form("plain", "accept-encoding", { etag: 'W/"1"' }),
      ],
    },
    steps: [
      accepting("gzip", { xCache: "MISS" }),
      accepting(null, { status: 200, xCache: "MISS", body: "plain", fields: { "content-encoding": null } }),
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      accepting("gzip", { xCache: "HIT" }),
    ],
  },
  {
    id: "variants/connection-names-accept-encoding",
    name: "an Accept-Encoding that Connection names is not forwarded, and no client gets a wrong variant because of it",
    source: "RFC 9110 §7.6.1",
    origin: { "/a": [form("plain", "accept-encoding")] },
    steps: [
      { get: "/a", fields: { connection: "accept-encoding", "accept-encoding": "gzip" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "accept-encoding": "identity" } },
      accepting(null, { xCache: "HIT", body: "plain" }),
    ],
  },
  {
    id: "variants/accept-encoding-is-normalized",
    name: "the edge asks the origin for the codings that the client accepts, in one spelling for each set",
    source: "RFC 9110 §12.5.3; docs/http.md#what-goes-to-the-origin",
    origin: { "/a": [page("no-store")] },
    steps: (
      [
        [null, "identity"],
        ["", "identity"],
        ["gzip, deflate, br, zstd", "br, gzip, zstd"],
        ["zstd;q=0.1, GZIP;q=1.0,br ; q=0.5", "br, gzip, zstd"],
        ["x-gzip", "gzip"],
        ["gzip;q=0, br", "br"],
        ["br, gzip, br;q=0.000", "gzip"],
        ["*", "br, gzip, zstd"],
        ["*, br;q=0", "gzip, zstd"],
        ["gzip, *;q=0", "gzip"],
        ["identity;q=0, gzip", "gzip"],
        ["compress, deflate, made-up", "identity"],
        ["gzip;q=2, br;level=5, zstd", "zstd"],
      ] as const
    ).flatMap(([sent, asked]) => [
      accepting(sent, { status: 200 }),
      { originLastSaw: "/a", fields: { "accept-encoding": asked } },
    ]),
  },
  {
    id: "variants/same-codings-share",
    name: "clients that accept the same codings share an entry, whatever the order and weights",
    source: "RFC 9111 §4.1; RFC 9110 §12.5.3",
    origin: { "/a": [encoded("brotli", "br")] },
    steps: [
      accepting("gzip, deflate, br", { xCache: "MISS", body: "brotli", fields: { "content-encoding": "br" } }),
      ...["br,gzip", "br;q=0.1, GZIP", "gzip, br, made-up"].map((same) =>
        accepting(same, { xCache: "HIT", body: "brotli", fields: { "content-encoding": "br" } }),
      ),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "variants/chosen-from-larger-offer",
    name: "a coding that the origin chose from a larger offer also serves clients that accept fewer codings, including this one",
    source: "RFC 9111 §4.1; RFC 9110 §12.5.3",
    origin: { "/a": [encoded("zipped", "gzip"), encoded("brotli", "br"), form("plain", "accept-encoding")] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS", body: "zipped" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      accepting("gzip, zstd", { xCache: "HIT", body: "zipped" }),
      accepting("br", { xCache: "MISS", body: "brotli" }),
      accepting(null, { xCache: "MISS", body: "plain" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "variants/five-browsers",
    name: "once the origin has chosen gzip from a full offer, five browsers cost two renders of a page: gzip and no coding",
    source: "docs/decisions/0011-encodings-are-variants.md",
    origin: {
      "/first": [encoded("zipped", "gzip")],
      "/a": [encoded("zipped", "gzip"), form("plain", "accept-encoding")],
      "/b": [form("plain", "accept-encoding"), encoded("zipped", "gzip")],
    },
    steps: [
      { get: "/first", fields: { "accept-encoding": "gzip, deflate, br, zstd" }, expect: { xCache: "MISS" } },
      accepting("gzip", { xCache: "MISS", body: "zipped" }),
      accepting("gzip, deflate, br", { xCache: "HIT", body: "zipped", fields: { "content-encoding": "gzip" } }),
      accepting("gzip, deflate, br, zstd", { xCache: "HIT", body: "zipped" }),
      accepting("gzip, deflate, zstd", { xCache: "HIT", body: "zipped" }),
      accepting(null, { xCache: "MISS", body: "plain", fields: { "content-encoding": null } }),
      ...(
        [
          [null, "MISS", "plain"],
          ["gzip, deflate, br", "MISS", "zipped"],
          ["gzip, deflate, br, zstd", "HIT", "zipped"],
          ["gzip", "HIT", "zipped"],
          ["gzip;q=0", "HIT", "plain"],
        ] as const
      ).map(
        ([codings, xCache, body]): Step => ({
          get: "/b",
          ...(codings !== null && { fields: { "accept-encoding": codings } }),
          expect: { xCache, body },
        }),
      ),
      { originSaw: { "/a": 2, "/b": 2 } },
    ],
  },
  {
    id: "variants/passed-over-coding-refused",
    name: "whatever the origin chooses, no client gets a coding that it does not accept, and no client that accepts the chosen coding gets a plain page",
    source: "RFC 9110 §12.5.3",
    origin: {
      "/first": [encoded("zipped", "gzip")],
      "/a": [encoded("zipped", "gzip"), encoded("brotli", "br")],
      "/b": [form("plain", "accept-encoding"), encoded("zipped", "gzip")],
    },
    steps: [
      { get: "/first", fields: { "accept-encoding": "br, gzip, zstd" }, expect: { xCache: "MISS" } },
      accepting("gzip", { xCache: "MISS", body: "zipped" }),
      accepting("gzip;q=0, br, zstd", { xCache: "MISS", body: "brotli", fields: { "content-encoding": "br" } }),
      { get: "/b", expect: { xCache: "MISS", body: "plain" } },
      { get: "/b", fields: { "accept-encoding": "gzip" }, expect: { xCache: "MISS", body: "zipped" } },
    ],
  },
  {
    id: "variants/choice-is-relearned",
    name: "if the origin begins to choose another coding, clients that accept it ask again, and the choice counts for an hour",
    source: "docs/decisions/0011-encodings-are-variants.md",
    origin: {
      "/first": [encoded("zipped", "gzip"), encoded("brotli", "br")],
      "/a": [
        { ...encoded("zipped", "gzip"), fields: { ...encoded("", "gzip").fields, "cache-control": "max-age=9000" } },
        encoded("brotli", "br"),
      ],
      "/b": [
        { ...encoded("zipped", "gzip"), fields: { ...encoded("", "gzip").fields, "cache-control": "max-age=9000" } },
        encoded("zipped again", "gzip"),
      ],
    },
    steps: [
      { get: "/first", fields: { "accept-encoding": "br, gzip, zstd" }, expect: { xCache: "MISS" } },
      { get: "/b", fields: { "accept-encoding": "gzip" }, expect: { xCache: "MISS" } },
      accepting("gzip", { xCache: "MISS", body: "zipped" }),
      accepting("br, gzip", { xCache: "HIT", body: "zipped" }),
      { advanceMs: 3_599_999 },
      { get: "/b", fields: { "accept-encoding": "br, gzip" }, expect: { xCache: "HIT", body: "zipped" } },
      { advanceMs: 1 },
      { get: "/b", fields: { "accept-encoding": "br, gzip" }, expect: { xCache: "MISS", body: "zipped again" } },
      accepting("br, gzip", { xCache: "HIT", body: "zipped" }),
      { get: "/first", fields: { "accept-encoding": "br, gzip, zstd" }, expect: { xCache: "EXPIRED", body: "brotli" } },
      accepting("br, gzip", { xCache: "MISS", body: "brotli" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
    ],
  },
  {
    id: "variants/chosen-from-smaller-offer",
    name: "a page that the origin chose from a smaller offer does not serve a client that accepts more codings",
    source: "RFC 9111 §4.1",
    origin: { "/a": [form("plain", "accept-encoding"), encoded("zipped", "gzip"), encoded("brotli", "br")] },
    steps: [
      accepting(null, { xCache: "MISS", body: "plain" }),
      accepting("gzip", { xCache: "MISS", body: "zipped" }),
      accepting("gzip, br", { xCache: "MISS", body: "brotli" }),
      accepting(null, { xCache: "HIT", body: "plain" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      accepting("br, gzip", { xCache: "HIT", body: "brotli" }),
    ],
  },
  ...(
    [
      ["refused-coding-with-vary", "sends Vary", { vary: "Accept-Encoding" }],
      ["refused-coding-without-vary", "forgot to send Vary", {}],
    ] as const
  ).map(
    ([id, what, vary]): Scenario => ({
      id: `variants/${id}`,
      name: `a client that refuses a coding never gets it from the store if the origin ${what}`,
      source: "RFC 9110 §12.5.3, §12.5.5",
      origin: {
        "/a": [
          encoded("zipped", "gzip", vary),
          encoded("brotli", "br", vary),
          { fields: { "cache-control": "max-age=60", ...vary }, body: "plain" },
        ],
      },
      steps: [
        accepting("gzip, br", { xCache: "MISS", body: "zipped" }),
        accepting("GZIP ; q=0, br", { xCache: "MISS", body: "brotli", fields: { "content-encoding": "br" } }),
        accepting("gzip;q=0, br;q=0", { xCache: "MISS", body: "plain", fields: { "content-encoding": null } }),
        accepting("*;q=0", { xCache: "HIT", body: "plain" }),
        { originSaw: { "/a": 3 } },
      ],
    }),
  ),
  {
    id: "variants/followers-of-encoded-page",
    name: "a follower gets an encoded page only if its client accepts the coding",
    source: "RFC 9110 §12.5.3; docs/http.md#collapsed-requests",
    only: WAITING_REQUESTS,
    origin: { "/a": [{ ...encoded("zipped", "gzip", {}), hold: "slow" }, plain] },
    steps: [
      { begin: "leader", send: { path: "/a", fields: { "accept-encoding": "gzip" } } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { body: "zipped" } },
      { finish: "follower", expect: { body: "plain", fields: { "content-encoding": null } } },
    ],
  },
  ...(
    [
      ["coded-whatever-is-asked-with-vary", "sends Vary", { vary: "Accept-Encoding" }],
      ["coded-whatever-is-asked-without-vary", "sends none", {}],
    ] as const
  ).map(
    ([id, what, vary]): Scenario => ({
      id: `variants/${id}`,
      name: `a page that the origin encodes whatever it is asked serves clients with the same offer, and no other that does not accept its coding, if it ${what}`,
      source: "RFC 9111 §4.1; RFC 9110 §12.5.3",
      origin: { "/a": ["first", "second", "third", "fourth"].map((body) => encoded(body, "gzip", vary)) },
      steps: [
        accepting("gzip, br", { xCache: "MISS", body: "first" }),
        accepting(null, { xCache: "MISS", body: "second", cacheStatus: /; stored/ }),
        ...[null, "", "gzip;q=0", "deflate"].map((same) =>
          accepting(same, { xCache: "HIT", body: "second", fields: { "content-encoding": "gzip" } }),
        ),
        accepting("br", { xCache: "MISS", body: "third" }),
        accepting("br, gzip;q=0", { xCache: "HIT", body: "third" }),
        accepting("br, zstd", { xCache: "MISS", body: "fourth" }),
        accepting("gzip", { xCache: "HIT", body: "first" }),
        accepting(null, { xCache: "HIT", body: "second" }),
        { originSaw: { "/a": 4 } },
      ],
    }),
  ),
  {
    id: "variants/followers-in-no-coding",
    name: "clients that offer no coding share one fetch of a page that the origin encodes whatever it is asked",
    source: "RFC 9111 §4.1; RFC 9110 §12.5.3; docs/http.md#collapsed-requests",
    only: WAITING_REQUESTS,
    origin: { "/a": [{ ...encoded("zipped", "gzip", {}), hold: "slow" }, encoded("again", "gzip", {})] },
    steps: [
      ...["first", "second", "third"].map((begin) => ({ begin, send: { path: "/a" } })),
      { originSees: "/a", count: 1 },
      { advanceMs: 1 },
      { release: "slow" },
      ...["first", "second", "third"].map((finish) => ({ finish, expect: { body: "zipped" } })),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "variants/no-coding-serves-all",
    name: "a page without a coding, or with identity, serves every client",
    source: "RFC 9110 §12.5.3, §8.4.1",
    origin: { "/a": [form("plain", "accept-encoding")], "/b": [encoded("plain", "identity")] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS" }),
      ...["gzip", null, "identity;q=0", "*;q=0"].map((fewer) => accepting(fewer, { xCache: "HIT", body: "plain" })),
      { get: "/b", fields: { "accept-encoding": "br, gzip, zstd" }, expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "HIT", body: "plain" } },
    ],
  },
  {
    id: "variants/several-codings",
    name: "a page in several codings serves a client that accepts all of them",
    source: "RFC 9110 §8.4",
    origin: { "/a": [encoded("twice", "gzip, BR"), plain] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS", body: "twice" }),
      accepting("gzip, br", { xCache: "HIT", body: "twice", fields: { "content-encoding": "gzip, BR" } }),
      accepting("gzip, zstd", { xCache: "MISS", body: "plain" }),
    ],
  },
  {
    id: "variants/unknown-coding",
    name: "a page in a coding that no client asked for is passed on and not stored",
    source: "RFC 9110 §8.4.1",
    origin: { "/a": [encoded("squeezed", "compress")] },
    steps: [
      accepting("compress, *", { xCache: "MISS", body: "squeezed", fields: { "content-encoding": "compress" } }),
      accepting("compress, *", { xCache: "MISS", body: "squeezed", cacheStatus: /; detail=coding$/ }),
      accepting(null, { xCache: "MISS" }),
    ],
  },
  {
    id: "variants/nobody-waits-for-unknown-coding",
    name: "nobody waits for another's fetch of a page whose Content-Encoding is known to name no coding",
    source: "RFC 9110 §8.4.1; docs/http.md#collapsed-requests",
    only: WAITING_REQUESTS,
    origin: { "/a": [encoded("plain", "none"), { ...encoded("plain", "none"), hold: "slow" }] },
    steps: [
      accepting("gzip", { xCache: "MISS", body: "plain" }),
      ...["first", "second", "third"].map((begin) => ({
        begin,
        send: { path: "/a", fields: { "accept-encoding": "gzip" } },
      })),
      { originSees: "/a", count: 4 },
      { release: "slow" },
      ...["first", "second", "third"].map((finish) => ({ finish, expect: { body: "plain" } })),
    ],
  },
  {
    id: "variants/codings-of-part",
    name: "a part that is not stored is requested in the codings in which the whole page would be",
    source: "RFC 9110 §12.5.3, §14.2",
    origin: { "/a": [{ status: 206, fields: { "content-range": "bytes 0-0/9" }, body: "v" }] },
    steps: [
      { get: "/a", fields: { range: "bytes=0-0", "accept-encoding": "br;q=0.5, x" }, expect: { status: 206 } },
      { originLastSaw: "/a", fields: { range: "bytes=0-0", "accept-encoding": "br" } },
    ],
  },
];
