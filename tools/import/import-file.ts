import { constants } from "node:fs";
import { copyFile, link, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { compileSite, SiteError } from "#tidemark/internal";
import { ImportError, type ImportedSite, siteOf } from "./imported-site.ts";
import { type NginxFile, readMainFile } from "./nginx/files/directives.ts";
import { type ImportOptions, importNginx } from "./nginx/import-nginx.ts";

/** What only the files of other servers have. */
const OTHERS = Object.entries({
  Caddy: /(?:^|\{)[ \t]*(?:reverse_proxy|php_fastcgi|file_server)\s/m,
  HAProxy: /^(?:frontend|backend|listen)[ \t]+[\w.:-]+[ \t]*(?:#.*)?$/m,
  Apache: /^[ \t]*(?:<(?:VirtualHost|IfModule|Location|Directory)(?:Match)?|ProxyPass(?:Match|Reverse)?)\s/m,
});

/** Reads a file of nginx as a site; `-` is standard input. Throws `ImportError`, also for files of other servers. */
export async function importFile(file: string, options: ImportOptions): Promise<ImportedSite> {
  const main = file === "-" ? await standardInput() : readMainFile(file, options.root);
  const { text } = main;
  if (file.endsWith(".vcl") || /^[ \t]*(?:vcl\s+4\.\d\s*;|sub\s+vcl_|backend\s+[\w-]+\s*\{)/m.test(text)) {
    throw new ImportError(
      `${file} is VCL, which is a program and not a list of rules: write its routes with the table in docs/tools.md, "From VCL to a route"`,
    );
  }
  const other = OTHERS.find(([, sign]) => sign.test(text));
  if (other !== undefined) {
    throw new ImportError(
      `${file} is for ${other[0]}, and the import reads only files of nginx; tidemark report suggests rules from access logs`,
    );
  }
  const imported = importNginx(main.path, options, main);
  expectLoadable(imported);
  return imported;
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
