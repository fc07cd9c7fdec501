import { printable, whole } from "#tidemark/internal";
import { areaChart, columnChart, escaped } from "../charts/charts.ts";
import { inWords } from "../counting/lifetimes.ts";
import { percentOf, sizeOf } from "../words/words.ts";
import type { AccessReport } from "./access-report.ts";
import { budgetText } from "./budget-text.ts";
import { assumptionsOf, findingsOf, searchText } from "./findings.ts";
import { cutOffsAround, parameterRows, routeRows, searchRows } from "./report-rows.ts";

/** The report as one HTML file without scripts, which loads nothing, for a screen and for paper. */
export function reportPage(report: AccessReport): string {
  const { subject, headline, details, warnings } = findingsOf(report);
  const paragraphs = (lines: readonly string[]) => lines.map((line) => `<p>${escaped(line)}</p>`).join("\n");
  const body = [
    `<h1>What a cache would do for this site</h1>`,
    `<p class="subject">${escaped(subject)}</p>`,
    `<p class="headline">${escaped(headline)}</p>`,
    paragraphs(details),
    ...(warnings.length === 0 ? [] : [`<div class="warnings">${paragraphs(warnings)}</div>`]),
    ...(report.from === null ? [] : sections(report)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cache report: ${escaped(report.logs.files.map(printable).join(", "))}</title>
<style>${STYLE}</style>
</head>
<body>
${body.join("\n")}
</body>
</html>
`;
}

function sections(report: AccessReport): string[] {
  const lifetime = inWords(report.lifetimeSeconds);
  const search = searchText(report.searches);
  const hours = report.hours.map(({ hour }) => `${hour}:00`);
  const requests = report.hours.map((hour) => hour.requests);
  const misses = report.hours.map((hour) => hour.misses);
  const { searches, cost } = report;
  const budget = report.budget && budgetText(report.budget);
  return [
    section(
      "Hit ratio by lifetime",
      columnChart(
        "Hit ratio by lifetime",
        report.lifetimes.map(({ seconds, hitRatio }) => ratioColumn(inWords(seconds), hitRatio)),
        lifetime,
      ),
    ),
    section(
      `Hit ratio by memory, with a lifetime of ${lifetime}`,
      columnChart(
        "Hit ratio by memory",
        report.memory.map(({ bytes, hitRatio }) => ratioColumn(sizeOf(bytes), hitRatio)),
        null,
      ),
    ),
    section(
      "By hour of the day, UTC",
      `<p class="legend"><span class="outer"></span> requests <span class="inner"></span> reach the origin</p>`,
      areaChart("Requests by hour, and those that reach the origin", hours, requests, misses),
    ),
    section("By route", table(["Route", "Requests", "Share", "Hit ratio", ""], routeRows(report))),
    ...(budget ? [section(budget.title, ...budget.sentences.map((line) => `<p>${escaped(line)}</p>`))] : []),
    ...(searches === null || search === null
      ? []
      : [
          section(
            "Searches, by the longest query that is stored",
            `<p>${escaped(search)}</p>`,
            columnChart(
              "Hit ratio by the longest query that is stored",
              cutOffsAround(searches, 14).map(({ length, hitRatio }) => ratioColumn(String(length), hitRatio)),
              String(searches.suggestedLength),
            ),
            table(["Up to", "Requests", "Hits", "Hit ratio", "Entries"], searchRows(searches, 24)),
          ),
        ]),
    ...(report.parameters.length === 0
      ? []
      : [
          section(
            "Query parameters",
            table(["Name", "Requests", "Compared", "Same size", ""], parameterRows(report, "–")),
          ),
        ]),
    ...(report.warm.length === 0
      ? []
      : [
          section(
            "To warm first",
            table(
              ["URL", "Requests"],
              report.warm.map(({ url, requests: count }) => [url, whole(count)]),
            ),
          ),
        ]),
    section("What this rests on", ...assumptionsOf(report).map((line) => `<p>${escaped(line)}</p>`)),
    section("The config", `<pre>${escaped(report.config)}</pre>`),
    `<footer>Prices: <a href="${escaped(cost.source)}">${escaped(cost.source)}</a>, ${escaped(cost.readIn)}. Made by tidemark report.</footer>`,
  ];
}

function ratioColumn(label: string, hitRatio: number) {
  return { label, value: hitRatio, text: percentOf(hitRatio) };
}

function section(title: string, ...content: readonly string[]): string {
  return `<section><h2>${escaped(title)}</h2>\n${content.join("\n")}</section>`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const kinds = headings.map((heading, column) => (column === 0 || heading === "" ? ' class="words"' : ""));
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell, column) => `<${tag}${kinds[column]}>${escaped(printable(cell))}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${row(headings, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`;
}

const STYLE = `
:root { color-scheme: light; --ink: #14232b; --soft: #5b6d77; --line: #d7e0e4; --sea: #1d7a8c; --pale: #bcdbe0; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem; max-width: 50rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; }
h2 { margin: 0 0 .6rem; font-size: 1.1rem; break-after: avoid; }
p { margin: .35rem 0; }
.subject { color: var(--soft); margin-bottom: 1rem; }
.headline { font-size: 1.3rem; line-height: 1.4; margin: 0 0 1rem; }
.warnings { margin: 1rem 0; padding: .5rem 1rem; border-left: 3px solid #c8862b; background: #fdf6ea; overflow-wrap: anywhere; }
section { margin-top: 2.2rem; break-inside: avoid; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 38rem; height: auto; overflow: visible; }
svg text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: var(--ink); }
svg .label { fill: var(--soft); }
svg line { stroke: var(--line); }
.bar, svg .outer { fill: var(--pale); } .marked, svg .inner { fill: var(--sea); }
.legend { color: var(--soft); font-size: .85rem; }
.legend span { display: inline-block; width: .8em; height: .8em; margin-left: .8em; }
.legend span:first-child { margin-left: 0; }
span.outer { background: var(--pale); } span.inner { background: var(--sea); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
th.words, td.words { text-align: left; overflow-wrap: anywhere; min-width: 6rem; }
td.words:last-child { padding-left: 1rem; color: var(--soft); overflow-wrap: break-word; }
pre { margin: 0; padding: .9rem 1rem; background: #f4f8f9; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
a { color: inherit; }
@media print { body { padding: 0; max-width: none; font-size: 11pt; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } tr { break-inside: avoid; } }
`;
