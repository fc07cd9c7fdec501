import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { DebianProgram } from "../debian-programs.ts";
import { BenchFailure } from "../report/bench-failure.ts";

const START_MS = 5000;

/** The installed version; `null` if nginx is not installed. */
export function nginxVersion(): string | null {
  const { error, stderr } = spawnSync("nginx", ["-v"], { encoding: "utf8" });
  return error ? null : (/nginx\/([\d.]+)/.exec(stderr)?.[1] ?? "unknown");
}

export const NGINX: DebianProgram = { program: "nginx", package: "nginx-light", units: ["nginx.service"] };

/** An nginx with a `proxy_cache` in a folder of its own, in front of an origin. */
export class NginxCache implements AsyncDisposable {
  /** The Unix socket that it listens on. */
  readonly socketPath: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.socketPath = socketIn(folder);
    this.#folder = folder;
    this.#process = process;
  }

  static async start(origin: string): Promise<NginxCache> {
    const folder = await mkdtemp(join(tmpdir(), "tidemark-nginx-"));
    await chmod(folder, 0o755); // nginx's workers may run as another user
    const file = join(folder, "nginx.conf");
    await writeFile(file, settings(folder, origin));
    const nginx = new NginxCache(
      folder,
      spawn("nginx", ["-c", file, "-e", join(folder, "error")], { stdio: "ignore" }),
    );
    const startedAt = performance.now();
    while (!existsSync(nginx.socketPath)) {
      if (nginx.#process.exitCode === null && performance.now() - startedAt < START_MS) await wait(10);
      else {
        await nginx[Symbol.asyncDispose]();
        throw new BenchFailure("nginx did not start.");
      }
    }
    return nginx;
  }

  /**
   * Purges a tag in the way that is left without a purge by tag: searches every file of the cache for the field, and
   * removes the files that have it. Returns their number.
   */
  async walk(tag: string): Promise<number> {
    const { stdout } = await run("sh", ["-c", WALK, "sh", `Cache-Tag: ${tag}\r`, this.#cacheFolder], { env: PLAIN });
    return stdout.split("\n").length - 1;
  }

  /** The number of files in the cache. */
  async files(): Promise<number> {
    const { stdout } = await run("sh", ["-c", 'find "$1" -type f | wc -l', "sh", this.#cacheFolder]);
    return Number(stdout);
  }

  get #cacheFolder(): string {
    return join(this.#folder, "cache");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill();
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Matches whole lines byte by byte, which is the fastest way that grep has. */
const WALK =
  'grep --recursive --files-with-matches --text --line-regexp --fixed-strings --null -- "$1" "$2" | xargs -0 rm -fv --';
const PLAIN = { ...process.env, LC_ALL: "C" };
const run = promisify(execFile);

function socketIn(folder: string): string {
  return join(folder, "socket");
}

function settings(folder: string, origin: string): string {
  const temporary = ["client_body", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `daemon off; ${user} worker_processes 1; pid ${folder}/pid; events { worker_connections 1024; }
    http { access_log off; ${temporary.join(" ")}
      proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:64m inactive=1d use_temp_path=off;
      upstream origin { server ${new URL(origin).host}; keepalive 32; }
      server { listen unix:${socketIn(folder)}; add_header X-Cache $upstream_cache_status always;
        location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_cache pages; } } }`;
}
