import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Cdn, startCdn } from "tidemark/local";
import { afterEach, expect, inject, test } from "vitest";
import { folderWith, run } from "../packed/installed-package.ts";
import { freePort } from "../suite/free-ports.ts";
import { BackendProcess } from "./backend-process.ts";
import { ASTRO, NUXT, projectWith, REACT_ROUTER, SVELTEKIT } from "./npm-packages.ts";
import { snippetNamed, snippetsBelow } from "./snippets.ts";
import "tidemark/local/matchers";

const SONGS = resolve("test/backends/songs.mjs");

let backend: BackendProcess | undefined;
let cdn: Cdn<"fra" | "syd"> | undefined;

afterEach(async () => {
  await backend?.[Symbol.asyncDispose]();
  await cdn?.close();
});

/** Puts an edge in front of a program of Node that listens at `PORT`, and edits a song. Returns the program's address. */
async function tryOut(
  program: string,
  cwd: string,
  ofFramework: Readonly<Record<string, string>> = {},
): Promise<string> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  cdn = await startCdn({ site: { hosts: ["www.example.test"] }, origin, regions: ["fra", "syd"] });
  const settings = { TIDEMARK_ENDPOINT: cdn.url("fra"), TIDEMARK_TOKEN: cdn.token };
  const env = {
    ...settings,
    PORT: String(port),
    HOST: "127.0.0.1",
    NODE_ENV: "production",
    ...ofFramework,
  };
  backend = new BackendProcess(process.execPath, ["--import", SONGS, program], { cwd, env });
  await backend.says(/listening/i);

  const seen = (from: "fra" | "syd", fields: Record<string, string> = {}) => cdn!.get("/songs/42", { from, fields });
  for (const from of ["fra", "syd"] as const) {
    await expect(seen(from)).toMiss();
    await expect(seen(from)).toHit();
    expect((await seen(from)).body).toContain("<h1>old</h1>");
  }
  const saved = await save(origin, "new");
  expect(saved.status).toBeGreaterThanOrEqual(302);
  expect(saved.status).toBeLessThanOrEqual(303);
  const [cookie] = saved.headers.getSetCookie();
  expect(cookie).toMatch(/^tidemark-after=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);

  // Sydney may answer with the old page until its lease ends, and not to the editor.
  const editors = await seen("syd", { cookie: cookie!.split(";")[0]! });
  expect(editors.body).toContain("<h1>new</h1>");
  await cdn.advance("2s");
  for (const from of ["fra", "syd"] as const) expect((await seen(from)).body).toContain("<h1>new</h1>");
  await expect(seen("syd")).toHit();
  expect(backend.output).not.toMatch(/error/i);

  // A page that fails for a moment does not fail for everybody until the lifetime of the page ends.
  const failing = () => cdn!.get("/songs/unreadable", { from: "fra" });
  expect((await failing()).status).toBe(500);
  await expect(failing()).toMiss();
  return origin;
}

/** Edits the song, as the edge passes it on, but past the edge, which would invalidate the URL of the request by itself. */
function save(origin: string, title: string): Promise<Response> {
  return fetch(`${origin}/songs/42`, {
    method: "POST",
    redirect: "manual",
    headers: {
      origin: "http://www.example.test",
      "x-forwarded-host": "www.example.test",
      "x-forwarded-proto": "http",
      accept: "text/html",
    },
    body: new URLSearchParams({ title }),
  });
}

interface Example {
  readonly heading: string;
  readonly packages: readonly string[];
  readonly start: string;
}

const TITLE = "the example for $heading shows an edit to its editor at once, and then to all";

test.each<Example>([
  {
    heading: "Express",
    packages: ["express"],
    start: 'app.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening"));',
  },
])(TITLE, { timeout: 60_000 }, tryOutExample);

test.each<Example>([
  {
    heading: "Fastify",
    packages: ["fastify"],
    start: 'await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" }); console.log("listening");',
  },
  {
    heading: "Hono",
    packages: ["hono", "@hono/node-server"],
    start:
      'const { serve } = await import("@hono/node-server");' +
      'serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" }, () => console.log("listening"));',
  },
])(TITLE, { tags: ["deep"], timeout: 60_000 }, tryOutExample);

async function tryOutExample({ heading, packages, start }: Example): Promise<void> {
  const folder = await folderWith(inject("installed"), `backend-${heading}`, packages);
  const program = join(folder, "app.mts");
  await writeFile(program, `${snippetsBelow(heading)[0]!.code}\n${start}`);
  await tryOut(program, folder);
}

test("the editor of the example for SvelteKit sees an edit at once, and all others later", {
  tags: ["deep"],
  timeout: 120_000,
}, async (context) => {
  const project = await projectWith(SVELTEKIT, inject("installed"));
  if ("missing" in project) return context.skip(`SvelteKit is SKIPPED, because ${project.missing}`);
  const { folder } = project;
  for (const each of ["src", "build"]) await rm(join(folder, each), { recursive: true, force: true });
  await cp("test/backends/sveltekit-site", folder, { recursive: true });
  for (const file of ["src/hooks.server.js", "src/routes/songs/[id]/+page.server.js"]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), snippetNamed("SvelteKit", file));
  }
  const page = "<script>const { data } = $props();</script><h1>{data.song.title}</h1>";
  for (const route of ["songs", "asking"]) await writeFile(join(folder, `src/routes/${route}/[id]/+page.svelte`), page);
  const vite = join(folder, "node_modules/vite/bin/vite.js");
  const built = await run(process.execPath, [vite, "build"], { cwd: folder, env: { NODE_ENV: "production" } });
  expect(built, built.stdout + built.stderr).toMatchObject({ exit: 0 });
  const settings = snippetNamed("SvelteKit", "src/hooks.server.js").matchAll(/\b([A-Z]+_HEADER)=([\w-]+)/g);
  const ofFramework = Object.fromEntries([...settings].map(([, name, value]) => [name!, value!]));
  const origin = await tryOut(join(folder, "build/index.js"), folder, ofFramework);

  // SvelteKit asks the app itself for what a page's `load` fetches.
  const asking = await fetch(`${origin}/asking/42`);
  expect(await asking.text()).toContain("<h1>new</h1>");
  expect(asking.headers.get("cache-tag")).toBe("song:42");
});

