import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { ReceiptBody } from "../../sdk/index.ts";
import { fetchedFromNpm } from "../backends/npm-packages.ts";
import { BEGINNING, TOKEN } from "../engine/scenario.ts";
import { SDK_NAMES } from "../sdk/sdk-names.ts";
import { byDepth, inGate } from "../suite/depth.ts";
import { freePort } from "../suite/free-ports.ts";
import { MembersSite } from "../tools/audit/members-site.ts";
import { toyCache } from "../tools/audit/toy-cache.ts";
import { generatedLog } from "../tools/generated-log.ts";
import { folderWith, type InstalledPackage, run, tool } from "./installed-package.ts";

const VIRTUAL_TIME_WORKER = fileURLToPath(new URL("../../local/runtime/virtual-time.worker.ts", import.meta.url));

const installed = inject("installed");
/** The site behind the edge on virtual time, and the one behind those on the machine's. */
const origin = new ScriptedOrigin(() => BEGINNING);
const ownersOrigin = new ScriptedOrigin(Date.now);
let testEdgeScript: string;
let edge: EdgeRuntime;
let settings: Record<string, string>;

beforeAll(async () => {
  await origin.comeUp();
  await ownersOrigin.comeUp();
  ownersOrigin.reply("/own", { body: "own" });
  testEdgeScript = await bundleWorker(VIRTUAL_TIME_WORKER);
  const variables = { SITE: { origin: origin.url }, TIDEMARK_TOKEN: TOKEN, TIDEMARK_HOSTS: "*" };
  edge = await startEdgeRuntime({ script: testEdgeScript, variables }, { port: 0 });
  await setClock(BEGINNING);
  settings = { TIDEMARK_ENDPOINT: edge.url.origin, TIDEMARK_TOKEN: TOKEN };
});

afterAll(async () => {
  await edge?.stop();
  await origin.goDown();
  await ownersOrigin.goDown();
});

/** Makes the edge hold a page. */
async function warm(path: string): Promise<void> {
  origin.reply(path, { fields: { "cache-control": "max-age=600" }, body: path });
  expect(await xCacheOf(edge, path)).toBe("MISS");
  expect(await xCacheOf(edge, path)).toBe("HIT");
}

let now: number;

async function setClock(to: number): Promise<void> {
  now = to;
  await (await fetch(new URL(`/_virtual-time?now=${now}`, edge.url))).text();
}

/** Lets a purge settle, on the edge's own clock. */
async function settle({ settlesInMs }: Pick<ReceiptBody, "settlesInMs">): Promise<void> {
  await setClock(now + settlesInMs);
}

async function xCacheOf({ url }: Pick<EdgeRuntime, "url">, path: string): Promise<string | null> {
  const answer = await fetch(new URL(path, url));
  await answer.text();
  return answer.headers.get("x-cache");
}

/** The entries for frameworks, none of which is installed beside the package. */
const FRAMEWORKS = ["express", "fastify", "hono", "next", "respond"];

const COMMONJS_TOO = [...FRAMEWORKS.map((name) => `./${name}`), "./local", "./local/matchers"];

