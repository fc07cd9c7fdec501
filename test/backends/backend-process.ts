import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A backend in a process of its own. */
export class BackendProcess implements AsyncDisposable {
  /** What it has written, on both streams. A test may empty it. */
  output = "";
  readonly #child: ChildProcess;
  readonly #waiting: { pattern: RegExp; resolve: () => void }[] = [];

  constructor(
    command: string,
    args: readonly string[],
    { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ) {
    const { FORCE_COLOR: _, ...inherited } = process.env; // the test runner asks for colours
    this.#child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        for (const { pattern, resolve } of this.#waiting) if (pattern.test(this.output)) resolve();
      });
    }
  }

  /** Resolves once it has written this; rejects if it ends before that. */
  async says(pattern: RegExp): Promise<void> {
    if (pattern.test(this.output)) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ pattern, resolve });
      this.#child.on("close", () => reject(new Error(`it ended without saying ${pattern}: ${this.output}`)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, "close");
    this.#child.kill();
    await closed;
  }
}
