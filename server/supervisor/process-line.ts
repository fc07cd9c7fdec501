import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";

/**
 * A survey without an answer counts as failed after this many milliseconds. The supervisor gives each worker one second, and
 * makes one survey at a time.
 */
export const SURVEY_WITHIN_MS = 5_000;

/** What the supervisor offers to its workers beside the log, over the channel between their processes. Plain data. */
export interface WorkerService {
  /** Begins to serve one worker. */
  connect(): ServedWorker;
}

export interface ServedWorker {
  ask(question: unknown): Promise<unknown>;
  tell(message: unknown): void;
  /** The worker has ended. */
  close(): void;
}

/** The service from a worker's side. */
export interface ProcessLine {
  /** Rejects if the supervisor has died. */
  ask(question: unknown): Promise<unknown>;
  tell(message: unknown): void;
}

/**
 * Asks again after each answer, for as long as the supervisor lives; it answers nothing if there will never be any news.
 * Never rejects.
 */
export async function hearNews<News>(line: ProcessLine, question: unknown, take: (news: News) => void): Promise<void> {
  try {
    for (;;) {
      const news = (await line.ask(question)) as News | undefined;
      if (news === undefined) return;
      take(news);
    }
  } catch {
    // The supervisor has died, and this worker finishes its answers.
  }
}

/** The worker's end of the line. `send` passes a message to the supervisor, which passes answers to `take`. */
export class LineToSupervisor implements ProcessLine {
  readonly #send: (message: Asking) => boolean;
  readonly #clock: Pick<Clock, "wait">;
  readonly #questions = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  constructor(send: (message: Asking) => boolean, clock: Pick<Clock, "wait">) {
    this.#send = send;
    this.#clock = clock;
  }

  ask(question: unknown): Promise<unknown> {
    return this.#await({ kind: "ask", number: ++this.#asked, question });
  }

  /** A survey of the machine, of which this worker is a part. Rejects if the supervisor has died, or does not answer in time. */
  survey(lookedFor: unknown): Promise<unknown> {
    const number = ++this.#asked;
    const survey = this.#await({ kind: "survey-asked", number, lookedFor });
    return within(this.#clock, SURVEY_WITHIN_MS, survey, () => {
      this.#questions.delete(number);
      throw new Error("the supervisor does not answer");
    });
  }

  tell(message: unknown): void {
    this.#send({ kind: "tell", message });
  }

  take({ number, answer }: ServiceAnswer): void {
    this.#questions.get(number)?.resolve(answer);
    this.#questions.delete(number);
  }

  #await(asking: Asking & { readonly number: number }): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    this.#questions.set(asking.number, answer);
    if (!this.#send(asking)) this.end();
    return answer.promise;
  }

  /** The supervisor has died. */
  end(): void {
    for (const { reject } of this.#questions.values()) reject(new Error("the supervisor has died"));
    this.#questions.clear();
  }
}

type Asking = ServiceMessage | { readonly kind: "survey-asked"; readonly number: number; readonly lookedFor: unknown };

/** What a worker sends for the service. */
export type ServiceMessage =
  | { readonly kind: "ask"; readonly number: number; readonly question: unknown }
  | { readonly kind: "tell"; readonly message: unknown };

export interface ServiceAnswer {
  readonly kind: "answer";
  readonly number: number;
  readonly answer: unknown;
}
