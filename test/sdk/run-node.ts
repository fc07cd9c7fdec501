import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a module in a process of its own, because it changes what the modules of this one share. Rejects if it fails. */
export function runNode(code: string): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
}
