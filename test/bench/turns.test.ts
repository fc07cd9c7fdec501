import { afterEach, expect, test, vi } from "vitest";
import { type Lane, laneOf, printTurns, summarize, type Turn } from "../../bench/frame/turns.ts";
import { REFERENCES } from "../../bench/rivals/measured.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

function measured(name: string, requestsPerSecond: number): Lane {
  const load = { requests: 100, requestsPerSecond, p50Ms: 1, p99Ms: 2, failures: 0, clientCpu: 0.5 };
  const turn: Turn = { ...load, cpuMicros: 10, serverCpu: 1, originRequests: 0 };
  const contestant = { name, pid: () => 0, load: async () => load, originRequests: async () => 0, missShare: 0 };
  return { ...laneOf(contestant), turns: [turn] };
}

test("Turns are compared with the references that were measured alone", () => {
  const printed = vi.spyOn(console, "log").mockReturnValue();
  const failed: Lane = { ...measured("HAProxy, best", 1), turns: [], failure: "It ended." };
  const lanes = [measured("Tidemark", 50), measured("nginx, best", 100), failed];
  printTurns("a form", summarize(lanes, REFERENCES));
  const [, columns, , ours] = printed.mock.calls.map(([line]) => String(line).trim().split(/ {2,}/));
  expect(columns!.slice(-3)).toEqual(["to nginx", "CPU", "p99"]);
  expect(ours!.slice(-3)).toEqual(["0.50", "1.00", "1.00"]);
});
