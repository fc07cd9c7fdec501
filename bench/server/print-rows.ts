import type { Machine } from "../report/machine.ts";
import { printTable } from "../report/table.ts";
import type { GoalResult } from "./goals.ts";
import type { RowResult, ServerResult } from "./row-result.ts";

export interface PrintedSettings {
  readonly rounds: number;
  readonly seconds: number;
  readonly workers: number;
}

export function printSettings(
  { cpu, cores, system, node, loadBefore }: Machine,
  versions: Readonly<Record<string, string | null>>,
  { rounds, seconds, workers }: PrintedSettings,
): void {
  console.log(`${cpu}, ${cores} cores shared with the load, nothing pinned, load ${loadBefore} before; ${system}`);
  const found = Object.entries(versions).map(([program, version]) => `${program} ${version ?? "(no package)"}`);
  console.log(`Node ${node}, ${found.join(", ")}`);
  console.log(`${workers} worker(s) a server, no access logs; ${rounds} rounds in turn, wrk for ${seconds} s; medians`);
}

export function printRow({ row, results, absent }: RowResult): void {
  console.log(`\n${row}`);
  printTable(
    ["", "requests/s", "to nginx", "p50 ms", "p99 ms", "CPU µs/request", "to nginx", "server", "client", "origin", ""],
    results.map(cellsOf),
  );
  for (const { name, because } of absent) console.log(`${name}: not measured. ${because}`);
}

export function printGoals(goals: readonly GoalResult[]): void {
  if (goals.length === 0) return;
  console.log("\nGoals of tidemark serve");
  printTable(
    ["", "aim", "found", ""],
    goals.map(({ row, aim, found, isMet }) => [row, aim, found.toFixed(2), isMet ? "met" : "MISSED"]),
  );
}

function cellsOf(result: ServerResult): readonly string[] {
  const { name, requestsPerSecond, p50Ms, p99Ms, cpuMicrosPerRequest, serverCpu, clientCpu, toNginx } = result;
  return [
    name,
    Math.round(requestsPerSecond).toLocaleString("en"),
    figure(toNginx?.requestsPerSecond),
    figure(p50Ms),
    figure(p99Ms),
    cpuMicrosPerRequest.toFixed(1),
    figure(toNginx?.cpu),
    percent(serverCpu),
    percent(clientCpu),
    result.originRequests.toLocaleString("en"),
    result.clientBound ? "client-bound" : "",
  ];
}

function figure(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(2);
}

function percent(cores: number): string {
  return `${Math.round(cores * 100)} %`;
}
