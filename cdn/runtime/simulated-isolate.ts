import { Agent } from "node:http";
import type { Conditions, KnownKeys, Losses, Order, SimulatedSite } from "./harness-protocol.ts";
import { exchange } from "../exchange.ts";
import { Front } from "./tcp-proxy.ts";
import type { WorkerGroup } from "./miniflare.ts";

const DOOR_PATH = "/_virtual-time";

/** One worker of a simulated CDN as the harness reaches it: past the front, through the door that only tests have. */
export class SimulatedIsolate {
  readonly name: string;
  readonly front: Front;
  readonly #agent = new Agent({ keepAlive: false });
  #address: URL;

  private constructor(name: string, address: URL) {
    this.name = name;
    this.#address = address;
    this.front = new Front(address);
  }

  static async of(group: WorkerGroup, name: string): Promise<SimulatedIsolate> {
    return new SimulatedIsolate(name, await group.addressOf(name));
  }

  /** Finds the worker again after its runtime was restarted. */
  async follow(group: WorkerGroup): Promise<void> {
    this.#address = await group.addressOf(this.name);
    this.front.leadTo(this.#address);
  }

  async setConditions(conditions: Conditions): Promise<void> {
    await this.#give({ do: "set-conditions", conditions });
  }

  async runDuePurges(): Promise<void> {
    await this.#give({ do: "run-due-purges" });
  }

  async lose(losses: Losses): Promise<void> {
    await this.#give({ do: "lose", losses });
  }

  async kill(): Promise<void> {
    await this.#give({ do: "kill" });
  }

  /** Resolves once nothing is being written to the PoP's cache. */
  async finishWrites(): Promise<void> {
    await this.#give({ do: "finish-writes" });
  }

  /** Resolves once nothing goes on behind its answers. */
  async finishWork(): Promise<void> {
    await this.#give({ do: "finish-work" });
  }

  /** `null` for a worker that did not make its edge with `createEdge` of `tidemark/worker`. */
  async site(): Promise<SimulatedSite | null> {
    return (await this.#give({ do: "tell-site" })) as SimulatedSite | null;
  }

  async keys(url: string, fields: Readonly<Record<string, string>>): Promise<KnownKeys> {
    return (await this.#give({ do: "tell-keys", url, fields })) as KnownKeys;
  }

  async reachesLog(): Promise<boolean> {
    return (await this.#give({ do: "call-log" })) === true;
  }

  async #give(order: Order): Promise<unknown> {
    const { hostname, port } = this.#address;
    const answer = await exchange(this.#address, this.#agent, {
      method: "POST",
      path: DOOR_PATH,
      host: `${hostname}:${port}`,
      body: JSON.stringify(order),
    });
    if (answer.status !== 200) throw new Error(`${this.name} did not obey ${order.do}: ${answer.body}`);
    return JSON.parse(answer.body);
  }
}
