import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { serveCommand } from "../../../cli/commands/serve.ts";
import { addressesToOpen, readListenAddress } from "../../../server/startup/listen-addresses.ts";
import {
  KNOWN_VARIABLES,
  SERVER_VARIABLES,
  unknownVariables,
  WORKERS_VARIABLES,
} from "../../../wire/text/unknown-variable.ts";
import { Counters } from "../../../worker/metrics/counters.ts";
import type { EdgeEvent } from "../../../worker/ports/reporter.ts";
import { UNREAD_COOKIES } from "../../../worker/rules/identity/cookies.ts";
import { TRACKING_PARAMETERS } from "../../../worker/rules/key/query.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { declaredSettings } from "./declared-settings.ts";
import { EXAMPLES, NEEDED, OPTION_EXAMPLES, VARIABLES } from "./examples.ts";
import { exposedMetrics } from "./exposed-metrics.ts";
import { OTHER_LINES } from "./log-lines.ts";
import { METRIC_MEANINGS } from "./metric-meanings.ts";
import { allSettings, SETTINGS_PAGE, settingsPage, written } from "./settings-page.ts";

const BASE: SiteInput = { origin: "https://origin.example.com", hosts: ["www.example.com"] };

test("docs/settings.md is what `npm run docs` makes of the sources", () => {
  expect(readFileSync(SETTINGS_PAGE, "utf8")).toBe(settingsPage());
});

test("a setting of the site leads to its own section, and that of a route to the route's", () => {
  const [site, route] = settingsPage()
    .split("\n## ")
    .filter((section) => /^A (?:site|route)\n/.test(section));
  for (const name of ["purge", "store"]) {
    expect(site).toContain(`| \`${name}\` | [object](#${name}) |`);
    expect(route).toContain(`| \`${name}\` | [object](#${name}-of-a-route) |`);
  }
});

