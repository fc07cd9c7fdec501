import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

const FILE_MODE = 0o600;

/**
 * Puts a file there whole, for this user alone, so that a reader sees it or the one before. `isDurable`: not even a loss of
 * power leaves an empty one. Throws what the disk throws.
 */
export function putFile(path: string, text: string, { isDurable }: { readonly isDurable: boolean }): void {
  const draft = draftOf(path);
  rmSync(draft, { force: true }); // a draft that another process left could have another mode
  const file = openSync(draft, "wx", FILE_MODE);
  try {
    try {
      writeFileSync(file, text);
      if (isDurable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true }); // a full disk needs its room
    throw cause;
  }
}

/** The name of a file until it is whole. */
export function draftOf(path: string): string {
  return `${path}.draft`;
}
