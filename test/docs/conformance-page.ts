import { type Departure, notMet, notTaken, ofTheRuntime } from "../conformance/departures.ts";
import { mutants } from "../mutants/index.ts";
import type { Mutant } from "../mutants/mutant.ts";
import { rows } from "../scenarios/conformance.ts";
import type { ConformanceRow, Table } from "../scenarios/conformance-row.ts";

const INTRODUCTION = `# Conformance

Which requirement of the RFCs does Tidemark meet, and which test shows it? [HTTP caching](http.md) says the same by topic. This page is
generated from \`test/scenarios\`; \`npm run docs\` writes it.

- A name such as \`storing/private-is-not-stored\` is a scenario in \`test/scenarios/storing\`. It runs in memory, in the Workers runtime
  and on one's own server, unless it says why it cannot. Wrong rules, with the scenario that must fail under each, stand beside it.
- "Seen" means: tried on a raw socket with the pinned runtime (workerd 1.20260730.1). Nothing was tried on Cloudflare's network.
- The public suite behind [cache-tests.fyi](https://cache-tests.fyi) (http-cache-tests 0.4.5) runs against \`tidemark serve\`, and in the
  Workers runtime. Every test of a requirement of RFC 9110 and RFC 9111 is met; [the others that are not](#the-public-suite) have a reason.
- In doubt Tidemark does not store. That is always allowed, costs a request to the origin, and shows in \`Cache-Status\`. A departure from
  an RFC says so.`;

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

/** docs/conformance.md, made from the rows of the areas. */
export function conformancePage(): string {
  const tables = (Object.keys(HEADINGS) as Table[]).map(tableOf);
  return `${[INTRODUCTION, ...tables, publicSuite()].join("\n\n")}\n`;
}

const OF_SUITE = `## The public suite

It runs with settings that take what HTTP leaves to a cache: \`fields.trustForErrors\` for the fields that its clients make up,
\`heuristic\`, \`stale.ifDisconnected\`, and \`key.languages\` (\`test/conformance/public-suite.test.ts\`). Of its later revision b55b8bda,
which is no package, \`tidemark serve\` meets 157 of 160 required tests and 96 of 105 optimal ones, and a worker 155 of 157 and 92 of 101
that its runtime lets through. None is failed: the three (two) required ones that are left cannot be set up, because what they begin with
is not stored. No setting stores a \`Set-Cookie\` for others, an answer to \`Authorization\` without \`public\` or \`s-maxage\`, one in an
unknown transfer coding, or one to a POST.`;

/** The tests of the suite that are not met, as the gate expects them. */
function publicSuite(): string {
  const groups: readonly (readonly [string, readonly Departure[]])[] = [
    ["required", notMet],
    ["optimal", notTaken],
    ["in the runtime", ofTheRuntime],
  ];
  const lines = groups.flatMap(([kind, departures]) =>
    departures.map(({ because, tests }) => `| ${kind} | ${because} | ${asCode(tests)} |`),
  );
  return [OF_SUITE, "", "| not met | because | tests of 0.4.5 |", "| --- | --- | --- |", ...lines].join("\n");
}

/** The mutants that a scenario of the row must find. */
export function mutantsOf({ scenarios }: ConformanceRow): readonly Mutant[] {
  return mutants.filter(({ foundBy }) => foundBy.some((by) => scenarios.includes(by)));
}

function tableOf(table: Table): string {
  const ofTable = rows.filter((row) => row.table === table).sort(bySection);
  const columns = table === "impossible" ? ["case", "what happens"] : ["requirement", "what Tidemark does"];
  const lines = ofTable.map((row) => [inSection(row), row.does, asCode(row.scenarios)]);
  const ruled = [[...columns, "scenarios"], ["---", "---", "---"], ...lines];
  return `## ${HEADINGS[table]}\n\n${ruled.map((cells) => `| ${cells.join(" | ")} |`.replace(/ {2}\|/g, " |")).join("\n")}`;
}

function inSection({ section, requirement }: ConformanceRow): string {
  if (section === undefined) return requirement;
  return `${section.replace(/(^|, )(?=\d+(?:[.,;]|$))/g, "$1§")}: ${requirement}`;
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

/** The numbers of a row's first section; rows without one come last. */
function numbersOf({ section = "" }: ConformanceRow): readonly number[] {
  const first = section.split(/[,;]/)[0]!;
  return /^\d/.test(first) ? first.match(/\d+/g)!.map(Number) : [Number.MAX_SAFE_INTEGER];
}
