import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program on the network trusts beside Node's own authorities. Tests do without: vitest.config.ts says why. */
const { NETWORK_CA_CERTS: NODE_EXTRA_CA_CERTS = process.env.NODE_EXTRA_CA_CERTS } = process.env;

/** Runs a program to its end. Scripts that ask for `node` get the one that runs the tests. */
export async function run(command: string, args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Ended> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const own = { PATH: path, NODE_EXTRA_CA_CERTS, NO_COLOR: "1" };
  const child = spawn(command, args, { cwd, env: { ...process.env, ...own, ...env } });
  child.stdin.end();
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exit] = (await closed) as [number | null];
  return { exit, stdout, stderr };
}

/** A program of the repository's own `node_modules`. */
export function tool(name: string): readonly [node: string, script: string] {
  return [process.execPath, join(ROOT, "node_modules/.bin", name)];
}

/** The package as somebody gets it who installs it. */
export interface InstalledPackage {
  /** The folder that all of it is in. */
  readonly home: string;
  readonly tarball: string;
  /** The paths in the tarball. */
  readonly packed: readonly string[];
  /** The output of `npm run build` on the terminal. */
  readonly buildWords: string;
  /** A folder that depends on it and on nothing else. */
  readonly folder: string;
}

/** Another folder that has it installed, with some of the repository's packages. */
export async function folderWith(
  { home, folder }: InstalledPackage,
  name: string,
  packages: readonly string[],
): Promise<string> {
  const other = join(home, name);
  await cp(folder, other, { recursive: true, verbatimSymlinks: true });
  for (const each of packages) {
    await mkdir(dirname(join(other, "node_modules", each)), { recursive: true });
    await symlink(join(ROOT, "node_modules", each), join(other, "node_modules", each));
  }
  return other;
}

/** Builds, packs and installs the package, all of it in a folder of its own: the tree stays as it is. */
export async function installPackage(): Promise<InstalledPackage> {
  const home = await mkdtemp(join(tmpdir(), "tidemark-package-"));
  try {
    return await installIn(home);
  } catch (error) {
    await rm(home, { recursive: true });
    throw error;
  }
}

async function installIn(home: string): Promise<InstalledPackage> {
  const staged = join(home, "staged");
  const folder = join(home, "backend");
  await mkdir(staged);
  await mkdir(folder);
  for (const file of await readdir(ROOT)) {
    if (/^(package\.json|README\.md|LICENSE|docs)$/.test(file)) {
      await cp(join(ROOT, file), join(staged, file), { recursive: true });
    }
  }
  const build = ["run", "build", "--", "--out-dir", join(staged, "dist/package")];
  const built = await succeeds("npm", build, ROOT);
  const pack = await succeeds("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", home], staged);
  const [{ filename, files }] = JSON.parse(pack.stdout) as [{ filename: string; files: { path: string }[] }];
  const tarball = join(home, filename);

  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const omitted = ["dev", "peer", "optional"].map((kind) => `--omit=${kind}`);
  await succeeds("npm", ["install", "--no-audit", "--no-fund", ...omitted, tarball], folder);
  return { home, tarball, packed: files.map(({ path }) => path), buildWords: built.stdout + built.stderr, folder };
}

async function succeeds(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  const ended = await run(command, args, { cwd });
  if (ended.exit !== 0) throw new Error(`${command} ${args.join(" ")}: ${ended.exit}\n${ended.stdout}${ended.stderr}`);
  return ended;
}
