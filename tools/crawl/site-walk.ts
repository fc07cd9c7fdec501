import { BROWSER_CODINGS, counted, ownPackage } from "#tidemark/internal";
import { type FoundPages, findPages, type SiteDocument } from "../pages/find-pages.ts";
import { MAX_ROBOTS_BYTES, NO_RULES, PRODUCT_TOKEN, type RobotRules, readRobots } from "../pages/robots.ts";
import { SiteAddress } from "../pages/site-address.ts";
import { askPage, askPolitely, type PageAnswer } from "../requests/ask-page.ts";
import { SYSTEM_CLOCK } from "../requests/clock.ts";
import { CrawlError } from "../requests/crawl-error.ts";
import { HttpClient } from "../requests/http-client.ts";
import { MAX_PAUSE_MS, Pace } from "../requests/pace.ts";
import type { CrawlOptions } from "./crawl-options.ts";
import { failureOf } from "./failure.ts";
import { simulatedViewpoints, thisMachine, type Viewpoint } from "./viewpoints.ts";

/**
 * A browser's fields that may select a page. They are sent with each request, so that visitors find the stored page.
 */
const PAGE_FIELDS = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-encoding": BROWSER_CODINGS,
};

/** The most redirects to follow to a robots.txt or a sitemap. RFC 9309 §2.3.1.2 asks for five. */
const MAX_DOCUMENT_REDIRECTS = 5;

/** The pages of a site, the places to request them from, and the limits of a polite crawler. */
export class SiteWalk {
  readonly pages: FoundPages;
  readonly viewpoints: readonly Viewpoint[];
  readonly site: SiteAddress;
  readonly robots: RobotRules;
  readonly #tools: Tools;
  readonly #options: CrawlOptions;
  /** Ends running requests when the site sends a long Retry-After. */
  readonly #leaving = new AbortController();
  readonly #signal: AbortSignal;
  #endedBecause: string | null = null;
  #answeredBefore = 0;

  private constructor(tools: Tools, options: CrawlOptions, found: Found) {
    this.#tools = tools;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#leaving.signal]);
    this.pages = found.pages;
    this.viewpoints = found.viewpoints;
    this.site = found.site;
    this.robots = found.robots;
  }

  /** Reads robots.txt, finds the pages, and does the work. Throws a `CrawlError` if there is nothing to ask. */
  static async during<T>(options: CrawlOptions, work: (walk: SiteWalk) => Promise<T>): Promise<T> {
    const walk = await SiteWalk.#begin(options);
    try {
      return await work(walk);
    } finally {
      await walk.#tools.client.close();
    }
  }