describe("what is published", () => {
  test("The build has nothing to warn of", () => {
    expect(installed.buildWords).toContain("Build complete");
    expect(installed.buildWords.replaceAll(/^npm warn .*$/gm, "")).not.toMatch(/warn|error/i);
  });

  test("The tarball holds the build, its licences, the docs and the package's metadata", () => {
    const outside = installed.packed.filter((path) => !/^(dist\/package|docs)\//.test(path));
    expect(outside.filter((path) => path !== "README.md")).toEqual(["LICENSE", "package.json"]);
    expect(installed.packed.filter((path) => path.includes("licenses"))).toEqual(
      ["commander", "leven", "robots-parser", "structured-headers", "yaml"].map(
        (name) => `dist/package/licenses/${name}.txt`,
      ),
    );
  });

  test("Every relative link of the README and of the docs leads to a file of the tarball", async () => {
    const pages = installed.packed.filter((path) => path.endsWith(".md"));
    const links: { page: string; target: string }[] = [];
    for (const page of pages) {
      const text = await readFile(join(installed.folder, "node_modules/tidemark", page), "utf8");
      for (const [, link] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
        if (!/^https?:/.test(link!)) links.push({ page, target: join(dirname(page), link!) });
      }
    }
    expect(links.filter(({ page }) => page === "README.md").length).toBeGreaterThan(5);
    expect(links.length).toBeGreaterThan(40);
    const isPacked = (target: string) =>
      installed.packed.some((path) => path === target || path.startsWith(`${target}/`));
    expect(links.filter(({ target }) => !isPacked(target))).toEqual([]);
    expect(isPacked("CONTRIBUTING.md")).toBe(false);
  });

  test("The deployed worker has no path that sets its time", async () => {
    const path = "_virtual-time";
    expect((await codeBehind("virtual-time.worker.mjs")).join()).toContain(path);
    expect((await codeBehind("worker.mjs")).join()).not.toContain(path);
  });

  test("A worker, a server and a backend do not load the tools", { tags: ["deep"] }, async () => {
    const entries = installed.packed.flatMap((path) => /^dist\/package\/(\w[\w.-]*\.mjs)$/.exec(path)?.[1] ?? []);
    const servers = ["edge-program.mjs", "file-writer-thread.mjs", "site-thread.mjs", "worker-main.mjs"];
    const others = ["worker.mjs", "worker-internal.mjs", "index.mjs", "index.web.mjs", "testing.mjs", "local.mjs"];
    expect(entries).toEqual(expect.arrayContaining([...servers, ...others]));
    for (const entry of [...servers, ...others]) {
      const sources = await sourcesBehind(entry, "late too");
      expect(sources.length).toBeGreaterThan(0);
      expect(sources.filter((source) => source.startsWith("tools/"))).toEqual([]);
    }
  });

  test("A command loads the tools only if it is one, and init only with --import", { tags: ["deep"] }, async () => {
    const sources: { readonly name: string; readonly atOnce: string[]; readonly inAll: string[] }[] = [];
    for (const [name, file] of await commands()) {
      sources.push({
        name,
        atOnce: await sourcesBehind(file, "at once"),
        inAll: await sourcesBehind(file, "late too"),
      });
    }
    const loading = (when: "atOnce" | "inAll", source: string) =>
      sources.flatMap((each) => (each[when].some((path) => path.startsWith(source)) ? [each.name] : [])).sort();
    const tools = ["audit", "crawl", "import", "report", "warm"];
    expect(loading("atOnce", "tools/")).toEqual(tools);
    expect(loading("inAll", "tools/")).toEqual([...tools, "init", "replay"].sort());
    // Of the list of tidemark/internal a tool loads what it uses: only replay runs the edge itself.
    expect(loading("inAll", "worker/isolate.ts")).toEqual(["replay"]);
    expect(loading("inAll", "server/startup/prepare-server.ts")).toEqual(["check", "serve"]); // check of a server's config
  });

  test("An install brings the package, undici and zod, and runs nothing", async () => {
    const entries = await readdir(join(installed.folder, "node_modules"));
    expect(entries.filter((name) => !name.startsWith("."))).toEqual(["tidemark", "undici", "zod"]);
    const manifest = await manifestOf(installed);
    expect(Object.keys(manifest.dependencies)).toEqual(["undici", "zod"]);
    const scripts = Object.keys(manifest.scripts);
    expect(scripts.filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });

  test("The entries, the command and the files are these", async () => {
    const { exports, bin, files } = await manifestOf(installed);
    expect(Object.keys(exports)).toEqual([
      ".",
      "./testing",
      "./outbox/sqlite",
      "./outbox/pg",
      "./express",
      "./fastify",
      "./hono",
      "./next",
      "./opennext",
      "./opennext/config",
      "./respond",
      "./worker",
      "./worker/internal",
      "./local",
      "./local/matchers",
      "./package.json",
    ]);
    expect({ bin, files }).toEqual({ bin: { tidemark: "dist/package/cli.mjs" }, files: ["dist/package", "docs"] });
  });

  test("publint finds nothing", async () => {
    const [node, publint] = tool("publint");
    const { exit, stdout } = await run(node, [publint, "run", "--strict", installed.tarball], {
      cwd: installed.folder,
    });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("All good!") });
  });

  const MODULES_ALONE = ["./worker", "./opennext", "./opennext/config"];
  test.each([
    // node10 knows no `exports`; every TypeScript that understands Node 22 resolves as node16 or a bundler does. Apps of
    // these are CommonJS as often as not, and so are their tests under Jest.
    { entries: [".", "./testing", "./outbox/sqlite", "./outbox/pg", ...COMMONJS_TOO], profile: "node16" },
    // Workers are ES modules, and so is what they import: nothing can require it, because of `cloudflare:workers`. Node 22
    // requires an ES module where that is needed.
    ...byDepth({ test: [], gate: [], all: [{ entries: MODULES_ALONE, profile: "esm-only" }] }),
  ])("The types of $entries are right for $profile", async ({ entries, profile }) => {
    const [node, attw] = tool("attw");
    const args = [
      "--no-definitely-typed",
      "--no-emoji",
      "--no-color",
      "--profile",
      profile,
      "--entrypoints",
      ...entries,
    ];
    const { exit, stdout } = await run(node, [attw, installed.tarball, ...args], { cwd: installed.folder });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("OK (ESM)") });
  });
});

