import { spawnSync } from "node:child_process";

/** A program from Debian's packages. */
export interface Program {
  /** `null`: the package brings none, but extends another one. */
  readonly program: string | null;
  readonly package: string;
  /** Makes the program print its version, if it often comes from elsewhere. */
  readonly versionFlag?: string;
}

export const WRK: Program = { program: "wrk", package: "wrk" };
export const NGINX: Program = { program: "nginx", package: "nginx-light", versionFlag: "-v" };
export const VARNISH: Program = { program: "varnishd", package: "varnish" };
/** For vsthrottle. */
export const VARNISH_MODULES: Program = { program: null, package: "varnish-modules" };
export const AB: Program = { program: "ab", package: "apache2-utils" };
export const GO: Program = { program: "go", package: "golang-go", versionFlag: "version" };

export function isInstalled(wanted: Program): boolean {
  const { program } = wanted;
  if (program === null) return versionOf(wanted) !== NO_PACKAGE;
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}

const NO_PACKAGE = "of no package";

/** The version of the installed package, or else of the program itself; "of no package" if neither is known. */
export function versionOf({ program, package: name, versionFlag }: Program): string {
  // dpkg also knows packages that are not installed, and the versions of removed ones.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the format of dpkg-query
  const query = ["--show", "--showformat", "${db:Status-Status} ${Version}", name];
  const installed = /^installed (.+)$/.exec(outputOf("dpkg-query", query));
  if (installed) return installed[1]!;
  const own = program && versionFlag ? /\d+(?:\.\d+)+/.exec(outputOf(program, [versionFlag])) : null;
  return own ? own[0] : NO_PACKAGE;
}

function outputOf(program: string, parameters: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, parameters, { encoding: "utf8" });
  return `${stdout ?? ""}${stderr ?? ""}`;
}
