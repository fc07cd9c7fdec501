import type { Backlog } from "./backlog.ts";
import type { CacheFolder } from "./cache-folder.ts";
import { type DiskFiles, writeAll } from "./disk-files.ts";
import type { DiskHealth } from "./disk-health.ts";
import type { Room } from "./eviction/room.ts";
import { BlockSums, type FileKind, fileBytes, frameOf, isSmallFile, writeSmallFile } from "./file-format.ts";
import type { FileWriter } from "./file-writer.ts";
import type { LikelyCached } from "./likely-cached.ts";
import { OpenedFile } from "./opened-file.ts";

export interface FileStoreParts {
  readonly folder: CacheFolder;
  readonly files: DiskFiles;
  readonly room: Room;
  readonly health: DiskHealth;
  readonly cached: LikelyCached;
  readonly backlog: Backlog;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonicNow: () => number;
  /** Writes small files. Without it, they are written by `files`. */
  readonly writer: FileWriter | undefined;
}

/**
 * The files of the cache, by their names. Writes them one at a time: into room that it asks for, and under the name of
 * a draft until they are whole.
 */
export class FileStore {
  /** The last change of each file that is under way in this process. */
  readonly changes = new Map<string, Promise<void>>();
  readonly #folder: CacheFolder;
  readonly #files: DiskFiles;
  readonly #room: Room;
  readonly #health: DiskHealth;
  readonly #cached: LikelyCached;
  readonly #backlog: Backlog;
  readonly #monotonicNow: () => number;
  readonly #writer: FileWriter | undefined;

  constructor({ folder, files, room, health, cached, backlog, monotonicNow, writer }: FileStoreParts) {
    this.#monotonicNow = monotonicNow;
    this.#folder = folder;
    this.#files = files;
    this.#room = room;
    this.#health = health;
    this.#cached = cached;
    this.#backlog = backlog;
    this.#writer = writer;
  }

  /** Whether there is a file of this name; `undefined` if the look would probably wait for the disk. */
  existsNow(name: string): boolean | undefined {
    const size = this.sizeNow(name);
    return size === undefined ? undefined : size !== null;
  }

