import { existsSync, readlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

/** As many links as Linux follows for one path. */
const MAX_LINKS = 40;

/**
 * The file or folder that a path leads to if `root` is `/`, as it is for the links of a copied machine: absolute ones begin
 * at `root`, also those of folders on the way. A path outside of `root` is one of this machine. `null` if nothing is there.
 */
export function existingPath(path: string, root: string | null): string | null {
  const top = resolve(root ?? "/");
  const below = relative(top, resolve(path));
  let rest = namesIn(below);
  // To another drive of Windows there is no relative path.
  if (top === parse(top).root || isAbsolute(below) || rest[0] === "..") return existsSync(path) ? path : null;
  let at = top;
  for (let links = 0; rest.length > 0; ) {
    const [name = "", ...others] = rest;
    const next = name === ".." && at === top ? top : join(at, name);
    const target = targetOf(next);
    if (target !== null && links++ === MAX_LINKS) return null;
    if (target === null) at = next;
    else if (isAbsolute(target)) at = top;
    rest = target === null ? others : [...namesIn(target), ...others];
  }
  return existsSync(at) ? at : null;
}

/** The names in a path, behind the root that it may have. */
export function namesIn(path: string): string[] {
  return path.slice(parse(path).root.length).replaceAll("/", sep).split(sep);
}

/** What the link at the end of a path names, if `root` is `/`; `null` for no link. */
export function linkTarget(path: string, root: string | null): string | null {
  const folder = existingPath(dirname(path), root);
  return folder === null ? null : targetOf(join(folder, basename(path)));
}

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
