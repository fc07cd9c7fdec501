import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { defaultConfig } from "../../package/default-config.ts";
import { OwnerError } from "../../package/owner-error.ts";
import { keepCompiledCode } from "../../server/compiled-code.ts";
import { EDGE_PROGRAM } from "../../server/program/worker-program.ts";
import { addressesToOpen, readListenAddress } from "../../server/startup/listen-addresses.ts";
import { defaultMemoryBytes, defaultWorkers } from "../../server/startup/memory-room.ts";
import type { ServeOptions } from "../../server/startup/prepare-server.ts";
import { readSize } from "../../server/startup/size.ts";
import type { ListenAddress } from "../../server/supervisor/listening-sockets.ts";
import type { SupervisorEvent } from "../../server/supervisor/supervisor-events.ts";
import { WorkerAhead } from "../../server/supervisor/worker-ahead.ts";
import { SERVER_VARIABLES, unknownVariables, unknownVariableText } from "../../wire/text/unknown-variable.ts";
import { EXIT } from "../exit-code.ts";
import { pathName, refuseFlag, wholeNumber } from "../flags.ts";
import { lacksNode, lacksPeers, lacksUnix } from "../lacks-peers.ts";
import { DEFAULT_CACHE } from "../server-folder.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";

/** What the process has opened before it reads its settings. */
type OpenedParts = Pick<ServeOptions, "sockets" | "predecessor" | "ahead" | "report">;

interface ServeFlags {
  readonly origin?: string;
  readonly parent?: string;
  readonly config?: string;
  readonly sites?: string;
  readonly listen?: readonly ListenAddress[];
  readonly listenTls?: readonly ListenAddress[];
  readonly tlsCert?: readonly string[];
  readonly tlsKey?: readonly string[];
  readonly tlsFolder?: string;
  readonly acme?: string;
  readonly acmeDirectory: string;
  readonly hosts?: string;
  readonly proxyProtocol?: true;
  readonly redirectToHttps?: true | 301 | 308;
  readonly hsts?: string;
  readonly cache: string;
  readonly log?: string;
  readonly memory?: number;
  readonly disk?: number;
  readonly workers?: number;
  readonly accessLog?: string;
  readonly pidFile?: string;
  readonly logFormat: "combined" | "json";
  readonly fastHits: boolean;
  readonly check?: true;
}

const workerCount = wholeNumber(1, 256);
const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";
const DEFAULT_DISK_BYTES = 10 * 1024 ** 3;
const YEAR_SECONDS = 31_536_000;
/** Lines that nobody reads would keep a process that has ended its work. Milliseconds. */
const STUCK_LINES_MS = 1_000;

const AFTER_HELP = `
The server answers other machines only if you name the site's hosts: with --hosts, TIDEMARK_HOSTS, or hosts in the config.
The token comes from TIDEMARK_TOKEN. TIDEMARK_ORIGIN, TIDEMARK_CONFIG, TIDEMARK_LOG and TIDEMARK_PARENT may replace --origin,
--config, --log and --parent. A parent needs TIDEMARK_PARENT_TOKEN.

Exit codes: 0 stopped, or valid with --check; 1 the workers kept dying; 2 wrong settings, or it cannot start.

  tidemark serve --origin http://127.0.0.1:8000
  TIDEMARK_HOSTS=www.example.com tidemark serve --origin unix:/run/app.sock --listen '*:80' --cache /var/cache/tidemark
  tidemark serve --acme you@example.com --hosts www.example.com --origin http://127.0.0.1:8000 --cache /var/cache/tidemark`;

