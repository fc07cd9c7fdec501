import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withoutMark } from "../../wire/text/without-mark.ts";
import type { Manifest } from "./manifest.ts";
import { ProjectFileError } from "./project-file-error.ts";
import { AnswerError } from "./site-answers.ts";

/** The outcome for one file. */
export interface WrittenFile {
  readonly file: string;
  readonly outcome: "written" | "completed" | "replaced" | "kept" | "left out";
  /** The additions, or a note for the owner. */
  readonly note?: string;
}

/** Writes a file, unless it exists and must not be replaced. `note`: for the owner, if it is kept. */
export type Put = (file: string, text: string, note?: string) => Promise<WrittenFile>;

/** The name or the text of a file of the edge. An app that only purges imports other modules. */
const OF_EDGE = /^tidemark\.|["']tidemark\/(?:worker|local)["']|PURGE_LOG/;

/** `force`: whether existing files of the edge are replaced. */
export function putIn(folder: string, force: boolean): Put {
  return async (file, text, note) => {
    const path = join(folder, file);
    const found = await read(path);
    if (found === text) return { file, outcome: "kept" };
    const isKept = found !== null && !(force && OF_EDGE.test(`${file}\n${found}`));
    const why = note ?? (force ? "it is not the edge's, so --force leaves it" : undefined);
    if (isKept) return { file, outcome: "kept", ...(why !== undefined && { note: why }) };
    await write(path, text);
    return { file, outcome: found === null ? "written" : "replaced" };
  };
}

/** Adds to a .gitignore what it lacks. */
export async function completeIgnored(folder: string, ignored: readonly string[]): Promise<WrittenFile> {
  const file = ".gitignore";
  const found = await read(join(folder, file));
  const missing = ignored.filter((each) => !ignores(found, each));
  if (missing.length === 0) return { file, outcome: "kept" };
  await append(join(folder, file), found, `${missing.join("\n")}\n`);
  return found === null
    ? { file, outcome: "written" }
    : { file, outcome: "completed", note: `added ${missing.join(", ")}` };
}

/**
 * Whether a .gitignore covers a file, or a folder, whose name ends with a slash, beside it; the last line that fits decides.
 * `text`: `null` for none.
 */
export function ignores(text: string | null, name: string): boolean {
  let isIgnored = false;
  for (const line of (text ?? "").split(/\r?\n/)) {
    const [, not, pattern = "", slash] = /^(!?)(?:\*\*)?\/?(.*?)(\/?)$/.exec(line.trim()) ?? [];
    const expression = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll(/\*+/g, "[^/]*");
    if (new RegExp(`^${expression}${slash || "/?"}$`).test(name)) isIgnored = not === "";
  }
  return isIgnored;
}

/** The package.json with this text. Throws `AnswerError` if it is invalid. */
export function parseManifest(text: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(withoutMark(text));
    if (typeof manifest === "object" && manifest !== null && !Array.isArray(manifest)) return manifest as Manifest;
  } catch {
    // It is reported below, as for JSON that is not an object.
  }
  throw new AnswerError("package.json is not a JSON object. Correct it, then run tidemark init again");
}

/** The text of a file; `null` if there is none. */
export async function read(path: string): Promise<string | null> {
  return existsSync(path) ? inWords(path, () => readFile(path, "utf8")) : null;
}

/** `mode`: who may read it; by default everybody. */
export async function write(path: string, text: string, mode = 0o666): Promise<void> {
  await inWords(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode });
  });
}

/** Adds lines to a file with the text `found`, or to none. Its bytes stay as they are, because it may not be UTF-8. */
export async function append(path: string, found: string | null, lines: string): Promise<void> {
  const start = !found || found.endsWith("\n") ? "" : "\n";
  await inWords(path, () => appendFile(path, `${start}${lines}`));
}

async function inWords<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ProjectFileError(path, cause);
  }
}
