import { availableParallelism } from "node:os";
import type { CertificateFiles, Contender, Site } from "../contenders/contender.ts";
import { isInstalled } from "../debian-programs.ts";
import type { Load } from "../load/load.ts";
import { cpuSecondsOfTree } from "../processes/process-tree.ts";
import { ServerProcess } from "../processes/server-process.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { isClientBound } from "./client-bound.ts";
import type { Origins, ServerRow } from "./server-rows.ts";

/** One stretch of load on one server. */
export interface Turn extends Load {
  /** CPU time of all processes of the server. */
  readonly cpuMicrosPerRequest: number;
  /** The same divided by the wall time: 1 is one core. */
  readonly serverCpu: number;
  readonly originRequests: number;
  readonly clientBound: boolean;
}

/** The turns of a server in a row, one a round, or the reason why there are none. */
export type Measured =
  | { readonly name: string; readonly turns: readonly Turn[] }
  | { readonly name: string; readonly absent: string; readonly failed: boolean };

/** One server in one row. */
interface Running {
  readonly contender: Contender;
  readonly server: ServerProcess;
  readonly url: URL;
  readonly turns: Turn[];
  failure: string | null;
}

export interface Course {
  /** How long each server gets load before the first round, so that a runtime has compiled what it runs often. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  readonly workers: number;
  /** What the servers speak TLS with; `null` if they speak none. */
  readonly tls: CertificateFiles | null;
}

/**
 * Starts all servers of a row, checks their answers, warms them up, and measures each once a round. Each round begins
 * with the server after that of the last round. A server that fails is left out from then on.
 */
export async function measureRow(
  row: ServerRow,
  contenders: readonly Contender[],
  origins: Origins,
  course: Course,
): Promise<readonly Measured[]> {
  const absent = new Map(contenders.map((each) => [each, reasonForAbsence(row, each, course)]));
  const running: Running[] = [];
  const failures = new Map<Contender, string>();
  try {
    for (const contender of contenders.filter((each) => absent.get(each) === null)) {
      try {
        running.push(await start(row, contender, origins, course));
      } catch (cause) {
        failures.set(contender, messageOf(cause));
      }
    }
    for (const each of running) await warmUp(row, each, origins, course.warmUpSeconds);
    for (let round = 0; round < course.rounds; round++) {
      for (const turn of running.keys()) await takeTurn(row, running[(round + turn) % running.length]!, origins);
    }
  } finally {
    await Promise.all(running.map(({ server }) => server[Symbol.asyncDispose]()));
  }
  return contenders.map((contender) => {
    const { name } = contender;
    const it = running.find((each) => each.contender === contender);
    const failure = it ? it.failure : (failures.get(contender) ?? null);
    if (failure !== null) return { name, absent: failure, failed: true };
    return it ? { name, turns: it.turns } : { name, absent: absent.get(contender) ?? "", failed: false };
  });
}

function reasonForAbsence({ kind }: ServerRow, { needs, absentFrom, speaksTls }: Contender, { tls }: Course) {
  if (needs !== null && !isInstalled(needs)) return `${needs.program} is missing: --install gets it from Debian.`;
  if (tls !== null && !speaksTls) return "It speaks no TLS.";
  return absentFrom(kind);
}

async function start(
  row: ServerRow,
  contender: Contender,
  origins: Origins,
  { workers, tls }: Course,
): Promise<Running> {
  const site: Site = {
    origin: row.kind === "stampede" ? origins.slow.url : origins.static.url,
    folder: origins.static.folder,
    workers,
    bodyBytes: row.bodyBytes,
    tls,
  };
  const server = await ServerProcess.start(contender.name, (place) => contender.commandLine(site, place));
  const url = new URL(`${tls === null ? "http" : "https"}://${server.url.host}`);
  try {
    await row.verify({ contender, url });
  } catch (cause) {
    await server[Symbol.asyncDispose]();
    throw cause;
  }
  return { contender, server, url, turns: [], failure: null };
}

async function warmUp(row: ServerRow, running: Running, origins: Origins, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  do await takeTurn(row, running, origins);
  while (performance.now() < endsAt && running.failure === null);
  running.turns.length = 0;
}

/** Turns are numbered over all rows and servers, so that no page of a row of misses is ever requested twice. */
let turns = 0;

async function takeTurn(row: ServerRow, running: Running, origins: Origins): Promise<void> {
  if (running.failure !== null) return;
  try {
    running.turns.push(await measureTurn(row, running, origins, turns++));
  } catch (cause) {
    running.failure = messageOf(cause);
  }
}

async function measureTurn(
  row: ServerRow,
  { contender, server, url }: Running,
  origins: Origins,
  turn: number,
): Promise<Turn> {
  const countRequests = async () => (row.kind === "stampede" ? origins.slow.requests : origins.static.requests());
  const requestsBefore = await countRequests();
  const [serverBefore, originBefore] = [server.pid, origins.static.pid].map(cpuSecondsOfTree);
  const load = await row.load(url, turn);
  const [serverAfter, originAfter] = [server.pid, origins.static.pid].map(cpuSecondsOfTree);
  // Reading the counter of the static origin is a request itself.
  const originRequests = (await countRequests()) - requestsBefore - (row.kind === "stampede" ? 0 : 1);
  if (server.hasEnded) throw new BenchFailure(`${contender.name} ended under load: ${server.lastOutput}`);
  if (load.failures > 0) throw new BenchFailure(`${contender.name}: ${load.failures} requests failed under load.`);
  if (contender.isHit !== null) assertOriginRequests(row, contender, load, originRequests);
  const seconds = load.requests / load.requestsPerSecond;
  const serverCpuSeconds = serverAfter! - serverBefore!;
  const cpu = {
    client: load.generatorCpu,
    server: serverCpuSeconds / seconds,
    origin: (originAfter! - originBefore!) / seconds,
  };
  return {
    ...load,
    cpuMicrosPerRequest: (serverCpuSeconds / load.requests) * 1e6,
    serverCpu: cpu.server,
    originRequests,
    clientBound: isClientBound(cpu, { client: row.clientCores, machine: availableParallelism() }),
  };
}

/** Fails if more or fewer requests reached the origin than a cache lets through. */
function assertOriginRequests({ missShare }: ServerRow, { name }: Contender, load: Load, found: number): void {
  if (missShare === null) return;
  const expected = load.requests * missShare;
  // When time is up, the client leaves requests uncounted that have been sent.
  const tolerance = missShare === 0 ? 0 : 200 + load.requests * 0.01;
  if (Math.abs(found - expected) <= tolerance) return;
  throw new BenchFailure(`${name}: ${found} requests reached the origin under load, not ${Math.round(expected)}.`);
}

function messageOf(cause: unknown): string {
  if (cause instanceof BenchFailure || (cause instanceof Error && "code" in cause)) return cause.message;
  throw cause;
}
