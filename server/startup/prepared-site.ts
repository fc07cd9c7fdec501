import { randomBytes } from "node:crypto";
import { shownValue } from "../../wire/text/shown-value.ts";
import { whyClosed } from "../../worker/control/access/named-tokens.ts";
import { singleToken, type TokenSettings } from "../../worker/control/access/tokens.ts";
import { isOrigin } from "../../worker/site/addresses.ts";
import { compileSite, type Site, type SiteOverrides } from "../../worker/site/site.ts";
import { overridesOf, type SiteVariables } from "../../worker/site/site-overrides.ts";
import type { HttpsRedirect } from "../connections/https-redirect.ts";
import { addressText, type OriginAddress, readOriginAddress } from "../origin/origin-address.ts";
import { type LoadedSite, loadSite, type SiteLoader } from "../program/load-site.ts";
import type { ListenAddress } from "../supervisor/listening-sockets.ts";
import type { SiteSettings } from "./edge-settings.ts";
import { addressWithTls, isLocal, leadsBack, localHosts, writtenAddress } from "./listen-addresses.ts";
import { isReadableOnTheWay, NODE, type ParentSettings } from "./parent-settings.ts";
import { ServerError } from "./server-error.ts";
import { siteWarnings, warningsWhereReached } from "./site-warnings.ts";

/** Where a site's rules are, and what outranks them. */
export interface SiteSources {
  /** `ONLY_SITE`, or its name among several. */
  readonly name: string;
  /** The config; `null` for none. */
  readonly config: string | null;
  /** The variables that outrank the config, and the tokens. */
  readonly environment: SiteVariables & TokenSettings;
  /** The origin as its owner names it, which may be a unix socket; `null` for the config's. */
  readonly origin: string | null;
  /** The server that is asked in place of the origin. Default: none. */
  readonly parent?: ParentSettings | null;
}

/** What a site has to know of its server. */
export interface SiteSurroundings {
  /** Where the server is reached. */
  readonly listen: readonly ListenAddress[];
  readonly usesProxyProtocol: boolean;
  /** The status by which clients are sent to https; `null` if they are not. */
  readonly redirectsToHttps: 301 | 308 | null;
  /** Gets the files of each config as they were before they were read, also if it is refused. */
  readonly read: Map<string, string>;
}

/** Everything that is known of a site before a port is opened. */
export interface PreparedSite {
  readonly sources: SiteSources;
  readonly loaded: LoadedSite;
  readonly settings: SiteSettings;
  readonly site: Site;
  /** True if no host is named, so that only this machine is served. */
  readonly isLocal: boolean;
  /** True if its control plane accepts no token until one is corrected; its pages are served. */
  readonly isClosed: boolean;
  /** The token that was made for this machine, because none is set; otherwise `null`. */
  readonly madeToken: string | null;
  /** What the owner should know, a line each. */
  readonly warnings: readonly string[];
}

/** Reads and checks the settings of a site. Throws `ConfigFileError` or `ServerError`. */
export async function prepareSite(
  sources: SiteSources,
  around: SiteSurroundings,
  load: SiteLoader["load"] = loadSite,
): Promise<PreparedSite> {
  const { name, config, environment, parent = null } = sources;
  const { listen } = around;
  const named = sources.origin === null ? null : originOf(sources.origin);
  const overrides: SiteOverrides = {
    ...overridesOf(environment),
    origin: (named ?? parent?.address)?.url, // with a parent, the origin of the config is the parent's to ask
    originIsElsewhere: named === null ? parent !== null : named.socketPath !== null,
    publicScheme: around.redirectsToHttps === null ? undefined : "https",
  };
  if (config === null && named === null && parent === null) {
    throw new ServerError("there is no site to serve. Name it: tidemark serve --origin http://127.0.0.1:8000");
  }
  const loaded = await load(config, overrides, around.read);
  const { namesHosts, originUrl, originService } = loaded.review;
  expectHosts(loaded, listen);
  if (named === null && parent === null && originService !== null) {
    throw new ServerError(
      `origin names the service binding ${originService}, which exists only on Workers. Name an address: --origin http://127.0.0.1:8000`,
    );
  }
  const origin = named ?? (parent === null ? originOf(originUrl) : null);
  const warnings = siteWarnings(loaded, origin);
  if (parent !== null && isReadableOnTheWay(parent.address)) {
    warnings.push(
      `the token for the parent ${parent.address.url} could be read on the way, because the address is not https: write https://`,
    );
  }
  const { tokens, madeToken, isClosed } = tokensOf(sources, namesHosts, (line) => warnings.push(line));
  if (origin !== null) expectElsewhere("origin", origin, listen);
  if (parent !== null) expectElsewhere("parent", parent.address, listen);
  // Without hosts only this machine is served, whose names are the origin's, too.
  const siteOverrides: SiteOverrides = namesHosts
    ? overrides
    : { ...overrides, hosts: listen.flatMap(localHosts), originIsElsewhere: true };
  const site = compileSite(loaded.site, siteOverrides);
  warnings.push(...warningsWhereReached(site, listen));
  for (const url of site.otherOriginUrls) expectElsewhere("origin", { url, socketPath: null }, listen);
  if (around.usesProxyProtocol) expectProxies(listen, site);
  const settings: SiteSettings = {
    name,
    site: loaded.site,
    overrides: siteOverrides,
    origin,
    parent,
    node: NODE,
    tokens,
    toHttps: redirectOf(around, site),
  };
  return { sources, loaded, settings, site, isLocal: !namesHosts, isClosed, madeToken, warnings };
}

