import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { defaultConfig } from "../../package/default-config.ts";
import { EDGE_WRANGLER_FILE } from "../../package/wrangler-files.ts";
import { type ConfiguredSite, loadSite } from "../config/config-file.ts";
import type { DemoSite } from "./demo-site.ts";
import { type DevEdge, type DevEdgeOptions, type DevPop, startDevEdge } from "./dev-edge.ts";
import { DevError } from "./dev-error.ts";
import { MAX_PORT, PortTaken } from "./ports.ts";
import { addressOf, type Welcome } from "./welcome.ts";

/** The settings of the dev command. */
export interface DevSessionOptions
  extends Pick<DevEdgeOptions, "publicUrl" | "latency" | "namedTokens" | "onEntry" | "onTraffic" | "printLine"> {
  /** Default: the origin of the config. */
  readonly origin: string | undefined;
  /** The port of the first region; the others follow it. */
  readonly firstPort: number;
  /** Default: `tidemark.config.ts`, or what is there in its place. */
  readonly config: string | undefined;
  /** Default: one edge without a region. */
  readonly regions: readonly string[] | undefined;
  /** Whether cache and purges are kept across restarts. */
  readonly persists: boolean;
  /** Default: a random one. */
  readonly token: string | undefined;
}

/** A running edge, and the demo site if that is behind it. */
export interface DevSession {
  readonly welcome: Welcome;
  stop(): Promise<void>;
}

/**
 * Starts the edge, and the demo if it is the origin. Throws `DevError` or `ConfigFileError`, and then leaves nothing
 * running.
 */
export async function startDevSession(options: DevSessionOptions, demoSite: DemoSite | null): Promise<DevSession> {
  const { publicUrl, latency, namedTokens, onEntry, onTraffic, printLine } = options;
  const pops = popsOf(options.regions, options.firstPort);
  const { configFile, origin: chosenOrigin, hasDashboard } = await chooseSite(options, demoSite);
  const token = options.token ?? randomBytes(24).toString("base64url");
  const loginCode = hasDashboard ? randomBytes(16).toString("base64url") : null;
  const persist = options.persists ? join(dirname(configFile ?? "."), ".tidemark", "dev") : null;

  const demoEdge = {
    endpoint: addressOf(pops[0]!),
    token,
    ports: pops.map(({ port }) => port),
    publicHost: publicUrl && new URL(publicUrl).hostname,
  };
  const demo = chosenOrigin === demoSite?.origin ? await demoSite.start(demoEdge, printLine) : null;
  const origin = demo?.origin ?? chosenOrigin;
  const originNow = async () => {
    const site = await loadWith(options, configFile!);
    return demo?.origin ?? options.origin ?? addressOfSite(site, configFile);
  };
  let edge: DevEdge;
  try {
    const where = { configFile, origin, originNow, token, namedTokens, loginCode, pops, publicUrl, latency, persist };
    edge = await startDevEdge({ ...where, onEntry, onTraffic, printLine });
  } catch (error) {
    await demo?.stop();
    throw error instanceof PortTaken ? new DevError(portTakenMessage(error, pops)) : error;
  }
  const isTokenGiven = options.token !== undefined;
  return {
    welcome: { pops, latency, origin, configFile, publicUrl, persist, token, isTokenGiven, loginCode, demo },
    stop: async () => {
      await edge.stop();
      await demo?.stop();
    },
  };
}

/** The first region listens on the requested port, and the others on the ports after it. */
function popsOf(regions: readonly string[] | undefined, firstPort: number): readonly DevPop[] {
  const pops = (regions ?? [null]).map((region, index) => ({ region, port: firstPort + index }));
  if (pops.at(-1)!.port > MAX_PORT) {
    throw new DevError(
      `${pops.length} regions need that many ports, but there are fewer from ${firstPort} up: choose a lower --port.`,
    );
  }
  return pops;
}

function portTakenMessage({ port }: PortTaken, pops: readonly DevPop[]): string {
  const region = pops.find((pop) => pop.port === port)?.region ?? null;
  const purpose = region === null ? "" : `, where ${region} would listen`;
  return (
    `port ${port} is taken${purpose}. Stop the process that listens there, or choose another port with --port. ` +
    "A session that was killed leaves processes named workerd."
  );
}

interface ChosenSite {
  /** `null` if there are no rules, so that only the origin's fields decide. */
  readonly configFile: string | null;
  readonly origin: string;
  readonly hasDashboard: boolean;
}

/** Finds rules and origin. The demo's rules apply only to the demo, not to another origin. */
async function chooseSite(options: DevSessionOptions, demoSite: DemoSite | null): Promise<ChosenSite> {
  const { config, origin } = options;
  const configFile = config ?? defaultConfig();
  if (origin !== undefined && configFile === null) return { configFile, origin, hasDashboard: true };
  if (configFile === null) {
    throw new DevError(
      `there is no ${DEFAULT_CONFIG} here, and no --origin. Name your site, like --origin http://localhost:8000, ` +
        "or a file with its rules, with --config FILE. npx tidemark init writes one.",
    );
  }
  const site = await loadWith(options, configFile);
  const chosenOrigin = origin ?? addressOfSite(site, configFile);
  const isForTheDemo = config === undefined && site.origin === demoSite?.origin;
  const isWithoutRules = isForTheDemo && chosenOrigin !== site.origin;
  return {
    configFile: isWithoutRules ? null : configFile,
    origin: chosenOrigin,
    hasDashboard: isWithoutRules || site.dashboard,
  };
}

function loadWith({ origin, publicUrl }: DevSessionOptions, configFile: string): Promise<ConfiguredSite> {
  return loadSite(configFile, { origin, publicUrl: publicUrl ?? undefined });
}

/** Throws `DevError` for a service, which has no address here. */
function addressOfSite({ origin }: ConfiguredSite, configFile: string | null): string {
  if (origin !== null) return origin;
  const wrangler = existsSync(EDGE_WRANGLER_FILE) ? EDGE_WRANGLER_FILE : "wrangler.toml";
  throw new DevError(
    `${configFile} names a service binding instead of an origin. Start that worker, and name its address: --origin ` +
      `http://localhost:8788. Or run both: npx wrangler dev -c ${wrangler} -c THAT_WORKERS_CONFIG.`,
  );
}
