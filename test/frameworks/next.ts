import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

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
/** What `proxy.ts` answers to visitors who may not see a page. */
const toFrontPage: Reply = { status: 307, fields: { location: "/" }, body: "/" };
const toFrontPageInRouter: Reply = { status: 307, fields: { "x-nextjs-redirect": "/" }, body: "" };
/** A file of the build. */
const script: Reply = { fields: { vary: "Accept-Encoding", "cache-control": "public, max-age=31536000, immutable" } };
const image: Reply = { fields: { vary: "Accept", "cache-control": "public, max-age=14400, must-revalidate" } };
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
/** The address by which the Pages Router asks for a page. `proxy.ts` guards it, and Next has it for every page. */
const ACCOUNT_DATA = "/_next/data/EbcQbwkSzjWwMRKmKTHHu/account.json";
const SCRIPT = "/_next/static/chunks/1pcw6gskne7pf.js";
const IMAGE = "/_next/image?url=%2Fa.png&w=64&q=75";
const EDITOR = { ...BROWSER, cookie: "__prerender_bypass=846aee4869bb621178c2228c64fe32a9" };
/** `proxy.ts` knows her by a cookie that `bypass` does not name. */
const MEMBER = { ...BROWSER, cookie: "member=eve" };
const ADA = { ...BROWSER, cookie: "session=ada" };

export const next: FrameworkTrial = {
  heading: "Next",
  recordedFrom: "Next 16.4.6",
  origin: {
    "/songs/42": [document("a song"), dynamic("a draft"), document("a song for ada"), document("a new song")],
    [NAVIGATION]: [payload("rows"), toRightHash],
    "/account": [document("for members"), toFrontPage],
    [ACCOUNT_DATA]: [document("for members"), toFrontPageInRouter],
    [SCRIPT]: [script],
    [IMAGE]: [image],
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
    // A window in which browsers may show old rows without asking would outlast each purge.
    {
      get: NAVIGATION,
      fields: ROUTER,
      expect: { body: "rows", xCache: "HIT", fields: { "cache-control": "max-age=0" } },
    },
    { get: SCRIPT, expect: { fields: script.fields as Record<string, string> } },
    { get: IMAGE, expect: { fields: image.fields as Record<string, string> } },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a song", xCache: "HIT" } },
    { get: "/me", fields: ADA, expect: { body: "hello ada" } },
    { get: "/me", fields: BROWSER, expect: { body: "hello nobody" } },
    { get: "/account", fields: MEMBER, expect: { body: "for members" } },
    { get: "/account", fields: BROWSER, expect: { status: 307 } },
    { get: ACCOUNT_DATA, fields: MEMBER, expect: { body: "for members" } },
    { get: ACCOUNT_DATA, fields: BROWSER, expect: { status: 307 } },
    { reply: { [NAVIGATION]: [payload("new rows")] } },
    { purge: { prefixes: ["/songs/42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/songs/42", fields: BROWSER, expect: { body: "a new song" } },
    { get: NAVIGATION, fields: ROUTER, expect: { body: "new rows" } },
  ],
  without: {
    "__prerender_bypass in bypass.cookies": withoutBypassCookie("__prerender_bypass"),
    "session in bypass.cookies": withoutBypassCookie("session"),
    "the pages behind proxy.ts": withoutRoute("/account{/*}?"),
    "the same pages as data": withoutRoute("/_next/data/*"),
    "browserTtl of pages": withoutRoute("/*"),
    "a route for the files that browsers keep": withoutRoute("/_next/:part(static|image){/*}?"),
    "fields.trust": ({ fields: _, ...site }) => site,
  },
};
