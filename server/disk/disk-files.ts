import * as fs from "node:fs";
import { promisify } from "node:util";

/**
 * The calls to the file system that the disk tier makes, so that tests can make them fail or kill the process between
 * two of them. Those whose names end in `Now` block the event loop, so they are for files that the kernel holds in its
 * memory, for descriptors, and for threads of their own.
 */
export interface DiskFiles {
  open(path: string, flags: "r" | "wx"): Promise<number>;
  read(fd: number, into: Uint8Array, length: number, position: number): Promise<number>;
  write(fd: number, bytes: Uint8Array, position: number): Promise<number>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** The size of a file in bytes. */
  sizeOf(path: string): Promise<number>;
  /** When a file was last written: epoch milliseconds. */
  changedAt(path: string): Promise<number>;
  list(folder: string): Promise<readonly string[]>;
  /** What is free in the file system of a folder, for this user. */
  freeRoom(folder: string): Promise<FreeRoom>;
  openNow(path: string, flags: "r"): number;
  readNow(fd: number, into: Uint8Array, length: number, position: number): number;
  closeNow(fd: number): void;
  /** The size of a file in bytes; `null` if there is none. Throws if that cannot be told: a disk that fails is not an empty one. */
  sizeNow(path: string): number | null;
}

export interface FreeRoom {
  readonly bytes: number;
  /** How many more files can be created. */
  readonly files: number;
  /** The most files that there can be; 0 where their number has no bound. */
  readonly mostFiles: number;
}

const open = promisify(fs.open);
const stat = promisify(fs.stat);
const statfs = promisify(fs.statfs);

/** The file system of this machine. The callbacks of `node:fs` cost two thirds of what its promises cost. */
export const diskFiles: DiskFiles = {
  open: (path, flags) => open(path, flags),
  read: (fd, into, length, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, into, 0, length, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    }),
  write: (fd, bytes, position) =>
    new Promise((resolve, reject) => {
      fs.write(fd, bytes, 0, bytes.byteLength, position, (error, written) =>
        error ? reject(error) : resolve(written),
      );
    }),
  rename: promisify(fs.rename),
  unlink: promisify(fs.unlink),
  sizeOf: async (path) => (await stat(path)).size,
  changedAt: async (path) => (await stat(path)).mtimeMs,
  list: promisify(fs.readdir),
  freeRoom: async (folder) => {
    const { bavail, bsize, ffree, files } = await statfs(folder);
    return { bytes: bavail * bsize, files: ffree, mostFiles: files };
  },
  openNow: (path, flags) => fs.openSync(path, flags),
  readNow: (fd, into, length, position) => fs.readSync(fd, into, 0, length, position),
  closeNow: (fd) => fs.closeSync(fd),
  sizeNow: (path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? null,
};

/** Writes all bytes: the system may write only a part of them at a time. */
export async function writeAll(files: DiskFiles, fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) at += await files.write(fd, bytes.subarray(at), position + at);
}

/** Reads as many bytes as there are, up to `length`. Returns their number. */
export async function readAll(
  files: DiskFiles,
  fd: number,
  into: Uint8Array,
  length: number,
  position: number,
): Promise<number> {
  let read = 0;
  while (read < length) {
    const more = await files.read(fd, into.subarray(read), length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return read;
}
