import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

/**
 * The rooms: folders, and a few files that others may import without the rest of their folder. What each may import from,
 * beside itself. `tidemark/worker` is the package's public entry, and `tidemark/worker/internal` the entry that makes the
 * same edge with parts of its platform replaced.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "worker/rules": [],
  "worker/ports": ["worker/rules"],
  "worker/within.ts": ["worker/ports"],
  "worker/site/site-input.ts": [],
  "worker/site": ["worker/rules", "worker/site/site-input.ts", "wire"],
  "worker/flow": ["worker/rules", "worker/ports", "worker/within.ts", "worker/site"],
  "worker/store": ["worker/rules", "worker/ports"],
  "worker/metrics": ["worker/rules", "worker/ports", "wire"],
  "worker/explain": ["worker/rules", "worker/ports", "worker/flow", "wire"],
  // The log's object keeps the ledger, and an isolate's reports go with its reads.
  "worker/purges": ["worker/rules", "worker/ports", "worker/within.ts", "worker/metrics"],
  "worker/control": ["worker/rules", "worker/ports", "worker/within.ts", "worker/metrics", "wire"],
  "worker/runtime": ["worker/rules", "worker/ports", "worker/within.ts", "worker/store", "worker/metrics"],
  // The wiring.
  worker: [
    "worker/rules",
    "worker/ports",
    "worker/within.ts",
    "worker/site",
    "worker/site/site-input.ts",
    "worker/flow",
    "worker/store",
    "worker/metrics",
    "worker/explain",
    "worker/purges",
    "worker/control",
    "worker/runtime",
    "wire",
    "tidemark.config.ts",
    "tidemark/worker",
  ],
  "tidemark.config.ts": ["tidemark/worker"],
  wire: [],
  // Work that takes turns, at the purger's and at the server's.
  "package/turns.ts": [],
  sdk: ["wire", "package/turns.ts"],
  // It refuses by the edge's own rules what every edge refuses.
  "sdk/testing.ts": ["wire", "sdk", "worker/rules"],
  // The purges in a backend's own database. It gets its purger from its caller.
  "sdk/outbox": ["sdk"],
  // The client in an app's own worker on OpenNext, which keeps purges as an outbox does.
  "sdk/opennext": ["wire", "sdk", "sdk/outbox"],
  // What this package is and where its files are, and the errors that are for the owner.
  package: [],
  // The counters that a CDN returns have the type of the wire contract.
  local: ["package", "sdk", "wire", "worker/site/site-input.ts", "tidemark/worker", "tidemark/worker/internal"],
  "local/dev": ["package", "local", "sdk", "wire", "tidemark/worker", "tidemark/worker/internal"],
  // The platform on Node: it implements the ports and starts isolates, as the Workers runtime does.
  server: [
    "package",
    "package/turns.ts",
    "worker/rules",
    "worker/ports",
    "worker/within.ts",
    "worker/site",
    "worker/site/site-input.ts",
    "worker/store",
    "worker/metrics",
    "worker/purges",
    "worker/control",
    "worker",
    "wire",
  ],
  // The one entry through which the tools reach the rest: a list of names, each of them used.
  "tools/tidemark-internal.ts": [
    "package",
    "worker/flow",
    "worker/rules",
    "worker/ports",
    "worker/site",
    "worker/site/site-input.ts",
    "worker/store",
    "worker/metrics",
    "worker/purges",
    "worker",
    "wire",
    "sdk",
    "server",
  ],
  // A workspace of its own. The text of a config that it writes imports the package's worker.
  tools: ["tidemark/worker"],
  cli: ["package", "local", "local/dev", "sdk", "server", "cli/check", "cli/init", "cli/commands/tools", "wire"],
  // The commands of the tools, each loaded when it is called.
  "cli/commands/tools": ["package", "local/dev", "server", "tools", "cli", "cli/init", "wire"],
  // It runs the owner's worker as the simulated CDN does, and says the same of the purge log as the worker's own log. The
  // texts that these two write count as imports, too.
  "cli/check": ["package", "local", "wire", "tidemark/worker", "tidemark/worker/internal"],
  "cli/init": ["package", "wire", "tidemark/worker"],
  // The page is built into a module of `worker/control/dashboard/`, and calls the edge as any client does.
  dashboard: ["wire"],
  // `npm run dev` is the dev command with the demo as its site.
  demo: ["sdk", "sdk/outbox", "local/dev", "cli"],
  // It builds what the other rooms are, and imports none of them, but for the text of a config.
  release: ["tidemark/worker"],
};

/** The packages that a room may import. Node's own modules are for the Node side. */
const PACKAGES: Readonly<Record<string, readonly RegExp[]>> = {
  "worker/site": [/^zod\/mini$/],
  "worker/purges": [/^cloudflare:workers$/],
  "worker/control": [/^zod\/mini$/],
  dashboard: [/^node:/, /^esbuild$/, /^tsdown$/],
  // The site, which the build puts in.
  worker: [/^virtual:checked-site$/],
  wire: [/^zod\/mini$/, /^leven$/],
  // The middleware follows a request through asynchronous calls, and to the end of its handler.
  sdk: [/^undici$/, /^zod\/mini$/, /^node:(async_hooks|diagnostics_channel)$/],
  "sdk/outbox": [/^node:/, /^zod\/mini$/],
  "sdk/opennext": [/^cloudflare:workers$/, /^node:async_hooks$/],
  package: [/^node:/],
  local: [/^node:/, /^zod$/, /^miniflare$/, /^esbuild$/, /^wrangler$/, /^leven$/, /^vitest$/],
  "local/dev": [/^node:/, /^leven$/],
  server: [
    /^node:/,
    /^undici$/,
    /^undici\/lib\/(dispatcher\/(client|pool)|core\/connect)\.js$/,
    /^pg$/,
    /^acme-client$/,
  ],
  tools: [/^#tidemark\/internal$/, /^node:/, /^undici$/, /^structured-headers$/, /^robots-parser$/, /^sharp$/],
  cli: [/^node:/, /^commander$/],
  "cli/commands/tools": [/^node:/, /^commander$/],
  "cli/check": [/^node:/, /^esbuild$/, /^wrangler$/, /^tidemark\/recorded-uses$/, /^cloudflare:workers$/], // the last two in texts
  "cli/init": [/^node:/, /^yaml$/, /^vitest$/, /^wrangler$/, /^tidemark\/local(\/|$)/], // the last three in texts that it writes
  demo: [/^node:/, /^commander$/, /^zod$/, /^hono(\/|$)/, /^@hono\/node-server$/],
  release: [/^node:/, /^rolldown$/],
};

/** Longer names first: a file belongs to the innermost room. */
const ROOMS = [...Object.keys(ALLOWED), "bench", "test"].sort((one, other) => other.length - one.length);

interface Arrow {
  readonly file: string;
  readonly imports: string;
}

/** Every import in a source text, types and dynamic ones included. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|(?<!")\bimport\s*\(?\s*)"([^"\n]+)"/g);
  return [...found].map((match) => match[1]!);
}

/** The names between the braces of the statements that match, without the word `type`. */
function namesIn(text: string, statement: RegExp): string[] {
  const lists = [...text.matchAll(statement)].map(([, list]) => list!);
  return lists.flatMap((list) => list.split(",").flatMap((name) => name.replace(/\btype\b/, "").trim() || []));
}

function roomOf(path: string): string {
  return ROOMS.find((room) => path === room || path.startsWith(`${room}/`)) ?? "nowhere";
}

function wrongArrow({ file, imports }: Arrow): string | undefined {
  const from = roomOf(file);
  if (from === "bench" || from === "test") return undefined;
  const wrong = (what: string) => `${file} (${from}) must not import ${what}`;
  if (/^tidemark\/worker(\/|$)/.test(imports)) {
    return (ALLOWED[from] ?? []).includes(imports) ? undefined : wrong(imports);
  }
  if (!imports.startsWith(".")) {
    return (PACKAGES[from] ?? []).some((allowed) => allowed.test(imports)) ? undefined : wrong(imports);
  }
  const to = roomOf(join(dirname(file), imports));
  return to === from || (ALLOWED[from] ?? []).includes(to) ? undefined : wrong(`${imports} (${to})`);
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(".", join(entry.parentPath, entry.name)));
}

