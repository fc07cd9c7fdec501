import type { ClientRequest } from "../../engine/scenario.ts";
import { answerOf, BOARDS, etagOf, ITEMS, LAST_MODIFIED, PAGES } from "./site.ts";
import type { Visit } from "./visit.ts";

type Fields = Readonly<Record<string, string>>;

/** One kind of visitor: the requests of a session, in their order. */
export interface SessionKind {
  readonly name: string;
  readonly session: (visit: Visit) => readonly ClientRequest[];
  /** Why Tidemark may have fewer hits here than a cache that is safe for these visitors. Default: it may not. */
  readonly price?: string;
}

const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const BROWSERS: readonly Fields[] = [
  {
    "user-agent":
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "accept-language": "en-US,en;q=0.9",
    "accept-encoding": "gzip, deflate, br, zstd",
    "sec-ch-ua": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Windows"',
  },
  {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "accept-language": "de,en-US;q=0.7,en;q=0.3",
    "accept-encoding": "gzip, deflate, br, zstd",
    "alt-used": "www.example.test",
    te: "trailers",
  },
  {
    "user-agent":
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    "accept-language": "fr-FR,fr;q=0.9",
    "accept-encoding": "gzip, deflate, br",
  },
  {
    // Android's WebView in an app that shows links.
    "user-agent":
      "Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP4A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36",
    "accept-language": "en-GB,en-US;q=0.9,en;q=0.8",
    "accept-encoding": "gzip, deflate, br, zstd",
    "x-requested-with": "com.example.reader",
  },
];

const NAVIGATION: Fields = {
  accept: HTML,
  "upgrade-insecure-requests": "1",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "same-origin",
};

function analyticsCookies(visit: Visit): string {
  return `_ga=GA1.1.${visit.below(1e9)}.1767258000; _ga_X1Y2=GS1.1.${visit.below(1e9)}.1.1; _fbp=fb.1.${visit.below(1e9)}`;
}

/** Some have no cookies, some those of analytics, and some have chosen something on the site as well. */
function browserCookies(visit: Visit): Fields {
  if (visit.happens(0.35)) return {};
  const analytics = analyticsCookies(visit);
  return { cookie: visit.happens(0.6) ? analytics : `cookie_consent=all; theme=dark; ${analytics}` };
}

const HERE = "https://www.example.test";

/** A page with its two assets. The browser keeps assets, so only the first page of a session brings them. */
function assets(browser: Fields, page: string): ClientRequest[] {
  const fields = { ...browser, accept: "*/*", referer: HERE + page, "sec-fetch-mode": "no-cors" };
  return ["/assets/site.css", "/assets/site.js"].map((path) => ({ path, fields }));
}

/** A fifth of the sessions begin with a link from a mail or an advertisement; some pages are loaded again. */
function browserSession(visit: Visit): ClientRequest[] {
  const browser = { ...visit.pick(BROWSERS), ...browserCookies(visit) };
  const requests = visit.times(3, 10, (): ClientRequest => {
    const path = `/plog/${visit.popular(PAGES)}`;
    const fields = { ...browser, ...NAVIGATION };
    if (!visit.happens(0.1)) return { path, fields };
    const etag = etagOf(answerOf({ method: "GET", target: path, fields: {}, body: "" }).body ?? "");
    return { path, fields: { ...fields, "cache-control": "max-age=0", "if-none-match": etag } };
  });
  const [first, ...others] = requests;
  const landing = visit.happens(0.2)
    ? { ...first!, path: `${first!.path}?utm_source=mail&utm_campaign=may&fbclid=${visit.hex(24)}` }
    : first!;
  return [landing, ...assets(browser, first!.path), ...others];
}

