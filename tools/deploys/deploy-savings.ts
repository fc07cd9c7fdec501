import { hash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { compressionSettings, DELTA_BODIES, dictionaryMatch, encode, OwnerError } from "#tidemark/internal";

/** The downloads after a deploy of visitors who have the old version of a site. Sizes in bytes. */
export interface DeploySavings {
  readonly version: 1;
  /** The changed files, those with the largest saving first. */
  readonly changed: readonly ChangedFile[];
  /** Text files that no visitor has. */
  readonly added: { readonly files: number; readonly brotliBytes: number };
  /** Files with the same name and the same bytes as before. */
  readonly same: number;
  /** Files that are not text, or smaller than 1 KiB, or larger than 10 MiB. */
  readonly leftOut: number;
}

export interface ChangedFile {
  /** The path below the folder, as in a URL. */
  readonly path: string;
  /** The path of the previous version. */
  readonly from: string;
  readonly bytes: number;
  /** The whole file, as Brotli 5. */
  readonly brotliBytes: number;
  /** As `dcz` with the previous version as dictionary; the size of Brotli if that is smaller. */
  readonly deltaBytes: number;
}

/** A folder that cannot be compared. The message is for the owner. */
class DeployFolderError extends OwnerError {
  override readonly name = "DeployFolderError";
}

const TEXT = new Set([
  ".css",
  ".csv",
  ".html",
  ".js",
  ".json",
  ".map",
  ".md",
  ".mjs",
  ".svg",
  ".txt",
  ".webmanifest",
  ".xml",
]);
const MAX_FILES = 20_000;

/** Compares two folders with builds of one site, as the server would send their files. Throws an `OwnerError`. */
export async function deploySavings(oldFolder: string, newFolder: string): Promise<DeploySavings> {
  const { levels } = compressionSettings({ compression: {} })!; // the same as of a server that names none
  const [before, after] = [await filesIn(oldFolder), await filesIn(newFolder)];
  const versions = new Map<string, TextFile>();
  // If a browser has several versions, it uses the latest.
  for (const file of before.files.toSorted((one, other) => one.changedAt - other.changedAt)) {
    if (file.match !== null) versions.set(file.match, file);
  }
  const known = new Map(before.files.map((file) => [file.path, file]));
  const changed: ChangedFile[] = [];
  const added = { files: 0, brotliBytes: 0 };
  let same = 0;
  for (const file of after.files) {
    const bytes = await readFile(file.place);
    const sameName = known.get(file.path);
    if (sameName && bytes.equals(await readFile(sameName.place))) {
      same++;
      continue;
    }
    const brotliBytes = Math.min(bytes.length, (await encode("br", bytes, levels.br)).byteLength);
    const version = file.match === null ? undefined : versions.get(file.match);
    if (!version) {
      added.files++;
      added.brotliBytes += brotliBytes;
      continue;
    }
    const dictionary = await readFile(version.place);
    const by = { bytes: dictionary, hash: hash("sha256", dictionary, "base64url") };
    const delta = await encode("dcz", bytes, levels.zstd, by);
    const deltaBytes = Math.min(brotliBytes, delta.byteLength);
    changed.push({ path: file.path, from: version.path, bytes: bytes.length, brotliBytes, deltaBytes });
  }
  changed.sort((one, other) => other.brotliBytes - other.deltaBytes - (one.brotliBytes - one.deltaBytes));
  return { version: 1, changed, added, same, leftOut: after.leftOut };
}

interface TextFile {
  readonly place: string;
  readonly path: string;
  /** The URLs for which it is a dictionary; `null` for none. */
  readonly match: string | null;
  readonly changedAt: number;
}

async function filesIn(folder: string): Promise<{ readonly files: readonly TextFile[]; readonly leftOut: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new DeployFolderError(`The folder ${folder} cannot be read: ${(cause as Error).message}.`, { cause });
  });
  const names = entries.filter((entry) => entry.isFile());
  if (names.length > MAX_FILES) {
    throw new DeployFolderError(
      `The folder ${folder} has ${names.length} files, but at most ${MAX_FILES} can be compared: name the folder of a build.`,
    );
  }
  const files: TextFile[] = [];
  for (const { parentPath, name } of names) {
    const place = join(parentPath, name);
    const { size, mtimeMs } = await stat(place);
    const extension = extname(name).toLowerCase();
    if (!TEXT.has(extension) || size < DELTA_BODIES.minBytes || size > DELTA_BODIES.maxBytes) continue;
    const path = new URL(`file:///${relative(folder, place).replaceAll("\\", "/")}`).pathname;
    files.push({ place, path, match: dictionaryMatch(path, extension === ".html"), changedAt: mtimeMs });
  }
  return { files, leftOut: names.length - files.length };
}
