import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchFailure } from "../frame/bench-failure.ts";
import type { CommandLine } from "../processes/server-process.ts";
import { outputOf, type Program, RIVALS_FOLDER, versionIn } from "./rival.ts";

const PACKAGES = ["nginx", "haproxy", "vinyl-cache", "squid"];
const FOLDER = join(RIVALS_FOLDER, "debian");
const ROOT = join(FOLDER, "root");
const LIBRARIES = join(ROOT, "usr/lib/x86_64-linux-gnu");

/**
 * A program from Debian's newest packages, whatever Debian the machine has. It runs where it was unpacked, with the
 * loader and libraries of its own Debian, so nothing is installed and no chroot is needed.
 */
export async function debianProgram(path: string, versionOption: string): Promise<Program> {
  unpacked ??= unpack();
  await unpacked;
  const run: CommandLine = [join(LIBRARIES, "ld-linux-x86-64.so.2"), "--library-path", LIBRARIES, inRoot(path)];
  return { run, version: versionIn(await outputOf([...run, versionOption])) };
}

/** The path of a file of the packages. */
export function inRoot(path: string): string {
  return join(ROOT, path);
}

let unpacked: Promise<void> | undefined;

/** Downloads the packages and all their dependencies, with an apt that knows of no installed package. */
async function unpack(): Promise<void> {
  const done = join(FOLDER, "unpacked");
  if (existsSync(done)) return;
  for (const folder of ["lists/partial", "archives/partial"]) await mkdir(join(FOLDER, folder), { recursive: true });
  await mkdir(ROOT, { recursive: true });
  await writeFile(join(FOLDER, "status"), "");
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  await writeFile(join(FOLDER, "sources.list"), `deb [signed-by=${keys}] ${await mirror()} sid main\n`);
  await writeFile(
    join(FOLDER, "apt.conf"),
    `Dir::State "${FOLDER}"; Dir::State::status "${FOLDER}/status"; Dir::Cache "${FOLDER}";
    Dir::Etc::sourcelist "${FOLDER}/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
    Acquire::Languages "none"; APT::Install-Recommends "false"; Debug::NoLocking "true";
    Acquire::Check-Valid-Until "false"; // a mirror's lists may be older than their stated validity
    `,
  );
  const options = { environment: { APT_CONFIG: join(FOLDER, "apt.conf") } };
  await outputOf(["apt-get", "update"], options);
  await outputOf(["apt-get", "--yes", "--download-only", "install", ...PACKAGES], options);
  const archives = (await readdir(join(FOLDER, "archives"))).filter((file) => file.endsWith(".deb"));
  for (const file of archives) await outputOf(["dpkg-deb", "--extract", join(FOLDER, "archives", file), ROOT]);
  await writeFile(done, "");
}

/** The address from which this machine gets its own packages of Debian. */
async function mirror(): Promise<string> {
  const addresses = (await outputOf(["apt-get", "indextargets", "--format", "$(SITE)"])).split("\n");
  const found = addresses.find((address) => address.endsWith("/debian"));
  if (found === undefined) throw new BenchFailure("apt-get of this machine knows no mirror of Debian.");
  return found;
}
