import type { QueueLimits } from "../rules/queueing/queue-order.ts";

/** The queue for the origin if the owner does not say. It is apart from the check, which a built worker leaves out. */
export const DEFAULT_QUEUE: QueueLimits = { maxMs: 5_000, maxWaiting: 1_000 };
