import { PurgeIncomplete, PurgeRejected, PurgeTimeout, PurgeUnreachable, type Receipt } from "../../../sdk/index.ts";
import type { OutboxPurger } from "../../../sdk/outbox/sqlite.ts";
import type { PurgeRequest } from "../../../sdk/purge-request.ts";

/** What a purger does with a request: the receipt is the request's `id`. */
export type Answering = (request: PurgeRequest) => Promise<string>;

export interface ScriptedPurger extends OutboxPurger<string> {
  /** The requests in the order in which they arrived. */
  readonly requests: readonly PurgeRequest[];
  /** The tags of each request, separated by spaces. */
  readonly tags: readonly string[];
  /** The greatest number of requests that were under way at the same time. */
  readonly mostAtOnce: number;
  answer: Answering;
}

export const accepts: Answering = async ({ id }) => id!;

/** A failure that says nothing of other purges. */
export const fails: Answering = async () => {
  throw new Error("it failed");
};

export const isUnreachable: Answering = async () => {
  throw new PurgeUnreachable("the edge is down", { code: "unreachable", retryable: true, attempts: 5 });
};

/** One edge has accepted the purge, and another is down. */
export const isHalfAccepted: Answering = async (request) => {
  const error = new PurgeUnreachable("one edge is down", { code: "unreachable", retryable: true, attempts: 5 });
  throw new PurgeIncomplete([{ seq: 1 } as Receipt], [{ request, error }]);
};

/** The edge has purged, but fetching the pages again takes longer than the deadline. */
export const refreshesSlowly: Answering = async (request) => {
  if (request.refresh) throw new PurgeTimeout("the deadline has passed", { attempts: 1 });
  return accepts(request);
};

/** A firewall in front of the edge blocks the purge for something that it names. */
export const isBlocked: Answering = async () => {
  throw new PurgeUnreachable("blocked", { code: "unexpected-answer", status: 403, retryable: false, attempts: 1 });
};

export const refuses: Answering = async () => {
  throw new PurgeRejected("a wrong item", { code: "invalid", status: 400, attempts: 1, errors: [] });
};

/** Answers requests of these tags in one way, and all others in another. */
export function forTags(tags: readonly string[], answer: Answering, others: Answering = accepts): Answering {
  return (request) => (request.tags?.some((tag) => tags.includes(tag)) ? answer(request) : others(request));
}

export function createScriptedPurger(answer: Answering = accepts): ScriptedPurger {
  const requests: PurgeRequest[] = [];
  let underWay = 0;
  let mostAtOnce = 0;
  return {
    requests,
    get tags() {
      return requests.map(({ tags = [] }) => tags.join(" "));
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    answer,
    async purge(request) {
      requests.push(request);
      underWay += 1;
      mostAtOnce = Math.max(mostAtOnce, underWay);
      try {
        return await this.answer(request);
      } finally {
        underWay -= 1;
      }
    },
  };
}

/** A purge that is under way until the test ends it. */
export function heldUp(): { answer: Answering; arrived: Promise<void>; end(outcome: Answering): void } {
  const arrived = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<Answering>();
  return {
    answer: async (request) => {
      arrived.resolve();
      return (await outcome.promise)(request);
    },
    arrived: arrived.promise,
    end: outcome.resolve,
  };
}
