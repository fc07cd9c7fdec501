import { readFileSync, readlinkSync } from "node:fs";
import { type HeldSocket, socketOfDescriptor } from "./listening-sockets.ts";

/** The first socket that systemd passes: sd_listen_fds(3). */
const FIRST_DESCRIPTOR = 3;

/** `FileDescriptorName=` of a socket that speaks TLS. */
const TLS_NAME = "https";

/**
 * The sockets that systemd has opened for this process, by `LISTEN_FDS` and `LISTEN_PID`, which are taken out of the
 * environment so that no other process of the server takes them for its own. They stay open in systemd while the server
 * is started again, and connections wait in them.
 */
export function activatedSockets(environment: NodeJS.ProcessEnv, warn: (line: string) => void): HeldSocket[] {
  const { LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES = "" } = environment;
  for (const name of ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]) delete environment[name];
  const count = Number(LISTEN_FDS ?? 0);
  if (!Number.isInteger(count) || count < 1) return [];
  if (Number(LISTEN_PID) !== process.pid) {
    warn(
      `systemd passed its sockets to process ${LISTEN_PID}, but this is process ${process.pid}: let the unit start node itself, ` +
        "not npx or a shell. The server does not use these sockets.",
    );
    return [];
  }
  const names = LISTEN_FDNAMES.split(":");
  return Array.from({ length: count }, (_, index) => {
    const descriptor = FIRST_DESCRIPTOR + index;
    const path = pathOf(descriptor);
    const scheme = names[index] === TLS_NAME ? "https" : "http";
    return socketOfDescriptor(descriptor, path ?? `/socket ${descriptor} of systemd`, scheme);
  });
}

/** The path of a Unix socket; `null` for another one. The public API of Node tells it of sockets that accept alone. */
function pathOf(descriptor: number): string | null {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))!;
    const rows = readFileSync("/proc/self/net/unix", "utf8").split("\n");
    return rows.map((row) => row.trim().split(/\s+/)).find((row) => row[6] === inode)?.[7] ?? null;
  } catch {
    return null; // without /proc the socket has no name, and works all the same
  }
}
