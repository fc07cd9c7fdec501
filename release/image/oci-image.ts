import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../bundle/command-bundle.ts";
import type { Commit } from "../commit.ts";
import { TARGETS, type Target } from "../node-runtime.ts";
import { type TarOptions, tarGz } from "../tar.ts";
import { unpackLibraries } from "./debian-libraries.ts";

/** The user of the image, who has no rights. */
const USER = 65_532;

/** Where the pages and the purge log are. */
const FOLDER = "/var/lib/tidemark";

/** What the user may write to, with the modes. */
const OWN_FOLDERS = [
  [FOLDER, 0o700],
  ["/tmp", 0o1777],
] as const;

const MEDIA = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Layer extends Descriptor {
  /** The digest of the tar before it was compressed. */
  readonly diffId: string;
}

export interface ImageParts {
  readonly manifest: Manifest;
  /** The folder that the archive of a machine has. */
  readonly trees: Readonly<Record<Target["cpu"], string>>;
  readonly work: string;
  readonly cache: string;
}

/** Writes the image, for all machines, as an `oci-layout` into a folder (OCI Image Layout 1.1). */
export async function makeImage(parts: ImageParts, into: string, commit: Commit): Promise<void> {
  await mkdir(join(into, "blobs/sha256"), { recursive: true });
  const manifests = [];
  for (const target of TARGETS) manifests.push(await manifestFor(target, parts, into, commit));
  const version = parts.manifest.version;
  const index = await keepJson(into, MEDIA.index, { schemaVersion: 2, mediaType: MEDIA.index, manifests });
  const named = { ...index, annotations: { "org.opencontainers.image.ref.name": version } };
  await writeFile(
    join(into, "index.json"),
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA.index, manifests: [named] }),
  );
  await writeFile(join(into, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}

async function manifestFor(target: Target, parts: ImageParts, into: string, commit: Commit): Promise<object> {
  const { version, description, license } = parts.manifest;
  const layers = await layersFor(target, parts, into, commit);
  const created = new Date(commit.atSeconds * 1_000).toISOString();
  const platform = { architecture: target.architecture, os: "linux" };
  const config = await keepJson(into, MEDIA.config, {
    created,
    ...platform,
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { "8080/tcp": {} },
      Env: ["NODE_ENV=production"],
      Entrypoint: ["/usr/lib/tidemark/bin/node", "/usr/lib/tidemark/lib/cli.mjs"],
      Cmd: ["serve", "--listen", "*:8080", "--cache", FOLDER, "--access-log", "-"],
      Volumes: { [FOLDER]: {} },
      WorkingDir: "/etc/tidemark",
      StopSignal: "SIGTERM",
      Labels: {
        "org.opencontainers.image.title": "tidemark",
        "org.opencontainers.image.description": description,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.revision": commit.id,
        "org.opencontainers.image.licenses": license,
      },
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: "npm run release" })),
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config,
    layers: layers.map(({ diffId: _, ...descriptor }) => descriptor),
  };
  return { ...(await keepJson(into, MEDIA.manifest, manifest)), platform };
}

/** The libraries, the files of the archive, and the folders that belong to the user. */
async function layersFor(
  target: Target,
  { trees, work, cache }: ImageParts,
  into: string,
  commit: Commit,
): Promise<Layer[]> {
  const folder = (name: string) => join(work, `image-${target.cpu}-${name}`);
  const system = folder("system");
  await unpackLibraries(target, system, cache);
  for (const name of await readdir(join(system, "usr"))) {
    if (name.startsWith("lib")) await symlink(`usr/${name}`, join(system, name)); // where the loader is looked for
  }
  await writeFile(join(system, "etc/passwd"), `root:x:0:0::/:\ntidemark:x:${USER}:${USER}::${FOLDER}:\n`);
  await writeFile(join(system, "etc/group"), `root:x:0:\ntidemark:x:${USER}:\n`);
  await writeFile(join(system, "etc/nsswitch.conf"), "hosts: files dns\n");

  await mkdir(join(system, "etc/tidemark"));

  const command = folder("command");
  await cp(trees[target.cpu], join(command, "usr/lib/tidemark"), { recursive: true });

  const folders = folder("folders");
  for (const [path, mode] of OWN_FOLDERS) {
    await mkdir(join(folders, path), { recursive: true });
    await chmod(join(folders, path), mode);
  }
  const own = { belonging: { paths: OWN_FOLDERS.map(([path]) => `.${path}`), to: USER } };
  return [
    await layer(system, into, commit),
    await layer(command, into, commit),
    await layer(folders, into, commit, own),
  ];
}

async function layer(folder: string, into: string, commit: Commit, options?: TarOptions): Promise<Layer> {
  const file = `${folder}.tar.gz`;
  const bytes = await tarGz(folder, file, commit, options);
  const compressed = await readFile(file);
  const digest = digestOf(compressed);
  await rename(file, blob(into, digest));
  await rm(folder, { recursive: true });
  return { mediaType: MEDIA.layer, digest, size: compressed.length, diffId: digestOf(bytes) };
}

async function keepJson(into: string, mediaType: string, value: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = digestOf(bytes);
  await writeFile(blob(into, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function blob(into: string, digest: string): string {
  return join(into, "blobs", digest.replace(":", "/"));
}
