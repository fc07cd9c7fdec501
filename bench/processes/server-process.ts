import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../test/suite/free-ports.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { atExit } from "./at-exit.ts";
import { kill, killTree, processTree } from "./process-tree.ts";

/** varnishd first runs a C compiler, and other work may share the machine. */
const START_MS = 60_000;
const STOP_MS = 5000;
/** How much of a server's output is kept for error messages. */
const KEPT_OUTPUT = 4000;

/** The folders of servers that have ended, while they are kept; `null` while each is removed at once. */
let kept: string[] | null = null;

/**
 * Keeps the folders of all servers until its disposal. For minutes after many files were deleted, ext4 makes new ones up to
 * four times as slowly, for the servers that follow.
 */
export function keepFolders(): Disposable {
  const folders: string[] = [];
  kept = folders;
  const remove = () => {
    kept = null;
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const forgetExit = atExit(remove);
  return {
    [Symbol.dispose]: () => {
      forgetExit();
      remove();
    },
  };
}

/** A server's own port and empty folder. */
export interface Place {
  readonly port: number;
  readonly folder: string;
}

export type CommandLine = readonly [program: string, ...parameters: string[]];

/** A server that was started from its command line, with all its child processes. */
export class ServerProcess implements AsyncDisposable {
  readonly url: URL;
  readonly folder: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #forgetExit: () => void;
  #output = "";

  private constructor(
    { port, folder }: Place,
    [program, ...parameters]: CommandLine,
    environment: Readonly<Record<string, string>>,
  ) {
    this.url = new URL(`http://127.0.0.1:${port}`);
    this.folder = folder;
    this.#process = spawn(program, parameters, {
      stdio: ["ignore", "pipe", "pipe"],
      // The server's own folder, so that it finds no settings outside and writes nothing there.
      cwd: folder,
      env: {
        ...withoutSettings(process.env),
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        XDG_DATA_HOME: folder,
        ...environment,
      },
    });
    this.#forgetExit = atExit(() => {
      if (!this.hasEnded) killTree(this.pid);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    this.#process.once("exit", () => resolve()).once("error", () => resolve());
    this.#process.once("error", ({ message }) => {
      this.#output += message;
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
      });
    }
  }

  /** Starts a server on a free port and resolves once it accepts connections. */
  static async start(
    name: string,
    commandLine: (place: Place) => Promise<CommandLine>,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const folder = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
    await chmod(folder, 0o755); // some servers run their workers as another user
    const place = { port: await freePort(), folder };
    const server = new ServerProcess(place, await commandLine(place), environment);
    const startedAt = performance.now();
    while (!(await accepts(place.port))) {
      if (!server.hasEnded && performance.now() - startedAt < START_MS) await wait(20);
      else {
        await server[Symbol.asyncDispose]();
        throw new BenchFailure(`${name} did not start: ${server.lastOutput}`);
      }
    }
    return server;
  }

  /** The root of all its processes. */
  get pid(): number {
    return this.#process.pid!;
  }

  get hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /** The last line of the server's output about an error, or else the last line. */
  get lastOutput(): string {
    const lines = this.#output.trim().split("\n");
    const line = lines.findLast((each) => /error|fail/i.test(each)) ?? lines.at(-1);
    return line || `${basename(this.#process.spawnfile)} printed nothing.`;
  }

  /** Asks the server to stop, kills its remaining processes after a while, and removes its folder unless it is kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) {
      const tree = processTree(this.pid);
      this.#process.kill("SIGTERM");
      for (const endsAt = performance.now() + STOP_MS; !this.hasEnded && performance.now() < endsAt; ) await wait(20);
      for (const pid of tree) kill(pid);
      await this.#ended;
    }
    this.#forgetExit();
    if (kept) kept.push(this.folder);
    else await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** An environment without settings for Tidemark. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("TIDEMARK_")));
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
