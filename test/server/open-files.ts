import { readdirSync, readlinkSync } from "node:fs";

/** The paths of the files that this process has open, and the like of its sockets. Linux only: proc_pid_fd(5). */
export function openFiles(): readonly string[] {
  return readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // It has been closed meanwhile.
    }
  });
}
