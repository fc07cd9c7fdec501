import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { OwnerError } from "../../package/owner-error.ts";
import { makeFolders } from "../make-folders.ts";
import { namesIn } from "../names-in.ts";
import { FileLock, holdersOf } from "./file-lock.ts";
import { expectWritableFiles, mayStandIn, storageErrorOf, storageFault } from "./storage-error.ts";

const OWNER_LOCK = "supervisor.lock";
const SOCKET = "log.sock";
const WORKERS_LOCK = /^workers-[\w-]+\.lock$/;

/** Where locks and socket are while the disk takes no writes: in memory, or else in the system's temporary folder. */
const ELSEWHERE = ["/dev/shm", tmpdir()];

/** The longest path of a Unix socket: 108 bytes on Linux, 104 on macOS, with a zero at the end. */
const MAX_SOCKET_PATH_BYTES = 103;

/** The log's socket cannot have the path that it would have in the folder. */
export class FolderPathError extends OwnerError {
  override readonly name = "FolderPathError";
}

/** Another supervisor is using the folder. */
export class FolderInUseError extends OwnerError {
  override readonly name = "FolderInUseError";

  /** `pid`: the other supervisor's process; `null` if the system does not tell. */
  constructor(folder: string, pid: number | null) {
    const process = pid === null ? "" : ` (process ${pid})`;
    super(`Another tidemark serve is using ${folder}. Stop it first${process}, or give this server another folder.`);
  }
}

/** The lock of the folder's supervisor is damaged. It holds nothing, and the log beside it may be whole. */
class DamagedLockError extends OwnerError {
  override readonly name = "DamagedLockError";

  constructor(lock: string, cause: unknown) {
    super(`The lock ${lock} is damaged. Delete it while no server runs on the folder.`, { cause });
  }
}

/**
 * The folder of one supervisor: the log and the locks beside it. A worker holds a shared lock for as long as it lives,
 * so that the next supervisor knows whether one of them has outlived the last supervisor. If the folder cannot be used and
 * the server starts all the same, locks and socket are in another folder; it takes this folder once that can be used.
 */
export class LogFolder {
  readonly path: string;
  /** The file that each worker of this supervisor locks before it reads the log. */
  readonly workersLock: string;
  /** The Unix socket on which workers reach the log. */
  readonly socketPath: string;
  /** `null` while the folder cannot be used. */
  #owner: FileLock | null;
  /** The locks of earlier supervisors' workers that were still held when last looked at. */
  #orphansLocks: readonly string[];

  /** `place`: where locks and socket are. `others`: the locks of other supervisors' workers, who count as orphans. */
  private constructor(path: string, place: string, owner: FileLock | null, id: string, others: readonly string[]) {
    this.path = path;
    this.#owner = owner;
    this.workersLock = join(place, workersLockOf(id));
    this.#orphansLocks = others;
    this.socketPath = join(place, SOCKET);
    writeFileSync(this.workersLock, "");
  }

  /**
   * `known`: the lock of workers that are no strangers, although another supervisor has started them. `oneOfSeveral`: as in
   * `mayStandIn`. Throws a `FolderInUseError`, a `FolderPathError`, a `DamagedLockError`, or a `StorageError` if this user
   * cannot write the folder.
   */
  static own(path: string, id: string, known: string | null = null, oneOfSeveral = false): LogFolder {
    LogFolder.expectShortPath(path);
    const mine = [workersLockOf(id), known];
    let owner: FileLock | null = null;
    try {
      owner = takeOwnersLock(path);
      return new LogFolder(path, path, owner, id, workersLocksAmong(readdirSync(path), mine));
    } catch (cause) {
      owner?.release(); // the supervisor may try again
      const error = storageErrorOf(path, cause);
      if (!mayStandIn(error, path, oneOfSeveral)) throw error;
      const place = placeElsewhere();
      if (place === null) throw error;
      const isOthers = error instanceof FolderInUseError; // its workers are no orphans
      return new LogFolder(path, place, null, id, isOthers ? [] : workersLocksAmong(namesIn(path), mine));
    }
  }

