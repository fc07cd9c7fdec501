import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

const FIELDS = { "x-powered-by": "Express", "content-type": "text/html; charset=utf-8", "cache-tag": "song:42" };
const SHARED = {
  ...FIELDS,
  "cache-control": "public, max-age=0, s-maxage=3600",
  etag: 'W/"11-qmEQmgW56uX/S3I0S4taYIXlyds"',
};
const SESSION_COOKIE = "connect.sid=s%3Ac8ULJ0KSMXan3erjizO6BP0XVorX0yj7.AYsI%2Ba7acpPEO7uaIkvH4DzKgZOMQ5BbA39nkXDp2c8";

const shared = (body: string): Reply => ({ fields: SHARED, body });
/** For a visitor whose session has a user. */
const personal = (body: string): Reply => ({
  fields: { ...FIELDS, "cache-control": "private, no-store", etag: 'W/"1b-wQ3v9s2+6bl+pB/jdi/HICJri/g"' },
  body,
});
/** With `saveUninitialized: true`, which is the default of express-session. */
const withSession = (body: string): Reply => ({
  fields: { ...SHARED, "set-cookie": [`${SESSION_COOKIE}; Path=/; HttpOnly`] },
  body,
});

const ADA = { ...BROWSER, cookie: SESSION_COOKIE };

export const express: FrameworkTrial = {
  heading: "Express",
  recordedFrom: "Express 5.3.0 with express-session 1.19.0",
  origin: {
    "/": [personal("hello ada"), shared("hello nobody"), personal("hello ada"), shared("hello again, nobody")],
    "/everybody-gets-a-session": [withSession("hello nobody")],
    "/cart": [withSession("cart")],
  },
  steps: [
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/everybody-gets-a-session", fields: BROWSER, expect: { cacheStatus: /detail=set-cookie/ } },
    { get: "/everybody-gets-a-session", fields: BROWSER, expect: { cacheStatus: /detail=set-cookie/ } },
    { get: "/cart", fields: BROWSER, expect: { xCache: "BYPASS", fields: { "set-cookie": /^connect\.sid=/ } } },
    { purge: { tags: ["song:42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/", fields: BROWSER, expect: { body: "hello again, nobody" } },
  ],
  without: {
    "connect.sid in bypass.cookies": withoutBypassCookie("connect.sid"),
    "the pages of one visitor": withoutRoute("/:page(login|account|cart){/*}?"),
  },
};
