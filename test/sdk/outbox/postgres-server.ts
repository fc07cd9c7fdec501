import { type ChildProcess, execFileSync, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";

const DEBIAN = "/usr/lib/postgresql";

/** The programs of the newest PostgreSQL of Debian's packages; `null` if there is none. */
const programs = programsBelow(DEBIAN);

/** Why there is no PostgreSQL on this machine; `null` if there is one. */
export const noPostgres: string | null = programs
  ? null
  : `skipped: what needs PostgreSQL, because ${DEBIAN} has none (Debian package postgresql)`;

export interface PostgresServer {
  /** The folder of its socket: the `host` for a client. */
  readonly host: string;
  readonly user: string;
  /** Its URL, over the socket, with this database. */
  url(database: string): string;
  /** Ends the server as a crash does, and resolves when it is gone. */
  crash(): Promise<void>;
  /** Resolves when it has ended by itself. */
  ended(): Promise<void>;
  /** Starts it again after a crash. */
  start(): Promise<void>;
  /** Makes a standby of it as it is now, and starts that. `isFollowing`: whether it goes on to follow this server. */
  standby(isFollowing?: boolean): Promise<PostgresServer>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Dumps a database; the result restores it into one, with these arguments of `pg_restore`. */
  dump(database: string): (into: string, ...args: string[]) => void;
  /** Copies the files of the server, which must not be running, aside; the result puts them back. */
  copyFiles(): () => void;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Settings beside those of the tests: `{ max_connections: "10" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A TCP port of 127.0.0.1 on which it listens, too. Default: none. */
  readonly port?: number;
  /** In which folder its own one is made. Default: the system's for temporary files. */
  readonly below?: string;
}

/** A server with an empty database in a temporary folder. It listens on a socket in there. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await newFolder(options.below);
  try {
    await makeData(folder);
    return await startIn(folder, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function newFolder(below = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(below, "tidemark-pg-"));
  const account = unprivilegedAccount();
  if (account) chownSync(folder, account.uid, account.gid);
  return folder;
}

/**
 * What `initdb` makes, which takes ten times as long as a copy of it: it is made once for all runs. All servers have one
 * system identifier by that, as a server and a copy of its files have.
 */
async function makeData(folder: string): Promise<void> {
  const data = join(folder, "data");
  const made = resolve(`node_modules/.cache/postgres${dirname(programs!).slice(DEBIAN.length)}-${process.getuid?.()}`);
  if (existsSync(made)) {
    execFileSync("cp", ["-a", made, data]);
    return;
  }
  const created = ["-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
  runProgram(folder, "initdb", ["-D", data, ...created]);
  await mkdir(dirname(made), { recursive: true });
  const copied = await mkdtemp(`${made}-`);
  execFileSync("cp", ["-a", data, join(copied, "data")]);
  await rename(join(copied, "data"), made).catch(() => undefined); // another process was the first
  await rm(copied, { recursive: true, force: true });
}

function programOptions(folder: string) {
  return { cwd: folder, env: { LC_ALL: "C", PATH: process.env.PATH }, ...unprivilegedAccount() };
}

function runProgram(folder: string, program: string, parameters: readonly string[]): void {
  execFileSync(join(programs!, program), parameters, { ...programOptions(folder), stdio: "pipe" });
}

async function startIn(folder: string, options: PostgresOptions): Promise<PostgresServer> {
  const data = join(folder, "data");
  const { settings = {}, port } = options;
  const listen = port === undefined ? "listen_addresses=" : `listen_addresses=127.0.0.1`;
  const given = Object.entries({ fsync: "off", ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const parameters = ["-D", data, "-k", folder, "-c", listen, ...(port ? ["-p", String(port)] : []), ...given];
  let running: ChildProcess;
  const start = async () => {
    const stdio: StdioOptions = ["ignore", "ignore", "pipe"];
    running = spawn(join(programs!, "postgres"), parameters, { ...programOptions(folder), stdio });
    try {
      await isReady(running);
    } catch (error) {
      running.kill("SIGQUIT");
      throw error;
    }
  };
  await start();
  const hasEnded = () => running.exitCode !== null || running.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    const exited = once(running, "exit");
    running.kill(signal);
    await exited;
  };
  const stopAtOnce = () => running.kill("SIGQUIT");
  process.once("exit", stopAtOnce); // when a run of the tests is interrupted
  return {
    host: folder,
    user: USER,
    url: (database) => `postgres://${USER}@${encodeURIComponent(folder)}:${port ?? 5432}/${database}`,
    crash: () => end("SIGQUIT"),
    async ended() {
      if (!hasEnded()) await once(running, "exit");
    },
    start,
    async standby(isFollowing = true) {
      const other = await newFolder();
      const from = [
        "-h",
        folder,
        "-p",
        String(port ?? 5432),
        "-U",
        USER,
        "-D",
        join(other, "data"),
        "-c",
        "fast",
        "--no-sync",
      ];
      runProgram(other, "pg_basebackup", [...from, "-R"]);
      const { port: _, ...same } = options;
      const alone = isFollowing ? {} : { primary_conninfo: "" };
      return startIn(other, { ...same, settings: { ...settings, ...alone } });
    },
    async promote() {
      runProgram(folder, "pg_ctl", ["promote", "-w", "-D", data]);
    },
    dump(database) {
      const file = join(folder, `${database}.dump`);
      const at = ["-h", folder, "-p", String(port ?? 5432), "-U", USER];
      runProgram(folder, "pg_dump", [...at, "-Fc", "-f", file, database]);
      return (into, ...args) => runProgram(folder, "pg_restore", [...at, "-d", into, ...args, file]);
    },
    copyFiles() {
      const aside = `${data}-aside`;
      execFileSync("cp", ["-a", data, aside]);
      return () => {
        execFileSync("rm", ["-rf", data]);
        execFileSync("mv", [aside, data]);
      };
    },
    async stop() {
      process.off("exit", stopAtOnce);
      await end("SIGTERM"); // a smart shutdown: it lets the connections end
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
    if (/database system is ready to accept (read-only )?connections/.test(line)) {
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
