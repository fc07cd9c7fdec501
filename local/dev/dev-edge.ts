import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigFileError } from "../../package/config-file-error.ts";
import type { SimulatedRegion } from "../../wire/simulated-regions.ts";
import { roundTripsOf } from "../cdn/latency.ts";
import { bundleWorker, bundlingFault, type EntryCode, watchWorker } from "../runtime/bundle.ts";
import { LOG_WORKER, LogAddress } from "../runtime/log-address.ts";
import {
  type EdgeRuntime,
  type EdgeWorker,
  startEdgeRuntime,
  startWorkerGroup,
  thrownWhileLoading,
} from "../runtime/miniflare.ts";
import { TemporaryFolder } from "../runtime/temporary-folder.ts";
import { DevError } from "./dev-error.ts";
import { DEV_COMPATIBILITY_FLAGS, devEntry, devEntryWithoutRules } from "./entry.ts";
import { freeHosts } from "./ports.ts";
import { cityOf } from "./regions.ts";
import { readEntry } from "./request-log.ts";
import { type DevSettings, LOGIN_CODE_USED, type LogEntry } from "./request-log-entry.ts";
import type { TrafficCounts } from "./traffic-report.ts";

/** One edge: its port, and its region, which is `null` if it is the only edge. */
export interface DevPop {
  readonly region: string | null;
  readonly port: number;
}

export interface DevEdgeOptions {
  /** The file with the site's rules; `null` for none. */
  readonly configFile: string | null;
  readonly origin: string;
  /** Reads the changed config, and resolves to the origin. What it throws is told, and the earlier rules stay in force. */
  readonly originNow: () => Promise<string>;
  readonly token: string;
  /** One edge without a region, or one for each region. Those with a region share a purge log. */
  readonly pops: readonly DevPop[];
  /** The value of `TIDEMARK_TOKENS`: tokens beside `token`, with their names and scopes. */
  readonly namedTokens: string | undefined;
  /** The public scheme and host; `null` for the site's own or, if it names none, those of the first edge. */
  readonly publicUrl: string | null;
  /** The code of a link that logs in at the dashboard of the first edge, once; `null` for none. */
  readonly loginCode: string | null;
  /** Whether calls are as slow as over public networks. Only for regions of the table `ROUND_TRIPS`. */
  readonly latency: boolean;
  /** A folder for cache and purges; `null` to keep neither. */
  readonly persist: string | null;
  /** Receives each request and purge; `null` if nobody reads them, so the edges do not send them. */
  readonly onEntry: ((entry: LogEntry, region: string | null) => void) | null;
  /** Receives an edge's counts since its last report. */
  readonly onTraffic: (counts: TrafficCounts) => void;
  /** Receives a line for the person at the terminal. */
  readonly printLine: (line: string) => void;
}

export interface DevEdge {
  stop(): Promise<void>;
}

const STAY_IN_FORCE = "The earlier rules stay in force.";
const IS_DOWN = "The edge could not go back to the earlier rules: it answers again once it has rules that work.";

