import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { run } from "../packed/installed-package.ts";
import { freePort } from "../suite/free-ports.ts";
import { listenLocally } from "../suite/local-url.ts";
import { BackendProcess } from "./backend-process.ts";
import { NEXT, projectWith } from "./npm-packages.ts";
import { snippetNamed } from "./snippets.ts";
import "tidemark/local/matchers";

// A site takes Next half a minute of CPU time to build. The gate has what the package adds to Next in opennext.test.ts.
describe("Next behind an edge", { tags: ["deep"] }, () => {
  let missing: string | undefined;
  let titles: string;
  let origin: string;
  let next: BackendProcess;
  let cdn: Cdn<"fra" | "syd">;
  /** Awaited between the edge's answer to a purge and Next's receipt of it. */
  let onAccepted = async () => {};

  const onTheWay = createServer(async (request, response) => {
    const { authorization = "" } = request.headers;
    const fields = { authorization, "content-type": "application/json" };
    const url = cdn.url("fra") + request.url;
    const answer = await fetch(url, { method: "POST", headers: fields, body: await text(request) });
    await onAccepted();
    response.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text());
  });

  beforeAll(async () => {
    const project = await projectWith(NEXT, inject("installed"));
    if ("missing" in project) {
      missing = project.missing;
      return;
    }
    const { folder } = project;
    for (const each of ["app", ".next"]) await rm(join(folder, each), { recursive: true, force: true });
    await cp("test/backends/next-site", folder, { recursive: true });
    for (const file of ["cache-handler.mjs", "next.config.mjs"]) {
      await writeFile(join(folder, file), snippetNamed("Next", file));
    }
    titles = await mkdtemp(join(tmpdir(), "tidemark-next-"));
    await write("front", "the front");
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    cdn = await startCdn({
      site: {
        hosts: ["www.example.test"],
        routes: [{ match: "/songs/:id", tags: ["song:{id}"] }],
      },
      origin,
      regions: ["fra", "syd"],
    });
    const settings = { TIDEMARK_ENDPOINT: await listenLocally(onTheWay), TIDEMARK_TOKEN: cdn.token };
    const env = { ...settings, TITLES: titles, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
    const command = join(folder, "node_modules/next/dist/bin/next");
    const built = await run(process.execPath, [command, "build"], { cwd: folder, env });
    expect(built, built.stdout + built.stderr).toMatchObject({ exit: 0 });
    next = new BackendProcess(process.execPath, [command, "start", "-p", String(port)], { cwd: folder, env });
    await next.says(/Ready in/);
  }, 180_000);

  afterAll(async () => {
    await next?.[Symbol.asyncDispose]();
    onTheWay.close();
    await cdn?.close();
    if (titles) await rm(titles, { recursive: true });
  });

  beforeEach((context) => {
    context.skip(missing !== undefined, `Next is SKIPPED, because ${missing}`);
  });

  const write = async (name: string, text: string) => {
    await mkdir(titles, { recursive: true });
    await writeFile(join(titles, name), text);
  };

  const newestPurge = async () => (await cdn.purger.purges({ limit: 1 })).purges[0];

  /** Past the edge, which would invalidate the URL of the request by itself. */
  const revalidate = async (what: object) => {
    const before = await newestPurge();
    const { status } = await fetch(`${origin}/save`, { method: "POST", body: JSON.stringify(what) });
    expect(status).toBe(204);
    // Next answers for a route handler before its cache handler is done.
    while ((await newestPurge())?.seq === before?.seq);
  };

  const titleOf = async (path: string, from: "fra" | "syd" = "syd") =>
    /<h1>(.*?)<\/h1>/.exec((await cdn.get(path, { from })).body)?.[1];

  /** Fills both caches with a page of this song, and changes the song. */
  async function changed(id: string): Promise<string> {
    const path = `/songs/${id}`;
    await write(`song:${id}`, "old");
    for (const from of ["fra", "syd"] as const) {
      await expect(cdn.get(path, { from })).toMiss();
      await expect(cdn.get(path, { from })).toHit();
    }
    await write(`song:${id}`, "new");
    await cdn.get("/", { from: "syd" });
    return path;
  }

  test.each([
    ["a tag", "1", { tag: "song:1", profile: { expire: 0 } }],
    ["a path", "2", { path: "/songs/2" }],
    ["a route", "3", { path: "/songs/[id]", type: "page" }],
  ])("%s that Next revalidates is purged", async (_, id, what) => {
    const path = await changed(id);
    await revalidate(what);
    await cdn.advance("2s");
    for (const from of ["fra", "syd"] as const) {
      expect(await titleOf(path, from)).toBe("new");
      await expect(cdn.get(path, { from })).toHit();
    }
    await expect(cdn.get("/", { from: "syd" })).toHit();
  });

  test("a route in the edge runtime purges", async () => {
    const path = "/songs/9";
    await write("song:9", "old");
    await cdn.get(path, { from: "syd" });
    await write("song:9", "new");
    const answer = await fetch(`${origin}/at-the-edge`, { method: "POST", body: "song:9" });
    expect(await answer.json()).toMatchObject({ tags: 1 });
    await cdn.advance("2s");
    await expect(cdn.get(path, { from: "syd" })).toMiss();
  });

  test("visitors of an action's page, even between its purge and its end, get the new one", async () => {
    const path = await changed("8");
    const asked = new Set<unknown>();
    onAccepted = async () => void asked.add(await titleOf(path, "fra"));
    const form = await (await fetch(`${origin}/edit`)).text();
    const body = new FormData();
    body.set(/"(\$ACTION_ID_\w+)"/.exec(form)![1]!, "");
    body.set("id", "8");
    const { status } = await fetch(`${origin}/edit`, { method: "POST", body, redirect: "manual", headers: { origin } });
    onAccepted = async () => {};
    expect(status).toBe(303);
    // Next may revalidate a second time.
    expect(asked).toEqual(new Set(["new"]));
    await cdn.advance("2s");
    for (const from of ["fra", "syd"] as const) expect(await titleOf(path, from)).toBe("new");
  });

  /** What the router fetches of a page, at the URL that Next sends it to. */
  async function routersUrl(path: string): Promise<string> {
    const right = await cdn.get(`${path}?_rsc=1`, { fields: { rsc: "1" } });
    const { pathname, search } = new URL(right.fields.location as string, origin);
    expect(pathname).toBe(path);
    return pathname + search;
  }

  const fetchedByRouter = async (url: string) => (await cdn.get(url, { fields: { rsc: "1" } })).body;

  test("the parts of a page that the router fetches are purged with its path", async () => {
    const path = await changed("4");
    const url = await routersUrl(path);
    expect(await fetchedByRouter(url)).toContain("old");
    await revalidate({ path });
    await cdn.advance("2s");
    expect(await fetchedByRouter(url)).toContain("new");
  });

  test.each([
    ["revalidatePath", () => revalidate({ path: "/" })],
    ["the SDK", () => cdn.purger.purgeUrls("/")],
  ])("the parts of the front page that the router fetches are purged with its URL, by %s", async (by, purge) => {
    const url = await routersUrl("/");
    await write("front", `before ${by}`);
    await revalidate({ tag: "front", profile: { expire: 0 } });
    await cdn.purger.purgeEverything();
    await cdn.advance("2s");
    for (const _ of ["miss", "hit"]) expect(await fetchedByRouter(url)).toContain(`before ${by}`);
    await write("front", `after ${by}`);
    await revalidate({ tag: "front", profile: { expire: 0 } });
    await cdn.advance("2s");
    expect(await fetchedByRouter(url)).toContain(`before ${by}`);
    await purge();
    await cdn.advance("2s");
    expect(await fetchedByRouter(url)).toContain(`after ${by}`);
    expect(await titleOf("/")).toBe(`after ${by}`);
  });

  test("revalidatePath of the front page purges it, and no song", async () => {
    const path = await changed("5");
    await write("front", "a new front");
    await revalidate({ path: "/" });
    await revalidate({ tag: "front", profile: { expire: 0 } });
    await cdn.advance("2s");
    expect(await titleOf("/")).toBe("a new front");
    await expect(cdn.get(path, { from: "syd" })).toHit();
  });

  test("revalidatePath of the root layout purges the whole site", async () => {
    const path = await changed("6");
    await revalidate({ path: "/", type: "layout" });
    await cdn.advance("2s");
    for (const each of [path, "/"]) await expect(cdn.get(each, { from: "syd" })).toMiss();
    expect(await titleOf(path)).toBe("new");
  });

  test('after revalidateTag with "max" no PoP stores the old page that Next would answer once more', async () => {
    const path = await changed("7");
    await revalidate({ tag: "song:7", profile: "max" });
    await cdn.advance("2s");
    for (const from of ["fra", "syd"] as const) {
      // Next permits a stale page for a year, so that the first visitor is answered at once, by the old one.
      await expect(cdn.get(path, { from })).toBeStale();
      await expect.poll(() => titleOf(path, from)).toBe("new");
      await expect(cdn.get(path, { from })).toHit();
    }
    expect(await newestPurge()).toMatchObject({ mode: "soft", items: ["tag:song:7"] });
  });
});
