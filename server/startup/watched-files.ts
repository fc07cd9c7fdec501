import { statSync, unwatchFile, watch, watchFile } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { namesIn } from "../names-in.ts";

/** The delay between a change and its report: an editor writes a file in several steps. */
const SETTLED_MS = 100;

/**
 * How files were: a text for each path, which differs once the file is written, replaced, added or removed, or belongs to or
 * may be read by others.
 */
export type FileStates = ReadonlyMap<string, string>;

const GONE = "gone";

export interface WatchedPaths {
  /** Absolute paths. A file need not exist. */
  readonly files: readonly string[];
  /** A folder of which more files count than those; `null` for none. */
  readonly folder: string | null;
  /** Whether a file of that name in the folder counts. */
  readonly isOfFolder: (name: string) => boolean;
  /** How files were just before they were read. Default: as they are, or as they were when last told of. */
  readonly read?: FileStates;
}

export interface Watching {
  /** Watches these from now on. What has changed since it was read, or since the last change that was told, is told. */
  change(paths: WatchedPaths): void;
  stop(): void;
}

/**
 * Calls `onChange` shortly after any of the files has changed. The system tells of that at once, but only in the folders
 * as they were: not if a link leads elsewhere from now on, if a folder is replaced, or in some mounts of networks and
 * containers. So the files are looked at as well, every two seconds by default. Each change is told once, whoever has
 * seen it. `before`: how all was before anything was read. What has changed since then is told, too.
 */
export function watchFiles(
  first: WatchedPaths,
  before: WatchedStates,
  onChange: () => void,
  lookEveryMs = 2_000,
): Watching {
  let paths = first;
  let told = withRead(paths, before);
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const states = statesOf(paths);
    if (isDeepStrictEqual(states, told)) return;
    told = states;
    onChange();
  };
  const lookSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(tell, SETTLED_MS).unref();
  };
  const begin = () => {
    const stop = look(paths, lookSoon, lookEveryMs);
    lookSoon(); // what has changed before the watchers began
    return stop;
  };
  let stop = begin();
  return {
    change: (next) => {
      stop();
      told = withRead(next, told);
      paths = next;
      stop = begin();
    },
    stop: () => {
      clearTimeout(timer);
      stop();
    },
  };
}

/** Has `lookSoon` called when one of them may have changed. Returns what ends that. */
function look({ files, folder, isOfFolder }: WatchedPaths, lookSoon: () => void, lookEveryMs: number): () => void {
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
  return () => {
    for (const watcher of watchers) watcher.close();
    for (const path of looked) unwatchFile(path, lookSoon);
  };
}

/** All that is compared: a file may be watched by its path and in the folder, where it counts only while it is there. */
export interface WatchedStates {
  readonly files: FileStates;
  readonly inFolder: FileStates;
}

/**
 * What need not be told: files as they were read, else as they were told, else as they are. A file that is gone cannot be
 * read again, so it is told when it is back, unless the folder says which files there are.
 */
function withRead({ files, folder, isOfFolder, read = new Map() }: WatchedPaths, told: WatchedStates): WatchedStates {
  const states = files.map((path) => {
    const now = stateOfFile(path);
    return [path, now === GONE ? now : (read.get(path) ?? told.files.get(path) ?? now)] as const;
  });
  const readInFolder = [...read].filter(([path]) => dirname(path) === folder && isOfFolder(basename(path)));
  return { files: new Map(states), inFolder: new Map([...told.inFolder, ...readInFolder]) };
}

/** How they are now. Others in the folder, such as an editor's, have no part in it. */
export function statesOf({ files, folder, isOfFolder }: WatchedPaths): WatchedStates {
  const inFolder = folder === null ? [] : namesIn(folder).filter(isOfFolder);
  const statesAt = (paths: readonly string[]) => new Map(paths.map((path) => [path, stateOfFile(path)]));
  return { files: statesAt(files), inFolder: statesAt(inFolder.map((name) => join(folder!, name))) };
}

/** As `FileStates` have it. */
export function stateOfFile(path: string): string {
  try {
    const { mtimeMs, ino, size, mode, uid, gid } = statSync(path);
    return `${mtimeMs} ${ino} ${size} ${mode} ${uid} ${gid}`;
  } catch {
    return GONE;
  }
}
