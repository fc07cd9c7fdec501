import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { OwnerError } from "../../package/owner-error.ts";
import type { TokenSettings } from "../../worker/control/access/tokens.ts";
import type { SiteVariables } from "../../worker/site/site-overrides.ts";
import { namesToCertify } from "../acme/names.ts";
import { type AcmeOptions, type PreparedAcme, prepareAcme } from "../acme/prepared-acme.ts";
import type { AccessLogFormat } from "../connections/access-log.ts";
import { uncoveredHosts } from "../connections/certificate-choice.ts";
import { type CertificateFiles, certificateWarnings, readCertificates } from "../connections/certificates.ts";
import type { TlsSettings } from "../connections/tls-server.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { LogFile } from "../log/log-file.ts";
import { LogFolder } from "../log/log-folder.ts";
import { mayStandIn } from "../log/storage-error.ts";
import { messageOf } from "../message-of.ts";
import { whyNoLogAddress } from "../postgres/log-address.ts";
import { MachineNote } from "../postgres/machine-note.ts";
import { expectNoLogIn } from "../postgres/open-shared-log.ts";
import { type HeldSocket, type ListenAddress, overlap } from "../supervisor/listening-sockets.ts";
import { ONLY_SITE } from "../supervisor/site-logs.ts";
import { handlesOf } from "../supervisor/socket-handles.ts";
import type { SupervisorEvent } from "../supervisor/supervisor-events.ts";
import type { Predecessor } from "../supervisor/upgrade.ts";
import type { WorkerAhead } from "../supervisor/worker-ahead.ts";
import { systemClock } from "../system-clock.ts";
import { connectionLimit, mayOpenFiles } from "./connection-limit.ts";
import { keptForLogs, whyLittleRoom } from "./disk-room.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import { addressWithTls, readListenAddress, writtenAddress } from "./listen-addresses.ts";
import { whyLittleMemory } from "./memory-room.ts";
import { readParentSettings } from "./parent-settings.ts";
import { expectWritableFolder, expectWritableLog, ReadOnlyError } from "./places.ts";
import { prepareSite, type SiteSurroundings } from "./prepared-site.ts";
import { logFolderOf, type PreparedSites, type ReadSites, readSites, tokenWarnings } from "./prepared-sites.ts";
import { ServerError } from "./server-error.ts";
import { expectNoSharedVariables } from "./sites-folder.ts";
import type { FileStates } from "./watched-files.ts";

export interface ServeOptions {
  /** The config of the only site; `null` if none is named. */
  readonly config: string | null;
  /** The config that is used once it exists if none is named; `null` for none. */
  readonly defaultConfig: string | null;
  /** The folder with the configs of several sites; `null` for one site. */
  readonly sites: string | null;
  /** The variables that outrank the config, and the tokens. */
  readonly environment: SiteVariables & TokenSettings;
  /** The origin as its owner names it, which may be a unix socket; `null` for the config's. */
  readonly origin: string | null;
  /** The server that is asked in place of the origin; `null` for none. */
  readonly parent: string | null;
  /** The parent's token with the scope `parent`; `null` if none is set. */
  readonly parentToken: string | null;
  readonly listen: readonly ListenAddress[];
  /** Sockets that are open already, beside those. */
  readonly sockets: readonly HeldSocket[];
  /** The server that hands over to this one, with its sockets instead of all others. */
  readonly predecessor: Predecessor | null;
  readonly certificates: CertificateFiles;
  /** The authority that gives certificates; `null` for those of files alone. */
  readonly acme: AcmeOptions | null;
  /** Whether connections begin with a header of the PROXY protocol. */
  readonly usesProxyProtocol: boolean;
  /** The status by which clients are sent to https; `null` if they are not. */
  readonly redirectsToHttps: 301 | 308 | null;
  /** The value of `Strict-Transport-Security`; `null` for the origin's. */
  readonly strictTransportSecurity: string | null;
  /** The folder of the purge log and of the disk tier. */
  readonly cache: string;
  /** The address of the PostgreSQL database with the log that several machines share; `null` for a log of its own. */
  readonly log: string | null;
  /** For all workers together. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly workers: number;
  readonly usesFastAnswers: boolean;
  readonly accessLog: { readonly path: string; readonly format: AccessLogFormat } | null;
  /** The first worker's process; `null` for none that runs already. */
  readonly ahead: WorkerAhead | null;
  readonly report: (event: SupervisorEvent) => void;
}

