import { readFileSync } from "node:fs";
import { posix } from "node:path";

/** Reads a file of the system; `null` if there is none. */
export type ReadText = (path: string) => string | null;

/** Where a kind of groups is mounted, and its limits by the files that have them. */
interface Hierarchy {
  readonly mount: string;
  readonly limits: Readonly<Record<string, RegExp>>;
}

const V2: Hierarchy = {
  mount: "/sys/fs/cgroup",
  limits: { "memory.max": /^\d+$/m, "memory.high": /^\d+$/m }, // beyond the latter, a group hardly runs any more
};
const V1: Hierarchy = {
  mount: "/sys/fs/cgroup/memory",
  limits: { "memory.stat": /(?<=^hierarchical_memory_limit )\d+$/m },
};

/**
 * The lowest limit for the memory of this process in bytes: that of its control group, or of one above it, such as a slice
 * of systemd or a pod. Infinity without one. `process.constrainedMemory` knows only that of its own group.
 */
export function memoryLimitBytes(read: ReadText = readText): number {
  const lines = read("/proc/self/cgroup")?.split("\n") ?? [];
  return Math.min(...lines.flatMap((line) => limitsOf(line, read)));
}

/** `line`: like `4:memory:/path`, or `0::/path` of version 2. cgroups(7). */
function limitsOf(line: string, read: ReadText): number[] {
  const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (controllers === undefined || path === undefined) return [];
  if (controllers === "") return limitsUpFrom(path, V2, read);
  return controllers.split(",").includes("memory") ? limitsUpFrom(path, V1, read) : [];
}

/** A container may see its own group at the mount, and another path in `/proc`, of which there are no files. */
function limitsUpFrom(path: string, { mount, limits }: Hierarchy, read: ReadText): number[] {
  return groupsUpFrom(posix.join("/", path)).flatMap((group) =>
    Object.entries(limits).flatMap(([file, pattern]) => {
      const [bytes] = pattern.exec(read(posix.join(mount, group, file)) ?? "") ?? [];
      return bytes === undefined ? [] : [Number(bytes)]; // "max" is no limit
    }),
  );
}

function groupsUpFrom(path: string): string[] {
  return path === "/" ? [path] : [path, ...groupsUpFrom(posix.dirname(path))];
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
