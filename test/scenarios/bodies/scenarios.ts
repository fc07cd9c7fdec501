import type { Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";

/** When a body is whole: its framing, and the limit of what is stored. */
export const scenarios: readonly Scenario[] = [
  {
    id: "bodies/cut-off",
    name: "a body that is cut off reaches the client incomplete and is never a hit",
    source: "docs/protocol.md#promise-4-whole-and-unchanged-or-not-at-all",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", cutAfterBytes: 4 },
        page("max-age=60", "0123456789"),
      ],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123", cutOff: true } },
      { get: "/a", expect: { xCache: "MISS", body: "0123456789", cutOff: false } },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
    ],
  },
  {
    id: "bodies/chunked-cut-off",
    name: "a chunked body that is cut off is never a hit",
    source:
      "docs/protocol.md#promise-4-whole-and-unchanged-or-not-at-all; docs/conformance.md#what-the-runtime-makes-impossible",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", cutAfterBytes: 4, framing: "chunked" },
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", framing: "chunked" },
      ],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123" } },
      { get: "/a", expect: { xCache: "MISS", body: "0123456789" } },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
    ],
  },
  {
    id: "bodies/close-delimited",
    name: "a body whose end looks the same as a cut connection is not stored",
    source: "RFC 9112 §6.3, §8",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1", framing: "close" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1", cacheStatus: /detail=unframed-body/ } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "bodies/over-the-limit",
    name: "a body over the limit is streamed through and not stored, with or without a length",
    source: "docs/http.md#bodies-and-ranges",
    site: { limits: { storeBytes: 10, largeBytes: 10 } },
    origin: {
      "/length": [page("max-age=60", "eleven byte")],
      "/chunks": [{ fields: { "cache-control": "max-age=60" }, body: "eleven byte", framing: "chunked" }],
      "/fits": [page("max-age=60", "ten bytes!")],
    },
    steps: [
      { get: "/length", expect: { xCache: "MISS", body: "eleven byte", cacheStatus: /detail=too-large/ } },
      { get: "/length", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/chunks", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/chunks", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/fits", expect: { xCache: "MISS", body: "ten bytes!" } },
      { get: "/fits", expect: { xCache: "HIT", body: "ten bytes!" } },
    ],
  },
];
