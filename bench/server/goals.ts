import type { RowResult, ServerResult } from "./row-result.ts";

/** One aim of the project for a row, and what was found. */
export interface GoalResult {
  readonly row: string;
  readonly aim: string;
  readonly found: number;
  readonly isMet: boolean;
}

/** Compares what the project's own server did in a row with what the project aims at. */
export function goalResults({ row, goal, results }: RowResult, server: string): readonly GoalResult[] {
  const result = results.find(({ name }) => name === server);
  if (result === undefined) return [];
  const { leastRequests, mostCpu, mostOriginRequests } = goal;
  const ofNginx = ratiosOf(result);
  const aims: GoalResult[] = [];
  const atLeast = (aim: string, least: number, found: number) => {
    aims.push({ row, aim: `${aim} ≥ ${least}`, found, isMet: found >= least });
  };
  const atMost = (aim: string, most: number, found: number) => {
    aims.push({ row, aim: `${aim} ≤ ${most}`, found, isMet: found <= most });
  };
  if (leastRequests !== undefined) atLeast("requests/s of nginx's", leastRequests, ofNginx.requestsPerSecond);
  if (mostCpu !== undefined) atMost("CPU per request of nginx's", mostCpu, ofNginx.cpu);
  if (mostOriginRequests !== undefined) atMost("origin requests", mostOriginRequests, result.originRequests);
  if (!Number.isNaN(ofNginx.p99)) atMost("p99 of nginx's", 1, ofNginx.p99);
  return aims;
}

/** Over TLS the server is to be level with Caddy. */
export function goalsOverTls({ row, results }: RowResult, server: string): readonly GoalResult[] {
  const own = results.find(({ name }) => name === server);
  const caddy = results.find(({ name }) => name.startsWith("Caddy"));
  if (own === undefined || caddy === undefined) return [];
  const cpu = own.cpuMicrosPerRequest / caddy.cpuMicrosPerRequest;
  const rate = own.requestsPerSecond / caddy.requestsPerSecond;
  return [
    { row, aim: "requests/s of Caddy's ≥ 1", found: rate, isMet: rate >= 1 },
    { row, aim: "CPU per request of Caddy's ≤ 1", found: cpu, isMet: cpu <= 1 },
  ];
}

function ratiosOf({ toNginx }: ServerResult): NonNullable<ServerResult["toNginx"]> {
  return toNginx ?? { requestsPerSecond: Number.NaN, cpu: Number.NaN, p99: Number.NaN };
}
