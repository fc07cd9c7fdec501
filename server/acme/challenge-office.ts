import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import type { ServedWorker, WorkerService } from "../supervisor/process-line.ts";
import type { Challenge, Challenged } from "./authority.ts";

/** The question by which a worker waits for the challenges to answer: all of them, each time that they change. */
export const ASKS_FOR_CHALLENGES = "acme-challenges";

/** A worker that hangs must not keep others from answering. Milliseconds. */
const HEARD_WITHIN_MS = 5_000;

/** Tells the workers of a machine which challenges to answer. A worker has heard them when it asks for the next ones. */
export class ChallengeOffice implements WorkerService, Challenged {
  readonly #clock: Clock;
  readonly #pending = new Set<Challenge>();
  readonly #workers = new Set<ListeningWorker>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  connect(): ServedWorker {
    const worker = new ListeningWorker(() => [...this.#pending]);
    this.#workers.add(worker);
    return {
      ask: () => worker.ask(),
      tell: () => undefined,
      close: () => {
        this.#workers.delete(worker);
        worker.leave();
      },
    };
  }

  async answer(challenge: Challenge): Promise<void> {
    this.#pending.add(challenge);
    const heard = Promise.all([...this.#workers].map((worker) => worker.tell()));
    await within(this.#clock, HEARD_WITHIN_MS, heard, () => undefined);
  }

  forget(challenge: Challenge): void {
    this.#pending.delete(challenge);
    for (const worker of this.#workers) void worker.tell();
  }
}

class ListeningWorker {
  readonly #pending: () => readonly Challenge[];
  /** Whether something has changed since it was told. It begins by asking for what is there. */
  #isOutdated = true;
  #asked: PromiseWithResolvers<readonly Challenge[]> | null = null;
  #heard: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(pending: () => readonly Challenge[]) {
    this.#pending = pending;
  }

  /** Resolves to all challenges, once they are others than before. */
  ask(): Promise<readonly Challenge[]> {
    if (!this.#isOutdated) this.leave(); // it has taken in what it was told
    this.#asked = Promise.withResolvers();
    const { promise } = this.#asked;
    if (this.#isOutdated) this.#give();
    return promise;
  }

  /** Resolves when it has taken in what there is now. */
  tell(): Promise<void> {
    this.#isOutdated = true;
    if (this.#asked !== null) this.#give();
    return this.#heard.promise;
  }

  /** Nobody waits for it any longer. */
  leave(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  #give(): void {
    this.#asked!.resolve(this.#pending());
    this.#asked = null;
    this.#isOutdated = false;
  }
}
