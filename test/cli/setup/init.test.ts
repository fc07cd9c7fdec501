import { spawn, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, win32 } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { initProject } from "../../../cli/init/init-project.ts";
import { initServer } from "../../../cli/init/init-server.ts";
import { hiddenFromUnit } from "../../../cli/init/server-files.ts";
import { hostOf, originOf, passedOf } from "../../../cli/init/site-answers.ts";
import { run } from "../../packed/installed-package.ts";
import { inGate } from "../../suite/depth.ts";
import { ON_WINDOWS, windowsPathsIn } from "../../suite/on-windows.ts";
import { tidemark } from "../run-command.ts";

const CLI = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const ANSWERS = { origin: "https://origin.example.com", host: "www.example.com", passed: ["/admin"] };
const FLAGS = ["init", "--origin", ANSWERS.origin, "--host", ANSWERS.host];

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-init-"));
});

afterEach(() => rm(folder, { recursive: true }));

const put = (file: string, content: string) => writeFile(join(folder, file), content);
const get = (file: string) => readFile(join(folder, file), "utf8");
const manifest = async () => JSON.parse(await get("package.json")) as Record<string, Record<string, string>>;
const init = (args: readonly string[], cwd = folder) => tidemark({ args, cwd });

async function outcomes(force = false): Promise<Record<string, string>> {
  const { written } = await initProject({ folder, answers: ANSWERS, force });
  return Object.fromEntries(written.map(({ file, outcome }) => [file, outcome]));
}

