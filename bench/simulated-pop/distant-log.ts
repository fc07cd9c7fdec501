import type { Clock } from "../../worker/ports/clock.ts";
import type {
  ConnectingReader,
  LogConnection,
  PurgeLogClient,
  ViewDelta,
} from "../../worker/purges/log/log-contract.ts";
import { LogLoad, leaseUnderLoadMs } from "../../worker/purges/log/log-load.ts";

/** A log without purges, a round trip away. Above `maxReadsPerSecond` it grants longer leases, as the real log does. */
export class DistantLog implements PurgeLogClient {
  reads = 0;
  readonly #clock: Clock;
  readonly #roundTripMs: number;
  readonly #load: LogLoad;
  #longestLeaseMs = 0;

  constructor(clock: Clock, roundTripMs: number, maxReadsPerSecond = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#roundTripMs = roundTripMs;
    this.#load = new LogLoad(maxReadsPerSecond);
  }

  async read(_since: unknown, askedMs: number): Promise<ViewDelta> {
    this.reads++;
    return this.#answer(askedMs);
  }

  /** A connection with all its messages is billed as one read. */
  async connect({ leaseMs }: ConnectingReader): Promise<LogConnection> {
    const first = await this.read(null, leaseMs);
    const renew = (_since: unknown, askedMs: number) => this.#answer(askedMs);
    return { first, renew, release: async () => undefined, close: () => undefined };
  }

  async #answer(askedMs: number): Promise<ViewDelta> {
    await this.#clock.wait(this.#roundTripMs / 2).over;
    const leaseMs = leaseUnderLoadMs(askedMs, this.#load.noteRead(this.#clock.now()));
    this.#longestLeaseMs = Math.max(this.#longestLeaseMs, leaseMs);
    await this.#clock.wait(this.#roundTripMs / 2).over;
    return { ...NO_PURGES, leaseMs };
  }

  /** The longest lease granted since the last call. */
  takeLongestLeaseMs(): number {
    const longestMs = this.#longestLeaseMs;
    this.#longestLeaseMs = 0;
    return longestMs;
  }

  append(): Promise<never> {
    throw new Error("this log takes no purges");
  }
}

const NO_PURGES: Omit<ViewDelta, "leaseMs"> = {
  logId: "simulated",
  from: 0,
  to: 0,
  unread: null,
  truncatedAt: 0,
  floor: 0,
  heads: { hard: 0, soft: 0, invalidate: 0 },
  items: new Uint32Array(0),
};
