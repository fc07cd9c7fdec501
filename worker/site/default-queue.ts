import type { QueueLimits } from "../rules/queueing/queue-order.ts";

/** The queue for the origin where the owner says nothing of it. Apart from the check, which a built worker leaves out. */
export const DEFAULT_QUEUE: QueueLimits = { maxMs: 5_000, maxWaiting: 1_000 };
