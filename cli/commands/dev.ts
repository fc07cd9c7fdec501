import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { styleText } from "node:util";
import { Command, InvalidArgumentError, Option } from "commander";
import { loadSite } from "../../cdn/config/config-file.ts";
import { ConfigFileError } from "../../cdn/config/config-file-error.ts";
import { type DevEdge, type DevPop, startDevEdge } from "../../dev/dev-edge.ts";
import { PortTaken } from "../../dev/ports.ts";
import { parseRegions, REGION_NAMES } from "../../dev/regions.ts";
import { addressOf, welcomeText } from "../../dev/welcome.ts";
import { EXIT } from "../exit-code.ts";
import { jsonLine, textLine } from "../../dev/request-log.ts";
import type { LogEntry } from "../../dev/request-log-entry.ts";

interface DevFlags {
  readonly origin?: string;
  readonly port?: number;
  readonly config?: string;
  readonly public?: string;
  readonly regions?: readonly string[];
  readonly latency?: true;
  readonly persist?: true;
  readonly json?: true;
  readonly quiet?: true;
}

/** A site that comes with the command, for those who have none at hand yet. */
export interface DemoSite {
  /** The origin that means the demo. */
  readonly origin: string;
  start(edge: DemoEdge, tell: (line: string) => void): Promise<RunningDemo>;
}

/** What a demo needs to know of the edge before it. */
export interface DemoEdge {
  readonly endpoint: string;
  readonly token: string;
  /** Ports that the demo must leave free. */
  readonly ports: readonly number[];
  /** The host name that is forwarded, beside those of this machine; `null` for none. */
  readonly publicHost: string | null;
}

export interface RunningDemo {
  /** Where it really listens. */
  readonly origin: string;
  /** Lines for the person at the terminal: what else is where. */
  readonly places: readonly (readonly [name: string, url: string])[];
  /** A page that is worth asking for. */
  readonly path: string;
  stop(): Promise<void>;
}

const DEFAULT_PORT = 8787;
const MOST_PORT = 65_535;
const DEFAULT_CONFIG = "tidemark.config.ts";

