import type { QueueLimits } from "../rules/queueing/queue-order.ts";

/** The default queue for the origin. It is separate from the check, which a built worker leaves out. */
export const DEFAULT_QUEUE: QueueLimits = { maxMs: 5_000, maxWaiting: 1_000 };
