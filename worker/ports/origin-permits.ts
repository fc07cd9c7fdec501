import type { Waiting } from "../rules/queueing/queue-order.ts";

/** The permits of a site, of the route with this pattern, or of its streams (`STREAMS`), and their number. */
export type PermitsOf = (part: string | null, concurrency: number) => OriginPermits;

/** Names the permits of upgraded connections and streams of events. No pattern of a route reads so. */
export const STREAMS = "streams";

/**
 * The permits to have a request at the origin: as many as it takes at a time. Isolates may share them, and then each has
 * some of them at hand. What brings others is absent where they share none.
 */
export interface OriginPermits {
  /** Takes one, if one is at hand. */
  take(): boolean;
  /** Gives one back that was taken. */
  giveBack(): void;
  /** A request waits from now on, for which one is brought from elsewhere as soon as it is that one's turn. */
  bring?(waiting: Waiting): void;
  /** The request does not wait any more. */
  stopBringing?(waiting: Waiting): void;
  /** One is wanted for work that nobody waits for: it is brought when it is of no use to others. */
  bringWhenIdle?(): void;
  /** Called with the request that a permit was brought for, which then takes it. */
  onBrought: (waiting: Waiting) => void;
  /** Called whenever a permit may have become free. */
  onFree: () => void;
}
