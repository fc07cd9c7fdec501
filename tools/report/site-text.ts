import { ERROR_LIFETIME_SECONDS, ERROR_STATUSES, inWords, PAGE_STATUSES } from "../counting/lifetimes.ts";
import { type ParameterReport, SEARCH_PARAMETERS } from "../counting/parameters.ts";
import type { SearchReport } from "../counting/search-counts.ts";
import type { RouteReport } from "./access-report.ts";

interface SiteFacts {
  readonly lifetimeSeconds: number;
  readonly routes: readonly RouteReport[];
  readonly parameters: readonly ParameterReport[];
  readonly searches: SearchReport | null;
}

/** The site config that the prediction is for, ready to paste. */
export function siteText({ lifetimeSeconds, routes, parameters, searches }: SiteFacts): string {
  const passed = routes.flatMap(({ path, passBecause }) => (passBecause === null ? [] : [{ path, passBecause }]));
  const search = SEARCH_PARAMETERS.filter((name) => parameters.some((each) => each.name === name));
  const idle = parameters.filter(({ verdict }) => verdict === "seems-idle").map(({ name }) => JSON.stringify(name));
  const error = inWords(Math.min(lifetimeSeconds, ERROR_LIFETIME_SECONDS));
  const lifetimes = [
    ...PAGE_STATUSES.map((status) => `${status}: "${inWords(lifetimeSeconds)}"`),
    ...ERROR_STATUSES.map((status) => `${status}: "${error}"`),
  ];
  const names = search.map((name) => JSON.stringify(name)).join(", ");
  const lines = [
    'import { defineSite } from "tidemark/worker";',
    "",
    "export default defineSite({",
    '  origin: "https://origin.example.com",',
    '  hosts: ["www.example.com"],',
    "  routes: [",
    ...passed.map(
      ({ path, passBecause }) =>
        `    { match: ${JSON.stringify(`${patternOf(path)}{/*}?`)}, pass: true }, // ${passBecause}`,
    ),
    "    {",
    '      match: "/*",',
    `      // A lifetime that the origin sends overrides this.`,
    `      defaultTtl: { ${lifetimes.join(", ")} },`,
    ...(search.length === 0 ? [] : [`      key: { query: { lowercase: [${names}], trim: [${names}] } },`]),
    ...(idle.length === 0
      ? []
      : [
          `      // These do not seem to change the page: ${idle.join(", ")}. If so, name them in key.query.ignore, together
      // with the trackers, because that list replaces the default.`,
        ]),
    ...cutOffLines(searches),
    "    },",
    "  ],",
    "});",
  ];
  return `${lines.join("\n")}\n`;
}

function cutOffLines(searches: SearchReport | null): string[] {
  if (searches === null || searches.suggestedLength === 0) return [];
  const { suggestedLength, cutOffs, parameter } = searches;
  const all = cutOffs.at(-1)!;
  const found = cutOffs.find(({ length }) => length === suggestedLength)!;
  if (found.entries >= all.entries) return [];
  const name = JSON.stringify(parameter.slice(parameter.lastIndexOf("?") + 1));
  return [
    `      // Queries of up to ${suggestedLength} characters make ${percent(found.hits / all.hits)} of the search's hits, with ${percent(found.entries / all.entries)} of its entries:`,
    `      // store: { when: { query: { ${name}: { maxLength: ${suggestedLength} } } } },`,
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** A path as a URLPattern, with its special characters escaped. */
function patternOf(path: string): string {
  return path.replace(/[:*?+(){}\\]/g, "\\$&");
}
