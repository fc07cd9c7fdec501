import { failureCode } from "../failure-code.ts";
import { fullInWords } from "../full-disk.ts";
import { isPaused } from "../pause.ts";

/**
 * While the disk fails, one write in this time tries whether it works again. Reads are not held back, and may fail and
 * work by turns: for them it works again once none has failed for this time. Milliseconds.
 */
export const RETRY_MS = 5_000;

const FULL = ["ENOSPC", "EDQUOT"];

const WORDS: Readonly<Record<string, string>> = {
  EROFS: "the disk is read-only",
  EACCES: "access is denied",
  EPERM: "access is denied",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this machine",
  ENOENT: "its folder is missing; if it was removed, restart the server",
  EIO: "the disk reports an error",
  ERR_WORKER_INIT_FAILED: "this machine starts no more threads",
};

/** The kind of access that failed. A deletion is a `read`: while it fails, files may still be written. */
type Access = "read" | "write";

/** Whether the disk works. While it does not, pages are kept in memory alone; that is said once, and its end once. */
export class DiskHealth {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #say: (line: string) => void;
  /** What failed; `null` while all is well. */
  #fault: { readonly code: string; readonly access: Access } | null = null;
  #retryAt = 0;

  constructor(folder: string, now: () => number, say: (line: string) => void) {
    this.#folder = folder;
    this.#now = now;
    this.#say = say;
  }

  /** Whether something may be written now. While writes fail, few are let through, to find out when that is over. */
  mayWrite(): boolean {
    if (this.#fault?.access !== "write") return true;
    const now = this.#now();
    if (isPaused(this.#retryAt, now, RETRY_MS)) return false;
    this.#retryAt = now + RETRY_MS;
    return true;
  }

  /** A call has failed. Returns whether the disk is the reason; if not, it is a miss, or a bug. */
  failed(cause: unknown, access: Access): boolean {
    const code = failureCode(cause);
    // A file that cannot be read because it is not there is a miss.
    if (code === null || (code === "ENOENT" && access === "read")) return false;
    if (access === "read" && this.#fault?.access === "write") return true;
    this.#retryAt = this.#now() + RETRY_MS;
    if (this.#fault === null) {
      const words = WORDS[code] ?? (FULL.includes(code) ? fullInWords(this.#folder, cause) : "the disk fails");
      this.#say(
        `The cache in ${this.#folder} cannot be used (${code}: ${words}). For now, pages are kept only in memory.`,
      );
    }
    this.#fault = { code, access };
    return true;
  }

  /** A call has worked. A read says nothing about whether writes still fail. */
  worked(access: Access): void {
    if (this.#fault === null || (this.#fault.access === "write" && access === "read")) return;
    if (this.#fault.access === "read" && isPaused(this.#retryAt, this.#now(), RETRY_MS)) return;
    this.#fault = null;
    this.#say(`The cache in ${this.#folder} works again.`);
  }
}
