import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { resolve } from "node:path";
import { moduleBeside } from "../../cdn/own-package.ts";
import { configuredTokens, type TokenSettings } from "../../worker/control/tokens.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import { overridesOf, type SiteVariables } from "../../worker/site/site-overrides.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { Janitor } from "../disk/janitor.ts";
import { janitorService } from "../disk/janitor-service.ts";
import { type CertificateFiles, certificateWarnings, readCertificates } from "../front/certificates.ts";
import type { HttpsRedirect } from "../front/https-redirect.ts";
import type { TlsSettings } from "../front/tls-server.ts";
import type { AccessLogFormat } from "../listener/access-log.ts";
import { type OriginAddress, readOriginAddress } from "../origin/origin-address.ts";
import type { HeldSocket, ListenAddress } from "../processes/listening-sockets.ts";
import { Supervisor } from "../processes/supervisor.ts";
import type { SupervisorEvent } from "../processes/supervisor-events.ts";
import type { Predecessor } from "../processes/upgrade.ts";
import { type LoadedSite, loadSite } from "../site/load-site.ts";
import { systemClock } from "../system-clock.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import { isLocal, localHosts, readListenAddress } from "./listen-addresses.ts";
import { expectWritableLog } from "./places.ts";
import { ServerError } from "./server-error.ts";
import { startSuccessor } from "./start-successor.ts";

export interface ServeOptions {
  /** The config; `null` for none. */
  readonly config: string | null;
  /** The variables that outrank the config, and the tokens. */
  readonly environment: SiteVariables & TokenSettings;
  /** The origin as its owner names it, which may be a unix socket; `null` for the config's. */
  readonly origin: string | null;
  readonly listen: readonly ListenAddress[];
  /** Sockets that are open already, beside those. */
  readonly sockets: readonly HeldSocket[];
  /** The server that hands over to this one, with its sockets instead of all others. */
  readonly predecessor: Predecessor | null;
  readonly certificates: CertificateFiles;
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
  readonly usesFastHits: boolean;
  readonly accessLog: { readonly path: string; readonly format: AccessLogFormat } | null;
  readonly report: (event: SupervisorEvent) => void;
}

export interface RunningServer {
  readonly addresses: readonly string[];
  readonly prepared: Prepared;
  /** Resolves when the server has stopped; rejects if it gave up. */
  readonly ended: Promise<void>;
  reload(): Promise<boolean>;
  reopen(): Promise<void>;
  upgrade(): Promise<boolean>;
  stop(): Promise<void>;
}

/** How long after a change of the config it is read: an editor writes it in several steps. */
const SETTLED_MS = 100;

/** Everything that is known before a port is opened. */
export interface Prepared {
  readonly loaded: LoadedSite;
  readonly settings: EdgeSettings;
  /** True if no host is named, so that only this machine is served. */
  readonly isLocal: boolean;
  /** What the owner should know, a line each. */
  readonly warnings: readonly string[];
}

