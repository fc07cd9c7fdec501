import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { BenchFailure } from "./report/bench-failure.ts";

/** A program from Debian's packages. */
export interface DebianProgram {
  readonly program: string;
  readonly package: string;
  /** The systemd units of the package, which must not run because of a bench. */
  readonly units?: readonly string[];
}

/** Debian asks this script before it starts a service of a package that it installs. 101 forbids it. */
const POLICY = "/usr/sbin/policy-rc.d";

export function isInstalled({ program }: DebianProgram): boolean {
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}

/** Fails if a program is missing. */
export function assertInstalled(programs: readonly DebianProgram[]): void {
  for (const each of programs) {
    if (!isInstalled(each)) throw new BenchFailure(`${each.program} is missing: it is in Debian's ${each.package}.`);
  }
}

/** The version of the installed package; `null` if it does not come from a package of Debian. */
export function versionOf(program: DebianProgram): string | null {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the format of dpkg-query
  const query = ["--show", "--showformat", "${Version}", program.package];
  const { status, stdout } = spawnSync("dpkg-query", query, { encoding: "utf8" });
  return status === 0 ? stdout : null;
}

/** Installs the programs that are missing, without starting or enabling their services. */
export function installMissing(programs: readonly DebianProgram[]): void {
  const missing = programs.filter((each) => !isInstalled(each));
  if (missing.length === 0) return;
  const packages = missing.map((each) => each.package);
  if (process.getuid?.() !== 0) throw new BenchFailure(`apt-get install ${packages.join(" ")} needs root.`);
  const hadPolicy = existsSync(POLICY);
  if (!hadPolicy) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const { error, status } = spawnSync("apt-get", ["install", "--yes", "--no-install-recommends", ...packages], {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (error || status !== 0) {
      throw new BenchFailure(`apt-get could not install ${packages.join(" ")}. Try apt-get update first.`);
    }
    const units = missing.flatMap((each) => each.units ?? []);
    if (units.length > 0) spawnSync("systemctl", ["disable", ...units], { stdio: "ignore" }); // not at the next boot either
  } finally {
    if (!hadPolicy) rmSync(POLICY);
  }
}
