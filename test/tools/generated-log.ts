import { chances } from "../engine/chances.ts";

/**
 * The traffic of a site that does not exist, because real logs are hard to come by: a blog with a search, for people who
 * follow Zipf's law and the hours of the day, and whoever else asks. The seed decides everything.
 */
export interface TrafficSettings {
  readonly seed: number;
  /** About how many requests. A visitor's typing is not cut off. */
  readonly requests: number;
  readonly days: number;
  /** Default: 2,000. */
  readonly pages?: number;
  /** Epoch milliseconds. Default: 2026-10-05T00:00:00Z, a Monday. */
  readonly startAt?: number;
}

export interface GeneratedRequest {
  readonly at: number;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly bytes: number;
  readonly agent: string;
}

const START_AT = Date.UTC(2026, 9, 5);
const DAY_MS = 86_400_000;
const PAGES = 2_000;
/** A visit makes about so many requests. */
const VISIT_REQUESTS = 2.1;
/** How steeply popularity falls. */
const EXPONENT = 0.9;

const PEOPLE = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
];
const CRAWLER = "Mozilla/5.0 (compatible; ExampleBot/2.1; +http://bot.example.com/)";
const CAMPAIGNS = ["autumn", "newsletter-41", "newsletter-42"];
const WORDS = [
  "yesterday",
  "hallelujah",
  "imagine",
  "creep",
  "wonderwall",
  "hurt",
  "jolene",
  "angie",
  "heroes",
  "hey jude",
];

type Random = () => number;
type Visit = Omit<GeneratedRequest, "at"> & { readonly afterMs: number };

/** The requests in the order of time. */
export function* generatedRequests(settings: TrafficSettings): Generator<GeneratedRequest> {
  const { seed, requests, days, pages = PAGES, startAt = START_AT } = settings;
  const random = chances(seed);
  const pageOf = zipf(pages, EXPONENT, random);
  const wordOf = zipf(400, 0.8, random);
  const crawl = { next: 0 };
  const gapMs = (days * DAY_MS) / requests;
  /** What visitors have begun and not finished, the earliest first. */
  const pending: GeneratedRequest[] = [];
  let at = startAt;
  let made = 0;
  while (made < requests) {
    // By night there is a fifth of the traffic of the afternoon.
    const rhythm = 1 + 0.67 * Math.sin(((at % DAY_MS) / DAY_MS - 0.35) * 2 * Math.PI);
    at += (-Math.log(1 - random()) * gapMs * VISIT_REQUESTS) / rhythm;
    while (pending.length > 0 && pending[0]!.at <= at) yield pending.shift()!;
    let due = at;
    for (const { afterMs, ...request } of visit(random, pageOf, wordOf, crawl, pages)) {
      due += afterMs;
      insert(pending, { at: Math.floor(due), ...request });
      made++;
    }
  }
  yield* pending;
}

function insert(pending: GeneratedRequest[], request: GeneratedRequest): void {
  let index = pending.length;
  while (index > 0 && pending[index - 1]!.at > request.at) index--;
  pending.splice(index, 0, request);
}

function visit(
  random: Random,
  pageOf: () => number,
  wordOf: () => number,
  crawl: { next: number },
  pages: number,
): Visit[] {
  const kind = random();
  const agent = PEOPLE[Math.floor(random() * PEOPLE.length)]!;
  const get = (target: string, bytes: number, afterMs = 0, status = 200): Visit => ({
    method: "GET",
    target,
    status,
    bytes,
    agent,
    afterMs,
  });
  if (kind < 0.5) return [pageVisit(pageOf, get)];
  if (kind < 0.6) return [get("/static/app.4f2a.css", 18_211), get("/static/app.91bc.js", 64_002, 20)];
  if (kind < 0.68) return campaignVisit(random, pageOf, get);
  if (kind < 0.8) return typing(random, wordOf, get);
  if (kind < 0.9) {
    crawl.next = (crawl.next + 1) % pages;
    return [{ ...get(pagePath(crawl.next), sizeOf(crawl.next)), agent: CRAWLER }];
  }
  if (kind < 0.93) return [get(`/blog/gone-${Math.floor(random() * 60)}`, 512, 0, 404)];
  if (kind < 0.94) return [get("/api/weather", 120, 0, 503)];
  if (kind < 0.95) return [{ ...get("/comments/", 0, 0, 302), method: "POST" }];
  if (kind < 0.96) return [get("/admin/", 210, 0, 403)];
  if (kind < 0.98) return [{ ...get(pagePath(pageOf()), 0, 0, 304) }];
  if (kind < 0.985) return [{ ...get(pagePath(pageOf()), 0), method: "HEAD" }];
  return [get(`/songs/caf\u00e9-${Math.floor(random() * 20)}?session=${Math.floor(random() * 5)}`, 4_321)];
}

