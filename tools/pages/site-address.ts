/** The address of a site at an edge, and which URLs are pages of that site. */
export class SiteAddress {
  readonly edge: URL;
  readonly #hosts = new Set<string>();
  #publicHost: string | null = null;

  /** `hosts` are further names of the site, with their ports if they have one. */
  constructor(edge: URL, hosts: readonly string[]) {
    this.edge = edge;
    this.#hosts.add(edge.host);
    for (const host of hosts) this.#hosts.add(host);
  }

  /** The host that a sitemap gave the site; `null` if none was needed. */
  get publicHost(): string | null {
    return this.#publicHost;
  }

  /** Path and query of a page of this site, which its host tells; `null` for any other URL. */
  pathOf(url: URL): string | null {
    if (!/^https?:$/.test(url.protocol) || !this.#hosts.has(url.host)) return null;
    return url.pathname + url.search;
  }

  /**
   * The same for the target of a redirect. There the edge's own host counts only with its own scheme, because a redirect
   * from http to https leads elsewhere.
   */
  targetPathOf(url: URL): string | null {
    return url.host === this.edge.host && url.protocol !== this.edge.protocol ? null : this.pathOf(url);
  }

  /** Where the edge has a path. As a reference, a path that begins with `//` would name another host. */
  at(path: string): URL {
    return new URL(this.edge.origin + path);
  }

  /**
   * Treats a sitemap's host as the site's. A sitemap lists the pages of one host, which differs from the edge's if the
   * edge is not reached under its public name. Only the first such host counts.
   */
  adopt(urls: readonly URL[]): void {
    const hosts = new Set(urls.map(({ host }) => host));
    const [host] = hosts;
    if (hosts.size !== 1 || this.#publicHost !== null || this.#hosts.has(host!)) return;
    this.#publicHost = host!;
    this.#hosts.add(host!);
  }
}