/** `tidemark serve`: the edge on the user's own machine, for production. */
export function serveCommand(): Command {
  return refuseFlag(new Command("serve"), "port", "write --listen 8080")
    .description(DESCRIPTIONS.serve)
    .option("--origin <address>", "the site to front: http://127.0.0.1:8000 or unix:/run/app.sock (else the config's)")
    .option(
      "--parent <address>",
      "ask this other server of yours instead of the origin: https://shield.example.com; needs --log",
    )
    .option(
      "--config <file>",
      `the site's rules (default: ${DEFAULT_CONFIG}, .mts, .js or .mjs, if there is one)`,
      pathName,
    )
    .option(
      "--sites <folder>",
      "serve several sites by their hosts: NAME.config.ts each, with its tokens in NAME.env",
      pathName,
    )
    .option(
      "--listen <address>",
      "where to listen; may be repeated: 8080, 127.0.0.1:8080, [::]:80, unix:/run/edge.sock " +
        "(default: localhost:8080, or *:80 if there are certificates)",
      addAddress,
    )
    .option(
      "--listen-tls <address>",
      "where to listen with TLS: 8443, 127.0.0.1:8443, [::]:443 (default: *:443 if there are certificates)",
      addTlsAddress,
    )
    .option("--tls-cert <file>", "a certificate with its chain, as PEM; may be repeated for other names", addFile)
    .option("--tls-key <file>", "the key of each certificate, in the same order", addFile)
    .option("--tls-folder <folder>", "a folder of certificates: NAME.crt with NAME.key, or certbot's folders", pathName)
    .option(
      "--acme <email>",
      "order certificates from Let's Encrypt and renew them; with this you accept its terms",
      email,
    )
    .option(
      "--acme-directory <url>",
      "order them from another authority; with this you accept its terms",
      directory,
      LETS_ENCRYPT,
    )
    .option("--hosts <names>", "the public hosts of the site: www.example.com,example.com (else the config's)")
    .option("--proxy-protocol", "connections begin with a PROXY header (version 1 or 2) from one of the trustedProxies")
    .option(
      "--redirect-to-https [status]",
      "redirect requests without TLS to https, with 308 or 301 (default: 308)",
      status,
    )
    .option("--hsts <value>", "the Strict-Transport-Security of answers over TLS, like max-age=31536000", hsts)
    .option("--cache <folder>", "the folder for the purge log and the pages on disk", pathName, DEFAULT_CACHE)
    .option("--log <address>", "share one purge log with other machines: postgres://user@host/database")
    .option(
      "--memory <size>",
      "memory for pages, for all workers together (default: at most a quarter of the machine's)",
      size,
    )
    .option("--disk <size>", "disk for pages; 0 for none (default: 10GiB)", size)
    .option("--workers <number>", "worker processes (default: one for each core, if the memory suffices)", workerCount)
    .option("--access-log <file>", "log each request to this file; - for standard output (default: no log)", pathName)
    .addOption(
      new Option("--log-format <format>", "of the access log").choices(["combined", "json"]).default("combined"),
    )
    .option("--pid-file <file>", "write the id of the process that takes signals to this file", pathName)
    .option("--no-fast-hits", "answer all requests through Node's own server, not the faster way inside its parser")
    .option("--check", "check config, settings, folders and the database, then exit")
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: ServeFlags, command: Command) => {
      if (lacksNode("serve") || lacksUnix()) return;
      refuseContradictions(flags, command);
      if (flags.acme !== undefined && lacksPeers("serve --acme", ["acme-client"])) return;
      await run(flags);
    });
}

/** Refuses flags of which one needs or excludes another. */
function refuseContradictions(flags: ServeFlags, command: Command): void {
  if (flags.accessLog === undefined && command.getOptionValueSource("logFormat") !== "default") {
    command.error("error: --log-format needs --access-log, which names the file of the access log");
  }
  const ofOneSite = flags.config ?? flags.origin ?? (process.env.TIDEMARK_CONFIG || undefined);
  if (flags.sites !== undefined && ofOneSite !== undefined) {
    command.error(
      "error: --sites names a folder with a config for each site: leave out --config (or TIDEMARK_CONFIG) and --origin",
    );
  }
  if (flags.hosts !== undefined && flags.sites !== undefined) {
    command.error("error: --hosts names the hosts of one site: with --sites, name them in each site's config");
  }
  if (flags.acme === undefined && command.getOptionValueSource("acmeDirectory") !== "default") {
    command.error("error: --acme-directory needs --acme you@example.com, which orders the certificates");
  }
  const { tlsCert = [], tlsKey = [] } = flags;
  if (tlsCert.length !== tlsKey.length) {
    command.error(`error: each --tls-cert needs its --tls-key: there are ${tlsCert.length} and ${tlsKey.length}`);
  }
}