const arrows: Arrow[] = [
  "worker",
  "wire",
  "sdk",
  "package",
  "local",
  "server",
  "tools",
  "cli",
  "dashboard",
  "demo",
  "release",
]
  .flatMap(sources)
  .concat("tidemark.config.ts")
  .flatMap((file) => importsOf(readFileSync(file, "utf8")).map((imports) => ({ file, imports })));

/** The first import cycle that a walk from each file meets, types included; empty if there is none. */
function cyclesAmong(edges: readonly Arrow[]): string[] {
  const importsOfFile = Map.groupBy(edges, ({ file }) => file);
  const finished = new Set<string>();
  const path: string[] = [];
  const found: string[] = [];
  const walk = (file: string) => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(" → "));
      return;
    }
    if (finished.has(file)) return;
    path.push(file);
    for (const { imports } of importsOfFile.get(file) ?? []) {
      if (imports.startsWith(".")) walk(join(dirname(file), imports));
    }
    path.pop();
    finished.add(file);
  };
  for (const file of importsOfFile.keys()) walk(file);
  return found;
}

describe("imports go one way", () => {
  test("no file imports anything that its folder must not", () => {
    expect(arrows.flatMap((arrow) => wrongArrow(arrow) ?? [])).toEqual([]);
  });

  test("no files import each other in a circle", () => {
    expect(cyclesAmong(arrows)).toEqual([]);
  });

  test("control: a circle of three files is seen", () => {
    const circle = [
      { file: "a.ts", imports: "./b.ts" },
      { file: "b.ts", imports: "./c/d.ts" },
      { file: "c/d.ts", imports: "../a.ts" },
      { file: "e.ts", imports: "./a.ts" },
    ];
    expect(cyclesAmong(circle)).toEqual(["a.ts → b.ts → c/d.ts → a.ts"]);
  });

  test("every file belongs to a folder of the list", () => {
    expect(arrows.filter(({ file }) => roomOf(file) === "nowhere")).toEqual([]);
  });

  test("every name that tidemark/internal lists is used by a tool", () => {
    const listed = namesIn(readFileSync("tools/tidemark-internal.ts", "utf8"), /export (?:type )?\{([^}]+)\} from/g);
    const used = sources("tools").flatMap((file) =>
      namesIn(readFileSync(file, "utf8"), /import (?:type )?\{([^}]+)\} from "#tidemark\/internal"/g),
    );
    expect(listed.length).toBeGreaterThan(20);
    expect(listed.toSorted()).toEqual([...new Set(used)].sort());
  });

  test("no file of the server imports more than types of node:http, which would load Node's own fetch, too", () => {
    const importsValues = /^(?:import|export) (?!type )[^;]*? from "node:http";/m;
    expect(sources("server").filter((file) => importsValues.test(readFileSync(file, "utf8")))).toEqual([]);
    expect(importsValues.test('import type { A } from "./a.ts";\nimport { METHODS } from "node:http";')).toBe(true);
  });

  test("the walk finds all imports", () => {
    expect(arrows.length).toBeGreaterThan(200);
    expect(arrows).toContainEqual({ file: "worker/flow/judging.ts", imports: "../rules/freshness/judge.ts" });
  });

  test.each<Arrow>([
    { file: "worker/rules/freshness/judge.ts", imports: "../../ports/ports.ts" },
    { file: "worker/rules/freshness/judge.ts", imports: "zod" },
    { file: "worker/flow/corridor.ts", imports: "../store/tiers.ts" },
    { file: "worker/store/tiered-store.ts", imports: "../flow/corridor.ts" },
    { file: "worker/control/app.ts", imports: "../purges/view/purge-view.ts" },
    { file: "sdk/index.ts", imports: "../worker/site/site.ts" },
    { file: "sdk/index.ts", imports: "./outbox/sqlite.ts" },
    { file: "sdk/outbox/pg.ts", imports: "pg" },
    { file: "wire/problem.ts", imports: "../sdk/index.ts" },
    { file: "local/runtime/miniflare.ts", imports: "../../worker/create-edge.ts" },
    { file: "local/cdn/cdn.ts", imports: "../dev/dev-edge.ts" },
    { file: "local/dev/dev-edge.ts", imports: "../../cli/exit-code.ts" },
    { file: "cli/check/run-worker.ts", imports: "../../worker/site/review-site.ts" },
    { file: "local/cdn/cdn.ts", imports: "../../cli/init/init-project.ts" },
    { file: "cli/program.ts", imports: "tidemark/worker/internal" },
    { file: "server/log/log-file.ts", imports: "../../worker/flow/corridor.ts" },
    { file: "worker/isolate.ts", imports: "../server/system-clock.ts" },
    { file: "tools/audit/identity.ts", imports: "../../worker/rules/fields/token.ts" },
    { file: "tools/logs/log-file.ts", imports: "../../package/owner-error.ts" },
    { file: "tools/logs/log-file.ts", imports: "../tidemark-internal.ts" },
    { file: "cli/program.ts", imports: "#tidemark/internal" },
    { file: "server/program/load-site.ts", imports: "../../tools/tidemark-internal.ts" },
    { file: "cli/text/progress-line.ts", imports: "../../tools/logs/log-file.ts" },
    { file: "cli/commands/init.ts", imports: "../../tools/import/import-file.ts" },
    { file: "demo/origin.ts", imports: "../cdn/index.ts" },
    { file: "release/archive.ts", imports: "../package/own-package.ts" },
    { file: "worker/flow/corridor.ts", imports: "../engine/engine.ts" },
  ])("control: $file importing $imports is an error", (arrow) => {
    expect(wrongArrow(arrow)).toContain("must not import");
  });

  test("control: an import of types only is found", () => {
    expect(
      importsOf(
        'import type { A } from "./a.ts";\nexport type { B } from "./b.ts";\nimport "./c.ts";\nimport("./d.ts")',
      ),
    ).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts"]);
  });
});