/** Everything that is known before a port is opened. */
export interface Prepared {
  /** `ONLY_SITE` alone, or several by their names. */
  readonly sites: PreparedSites;
  /** The config of the only site; `null` for none, or for several sites. */
  readonly config: string | null;
  readonly settings: EdgeSettings;
  /** `null` if no authority is asked for certificates. */
  readonly acme: PreparedAcme | null;
  /** What the owner should know, a line each. */
  readonly warnings: readonly string[];
}

/**
 * Reads and checks all settings. Throws `ConfigFileError` or `ServerError`. `before`: what is in use, so that one of several
 * sites whose settings are wrong keeps them, and so do certificates; without it, that is refused. `read` gets the files of
 * the configs as they were before they were read, also if it throws, and those of certificates that cannot be used. It
 * gets these also once they can be used, because a folder may be filled file by file, until they are as in `lastRead`,
 * which the load before this one filled: then nothing was written between the two. `keepsUnchanged` is that of `readSites`.
 */
export async function prepare(
  options: ServeOptions,
  before?: Prepared,
  read = new Map<string, string>(),
  lastRead: FileStates = new Map(),
  keepsUnchanged = false,
): Promise<Prepared> {
  const { accessLog, usesFastAnswers, workers } = options;
  const listen = addressesOf(options);
  if (before === undefined && options.predecessor === null) await expectApart(options.listen);
  const { usesProxyProtocol, redirectsToHttps } = options;
  const around = { listen, usesProxyProtocol, redirectsToHttps, read };
  const { sites, config, problems } = await sitesOf(options, around, before, keepsUnchanged);
  const ofAccessLog = accessLogWarnings(options, before);
  const acme = acmeOf(options, listen, sites, before);
  const inUse = before?.settings.tls ?? null;
  const { tls, tried, problems: ofFiles } = tlsOf(options.certificates, listen, acme, inUse);
  const wereWatched = [...tried.keys()].some((path) => lastRead.has(path));
  const haveChanged = [...tried].some(([path, state]) => lastRead.get(path) !== state);
  if (ofFiles.length > 0 || (wereWatched && haveChanged)) {
    // What a config imports may be among them, and may have changed since that was read.
    for (const [path, state] of tried) if (!read.has(path)) read.set(path, state);
  }
  // The address may hold a password, so the message does not repeat it.
  const wrongLog = options.log === null ? null : whyNoLogAddress(options.log);
  if (wrongLog !== null) throw new ServerError(`--log, or TIDEMARK_LOG, ${wrongLog}`);
  const ofSites = [...sites.values()].flatMap(({ settings: { name }, warnings }) =>
    warnings.map((line) => (name === ONLY_SITE ? line : `site ${name}: ${line}`)),
  );
  const schemes = listen.map((address) => ("port" in address && address.scheme) || "http");
  const handles = schemes.reduce((sum, scheme) => sum + handlesOf(scheme, workers), 0);
  const limit = connectionLimit(mayOpenFiles(), handles, sites.size);
  const ofProblems = problems.map((line) =>
    options.sites === null ? `the old settings stay in use, but with the new certificates: ${line}` : line,
  );
  const warnings = [
    ...ofProblems,
    ...ofFiles.map((line) => `the old certificates stay in use, but with the new settings: ${line}`),
    ...ofSites,
    ...tokenWarnings(sites),
    // This server warns itself of certificates that it renews.
    ...(acme?.warnings ?? (tls === null ? [] : warningsOfFiles(tls, sites))),
    ...hstsWarnings(options, listen, sites),
    limit.warning,
    whyLittleMemory(options.memoryBytes, workers),
    diskWarning(options, sites),
    ...ofAccessLog,
  ].filter((line) => line !== null);
  const settings: EdgeSettings = {
    sites: [...sites.values()].map((each) => each.settings),
    workers,
    memoryBytes: Math.floor(options.memoryBytes / workers),
    ...roomOnDisk(options, workers, limit.bodyFiles),
    maxConnections: limit.connections,
    maxOriginConnections: limit.toOrigins,
    maxOpenPages: limit.pages,
    usesFastAnswers,
    tls,
    usesAcme: acme !== null,
    usesProxyProtocol,
    strictTransportSecurity: options.strictTransportSecurity,
    accessLog,
  };
  // Workers are not replaced, and their memory is not given up, for mistakes alone.
  const mistakes = [...problems, ...ofFiles];
  if (mistakes.length > 0 && isDeepStrictEqual(settings, before?.settings)) throw new ServerError(mistakes.join("\n"));
  return { sites, config, settings, acme, warnings };
}

