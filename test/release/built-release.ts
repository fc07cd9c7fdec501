import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Ended, run } from "../packed/installed-package.ts";
import { isAlive } from "../server/supervisor/is-alive.ts";
import { breath } from "../suite/until.ts";

/** How a release is built: in which folder below the one of its commit, and with what around it. */
export interface Surroundings {
  /** A path, which need not be there. */
  readonly folder: string;
  readonly umask: string;
  readonly environment: Readonly<Record<string, string>>;
}

export const PLAIN: Surroundings = { folder: "plain", umask: "022", environment: {} };

const HOME = resolve(".cache/releases");

/**
 * The folder with all files of a release of the current commit, built by the command in a clone of its own, the first time.
 * What is not committed is not in it.
 */
export async function builtRelease({ folder, umask, environment }: Surroundings): Promise<string> {
  const commit = (await succeed("git", ["rev-parse", "HEAD"])).trim();
  await removeOthers(commit);
  return alone(join(HOME, commit, "lock"), () => buildUnlessThere({ folder, umask, environment }, commit));
}

async function buildUnlessThere({ folder, umask, environment }: Surroundings, commit: string): Promise<string> {
  const clone = join(HOME, commit, folder, "clone");
  const release = join(clone, "dist/release");
  if (existsSync(join(release, "SHA256SUMS"))) return release;
  // Made elsewhere and moved when it is complete, so that an interrupted run leaves nothing that looks complete.
  const unfinished = join(HOME, commit, folder, `clone.${process.pid}`);
  await rm(clone, { recursive: true, force: true });
  await cloneInto(unfinished, commit);
  await succeed("sh", buildWith(umask), unfinished, environment);
  await rename(unfinished, clone);
  return release;
}

/** What a build leaves that fails, and what it says. The caller removes the clone. */
export async function failedRelease({ folder, umask, environment }: Surroundings) {
  const commit = (await succeed("git", ["rev-parse", "HEAD"])).trim();
  const clone = join(HOME, commit, `${folder}.${process.pid}`);
  await cloneInto(clone, commit);
  const { exit, stderr } = await run("sh", buildWith(umask), { cwd: clone, env: environment });
  return { clone, release: join(clone, "dist/release"), exit, stderr };
}

async function cloneInto(folder: string, commit: string): Promise<void> {
  await mkdir(join(folder, ".."), { recursive: true });
  await succeed("git", ["clone", "--quiet", "--local", "--no-checkout", ".", folder]);
  await succeed("git", ["-C", folder, "checkout", "--quiet", "--detach", commit]);
  await linkPackages(join(folder, "node_modules"));
}

/** Arguments for the shell, in the folder of a clone. */
function buildWith(umask: string): readonly string[] {
  return ["-c", `umask ${umask} && exec "$0" release/release-command.ts --dry-run`, process.execPath];
}

/** Runs it while no other process of tests does so under the same lock. */
async function alone<T>(lock: string, build: () => Promise<T>): Promise<T> {
  const isOurs = () =>
    writeFile(lock, String(process.pid), { flag: "wx" }).then(
      () => true,
      () => false,
    );
  while (!(await isOurs())) {
    const holder = Number(await readFile(lock, "utf8").catch(() => process.pid));
    if (!isAlive(holder)) await rm(lock, { force: true }); // it was interrupted
    await breath();
  }
  try {
    return await build();
  } finally {
    await rm(lock);
  }
}

/** The packages of this project as files of a folder of their own, because a build looks at where they are. */
async function linkPackages(folder: string): Promise<void> {
  await mkdir(folder);
  // Without the caches of tools, which may be at work.
  const names = (await readdir("node_modules")).filter((name) => !name.startsWith(".") || name === ".bin");
  const from = resolve("node_modules");
  await succeed("sh", [
    "-ec",
    'into=$0; from=$1; shift; cd "$from"; cp --archive --link "$@" "$into"',
    folder,
    from,
    ...names,
  ]);
  await mkdir(join(from, ".cache/release"), { recursive: true });
  await mkdir(join(folder, ".cache"));
  await symlink(join(from, ".cache/release"), join(folder, ".cache/release")); // what is fetched
}

/** Those of other commits take 600 MB each. */
async function removeOthers(commit: string): Promise<void> {
  await mkdir(join(HOME, commit), { recursive: true });
  for (const other of await readdir(HOME)) if (other !== commit) await rm(join(HOME, other), { recursive: true });
}

/** What a program prints, which has to end with 0. */
export async function succeed(
  program: string,
  args: readonly string[],
  cwd = ".",
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { exit, stdout, stderr }: Ended = await run(program, args, { cwd, env });
  if (exit !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${exit}: ${stdout.slice(-4_000)}${stderr}`);
  return stdout;
}
