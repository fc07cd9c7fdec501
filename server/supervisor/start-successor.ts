import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ServerError } from "../startup/server-error.ts";
import { SUCCEEDS } from "./upgrade.ts";

/** What decides whether everything ends together with this process. */
export interface Surroundings {
  readonly pid: number;
  readonly ppid: number;
  /** The name of process 1; `null` if it cannot be told. */
  readonly init: string | null;
  readonly environment: NodeJS.ProcessEnv;
}

/** Programs that are process 1 of a container, and end when the one program that they have started does. */
const CONTAINER_INITS: ReadonlySet<string | null> = new Set(["tini", "docker-init", "dumb-init", "catatonit"]);

/** Why a successor would be ended together with this process; `null` if it would not. */
export function endsWithUs({ pid, ppid, init, environment }: Surroundings): string | null {
  if (pid === 1 || (ppid === 1 && CONTAINER_INITS.has(init))) {
    return "a container ends with its first process: start another container instead.";
  }
  // systemd sets the first variable to the id of the process that it has started for a unit: systemd.exec(5).
  if (environment.SYSTEMD_EXEC_PID === String(pid) && !environment.NOTIFY_SOCKET) {
    return "systemd ends a unit with its main process, unless it has Type=notify and NotifyAccess=all.";
  }
  return null;
}

/** Starts the same command again, which finds the version that is installed now. Throws a `ServerError`. */
export function startSuccessor(addresses: readonly string[]): ChildProcess {
  const { pid, ppid, env: environment } = process;
  const because = endsWithUs({ pid, ppid, init: nameOfInit(), environment });
  if (because !== null) throw new ServerError(because);
  const env = { ...environment, [SUCCEEDS]: JSON.stringify(addresses) };
  const command = process.argv[1]!;
  return fork(command, process.argv.slice(2), { env, execPath: nodeFor(command), serialization: "advanced" });
}

/**
 * The Node that an archive has for its command, `lib/cli.mjs`; for other installations this process's own. The path of the
 * latter is without links, so after a link to the command's folder has changed it would be the earlier version's Node.
 */
export function nodeFor(command: string): string {
  const folder = dirname(command);
  const ofArchive = join(folder, "../bin/node");
  return basename(folder) === "lib" && existsSync(ofArchive) ? ofArchive : process.execPath;
}

function nameOfInit(): string | null {
  try {
    return readFileSync("/proc/1/comm", "utf8").trim();
  } catch {
    return null; // not Linux, or hidden: then it is no container of these
  }
}
