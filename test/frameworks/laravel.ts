import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

const XSRF_COOKIE =
  "XSRF-TOKEN=eyJpdiI6Ii9sVnJlMENJM015bWJKTzRpMTRnTHc9PSIsInZhbHVlIjoidWV1cUtNZzkxZHc4V3pTN21md2llUUtzMG4vYnJQZGdNVDU5SlFhSzVPYjJ0QXFNS0c5bTJ2RzFhaTNJMjFOQmFnYzNSMjFnUElIcU41dGZORXhtUW1rVWtKaVBXYzRGalVwWVJ5UWVKUlpJUmJSc3BuZGV4VWN0WjVXWlh3QU4iLCJtYWMiOiJiM2UyNmVmNTI3YzgwYzM1YWIwNjc1MjU5MDZjZTU2ZmY0MDc4Y2NjY2VlMjE3ODg5NDg4ZTc5MjUwOWE4NTgxIiwidGFnIjoiIn0%3D";
const SESSION_COOKIE =
  "laravel_session=eyJpdiI6ImI5c1c5cldUNEg5cEhveis4K0tFMVE9PSIsInZhbHVlIjoieXVQM1dmV1dlUlV2NUJVQmptWnJQb3lrd3JHZndub1VqY2Q4azN1a09DSGdJNjBDYU10YS9BVmlKZllJTmlzSFU2MUJ5dnVjVG9DQTMrbmpTZGVyVi9CMjFCSDNST1dVcVc0UEsxMnVvb2E2cjd4OVAwK2t5bSt6Q1NubW95cUIiLCJtYWMiOiI3ODM2ZjJmYjRhZGYzM2RlNTk4N2I1ZTY4Njg5Mzc4ZjdmNGY5NjM3OGQ4NGJlNjdmNTI3Mzc1ODM5ODVmNzQ3IiwidGFnIjoiIn0%3D";
const SIGNED_IN_COOKIE =
  "signed_in=eyJpdiI6IkN5bVJCd1AzcVlPVTRzd1d1a3dFQ0E9PSIsInZhbHVlIjoiVy8yMFpPV0M5cmt2bldmdlpFOUNnL2orcG5kWnphSm9PcWlMaTNVUXAwejJrSktWQytscW11T3JyZWVCc1ZmZSIsIm1hYyI6ImM5ZWFhMThlYjUzNmJiN2E4NTE1OWI1OTJkNjQwZjVlMDIzOTNhNDNiOTY1YTBiNDc2MDNhNzdhZWUyN2VlMTgiLCJ0YWciOiIifQ%3D%3D";

/** Every answer of the `web` group. */
const SETS_SESSION = [
  `${XSRF_COOKIE}; expires=Sat, 21-Nov-2026 02:29:44 GMT; Max-Age=7200; path=/; samesite=lax`,
  `${SESSION_COOKIE}; expires=Sat, 21-Nov-2026 02:29:44 GMT; Max-Age=7200; path=/; httponly; samesite=lax`,
];

/** Behind Apache, which adds `Vary`. */
const FIELDS = { vary: "Accept-Encoding", "content-type": "text/html; charset=UTF-8" };
const SHARED = { ...FIELDS, "cache-control": "max-age=0, public, s-maxage=3600", "cache-tag": "song:42" };

/** A route outside the `web` group, with the middleware `cache.headers:public;max_age=0;s_maxage=3600`. */
const outside = (body: string): Reply => ({ fields: SHARED, body });
/** The same within the group. */
const within = (body: string): Reply => ({ fields: { ...SHARED, "set-cookie": SETS_SESSION }, body });
/** A route of the group that says nothing of caching. */
const personal = (body: string): Reply => ({
  fields: { ...FIELDS, "cache-control": "no-cache, private", "set-cookie": SETS_SESSION },
  body,
});

const ADA = { ...BROWSER, cookie: `${XSRF_COOKIE}; ${SESSION_COOKIE}; ${SIGNED_IN_COOKIE}` };
const SEEN_A_FORM = { ...BROWSER, cookie: `${XSRF_COOKIE}; ${SESSION_COOKIE}` };

export const laravel: FrameworkTrial = {
  heading: "Laravel",
  recordedFrom: "Laravel 8.83.26",
  origin: {
    "/songs/42": [outside("a song"), outside("a new song")],
    "/blog/1": [personal("a post for ada"), within("a post"), personal("a post for ada"), within("a new post")],
    "/dashboard": [personal("hello ada"), personal("hello nobody")],
    "/login": [personal("form")],
  },
  steps: [
    { get: "/songs/42", fields: SEEN_A_FORM, expect: { body: "a song" } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: "/blog/1", fields: ADA, expect: { body: "a post for ada" } },
    { get: "/blog/1", fields: SEEN_A_FORM, expect: { body: "a post", fields: { "set-cookie": null } } },
    { get: "/blog/1", fields: BROWSER, expect: { body: "a post", xCache: "HIT", fields: { "set-cookie": null } } },
    { get: "/blog/1", fields: ADA, expect: { body: "a post for ada" } },
    { get: "/dashboard", fields: ADA, expect: { body: "hello ada" } },
    {
      get: "/dashboard",
      fields: BROWSER,
      expect: { body: "hello nobody", fields: { "set-cookie": /laravel_session=/ } },
    },
    { get: "/login", fields: BROWSER, expect: { xCache: "BYPASS", fields: { "set-cookie": /laravel_session=/ } } },
    { purge: { tags: ["song:42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a new song" } },
    { get: "/blog/1", fields: BROWSER, expect: { body: "a new post" } },
  ],
  without: {
    "signed_in in bypass.cookies": withoutBypassCookie("signed_in"),
    stripSetCookie: withoutRoute("/blog{/*}?"),
    "the pages with forms": withoutRoute("/:page(login|logout|register|password|account){/*}?"),
  },
};
