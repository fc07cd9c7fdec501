import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OwnerError } from "../../package/owner-error.ts";
import { CODINGS } from "../../worker/rules/variants/accept-encoding.ts";
import { makeFolders } from "../make-folders.ts";
import { messageOf } from "../message-of.ts";
import { draftOf } from "../put-file.ts";
import { type FileKind, KINDS } from "./file-format.ts";

/** Marks a folder as a cache of this program, and says which format its files have. */
const MARK = "tidemark-cache.json";
const DRAFT_OF_MARK = `${MARK}.new`;
/** Backup programs leave out a folder with this file: https://bford.info/cachedir/ */
const CACHEDIR_TAG = "CACHEDIR.TAG";
const CACHEDIR_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# This is the cache of tidemark serve.\n";
/** Keeps, between two starts, where the pages came from. */
export const ORIGINS = "origins.json";
/** Earlier versions wrote the origins on a disk that was full for the mark. */
const MAY_STAND_UNMARKED: ReadonlySet<string> = new Set([DRAFT_OF_MARK, ORIGINS, draftOf(ORIGINS), "lost+found"]);
/** Raised when the names of the files change. Files of other formats are never read, and are deleted. */
const FORMAT = 1;
const FOLDER_PREFIX = `files-${FORMAT}`;
const FOLDER_OF_FORMAT = /^files-\d+$/;
const DIGITS = [..."0123456789abcdef"];
const BEING_WRITTEN = "being-written";

/** The name of a file: a hash of its key, and its kind. */
const FILE_NAME = new RegExp(`^[0-9a-f]{32}\\.(${KINDS.join("|")})$`);
const ENTRY = ".entry";

/** A folder that cannot be used as a cache. The message is for the owner. */
export class CacheFolderError extends OwnerError {
  override readonly name = "CacheFolderError";
}

/**
 * The folder of the cache, which all processes of a machine share. Files lie in 16 folders, by the first digit of
 * their names, so that processes seldom wait for each other to change one.
 */
export class CacheFolder {
  readonly path: string;
  readonly #site: string;
  #written = 0;
  /** Two processes may have the same number, in containers that share the folder. */
  readonly #process = `${process.pid}-${crypto.randomUUID().slice(0, 8)}`;

  private constructor(path: string, site: string) {
    this.path = path;
    this.#site = site;
  }

  /**
   * Opens the folder, and makes it if it is missing. Throws a `CacheFolderError` if it holds anything else, so that a
   * mistyped name never mixes a cache with other files.
   */
  static open(path: string): CacheFolder {
    return explaining(path, () => {
      makeFolders(path);
      if (!isMarked(path)) {
        refuseOthers(path);
        // The mark comes first, and whole, so that neither a crash nor a power loss leaves a folder of ours that is refused.
        writeFileSync(join(path, DRAFT_OF_MARK), `${JSON.stringify({ format: FORMAT })}\n`, { flush: true });
        renameSync(join(path, DRAFT_OF_MARK), join(path, MARK));
      }
      markForBackups(join(path, CACHEDIR_TAG));
      for (const digit of DIGITS) makeFolders(join(path, FOLDER_PREFIX, digit));
      makeFolders(join(path, BEING_WRITTEN));
      return CacheFolder.at(path);
    });
  }

  /** Whether a cache has been opened there. */
  static isAt(path: string): boolean {
    return existsSync(join(path, MARK));
  }

  /** Throws as `open` does if what is in the folder cannot be a cache of this user's. Writes nothing. */
  static expectUsable(path: string): void {
    if (!existsSync(path)) return;
    explaining(path, () => {
      readdirSync(path);
      if (!isMarked(path)) refuseOthers(path);
    });
  }

  /** The folder that another process has opened. It writes nothing, so that a worker also starts on a failing disk. */
  static at(path: string): CacheFolder {
    return new CacheFolder(path, "");
  }

  /** The same folder for one of several sites, whose name is then part of each key. No key has a line break. */
  ofSite(site: string): CacheFolder {
    return new CacheFolder(this.path, `${site}\n`);
  }

  /** The name of the file for a key. */
  nameOf(key: string, kind: FileKind): string {
    return `${hash("sha256", this.#site + key, "hex").slice(0, 32)}.${kind}`;
  }

  pathOf(name: string): string {
    return `${this.path}/${FOLDER_PREFIX}/${name[0]}/${name}`;
  }

  isEntryName(name: string): boolean {
    return name.endsWith(ENTRY);
  }

  /** A new name for a file that is being written. */
  draft(): string {
    this.#written++;
    return `${this.path}/${BEING_WRITTEN}/${this.#process}-${this.#written}`;
  }

  get folders(): string[] {
    return DIGITS.map((digit) => join(this.path, FOLDER_PREFIX, digit));
  }

  /** The folder of files that are not complete yet. */
  get draftsFolder(): string {
    return join(this.path, BEING_WRITTEN);
  }

  /** Folders with files of other formats. */
  oldFolders(): string[] {
    return readdirSync(this.path)
      .filter((name) => FOLDER_OF_FORMAT.test(name) && name !== FOLDER_PREFIX)
      .map((name) => join(this.path, name));
  }

  isFileName(name: string): boolean {
    return FILE_NAME.test(name);
  }

  /** The names of the coded forms of an entry; none if the name is not that of an entry. */
  codedOf(name: string): string[] {
    return this.isEntryName(name) ? CODINGS.map((coding) => `${stem(name)}.${coding}`) : [];
  }

  /** The name of the entry of a coded form; `null` if the name is not that of a coded form. */
  entryOf(name: string): string | null {
    return (CODINGS as readonly string[]).includes(name.slice(stem(name).length + 1)) ? `${stem(name)}${ENTRY}` : null;
  }
}

function stem(name: string): string {
  return name.slice(0, name.indexOf("."));
}

function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof CacheFolderError) throw cause;
    const detail = messageOf(cause);
    throw new CacheFolderError(
      `The folder ${path} cannot be used as a cache: ${detail}. Name another one with --cache.`,
      { cause },
    );
  }
}

/** Throws a `CacheFolderError` if a folder without a whole mark holds anything else than a cache. */
function refuseOthers(path: string): void {
  const names = readdirSync(path);
  if (names.every((name) => MAY_STAND_UNMARKED.has(name))) return;
  // A power loss may have emptied a mark that was written without a flush.
  const isEmptied = statSync(join(path, MARK), { throwIfNoEntry: false })?.size === 0;
  if (isEmptied && names.some((name) => FOLDER_OF_FORMAT.test(name))) return;
  const why = names.includes(MARK) ? `its ${MARK} is damaged; a cache can be deleted` : `it has no ${MARK}`;
  throw new CacheFolderError(
    `The folder ${path} is not empty and is not a cache of tidemark (${why}). Name an empty folder, or one that does not exist.`,
  );
}

/** It may fail: a disk that is full has to be opened, so that files can be deleted. */
function markForBackups(tag: string): void {
  try {
    if (existsSync(tag) && readFileSync(tag, "utf8") === CACHEDIR_TEXT) return;
    writeFileSync(tag, CACHEDIR_TEXT);
  } catch {
    // Whoever writes the cache next tells why.
  }
}

function isMarked(path: string): boolean {
  const mark = join(path, MARK);
  return existsSync(mark) && readFileSync(mark, "utf8").startsWith("{");
}