test("the editor of the example for Astro sees an edit at once, and all others later", {
  tags: ["deep"],
  timeout: 120_000,
}, async (context) => {
  const project = await projectWith(ASTRO, inject("installed"));
  if ("missing" in project) return context.skip(`Astro is SKIPPED, because ${project.missing}`);
  const { folder } = project;
  for (const each of ["src", "dist"]) await rm(join(folder, each), { recursive: true, force: true });
  await cp("test/backends/astro-site", folder, { recursive: true });
  await writeFile(join(folder, "src/middleware.js"), snippetNamed("SvelteKit", "src/middleware.js"));
  const cacheable = 'Astro.response.headers.set("cache-control", "public, max-age=0, s-maxage=86400");';
  const latePage = `---\nimport Late from "../components/Late.astro";\n\n${cacheable}\n---\n\n<h1>songs</h1><Late />`;
  await writeFile(join(folder, "src/pages/late.astro"), latePage);
  const astro = join(folder, "node_modules/astro/bin/astro.mjs");
  const env = { NODE_ENV: "production", ASTRO_TELEMETRY_DISABLED: "1" };
  const built = await run(process.execPath, [astro, "build"], { cwd: folder, env });
  expect(built, built.stdout + built.stderr).toMatchObject({ exit: 0 });
  const origin = await tryOut(join(folder, "dist/server/entry.mjs"), folder);

  // A component that waits comes after the head. The page is cut off, rather than stored without its tag.
  const late = await fetch(`${origin}/late`);
  await expect(late.text()).rejects.toThrow();
  await backend!.says(/Call it before the first byte: in Astro in the page's frontmatter/);
});

test("the editor of the example for React Router sees an edit at once, and all others later, on the page and in its data", {
  tags: ["deep"],
  timeout: 120_000,
}, async (context) => {
  const project = await projectWith(REACT_ROUTER, inject("installed"));
  if ("missing" in project) return context.skip(`React Router is SKIPPED, because ${project.missing}`);
  const { folder } = project;
  for (const each of ["app", "build"]) await rm(join(folder, each), { recursive: true, force: true });
  await cp("test/backends/react-router-site", folder, { recursive: true });
  const root = 'import { Outlet } from "react-router";\n\nexport default () => <html><body><Outlet /></body></html>;';
  await writeFile(join(folder, "app/root.jsx"), `${snippetNamed("SvelteKit", "app/root.jsx")}\n${root}`);
  const cli = join(folder, "node_modules/@react-router/dev/bin.cjs");
  const built = await run(process.execPath, [cli, "build"], { cwd: folder, env: { NODE_ENV: "production" } });
  expect(built, built.stdout + built.stderr).toMatchObject({ exit: 0 });
  const origin = await tryOut(join(folder, "server.js"), folder);

  await purgesDataOfThePage(origin, "/songs/42.data");
});

test("the editor of the example for Nuxt sees an edit at once, and all others later, on the page and in its data", {
  tags: ["deep"],
  timeout: 300_000,
}, async (context) => {
  const project = await projectWith(NUXT, inject("installed"));
  if ("missing" in project) return context.skip(`Nuxt is SKIPPED, because ${project.missing}`);
  const { folder } = project;
  for (const each of ["pages", "server"]) await rm(join(folder, each), { recursive: true, force: true });
  await cp("test/backends/nuxt-site", folder, { recursive: true });
  const files = Object.fromEntries(
    ["server/api/songs/[id].get.js", "server/routes/songs/[id].post.js"].map((file) => [
      file,
      snippetNamed("SvelteKit", file),
    ]),
  );
  const page = snippetsBelow("SvelteKit").find(({ language }) => language === "vue")!.code;
  for (const [file, code] of Object.entries({ ...files, "pages/songs/[id].vue": page })) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), code);
  }
  const nuxt = join(folder, "node_modules/nuxt/bin/nuxt.mjs");
  const built = await run(process.execPath, [nuxt, "build"], { cwd: folder, env: { NODE_ENV: "production" } });
  expect(built, built.stdout + built.stderr).toMatchObject({ exit: 0 });
  const origin = await tryOut(join(folder, ".output/server/index.mjs"), folder);
  await purgesDataOfThePage(origin, "/api/songs/42");
});

/** What the framework's navigation asks for in place of the page is purged with it. */
async function purgesDataOfThePage(origin: string, path: string): Promise<void> {
  const data = () => cdn!.get(path, { from: "fra" });
  await expect(data()).toMiss();
  await expect(data()).toHit();
  await save(origin, "newer");
  await cdn!.advance("2s");
  await expect(data()).toMiss();
  expect((await data()).body).toContain("newer");
}