test("The types fit TypeScript 5.4, which checks those of libraries by default", { tags: ["deep"] }, async () => {
  const old = await fetchedFromNpm(["typescript@5.4.5", "@types/node@22.19.0"]);
  if ("missing" in old) throw new Error(old.missing);
  const packages = join(old.folder, "node_modules");
  const folder = await folderWith(installed, "typescript-5.4", []);
  const imports = ["tidemark", "tidemark/testing", "tidemark/express", "tidemark/respond", "tidemark/local"];
  await writeFile(join(folder, "app.mts"), imports.map((name) => `export * from "${name}";\n`).join(""));
  const types = ["--types", "node", "--typeRoots", join(packages, "@types")];
  const args = ["--noEmit", "--strict", "--target", "es2022", "--lib", "esnext,dom", "--module", "nodenext", ...types];
  const { exit, stdout } = await run(process.execPath, [join(packages, "typescript/bin/tsc"), ...args, "app.mts"], {
    cwd: folder,
  });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "" });
});

/** A backend's script: it purges the page of its argument, and says what it has seen. */
const BACKEND = `
const url = process.argv[2];
const receipt = await sdk.createPurger().purgeUrls(url);
const recording = testing.createRecordingPurger();
await recording.purgeTags("a");
await recording.close();
const refused = await recording.purgeTags("b").catch((error) => error);
console.log(JSON.stringify({
  resolved,
  names: Object.keys(sdk).sort(),
  testingNames: Object.keys(testing).sort(),
  recorded: recording.calls,
  isOneFamily: refused instanceof sdk.PurgeError,
  settlesInMs: receipt.settlesInMs,
}));`;

const SCRIPTS = {
  "backend.mjs": `
import * as sdk from "tidemark";
import * as testing from "tidemark/testing";
const resolved = import.meta.resolve("tidemark");
${BACKEND}`,
  "backend.cjs": `
const sdk = require("tidemark");
const testing = require("tidemark/testing");
const resolved = require.resolve("tidemark");
(async () => {${BACKEND}})();`,
};

describe("the SDK, installed", () => {
  interface Resolution {
    readonly script: keyof typeof SCRIPTS;
    readonly conditions: readonly string[];
    readonly file: string;
  }
  const purges = async ({ script, conditions, file }: Resolution) => {
    const path = `/${[script, ...conditions].join("-")}`;
    await writeFile(join(installed.folder, script), SCRIPTS[script]);
    await warm(path);

    const args = [...conditions.map((name) => `--conditions=${name}`), script, path];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: installed.folder, env: settings });

    expect(stderr).toBe("");
    const seen = JSON.parse(stdout) as { settlesInMs: number };
    expect(seen).toEqual({
      resolved: expect.stringMatching(new RegExp(`/dist/package/${file.replaceAll(".", "\\.")}$`)),
      names: SDK_NAMES,
      testingNames: ["createRecordingPurger", "findUntagged"],
      recorded: [{ tags: ["a"] }],
      isOneFamily: true,
      settlesInMs: expect.any(Number),
    });
    await settle(seen);
    expect(await xCacheOf(edge, path)).toBe("MISS");
  };
  const TITLE = "$script purges the running edge over $file, under the conditions $conditions";
  test.for<Resolution>(
    inGate(2, [
      { script: "backend.mjs", conditions: [], file: "index.mjs" },
      { script: "backend.cjs", conditions: [], file: "index.cjs" },
      { script: "backend.mjs", conditions: ["workerd"], file: "index.web.mjs" },
    ]),
  )(TITLE, purges);
  test.for<Resolution>([
    { script: "backend.cjs", conditions: ["workerd"], file: "index.web.cjs" },
    { script: "backend.mjs", conditions: ["edge-light"], file: "index.web.mjs" },
    { script: "backend.cjs", conditions: ["browser"], file: "index.web.cjs" },
  ])(TITLE, { tags: ["deep"] }, purges);

  test.each(
    inGate(1, [
      ["import", "22.18.0"],
      ["require", "23.11.0"],
    ]),
  )("%s on Node %s says which Node it needs, before undici fails", async (kind, version) => {
    const oldNode = join(installed.folder, "old-node.cjs");
    await writeFile(
      oldNode,
      `
      const { registerHooks } = require("node:module");
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
      registerHooks({
        load: (url, context, next) => /node_modules.undici/.test(url)
          ? { format: "commonjs", source: 'exports.Agent = exports.EnvHttpProxyAgent = exports.fetch = exports.Pool = null; throw new TypeError("undici was loaded")', shortCircuit: true }
          : next(url, context),
      });`,
    );
    const script = `
      const load = (name) => ${kind === "import" ? "import(name)" : "Promise.resolve(name).then(require)"};
      load("undici").catch(({ message }) => console.log(message))
        .then(() => load("tidemark")).catch(({ message }) => console.log(message));`;
    const args = ["--require", oldNode, "--input-type=commonjs", "--eval", script];
    const { stdout } = await run(process.execPath, args, { cwd: installed.folder });
    const needed = "tidemark needs Node 22.19 or a later 22, or 24 or later, because ";
    expect(stdout).toContain(`undici was loaded\nthis is Node ${version}, but ${needed}`);
  });

  test("Its types exist for both kinds of modules, and reject wrong calls", { tags: ["deep"] }, async () => {
    const { folder } = installed;
    const names = "createPurger, PurgeRejected, type PurgeRequest, type Receipt, tagResponse";
    const lines = `
import { ${names} } from "tidemark";
import { createRecordingPurger, type RecordingPurger } from "tidemark/testing";
export async function purge(request: PurgeRequest): Promise<Receipt> {
  // @ts-expect-error A kind that is misspelt.
  await createPurger().purge({ tag: ["a"] });
  const recording: RecordingPurger = createRecordingPurger();
  tagResponse(new Response(), ["a"]);
  return await recording.purge(request).catch((error: unknown) => {
    throw error instanceof PurgeRejected ? new Error(error.errors[0]?.path) : error;
  });
}`;
    await writeFile(join(folder, "types.mts"), lines);
    await writeFile(join(folder, "types.cts"), lines);
    const conditions = [{}, { customConditions: ["workerd"] }];
    for (const more of conditions) {
      const compilerOptions = { ...STRICT, module: "nodenext", lib: ["es2024", "dom", "esnext.disposable"], ...more };
      await expectTypesToHold(folder, { compilerOptions: { ...compilerOptions, types: [] }, include: ["types.*"] });
    }
  });
});

