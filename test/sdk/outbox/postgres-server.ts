import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const DEBIAN = "/usr/lib/postgresql";

/** The programs of the newest PostgreSQL of Debian's packages; `null` if there is none. */
const programs = programsBelow(DEBIAN);

/** Why there is no PostgreSQL on this machine; `null` if there is one. */
export const noPostgres: string | null = programs
  ? null
  : `skipped: the outbox in PostgreSQL, because ${DEBIAN} has none (Debian package postgresql)`;

export interface PostgresServer {
  /** The folder of its socket: the `host` for a client. */
  readonly host: string;
  readonly user: string;
  stop(): Promise<void>;
}

/** A server with an empty database in a temporary folder. It listens on a socket in there, and on no port. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-pg-"));
  const account = unprivilegedAccount();
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = { cwd: folder, env: { LC_ALL: "C", PATH: process.env.PATH }, ...account };
  let server: ChildProcess | undefined;
  try {
    const created = ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    execFileSync(join(programs!, "initdb"), created, { ...options, stdio: "pipe" });
    const started = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"];
    server = spawn(join(programs!, "postgres"), started, { ...options, stdio: ["ignore", "ignore", "pipe"] });
    await isReady(server);
  } catch (error) {
    server?.kill("SIGQUIT");
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const running = server;
  const stopAtOnce = () => running.kill("SIGQUIT");
  process.once("exit", stopAtOnce); // when a run of the tests is interrupted
  return {
    host: folder,
    user: USER,
    async stop() {
      process.off("exit", stopAtOnce);
      const exited = once(running, "exit");
      running.kill("SIGTERM"); // a smart shutdown: it lets the connections end
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const USER = "tidemark";

/** Resolves when the server accepts connections; rejects, with its output, if it ends before that. */
async function isReady(server: ChildProcess): Promise<void> {
  let output = "";
  for await (const line of createInterface({ input: server.stderr! })) {
    output += `${line}\n`;
    if (line.includes("database system is ready to accept connections")) {
      server.stderr!.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL has ended:\n${output}`);
}

/** PostgreSQL refuses to run as root, so that root runs it as the user of Debian's package, or as nobody. */
function unprivilegedAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string, user: string) => Number(execFileSync("id", [option, user], { stdio: "pipe" }));
  for (const user of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", user), gid: idOf("-g", user) };
    } catch {
      // This machine has no such user.
    }
  }
  throw new Error("there is no unprivileged user to run PostgreSQL as");
}

function programsBelow(folder: string): string | null {
  if (!existsSync(folder)) return null;
  const versions = readdirSync(folder).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(folder, version, "bin")).find((bin) => existsSync(join(bin, "initdb"))) ?? null;
}
