import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, type TestContext, test } from "vitest";
import { fetchedFromNpm } from "../backends/npm-packages.ts";
import { folderWith, run } from "./installed-package.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TOOLS = ["@cloudflare/workers-types", "@types/node", "esbuild", "miniflare", "typescript", "vitest", "wrangler"];
const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };
const FLAGS = ["--origin", "https://origin.example.com", "--host", "www.example.com", "--pass", "/admin"];

const installed = inject("installed");

const STRICT = { target: "esnext", module: "esnext", moduleResolution: "bundler", strict: true, skipLibCheck: true };
const HONOS_TSCONFIG = JSON.stringify({
  compilerOptions: { ...STRICT, lib: ["esnext"], types: ["@cloudflare/workers-types", "node"], noEmit: true },
});

/** Projects as they are before `tidemark init`, and the commands of theirs and of ours that have to pass behind it. */
interface Project {
  readonly name: string;
  readonly manifest: object;
  readonly files: Readonly<Record<string, string>>;
  /** Packages of its own, by name, in these versions. */
  readonly fetched?: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
}

const PROJECTS: readonly Project[] = [
  {
    name: "a backend with Jest",
    manifest: { scripts: { test: "jest" }, devDependencies: { jest: "30.5.2" } },
    files: { "app.test.js": 'test("works", () => expect(1).toBe(1));' },
    fetched: { jest: "30.5.2" },
    commands: ["npm test", "npm run test:edge"],
  },
  {
    name: "a backend with node --test",
    manifest: { type: "module", scripts: { test: "node --test" } },
    files: { "app.test.js": 'import { test } from "node:test"; test("works", () => {});' },
    commands: ["npm test"],
  },
  {
    name: "an app with vitest for a browser",
    manifest: { type: "module", scripts: { test: "vitest run" }, devDependencies: { vitest: "5" } },
    files: {
      "vitest.config.js": 'export default { test: { environment: "jsdom" } };',
      "app.test.js": 'import { expect, test } from "vitest"; test("works", () => expect(document.title).toBe(""));',
    },
    fetched: { vitest: "5.1.0", jsdom: "31.0.1" },
    commands: ["npm test"],
  },
  {
    name: "a worker with Hono's tsconfig",
    manifest: { type: "module", scripts: { typecheck: "tsc", deploy: "wrangler deploy --minify" } },
    files: {
      "tsconfig.json": HONOS_TSCONFIG,
      "wrangler.jsonc": JSON.stringify({ name: "app", main: "src/index.ts", compatibility_date: "2026-07-30" }),
      "src/index.ts": 'export default { fetch: () => new Response("app") };',
    },
    commands: [
      "npm run typecheck",
      "npm test",
      "npm run check:edge",
      "npm run deploy -- --dry-run",
      "npm run deploy:edge -- --dry-run",
    ],
  },
];

const TITLE = "after tidemark init in $name its commands pass";
const ofTheGate = ({ name }: Project) => name.startsWith("a backend");

test.for(PROJECTS.filter(ofTheGate))(TITLE, { tags: ["gate"], timeout: 120_000 }, commandsPass);
test.for(PROJECTS.filter((each) => !ofTheGate(each)))(TITLE, { tags: ["deep"], timeout: 120_000 }, commandsPass);

async function commandsPass(
  { name, manifest, files, fetched, commands }: Project,
  { skip }: TestContext,
): Promise<void> {
  const packages = Object.entries(fetched ?? {}).map(([name, version]) => `${name}@${version}`);
  const project = packages.length === 0 ? null : await fetchedFromNpm(packages);
  if (project !== null && "missing" in project) return skip(project.missing);
  const folder = await folderWith(installed, name.replaceAll(" ", "-"), []);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, ...manifest }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const at = { cwd: folder, env: ENVIRONMENT };
  const step = async (command: string) => {
    const [program, ...args] = command.split(" ");
    const { exit, stdout, stderr } = await run(program!, args, at);
    expect(exit, `${command}: ${stdout}${stderr}`).toBe(0);
  };
  await step(`npx --no tidemark init ${FLAGS.join(" ")}`);
  // In place of `npm install`: the tools are those of this repository, and what else the project has.
  const own = Object.keys(fetched ?? {});
  const ours = TOOLS.filter((each) => !own.includes(each));
  const links = [
    ...[...ours, "tsc"].map((each) => [ROOT, `.bin/${each}`] as const),
    ...ours.map((each) => [ROOT, each] as const),
    ...(project === null
      ? []
      : own.flatMap((each) => [each, `.bin/${each}`]).map((each) => [project.folder, each] as const)),
  ];
  for (const [from, each] of links) {
    await mkdir(dirname(join(folder, "node_modules", each)), { recursive: true });
    await symlink(join(from, "node_modules", each), join(folder, "node_modules", each));
  }
  for (const command of commands) await step(command);
}

test("after tidemark init --server its commands pass", { tags: ["gate"], timeout: 60_000 }, async () => {
  const folder = await folderWith(installed, "a-server", []);
  const step = async (command: string) => {
    const [program, ...args] = command.split(" ");
    const { exit, stdout, stderr } = await run(program!, args, { cwd: folder, env: ENVIRONMENT });
    expect(exit, `${command}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  await step("npx --no tidemark init --server --origin http://127.0.0.1:8000 --host www.example.com");
  expect(await step("npm run check")).toContain("hosts www.example.com");
  expect(await step("npm run serve -- --check --listen *:8080")).toContain("The settings are valid");
});
