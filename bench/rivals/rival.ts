import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BenchFailure } from "../frame/bench-failure.ts";
import type { Peer } from "../peers/peer.ts";
import type { CommandLine } from "../processes/server-process.ts";

/** Another cache for comparison: how it is installed, and the settings in which it is measured. */
export interface Rival {
  readonly name: string;
  /** Gets the program, once a machine. Rejects with a {@link BenchFailure} that says why this machine cannot. */
  get(): Promise<Program>;
  /** Its settings: `plain`, as its guides have it, and `best`, if it has settings for speed. */
  readonly settings: Readonly<Record<string, (run: CommandLine) => Omit<Peer, "name" | "needs">>>;
}

/** A program that is ready to run. */
export interface Program {
  readonly version: string;
  /** Its command, without options. */
  readonly run: CommandLine;
}

/** Where the programs are kept; nothing of them is installed. */
export const RIVALS_FOLDER = fileURLToPath(new URL("../../node_modules/.cache/rivals", import.meta.url));

const LONGEST_MS = 1_800_000;

/**
 * The output of a command that installs or queries a program. Rejects with a {@link BenchFailure} that has its last
 * words.
 */
export function outputOf(
  [program, ...parameters]: CommandLine,
  { environment, folder }: { readonly environment?: Readonly<Record<string, string>>; readonly folder?: string } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { cwd: folder, env: { ...process.env, ...environment }, timeout: LONGEST_MS, maxBuffer: 1e8 };
  execFile(program, parameters, options, (error, stdout, stderr) => {
    if (error === null) return resolve(`${stdout}${stderr}`);
    const lastWords = stderr.trim().split("\n").at(-1) || error.message.split("\n")[0];
    reject(new BenchFailure(`"${[program, ...parameters].join(" ").slice(0, 80)}" failed: ${lastWords}`));
  });
  return promise;
}

/**
 * Makes a program from files with these commands, unless it exists. Its folder's name ends with a hash of both, because they
 * name its version. Resolves with the program's path.
 */
export async function build(
  name: string,
  files: Readonly<Record<string, string>>,
  program: string,
  ...commands: readonly CommandLine[]
): Promise<string> {
  const made = hash("sha256", JSON.stringify([files, commands])).slice(0, 12);
  const folder = resolve(RIVALS_FOLDER, `${name}-${made}`);
  const path = join(folder, program);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  for (const command of commands) await outputOf(command, { folder });
  return path;
}

/** The first number like 1.30.6 or 7.7 in a program's version text. */
export function versionIn(text: string): string {
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? "of unknown version";
}