/** `tidemark dev`: the edge in the Workers runtime on this machine, in front of a site. */
export function devCommand(demo: DemoSite | null): Command {
  return new Command("dev")
    .description("Start the edge on this machine, in front of your site.")
    .option("--origin <url>", "the site to front (else TIDEMARK_ORIGIN, else the config's origin)", serverUrl)
    .option("--port <number>", `where to listen (else TIDEMARK_PORT, else ${DEFAULT_PORT})`, portNumber)
    .option("--config <file>", `the site's rules (else TIDEMARK_CONFIG, else ${DEFAULT_CONFIG})`)
    .option("--public <url>", "the public address, keyed and forwarded (else TIDEMARK_PUBLIC_URL)", serverUrl)
    .option("--regions <names>", `several edges, a port each, like nyc,fra,syd (${REGION_NAMES})`, parseRegions)
    .option("--latency", "with --regions: round trips to origin and purge log as over public networks")
    .option("--persist", "keep cache and purges over a restart, in .tidemark/ beside the config")
    .option("--json", "tell each request as a line of JSON, on stdout; all else is on stderr")
    .addOption(new Option("--quiet", "do not tell each request").conflicts("json"))
    .action(async (flags: DevFlags) => {
      try {
        await dev(flags, demo);
      } catch (error) {
        if (!(error instanceof ConfigFileError) && !(error instanceof DevError)) throw error;
        process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${error.message}\n`);
        process.exitCode = EXIT.usage;
      }
    });
}

/** What stops the command from starting, in words. */
class DevError extends Error {}

async function dev(flags: DevFlags, demoSite: DemoSite | null): Promise<void> {
  if (flags.latency && !flags.regions) throw new DevError("--latency is for --regions: name some, like nyc,fra,syd.");
  const pops = popsOf(flags.regions, flags.port ?? fromEnvironment("TIDEMARK_PORT", portNumber) ?? DEFAULT_PORT);
  const publicUrl = flags.public ?? fromEnvironment("TIDEMARK_PUBLIC_URL", serverUrl) ?? null;
  const { configFile, origin: askedOrigin } = await chooseSite(flags, demoSite);
  const isTokenGiven = Boolean(process.env.TIDEMARK_TOKEN);
  const token = process.env.TIDEMARK_TOKEN || randomBytes(24).toString("base64url");
  const persist = flags.persist ? join(dirname(configFile ?? "."), ".tidemark", "dev") : null;
  const latency = flags.latency ?? false;

  const demoEdge = {
    endpoint: addressOf(pops[0]!),
    token,
    ports: pops.map(({ port }) => port),
    publicHost: publicUrl && new URL(publicUrl).hostname,
  };
  const demo = askedOrigin === demoSite?.origin ? await startDemo(demoSite, demoEdge) : null;
  const origin = demo?.origin ?? askedOrigin;
  const onEntry = flags.quiet ? null : flags.json ? printJson : printText;
  let edge: DevEdge;
  try {
    edge = await startDevEdge({ configFile, origin, token, pops, publicUrl, latency, persist, onEntry, tell });
  } catch (error) {
    await demo?.stop();
    throw error instanceof PortTaken ? new DevError(takenWords(error, pops)) : error;
  }
  const interruption = interrupted();
  const stream = flags.json ? process.stderr : process.stdout;
  const welcome = { pops, latency, origin, configFile, publicUrl, persist, token, isTokenGiven, demo };
  stream.write(`${welcomeText(welcome, stream)}\n`);
  await interruption;
  stream.write("\nStopping …\n");
  await edge.stop();
  await demo?.stop();
  // All has stopped, but now and then Miniflare's watcher of the regions outlives its own closing: nothing else is waited for.
  process.exit(EXIT.done);
}

/** The first region listens on the port that was asked for, the others on those that follow. */
function popsOf(regions: readonly string[] | undefined, first: number): readonly DevPop[] {
  const pops = (regions ?? [null]).map((region, index) => ({ region, port: first + index }));
  if (pops.at(-1)!.port > MOST_PORT) {
    throw new DevError(`from port ${first} on there are not enough for ${pops.length} regions: choose a lower --port.`);
  }
  return pops;
}

function takenWords({ port }: PortTaken, pops: readonly DevPop[]): string {
  const region = pops.find((pop) => pop.port === port)?.region ?? null;
  const who = region === null ? "" : `, where ${region} would listen`;
  return `port ${port} is taken${who}. Stop what listens there, or choose another one with --port.`;
}

interface ChosenSite {
  /** `null`: no rules, and what the origin says counts. */
  readonly configFile: string | null;
  readonly origin: string;
}

/** Flag over environment over file. The demo's rules are for the demo: another site than that is fronted without any. */
async function chooseSite(flags: DevFlags, demoSite: DemoSite | null): Promise<ChosenSite> {
  const askedConfig = flags.config ?? (process.env.TIDEMARK_CONFIG || undefined);
  const askedOrigin = flags.origin ?? (process.env.TIDEMARK_ORIGIN || undefined);
  const configFile = askedConfig ?? DEFAULT_CONFIG;
  const isMissing = askedConfig === undefined && !existsSync(configFile);
  if (askedOrigin !== undefined && isMissing) return { configFile: null, origin: askedOrigin };
  const site = await loadSite(configFile);
  const origin = askedOrigin ?? site.origin;
  const isForTheDemo = askedConfig === undefined && site.origin === demoSite?.origin;
  return { configFile: isForTheDemo && origin !== site.origin ? null : configFile, origin };
}

async function startDemo(demoSite: DemoSite, edge: DemoEdge): Promise<RunningDemo> {
  try {
    return await demoSite.start(edge, tell);
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if (code !== "EADDRINUSE") throw error;
    throw new DevError(
      `port ${port} is taken, where the demo site would listen. Is the dev command running elsewhere?`,
    );
  }
}

/** npm passes a Ctrl-C on that the terminal has already sent: what comes within so many milliseconds is the same one. */
const ECHO_MS = 500;

/** What a shell takes for an end by Ctrl-C. */
const INTERRUPTED = 130;

/** Resolves at Ctrl-C. A second one ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const interrupt = () => {
      if (firstAt !== undefined && performance.now() - firstAt > ECHO_MS) process.exit(INTERRUPTED);
      firstAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      // Miniflare's own listeners would end the process before the rest has stopped.
      for (const other of process.listeners(signal)) process.off(signal, other);
      process.on(signal, interrupt);
    }
  });
}

function printJson(entry: LogEntry, region: string | null): void {
  process.stdout.write(`${jsonLine(entry, region, new Date())}\n`);
}

function printText(entry: LogEntry, region: string | null): void {
  process.stderr.write(`${textLine(entry, region, new Date(), process.stderr)}\n`);
}

/** A line of what goes on while the edge runs: not data, so on stderr. */
function tell(line: string): void {
  const time = styleText("dim", new Date().toLocaleTimeString("en-GB"), { stream: process.stderr });
  process.stderr.write(`${time}  ${line}\n`);
}

/** A setting that is no flag is checked like one. */
function fromEnvironment<T>(name: string, parse: (text: string) => T): T | undefined {
  const text = process.env[name];
  if (!text) return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw new DevError(`${name} is ${JSON.stringify(text)}. ${(error as Error).message}`);
  }
}

function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (!url?.protocol.startsWith("http") || url.pathname !== "/" || url.search !== "") {
    throw new InvalidArgumentError("It must be like http://localhost:8000 or https://www.example.com, without a path.");
  }
  return url.origin;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > MOST_PORT) throw new InvalidArgumentError("It must be 1 to 65535.");
  return port;
}
