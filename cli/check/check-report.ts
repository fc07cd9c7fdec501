import { counted } from "../../wire/text/numbers.ts";

/** A fault of a project, or a possible one. */
export interface Finding {
  /** A problem prevents the edge from working. A warning may be intended. */
  readonly level: "problem" | "warning";
  /** The file, and the place in it. */
  readonly where: string;
  /** The mistake, with the value that was found and the correction. */
  readonly message: string;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  /** The wrangler config that was checked. */
  readonly config: string;
  /** The size of the bundled worker; `null` if it cannot be bundled. */
  readonly bundle: { readonly bytes: number; readonly gzippedBytes: number } | null;
  /** The sites that the environments of the wrangler config would serve. */
  readonly deployments: readonly Deployment[];
}

/** The site that one environment would serve. */
export interface Deployment {
  /** `null` for the top level of the wrangler config. */
  readonly environment: string | null;
  readonly origin: string;
  /** `null` for any. */
  readonly hosts: readonly string[] | null;
}

export function problem(where: string, message: string): Finding {
  return { level: "problem", where, message };
}

export function warning(where: string, message: string): Finding {
  return { level: "warning", where, message };
}

/** A report for a person: the findings, then what was checked. */
export function checkText({ findings, config, bundle, deployments }: CheckReport): string {
  const lines = findings.map(({ level, where, message }) => `${level}  ${where}: ${message.replaceAll("\n", "\n  ")}`);
  const problems = findings.filter(({ level }) => level === "problem").length;
  for (const { environment, origin, hosts } of deployments) {
    const name = environment === null ? "" : ` as ${environment}`;
    lines.push(`serves   ${hosts === null ? "any host" : hosts.join(", ")} from ${origin}${name}`);
  }
  if (bundle !== null) lines.push(`bundle   ${kibibytes(bundle.bytes)}, ${kibibytes(bundle.gzippedBytes)} gzipped`);
  const unhindered = bundle === null ? "was not checked completely" : "can be deployed";
  const verdict = problems === 0 ? unhindered : `has ${counted(problems, "problem")}`;
  return `${[...lines, `${config} ${verdict}.`].join("\n")}\n`;
}

export function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
