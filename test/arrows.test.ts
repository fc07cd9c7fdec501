import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

/** The rooms of the house, by the paths that belong to them; the first that fits counts. */
const ROOMS: readonly (readonly [room: string, path: RegExp])[] = [
  ["rules", /^worker\/rules\//],
  ["edge", /^worker\/edge\//],
  ["purges", /^worker\/purges\//],
  ["control", /^worker\/control\//],
  ["ports", /^worker\/ports\.ts$/],
  ["site-input", /^worker\/site-input\.ts$/],
  ["site", /^worker\/(site|site-error|site-loosened|units)\.ts$/],
  ["flow", /^worker\/(flow\.ts$|flow\/)/],
  ["wiring", /^worker\/(isolate|edge|package|internal|index)\.ts$/],
  ["wire", /^wire\//],
  ["sdk", /^sdk\//],
  ["cdn", /^cdn\//],
  ["dev", /^dev\//],
  ["cli", /^cli\//],
  ["demo", /^demo\//],
  ["config", /^tidemark\.config\.ts$/],
  ["bench", /^bench\//],
  ["test", /^test\//],
];

/**
 * Which rooms a room may import from, beside itself. `tidemark/worker` is the package's public entry, and
 * `tidemark/worker/internal` the entry that starts the same worker with parts of its platform replaced.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  rules: [],
  ports: ["rules"],
  "site-input": [],
  site: ["rules", "site-input"],
  flow: ["rules", "ports", "site"],
  edge: ["rules", "ports"],
  purges: ["rules", "ports"],
  control: ["rules", "ports", "wire"],
  wiring: [
    "rules",
    "ports",
    "site",
    "site-input",
    "flow",
    "edge",
    "purges",
    "control",
    "wire",
    "config",
    "tidemark/worker",
  ],
  config: ["tidemark/worker"],
  wire: [],
  sdk: ["wire"],
  // The counters that a CDN returns have the type of the wire contract.
  cdn: ["sdk", "wire", "site-input", "tidemark/worker", "tidemark/worker/internal"],
  dev: ["cdn", "sdk", "tidemark/worker", "tidemark/worker/internal"],
  cli: ["cdn", "dev", "sdk"],
  // `npm run dev` is the dev command with the demo as its site.
  demo: ["sdk", "dev", "cli"],
};

/** Packages that may be imported where; nothing else from outside may be. Node's own modules are for the Node side. */
const PACKAGES: Readonly<Record<string, readonly RegExp[]>> = {
  rules: [/^structured-headers$/],
  ports: [],
  site: [/^zod$/, /^leven$/],
  flow: [],
  edge: [],
  purges: [/^cloudflare:workers$/],
  control: [/^zod$/, /^hono(\/|$)/],
  wiring: [],
  config: [],
  wire: [/^zod$/],
  sdk: [/^undici$/, /^zod$/],
  cdn: [/^node:/, /^miniflare$/, /^esbuild$/, /^wrangler$/, /^leven$/, /^vitest$/],
  dev: [/^node:/, /^leven$/],
  cli: [/^node:/, /^commander$/],
  demo: [/^node:/, /^commander$/, /^zod$/],
};

interface Arrow {
  readonly file: string;
  readonly imports: string;
}

/** Every import in a source text, types and dynamic ones included. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"([^"\n]+)"/g);
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

const arrows: Arrow[] = ["worker", "wire", "sdk", "cdn", "dev", "cli", "demo"]
  .flatMap(sources)
  .concat("tidemark.config.ts")
  .flatMap((file) => importsOf(readFileSync(file, "utf8")).map((imports) => ({ file, imports })));

describe("imports go one way", () => {
  test("no file imports what its room must not", () => {
    expect(arrows.flatMap((arrow) => wrongArrow(arrow) ?? [])).toEqual([]);
  });

  test("every file belongs to a room", () => {
    expect(arrows.filter(({ file }) => roomOf(file) === "nowhere")).toEqual([]);
  });

  test("the walk sees the imports that there are", () => {
    expect(arrows.length).toBeGreaterThan(200);
    expect(arrows).toContainEqual({ file: "worker/flow.ts", imports: "./rules/judge.ts" });
  });

  test.each<Arrow>([
    { file: "worker/rules/judge.ts", imports: "../ports.ts" },
    { file: "worker/rules/judge.ts", imports: "zod" },
    { file: "worker/flow.ts", imports: "./edge/tiers.ts" },
    { file: "worker/edge/tiers.ts", imports: "../flow.ts" },
    { file: "worker/control/app.ts", imports: "../purges/view.ts" },
    { file: "sdk/index.ts", imports: "../worker/site.ts" },
    { file: "wire/problem.ts", imports: "../sdk/index.ts" },
    { file: "cdn/runtime/miniflare.ts", imports: "../../worker/edge.ts" },
    { file: "cdn/cdn.ts", imports: "../dev/dev-edge.ts" },
    { file: "dev/dev-edge.ts", imports: "../cli/exit-code.ts" },
    { file: "cli/program.ts", imports: "tidemark/worker/internal" },
    { file: "demo/origin.ts", imports: "../cdn/index.ts" },
    { file: "worker/flow.ts", imports: "../test/engine/engine.ts" },
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
