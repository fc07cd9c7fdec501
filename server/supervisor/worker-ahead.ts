import { type ChildProcess, fork } from "node:child_process";
import { moduleBeside } from "../../package/own-package.ts";
import { variablesOfCompiledCode } from "../compiled-code.ts";
import { ROOM_OF_YOUNG_OBJECTS } from "../program/young-objects.ts";

/** The main module of a worker's process. */
export const WORKER_MAIN = moduleBeside(import.meta.url, "worker-main");

/** Otherwise SIGUSR1, which asks for other things here, would let every user of the machine debug a worker that starts. */
const NO_DEBUGGER = "--disable-sigusr1";

/** Starts a worker's process, which loads its program at once, and starts that when it is told its settings. Throws if it cannot. */
export function forkWorker(main: string, program: string): ChildProcess {
  return fork(main, [program], {
    serialization: "advanced",
    execArgv: [...process.execArgv, NO_DEBUGGER, ROOM_OF_YOUNG_OBJECTS],
    env: { ...process.env, ...variablesOfCompiledCode() },
  });
}

/** A worker's process that loads its program while the settings are read. Half of a server's start is that. */
export class WorkerAhead {
  #child: ChildProcess | null = null;

  constructor(program: string) {
    try {
      this.#child = forkWorker(WORKER_MAIN, program);
      this.#child.on("error", () => undefined); // `take` sees it
    } catch {
      // The first worker that is started in the usual way says why.
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The process, which is the caller's from now on; `null` if there is none any more. */
  take(): ChildProcess | null {
    const child = this.#child;
    this.#child = null;
    return child?.connected && child.exitCode === null && child.signalCode === null ? child : null;
  }

  /** Ends the process unless somebody has taken it. */
  end(): void {
    this.take()?.kill("SIGKILL");
  }
}
