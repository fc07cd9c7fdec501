import { fileURLToPath } from "node:url";
import { bundleWorker } from "../cdn/runtime/bundle.ts";
import { startEdgeRuntime } from "../cdn/runtime/miniflare.ts";
import type { LimitsInput } from "../worker/site/site-input.ts";
import { askUntilHit } from "./ask.ts";
import { BenchFailure } from "./bench-failure.ts";
import { type Download, download } from "./download.ts";
import { startLargeOrigin } from "./large-origin.ts";
import { childrenCalled, measureMemory, type ProcessMemory } from "./process-memory.ts";

/** What a body does on its way through a runtime. */
export interface LargeRow {
  readonly name: string;
  readonly worker: "./edge.worker.ts" | "./put.worker.ts";
  readonly limits: LimitsInput;
  /** True if the body is in store before it is measured. */
  readonly isStored: boolean;
  /** What the answer says if the row is what it is called. */
  readonly cacheStatus: RegExp;
  /** What the client reads at most in a second; `null` for all that comes. */
  readonly mostBytesPerSecond: number | null;
  /** Of the put without an edge: whether the body goes through the worker's hands, as it does in the edge. */
  readonly inPieces?: boolean;
}

/** What a row came to. The memory is that of the runtime's process, its cache included. */
export interface LargeResult extends Omit<Download, "cacheStatus"> {
  readonly name: string;
  readonly memory: ProcessMemory;
}

/** The rows in the order of the table. The last two are what the runtime needs for the same put without an edge. */
export function largeRows(bytes: number, slowBytesPerSecond: number): readonly LargeRow[] {
  const edge = { worker: "./edge.worker.ts", isStored: false } as const;
  const past = { ...edge, limits: { largeBytes: bytes - 1 }, cacheStatus: /detail=too-large$/ };
  const stored = { ...edge, limits: { largeBytes: bytes }, cacheStatus: /; stored$/ };
  const hit = { ...stored, isStored: true, cacheStatus: /; hit;/ };
  const put = {
    worker: "./put.worker.ts",
    limits: {},
    isStored: false,
    cacheStatus: /^put$/,
    mostBytesPerSecond: null,
  } as const;
  const paces = [
    { pace: "", mostBytesPerSecond: null },
    { pace: ", slow reader", mostBytesPerSecond: slowBytesPerSecond },
  ];
  return [
    ...paces.map(({ pace, mostBytesPerSecond }) => ({ ...past, name: `streamed past${pace}`, mostBytesPerSecond })),
    ...paces.map(({ pace, mostBytesPerSecond }) => ({ ...stored, name: `miss and store${pace}`, mostBytesPerSecond })),
    ...paces.map(({ pace, mostBytesPerSecond }) => ({ ...hit, name: `hit${pace}`, mostBytesPerSecond })),
    { ...put, name: "a put without the edge", inPieces: false },
    { ...put, name: "a put without the edge, in pieces", inPieces: true },
  ];
}

/** Sends the body through, in a runtime of its own. Fails if the answer is not what the row is about. */
export async function measureLargeRow(row: LargeRow, bytes: number): Promise<LargeResult> {
  const origin = await startLargeOrigin(bytes);
  const others = childrenCalled("workerd");
  const isEdge = row.worker === "./edge.worker.ts";
  const variables = isEdge
    ? { SITE: { origin: origin.url, limits: row.limits }, TIDEMARK_HOSTS: "*" }
    : { ORIGIN: origin.url, IN_PIECES: row.inPieces };
  const script = await bundleWorker(fileURLToPath(new URL(row.worker, import.meta.url)));
  const runtime = await startEdgeRuntime({ script, variables, purgeLog: isEdge }, { port: 0 });
  try {
    const [pid] = childrenCalled("workerd").filter((each) => !others.includes(each));
    if (pid === undefined) throw new BenchFailure("the runtime's process is not to be found.");
    const page = new URL("/large", runtime.url);
    await download(new URL("/small", runtime.url), null); // the first answer is no row's to pay for
    if (row.isStored) await store(row.name, page);
    const { result, memory } = await measureMemory(pid, async () => {
      const done = await download(page, row.mostBytesPerSecond);
      if (isEdge && !/too-large/.test(done.cacheStatus)) await askUntilHit(row.name, page, { method: "HEAD" });
      return done;
    });
    const { cacheStatus, ...rest } = result;
    if (!row.cacheStatus.test(cacheStatus)) throw new BenchFailure(`${row.name}: the answer says ${cacheStatus}.`);
    if (isEdge && rest.bytes !== bytes) throw new BenchFailure(`${row.name}: ${rest.bytes} of ${bytes} bytes came.`);
    return { name: row.name, ...rest, bytes, memory };
  } finally {
    await runtime.stop();
    await origin.stop();
  }
}

async function store(name: string, page: URL): Promise<void> {
  await download(page, null);
  await askUntilHit(name, page, { method: "HEAD" });
}
