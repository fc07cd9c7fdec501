import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ServerError } from "./server-error.ts";

/** Throws a `ServerError` if the access log could not be written there. Writes nothing. */
export function expectWritableLog(file: string): void {
  if (file === "/dev/stdout") return; // it is open already
  const path = resolve(file);
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new ServerError(`the access log ${file} cannot be written: there is no folder ${folder}.`);
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw new ServerError(`the access log ${file} cannot be written, because it is a folder.`);
  }
  const place = existsSync(path) ? path : folder;
  if (!isWritable(place))
    throw new ServerError(`the access log ${file} cannot be written: this user may not write to ${place}.`);
}

/** Throws a `ServerError` if the cache could not be kept there. Writes nothing. */
export function expectWritableFolder(folder: string): void {
  let place = resolve(folder);
  while (!existsSync(place)) place = dirname(place);
  if (!statSync(place).isDirectory()) throw new ServerError(`the cache cannot be in ${folder}: ${place} is a file.`);
  if (!isWritable(place))
    throw new ServerError(`the cache cannot be in ${folder}: this user may not write to ${place}.`);
  if (KERNEL_FILE_SYSTEMS.has(statfsSync(place).type)) {
    throw new ServerError(`the cache cannot be in ${folder}: ${place} shows the kernel's state and holds no files.`);
  }
}

/** proc and sysfs, by their numbers in statfs(2). Root may write there, but nobody can make a folder. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // the reason does not matter: a permission, or a disk that is read-only
  }
}
