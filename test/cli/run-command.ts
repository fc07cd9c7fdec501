import { spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { runProgram } from "../../cli/program.ts";
import { MAIN } from "../server/serve/running-server.ts";

export interface Call {
  readonly args: readonly string[];
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder in which it runs. Default: this process's. */
  readonly cwd?: string;
}

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Ends a command that has ended its process. */
const EXITED = new Error("the command has ended its process");

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line in this process: to start one for each call would cost far more than the call. Calls wait for each
 * other, because a command reads and writes what its process has one of.
 */
export function tidemark(call: Call): Promise<Ended> {
  const ended = last.then(() => runHere(call));
  last = ended.catch(() => undefined);
  return ended;
}

async function runHere({ args, stdin = "", env = {}, cwd = process.cwd() }: Call): Promise<Ended> {
  const { env: environment, exitCode, title } = process;
  const folder = process.cwd();
  const written = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((words) => {
      written[name] += String(words);
      return true;
    }),
  );
  const exiting = vi.spyOn(process, "exit").mockImplementation((code) => {
    process.exitCode = code ?? process.exitCode;
    throw EXITED;
  });
  const input = vi
    .spyOn(process, "stdin", "get")
    .mockReturnValue(Readable.from([Buffer.from(stdin)]) as typeof process.stdin);
  // What Node says of this process, which other tests share, is not the command's.
  const ofNode = process.listeners("warning");
  process.removeAllListeners("warning");
  const forgetListeners = [process, process.stdout, process.stderr].map(listenersSince);
  const { NODE_COMPILE_CACHE = "" } = environment; // of the threads that load configs
  process.env = { NO_COLOR: "1", NODE_COMPILE_CACHE, ...env };
  process.exitCode = undefined;
  process.chdir(cwd);
  try {
    await runProgram(args).catch((error) => {
      if (error !== EXITED) throw error;
    });
    return { exit: Number(process.exitCode ?? 0), ...written };
  } finally {
    for (const spy of [...spies, exiting, input]) spy.mockRestore();
    for (const forget of forgetListeners) forget();
    for (const listener of ofNode) process.on("warning", listener);
    process.chdir(folder);
    process.env = environment;
    process.title = title;
    process.exitCode = exitCode;
  }
}

/** The returned function removes the listeners that were added since: a command leaves them to the end of its process. */
function listenersSince(emitter: EventEmitter): () => void {
  const before = new Map(emitter.eventNames().map((name) => [name, new Set(emitter.listeners(name))]));
  return () => {
    for (const name of emitter.eventNames()) {
      for (const listener of emitter.listeners(name)) {
        if (!before.get(name)?.has(listener)) emitter.off(name, listener as () => void);
      }
    }
  };
}

/** The same as its users do: in a process of its own. */
export async function startTidemark({ args, stdin = "", env = {}, cwd }: Call): Promise<Ended> {
  const { NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { NO_COLOR: "1", NODE_COMPILE_CACHE, ...env } });
  const closed = once(child, "close");
  child.stdin.on("error", () => {}); // A command that does not read its input may be gone before it is written.
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exit] = (await closed) as [number | null];
  return { exit, stdout, stderr };
}