/** The share of `--disk` for bodies of requests, at most a gigabyte; pages have the rest. */
const SHARE_FOR_BODIES = 1 / 16;
const MOST_FOR_BODIES = 1024 ** 3;
/** In the memory of one worker, beside its pages. */
const MEMORY_FOR_BODIES = 8 * 1024 ** 2;

function roomOnDisk(
  options: ServeOptions,
  workers: number,
  mostFiles: number | null,
): Pick<EdgeSettings, "disk" | "roomForBodies"> {
  const { diskBytes, cache } = options;
  const inMemory = { memoryBytes: MEMORY_FOR_BODIES, mostFiles };
  if (diskBytes === 0) return { disk: null, roomForBodies: { ...inMemory, fileBytes: 0, folder: null } };
  const forBodies = Math.floor(Math.min(diskBytes * SHARE_FOR_BODIES, MOST_FOR_BODIES));
  const fileBytes = Math.floor(forBodies / workers);
  return {
    disk: { folder: pagesFolderOf(options), maxBytes: diskBytes - forBodies },
    roomForBodies: { ...inMemory, fileBytes, folder: resolve(cache, "bodies") },
  };
}

function pagesFolderOf({ cache }: ServeOptions): string {
  return resolve(cache, "pages");
}

/** The folders of all purge logs. */
export function logFoldersOf({ cache }: ServeOptions, sites: PreparedSites): string[] {
  return [
    resolve(cache, "log"),
    ...[...sites.keys()].filter((name) => name !== ONLY_SITE).map((name) => logFolderOf(cache, name)),
  ];
}

/**
 * Throws an error for the owner if a server could not start because of what is in its folders, from earlier starts or from
 * elsewhere. Returns why it could not use logs in whose place others would stand. Writes nothing.
 */
export function expectUsableFolders(options: ServeOptions, { sites, settings }: Prepared): OwnerError[] {
  expectWritableFolder(options.cache);
  const [own, ...ofSites] = logFoldersOf(options, sites);
  expectWritableFolder(own!);
  LogFolder.expectUsable(own!);
  if (options.log !== null) expectNoLogIn(own!);
  else if (sites.has(ONLY_SITE)) {
    MachineNote.expectNoneIn(own!);
    LogFile.expectUsable(own!);
  }
  if (settings.disk !== null) {
    expectWritableFolder(settings.disk.folder);
    CacheFolder.expectUsable(settings.disk.folder);
  }
  return ofSites.flatMap((folder) => whyAnotherStandsIn(folder) ?? []);
}

