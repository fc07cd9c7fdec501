import { spawnSync } from "node:child_process";

/** A program from Debian's packages. */
export interface Program {
  /** `null`: the package brings none, but extends another one. */
  readonly program: string | null;
  readonly package: string;
}

export const WRK: Program = { program: "wrk", package: "wrk" };
export const NGINX: Program = { program: "nginx", package: "nginx-light" };
export const VARNISH: Program = { program: "varnishd", package: "varnish" };
/** For vsthrottle. */
export const VARNISH_MODULES: Program = { program: null, package: "varnish-modules" };
export const AB: Program = { program: "ab", package: "apache2-utils" };

export function isInstalled(wanted: Program): boolean {
  const { program } = wanted;
  if (program === null) return versionOf(wanted) !== NO_PACKAGE;
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}

const NO_PACKAGE = "of no package";

/** The version of the installed package; "of no package" if it does not come from a package of Debian. */
export function versionOf(program: Program): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the format of dpkg-query
  const query = ["--show", "--showformat", "${Version}", program.package];
  const { status, stdout } = spawnSync("dpkg-query", query, { encoding: "utf8" });
  return status === 0 ? stdout : NO_PACKAGE;
}
