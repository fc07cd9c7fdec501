import type { Reply } from "../../local/cdn/scripted-origin.ts";
import { BROWSER, type FrameworkTrial, SETTLED_MS, withoutBypassCookie, withoutRoute } from "./framework-trial.ts";

const FIELDS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "max-age=0, s-maxage=3600",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** A view that reads `request.user`: SessionMiddleware adds `Vary: Cookie`. */
const home = (body: string): Reply => ({ fields: { ...FIELDS, vary: "Cookie", "cache-tag": "song:42" }, body });

/** A view that renders `{% csrf_token %}`. */
const form: Reply = {
  fields: {
    ...FIELDS,
    vary: "Cookie",
    "set-cookie": [
      "csrftoken=rl78OHQ0Vk94zXmZZyoH56IIdbPlRvGg; expires=Sat, 20 Nov 2027 00:29:44 GMT; Max-Age=31449600; Path=/; SameSite=Lax",
    ],
  },
  body: "form",
};

/** A view that shows `messages`. It says nothing of `Vary`. */
const board = (body: string, cookies: readonly string[]): Reply => ({
  fields: { ...FIELDS, "set-cookie": cookies },
  body,
});
const MESSAGE_GONE = 'messages=""; expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; SameSite=Lax';

const CSRF = "csrftoken=n2xZLddMsTV2T0w1h0y1zH1Se3VKXPgd";
const ADA = { ...BROWSER, cookie: `${CSRF}; sessionid=a9h0zhbyicflt1t6y2wrh2ycxzpc31eh` };
const MESSAGE = {
  ...BROWSER,
  cookie:
    "messages=W1siX19qc29uX21lc3NhZ2UiLDAsMjAsInlvdXIgb3duIG1lc3NhZ2UiLCIiXV0:1xUYzA:5WVhhZNbkvCoVnCDEcg6Gw1o7TB5tUyiqhbVDRISNfs",
};

export const django: FrameworkTrial = {
  heading: "Django",
  recordedFrom: "Django 5.2.19",
  origin: {
    "/": [home("hello ada"), home("hello nobody"), home("hello ada"), home("hello again, nobody")],
    "/contact/": [form],
    "/board/": [board("no messages", []), board("your own message", [MESSAGE_GONE])],
  },
  steps: [
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody" } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/", fields: { ...BROWSER, cookie: CSRF }, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/", fields: ADA, expect: { body: "hello ada" } },
    { originLastSaw: "/", fields: { cookie: ADA.cookie } },
    { get: "/", fields: BROWSER, expect: { body: "hello nobody", xCache: "HIT" } },
    { get: "/contact/", fields: { ...BROWSER, cookie: CSRF }, expect: { fields: { "set-cookie": /^csrftoken=/ } } },
    { originLastSaw: "/contact/", fields: { cookie: CSRF } },
    { get: "/board/", fields: BROWSER, expect: { body: "no messages" } },
    { get: "/board/", fields: MESSAGE, expect: { body: "your own message" } },
    { get: "/board/", fields: BROWSER, expect: { body: "no messages", xCache: "HIT" } },
    { purge: { tags: ["song:42"] } },
    { advanceMs: SETTLED_MS },
    { get: "/", fields: BROWSER, expect: { body: "hello again, nobody" } },
  ],
  without: {
    "sessionid in bypass.cookies": withoutBypassCookie("sessionid"),
    "messages in bypass.cookies": withoutBypassCookie("messages"),
    "csrftoken in cookies.ignore": ({ cookies: _, ...site }) => site,
    "the pages with forms": withoutRoute("/:page(admin|accounts|contact){/*}?"),
  },
};
