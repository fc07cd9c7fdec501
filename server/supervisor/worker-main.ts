import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { FileLock } from "../log/file-lock.ts";
import { SupervisedLog } from "../log/log-client.ts";
import { StorageError, storageFault } from "../log/storage-error.ts";
import { messageOf } from "../message-of.ts";
import { sayToOperator } from "../own-lines.ts";
import { collectGarbage } from "../program/collect-garbage.ts";
import type { ListeningSocket, RunningWorker, WorkerProgram } from "../program/worker-program.ts";
import { keepObjectsYoung } from "../program/young-objects.ts";
import { systemClock } from "../system-clock.ts";
import { LineToSupervisor } from "./process-line.ts";
import type { ToSupervisor, ToWorker } from "./process-messages.ts";

/*
 * The main module of a worker's process. It starts the program, and ends it when the supervisor says so or has died.
 */

type Start = Extract<ToWorker, { kind: "start" }>;
type Socket = Extract<ToWorker, { kind: "socket" }>;

/** It is loaded while the supervisor reads the settings. Whoever starts it learns why it cannot be loaded. */
const program = import(pathToFileURL(process.argv[2]!).href) as Promise<WorkerProgram>;
program.catch(() => undefined);

/** Held until the process ends, so that later supervisors can tell that it lives. */
const locks: FileLock[] = [];
const line = new LineToSupervisor(tell, systemClock);
const logs = new Map<string, SupervisedLog>();
let running: RunningWorker | null = null;
let starting: Promise<void> | undefined;
let listening: Promise<void> | undefined;
let isDraining = false;
let drainMs = 0;
/** By scheme and address. */
const sockets = new Map<string, ListeningSocket & { readonly handles: object[] }>();
let handlesTaken = 0;
let notAdmitted: readonly string[] = [];

// A terminal, or a service manager, signals every process of the group. The supervisor decides what follows.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const)
  process.on(signal, () => undefined);

process.on("message", (message: ToWorker, handle: unknown) => {
  if (message.kind === "start") starting = orFail(start(message));
  else if (message.kind === "socket") takeSocket(message, handle as object);
  else if (message.kind === "not-admitted") notAdmitted = message.sites;
  else if (message.kind === "admitted") running?.admit?.(message.site);
  else if (message.kind === "answer") line.take(message);
  else if (message.kind === "reopen") void reopen();
  else if (message.kind === "give-sign") tell({ kind: "sign" });
  else if (message.kind === "survey") void survey(message.lookedFor);
  else if (message.kind === "hold") void holdLogs();
  else if (message.kind === "resume") for (const log of logs.values()) log.resume();
  else void drain(message.withinMs);
});

process.on("disconnect", () => {
  line.end();
  for (const log of logs.values()) log.resume(); // the next supervisor keeps it at the same socket
  void systemClock.wait(drainMs).over.then(() => process.exit(1));
  void drain(drainMs);
});

async function start({ name, settings, reader, ...rest }: Start): Promise<void> {
  drainMs = rest.drainMs;
  process.title = `tidemark ${name}`; // what ps and top show
  holdLock(rest.lock, [dirname(rest.lock)]);
  for (const { site, socket, lock } of rest.logs) {
    const enter = lock === rest.lock ? () => undefined : entranceOf(site, lock, name);
    logs.set(site, new SupervisedLog({ socketPath: socket, name: reader, clock: systemClock, enter }));
  }
  const { startWorker } = await program;
  running = await startWorker({ name, settings, logs, line, survey: (lookedFor) => line.survey(lookedFor) });
  for (const [site, log] of logs) log.learnBy((delta) => running!.learn(delta, site));
  tell({ kind: "started" });
}

/**
 * What locks the file beside the log of one of several sites, before anything is read from that log. Where it cannot be
 * locked, this worker serves the other sites. It does not make the file: that would be in another folder than the log, where
 * the next supervisor does not look for those who read it.
 */
function entranceOf(site: string, lock: string, worker: string): () => void {
  let isHeld = false;
  let isSaid = false;
  return () => {
    if (isHeld) return;
    try {
      holdLock(lock, [dirname(lock), lock]);
      isHeld = true;
    } catch (cause) {
      if (!isSaid) sayToOperator(`${worker}: site ${site}: its purge log is out of reach: ${messageOf(cause)}`);
      isSaid = true;
      throw cause;
    }
  };
}

/** `needed`: what must be there already. */
function holdLock(path: string, needed: readonly string[]): void {
  const gone = needed.find((each) => !existsSync(each));
  if (gone !== undefined) throw new Error(`${gone} was removed while the server ran; restart it`);
  const lock = takeLock(path);
  if (lock === null) throw new Error("another supervisor has taken over");
  locks.push(lock);
}

/** Names the file if that fails. */
function takeLock(path: string): FileLock | null {
  try {
    return FileLock.take(path, "shared");
  } catch (cause) {
    throw new StorageError(path, storageFault(cause) ?? "failed", cause);
  }
}

async function holdLogs(): Promise<void> {
  await Promise.all([...logs.values()].map((log) => log.hold()));
  tell({ kind: "held" });
}

function takeSocket({ address, scheme, count }: Socket, handle: object): void {
  const name = `${scheme} ${address}`;
  const known = sockets.get(name);
  if (known) known.handles.push(handle);
  else sockets.set(name, { address, scheme, handles: [handle] });
  if (++handlesTaken === count && !isDraining) listening = orFail(listen());
}

async function listen(): Promise<void> {
  await running!.listen([...sockets.values()], notAdmitted);
  keepObjectsYoung();
  tell({ kind: "listening" });
}

async function reopen(): Promise<void> {
  await starting; // the program may just have opened them, before they were moved
  const hasWorked = (await running?.reopen?.()) ?? true;
  tell({ kind: "reopened", hasWorked });
}

async function survey(lookedFor: readonly unknown[]): Promise<void> {
  const said = await running?.survey?.(lookedFor).catch((cause: unknown) => console.error(cause));
  tell({ kind: "surveyed", said: said ?? null });
}

async function drain(withinMs: number): Promise<void> {
  if (isDraining) {
    running?.hurry?.(withinMs);
    return;
  }
  isDraining = true;
  await listening; // the program cannot close what it is about to open
  const drained = running?.drain(withinMs).catch((cause: unknown) => sayToOperator(inspect(cause)));
  collectGarbage(); // the program has emptied its memory, and its last answers may take an hour
  await drained;
  // The process itself ends, whatever the program has left behind.
  process.exit();
}

async function orFail(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (cause) {
    const because = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    tell({ kind: "failed", because, isLockedOut: cause instanceof StorageError });
    process.exitCode = 1;
    if (process.connected) process.disconnect();
  }
}

/** Returns false if the supervisor has died. */
function tell(message: ToSupervisor): boolean {
  // The supervisor may have died just now; "disconnect" says so.
  if (process.connected) process.send!(message, undefined, undefined, () => undefined);
  return process.connected;
}
