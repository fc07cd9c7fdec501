import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EDGE_VARIABLES_FILE } from "../../package/wrangler-files.ts";
import { devVariables } from "./project-files.ts";
import { append, ignores, read, type WrittenFile, write } from "./written-files.ts";

/** wrangler reads all of these, the later ones last, but none of them once there is a `.dev.vars`. */
const ENV_FILES = [".env", ".env.local"] as const;

const DEV_VARS = ".dev.vars";

/** How these files set the edge's token. */
const TOKEN = /^\s*(export\s+)?TIDEMARK_TOKEN\s*=/m;

/**
 * Gives `wrangler dev` the edge's token, in the file that it reads here. Lines are only added, and a token that is there
 * is never replaced. Beside an app's `.env`, a new `.dev.vars` would take away all that the `.env` says. `isBesideApp`:
 * whether the edge has a file of its own, unless the app's has the token, as for the client of its backend.
 */
export async function keepSecret(folder: string, isBesideApp: boolean): Promise<WrittenFile> {
  const token = randomBytes(24).toString("base64url");
  const found = new Map<string, string>();
  for (const file of [EDGE_VARIABLES_FILE, DEV_VARS, ...ENV_FILES]) {
    const text = await read(join(folder, file));
    if (text !== null) found.set(file, text);
  }
  if (isBesideApp && found.has(EDGE_VARIABLES_FILE)) return { file: EDGE_VARIABLES_FILE, outcome: "kept" };
  const readByWrangler = found.has(DEV_VARS) ? [DEV_VARS] : ENV_FILES.filter((file) => found.has(file));
  const withToken = readByWrangler.find((file) => TOKEN.test(found.get(file)!));
  if (withToken !== undefined) return { file: withToken, outcome: "kept" };
  // What is not for version control stands in .env.local, if there is one.
  const last = isBesideApp ? undefined : readByWrangler.at(-1);
  if (last === undefined) {
    const file = isBesideApp ? EDGE_VARIABLES_FILE : DEV_VARS;
    await write(join(folder, file), devVariables(token));
    return { file, outcome: "written" };
  }
  const lines = `# The edge's token for wrangler dev on this machine only.\nTIDEMARK_TOKEN="${token}"\n`;
  await append(join(folder, last), found.get(last)!, lines);
  return { file: last, outcome: "completed", note: await noteOf(folder, last) };
}

/** Why this file got the token, and what its owner has to know. */
async function noteOf(folder: string, file: string): Promise<string> {
  const added = "added TIDEMARK_TOKEN";
  if (file === DEV_VARS) return added;
  const why = `${added} here, because with a ${DEV_VARS} wrangler would no longer read this file`;
  if (ignores(await read(join(folder, ".gitignore")), file)) return why;
  return `${why}. .gitignore did not name it: if it is in git, take the token out, or take the file out with git rm --cached ${file}`;
}
