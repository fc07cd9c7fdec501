import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chances } from "../engine/chances.ts";
import { run } from "../packed/installed-package.ts";
import { byDepth, inGate } from "../suite/depth.ts";
import { freePort } from "../suite/free-ports.ts";
import { listenLocally } from "../suite/local-url.ts";
import { seed } from "../suite/seed.ts";
import { until } from "../suite/until.ts";
import { pythonWithPackages } from "./python-environment.ts";
import "tidemark/local/matchers";

const SITE = resolve("test/backends/django-site");
const PYTHONPATH = [resolve("sdk/python"), SITE].join(delimiter);

const environment = await pythonWithPackages();
const python = "python" in environment ? environment.python : null;
const title = "missing" in environment ? `Django is SKIPPED, because ${environment.missing}` : "Django";
if (python === null) process.stdout.write(`${title}\n`);

describe.skipIf(python === null)(title, () => {
  const environmentOf = (settings: Readonly<Record<string, string>>) => ({
    ...process.env,
    PYTHONPATH,
    PYTHONDONTWRITEBYTECODE: "1",
    DJANGO_SETTINGS_MODULE: "settings",
    no_proxy: "*",
    ...settings,
  });

  test("the module's own tests pass, without a warning of Python's", { tags: ["deep"], timeout: 120_000 }, async () => {
    const env = environmentOf({
      SENDER: "command",
      TIDEMARK_ENDPOINT: "http://localhost",
      TIDEMARK_TOKEN: "t",
    }) as Record<string, string>;
    const args = ["-W", "error", "-m", "django", "test", "songs"];
    const { exit, stderr } = await run(python!, args, { cwd: SITE, env });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringMatching(/^Ran 1\d\d tests in .*\n\nOK\n/m) });
  });

  describe("behind an edge", () => {
    let folder: string;
    let origin: string;
    let server: ChildProcess;
    let cdn: Cdn<"fra" | "syd">;
    let log = "";
    const waiting: { pattern: RegExp; resolve: () => void }[] = [];

    /** Resolves once Django has written this. */
    const says = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        if (pattern.test(log)) resolve();
        waiting.push({ pattern, resolve });
        server.on("close", () => reject(new Error(`it ended without saying ${pattern}: ${log}`)));
      });

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "tidemark-django-"));
      const port = await freePort();
      origin = `http://127.0.0.1:${port}`;
      cdn = await startCdn({ site: { hosts: ["www.example.test"] }, origin, regions: ["fra", "syd"] });
      const settings = {
        TIDEMARK_ENDPOINT: cdn.url("fra"),
        TIDEMARK_TOKEN: cdn.token,
        DATABASE: join(folder, "songs.db"),
      };
      const env = environmentOf(settings);
      const made = await run(python!, ["-m", "django", "migrate", "--run-syncdb", "-v0"], {
        cwd: SITE,
        env: env as Record<string, string>,
      });
      expect(made).toMatchObject({ exit: 0, stderr: "" });
      const args = ["-u", "-m", "django", "runserver", "--noreload", `127.0.0.1:${port}`];
      server = spawn(python!, args, { cwd: SITE, env, stdio: ["ignore", "pipe", "pipe"] });
      for (const stream of [server.stdout!, server.stderr!]) {
        stream.on("data", (chunk: Buffer) => {
          log += chunk.toString();
          for (const { pattern, resolve } of waiting) if (pattern.test(log)) resolve();
        });
      }
      await says(/Quit the server with/);
    }, 60_000);

    afterAll(async () => {
      if (server?.exitCode === null) {
        server.kill();
        await once(server, "close");
      }
      await cdn?.close();
      await rm(folder, { recursive: true, force: true });
    });

    let song: string;

    /** Each test has a song of its own. */
    beforeEach(async () => {
      const env = environmentOf({ DATABASE: join(folder, "songs.db") }) as Record<string, string>;
      const script =
        "import django; django.setup(); from django.conf import settings; settings.TIDEMARK_ENDPOINT = None; " +
        "from songs.models import Song; print(Song.objects.create(title='old').pk)";
      const { stdout, stderr } = await run(python!, ["-c", script], { cwd: SITE, env });
      expect(stderr).toBe("");
      song = stdout.trim();
    });

    /** Past the edge, which would invalidate the URL of the request by itself. */
    const post = (path: string, fields: Readonly<Record<string, string>>) =>
      fetch(origin + path, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });

    test.each(inGate(1, ["songs", "async"]))(
      "the editor sees an edit in a view below /%s at once, and all others once it has settled",
      async (below) => {
        const path = `/${below}/${song}`;
        const seen = (fields: Record<string, string> = {}) => cdn.get(path, { from: "syd", fields });
        await expect(seen()).toMiss();
        await expect(seen()).toHit();
        expect((await seen()).body).toBe("old");

        const saved = await post(path, { title: "new" });
        expect(saved.status).toBe(302);
        const cookie = saved.headers.getSetCookie().join().split(";")[0]!;
        expect(cookie).toMatch(/^tidemark-after=/);

        expect((await seen({ cookie })).body).toBe("new");
        await cdn.advance("2s");
        for (const from of ["fra", "syd"] as const) expect((await cdn.get(path, { from })).body).toBe("new");
        await expect(seen()).toHit();
      },
    );

    test("a transaction that is rolled back purges nothing", { tags: ["deep"] }, async () => {
      const path = `/songs/${song}`;
      await expect(cdn.get(path)).toMiss();
      const newest = async () => (await cdn.purger.purges({ limit: 1 })).purges[0]?.seq ?? 0;
      const before = await newest();
      expect((await post(path, { title: "never", fail: "1" })).status).toBe(500);
      await cdn.advance("2s");
      expect(await newest()).toBe(before);
      await expect(cdn.get(path)).toHit();
      expect((await cdn.get(path)).body).toBe("old");
    });

    test("an edge that does not answer delays no response, and gets the purge later", {
      tags: ["deep"],
    }, async () => {
      const path = `/songs/${song}`;
      await expect(cdn.get(path)).toMiss();
      log = "";
      await cdn.pop("fra").cutFromLog();
      const saved = await post(path, { title: "new" });
      expect([saved.status, saved.headers.getSetCookie()]).toEqual([302, []]);
      await says(/The purge failed and is sent again in \d\.\d s: the edge answered with 503/);
      await cdn.pop("fra").reconnectToLog();
      await until(
        async () => (await cdn.purger.purges({ limit: 1 })).purges[0]?.items.includes(`tag:song:${song}`) === true,
      );
      expect(log).not.toContain("may be stale");
      await cdn.advance("2s");
      expect((await cdn.get(path)).body).toBe("new");
    });
  });

  describe("killed", () => {
    const KILLS = byDepth({ test: 1, gate: 1, all: 6, explore: 100 });

    test(`${KILLS}× between saves and purges, it loses none (seed ${seed})`, {
      tags: ["deep"],
      timeout: 300_000,
    }, async () => {
      const random = chances(seed);
      const purged = new Map<string, string>();
      let isKilling = true;
      const edge = createServer(async (request, response) => {
        const { id, ...items } = JSON.parse(await text(request)) as { id: string };
        const body = JSON.stringify(items);
        expect(purged.get(id) ?? body).toBe(body); // the same id is always the same purge
        const luck = random();
        if (luck < 0.3 && isKilling) return; // never answers, and holds no save up
        if (luck < 0.5) return void response.writeHead(503).end();
        purged.set(id, body);
        response.end(JSON.stringify({ seq: purged.size, token: "log.1", settlesInMs: 0 }));
      });
      const folder = await mkdtemp(join(tmpdir(), "tidemark-django-"));
      try {
        const env = environmentOf({
          TIDEMARK_ENDPOINT: await listenLocally(edge),
          TIDEMARK_TOKEN: "a-token",
          DATABASE: join(folder, "songs.db"),
        }) as Record<string, string>;
        const django = (...args: string[]) => run(python!, ["-m", "django", ...args], { cwd: SITE, env });
        expect(await django("migrate", "--run-syncdb", "-v0")).toMatchObject({ exit: 0, stderr: "" });
        let last = 0;
        for (let kill = 0; kill < KILLS; kill++) {
          const saving = spawn(python!, ["-u", "saves.py"], { cwd: SITE, env, stdio: ["ignore", "pipe", "ignore"] });
          const enough = last + 1 + Math.floor(random() * 60);
          for await (const line of createInterface(saving.stdout!)) {
            last = Number(line);
            if (last >= enough) saving.kill("SIGKILL");
          }
        }
        isKilling = false;
        await until(async () => (await django("send_purges")).exit === 0);
        const purgedTags = new Set(
          [...purged.values()].flatMap((body) => (JSON.parse(body) as { tags: string[] }).tags),
        );
        const committed = Array.from({ length: last }, (_, index) => `title-${index + 1}`);
        expect(committed.filter((tag) => !purgedTags.has(tag))).toEqual([]);
        expect(last).toBeGreaterThanOrEqual(KILLS);
      } finally {
        edge.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
});
