import { cpuSecondsOfTree } from "../processes/process-tree.ts";
import { BenchFailure } from "./bench-failure.ts";
import { median } from "./median.ts";
import { printTable } from "./table.ts";

/** The result of one stretch of load. */
export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and requests without an answer. */
  readonly failures: number;
  /** The client's own CPU time divided by the wall time: 1 is one core. */
  readonly clientCpu: number;
}

/** A server that is loaded again and again. */
export interface Contestant {
  readonly name: string;
  /** The id of its root process. */
  pid(): number;
  /** Loads it once. `turn` is a new number at each call. */
  load(turn: number): Promise<Load>;
  /** How many requests have reached the origin so far. */
  originRequests(): Promise<number>;
  /** The share of the requests that must reach the origin, from 0 to 1; `null` if they are only counted. */
  readonly missShare: number | null;
}

/** One turn of a contestant. */
export interface Turn extends Load {
  /** CPU time of all processes of the server for a request. */
  readonly cpuMicros: number;
  /** The same divided by the wall time: 1 is one core. */
  readonly serverCpu: number;
  readonly originRequests: number;
}

/** A contestant with its turns, one a round, and the reason why it has had none since. */
export interface Lane {
  readonly name: string;
  /** `null` if it could not be started. */
  readonly contestant: Contestant | null;
  readonly turns: Turn[];
  failure: string | null;
}

export function laneOf(contestant: Contestant): Lane {
  return { name: contestant.name, contestant, turns: [], failure: null };
}

export interface Course {
  readonly rounds: number;
  /** How long each is loaded before the first round, so that a runtime has compiled its hot code. */
  readonly warmUpSeconds: number;
}

/** Above this share of a core, the client, which has one thread, may limit the figures. */
const CLIENT_BOUND_CPU = 0.9;
/** When time is up, the client leaves one request uncounted on each of its connections, at most 500. */
const UNCOUNTED_REQUESTS = 500;

/**
 * Measures each contestant once a round, and adds its turn to its lane. Each round starts with another contestant,
 * because other work on the machine varies. A contestant that fails is left out from then on.
 */
export async function takeTurns(lanes: readonly Lane[], { rounds, warmUpSeconds }: Course): Promise<void> {
  for (const lane of lanes) {
    const endsAt = performance.now() + warmUpSeconds * 1000;
    do await takeTurn(lane);
    while (performance.now() < endsAt && lane.failure === null);
    lane.turns.length = 0;
  }
  for (let round = 0; round < rounds; round++) {
    for (const place of lanes.keys()) await takeTurn(lanes[(round + place) % lanes.length]!);
  }
}

/** Turns are numbered across all contestants, so that no page of a row of misses is requested twice. */
let turns = 0;

async function takeTurn(lane: Lane): Promise<void> {
  if (lane.contestant === null || lane.failure !== null) return;
  try {
    lane.turns.push(await measureTurn(lane.contestant, turns++));
  } catch (cause) {
    lane.failure = messageOf(cause);
  }
}

/** The message of a failure that belongs to one server. Any other error is thrown on. */
export function messageOf(cause: unknown): string {
  if (cause instanceof BenchFailure || (cause instanceof Error && "code" in cause)) return cause.message;
  throw cause;
}

async function measureTurn(contestant: Contestant, turn: number): Promise<Turn> {
  const { missShare } = contestant;
  const requestsBefore = await contestant.originRequests();
  const cpuBefore = cpuSecondsOfTree(contestant.pid());
  const load = await contestant.load(turn);
  const cpuSeconds = cpuSecondsOfTree(contestant.pid()) - cpuBefore;
  const originRequests = (await contestant.originRequests()) - requestsBefore;
  if (load.requests === 0) throw new BenchFailure("No request was answered within the turn.");
  if (load.failures > 0) throw new BenchFailure(`${load.failures} requests failed under load.`);
  const expected = load.requests * (missShare ?? 0);
  const tolerance = missShare === 0 ? 0 : UNCOUNTED_REQUESTS + load.requests * 0.01;
  if (missShare !== null && Math.abs(originRequests - expected) > tolerance) {
    throw new BenchFailure(`${originRequests} requests reached the origin under load, not ${Math.round(expected)}.`);
  }
  const cpuMicros = (cpuSeconds * 1e6) / load.requests;
  return { ...load, originRequests, cpuMicros, serverCpu: (cpuMicros * load.requestsPerSecond) / 1e6 };
}

