import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hostToFind } from "../connections/sites-by-host.ts";
import { ANY_OTHER_HOST } from "../log/hosts-of-sites.ts";
import { LogFolder } from "../log/log-folder.ts";
import { MachineNote } from "../postgres/machine-note.ts";
import { SiteLoader } from "../program/load-site.ts";
import { type PreparedSite, prepareSite, type SiteSources, type SiteSurroundings } from "./prepared-site.ts";
import { ServerError } from "./server-error.ts";
import { type SiteFiles, sitesIn, variablesOf } from "./sites-folder.ts";
import { stateOfFile } from "./watched-files.ts";

/** The sites by their names, as they are to be served. */
export type PreparedSites = ReadonlyMap<string, PreparedSite>;

export interface ReadSites {
  readonly sites: PreparedSites;
  /** What keeps a site as it was, or from being served; a line each. */
  readonly problems: readonly string[];
}

/** Each in a thread, because a config may wait for something. */
const READ_AT_A_TIME = 8;

/** The folder of the log of one of several sites, in the folder of the cache. */
export function logFolderOf(cache: string, name: string): string {
  return resolve(cache, "sites", name, "log");
}

/**
 * Reads the sites of a folder. A faulty one stays as it was in `before`, or is left out if it was not there, and does not
 * touch the others. Throws a `ServerError` if no site is left, or if the folder cannot be read. `keepsUnchanged`: a site
 * whose files are as in `before` is not read again, though its config may read what nobody watches.
 */
export async function readSites(
  folder: string,
  cache: string,
  around: SiteSurroundings,
  before: PreparedSites,
  keepsUnchanged = false,
): Promise<ReadSites> {
  const found = sitesIn(folder);
  const problems = [...found.problems];
  const read = new Map<string, PreparedSite>();
  const refuse = (name: string, because: string) => {
    const old = before.get(name);
    const rest = old === undefined ? "it is not served" : "its old settings stay in use";
    problems.push(`site ${name}: ${rest}: ${because}`);
    if (old === undefined) read.delete(name);
    else read.set(name, old);
  };
  const loader = new SiteLoader();
  const load: SiteLoader["load"] = (...what) => loader.load(...what);
  const prepareOrRefuse = async (files: SiteFiles) => {
    const old = before.get(files.name);
    try {
      if (old === undefined) expectPlaceForLog(logFolderOf(cache, files.name));
      const sources = sourcesOf(files);
      const isKept = keepsUnchanged && old !== undefined && isUnchanged(old, sources);
      if (isKept) for (const [path, state] of old.loaded.files) around.read.set(path, state);
      read.set(files.name, isKept ? old : await prepareSite(sources, around, load));
    } catch (error) {
      refuse(files.name, (error as Error).message);
    }
  };
  for (let at = 0; at < found.sites.length; at += READ_AT_A_TIME) {
    await Promise.all(found.sites.slice(at, at + READ_AT_A_TIME).map(prepareOrRefuse));
  }
  await loader.close();
  const nextClash = () => {
    const sites = inOrder(read);
    return clashOfHosts(sites) ?? (around.usesProxyProtocol ? clashOfProxies(sites) : null);
  };
  for (let clash = nextClash(); clash !== null; clash = nextClash()) {
    for (const name of causesOf(clash, read, before)) refuse(name, clash.because);
  }
  if (read.size === 0) throw new ServerError(problems.join("\n"));
  return { sites: inOrder(read), problems };
}

function inOrder(sites: PreparedSites): PreparedSites {
  return new Map([...sites].sort(([first], [second]) => (first < second ? -1 : 1)));
}

/** Throws if no other log may stand in for one there, which would keep the settings of all sites from being used. */
function expectPlaceForLog(folder: string): void {
  LogFolder.expectShortPath(folder);
  MachineNote.expectNoneIn(folder);
}

function sourcesOf(files: SiteFiles): SiteSources {
  const environment = variablesOf(files);
  const { name, config, secondConfig } = files;
  if (secondConfig !== null) throw new ServerError(`it has two configs, ${config} and ${secondConfig}.`);
  // Whoever reads it would say to name another file with --config, which is for one site.
  if (!existsSync(config)) throw new ServerError(`there is no ${config}.`);
  return { name, config, environment, origin: environment.TIDEMARK_ORIGIN || null };
}

function isUnchanged({ sources, loaded }: PreparedSite, now: SiteSources): boolean {
  return isDeepStrictEqual(sources, now) && [...loaded.files].every(([path, state]) => stateOfFile(path) === state);
}

/** What the owner should know of sites that one token opens. */
export function tokenWarnings(sites: PreparedSites): string[] {
  const named = [...sites].map(([name, { settings }]) => ({ name, token: settings.tokens.TIDEMARK_TOKEN }));
  const groups = Map.groupBy(named, ({ token }) => token || null);
  groups.delete(null);
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .map(
      (group) =>
        `the sites ${group.map(({ name }) => name).join(", ")} have the same TIDEMARK_TOKEN: give each its own.`,
    );
}

/** Two sites that cannot stand side by side. */
interface Clash {
  readonly between: readonly [string, string];
  readonly because: string;
  /** What a site's settings say of that in which they clash. */
  readonly said: (site: PreparedSite) => unknown;
}

/** The sites that have brought it about: one or both, because settings in use do not clash. */
function causesOf({ between, said }: Clash, read: PreparedSites, before: PreparedSites): string[] {
  return between.filter((name) => !before.has(name) || said(before.get(name)!) !== said(read.get(name)!));
}

function clashOfHosts(sites: PreparedSites): Clash | null {
  const owners = new Map<string, string>();
  for (const [name, prepared] of sites) {
    for (const host of hostsOf(prepared)) {
      const other = owners.get(host);
      if (other !== undefined) {
        const said = (site: PreparedSite) => hostsOf(site).includes(host);
        return { between: [other, name], because: clashText(other, name, host), said };
      }
      owners.set(host, name);
    }
  }
  return null;
}

/** The hosts that a site answers for, and `ANY_OTHER_HOST` if it names none. */
export function hostsOf({ site, isLocal }: PreparedSite): string[] {
  const any = site.hosts === null || isLocal ? [ANY_OTHER_HOST] : [];
  return [...new Set([...any, ...(site.hosts ?? []).map(hostToFind)])];
}

function clashText(first: string, second: string, host: string): string {
  return host === ANY_OTHER_HOST
    ? `${first} and ${second} both serve the hosts that no site names, but only one site may: name the hosts of the other.`
    : `the host ${host} is in both ${first} and ${second}.`;
}

/** A header of the PROXY protocol comes before the request, and so before its site is known. */
function clashOfProxies(sites: PreparedSites): Clash | null {
  const [first, ...others] = [...sites].map(([name, site]) => ({ name, proxies: proxiesOf(site) }));
  const other = others.find(({ proxies }) => proxies !== first!.proxies);
  if (other === undefined) return null;
  const because = `with --proxy-protocol all sites must have the same trustedProxies; ${first!.name} and ${other.name} differ.`;
  return { between: [first!.name, other.name], because, said: proxiesOf };
}

function proxiesOf({ loaded: { site } }: PreparedSite): string {
  return [...(site.trustedProxies ?? [])].sort().join(" ");
}