/** Reads and checks all settings. Throws `ConfigFileError` or `ServerError`. */
export async function prepare(options: ServeOptions): Promise<Prepared> {
  const { config, accessLog, usesFastHits, workers } = options;
  const listen = addressesOf(options);
  const named = options.origin === null ? null : originOf(options.origin);
  const overrides = { ...overridesOf(options.environment), origin: named?.url };
  if (config === null && named === null) {
    throw new ServerError("there is no site to serve. Name it: tidemark serve --origin http://127.0.0.1:8000");
  }
  const loaded = await loadSite(config, overrides);
  const { namesHosts, originUrl, weakened } = loaded.review;
  if (!namesHosts && listen.some((address) => !isLocal(address))) {
    throw new ServerError(
      "other machines can reach this server, so it has to know its public hosts. Name them in the config, " +
        'hosts: ["www.example.com"], or in the environment, TIDEMARK_HOSTS=www.example.com.',
    );
  }
  if (!namesHosts && listen.some((address) => "port" in address && address.port === 0)) {
    throw new ServerError("with port 0 the address is not known before, so name hosts, or choose a port.");
  }
  const starred = loaded.review.hosts?.find((host) => host.includes("*"));
  if (starred !== undefined) {
    throw new ServerError(
      `the host ${JSON.stringify(starred)} is not a name. Name each host, or serve any: TIDEMARK_HOSTS='*'.`,
    );
  }
  if (accessLog !== null) expectWritableLog(accessLog.path);
  const tls = tlsOf(options);
  // The address may hold a password, so the message does not repeat it.
  if (options.log !== null && !(/^postgres(ql)?:\/\//.test(options.log) && URL.canParse(options.log))) {
    throw new ServerError("--log, or TIDEMARK_LOG, must be like postgres://user@host/database.");
  }
  const warnings = [...weakened, ...certificateWarnings(tls?.certificates ?? [], systemClock.now())];
  const { TIDEMARK_TOKEN, TIDEMARK_TOKENS } = options.environment;
  const given = { TIDEMARK_TOKEN, TIDEMARK_TOKENS };
  const tokens = namesHosts ? given : forThisMachine(given);
  configuredTokens(tokens, (line) => warnings.push(line));
  if (!tokens.TIDEMARK_TOKEN && !tokens.TIDEMARK_TOKENS) {
    warnings.push("TIDEMARK_TOKEN is not set, so nobody can purge. Make one with: openssl rand -base64 32");
  }
  // Without hosts only this machine is served.
  const siteOverrides = { ...overrides, ...(!namesHosts && { hosts: listen.flatMap(localHosts) }) };
  const compiled = compileSite(loaded.site, siteOverrides);
  if (compiled.purge.relays > 0) {
    throw new ServerError("purge.relays is for the Workers platform: here each worker is told of purges anyway.");
  }
  if (options.usesProxyProtocol) expectProxies(listen, compiled);
  const settings: EdgeSettings = {
    site: loaded.site,
    overrides: siteOverrides,
    origin: named ?? originOf(originUrl),
    tokens,
    memoryBytes: Math.floor(options.memoryBytes / workers),
    disk: options.diskBytes === 0 ? null : { folder: resolve(options.cache, "pages"), maxBytes: options.diskBytes },
    usesFastHits,
    tls,
    usesProxyProtocol: options.usesProxyProtocol,
    toHttps: redirectOf(options, compiled),
    strictTransportSecurity: options.strictTransportSecurity,
    accessLog,
  };
  return { loaded, settings, isLocal: !namesHosts, warnings };
}

/** On a machine that serves itself alone, a token protects nothing. One is made if none is set. */
let ownToken: string | undefined;

function forThisMachine(tokens: TokenSettings): TokenSettings {
  if (tokens.TIDEMARK_TOKEN || tokens.TIDEMARK_TOKENS) return { ...tokens, acceptsWeakTokens: true };
  ownToken ??= randomBytes(24).toString("base64url");
  return { TIDEMARK_TOKEN: ownToken };
}

/** Starts the server. Rejects, and leaves nothing behind, if it cannot start. */
export async function serve(options: ServeOptions, first: Prepared): Promise<RunningServer> {
  let prepared = first;
  let isFirst = true;
  const load = async () => {
    if (!isFirst) {
      prepared = await prepare(options);
      for (const line of prepared.warnings) options.report({ kind: "warning", line });
    }
    isFirst = false;
    const { site, overrides } = prepared.settings;
    const { leaseMs, longestViewAgeMs } = compileSite(site, overrides).purge;
    return { settings: prepared.settings, leaseMs, longestViewAgeMs };
  };
  let janitor = openDisk(first.settings);
  const supervisor: Supervisor = await Supervisor.start({
    folder: resolve(options.cache, "log"),
    listen: options.listen,
    sockets: options.sockets,
    predecessor: options.predecessor,
    startSuccessor: () => {
      if (options.log !== null)
        throw new ServerError("with the log of several machines it cannot hand over yet: restart it.");
      return startSuccessor(supervisor.addresses);
    },
    // From here on the successor's janitor alone gives out room on the disk.
    onHandOver: () => void janitor?.close(),
    onTakenBack: () => {
      janitor = openDisk(prepared.settings);
    },
    program: moduleBeside(import.meta.url, "edge-program"),
    load,
    workers: options.workers,
    report: options.report,
    ...(options.log !== null && { sharedLog: options.log }),
    ...(janitor && { service: { connect: () => janitorService(janitor!).connect() } }),
  });
  const watching = watchFiles(first.loaded.files, () => void supervisor.reload());
  const end = () => {
    watching.stop();
    void janitor?.close();
  };
  supervisor.ended.then(end, end);
  return {
    addresses: supervisor.addresses,
    get prepared() {
      return prepared;
    },
    ended: supervisor.ended,
    reload: () => supervisor.reload(),
    reopen: () => supervisor.reopen(),
    upgrade: () => supervisor.upgrade(),
    stop: () => supervisor.stop(),
  };
}

/** Where the server is reached. */
function addressesOf({ listen, sockets, predecessor }: ServeOptions): readonly ListenAddress[] {
  const open = predecessor?.addresses ?? sockets.map(({ address, scheme }) => `${scheme}://${address}`);
  const read = open.map((text): ListenAddress => {
    const [, scheme, bare] = /^(?:(https?):\/\/)?(.*)$/.exec(text)!;
    const address = readListenAddress(bare!) ?? { path: bare! };
    return scheme === "https" && "port" in address ? { ...address, scheme } : address;
  });
  return predecessor === null ? [...listen, ...read] : read;
}

/** The disk is read in the background: its pages can be used before that has ended. */
function openDisk({ disk }: EdgeSettings): Janitor | null {
  if (disk === null) return null;
  const janitor = new Janitor(CacheFolder.open(disk.folder), disk.maxBytes);
  void janitor.scan().catch(() => undefined); // a disk that cannot be read is reported by those who read pages
  return janitor;
}

/** The certificates, if any address needs them. Throws a `ServerError` if they cannot be used. */
function tlsOf(options: ServeOptions): TlsSettings | null {
  const { certificates: files } = options;
  const listen = addressesOf(options);
  const hasFiles = files.pairs.length > 0 || files.folder !== null;
  const isNeeded = listen.some((address) => "port" in address && address.scheme === "https");
  if (isNeeded && !hasFiles) {
    throw new ServerError(
      "TLS needs a certificate and its key. Name them: --tls-cert fullchain.pem --tls-key privkey.pem, " +
        "or a folder of them: --tls-folder /etc/letsencrypt/live",
    );
  }
  if (hasFiles && !isNeeded) {
    throw new ServerError(
      "certificates are named, but no address with TLS. Name it, for example: --listen-tls '*:443'",
    );
  }
  return isNeeded ? { certificates: readCertificates(files), ticketSecret: randomBytes(48).toString("base64") } : null;
}

/** Throws a `ServerError` if no connection could begin with a header of the PROXY protocol that counts. */
function expectProxies(listen: readonly ListenAddress[], { trustedProxies }: Site): void {
  if (trustedProxies.length === 0) {
    throw new ServerError(
      '--proxy-protocol needs trustedProxies in the config, such as trustedProxies: ["10.0.0.0/8"]: others could claim any address.',
    );
  }
  if (listen.some((address) => "path" in address)) {
    throw new ServerError("--proxy-protocol is not taken on unix sockets, whose other end has no address to trust.");
  }
}

/** How clients are sent to https. Throws a `ServerError` if nothing there would answer them. */
function redirectOf(options: ServeOptions, site: Site): HttpsRedirect | null {
  const { redirectsToHttps: status } = options;
  const listen = addressesOf(options);
  if (status === null) return null;
  const withTls = listen.find((address) => "port" in address && address.scheme === "https");
  if (withTls === undefined && site.trustedProxies.length === 0) {
    throw new ServerError(
      "--redirect-to-https would send clients in circles: this server has no address with TLS (--listen-tls), and the " +
        "config names no trustedProxies whose X-Forwarded-Proto could say that a request came over https.",
    );
  }
  const port = (withTls !== undefined && "port" in withTls && withTls.port) || 443;
  const { hosts, publicUrl } = site;
  return { status, port, hosts, publicHost: publicUrl?.scheme === "https" ? publicUrl.host : null };
}

function originOf(text: string): OriginAddress {
  const address = readOriginAddress(text);
  if (address === null) {
    throw new ServerError(
      `the origin ${JSON.stringify(text)} is neither like http://127.0.0.1:8000 nor unix:/run/app.sock`,
    );
  }
  return address;
}

/** Calls `onChange` shortly after any of the files has changed. */
function watchFiles(files: readonly string[], onChange: () => void): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLED_MS);
  };
  // Folders, because an editor that replaces the file ends a watcher of the file itself.
  const folders = Map.groupBy(files, (file) => resolve(file, ".."));
  const watchers = [...folders].map(([folder, inIt]) => {
    const names = new Set(inIt.map((file) => file.slice(folder.length + 1)));
    return watch(folder, (_event, name) => {
      if (name !== null && names.has(name)) changed();
    });
  });
  return {
    stop: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
