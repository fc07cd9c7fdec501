import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../test/suite/free-ports.ts";
import { BenchFailure } from "../report/bench-failure.ts";

/** Another cache, as Debian packages it. */
export interface Peer {
  readonly name: string;
  /** The installed version; `null` if it is not installed. */
  version(): string | null;
  /** Starts it in front of an origin, with nothing stored. */
  start(origin: URL): Promise<RunningPeer>;
  /** Whether an answer with these fields, whose names are in lower case, came from the store. */
  isHit(fields: Readonly<Record<string, string>>): boolean;
}

export interface RunningPeer extends AsyncDisposable {
  readonly url: URL;
  /** Forgets everything that is stored. */
  empty(): Promise<void>;
}

/** How long a peer may take to start, to empty its store, and to end. Varnish compiles C when it starts. */
const PATIENCE_MS = 20_000;

const run = promisify(execFile);

/** nginx with `proxy_cache`. `location` holds further lines for its one location. */
export function nginx(name = "nginx", location: readonly string[] = []): Peer {
  return {
    name,
    version: () => versionOf("nginx", ["-v"], /nginx\/([\d.]+)/),
    start: async (origin) => {
      const folder = await folderFor("nginx");
      const port = await freePort();
      const file = join(folder, "nginx.conf");
      const begin = async () => {
        await writeFile(file, nginxSettings(folder, port, origin, location));
        return startServer("nginx", ["-c", file, "-e", "/dev/null"], port);
      };
      let server = await begin();
      return {
        url: new URL(`http://127.0.0.1:${port}`),
        empty: async () => {
          await end(server);
          await rm(join(folder, "cache"), { recursive: true, force: true, maxRetries: 5 });
          server = await begin();
        },
        [Symbol.asyncDispose]: async () => {
          await end(server);
          await rm(folder, { recursive: true, force: true, maxRetries: 5 });
        },
      };
    },
    isHit: (fields) => fields["x-cache"] === "HIT",
  };
}

function nginxSettings(folder: string, port: number, origin: URL, location: readonly string[]): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log /dev/null; events {}
    http { access_log off; ${temporary.join(" ")} proxy_cache_path ${folder}/cache keys_zone=pages:10m;
      server { listen 127.0.0.1:${port}; add_header X-Cache $upstream_cache_status always;
        location / { proxy_pass ${origin.origin}; proxy_cache pages; ${location.join(" ")} } } }`;
}

/** Varnish. `vcl` is its configuration without the backend; default: Debian's, which is Varnish's own. */
export function varnish(name = "Varnish", vcl?: string): Peer {
  return {
    name,
    version: () => versionOf("varnishd", ["-V"], /varnish-([\d.]+)/),
    start: async (origin) => {
      const folder = await folderFor("varnish");
      const port = await freePort();
      const file = join(folder, "site.vcl");
      const backend = `vcl 4.1; backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }`;
      await writeFile(file, `${backend}\n${vcl ?? ""}`);
      const work = join(folder, "work");
      const args = ["-F", "-a", `127.0.0.1:${port}`, "-f", file, "-n", work, "-s", "malloc,64m"];
      const server = await startServer("varnishd", args, port);
      const order = (what: string) => run("varnishadm", ["-n", work, what], { timeout: PATIENCE_MS });
      return {
        url: new URL(`http://127.0.0.1:${port}`),
        // The manager keeps the compiled configuration, and its child begins with an empty store.
        empty: async () => {
          await order("stop");
          await until("varnishd does not start again", () =>
            order("start").then(
              () => true,
              () => false,
            ),
          );
        },
        [Symbol.asyncDispose]: async () => {
          await end(server);
          await rm(folder, { recursive: true, force: true, maxRetries: 5 });
        },
      };
    },
    isHit: (fields) => /^\d+ \d+$/.test(fields["x-varnish"] ?? ""),
  };
}

function versionOf(command: string, args: readonly string[], pattern: RegExp): string | null {
  const { error, stderr, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return error ? null : (pattern.exec(stderr + stdout)?.[1] ?? "unknown");
}

async function folderFor(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `tidemark-${name}-`));
  await chmod(folder, 0o755); // a worker that runs as another user has its files there
  return folder;
}

async function startServer(command: string, args: readonly string[], port: number): Promise<ChildProcess> {
  const server = spawn(command, args, { stdio: "ignore" });
  server.on("error", () => undefined); // Told below: it has no process id then.
  try {
    await until(`${command} does not listen`, () => {
      if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) {
        throw new BenchFailure(`${command} does not start. Is it installed?`);
      }
      return accepts(port);
    });
  } catch (failure) {
    await end(server);
    throw failure;
  }
  return server;
}

/** Whether somebody accepts connections on a port. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isThere = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}

/** Asks again and again, because servers do not announce that they are ready. */
async function until(failure: string, isReady: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await isReady())) {
    if (performance.now() - startedAt > PATIENCE_MS) throw new BenchFailure(`${failure}, after ${PATIENCE_MS} ms.`);
    await wait(10);
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill();
  const killing = setTimeout(() => server.kill("SIGKILL"), PATIENCE_MS);
  await ended;
  clearTimeout(killing);
}
