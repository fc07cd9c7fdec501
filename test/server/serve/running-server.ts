import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

/** `tidemark serve` in a process of its own, with what it prints. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #printed = "";
  readonly #waiting: { readonly text: RegExp; readonly resolve: () => void }[] = [];

  /** `main`: the module of the command; default: that of the sources. */
  constructor(
    folder: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    main: string = MAIN,
  ) {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    this.child = spawn(process.execPath, [main, "serve", ...args], {
      cwd: folder,
      env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#closed = once(this.child, "close");
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        for (const { text: awaited, resolve } of this.#waiting) if (awaited.test(this.#printed)) resolve();
      });
    }
  }

  get printed(): string {
    return this.#printed;
  }

  /** Resolves when it has printed such a text; rejects if it ends before. */
  async prints(text: RegExp): Promise<RegExpExecArray> {
    if (!text.test(this.#printed)) {
      const ended = this.#closed.then(() => {
        if (!text.test(this.#printed)) throw new Error(`the server ended and had printed: ${this.#printed}`);
      });
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push({ text, resolve })), ended]);
    }
    return text.exec(this.#printed)!;
  }

  /** The address that it serves, once it does. */
  async address(): Promise<URL> {
    const [, address] = await this.prints(/serves (http:\/\/[\d.]+:\d+)/);
    return new URL(address!);
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const [code] = (await once(this.child, "close")) as [number | null];
    return code;
  }

  async stop(): Promise<number | null> {
    this.child.kill("SIGTERM");
    return this.ended();
  }
}
