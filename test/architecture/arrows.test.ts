import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

/** The rooms of the house, by the paths that belong to them; the first that fits counts. */
const ROOMS: readonly (readonly [room: string, path: RegExp])[] = [
  ["rules", /^worker\/rules\//],
  ["store", /^worker\/store\//],
  ["insight", /^worker\/insight\//],
  ["purges", /^worker\/purges\//],
  ["control", /^worker\/control\//],
  ["ports", /^worker\/(ports|within)\.ts$/],
  ["site-input", /^worker\/site\/site-input\.ts$/],
  ["site", /^worker\/site\//],
  ["flow", /^worker\/flow\//],
  ["wiring", /^worker\/((isolate|package|internal|index|checked-site\.d)|platform\/create-edge)\.ts$/],
  ["platform", /^worker\/platform\//],
  ["wire", /^wire\//],
  ["outbox", /^sdk\/outbox\//],
  ["sdk", /^sdk\//],
  ["own-package", /^cdn\/(own-package|owner-error|config\/config-file-error)\.ts$/],
  ["cdn", /^cdn\//],
  ["dev", /^dev\//],
  ["setup", /^setup\//],
  ["server", /^server\//],
  ["traffic", /^traffic\//],
  ["cli", /^cli\//],
  ["demo", /^demo\//],
  ["dashboard", /^dashboard\//],
  ["config", /^tidemark\.config\.ts$/],
  ["bench", /^bench\//],
  ["test", /^test\//],
];

/**
 * The rooms that a room may import from, beside itself. `tidemark/worker` is the package's public entry, and
 * `tidemark/worker/internal` the entry that makes the same edge with parts of its platform replaced.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  rules: [],
  ports: ["rules"],
  "site-input": [],
  site: ["rules", "site-input", "wire"],
  flow: ["rules", "ports", "site"],
  store: ["rules", "ports"],
  insight: ["rules", "ports", "flow", "wire"],
  platform: ["rules", "ports", "store", "insight"],
  // The log's object keeps the ledger, and an isolate's reports go with its reads.
  purges: ["rules", "ports", "insight"],
  control: ["rules", "ports", "wire", "insight"],
  wiring: [
    "rules",
    "ports",
    "site",
    "site-input",
    "flow",
    "store",
    "insight",
    "platform",
    "purges",
    "control",
    "wire",
    "config",
    "tidemark/worker",
  ],
  config: ["tidemark/worker"],
  // What this package is and where its files are, and the errors that are for the owner.
  "own-package": [],
  wire: [],
  sdk: ["wire"],
  // The purges in a backend's own database. It gets its purger from its caller.
  outbox: ["sdk"],
  // The counters that a CDN returns have the type of the wire contract.
  cdn: ["own-package", "sdk", "wire", "site-input", "tidemark/worker", "tidemark/worker/internal"],
  dev: ["own-package", "cdn", "sdk", "wire", "tidemark/worker", "tidemark/worker/internal"],
  // `check` runs the owner's worker as the simulated CDN does, and says the same of the purge log as the worker's own log.
  // `import` returns a site as an owner writes it. The texts that `init` writes and `check` runs count as imports, too.
  setup: ["own-package", "cdn", "wire", "site-input", "tidemark/worker", "tidemark/worker/internal"],
  // The platform on Node: it implements the ports and starts isolates, as the Workers runtime does.
  server: [
    "own-package",
    "rules",
    "ports",
    "site",
    "site-input",
    "store",
    "insight",
    "purges",
    "control",
    "wiring",
    "wire",
  ],
  // Reports on access logs by the edge's own rules for keys, and replays them through an isolate. The config that a
  // report writes counts as an import. A crawl reads the regions of a simulated edge, and Retry-After as the SDK does.
  traffic: [
    "own-package",
    "rules",
    "ports",
    "site",
    "store",
    "insight",
    "purges",
    "wiring",
    "wire",
    "sdk",
    "server",
    "tidemark/worker",
  ],
  cli: ["own-package", "cdn", "dev", "sdk", "server", "setup", "traffic", "wire"],
  // The page is built into a module of `control`, and calls the edge as any client does.
  dashboard: ["wire"],
  // `npm run dev` is the dev command with the demo as its site.
  demo: ["sdk", "outbox", "dev", "cli"],
};

/** The packages that a room may import. Node's own modules are for the Node side. */
const PACKAGES: Readonly<Record<string, readonly RegExp[]>> = {
  rules: [/^structured-headers$/],
  ports: [],
  site: [/^zod\/mini$/],
  flow: [],
  store: [],
  insight: [],
  platform: [],
  purges: [/^cloudflare:workers$/],
  control: [/^zod\/mini$/],
  // The site, which the build puts in.
  wiring: [/^virtual:checked-site$/],
  config: [],
  wire: [/^zod\/mini$/, /^leven$/],
  // The middleware follows a request through asynchronous calls.
  sdk: [/^undici$/, /^zod\/mini$/, /^node:async_hooks$/],
  outbox: [/^node:/, /^zod\/mini$/],
  cdn: [/^node:/, /^zod$/, /^miniflare$/, /^esbuild$/, /^wrangler$/, /^leven$/, /^vitest$/],
  dev: [/^node:/, /^leven$/],
  setup: [/^node:/, /^esbuild$/, /^wrangler$/, /^vitest$/, /^nginx-conf\//, /^tidemark\/(local|recorded-sites)(\/|$)/],
  "own-package": [/^node:/],
  server: [/^node:/, /^undici$/, /^pg$/],
  traffic: [/^node:/, /^undici$/, /^structured-headers$/, /^robots-parser$/, /^sharp$/],
  cli: [/^node:/, /^commander$/],
  dashboard: [/^node:/, /^esbuild$/, /^tsdown$/],
  demo: [/^node:/, /^commander$/, /^zod$/, /^hono(\/|$)/, /^@hono\/node-server$/],
};

interface Arrow {
  readonly file: string;
  readonly imports: string;
}

/** Every import in a source text, types and dynamic ones included. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|(?<!")\bimport\s*\(?\s*)"([^"\n]+)"/g);
  return [...found].map((match) => match[1]!);
}

function roomOf(path: string): string {
  return ROOMS.find(([, pattern]) => pattern.test(path))?.[0] ?? "nowhere";
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
  "cdn",
  "dev",
  "setup",
  "server",
  "traffic",
  "cli",
  "dashboard",
  "demo",
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
  test("no file imports what its room must not", () => {
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

  test("every file belongs to a room", () => {
    expect(arrows.filter(({ file }) => roomOf(file) === "nowhere")).toEqual([]);
  });

  test("the walk sees the imports that there are", () => {
    expect(arrows.length).toBeGreaterThan(200);
    expect(arrows).toContainEqual({ file: "worker/flow/judging.ts", imports: "../rules/freshness/judge.ts" });
  });

  test.each<Arrow>([
    { file: "worker/rules/freshness/judge.ts", imports: "../../ports.ts" },
    { file: "worker/rules/freshness/judge.ts", imports: "zod" },
    { file: "worker/flow/corridor.ts", imports: "../store/tiers.ts" },
    { file: "worker/store/tiered-store.ts", imports: "../flow/corridor.ts" },
    { file: "worker/control/app.ts", imports: "../purges/view/purge-view.ts" },
    { file: "sdk/index.ts", imports: "../worker/site/site.ts" },
    { file: "sdk/index.ts", imports: "./outbox/sqlite.ts" },
    { file: "sdk/outbox/pg.ts", imports: "pg" },
    { file: "wire/problem.ts", imports: "../sdk/index.ts" },
    { file: "cdn/runtime/miniflare.ts", imports: "../../worker/platform/create-edge.ts" },
    { file: "cdn/cdn.ts", imports: "../dev/dev-edge.ts" },
    { file: "dev/dev-edge.ts", imports: "../cli/exit-code.ts" },
    { file: "setup/check/run-worker.ts", imports: "../../worker/site/review-site.ts" },
    { file: "cdn/cdn.ts", imports: "../setup/init/init-project.ts" },
    { file: "cli/program.ts", imports: "tidemark/worker/internal" },
    { file: "server/log/log-file.ts", imports: "../../worker/flow/corridor.ts" },
    { file: "worker/isolate.ts", imports: "../server/system-clock.ts" },
    { file: "demo/origin.ts", imports: "../cdn/index.ts" },
    { file: "worker/flow/corridor.ts", imports: "../engine/engine.ts" },
  ])("control: $file importing $imports is seen as wrong", (arrow) => {
    expect(wrongArrow(arrow)).toContain("must not import");
  });

  test("control: an import of types only is seen", () => {
    expect(
      importsOf(
        'import type { A } from "./a.ts";\nexport type { B } from "./b.ts";\nimport "./c.ts";\nimport("./d.ts")',
      ),
    ).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts"]);
  });
});
