import { ScenarioRuntime } from "../../engine/runtime/runtime-engine.ts";
import { Witness } from "../witness.ts";
import type { Meet } from "./meet.ts";

/** Visitors of the Workers runtime, with a new isolate for each meeting, so that nothing learned before has an effect. */
export class FreshRuntimeMeetings {
  readonly #witness = new Witness();
  #runtime!: ScenarioRuntime;
  #origin = "";

  async start(): Promise<void> {
    this.#origin = await this.#witness.start();
    this.#runtime = await ScenarioRuntime.start();
  }

  readonly meet: Meet = async (site, answering) => {
    this.#witness.answering = answering;
    this.#witness.asked = 0;
    const settings = { ...site, origin: { url: this.#origin } };
    const engine = await this.#runtime.begin(settings);
    return {
      send: async (request) => {
        const answer = await engine.send(request);
        await engine.finishWork();
        return answer;
      },
      asked: () => this.#witness.asked,
      stop: () => engine.stop(),
    };
  };

  async stop(): Promise<void> {
    await this.#runtime.stop();
    await this.#witness.stop();
  }
}