  /** The size of a file; `null` if there is none, `undefined` if the look would probably wait for the disk. */
  sizeNow(name: string): number | null | undefined {
    const startedAt = this.#monotonicNow();
    if (!this.#cached.holdsFolders(startedAt)) return undefined;
    let size: number | null = null;
    try {
      size = this.#files.sizeNow(this.#folder.pathOf(name));
    } catch (cause) {
      this.missUnlessBug(cause);
    }
    const now = this.#monotonicNow();
    this.#cached.took(now - startedAt, now);
    return size;
  }

  /** Whether there is a file of this name, even if the look has to wait for the disk. */
  async exists(name: string): Promise<boolean> {
    const exists = this.existsNow(name);
    if (exists !== undefined) return exists;
    try {
      await this.#files.sizeOf(this.#folder.pathOf(name));
      return true;
    } catch (cause) {
      this.missUnlessBug(cause);
      return false;
    }
  }

  /** Reads a file of this size at once; `undefined` if it has another one by now. */
  readNow(name: string, size: number): Buffer | undefined {
    const startedAt = this.#monotonicNow();
    const fd = this.#files.openNow(this.#folder.pathOf(name), "r");
    // One more byte shows whether another process has replaced the file with a longer one.
    const bytes = Buffer.allocUnsafeSlow(size + 1);
    let read: number;
    try {
      read = this.#files.readNow(fd, bytes, size + 1, 0);
    } finally {
      this.#files.closeNow(fd);
    }
    const now = this.#monotonicNow();
    this.#cached.took(now - startedAt, now);
    if (read !== size) {
      this.#cached.forget(name);
      return undefined;
    }
    return bytes.subarray(0, size);
  }

  /** `firstBytes`: its size, if that is known. */
  open(name: string, kind: FileKind, firstBytes?: number): Promise<OpenedFile> {
    return OpenedFile.open(this.#files, this.#folder.pathOf(name), kind, firstBytes);
  }

  /** A read has found what it looked for. */
  hit(name: string): void {
    this.#health.worked("read");
    this.#room.hit(name);
  }

  /** A change whose bytes wait in memory. It is dropped if too many bytes wait. */
  async changeInMemory(name: string, { byteLength }: Uint8Array, change: () => Promise<void>): Promise<void> {
    if (!this.#backlog.enter(byteLength)) return;
    try {
      await this.#change(name, change);
    } finally {
      this.#backlog.leave(byteLength);
    }
  }

  /** Makes changes of one file one after the other, so that a late put of an older response finds the newer one. */
  async #change(name: string, change: () => Promise<void>): Promise<void> {
    const before = this.changes.get(name) ?? Promise.resolve();
    const done = before.then(change, change);
    this.changes.set(name, done);
    try {
      await done;
    } finally {
      if (this.changes.get(name) === done) this.changes.delete(name);
    }
  }

  /** Deletes a file. */
  async drop(name: string): Promise<undefined> {
    this.#cached.forget(name);
    try {
      await this.#files.unlink(this.#folder.pathOf(name));
      this.#room.gone(name);
    } catch (cause) {
      this.missUnlessBug(cause);
    }
  }

  dropInTurn(name: string): Promise<void> {
    return this.#change(name, () => this.drop(name));
  }

  /** A read or a deletion has failed: without a file, or because of the disk. Throws the cause if it is neither. */
  missUnlessBug(cause: unknown): undefined {
    if (this.#health.failed(cause, "read")) return undefined;
    if ((cause as { code?: unknown }).code === "ENOENT") return undefined;
    throw cause;
  }

  /** Writes a file whose body is in memory. Returns its size, or `null` if it was not written. */
  async write(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<number | null> {
    if (!this.#health.mayWrite()) return null;
    const bytes = fileBytes({ headBytes: Buffer.byteLength(head), bodyBytes: body.byteLength });
    if (!(await this.#room.take(bytes))) return null;
    let isWritten = false;
    try {
      isWritten = isSmallFile(bytes)
        ? await this.#writeSmall(name, kind, head, body, bytes)
        : await this.#writeLarge(name, kind, head, body);
    } finally {
      if (isWritten) this.#room.used(name, bytes, bytes);
      else this.#room.unused(bytes);
    }
    return isWritten ? bytes : null;
  }

  #writeSmall(name: string, kind: FileKind, head: string, body: Uint8Array, bytes: number): Promise<boolean> {
    const writer = this.#writer;
    if (writer) {
      return this.#asTheDiskCan(async () => {
        const failed = await writer.write(name, kind, head, body);
        if (failed.has(name)) throw failed.get(name);
      });
    }
    // A small body is copied once more, which costs less than another call.
    const file = Buffer.allocUnsafeSlow(bytes);
    writeSmallFile(file, 0, kind, head, body);
    return this.writeFile(name, (fd) => writeAll(this.#files, fd, file, 0));
  }

  #writeLarge(name: string, kind: FileKind, head: string, body: Uint8Array): Promise<boolean> {
    const sums = new BlockSums();
    sums.add(body);
    const { start, table } = frameOf(kind, head, sums);
    return this.writeFile(name, async (fd) => {
      let at = 0;
      for (const part of [start, body, table]) {
        await writeAll(this.#files, fd, part, at);
        at += part.byteLength;
      }
    });
  }

  /** Writes a draft, and renames it when it is complete. Resolves to false if the disk failed. */
  writeFile(name: string, write: (fd: number, draft: string) => Promise<void>): Promise<boolean> {
    const draft = this.#folder.draft();
    return this.#asTheDiskCan(async () => {
      try {
        const fd = await this.#files.open(draft, "wx");
        try {
          await write(fd, draft);
        } finally {
          this.#files.closeNow(fd);
        }
        await this.#files.rename(draft, this.#folder.pathOf(name));
      } catch (cause) {
        await this.#files.unlink(draft).catch(() => undefined);
        throw cause;
      }
    });
  }

  /** Returns false if the disk failed. Rejects if the content did, or if there is a bug. */
  async #asTheDiskCan(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
    } catch (cause) {
      if (this.#health.failed(cause, "write")) return false;
      throw cause;
    }
    this.#health.worked("write");
    return true;
  }
}