/** A backend's script: it purges a page through an outbox in SQLite, with the purger of the other entry. */
const OUTBOX = `
const database = new sqlite.DatabaseSync(":memory:");
const outbox = outboxes.createOutbox({ database, purger: sdk.createPurger() });
outbox.createTable();
database.exec("BEGIN");
const id = outbox.enqueue(database, { urls: [process.argv[2]] });
database.exec("COMMIT");
const { sent } = await outbox.drain();
console.log(JSON.stringify({
  names: [Object.keys(outboxes).sort(), Object.keys(pg).sort()],
  isSent: sent[0].id === id,
  settlesInMs: sent[0].receipt.settlesInMs,
}));`;

const OUTBOX_SCRIPTS = {
  "outbox.mjs": `
import * as sqlite from "node:sqlite";
import * as sdk from "tidemark";
import * as outboxes from "tidemark/outbox/sqlite";
import * as pg from "tidemark/outbox/pg";
${OUTBOX}`,
  "outbox.cjs": `
const sqlite = require("node:sqlite");
const sdk = require("tidemark");
const outboxes = require("tidemark/outbox/sqlite");
const pg = require("tidemark/outbox/pg");
(async () => {${OUTBOX}})();`,
};

describe("the outboxes, installed", () => {
  test.for(Object.keys(OUTBOX_SCRIPTS) as (keyof typeof OUTBOX_SCRIPTS)[])(
    "%s purges the running edge, without any database client installed",
    async (script) => {
      const path = `/${script}`;
      await writeFile(join(installed.folder, script), OUTBOX_SCRIPTS[script]);
      await warm(path);
      const { stdout } = await run(process.execPath, [script, path], { cwd: installed.folder, env: settings });
      const seen = JSON.parse(stdout) as { settlesInMs: number };
      expect(seen).toEqual({
        names: [
          ["TABLE_SQL", "createOutbox"],
          ["TABLE_SQL", "createOutbox"],
        ],
        isSent: true,
        settlesInMs: expect.any(Number),
      });
      await settle(seen);
      expect(await xCacheOf(edge, path)).toBe("MISS");
    },
  );

  test("Their types take the clients of both databases, and give the receipts of the purger", {
    tags: ["deep"],
  }, async () => {
    const folder = await folderWith(installed, "owner-with-databases", [
      "pg",
      "@types/pg",
      "@types/better-sqlite3",
      "@types/node",
    ]);
    await writeFile(
      join(folder, "types.mts"),
      `
import { DatabaseSync } from "node:sqlite";
import type BetterSqlite3 from "better-sqlite3";
import type pg from "pg";
import { createPurger, type Receipt } from "tidemark";
import { createOutbox as createPgOutbox } from "tidemark/outbox/pg";
import { createOutbox } from "tidemark/outbox/sqlite";
const purger = createPurger();
export async function send(better: BetterSqlite3.Database, pool: pg.Pool, client: pg.PoolClient): Promise<Receipt[]> {
  const database = new DatabaseSync(":memory:");
  const outboxes = [createOutbox({ database, purger }), createOutbox({ database: better, purger })];
  for (const outbox of outboxes) outbox.enqueue(better, { tags: new Set(["a"]) });
  const inPg = createPgOutbox({ database: pool, purger });
  await inPg.enqueue(client, { urls: [new URL("https://www.example.com/")] }, { reason: "r" });
  // @ts-expect-error It sends nothing, and so takes no deadline.
  await inPg.enqueue(client, { tags: ["a"] }, { deadlineMs: 5 });
  // @ts-expect-error A dry run has no answer.
  outboxes[0]!.enqueue(database, { tags: ["a"] }, { dryRun: true });
  const { sent } = await inPg.drain();
  return sent.map(({ receipt }) => receipt);
}`,
    );
    const compilerOptions = { ...STRICT, module: "nodenext", lib: ["es2024", "esnext.disposable"], types: ["node"] };
    const older = await fetchedFromNpm(["typescript@5.9.3"]);
    if ("missing" in older) throw new Error(older.missing);
    for (const compiler of [undefined, join(older.folder, "node_modules/typescript/bin/tsc")]) {
      await expectTypesToHold(folder, { compilerOptions, include: ["types.mts"] }, compiler);
    }
  });
});