/** Starts the server and waits for its end, or only checks its settings. */
async function run(flags: ServeFlags): Promise<void> {
  if (!flags.check) keepCompiledCode(flags.cache);
  const ahead = flags.check ? null : new WorkerAhead(EDGE_PROGRAM);
  // Loaded here, because an older Node does not have what it imports, and while the worker loads its program.
  const signals = await import("../../server/supervisor/signals.ts");
  const { endAtSignals, holdSignals, obeySignals, TO_STOP, watchTerminal } = signals;
  const sendHeldOn = holdSignals();
  const hasLostTerminal = watchTerminal();
  // The reader of its lines may have ended, or their disk may be full. Neither is a failure of the server.
  if (!flags.check) process.stdout.removeAllListeners("error").on("error", () => undefined);
  const server = await import("../../server/server.ts");
  const { activatedSockets, expectLog, expectUsableFolders, PidFile, Predecessor, prepare, serve } = server;
  const { statesBefore, whyNotOpened } = server;
  const { checkedText, eventInWords, sayToOperator, startedText } = server;
  const { handedOverTo, READY, STOPPING, tellServiceManager } = server;
  const printLine = flags.check ? printPlainly : (line: string) => sayToOperator(`tidemark: ${line}`);
  const environment = process.env;
  for (const line of misspeltVariables()) printLine(line);
  const told: Promise<void>[] = [];
  const tell = (state: readonly string[]) => told.push(tellServiceManager(environment, state, printLine));
  try {
    const predecessor = Predecessor.find();
    const obeyStop = predecessor === null ? endAtSignals : holdSignals;
    // An interrupted check must not exit with 0, which would mean that nothing is wrong.
    const leaveStopToServer = flags.check ? null : obeyStop(TO_STOP);
    const sockets = activatedSockets(environment, printLine);
    const report = (event: SupervisorEvent) => {
      printLine(eventInWords(event));
      if (event.kind === "stopping") tell(STOPPING);
      if (event.kind === "upgraded") tell(handedOverTo(event.pid));
    };
    const options = optionsOf(flags, { sockets, predecessor, ahead, report });
    const pidFile = flags.pidFile === undefined ? null : new PidFile(flags.pidFile);
    const before = statesBefore(options);
    const prepared = await prepare(options);
    for (const line of prepared.warnings) printLine(line);
    if (flags.check) {
      for (const cause of expectUsableFolders(options, prepared)) {
        printLine(eventInWords({ kind: "log-unwritable", cause }));
      }
      for (const line of await whyNotOpened(options.listen)) printLine(line);
      // The warnings say why; a server would start, and serve the pages.
      const isClosed = [...prepared.sites.values()].some((site) => site.isClosed);
      if (isClosed) process.exitCode = EXIT.usage;
      else process.stdout.write(`${checkedText(prepared)}\n`);
      if (options.log !== null) await expectLog({ sharedLog: options.log });
      return;
    }
    process.title = "tidemark supervisor"; // the name in ps and top
    const running = await serve(options, prepared, before);
    obeySignals(running, hasLostTerminal);
    sendHeldOn();
    leaveStopToServer?.();
    pidFile?.write(printLine);
    tell(READY);
    process.stdout.write(`${startedText(running)}\n`);
    await running.ended.finally(() => pidFile?.remove());
    await Promise.all(told);
    setTimeout(() => process.exit(), STUCK_LINES_MS).unref();
  } catch (error) {
    if (!(error instanceof OwnerError)) throw error;
    const hasGivenUp = error instanceof server.NoWorkerStartsError;
    (hasGivenUp ? printLine : printError)(error.message);
    process.exitCode = hasGivenUp ? EXIT.gaveUp : EXIT.usage;
  } finally {
    ahead?.end();
  }
}

/** A line for each variable that is almost one of a server's. Others are the owner's own. */
function misspeltVariables(): readonly string[] {
  return unknownVariables(process.env, SERVER_VARIABLES)
    .filter(({ meant }) => meant !== null)
    .map(unknownVariableText);
}

