import { mutants } from "../mutants/index.ts";
import { rows } from "../scenarios/conformance.ts";
import type { ConformanceRow, Table } from "../scenarios/conformance-row.ts";

const INTRODUCTION = `# Conformance

What Tidemark does with the RFCs. This page is generated from \`test/scenarios\`; \`npm run docs\` writes it.

A scenario such as \`storing/private-is-not-stored\` lies in the folder of its area, \`test/scenarios/storing\`. It runs in
memory and in the Workers runtime, unless it says why it cannot. A mutant such as \`storing/private-is-stored\` is a wrong
rule in \`mutants.ts\` of that folder: the gate runs the scenario with it and must see the scenario fail. A row without
mutants gives the reason. Bodies and upgrades on the wire are in \`test/runtime/wire.test.ts\`. "Seen" means: tried on a
raw socket with the pinned runtime (workerd 1.20260730.1). Production may differ; nothing here was tried on Cloudflare's
network.

In doubt Tidemark does not store. That is always allowed, costs an origin request, and is reported in \`Cache-Status\`.`;

const HEADINGS: Readonly<Record<Table, string>> = {
  caching: "Caching: RFC 9111",
  stale: "Stale rules: RFC 5861",
  targeted: "Targeted fields: RFC 9213, and Surrogate-Control",
  groups: "Cache groups: RFC 9875",
  semantics: "Semantics and messages: RFC 9110, RFC 9112",
  browsers: "What browsers are told",
  reporting: "Cache-Status and CDN-Loop: RFC 9211, RFC 8586",
  impossible: "What the runtime makes impossible",
};

const LEFT_OUT = `## What is left out on purpose

| feature | today | reason |
| --- | --- | --- |
| storing responses to requests with \`Authorization\` | never, whatever they say (RFC 9111 §3.5 would allow it) | one field that an origin forgot to look at would show one visitor's page to all |
| combining parts (RFC 9111 §3.4) | parts are never stored | a whole is fetched or the part passed on, so nothing can be combined wrongly |
| \`identity;q=0\` | not honoured | content without a coding needs no decoder, and anybody could otherwise make the edge ignore what is stored |
| \`no-cache\`, \`max-age\`, \`min-fresh\` of a request | only with \`requestDirectives: "all"\` | [0012](decisions/0012-what-visitors-may-ask.md) |
| storing statuses about one request (401, 406, 407, 408, 412, 416, 417, 421, 425, 426) | never, whatever freshness they claim | they say nothing about the page that others would get |`;

/** docs/conformance.md, as the scenarios, their mutants and the rows of their areas have it. */
export function conformancePage(): string {
  const tables = (Object.keys(HEADINGS) as Table[]).map(tableOf);
  return `${[INTRODUCTION, ...tables, LEFT_OUT].join("\n\n")}\n`;
}

/** The mutants that redden a scenario of the row. */
export function mutantsOf({ scenarios }: ConformanceRow): readonly string[] {
  return scenarios.flatMap((scenario) =>
    [...mutants].flatMap(([id, mutant]) => ("reddens" in mutant && mutant.reddens === scenario ? [id] : [])),
  );
}

function tableOf(table: Table): string {
  const ofTable = rows.filter((row) => row.table === table).sort(bySection);
  const withSections = ofTable.some(({ section }) => section !== undefined);
  const head = ["requirement", "what Tidemark does", "scenarios", "mutants"];
  const lines = ofTable.map((row) => [
    ...(withSections ? [row.section ?? ""] : []),
    row.requirement,
    row.does,
    asCode(row.scenarios),
    row.noMutant ? `none: ${row.noMutant}` : asCode(mutantsOf(row)),
  ]);
  const columns = withSections ? ["section", ...head] : ["case", "what happens", "scenarios", "mutants"];
  const ruled = [columns, columns.map(() => "---"), ...lines];
  return `## ${HEADINGS[table]}\n\n${ruled.map((cells) => `| ${cells.join(" | ")} |`.replace(/ {2}\|/g, " |")).join("\n")}`;
}

function asCode(ids: readonly string[]): string {
  return ids.map((id) => `\`${id}\``).join(", ");
}

/** By the numbers of the sections; rows of one section stay in the order of the areas. */
function bySection(one: ConformanceRow, other: ConformanceRow): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? a.length - b.length : a[at]! - (b[at] ?? -1);
}

/** The numbers of a row's first section; what has none comes last. */
function numbersOf({ section = "" }: ConformanceRow): readonly number[] {
  const first = section.split(/[,;]/)[0]!;
  return /^\d/.test(first) ? first.match(/\d+/g)!.map(Number) : [Number.MAX_SAFE_INTEGER];
}
