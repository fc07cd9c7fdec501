import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The command as it stands in this repository. */
const SOURCES: readonly string[] = ["cli/main.ts", "dev"];

/** The command as a person starts it, in a process of its own. */
export class Dev {
  readonly #child: ChildProcess;
  readonly #waiting: { pattern: RegExp; resolve: () => void }[] = [];
  /** What it wrote, on stdout and stderr. */
  output = "";
  stdout = "";
  readonly exited: Promise<number | null>;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}, command = SOURCES) {
    const { FORCE_COLOR: _, ...inherited } = process.env; // the test runner asks for colours
    const env = { ...inherited, ...environment };
    this.#child = spawn(process.execPath, [...command, ...args], {
      env,
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

  /** Resolves once the output holds it; rejects, with the output, if the process ends before. */
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

/** Below what the system hands out by itself, so that no other test's connection takes a port between look and use. */
const FIRST_PORT = 10_000;
const PORTS_IN_A_ROW = 8;
const ROWS = 2_500;

/** Each process begins at a row of its own. */
let row = process.pid % ROWS;

/** The first of so many ports in a row, at most eight, that nobody listens on. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    row = (row + 1) % ROWS;
    const first = FIRST_PORT + row * PORTS_IN_A_ROW;
    const servers: Server[] = [];
    try {
      for (let port = first; port < first + count; port++) servers.push(await listening(port));
      return first;
    } catch {
      // One of them is taken: another row, then.
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
