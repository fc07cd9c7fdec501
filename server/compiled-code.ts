import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join, resolve } from "node:path";
import { ownPackage } from "../package/own-package.ts";
import { makeFolders } from "./make-folders.ts";

/*
 * What V8 has compiled of the modules of a server, which its next start takes from files. Node checks each file: it must be of
 * the same source, Node and flags, and whole. Otherwise Node compiles the module and writes the file again.
 */

let folder: string | null = null;

/**
 * From here on, this process and its workers take compiled code from files below `--cache`, and leave it there. Never throws: a
 * server that cannot write there compiles everything. Where the folder of the cache is not there yet, nothing is kept, so that
 * a call with wrong settings leaves nothing behind. The owner's own `NODE_COMPILE_CACHE` comes first.
 */
export function keepCompiledCode(cache: string): void {
  if (process.env.NODE_COMPILE_CACHE !== undefined || !existsSync(cache)) return;
  const all = resolve(cache, "code");
  const { version } = ownPackage;
  const own = join(all, version);
  try {
    makeFolders(own);
    if (!isOursAlone(own)) return;
    for (const other of readdirSync(all)) if (other !== version) rmSync(join(all, other), { recursive: true });
  } catch {
    return; // such as a file system that is read-only
  }
  enableCompileCache(own);
  folder = own;
}

/** Code that another user could have written is not run. */
function isOursAlone(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

/** The variables by which the processes of workers, and threads, use the same files. */
export function variablesOfCompiledCode(): { readonly NODE_COMPILE_CACHE?: string } {
  return folder === null ? {} : { NODE_COMPILE_CACHE: folder };
}
