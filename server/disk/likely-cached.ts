/** The share of the available memory that cached files are assumed to fill. */
const SHARE = 1 / 4;

/** The most files that are remembered: each takes about 100 bytes of this process's own memory. */
const MAX_FILES = 200_000;

/**
 * When there are too many, this many stay. Forgetting one at a time would cost 100 µs each, because the search for the
 * oldest passes the places of all that were forgotten or used since.
 */
const KEPT_SHARE = 63 / 64;

/** A read that takes longer than this waited for the disk or for a core. Milliseconds. */
const WAIT_MS = 2;

/**
 * If more reads than this passed without a wait, the next wait was for a core: on a busy machine the kernel interrupts
 * the process during a read a few times a second. A disk that is not cached makes nearly every read wait.
 */
const READS_BETWEEN_WAITS = 64;

/** How long after a wait for the disk folders also count as not cached. Milliseconds. */
const FOLDERS_COLD_MS = 1_000;

/**
 * The files that the kernel's page cache is likely to hold: those that this process has just written or read. Only they
 * are read synchronously, because a read that waits for a disk would stop every connection of the process. The list is
 * a guess, so a synchronous read that waited for the disk clears it.
 */
export class LikelyCached {
  readonly #maxBytes: number;
  /** The size of each file, the one that was used last at the end. */
  readonly #files = new Map<string, number>();
  #bytes = 0;
  #foldersColdUntil = 0;
  /** The reads and checks since the last wait. */
  #readsAtOnce = 0;

  constructor(availableBytes = process.availableMemory()) {
    this.#maxBytes = availableBytes * SHARE;
  }

  /** The size of a file that is probably cached. */
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

  /** Whether folders are probably cached now, so that a check there does not wait. */
  holdsFolders(nowMs: number): boolean {
    return nowMs >= this.#foldersColdUntil;
  }

  /** A synchronous read or check has just ended after `ms`. */
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
