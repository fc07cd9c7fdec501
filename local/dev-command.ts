import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { styleText } from "node:util";
import { Command, InvalidArgumentError } from "commander";
import { ConfigFileError, loadSite } from "./config-file.ts";
import { type DevEdge, startDevEdge } from "./dev-edge.ts";
import { EXIT } from "./exit-code.ts";

interface DevFlags {
  readonly origin?: string;
  readonly port?: number;
  readonly config?: string;
}

/** A site that comes with the command, for those who have none at hand yet. */
export interface DemoSite {
  /** The origin that means the demo. */
  readonly origin: string;
  start(
    edge: { readonly endpoint: string; readonly token: string },
    tell: (line: string) => void,
  ): Promise<RunningDemo>;
}

export interface RunningDemo {
  /** Lines for the person at the terminal: what else is where. */
  readonly places: readonly (readonly [name: string, url: string])[];
  /** A page that is worth asking for. */
  readonly path: string;
  stop(): Promise<void>;
}

const DEFAULT_PORT = 8787;
const DEFAULT_CONFIG = "tidemark.config.ts";

/** `tidemark dev`: the edge in the Workers runtime on this machine, in front of a site. */
export function devCommand(demo: DemoSite | null): Command {
  return new Command("dev")
    .description("Start the edge on this machine, in front of your site.")
    .option("--origin <url>", "the site to front (else TIDEMARK_ORIGIN, else the config's origin)", originUrl)
    .option("--port <number>", `where to listen (else TIDEMARK_PORT, else ${DEFAULT_PORT})`, portNumber)
    .option("--config <file>", `the site's rules (else TIDEMARK_CONFIG, else ${DEFAULT_CONFIG})`)
    .action(async (flags: DevFlags) => {
      try {
        await dev(flags, demo);
      } catch (error) {
        if (!(error instanceof ConfigFileError) && !(error instanceof DevError)) throw error;
        process.stderr.write(`${styleText("red", "tidemark:")} ${error.message}\n`);
        process.exitCode = EXIT.usage;
      }
    });
}

/** What stops the command from starting, in words. */
class DevError extends Error {}

async function dev(flags: DevFlags, demoSite: DemoSite | null): Promise<void> {
  const port = flags.port ?? portNumber(process.env.TIDEMARK_PORT || String(DEFAULT_PORT));
  const { configFile, origin } = await chooseSite(flags, demoSite);
  const isTokenGiven = Boolean(process.env.TIDEMARK_TOKEN);
  const token = process.env.TIDEMARK_TOKEN || randomBytes(24).toString("base64url");

  const endpoint = `http://localhost:${port}`;
  const demo = origin === demoSite?.origin ? await startDemo(demoSite, { endpoint, token }) : null;
  let edge: DevEdge;
  try {
    edge = await startDevEdge({ configFile, port, origin, token, tell });
  } catch (error) {
    await demo?.stop();
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new DevError(`port ${port} is taken. Stop what listens there, or choose another one with --port.`);
  }
  const interruption = interrupted();
  print(welcome({ endpoint, origin, configFile, token, isTokenGiven, demo }));
  await interruption;
  print("\nStopping …");
  await edge.stop();
  await demo?.stop();
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

async function startDemo(demoSite: DemoSite, edge: { endpoint: string; token: string }): Promise<RunningDemo> {
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

interface Welcome {
  readonly endpoint: string;
  readonly origin: string;
  readonly configFile: string | null;
  readonly token: string;
  readonly isTokenGiven: boolean;
  readonly demo: RunningDemo | null;
}

function welcome({ endpoint, origin, configFile, token, isTokenGiven, demo }: Welcome): string {
  const page = endpoint + (demo?.path ?? "/");
  const places = demo?.places.map(([name, url]) => `\n  ${name.padEnd(8)} ${url}`).join("") ?? "";
  const bold = (text: string) => styleText("bold", text);
  return `
${bold("Tidemark")} is up. Ctrl-C stops it.

  edge     ${bold(endpoint)}
  origin   ${origin}${demo ? "  (the demo site)" : ""}
  rules    ${configFile === null ? "none: what the origin's Cache-Control says; --config FILE brings some" : `${configFile}  (edits are picked up at once)`}
  token    ${token}${isTokenGiven ? "" : "  (a new one each time, unless TIDEMARK_TOKEN is set)"}${places}

Ask twice, then purge and ask again:

  curl -si ${page} | grep -i -e ^x-cache -e ^cache-status -e ^age
  curl -s -X PURGE ${page} -H "Authorization: Bearer ${token}"
  curl -s -X POST ${endpoint}/_tidemark/purge -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '{"everything":true}'
`;
}

/** Resolves at Ctrl-C. A second one ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      // Miniflare's own listeners would end the process before the rest has stopped.
      const others = process.listeners(signal);
      process.once(signal, () => resolve());
      for (const other of others) process.off(signal, other);
    }
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line of what goes on while the edge runs: not data, so on stderr. */
function tell(line: string): void {
  process.stderr.write(`${styleText("dim", new Date().toLocaleTimeString("en-GB"))} ${line}\n`);
}

function originUrl(text: string): string {
  const url = URL.parse(text);
  if (!url?.protocol.startsWith("http") || url.pathname !== "/" || url.search !== "") {
    throw new InvalidArgumentError("It must be like http://localhost:8000, without a path.");
  }
  return url.origin;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError("It must be 1 to 65535.");
  return port;
}
