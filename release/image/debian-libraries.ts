import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../node-runtime.ts";
import { ReleaseError } from "../release-error.ts";
import { run } from "../run.ts";

/** The Debian whose libraries are in the image. */
const SUITE = "trixie";

/** A package of Debian, as `debian-packages.sha256` has it. */
interface Library {
  readonly name: string;
  readonly version: string;
  readonly architecture: Target["architecture"] | "all";
  readonly sha256: string;
}

/** What Node links to, the certificates of authorities, and the licence of GCC's libraries. */
export const LIBRARIES: readonly Library[] = readFileSync(new URL("./debian-packages.sha256", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const [, sha256, name, version, architecture] = /^(\w{64}) {2}([^_]+)_([^_]+)_(\w+)\.deb$/.exec(line)!;
    return { name, version, architecture, sha256 } as Library;
  });

/**
 * Unpacks them into a folder, without the parts that nobody loads. They come from the mirror of this machine's own apt, or
 * from that of everybody, for the other machine's architecture as well. Throws a `ReleaseError` if the mirror has another version by now: after a
 * security update the image is to have that one, so the list above has to follow.
 */
export async function unpackLibraries({ architecture, triplet }: Target, root: string, cache: string): Promise<void> {
  const folder = join(cache, `debian-${SUITE}-${architecture}`);
  await mkdir(root, { recursive: true });
  const ours = LIBRARIES.filter((each) => each.architecture === architecture || each.architecture === "all");
  for (const { name, version, sha256 } of ours) {
    const file = join(folder, `${sha256}.deb`);
    if (!existsSync(file)) await download(`${name}=${version}`, file, folder, architecture);
    const bytes = await readFile(file);
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (hash !== sha256) {
      await rm(file);
      throw new ReleaseError(`${name} ${version} for ${architecture} has the hash ${hash} instead of ${sha256}.`);
    }
    await run(["dpkg-deb", "--extract", file, root]);
  }
  const unused = ["usr/share/gcc", "usr/share/gdb", "usr/share/lintian", "usr/share/man", "usr/sbin", "etc"];
  for (const folder of [...unused, `usr/lib/${triplet}/gconv`])
    await rm(join(root, folder), { recursive: true, force: true });
  await onlyCopyrights(join(root, "usr/share/doc"));
  await gatherCertificates(root);
}

async function download(wanted: string, file: string, folder: string, architecture: string): Promise<void> {
  const state = join(folder, "apt");
  for (const each of ["lists/partial", "archives/partial"]) await mkdir(join(state, each), { recursive: true });
  await writeFile(join(state, "status"), "");
  const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  const mirror = mirrorAmong((await run(["apt-get", "indextargets", "--format", "$(SITE)"])).split("\n"));
  await writeFile(
    join(state, "sources.list"),
    `deb ${signed} ${mirror} ${SUITE} main\ndeb ${signed} ${mirror}-security ${SUITE}-security main\n`,
  );
  await writeFile(
    join(state, "apt.conf"),
    `APT::Architecture "${architecture}"; APT::Architectures { "${architecture}"; };
    Dir::State "${state}"; Dir::State::status "${state}/status"; Dir::Cache "${state}";
    Dir::Etc::sourcelist "${state}/sources.list"; Dir::Etc::sourceparts "/dev/null";
    Dir::Etc::preferencesparts "/dev/null"; Acquire::Languages "none"; Debug::NoLocking "true";
    APT::Sandbox::User ""; // that one may not write to this folder
    `,
  );
  const place = { cwd: state, env: { APT_CONFIG: join(state, "apt.conf") } };
  await run(["apt-get", "update"], place);
  await run(["apt-get", "download", wanted], place);
  const [name] = wanted.split("=");
  const got = (await readdir(state)).find((each) => each.startsWith(`${name}_`) && each.endsWith(".deb"))!;
  await run(["mv", join(state, got), file]);
}

/** The mirror of Debian among those of a machine's own apt. One with another system gets that of everybody. */
export function mirrorAmong(addresses: readonly string[]): string {
  return addresses.find((address) => address.endsWith("/debian")) ?? "http://deb.debian.org/debian";
}

async function onlyCopyrights(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { name, parentPath } of files) if (name !== "copyright") await rm(join(parentPath, name));
}

/** One file of all, where programs look for it, as `update-ca-certificates` makes it. */
async function gatherCertificates(root: string): Promise<void> {
  const from = join(root, "usr/share/ca-certificates/mozilla");
  const texts = await Promise.all((await readdir(from)).sort().map((file) => readFile(join(from, file), "utf8")));
  await mkdir(join(root, "etc/ssl/certs"), { recursive: true });
  await writeFile(join(root, "etc/ssl/certs/ca-certificates.crt"), texts.join(""));
  await rm(join(root, "usr/share/ca-certificates"), { recursive: true });
}
