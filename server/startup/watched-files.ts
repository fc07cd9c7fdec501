import { readdirSync, statSync, unwatchFile, watch, watchFile } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The delay between a change and its report: an editor writes a file in several steps. */
const SETTLED_MS = 100;

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
 * containers. So the files are looked at as well, every two seconds by default. Each change is told once, whoever has
 * seen it.
 */
export function watchFiles(paths: WatchedPaths, onChange: () => void, lookEveryMs = 2_000): Watching {
  const { files, folder, isOfFolder } = paths;
  let told = stateOf(paths);
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const state = stateOf(paths);
    if (state === told) return;
    told = state;
    onChange();
  };
  const lookSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(tell, SETTLED_MS).unref();
  };
  const looked = folder === null ? files : [...files, folder];
  for (const path of looked) watchFile(path, { interval: lookEveryMs, persistent: false }, lookSoon);
  // Folders, because an editor that replaces the file ends a watcher of the file itself.
  const folders = Map.groupBy(files, dirname);
  if (folder !== null && !folders.has(folder)) folders.set(folder, []);
  const watchers = [...folders].flatMap(([each, inIt]) => {
    const names = new Set(inIt.map((file) => basename(file)));
    try {
      const watcher = watch(each, (_event, name) => {
        if (name !== null && (names.has(name) || (each === folder && isOfFolder(name)))) lookSoon();
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
      for (const path of looked) unwatchFile(path, lookSoon);
    },
  };
}

/** Differs if a file was added, removed, written or replaced. Others in the folder, such as an editor's, have no part in it. */
function stateOf({ files, folder, isOfFolder }: WatchedPaths): string {
  const inFolder = folder === null ? [] : namesIn(folder).filter(isOfFolder).sort();
  return [...files, ...inFolder.map((name) => join(folder!, name))].map(stateOfFile).join("\n");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function stateOfFile(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${path} ${mtimeMs} ${ino} ${size}`;
  } catch {
    return path;
  }
}
