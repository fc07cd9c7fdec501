import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OwnerError } from "../../package/owner-error.ts";
import { nearestExisting } from "../make-folders.ts";
import { ServerError } from "./server-error.ts";

/** The disk takes no writes now, which need not be a mistake of the owner. */
export class ReadOnlyError extends OwnerError {
  override readonly name = "ReadOnlyError";
}

/** Throws a `ServerError` if the access log could not be written there, and a `ReadOnlyError` on such a disk. Writes nothing. */
export function expectWritableLog(file: string): void {
  if (file === "/dev/stdout") return; // it is open already
  const path = resolve(file);
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new ServerError(`the access log ${file} cannot be written: there is no folder ${folder}.`);
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw new ServerError(`the access log ${file} cannot be written, because it is a folder.`);
  }
  expectWritable(existsSync(path) ? path : folder, `the access log ${file} cannot be written`);
}

/** Throws a `ServerError` if the cache could not be kept there, and a `ReadOnlyError` on such a disk. Writes nothing. */
export function expectWritableFolder(folder: string): void {
  const place = nearestExisting(resolve(folder));
  if (!statSync(place).isDirectory()) throw new ServerError(`the cache cannot be in ${folder}: ${place} is a file.`);
  expectWritable(place, `the cache cannot be in ${folder}`);
  if (KERNEL_FILE_SYSTEMS.has(statfsSync(place).type)) {
    throw new ServerError(`the cache cannot be in ${folder}: ${place} shows the kernel's state and holds no files.`);
  }
}

/** proc and sysfs, by their numbers in statfs(2). Root may write there, but nobody can make a folder. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

/** `what`: what cannot be if it is not. */
function expectWritable(place: string, what: string): void {
  try {
    accessSync(place, constants.W_OK);
  } catch (cause) {
    const isReadOnly = (cause as NodeJS.ErrnoException).code === "EROFS";
    if (isReadOnly) throw new ReadOnlyError(`${what}: the disk of ${place} is read-only.`);
    throw new ServerError(`${what}: this user may not write to ${place}.`);
  }
}
