import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { isMap, isScalar, parseDocument, YAMLMap } from "yaml";
import type { FoundManager } from "../../package/package-manager.ts";
import { isDecided, manifestText, WITH_INSTALL_SCRIPTS, withDeniedScripts } from "./manifest.ts";
import { parseManifest, read, type WrittenFile, write } from "./written-files.ts";

/**
 * The file in which a package manager looks for the project's decisions on install scripts, as a path from the project's
 * folder: that of its workspace, if it is in one. `null`: the manager has no such file.
 */
export async function scriptsFileOf(folder: string, { scriptsIn, root }: FoundManager): Promise<string | null> {
  if (scriptsIn === null) return null;
  const above = join(root, scriptsIn);
  return (await isOfWorkspace(above)) ? relative(resolve(folder), above) : scriptsIn;
}

async function isOfWorkspace(file: string): Promise<boolean> {
  if (file.endsWith(".yaml")) return existsSync(file);
  const text = await read(file);
  return text !== null && parseManifest(text).workspaces !== undefined;
}

/** Denies the scripts on which such a file does not decide, and repeats earlier decisions where they count today. */
export async function denyScriptsIn(folder: string, file: string): Promise<WrittenFile> {
  const path = join(folder, file);
  const before = await read(path);
  const denied = file.endsWith(".yaml") ? withDeniedBuilds(before ?? "") : withDeniedScriptsText(before!);
  if (denied === null) {
    return { file, outcome: "kept", note: `it is no YAML with keys and values. It needs:\n\n${BUILDS_YAML}` };
  }
  if (denied.added.length === 0) return { file, outcome: "kept" };
  await write(path, denied.text);
  return before === null
    ? { file, outcome: "written" }
    : { file, outcome: "completed", note: `added ${denied.added.join(", ")}` };
}

interface Denied {
  readonly text: string;
  /** The keys that were added. */
  readonly added: readonly string[];
}

function withDeniedScriptsText(text: string): Denied {
  const { manifest, added } = withDeniedScripts(parseManifest(text));
  return { text: manifestText(manifest, text), added };
}

const BUILDS = "allowBuilds";
const BUILDS_YAML = `${BUILDS}:\n${WITH_INSTALL_SCRIPTS.map((name) => `  ${name}: false\n`).join("")}`;

/** Where pnpm 10 keeps decisions, and whether they allow scripts. Later ones read only `allowBuilds`, and pnpm 10 both. */
const LISTS_OF_PNPM_10 = { onlyBuiltDependencies: true, ignoredBuiltDependencies: false };
/** Beside this list, pnpm 10 takes no `allowBuilds`. */
const ALONE = "neverBuiltDependencies";

/** pnpm itself may have left words in place of a decision. `null`: the text is no YAML with keys and values. */
function withDeniedBuilds(before: string): Denied | null {
  if (before.trim() === "") return { text: BUILDS_YAML, added: WITH_INSTALL_SCRIPTS };
  const settings = parseDocument(before);
  const { contents, errors } = settings;
  if (errors.length > 0 || (contents !== null && !isMap(contents))) return null;
  const values = (settings.toJS() ?? {}) as Record<string, unknown>;
  if (values[ALONE] != null) return { text: before, added: [] };
  const decided = Object.entries(values[BUILDS] ?? {}).flatMap(([key, value]) =>
    typeof value === "boolean" ? key : [],
  );
  const earlier = Object.entries(LISTS_OF_PNPM_10).flatMap(([list, isAllowed]) =>
    [values[list] ?? []].flat().map((key) => [String(key), isAllowed] as const),
  );
  const missing = WITH_INSTALL_SCRIPTS.filter((name) => !isDecided(name, decided)).flatMap((name) => {
    const repeated = earlier.filter(([key]) => isDecided(name, [key]));
    return repeated.length > 0 ? repeated : [[name, false] as const];
  });
  const builds = settings.get(BUILDS, true);
  if (!isMap(builds)) {
    const map = new YAMLMap();
    if (isScalar(builds)) map.commentBefore = builds.comment ?? null;
    settings.set(BUILDS, map);
  }
  for (const [key, isAllowed] of missing) settings.setIn([BUILDS, key], isAllowed);
  return { text: settings.toString({ lineWidth: 0 }), added: missing.map(([key]) => `${BUILDS}.${key}`) };
}
