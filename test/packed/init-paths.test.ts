import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, type TestContext, test } from "vitest";
import type { Manifest } from "../../cli/init/manifest.ts";
import { fetchedFromNpm } from "../backends/npm-packages.ts";
import { Dev } from "../local/dev/dev-process.ts";
import { freePort } from "../suite/free-ports.ts";
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
  /** What init is told. Default: an origin, a host and a path that passes. */
  readonly flags?: readonly string[];
  readonly commands: readonly string[];
  /** What an app that is a worker says, also through the edge of `npm run dev:edge`. */
  readonly answers?: string;
}

/** An app that is a worker, but for its wrangler config. */
const A_WORKER = {
  manifest: { type: "module", scripts: { typecheck: "tsc", deploy: "wrangler deploy --minify" } },
  files: {
    "tsconfig.json": HONOS_TSCONFIG,
    "src/index.ts": `export default {
  fetch: () => new Response("app", { headers: { "cache-control": "max-age=60" } }),
};`,
  },
  commands: [
    "npm run typecheck",
    "npm test",
    "npm run check:edge",
    "npm run deploy -- --dry-run",
    "npm run deploy:edge -- --dry-run",
  ],
} as const;

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
      "vitest.config.js": 'export default { test: { environment: "jsdom", include: ["src/**/*.test.js"] } };',
      "src/app.test.js": 'import { expect, test } from "vitest"; test("works", () => expect(document.title).toBe(""));',
    },
    fetched: { vitest: "5.1.0", jsdom: "31.0.1" },
    commands: ["npm test", "npm run test:edge"],
  },
  {
    name: "a worker with Hono's tsconfig",
    ...A_WORKER,
    files: {
      ...A_WORKER.files,
      "wrangler.jsonc": `{
  // The app.
  "name": "app",
  "main": "src/index.ts",
  "compatibility_date": "2026-07-30",
}`,
      "src/index.ts": `export default {
  fetch: (_: Request, { SECRET }: { SECRET: string }) =>
    new Response(\`app with \${SECRET}\`, { headers: { "cache-control": "max-age=60" } }),
};`,
      ".dev.vars": 'SECRET="$1"\n', // which wrangler would replace in another file
    },
    flags: ["--host", "www.example.com", "--pass", "/admin"],
    answers: "app with $1",
  },
  {
    name: "a worker that is told of another origin",
    ...A_WORKER,
    files: {
      ...A_WORKER.files,
      "wrangler.toml": 'name = "app"\nmain = "src/index.ts"\ncompatibility_date = "2026-07-30"\n',
    },
  },
  {
    name: "a worker with node --test that is not built yet",
    ...A_WORKER,
    manifest: { type: "module", scripts: { test: "node --test" } },
    files: {
      "wrangler.toml": 'name = "app"\nmain = "dist/app.js"\ncompatibility_date = "2026-07-30"\n',
    },
    flags: ["--host", "www.example.com"],
    commands: ["npm test", "npm run test:edge", "npm run check:edge", "npm run deploy:edge -- --dry-run"],
  },
  {
    name: "a worker with node --test",
    ...A_WORKER,
    manifest: { type: "module", scripts: { test: "node --test" } },
    files: {
      ...A_WORKER.files,
      "wrangler.toml": 'name = "app"\nmain = "src/index.ts"\ncompatibility_date = "2026-07-30"\n',
    },
    flags: ["--host", "www.example.com"],
    commands: ["npm test", "npm run test:edge"],
  },
];

const TITLE = "after tidemark init in $name its commands pass";
test.for(PROJECTS)(TITLE, { tags: ["deep"], timeout: 240_000 }, commandsPass);

async function commandsPass(
  { name, manifest, files, fetched, flags = FLAGS, commands, answers }: Project,
  { skip, onTestFailed }: TestContext,
): Promise<void> {
  let current = "nothing";
  // A test that runs out of time does not say where.
  onTestFailed(() => void process.stdout.write(`${name}: the last command was ${current}\n`));
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
    current = command;
    const [program, ...args] = command.split(" ");
    const { exit, stdout, stderr } = await run(program!, args, at);
    expect(exit, `${command}: ${stdout}${stderr}`).toBe(0);
  };
  await step(`npx --no tidemark init ${flags.join(" ")}`);
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
  current = "npm run dev:edge";
  if (answers !== undefined)
    expect(await answersOfDev(folder)).toEqual([
      ["MISS", answers],
      ["HIT", answers],
    ]);
}

/** What `npm run dev:edge` answers to two requests for the front page. */
async function answersOfDev(folder: string): Promise<(readonly [string | null, string])[]> {
  const port = await freePort();
  const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  const [program, ...args] = scripts!["dev:edge"]!.split(" ");
  expect(program).toBe("wrangler");
  const here = ["--port", String(port), "--inspector-port", "0", "--ip", "127.0.0.1"];
  const dev = new Dev([...args, ...here], ENVIRONMENT, ["node_modules/wrangler/bin/wrangler.js"], folder);
  try {
    await dev.says(/Ready on/);
    const seen: (readonly [string | null, string])[] = [];
    for (const _ of [1, 2]) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) });
      seen.push([answer.headers.get("x-cache"), await answer.text()]);
    }
    const [, token] = /^TIDEMARK_TOKEN="(.*)"$/m.exec(await readFile(join(folder, ".edge.vars"), "utf8"))!;
    const headers = { authorization: `Bearer ${token}` };
    expect(await fetch(`http://127.0.0.1:${port}/_tidemark/purges`, { headers })).toMatchObject({ status: 200 });
    return seen;
  } finally {
    dev.interrupt();
    await dev.exited;
  }
}

test("after tidemark init --server its commands pass", { timeout: 60_000 }, async () => {
  const folder = await folderWith(installed, "a-server", []);
  const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  const step = async (command: string) => {
    const { exit, stdout, stderr } = await run("sh", ["-c", command], {
      cwd: folder,
      env: { ...ENVIRONMENT, PATH: path },
    });
    expect(exit, `${command}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  await step("tidemark init --server --origin http://127.0.0.1:8000 --host www.example.com");
  // As npm would run them, which takes as long as they do.
  const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  expect(await step(scripts!.check!)).toContain("hosts www.example.com");
  expect(await step(`${scripts!.serve} --check --listen '*:8080'`)).toContain("The settings are valid");
});
