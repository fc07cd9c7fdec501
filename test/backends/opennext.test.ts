import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import type { PurgeRecordPageBody } from "../../wire/purge-record.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { TOKEN } from "../engine/scenario.ts";
import { Dev } from "../local/dev/dev-process.ts";
import { run } from "../packed/installed-package.ts";
import { freePort } from "../suite/free-ports.ts";
import { OPENNEXT, projectWith } from "./npm-packages.ts";
import "tidemark/local/matchers";

const installed = inject("installed");

/** What OpenNext builds and calls, as far as the package's entries touch it. */
const APP = `
import { behindEdge } from "tidemark/opennext";
import { withTags } from "tidemark/opennext/config";
export { TidemarkPurge } from "tidemark/opennext";

const pages = new Map();
const cache = withTags({
  name: "in-memory",
  get: async (key) => pages.get(key) ?? null,
  set: async (key, value) => void pages.set(key, { value }),
  delete: async (key) => void pages.delete(key),
});
let renderings = 0;
export default behindEdge({
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (request.method === "POST") {
      pages.clear();
      const purges = env.NEXT_CACHE_DO_PURGE;
      await purges.get(purges.idFromName("cache-purge")).purgeCacheByTags(await request.json());
      return new Response("revalidated");
    }
    const found = await cache.get(pathname);
    if (pathname === "/rendered") return new Response(String(++renderings), { headers: { "cache-control": "s-maxage=600" } });
    const page = found?.value ?? { body: String(++renderings), meta: { headers: { "x-next-cache-tags": "_N_T_" + pathname + ",all" } } };
    if (!found) await cache.set(pathname, page);
    return new Response(page.body, {
      headers: { "cache-control": "s-maxage=600", "x-nextjs-cache": found ? "HIT" : "MISS" },
    });
  },
});`;

describe("an app with the entries for OpenNext behind an edge", () => {
  let app: Miniflare;
  let cdn: Cdn<"fra" | "syd">;
  let isDown = false;

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: APP, resolveDir: installed.folder },
      bundle: true,
      write: false,
      format: "esm",
      conditions: ["workerd", "worker", "browser"],
      external: ["cloudflare:workers", "node:async_hooks"],
    });
    const edge = async (request: { url: string; headers: Iterable<[string, string]>; text(): Promise<string> }) => {
      if (isDown) return new Response(null, { status: 503 });
      const url = new URL(new URL(request.url).pathname, cdn.url("fra"));
      return await fetch(url, { method: "POST", headers: [...request.headers], body: await request.text() });
    };
    app = new Miniflare({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: "2026-07-30",
      compatibilityFlags: ["nodejs_compat"],
      // biome-ignore lint/suspicious/noExplicitAny: Miniflare has a class Response of its own, and takes Node's, too.
      serviceBindings: { TIDEMARK: edge as any },
      durableObjects: { NEXT_CACHE_DO_PURGE: { className: "TidemarkPurge", useSQLite: true } },
      bindings: { TIDEMARK_TOKEN: TOKEN },
    });
    cdn = await startCdn({
      site: { hosts: ["www.example.test"] },
      origin: (await app.ready).origin,
      regions: ["fra", "syd"],
      token: TOKEN,
    });
  });

  afterAll(async () => {
    await cdn?.close();
    await app?.dispose();
  });

  /** Past the edge, which would invalidate the URL of the request by itself. */
  const revalidate = async (...tags: string[]) => {
    const answer = await app.dispatchFetch("http://localhost/save", { method: "POST", body: JSON.stringify(tags) });
    expect(await answer.text()).toBe("revalidated");
    await cdn.advance("2s");
  };

  test("a revalidation purges the pages of its tags in every region, and no other page", async () => {
    for (const path of ["/a", "/b"]) {
      await expect(cdn.get(path, { from: "fra" })).toMiss();
      await expect(cdn.get(path, { from: "syd" })).toMiss();
    }
    await revalidate("_N_T_/a");
    for (const from of ["fra", "syd"] as const) {
      await expect(cdn.get("/a", { from })).toMiss();
      await expect(cdn.get("/b", { from })).toHit();
    }
    await revalidate("all");
    for (const path of ["/a", "/b"]) await expect(cdn.get(path, { from: "syd" })).toMiss();
    const { purges } = await cdn.purger.purges({ limit: 2 });
    expect(purges.map(({ items }) => items)).toEqual([
      ["tag:all", "tag:_N_T_unknown"],
      ["prefix:/a", "tag:_N_T_/a", "tag:_N_T_unknown"],
    ]);
  });

  test("a revalidation purges an answer that Next renders for each request", async () => {
    await expect(cdn.get("/rendered")).toMiss();
    await expect(cdn.get("/rendered")).toHit();
    await revalidate("song:1");
    await expect(cdn.get("/rendered")).toMiss();
  });

  test("while the edge is down, a revalidation succeeds, and its purge is kept", { tags: ["deep"] }, async () => {
    await cdn.get("/c");
    isDown = true;
    await revalidate("_N_T_/c");
    await expect(cdn.get("/c")).toHit();
    isDown = false;
    // The alarm rings after ten seconds of the runtime's own clock.
    await expect.poll(async () => (await cdn.purger.purges({ limit: 1 })).purges[0]?.items).toContain("tag:_N_T_/c");
    await cdn.advance("2s");
    await expect(cdn.get("/c")).toMiss();
  });
});

