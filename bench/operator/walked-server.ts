import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { chmod, mkdtemp } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { freePorts } from "../../test/suite/free-ports.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import { atExit } from "../processes/at-exit.ts";
import { isRunning, kill, processTree } from "../processes/process-tree.ts";
import type { WalkedProgram, WalkPlace } from "./walked-program.ts";

const START_MS = 60_000;
const UPGRADE_MS = 60_000;

export interface WalkAnswer {
  readonly status: number;
  readonly xCache: string;
  readonly body: string;
  /** Until its last byte. */
  readonly ms: number;
}

/** A program that was started as an operator starts it, and may since be another process. */
export class WalkedServer implements AsyncDisposable {
  readonly program: WalkedProgram;
  readonly place: WalkPlace;
  readonly #forgetExit: () => void;
  #output = "";

  private constructor(program: WalkedProgram, place: WalkPlace) {
    this.program = program;
    this.place = place;
    this.#forgetExit = atExit(() => this.#remove());
  }

  /** `cacheIn`: a folder for its pages instead of one in its own folder. */
  static async start(program: WalkedProgram, origin: URL, cacheIn?: string): Promise<WalkedServer> {
    const folder = await mkdtemp(join(tmpdir(), "tidemark-walk-"));
    await chmod(folder, 0o755);
    const tls = { certificate: join(folder, "crt"), key: join(folder, "key") };
    makeCertificate(tls.certificate, tls.key);
    const port = await freePorts(2);
    const cache = join(cacheIn ?? folder, "cache");
    const server = new WalkedServer(program, { folder, cache, port, tlsPort: port + 1, tls, origin });
    try {
      await server.run();
    } catch (cause) {
      await server[Symbol.asyncDispose]();
      throw cause;
    }
    return server;
  }

  /** Starts it, again after a kill; resolves to the milliseconds until it has answered a request. */
  async run(): Promise<number> {
    const startedAt = performance.now();
    const [command, ...args] = await this.program.configure(this.place, true);
    const child: ChildProcess = spawn(command, args, {
      cwd: this.place.folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.program.environment },
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (piece: string) => {
        this.#output += piece;
      });
    }
    for (;;) {
      const answer = await this.ask("/first").catch(() => null);
      if (answer?.status === 200) return performance.now() - startedAt;
      if (performance.now() - startedAt > START_MS) {
        throw new BenchFailure(`${this.program.name} did not start: ${this.#output.slice(-2000)}`);
      }
      await wait(5);
    }
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.place.port}`);
  }

  /** The process that takes signals. */
  get pid(): number {
    return Number(readFileSync(this.program.pidFile(this.place), "utf8"));
  }

  /** Processes below it. */
  get workers(): readonly number[] {
    return processTree(this.pid).slice(1);
  }

  /** What it prints from now on, in the log as well, once it has printed something that fits. */
  async says(fits: RegExp, work: () => unknown): Promise<string> {
    const from = this.#said().length;
    await work();
    for (const endsAt = performance.now() + 5_000; performance.now() < endsAt; await wait(20)) {
      const line = this.#said()
        .slice(from)
        .split("\n")
        .find((each) => fits.test(each));
      if (line !== undefined) return line.trim();
    }
    return "(says nothing)";
  }

  ask(path: string, method = "GET", body?: string): Promise<WalkAnswer> {
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<WalkAnswer>();
    const asked = request({ host: "127.0.0.1", port: this.place.port, path, method, agent: false }, (message) => {
      answerOf(message, startedAt).then(resolve, reject);
    });
    asked.on("error", reject).end(body);
    return promise;
  }

  reload(): void {
    process.kill(this.pid, "SIGHUP");
  }

  async upgrade(): Promise<void> {
    const old = this.pid;
    process.kill(old, "SIGUSR2");
    const endsAt = performance.now() + UPGRADE_MS;
    const until = async (isSo: () => boolean) => {
      while (!isSo() && performance.now() < endsAt) await wait(10);
      if (!isSo()) throw new BenchFailure(`${this.program.name} was not upgraded: ${this.#output.slice(-1000)}`);
    };
    await until(() => this.#pidOrNull() !== null && this.pid !== old && this.workers.length > 0);
    await this.program.finishUpgrade?.(old);
    await until(() => !isRunning(old));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#forgetExit();
    this.#remove();
  }

  #pidOrNull(): number | null {
    try {
      return this.pid;
    } catch {
      return null;
    }
  }

  #said(): string {
    try {
      return this.#output + readFileSync(join(this.place.folder, "error"), "utf8"); // nginx's log
    } catch {
      return this.#output;
    }
  }

  /** Kills all of it, and starts nothing. */
  killAll(): void {
    const pid = this.#pidOrNull();
    if (pid !== null) for (const each of processTree(pid)) kill(each);
  }

  #remove(): void {
    this.killAll();
    rmSync(this.place.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function answerOf(message: IncomingMessage, startedAt: number): Promise<WalkAnswer> {
  const body = await text(message);
  const xCache = (message.headers["x-cache"] as string | undefined) ?? "";
  return { status: message.statusCode!, xCache, body, ms: performance.now() - startedAt };
}
