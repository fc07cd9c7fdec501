import { statfsSync } from "node:fs";
import { failureCode } from "./failure-code.ts";
import { nearestExisting } from "./make-folders.ts";

/** The calls that need no room in a file, but one more file. */
const CREATE: ReadonlySet<unknown> = new Set(["open", "mkdir"]);

/**
 * What the file system of a path lacks, for the owner, when it has refused a write for want of room. `cause`: what that write
 * threw.
 */
export function fullInWords(path: string, cause: unknown): string {
  if (failureCode(cause) === "EDQUOT") return "the disk quota is used up";
  try {
    const { bavail, files, ffree } = statfsSync(nearestExisting(path));
    // If no file could be created, others may have deleted a few since.
    const needed = CREATE.has((cause as { syscall?: unknown } | null)?.syscall) ? bavail : Math.min(bavail, 1);
    if (files > 0 && ffree < needed) return "the file system has no inodes left";
  } catch {
    // It fails in other ways, too.
  }
  return "the disk is full";
}
