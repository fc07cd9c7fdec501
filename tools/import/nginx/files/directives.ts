import { readdirSync, readFileSync, statSync } from "node:fs";
import path, {
  basename,
  dirname,
  isAbsolute,
  join,
  matchesGlob,
  type PlatformPath,
  parse,
  posix,
  resolve,
} from "node:path";
import { speaksOfCredentials } from "#tidemark/internal";
import { ImportError, type Source } from "../../imported-site.ts";
import { existingPath, linkTarget, namesIn } from "./existing-path.ts";
import { parseStatements, type Statement } from "./statements.ts";

/** A directive of nginx, with the included directives in its block. */
export interface Directive {
  readonly name: string;
  /** The parameters, without their quotes. */
  readonly args: readonly string[];
  /** `null` if it has no block. */
  readonly block: readonly Directive[] | null;
  readonly source: Source;
}

/** A file that has been read. */
export interface NginxFile {
  readonly path: string;
  readonly text: string;
}

export interface NginxFiles {
  readonly directives: readonly Directive[];
  /** The files in the order in which they were read. */
  readonly files: readonly string[];
}

/** The deepest nesting of includes, because a file that includes itself would never end. */
const MAX_DEPTH = 16;

/**
 * Reads a configuration with all files that it includes. As in nginx, relative paths are relative to the folder of the
 * main file, a pattern may match nothing in a folder that exists, and a name without a pattern must exist.
 */
export function readNginxFiles(mainFile: NginxFile, root: string | null): NginxFiles {
  const disk = readDump(mainFile.text) ?? diskBelow(mainFile, root);
  const { main, paths } = disk;
  const files: string[] = [];
  const shown = (path: string) => {
    const short = paths.relative(paths.dirname(main), path);
    return short.startsWith("..") ? path : short;
  };
  const read = (path: string, depth: number, includedAt: string | null): readonly Directive[] => {
    if (depth > MAX_DEPTH)
      throw new ImportError(`${includedAt}: files include each other more than ${MAX_DEPTH} levels deep`);
    const text = disk.read(path, includedAt);
    const name = shown(path);
    if (!files.includes(name)) files.push(name);
    const expand = (statements: readonly Statement[]): Directive[] =>
      statements.flatMap((statement) => {
        const source: Source = { place: `${name}:${statement.line}`, text: textOf(statement) };
        if (statement.name === "include" && statement.block === null) {
          const [pattern] = statement.args;
          if (statement.args.length !== 1 || pattern === undefined) {
            throw new ImportError(`${source.place}: include takes one file, but has ${JSON.stringify(source.text)}`);
          }
          const found = disk.included(pattern, source.place);
          if (found !== null) return found.flatMap((file) => read(file, depth + 1, source.place));
        }
        const block = statement.block === null ? null : expand(statement.block);
        return [{ name: statement.name, args: statement.args, block, source }];
      });
    return expand(parseStatements(text, name));
  };
  return { directives: read(main, 0, null), files };
}

/** Where the files of a configuration are. */
interface Disk {
  /** The main file, which in the output of `nginx -T` is another than the imported one. */
  readonly main: string;
  /** The form of its paths. */
  readonly paths: PlatformPath;
  read(path: string, includedAt: string | null): string;
  /** The files that an include names; `null` if they are missing, and the import can do without. */
  included(pattern: string, place: string): readonly string[] | null;
}

function diskBelow({ path: main, text }: NginxFile, root: string | null): Disk {
  return {
    main,
    paths: path,
    // Standard input can be read only once.
    read: (path, includedAt) => (path === main ? text : readText(path, root, includedAt)),
    included: (pattern, place) => includedFiles(pattern, dirname(main), root, place),
  };
}

/** The file that is imported. Throws an `ImportError`. */
export function readMainFile(path: string, root: string | null): NginxFile {
  return { path, text: readText(path, root, null) };
}

/** The line above each file in the output of `nginx -T`. */
const HEADING = /^# configuration file (\/.*):$/m;

/** The files in the output of `nginx -T`, the main one first; `null` for another text. */
function readDump(text: string): Disk | null {
  const [before = "", ...parts] = text.replaceAll("\r\n", "\n").split(HEADING);
  if (parts.length === 0 || /^(?!nginx: ).*\S/m.test(before)) return null;
  const texts = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) texts.set(parts[at]!, parts[at + 1]!.replace(/^\n/, ""));
  const main = parts[0]!;
  return {
    main,
    paths: posix,
    read: (path) => texts.get(path)!,
    included: (pattern, place) => {
      const path = posix.isAbsolute(pattern) ? pattern : posix.join(posix.dirname(main), pattern);
      if (texts.has(path)) return [path];
      if (!/[*?[]/.test(path)) throw new ImportError(`${place}: ${path} is not in this output of nginx -T`);
      return [...texts.keys()].filter((each) => posix.matchesGlob(each, path)).sort();
    },
  };
}

