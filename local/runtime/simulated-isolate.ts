import { Agent } from "node:http";
import { exchange } from "../cdn/exchange.ts";
import {
  type AnswersToLose,
  type ClockAndNetwork,
  HARNESS_PATH,
  type HarnessCommand,
  type KnownKeys,
  type LogConnections,
  type SimulatedSite,
  WORKER_FAILED,
} from "./harness-protocol.ts";
import type { WorkerGroup } from "./miniflare.ts";
import { TcpProxy } from "./tcp-proxy.ts";

/** One worker of a simulated CDN, with the harness's commands, which do not go through its proxy. */
export class SimulatedIsolate {
  readonly name: string;
  /** The socket that visitors connect to. */
  readonly proxy: TcpProxy;
  readonly #agent = new Agent({ keepAlive: false });
  #address: URL;

  private constructor(name: string, address: URL) {
    this.name = name;
    this.#address = address;
    this.proxy = new TcpProxy(address);
  }

  static async of(group: WorkerGroup, name: string): Promise<SimulatedIsolate> {
    return new SimulatedIsolate(name, await group.addressOf(name));
  }

  /** Finds the worker's new address after its runtime was restarted. */
  async reconnect(group: WorkerGroup): Promise<void> {
    this.#address = await group.addressOf(this.name);
    this.proxy.retarget(this.#address);
  }

  async setClockAndNetwork(clockAndNetwork: ClockAndNetwork): Promise<void> {
    await this.#command({ do: "set-clock-and-network", clockAndNetwork });
  }

  async runDuePurges(): Promise<void> {
    await this.#command({ do: "run-due-purges" });
  }

  async beginLog(): Promise<void> {
    await this.#command({ do: "begin-log" });
  }

  async finishPushes(): Promise<void> {
    await this.#command({ do: "finish-pushes" });
  }

  async hasSettled(seq: number): Promise<boolean> {
    return (await this.#command({ do: "look-at-purge", seq })) === true;
  }

  async loseLogConnections(): Promise<void> {
    await this.#command({ do: "lose-connections" });
  }

  async logConnections(): Promise<LogConnections> {
    return (await this.#command({ do: "count-connections" })) as LogConnections;
  }

  async loseAnswers(answersToLose: AnswersToLose): Promise<void> {
    await this.#command({ do: "lose-answers", answersToLose });
  }

  async kill(): Promise<void> {
    await this.#command({ do: "kill" });
  }

  /** Resolves once nothing that has arrived whole is being written to the PoP's cache. */
  async finishWrites(): Promise<void> {
    await this.#command({ do: "finish-writes" });
  }

  /** Resolves once all work behind its responses has ended. */
  async finishWork(): Promise<void> {
    await this.#command({ do: "finish-work" });
  }

  /** `null` for a worker that did not make its edge with `createEdge` of `tidemark/worker`. */
  async site(): Promise<SimulatedSite | null> {
    return (await this.#command({ do: "describe-site" })) as SimulatedSite | null;
  }

  /** Those of the paths that a route with this pattern would have; `null` if it is no pattern. */
  async matching(pattern: string, paths: readonly string[]): Promise<readonly string[] | null> {
    return (await this.#command({ do: "match-paths", pattern, paths })) as readonly string[] | null;
  }

  async keys(url: string, fields: Readonly<Record<string, string>>): Promise<KnownKeys> {
    return (await this.#command({ do: "list-keys", url, fields })) as KnownKeys;
  }

  async reachesLog(): Promise<boolean> {
    return (await this.#command({ do: "ping-log" })) === true;
  }

  async #command(command: HarnessCommand): Promise<unknown> {
    const { hostname, port } = this.#address;
    const answer = await exchange(this.#address, this.#agent, {
      method: "POST",
      path: HARNESS_PATH,
      host: `${hostname}:${port}`,
      body: JSON.stringify(command),
    });
    if (answer.status === WORKER_FAILED) throw new TypeError(`startCdn: ${answer.body}`);
    if (answer.status !== 200) {
      throw new Error(`the isolate ${this.name} answered ${command.do} with ${answer.status}: ${answer.body}`);
    }
    return JSON.parse(answer.body);
  }
}
