import { readdirSync, type Stats, statSync, unwatchFile, watch, watchFile } from "node:fs";
import { basename, dirname, join } from "node:path";

/** How long after a change it is told: an editor writes a file in several steps. */
const SETTLED_MS = 100;

/** How often files are looked at, beside what the system tells. */
const LOOK_EVERY_MS = 2_000;

export interface WatchedPaths {
  /** Absolute paths. A file need not exist. */
  readonly files: readonly string[];
  /** A folder of which more files count than those; `null` for none. */
  readonly folder: string | null;
  /** Whether a file of that name in the folder counts. */
  readonly isOfFolder: (name: string) => boolean;
}

export interface Watching {
  stop(): void;
}

/**
 * Calls `onChange` shortly after any of the files has changed. The system tells of that at once, but only in the folders
 * as they were: not if a link leads elsewhere from now on, if a folder is replaced, or in some mounts of networks and
 * containers. So the files are looked at as well, every two seconds.
 */
export function watchFiles({ files, folder, isOfFolder }: WatchedPaths, onChange: () => void): Watching {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLED_MS).unref();
  };
  const seen = (now: Stats, before: Stats) => {
    if (identityOf(now) !== identityOf(before)) changed();
  };
  // Others than the files that count come and go in a folder, such as an editor's.
  let listed = folder === null ? "" : listingOf(folder, isOfFolder);
  const seenFolder = () => {
    const before = listed;
    listed = listingOf(folder!, isOfFolder);
    if (listed !== before) changed();
  };
  const look = { interval: LOOK_EVERY_MS, persistent: false };
  for (const file of files) watchFile(file, look, seen);
  if (folder !== null) watchFile(folder, look, seenFolder);
  // Folders, because an editor that replaces the file ends a watcher of the file itself.
  const folders = Map.groupBy(files, dirname);
  if (folder !== null && !folders.has(folder)) folders.set(folder, []);
  const watchers = [...folders].flatMap(([each, inIt]) => {
    const names = new Set(inIt.map((file) => basename(file)));
    try {
      const watcher = watch(each, (_event, name) => {
        if (name !== null && (names.has(name) || (each === folder && isOfFolder(name)))) changed();
      });
      return [watcher.on("error", () => undefined)]; // the looks go on
    } catch {
      return []; // it is gone, or the system watches no more: the looks find its return
    }
  });
  return {
    // A change that was seen already is told all the same: it may have come after the files were read.
    stop: () => {
      for (const watcher of watchers) watcher.close();
      for (const file of files) unwatchFile(file, seen);
      if (folder !== null) unwatchFile(folder, seenFolder);
    },
  };
}

/** Differs for a file that was written or replaced. */
function identityOf({ mtimeMs, ino, size }: Stats): string {
  return `${mtimeMs} ${ino} ${size}`;
}

/** Differs if one of the files in a folder that count was added, removed or replaced, or if the folder is gone. */
function listingOf(folder: string, isOfFolder: (name: string) => boolean): string {
  try {
    const names = readdirSync(folder).filter(isOfFolder).sort();
    const stats = names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
    return names.map((name, at) => `${name} ${stats[at] && identityOf(stats[at])}`).join("\n");
  } catch {
    return "";
  }
}