describe("the entries for frameworks, installed", () => {
  test("they need none of the frameworks, and export these names", async () => {
    const script = `
      for (const name of ${JSON.stringify(FRAMEWORKS)}) {
        const entry = await import("tidemark/" + name);
        console.log(name, Object.keys(entry).join(" "));
      }
      const { createRequire } = await import("node:module");
      const { tidemark } = createRequire(process.cwd() + "/a.cjs")("tidemark/express");
      const { tag } = await import("tidemark/express");
      // What is required and what is imported have the requests in common.
      tidemark()({}, { once() {}, on() {}, writeHead() {}, end() {} }, () => console.log(tag("song:1") === undefined));`;
    const args = ["--no-warnings", "--input-type=module", "--eval", script];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: installed.folder });
    expect(stderr).toBe("");
    const middleware = "editorCookie purgeLater purgeNow setEditorCookie tag";
    expect(stdout.trimEnd().split("\n")).toEqual([
      ...["express", "fastify", "hono"].map((name) => `${name} ${middleware} tidemark`),
      "next editorCookie withPurge",
      "respond editorCookie purgeLater purgeNow respond setEditorCookie tag",
      "true",
    ]);
  });

  test("their types exist without a framework's types, and reject wrong calls", { tags: ["deep"] }, async () => {
    const { folder } = installed;
    const lines = `
import { createPurger, type Receipt } from "tidemark";
import { tidemark as forExpress, setEditorCookie } from "tidemark/express";
import { tidemark as forFastify } from "tidemark/fastify";
import { tidemark as forHono, type RequestOptions } from "tidemark/hono";
import { withPurge } from "tidemark/next";
import { purgeLater, purgeNow, respond, tag } from "tidemark/respond";
const purger = createPurger();
const options: RequestOptions = { purger, maxTags: 50, onPurgeError: (error) => console.error(error) };
export const middleware = [forExpress(options), forHono(), forFastify] as const;
// @ts-expect-error An option that is misspelt.
forExpress({ purgers: purger });
// @ts-expect-error Next's handler purges, so it needs a purger.
withPurge(class { async revalidateTag(): Promise<void> {} }, {});
export const answer: Promise<Response> = respond(async () => {
  tag("a", ["b"], new Set(["c"]));
  purgeLater({ tags: ["a"], urls: [new URL("https://www.example.com/")] });
  // @ts-expect-error A kind that is misspelt.
  purgeLater({ tag: ["a"] });
  const receipt: Receipt | null = await purgeNow({ reason: "saved" });
  return setEditorCookie(new Response(), receipt);
}, options);`;
    await writeFile(join(folder, "frameworks.mts"), lines);
    const compilerOptions = { ...STRICT, module: "nodenext", lib: ["es2024", "dom", "esnext.disposable"], types: [] };
    await expectTypesToHold(folder, { compilerOptions, include: ["frameworks.mts"] });
  });
});

