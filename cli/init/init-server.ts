import { randomBytes } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { ownPackage } from "../../package/own-package.ts";
import { readSocket } from "../../package/unix-socket.ts";
import type { InitOptions } from "./init-project.ts";
import { type Manifest, manifestText, validName } from "./manifest.ts";
import { configFile } from "./project-files.ts";
import { ENVIRONMENT, environmentFile, hiddenFromUnit, socketLine, UNIT, unitFile } from "./server-files.ts";
import { checkAnswers } from "./site-answers.ts";
import { completeIgnored, parseManifest, putIn, read, type WrittenFile, write } from "./written-files.ts";

const SCRIPTS = { serve: "tidemark serve", check: "tidemark check" } as const;

/**
 * Writes a server's files into a folder, and returns the result for each. Throws `AnswerError` before it writes any.
 * `node`: the program that runs it.
 */
export async function initServer(
  { folder, answers, config = configFile(answers), force }: InitOptions,
  node = process.execPath,
): Promise<readonly WrittenFile[]> {
  checkAnswers(answers);
  const manifest = await read(join(folder, "package.json"));
  const completed = withServer(
    manifest === null ? null : parseManifest(manifest),
    validName(basename(resolve(folder)), answers.host),
  );
  const put = putIn(folder, force);
  const unit = await put(UNIT, unitFile({ folder: resolve(folder), node, host: answers.host }));
  const hidden = [resolve(folder), node].filter(hiddenFromUnit);
  const socket = answers.origin === null ? null : readSocket(answers.origin);
  const socketPath = socket?.replace(/^unix:/, "") ?? "";
  const notes = [
    ...(process.platform === "linux"
      ? []
      : ["it is for Linux, but has the paths of this machine: on the server, run init --server there"]),
    ...(hidden.length > 0
      ? [`it cannot see ${hidden.join(" and ")}, so it would not start: use paths below /opt, for example`]
      : []),
    ...(hiddenFromUnit(socketPath)
      ? [`it cannot reach the site's socket ${socketPath}: use one like /run/app.sock`]
      : []),
  ];
  return [
    await putManifest(folder, manifest, completed),
    await put(DEFAULT_CONFIG, config),
    await keepSecret(folder, socket),
    await completeIgnored(folder, ["node_modules/", ".tidemark/", ENVIRONMENT]),
    { ...unit, ...(notes.length > 0 && unit.outcome !== "kept" && { note: notes.join("; ") }) },
  ];
}

/** The completed package.json, and the added keys. */
function withServer(
  existing: Manifest | null,
  name: string,
): { readonly manifest: Manifest; readonly added: string[] } {
  const base = existing ?? { name, private: true, type: "module" };
  const has = (key: string) => base.dependencies?.[key] !== undefined || base.devDependencies?.[key] !== undefined;
  const scripts = Object.entries(SCRIPTS).filter(([key]) => base.scripts?.[key] === undefined);
  const dependency = has("tidemark") ? {} : { tidemark: `^${ownPackage.version}` };
  const manifest = {
    ...base,
    scripts: { ...base.scripts, ...Object.fromEntries(scripts) },
    dependencies: { ...base.dependencies, ...dependency },
  };
  const added = [
    ...scripts.map(([key]) => `scripts.${key}`),
    ...Object.keys(dependency).map((key) => `dependencies.${key}`),
  ];
  return { manifest, added };
}

async function putManifest(
  folder: string,
  found: string | null,
  { manifest, added }: ReturnType<typeof withServer>,
): Promise<WrittenFile> {
  const file = "package.json";
  if (found !== null && added.length === 0) return { file, outcome: "kept" };
  await write(join(folder, file), manifestText(manifest, found));
  return found === null
    ? { file, outcome: "written" }
    : { file, outcome: "completed", note: `added ${added.join(", ")}` };
}

/** An existing secret is never replaced. `socket`: that of the site; `null` for none. */
async function keepSecret(folder: string, socket: string | null): Promise<WrittenFile> {
  const file = ENVIRONMENT;
  const existing = await read(join(folder, file));
  if (existing !== null) {
    const isNamed = socket === null || existing.split(/\r?\n/).includes(socketLine(socket));
    return { file, outcome: "kept", ...(!isNamed && { note: `it needs this line: ${socketLine(socket)}` }) };
  }
  await write(join(folder, file), environmentFile(randomBytes(24).toString("base64url"), socket), 0o600);
  return { file, outcome: "written" };
}
