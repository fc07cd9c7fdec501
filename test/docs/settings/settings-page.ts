import { serveCommand } from "../../../cli/commands/serve.ts";
import { eventInWords } from "../../../server/supervisor/supervisor-events.ts";
import { PROBLEM_CODES } from "../../../wire/problem.ts";
import { type Declared, declaredSettings, type Setting } from "./declared-settings.ts";
import { EXAMPLES, OPTION_EXAMPLES, VARIABLES } from "./examples.ts";
import { exposedMetrics } from "./exposed-metrics.ts";
import { EVENT_LINES, OTHER_LINES } from "./log-lines.ts";
import { METRIC_MEANINGS } from "./metric-meanings.ts";
import { variablesOfEdge } from "./variables.ts";

export const SETTINGS_PAGE = "docs/settings.md";

const OF_ROUTES = "routes[].";

/** A setting with its whole path, and whether it is a route's. */
export interface PlacedSetting extends Setting {
  readonly id: string;
}

interface Section {
  readonly heading: string;
  readonly about: string;
  readonly settings: readonly PlacedSetting[];
}

/** The page of all settings: those of a site, of `tidemark serve`, and what a server tells. */
export function settingsPage(): string {
  return [
    "# Settings",
    "`npm run docs` makes this page from the sources. It has every setting [of a site](#a-site) (`tidemark.config.ts`), of " +
      "[`tidemark serve`](#tidemark-serve), the [variables](#variables), the [metrics](#metrics), the [errors of the " +
      "API](#errors-of-the-api), and the [lines of a server's log](#lines-of-the-log). All are there since 0.1.0.",
    'A `Duration` is a number with its unit, like `"250ms"`, `"30s"`, `"10m"`, `"24h"`, `"7d"`; a `Size` is like ' +
      '`"512KiB"` or a number of bytes. An unknown setting is an error, as is a value that is not allowed.',
    ...siteSections().map((section, _, all) => sectionText(section, new Set(all.map(({ heading }) => heading)))),
    optionsText(),
    variablesText(),
    metricsText(),
    errorsText(),
    linesText(),
    "",
  ].join("\n\n");
}

/** Every setting that an owner can write, once. */
export function allSettings(): readonly PlacedSetting[] {
  return siteSections().flatMap(({ settings }) => settings);
}

/** The settings of a site and of a route, and a section for each that has settings of its own. */
function siteSections(): readonly Section[] {
  const declared = declaredSettings();
  const [site, route] = [declared.get("SiteInput")!, declared.get("RouteInput")!];
  const nested = new Map<string, { owners: Set<string>; setting: Setting }>();
  for (const [owner, { settings }] of [["site", site] as const, ["route", route] as const]) {
    for (const setting of settings.filter((each) => each.nested.length > 0 && each.path !== "routes")) {
      const name = setting.nested.join();
      const known = nested.get(name) ?? { owners: new Set(), setting };
      known.owners.add(owner);
      nested.set(name, known);
    }
  }
  return [
    { heading: "A site", about: site.about, settings: placed(site.settings, "") },
    { heading: "A route", about: `${route.about} One of \`routes\`.`, settings: placed(route.settings, OF_ROUTES) },
    ...[...nested.values()].map(({ owners, setting }): Section => {
      const isRoutes = !owners.has("site");
      const prefix = isRoutes ? OF_ROUTES : "";
      const { about, settings } = below(setting, declared);
      const both = owners.size === 2 ? " Of the site, or of one route." : "";
      return {
        heading: isRoutes ? ofRoute(setting.path) : setting.path,
        about: `${about}${both}`,
        settings: flat(settings, `${prefix}${setting.path}.`, declared),
      };
    }),
  ];
}

/** What all interfaces of a setting declare together: an origin is one of two. */
function below({ nested }: Setting, declared: ReadonlyMap<string, Declared>): Declared {
  const all = nested.map((name) => declared.get(name)!);
  const settings = new Map(all.flatMap((each) => each.settings).map((setting) => [setting.path, setting]));
  const isEither = all.length > 1;
  return {
    about: all.map(({ about }) => about).join(" "),
    settings: [...settings.values()].map((each) =>
      isEither && each.isRequired ? { ...each, isRequired: false, byDefault: "one of these is required" } : each,
    ),
  };
}

/** Settings with those below them. */
function flat(
  settings: readonly Setting[],
  prefix: string,
  declared: ReadonlyMap<string, Declared>,
): readonly PlacedSetting[] {
  return settings.flatMap((setting) => [
    ...placed([setting], prefix),
    ...flat(below(setting, declared).settings, `${prefix}${setting.path}.`, declared),
  ]);
}

function placed(settings: readonly Setting[], prefix: string): readonly PlacedSetting[] {
  return settings.map((setting) => ({ ...setting, id: prefix + setting.path }));
}

