import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BenchFailure } from "../frame/bench-failure.ts";
import { atExit } from "../processes/at-exit.ts";
import { killTree } from "../processes/process-tree.ts";
import type { CrowdCounts } from "./crowd-counts.ts";

const CLIENT = fileURLToPath(new URL("./crowd-client.ts", import.meta.url));

export type Manner = "idle" | "slow" | "silent";

/** Many connections, held by a separate process. */
export class Crowd implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  readonly #forgetExit: () => void;

  private constructor(manner: Manner, page: URL, connections: number, bytes: number) {
    this.#process = spawn(process.execPath, [CLIENT, manner, page.href, `${connections}`, `${bytes}`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process.stdin!.on("error", () => undefined); // its end shows on the output
    this.#ended = once(this.#process, "exit");
    this.#forgetExit = atExit(() => killTree(this.#process.pid));
    this.#lines = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  /** Resolves once all connections have been begun, and most are open. `bytes`: those of the page. */
  static async gather(manner: Manner, page: URL, connections: number, bytes: number): Promise<Crowd> {
    const crowd = new Crowd(manner, page, connections, bytes);
    await crowd.#nextLine();
    return crowd;
  }

  /** Closes the connections. */
  async leave(): Promise<CrowdCounts> {
    this.#process.stdin!.end();
    return JSON.parse(await this.#nextLine()) as CrowdCounts;
  }

  async #nextLine(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new BenchFailure("The process that holds the connections has ended.");
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
    this.#forgetExit();
  }
}