function readText(path: string, root: string | null, includedAt: string | null): string {
  const before = includedAt === null ? "" : `${includedAt}: `;
  const real = existingPath(path, root);
  if (real === null) throw new ImportError(`${before}there is no file ${path}`);
  if (statSync(real).isDirectory()) throw new ImportError(`${before}${path} is a folder; name a file, like nginx.conf`);
  try {
    return readFileSync(real, "utf8");
  } catch (error) {
    throw new ImportError(`${before}${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const ROOT_HINT = "If you copied the files from another machine, name the folder to use as its / with --root";

/** Files from nginx's package, in which an import needs nothing unless the owner has changed them. */
const OF_PACKAGE = new Set(["proxy_params", "fastcgi_params", "uwsgi_params", "scgi_params", "fastcgi.conf"]);

/** The folders beside nginx.conf for files of servers. */
const OF_SERVERS = /^(?:sites-enabled|sites-available|conf\.d)$/;

/** The folders below `root` from which relative names may start, besides that of the main file. */
const PREFIXES = ["etc/nginx", "usr/local/nginx/conf", "usr/local/etc/nginx", ""];

/**
 * The files that an include names; `null` for missing ones from nginx's package, and if a pattern's folder is missing.
 * In nginx, relative names start from the folder of its own nginx.conf, which may not be the imported file.
 */
function includedFiles(pattern: string, folder: string, root: string | null, place: string): readonly string[] | null {
  const around = OF_SERVERS.test(basename(resolve(folder))) ? [join(folder, "..")] : [];
  const below = root === null ? [] : PREFIXES.map((each) => join(root, each));
  const paths = isAbsolute(pattern)
    ? [root === null ? resolve(pattern) : join(root, pattern)]
    : [...around, folder, ...below].map((each) => join(each, pattern));
  const mayBeMissing = basename(pattern) === "mime.types" || /(?:^|\/)modules-enabled\//.test(pattern);
  const found = paths.map((path) => filesOf(path, root, mayBeMissing ? null : place)).find((files) => files.length > 0);
  if (found !== undefined) return found;
  if (mayBeMissing) return [];
  // A folder that is missing here may have files on the machine of nginx.
  if (/[*?[]/.test(pattern)) return paths.some((path) => existingPath(folderOf(path), root) !== null) ? [] : null;
  if (OF_PACKAGE.has(basename(pattern))) return null;
  const here = isAbsolute(pattern) ? "" : "On this machine, import nginx.conf, or say --root /. ";
  throw new ImportError(`${place}: there is no file ${paths[0]!}. ${here}${ROOT_HINT}`);
}

/** The folder in which a pattern begins to choose. */
function folderOf(pattern: string): string {
  return dirname(pattern.replace(/[*?[].*$/, "x"));
}

/**
 * The files that match a pattern, sorted as glob(3) sorts them. Throws an `ImportError` for a link without its file;
 * leaves it out if `place` is `null`.
 */
function filesOf(path: string, root: string | null, place: string | null): readonly string[] {
  const existing = (file: string) => {
    const real = existingPath(file, root);
    const target = real === null && place !== null ? linkTarget(file, root) : null;
    if (target === null) return real;
    throw new ImportError(`${place}: ${file} is a link to ${target}, and there is no such file. ${ROOT_HINT}`);
  };
  if (!/[*?[]/.test(path)) return existing(path) === null ? [] : [path];
  let found = [parse(path).root];
  for (const segment of namesIn(path)) {
    found = found.flatMap((before) => {
      const step = (name: string) => join(before, name);
      if (!/[*?[]/.test(segment)) return existing(step(segment)) === null ? [] : [step(segment)];
      const folder = existingPath(before || ".", root);
      if (folder === null || !statSync(folder).isDirectory()) return [];
      const names = readdirSync(folder).sort();
      // As in a shell, a pattern does not match names that begin with a dot.
      return names
        .filter((name) => !(name.startsWith(".") && !segment.startsWith(".")) && matchesGlob(name, segment))
        .map(step);
    });
  }
  return found.filter((file) => {
    const real = existing(file);
    return real !== null && statSync(real).isFile();
  });
}

/** A line as the list and the config show it. The config may be public, and the files of nginx are not. */
function textOf({ name, args }: Statement): string {
  const quoted = (arg: string) => (arg === "" || /[\s;{}"']/.test(arg) ? JSON.stringify(arg) : arg);
  const text = [name, ...withoutSecrets(name, args).map(quoted)].join(" ").replace(/ \)$/, ")");
  return name !== "if"
    ? text
    : text.replace(COMPARED, (whole, start, of) => (isSecret(of) ? `${start}${HIDDEN})` : whole));
}

const HIDDEN = "…";

/** A condition on one field, cookie or parameter that has a value of nginx's. */
const COMPARED = /^(if \(\s*\$\{?(?:http|cookie|arg)_(\w+)\}?\s*!?=\s*).+\)$/is;

/** The parameters, without a fixed value of a field that lets somebody in, and without what only nginx and the site know. */
function withoutSecrets(name: string, args: readonly string[]): readonly string[] {
  if (name === "secure_link_md5") return [HIDDEN];
  const [of = "", value = "", ...rest] = args;
  const isFixed = value !== "" && !value.includes("$");
  return /_(?:set_header|param)$/.test(name) && isFixed && isSecret(of) ? [of, HIDDEN, ...rest] : args;
}

function isSecret(name: string): boolean {
  return speaksOfCredentials(name.toLowerCase().replaceAll("_", "-"));
}
