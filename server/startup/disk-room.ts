import { statfsSync, statSync } from "node:fs";
import { keptFilesOf } from "../disk/disk-blocks.ts";
import { nearestExisting } from "../make-folders.ts";
import { sizeText } from "./size.ts";

/** How much a log may grow: a ledger of up to 80 MB, 4 MB beside the file, and 200,000 purges. */
const LOG_BYTES = 128 * 1024 ** 2;
/** At most this share of a file system is kept free. */
const MOST_SHARE = 1 / 8;

/**
 * How much of the file system of `pages` is kept free of pages, so that they do not starve a purge log there: nothing if none
 * of `logs` is in that file system.
 */
export function keptForLogs(pages: string, logs: readonly string[]): number {
  const place = nearestExisting(pages);
  const { dev } = statSync(place);
  if (!logs.some((log) => statSync(nearestExisting(log)).dev === dev)) return 0;
  const { blocks, bsize } = statfsSync(place);
  return Math.min(LOG_BYTES, Math.floor(blocks * bsize * MOST_SHARE));
}

/** How many more files can always be created in the file system of `pages`; 0 where their number has no bound. */
export function keptFiles(pages: string): number {
  const { files } = statfsSync(nearestExisting(pages));
  return keptFilesOf(files);
}

/** The size of the file system of `pages`. */
export function fileSystemBytes(pages: string): number {
  const { blocks, bsize } = statfsSync(nearestExisting(pages));
  return blocks * bsize;
}

/**
 * What the owner should know if the file system has less room than `--disk`; `null` if it has enough. Before there are any
 * pages, that is what is free; later it is all of it, because nobody has counted the pages yet.
 */
export function whyLittleRoom(pages: string, maxBytes: number, keptBytes: number): string | null {
  const place = nearestExisting(pages);
  const { blocks, bavail, bsize } = statfsSync(place);
  const isNew = place !== pages;
  const has = (isNew ? bavail : blocks) * bsize;
  if (maxBytes + keptBytes <= has) return null;
  const kept = keptBytes === 0 ? "" : `, of which ${sizeText(keptBytes)} stay free for the purge log`;
  return (
    `--disk is ${sizeText(maxBytes)}, but the file system of ${place} has only ${sizeText(has)}${isNew ? " free" : ""}${kept}. ` +
    "Pages use what is there. Set a smaller --disk, or get a larger disk."
  );
}
