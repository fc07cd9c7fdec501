import { readdirSync, readFileSync } from "node:fs";

/** A process and all its descendants that run now. Only Linux has `/proc`; elsewhere the root is all that is found. */
export function processTree(root: number): readonly number[] {
  const childrenOf = Map.groupBy(allProcesses(), ({ parent }) => parent);
  const tree = [root];
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []).map((child) => child.pid));
  return tree;
}

/** Kills a process with all its descendants, at once. */
export function killTree(root: number | undefined): void {
  for (const pid of root === undefined ? [] : processTree(root)) kill(pid);
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/**
 * CPU time of the processes of a tree so far, in seconds. It does not include processes and threads that have ended.
 */
export function cpuSecondsOfTree(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/** Memory of a tree in bytes: proportional set sizes, so that pages shared by several processes count once. */
export function memoryBytesOfTree(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + memoryBytes(pid), 0);
}

/** How many files and sockets the processes of a tree have open. */
export function descriptorsOfTree(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + entriesOf(`/proc/${pid}/fd`).length, 0);
}

function allProcesses(): { readonly pid: number; readonly parent: number }[] {
  return entriesOf("/proc").flatMap((entry) => {
    const stat = /^\d+$/.test(entry) ? contentOf(`/proc/${entry}/stat`) : undefined;
    // The name in parentheses may hold anything. The state and the parent follow it.
    const parent = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    return parent === undefined ? [] : [{ pid: Number(entry), parent: Number(parent) }];
  });
}

/** The scheduler counts a thread's time in nanoseconds. `/proc/<pid>/stat` has ticks of 10 ms, too coarse for a short run. */
function cpuSeconds(pid: number): number {
  const nanoseconds = entriesOf(`/proc/${pid}/task`)
    .map((thread) => Number.parseInt(contentOf(`/proc/${pid}/task/${thread}/schedstat`) ?? "0", 10))
    .reduce((sum, each) => sum + each, 0);
  return nanoseconds / 1e9;
}

function memoryBytes(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+)/m.exec(contentOf(`/proc/${pid}/smaps_rollup`) ?? "")?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended in the meantime
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // the process has ended in the meantime
  }
}
