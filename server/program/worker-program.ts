import { moduleBeside } from "../../package/own-package.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import type { Scheme } from "../connections/arrival.ts";
import type { LogCalls } from "../log/log-messages.ts";
import type { ProcessLine } from "../supervisor/process-line.ts";

/**
 * The program of a worker: a module that exports `startWorker`. The supervisor gives its path, and starts it once in each
 * worker's process.
 */
export interface WorkerProgram {
  startWorker(start: WorkerStart): RunningWorker | Promise<RunningWorker>;
}

/** The program that serves the sites of `tidemark serve`. */
export const EDGE_PROGRAM = moduleBeside(import.meta.url, "edge-program");

export interface WorkerStart {
  /** `worker-3`: numbers rise and are not used again. */
  readonly name: string;
  /** The settings that the supervisor has loaded. They were copied between the processes, so they are plain data. */
  readonly settings: unknown;
  /** The purge log of each site with its audit trail, by the site's name. Calls reject while it cannot be reached. */
  readonly logs: ReadonlyMap<string, LogCalls>;
  /** The service that the supervisor offers beside the log, if it offers one. */
  readonly line: ProcessLine;
  /**
   * Makes a survey of the machine: all workers are asked, this one as well, and then the supervisor says what it knows.
   * `lookedFor`: plain data, as is the answer. Rejects if the supervisor has died or hangs. Default: nothing is known of the machine.
   */
  readonly survey?: (lookedFor: unknown) => Promise<unknown>;
}

export interface RunningWorker {
  /**
   * Takes in purges that the log of a site pushes (R24), and resolves to whether its view has reached them: `learn` of
   * `LearningIsolate`.
   */
  learn(delta: ViewDelta, site: string): Promise<boolean>;
  /**
   * Begins to accept connections from these sockets: `server.listen(handle)` for each handle. It is called after the
   * worker's views have reached the heads of their logs, and not before. The sites of `notAdmitted`, whose logs do not
   * answer, must not be served until `admit` names them: their visitors get 503.
   */
  listen(sockets: readonly ListeningSocket[], notAdmitted: readonly string[]): Promise<void>;
  /** The view of this site has reached its log's head, so that the site may be served. */
  admit?(site: string): void;
  /**
   * Opens its log files anew, because they were moved away. Resolves to whether it writes no old file any more; if it does, it
   * has told the owner why. Default: it has none.
   */
  reopen?(): Promise<boolean>;
  /** Says what those look for who look at the machine: plain data for the survey. Default: it says nothing. */
  survey?(lookedFor?: readonly unknown[]): Promise<unknown>;
  /**
   * Stops accepting connections, and resolves when all answers are out and all connections are closed. The process ends
   * then, or after the supervisor's time limit.
   */
  drain(withinMs: number): Promise<void>;
  /** There is less time than `drain` was told. Default: the supervisor ends the process after it. */
  hurry?(withinMs: number): void;
}

/** A socket that the supervisor holds open, so that connections wait in its queue while no worker accepts them. */
export interface ListeningSocket {
  /** `127.0.0.1:8080`, `[::1]:8080`, or the path of a Unix socket. */
  readonly address: string;
  readonly scheme: Scheme;
  /** What `server.listen` takes, once or several times: each accepts a connection in a turn of the event loop. */
  readonly handles: readonly object[];
}
