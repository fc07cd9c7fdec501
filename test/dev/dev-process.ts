import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The command as it stands in this repository. */
const SOURCES: readonly string[] = ["cli/main.ts", "dev"];

/** The command as a person starts it, in a process of its own. */
export class Dev {
  readonly #child: ChildProcess;
  readonly #waiting: { pattern: RegExp; resolve: () => void }[] = [];
  /** Its output on stdout and stderr. */
  output = "";
  stdout = "";
  readonly exited: Promise<number | null>;

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    command = SOURCES,
    cwd = process.cwd(),
  ) {
    const { FORCE_COLOR: _, ...inherited } = process.env; // the test runner asks for colours
    const env = { ...inherited, ...environment };
    this.#child = spawn(process.execPath, [...command, ...args], {
      env,
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        for (const { pattern, resolve } of this.#waiting) if (pattern.test(this.output)) resolve();
      });
    }
    this.#child.stdout!.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.exited = new Promise((resolve) => this.#child.on("close", resolve));
  }

  /** Resolves once the output matches; rejects, with the output, if the process ends before that. */
  async says(pattern: RegExp): Promise<void> {
    if (pattern.test(this.output)) return;
    const said = new Promise<void>((resolve) => this.#waiting.push({ pattern, resolve }));
    const ended = this.exited.then(() => {
      if (!pattern.test(this.output)) throw new Error(`it ended without saying ${pattern}:\n${this.output}`);
    });
    await Promise.race([said, ended]);
  }

  interrupt(): void {
    this.#child.kill("SIGINT");
  }
}

/** Below the ports that the system hands out itself, so that no other connection takes a port between check and use. */
const FIRST_PORT = 10_000;
const PORTS_IN_A_ROW = 8;
const ROWS = 2_500;

/** Each process starts with a row of its own. */
let row = process.pid % ROWS;

/** The first of this many free ports in a row, at most eight. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    row = (row + 1) % ROWS;
    const first = FIRST_PORT + row * PORTS_IN_A_ROW;
    const servers: Server[] = [];
    try {
      for (let port = first; port < first + count; port++) servers.push(await listening(port));
      return first;
    } catch {
      // One of them is taken, so the next row is tried.
    } finally {
      await Promise.all(servers.map((server) => once(server.close(), "close")));
    }
  }
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