describe("the command, installed", () => {
  test("npx tidemark purge purges the running edge", async () => {
    await warm("/npx");
    const args = ["--no", "tidemark", "purge", "--url", "/npx", "--json"];
    const { exit, stdout } = await run("npx", args, { cwd: installed.folder, env: settings });
    expect(exit).toBe(0);
    await settle(JSON.parse(stdout) as ReceiptBody);
    expect(await xCacheOf(edge, "/npx")).toBe("MISS");
  });

  test("A command that lacks packages prints the line that installs them", { tags: ["deep"] }, async () => {
    const { exit, stdout, stderr } = await run("npx", ["--no", "tidemark", "dev"], { cwd: installed.folder });
    const { miniflare, esbuild } = (await manifestOf(installed)).devDependencies;
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(`\n  npm install --save-dev miniflare@${miniflare} esbuild@${esbuild}\n`);
  });

  test.each([
    ["dev", /^ {2}--origin <url> /m],
    ["check", /^ {2}--env <name> /m],
  ])("tidemark %s --help needs none of them", { tags: ["deep"] }, async (command, line) => {
    const { exit, stdout } = await run("npx", ["--no", "tidemark", command, "--help"], { cwd: installed.folder });
    expect(exit).toBe(0);
    expect(stdout).toMatch(line);
  });

  test("startCdn, which imports them only when it is called, says the same", {
    tags: ["deep"],
  }, async () => {
    const script = `
      import { startCdn } from "tidemark/local";
      for (const given of [{ site: {} }, { config: "wrangler.toml" }]) {
        await startCdn(given).catch((error) => console.log(error.message));
      }`;
    const args = ["--input-type=module", "--eval", script];
    const { exit, stdout, stderr } = await run(process.execPath, args, { cwd: installed.folder });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const { miniflare, esbuild, wrangler } = (await manifestOf(installed)).devDependencies;
    const message = (more: string) =>
      "startCdn needs packages that are not installed here. Install them with:\n\n" +
      `  npm install --save-dev miniflare@${miniflare} esbuild@${esbuild}${more}\n\n`;
    expect(stdout).toBe(message("") + message(` wrangler@${wrangler}`));
  });

  test("npx tidemark report and replay need nothing but the package and a log", { tags: ["deep"] }, async () => {
    const folder = await folderWith(installed, "only-logs", []);
    await writeFile(join(folder, "access.log"), generatedLog({ seed: 1, requests: 500, days: 1 }));
    const report = await run("npx", ["--no", "tidemark", "report", "access.log", "--json"], { cwd: folder });
    expect(report.exit).toBe(0);
    const { requests, config } = JSON.parse(report.stdout) as { requests: { all: number }; config: string };
    await writeFile(join(folder, "tidemark.config.ts"), config);
    const flags = ["replay", "access.log", "--config", "tidemark.config.ts", "--json"];
    const replay = await run("npx", ["--no", "tidemark", ...flags], { cwd: folder });
    expect(replay.exit).toBe(0);
    expect(JSON.parse(replay.stdout)).toMatchObject({ edges: [{ requests: requests.all, failures: 0 }] });
  });

  test("npx tidemark audit needs nothing but the package and a site", { tags: ["deep"] }, async () => {
    const folder = await folderWith(installed, "only-an-audit", []);
    const site = new MembersSite();
    const cache = await toyCache(await site.start());
    const flags = ["--edge", cache.url.origin, "--as", "alice=env:ALICE", "--rate", "1000", "--json"];
    const audit = await run("npx", ["--no", "tidemark", "audit", ...flags, "/style.css", "/me.json"], {
      cwd: folder,
      env: { ALICE: site.logIn("alice") },
    });
    await cache[Symbol.asyncDispose]();
    await site.stop();
    expect(audit.exit).toBe(1);
    expect(JSON.parse(audit.stdout)).toMatchObject({ verdict: "findings", findings: [{ id: "shared:/me.json" }] });
  });

  test("npx tidemark crawl and warm need nothing but the package, and for a .png a package that they name", {
    tags: ["deep"],
  }, async () => {
    const folder = await folderWith(installed, "only-a-site", []);
    const npx = (...parameters: readonly string[]) => run("npx", ["--no", "tidemark", ...parameters], { cwd: folder });
    const site = ["--edge", ownersOrigin.url, "/own"];
    const crawl = await npx("crawl", ...site, "--json", "--chart", "chart.svg");
    expect(crawl.exit).toBe(0);
    expect(JSON.parse(crawl.stdout)).toMatchObject({ all: { second: { count: 1 } }, failed: { count: 0 } });
    expect(await readFile(join(folder, "chart.svg"), "utf8")).toMatch(/^<svg /);
    expect(await npx("warm", ...site)).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 page requested") });
    const { exit, stderr } = await npx("crawl", ...site, "--chart", "chart.png");
    expect(exit).toBe(2);
    expect(stderr).toMatch(/npm install --save-dev sharp@[\d.]+\n\nA chart as \.svg needs nothing\.\n$/);
  });

  test("tidemark dev runs the rules of a config that imports the package", { tags: ["deep"] }, async () => {
    const folder = await folderWith(installed, "owner-with-dev", ["miniflare", "esbuild"]);
    await writeFile(
      join(folder, "tidemark.config.ts"),
      `import { defineSite } from "tidemark/worker";
       export default defineSite({ origin: ${JSON.stringify(ownersOrigin.url)}, routes: [{ match: "/own", ttl: "1h" }] });`,
    );
    const port = await freePort();
    const args = [join(folder, "node_modules/.bin/tidemark"), "dev", "--port", String(port)];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    try {
      for await (const line of createInterface({ input: child.stdout })) if (line.includes("is up")) break;
      const dev = { url: new URL(`http://127.0.0.1:${port}`) };
      expect([await xCacheOf(dev, "/own"), await xCacheOf(dev, "/own")]).toEqual(["MISS", "HIT"]);
    } finally {
      child.stdout.resume();
      child.kill("SIGINT");
    }
    expect(await ended).toEqual([0, null]);
  });
});

test.each([
  ["the matchers", 'import "tidemark/local/matchers";', "expect.extend("],
  ["the check of Node's version", 'export { createPurger } from "tidemark";', "but tidemark needs Node"],
])("A bundler keeps the import of %s, which nothing is taken from", { tags: ["deep"] }, async (_, contents, kept) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: installed.folder },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    external: ["vitest"],
  });
  expect(outputFiles[0]?.text).toContain(kept);
});

