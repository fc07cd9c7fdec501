import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { inTime, until } from "../../suite/until.ts";
import { isAlive } from "../supervisor/is-alive.ts";

/** The module of the command: as `build-command.ts` has built it, and the sources in a project without it. */
export const MAIN = inject("builtCommand") ?? fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

/** `tidemark serve` in a process of its own, with what it prints. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #printed = "";
  readonly #waiting: { readonly isPrinted: () => boolean; readonly resolve: () => void }[] = [];
  /** The process that serves: this one, or the last one that it was upgraded to. */
  #pid: number;

  /** `main`: the module of the command; default: that of this repository. `openFiles`: how many files it may open. */
  constructor(
    folder: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    main: string = MAIN,
    openFiles: number | null = null,
  ) {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const command = [process.execPath, main, "serve", ...args];
    const limited = openFiles === null ? [] : ["sh", "-c", 'ulimit -n "$0" && exec "$@"', String(openFiles)];
    const [program, ...rest] = [...limited, ...command];
    this.child = spawn(program!, rest, {
      cwd: folder,
      env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#pid = this.child.pid!;
    this.#closed = once(this.child, "close");
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        for (const { isPrinted, resolve } of this.#waiting) if (isPrinted()) resolve();
      });
    }
  }

  get printed(): string {
    return this.#printed;
  }

  /** Resolves when it has printed such a text, after the first `from` characters; rejects if it ends before. */
  async prints(text: RegExp, from = 0): Promise<RegExpExecArray> {
    const printed = () => text.exec(this.#printed.slice(from));
    if (printed() === null) {
      const ended = this.#closed.then(() => {
        if (printed() === null) throw new Error(`the server ended and had printed: ${this.#printed}`);
      });
      const isPrinted = () => printed() !== null;
      const isThere = new Promise<void>((resolve) => this.#waiting.push({ isPrinted, resolve }));
      const notPrinted = () => `the server has not printed ${text}, but: ${this.#printed.slice(from)}`;
      await inTime(Promise.race([isThere, ended]), notPrinted);
    }
    return printed()!;
  }

  /** The address that it serves, once it does. */
  async address(): Promise<URL> {
    const [, address] = await this.prints(/serves (http:\/\/[\d.]+:\d+)/);
    return new URL(address!);
  }

  /** Resolves when as many of its workers have ended, in the order of their starts: those of old settings may answer till then. */
  async hasRetired(count: number): Promise<void> {
    const started = [...this.#printed.matchAll(/worker-\d+ \(process (\d+)\) accepts/g)].map(([, pid]) => Number(pid));
    await until(() => !started.slice(0, count).some(isAlive));
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const hangs = () => `the server has not ended, and has printed: ${this.#printed}`;
    const [code] = (await inTime(once(this.child, "close"), hangs)) as [number | null];
    return code;
  }

  get pid(): number {
    return this.#pid;
  }

  /** Sends a signal to the process that serves. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#pid, signal);
  }

  /** Has a new server take its place. `ask`: what asks the one that serves, by its process. Default: the signal. */
  async upgrade(ask: (pid: number) => void = () => this.signal("SIGUSR2")): Promise<void> {
    const from = this.#printed.length;
    ask(this.#pid);
    const [said, pid] = await this.prints(/process (\d+) has taken over|the old server goes on.*/, from);
    if (pid === undefined) throw new Error(said);
    this.#pid = Number(pid);
  }

  /** Resolves to the exit code. After an upgrade it waits for all processes, and has the code of the first. */
  async stop(): Promise<number | null> {
    if (isAlive(this.#pid)) this.signal("SIGTERM");
    if (this.#pid !== this.child.pid) await this.#closed;
    return this.ended();
  }
}
