import { appendFile, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { Dev } from "../local/dev/dev-process.ts";
import { freePort } from "../suite/free-ports.ts";
import { until } from "../suite/until.ts";
import { type Ended, run, tool } from "./installed-package.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };

const { home, folder: installedIn } = inject("installed");

/** A folder with nothing in it but the package, after `npm install`. */
const folder = join(home, "new-site");
let initialized: Ended;

beforeAll(async () => {
  await mkdir(folder);
  for (const each of ["package.json", "node_modules"]) {
    await cp(join(installedIn, each), join(folder, each), { recursive: true, verbatimSymlinks: true });
  }
  const flags = ["--origin", "https://origin.example.com", "--host", "www.example.com", "--pass", "/admin"];
  // As npx would run it: package.test.ts runs a command by npx.
  const command = join(folder, "node_modules/.bin/tidemark");
  initialized = await run(process.execPath, [command, "init", ...flags], { cwd: folder });
  // In place of a second `npm install`: the tools that init wrote down are those of this repository.
  for (const each of Object.keys((await readManifest(folder)).devDependencies)) {
    await mkdir(dirname(join(folder, "node_modules", each)), { recursive: true });
    await symlink(join(ROOT, "node_modules", each), join(folder, "node_modules", each));
  }
}, 60_000);

/** Runs a tool of the project as its scripts would. */
function runTool(name: string, ...args: string[]): Promise<Ended> {
  const [node, script] = tool(name);
  return run(node, [script, ...args], { cwd: folder, env: ENVIRONMENT });
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

async function readManifest(where: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(where, "package.json"), "utf8")) as Manifest;
}

describe("npm install and npx tidemark init in an empty folder", () => {
  test("needs only the package, and records the tools in their tested versions", async () => {
    expect(initialized).toMatchObject({ exit: 0, stdout: expect.stringContaining("written    wrangler.toml") });
    const { devDependencies: tested } = await readManifest(ROOT);
    const { scripts, dependencies, devDependencies } = await readManifest(folder);
    expect(Object.keys(devDependencies)).toEqual(
      expect.arrayContaining(["wrangler", "miniflare", "esbuild", "vitest"]),
    );
    for (const [name, version] of Object.entries(devDependencies))
      expect([name, version.replace(/^\^/, "")]).toEqual([name, tested[name]]);
    expect(dependencies.tidemark).toContain("tidemark-");
    expect(scripts).toMatchObject({ test: expect.any(String), deploy: "wrangler deploy" });
  });

  test("makes a project whose test passes", async () => {
    const { scripts } = await readManifest(folder);
    const [program, ...args] = scripts.test!.split(" ");
    const { exit, stdout } = await runTool(program!, ...args, "--no-color");
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringMatching(/Tests +2 passed/) });
  }, 120_000);

  test("makes a project whose types hold", async () => {
    expect(await runTool("tsc")).toEqual({ exit: 0, stdout: "", stderr: "" });
  }, 60_000);

  test("makes a project that wrangler deploys, after the check", { tags: ["deep"], timeout: 120_000 }, async () => {
    const { exit, stdout, stderr } = await runTool("wrangler", "deploy", "--dry-run");
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.any(String) });
    expect(stdout).toContain("wrangler.toml can be deployed");
    expect(stdout).toContain("env.PURGE_LOG");
    expect(stdout).toContain("--dry-run: exiting now");
  });
});

describe("wrangler dev in that project", { tags: ["deep"] }, () => {
  const agent = new Agent({ keepAlive: false });
  const origin = new ScriptedOrigin(() => Date.now());
  let port: number;
  let dev: Dev;

  const ask = (path: string) =>
    exchange(new URL(`http://127.0.0.1:${port}`), agent, { path, host: `localhost:${port}` });

  beforeAll(async () => {
    await origin.comeUp();
    await appendFile(join(folder, ".dev.vars"), `TIDEMARK_ORIGIN="${origin.url}"\n`);
    port = await freePort();
    const args = ["--cwd", folder, "--port", String(port), "--inspector-port", "0", "--ip", "127.0.0.1"];
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
    dev = new Dev(args, { ...ENVIRONMENT, PATH: path }, [join(ROOT, "node_modules/wrangler/bin/wrangler.js"), "dev"]);
    await dev.says(/Ready on/);
  }, 120_000);

  afterAll(async () => {
    dev?.interrupt();
    await dev?.exited;
    await origin.goDown();
  });

  test("stores pages, and uses an edit of tidemark.config.ts once the check accepts it", async () => {
    origin.setDefaultReply({ fields: { "cache-control": "public, max-age=600" }, body: "page" });
    expect(await ask("/a")).toMatchObject({ status: 200, fields: { "x-cache": "MISS" } });
    expect(await ask("/a")).toMatchObject({ fields: { "x-cache": "HIT" } });
    expect(await ask("/admin/x")).toMatchObject({ fields: { "x-cache": "BYPASS" } });

    const file = join(folder, "tidemark.config.ts");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("pass: true", "pas: true"));
    // Until that is mended, wrangler lets requests wait.
    await dev.says(/did you mean pass\?/);

    await writeFile(file, text.replace("/admin{", "/private{"));
    await until(async () => (await ask("/private/x")).fields["x-cache"] === "BYPASS");
    expect(await ask("/admin/y")).toMatchObject({ fields: { "x-cache": "MISS" } });
    await writeFile(file, text);
  }, 120_000);
});

describe("with a mistake in tidemark.config.ts", { tags: ["deep"] }, () => {
  beforeAll(async () => {
    const file = join(folder, "tidemark.config.ts");
    await writeFile(file, (await readFile(file, "utf8")).replace("routes:", "rutes:"));
  });

  test("wrangler deploys nothing, and says what to write", async () => {
    const { exit, stdout, stderr } = await runTool("wrangler", "deploy", "--dry-run");
    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain("did you mean routes?");
    expect(stdout).not.toContain("--dry-run: exiting now");
  }, 120_000);

  test("tidemark check names the file and ends with 1", async () => {
    const { exit, stdout } = await run("npx", ["--no", "tidemark", "check"], { cwd: folder, env: ENVIRONMENT });
    expect({ exit, stdout }).toEqual({
      exit: 1,
      stdout: expect.stringMatching(/problem {2}tidemark\.config\.ts: .*rutes: unknown key; did you mean routes\?/s),
    });
  }, 60_000);

  test("the types do not hold", async () => {
    const { exit, stdout } = await runTool("tsc");
    expect(exit).not.toBe(0);
    expect(stdout).toContain("rutes");
  }, 60_000);
});
