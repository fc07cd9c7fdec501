import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

const MODE = 0o700;

/**
 * Makes a folder and the missing ones above it, for this user alone. Node's own `recursive` never returns where the
 * kernel denies that a folder exists although the one above it does, as below `/proc`; this throws the kernel's error.
 */
export function makeFolders(path: string): void {
  const above = dirname(path);
  try {
    mkdirSync(path, MODE);
    return;
  } catch (cause) {
    if (isFolder(path)) return;
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || isFolder(above)) throw cause;
  }
  makeFolders(above);
  makeFolders(path);
}

/** The path itself, or else the nearest folder above it that is there. */
export function nearestExisting(path: string): string {
  let place = path;
  while (!existsSync(place)) place = dirname(place);
  return place;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