test("A bundle of modules in which undici cannot be purges by the platform's fetch", { tags: ["deep"] }, async () => {
  const purge = `
    import { createPurger } from "tidemark";
    const purger = createPurger({ endpoint: "http://127.0.0.1:9", token: "${"t".repeat(32)}", retries: 0 });
    await purger.purgeTags("a").catch(({ name }) => console.log(name));`;
  const runBundle = async (...conditions: string[]) => {
    const outfile = join(installed.folder, "bundle.mjs");
    const stdin = { contents: purge, resolveDir: installed.folder };
    await build({ stdin, outfile, bundle: true, format: "esm", platform: "node", conditions, logLevel: "silent" });
    return run(process.execPath, [outfile], { cwd: installed.folder });
  };
  expect((await runBundle()).stderr).toContain('Dynamic require of "node:assert" is not supported');
  expect((await runBundle("edge-light")).stdout).toBe("PurgeUnreachable\n");
});

describe("the simulated CDN, installed", () => {
  test("Its types and those of the matchers exist, and reject wrong calls", { tags: ["deep"] }, async () => {
    const folder = await folderWith(installed, "tests-with-types", ["vitest", "@types/node"]);
    await writeFile(
      join(folder, "types.mts"),
      `
import { assertHit, type Cdn, startCdn } from "tidemark/local";
import "tidemark/local/matchers";
import { expect } from "vitest";
export async function check(): Promise<void> {
  await using cdn: Cdn<"fra" | "syd"> = await startCdn({ site: {}, regions: ["fra", "syd"] });
  // @ts-expect-error A region that there is not.
  await expect(cdn.get("/", { from: "nyc" })).toHit();
  // @ts-expect-error A matcher that is misspelt.
  await expect(cdn.get("/")).toHitt();
  await expect(cdn.get("/")).toHaveAgeAbout(3600);
  await assertHit(cdn.get("/"));
  await (await cdn.purger.purgeTags("a")).settled();
}`,
    );
    // All that is read but vitest's own types, which need the browser's, is checked: ours stand beside the script.
    const lib = ["es2024", "dom", "dom.iterable", "esnext.disposable"];
    const compilerOptions = { ...STRICT, module: "nodenext", lib, types: ["node"] };
    await expectTypesToHold(folder, { compilerOptions, include: ["types.mts"] });
  });

  test.each([
    { runner: "vitest", packages: ["vitest", "@types/node"], fetched: [] },
    { runner: "@jest/globals", packages: [], fetched: ["@jest/globals@30.5.2"] },
  ])("In a project of CommonJS the matchers are those of $runner", { tags: ["deep"] }, async (each) => {
    const folder = await folderWith(installed, `commonjs-${basename(each.runner)}`, each.packages);
    if (each.fetched.length > 0) {
      const project = await fetchedFromNpm(each.fetched);
      if ("missing" in project) throw new Error(project.missing);
      await cp(join(project.folder, "node_modules"), join(folder, "node_modules"), { recursive: true });
    }
    await writeFile(join(folder, "package.json"), "{}");
    await writeFile(
      join(folder, "types.ts"),
      `
import { startCdn } from "tidemark/local";
import "tidemark/local/matchers";
import { expect } from "${each.runner}";
export async function check(): Promise<void> {
  const cdn = await startCdn({ site: {} });
  await expect(cdn.get("/")).toHit();
  await expect(cdn.get("/")).not.toHaveAgeAbout(3600);
  // @ts-expect-error A matcher that is misspelt.
  await expect(cdn.get("/")).toHitt();
}`,
    );
    const lib = ["es2024", "dom", "dom.iterable", "esnext.disposable"];
    const compilerOptions = { ...STRICT, module: "nodenext", moduleResolution: "nodenext", lib, types: ["node"] };
    await expectTypesToHold(folder, { compilerOptions, include: ["types.ts"] });
  });
});

/** All that an owner has to write. */
const OWNER = `
import { createEdge, defineSite } from "tidemark/worker";
export { PurgeLog } from "tidemark/worker";

const site = defineSite({ origin: "https://origin.example.com", routes: [{ match: "/own", ttl: "1h" }] });
export default createEdge(site);
`;

