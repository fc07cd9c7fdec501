import type { Scenario } from "../../engine/scenario.ts";
import { ALL_DONE, ANEW, done, HOSTS, inGroups, onMobile, post, v1, v2 } from "../invalidation/openings.ts";
import { SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

/** An answer that invalidates groups. */
const changed = (groups: string | readonly string[], status = 200) => ({
  status,
  fields: { "cache-group-invalidation": groups },
  body: "done",
});
const LONGEST = "g".repeat(256);

/** Cache-Groups and Cache-Group-Invalidation, RFC 9875. */
export const scenarios: readonly Scenario[] = [
  {
    id: "cache-groups/named-groups-only",
    name: "the answer to an unsafe request invalidates the groups that it names, and no others",
    source: "RFC 9875 §2.1, §3",
    origin: {
      "/a": [inGroups('"scripts", "menu"'), inGroups('"menu"', "v2")],
      "/b": [inGroups(['"css"', '"menu"; note=1']), inGroups('"menu"', "v2")],
      "/c": [inGroups('"Menu"')],
      "/d": [inGroups('"menu2"')],
      "/e": [v1],
      "/save": [changed(['"other"', '"menu"; x=?0'])],
    },
    steps: [
      ...["/a", "/b", "/c", "/d", "/e"].map((path) => ({ get: path, expect: { xCache: "MISS" } })),
      post("/save"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      { get: "/b", expect: { xCache: ANEW, body: "v2" } },
      ...["/c", "/d", "/e"].map((path) => ({ get: path, expect: { xCache: "HIT", body: "v1" } })),
    ],
  },
  {
    id: "cache-groups/groups-of-one-host",
    name: "a group belongs to one host: another host's group with the same name is not invalidated",
    source: "RFC 9875 §2.1",
    site: HOSTS,
    origin: { "/a": [inGroups('"menu"')], "/save": [changed('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: onMobile("/a"), expect: { xCache: "MISS" } },
      { send: { method: "POST", ...onMobile("/save"), body: "x" }, expect: { body: "done" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT" } },
      { send: onMobile("/a"), expect: { xCache: ANEW } },
    ],
  },
  {
    id: "cache-groups/answer-to-get",
    name: "Cache-Group-Invalidation in the answer to a GET invalidates nothing",
    source: "RFC 9875 §3",
    origin: {
      "/a": [inGroups('"menu"')],
      "/b": [{ fields: { ...v1.fields, "cache-group-invalidation": '"menu"' }, body: "v1" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { get: "/b", fields: { "if-match": '"1"' }, expect: { xCache: "BYPASS" } }, // passed on, like a POST
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    id: "cache-groups/groups-of-the-target",
    name: "an unsafe request invalidates the other members of its page's groups only if the answer says so",
    source: "RFC 9875 §2.2.1",
    origin: { "/a": [inGroups('"menu"'), done, v2], "/b": [inGroups('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      post("/a"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW } },
      { get: "/b", expect: { xCache: "HIT" } },
    ],
  },
  ...[
    ["malformed-token", "a token", "menu"],
    ["malformed-open-string", "an unterminated string", '"menu'],
    ["malformed-mixed-types", "one member of another type", '"menu", 7'],
    ["malformed-inner-list", "an inner list", '("menu")'],
    ["malformed-non-ascii", "a name beyond ASCII", '"men\u00fc", "menu"'],
    ["malformed-trailing-comma", "a trailing comma", '"menu",'],
  ].map(
    ([id, what, malformed]): Scenario => ({
      id: `cache-groups/${id}`,
      name: `Cache-Groups and Cache-Group-Invalidation with ${what} count as absent`,
      source: "RFC 9875 §2, §3; RFC 9651 §4.2",
      origin: {
        "/well-formed": [inGroups('"menu"')],
        "/malformed": [inGroups(malformed!)],
        "/save": [changed(malformed!)],
        "/save-more": [changed('"menu"')],
      },
      steps: [
        { get: "/well-formed", expect: { xCache: "MISS" } },
        { get: "/malformed", expect: { xCache: "MISS" } },
        post("/save"),
        ALL_DONE,
        { get: "/well-formed", expect: { xCache: "HIT" } },
        post("/save-more"),
        ALL_DONE,
        { get: "/well-formed", expect: { xCache: ANEW } },
        { get: "/malformed", expect: { xCache: "HIT" } },
      ],
    }),
  ),
  {
    id: "cache-groups/longest-group-name",
    name: "a group's name may have 256 characters, and a longer one beside others is ignored",
    source: "RFC 9875 §2",
    origin: {
      "/longest": [inGroups(`"${LONGEST}"`)],
      "/longer": [inGroups(`"${LONGEST}g"`)],
      "/both": [inGroups(`"${LONGEST}g", "menu"`)],
      "/save": [changed(`"${LONGEST}g", "menu", "${LONGEST}"`)],
    },
    steps: [
      ...["/longest", "/longer", "/both"].map((path) => ({ get: path, expect: { xCache: "MISS" } })),
      post("/save"),
      ALL_DONE,
      { get: "/longest", expect: { xCache: ANEW } },
      { get: "/longer", expect: { xCache: "HIT" } },
      { get: "/both", expect: { xCache: ANEW } },
    ],
  },
  {
    id: "cache-groups/clients-see-groups",
    name: "clients get both group fields, for their own caches",
    source: "RFC 9875 §2, §3",
    origin: { "/a": [inGroups('"menu"')], "/save": [changed('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-groups": '"menu"' } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "cache-groups": '"menu"' } } },
      {
        send: { method: "POST", path: "/save", body: "x" },
        expect: { body: "done", fields: { "cache-group-invalidation": '"menu"' } },
      },
    ],
  },
  {
    id: "cache-groups/groups-are-not-tags",
    name: "a group is not a tag, and a tag is not a group",
    source: "RFC 9875 §2; docs/http.md#what-clients-see",
    origin: {
      "/group": [inGroups('"menu"')],
      "/tag": [{ fields: { ...v1.fields, "cache-tag": "menu" }, body: "v1" }],
      "/save": [changed('"menu"')],
    },
    steps: [
      { get: "/group", expect: { xCache: "MISS" } },
      { get: "/tag", expect: { xCache: "MISS" } },
      post("/save"),
      ALL_DONE,
      { get: "/tag", expect: { xCache: "HIT" } },
      { get: "/group", expect: { xCache: ANEW } },
      { purge: { tags: ["menu"] } },
      { get: "/group", expect: { xCache: "HIT" } },
      { get: "/tag", expect: { xCache: ANEW } },
    ],
  },
  {
    id: "cache-groups/groups-on-304",
    name: "a page that a 304 has freshened belongs to its earlier groups and to those of the 304",
    source: "RFC 9875 §2; docs/protocol.md#r17-tags-on-304",
    origin: {
      "/a": [
        page("max-age=60", "v1", { etag: '"1"', "cache-groups": '"old"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"', "cache-groups": '"new"' } },
        page("max-age=60", "v2", { etag: '"2"', "cache-groups": '"newer"' }),
      ],
      "/save": [changed('"old"')],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", fields: { "cache-groups": '"new"' } } },
      { get: "/a", expect: { xCache: "HIT" } },
      post("/save"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "cache-groups/reaches-every-isolate",
    name: "every isolate treats an invalidated group as invalid once the isolate's lease ends",
    source: "RFC 9875 §3; docs/protocol.md#what-happens-on-a-purge",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [inGroups('"menu"'), inGroups('"menu"', "v2")], "/save": [changed('"menu"')] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/save", body: "x", isolate: "a" }, expect: { body: "done" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
    ],
  },
];