/** Why another log would stand in for that of one of several sites; `null` if none would. Throws if none could. */
function whyAnotherStandsIn(folder: string): OwnerError | null {
  try {
    expectWritableFolder(folder);
    LogFolder.expectUsable(folder);
    LogFile.expectUsable(folder);
    return null;
  } catch (cause) {
    if (!mayStandIn(cause, folder, true)) throw cause;
    return cause as OwnerError;
  }
}

/** Lines wait in memory while the file cannot be written, so that only mistakes at the start keep the settings from being used. */
function accessLogWarnings({ accessLog }: ServeOptions, before: Prepared | undefined): string[] {
  try {
    if (accessLog !== null) expectWritableLog(accessLog.path);
    return [];
  } catch (cause) {
    if (before === undefined && !(cause instanceof ReadOnlyError)) throw cause;
    return [`${messageOf(cause)} Its lines wait in memory.`];
  }
}

function diskWarning(options: ServeOptions, sites: PreparedSites): string | null {
  if (options.diskBytes === 0) return null;
  const pages = pagesFolderOf(options);
  return whyLittleRoom(pages, options.diskBytes, keptForLogs(pages, logFoldersOf(options, sites)));
}

/**
 * A config that was in use is not given up when its file is gone, which is an error then: an editor or a checkout may be about
 * to write it again.
 */
function configOf({ config, defaultConfig }: ServeOptions, before: Prepared | undefined): string | null {
  const isThere = defaultConfig !== null && existsSync(defaultConfig);
  return config ?? before?.config ?? (isThere ? defaultConfig : null);
}

/** A faulty site stays as it was in `before`, whether it is the only one or one of several. */
async function sitesOf(
  options: ServeOptions,
  around: SiteSurroundings,
  before: Prepared | undefined,
  keepsUnchanged: boolean,
): Promise<ReadSites & Pick<Prepared, "config">> {
  const { sites: folder, environment, origin } = options;
  const parent = readParentSettings({ ...options, hasSeveralSites: folder !== null });
  if (folder === null) {
    const config = configOf(options, before);
    try {
      const only = await prepareSite({ name: ONLY_SITE, config, environment, origin, parent }, around);
      return { sites: new Map([[ONLY_SITE, only]]), config, problems: [] };
    } catch (error) {
      if (before === undefined) throw error;
      return { sites: before.sites, config: before.config, problems: [messageOf(error)] };
    }
  }
  expectNoSharedVariables(environment);
  if (options.log !== null) {
    throw new ServerError(
      "--log works with one site only: several sites cannot share their logs with other machines yet.",
    );
  }
  const read = await readSites(folder, options.cache, around, before?.sites ?? new Map(), keepsUnchanged);
  if (before === undefined && read.problems.length > 0) throw new ServerError(read.problems.join("\n"));
  return { ...read, config: null };
}

/** Where the server is reached. */
function addressesOf({ listen, sockets, predecessor }: ServeOptions): readonly ListenAddress[] {
  const open = predecessor?.addresses ?? sockets.map(({ address, scheme }) => `${scheme}://${address}`);
  const read = open.map((text): ListenAddress => {
    const [, scheme, bare] = /^(?:(https?):\/\/)?(.*)$/.exec(text)!;
    const address = readListenAddress(bare!) ?? { path: bare! };
    if (scheme !== "https") return address;
    if ("port" in address) return { ...address, scheme };
    throw new ServerError(
      `TLS is not supported on unix sockets, and systemd names its socket ${bare} "https". Give it a port ` +
        "(ListenStream=), or another name (FileDescriptorName=).",
    );
  });
  return predecessor === null ? [...listen, ...read] : read;
}

async function expectApart(listen: readonly ListenAddress[]): Promise<void> {
  const [first, second] = (await overlap(listen))?.map(writtenAddress) ?? [];
  if (first === undefined) return;
  throw new ServerError(
    `${first} ${first === second ? "is named twice" : `and ${second} overlap`}: leave one out. Each address is either ` +
      "for http, as --listen, or for https, as --listen-tls.",
  );
}

