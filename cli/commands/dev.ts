import { styleText } from "node:util";
import { Command, InvalidArgumentError, Option } from "commander";
import type { DemoSite } from "../../local/dev/demo-site.ts";
import { DevError } from "../../local/dev/dev-error.ts";
import { MAX_PORT } from "../../local/dev/ports.ts";
import { parseRegions, REGION_NAMES } from "../../local/dev/regions.ts";
import { jsonLine, textLine } from "../../local/dev/request-log.ts";
import type { LogEntry } from "../../local/dev/request-log-entry.ts";
import { Traffic } from "../../local/dev/traffic-report.ts";
import { welcomeText } from "../../local/dev/welcome.ts";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { OwnerError } from "../../package/owner-error.ts";
import { shownValue } from "../../wire/text/shown-value.ts";
import { EXIT } from "../exit-code.ts";
import { pathName, refuseFlag } from "../flags.ts";
import { interruption } from "../interruption.ts";
import { lacksPeers } from "../lacks-peers.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";

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

const DEFAULT_PORT = 8787;

/** The signals of the end of a terminal, and of Ctrl-\. */
const ENDS = ["SIGHUP", "SIGQUIT"] as const;

/** `tidemark dev`: the edge in the Workers runtime on this machine, in front of a site. */
export function devCommand(demoSite: DemoSite | null): Command {
  return refuseFlag(new Command("dev"), "listen", "write --port 9000")
    .description(DESCRIPTIONS.dev)
    .option("--origin <url>", "the site to front (else TIDEMARK_ORIGIN, else the config's origin)", serverUrl)
    .option("--port <number>", `the port to listen on (else TIDEMARK_PORT, else ${DEFAULT_PORT})`, portNumber)
    .option(
      "--config <file>",
      `the site's rules (else TIDEMARK_CONFIG, else ${DEFAULT_CONFIG}, .mts, .js or .mjs)`,
      pathName,
    )
    .option("--public <url>", "the public address, for keys and for the origin (else TIDEMARK_PUBLIC_URL)", serverUrl)
    .option("--regions <names>", `several edges, a port each, like nyc,fra,syd (${REGION_NAMES})`, regionNames)
    .option("--latency", "with --regions: add round trips to origin and purge log, like those of public networks")
    .option("--persist", "keep cache and purges across restarts, in .tidemark/ beside the config")
    .option("--json", "log each request as a line of JSON on stdout; everything else goes to stderr")
    .addOption(new Option("--quiet", "do not log requests").conflicts("json"))
    .action(async (flags: DevFlags) => {
      if (lacksPeers("dev", ["miniflare", "esbuild"])) return;
      try {
        await dev(flags, demoSite);
      } catch (error) {
        if (!(error instanceof OwnerError)) throw error;
        printError(error.message);
        process.exit(EXIT.usage); // What a config that was refused has begun, like a timer, would keep the process alive.
      }
    });
}

/** A flag overrides the environment, and the environment overrides the config. */
async function dev(flags: DevFlags, demoSite: DemoSite | null): Promise<void> {
  if (flags.latency && !flags.regions) {
    throw new DevError("--latency needs regions: name some, like --regions nyc,fra,syd.");
  }
  // What has begun by then is ended and removed at the exit.
  void interruption(...ENDS).then(() => process.exit(EXIT.interrupted));
  const traffic = new Traffic();
  // Loaded here, because it needs packages that the help text does not.
  const { startDevSession } = await import("../../local/dev/dev-session.ts");
  const session = await startDevSession(
    {
      origin: flags.origin ?? fromEnvironment("TIDEMARK_ORIGIN", serverUrl),
      firstPort: flags.port ?? fromEnvironment("TIDEMARK_PORT", portNumber) ?? DEFAULT_PORT,
      config: flags.config ?? (process.env.TIDEMARK_CONFIG || undefined),
      publicUrl: flags.public ?? fromEnvironment("TIDEMARK_PUBLIC_URL", serverUrl) ?? null,
      token: process.env.TIDEMARK_TOKEN || undefined,
      namedTokens: process.env.TIDEMARK_TOKENS || undefined,
      regions: flags.regions,
      latency: flags.latency ?? false,
      persists: flags.persist ?? false,
      onEntry: flags.quiet ? null : flags.json ? printJson : printText,
      onTraffic: (counts) => traffic.add(counts),
      printLine,
    },
    demoSite,
  );
  const interrupted = interruption(...ENDS);
  const stream = flags.json ? process.stderr : process.stdout;
  stream.write(`${welcomeText(session.welcome, stream)}\n`);
  await interrupted;
  stream.write("\nStopping …\n");
  await session.stop();
  stream.write(`${traffic.summary}\n`);
  // Everything has stopped, but sometimes Miniflare's watcher of the regions stays open and would keep the process
  // alive.
  process.exit(EXIT.done);
}

function printJson(entry: LogEntry, region: string | null): void {
  process.stdout.write(`${jsonLine(entry, region, new Date())}\n`);
}

function printText(entry: LogEntry, region: string | null): void {
  process.stderr.write(`${textLine(entry, region, new Date(), process.stderr)}\n`);
}

/** A line about the running edge. It is not data, so it goes to stderr. */
function printLine(line: string): void {
  const time = styleText("dim", new Date().toLocaleTimeString("en-GB"), { stream: process.stderr });
  process.stderr.write(`${time}  ${line}\n`);
}

/** A setting from the environment, checked like its flag. */
function fromEnvironment<T>(name: string, parse: (text: string) => T): T | undefined {
  const text = process.env[name];
  if (!text) return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw new DevError(`${name} is ${shownValue(text)}. ${(error as Error).message}`);
  }
}

function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (!url?.protocol.startsWith("http") || url.pathname !== "/" || url.search !== "") {
    throw new InvalidArgumentError("It must be like http://localhost:8000 or https://www.example.com, without a path.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError(
      'It cannot have a user and password. Send them to the origin with originFields: { authorization: "Basic …" }.',
    );
  }
  return url.origin;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > MAX_PORT) {
    throw new InvalidArgumentError(`It must be 1 to ${MAX_PORT}.`);
  }
  return port;
}

function regionNames(text: string): readonly string[] {
  try {
    return parseRegions(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
