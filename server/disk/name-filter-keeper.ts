import type { CacheFolder } from "./cache-folder.ts";
import { type DiskFiles, writeAll } from "./disk-files.ts";
import { slotOf, slotsFor } from "./name-filter.ts";

/** A slot that has had so many entries at a time keeps its mark. */
const MAX_COUNT = 255;
/** The filter is written in pieces of this size, but for those without marks, so that they take no room on the disk. */
const PIECE_BYTES = 64 * 1024;
const NO_MARKS = Buffer.alloc(PIECE_BYTES);
/**
 * For so long after the filter got its name, it may be told of entries that were written before that, and are not marked.
 * Milliseconds.
 */
const UNMARKED_FOR_MS = 1_000;
/** At least so many slots are remembered that were cleared last: more than notes of entries are on their way at a time. */
const CLEARED_SLOTS = 4_096;
/** A filter that could not be written is tried again with the first entry after this time. Milliseconds. */
const RETRY_MS = 60_000;

/**
 * The filter of names, as the janitor keeps it: it counts the entries of each slot, and clears the mark with the last of
 * them. An entry may have been marked just before by a process of which the janitor has not heard yet; when it does, it
 * marks the slot again. Where the filter cannot be written there is none, and each page is looked for on the disk.
 */
export class NameFilterKeeper {
  readonly #folder: CacheFolder;
  readonly #files: DiskFiles;
  readonly #now: () => number;
  /** The entries of each slot: the bytes of the filter, where one that is not 0 may also be another one. */
  readonly #counts: Uint8Array<ArrayBuffer>;
  /** Whether all entries of the folder are counted. */
  #isComplete = false;
  #isClosed = false;
  /** Open once the filter has its name. */
  #fd: number | null = null;
  /** The slots that are not in the file yet as they are here; `null` while there is no filter. */
  #changed: Set<number> | null = null;
  /** The slots that were cleared last, and those before them. */
  #cleared = new Set<number>();
  #clearedBefore = new Set<number>();
  #unmarkedUntil = 0;
  #retryAt = 0;
  #writing: Promise<void> | null = null;

  /** `now`: milliseconds of a clock that is never set back. */
  constructor(folder: CacheFolder, maxBytes: number, files: DiskFiles, now = () => performance.now()) {
    this.#folder = folder;
    this.#files = files;
    this.#now = now;
    this.#counts = new Uint8Array(slotsFor(maxBytes));
  }

  /** What the filter takes on the disk at most. */
  get bytes(): number {
    return this.#counts.length;
  }

  /** The folder is about to be read. A filter that is there is an earlier janitor's, and deleted. */
  async begin(): Promise<void> {
    this.#isComplete = false;
    await this.settled();
    await this.#remove();
  }

  /** All entries of the folder are counted: from now on there is a filter. */
  async complete(): Promise<void> {
    this.#isComplete = true;
    this.#make();
    await this.settled();
  }

  /** There is a file more. */
  added(name: string): void {
    const slot = this.#slotOf(name);
    if (slot !== undefined && this.#counts[slot]! < MAX_COUNT) this.#counts[slot]!++;
  }

  /** There is a file less. */
  removed(name: string): void {
    const slot = this.#slotOf(name);
    const count = slot === undefined ? 0 : this.#counts[slot]!;
    if (slot === undefined || count === 0 || count === MAX_COUNT) return;
    this.#counts[slot] = count - 1;
    if (count > 1) return;
    this.#cleared.add(slot);
    if (this.#cleared.size >= CLEARED_SLOTS) {
      this.#clearedBefore = this.#cleared;
      this.#cleared = new Set();
    }
    this.#write(slot);
  }

  /** A process tells that it has written a file. The mark that it made may have been cleared since. */
  written(name: string): void {
    const slot = this.#slotOf(name);
    if (slot === undefined) return;
    const now = this.#now();
    if (this.#isComplete && this.#changed === null && this.#writing === null && now >= this.#retryAt) this.#make();
    if (now < this.#unmarkedUntil || this.#cleared.has(slot) || this.#clearedBefore.has(slot)) this.#write(slot);
  }

  /** Resolves when the filter is as it should be. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** Leaves the filter as it is: another janitor may have begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
    this.#forget();
  }

  #slotOf(name: string): number | undefined {
    return this.#folder.isEntryName(name) ? slotOf(name, this.#counts.length) : undefined;
  }

  #write(slot: number): void {
    this.#changed?.add(slot);
    if (this.#fd !== null && this.#writing === null) this.#start(() => this.#writeChanged());
  }

  #make(): void {
    if (this.#isClosed) return;
    this.#changed = new Set();
    this.#unmarkedUntil = Number.POSITIVE_INFINITY;
    this.#start(async () => {
      this.#fd = await this.#writeAll();
      this.#unmarkedUntil = this.#now() + UNMARKED_FOR_MS;
      await this.#writeChanged();
    });
  }

  #start(write: () => Promise<void>): void {
    const failed = () => {
      this.#retryAt = this.#now() + RETRY_MS;
      return this.#remove();
    };
    this.#writing = write()
      .catch(failed)
      .finally(() => {
        this.#writing = null;
        if (this.#fd !== null && this.#changed?.size) this.#start(() => this.#writeChanged());
      });
  }

  /** Writes all marks under the name of a draft. Returns the descriptor once the file has its own name. */
  async #writeAll(): Promise<number> {
    const draft = this.#folder.draft();
    const fd = await this.#files.open(draft, "wx");
    try {
      const last = this.#counts.length - 1;
      await this.#files.write(fd, this.#counts.subarray(last), last); // The file has its size now.
      for (let at = 0; at < this.#counts.length; at += PIECE_BYTES) {
        const piece = this.#counts.subarray(at, at + PIECE_BYTES);
        if (NO_MARKS.compare(piece, 0, piece.length, 0, piece.length) !== 0) await writeAll(this.#files, fd, piece, at);
      }
      if (this.#isClosed) throw new Error("the janitor is closed");
      await this.#files.rename(draft, this.#folder.filterPath);
      return fd;
    } catch (cause) {
      this.#files.closeNow(fd);
      await this.#files.unlink(draft).catch(() => undefined);
      throw cause;
    }
  }

  /** Writes one slot after the other, so that the last change of each stays. */
  async #writeChanged(): Promise<void> {
    const changed = this.#changed!;
    for (const slot of changed) {
      changed.delete(slot);
      if (this.#isClosed) return;
      await this.#files.write(this.#fd!, this.#counts.subarray(slot, slot + 1), slot);
    }
  }

  /** Whoever has the file open finds it empty, and looks on the disk again. */
  async #remove(): Promise<void> {
    this.#forget();
    if (this.#isClosed) return;
    await this.#files.empty(this.#folder.filterPath).catch(() => undefined);
    await this.#files.unlink(this.#folder.filterPath).catch(() => undefined);
  }

  #forget(): void {
    if (this.#fd !== null) this.#files.closeNow(this.#fd);
    this.#fd = null;
    this.#changed = null;
  }
}