type Get = (target: string, bytes: number, afterMs?: number, status?: number) => Visit;

function pageVisit(pageOf: () => number, get: Get): Visit {
  const page = pageOf();
  return get(pagePath(page), sizeOf(page));
}

function campaignVisit(random: Random, pageOf: () => number, get: Get): Visit[] {
  const page = pageOf();
  const campaign = CAMPAIGNS[Math.floor(random() * CAMPAIGNS.length)]!;
  const click = Math.floor(random() * 1e9).toString(36);
  const query = random() < 0.5 ? `utm_source=mail&utm_campaign=${campaign}` : `fbclid=${click}`;
  return [get(`${pagePath(page)}?${query}`, sizeOf(page))];
}

/** Every prefix of a word, as an autocomplete asks for it, sometimes with capitals and spaces. */
function typing(random: Random, wordOf: () => number, get: Get): Visit[] {
  const word = wordOf();
  const text = `${WORDS[word % WORDS.length]}${word < WORDS.length ? "" : ` ${word}`}`;
  const typed = random() < 0.3 ? text[0]!.toUpperCase() + text.slice(1) : text;
  return Array.from({ length: typed.length }, (_none, index) => {
    const prefix = typed.slice(0, index + 1);
    return get(`/api/search?q=${encodeURIComponent(prefix).replaceAll("%20", "+")}`, 300 + prefix.length * 7, 150);
  });
}

function pagePath(page: number): string {
  return page === 0 ? "/" : page % 3 === 0 ? `/songs/${page}` : `/blog/post-${page}`;
}

function sizeOf(page: number): number {
  return 4_000 + ((page * 7919) % 40_000);
}

function zipf(count: number, exponent: number, random: Random): () => number {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) {
    sum += 1 / (rank + 1) ** exponent;
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** A request as a line of nginx's combined format. Its bytes are Latin-1, as odd ones are in real logs. */
export function combinedLine({ at, method, target, status, bytes, agent }: GeneratedRequest): string {
  const iso = new Date(at).toISOString();
  const month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][
    Number(iso.slice(5, 7)) - 1
  ];
  const time = `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
  return `192.0.2.${bytes % 250} - - [${time}] "${method} ${target} HTTP/1.1" ${status} ${bytes} "-" "${agent}"`;
}

/** A request as a line of nginx's `escape=json`, with milliseconds. */
export function jsonLine({ at, method, target, status, bytes, agent }: GeneratedRequest): string {
  return JSON.stringify({
    msec: (at / 1000).toFixed(3),
    request_method: method,
    request_uri: target,
    status: String(status),
    body_bytes_sent: String(bytes),
    http_user_agent: agent,
  });
}

/** Lines that are no requests, and that no reader may stumble over: broken ones, and what scanners send. */
export const ODD_LINES: readonly string[] = [
  "",
  "\u0000\u0000\u0000\u0000",
  '192.0.2.1 - - [05/Oct/2026:00:00:01 +0000] "GET /cut/off HT',
  '192.0.2.1 - - [05/Oct/2026:00:00:01 +0000] "\\x16\\x03\\x01\\x02" 400 157 "-" "-"',
  '192.0.2.1 - - [05/Oct/2026:00:00:01 +0000] "-" 408 0 "-" "-"',
  '{"msec": "17599',
  "\u00ff\u00fe\u00e4\u00f6",
];

/** The log of the traffic as text. */
export function generatedLog(
  settings: TrafficSettings,
  line: (request: GeneratedRequest) => string = combinedLine,
): Buffer {
  const lines: string[] = [];
  for (const request of generatedRequests(settings)) lines.push(line(request));
  return Buffer.from(`${lines.join("\n")}\n`, "latin1");
}