function acmeOf(
  { acme, cache, certificates, log }: ServeOptions,
  listen: readonly ListenAddress[],
  sites: PreparedSites,
  before: Prepared | undefined,
): PreparedAcme | null {
  if (acme === null) return null;
  if (certificates.pairs.length > 0 || certificates.folder !== null) {
    throw new ServerError(
      "--acme orders the certificates of all hosts: leave out --tls-cert, --tls-key and --tls-folder.",
    );
  }
  if (addressWithTls(listen) === undefined) {
    throw new ServerError(
      "--acme orders certificates, but there is no address with TLS. Name one: --listen-tls '*:443'",
    );
  }
  return prepareAcme(acme, { cache, listen, sites, isOneOfSeveral: log !== null }, before?.acme ?? null);
}

/**
 * The certificates, if any address needs them. Clients can resume the sessions that they have while these are the same as
 * `before`, which stay if the files cannot be used, so that no site's rules wait for them. Without `before` a `ServerError`
 * is thrown. `tried`: the files as they were before they were read.
 */
function tlsOf(
  files: CertificateFiles,
  listen: readonly ListenAddress[],
  acme: PreparedAcme | null,
  before: TlsSettings | null,
): { readonly tls: TlsSettings | null; readonly tried: FileStates; readonly problems: readonly string[] } {
  const withSecret = (certificates: TlsSettings["certificates"]): TlsSettings => {
    const isKept = before !== null && isDeepStrictEqual(certificates, before.certificates);
    return { certificates, ticketSecret: isKept ? before.ticketSecret : randomBytes(48).toString("base64") };
  };
  const tried = new Map<string, string>();
  if (acme !== null) return { tls: withSecret(acme.certificates), tried, problems: [] };
  const hasFiles = files.pairs.length > 0 || files.folder !== null;
  const isNeeded = addressWithTls(listen) !== undefined;
  if (isNeeded && !hasFiles) {
    throw new ServerError(
      "TLS needs a certificate and its key. Name them: --tls-cert fullchain.pem --tls-key privkey.pem, " +
        "or a folder of them: --tls-folder /etc/letsencrypt/live. Or let the server order them: --acme you@example.com",
    );
  }
  if (hasFiles && !isNeeded) {
    throw new ServerError("there are certificates, but there is no address with TLS. Name one: --listen-tls '*:443'");
  }
  if (!isNeeded) return { tls: null, tried, problems: [] };
  try {
    return { tls: withSecret(readCertificates(files, tried)), tried, problems: [] };
  } catch (error) {
    if (before === null) throw error;
    return { tls: before, tried, problems: [messageOf(error)] };
  }
}

function warningsOfFiles({ certificates }: TlsSettings, sites: PreparedSites): string[] {
  const { names } = namesToCertify([...sites.values()].flatMap(({ site }) => site.hosts ?? []));
  const warnings = certificateWarnings(certificates, systemClock.now());
  const uncovered = uncoveredHosts(certificates, names);
  if (uncovered.length === 0) return warnings;
  return [
    ...warnings,
    `no certificate names ${uncovered.join(", ")}: browsers are shown another one there, and refuse it. Add one that does, ` +
      "then send SIGHUP.",
  ];
}

/** Answers are over TLS where this server speaks it, or where a trusted proxy says so. */
function hstsWarnings(
  { strictTransportSecurity }: ServeOptions,
  listen: readonly ListenAddress[],
  sites: PreparedSites,
): string[] {
  const speaksTls = addressWithTls(listen) !== undefined;
  const trustsProxies = [...sites.values()].some(({ site }) => site.trustedProxies.length > 0);
  if (strictTransportSecurity === null || speaksTls || trustsProxies) return [];
  return [
    "--hsts has no effect, because it applies to answers over TLS and this server has no address with TLS (--listen-tls).",
  ];
}
