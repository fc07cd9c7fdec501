/** The share of the available memory that cached files are assumed to fill. */
const SHARE = 1 / 4;

/** The most files that are remembered: each takes about 100 bytes of this process's own memory. */
const MAX_FILES = 200_000;

/**
 * When there are too many, so many remain. To forget one at a time would cost 100 µs each: the oldest is found behind the
 * places of all that were forgotten or used since.
 */
const KEPT_SHARE = 63 / 64;

/** A read that takes longer than this has waited, for the disk or for a core. Milliseconds. */
const WAIT_MS = 2;

/**
 * A wait after more than this many reads without one was for a core: on a busy machine the kernel interrupts the
 * process in the middle of a read some times a second. A disk that is not cached makes nearly every read wait.
 */
const READS_BETWEEN_WAITS = 64;

/** After a wait for the disk, how long folders are not expected in the kernel's cache either. Milliseconds. */
const FOLDERS_COLD_MS = 1_000;

/**
 * The files that the kernel's page cache is likely to hold: those that this process has just written or read. Only they
 * are read synchronously, because a read that waits for a disk would stop every connection of the process. It is a guess,
 * so a synchronous read that has waited for the disk clears it.
 */
export class LikelyCached {
  readonly #maxBytes: number;
  /** The size of each file, the one that was used last at the end. */
  readonly #files = new Map<string, number>();
  #bytes = 0;
  #foldersColdUntil = 0;
  /** The reads and looks since one has waited. */
  #readsAtOnce = 0;

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
    if (this.#bytes > this.#maxBytes || this.#files.size > MAX_FILES) this.#forgetOldest();
  }

  forget(file: string): void {
    const bytes = this.#files.get(file);
    if (bytes === undefined) return;
    this.#bytes -= bytes;
    this.#files.delete(file);
  }

  /** Whether folders are likely to be cached at this time, so that a look there does not wait. */
  holdsFolders(nowMs: number): boolean {
    return nowMs >= this.#foldersColdUntil;
  }

  /** A synchronous read or look has just ended, and took `ms`. */
  took(ms: number, nowMs: number): void {
    this.#readsAtOnce++;
    if (ms < WAIT_MS) return;
    const isForCore = this.#readsAtOnce > READS_BETWEEN_WAITS;
    this.#readsAtOnce = 0;
    if (isForCore) return;
    this.#foldersColdUntil = nowMs + FOLDERS_COLD_MS;
    this.#files.clear();
    this.#bytes = 0;
  }

  #forgetOldest(): void {
    for (const [oldest, bytes] of this.#files) {
      if (this.#bytes <= this.#maxBytes * KEPT_SHARE && this.#files.size <= MAX_FILES * KEPT_SHARE) return;
      this.#files.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