/** A lane for comparison, and the names of its columns. */
export interface Reference {
  readonly label: string;
  readonly name: string;
}

/** Medians over all rounds, and medians of each round's ratios, because other work affects all servers of a round. */
export interface TurnsResult {
  readonly name: string;
  readonly failure: string | null;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  readonly serverCpu: number;
  readonly clientCpu: number;
  readonly originRequests: number;
  /** Beside each reference that was measured. */
  readonly to: readonly (Reference & { readonly rate: number; readonly cpu: number; readonly p99: number })[];
  readonly rounds: readonly Turn[];
}

export function summarize(lanes: readonly Lane[], references: readonly Reference[]): readonly TurnsResult[] {
  const turnsOf = ({ name }: Reference) => lanes.find((lane) => lane.name === name)?.turns ?? [];
  const measured = references.filter((reference) => turnsOf(reference).length > 0);
  return lanes.map(({ name, turns: rounds, failure }) => {
    const middle = (value: (turn: Turn) => number) => median(rounds.map(value));
    return {
      name,
      failure,
      requestsPerSecond: middle((turn) => turn.requestsPerSecond),
      p50Ms: middle((turn) => turn.p50Ms),
      p99Ms: middle((turn) => turn.p99Ms),
      cpuMicros: middle((turn) => turn.cpuMicros),
      serverCpu: middle((turn) => turn.serverCpu),
      clientCpu: middle((turn) => turn.clientCpu),
      originRequests: middle((turn) => turn.originRequests),
      to: measured.map((reference) => {
        const others = turnsOf(reference);
        const ratio = (value: (turn: Turn) => number) =>
          median(rounds.flatMap((turn, round) => (others[round] ? [value(turn) / value(others[round])] : [])));
        return {
          ...reference,
          rate: ratio((turn) => turn.requestsPerSecond),
          cpu: ratio((turn) => turn.cpuMicros),
          p99: ratio((turn) => turn.p99Ms),
        };
      }),
      rounds,
    };
  });
}

/** Prints a line for each server that was measured, and why the others were not. */
export function printTurns(title: string, results: readonly TurnsResult[]): void {
  console.log(`\n${title}`);
  const measured = results.filter(({ rounds }) => rounds.length > 0);
  if (measured.length > 0)
    printTable(
      [
        ...["", "requests/s", "p50 ms", "p99 ms", "CPU µs", "server", "client", "at the origin"],
        ...measured[0]!.to.flatMap(({ label }) => [`to ${label}`, "CPU", "p99"]),
        "",
      ],
      measured.map((result) => [
        result.name,
        Math.round(result.requestsPerSecond).toLocaleString("en"),
        result.p50Ms.toFixed(2),
        result.p99Ms.toFixed(2),
        result.cpuMicros.toFixed(1),
        `${Math.round(result.serverCpu * 100)} %`,
        `${Math.round(result.clientCpu * 100)} %`,
        result.originRequests.toLocaleString("en"),
        ...result.to.flatMap(({ rate, cpu, p99 }) => [rate, cpu, p99].map((ratio) => ratio.toFixed(2))),
        result.clientCpu > CLIENT_BOUND_CPU ? "client-bound" : "",
      ]),
    );
  for (const { name, failure } of results) if (failure !== null) console.log(`${name}: FAILED. ${failure}`);
}
