import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { BenchFailure } from "../report/bench-failure.ts";

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = "0A";

/** The process that listens on a port of 127.0.0.1. Linux alone. */
export function listeningProcess(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  const sockets = lines.map((line) => line.trim().split(/\s+/));
  const inode = sockets.find(([, local, , state]) => local === address && state === LISTENING)?.[9];
  const owner = readdirSync("/proc").find((pid) => /^\d+$/.test(pid) && holds(pid, `socket:[${inode}]`));
  if (inode === undefined || owner === undefined) throw new BenchFailure(`Nothing listens on port ${port}.`);
  return Number(owner);
}

function holds(pid: string, link: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === link);
  } catch {
    return false; // it has ended, or belongs to somebody else
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
