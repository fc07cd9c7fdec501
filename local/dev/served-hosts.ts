/**
 * Names that lead to this machine everywhere or from its containers, and addresses: a page elsewhere has none of them. RFC 6761
 * §6.3.
 */
const OWN = /^(?:(?:.+\.)?localhost|host\.(?:docker|containers)\.internal|[\d.]+|\[.+\])$/;

/** What the owner names as hosts of the site. */
export interface NamedHosts {
  readonly hosts?: readonly string[] | undefined;
  readonly publicUrls: readonly (string | undefined)[];
}

/**
 * The hosts for which the dev command answers, on any port. Any other name that leads here may belong to a page elsewhere,
 * which could then read the site and change it (DNS rebinding).
 */
export class ServedHosts {
  readonly #named: ReadonlySet<string>;

  constructor({ hosts = [], publicUrls }: NamedHosts) {
    const urls = [...hosts.map((host) => `http://${host}`), ...publicUrls];
    this.#named = new Set(urls.map((url = "") => nameIn(url)));
  }

  /** A refusal if the request is for another host; `undefined` if it is not. */
  refuse({ headers, url }: Request): Response | undefined {
    // Miniflare's own port takes the URL from another field of the client's.
    const host = headers.get("host") ?? new URL(url).host;
    if (this.#has(host)) return undefined;
    const words =
      `tidemark dev does not answer for ${host}, because any site can make a name of its own lead to this machine. ` +
      "If the name is yours, pass its address with --public, or list it in hosts in the config.\n";
    return new Response(words, { status: 421, headers: { "cache-control": "no-store" } });
  }

  /** `hosts`, which in addition include, unlisted, every host that is served: no list has all names of this machine. */
  within(hosts: readonly string[]): readonly string[] {
    return Object.assign([...hosts], { includes: (host: string) => this.#has(host) });
  }

  #has(host: string): boolean {
    const name = nameIn(`http://${host}`);
    return name !== "" && (OWN.test(name) || this.#named.has(name));
  }
}

/** Whether a host leads to this machine, and not to a site on the Internet. */
export function isOwnHost(host: string): boolean {
  return OWN.test(nameIn(`http://${host}`));
}

/** The name in a URL, without the dot at the end of a name in full; empty for text that is none. */
function nameIn(url: string): string {
  return (URL.parse(url)?.hostname ?? "").replace(/\.$/, "");
}
