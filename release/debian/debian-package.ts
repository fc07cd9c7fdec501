import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest } from "../bundle/command-bundle.ts";
import type { Commit } from "../commit.ts";
import type { Target } from "../node-runtime.ts";
import { tarGz } from "../tar.ts";
import { ar } from "./ar.ts";
import { UNIT_IN_DOCS, unitOfPackage } from "./unit.ts";

/** The config of a new installation, which the owner changes. */
const CONFIG = `import { defineSite } from "tidemark/worker";
// The site behind the server, and the hosts that visitors ask for. docs/reference/worker.md has all settings.
export default defineSite({ origin: "http://127.0.0.1:8000", hosts: ["localhost"] });
`;

/** Files that an upgrade asks about if the owner has changed them. */
const OWNERS_FILES = ["/etc/tidemark/tidemark.config.ts", "/etc/logrotate.d/tidemark"];

export interface DebianParts {
  readonly manifest: Manifest;
  readonly target: Target;
  /** The folder that the archive of this machine has. */
  readonly tree: string;
  /** The folder of the project's files. */
  readonly sources: string;
  /** A folder to work in. */
  readonly work: string;
}

/** Writes the package into a folder, and returns the name of the file. */
export async function makeDebianPackage(parts: DebianParts, into: string, commit: Commit): Promise<string> {
  const { manifest, target, work } = parts;
  const root = join(work, "root");
  await layOutRoot(parts, root);
  const data = join(work, "data.tar.gz");
  await tarGz(root, data, commit);

  const control = join(work, "control");
  await cp(join(parts.sources, "release/debian/scripts"), control, { recursive: true });
  await writeFile(join(control, "control"), controlText(manifest, target, await kibibytesOf(root)));
  await writeFile(join(control, "conffiles"), OWNERS_FILES.map((file) => `${file}\n`).join(""));
  const controlTar = join(work, "control.tar.gz");
  await tarGz(control, controlTar, commit);

  const file = `tidemark_${debianVersion(manifest.version)}_${target.architecture}.deb`;
  const members = [
    { name: "debian-binary", bytes: Buffer.from("2.0\n") },
    { name: "control.tar.gz", bytes: await readFile(controlTar) },
    { name: "data.tar.gz", bytes: await readFile(data) },
  ];
  await writeFile(join(into, file), ar(members, commit));
  return file;
}

/** All files as they are installed. */
async function layOutRoot({ tree, sources }: DebianParts, root: string): Promise<void> {
  const put = async (path: string, text: string) => {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const example = (file: string) => readFile(join(sources, file), "utf8");
  const licences = ["LICENSE", "THIRD-PARTY.txt"];
  for (const part of ["bin", "lib"])
    await cp(join(tree, part), join(root, "usr/lib/tidemark", part), { recursive: true });
  await mkdir(join(root, "usr/bin"), { recursive: true });
  await symlink("../lib/tidemark/bin/tidemark", join(root, "usr/bin/tidemark"));
  const texts = await Promise.all(licences.map((file) => readFile(join(tree, file), "utf8")));
  await put("usr/share/doc/tidemark/copyright", texts.join("\n"));
  await put("usr/lib/systemd/system/tidemark.service", unitOfPackage(await example(UNIT_IN_DOCS)));
  await put("etc/logrotate.d/tidemark", await example("docs/examples/server/logrotate"));
  await put("etc/tidemark/tidemark.config.ts", CONFIG);
}

/** The libraries are those that Node links to. The oldest C library and C++ library are those that it was built for. */
function controlText({ version, description }: Manifest, { architecture }: Target, kibibytes: number): string {
  return `Package: tidemark
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: The owner of this build <root@localhost>
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8), passwd, procps
Recommends: systemd, logrotate
Section: web
Priority: optional
Description: ${description.replace(/\.$/, "")}
 It comes with the Node that it runs on.
`;
}

/** A release candidate comes before its release: deb-version(7). */
function debianVersion(version: string): string {
  return version.replace("-", "~");
}

async function kibibytesOf(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await readFile(join(file.parentPath, file.name))).length));
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1_024);
}
