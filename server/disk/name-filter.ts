import { DISK_BLOCK_BYTES } from "./disk-blocks.ts";
import { type DiskFiles, failureCode } from "./disk-files.ts";

/*
 * Which names of entries may have a file (docs/decisions/0033-which-pages-are-surely-missing.md): a Bloom filter with one
 * hash, and a byte for each slot, in a file that all processes of the machine read. The kernel holds it in its memory. The
 * hash is the name itself, which is one of the key. A byte that is 0 says that no name of this slot has a file.
 *
 * Whoever writes an entry marks its slot before the file gets its name. The janitor makes the filter once it has read the
 * folder, and takes back marks. A mark may be missing for a moment when it does so, or when another janitor begins. Then a
 * page is fetched although it is stored: one fetch more, and never a wrong answer.
 */

/** The slots for each file, if all files took as little room as a file can. */
const SLOTS_PER_FILE = 8;
const MIN_SLOTS = 4 * 1024;
const MAX_SLOTS = 64 * 1024 * 1024;
/** Enough hexadecimal digits for the slots. */
const DIGITS = 7;
/** A process opens the filter anew after this time: it may be there now, or be another one. Milliseconds. */
const OPENED_FOR_MS = 1_000;
const MARK = Uint8Array.of(1);

/** The slots of the filter for a disk that is bounded to so many bytes: a power of two. It is also the filter's size. */
export function slotsFor(maxBytes: number): number {
  const slots = 2 ** Math.floor(Math.log2((maxBytes / DISK_BLOCK_BYTES) * SLOTS_PER_FILE));
  return Math.min(Math.max(slots, MIN_SLOTS), MAX_SLOTS);
}

/** The slot of a name, which begins with a hash. */
export function slotOf(name: string, slots: number): number {
  return Number.parseInt(name.slice(0, DIGITS), 16) & (slots - 1);
}

/** Whether a filter can have this size. A loss of power may have left another one. */
function isSize(bytes: number): boolean {
  return bytes >= MIN_SLOTS && bytes <= MAX_SLOTS && Number.isInteger(Math.log2(bytes));
}

/** The filter as a process reads it. What cannot be read tells nothing. */
export class NameFilter {
  readonly #path: string;
  readonly #files: DiskFiles;
  readonly #byte = new Uint8Array(1);
  #open: { readonly fd: number; readonly slots: number } | undefined;
  #openAgainAt = 0;

  constructor(path: string, files: DiskFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** Whether an entry of this name may have a file; `undefined` if that cannot be told. `nowMs` only grows. */
  mayHave(name: string, nowMs: number): boolean | undefined {
    try {
      if (nowMs >= this.#openAgainAt) this.#openAgain(nowMs);
      if (this.#open === undefined) return undefined;
      const { fd, slots } = this.#open;
      const read = this.#files.readNow(fd, this.#byte, 1, slotOf(name, slots));
      return read === 0 ? undefined : this.#byte[0] !== 0;
    } catch (cause) {
      if (failureCode(cause) === null) throw cause;
      return undefined;
    }
  }

  /** Keeps no file open, until the next look. */
  close(): void {
    if (this.#open) this.#files.closeNow(this.#open.fd);
    this.#open = undefined;
    this.#openAgainAt = 0;
  }

  #openAgain(nowMs: number): void {
    this.close();
    this.#openAgainAt = nowMs + OPENED_FOR_MS;
    const fd = this.#files.openNow(this.#path, "r");
    const slots = this.#files.sizeNow(fd);
    if (isSize(slots)) this.#open = { fd, slots };
    else this.#files.closeNow(fd);
  }
}

/** Marks an entry, if there is a filter. Throws what the disk does: then the entry must not get its name. */
export async function mark(files: DiskFiles, path: string, name: string): Promise<void> {
  const fd = await files.open(path, "r+").catch(unlessMissing);
  if (fd === undefined) return;
  try {
    const slots = files.sizeNow(fd);
    if (isSize(slots)) await files.write(fd, MARK, slotOf(name, slots));
  } finally {
    files.closeNow(fd);
  }
}

/** Like `mark`, for several entries in a thread that may wait. */
export function markNow(files: DiskFiles, path: string, names: readonly string[]): void {
  const fd = openToMark(files, path);
  if (fd === undefined) return;
  try {
    const slots = files.sizeNow(fd);
    if (isSize(slots)) for (const name of names) files.writeNow(fd, MARK, slotOf(name, slots));
  } finally {
    files.closeNow(fd);
  }
}

function openToMark(files: DiskFiles, path: string): number | undefined {
  try {
    return files.openNow(path, "r+");
  } catch (cause) {
    return unlessMissing(cause);
  }
}

function unlessMissing(cause: unknown): undefined {
  if (failureCode(cause) !== "ENOENT") throw cause;
}
