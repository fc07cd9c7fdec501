import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { layOut } from "./archive.ts";
import { bundleCommand, type Manifest } from "./bundle/command-bundle.ts";
import { type Commit, checkOut, currentCommit } from "./commit.ts";
import { makeDebianPackage } from "./debian/debian-package.ts";
import { LIBRARIES } from "./image/debian-libraries.ts";
import { makeImage } from "./image/oci-image.ts";
import { nodeFor, TARGETS, type Target } from "./node-runtime.ts";
import { billOfMaterials } from "./packages/bill-of-materials.ts";
import { type ThirdParty, thirdPartiesText, thirdParty } from "./packages/third-parties.ts";
import { ReleaseError } from "./release-error.ts";
import { run } from "./run.ts";
import { tar, tarGz } from "./tar.ts";

/** Where what is fetched is kept: Node, and the builder of the wheel. */
const CACHE = resolve("node_modules/.cache/release");

const WORK = resolve("dist/release-work");
const RELEASE = resolve("dist/release");

type Say = (line: string) => void;

/**
 * Makes all files from the commit that is checked out. Returns the lines of SHA256SUMS. Throws a `ReleaseError`. The
 * image may be all that is missing then: an older release cannot have it once Debian has other versions of its libraries.
 */
export async function makeRelease(say: Say): Promise<readonly string[]> {
  process.umask(0o022); // npm and pip pack the modes that files have
  for (const folder of [WORK, RELEASE]) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }
  const making = await prepare(say);
  const { sources, commit } = making;
  say(await packForNpm(sources, RELEASE));
  say(await buildWheel(sources, RELEASE, CACHE, commit));
  for (const target of TARGETS) await makeForMachine(target, making);
  await writeBill(making);
  const lacksImage = await makeImageFile(making);
  const sums = await checksums(RELEASE);
  await writeFile(join(RELEASE, "SHA256SUMS"), `${sums.join("\n")}\n`);
  await rm(WORK, { recursive: true });
  if (lacksImage !== null) throw lacksImage;
  return sums;
}

interface Making {
  readonly commit: Commit;
  /** The folder with the files of the commit, in which the npm package is built. */
  readonly sources: string;
  readonly manifest: Manifest;
  /** The folder of the bundled command, and what is in it. */
  readonly bundle: string;
  readonly carried: readonly ThirdParty[];
  readonly say: Say;
}

/** Checks the commit out, and builds from it. */
async function prepare(say: Say): Promise<Making> {
  const commit = await currentCommit();
  const sources = join(WORK, "sources");
  await checkOut(commit, sources);
  await symlink(resolve("node_modules"), join(sources, "node_modules"));
  const manifest = JSON.parse(await readFile(join(sources, "package.json"), "utf8")) as Manifest;
  say(`${manifest.name} ${manifest.version} of commit ${commit.id}`);
  await buildPackage(sources);
  const bundle = join(WORK, "lib");
  const { packages } = await bundleCommand(sources, bundle, manifest);
  return { commit, sources, manifest, bundle, carried: await Promise.all(packages.map(thirdParty)), say };
}

async function writeBill({ sources, manifest, carried, commit }: Making): Promise<void> {
  // Those for the other machine have the same versions.
  const libraries = LIBRARIES.filter(({ architecture }) => architecture !== "arm64");
  const others = [
    { name: "node", version: manifest.devDependencies.node!, kind: "generic" },
    ...libraries.map((each) => ({ ...each, kind: "deb/debian" })),
  ];
  const bill = await billOfMaterials(sources, carried, others, commit);
  await writeFile(join(RELEASE, `tidemark-${manifest.version}.cdx.json`), bill);
}

