import { readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { OwnerError } from "../../cdn/owner-error.ts";
import { makeFolders } from "../make-folders.ts";
import { FileLock } from "./file-lock.ts";
import { StorageError, storageFault } from "./storage-error.ts";

const OWNER_LOCK = "supervisor.lock";
const SOCKET = "log.sock";
const WORKERS_LOCK = /^workers-[\w-]+\.lock$/;

/** The longest path of a Unix socket: 108 bytes on Linux, 104 on macOS, with a zero at the end. */
const MAX_SOCKET_PATH_BYTES = 103;

/** The log's socket cannot have the path that it would have in the folder. */
export class FolderPathError extends OwnerError {
  override readonly name = "FolderPathError";
}

/** Another supervisor is using the folder. */
export class FolderInUseError extends OwnerError {
  override readonly name = "FolderInUseError";

  constructor(folder: string) {
    super(`Another tidemark serve owns ${folder}. Stop it first, or give this one a folder of its own.`);
  }
}

/**
 * The folder of one supervisor: the log and the locks beside it. A worker holds a shared lock for as long as it lives, so
 * that the next supervisor knows whether one of them has outlived the last supervisor.
 */
export class LogFolder {
  readonly path: string;
  /** The file that each worker of this supervisor locks before it does anything else. */
  readonly workersLock: string;
  /** The Unix socket on which workers reach the log. */
  readonly socketPath: string;
  readonly #owner: FileLock;
  /** The locks of earlier supervisors' workers that were still held when last looked at. */
  #orphansLocks: readonly string[];

  private constructor(path: string, owner: FileLock, id: string, known: string | null) {
    this.path = path;
    this.#owner = owner;
    this.workersLock = join(path, `workers-${id}.lock`);
    const locks = readdirSync(path).filter((name) => WORKERS_LOCK.test(name));
    this.#orphansLocks = locks.filter((name) => ![this.workersLock, known].includes(join(path, name)));
    this.socketPath = join(path, SOCKET);
    writeFileSync(this.workersLock, "");
  }

  /**
   * `known`: the lock of workers that are no strangers, although another supervisor has started them. Throws a
   * `FolderInUseError`, a `FolderPathError`, or a `StorageError` if the folder cannot be written.
   */
  static own(path: string, id: string, known: string | null = null): LogFolder {
    LogFolder.expectShortPath(path);
    let owner: FileLock | null = null;
    try {
      makeFolders(path);
      owner = FileLock.take(join(path, OWNER_LOCK), "exclusive");
      if (owner === null) throw new FolderInUseError(path);
      return new LogFolder(path, owner, id, known);
    } catch (cause) {
      owner?.release(); // a supervisor that goes on may try again
      const fault = storageFault(cause);
      throw fault === null ? cause : new StorageError(path, fault, cause);
    }
  }

  /** Throws a `FolderPathError` if the socket could not be there. */
  static expectShortPath(path: string): void {
    if (Buffer.byteLength(join(path, SOCKET)) <= MAX_SOCKET_PATH_BYTES) return;
    const most = MAX_SOCKET_PATH_BYTES - SOCKET.length - 1;
    throw new FolderPathError(`The path of ${path} is too long for a Unix socket: it can have ${most} bytes.`);
  }

  /** Whether a worker of an earlier supervisor is still alive, and may hold a lease that this one knows nothing of. */
  hasOrphans(): boolean {
    this.#orphansLocks = this.#orphansLocks.filter((name) => !isFree(join(this.path, name)));
    return this.#orphansLocks.length > 0;
  }

  /** The workers that hold this lock are strangers from now on. */
  forget(lock: string): void {
    this.#orphansLocks = [...this.#orphansLocks, basename(lock)];
  }

  release(): void {
    // A worker that has not ended keeps its lock, and the next supervisor has to see it.
    isFree(this.workersLock);
    this.#owner.release();
  }
}

/** Whether nobody holds a lock of workers any more. It is then deleted. */
function isFree(path: string): boolean {
  try {
    const lock = FileLock.take(path, "exclusive");
    lock?.release();
    if (lock) unlinkSync(path);
    return lock !== null;
  } catch {
    return false; // on a failing disk nobody can tell, so receipts go on to wait for the longest lease
  }
}
