import type { LearningIsolate } from "../../worker/isolate.ts";
import { toWebResponse } from "../../worker/platform/web-answer.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { HOST } from "../engine/scenario.ts";
import type { Reader } from "./late-log.ts";
import type { Told } from "./told.ts";

/** One isolate of the worker, with its knowledge of the logs. */
export class SimulatedIsolate {
  readonly #reader: Reader;
  readonly #running: LearningIsolate;
  readonly #now: () => number;
  readonly #onBug: (bug: unknown) => void;
  /** Where the log pushes, an isolate answers visitors only after it has reached the log's head (R24). */
  admission: Promise<void> | null = null;

  constructor(reader: Reader, running: LearningIsolate, now: () => number, onBug: (bug: unknown) => void) {
    this.#reader = reader;
    this.#running = running;
    this.#now = now;
    this.#onBug = onBug;
  }

  get name(): string {
    return this.#reader.name;
  }

  get told(): Told {
    return this.#reader.told;
  }

  get reader(): Reader {
    return this.#reader;
  }

  /** Takes in a push of the log. */
  learn(delta: ViewDelta): Promise<boolean> {
    return this.#running.learn(delta, this.#background);
  }

  async send(path: string, init: RequestInit): Promise<Response> {
    if (this.admission) await this.admission;
    const background = this.#background;
    const request = new Request(`http://${HOST}${path}`, init);
    return toWebResponse(await this.#running.fetch({ request, url: request.url, background, clientAddress: null }));
  }

  get #background() {
    return { run: (work: Promise<unknown>) => void work.catch(this.#onBug) };
  }

  /** Sends the request of a token's bearer, for whom alone the log may be read. */
  async sendWithToken(path: string, init: RequestInit): Promise<Response> {
    this.#reader.bearers++;
    const response = await this.send(path, init);
    this.#reader.bearers--;
    this.#reader.lastBearerAt = this.#now();
    return response;
  }
}
