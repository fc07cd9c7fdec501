/** The disk gives out blocks of this size. */
export const DISK_BLOCK_BYTES = 4096;

/** So many more files can always be created, as a share of the most that there can be, and at most. */
const FREE_FILES_SHARE = 1 / 16;
const MOST_FREE_FILES = 1 << 16;

/** How many more files can always be created where there can be so many; 0 stands for no bound. */
export function keptFilesOf(mostFiles: number): number {
  return Math.min(Math.floor(mostFiles * FREE_FILES_SHARE), MOST_FREE_FILES);
}

/** The room that a file takes. */
export function roomOf(bytes: number): number {
  return Math.ceil(bytes / DISK_BLOCK_BYTES) * DISK_BLOCK_BYTES;
}