/** An app's client: its version on every request, and a new number for each. */
function appClient(visit: Visit): () => Fields {
  const version = visit.pick(["5.1.0", "5.2.4", "5.3.0", "5.3.1"]);
  const android: Fields = {
    "user-agent": "okhttp/4.12.0",
    accept: "application/json",
    "accept-encoding": "gzip",
    "x-app-version": version,
  };
  const ios: Fields = {
    "user-agent": `Tide/${version} (com.example.tide; build:812; iOS 18.6.0) Alamofire/5.9.1`,
    accept: "application/json",
    "accept-language": "en-DE;q=1.0, de-DE;q=0.9",
    "accept-encoding": "br;q=1.0, gzip;q=0.9, deflate;q=0.8",
    "x-app-version": version,
  };
  return visit.happens(0.5)
    ? () => ({ ...android, "x-request-id": visit.uuid(), traceparent: `00-${visit.hex(32)}-${visit.hex(16)}-01` })
    : () => ({ ...ios, "x-request-id": visit.uuid() });
}

function appSession(visit: Visit): ClientRequest[] {
  const fields = appClient(visit);
  return visit.times(6, 14, () => ({ path: `/api/items/${visit.popular(ITEMS)}`, fields: fields() }));
}

/** The app asks for what its version shows first, and the site answers by the version without a word in `Vary`. */
function appStartSession(visit: Visit): ClientRequest[] {
  const fields = appClient(visit);
  return visit.times(2, 4, () => ({ path: `/api/start/${visit.below(4)}`, fields: fields() }));
}

/** The app of somebody who is logged in, with a page of that visitor's own at this path. */
function tokenSession(own: string): SessionKind["session"] {
  return (visit) => {
    const client = appClient(visit);
    const authorization = `Bearer ${visit.hex(40)}`;
    const fields = () => ({ ...client(), authorization });
    const items = visit.times(5, 10, () => ({ path: `/api/items/${visit.popular(ITEMS)}`, fields: fields() }));
    return [{ path: own, fields: fields() }, ...items, { path: own, fields: fields() }];
  };
}

const CRAWLERS: readonly Fields[] = [
  {
    "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    accept: `${HTML.slice(0, -8)},application/signed-exchange;v=b3,*/*;q=0.8`,
    "accept-encoding": "gzip, deflate, br",
    from: "googlebot(at)googlebot.com",
    "amp-cache-transform": 'google;v="1..8"',
  },
  {
    "user-agent": "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    accept: "*/*",
    "accept-encoding": "gzip, deflate, br",
    "cache-control": "no-cache",
    pragma: "no-cache",
    from: "bingbot(at)microsoft.com",
  },
  {
    "user-agent":
      "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    accept: "*/*",
    "accept-encoding": "gzip, br, deflate",
    from: "gptbot(at)openai.com",
  },
  {
    "user-agent": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    accept: "*/*",
    "accept-encoding": "deflate, gzip, br",
  },
];

/** Some visits ask only whether a page has changed since the last one. */
function crawlerSession(visit: Visit): ClientRequest[] {
  const crawler = visit.pick(CRAWLERS);
  const pages = visit.times(5, 15, (): ClientRequest => {
    const again: Fields = visit.happens(0.3) ? { "if-modified-since": LAST_MODIFIED } : {};
    return { path: `/plog/${visit.below(PAGES)}`, fields: { ...crawler, ...again } };
  });
  return [{ path: "/robots.txt", fields: crawler }, ...pages];
}

