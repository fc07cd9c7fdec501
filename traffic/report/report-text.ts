import { styleText } from "node:util";
import { inWords } from "../counting/lifetimes.ts";
import { short, table } from "../words/table.ts";
import { countOf, percentOf, printable, sizeOf } from "../words/words.ts";
import type { AccessReport } from "./access-report.ts";
import { ASSUMPTIONS, findingsOf, searchText } from "./findings.ts";

/** The rows of a table that are shown. The JSON and the page have more. */
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
      ...table(
        ["ROUTE", "REQUESTS", "SHARE", "HIT RATIO", ""],
        report.routes.map(({ path, requests, share, hitRatio, passBecause }) => [
          printable(path),
          countOf(requests),
          percentOf(share),
          passBecause === null ? percentOf(hitRatio) : "passed on",
          passBecause ?? "",
        ]),
      ),
    ),
    ...(report.searches === null || search === null
      ? []
      : [
          section(
            `Searches: ${search}`,
            ...table(
              ["UP TO", "REQUESTS", "HITS", "HIT RATIO", "ENTRIES"],
              report.searches.cutOffs
                .slice(0, 20)
                .map(({ length, requests, hits, hitRatio, entries }) => [
                  String(length),
                  countOf(requests),
                  countOf(hits),
                  percentOf(hitRatio),
                  countOf(entries),
                ]),
            ),
          ),
        ]),
    ...(report.parameters.length === 0
      ? []
      : [
          section(
            "Query parameters",
            ...table(
              ["NAME", "REQUESTS", "COMPARED", "SAME SIZE", ""],
              report.parameters
                .slice(0, MAX_ROWS)
                .map(({ name, requests, compared, same, verdict }) => [
                  printable(name),
                  countOf(requests),
                  countOf(compared),
                  compared === 0 ? "-" : percentOf(same / compared),
                  VERDICTS[verdict],
                ]),
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
              .map(({ url, requests }) => `${countOf(requests).padStart(9)}  ${short(printable(url))}`),
          ),
        ]),
    section("What this rests on", ...ASSUMPTIONS),
    section("The config", report.config.trimEnd()),
  ];
}

export const VERDICTS = {
  dropped: "not in the key by default",
  "seems-idle": "does not seem to change the page",
  matters: "changes the page",
  unknown: "too few to tell",
} as const;

/** Pairs as two lines. */
function across(pairs: readonly (readonly string[])[]): string[] {
  return table(
    pairs.map(([name]) => name!),
    [pairs.map(([, value]) => value!)],
    0,
  );
}
