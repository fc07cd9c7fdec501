import { counted, printable, whole } from "#tidemark/internal";
import type { AuditReport } from "./audit-site.ts";
import { inWords } from "./judge-path.ts";

/** A report for a person: the findings with the settings that fix them, then the pages that could not be audited. */
export function auditText(report: AuditReport): string {
  const { edge, visitors, requests, fromStore, pages, findings, accepted, acceptedInVain } = report;
  const { notAudited, leftOut, problems, interrupted } = report;
  const who = inWords(visitors.map((name) => (name === "stranger" ? "a stranger" : name)));
  const lines = [
    `${counted(pages.length, "page")} at ${edge} as ${who}: ${verdictText(report)}`,
    `${counted(requests, "request")}, ${whole(fromStore)} of them answered from the cache`,
  ];
  for (const [index, { id, path, what, evidence, mend }] of findings.entries()) {
    lines.push(
      "",
      `${index + 1}. ${printable(path)}`,
      `   ${printable(what)}`,
      ...evidence.map((line) => `   - ${line}`),
    );
    lines.push("   To fix it:", ...mend.map((line) => `   - ${printable(line)}`));
    lines.push(`   If this is intended: --accept ${printable(id)}`);
  }
  if (accepted.length > 0) lines.push("", `Accepted: ${accepted.map(({ id }) => printable(id)).join(", ")}`);
  if (acceptedInVain.length > 0) {
    lines.push("", `Not found, so leave out: ${acceptedInVain.map((id) => `--accept ${printable(id)}`).join(" ")}`);
  }
  if (notAudited.length > 0) lines.push("", "Not audited:");
  for (const { path, because } of notAudited) lines.push(`  ${printable(path)} ${because}.`);
  if (leftOut.length > 0) lines.push("", `Skipped, because they end sessions: ${leftOut.map(printable).join(", ")}`);
  if (visitors.length === 2)
    lines.push("", "With only one account, the audit cannot tell whether members get each other's pages.");
  if (problems.length > 0) lines.push("", ...problems);
  if (interrupted) lines.push("", "Interrupted: the report covers only the pages that were audited completely.");
  return `${lines.join("\n")}\n`;
}

function verdictText({ verdict, findings }: AuditReport): string {
  if (verdict === "findings") return counted(findings.length, "finding");
  return verdict === "clean" ? "clean" : "nothing found, but some pages could not be audited";
}
