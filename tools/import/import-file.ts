import { constants } from "node:fs";
import { copyFile, link, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { compileSite, SiteError } from "#tidemark/internal";
import { ImportError, type ImportedSite, siteOf } from "./imported-site.ts";
import { type NginxFile, readMainFile } from "./nginx/files/directives.ts";
import { parseStatements } from "./nginx/files/statements.ts";
import { type ImportOptions, importNginx } from "./nginx/import-nginx.ts";

/** What files of other servers have. nginx may have it within a text. */
const OTHERS = Object.entries({
  Caddy: /(?:^|\{)[ \t]*(?:reverse_proxy|php_fastcgi|file_server)\s/m,
  HAProxy: /^(?:frontend|backend|listen)[ \t]+[\w.:-]+[ \t]*(?:#.*)?$/m,
  Apache: /^[ \t]*(?:<(?:VirtualHost|IfModule|Location|Directory)(?:Match)?|ProxyPass(?:Match|Reverse)?)\s/m,
});

/** Reads a file of nginx as a site; `-` is standard input. Throws `ImportError`, also for files of other servers. */
export async function importFile(file: string, options: ImportOptions): Promise<ImportedSite> {
  const main = file === "-" ? await standardInput() : readMainFile(file, options.root);
  if (file.endsWith(".vcl")) throw ofVarnish(file);
  let imported: ImportedSite;
  try {
    imported = importNginx(main.path, options, main);
  } catch (error) {
    throw (error instanceof ImportError ? ofOtherServer(file, main.text) : null) ?? error;
  }
  expectLoadable(imported);
  return imported;
}

/** The error for a file that is not nginx's but another server's; `null` for any other file. */
function ofOtherServer(file: string, text: string): ImportError | null {
  if (isOfNginx(text)) return null;
  if (/^[ \t]*(?:vcl\s+4\.\d\s*;|sub\s+vcl_|backend\s+[\w-]+\s*\{)/m.test(text)) return ofVarnish(file);
  const other = OTHERS.find(([, sign]) => sign.test(text));
  if (other === undefined) return null;
  return new ImportError(
    `${file} is for ${other[0]}, and the import reads only files of nginx; tidemark report suggests rules from access logs`,
  );
}

/** Whether a text has nginx's syntax, which VCL has in part, and no blocks of VCL. */
function isOfNginx(text: string): boolean {
  try {
    return !parseStatements(text, "").some(({ name }) => /^(?:vcl|sub|backend)$/.test(name));
  } catch (error) {
    if (error instanceof ImportError) return false;
    throw error;
  }
}

function ofVarnish(file: string): ImportError {
  return new ImportError(
    `${file} is VCL, which is a program and not a list of rules: write its routes with the table in docs/tools.md, "From VCL to a route"`,
  );
}

async function standardInput(): Promise<NginxFile> {
  return { path: "standard input", text: await textOf(process.stdin) };
}

/** Throws an `ImportError` if the config would not load. It names the lines from which the wrong setting came. */
function expectLoadable(imported: ImportedSite): void {
  // Node has URLPattern since version 24. On an older one only the worker that loads the config checks its patterns.
  globalThis.URLPattern ??= class {} as typeof URLPattern;
  try {
    compileSite(siteOf(imported), {});
  } catch (error) {
    if (!(error instanceof SiteError)) throw error;
    const { path, message } = error.errors[0]!;
    const [name = "", index] = path.split(/[.[\]]/);
    const setting =
      name === "routes"
        ? imported.routes[Number(index)]
        : imported.settings.find(({ value }) => Object.hasOwn(value, name));
    const places = new Set(setting?.from.map(({ place }) => place) ?? imported.files.slice(0, 1));
    throw new ImportError(`${[...places].join(", ")}: no valid setting follows from this: ${path}: ${message}`, {
      cause: error,
    });
  }
}

/** Writes a file whole or not at all. Replaces an existing one only with `force`. Throws `ImportError`. */
export async function writeWhole(file: string, text: string, force: boolean): Promise<void> {
  const folder = await mkdtemp(join(dirname(file), `.${basename(file)}-`)).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? `there is no folder ${dirname(file)}` : error.message;
    throw new ImportError(`${file} cannot be written: ${why}`, { cause: error });
  });
  const temporary = join(folder, basename(file));
  try {
    await writeFile(temporary, text);
    if (force) await rename(temporary, file);
    else await linkNew(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new ImportError(`${file} exists already; --force replaces it, --out names another file`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fails if the file exists, even if it was created a moment ago. */
async function linkNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    // Not every file system has links.
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}
