import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isInstalled, NGINX, VARNISH_MODULES, versionOf, WRK } from "../../bench/frame/programs.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-programs-"));
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** A machine whose dpkg says this of each package, and whose nginx tells its version. */
function machineWith(status: string): void {
  const commands = { "dpkg-query": `printf '%s' '${status}'`, nginx: "echo nginx version: nginx/1.30.6 >&2" };
  for (const [name, command] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  }
}

test.each([
  ["installed", "installed 4.1.0-3", "4.1.0-3", "4.1.0-3", true],
  ["known and not installed", "not-installed ", "of no package", "1.30.6", false],
  ["removed, but for its settings", "config-files 4.1.0-3", "of no package", "1.30.6", false],
])("A package that is %s has a version only if it is installed, and nginx tells its own", (_, status, ...told) => {
  machineWith(status);
  expect([versionOf(WRK), versionOf(NGINX), isInstalled(VARNISH_MODULES)]).toEqual(told);
});
