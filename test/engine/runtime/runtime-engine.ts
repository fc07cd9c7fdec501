import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exchange as exchangeOverSocket } from "../../../local/cdn/exchange.ts";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { HARNESS_PATH } from "../../../local/runtime/harness-protocol.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { ADDRESS_FIELD, type Beginning, CLIENT_ADDRESS, COUNTRY_FIELD, type Found } from "../beginning.ts";
import type { HeardRequest } from "../decoded-body.ts";
import type { ClientAnswer, Engine } from "../engine.ts";
import { BEGINNING, type ClientRequest, HOST, type SiteChange, siteAt, TOKEN } from "../scenario.ts";

const SCENARIO_WORKER = fileURLToPath(new URL("./scenario.worker.ts", import.meta.url));

/**
 * The state that one scenario could leave behind for the next. The origin, with its script and its record, is always
 * new.
 */
export type Leftover = "memory" | "cache" | "purge log" | "clock";

/**
 * One Workers runtime for many scenarios, one after the other. Each gets the real worker with empty memory, an empty
 * cache, a purge log of its own, a new HTTP origin, and a clock that moves only when told. Each beginning asks the edge
 * whether any state of the last scenario is left.
 */
export class ScenarioRuntime {
  readonly #edge: EdgeRuntime;
  readonly #script: string;
  readonly #folder: string;
  readonly #timeout: number;
  readonly #agent: Agent;
  #scenarios = 0;
  /** False if no scenario has begun since the runtime started. */
  #busy = false;
  #now = BEGINNING;

  private constructor(edge: EdgeRuntime, script: string, folder: string, timeout: number) {
    this.#edge = edge;
    this.#script = script;
    this.#folder = folder;
    this.#timeout = timeout;
    this.#agent = new Agent({ keepAlive: false, timeout });
  }

  /** A request that gets no byte for `timeout` ms fails, so that a runtime that hangs fails the scenario it hangs in. */
  static async start(timeout = 20_000): Promise<ScenarioRuntime> {
    const script = await bundleWorker(SCENARIO_WORKER);
    const temporary = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
    const edge = await startEdgeRuntime({ script, variables: VARIABLES }, { port: 0, temporary });
    return new ScenarioRuntime(edge, script, temporary, timeout);
  }