/** Throws a `ServerError` if nobody can tell which hosts are the site's. */
function expectHosts({ review }: LoadedSite, listen: readonly ListenAddress[]): void {
  const { namesHosts } = review;
  if (!namesHosts && listen.some((address) => !isLocal(address))) {
    throw new ServerError(
      "other machines can reach this server, so it must know its public hosts. Name them in the config, " +
        'hosts: ["www.example.com"], or in the environment, TIDEMARK_HOSTS=www.example.com.',
    );
  }
  if (!namesHosts && listen.some((address) => "port" in address && address.port === 0)) {
    throw new ServerError("with port 0 the address is not known in advance: name hosts, or choose a port.");
  }
}

/** The tokens that the owner gives, or one that is made for this machine if it alone is served. */
function tokensOf(
  { name, environment }: SiteSources,
  namesHosts: boolean,
  warn: (line: string) => void,
): Pick<PreparedSite, "madeToken" | "isClosed"> & { readonly tokens: TokenSettings } {
  const given = { TIDEMARK_TOKEN: singleToken(environment), TIDEMARK_TOKENS: environment.TIDEMARK_TOKENS };
  const hasToken = Boolean(given.TIDEMARK_TOKEN || given.TIDEMARK_TOKENS);
  // One that was printed stays good when the config names hosts later.
  const madeToken = hasToken || (namesHosts && !madeTokens.has(name)) ? null : tokenOfThisMachine(name);
  const tokens: TokenSettings = madeToken === null ? given : { TIDEMARK_TOKEN: madeToken };
  const why = whyClosed(tokens);
  if (why !== null) warn(why);
  if (!tokens.TIDEMARK_TOKEN && !tokens.TIDEMARK_TOKENS) {
    warn("TIDEMARK_TOKEN is not set, so nobody can purge. Make one with: openssl rand -base64 32");
  }
  return { tokens, madeToken, isClosed: why !== null };
}

/** Throws a `ServerError` if each request that is sent there would come back to this server. */
function expectElsewhere(setting: string, address: OriginAddress, listen: readonly ListenAddress[]): void {
  const own = listen.find((each) => leadsBack(each, address));
  if (own === undefined) return;
  const found = JSON.stringify(addressText(address));
  const flag = "scheme" in own && own.scheme === "https" ? "--listen-tls" : "--listen";
  throw new ServerError(
    `the settings are not valid: ${setting} ${found} is an address of this server itself, which listens on ` +
      `${writtenAddress(own)}: name the server behind it, or listen elsewhere with ${flag}`,
  );
}

/** By the names of sites. */
const madeTokens = new Map<string, string>();

/** A machine that serves itself alone gets a token if none is set. */
function tokenOfThisMachine(name: string): string {
  const token = madeTokens.get(name) ?? randomBytes(24).toString("base64url");
  madeTokens.set(name, token);
  return token;
}

/** Throws a `ServerError` if no connection could begin with a header of the PROXY protocol that counts. */
function expectProxies(listen: readonly ListenAddress[], { trustedProxies }: Site): void {
  if (trustedProxies.length === 0) {
    throw new ServerError(
      '--proxy-protocol needs trustedProxies in the config, like trustedProxies: ["10.0.0.0/8"]: otherwise anybody could claim any address.',
    );
  }
  if (listen.some((address) => "path" in address)) {
    throw new ServerError(
      "--proxy-protocol does not work on unix sockets, because the proxy has no address there to trust.",
    );
  }
}

/** How clients are sent to https. Throws a `ServerError` if nothing there would answer them. */
function redirectOf({ listen, redirectsToHttps: status }: SiteSurroundings, site: Site): HttpsRedirect | null {
  if (status === null) return null;
  const withTls = addressWithTls(listen);
  if (withTls === undefined && site.trustedProxies.length === 0) {
    throw new ServerError(
      "--redirect-to-https would redirect clients forever: this server has no address with TLS (--listen-tls), and the " +
        "config names no trustedProxies, whose X-Forwarded-Proto could say that a request came over https.",
    );
  }
  const port = withTls?.port || 443;
  const { hosts, publicScheme, publicHost } = site;
  return { status, port, hosts, publicHost: publicScheme === "https" ? publicHost : null };
}

function originOf(text: string): OriginAddress {
  const address = readOriginAddress(text);
  if (address === null) {
    if (text.startsWith("unix:")) {
      throw new ServerError(`the origin ${shownValue(text)} needs an absolute path, like unix:/run/app.sock`);
    }
    throw new ServerError(
      `the origin ${shownValue(text)} is neither like http://127.0.0.1:8000 nor unix:/run/app.sock`,
    );
  }
  if (!isOrigin(address.url)) {
    throw new ServerError(
      `the origin ${shownValue(text)} must be an address alone, like http://127.0.0.1:8000, without a path, query or password`,
    );
  }
  // No machine has such a name (RFC 2606). tidemark import writes one in the place of a socket.
  if (/\.invalid$/i.test(new URL(address.url).hostname)) {
    throw new ServerError(
      `the origin ${shownValue(text)} is no address: name the site, or its socket, with --origin or TIDEMARK_ORIGIN`,
    );
  }
  return address;
}
