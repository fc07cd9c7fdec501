import { readFileSync } from "node:fs";
import { OwnerError } from "../../package/owner-error.ts";
import { messageOf } from "../message-of.ts";
import { putFile } from "../put-file.ts";
import { StorageError, storageFault } from "./storage-error.ts";

/** In place of a host, for a site that answers for all hosts that no site names. No host is called so. */
export const ANY_OTHER_HOST = "*";

/** The hosts of sites, by the names of the sites: as `hostToFind` has them, or `ANY_OTHER_HOST`. */
export type HostsOfSites = ReadonlyMap<string, readonly string[]>;

/** By host, the sites that may have stored pages of it. The last of them is the last that answered for it. */
export type SitesOfHosts = ReadonlyMap<string, readonly string[]>;

/** By host, the site that answers for it. */
export type OwnersOfHosts = ReadonlyMap<string, string>;

export interface TakenHosts {
  readonly now: SitesOfHosts;
  /** By site, a host that it had before and that another site has had since. */
  readonly back: ReadonlyMap<string, string>;
}

/**
 * What follows when these sites are served from now on. If a site gets a host back, pages that it has stored may have been
 * purged in the log of the site that had the host meanwhile. So it needs another log (R13), and then holds no page of before.
 */
export function takeHosts(before: SitesOfHosts, sites: HostsOfSites): TakenHosts {
  const owners = new Map(ownersOf(sites));
  const ofAnyOther = owners.get(ANY_OTHER_HOST);
  if (ofAnyOther !== undefined) {
    for (const host of before.keys()) if (!owners.has(host)) owners.set(host, ofAnyOther);
  }
  // A host that is not in the record was one of all others so far.
  const stored = (host: string) => before.get(host) ?? before.get(ANY_OTHER_HOST) ?? [];
  const back = new Map<string, string>();
  for (const [host, site] of owners) {
    if (stored(host).at(-1) !== site && stored(host).includes(site)) back.set(site, host);
  }
  const now = new Map<string, readonly string[]>();
  for (const host of new Set([...before.keys(), ...owners.keys()])) {
    const owner = owners.get(host);
    const last = stored(host).at(-1);
    // The last one stays, though it holds no pages any more: the next one may have its own from before it.
    const others = stored(host).filter((site) => site !== owner && (site === last || !back.has(site)));
    const all = owner === undefined ? others : [...others, owner];
    if (all.length > 0) now.set(host, all);
  }
  return { now, back };
}

export function ownersOf(sites: HostsOfSites): OwnersOfHosts {
  return new Map([...sites].flatMap(([site, hosts]) => hosts.map((host) => [host, site] as const)));
}

/** The sites that answered last, as far as a record tells. */
export function lastOwners(sites: SitesOfHosts): OwnersOfHosts {
  return new Map([...sites].map(([host, all]) => [host, all.at(-1)!]));
}

/** The other sites that, by `others`, have a host which is this site's by `own`. */
export function sharersOf(site: string, own: OwnersOfHosts, others: OwnersOfHosts): string[] {
  const ownerBy = (owners: OwnersOfHosts, host: string) => owners.get(host) ?? owners.get(ANY_OTHER_HOST);
  const hosts = [...own.keys(), ...others.keys()].filter((host) => ownerBy(own, host) === site);
  return hosts.map((host) => ownerBy(others, host) ?? site).filter((owner) => owner !== site);
}

/** The file that keeps this between two starts does not say what it should. */
export class UnwrittenHostsError extends OwnerError {
  override readonly name = "UnwrittenHostsError";

  /** `cause`: `null` if the file has to wait for a log that has to begin anew. */
  constructor(path: string, cause: unknown) {
    const why = cause === null ? "nor can the log of a site that has to begin anew" : messageOf(cause);
    super(
      `${path} cannot be written (${why}), so a restart could undo purges of hosts that were another site's. ` +
        "They are refused until it can: make room, or let this user write there.",
      { cause },
    );
  }
}

/** The file that keeps this between two starts. */
export class HostsFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Empty if there is no file; `null` if what it says cannot be used. Throws a `StorageError` if it cannot be read. */
  read(): SitesOfHosts | null {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch (cause) {
      if ((cause as { code?: unknown }).code === "ENOENT") return new Map();
      throw new StorageError(this.#path, storageFault(cause) ?? "failed", cause);
    }
    return sitesIn(text);
  }

  /** Puts it there whole. Throws as the file system does. */
  write(sites: SitesOfHosts): void {
    putFile(this.#path, JSON.stringify([...sites]), { isDurable: true });
  }
}

function sitesIn(text: string): SitesOfHosts | null {
  try {
    const entries = JSON.parse(text) as unknown;
    return isRecord(entries) ? new Map(entries) : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is [string, string[]][] {
  const isText = (each: unknown) => typeof each === "string";
  const isEntry = (each: unknown) =>
    Array.isArray(each) && isText(each[0]) && Array.isArray(each[1]) && each[1].every(isText);
  return Array.isArray(value) && value.every(isEntry);
}
