import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Ended, run } from "../packed/installed-package.ts";
import { until } from "../suite/until.ts";
import { succeed } from "./built-release.ts";

const SUITE = "trixie";

/** Kept between runs: it takes a minute or two to fetch and to install. */
const CACHED = resolve(`node_modules/.cache/debian-${SUITE}`);
const PACKAGES = ["systemd", "procps", "curl", "logrotate"];

/** Why no Debian can be put up here; `null` if one can. */
export function whyNoDebian(): string | null {
  if (process.getuid?.() !== 0) return "only root can change roots";
  const missing = ["debootstrap", "unshare", "nsenter", "ip", "apt-get"].find(
    (tool) => spawnSync(tool, ["--help"]).error !== undefined,
  );
  if (missing !== undefined) return `this machine has no ${missing}`;
  const unshared = spawnSync("unshare", ["--net", "--mount", "--pid", "--fork", "true"], { encoding: "utf8" });
  return unshared.status === 0 ? null : `no namespaces can be made here: ${unshared.stderr}`;
}

/** A root in which programs run with processes, mounts and a network of their own, which has the loopback interface alone. */
export class Machine {
  readonly root: string;
  readonly #first: ChildProcess;
  readonly #init: number;

  private constructor(root: string, first: ChildProcess, init: number) {
    this.root = root;
    this.#first = first;
    this.#init = init;
  }

  static async start(root: string): Promise<Machine> {
    // Its first process takes the exit codes of those whose parents have ended, as any process 1 has to.
    const script = `ip link set lo up; exec chroot "$0" /usr/bin/perl -e 'while () { wait > 0 or select undef, undef, undef, .05 }'`;
    const spaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", `--mount-proc=${root}/proc`];
    const first = spawn("unshare", [...spaces, "sh", "-ec", script, root], { stdio: "ignore" });
    const children = `/proc/${first.pid}/task/${first.pid}/children`;
    const init = () => Number(existsSync(children) ? readFileSync(children, "utf8") : 0);
    await until(() => init() > 0 && nameOf(init()) === "perl");
    return new Machine(root, first, init());
  }

  /** Runs a program in it, from the folder `/root`. */
  call(program: string, args: readonly string[], user = 0): Promise<Ended> {
    const where = [`--target=${this.#init}`, "--net", "--mount", "--pid", "--root"];
    const who = [`--setuid=${user}`, `--setgid=${user}`];
    const env = {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      LC_ALL: "C.UTF-8",
      HOME: "/root",
    };
    const all = { ...env, DEBIAN_FRONTEND: "noninteractive", TMPDIR: "/tmp" };
    const set = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    return run("nsenter", [...where, ...who, "env", "-i", "--chdir=/root", ...set, program, ...args], { cwd: "/" });
  }

  /** What a script for the shell prints, which has to end with 0. */
  async sh(script: string): Promise<string> {
    const { exit, stdout, stderr } = await this.call("sh", ["-ec", script]);
    if (exit !== 0) throw new Error(`${script}\nended with ${exit}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Ends all its programs. */
  async stop(): Promise<void> {
    const closed = once(this.#first, "close");
    process.kill(this.#init, "SIGKILL");
    await closed;
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return ""; // it has ended
  }
}

/** A folder with a Debian as it is installed, and nothing else. */
export async function freshDebian(): Promise<string> {
  if (!existsSync(CACHED)) await bootstrap();
  const root = await mkdtemp(join(tmpdir(), "tidemark-debian-"));
  await succeed("cp", ["--archive", `${CACHED}/.`, root]);
  await writeFile(join(root, "etc/hosts"), "127.0.0.1 localhost\n"); // as Debian's installer has it
  return root;
}

async function bootstrap(): Promise<void> {
  const unfinished = `${CACHED}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const addresses = (await succeed("apt-get", ["indextargets", "--format", "$(SITE)"])).split("\n");
  const mirror = addresses.find((address) => address.endsWith("/debian"))!;
  await succeed("debootstrap", ["--variant=minbase", SUITE, unfinished, mirror]);
  // Apart, because an older debootstrap cannot put systemd of a newer Debian in order.
  await cp("/etc/resolv.conf", join(unfinished, "etc/resolv.conf"));
  const install = ["apt-get", "install", "--yes", "--no-install-recommends", ...PACKAGES];
  await succeed("chroot", [unfinished, "env", "DEBIAN_FRONTEND=noninteractive", ...install]);
  await rm(join(unfinished, "var/cache/apt"), { recursive: true });
  await rename(unfinished, CACHED);
}

/** Puts a file into a root. */
export async function putInto(root: string, from: string, to: string): Promise<void> {
  await cp(from, join(root, to), { recursive: true });
}
