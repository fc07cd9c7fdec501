import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { namesFor } from "../../cli/init/found-tools.ts";
import { wranglerFile } from "../../cli/init/project-files.ts";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { WORKER_OPTIONS } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { isSite } from "../docs/site-blocks.ts";
import { TOKEN } from "../engine/scenario.ts";
import { blocksOf } from "./blocks.ts";

const WORKERS = ["README.md", "docs/getting-started.md"].flatMap((page) =>
  blocksOf(page)
    .filter(({ code }) => code.includes("createEdge(site)"))
    .map(({ code }, index) => ({ page, number: index + 1, code })),
);

test("there is a worker in the README, and one in docs/getting-started.md", () => {
  expect(WORKERS.map(({ page }) => page)).toEqual(["README.md", "docs/getting-started.md"]);
});

describe.each(WORKERS)("worker $number of $page", ({ code }) => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;
  let edge: EdgeRuntime;

  beforeAll(async () => {
    await origin.comeUp();
    folder = mkdtempSync(join(tmpdir(), "tidemark-worker-"));
    writeFileSync(join(folder, "worker.ts"), code);
    writeFileSync(join(folder, "tidemark.config.ts"), blocksOf("README.md").find(isSite)!.code);
    const bundled = await build({
      ...WORKER_OPTIONS,
      entryPoints: [join(folder, "worker.ts")],
      alias: { "tidemark/worker": resolve("worker/package.ts") },
      nodePaths: [resolve("node_modules")],
    });
    const variables = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
    edge = await startEdgeRuntime({ script: bundled.outputFiles[0]!.text, variables }, { port: 0 });
  }, 60_000);

  afterAll(async () => {
    await edge?.stop();
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  const seen = async (path: string) => {
    const response = await fetch(new URL(path, edge.url));
    return [response.headers.get("x-cache"), await response.text()];
  };

  test("is an edge with the README's site", async () => {
    const fields = { "cache-control": "max-age=3600" };
    origin.reply("/plog/hello", { fields, body: "v1" }, { fields, body: "v2" });
    origin.reply("/admin", { fields, body: "admin" });
    expect([await seen("/plog/hello"), await seen("/plog/hello")]).toEqual([
      ["MISS", "v1"],
      ["HIT", "v1"],
    ]);
    expect(await seen("/admin")).toEqual(["BYPASS", "admin"]);
    const purged = await fetch(new URL("/_tidemark/purge", edge.url), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: '{"tags":["plog:hello"]}',
    });
    expect(purged.status).toBe(200);
    expect(await seen("/plog/hello")).toEqual(["MISS", "v2"]);
  });

  if (code.includes('"/ping"')) {
    test("answers itself what is not the site's", async () => {
      expect(await seen("/ping")).toEqual([null, "pong"]);
      expect(origin.countOf("/ping")).toBe(0);
    });
  }
});

test("the lines of wrangler.toml in docs/getting-started.md are those that tidemark init writes", () => {
  const answers = { origin: "https://origin.example.com", host: "www.example.com", passed: [] };
  const build = "npx --no tidemark check";
  const alone = wranglerFile(answers, "edge", namesFor(null), null, build);
  const besideAnApp = wranglerFile({ ...answers, origin: null }, "my-app", namesFor({}), "my-app", build);
  const written = `${alone}${besideAnApp}`.split("\n");
  const shown = blocksOf("docs/getting-started.md").filter(({ language }) => language === "toml");
  expect(shown).toHaveLength(3);
  for (const { code } of shown) {
    const lines = code.trimEnd().split("\n");
    const start = written.indexOf(lines[0]!);
    // Some have a comment behind them.
    const [ofInit, ofDocs] = [written.slice(start, start + lines.length), lines].map((each) =>
      each.map((line) => line.replace(/ # .*/, "")),
    );
    expect(ofDocs).toEqual(ofInit);
  }
});