describe("tidemark init --server", () => {
  const SERVER = [...FLAGS, "--server", "--pass", "/admin"];

  test("writes a config, a unit and a private token file, and no worker", async () => {
    const { exit, stdout } = await init(SERVER);
    expect(exit).toBe(0);
    const files = [".gitignore", "package.json", "tidemark.config.ts", "tidemark.env", "tidemark.service"];
    expect((await readdir(folder)).sort()).toEqual(files);
    for (const file of files) expect(stdout).toContain(`written    ${file}`);
    expect(stdout.match(/^ {2}\d\. /gm)).toHaveLength(4);
    expect((await stat(join(folder, "tidemark.env"))).mode & 0o777).toBe(0o600);
    expect(await get(".gitignore")).toContain("tidemark.env\n");
    expect(await get("tidemark.service")).toContain(`WorkingDirectory=${folder}\n`);
    expect(await manifest()).toMatchObject({ scripts: { serve: "tidemark serve", check: "tidemark check" } });
  });

  test("keeps existing files, above all the token, and adds to package.json", async () => {
    await put("package.json", '{"name":"shop","scripts":{"check":"eslint"},"dependencies":{"tidemark":"1.0.0"}}');
    await put("tidemark.env", "TIDEMARK_TOKEN=mine");
    expect((await init([...SERVER, "--force"])).stdout).toMatch(/completed {2}package\.json: added scripts\.serve\n/);
    expect(await get("tidemark.env")).toBe("TIDEMARK_TOKEN=mine");
    expect(await manifest()).toMatchObject({
      name: "shop",
      scripts: { check: "eslint", serve: "tidemark serve" },
      dependencies: { tidemark: "1.0.0" },
    });
    expect((await init(SERVER)).stdout).toMatch(/^kept {7}package\.json\nkept {7}tidemark\.config\.ts\n/);
  });

  const SOCKET = "unix:/run/gunicorn.sock";
  const conf = (pass: string) => `http { server { server_name shop.example; location / { ${pass} } } }`;

  test.each([
    { named: "by --origin", text: null, flags: ["--origin", SOCKET, "--host", "shop.example"] },
    { named: "by the imported file", text: conf(`proxy_pass http://${SOCKET}; proxy_cache c;`), flags: [] },
    {
      named: "by --origin for the imported file",
      text: conf("uwsgi_pass unix:/run/uwsgi.sock; uwsgi_cache c;"),
      flags: ["--origin", SOCKET],
    },
  ])("names a socket, $named, to the unit and to the commands", async ({ text, flags }) => {
    if (text !== null) await put("nginx.conf", text);
    const imported = text === null ? ["--pass", "/admin"] : ["--import", "nginx.conf"];
    const { exit, stderr } = await init(["init", "--server", ...imported, ...flags]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(await get("tidemark.env")).toMatch(/^TIDEMARK_ORIGIN=unix:\/run\/gunicorn\.sock$/m);
    expect(await get("tidemark.config.ts")).toMatch(/ serve --origin unix:\/run\/gunicorn\.sock\n {2}origin: "http:/);
  });

  test("says which line an existing token file needs for a socket", async () => {
    const withSocket = ["init", "--server", "--origin", SOCKET, "--host", "shop.example", "--pass", "/admin"];
    await put("tidemark.env", "TIDEMARK_TOKEN=mine\n");
    expect((await init(withSocket)).stdout).toContain(
      `kept       tidemark.env: it needs this line: TIDEMARK_ORIGIN=${SOCKET}\n`,
    );
    await put("tidemark.env", `TIDEMARK_TOKEN=mine\nTIDEMARK_ORIGIN=${SOCKET}\n`);
    expect((await init(withSocket)).stdout).toContain("kept       tidemark.env\n");
  });

  /** A folder whose name has what means something in a unit (systemd.unit(5), "Specifiers"; systemd.service(5)). */
  const SPECIAL = "50%n off $HOME";

  test("writes a unit for a folder of any name", async () => {
    const special = join(folder, SPECIAL);
    await mkdir(special);
    await init(SERVER, special);
    const unit = await get(`${SPECIAL}/tidemark.service`);
    const main = "node_modules/tidemark/dist/package/cli.mjs";
    expect(unit).toContain(` "${folder}/50%%n off $$HOME/${main}" serve `);
    expect(unit).toContain(`\nWorkingDirectory=${folder}/50%%n off $HOME\n`);
    expect(unit).toContain(`\nEnvironmentFile=${folder}/50%%n off $HOME/tidemark.env\n`);
  });

  test("says on another system that systemd is of Linux", async () => {
    const { exit, stdout } = await run(process.execPath, ["--import", ON_WINDOWS, CLI, ...SERVER], { cwd: folder });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^written {4}tidemark\.service: it is for Linux, .* run init --server there/m);
  });

  test("warns if the unit could not see Node, whose folder is below a user's", async () => {
    const written = await initServer({ folder, answers: ANSWERS, force: false }, "/home/ann/.nvm/bin/node");
    expect(written.find(({ file }) => file === "tidemark.service")!.note).toContain("/home/ann/.nvm/bin/node");
  });

  test.each([
    ["/home/ann/app.sock", true],
    ["/run/user/1000/app.sock", true],
    ["/run/app.sock", false],
  ])("warns if the unit could not reach the site's socket, as at %s: %s", async (path, isHidden) => {
    const answers = { ...ANSWERS, origin: `unix:${path}` };
    const written = await initServer({ folder, answers, force: false }, "/usr/bin/node");
    const note = written.find(({ file }) => file === "tidemark.service")!.note ?? "";
    expect(note.includes(`cannot reach the site's socket ${path}`)).toBe(isHidden);
  });

  test.each([
    ["/root", true],
    ["/tmp/shop", true],
    ["/var/tmp/shop", true],
    ["/homes/shop", false],
    ["/opt/home/shop", false],
  ])("whether the unit cannot see %s: %s", (path, isHidden) => expect(hiddenFromUnit(path)).toBe(isHidden));

  test.for([".", SPECIAL])(
    "systemd accepts the unit in the folder %s (skipped without systemd)",
    async (name, { skip }) => {
      const named = join(folder, name);
      const verify = () =>
        spawnSync("systemd-analyze", ["verify", join(named, "tidemark.service")], { encoding: "utf8" });
      if (verify().error) skip("systemd-analyze is not installed");
      await mkdir(named, { recursive: true });
      await init(SERVER, named);
      // What this machine lacks, such as the folder's package, is not a fault of the unit.
      const faults = verify()
        .stderr.split("\n")
        .filter((line) => line.includes("tidemark.service") && !/not executable|No such file/.test(line));
      expect(faults).toEqual([]);
    },
  );
});

describe("tidemark init", () => {
  test("fills an empty folder, and prints what it wrote and three steps", async () => {
    const { exit, stdout } = await init([...FLAGS, "--pass", "/admin"]);
    expect(exit).toBe(0);
    const files = [
      ".dev.vars",
      ".gitignore",
      "package.json",
      "test",
      "tidemark.config.ts",
      "tsconfig.json",
      "worker.ts",
    ];
    expect((await readdir(folder)).sort()).toEqual([...files, "wrangler.toml"]);
    for (const file of [...files, "wrangler.toml"]) expect(stdout).toContain(`written    ${file}`);
    expect(stdout.match(/^ {2}\d\. /gm)).toHaveLength(3);
    expect(stdout).toMatch(/1\. npm install && npm test .*\n {2}2\. npm run dev .*\n {2}3\. npm run deploy /);
    expect(await get("tidemark.config.ts")).toContain('{ match: "/admin{/*}?", pass: true }');
    expect((await get(".gitignore")).split("\n")).toContain(".dev.vars");
  });

  test.each(["/", "/*"])("never stores anything of a site whose paths are all named by --pass %s", async (all) => {
    expect((await init([...FLAGS, "--pass", all])).exit).toBe(0);
    expect(await get("tidemark.config.ts")).toContain('    { match: "/*", pass: true },\n');
    const written = await get("test/edge.test.ts");
    expect(written).toContain('expect(cdn).toNeverStore("/*")');
    expect(written).not.toContain("toHit");
  });

  test.each([
    ["pnpm-lock.yaml", "pnpm install && pnpm test", "pnpm run dev", "pnpm exec wrangler", "pnpm exec"],
    ["yarn.lock", "yarn install && yarn test", "yarn run dev", "yarn wrangler", "yarn"],
    ["bun.lock", "bun install && bun run test", "bun run dev", "bunx wrangler", "bunx --no-install"],
    ["bun.lockb", "bun install && bun run test", "bun run dev", "bunx wrangler", "bunx --no-install"],
    ["package-lock.json", "npm install && npm test", "npm run dev", "npx wrangler", "npx --no"],
  ])("beside a %s, its steps are for that package manager", async (lock, install, dev, exec, execInstalled) => {
    await put(lock, "");
    const { stdout } = await init(FLAGS);
    expect(stdout).toContain(`  1. ${install}  `);
    expect(stdout).toContain(`  2. ${dev}  `);
    expect(stdout).toContain(`then: ${exec} secret put TIDEMARK_TOKEN\n`);
    const build = `command = "${execInstalled} tidemark check"\n`;
    expect(await get("wrangler.toml")).toContain(build);
    expect((await init(["check", "--help"])).stdout).toContain(build);
  });

  test("a package of a workspace has the package manager of the folder above, up to the top of the repository", async () => {
    await put("pnpm-lock.yaml", "");
    const initIn = async (below: string) => {
      await mkdir(join(folder, below), { recursive: true });
      return (await init(FLAGS, join(folder, below))).stdout;
    };
    expect(await initIn("packages/edge")).toContain("1. pnpm install && pnpm test");
    await mkdir(join(folder, "other/.git"), { recursive: true });
    expect(await initIn("other")).toContain("1. npm install && npm test");
  });

  test("with --server, too, and what the owner's scripts do not run is run by its own word", async () => {
    await put("pnpm-lock.yaml", "");
    expect((await init([...FLAGS, "--server"])).stdout).toMatch(
      /1\. pnpm install\n.*; pnpm run check .*\n.* pnpm run serve /,
    );
    await put("package.json", '{ "scripts": { "dev": "vite" } }');
    expect((await init(FLAGS)).stdout).toContain("2. pnpm exec tidemark dev");
  });

  test("run again, it changes nothing", async () => {
    await outcomes();
    const before = await Promise.all((await readdir(folder)).filter((each) => each !== "test").map(get));
    expect(new Set(Object.values(await outcomes()))).toEqual(new Set(["kept"]));
    expect(await Promise.all((await readdir(folder)).filter((each) => each !== "test").map(get))).toEqual(before);
  });

  test("reads a .gitignore with a line of stars", async () => {
    await put(".gitignore", `${"*".repeat(60)} build ${"*".repeat(60)}\n`);
    expect(await outcomes()).toMatchObject({ ".gitignore": "completed" });
  });

  test("says if a config that it keeps lacks the new answers", { tags: ["deep"] }, async () => {
    await outcomes();
    const said = async (...flags: string[]) =>
      (await init(["init", ...flags])).stdout.match(/^kept .*config\.ts.*$/m)?.[0];
    const { origin, host } = ANSWERS;
    expect(await said("--origin", origin, "--host", host)).toBe("kept       tidemark.config.ts");
    const kept = "kept       tidemark.config.ts: ";
    expect(await said("--origin", "https://new.example.com", "--host", host)).toBe(
      `${kept}it does not name https://new.example.com; edit it, or replace it with --force`,
    );
    const part = host.replace(/^www\./, "");
    expect(await said("--origin", origin, "--host", part)).toBe(
      `${kept}it does not name ${part}; edit it, or replace it with --force`,
    );
    expect(await said("--origin", "https://new.example.com", "--host", "new.example.org")).toBe(
      `${kept}it does not name https://new.example.com and new.example.org; edit it, or replace it with --force`,
    );
  });

  test("keeps existing files, and says so", async () => {
    await put("worker.ts", "// mine");
    await put("wrangler.toml", 'name = "mine"\n');
    await put(".gitignore", "dist");
    await put(
      "package.json",
      '{\n\t"name": "shop",\n\t"scripts": { "test": "mocha", "dev": "vite" },\n\t"dependencies": { "vitest": "4.1.0" }\n}',
    );
    const { exit, stdout } = await init(FLAGS);
    expect(exit).toBe(0);
    expect(await get("worker.ts")).toBe("// mine");
    expect(await get("wrangler.toml")).toBe('name = "mine"\n');
    expect(await get(".gitignore")).toMatch(/^dist\n/);
    expect(stdout).toContain("kept       worker.ts");
    expect(stdout).toContain(
      "kept       wrangler.toml: it needs these lines, main above the first table:\n" +
        '    \n    main = "worker.ts"\n    \n    [[durable_objects.bindings]]\n',
    );
    expect(stdout).toContain("scripts.dev unchanged");
    // What the owner's own scripts do is not what the steps say.
    expect(stdout).toMatch(
      /1\. npm install && npm run test:edge .*\n {2}2\. npx tidemark dev .*\n {2}3\. npm run deploy /,
    );
    const { name, scripts, dependencies, devDependencies } = await manifest();
    expect(name).toBe("shop");
    expect(scripts).toMatchObject({ test: "mocha", dev: "vite", "test:edge": expect.stringContaining("vitest") });
    expect(dependencies).toMatchObject({ vitest: "4.1.0", tidemark: expect.any(String) });
    expect(devDependencies).not.toHaveProperty("vitest");
    expect(await get("package.json")).toMatch(/^\{\n\t"name"/);
  });

  test.each([
    { written: "for Workers", flags: [] },
    { written: "for a server", flags: ["--server"] },
  ])("$written, a package.json of Windows keeps its mark, line ends and tabs", async ({ flags }) => {
    await put("package.json", '\ufeff{\r\n\t"name": "shop"\r\n}\r\n');
    const { exit, stderr } = await init([...FLAGS, ...flags]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const text = await get("package.json");
    expect(text).toMatch(/^\ufeff\{\r\n\t"name": "shop",\r\n\t"scripts": \{\r\n\t\t/);
    expect(text).not.toMatch(/[^\r]\n/);
  });

  test("turns off the install scripts of its tools, unless the owner has decided", async () => {
    const lock = JSON.parse(await readFile("package-lock.json", "utf8")) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const withScripts = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    // The package `node` is for contributors alone.
    const names = withScripts.map(([path]) => path.replace(/^.*node_modules\//, "")).filter((name) => name !== "node");
    await outcomes();
    expect((await manifest()).allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));

    await put("package.json", JSON.stringify({ allowScripts: { "esbuild@0.28.1": true, sharp: true } }));
    await outcomes();
    expect((await manifest()).allowScripts).toEqual({ "esbuild@0.28.1": true, sharp: true, workerd: false });
  });

  test.each(["node_modules/wrangler", "app/node_modules/wrangler"])(
    "asks for the wrangler that is in %s, because another package of the app may need that one",
    async (path) => {
      await mkdir(join(folder, path), { recursive: true });
      await mkdir(join(folder, "app"), { recursive: true });
      const peerDependencies = { "@cloudflare/workers-types": "^5.20261117.1" };
      await put(`${path}/package.json`, JSON.stringify({ name: "wrangler", version: "4.164.0", peerDependencies }));
      await initProject({ folder: join(folder, "app"), answers: ANSWERS, force: false });
      expect(JSON.parse(await get("app/package.json")).devDependencies).toMatchObject({
        ...peerDependencies,
        wrangler: "^4.164.0",
      });
    },
  );

  test.each([
    ["none", null, "written", "allowBuilds:\n  esbuild: false\n  workerd: false\n"],
    [
      "one with comments",
      "packages:\n  - apps/* # all of them\ncatalog:\n  esbuild: ^0.25.0\n",
      "completed",
      "packages:\n  - apps/* # all of them\ncatalog:\n  esbuild: ^0.25.0\nallowBuilds:\n  esbuild: false\n  workerd: false\n",
    ],
    [
      "one in which pnpm asks",
      "allowBuilds:\n  esbuild: set this to true or false\n  sharp: true\n  workerd: set this to true or false\n",
      "completed",
      "allowBuilds:\n  esbuild: false\n  sharp: true\n  workerd: false\n",
    ],
    [
      "one that decides",
      "allowBuilds: { esbuild: true, workerd: false }\n",
      "kept",
      "allowBuilds: { esbuild: true, workerd: false }\n",
    ],
    [
      "one with comments in place of decisions",
      "allowBuilds:\n  # sharp: true\npackages:\n  - apps/*\n",
      "completed",
      "allowBuilds:\n  # sharp: true\n  esbuild: false\n  workerd: false\npackages:\n  - apps/*\n",
    ],
    [
      "one that decides on a version",
      "allowBuilds:\n  esbuild@0.25.0: true\n",
      "completed",
      "allowBuilds:\n  esbuild@0.25.0: true\n  workerd: false\n",
    ],
    [
      "one with decisions of pnpm 10",
      "onlyBuiltDependencies: [esbuild, sharp]\nignoredBuiltDependencies: [workerd]\n",
      "completed",
      "onlyBuiltDependencies: [ esbuild, sharp ]\nignoredBuiltDependencies: [ workerd ]\nallowBuilds:\n  esbuild: true\n  workerd: false\n",
    ],
    [
      "one with a decision of pnpm 10 on a version, and one of its own",
      "onlyBuiltDependencies:\n  - esbuild\n  - workerd@1.0.0\nallowBuilds:\n  esbuild: false\n",
      "completed",
      "onlyBuiltDependencies:\n  - esbuild\n  - workerd@1.0.0\nallowBuilds:\n  esbuild: false\n  workerd@1.0.0: true\n",
    ],
    [
      "one with the list of pnpm 10 that takes no other",
      "neverBuiltDependencies: [esbuild]\n",
      "kept",
      "neverBuiltDependencies: [esbuild]\n",
    ],
    ["one that is a list", "- apps/*\n", "kept", "- apps/*\n"],
    ["one that is no YAML", "allowBuilds: {\n", "kept", "allowBuilds: {\n"],
  ])("tells pnpm about install scripts in its own file, beside %s", async (_, before, outcome, after) => {
    await put("pnpm-lock.yaml", "");
    if (before !== null) await put("pnpm-workspace.yaml", before);
    expect(await outcomes()).toMatchObject({ "pnpm-workspace.yaml": outcome });
    expect(await get("pnpm-workspace.yaml")).toBe(after);
    expect((await manifest()).allowScripts).toBeUndefined();
  });

  test.each([
    [
      "package-lock.json",
      "package.json",
      '{ "workspaces": ["edge"] }',
      /"allowScripts": \{\s+"esbuild": false,\s+"workerd": false/,
    ],
    [
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      "packages: [edge]\n",
      /^packages: \[ ?edge ?\]\nallowBuilds:\n {2}esbuild: false\n/,
    ],
  ])("in a workspace with a %s, install scripts are denied in the %s above", async (lock, file, text, expected) => {
    await put(lock, "");
    await put(file, text);
    await mkdir(join(folder, "edge"));
    const { stdout } = await init(FLAGS, join(folder, "edge"));
    expect(stdout).toMatch(new RegExp(`^completed {2}\\.\\./${file}: added allow`, "m"));
    expect(await get(file)).toMatch(expected);
    expect(JSON.parse(await get("edge/package.json")).allowScripts).toBeUndefined();
  });

  test("replaces npm's placeholder script for tests", async () => {
    await put("package.json", JSON.stringify({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }));
    await outcomes();
    expect((await manifest()).scripts).toMatchObject({ test: expect.stringContaining("vitest run") });
  });

  test("--force replaces the edge's files, but never a secret or a package.json", async () => {
    await put("worker.ts", 'import { createEdge } from "tidemark/worker"; // mine');
    await put("tidemark.config.ts", "// mine");
    await put(".dev.vars", "TIDEMARK_TOKEN=mine\n");
    await put("package.json", '{"name":"shop"}');
    expect(await outcomes(true)).toMatchObject({
      "worker.ts": "replaced",
      "tidemark.config.ts": "replaced",
      ".dev.vars": "kept",
      "package.json": "completed",
    });
    expect(await get("worker.ts")).toContain("createEdge(site)");
    expect(await get(".dev.vars")).toBe("TIDEMARK_TOKEN=mine\n");
    expect((await manifest()).name).toBe("shop");
  });

  test("--force knows the edge's files in single quotes, too", async () => {
    await put("worker.ts", "import { createEdge } from 'tidemark/worker'; // mine");
    expect(await outcomes(true)).toMatchObject({ "worker.ts": "replaced" });
  });

  test("--force leaves the app's files alone", async () => {
    const tsconfig = '{ "include": ["src", "tidemark.config.ts"] }';
    await put("tsconfig.json", tsconfig);
    const worker = 'import { createPurger } from "tidemark";';
    await put("worker.ts", worker);
    const { stdout } = await init([...FLAGS, "--force"]);
    expect(stdout).toContain("kept       worker.ts: it is not the edge's, so --force leaves it\n");
    expect(stdout).toMatch(/^kept {7}tsconfig\.json: its types need /m);
    expect([await get("tsconfig.json"), await get("worker.ts")]).toEqual([tsconfig, worker]);
  });

  test.each([
    ["wrangler.jsonc", '{ "main": "src/index.ts" }'],
    ["wrangler.toml", 'main = "src/index.ts"\n'],
  ])("puts a separate worker in front of an app that has a %s, and does not change that", async (file, text) => {
    await put(file, text);
    await put("worker.ts", "// mine");
    await put("package.json", JSON.stringify({ name: "shop", scripts: { deploy: "wrangler deploy" } }));
    const { stdout } = await init(FLAGS);
    expect(await get(file)).toBe(text);
    expect(await get("worker.ts")).toBe("// mine");
    expect(await get("wrangler.edge.toml")).toMatch(/^name = "shop-edge"\nmain = "edge\.ts"\n/);
    expect(await get("edge.ts")).toContain("createEdge(site)");
    expect((await manifest()).scripts).toEqual({
      deploy: "wrangler deploy",
      test: "vitest run test/edge.test.ts",
      "dev:edge": "tidemark dev",
      "check:edge": "tidemark check --config wrangler.edge.toml",
      "deploy:edge": "wrangler deploy --config wrangler.edge.toml",
    });
    expect(stdout).toMatch(
      /3\. npm run deploy:edge +then: npx wrangler secret put TIDEMARK_TOKEN --config wrangler\.edge/,
    );
    expect(new Set(Object.values(await outcomes()))).toEqual(new Set(["kept"]));
  });

  test.each([
    ["wrangler.toml", 'name = "shop"\n\n[assets]\ndirectory = "./public"\n'],
    ["wrangler.jsonc", '{ "name": "shop", "assets": { "directory": "./public" } }'],
    ["wrangler.toml", 'pages_build_output_dir = "dist"\n'],
    ["wrangler.json", '{ "pages_build_output_dir": "dist" }'],
  ])("writes a config of its own beside a %s of static files: %s", async (file, text) => {
    await put(file, text);
    expect(await outcomes()).toMatchObject({ "wrangler.edge.toml": "written", "edge.ts": "written" });
    expect(await get(file)).toBe(text);
  });

  describe("in an app that is a worker", () => {
    const HOST_ALONE = ["init", "--host", ANSWERS.host];
    const SERVICES = '[[services]]\nbinding = "APP"\nservice = "shop"\n';

    test.each(
      inGate(1, [
        ["wrangler.json", '\ufeff{ "env": { "x": { "name": "other" } }, "name": "shop", "main": "src/index.ts" }'],
        [
          "wrangler.jsonc",
          `{ // "name": "comment",
           "vars": { "URL": "https://x.test/*", "LIST": ",]" /* "name": "other" */ },
           "name": "shop", "main": "src/index.ts", "routes": ["a", "b",],
         }`,
        ],
        ["wrangler.toml", '# name = "comment"\nname = "shop"\nmain = \'src/index.ts\'\n[env.x]\nname = "other"\n'],
      ]),
    )("without --origin, the edge asks the worker of %s by a service binding, and runs with it", async (file, text) => {
      await put(file, text);
      const { exit, stdout } = await init(HOST_ALONE);
      expect(exit).toBe(0);
      expect(await get(file)).toBe(text);
      expect(await get("wrangler.edge.toml")).toContain(SERVICES);
      expect(await get("tidemark.config.ts")).toContain('origin: { service: "APP" }');
      expect((await manifest()).scripts).toMatchObject({
        "dev:edge": `wrangler dev -c wrangler.edge.toml -c ${file} --envFile .edge.vars`,
      });
      expect(stdout).toMatch(
        /2\. npm run dev:edge .*your app\n {2}3\. npm run deploy:edge +after the app itself; then:/,
      );
      expect((await init(HOST_ALONE)).stdout).not.toMatch(/written|completed|replaced|:.*does not have/);
    });

    test("the edge's test starts the app, unless its code is not built yet", async () => {
      await put("wrangler.toml", 'name = "shop"\nmain = "app.js"\n');
      await init(HOST_ALONE);
      expect(await get("test/edge.test.ts")).not.toContain("startWorker");
      await rm(join(folder, "test"), { recursive: true });
      await put("app.js", "");
      await init(HOST_ALONE);
      expect(await get("test/edge.test.ts")).toContain('unstable_startWorker({\n    config: "wrangler.toml"');
    });

    test("that a framework builds, the edge runs with the config of the build, and asks for the build before", async () => {
      await put("wrangler.jsonc", '{ "name": "shop", "main": "@astrojs/cloudflare/entrypoints/server" }');
      await mkdir(join(folder, ".wrangler/deploy"), { recursive: true });
      await put(".wrangler/deploy/config.json", '{ "configPath": "../../dist/server/wrangler.json" }');
      const withoutBuild = (await init(HOST_ALONE)).stdout;
      expect((await manifest()).scripts!["dev:edge"]).toContain(
        "wrangler dev -c wrangler.edge.toml -c wrangler.jsonc ",
      );
      expect(withoutBuild).toContain(
        "Step 2 needs the app's build: main in wrangler.jsonc, @astrojs/cloudflare/entrypoints/server, is no file.",
      );
      await mkdir(join(folder, "dist/server"), { recursive: true });
      await put("dist/server/wrangler.json", '{ "name": "shop", "main": "entry.mjs" }');
      await put("package.json", "{}");
      await rm(join(folder, "test"), { recursive: true });
      const { stdout } = await init(HOST_ALONE);
      const built = "dist/server/wrangler.json";
      expect((await manifest()).scripts!["dev:edge"]).toContain(`wrangler dev -c wrangler.edge.toml -c ${built} `);
      expect(await get("test/edge.test.ts")).toContain(`unstable_startWorker({\n    config: "${built}"`);
      expect(stdout).not.toContain("needs the app's build");
    });

    describe("of which a framework's build writes the config,", () => {
      const BUILT = "dist/server/wrangler.json";
      const build = async (config: object) => {
        for (const each of [".wrangler/deploy", "dist/server"]) await mkdir(join(folder, each), { recursive: true });
        await put(".wrangler/deploy/config.json", `{ "configPath": "../../${BUILT}" }`);
        await put(BUILT, JSON.stringify(config));
      };

      test.each([
        ["none", null],
        ["one without main", "{}"],
      ])("the edge asks it, beside an owner's config: %s", async (_, text) => {
        if (text !== null) await put("wrangler.jsonc", text);
        await build({ name: "shop", main: "entry.mjs" });
        expect(await init(HOST_ALONE)).toMatchObject({ exit: 0, stderr: "" });
        expect(await get("wrangler.edge.toml")).toContain(SERVICES);
        expect((await manifest()).scripts!["dev:edge"]).toContain(`wrangler dev -c wrangler.edge.toml -c ${BUILT} `);
      });

      test.each([{ main: "entry.mjs" }, { assets: { directory: "../client" } }])(
        "no file is its own config, with --origin either: %j",
        async (config) => {
          await build({ name: "shop", ...config });
          expect(await init(FLAGS)).toMatchObject({ exit: 0 });
          const files = await readdir(folder);
          expect(files).toEqual(expect.arrayContaining(["edge.ts", "wrangler.edge.toml"]));
          expect(files).not.toContain("wrangler.toml");
        },
      );

      test("it is the edge's if it names a purge log", async () => {
        await build({ main: "worker.mjs", durable_objects: { bindings: [{ name: "PURGE_LOG" }] } });
        expect(await outcomes()).toMatchObject({ "wrangler.toml": "written" });
      });
    });

    test.each([
      ["wrangler.toml", 'name = "shop"\nmain = "src/index.ts"\n# name = "PURGE_LOG"\n'],
      ["wrangler.jsonc", '{ "name": "shop",\n  // { "name": "PURGE_LOG" }\n  "main": "src/index.ts" }'],
    ])("of which a comment alone names a purge log stays the app's: %s", async (file, text) => {
      await put(file, text);
      expect(await init(HOST_ALONE)).toMatchObject({ exit: 0, stderr: "" });
      expect(await get("wrangler.edge.toml")).toContain(SERVICES);
    });

    test("that a framework builds on Windows, the edge's files name the build's config with slashes", async () => {
      await put("wrangler.jsonc", '{ "name": "shop", "main": "@astrojs/cloudflare/entrypoints/server" }');
      const onWindows = (file: string) => win32.resolve(folder, file);
      await put(onWindows(".wrangler/deploy/config.json"), '{ "configPath": "../../dist/server/wrangler.json" }');
      await put(onWindows("dist/server/wrangler.json"), '{ "name": "shop", "main": "entry.mjs" }');
      const args = ["--import", windowsPathsIn("/package/built-config.ts"), CLI, ...HOST_ALONE];
      expect(await run(process.execPath, args, { cwd: folder })).toMatchObject({ exit: 0 });
      const built = "dist/server/wrangler.json";
      expect((await manifest()).scripts!["dev:edge"]).toContain(`wrangler dev -c wrangler.edge.toml -c ${built} `);
      expect(await get("test/edge.test.ts")).toContain(`config: "${built}"`);
    });

    test.each(
      inGate(1, [
        [
          "has a name in an environment only",
          "wrangler.toml",
          'main = "src/index.ts"\n[env.production]\nname = "shop"\n',
          "has no name at its top",
        ],
        ["has no name", "wrangler.jsonc", '{ "main": "src/index.ts" }', "has no name at its top"],
        ["is not JSON", "wrangler.jsonc", '{ "main": "src/index.ts"', "name both: tidemark init --origin"],
      ]),
    )("whose config %s, --origin is required, and nothing is written without it", async (_, file, text, words) => {
      await put(file, text);
      const { exit, stderr } = await init(HOST_ALONE);
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(words) });
      expect(await readdir(folder)).toEqual([file]);
    });

    test("whose config is not JSON keeps its files, and the edge gets others", async () => {
      await put("wrangler.jsonc", '{ "main": "src/index.ts"');
      await init(FLAGS);
      expect(await readdir(folder)).toEqual(expect.arrayContaining(["edge.ts", "wrangler.edge.toml"]));
    });

    test.each(['name = "shop"\nmain = "src/index.ts"\n', `"name" = "shop"\n'main' = "src/index.ts"\n`])(
      "with no flag at all, only the host is asked for: %j",
      async (text) => {
        await put("wrangler.toml", text);
        const { exit, stderr } = await init(["init"]);
        expect({ exit, stderr }).toEqual({
          exit: 2,
          stderr: expect.stringContaining("name the public host: tidemark init --host"),
        });
      },
    );

    test("--origin names another site, and --server has no services", { tags: ["deep"] }, async () => {
      await put("wrangler.toml", 'name = "shop"\nmain = "src/index.ts"\n');
      expect((await init([...HOST_ALONE, "--server"])).stderr).toContain("name both: tidemark init --origin");
      await init(FLAGS);
      expect(await get("tidemark.config.ts")).toContain(`origin: "${ANSWERS.origin}"`);
      expect(await get("wrangler.edge.toml")).not.toContain("[[services]]");
      expect((await manifest()).scripts).toMatchObject({ "dev:edge": "tidemark dev" });
      const { stdout } = await init(HOST_ALONE);
      expect(stdout).toContain(
        'tidemark.config.ts: it does not name { service: "APP" }; edit it, or replace it with --force',
      );
    });
  });

  const OWN_EDGE = '{ "main": "./src/worker.ts", "durable_objects": { "bindings": [{ "name": "PURGE_LOG" }] } }';

  test.each([
    ["wrangler.json", OWN_EDGE],
    ["wrangler.jsonc", `// mine\n${OWN_EDGE}`],
    ["wrangler.toml", 'main = "src/worker.ts"\n[[durable_objects.bindings]]\nname = "PURGE_LOG"\n'],
  ])("beside the owner's edge in a %s, it tests and runs that one, and writes no entry", async (file, text) => {
    await put(file, text);
    const { stdout } = await init(FLAGS);
    expect(await get(file)).toBe(text);
    expect(await readdir(folder)).not.toContain("worker.ts");
    expect(stdout).not.toMatch(/\bworker\.ts/);
    expect(await get("test/edge.test.ts")).toContain(`startCdn({ config: "${file}", `);
    expect(JSON.parse(await get("tsconfig.json")).include).toContain("src/worker.ts");
    expect((await manifest()).scripts).toMatchObject({
      test: "vitest run test/edge.test.ts",
      dev: "wrangler dev",
      check: "tidemark check",
      deploy: "wrangler deploy",
    });
    expect(stdout).toMatch(/2\. npm run dev .*your site\n/);
  });

  test("--force writes no TOML into a wrangler.json", async () => {
    await put("wrangler.json", OWN_EDGE);
    expect(await outcomes(true)).toMatchObject({ "wrangler.json": "kept" });
    expect(await get("wrangler.json")).toBe(OWN_EDGE);
  });

  test("its test names the wrangler.jsonc that still lacks the edge", async () => {
    await put("wrangler.jsonc", "{}");
    expect(await outcomes()).toMatchObject({ "worker.ts": "written", "wrangler.jsonc": "kept" });
    expect(await get("test/edge.test.ts")).toContain('startCdn({ config: "wrangler.jsonc", ');
    expect((await manifest()).scripts).toMatchObject({ dev: "tidemark dev" });
  });

  test.each([
    [
      "that is an edge's already",
      '{ "main": "worker.ts", "durable_objects": { "bindings": [{ "name": "PURGE_LOG" }] } }',
      "kept       wrangler.jsonc\n",
    ],
    [
      "that is an edge's without a worker, with the key that it needs",
      '{ "durable_objects": { "bindings": [{ "name": "PURGE_LOG" }] } }',
      'kept       wrangler.jsonc: it needs this key:\n    \n    "main": "worker.ts"\n',
    ],
    ["that is empty, with the keys that it needs", "{}", "kept       wrangler.jsonc: it needs these keys:\n"],
  ])("leaves a wrangler.jsonc alone %s, and writes no second config", { tags: ["deep"] }, async (_, text, line) => {
    await put("wrangler.jsonc", text);
    expect((await init(FLAGS)).stdout).toContain(line);
    expect(await get("wrangler.jsonc")).toBe(text);
    expect((await readdir(folder)).filter((file) => file.endsWith(".toml"))).toEqual([]);
  });

  test.each(
    inGate(1, [
      ["jest", { scripts: { test: "jest" }, devDependencies: { jest: "30" } }],
      ["node --test", { scripts: { test: "node --test" } }],
    ]),
  )("leaves the tests of %s as they are, and writes one for Node", async (_, own) => {
    await put("package.json", JSON.stringify(own));
    const { stdout } = await init(FLAGS);
    const { scripts, devDependencies } = await manifest();
    expect(scripts).toMatchObject({ ...own.scripts, "test:edge": "node --test edge-test.mjs" });
    expect(devDependencies).not.toHaveProperty("vitest");
    expect(stdout).toContain("1. npm install && npm run test:edge");
    expect(await readdir(folder)).not.toContain("test");
  });

  describe("gives wrangler dev the edge's token, and takes nothing from it that is there:", () => {
    const SECRET = /^SECRET=1\n# .*\nTIDEMARK_TOKEN="[\w-]{32}"\n$/;

    test("in .dev.vars, if there is one", async () => {
      await put(".dev.vars", "SECRET=1");
      await put(".env", "OTHER=1\n"); // wrangler does not read it
      expect((await init([...FLAGS, "--force"])).stdout).toContain("completed  .dev.vars: added TIDEMARK_TOKEN\n");
      expect(await get(".dev.vars")).toMatch(SECRET);
      expect(await get(".env")).toBe("OTHER=1\n");
      expect((await outcomes())[".dev.vars"]).toBe("kept");
    });

    test.each([
      [".env", "dist\n*.env\n", "dist\n*.env\nnode_modules/\n.wrangler/\n.tidemark/\n"],
      [".env.local", ".env*\n!.env.example", ".env*\n!.env.example\nnode_modules/\n.wrangler/\n.tidemark/\n"],
    ])("in an app's %s, which a .dev.vars would make wrangler forget", async (file, ignored, completed) => {
      await put(file, "SECRET=1\n");
      await put(".gitignore", ignored);
      const { stdout } = await init(FLAGS);
      const why = "added TIDEMARK_TOKEN here, because with a .dev.vars wrangler would no longer read this file";
      expect(stdout).toContain(`completed  ${file}: ${why}\n`);
      expect(await get(file)).toMatch(SECRET);
      expect(await readdir(folder)).not.toContain(".dev.vars");
      expect(await get(".gitignore")).toBe(completed);
      expect((await outcomes())[file]).toBe("kept");
    });

    test.each(["dist", ".env/", ".env*\n!.env"])(
      "in a .env that git may have, of which it warns, beside %s",
      async (ignored) => {
        await put(".env", "SECRET=1\n");
        await put(".gitignore", ignored);
        const { stdout } = await init(FLAGS);
        expect(stdout).toMatch(/^completed {2}\.env: .*\.gitignore did not name it: .* git rm --cached \.env$/m);
        expect((await get(".gitignore")).split("\n")).toContain(".env");
      },
    );

    test("behind the bytes of a file that is not UTF-8, which stay, as in .gitignore", async () => {
      const found = "# Schlüssel\nSECRET=straße";
      for (const file of [".env", ".gitignore"]) await writeFile(join(folder, file), found, "latin1");
      expect(await outcomes()).toMatchObject({ ".env": "completed", ".gitignore": "completed" });
      expect(await readFile(join(folder, ".env"), "latin1")).toContain(`${found}\n# The edge's token`);
      expect(await readFile(join(folder, ".gitignore"), "latin1")).toContain(`${found}\nnode_modules/\n`);
    });

    test.each([
      ["no file", null],
      ["a .dev.vars", ".dev.vars"],
      ["a .env", ".env"],
    ])(
      "beside an app on Workers in a file of the edge's own, as the app's types come from its files: %s",
      async (_, file) => {
        await put("wrangler.jsonc", '{ "name": "shop", "main": "src/index.ts" }');
        if (file !== null) await put(file, "SECRET=1\n");
        const { stdout } = await init(["init", "--host", ANSWERS.host]);
        expect(stdout).toContain("written    .edge.vars\n");
        expect(await get(".edge.vars")).toMatch(/^TIDEMARK_TOKEN="[\w-]{32}"$/m);
        expect((await get(".gitignore")).split("\n")).toContain(".edge.vars");
        if (file !== null) expect(await get(file)).toBe("SECRET=1\n");
        const others = (await readdir(folder)).filter((each) => /^\.(dev\.vars|env)/.test(each));
        expect(others).toEqual(file === null ? [] : [file]);
        const token = await get(".edge.vars");
        await init(["init", "--host", ANSWERS.host, "--force"]);
        expect(await get(".edge.vars")).toBe(token);
      },
    );

    test("nowhere beside an app on Workers whose .dev.vars has it, which the edge then reads too", async () => {
      await put("wrangler.jsonc", '{ "name": "shop", "main": "src/index.ts" }');
      await put(".dev.vars", "TIDEMARK_TOKEN=mine\n");
      await init(["init", "--host", ANSWERS.host]);
      expect(await readdir(folder)).not.toContain(".edge.vars");
      expect((await manifest()).scripts!["dev:edge"]).toBe("wrangler dev -c wrangler.edge.toml -c wrangler.jsonc");
    });

    test("nowhere, if the app's .env has it, as for the client of its backend", { tags: ["deep"] }, async () => {
      const text = "export TIDEMARK_TOKEN=mine\n";
      await put(".env", text);
      await put(".env.local", "SECRET=1\n");
      expect(await outcomes(true)).toMatchObject({ ".env": "kept" });
      expect(await get(".env")).toBe(text);
      expect(await get(".env.local")).toBe("SECRET=1\n");
    });
  });

  describe("writes a test for Node, because vitest would take the app's settings,", () => {
    const VITEST = { scripts: { test: "vitest run" }, devDependencies: { vitest: "4" } };
    const writesOneForNode = async () => {
      const { stdout } = await init(FLAGS);
      expect((await manifest()).scripts).toMatchObject({ "test:edge": "node --test edge-test.mjs" });
      expect(await get("edge-test.mjs")).toContain('from "node:test"');
      expect(await readdir(folder)).not.toContain("test"); // the app's vitest would pick up what is in there
      expect(stdout).toContain("npm run test:edge");
    };

    test.each(inGate(1, ["vitest.config.ts", "vite.config.mjs", "vitest.workspace.json"]))("in %s", async (file) => {
      await put("package.json", JSON.stringify(VITEST));
      await put(file, "{}");
      await writesOneForNode();
    });

    test("in a folder above", async () => {
      const root = folder;
      await put("vitest.config.js", "");
      folder = await mkdtemp(join(root, "app-"));
      try {
        await put("package.json", JSON.stringify(VITEST));
        await writesOneForNode();
      } finally {
        folder = root;
      }
    });
  });

  test("prints the command of the test that it wrote, in a folder below one of a vite app", async () => {
    await put("vite.config.ts", "");
    const below = join(folder, "edge");
    await mkdir(below);
    await writeFile(join(below, "package.json"), '{ "scripts": { "test": "make test" } }');
    const { stdout } = await init(FLAGS, below);
    expect(await readdir(join(below, "test"))).toEqual(["edge.test.ts"]);
    expect(stdout).toContain("npm install && npm run test:edge ");
  });

  test("takes no settings from a folder above that it may not read", async () => {
    const below = join(folder, "edge");
    await mkdir(below);
    await writeFile(join(below, "package.json"), '{ "devDependencies": { "vitest": "4" } }');
    await chmod(folder, 0o311);
    if (process.getuid!() === 0) {
      for (const each of [below, join(below, "package.json")]) await chown(each, 65_534, 65_534);
      process.seteuid!(65_534); // root may read everywhere
    }
    try {
      await initProject({ folder: below, answers: ANSWERS, force: false });
    } finally {
      if (process.getuid!() === 0) process.seteuid!(0);
      await chmod(folder, 0o700);
    }
    expect(await readdir(join(below, "test"))).toEqual(["edge.test.ts"]);
  });

  test.each([
    ['{ "compilerOptions": { "strict": true } }', "./tidemark.config.js"],
    ['{ "compilerOptions": { "allowImportingTsExtensions": true } }', "./tidemark.config.ts"],
  ])("imports as the tsconfig.json allows that is there: %s", async (tsconfig, name) => {
    await put("tsconfig.json", tsconfig);
    await outcomes();
    expect(await get("worker.ts")).toContain(`from "${name}"`);
  });

  test.each([
    ["that has a jsconfig.json", "jsconfig.json", '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }'],
    ["that depends on Next", "package.json", '{ "dependencies": { "next": "16.4.6" } }'],
  ])("in an app %s it adds no tsconfig.json, which would change the app, and no TypeScript", async (_, file, text) => {
    await put(file, text);
    const { stdout } = await init([...FLAGS, "--force"]);
    expect(stdout).toContain("left out   tsconfig.json: the app would be built with it\n");
    const files = await readdir(folder);
    expect(files).toContain("worker.ts");
    expect(files).not.toContain("tsconfig.json");
    // A framework of the app may refuse this version: npm then installs nothing.
    expect((await manifest()).devDependencies).not.toHaveProperty("typescript");
  });

  test.each(
    inGate(2, [
      { args: ["init"], words: "--origin https://origin.example.com --host www.example.com" },
      { args: ["init", "--host", "www.example.com"], words: "this is not a terminal" },
      { args: [...FLAGS.slice(0, 4), "https://a b"], words: "is not a host name like www.example.com" },
      {
        args: ["init", "--origin", "http://x/path", "--host", "y"],
        words: "is not an address like https://origin.example.com",
      },
      {
        args: ["init", "--origin", "https://www.example.com", "--host", "www.example.com"],
        words: "https://origin.example.com",
      },
      { args: [...FLAGS, "--pass", "admin"], words: "is not a path like /admin" },
      { args: [...FLAGS, "--yes"], words: "unknown option" },
    ]),
  )("without a terminal, $args asks nothing, writes nothing and says $words", async ({ args, words }) => {
    const { exit, stderr } = await init(args);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(words) });
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(["tidemark.config.ts", "wrangler.toml"])(
    "says that %s cannot be read or written, and how to go on",
    async (file) => {
      await mkdir(join(folder, file));
      const { exit, stderr } = await init(FLAGS);
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: `tidemark: ${file} cannot be read or written: illegal operation on a directory (EISDIR). Correct that, then run the same command again: it keeps what it has written.\n`,
      });
    },
  );

  test("leaves no secret to version control if it cannot write another file", async () => {
    await mkdir(join(folder, "worker.ts"));
    expect((await init(FLAGS)).stderr).toContain("worker.ts cannot be read or written");
    expect(await readdir(folder)).toContain(".dev.vars");
    expect((await get(".gitignore")).split("\n")).toContain(".dev.vars");
  });

  test.each([[], ["--server"]])("names a project after its folder, without accents", async (...flags) => {
    const named = join(folder, "Ünser Café");
    await mkdir(named);
    await init([...FLAGS, ...flags], named);
    expect(JSON.parse(await readFile(join(named, "package.json"), "utf8"))).toMatchObject({ name: "unser-cafe" });
  });

  test("says that package.json is not JSON, and writes nothing", { tags: ["deep"] }, async () => {
    await put("package.json", "{ name: ");
    const { exit, stderr } = await init(FLAGS);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining("package.json is not a JSON object") });
    expect(await readdir(folder)).toEqual(["package.json"]);
  });
});

describe("answers", () => {
  test.each([
    ["origin.example.com", "https://origin.example.com"],
    ["http://localhost:8000/", "http://localhost:8000"],
    ["localhost:8000", "http://localhost:8000"],
    ["127.0.0.1:8000", "http://127.0.0.1:8000"],
    ["192.168.1.20", "http://192.168.1.20"],
    ["[::1]:8000", "http://[::1]:8000"],
    ["10.example.com", "https://10.example.com"],
    ["localhost.example.com:8443", "https://localhost.example.com:8443"],
  ])("%s is the origin %s", (given, origin) => expect(originOf(given)).toBe(origin));

  test.each([
    ["https://WWW.Example.com/", "www.example.com"],
    [" bücher.example ", "xn--bcher-kva.example"],
  ])("%s is the host %s", (given, host) => expect(hostOf(given)).toBe(host));

  test.each([
    ["", []],
    ["/admin, /cart/*,/admin/", ["/admin", "/cart"]],
    ["/account,", ["/account"]],
    ["/", [""]],
    ["/*", [""]],
  ])("%j never stores %j", (given, passed) => expect(passedOf(given)).toEqual(passed));
});

const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;
const NOT_RUN = "the questions are SKIPPED, because this machine has no python3 to make a terminal with";
if (!hasPython) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasPython)(hasPython ? "at a terminal" : NOT_RUN, () => {
  /** Types lines at a terminal in which the command runs; returns all that is on the screen then. */
  async function type(args: readonly string[], lines: readonly string[]): Promise<string> {
    const terminal = ["-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"];
    const child = spawn("python3", [...terminal, process.execPath, CLI, ...args], {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.write(lines.map((line) => `${line}\n`).join(""));
    const screen = await text(child.stdout);
    child.stdin.end();
    return screen;
  }

  test("it asks three questions, and repeats one after a wrong answer", async () => {
    const origins = ["https://www.example.com", "origin.example.com"];
    const screen = await type(["init"], ["http://a/b", "www.example.com", ...origins, "/admin"]);
    expect(screen).toContain("is not a host name like www.example.com");
    expect(screen).toContain("each request would come back to the edge");
    expect(screen).toContain("written    wrangler.toml");
    const config = await get("tidemark.config.ts");
    for (const part of ['"https://origin.example.com"', '"www.example.com"', '"/admin{/*}?"']) {
      expect(config).toContain(part);
    }
  });

  test("in an app that is a worker it also asks where the site is, and Enter means that worker", {
    tags: ["deep"],
  }, async () => {
    await put("wrangler.toml", 'name = "shop"\nmain = "src/index.ts"\n');
    const screen = await type(["init"], ["www.example.com", "", ""]);
    expect(screen).toContain("Enter for the worker shop");
    expect(await get("wrangler.edge.toml")).toContain('service = "shop"');
  });

  test("in an app whose worker has no name it asks for the origin, too", async () => {
    await put("wrangler.toml", 'main = "src/index.ts"\n[env.production]\nname = "shop"\n');
    const screen = await type(["init"], ["www.example.com", "shop.example.workers.dev", ""]);
    expect(screen).toContain("written    wrangler.edge.toml");
    expect(await get("tidemark.config.ts")).toContain('"https://shop.example.workers.dev"');
  });

  test("it asks nothing if flags say everything", { tags: ["deep"] }, async () => {
    const screen = await type(FLAGS, []);
    expect(screen).not.toContain("?");
    expect(screen).toContain("written    wrangler.toml");
  });
});