/** Starts the edges, and reloads them whenever the config, or a file that it imports, changes. */
export async function startDevEdge(options: DevEdgeOptions): Promise<DevEdge> {
  const { configFile, origin, printLine } = options;
  const hosts = await Promise.all(options.pops.map(({ port }) => freeHosts(port)));
  const home = await TemporaryFolder.make("tidemark-dev-");
  let group: EdgeGroup | undefined;
  let isBuilt = false;
  const started = Promise.withResolvers<void>();
  // Each build waits for the previous one, so that no reload overtakes another.
  let work: Promise<void> = Promise.resolve();
  // The next build and the end do not wait for a config that is being loaded, which may wait for what never comes.
  let outdate = (): void => undefined;
  const runScript = async (script: string, outdated: Promise<null>) => {
    if (group) {
      const changed = await Promise.race([outdated, options.originNow()]);
      if (changed === null) return;
      await group.reload({ script, origin: changed });
      printLine(`${configFile} has changed: its rules are in force. Stored responses keep their lifetimes and tags.`);
    } else {
      group = await EdgeGroup.start({ script, origin }, hosts, home.path, options);
      started.resolve();
    }
  };
  const tellMistake = (words: string) => printLine(`${words}\n${group?.isUp === false ? IS_DOWN : STAY_IN_FORCE}`);
  const onBuild = (script: string) => {
    isBuilt = true;
    outdate();
    const { promise: outdated, resolve } = Promise.withResolvers<null>();
    outdate = () => resolve(null);
    work = work
      .then(() => runScript(script, outdated))
      .catch((error: Error) => {
        started.reject(error);
        if (group) tellMistake(error.message);
      });
  };
  const onError = (errors: Parameters<typeof bundlingFault>[1]) => {
    const words = bundlingFault(configFile!, errors);
    if (isBuilt) tellMistake(words);
    else started.reject(new ConfigFileError(words));
  };
  const watching =
    configFile === null
      ? await bundleOnce(devEntryWithoutRules(origin), onBuild)
      : await watchWorker(devEntry(configFile), onBuild, onError);
  const stop = async () => {
    await watching.stop();
    outdate();
    await work;
    await group?.stop();
    await home.remove();
  };
  try {
    await started.promise;
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/**
 * Without rules there is nothing to edit: only a change of the package itself would cause a reload, which would cut
 * visitors off.
 */
async function bundleOnce(entry: EntryCode, onBuild: (script: string) => void): Promise<{ stop(): Promise<void> }> {
  onBuild(await bundleWorker(entry));
  return { stop: async () => undefined };
}

const WHILE_LOADING =
  "While it is loaded there, it has no process and nothing else of Node, and may not make random values, set timers or send " +
  "requests.";

/** What the edges run, and before which site. */
interface Front {
  readonly script: string;
  readonly origin: string;
}

/** The runtime's line for an origin whose certificate it does not trust, and the line that follows each of its errors. */
const CERTIFICATE_FAULT = /TLS peer's certificate is not trusted; reason = (.+)/;
const STACK_OF_ADDRESSES = /^stack: .+@[0-9a-f]{6,}/;

/** All edges of the command, with the purge log that they share if there are several. */
class EdgeGroup {
  /** Whether the edges answer. */
  isUp = true;
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #edges: { readonly runtime: EdgeRuntime; readonly pop: DevPop }[] = [];
  readonly #options: DevEdgeOptions;
  readonly #certificateFaults = new Set<string>();
  #front: Front;
  #isCodeUsed = false;
  /** What the runtimes have written since they began to load a script; `null` if they do not load one. */
  #held: string[] | null = null;

  private constructor(front: Front, options: DevEdgeOptions) {
    this.#front = front;
    this.#options = options;
  }

  static async start(
    front: Front,
    hosts: readonly (readonly string[])[],
    home: string,
    options: DevEdgeOptions,
  ): Promise<EdgeGroup> {
    const group = new EdgeGroup(front, options);
    try {
      await group.#load(() => group.#start(front, hosts, home));
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  async #start(front: Front, hosts: readonly (readonly string[])[], home: string): Promise<void> {
    const { pops, persist, onEntry, onTraffic, printLine } = this.#options;
    const isShared = pops[0]!.region !== null;
    const registry = join(home, "registry");
    if (isShared) await this.#startLog(front, registry, home);
    const starting = pops.map(async (pop, index) => {
      const { region, port } = pop;
      const runtime = await startEdgeRuntime(this.#worker(front, pop), {
        port,
        hosts: hosts[index]!,
        temporary: home,
        compatibilityFlags: DEV_COMPATIBILITY_FLAGS,
        name: region === null ? "edge" : `edge-${region}`,
        ...(isShared && { log: { of: LOG_WORKER, registry } }),
        ...(persist !== null && { persist: await folder(persist, region ?? "edge") }),
        onLine: (line) => {
          if (line === LOGIN_CODE_USED) {
            this.#isCodeUsed = true; // the next reload starts the worker again, which would not know this
            return printLine("Logged in to the dashboard; the link cannot be used again.");
          }
          const fault = CERTIFICATE_FAULT.exec(line)?.[1];
          if (fault !== undefined) return this.#tellCertificateFault(fault);
          if (STACK_OF_ADDRESSES.test(line)) return;
          const entry = readEntry(line);
          if (entry?.kind === "traffic") onTraffic(entry);
          else if (entry && onEntry) onEntry(entry, region);
          else this.#print(region === null ? line : `${region}  ${line}`);
        },
      });
      this.#stops.push(() => runtime.stop());
      this.#edges.push({ runtime, pop });
    });
    for (const outcome of await Promise.allSettled(starting)) {
      if (outcome.status === "rejected") throw outcome.reason;
    }
  }

  /** Goes back to the earlier script if the runtime does not load this one: it has stopped what ran before. */
  async reload(front: Front): Promise<void> {
    try {
      await this.#load(() => this.#reloadAll(front));
      this.#front = front;
      this.#certificateFaults.clear();
    } catch (error) {
      this.isUp = false;
      await this.#load(() => this.#reloadAll(this.#front)).catch(() => {
        throw error;
      });
      this.isUp = true;
      throw error;
    }
    this.isUp = true;
  }

  async #reloadAll(front: Front): Promise<void> {
    const reloading = this.#edges.map(({ runtime, pop }) => runtime.reload(this.#worker(front, pop)));
    for (const outcome of await Promise.allSettled(reloading)) {
      if (outcome.status === "rejected") throw outcome.reason;
    }
  }

  /** Lets the runtimes load a script. What it throws then is told in words, in place of the lines that the runtimes write. */
  async #load(work: () => Promise<void>): Promise<void> {
    this.#held = [];
    let isTold = false;
    try {
      await work();
    } catch (error) {
      const { configFile } = this.#options;
      const thrown = configFile === null ? null : thrownWhileLoading(error, this.#held);
      if (thrown === null) throw error;
      isTold = true;
      const words = `${configFile}: Node can load this file, but the Workers runtime cannot: ${thrown}`;
      throw new ConfigFileError(`${words}\n${WHILE_LOADING}`, { cause: error });
    } finally {
      const held = this.#held;
      this.#held = null;
      if (!isTold) for (const line of held) this.#print(line);
    }
  }

  /** Each fault once until the next reload, because the runtime writes it for each request. */
  #tellCertificateFault(fault: string): void {
    if (this.#certificateFaults.has(fault)) return;
    this.#certificateFaults.add(fault);
    const remedy = "If you made it, start dev with NODE_EXTRA_CA_CERTS=FILE.";
    this.#print(`The origin's certificate is not trusted: ${fault}. ${remedy}`);
  }

  #print(line: string): void {
    if (this.#held === null) this.#options.printLine(line);
    else this.#held.push(line);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  /** The log does not depend on the rules, so it keeps running when they change. */
  async #startLog(front: Front, registry: string, home: string): Promise<void> {
    const { persist, pops } = this.#options;
    const address = new LogAddress({ registry, temporary: home });
    const log = await startWorkerGroup({
      ...this.#worker(front, pops[0]!),
      workers: [LOG_WORKER],
      registry: address.ownRegistry,
      temporary: home,
      log: { className: "PurgeLog" },
      bindings: { compatibilityFlags: [...DEV_COMPATIBILITY_FLAGS] },
      ...(persist !== null && { persist: await folder(persist, LOG_WORKER) }),
    });
    this.#stops.push(() => log.stop());
    address.publish();
  }

  #worker({ script, origin }: Front, { region, port }: DevPop): EdgeWorker {
    const { token, namedTokens, publicUrl, latency, pops, loginCode, onEntry } = this.#options;
    const { originMs, logMs } = roundTripsOf(region ?? "", region !== null && latency);
    const settings: DevSettings = {
      originMs,
      logMs,
      isLogElsewhere: region !== null,
      publicUrl: region === null ? null : `http://localhost:${pops[0]!.port}`,
      loginCode: this.#isCodeUsed || port !== pops[0]!.port ? null : loginCode,
      region,
      regions: pops.flatMap((pop) => (pop.region === null ? [] : [simulatedRegion(pop.region, pop.port, latency)])),
      logsRequests: onEntry !== null,
    };
    return {
      script,
      variables: {
        TIDEMARK_ORIGIN: origin,
        TIDEMARK_TOKEN: token,
        ...(namedTokens !== undefined && { TIDEMARK_TOKENS: namedTokens }),
        TIDEMARK_CLIENT_ADDRESS: "127.0.0.1",
        ...(publicUrl !== null && { TIDEMARK_PUBLIC_URL: publicUrl }),
        DEV: settings,
      },
    };
  }
}

function simulatedRegion(region: string, port: number, latency: boolean): SimulatedRegion {
  const { clientMs, originMs } = roundTripsOf(region, latency);
  return { region, city: cityOf(region), port, clientMs, originMs };
}

async function folder(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new DevError(`--persist cannot keep anything in ${path}: ${(cause as Error).message}.`, { cause });
  }
  return path;
}
