import { readFileSync } from "node:fs";

/** The connections that a worker takes if it may open enough files. */
const MOST_CONNECTIONS = 20_000;
/** A worker that takes fewer may refuse clients of a site that is busy, so its owner is told. */
const FEW_CONNECTIONS = 4_000;

/** A worker takes as many also if it may open too few files for them. */
const LEAST_CONNECTIONS = 10;

/** What a worker holds open without any client, and in addition for each site: its program, the logs and the other processes. */
const OWN_FILES = 32;
const FILES_OF_SITE = 3;
/** The rest is for the origin, the disk and the logs: otherwise idle clients could keep all pages from being fetched. */
const SHARE_OF_CLIENTS = 3 / 4;
/** Connections above the limit: a tenth of it, and ten. */
const WITH_REFUSED = 1.1;
const MORE_REFUSED = 10;
/**
 * The share of that rest for connections to origins: otherwise a slow origin could keep pages on the disk from being
 * read.
 */
const SHARE_OF_ORIGINS = 1 / 2;
/** The share of that rest for files of bodies: otherwise slow uploads could keep pages from being read and fetched. */
const SHARE_OF_BODIES = 1 / 4;
/** The share of that rest for pages that clients read slowly: otherwise they could keep others from being opened. */
const SHARE_OF_PAGES = 1 / 8;

export interface ConnectionLimit {
  /** The connections of clients that one worker takes at a time. */
  readonly connections: number;
  /** The connections of one worker to its origins, of all its sites; `null` without a limit. */
  readonly toOrigins: number | null;
  /** The files of one worker for bodies on their way; `null` without a limit. */
  readonly bodyFiles: number | null;
  /** The files of pages that one worker has open for their readers; `null` without a limit. */
  readonly pages: number | null;
  /** What the owner should know; `null` if the limit is not a low one. */
  readonly warning: string | null;
}

/**
 * `openFiles`: how many files a process may open; `null` if that is not known. `handles`: how many of them are handles of
 * listening sockets.
 */
export function connectionLimit(openFiles: number | null, handles: number, sites: number): ConnectionLimit {
  const files = openFiles === null ? Number.POSITIVE_INFINITY : openFiles - handles - OWN_FILES - FILES_OF_SITE * sites;
  const bounded = Math.floor((files * SHARE_OF_CLIENTS - MORE_REFUSED) / WITH_REFUSED);
  const connections = Math.min(Math.max(bounded, LEAST_CONNECTIONS), MOST_CONNECTIONS);
  const rest = Math.max(files - mostConnections(connections), 2);
  const part = (share: number) => (openFiles === null ? null : Math.floor(rest * share));
  const ofRest = { toOrigins: part(SHARE_OF_ORIGINS), bodyFiles: part(SHARE_OF_BODIES), pages: part(SHARE_OF_PAGES) };
  const limit = { connections, ...ofRest };
  if (connections >= FEW_CONNECTIONS) return { ...limit, warning: null };
  const warning =
    `each worker accepts at most ${connections} connections, because a process may open only ${openFiles} files here: raise ` +
    "that limit with LimitNOFILE= in systemd, --ulimit nofile= in Docker, or ulimit -n";
  return { ...limit, warning };
}

/**
 * The connections of clients that a worker with this limit has open at most. Those above it take a file as well, until their
 * clients have read that they are refused.
 */
export function mostConnections(limit: number): number {
  return Math.ceil(limit * WITH_REFUSED) + MORE_REFUSED;
}

/** The share of each of several origins in the connections to all of them. */
export function partOfEach(toOrigins: number, origins: number): number {
  return Math.max(1, Math.floor(toOrigins / origins));
}

/** How many files this process may open, and those that it starts. Node has raised it as far as it may. */
export function mayOpenFiles(): number | null {
  try {
    const found = /^Max open files +(\d+) /m.exec(readFileSync("/proc/self/limits", "latin1"));
    return found ? Number(found[1]) : null; // "unlimited"
  } catch {
    return null; // a system without /proc
  }
}
