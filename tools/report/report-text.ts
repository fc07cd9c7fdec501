import { styleText } from "node:util";
import { printable, whole } from "#tidemark/internal";
import { inWords } from "../counting/lifetimes.ts";
import { short, table } from "../words/table.ts";
import { percentOf, sizeOf } from "../words/words.ts";
import type { AccessReport } from "./access-report.ts";
import { budgetText } from "./budget-text.ts";
import { assumptionsOf, findingsOf, searchText } from "./findings.ts";
import { parameterRows, routeRows, searchRows } from "./report-rows.ts";

/** The most rows of a table. The JSON and the page have more. */
const MAX_ROWS = 10;

/** The report for a terminal. */
export function reportText(report: AccessReport): string {
  const { subject, headline, details, warnings } = findingsOf(report);
  const heading = (text: string) => styleText("bold", text, { stream: process.stdout });
  const sections = [
    [subject, heading(headline), ...details].join("\n"),
    ...(warnings.length === 0 ? [] : [warnings.join("\n")]),
    ...(report.from === null ? [] : tables(report, heading)),
  ];
  return `${sections.join("\n\n")}\n`;
}

function tables(report: AccessReport, heading: (text: string) => string): string[] {
  const lifetime = inWords(report.lifetimeSeconds);
  const search = searchText(report.searches);
  const budget = report.budget && budgetText(report.budget);
  const section = (title: string, ...lines: readonly string[]) => [heading(title), ...lines].join("\n");
  return [
    section(
      "Hit ratio by lifetime",
      ...across(report.lifetimes.map(({ seconds, hitRatio }) => [inWords(seconds), percentOf(hitRatio)])),
    ),
    section(
      `Hit ratio by memory, with a lifetime of ${lifetime}`,
      ...across(report.memory.map(({ bytes, hitRatio }) => [sizeOf(bytes), percentOf(hitRatio)])),
    ),
    section(
      "By route",
      ...table(["ROUTE", "REQUESTS", "SHARE", "HIT RATIO", ""], withPrintableNames(routeRows(report))),
    ),
    ...(budget ? [section(budget.title, ...budget.sentences)] : []),
    ...(report.searches === null || search === null
      ? []
      : [
          section(
            `Searches: ${search}`,
            ...table(["UP TO", "REQUESTS", "HITS", "HIT RATIO", "ENTRIES"], searchRows(report.searches, 20)),
          ),
        ]),
    ...(report.parameters.length === 0
      ? []
      : [
          section(
            "Query parameters",
            ...table(
              ["NAME", "REQUESTS", "COMPARED", "SAME SIZE", ""],
              withPrintableNames(parameterRows(report, "-").slice(0, MAX_ROWS)),
            ),
          ),
        ]),
    ...(report.warm.length === 0
      ? []
      : [
          section(
            "To warm first",
            ...report.warm
              .slice(0, MAX_ROWS)
              .map(({ url, requests }) => `${whole(requests).padStart(9)}  ${short(printable(url))}`),
          ),
        ]),
    section("What this rests on", ...assumptionsOf(report)),
    section("The config", report.config.trimEnd()),
  ];
}

function withPrintableNames(rows: readonly (readonly string[])[]): string[][] {
  return rows.map(([name, ...cells]) => [printable(name!), ...cells]);
}

/** Pairs as two lines. */
function across(pairs: readonly (readonly string[])[]): string[] {
  return table(
    pairs.map(([name]) => name!),
    [pairs.map(([, value]) => value!)],
    0,
  );
}
