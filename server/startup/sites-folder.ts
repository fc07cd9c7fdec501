import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { withoutMark } from "../../wire/text/without-mark.ts";
import type { TokenSettings } from "../../worker/control/access/tokens.ts";
import type { SiteVariables } from "../../worker/site/site-overrides.ts";
import { messageOf } from "../message-of.ts";
import { ServerError } from "./server-error.ts";

/** The variables of one site. */
export type OwnVariables = SiteVariables & Pick<TokenSettings, "TIDEMARK_TOKEN" | "TIDEMARK_TOKENS">;

/** The files of one site in a folder with several sites. */
export interface SiteFiles {
  readonly name: string;
  readonly config: string;
  /** Another one of the same name, like `NAME.config.js`; `null` for none. */
  readonly secondConfig: string | null;
  /** `NAME.env`, which need not be there. */
  readonly environment: string;
}

// Files whose names begin with a point are an editor's.
const CONFIG = /^([^.].*)\.config\.[cm]?[jt]s$/;
const VARIABLES = /^([^.].*)\.env$/;
/** It names a folder, and it stands in the log before a space. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

/** Each has a log, an isolate in each worker, and tables. */
const MAX_SITES = 200;

const KNOWN = [
  "TIDEMARK_HOSTS",
  "TIDEMARK_ORIGIN",
  "TIDEMARK_PUBLIC_URL",
  "TIDEMARK_TOKEN",
  "TIDEMARK_TOKENS",
] as const satisfies readonly (keyof OwnVariables)[];

/** Whether a change of this file in the folder changes a site, or adds or removes one. */
export function isOfSite(file: string): boolean {
  return CONFIG.test(file) || VARIABLES.test(file);
}

/** The sites in a folder, in the order of their names, and what is wrong with files of others. */
export interface FoundSites {
  readonly sites: readonly SiteFiles[];
  readonly problems: readonly string[];
}

const WHY_NOT_READ: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "it is a file, not a folder",
  EACCES: "this user may not read it",
};

/** Looks for `NAME.config.ts` in a folder. Throws a `ServerError` if it cannot be read, or holds too many or none. */
export function sitesIn(folder: string): FoundSites {
  let files: string[];
  try {
    files = readdirSync(folder).sort();
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw new ServerError(`the sites cannot be read from ${folder}: ${WHY_NOT_READ[code] ?? messageOf(cause)}.`);
  }
  const sites = new Map<string, SiteFiles>();
  const problems: string[] = [];
  for (const file of files) {
    const name = CONFIG.exec(file)?.[1];
    if (name === undefined) continue;
    const config = join(folder, file);
    const other = sites.get(name);
    if (other) sites.set(name, { ...other, secondConfig: config });
    else if (!NAME.test(name)) {
      problems.push(
        `${config}: a site's name must be lower-case letters and digits, with - . _ only inside; 63 characters at most.`,
      );
    } else sites.set(name, { name, config, secondConfig: null, environment: join(folder, `${name}.env`) });
  }
  for (const file of files) {
    const name = VARIABLES.exec(file)?.[1];
    if (name === undefined || sites.has(name)) continue;
    problems.push(`${join(folder, file)} belongs to no site: there is no ${name}.config.ts.`);
  }
  if (sites.size === 0 && problems.length === 0) {
    throw new ServerError(`there is no site in ${folder}: write a file NAME.config.ts for each, like shop.config.ts.`);
  }
  if (sites.size > MAX_SITES) {
    throw new ServerError(`there are ${sites.size} sites in ${folder}, but one server takes at most ${MAX_SITES}.`);
  }
  return { sites: [...sites.values()], problems };
}

/** A value without quotes that ends at a # inside of it, which Node takes for the beginning of a comment. */
const CUT_VALUE = /^[ \t]*(?:export[ \t]+)?(TIDEMARK_\w+)[ \t]*=(?![ \t]*["'`])[^#\n]*(?<!\s)#/m;

/** The variables of a site, from its file. Throws a `ServerError`. */
export function variablesOf({ environment }: SiteFiles): OwnVariables {
  if (!existsSync(environment)) return {};
  let text: string;
  try {
    text = withoutMark(readFileSync(environment, "utf8"));
  } catch (cause) {
    throw new ServerError(`${environment} cannot be read: ${messageOf(cause)}.`);
  }
  const cut = CUT_VALUE.exec(text)?.[1];
  if (cut !== undefined) {
    throw new ServerError(`${environment}: ${cut} has a # in its value: put the value in single quotes.`);
  }
  const given: NodeJS.Dict<string> = parseEnv(text);
  const unknown = Object.keys(given).find((name) => !KNOWN.some((each) => each === name));
  if (unknown !== undefined) {
    throw new ServerError(
      `${environment}: ${unknown} is not a variable of a site. The variables are ${KNOWN.join(", ")}.`,
    );
  }
  return given;
}

/** Throws a `ServerError` if the server's own environment has a variable that would be every site's. */
export function expectNoSharedVariables(environment: OwnVariables): void {
  const shared = KNOWN.find((name) => environment[name]);
  if (shared === undefined) return;
  throw new ServerError(
    `${shared} in the environment would apply to every site. With --sites, write it into the site's own file, NAME.env.`,
  );
}
