import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { isSafeMethod } from "../../worker/rules/invalidation/safe-method.ts";
import { within } from "../../worker/within.ts";
import { CONFIRM_WITHIN_MS } from "../log/log-readers.ts";

/**
 * Holds the answer to an unsafe request until the other workers know what it has invalidated (R15), but no longer than a
 * receipt waits for them: the client's next request may come over a connection to another one.
 */
export class ToldWorkers {
  readonly #clock: Clock;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same log, as the isolate calls it. Its appends resolve when every worker has confirmed them. */
  noting(log: PurgeLogClient): PurgeLogClient {
    return {
      read: (...asked) => log.read(...asked),
      append: (purge) => {
        const appended = log.append(purge);
        if (purge.mode === "invalidate") {
          const ended = appended.then(ignore, ignore);
          this.#underWay.add(ended);
          void ended.then(() => this.#underWay.delete(ended));
        }
        return appended;
      },
    };
  }

  /** The answer to a request of this method, when it may be sent. Never rejects for lack of a log. */
  hold<T>(method: string, given: T | Promise<T>): T | Promise<T> {
    return isSafeMethod(method) ? given : this.#held(given);
  }

  async #held<T>(given: T | Promise<T>): Promise<T> {
    const answer = await given;
    if (this.#underWay.size > 0) await within(this.#clock, CONFIRM_WITHIN_MS, Promise.all(this.#underWay), ignore);
    return answer;
  }
}

function ignore(): void {}
