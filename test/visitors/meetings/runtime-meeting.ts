import { Agent } from "node:http";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { exchange, finishWork } from "../../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import type { Answering, Case } from "../case.ts";
import { Witness } from "../witness.ts";
import type { Meet } from "./meet.ts";

/** Visitors of the Workers runtime: one edge for each set of rules, and a public host for each meeting. */
export class RuntimeMeetings {
  readonly #witness = new Witness();
  readonly #agent = new Agent({ keepAlive: false });
  readonly #script = bundleWorker("local/runtime/virtual-time.worker.ts");
  #edge: EdgeRuntime | undefined;
  #origin = "";
  #rules = "";
  #meetings = 0;

  async start(): Promise<void> {
    this.#origin = await this.#witness.start();
  }

  readonly meet: Meet = async (site, origin) => {
    const edge = await this.#edgeFor(site);
    const host = `meeting-${++this.#meetings}.example.test`;
    this.#witness.answering = underOneName(host, origin);
    this.#witness.asked = 0;
    return {
      send: async (request) => {
        const answer = await exchange(edge.url, this.#agent, { ...request, host });
        await finishWork(edge.url, this.#agent); // what goes on behind the answer ends before the next visitor comes
        return answer;
      },
      asked: () => this.#witness.asked,
      stop: async () => undefined,
    };
  };

  async #edgeFor(site: Case["site"]): Promise<EdgeRuntime> {
    const rules = JSON.stringify(site ?? {});
    if (this.#edge && rules === this.#rules) return this.#edge;
    const script = await this.#script;
    const variables = {
      SITE: { origin: this.#origin, ...site },
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
      TIDEMARK_CLIENT_ADDRESS: "192.0.2.7",
    };
    if (this.#edge) await this.#edge.reload({ script, variables });
    else this.#edge = await startEdgeRuntime({ script, variables }, { port: 0 });
    this.#rules = rules;
    return this.#edge;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#edge?.stop();
    await this.#witness.stop();
  }
}

/** Makes all meetings look alike to the origin. */
export function underOneName(host: string, origin: Answering): Answering {
  return (request) => {
    const alike = Object.entries(request.fields).map(([name, value]) => [name, String(value).replaceAll(host, HOST)]);
    return origin({ ...request, fields: Object.fromEntries(alike) as Record<string, string> });
  };
}
