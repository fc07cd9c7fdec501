import type { Machine } from "../frame/machine.ts";
import type { TurnsResult } from "../frame/turns.ts";

/** The parts of the results of `npm run bench -- rivals` that the docs show. */
export interface Measured {
  readonly at: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** The options of the command; the page shows three of the defaults. */
  readonly settings: Readonly<Record<string, string | number>> & Record<"rounds" | "seconds" | "workers", number>;
  readonly entrants: readonly Entrant[];
  readonly forms: readonly FormResult[];
}

/** A rival that takes part, or the reason why it does not. */
export interface Entrant {
  readonly name: string;
  readonly version: string | null;
  readonly leftOut: string | null;
}

export interface FormResult {
  readonly form: string;
  readonly leftOut: string | null;
  readonly servers: readonly Figures[];
}

/** The summary of a server's turns in a form: medians, and the lowest and highest requests per second. */
export interface Figures {
  readonly name: string;
  /** Why it was not measured, or not to the end; the figures are then `null`. */
  readonly failure: string | null;
  readonly requestsPerSecond: number | null;
  readonly least: number | null;
  readonly most: number | null;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly cpuMicros: number | null;
  readonly clientCpu: number | null;
  /** The median of each round's ratio to a reference, by the reference's name. */
  readonly share: Readonly<Record<string, number>>;
}

export const TIDEMARK = "Tidemark";
/** The server that is no cache: what Node and undici alone cost. */
export const BARE_NODE = "bare Node, best";

/** The servers that all others are compared with: the name of a column, and the server's. */
export const REFERENCES = [
  { label: "nginx", name: "nginx, best" },
  { label: "HAProxy", name: "HAProxy, best" },
];

export function figuresOf(result: TurnsResult): Figures {
  const { name, failure, rounds, to } = result;
  const isWhole = failure === null && rounds.length > 0;
  const whole = (value: number, digits = 0) => (isWhole ? Number(value.toFixed(digits)) : null);
  const rates = rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  return {
    name,
    failure,
    requestsPerSecond: whole(result.requestsPerSecond),
    least: whole(Math.min(...rates)),
    most: whole(Math.max(...rates)),
    p50Ms: whole(result.p50Ms, 2),
    p99Ms: whole(result.p99Ms, 2),
    cpuMicros: whole(result.cpuMicros, 1),
    clientCpu: whole(result.clientCpu, 2),
    share: Object.fromEntries(isWhole ? to.map(({ name, rate }) => [name, Number(rate.toFixed(2))]) : []),
  };
}