describe("the worker, installed", () => {
  test("It exports these names", async () => {
    const { metafile } = await build({
      stdin: { contents: 'export * from "tidemark/worker";', resolveDir: installed.folder },
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      external: ["cloudflare:*"],
    });
    const [output] = Object.values(metafile.outputs);
    expect(output?.exports.toSorted()).toEqual(["PurgeLog", "SiteError", "createEdge", "defineSite"]);
  });

  test("An owner's worker of six lines is bundled and runs", async () => {
    const file = join(installed.folder, "index.ts");
    await writeFile(file, OWNER);
    const variables = { TIDEMARK_ORIGIN: ownersOrigin.url, TIDEMARK_HOSTS: "*" };
    const own = await startEdgeRuntime({ script: await bundleWorker(file), variables }, { port: 0 });
    try {
      expect([await xCacheOf(own, "/own"), await xCacheOf(own, "/own")]).toEqual(["MISS", "HIT"]);
    } finally {
      await own.stop();
    }
  });

  test("Its types exist, and reject wrong calls", { tags: ["deep"] }, async () => {
    const folder = await folderWith(installed, "owner-with-types", ["@cloudflare/workers-types"]);
    await writeFile(
      join(folder, "index.ts"),
      `${OWNER}
// @ts-expect-error A key that is misspelt.
defineSite({ origin: "https://origin.example.com", rotues: [] });
// @ts-expect-error A hook of the simulated CDN, which is not public.
createEdge(site, { acceptsWeakTokens: true });
import { behindEdge, TidemarkPurge } from "tidemark/opennext";
import { withTags } from "tidemark/opennext/config";
export const App = behindEdge({ fetch: async (request: Request, env: { A: string }) => new Response(env.A + request.url) });
export class Purge extends TidemarkPurge {}
export const cache = withTags({ name: "a", get: async () => null, set: async () => {}, delete: async () => {} });
// @ts-expect-error A cache that cannot forget.
withTags({ name: "a", get: async () => null, set: async () => {} });`,
    );
    const types = ["@cloudflare/workers-types"];
    const compilerOptions = { ...STRICT, module: "esnext", moduleResolution: "bundler", lib: ["es2024"], types };
    await expectTypesToHold(folder, { compilerOptions, include: ["index.ts"] });
  });
});

test("The SDK's types hold in a worker whose lib is es2024 alone, also those that can be disposed of", async () => {
  const folder = await folderWith(installed, "sdk-in-a-worker", ["@cloudflare/workers-types"]);
  await writeFile(
    join(folder, "index.ts"),
    `
import { createPurger, type PurgeBatch } from "tidemark";
import { tidemark } from "tidemark/hono";
import { createOutbox } from "tidemark/outbox/sqlite";
import { setEditorCookie } from "tidemark/respond";
import { createRecordingPurger } from "tidemark/testing";
export async function purge(batch: PurgeBatch): Promise<void> {
  await using purger = createPurger();
  await using recording = createRecordingPurger();
  await batch[Symbol.asyncDispose]();
  await purger.purgeTags("a");
  await recording.purgeTags("a");
}
export const used = [tidemark, createOutbox, setEditorCookie];`,
  );
  const types = ["@cloudflare/workers-types"];
  const compilerOptions = { ...STRICT, module: "esnext", moduleResolution: "bundler", lib: ["es2024"], types };
  await expectTypesToHold(folder, { compilerOptions, include: ["index.ts"] });
});

const STRICT = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false, target: "es2024" };

/** With the repository's TypeScript, unless another compiler is given. */
async function expectTypesToHold(folder: string, tsconfig: object, compiler?: string): Promise<void> {
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const [node, tsc] = tool("tsc");
  expect(await run(node, [compiler ?? tsc, "-p", "."], { cwd: folder })).toEqual({ exit: 0, stdout: "", stderr: "" });
}

/** Each command of the built command line, with the file of its code. */
async function commands(): Promise<Map<string, string>> {
  const program = installed.packed.find((path) => /^dist\/package\/program-/.test(path))!;
  const code = await readFile(join(installed.folder, "node_modules/tidemark", program), "utf8");
  const found = code.matchAll(/import\("\.\/([^"]+)"\)\)\.(\w+)Command\(/g);
  return new Map([...found].map(([, file, name]) => [name!, file!]));
}

/** The sources of a file of the build and of all that it imports, as the comments of the build name them. */
async function sourcesBehind(file: string, when: "at once" | "late too"): Promise<string[]> {
  const code = await codeBehind(file, when);
  return code.flatMap((each) => [...each.matchAll(/^\/\/ (\S+\.ts)$/gm)].map(([, source]) => source!));
}

/** The code of a file of the build and of all that it imports, of the build too. */
async function codeBehind(file: string, when: "at once" | "late too" = "late too"): Promise<string[]> {
  const folder = join(installed.folder, "node_modules/tidemark/dist/package");
  const { metafile, errors } = await build({
    entryPoints: [join(folder, file)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
    ignoreAnnotations: true, // Node runs an import of which nothing is used.
  });
  expect(errors).toEqual([]);
  const paths = new Set(Object.values(metafile.outputs).map(({ entryPoint }) => entryPoint!));
  for (const path of paths) {
    for (const each of metafile.inputs[path]!.imports) {
      if (!each.external && (when === "late too" || each.kind !== "dynamic-import")) paths.add(each.path);
    }
  }
  return Promise.all([...paths].map((path) => readFile(path, "utf8")));
}

interface Manifest {
  readonly exports: object;
  readonly bin: object;
  readonly files: readonly string[];
  readonly scripts: object;
  readonly dependencies: object;
  readonly devDependencies: Readonly<Record<string, string>>;
}

async function manifestOf({ folder }: InstalledPackage): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "node_modules/tidemark/package.json"), "utf8")) as Manifest;
}
