import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** Whether a program ends well, without a word. So a language tells whether it has what a block needs. */
export function works(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/**
 * Runs a program of another language, given as text, and returns the lines that it prints. Rejects with what it writes to
 * stderr if it fails, or if it writes anything there.
 */
export async function linesOf(
  [command, ...args]: readonly [string, ...string[]],
  program: string,
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  const child = spawn(command, args, { env: { ...process.env, ...settings } });
  const closed = once(child, "close");
  child.stdin.end(program);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exit] = (await closed) as [number | null];
  if (exit !== 0 || stderr !== "") throw new Error(`${command} ended with ${exit}: ${stdout}${stderr}`);
  return stdout.trimEnd().split("\n");
}
