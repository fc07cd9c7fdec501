/** So many bytes of files are assumed to be in the kernel's memory, as a share of the memory that it has for that. */
const SHARE = 1 / 4;

/** A read that takes longer than this has waited for the disk. Milliseconds. */
const DISK_WAIT_MS = 2;

/** After such a read, the kernel is not expected to hold the folders either, for so long. Milliseconds. */
const FOLDERS_COLD_MS = 1_000;

/**
 * The files that the kernel's page cache is likely to hold: those that this process has just written or read. Only they
 * are read synchronously, because a read that waits for a disk would stop every connection of the process. It is a guess,
 * so a synchronous read that has waited clears it.
 */
export class LikelyCached {
  readonly #maxBytes: number;
  /** The size of each file, the one that was used last at the end. */
  readonly #files = new Map<string, number>();
  #bytes = 0;
  #foldersColdUntil = 0;

  constructor(availableBytes = process.availableMemory()) {
    this.#maxBytes = availableBytes * SHARE;
  }

  /** The size of a file that is likely to be cached. */
  sizeOf(file: string): number | undefined {
    return this.#files.get(file);
  }

  /** A file has been written or read. */
  touch(file: string, bytes: number): void {
    this.forget(file);
    if (bytes > this.#maxBytes) return;
    this.#files.set(file, bytes);
    this.#bytes += bytes;
    for (const [oldest, oldestBytes] of this.#files) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#files.delete(oldest);
      this.#bytes -= oldestBytes;
    }
  }

  forget(file: string): void {
    this.#bytes -= this.#files.get(file) ?? 0;
    this.#files.delete(file);
  }

  /** Whether a folder is likely to be cached at this time, so that a look for a file's name does not wait. */
  holdsFolders(nowMs: number): boolean {
    return nowMs >= this.#foldersColdUntil;
  }

  /** A synchronous read or look, which has just ended, took so long. */
  took(ms: number, nowMs: number): void {
    if (ms < DISK_WAIT_MS) return;
    this.#foldersColdUntil = nowMs + FOLDERS_COLD_MS;
    this.#files.clear();
    this.#bytes = 0;
  }
}
