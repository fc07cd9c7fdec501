import { startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { LimitsInput } from "../../worker/site/site-input.ts";
import { requestUntilHit } from "../load/raw-request.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { bundleBenchWorker } from "../workers/bundle.ts";
import { type Download, download } from "./download.ts";
import { startLargeOrigin } from "./large-origin.ts";
import { childrenNamed, measureMemory, type ProcessMemory } from "./process-memory.ts";

/** One way of a body through a runtime. */
export interface LargeRow {
  readonly name: string;
  readonly worker: "edge" | "put";
  readonly limits: LimitsInput;
  /** True if the body is stored before the measurement. */
  readonly isStored: boolean;
  /** Matches `Cache-Status` if the body went this way. */
  readonly cacheStatus: RegExp;
  /** The most that the client reads in a second; `null` for no limit. */
  readonly maxBytesPerSecond: number | null;
  /** Only for the put without an edge: whether the worker copies the body piece by piece, as the edge does. */
  readonly inPieces?: boolean;
}

/** The result of a row. The memory is that of the runtime's process, including its cache. */
export interface LargeResult extends Omit<Download, "cacheStatus"> {
  readonly name: string;
  readonly memory: ProcessMemory;
}

/** The rows in the order of the table. The last two show what the runtime needs for the same put without an edge. */
export function largeRows(bytes: number, slowBytesPerSecond: number): readonly LargeRow[] {
  const edge = { worker: "edge", isStored: false } as const;
  const past = { ...edge, limits: { largeBytes: bytes - 1 }, cacheStatus: /detail=too-large$/ };
  const stored = { ...edge, limits: { largeBytes: bytes }, cacheStatus: /; stored$/ };
  const hit = { ...stored, isStored: true, cacheStatus: /; hit;/ };
  const put = {
    worker: "put",
    limits: {},
    isStored: false,
    cacheStatus: /^put$/,
    maxBytesPerSecond: null,
  } as const;
  const paces = [
    { pace: "", maxBytesPerSecond: null },
    { pace: ", slow reader", maxBytesPerSecond: slowBytesPerSecond },
  ];
  return [
    ...paces.map(({ pace, maxBytesPerSecond }) => ({ ...past, name: `streamed past${pace}`, maxBytesPerSecond })),
    ...paces.map(({ pace, maxBytesPerSecond }) => ({ ...stored, name: `miss and store${pace}`, maxBytesPerSecond })),
    ...paces.map(({ pace, maxBytesPerSecond }) => ({ ...hit, name: `hit${pace}`, maxBytesPerSecond })),
    { ...put, name: "a put without the edge", inPieces: false },
    { ...put, name: "a put without the edge, in pieces", inPieces: true },
  ];
}

/** Sends the body through a runtime of its own. Fails if the body went another way than the row says. */
export async function measureLargeRow(row: LargeRow, bytes: number): Promise<LargeResult> {
  const origin = await startLargeOrigin(bytes);
  const others = childrenNamed("workerd");
  const isEdge = row.worker === "edge";
  const variables = isEdge
    ? { SITE: { origin: origin.url, limits: row.limits }, TIDEMARK_HOSTS: "*" }
    : { ORIGIN: origin.url, IN_PIECES: row.inPieces };
  const script = await bundleBenchWorker(row.worker);
  const runtime = await startEdgeRuntime({ script, variables, purgeLog: isEdge }, { port: 0 });
  try {
    const [pid] = childrenNamed("workerd").filter((each) => !others.includes(each));
    if (pid === undefined) throw new BenchFailure("The process of the runtime was not found.");
    const page = new URL("/large", runtime.url);
    await download(new URL("/small", runtime.url), null); // the first answer costs more, and no row should pay for it
    if (row.isStored) await store(row.name, page);
    const { result, memory } = await measureMemory(pid, async () => {
      const done = await download(page, row.maxBytesPerSecond);
      if (isEdge && !/too-large/.test(done.cacheStatus)) await requestUntilHit(row.name, page, { method: "HEAD" });
      return done;
    });
    const { cacheStatus, ...rest } = result;
    if (!row.cacheStatus.test(cacheStatus)) throw new BenchFailure(`${row.name}: Cache-Status is ${cacheStatus}.`);
    if (isEdge && rest.bytes !== bytes)
      throw new BenchFailure(`${row.name}: only ${rest.bytes} of ${bytes} bytes arrived.`);
    return { name: row.name, ...rest, bytes, memory };
  } finally {
    await runtime.stop();
    await origin.stop();
  }
}

async function store(name: string, page: URL): Promise<void> {
  await download(page, null);
  await requestUntilHit(name, page, { method: "HEAD" });
}
