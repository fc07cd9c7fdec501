import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ReleaseError } from "./release-error.ts";

const execute = promisify(execFile);

/** Where a program runs, and what it finds there. */
export interface Place {
  /** Default: the folder of this process. */
  readonly cwd?: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program prints on standard output. Throws a `ReleaseError` with what it says if it fails, or is not there. */
export async function run([program, ...args]: readonly [string, ...string[]], place: Place = {}): Promise<string> {
  const env = { ...process.env, ...place.env };
  try {
    return (await execute(program, args, { ...place, env, maxBuffer: 1 << 28 })).stdout;
  } catch (error) {
    const { code, stderr = "", stdout = "" } = error as { code?: unknown; stderr?: string; stdout?: string };
    const why = code === "ENOENT" ? "this program is not installed." : `${stderr}${stdout}`.trim().slice(-2_000);
    throw new ReleaseError(`${program} ${args[0] ?? ""}: ${why}`, { cause: error });
  }
}
