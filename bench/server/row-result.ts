import { median } from "../report/median.ts";
import type { Measured, Turn } from "./measure-row.ts";
import type { Goal, ServerRow } from "./server-rows.ts";

/** The result of one server in one row: medians over all rounds. */
export interface ServerResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicrosPerRequest: number;
  readonly serverCpu: number;
  readonly clientCpu: number;
  /** The most requests that reached the origin in one round. */
  readonly originRequests: number;
  /** True if the client may have been the bound in half of the rounds or more. */
  readonly clientBound: boolean;
  /** Medians of the ratios of each round, because other work on the machine disturbs all servers of a round. */
  readonly toNginx: { readonly requestsPerSecond: number; readonly cpu: number; readonly p99: number } | null;
  readonly rounds: readonly Turn[];
}

export interface RowResult {
  readonly row: string;
  readonly goal: Goal;
  readonly results: readonly ServerResult[];
  readonly absent: readonly { readonly name: string; readonly because: string; readonly failed: boolean }[];
}

/** `reference` is the server that all others are compared with. */
export function summarize({ name, goal }: ServerRow, measured: readonly Measured[], reference: string): RowResult {
  const present = measured.filter((each) => "turns" in each);
  const ofReference = present.find((each) => each.name === reference)?.turns ?? null;
  return {
    row: name,
    goal,
    results: present.map((each) => resultOf(each.name, each.turns, ofReference)),
    absent: measured
      .filter((each) => "absent" in each)
      .map(({ name, absent, failed }) => ({ name, because: absent, failed })),
  };
}

function resultOf(name: string, rounds: readonly Turn[], reference: readonly Turn[] | null): ServerResult {
  const middle = (value: (turn: Turn) => number) => median(rounds.map(value));
  const ratio = (value: (turn: Turn) => number) =>
    median(rounds.map((turn, round) => value(turn) / value(reference![round]!)));
  return {
    name,
    requestsPerSecond: middle((turn) => turn.requestsPerSecond),
    p50Ms: middle((turn) => turn.p50Ms),
    p99Ms: middle((turn) => turn.p99Ms),
    cpuMicrosPerRequest: middle((turn) => turn.cpuMicrosPerRequest),
    serverCpu: middle((turn) => turn.serverCpu),
    clientCpu: middle((turn) => turn.generatorCpu),
    originRequests: Math.max(...rounds.map((turn) => turn.originRequests)),
    clientBound: middle((turn) => Number(turn.clientBound)) >= 0.5,
    toNginx: reference && {
      requestsPerSecond: ratio((turn) => turn.requestsPerSecond),
      cpu: ratio((turn) => turn.cpuMicrosPerRequest),
      p99: ratio((turn) => turn.p99Ms),
    },
    rounds,
  };
}
