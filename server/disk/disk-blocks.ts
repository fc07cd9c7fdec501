/** The disk gives out blocks of this size. */
export const DISK_BLOCK_BYTES = 4096;

/** The room that a file takes. */
export function roomOf(bytes: number): number {
  return Math.ceil(bytes / DISK_BLOCK_BYTES) * DISK_BLOCK_BYTES;
}
