import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { BenchFailure } from "../frame/bench-failure.ts";

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = "0A";

/** The process that listens on a port of 127.0.0.1. Linux alone. */
export function listeningProcess(port: number): number {
  const link = linkOfListening(port);
  const owner = readdirSync("/proc").find((pid) => /^\d+$/.test(pid) && handlesOf(pid, link) > 0);
  if (owner === undefined) throw nobody(port);
  return Number(owner);
}

/** How many handles a process has of the socket that listens on a port of 127.0.0.1. Linux alone. */
export function listeningHandles(port: number, pid: number): number {
  return handlesOf(String(pid), linkOfListening(port));
}

/** The targets of the file links of processes that have the socket. */
function linkOfListening(port: number): string {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  const sockets = lines.map((line) => line.trim().split(/\s+/));
  const inode = sockets.find(([, local, , state]) => local === address && state === LISTENING)?.[9];
  if (inode === undefined) throw nobody(port);
  return `socket:[${inode}]`;
}

function nobody(port: number): BenchFailure {
  return new BenchFailure(`Nothing listens on port ${port}.`);
}

function handlesOf(pid: string, link: string): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === link).length;
  } catch {
    return 0; // it has ended, or belongs to somebody else
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