  /**
   * Begins a scenario. Throws if any state of the last one is left, or if its work does not end: the next scenario then
   * has a runtime of its own. `kept` is for the test of this check: it names the
   * state that is not reset.
   */
  async begin(site: SiteChange, kept?: Leftover): Promise<Engine> {
    if (this.#scenarios > 0) {
      if (this.#busy) await this.#endLast(); // otherwise its writes would end in the new, empty state
      if (kept !== "cache") await this.#edge.emptyCache();
    }
    const origin = new ScriptedOrigin(() => this.#now);
    await origin.comeUp();
    if (kept !== "purge log") this.#scenarios++;
    if (kept !== "clock") this.#now = BEGINNING;
    const log = `scenario-${this.#scenarios}`;
    const named: Beginning = { site: siteAt(origin.url, site), log, now: this.#now };
    this.#busy = true;
    try {
      await this.#refuseLeftovers(await this.#tell(kept === "memory" ? { log, now: this.#now } : named));
    } catch (error) {
      await origin.goDown();
      throw error;
    }
    return new RuntimeEngine(this.#edge, origin, new Agent({ keepAlive: false, timeout: this.#timeout }), {
      advance: async (ms) => {
        this.#now += ms;
        await this.#setClock();
      },
      finishWork: () => this.#finishWork(),
      restart: async () => {
        await this.#finishWork();
        await order(this.#edge.url, this.#agent, HARNESS_PATH, { do: "kill" });
      },
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#edge.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #endLast(): Promise<void> {
    try {
      await this.#finishWork();
    } catch (error) {
      await this.#reload();
      this.#busy = false;
      throw new Error("the work of the scenario before did not end", { cause: error });
    }
  }

  #reload(): Promise<void> {
    return this.#edge.reload({ script: this.#script, variables: VARIABLES });
  }

  async #tell(beginning: Beginning): Promise<Found> {
    const body = JSON.stringify(beginning);
    const fields = { authorization: `Bearer ${TOKEN}` };
    const answer = await exchange(this.#edge.url, this.#agent, { method: "POST", path: "/_scenario", fields, body });
    if (answer.status !== 200) throw new Error(`the scenario did not begin: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as Found;
  }

  async #refuseLeftovers({ purges, stats }: Found): Promise<void> {
    const entries = await this.#edge.emptyCache();
    const { startedAt, ...counted } = stats;
    const counters = countersOf(counted).filter(([, count]) => count !== 0 && count !== null);
    const left = { entries, purges, counters, startedAt };
    const nothing = {
      entries: 0,
      purges: { purges: [], next: null },
      counters: [],
      startedAt: new Date(BEGINNING).toISOString(),
    };
    if (JSON.stringify(left) === JSON.stringify(nothing)) return;
    throw new Error(`something is left of the scenario before: ${JSON.stringify(left)}`);
  }

  async #setClock(): Promise<void> {
    await exchange(this.#edge.url, this.#agent, { path: `${HARNESS_PATH}?now=${this.#now}` });
  }

  #finishWork(): Promise<void> {
    return finishWork(this.#edge.url, this.#agent);
  }
}

const VARIABLES = { TIDEMARK_TOKEN: TOKEN, TIDEMARK_CLIENT_ADDRESS: CLIENT_ADDRESS };

/**
 * Values that an unused isolate has as well: the version and scope of its counters, its limits, and the size of an
 * empty view.
 */
const ALWAYS = /^(version|scope|.*\.maxBytes|atOrigin\.maxWaiting|view\.bytes)$/;

/** The counters of `GET stats`, by path. */
function countersOf(stats: object, above = ""): [path: string, count: unknown][] {
  return Object.entries(stats).flatMap(([name, value]) => {
    const path = `${above}${name}`;
    if (ALWAYS.test(path)) return [];
    return typeof value === "object" && value !== null ? countersOf(value, `${path}.`) : [[path, value as unknown]];
  });
}

interface Drive {
  advance(ms: number): Promise<void>;
  finishWork(): Promise<void>;
  restart(): Promise<void>;
}

class RuntimeEngine implements Engine {
  readonly name = "runtime";
  readonly #edge: EdgeRuntime;
  readonly #origin: ScriptedOrigin;
  readonly #agent: Agent;
  readonly #drive: Drive;

  constructor(edge: EdgeRuntime, origin: ScriptedOrigin, agent: Agent, drive: Drive) {
    this.#edge = edge;
    this.#origin = origin;
    this.#agent = agent;
    this.#drive = drive;
  }

  get seen() {
    return this.#origin.seen;
  }

  send(request: ClientRequest): Promise<ClientAnswer> {
    if (request.isolate !== undefined) throw new Error("one worker of the runtime is one isolate");
    const { country, address, ...sent } = request;
    const fields = {
      ...sent.fields,
      ...(country !== undefined && { [COUNTRY_FIELD]: country }),
      ...(address !== undefined && { [ADDRESS_FIELD]: address }),
    };
    return exchange(this.#edge.url, this.#agent, { ...sent, fields });
  }

  settle<T>(promise: Promise<T>): Promise<T> {
    return promise;
  }

  advance(ms: number): Promise<void> {
    return this.#drive.advance(ms);
  }

  reply(target: string, replies: Parameters<Engine["reply"]>[1]): void {
    this.#origin.reply(target, ...replies);
  }

  release(hold: string): void {
    this.#origin.release(hold);
  }

  originSees(target: string, count: number): Promise<void> {
    return this.#origin.waitUntilSeen(target, count);
  }

  originDown(): Promise<void> {
    return this.#origin.goDown();
  }

  originUp(): Promise<void> {
    return this.#origin.comeUp();
  }

  restartIsolate(): Promise<void> {
    return this.#drive.restart();
  }

  finishWork(): Promise<void> {
    return this.#drive.finishWork();
  }

  async emptySharedTier(): Promise<void> {
    await this.#edge.emptyCache();
  }

  /** Closes all connections. */
  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#origin.goDown();
  }
}

/** One exchange over a real socket. Target and fields are sent exactly as given. */
export function exchange(edge: URL, agent: Agent, request: HeardRequest): Promise<ClientAnswer> {
  return exchangeOverSocket(edge, agent, { host: HOST, ...request });
}

/** Resolves when an edge on virtual time has done what goes on behind its answers. */
export function finishWork(edge: URL, agent: Agent): Promise<void> {
  return order(edge, agent, HARNESS_PATH, { do: "finish-work" });
}

async function order(edge: URL, agent: Agent, path: string, command: object): Promise<void> {
  const { status, body } = await exchange(edge, agent, { method: "POST", path, body: JSON.stringify(command) });
  if (status >= 300) throw new Error(`${path}: ${status} ${body}`);
}
