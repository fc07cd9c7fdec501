import { readFileSync } from "node:fs";
import { platform } from "node:process";

/** `USER_HZ`, which is the same on every architecture that Node runs on. */
const TICKS_A_SECOND = 100;

/** Whether `cpuSeconds` includes child processes. Only Linux lets Node read their CPU time. */
export const COUNTS_CHILDREN = platform === "linux";

/** The CPU time of this process, and of its children that have ended, with theirs. */
export function cpuSeconds(): number {
  if (!COUNTS_CHILDREN) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The name of the command, in parentheses, may have spaces in it. `utime`, `stime`, `cutime`, `cstime`: proc_pid_stat(5).
  const ticks = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15);
  return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_A_SECOND;
}
