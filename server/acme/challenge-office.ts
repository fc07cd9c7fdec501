import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import type { ServedWorker, WorkerService } from "../supervisor/process-line.ts";
import type { Challenge, Challenged } from "./authority.ts";

/** The request with which a worker waits for the challenges to answer. Each reply has all of them. */
export const ASKS_FOR_CHALLENGES = "acme-challenges";

/** How long to wait for a worker, so that one that hangs does not delay the others. Milliseconds. */
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
  /** Whether something has changed since its last reply. Its first request gets all there is. */
  #isOutdated = true;
  #asked: PromiseWithResolvers<readonly Challenge[]> | null = null;
  #heard: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(pending: () => readonly Challenge[]) {
    this.#pending = pending;
  }

  /** Resolves to all challenges, once they differ from those before. */
  ask(): Promise<readonly Challenge[]> {
    if (!this.#isOutdated) this.leave(); // it has processed the last reply
    this.#asked = Promise.withResolvers();
    const { promise } = this.#asked;
    if (this.#isOutdated) this.#give();
    return promise;
  }

  /** Resolves when it has processed the current challenges. */
  tell(): Promise<void> {
    this.#isOutdated = true;
    if (this.#asked !== null) this.#give();
    return this.#heard.promise;
  }

  /** Nobody waits for it any more. */
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
