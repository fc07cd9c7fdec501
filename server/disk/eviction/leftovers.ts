import { join } from "node:path";
import type { CacheFolder } from "../cache-folder.ts";
import type { DiskFiles } from "../disk-files.ts";

/**
 * What was last written before this janitor began, and for this long not, belongs to a process that has died.
 * Milliseconds.
 */
export const DRAFT_LIVES_MS = 60 * 1000;

/**
 * Deletes drafts of processes that have died, and files of other formats. `beganAt`: when this janitor began, epoch
 * milliseconds.
 */
export async function deleteLeftovers(folder: CacheFolder, files: DiskFiles, beganAt: number): Promise<void> {
  const drafts = folder.draftsFolder;
  for (const name of await files.list(drafts)) {
    if (!(await isAbandoned(files, join(drafts, name), name, beganAt))) continue;
    await files.unlink(join(drafts, name)).catch(() => undefined);
  }
  for (const old of folder.oldFolders()) await deleteFilesBelow(old, folder, files);
}

async function isAbandoned(files: DiskFiles, path: string, name: string, beganAt: number): Promise<boolean> {
  const process = /^(\d+)-[0-9a-f]{8}-\d+$/.exec(name);
  if (!process) return false;
  if (!isRunning(Number(process[1]))) return true;
  // Another process may have its number now: a container gives the same ones at each start.
  const changedAt = await files.changedAt(path).catch(() => Number.POSITIVE_INFINITY);
  return changedAt < beganAt && Date.now() - changedAt > DRAFT_LIVES_MS;
}

async function deleteFilesBelow(path: string, folder: CacheFolder, files: DiskFiles): Promise<void> {
  for (const name of await files.list(path).catch(() => [])) {
    const inside = join(path, name);
    if (/^[0-9a-f]{1,2}$/.test(name)) await deleteFilesBelow(inside, folder, files);
    else if (folder.isFileName(name)) await files.unlink(inside).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as { code?: unknown }).code === "EPERM";
  }
}