/** A flag overrides the environment, and the environment overrides the config. */
function optionsOf(flags: ServeFlags, parts: OpenedParts): ServeOptions {
  const environment = process.env;
  const { sockets, predecessor } = parts;
  const named = [...(flags.listen ?? []), ...(flags.listenTls ?? [])];
  const hasSockets = sockets.length > 0 || predecessor !== null;
  const config = flags.config ?? (environment.TIDEMARK_CONFIG || null);
  const memoryBytes = flags.memory ?? defaultMemoryBytes(flags.workers ?? 1);
  const hasCertificates = [flags.acme, flags.tlsCert, flags.tlsFolder].some((each) => each !== undefined);
  return {
    ...parts,
    config,
    defaultConfig: config === null && flags.sites === undefined ? (defaultConfig() ?? DEFAULT_CONFIG) : null,
    sites: flags.sites ?? null,
    origin: flags.origin ?? (environment.TIDEMARK_ORIGIN || null),
    parent: flags.parent ?? (environment.TIDEMARK_PARENT || null),
    parentToken: environment.TIDEMARK_PARENT_TOKEN || null,
    environment: flags.hosts === undefined ? environment : { ...environment, TIDEMARK_HOSTS: flags.hosts },
    listen: addressesToOpen(named, { hasSockets, hasCertificates }),
    acme: flags.acme === undefined ? null : { email: flags.acme, directory: flags.acmeDirectory },
    certificates: {
      pairs: (flags.tlsCert ?? []).map((certificate, at) => ({ certificate, key: flags.tlsKey![at]! })),
      folder: flags.tlsFolder ?? null,
    },
    usesProxyProtocol: flags.proxyProtocol ?? false,
    redirectsToHttps: flags.redirectToHttps === true ? 308 : (flags.redirectToHttps ?? null),
    strictTransportSecurity: flags.hsts ?? null,
    cache: flags.cache,
    log: flags.log ?? (environment.TIDEMARK_LOG || null),
    memoryBytes,
    diskBytes: flags.disk ?? DEFAULT_DISK_BYTES,
    workers: flags.workers ?? defaultWorkers(memoryBytes, availableParallelism()),
    usesFastAnswers: flags.fastHits,
    accessLog: flags.accessLog === undefined ? null : { path: pathOf(flags.accessLog), format: flags.logFormat },
  };
}

/** A line about settings that are checked, for whoever called the command. It is not data, so it goes to standard error. */
function printPlainly(line: string): void {
  process.stderr.write(`tidemark: ${line}\n`);
}

function pathOf(file: string): string {
  return file === "-" ? "/dev/stdout" : file;
}

function addAddress(text: string, before: readonly ListenAddress[] | undefined): readonly ListenAddress[] {
  const address = readListenAddress(text);
  if (address === null) {
    throw new InvalidArgumentError(
      text.startsWith("unix:")
        ? "A unix socket has an absolute path: unix:/run/edge.sock."
        : (zoneRefusal(text) ??
            "It must have a port, up to 65535: 8080, 127.0.0.1:8080, [::]:80 or *:80; or be like unix:/run/edge.sock."),
    );
  }
  return [...(before ?? []), address];
}

function addTlsAddress(text: string, before: readonly ListenAddress[] | undefined): readonly ListenAddress[] {
  const address = readListenAddress(text);
  if (address === null || "path" in address) {
    throw new InvalidArgumentError(
      zoneRefusal(text) ?? "It must have a port, up to 65535: 8443, 127.0.0.1:8443, [::]:443 or *:443.",
    );
  }
  return [...(before ?? []), { ...address, scheme: "https" }];
}

/** Why an address with a zone is refused; `null` of another one. RFC 4007 §11. */
function zoneRefusal(text: string): string | null {
  const [, zone, port] = /^\[?[\dA-Fa-f:.]+(%[^\]:]+)\]?:(\d+)$/.exec(text) ?? [];
  if (zone === undefined) return null;
  return `An IPv6 zone, like ${zone}, is not supported: leave it out. A link-local address needs one: listen on [::]:${port} instead.`;
}

function addFile(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function email(text: string): string {
  if (!/^[^\s@,?]+@[^\s@,?]+$/.test(text)) throw new InvalidArgumentError("It must be like you@example.com.");
  return text;
}

function directory(text: string): string {
  if (URL.parse(text)?.protocol === "https:") return text;
  throw new InvalidArgumentError("It must be the https URL of a directory (RFC 8555 §7.1.1).");
}

function status(text: string): 301 | 308 {
  if (text !== "301" && text !== "308") throw new InvalidArgumentError("It must be 301 or 308.");
  return text === "301" ? 301 : 308;
}

/** RFC 6797 §6.1, whose names of directives are case-insensitive; `preload` as https://hstspreload.org wants it. */
function hsts(text: string): string {
  const [, seconds, withSubdomains, preload] =
    /^max-age=(\d{1,10})(; ?includeSubDomains)?(; ?preload)?$/i.exec(text) ?? [];
  if (seconds === undefined) {
    throw new InvalidArgumentError(
      'It must be like "max-age=31536000", optionally with "; includeSubDomains" and "; preload".',
    );
  }
  if (preload !== undefined && (withSubdomains === undefined || Number(seconds) < YEAR_SECONDS)) {
    throw new InvalidArgumentError("With preload it needs includeSubDomains, and a max-age of a year: 31536000.");
  }
  return text;
}

function size(text: string): number {
  const bytes = readSize(text);
  if (bytes === null) throw new InvalidArgumentError("It must be like 512MiB, 512m or 10GiB.");
  return bytes;
}
