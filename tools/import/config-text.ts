import { addressInConfig, readSocket, socketComment, speaksOfCredentials } from "#tidemark/internal";
import { differenceLines } from "./import-report.ts";
import type { Difference, ImportedSite, Source } from "./imported-site.ts";

/** An imported site as the text of a `tidemark.config.ts`. Above each setting are the lines that it came from. */
export function configText(imported: ImportedSite): string {
  const { files, origin, hosts, settings, routes, differences } = imported;
  const socket = readSocket(origin.value);
  const lines = [
    'import { defineSite } from "tidemark/worker";',
    "",
    "/**",
    ` * Imported from ${inComment(files[0]!)} by tidemark import. The end of this file lists the differences.`,
    ...secretsComment(settings),
    " */",
    "export default defineSite({",
    ...sources(origin.from, 1),
    ...(socket === null ? [] : [`  ${socketComment(socket)}`]),
    `  origin: ${literal(addressInConfig(origin.value), 1)},`,
  ];
  if (hosts !== null) lines.push("", ...sources(hosts.from, 1), `  hosts: ${literal(hosts.value, 1)},`);
  for (const { value, from } of settings) {
    lines.push("", ...sources(from, 1));
    for (const [name, setting] of Object.entries(value)) lines.push(`  ${name}: ${literal(setting, 1)},`);
  }
  lines.push("", "  // The first route that matches applies.", "  routes: [");
  let before = "";
  for (const { value, from } of routes) {
    // Routes from the same lines share one comment.
    const comment = sources(from, 2);
    if (comment.join() !== before) for (const line of comment) lines.push(line);
    before = comment.join();
    lines.push(`    ${literal(value, 2)},`);
  }
  lines.push("  ],", "});", "");
  return `${[...lines, ...differencesComment(differences)].join("\n")}\n`;
}

/** Which values of the file are secrets, as a line of a comment. */
function secretsComment(settings: ImportedSite["settings"]): string[] {
  const fields = settings.flatMap(({ value }) => Object.entries(value.originFields ?? {}));
  const secret = fields.filter(([name, value]) => value !== "" && speaksOfCredentials(name.toLowerCase()));
  if (secret.length === 0) return [];
  const names = secret.map(([name]) => name).join(", ");
  return [` * It contains secrets, the values of ${inComment(names)}: protect it as nginx's file was.`];
}

/** The list of differences, as a comment. */
function differencesComment(differences: readonly Difference[]): string[] {
  return differenceLines(differences, 112).map((line) => (line === "" ? "//" : `// ${inComment(line)}`));
}

function sources(from: readonly Source[], depth: number): string[] {
  const indent = "  ".repeat(depth);
  const unique = [...new Map(from.map((each) => [`${each.place} ${each.text}`, each])).values()];
  return unique.map(({ place, text }) => `${indent}// ${inComment(`${place}: ${text}`)}`);
}

/** Text that cannot end a comment, because others write the imported file and the config is executed. */
function inComment(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]+/g, " ").replaceAll("*/", "* /");
}

const MAX_WIDTH = 120;

/** A value as the source text of an expression. */
function literal(value: unknown, depth: number): string {
  const short = onOneLine(value);
  const indent = "  ".repeat(depth + 1);
  const isPlain = typeof value !== "object" || value === null || value instanceof RegExp;
  if (short.length + 2 * depth + 20 <= MAX_WIDTH || isPlain) return short;
  const end = `${"  ".repeat(depth)}`;
  if (Array.isArray(value)) {
    return `[\n${value.map((each) => `${indent}${literal(each, depth + 1)},\n`).join("")}${end}]`;
  }
  const members = Object.entries(value).map(([name, each]) => `${indent}${key(name)}: ${literal(each, depth + 1)},\n`);
  return `{\n${members.join("")}${end}}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (value instanceof RegExp) return String(value);
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, each]) => `${key(name)}: ${onOneLine(each)}`);
    return `{ ${members.join(", ")} }`;
  }
  // JSON is JavaScript except for these two characters, which end lines there.
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function key(name: string): string {
  return /^(?:[A-Za-z_$][\w$]*|[1-9]\d*)$/.test(name) ? name : JSON.stringify(name);
}
