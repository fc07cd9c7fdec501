import type { RunningIsolate } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Network } from "../../worker/rules/forwarding/trusted-proxies.ts";
import { canonicalHost } from "../../worker/rules/key/canonical-url.ts";
import { otherPort, withoutPort } from "../../worker/rules/key/unknown-host.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { isHealthCheck } from "./health-check.ts";
import { type HttpsRedirect, publicHostOf } from "./https-redirect.ts";

/** One of several sites, as the listener serves it. */
export interface ServedSite {
  readonly name: string;
  /** Public hosts, as keys have them; `null` for any host that no other site has. */
  readonly hosts: readonly string[] | null;
  readonly isolate: RunningIsolate;
  /** The proxies whose forwarding fields count for this site. */
  readonly trustedProxies: readonly Network[];
  /** Default: nobody is sent to https. */
  readonly toHttps?: HttpsRedirect | undefined;
}

/** The most spellings of hosts that are remembered. Clients use few. */
const MAX_REMEMBERED = 1000;
/** No client uses a longer host than this: a name of 253 characters, and a port. */
const MAX_REMEMBERED_LENGTH = 260;

/** A port that is the default of one of the schemes. A proxy may name it where the scheme is not known yet. */
const DEFAULT_PORT = /:(?:80|443)$/;

/** A host without a default port: a request could not tell two sites apart whose hosts differ only in that port. */
export function hostToFind(host: string): string {
  return host.replace(DEFAULT_PORT, "");
}

/**
 * The sites of one server. Each request goes to the site whose host it names, whichever hosts its connection has served
 * before: clients use a connection for all hosts of its certificate (RFC 9113 §9.1.1).
 */
export class SitesByHost {
  readonly #byHost = new Map<string, ServedSite>();
  /** By hosts without ports. */
  readonly #onlyToHttps = new Map<string, ServedSite>();
  readonly #byAuthority = new Map<string, ServedSite>();
  readonly #anyHost: ServedSite | null;
  /** The hosts of all sites, as their configs have them. */
  readonly hosts: readonly string[];
  /** Those of all sites. */
  readonly trustedProxies: readonly Network[];

  /** No host is in two of them, and at most one takes any host. */
  constructor(sites: readonly ServedSite[]) {
    for (const site of sites) for (const host of site.hosts ?? []) this.#byHost.set(hostToFind(host), site);
    this.hosts = sites.flatMap(({ hosts }) => hosts ?? []);
    this.trustedProxies = sites.flatMap(({ trustedProxies }) => trustedProxies);
    this.#anyHost = sites.find(({ hosts }) => hosts === null) ?? null;
    const { hosts } = this;
    const isolate: RunningIsolate = { fetch: ({ request, url }) => answerOfNoSite(request.method, url, hosts) };
    for (const site of sites) {
      for (const host of site.hosts?.map(withoutPort) ?? []) {
        const leads = site.toHttps && publicHostOf(host, site.toHttps) !== null;
        if (leads) this.#onlyToHttps.set(host, { ...site, isolate });
      }
    }
  }

  /**
   * The site of a host, as a client spells it; `null` if there is none. Without TLS a client may name another port than the
   * one with TLS: for that host the site only sends it there.
   */
  find(authority: string): ServedSite | null {
    return this.#byAuthority.get(authority) ?? this.#findAnew(authority);
  }

  #siteOf(host: string): ServedSite | undefined {
    const site = this.#byHost.get(hostToFind(host));
    return site ?? (this.#anyHost === null ? this.#onlyToHttps.get(withoutPort(host)) : undefined);
  }

  #findAnew(authority: string): ServedSite | null {
    const host = canonicalHost(authority);
    const named = host === null ? undefined : this.#siteOf(host);
    if (named === undefined) return this.#anyHost;
    if (authority.length > MAX_REMEMBERED_LENGTH) return named;
    if (this.#byAuthority.size >= MAX_REMEMBERED) this.#byAuthority.clear();
    this.#byAuthority.set(authority, named);
    return named;
  }
}

/** The answer to a request for a host that no site has: that of a health check is the same, whatever the sites are. */
export function answerOfNoSite(method: string, url: string, hosts: readonly string[]): Answer {
  if (!isHealthCheck(method, url)) {
    const host = URL.parse(url)?.host ?? "this";
    const words = `${host} is not a host of a site of this server${otherPort(host, hosts)}`;
    return ownAnswer(421, "host-unknown", words);
  }
  const healthy = ownAnswer(200, "health", "");
  healthy.fields.set("content-type", "application/json");
  return { ...healthy, body: method === "HEAD" ? null : Buffer.from('{"status":"ok"}') };
}