/** `headings`: those of all sections, to which a setting leads that has settings of its own. */
function sectionText({ heading, about, settings }: Section, headings: ReadonlySet<string>): string {
  const rows = settings.map(({ id, path, type, isRequired, meaning, byDefault, nested }) => [
    `\`${id.replace(OF_ROUTES, "")}\``,
    nested.length === 0
      ? typeText(type)
      : linkedType(
          type,
          (id.startsWith(OF_ROUTES) ? [ofRoute(path), path] : [path]).find((each) => headings.has(each)),
        ),
    isRequired ? "required" : byDefault || "none",
    meaning,
    `\`${written(EXAMPLES[id])}\``,
  ]);
  return `## ${heading}\n\n${about}\n\n${table(["setting", "type", "default", "meaning", "example"], rows)}`;
}

/** The heading of what a route alone declares: a site may have other settings under the same name. */
function ofRoute(path: string): string {
  return `${path} of a route`;
}

function typeText(type: string): string {
  return `\`${type}\``;
}

/** Interfaces have sections of their own, so their names say nothing here. */
function linkedType(type: string, heading: string | undefined): string {
  const plain = type.replace(/\w+(?:Input|Origin|Levels)\b/g, "object").replace("object | object", "object");
  return heading === undefined ? plain : `[${plain}](#${heading.replaceAll(" ", "-")})`;
}

function optionsText(): string {
  const rows = serveCommand()
    .options.filter(({ hidden }) => !hidden)
    .map((option) => {
      const name = option.long!;
      const [, meaning, told] = /^(.*?)(?: \(default: (.+)\))?$/.exec(option.description)!;
      const value = OPTION_EXAMPLES[name]!;
      const fixed = typeof option.defaultValue === "string" ? `\`${option.defaultValue}\`` : undefined;
      const choices = option.argChoices ? `: ${option.argChoices.map((each) => `\`${each}\``).join(" or ")}` : "";
      return [
        `\`${option.flags}\``,
        told ?? fixed ?? (value === "" ? "off" : "none"),
        `${meaning}${choices}`,
        `\`${name}${value === "" ? "" : ` ${value.includes("*") ? `'${value}'` : value}`}\``,
      ];
    });
  return (
    `## tidemark serve\n\nNode 24 or later. [How they go together](server.md).\n\n` +
    `${table(["option", "default", "meaning", "example"], rows)}`
  );
}

function variablesText(): string {
  const ofEdge = variablesOfEdge().map(({ name, meaning }) => [`\`${name}\``, "both", meaning]);
  const named = new Set(ofEdge.map(([name]) => name));
  const ofServe = Object.entries(VARIABLES)
    .filter(([, name]) => !named.has(`\`${name}\``))
    .map(([option, name]) => [`\`${name}\``, "a server", `Stands for \`${option}\`, which outranks it.`]);
  const rows = [
    ...ofEdge.map(([name, , meaning]) => [
      name!,
      /ANALYTICS|CLIENT_ADDRESS/.test(name!) ? "Workers" : "both",
      meaning!,
    ]),
    ...ofServe,
    ["`TIDEMARK_PARENT_TOKEN`", "a server", "The token of the parent in `--parent`, with the scope `parent` there."],
    ["`TIDEMARK_ENDPOINT`", "commands and clients", "The address of the site, like `https://www.example.com`."],
  ];
  return `## Variables\n\nThey outrank the config. On Workers they are \`[vars]\` and secrets.\n\n${table(["variable", "of", "meaning"], rows)}`;
}

function metricsText(): string {
  const rows = exposedMetrics().map(({ name, type, labels, path, isOfMachine }) => [
    `\`${name}\``,
    `${type}${isOfMachine ? ", server" : ""}`,
    labels.map((label) => `\`${label}\``).join(", "),
    METRIC_MEANINGS[name.replace(/^tidemark_/, "")]!,
    `\`${path}\``,
  ]);
  return (
    "## Metrics\n\n`GET /_tidemark/metrics`, with a token that may read, for Prometheus or OpenMetrics. Those marked `server` " +
    "are of `tidemark serve` alone, whose counters begin at 0 when it starts. The last column is the same number in " +
    "`GET /_tidemark/stats`. " +
    `[What to do when an alert fires](operations.md#an-alarm-rang).\n\n` +
    `${table(["metric", "type", "labels", "meaning", "in the stats"], rows)}`
  );
}

function errorsText(): string {
  const rows = Object.entries(PROBLEM_CODES).map(([code, { status, title }]) => [`\`${code}\``, String(status), title]);
  return (
    "## Errors of the API\n\n`application/problem+json` (RFC 9457), with `type` `urn:tidemark:problem:CODE`. The client's " +
    `errors have the same \`code\`.\n\n${table(["code", "status", "means"], rows)}`
  );
}

function linesText(): string {
  const events = Object.values(EVENT_LINES).map(([event, meaning]) => [`\`${eventInWords(event)}\``, meaning]);
  const others = OTHER_LINES.map(({ line, meaning }) => [`\`${line}\``, meaning]);
  return (
    "## Lines of the log\n\nWhat `tidemark serve` writes to standard error. `…` stands for what differs; a cause names the " +
    `file or the peer.\n\n${table(["line", "means"], [...events, ...others])}`
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${" --- |".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** A value as it stands in a config. */
export function written(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `${nameText(name)}: ${written(each)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$|^\d+$/.test(name) ? name : JSON.stringify(name);
}
