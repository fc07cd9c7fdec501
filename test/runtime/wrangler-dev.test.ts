import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workerFile } from "../../cli/init/project-files.ts";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { TOKEN } from "../engine/scenario.ts";
import { Dev } from "../local/dev/dev-process.ts";
import { freePort } from "../suite/free-ports.ts";

const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };

const runs = spawnSync(process.execPath, [WRANGLER, "--version"], { env: { ...process.env, ...ENVIRONMENT } });
const NOT_RUN = "wrangler dev is SKIPPED, because wrangler does not start on this machine";
if (runs.status !== 0) process.stdout.write(`${NOT_RUN}:\n${runs.stderr}\n`);

const agent = new Agent({ keepAlive: false });
const origin = new ScriptedOrigin(() => Date.now());
let folder: string;
let port: number;
let dev: Dev | undefined;

beforeEach(async () => {
  mkdirSync(".tidemark", { recursive: true });
  folder = mkdtempSync(join(".tidemark", "wrangler-dev-"));
  port = await freePort();
  await origin.comeUp();
});

afterEach(async () => {
  dev?.interrupt();
  await dev?.exited;
  dev = undefined;
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

function ask(path: string, method = "GET", fields: Record<string, string> = {}): Promise<ClientAnswer> {
  return exchange(new URL(`http://127.0.0.1:${port}`), agent, { method, path, fields, host: `localhost:${port}` });
}

describe.skipIf(runs.status !== 0)(runs.status === 0 ? "wrangler dev" : NOT_RUN, () => {
  test.each([
    {
      name: "with routes",
      routes: 'routes = [{ pattern = "www.example.com", custom_domain = true }]',
      hosts: "www.example.com",
    },
    { name: "without routes", routes: "", hosts: "*" },
  ])(
    "$name stores pages and purges them, and tells the origin none of its own fields",
    async ({ routes, hosts }) => {
      const config = join(folder, "wrangler.toml");
      writeFileSync(
        join(folder, "worker.ts"),
        workerFile(".ts").replace("./tidemark.config.ts", "../../tidemark.config.ts"),
      );
      writeFileSync(
        config,
        `name = "edge"
main = "worker.ts"
compatibility_date = "2026-07-30"
${routes}
[vars]
TIDEMARK_ORIGIN = "${origin.url}"
TIDEMARK_HOSTS = "${hosts}"
TIDEMARK_TOKEN = "${TOKEN}"
${PURGE_LOG_TOML}`,
      );
      const args = ["--config", config, "--port", String(port), "--inspector-port", "0", "--ip", "127.0.0.1"];
      dev = new Dev([...args, "--persist-to", join(folder, "state")], ENVIRONMENT, [WRANGLER, "dev"]);
      await dev.says(/Ready on/);
      const page = { fields: { "cache-control": "max-age=600" } };
      origin.reply("/about", { ...page, body: "v1" }, { ...page, body: "v2" });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v1", fields: { "x-cache": "MISS" } });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v1", fields: { "x-cache": "HIT" } });
      expect(await ask("/about", "PURGE", { authorization: `Bearer ${TOKEN}` })).toMatchObject({ status: 200 });
      expect(await ask("/about")).toMatchObject({ status: 200, body: "v2", fields: { "x-cache": "MISS" } });
      expect(await ask("/about")).toMatchObject({ fields: { "x-cache": "HIT" } });

      // Where nothing is stored, the origin gets whatever else a client sends.
      await ask("/form", "POST", { "x-any": "1" });
      const seen = origin.seen.flatMap(({ fields }) => Object.keys(fields));
      expect(seen).toContain("x-any");
      // CF-Worker names the zone of the worker; the runtime adds it to whatever a worker fetches.
      expect(seen.filter((name) => /^(mf|cf)-/.test(name) && name !== "cf-worker")).toEqual([]);
    },
    60_000,
  );
});
