import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import { exchange as exchangeOverSocket } from "../../cdn/exchange.ts";
import { bundleWorker } from "../../cdn/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../cdn/runtime/miniflare.ts";
import { ScriptedOrigin } from "../../cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { ClientAnswer, Engine } from "./engine.ts";
import { BEGINNING, type ClientRequest, HOST, TOKEN } from "./scenario.ts";

const VIRTUAL_TIME_WORKER = fileURLToPath(new URL("../../cdn/runtime/virtual-time.worker.ts", import.meta.url));
let bundled: Promise<string> | undefined;

/** The real worker in the Workers runtime, a real HTTP origin, and a clock that moves only when told. */
export async function startRuntimeEngine(site: Omit<Partial<SiteInput>, "origin">): Promise<Engine> {
  bundled ??= bundleWorker(VIRTUAL_TIME_WORKER);
  const script = await bundled;
  let now = BEGINNING;
  const origin = new ScriptedOrigin(() => now);
  await origin.comeUp();
  const variables = {
    SITE: { origin: origin.url, hosts: [HOST], ...site },
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_CLIENT_ADDRESS: "192.0.2.7",
  };
  const edge = await startEdgeRuntime({ script, variables }, { port: 0 });
  const agent = new Agent({ keepAlive: false });
  const setClock = () => exchange(edge.url, agent, { path: `/_virtual-time?now=${now}` });
  await setClock();
  return new RuntimeEngine(edge, origin, agent, {
    advance: async (ms) => {
      now += ms;
      await setClock();
    },
    finishWork: async () => {
      const body = JSON.stringify({ do: "finish-work" });
      await exchange(edge.url, agent, { method: "POST", path: "/_virtual-time", body });
    },
    restart: async () => {
      await edge.reload({ script, variables });
      await setClock();
    },
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
    return exchange(this.#edge.url, this.#agent, request);
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

  emptySharedTier(): Promise<void> {
    return this.#edge.emptyCache();
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#edge.stop();
    await this.#origin.goDown();
  }
}

/** One exchange over a real socket, with the target and the fields exactly as given. */
export function exchange(edge: URL, agent: Agent, request: ClientRequest): Promise<ClientAnswer> {
  return exchangeOverSocket(edge, agent, { host: HOST, ...request });
}
