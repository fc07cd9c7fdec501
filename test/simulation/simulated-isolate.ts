import { answerForChild } from "../../server/tiers/answer-for-child.ts";
import { readPosition } from "../../server/tiers/parent-fields.ts";
import type { LearningIsolate } from "../../worker/learning-isolate.ts";
import type { Answer, ClientRequest } from "../../worker/ports/answer.ts";
import type { StreamedBody } from "../../worker/ports/bodies.ts";
import type { OriginRequest, OriginResponse } from "../../worker/ports/origin.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { toWebResponse } from "../../worker/runtime/web-answer.ts";
import { HOST } from "../engine/scenario.ts";
import type { Reader } from "./log/late-log.ts";
import type { Told } from "./log/told.ts";
import { wholeBody } from "./origin-body.ts";

/** One isolate of the worker, with its knowledge of the logs. */
export class SimulatedIsolate {
  readonly #reader: Reader;
  readonly #running: LearningIsolate;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #onBug: (bug: unknown) => void;
  /** A worker of a server answers visitors only after it has reached the log's head (R24). */
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

  /** Whether its process has ended, so that nobody gets its answers any more. */
  get hasEnded(): boolean {
    return this.#reader.hasEnded ?? false;
  }

  /** Answers a child, for whose position the log may be read. */
  async answerChild({ method, pathAndQuery, fields, body }: OriginRequest): Promise<OriginResponse> {
    if (this.admission) await this.admission;
    const headers = new Fields(fields);
    const after = headers.get("tidemark-after")!;
    const arrivedAt = this.#clock();
    this.#reader.bearers++;
    const request = { method, headers, body, bodyUsed: false };
    const child = { after: readPosition(after), isOfEditor: false };
    const answer = await this.#running.fetch({ ...this.#incoming(request, pathAndQuery), child });
    this.#reader.bearers--;
    this.#reader.lastBearerAt = this.#now();
    const { position } = this.#running;
    const rules = { hasSameRules: true, hiddenFields: [], maxFieldBytes: Number.POSITIVE_INFINITY };
    const forChild = answerForChild(answer as Answer, { after, arrivedAt, now: this.#clock, position, ...rules });
    const { status, statusText, fields: told, body: given } = forChild;
    return {
      status,
      statusText,
      fields: new Fields(told),
      body: given instanceof Uint8Array ? wholeBody(given) : given,
    };
  }

  /** Takes in a push of the log. */
  learn(delta: ViewDelta): Promise<boolean> {
    return this.#running.learn(delta, this.#background);
  }

  /** Answers a call of the control plane. */
  async send(path: string, init: RequestInit): Promise<Response> {
    if (this.admission) await this.admission;
    const request = new Request(`http://${HOST}${path}`, init);
    const response = toWebResponse(await this.#running.fetch(this.#incoming(request, path)));
    return this.hasEnded ? new Response("the process has ended", { status: 502 }) : response;
  }

  /**
   * Answers a visitor. `isBearer`: whether the fields hold a token, for which the log may be read. `onceLeft`: as the
   * request's; absent if the visitor waits for the answer.
   */
  async visit(
    method: string,
    path: string,
    fields: Fields,
    isBearer = false,
    onceLeft?: ClientRequest["onceLeft"],
  ): Promise<Answer> {
    if (this.admission) await this.admission;
    const body: StreamedBody | null = method === "POST" ? wholeBody(NEW_PAGE) : null;
    if (isBearer) this.#reader.bearers++;
    const request = { method, headers: fields, body, bodyUsed: false, ...(onceLeft && { onceLeft }) };
    const answer = await this.#running.fetch(this.#incoming(request, path));
    if (!isBearer) return answer as Answer;
    this.#reader.bearers--;
    this.#reader.lastBearerAt = this.#now();
    return answer as Answer;
  }

  #incoming(request: ClientRequest, path: string) {
    return { request, url: `http://${HOST}${path}`, background: this.#background, clientAddress: null };
  }

  get #background() {
    return { run: (work: Promise<unknown>) => void work.catch(this.#onBug) };
  }
}

const NEW_PAGE = new TextEncoder().encode("new");