  /** Locks the folder if it could not be used before. Throws like `own`, or an error of the file system. */
  claim(): void {
    if (this.#owner !== null) return;
    const owner = takeOwnersLock(this.path);
    try {
      const link = join(this.path, basename(this.workersLock));
      this.#orphansLocks = workersLocksAmong(readdirSync(this.path), [link]);
      putLink(link, this.workersLock); // the next supervisor has to see the lock
      this.#owner = owner;
    } catch (cause) {
      owner.release();
      throw cause;
    }
  }

  /** Throws as `own` does if this user could not own the folder, whoever owns it now. Writes nothing. */
  static expectUsable(path: string): void {
    LogFolder.expectShortPath(path);
    expectWritableFiles(path, [OWNER_LOCK]);
  }

  /** Throws a `FolderPathError` if the socket could not be there. */
  static expectShortPath(path: string): void {
    if (Buffer.byteLength(join(path, SOCKET)) <= MAX_SOCKET_PATH_BYTES) return;
    const most = MAX_SOCKET_PATH_BYTES - SOCKET.length - 1;
    throw new FolderPathError(`The path ${path} is too long for a Unix socket, which can have at most ${most} bytes.`);
  }

  /** Whether a worker of an earlier supervisor is still alive, and may hold a lease that is unknown to this one. */
  hasOrphans(): boolean {
    this.#orphansLocks = this.#orphansLocks.filter((name) => !isFree(join(this.path, name)));
    return this.#orphansLocks.length > 0;
  }

  /** The processes of those workers, as far as the system tells. */
  orphans(): number[] {
    const held = this.#orphansLocks.flatMap((name) => holdersOf(join(this.path, name)));
    return held.filter((pid) => hasTitle(pid, "tidemark worker-"));
  }

  /** Workers that hold this lock count as strangers from now on. */
  forget(lock: string): void {
    this.#orphansLocks = [...this.#orphansLocks, basename(lock)];
    this.hasOrphans(); // deletes it if they have ended, too
  }

  release(): void {
    // A worker that has not ended keeps its lock, and the next supervisor has to see it.
    const areGone = isFree(this.workersLock);
    const place = dirname(this.workersLock);
    if (areGone && place !== this.path) {
      if (this.#owner !== null) isFree(join(this.path, basename(this.workersLock)));
      rmSync(place, { recursive: true, force: true });
    } else if (place !== this.path && !this.#isAnothers()) this.#leadOn();
    this.#owner?.release();
  }

  /** Whether another server has the folder, whose log is not the one of these workers. */
  #isAnothers(): boolean {
    if (this.#owner !== null) return false;
    try {
      takeOwnersLock(this.path).release();
      return false;
    } catch (cause) {
      return cause instanceof FolderInUseError;
    }
  }

  /** Leads the workers from the socket elsewhere to the one of the next supervisor. */
  #leadOn(): void {
    try {
      putLink(this.socketPath, join(this.path, SOCKET));
    } catch {
      // Their purges fail then, and receipts wait for their leases.
    }
  }
}

/** Throws a `FolderInUseError` if another supervisor has it, a `DamagedLockError`, or what the file system does. */
function takeOwnersLock(path: string): FileLock {
  makeFolders(path);
  const lock = join(path, OWNER_LOCK);
  let owner: FileLock | null;
  try {
    owner = FileLock.take(lock, "exclusive");
  } catch (cause) {
    throw storageFault(cause) === "damaged" ? new DamagedLockError(lock, cause) : cause;
  }
  if (owner !== null) return owner;
  throw new FolderInUseError(path, holdersOf(lock).find((pid) => hasTitle(pid, "tidemark supervisor")) ?? null);
}

function workersLockOf(id: string): string {
  return `workers-${id}.lock`;
}

/** The names in a folder that are of other locks of workers. */
function workersLocksAmong(names: readonly string[], known: readonly (string | null)[]): string[] {
  const others = known.map((lock) => lock && basename(lock));
  return names.filter((name) => WORKERS_LOCK.test(name) && !others.includes(name));
}

/** A new folder for locks and a socket; `null` if there is no place for it. */
function placeElsewhere(): string | null {
  for (const above of ELSEWHERE) {
    try {
      return mkdtempSync(join(above, "tidemark-log-"));
    } catch {
      // It does not exist, or cannot be written either.
    }
  }
  return null;
}

/** Puts a link there, in place of one of an earlier attempt. */
function putLink(path: string, to: string): void {
  rmSync(path, { force: true });
  symlinkSync(to, path);
}

/** Whether nobody holds a lock of workers any more. If so, deletes the file. */
function isFree(path: string): boolean {
  try {
    if (!existsSync(path)) {
      rmSync(path, { force: true }); // a link to a lock in memory, which is gone after the machine restarted
      return true;
    }
    const lock = FileLock.take(path, "exclusive");
    lock?.release();
    if (lock) deleteLock(path);
    return lock !== null;
  } catch {
    return false; // on a failing disk this is unknown, so receipts go on waiting for the longest lease
  }
}

/** Deletes a lock of workers; if it is a link to one elsewhere, then with the folder there. */
function deleteLock(path: string): void {
  const place = lstatSync(path).isSymbolicLink() ? dirname(readlinkSync(path)) : null;
  unlinkSync(path);
  if (place !== null) rmSync(place, { recursive: true, force: true });
}

/** Whether the title of a process begins so. Without that, it may have locked another file with the same number. */
function hasTitle(pid: number, title: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(title);
  } catch {
    return false;
  }
}
