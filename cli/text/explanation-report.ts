import { styleText } from "node:util";
import type { Explanation } from "../../wire/explanation.ts";
import { stepTexts } from "../../wire/text/explanation-text.ts";
import { printable } from "../../wire/text/printable.ts";

type Stored = NonNullable<Explanation["memory"]>;

/** An explanation for a person: what would happen, why, and what is known about the page. */
export function explanationReport(explanation: Explanation): string {
  const { url, method, key, dropped, memory, sharedTier, purge, outcome, nearest, worker } = explanation;
  const detail = outcome.detail === null ? "" : ` (${outcome.detail})`;
  const lines = [
    `${styled("bold", outcome.xCache ?? "answered by the edge")}${detail}  ${method} ${printable(url)}`,
    "",
    ...stepTexts(explanation).map((text, index) => `${String(index + 1).padStart(3)}. ${printable(text)}`),
    "",
  ];
  const row = (name: string, text: string) => lines.push(`${name.padEnd(12)} ${text}`);
  if (key !== null) row("Key", printable(key));
  if (dropped.length > 0) row("Dropped", printable(dropped.join(", ")));
  if (worker !== undefined) row("Worker", `${printable(worker)}: other workers may hold other pages in memory`);
  if (memory) row("Memory", storedText(memory));
  if (sharedTier) row("Shared tier", storedText(sharedTier));
  const tags = memory?.tags ?? sharedTier?.tags ?? [];
  if (tags.length > 0) row("Tags", printable(tags.join(" ")));
  if (purge) row("Purge", purgeText(purge));
  for (const [index, { key: other, differsIn }] of nearest.entries()) {
    row(index === 0 ? "Nearest" : "", underlined(printable(other), differsIn));
    row("", `differs in: ${printable(differsIn.join(", "))}`);
  }
  return `${lines.join("\n")}\n`;
}

function storedText({ status, bodyBytes, since, ageSeconds, freshForSeconds, selectedBy }: Stored): string {
  const freshness = freshForSeconds > 0 ? `fresh for ${freshForSeconds} s more` : `stale for ${-freshForSeconds} s`;
  const choice = selectedBy.length === 0 ? "" : `, selected by ${printable(selectedBy.join(", "))}`;
  return `${status}, ${bodyBytes} bytes, since ${since}, age ${ageSeconds} s, ${freshness}${choice}`;
}

function purgeText({ seq, made, record }: NonNullable<Explanation["purge"]>): string {
  if (!record) return `${made} by purge ${seq}, which is not in the audit trail`;
  const { at, by, reason, items } = record;
  const why = reason === null ? "" : `, because: ${reason}`;
  return printable(`${made} by purge ${seq} of ${items.slice(0, 3).join(", ")}, ${at}, by ${by}${why}`);
}

/** The key, with the differing parameters underlined. */
function underlined(key: string, differsIn: readonly string[]): string {
  const queryAt = key.indexOf("?") + 1;
  if (queryAt === 0) return key;
  const parameters = key
    .slice(queryAt)
    .split("&")
    .map((text) => (differsIn.includes(`query ${text}`) ? styled("underline", text) : text));
  return key.slice(0, queryAt) + parameters.join("&");
}

function styled(style: "bold" | "underline", text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
