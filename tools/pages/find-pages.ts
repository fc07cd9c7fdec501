import { readFile } from "node:fs/promises";
import { CrawlError } from "../requests/crawl-error.ts";
import type { RobotRules } from "./robots.ts";
import type { SiteAddress } from "./site-address.ts";
import { MAX_SITEMAP_BYTES, readSitemap, type Sitemap } from "./sitemap.ts";

/** A requested document. */
export type SiteDocument = { readonly status: number; readonly body: Buffer | null } | { readonly failure: string };

export interface PageSearch {
  /** Paths, URLs, sitemaps by path, URL or file, and `-` for a list on standard input. None: the site's own sitemaps. */
  readonly places: readonly string[];
  readonly site: SiteAddress;
  readonly robots: RobotRules;
  /** How many pages are wanted at most. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Gets a document with its body, up to a size. */
  readonly get: (url: URL, maxBytes: number) => Promise<SiteDocument>;
  readonly standardInput: () => Promise<string>;
}

export interface FoundPages {
  /** Paths with their queries, each once. */
  readonly paths: readonly string[];
  /** Whether there are more pages than were wanted. */
  readonly hasMore: boolean;
  /** How many pages robots.txt forbids. */
  readonly forbidden: number;
  /** How many URLs were left out because they belong to another host. */
  readonly elsewhere: Readonly<Record<string, number>>;
  /** Sitemaps of an index that could not be read, and why. */
  readonly unread: readonly string[];
  /** Lines, and entries of sitemaps, that are not URLs of pages: not URLs, or like `mailto:`. */
  readonly malformed: number;
}

/** The most sitemaps to read. A sitemap has up to 50,000 URLs. */
const MAX_SITEMAPS = 200;

/** How many other hosts are counted by name; all further ones are counted together. */
const MAX_HOSTS = 20;

/** Finds the pages to request. Throws a `CrawlError` for a place that is invalid or cannot be read. */
export async function findPages(search: PageSearch): Promise<FoundPages> {
  const found = new PageList(search);
  if (search.places.length === 0) await found.addOwnSitemaps();
  for (const place of search.places) await found.add(place);
  return found.result();
}

class PageList {
  readonly #search: PageSearch;
  readonly #paths = new Set<string>();
  readonly #forbidden = new Set<string>();
  readonly #elsewhere = new Map<string, number>();
  readonly #unread: string[] = [];
  readonly #sitemaps = new Set<string>();
  #malformed = 0;
  #hasMore = false;

  constructor(search: PageSearch) {
    this.#search = search;
  }

