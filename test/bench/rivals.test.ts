import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rivals } from "../../bench/cases/rivals.ts";
import { commandOf } from "../../bench/frame/case.ts";
import { isInstalled, NGINX } from "../../bench/frame/programs.ts";
import { build } from "../../bench/rivals/rival.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-rivals-"));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** From now on this machine has these of its programs, and clients that nothing may start. */
function haveOnly(...programs: readonly string[]): void {
  for (const each of programs) {
    symlinkSync(execFileSync("sh", ["-c", `command -v ${each}`], { encoding: "utf8" }).trim(), join(folder, each));
  }
  for (const each of ["wrk", "ab"]) writeFileSync(join(folder, each), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  vi.stubEnv("PATH", folder);
}

test.skipIf(!isInstalled(NGINX))(
  "Without Go, the form of hey is left out, and the bench says why",
  { tags: ["gate"] },
  async () => {
    haveOnly("sh", "nginx", "openssl");
    const printed = vi.spyOn(console, "log").mockReturnValue();
    const chosen = ["--forms", "hey", "--servers", "Tidemark", "--json", join(folder, "results.json")];
    await commandOf(rivals as never).parseAsync(chosen, { from: "user" });
    const lines = printed.mock.calls.join("\n");
    expect(lines).toContain("\nLeft out are the rows that need go. On Debian: apt-get install golang-go\n");
    expect(lines).toMatch(/^hey .*: LEFT OUT, because its client could not be installed: "go install .*" failed: .+$/m);
  },
);

test("A program is built once from the same version, and anew from another one", async () => {
  const built: string[] = [];
  for (const version of ["1.0", "1.0", "1.1"]) {
    const log = join(folder, "log");
    const make = ["sh", "-c", `cp version program; echo built >>${log}`] as const;
    const program = await build(join(folder, "site"), { version }, "program", make);
    built.push(`${readFileSync(program, "utf8")}, ${readFileSync(log, "utf8").match(/built/g)!.length}`);
  }
  expect(built).toEqual(["1.0, 1", "1.0, 1", "1.1, 2"]);
});
