import { isPaused } from "../../pause.ts";
import { DISK_BLOCK_BYTES, keptFilesOf } from "../disk-blocks.ts";
import type { DiskFiles, FreeRoom } from "../disk-files.ts";

/** What stays free in the file system of the cache for other users. */
export type Kept = Pick<FreeRoom, "bytes" | "files">;

/** What the file system has too little of. Negative if it has enough. */
export interface Lacking {
  readonly bytes: number;
  readonly files: number;
  /** What it has. `null` if it does not tell. */
  readonly free: FreeRoom | null;
}

/** The room that a process was granted, and what drafts take of it already. */
export interface Line {
  reservedBytes: number;
  draftBytes: number;
}

/** Others may use up the file system while nobody asks for room: it looks after this time. Milliseconds. */
export const LOOK_EVERY_MS = 5_000;

/**
 * The bytes that the file system lacks for everything granted, less what drafts take of that already, and the files
 * that it lacks.
 */
export async function lackingIn(path: string, disk: DiskFiles, kept: Kept, lines: Set<Line>): Promise<Lacking> {
  const free = await disk.freeRoom(path).catch(() => null);
  if (free === null) return { bytes: 0, files: 0, free }; // writes will tell
  // A file system such as XFS has room for fewer files the fuller it is, and for many more with each that is deleted.
  const files = Math.min(kept.files, keptFilesOf(free.mostFiles)) - free.files;
  if (kept.bytes === 0) return { bytes: 0, files, free };
  let bytes = kept.bytes - free.bytes;
  for (const { reservedBytes, draftBytes } of lines) bytes += reservedBytes - draftBytes;
  return { bytes, files, free };
}

/**
 * Whether files have left for what is lacking, and the file system does not tell of their room yet: XFS and Btrfs take
 * their time. `before`: what was lacking when they left. `until`: for how long it may take.
 */
export function isComing(before: Lacking, until: number, { bytes, files, free }: Lacking): boolean {
  if (!isPaused(until, Date.now(), LOOK_EVERY_MS) || bytes < before.bytes || files < before.files) return false;
  return free!.bytes <= before.free!.bytes && free!.files <= before.free!.files;
}

/**
 * The most room for small files that a process is granted at a time. If each process has that twice, because it still
 * writes into the last piece, they create no more files than are kept free.
 */
export function mostPieceBytes(kept: Kept, processes: number): number {
  if (kept.files === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(kept.files / 2 / processes) * DISK_BLOCK_BYTES;
}
