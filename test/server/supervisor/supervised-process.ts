import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("./supervised.ts", import.meta.url));

/** A worker that has begun to accept connections. */
export interface ListeningWorker {
  readonly kind: string;
  readonly name: string;
  readonly pid: number;
}

/** A supervisor with its workers, all in processes of their own. */
export class SupervisedProcess {
  /** Resolves when the supervisor is gone. */
  readonly exited: Promise<unknown>;
  /** Resolves when its workers are gone, too: they hold its output open. */
  readonly allEnded: Promise<unknown>;
  /** The workers in the order in which they began to listen. */
  readonly listening: ListeningWorker[] = [];
  readonly lines: string[] = [];
  readonly #died = new Set<string>();
  readonly #child: ChildProcess;
  #onLine: () => void = () => undefined;

  /** `sharedLog`: the address of a log in PostgreSQL. Default: a log in the folder. */
  constructor(folder: string, port: number, sharedLog?: string, workers = 2) {
    const { FORCE_COLOR: _, ...env } = process.env; // the test runner asks for colours
    this.#child = spawn(
      process.execPath,
      [MAIN, folder, String(port), String(workers), ...(sharedLog ? [sharedLog] : [])],
      {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.exited = once(this.#child, "exit");
    this.allEnded = once(this.#child, "close");
    createInterface(this.#child.stdout!).on("line", (line) => {
      this.lines.push(line);
      if (line.startsWith("{")) this.#note(JSON.parse(line) as ListeningWorker);
      this.#onLine();
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The workers that have begun to listen and have not died. */
  get living(): readonly ListeningWorker[] {
    return this.listening.filter(({ name }) => !this.#died.has(name));
  }

  #note(worker: ListeningWorker): void {
    if (worker.kind === "worker-died") this.#died.add(worker.name);
    else this.listening.push(worker);
  }

  /** Resolves when so many workers, in all, have begun to listen. Rejects if the supervisor ends before. */
  async haveListened(count: number): Promise<void> {
    const gone = this.exited.then(() => true);
    while (this.listening.length < count) {
      const line = new Promise<false>((resolve) => {
        this.#onLine = () => resolve(false);
      });
      if (await Promise.race([line, gone])) throw new Error(`the supervisor ended:\n${this.lines.join("\n")}`);
    }
  }

  /** Resolves when it says a line that matches. */
  async says(pattern: RegExp): Promise<void> {
    while (!this.lines.some((line) => pattern.test(line))) {
      await new Promise<void>((resolve) => {
        this.#onLine = resolve;
      });
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
