import { inject } from "vitest";
import { type Ended, run } from "./installed-package.ts";

/** Runs a module in a process of its own, which needs no network, in the project that has the packed package. */
export function runScript(script: string): Promise<Ended> {
  const args = ["--input-type=module", "--eval", script];
  return run(process.execPath, args, { cwd: inject("packedProject"), env: { NODE_EXTRA_CA_CERTS: "" } });
}
