import type { Tokens } from "./access.ts";
import type { Bodies } from "./bodies.ts";
import type { Clock, Timer } from "./clock.ts";
import type { Origin } from "./origin.ts";
import type { Invalidations, PurgeState } from "./purge-state.ts";
import type { Reporter } from "./reporter.ts";
import type { Compression, Store } from "./store.ts";

/** The corridor's interfaces to the outside. Their adapters are in `runtime/`, `store/`, `purges/` and `server/`. */
export interface Ports {
  readonly clock: Clock;
  readonly timer: Timer;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly store: Store;
  readonly origin: Origin;
  readonly purges: PurgeState;
  readonly invalidations: Invalidations;
  readonly reporter: Reporter;
  readonly bodies: Bodies;
  readonly tokens: Tokens;
  /** Whether the code of a request may end at any point once its client has left. Default: it runs to its end. */
  readonly losesRequests?: boolean;
  /** Absent where the edge sends bodies as the origin did: the platform may code them itself. */
  readonly compression?: Compression;
}