  result(): FoundPages {
    return {
      paths: [...this.#paths],
      hasMore: this.#hasMore,
      forbidden: this.#forbidden.size,
      elsewhere: Object.fromEntries(this.#elsewhere),
      unread: this.#unread,
      malformed: this.#malformed,
    };
  }

  async add(place: string): Promise<void> {
    if (this.#hasMore || this.#search.signal.aborted) return;
    const { site } = this.#search;
    if (place === "-") return this.#addLines(await this.#search.standardInput());
    const isUrl = /^https?:\/\//i.test(place);
    if (!isUrl && !place.startsWith("/")) return this.#addFile(place);
    const url = isUrl ? URL.parse(place) : URL.parse(`${site.edge.origin}${place}`);
    if (url === null) throw new CrawlError("usage", `${place} is not a URL.`);
    if (isSitemapName(url.pathname)) return this.#addDocument(url);
    const path = site.pathOf(url);
    if (path === null) {
      throw new CrawlError(
        "usage",
        `${place} is not a page of ${site.edge.origin}. Name its path, or use --host ${url.host} if that is this site.`,
      );
    }
    this.#addPath(path);
  }

  /** The sitemaps that robots.txt names, or else `/sitemap.xml`: all requested at the edge, under its own host. */
  async addOwnSitemaps(): Promise<void> {
    const { robots, site } = this.#search;
    const named = robots.sitemaps.flatMap((text) => URL.parse(text, site.edge.href) ?? []);
    site.adopt(named);
    const unread: string[] = [];
    for (const url of named.length > 0 ? named : [site.at("/sitemap.xml")]) {
      const path = site.pathOf(url);
      const sitemap = path === null ? "belongs to another host" : await this.#fetchSitemap(site.at(path));
      if (typeof sitemap === "object") await this.#addSitemap(sitemap, site.at(path!));
      else unread.push(`${path ?? url.href} ${sitemap}`);
      if (this.#hasMore || this.#search.signal.aborted) return;
    }
    if (unread.length === Math.max(1, named.length)) {
      const named = robots.sitemaps.length === 0 ? "robots.txt names no sitemap, and " : "";
      throw new CrawlError("usage", `${named}${unread.join("; ")}. Name the pages, like / and /blog/.`);
    }
    this.#unread.push(...unread);
  }

  /** A path that ends like a sitemap. If it is not a sitemap, it is a page. */
  async #addDocument(url: URL): Promise<void> {
    const sitemap = await this.#fetchSitemap(url);
    if (typeof sitemap === "object") return this.#addSitemap(sitemap, url);
    const path = sitemap === NO_SITEMAP ? this.#search.site.pathOf(url) : null;
    if (path === null) throw new CrawlError("refused", `the sitemap ${url.href} ${sitemap}.`);
    this.#addPath(path);
  }

  /** A sitemap in a file, or else the site's sitemap of that name. */
  async #addFile(file: string): Promise<void> {
    if (!isSitemapName(file)) {
      throw new CrawlError(
        "usage",
        `${file} is neither a path like /${file}, nor a URL, nor a sitemap. The names of sitemaps end in .xml or .xml.gz.`,
      );
    }
    let bytes: Buffer;
    try {
      bytes = await readFile(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const url = this.#search.site.at(`/${file}`);
      const sitemap = await this.#fetchSitemap(url);
      if (typeof sitemap === "object") return this.#addSitemap(sitemap, url);
      throw new CrawlError("usage", `there is no file ${file} here, and ${url.href} ${sitemap}.`);
    }
    const sitemap = readSitemap(bytes);
    if (sitemap === null) throw new CrawlError("usage", `${file} ${NO_SITEMAP}.`);
    await this.#addSitemap(sitemap, null);
  }

  #addLines(text: string): void {
    const { site } = this.#search;
    for (const line of text.split("\n")) {
      const place = line.trim();
      if (place === "" || this.#hasMore) continue;
      if (place.startsWith("/")) this.#addUrl(URL.parse(`${site.edge.origin}${place}`));
      // A report names the pages of a log with hosts by host and path.
      else this.#addUrl(pageUrl(SCHEME.test(place) ? place : `${site.edge.protocol}//${place}`));
    }
  }

  /** `from` is where the sitemap was; `null` for a file. */
  async #addSitemap({ kind, locations }: Sitemap, from: URL | null): Promise<void> {
    const { site, signal } = this.#search;
    const urls = locations.map((location) => pageUrl(location, (from ?? site.edge).href));
    site.adopt(urls.flatMap((url) => url ?? []));
    for (const url of urls) {
      if (this.#hasMore || signal.aborted) return;
      if (kind === "urlset" || url === null) this.#addUrl(url);
      else await this.#addFromIndex(url, from);
    }
  }

  /** A sitemap on its index's host is requested where the index was, any other one at the edge. */
  async #addFromIndex(url: URL, index: URL | null): Promise<void> {
    const { site } = this.#search;
    const path = site.pathOf(url);
    if (path === null) return this.#countElsewhere(url);
    const address = url.origin === index?.origin ? url : site.at(path);
    if (this.#sitemaps.has(address.href)) return;
    if (this.#sitemaps.size >= MAX_SITEMAPS) {
      this.#hasMore = true;
      return;
    }
    const sitemap = await this.#fetchSitemap(address);
    if (typeof sitemap === "object") await this.#addSitemap(sitemap, address);
    else this.#unread.push(`${path} ${sitemap}`);
  }

  #addUrl(url: URL | null): void {
    if (url === null) {
      this.#malformed++;
      return;
    }
    const path = this.#search.site.pathOf(url);
    if (path === null) this.#countElsewhere(url);
    else this.#addPath(path);
  }

  #addPath(path: string): void {
    if (this.#paths.has(path)) return;
    if (!this.#search.robots.allows(path)) this.#forbidden.add(path);
    else if (this.#paths.size >= this.#search.limit) this.#hasMore = true;
    else this.#paths.add(path);
  }

  #countElsewhere({ host }: URL): void {
    const name = this.#elsewhere.has(host) || this.#elsewhere.size < MAX_HOSTS ? host : "further hosts";
    this.#elsewhere.set(name, (this.#elsewhere.get(name) ?? 0) + 1);
  }

  /** The sitemap at a URL, or why there is none. */
  async #fetchSitemap(url: URL): Promise<Sitemap | string> {
    this.#sitemaps.add(url.href);
    const document = await this.#search.get(url, MAX_SITEMAP_BYTES);
    if ("failure" in document) return `could not be read: ${document.failure}`;
    if (document.status !== 200) return `answered ${document.status}`;
    if (document.body === null) return `is larger than ${MAX_SITEMAP_BYTES / 1024 / 1024} MiB`;
    return readSitemap(document.body) ?? NO_SITEMAP;
  }
}

/** Digits after the colon are the port of a host. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d)/i;

const NO_SITEMAP = "is not a sitemap: it has neither urlset nor sitemapindex";

/** The URL of a page or a sitemap; `null` for text that is none, and for a URL of another scheme. */
function pageUrl(text: string, base?: string): URL | null {
  const url = URL.parse(text, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

function isSitemapName(path: string): boolean {
  return /\.xml(\.gz)?$/i.test(path);
}
