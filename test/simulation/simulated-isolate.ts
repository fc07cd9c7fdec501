import type { RunningIsolate } from "../../worker/isolate.ts";
import { toWebResponse } from "../../worker/platform/web-answer.ts";
import { HOST } from "../engine/scenario.ts";
import type { Reader } from "./late-log.ts";
import type { Told } from "./told.ts";

/** One isolate of the worker, with its knowledge of the logs. */
export class SimulatedIsolate {
  readonly #reader: Reader;
  readonly #running: RunningIsolate;
  readonly #now: () => number;
  readonly #onBug: (bug: unknown) => void;

  constructor(reader: Reader, running: RunningIsolate, now: () => number, onBug: (bug: unknown) => void) {
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

  async send(path: string, init: RequestInit): Promise<Response> {
    const background = { run: (work: Promise<unknown>) => void work.catch(this.#onBug) };
    const request = new Request(`http://${HOST}${path}`, init);
    return toWebResponse(await this.#running.fetch({ request, url: request.url, background, clientAddress: null }));
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
