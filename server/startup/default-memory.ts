import { totalmem } from "node:os";

/** The rest is for the operating system, which has files of pages in its memory, for origins, and for two servers in an upgrade. */
const SHARE = 1 / 4;
const MEBIBYTE = 1024 ** 2;

/**
 * The memory for pages where the owner names none, in bytes: a quarter of the machine's, or of what the container may use.
 * `limitBytes`: 0 where nothing limits it.
 */
export function defaultMemoryBytes(totalBytes = totalmem(), limitBytes = process.constrainedMemory()): number {
  const usable = limitBytes > 0 ? Math.min(totalBytes, limitBytes) : totalBytes;
  return Math.floor((usable * SHARE) / MEBIBYTE) * MEBIBYTE;
}
