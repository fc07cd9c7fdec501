import { answerForChild } from "../../server/parent/answer-for-child.ts";
import { readPosition } from "../../server/parent/parent-fields.ts";
import type { LearningIsolate } from "../../worker/isolate.ts";
import { fromWebResponse, toWebResponse } from "../../worker/platform/web-answer.ts";
import type { Answer, OriginRequest, OriginResponse } from "../../worker/ports.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { HOST } from "../engine/scenario.ts";
import type { Reader } from "./late-log.ts";
import type { Told } from "./told.ts";

/** One isolate of the worker, with its knowledge of the logs. */
export class SimulatedIsolate {
  readonly #reader: Reader;
  readonly #running: LearningIsolate;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #onBug: (bug: unknown) => void;
  /** Where the log pushes, an isolate answers visitors only after it has reached the log's head (R24). */
  admission: Promise<void> | null = null;

  /** `now` is the world's time, and `clock` that of the isolate. */
  constructor(
    reader: Reader,
    running: LearningIsolate,
    now: () => number,
    clock: () => number,
    onBug: (bug: unknown) => void,
  ) {
    this.#clock = clock;
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

  /** Answers a child, for whose position the log may be read. */
  async answerChild({ method, pathAndQuery, fields, body }: OriginRequest): Promise<OriginResponse> {
    if (this.admission) await this.admission;
    const headers = new Fields(fields);
    const after = headers.get("tidemark-after")!;
    const arrivedAt = this.#clock();
    this.#reader.bearers++;
    const answer = await this.#running.fetch({
      request: { method, headers, body, bodyUsed: false },
      url: `http://${HOST}${pathAndQuery}`,
      background: this.#background,
      clientAddress: null,
      child: { after: readPosition(after) },
    });
    this.#reader.bearers--;
    this.#reader.lastBearerAt = this.#now();
    const { position } = this.#running;
    const rules = { hasSameRules: true, hiddenFields: [], maxFieldBytes: Number.POSITIVE_INFINITY };
    const forChild = answerForChild(answer as Answer, { after, arrivedAt, now: this.#clock, position, ...rules });
    return fromWebResponse(toWebResponse(forChild));
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
