import { defineSite } from "tidemark/worker";

/**
 * The rules of the demo site, with every feature that there is. For a site of your own, three lines do: `origin`, `hosts`,
 * and a route with `pass: true` for what must never be cached. What no route matches obeys the origin's Cache-Control.
 */
export default defineSite({
  // Where the site really is. TIDEMARK_ORIGIN, and --origin of the dev command, outrank it.
  origin: "http://127.0.0.1:8788",

  // The public hosts; all others are answered 421. A deployed edge refuses to serve without them: set this or TIDEMARK_HOSTS.
  // hosts: ["www.example.com"],

  // The public address that is keyed and forwarded, where the edge itself is reached under another one.
  // publicUrl: "https://www.example.com",

  // In order; the first that matches wins.
  routes: [
    // Everything goes to the origin as it is; nothing is looked up or stored. `/admin` without a slash, too.
    { match: "/admin{/*}?", pass: true },

    {
      match: "/api/search/autocomplete",
      // One entry for "Lan", " lan " and "LAN", whatever other parameters come along; the origin is asked for "lan".
      key: { query: { only: ["q"], lowercase: ["q"], trim: ["q"] } },
      // Long queries hardly come twice: they pass.
      store: { when: { query: { q: { maxLength: 9 } } } },
      // Replaces the hour that the origin says. It makes nothing storable that the origin forbids to store.
      ttl: "24h",
      // Tags beside those that the origin sends in Cache-Tag.
      tags: ["autocomplete"],
    },
    { match: "/api/search", key: { query: { only: ["q", "page"], trim: ["q"] } }, tags: ["songs"] },
    // `{id}` is what `:id` matched: a purge of song:42 finds this page.
    { match: "/api/song/:id", key: { query: { only: [] } }, tags: ["songs", "song:{id}"] },
    { match: "/songs", key: { query: { only: ["q", "page"], trim: ["q"] } }, tags: ["songs"] },

    { match: "/plog/", key: { query: { only: ["page"] } }, tags: ["plog-list"] },
    { match: "/plog/feed.xml", key: { query: { only: [] } }, tags: ["feed"] }, // before :slug, which would match it
    // `ignore` replaces the list of tracking parameters that are dropped everywhere; `sort` makes ?a&b and ?b&a one entry.
    { match: "/plog/:slug", key: { query: { ignore: ["utm_*", "ref"], sort: true } }, tags: ["plog", "plog:{slug}"] },

    { match: "/images/*", key: { query: { only: [] } }, tags: ["images"] },
    { match: "/style.css", key: { query: { only: ["v"] } }, tags: ["style"] },
    // The origin gives no lifetime here. One for all statuses would be `defaultTtl: "24h"`.
    { match: "/robots.txt", key: { query: { only: [] } }, defaultTtl: { 200: "24h", 404: "1m" }, tags: ["robots"] },
  ],

  // Cookies that no origin reads. They do not reach it on routes that store, and make no visitor special.
  cookies: { ignore: ["_ga", "_ga_*", "_gid", "_fbp"] },

  // Fields on every request to the origin: a secret that shows it that the request came through the edge.
  originFields: { "X-Edge": "tidemark-demo" },

  // What is bounded, with the defaults.
  limits: {
    urlBytes: "16KiB", // longer URLs get 414
    storeBytes: "8MiB", // larger bodies stream past
    fillBytes: "32MiB", // bodies being read for the store, together, in one isolate
    memoryBytes: "32MiB", // the memory tier of one isolate
    tags: 1000, // a response with more is not stored: it could not be purged by all of them
    originTimeout: "30s", // then 504
    followTimeout: "10s", // how long a request waits for another one's fetch of the same page
  },

  // A PoP may answer from what it knows of the purges for `leaseMs`; a receipt settles after that and `skewMs`.
  // After a soft purge, a page without stale-while-revalidate may be shown for `softForMs` while it is fetched anew.
  purge: { leaseMs: 1000, skewMs: 250, softForMs: 0 },
});