const ENVIRONMENT = {
  CI: "1",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  NEXT_TELEMETRY_DISABLED: "1",
  NODE_ENV: "production",
  WRANGLER_SEND_METRICS: "false",
};

/** The edge of docs/getting-started.md with the settings for Next. */
const EDGE = `
import { createEdge, defineSite } from "tidemark/worker";
export { PurgeLog } from "tidemark/worker";
export default createEdge(defineSite({
  origin: { service: "APP" },
  hosts: ["www.example.com"],
  bypass: { cookies: ["__prerender_bypass"] },
  fields: { trust: ["next-url"] },
}));`;

/** What Next's router sends for a page, and for the tree of its segments. */
const ROUTER = { rsc: "1" };
const PREFETCH = { rsc: "1", "next-router-prefetch": "1", "next-router-segment-prefetch": "/_tree" };

const MISSES = ["MISS", "MISS", "MISS"];
const HITS = ["HIT", "HIT", "HIT"];

describe("a real app on OpenNext behind an edge, in wrangler dev", () => {
  const titles = new ScriptedOrigin(() => Date.now());
  const agent = new Agent({ keepAlive: false });
  let missing: string | undefined;
  let folder: string;
  let port: number;
  let dev: Dev | undefined;

  beforeAll(async () => {
    const project = await projectWith(OPENNEXT, installed);
    if ("missing" in project) {
      missing = project.missing;
      return;
    }
    folder = project.folder;
    for (const each of ["app", ".next", ".open-next", ".wrangler"]) {
      await rm(join(folder, each), { recursive: true, force: true });
    }
    for (const site of ["next-site", "opennext-site"]) await cp(`test/backends/${site}`, folder, { recursive: true });
    await cp("docs/examples/opennext", folder, { recursive: true });
    await write("next.config.mjs", "export default {};");
    // OpenNext looks for the root of a project by its lockfile, and calls its script "build".
    await write("package-lock.json", "{}");
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    await write("package.json", JSON.stringify({ ...manifest, scripts: { build: "next build" } }));
    await titles.comeUp();
    titles.reply("/front", { body: "front" });
    port = await freePort();
    const variables = {
      TIDEMARK_ENDPOINT: `http://127.0.0.1:${port}`,
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
      TITLES: titles.url,
    };
    await write(
      ".dev.vars",
      Object.entries(variables)
        .map((each) => each.join("="))
        .join("\n"),
    );
    await write("edge.ts", EDGE);
    await write(
      "wrangler.edge.toml",
      `name = "my-edge"
main = "edge.ts"
compatibility_date = "2026-07-30"
[[services]]
binding = "APP"
service = "my-app"
${PURGE_LOG_TOML}`,
    );
    const opennext = join(folder, "node_modules/@opennextjs/cloudflare/dist/cli/index.js");
    for (const command of [["build"], ["populateCache", "local"]]) {
      const env = { ...ENVIRONMENT, TITLES: titles.url };
      const ended = await run(process.execPath, [opennext, ...command], { cwd: folder, env });
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ exit: 0 });
    }
    const wrangler = join(folder, "node_modules/wrangler/bin/wrangler.js");
    const configs = ["-c", "wrangler.edge.toml", "-c", "wrangler.jsonc"];
    const args = [...configs, "--port", String(port), "--inspector-port", "0", "--ip", "127.0.0.1"];
    dev = new Dev(args, ENVIRONMENT, [wrangler, "dev"], folder);
    await dev.says(/Ready on/);
  }, 300_000);

  beforeEach(({ skip }) => skip(missing !== undefined, missing));

  afterAll(async () => {
    dev?.interrupt();
    await dev?.exited;
    await titles.goDown();
  });

  const write = (file: string, text: string) => writeFile(join(folder, file), text);

  function ask(
    path: string,
    fields: Record<string, string> = {},
    method = "GET",
    body?: string,
  ): Promise<ClientAnswer> {
    const host = `127.0.0.1:${port}`;
    return exchange(new URL(`http://${host}`), agent, {
      method,
      path,
      fields,
      host,
      ...(body !== undefined && { body }),
    });
  }

  async function purgesSince(seq: number): Promise<PurgeRecordPageBody["purges"]> {
    const { body } = await ask("/_tidemark/purges?limit=10", { authorization: `Bearer ${TOKEN}` });
    return (JSON.parse(body) as PurgeRecordPageBody).purges.filter((purge) => purge.seq > seq);
  }

  /** Resolves with the items of the purge that follows, when that has settled. */
  async function revalidate(what: object): Promise<readonly string[]> {
    const before = (await purgesSince(0))[0]?.seq ?? 0;
    const { status } = await ask("/save", {}, "POST", JSON.stringify(what));
    expect(status).toBe(204);
    const purge = async () => (await purgesSince(before)).find(({ reason }) => reason === "revalidated in Next");
    await expect.poll(purge).toMatchObject({ mode: "hard", settled: true });
    return (await purge())!.items;
  }

  const xCache = async (path: string, fields = {}) => (await ask(path, fields)).fields["x-cache"];

  /** The URL that Next sends its router to. */
  async function urlFor(path: string, fields: Record<string, string>): Promise<string> {
    const { fields: of } = await ask(`${path}?_rsc=wrong`, fields);
    const { pathname, search } = new URL(of.location!, `http://127.0.0.1:${port}`);
    return pathname + search;
  }

  /** What browsers ask for of a page: the document, what the router fetches, and what it fetches ahead. */
  async function formsOf(path: string): Promise<readonly (readonly [url: string, fields: Record<string, string>])[]> {
    return [
      [path, {}],
      [await urlFor(path, ROUTER), ROUTER],
      [await urlFor(path, PREFETCH), PREFETCH],
    ];
  }

  const xCachesOf = async (forms: Awaited<ReturnType<typeof formsOf>>) => {
    const seen: unknown[] = [];
    for (const [url, fields] of forms) seen.push(await xCache(url, fields));
    return seen;
  };

  const titleOf = async (path: string) => /<h1>(.*?)<\/h1>/.exec((await ask(path)).body)?.[1];

  test.each([
    ["a tag", "song:1", { tag: "song:1", profile: { expire: 0 } }, ["tag:song:1", "tag:_N_T_unknown"]],
    ["a path", "song:2", { path: "/songs/2" }, ["tag:_N_T_/songs/2", "tag:_N_T_unknown", "prefix:/songs/2"]],
    [
      "a route",
      "song:3",
      { path: "/songs/[id]", type: "page" },
      ["tag:_N_T_/songs/[id]/page", "tag:_N_T_unknown", "prefix:/songs"],
    ],
  ])(
    "%s that Next revalidates is purged in all its forms, and nothing else",
    { tags: ["deep"] },
    async (_, name, what, items) => {
      titles.reply(`/${name}`, { body: "old" });
      const path = name.replace("song:", "/songs/");
      const forms = await formsOf(path);
      expect(await xCachesOf(forms)).toEqual(MISSES);
      expect(await xCachesOf(forms)).toEqual(HITS);
      expect(await titleOf(path)).toBe("old");
      await ask("/");
      titles.reply(`/${name}`, { body: "new" });
      expect([...(await revalidate(what))].sort()).toEqual([...items].sort());
      expect(await xCachesOf(forms)).toEqual(MISSES);
      expect(await titleOf(path)).toBe("new");
      expect(await xCache("/")).toBe("HIT");
    },
  );

  test("the prerendered front page is purged in all its forms, and no song", {
    tags: ["deep"],
  }, async () => {
    titles.reply("/song:4", { body: "a song" });
    await ask("/songs/4");
    await revalidate({ path: "/" });
    const forms = await formsOf("/");
    expect(await xCachesOf(forms)).toEqual(MISSES);
    expect(await xCachesOf(forms)).toEqual(HITS);
    titles.reply("/front", { body: "a new front" });
    await revalidate({ tag: "front", profile: { expire: 0 } });
    expect(await xCachesOf(forms)).toEqual(MISSES);
    expect(await titleOf("/")).toBe("a new front");
    expect(await xCache("/songs/4")).toBe("HIT");
  });

  test("revalidatePath of the root layout purges the whole site", { tags: ["deep"] }, async () => {
    titles.reply("/song:5", { body: "a song" });
    await ask("/songs/5");
    expect(await revalidate({ path: "/", type: "layout" })).toEqual(["everything"]);
    for (const path of ["/songs/5", "/"]) expect(await xCache(path)).toBe("MISS");
  });

  test('after revalidateTag with "max" the old page is soon replaced', { tags: ["deep"] }, async () => {
    titles.reply("/song:7", { body: "old" });
    await ask("/songs/7");
    titles.reply("/song:7", { body: "new" });
    await revalidate({ tag: "song:7", profile: "max" });
    await expect.poll(() => titleOf("/songs/7"), { interval: 500 }).toBe("new");
  });

  test("if Next renders one of several simultaneous requests, a purge reaches all of them", {
    tags: ["deep"],
  }, async () => {
    titles.reply("/song:6", { body: "old" });
    const forms = await formsOf("/songs/6");
    await Promise.all(forms.map(([url, fields]) => ask(url, fields)));
    expect(await xCachesOf(forms)).toEqual(HITS);
    await revalidate({ tag: "song:6", profile: { expire: 0 } });
    expect(await xCachesOf(forms)).toEqual(MISSES);
  });
});
