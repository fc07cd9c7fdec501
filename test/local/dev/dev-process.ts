import { type ChildProcess, spawn } from "node:child_process";

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
      stdio: "pipe",
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

  /** Writes this to its stdin, as a person does at the terminal. */
  type(text: string): void {
    this.#child.stdin!.write(text);
  }

  interrupt(signal: "SIGINT" | "SIGHUP" | "SIGQUIT" | "SIGKILL" = "SIGINT"): void {
    this.#child.kill(signal);
  }
}