  static async #begin(options: CrawlOptions): Promise<SiteWalk> {
    const { edge: address, host, from, places, limit, concurrency, perSecond, timeoutMs, signal } = options;
    const { clock = SYSTEM_CLOCK, ignoresRobots, standardInput, progress } = options;
    progress?.({ round: null, done: 0, of: 0, failed: 0 });
    const edge = new URL(address);
    const fields = { "user-agent": `${PRODUCT_TOKEN}/${ownPackage.version} (crawl)` };
    const client = new HttpClient({ clock, connections: concurrency, timeoutMs, fields });
    const names = host === null ? [] : [host];
    const ownFields: Record<string, string> = host === null ? {} : { host };
    try {
      let site = new SiteAddress(edge, names);
      const pace = new Pace(clock, 1000 / perSecond);
      const get = (url: URL, maxBytes: number) => getDocument(url, maxBytes, { client, pace, signal, site, ownFields });
      const viewpoints = from === null ? [thisMachine(edge)] : await simulatedViewpoints(from, edge, get);
      // The simulated edges serve one site under one address.
      site = new SiteAddress(edge, [...names, ...viewpoints.map((viewpoint) => new URL(viewpoint.edge).host)]);
      const robots = ignoresRobots ? await sitemapsAlone(places, edge, get) : await robotsOf(edge, get);
      pace.slowTo(robots.delayMs);
      const pages = await findPages({ places, site, robots, limit, signal, get, standardInput });
      if (pages.paths.length === 0 && !signal.aborted) throw new CrawlError("refused", nothingToAsk(pages));
      return new SiteWalk({ client, pace, ownFields }, options, { pages, viewpoints, site, robots });
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** Why the walk ended early, if the site sent a long Retry-After; `null` otherwise. */
  get endedBecause(): string | null {
    return this.#endedBecause;
  }

  /** The requests that an earlier run had answers to, which were not sent again. */
  get answeredBefore(): number {
    return this.#answeredBefore;
  }

  /** Whether no more requests are sent. */
  get hasEnded(): boolean {
    return this.#signal.aborted;
  }

  /**
   * Requests paths at an address. The answers are in the order of the paths; `null` for those that were not requested
   * because the walk had ended.
   */
  async ask(round: string, base: string, paths: readonly string[]): Promise<readonly (PageAnswer | null)[]> {
    const { concurrency, progress, record } = this.#options;
    const answers: (PageAnswer | null)[] = paths.map((path) => record?.answerTo(round, path) ?? null);
    let next = 0;
    let done = answers.filter((answer) => answer !== null).length;
    let failed = 0;
    this.#answeredBefore += done;
    const askOn = async () => {
      while (next < paths.length && !this.hasEnded) {
        const index = next++;
        if (answers[index] !== null) continue;
        const answer = await this.#askOne(new URL(base), paths[index]!);
        const endsWalk = answer.kind === "failed" && answer.endsCrawl;
        // A request that was cancelled at the end of the walk says nothing about its page.
        if (this.hasEnded && answer.kind === "failed" && !endsWalk) return;
        if (endsWalk) {
          this.#endedBecause ??= answer.because;
          this.#leaving.abort();
        }
        answers[index] = answer;
        if (failureOf(answer) === null) record?.note(round, paths[index]!, answer);
        done++;
        if (answer.kind === "failed") failed++;
        progress?.({ round, done, of: paths.length, failed });
      }
    };
    await Promise.all(Array.from({ length: concurrency }, askOn));
    return answers;
  }

  #askOne(base: URL, path: string): Promise<PageAnswer> {
    const { client, pace, ownFields } = this.#tools;
    const { edge, origin } = this.#options;
    const isEdge = base.origin !== origin || base.origin === edge;
    const follow = (target: URL) => {
      const next = isSameOrigin(target, base) ? target.pathname + target.search : this.site.targetPathOf(target);
      return next !== null && this.robots.allows(next) ? next : null;
    };
    const fields = isEdge ? { ...PAGE_FIELDS, ...ownFields } : PAGE_FIELDS;
    return askPage(path, { client, pace, signal: this.#signal, base, fields, follow });
  }
}

interface Tools {
  readonly client: HttpClient;
  readonly pace: Pace;
  /** Fields only for the edge. */
  readonly ownFields: Readonly<Record<string, string>>;
}

type Found = Pick<SiteWalk, "pages" | "viewpoints" | "site" | "robots">;

function isSameOrigin(a: URL, b: URL): boolean {
  return a.origin === b.origin;
}

interface DocumentRequest extends Pick<Tools, "client" | "pace" | "ownFields"> {
  readonly signal: AbortSignal;
  readonly site: SiteAddress;
}

/**
 * Gets a document of the site, without a coding. Redirects are followed within the site. Throws a `CrawlError` if the
 * site sends a long Retry-After.
 */
async function getDocument(
  first: URL,
  maxBytes: number,
  { site, ownFields, ...asking }: DocumentRequest,
): Promise<SiteDocument> {
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const isOwn = url.host === site.edge.host;
    const fields = { "accept-encoding": "identity", ...(isOwn && ownFields) };
    const answer = await askPolitely(url, { ...asking, fields }, maxBytes);
    if (answer.kind === "failed") {
      if (answer.endsCrawl) throw new CrawlError("refused", `${url.href} could not be read: ${answer.because}.`);
      return { failure: answer.because };
    }
    const target = answer.status >= 300 && answer.status < 400 ? answer.field("location") : null;
    const next = target === null ? null : URL.parse(target, url.href);
    const path = next === null ? null : site.targetPathOf(next);
    if (next === null || redirects === MAX_DOCUMENT_REDIRECTS || (path === null && !isSameOrigin(next, first))) {
      return { status: answer.status, body: answer.body };
    }
    url = isSameOrigin(next, first) ? next : site.at(path!);
  }
}

/**
 * The rules of a site. RFC 9309 §2.3.1: none if there is no robots.txt, and nothing may be requested if it cannot be
 * read.
 */
async function robotsOf(edge: URL, get: (url: URL, maxBytes: number) => Promise<SiteDocument>): Promise<RobotRules> {
  const document = await get(new URL("/robots.txt", edge), MAX_ROBOTS_BYTES);
  if ("failure" in document) {
    throw new CrawlError("unreachable", `the request to the edge at ${edge.origin} failed: ${document.failure}.`);
  }
  const { status, body } = document;
  if (status === 421) {
    throw new CrawlError(
      "usage",
      `the edge at ${edge.origin} does not know this host (421). Name the site's host with --host.`,
    );
  }
  if (status >= 500) {
    throw new CrawlError(
      "refused",
      `${edge.origin}/robots.txt answered ${status}, which forbids every page (RFC 9309 §2.3.1.4). If the site is your ` +
        "own, --ignore-robots requests them anyway.",
    );
  }
  if (status < 200 || status >= 300) return NO_RULES;
  if (body === null) {
    throw new CrawlError(
      "refused",
      `${edge.origin}/robots.txt is larger than ${MAX_ROBOTS_BYTES / 1024} KiB, so what it forbids is not known. If the ` +
        "site is your own, --ignore-robots requests the pages anyway.",
    );
  }
  const rules = readRobots(body.toString(), edge);
  if (rules.delayMs > MAX_PAUSE_MS) {
    throw new CrawlError(
      "refused",
      `${edge.origin}/robots.txt asks for ${rules.delayMs / 1000} s between two requests, and a crawl waits at most ` +
        `${MAX_PAUSE_MS / 1000} s. If the site is your own, --ignore-robots requests the pages anyway.`,
    );
  }
  return rules;
}

/** No rules; but the sitemaps that robots.txt names, if they are needed. */
async function sitemapsAlone(
  places: readonly string[],
  edge: URL,
  get: (url: URL, maxBytes: number) => Promise<SiteDocument>,
): Promise<RobotRules> {
  if (places.length > 0) return NO_RULES;
  const document = await get(new URL("/robots.txt", edge), MAX_ROBOTS_BYTES);
  if ("failure" in document || document.status !== 200 || document.body === null) return NO_RULES;
  return { ...NO_RULES, sitemaps: readRobots(document.body.toString(), edge).sitemaps };
}

function nothingToAsk({ forbidden, elsewhere, malformed }: FoundPages): string {
  if (forbidden > 0) {
    return "robots.txt forbids all of these pages. If the site is your own, --ignore-robots requests them anyway.";
  }
  const hosts = Object.keys(elsewhere);
  if (hosts.length === 0) {
    if (malformed === 0) return "no pages were found.";
    return `no pages were found: ${counted(malformed, "line or location is no URL of a page", "lines or locations are no URLs of pages")}.`;
  }
  return `all pages that were found belong to other hosts: ${hosts.join(", ")}. If one of them is this site, name it with --host.`;
}
