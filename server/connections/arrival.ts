import { isAddress, isWithin, type Network } from "../../worker/rules/forwarding/trusted-proxies.ts";
import type { ServedSite, SitesByHost } from "./sites-by-host.ts";

export type Scheme = "http" | "https";

/** Of a request in HTTP/1.0 that names none, such as HAProxy's `option httpchk GET /path`. */
export const HOST_OF_NONE = "localhost";

/** How a request reached this server: by which scheme, and from whom. */
export interface Arrival {
  readonly scheme: Scheme;
  /** `null` if it is not known, as on a unix socket. */
  readonly clientAddress: string | null;
  /** The address at the other end of the connection: the client's, or that of a proxy. `null` also if it is `isUnnamed`. */
  readonly peerAddress: string | null;
  /** On a server with several sites, the site of the request; `null` if no site has its host. */
  readonly site?: ServedSite | null;
}

/** The other end of a connection. */
export interface Peer {
  readonly scheme: Scheme;
  readonly address: string | null;
  /** The address is that of a proxy which passes bytes on without naming who sends them: they are not the proxy's words. */
  readonly isUnnamed?: boolean;
}

/** The fields of a request that tell how it arrived, with names in lower case. */
export interface ForwardingFields {
  get(name: string): string | null;
}

/** Tells how each request on one connection arrived. `target` is that of the request line. */
export interface RequestArrivals {
  /** Whether a trusted proxy is at the other end, so that the connection carries the requests of many visitors. */
  readonly isOfProxy: boolean;
  of(fields: ForwardingFields, target: string): Arrival;
}

/** On a connection of a server with one site. */
export class Arrivals implements RequestArrivals {
  readonly #own: Arrival;
  /** `null` for a peer that is not trusted. */
  readonly #proxies: readonly Network[] | null;

  /** `site`: for one of several. */
  constructor({ scheme, address, isUnnamed }: Peer, trustedProxies: readonly Network[], site?: ServedSite | null) {
    const peerAddress = isUnnamed ? null : address;
    const own = { scheme, clientAddress: address, peerAddress };
    this.#own = site === undefined ? own : { ...own, site };
    this.#proxies = trustedProxies.length > 0 && isWithin(peerAddress, trustedProxies) ? trustedProxies : null;
  }

  get isOfProxy(): boolean {
    return this.#proxies !== null;
  }

  /** `X-Forwarded-For` and `X-Forwarded-Proto` count if a trusted proxy sends them. */
  of(fields: ForwardingFields): Arrival {
    return this.#proxies === null ? this.#own : this.#forwarded(fields, this.#proxies);
  }

  #forwarded(fields: ForwardingFields, proxies: readonly Network[]): Arrival {
    const clientAddress = forwardedClient(fields.get("x-forwarded-for"), proxies) ?? this.#own.clientAddress;
    const last = fields.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase();
    const told = last?.replace(/^ws/, "http"); // Traefik names the scheme of a WebSocket's own URL.
    const scheme = told === "https" || told === "http" ? told : this.#own.scheme;
    return { ...this.#own, scheme, clientAddress };
  }
}

/**
 * On a connection of a server with several sites. The site is chosen here, once for each request, because it also decides
 * which proxies' words count.
 */
export class ArrivalsAtSites implements RequestArrivals {
  readonly #peer: Peer;
  readonly #sites: SitesByHost;
  readonly #bySite = new Map<ServedSite | null, Arrivals>();

  constructor(peer: Peer, sites: SitesByHost) {
    this.#peer = peer;
    this.#sites = sites;
  }

  /** One of the sites trusts it. */
  get isOfProxy(): boolean {
    return new Arrivals(this.#peer, this.#sites.trustedProxies).isOfProxy;
  }

  of(fields: ForwardingFields, target: string): Arrival {
    const host = hostAsked(target, fields);
    const site = host === null ? null : this.#sites.find(host);
    let arrivals = this.#bySite.get(site);
    if (arrivals === undefined) {
      arrivals = new Arrivals(this.#peer, site?.trustedProxies ?? [], site);
      this.#bySite.set(site, arrivals);
    }
    return arrivals.of(fields);
  }
}

/** The host that a request names. With a target in absolute form, the field does not count. RFC 9112 §3.2.2. */
function hostAsked(target: string, fields: ForwardingFields): string | null {
  if (target.startsWith("/")) return fields.get("host") ?? HOST_OF_NONE;
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? null;
}

/**
 * The client in `X-Forwarded-For`: each proxy has appended the address that it saw, so the client is the first one from
 * the right that is not a trusted proxy. If all are trusted, it is the leftmost. Addresses to the left of an unreadable
 * one are not believed.
 */
export function forwardedClient(list: string | null, proxies: readonly Network[]): string | null {
  let client: string | null = null;
  for (const entry of list?.split(",").reverse() ?? []) {
    if (entry.trim() === "") continue; // RFC 9110 §5.6.1.2
    const address = bareAddress(entry.trim());
    if (address === null) return client;
    client = address;
    if (!isWithin(address, proxies)) return client;
  }
  return client;
}

/** An address. Some proxies append the port. */
function bareAddress(text: string): string | null {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  return isAddress(bare) ? bare : null;
}
