import { statfsSync } from "node:fs";
import { nearestExisting } from "./make-folders.ts";

/**
 * What the file system of a path lacks, for the owner, when it has refused a write for want of room. `code`: of that write, if
 * it is known.
 */
export function fullInWords(path: string, code: string | null): string {
  if (code === "EDQUOT") return "the disk quota is used up";
  try {
    const { bavail, files, ffree } = statfsSync(nearestExisting(path));
    if (files > 0 && ffree === 0 && bavail > 0) return "the file system has no inodes left";
  } catch {
    // It fails in other ways, too.
  }
  return "the disk is full";
}
