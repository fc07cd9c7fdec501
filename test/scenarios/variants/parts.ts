import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const SOURCE = "docs/http.md#parts-of-pages";
const htmx = { "hx-request": "true" };
const inertia = { "x-inertia": "true", "x-inertia-version": "1.0" };
const whole = page("max-age=60", "whole");
const part = page("max-age=60", "part");

/** Stores the page and then, under these fields, its part. */
function both(fields: Readonly<Record<string, string>>): Step[] {
  return [
    { get: "/a", expect: { xCache: "MISS", body: "whole" } },
    { get: "/a", fields, expect: { xCache: "MISS", body: "part", cacheStatus: /stored/ } },
    { get: "/a", fields, expect: { xCache: "HIT", body: "part" } },
    { get: "/a", expect: { xCache: "HIT", body: "whole" } },
  ];
}

/** Parts of pages, for which frameworks ask by fields that `Vary` often does not name. */
export const scenarios: readonly Scenario[] = [
  ...(
    [
      ["htmx", htmx],
      ["turbo", { "turbo-frame": "main" }],
      ["pjax", { "x-pjax": "true", "x-pjax-container": "#main" }],
      ["inertia", { "x-inertia": "true", "x-inertia-version": "6b16b94d" }],
      ["unpoly", { "x-up-version": "3.11.0", "x-up-target": "#main" }],
      ["livewire", { "x-livewire": "1", "x-livewire-navigate": "1" }],
      ["tanstack", { "x-tsr-serverfn": "true" }],
      ["qwik", { "x-qrl": "x" }],
      ["solidstart", { "x-server-id": "a", "x-server-instance": "server-fn:0" }],
      ["next", { rsc: "1", "next-router-prefetch": "1", "next-router-state-tree": "%5B%22%22%5D", "next-url": "/b" }],
      ["jquery", { "x-requested-with": "XMLHttpRequest" }],
      ["content-type", { "content-type": "application/json" }],
    ] as const
  ).map(
    ([framework, fields]): Scenario => ({
      id: `variants/parts-${framework}`,
      name: `where Vary is silent, a part is stored beside its page: ${Object.keys(fields).join(", ")}`,
      source: SOURCE,
      origin: { "/a": [whole, part] },
      steps: both(fields),
    }),
  ),
  {
    id: "variants/parts-behind-a-csrf-check",
    name: "a GET that an API accepts by its Content-Type alone is answered, stored, and given to no other GET",
    source: SOURCE,
    origin: { "/a": [page("public, max-age=60", "data"), { status: 400, fields: { "cache-control": "no-store" } }] },
    steps: [
      {
        get: "/a",
        fields: { "content-type": "application/json", cookie: "consent=1" },
        expect: { status: 200, xCache: "MISS", cacheStatus: /stored/ },
      },
      { originLastSaw: "/a", fields: { "content-type": "application/json" } },
      { get: "/a", fields: { "content-type": "application/json" }, expect: { xCache: "HIT", body: "data" } },
      { get: "/a", expect: { status: 400, xCache: "MISS" } },
      { get: "/a", fields: { "content-type": "text/plain" }, expect: { status: 400, xCache: "MISS" } },
    ],
  },
  {
    id: "variants/parts-first",
    name: "a page is not answered with the part that came first",
    source: SOURCE,
    origin: { "/a": [part, whole] },
    steps: [
      { get: "/a", fields: htmx, expect: { xCache: "MISS", body: "part" } },
      { get: "/a", expect: { xCache: "MISS", body: "whole" } },
      { get: "/a", fields: htmx, expect: { xCache: "HIT", body: "part" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "variants/parts-unnamed-fields",
    name: "if Vary names no field of the framework, all fields by which it chooses select variants",
    source: SOURCE,
    origin: { "/a": [part, page("max-age=60", "body"), page("max-age=60", "history")] },
    steps: [
      { get: "/a", fields: htmx, expect: { xCache: "MISS", body: "part" } },
      { get: "/a", fields: { ...htmx, "hx-boosted": "true" }, expect: { xCache: "MISS", body: "body" } },
      {
        get: "/a",
        fields: { ...htmx, "hx-history-restore-request": "true" },
        expect: { xCache: "MISS", body: "history" },
      },
      { get: "/a", fields: { ...htmx, "hx-boosted": "true" }, expect: { xCache: "HIT", body: "body" } },
      { get: "/a", fields: htmx, expect: { xCache: "HIT", body: "part" } },
    ],
  },
  ...(
    [
      ["htmx", "HX-Request", htmx, { ...htmx, "hx-boosted": "true" }],
      ["htmx-history", "HX-Request", htmx, { ...htmx, "hx-history-restore-request": "true" }],
      ["pjax", "X-PJAX", { "x-pjax": "true" }, { "x-pjax": "true", "x-pjax-container": "#list" }],
      ["inertia", "X-Inertia", inertia, { ...inertia, "x-inertia-version": "0.9" }],
      ["inertia-partial", "X-Inertia", inertia, { ...inertia, "x-inertia-partial-data": "comments" }],
      ["unpoly", "X-Up-Version", { "x-up-version": "3.11.0" }, { "x-up-version": "3.11.0", "x-up-target": "#list" }],
      ["livewire", "X-Livewire", { "x-livewire": "1" }, { "x-livewire": "1", "x-livewire-navigate": "1" }],
    ] as const
  ).map(
    ([id, vary, fields, otherFields]): Scenario => ({
      id: `variants/parts-named-field-${id}`,
      name: `if Vary names ${vary} alone, ${Object.keys(otherFields).at(-1)} selects parts, too, and everybody shares the page`,
      source: SOURCE,
      origin: { "/a": ["whole", "part", "other"].map((body) => page("max-age=60", body, { vary })) },
      steps: [
        ...both(fields),
        { get: "/a", fields: otherFields, expect: { xCache: "MISS", body: "other", cacheStatus: /stored/ } },
        { get: "/a", fields: otherFields, expect: { xCache: "HIT", body: "other" } },
        { get: "/a", fields, expect: { xCache: "HIT", body: "part" } },
        { get: "/a", expect: { xCache: "HIT", body: "whole" } },
      ],
    }),
  ),
  {
    id: "variants/parts-named-by-next",
    name: "if Next's Vary names RSC, the fields that it leaves out do not select parts",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "part", { vary: "rsc, next-router-state-tree, next-router-prefetch" })] },
    steps: [
      { get: "/a", fields: { rsc: "1" }, expect: { xCache: "MISS", body: "part" } },
      { get: "/a", fields: { rsc: "1", "next-url": "/b" }, expect: { xCache: "HIT", body: "part" } },
    ],
  },
  {
    id: "variants/parts-of-two-frameworks",
    name: "a part stored for one framework's fields is not served for another framework's",
    source: SOURCE,
    origin: { "/a": [part, page("max-age=60", "both")] },
    steps: [
      { get: "/a", fields: htmx, expect: { xCache: "MISS", body: "part" } },
      { get: "/a", fields: { ...htmx, "turbo-frame": "main" }, expect: { xCache: "MISS", body: "both" } },
      { get: "/a", fields: htmx, expect: { xCache: "HIT", body: "part" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "variants/parts-ninth-value",
    name: "a ninth value of a field is not stored until one of the eight is stale or purged",
    source: SOURCE,
    origin: { "/a": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((frame) => page("max-age=60", `frame ${frame}`)) },
    steps: [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(
        (frame): Step => ({ get: "/a", fields: { "turbo-frame": `${frame}` }, expect: { cacheStatus: /stored/ } }),
      ),
      {
        get: "/a",
        fields: { "turbo-frame": "9" },
        expect: { xCache: "MISS", cacheStatus: /detail=too-many-parts/, body: "frame 9" },
      },
      { get: "/a", fields: { "turbo-frame": "1" }, expect: { xCache: "HIT", body: "frame 1" } },
      { get: "/a", fields: { "turbo-frame": "9" }, expect: { xCache: "MISS", body: "frame 10" } },
      { advanceMs: 61_000 },
      {
        get: "/a",
        fields: { "turbo-frame": "9" },
        expect: { xCache: "MISS", cacheStatus: /stored/, body: "frame 11" },
      },
      { get: "/a", fields: { "turbo-frame": "9" }, expect: { xCache: "HIT", body: "frame 11" } },
    ],
  },
  {
    id: "variants/parts-purged-by-url",
    name: "a purge of a URL purges the page and its parts",
    source: SOURCE,
    origin: { "/a": [whole, part, page("max-age=60", "part 2"), page("max-age=60", "whole 2")] },
    steps: [
      ...both(htmx),
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: htmx, expect: { xCache: "MISS", body: "part 2" } },
      { get: "/a", expect: { xCache: "MISS", body: "whole 2" } },
    ],
  },
  {
    id: "variants/parts-after-a-post",
    name: "a POST to a URL invalidates its parts before it is answered",
    source: SOURCE,
    origin: { "/a": [whole, part, page("no-store", "done"), page("max-age=60", "part 2")] },
    steps: [
      ...both(htmx),
      { send: { method: "POST", path: "/a" }, expect: { body: "done" } },
      { get: "/a", fields: htmx, expect: { body: "part 2" } },
    ],
  },
  {
    id: "variants/parts-of-an-app",
    name: "an app's name in X-Requested-With does not ask for a part",
    source: SOURCE,
    origin: { "/a": [whole] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "whole" } },
      { get: "/a", fields: { "x-requested-with": "com.example.reader" }, expect: { xCache: "HIT" } },
    ],
  },
  ...(["drop", "trust"] as const).map(
    (rule): Scenario => ({
      id: `variants/parts-owners-${rule}`,
      name: `a field that the owner names in fields.${rule} does not ask for a part`,
      source: SOURCE,
      site: { fields: { [rule]: ["hx-*"] } },
      origin: { "/a": [whole] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "whole" } },
        { get: "/a", fields: htmx, expect: { xCache: "HIT", body: "whole" } },
      ],
    }),
  ),
  {
    id: "variants/parts-confirmed",
    name: "a stale part is validated with its own validator",
    source: SOURCE,
    origin: {
      "/a": [
        page("max-age=60", "whole", { etag: '"whole"' }),
        page("max-age=60", "part", { etag: '"part"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"part"' } },
      ],
    },
    steps: [
      ...both(htmx),
      { advanceMs: 61_000 },
      { get: "/a", fields: htmx, expect: { xCache: "REVALIDATED", body: "part" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"part"' } },
    ],
  },
];
