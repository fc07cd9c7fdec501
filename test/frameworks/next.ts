import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie } from "./framework-trial.ts";

const VARY = "rsc, next-router-state-tree, next-router-prefetch, next-router-segment-prefetch, Accept-Encoding";
const PRERENDERED = {
  vary: VARY,
  "x-nextjs-cache": "HIT",
  "x-nextjs-prerender": "1",
  "x-nextjs-stale-time": "300",
  "cache-control": "s-maxage=3600, stale-while-revalidate=31532400",
};

/** A page with `revalidate = 3600`. */
const document = (body: string): Reply => ({
  fields: { ...PRERENDERED, "x-powered-by": "Next.js", "content-type": "text/html; charset=utf-8" },
  body,
});
/** The same page for the router. */
const payload = (body: string): Reply => ({ fields: { ...PRERENDERED, "content-type": "text/x-component" }, body });
/** A page that reads cookies, and any page for an editor in draft mode. */
const dynamic = (body: string): Reply => ({
  fields: {
    vary: VARY,
    "x-powered-by": "Next.js",
    "cache-control": "private, no-cache, no-store, max-age=0, must-revalidate",
    "content-type": "text/html; charset=utf-8",
  },
  body,
});
/** If a field of the router is missing, the hash in the URL is wrong. */
const toRightHash: Reply = { status: 307, fields: { location: "/songs/42?_rsc=Vk1O8K2I4u0MlA11" }, body: "" };

/** What the router sends from the front page. It computes the hash in the URL from these fields. */
const ROUTER = {
  accept: "*/*",
  rsc: "1",
  "next-router-state-tree": "%5B%22%22%2C%7B%22children%22%3A%5B%22__PAGE__%22%2C%7B%7D%5D%7D%2Cnull%2Cnull%2Ctrue%5D",
  "next-url": "/",
};
const NAVIGATION = "/songs/42?_rsc=OGAgF-wVMNcgqdQf";
const EDITOR = { ...BROWSER, cookie: "__prerender_bypass=846aee4869bb621178c2228c64fe32a9" };
const ADA = { ...BROWSER, cookie: "session=ada" };

export const next: FrameworkTrial = {
  heading: "Next",
  recordedFrom: "Next 16.4.6",
  origin: {
    "/songs/42": [document("a song"), dynamic("a draft"), document("a song for ada"), document("a new song")],
    [NAVIGATION]: [payload("rows"), toRightHash],
    "/me": [dynamic("hello ada"), dynamic("hello nobody")],
  },
  steps: [
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song" } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: "/songs/42", fields: EDITOR, expect: { body: "a draft" } },
    { get: "/songs/42", fields: ADA, expect: { body: "a song for ada" } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: NAVIGATION, fields: ROUTER, expect: { body: "rows" } },
    { work: "finished" },
    { get: NAVIGATION, fields: ROUTER, expect: { body: "rows", xCache: "HIT" } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: "/me", fields: ADA, expect: { body: "hello ada" } },
    { get: "/me", fields: BROWSER, expect: { body: "hello nobody" } },
    { reply: { [NAVIGATION]: [payload("new rows")] } },
    { purge: { urls: ["/songs/42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a new song" } },
    { get: NAVIGATION, fields: ROUTER, expect: { body: "new rows" } },
  ],
  without: {
    "__prerender_bypass in bypass.cookies": withoutBypassCookie("__prerender_bypass"),
    "session in bypass.cookies": withoutBypassCookie("session"),
    "fields.trust": ({ fields: _, ...site }) => site,
  },
};
