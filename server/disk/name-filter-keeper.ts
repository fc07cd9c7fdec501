import type { CacheFolder } from "./cache-folder.ts";
import { type DiskFiles, writeAll } from "./disk-files.ts";
import { slotOf, slotsFor } from "./name-filter.ts";

/** A slot that has had so many entries at a time keeps its mark. */
const MAX_COUNT = 255;
/** The filter is written in pieces of this size, but for those without marks, so that they take no room on the disk. */
const PIECE_BYTES = 64 * 1024;
const NO_MARKS = Buffer.alloc(PIECE_BYTES);
/** For so long, notes may come of entries whose writers did not see the filter yet. Milliseconds. */
const UNMARKED_FOR_MS = 1_000;
/** At least so many slots are remembered that were cleared last: more than notes are on their way at a time. */
const CLEARED_SLOTS = 4_096;
/** A filter that could not be written is tried again with the first entry after this time. Milliseconds. */
const RETRY_MS = 60_000;

/**
 * The filter of names, as the janitor keeps it: it counts the entries of each slot, and clears the mark with the last of
 * them. An entry may have been marked just before by a process of which the janitor has not heard yet; when it does, it
 * marks the slot again. Where the filter cannot be written there is none, and each page is looked for on the disk.
 *
 * A byte is written synchronously: that costs a tenth of a call that does not block. The supervisor waits for the disk with
 * each purge, too, and those who answer requests do not wait for the supervisor.
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
  /** Whether there is a filter, or its draft, that is to be as the counts are. */
  #isKept = false;
  /** Open while it is a draft, and then for a turn of the event loop: it must not keep its owner from unmounting the disk. */
  #fd: number | null = null;
  #unmarkedUntil = 0;
  /** The slots that were cleared last, and those before them. */
  #cleared = new Set<number>();
  #clearedBefore = new Set<number>();
  #retryAt = 0;
  /** The last change of the file as a whole. */
  #change: Promise<void> = Promise.resolve();

  /** `now`: milliseconds of a clock that is never set back. */
  constructor(folder: CacheFolder, maxBytes: number, files: DiskFiles, now: () => number) {
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
  begin(): Promise<void> {
    this.#isComplete = false;
    return this.#remove();
  }

  /** All entries of the folder are counted: from now on there is a filter. */
  complete(): Promise<void> {
    this.#isComplete = true;
    return this.#make();
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
    this.#write(slot);
    this.#cleared.add(slot);
    if (this.#cleared.size < CLEARED_SLOTS) return;
    this.#clearedBefore = this.#cleared;
    this.#cleared = new Set();
  }

  /** A process tells that it has written a file. The mark that it made may have been cleared since. */
  written(name: string): void {
    const slot = this.#slotOf(name);
    if (slot === undefined) return;
    const now = this.#now();
    if (now < this.#unmarkedUntil || this.#cleared.has(slot) || this.#clearedBefore.has(slot)) this.#write(slot);
    if (this.#isComplete && !this.#isKept && now >= this.#retryAt) void this.#make();
  }

  /** Resolves when the filter is there, or cannot be. */
  async settled(): Promise<void> {
    for (let last: unknown; last !== this.#change; ) {
      last = this.#change;
      await last;
    }
  }

  /** Leaves the filter as it is: another janitor may have begun. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#remove();
  }

  #slotOf(name: string): number | undefined {
    return this.#folder.isEntryName(name) ? slotOf(name, this.#counts.length) : undefined;
  }

  #write(slot: number): void {
    if (!this.#isKept) return;
    try {
      this.#fd ??= this.#openForThisTurn();
      this.#files.writeNow(this.#fd, this.#counts.subarray(slot, slot + 1), slot);
    } catch {
      void this.#remove();
    }
  }

  #openForThisTurn(): number {
    const fd = this.#files.openNow(this.#folder.filterPath, "r+");
    setImmediate(() => {
      if (this.#fd === fd) this.#fd = null;
      this.#files.closeNow(fd);
    });
    if (this.#files.sizeNow(fd) !== this.#counts.length) throw new Error("somebody else has changed the filter");
    return fd;
  }

  /** Writes all marks under the name of a draft first. */
  #make(): Promise<void> {
    this.#retryAt = this.#now() + RETRY_MS;
    this.#unmarkedUntil = Number.POSITIVE_INFINITY;
    return this.#inTurn(async () => {
      if (this.#isClosed) return;
      const draft = this.#folder.draft();
      try {
        const fd = await this.#files.open(draft, "wx");
        this.#fd = fd;
        this.#isKept = true;
        try {
          await this.#writeAll(fd);
          if (!this.#isKept) throw new Error("the janitor is closed, or a byte could not be written");
          await this.#files.rename(draft, this.#folder.filterPath);
          this.#unmarkedUntil = this.#now() + UNMARKED_FOR_MS;
        } finally {
          this.#fd = null;
          this.#files.closeNow(fd);
        }
      } catch {
        await this.#files.unlink(draft).catch(() => undefined);
        void this.#remove();
      }
    });
  }

  /** What changes meanwhile is written by `#write` as well, before or after its piece. */
  async #writeAll(fd: number): Promise<void> {
    const last = this.#counts.length - 1;
    await this.#files.write(fd, this.#counts.subarray(last), last); // The file has its size now.
    for (let at = 0; at < this.#counts.length; at += PIECE_BYTES) {
      const piece = this.#counts.subarray(at, at + PIECE_BYTES);
      if (NO_MARKS.compare(piece, 0, piece.length, 0, piece.length) !== 0) await writeAll(this.#files, fd, piece, at);
    }
  }

  /** Whoever has the file open finds it empty, and looks on the disk again. Another janitor's is left alone. */
  #remove(): Promise<void> {
    this.#isKept = false;
    return this.#inTurn(async () => {
      if (this.#isClosed) return;
      await this.#files.empty(this.#folder.filterPath).catch(() => undefined);
      await this.#files.unlink(this.#folder.filterPath).catch(() => undefined);
    });
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    this.#change = this.#change.then(change);
    return this.#change;
  }
}