test.each([
  { id: "routes[].key.query.ignore", names: TRACKING_PARAMETERS },
  { id: "cookies.ignore", names: UNREAD_COOKIES },
])("the default of $id is written with its names", ({ id, names }) => {
  const { byDefault } = allSettings().find((setting) => setting.id === id)!;
  expect([...byDefault.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(names);
});

describe("the settings of a site", () => {
  const ids = allSettings().map(({ id }) => id);

  test("every setting is on the page once, with an example", () => {
    expect(new Set(ids).size).toBe(ids.length);
    // What a route shares with its site stands there under the site's name.
    expect(Object.keys(EXAMPLES).sort()).toEqual([...ids].sort());
  });

  test.each(Object.entries(EXAMPLES))("a site with %s as in its example is valid", (id, value) => {
    expect(() => compileSite(siteWith(id, value), {})).not.toThrow();
  });

  test("control: a setting that does not exist is refused", () => {
    expect(() => compileSite(siteWith("limits.urlByte", "8KiB"), {})).toThrow("did you mean urlBytes");
  });

  test("control: a line that is not a setting is found", () => {
    expect(() => declaredSettings("export interface SiteInput {\n  readonly origin: string;\n}\n")).toThrow("origin");
  });
});

describe("the variables", () => {
  const [, table] = /^## Variables\n([\s\S]*?)^## /m.exec(settingsPage())!;
  const rows = [...table!.matchAll(/^\| `(\w+)` \| ([\w ]+) \|/gm)].map(([, name, of]) => ({ name, of: of! }));
  const listed = rows.map(({ name }) => name);

  test("that are known are those of the page, and those of commands and clients that other pages have", () => {
    expect([...KNOWN_VARIABLES].sort()).toEqual([...listed, "TIDEMARK_BASE_PATH", "TIDEMARK_PORT"].sort());
  });

  test.each([
    ["Workers", WORKERS_VARIABLES],
    ["a server", SERVER_VARIABLES],
  ])("of %s are those of the page", (where, variables) => {
    const of = rows.filter((row) => ["both", where].includes(row.of)).map(({ name }) => name);
    expect([...variables].sort()).toEqual(of.sort());
  });

  test("of the sources and of the pages are not taken for misspelt ones", () => {
    const folders = ["cli", "docs", "local", "release", "sdk", "server", "worker"];
    const files = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,py,md,jsonc}`));
    const read = new Set(files.flatMap((file) => readFileSync(file, "utf8").match(/\bTIDEMARK_[A-Z_]*[A-Z]\b/g) ?? []));
    expect(read.size).toBeGreaterThan(KNOWN_VARIABLES.length);
    const unknown = unknownVariables(Object.fromEntries([...read].map((name) => [name, ""])), KNOWN_VARIABLES);
    expect(unknown.filter(({ meant }) => meant !== null)).toEqual([]);
  });
});

describe("the options of tidemark serve", () => {
  const options = serveCommand().options.filter(({ hidden }) => !hidden);

  test("each has an example that the command takes", () => {
    expect(Object.keys(OPTION_EXAMPLES).sort()).toEqual(options.map(({ long }) => long).sort());
    for (const [name, value] of Object.entries(OPTION_EXAMPLES)) {
      const given = value === "" ? [name] : [name, value];
      expect(serveCommand().exitOverride().parseOptions(given)).toEqual({ operands: [], unknown: [] });
    }
  });

  test("the default addresses are those that a server opens if none is named, without certificates and with them", () => {
    const opened = [false, true].flatMap((hasCertificates) =>
      addressesToOpen([], { hasCertificates, hasSockets: false }),
    );
    const defaults = options.flatMap(
      ({ description }) => /^where to listen.*\(default: (.+)\)$/.exec(description)?.[1] ?? [],
    );
    const told = [...defaults.join().matchAll(/[^\s,]+:\d+/g)].map(([text]) => readListenAddress(text)!);
    expect(opened).toMatchObject(told);
  });

  test("the page has the variables that the command reads", () => {
    const source = readFileSync("cli/commands/serve.ts", "utf8");
    const read = new Set([...source.matchAll(/\bTIDEMARK_[A-Z_]+/g)].map(([name]) => name));
    const ofServe = [...Object.values(VARIABLES), "TIDEMARK_PARENT_TOKEN", "TIDEMARK_TOKEN"];
    expect([...read].sort()).toEqual(ofServe.sort());
  });
});

test("every metric has a meaning, and every explained metric exists", () => {
  const names = exposedMetrics().map(({ name }) => name.replace(/^tidemark_/, ""));
  expect(names.length).toBeGreaterThan(30);
  expect(Object.keys(METRIC_MEANINGS).sort()).toEqual(names.sort());
});

test("the lines of the log are the same as in the sources", () => {
  const strange = OTHER_LINES.filter(({ line, source }) => {
    const text = readFileSync(source, "utf8");
    return !line
      .split("…")
      .map((part) => part.replace(/^[).: ]+|[(: ]+$/g, ""))
      .every((part) => text.includes(part));
  });
  expect(strange).toEqual([]);
});

test("every line about the origin, the purge log and bugs is among the lines of the log", () => {
  const said: string[] = [];
  const failed = { kind: "origin-failed", cause: "a cause" } as const;
  const events: readonly EdgeEvent[] = [
    { ...failed, because: "unreachable", at: 0 },
    { kind: "origin-answered", route: null, url: "/", bytes: 0 },
    { ...failed, because: "timed-out", at: 60_000 },
    { ...failed, because: "bad-response", at: 60_000 },
    { kind: "log-failed", cause: "a cause" },
    { kind: "log-read", purges: 0 },
    { kind: "failed", cause: "a bug", isSentOn: true },
    { kind: "failed", cause: "a bug", isSentOn: false },
  ];
  const counters = new Counters("http://origin.test", (line) => said.push(line));
  for (const event of events) counters.report(event);
  expect(said).toHaveLength(events.length);
  const isKnown = (words: string) =>
    OTHER_LINES.some(({ line }) => line.split("…").every((part) => words.includes(part)));
  expect(said.filter((words) => !isKnown(words))).toEqual([]);
});

test("examples are written as in a config", () => {
  expect(written({ "user-agent": [/bot/i], 404: "1m", a: {} })).toBe('{ 404: "1m", "user-agent": [/bot/i], a: {} }');
});

function siteWith(id: string, value: unknown): SiteInput {
  const site = { ...BASE, ...NEEDED[id] };
  const inRoute = id.startsWith("routes[].");
  const path = id.replace(/^routes\[\]\./, "").split(".");
  if (id === "origin.service") return { ...site, origin: { service: value as string } };
  if (!inRoute) return set(site, path, value) as SiteInput;
  return { ...site, routes: [set({ match: "/plog/:slug" }, path, value) as never] };
}

/** A copy of an object with a value under a path of names. */
function set(object: object, [name, ...rest]: readonly string[], value: unknown): object {
  const before: unknown = (object as Record<string, unknown>)[name!];
  const inner = typeof before === "string" ? { url: before } : ((before ?? {}) as object);
  return { ...object, [name!]: rest.length === 0 ? value : set(inner, rest, value) };
}
