import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Commit } from "../commit.ts";
import { run } from "../run.ts";

/** It writes its version into the wheel. */
const SETUPTOOLS = "setuptools==80.9.0";

/** Builds the wheel of `sdk/python`, and returns the name of the file. `cache`: where the builder is kept. */
export async function buildWheel(sources: string, into: string, cache: string, { atSeconds }: Commit): Promise<string> {
  const builder = join(cache, `python-${SETUPTOOLS}`);
  const python = join(builder, "bin/python");
  const pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"] as const;
  if (!existsSync(join(builder, "complete"))) {
    await run(["python3", "-m", "venv", "--clear", builder]);
    await run([...pip, "install", SETUPTOOLS]);
    await run(["touch", join(builder, "complete")]);
  }
  await run([...pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", into, join(sources, "sdk/python")], {
    env: { SOURCE_DATE_EPOCH: String(atSeconds), PYTHONHASHSEED: "0" },
  });
  return (await readdir(into)).find((file) => file.endsWith(".whl"))!;
}
