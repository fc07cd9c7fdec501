import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

const FIELDS = {
  "x-frame-options": "SAMEORIGIN",
  "x-xss-protection": "1; mode=block",
  "x-content-type-options": "nosniff",
  "x-download-options": "noopen",
  "x-permitted-cross-domain-policies": "none",
  "referrer-policy": "strict-origin-when-cross-origin",
  "content-type": "text/html; charset=utf-8",
  "x-request-id": "42adb95a-3295-4c82-a6ca-d710ab980819",
  "x-runtime": "0.000987",
};
const SESSION_COOKIE =
  "_demo_session=lN4U8xbhLzhlChEK6rxm0C2dyAH9IhGRFonczl%2BVNPUKf5%2FdW1e7h%2BrRd8AVq7AEgrJMOlHJ44Lsd65xplxpgPjKTYuxrriqf1kuGnPk5QBxtyR51KYa03EMJ8KGuSYZptt5yTjOYb6CGQDqTbLxzULA3l1loXdHSpon%2Fkpt8YC%2BQV5KAewqYQeeI9GfLMZpjP1Z9MEmmvO4i6QWc4V4LiMXPb4N2IQPeeLz3CI5qYIsnIN%2BJU2iqgvd1QQEUOKQcUoAIINuZKzOgAyQI7E7SxKay0whNnVxHSc7ju3999Kd4ZPZaJ7jyBN0JQMu1WfxvA%3D%3D--sABJYWmLDAy33m8Y--9LR%2FgSZlnsQHCq6DKg2%2Frw%3D%3D";
const SETS_SESSION = `${SESSION_COOKIE}; path=/; HttpOnly; SameSite=Lax`;

/** A page after `expires_in 0, public: true, "s-maxage": 3600`. */
const shared = (body: string): Reply => ({
  fields: {
    ...FIELDS,
    "cache-control": "max-age=0, public, s-maxage=3600",
    "cache-tag": "song:42",
    etag: 'W/"3969b36a3955905d4ce60c7198bfb3cb"',
  },
  body,
});

/** A page without `expires_in` that reads the session. */
const personal = (body: string): Reply => ({
  fields: {
    ...FIELDS,
    "cache-control": "max-age=0, private, must-revalidate",
    etag: 'W/"837da228e273c7f559eeae81e072cca5"',
    "set-cookie": [SETS_SESSION],
  },
  body,
});

/** The same page as JSON, by `respond_to`, for a client that accepts nothing else. */
const json: Reply = {
  fields: {
    ...FIELDS,
    "content-type": "application/json; charset=utf-8",
    vary: "Accept",
    "cache-control": "max-age=0, public, s-maxage=3600",
    etag: 'W/"625c2aeed2461561dc0df1bea0d581c9"',
  },
  body: '{"title":"Lanterns"}',
};

/** A page whose layout has `csrf_meta_tags`. */
const withMetaTags: Reply = {
  fields: { ...FIELDS, "cache-control": "max-age=0, public, s-maxage=3600", "set-cookie": [SETS_SESSION] },
  body: "a post",
};

const ADA = { ...BROWSER, cookie: `signed_in=1; ${SESSION_COOKIE}` };
const SEEN_A_FORM = { ...BROWSER, cookie: SESSION_COOKIE };

export const rails: FrameworkTrial = {
  heading: "Ruby on Rails",
  recordedFrom: "Rails 6.1.7.10",
  origin: {
    "/": [personal("hello ada"), shared("hello nobody"), personal("hello ada"), shared("hello again, nobody")],
    "/songs/42": [shared("a song"), json],
    "/blog/1": [withMetaTags],
    "/login": [personal("form")],
  },
  steps: [
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/", fields: SEEN_A_FORM, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song" } },
    { get: "/songs/42", fields: { accept: "application/json" }, expect: { body: '{"title":"Lanterns"}' } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: "/songs/42", fields: { accept: "application/json" }, expect: { body: /Lanterns/, xCache: "HIT" } },
    { get: "/blog/1", fields: BROWSER, expect: { body: "a post", fields: { "set-cookie": null } } },
    { get: "/blog/1", fields: BROWSER, expect: { body: "a post", xCache: "HIT", fields: { "set-cookie": null } } },
    { get: "/login", fields: BROWSER, expect: { xCache: "BYPASS", fields: { "set-cookie": /^_demo_session=/ } } },
    { purge: { tags: ["song:42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/", fields: BROWSER, expect: { body: "hello again, nobody" } },
  ],
  without: {
    "signed_in in bypass.cookies": withoutBypassCookie("signed_in"),
    "accept in key.fields": withoutRoute("/songs/:id"),
    stripSetCookie: withoutRoute("/blog{/*}?"),
    "the pages with forms": withoutRoute("/:page(login|account){/*}?"),
  },
};