/** Returns why there is no image, or `null`. */
async function makeImageFile({ manifest, commit, say }: Making): Promise<ReleaseError | null> {
  const trees = { x64: tree("x64"), arm64: tree("arm64") };
  const image = join(WORK, "image");
  try {
    await makeImage({ manifest, trees, work: WORK, cache: CACHE }, image, commit);
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    return new ReleaseError(`image.tar is missing, and all other files are there. ${error.message}`, { cause: error });
  }
  await tar(image, join(RELEASE, "image.tar"), commit);
  say("image.tar");
  return null;
}

/** The folder that archive, package and image of a kind of machine have in common. */
function tree(cpu: Target["cpu"]): string {
  return join(WORK, cpu);
}

/** The archive and the Debian package for one kind of machine. */
async function makeForMachine(
  target: Target,
  { commit, sources, bundle, manifest, carried, say }: Making,
): Promise<void> {
  const node = await nodeFor(target, manifest.devDependencies.node!, CACHE);
  const parts = {
    node,
    bundle,
    licence: await readFile(join(sources, "LICENSE"), "utf8"),
    thirdParties: thirdPartiesText([...carried, await nodeAsParty(manifest)]),
  };
  await layOut(parts, tree(target.cpu));
  const name = `tidemark-${manifest.version}-linux-${target.cpu}`;
  await tarGz(tree(target.cpu), join(RELEASE, `${name}.tar.gz`), commit, { prefix: name });
  say(`${name}.tar.gz`);
  const work = join(WORK, `debian-${target.cpu}`);
  say(await makeDebianPackage({ manifest, target, tree: tree(target.cpu), sources, work }, RELEASE, commit));
  await rm(work, { recursive: true });
}

/** Its licence is the same for all machines, and has those of its parts. */
async function nodeAsParty({ devDependencies: { node } }: Manifest): Promise<ThirdParty> {
  const version = node!;
  const { licence } = await nodeFor(TARGETS[0]!, version, CACHE);
  return { name: "node", version, licence: "MIT, and those of its parts", text: await readFile(licence, "utf8") };
}

/** The hash of each file in a folder, as `sha256sum --check` reads them. */
async function checksums(folder: string): Promise<string[]> {
  const lines: string[] = [];
  for (const file of (await readdir(folder)).sort()) {
    const hash = createHash("sha256").update(await readFile(join(folder, file)));
    lines.push(`${hash.digest("hex")}  ${file}`);
  }
  return lines;
}

/** Builds and packs the package in a folder of sources, as `npm publish` would, and returns the name of the file. */
async function packForNpm(sources: string, into: string): Promise<string> {
  const packed = await run(["npm", "pack", "--json", "--pack-destination", into], {
    cwd: sources,
    env: { npm_config_ignore_scripts: "true" },
  });
  // npm before 12 prints a list.
  const found = Object.values(JSON.parse(packed) as Record<string, { readonly filename: string }>);
  return found[0]!.filename;
}

/** What `prepack` does. Apart, so that what it prints is not taken for the list of npm. */
async function buildPackage(sources: string): Promise<void> {
  await run(["npm", "run", "build"], { cwd: sources });
}

/** It writes its version into the wheel. */
const SETUPTOOLS = "setuptools==80.9.0";

/** Builds the wheel of `sdk/python`, and returns the name of the file. `cache`: where the builder is kept. */
async function buildWheel(sources: string, into: string, cache: string, { atSeconds }: Commit): Promise<string> {
  const builder = join(cache, `python-${SETUPTOOLS}`);
  const python = join(builder, "bin/python");
  const pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"] as const;
  if (!existsSync(join(builder, "complete"))) {
    await run(["python3", "-m", "venv", "--clear", builder]);
    await run([...pip, "install", SETUPTOOLS]);
    await run(["touch", join(builder, "complete")]);
  }
  await run([...pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", into, join(sources, "sdk/python")], {
    env: { SOURCE_DATE_EPOCH: String(atSeconds), PYTHONHASHSEED: "0" },
  });
  return (await readdir(into)).find((file) => file.endsWith(".whl"))!;
}