function monitorSession(visit: Visit): ClientRequest[] {
  const monitors: readonly (() => ClientRequest)[] = [
    () => ({
      method: "HEAD",
      path: "/",
      fields: {
        "user-agent": "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
        accept: HTML,
        "accept-encoding": "gzip, deflate",
        "cache-control": "no-cache",
      },
    }),
    () => ({
      path: "/",
      fields: {
        "user-agent": "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
        "accept-encoding": "gzip, deflate",
        pragma: "no-cache",
      },
    }),
    () => ({
      path: "/status",
      fields: {
        "user-agent": "Datadog/Synthetics",
        accept: "*/*",
        "accept-encoding": "gzip, deflate, br",
        "x-datadog-trace-id": String(visit.below(1e15)),
        "x-datadog-parent-id": "0",
        "x-datadog-origin": "synthetics",
        "x-datadog-sampling-priority": "1",
        traceparent: `00-${visit.hex(32)}-${visit.hex(16)}-01`,
        tracestate: "dd=s:1;o:synthetics",
      },
    }),
    () => ({
      path: "/status",
      fields: {
        "user-agent": "Blackbox Exporter/0.25.0",
        "accept-encoding": "gzip",
      },
    }),
    () => ({
      path: "/",
      fields: {
        "user-agent":
          "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/134.0.0.0 Safari/537.36",
        ...NAVIGATION,
        "accept-encoding": "gzip, deflate, br, zstd",
        "x-abuse-info": "Request sent by a New Relic Synthetics Monitor (https://docs.newrelic.com/docs/synthetics/)",
        newrelic: Buffer.from(visit.uuid()).toString("base64"),
        traceparent: `00-${visit.hex(32)}-${visit.hex(16)}-01`,
        tracestate: `${visit.below(1e6)}@nr=0-0-${visit.below(1e6)}-${visit.below(1e6)}-${visit.hex(16)}----1767258000`,
      },
    }),
  ];
  return visit.times(4, 8, visit.pick(monitors));
}

/** A page, and then parts of the same pages that htmx asks for. */
function htmxSession(folder: string): SessionKind["session"] {
  return (visit) => {
    const browser = { ...visit.pick(BROWSERS), ...browserCookies(visit) };
    const begun = `${folder}/${visit.popular(BOARDS)}`;
    const parts = visit.times(
      4,
      9,
      (): ClientRequest => ({
        path: `${folder}/${visit.popular(BOARDS)}`,
        fields: {
          ...browser,
          accept: "*/*",
          referer: HERE + begun,
          "sec-fetch-mode": "cors",
          "hx-request": "true",
          "hx-current-url": HERE + begun,
          ...(visit.happens(0.5) && { "hx-target": "main" }),
        },
      }),
    );
    return [{ path: begun, fields: { ...browser, ...NAVIGATION } }, ...assets(browser, begun), ...parts];
  };
}

/** Somebody with a session of Django, with a page of that visitor's own at this path, and others in this folder. */
function loggedInSession(own: string, folder: string): SessionKind["session"] {
  return (visit) => {
    const sessionid = `sessionid=${visit.hex(32)}; csrftoken=${visit.hex(32)}`;
    const browser = { ...visit.pick(BROWSERS), cookie: `${analyticsCookies(visit)}; ${sessionid}` };
    const get = (path: string): ClientRequest => ({ path, fields: { ...browser, ...NAVIGATION } });
    const pages = visit.times(4, 8, () => get(`${folder}/${visit.popular(PAGES)}`));
    return [get(own), ...assets(browser, own), ...pages, get(own)];
  };
}

/** The kinds of sessions, each a row of the table. */
export const KINDS: readonly SessionKind[] = [
  { name: "browsers", session: browserSession },
  { name: "app clients with version and request ids", session: appSession },
  { name: "app clients, answered by version without Vary", session: appStartSession },
  { name: "app users with tokens, own data private", session: tokenSession("/api/me") },
  { name: "app users with tokens, own data not private", session: tokenSession("/api/orders") },
  { name: "crawlers", session: crawlerSession },
  { name: "monitoring", session: monitorSession },
  { name: "htmx, named in Vary", session: htmxSession("/board") },
  { name: "htmx, not named in Vary", session: htmxSession("/feed") },
  { name: "logged-in users, own pages private", session: loggedInSession("/account", "/plog") },
  { name: "logged-in users, own pages not private", session: loggedInSession("/inbox", "/plog") },
  {
    name: "logged-in users alone, shared pages not public",
    session: loggedInSession("/account", "/news"),
    price: "what visitors with cookies get is stored only if it says public, and no other visitors come to these pages",
  },
];
