import { median } from "../frame/median.ts";
import { descriptorsOfTree, memoryBytesOfTree } from "../processes/process-tree.ts";

/** What a tree of processes took at one moment. */
export interface MemorySample {
  readonly afterSeconds: number;
  readonly memoryBytes: number;
  /** Open files and sockets. */
  readonly descriptors: number;
}

export function takeSample(pid: number): Omit<MemorySample, "afterSeconds"> {
  return { memoryBytes: memoryBytesOfTree(pid), descriptors: descriptorsOfTree(pid) };
}

/** Samples a tree of processes while work runs, and once before and after it. `root`: its root at the moment. */
export async function sampleMemory<T>(
  root: () => number,
  everyMs: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly samples: readonly MemorySample[] }> {
  const startedAt = performance.now();
  const samples: MemorySample[] = [];
  const sample = () => samples.push({ afterSeconds: (performance.now() - startedAt) / 1000, ...takeSample(root()) });
  sample();
  const timer = setInterval(sample, everyMs);
  try {
    const result = await work();
    return { result, samples };
  } finally {
    clearInterval(timer);
    sample();
  }
}

/** The median of the last quarter less that of the second one. The first quarter is the server's warm-up. */
export function growth(samples: readonly MemorySample[], figureOf: (sample: MemorySample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  return median(late.map(figureOf)) - median((early.length > 0 ? early : samples).map(figureOf));
}

export function peak(samples: readonly MemorySample[], figureOf: (sample: MemorySample) => number): number {
  return Math.max(...samples.map(figureOf));
}
