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
import { blocksOf } from "../snippets/blocks.ts";
import { freePort } from "../suite/free-ports.ts";

const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };

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

describe("wrangler dev", () => {
  describe.each([
    {
      name: "with routes",
      tags: [],
      routes: 'routes = [{ pattern = "www.example.com", custom_domain = true }]',
      hosts: "www.example.com",
    },
    { name: "without routes", tags: ["deep"], routes: "", hosts: "*" },
  ])("$name", ({ tags, routes, hosts }) =>
    test("stores pages and purges them, and tells the origin none of its own fields", { tags }, async () => {
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
    }),
  );

  test("two workers, one behind the other: an app that counts its visits is stored, purged, and told the public address", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
    const shown = blocksOf("docs/getting-started.md");
    const [edge, services] = ["{ service:", "[[services]]"].map(
      (text) => shown.find(({ code }) => code.includes(text))!.code,
    );
    write("edge.ts", edge!);
    write(
      "app.ts",
      `let visits = 0;
const headers = { "cache-control": "max-age=600", "cache-tag": "app" };
const cutOff = () => {
  const bytes = new TextEncoder().encode("half");
  let pulls = 0;
  return new ReadableStream({ pull: (body) => (pulls++ === 0 ? body.enqueue(bytes) : body.error(new Error("cut"))) });
};
export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/moved") return Response.redirect(new URL("/about", url), 302);
    if (url.pathname === "/cut") return new Response(cutOff(), { headers });
    if (request.method === "POST") return new Response(await request.text());
    const body = [++visits, request.url, request.headers.get("cookie")].join(" ");
    if (url.pathname !== "/gzip") return new Response(body, { headers });
    const zipped = new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Response(zipped, { encodeBody: "manual", headers: { ...headers, "content-encoding": "gzip" } });
  },
};`,
    );
    const config = (name: string, main: string, rest: string) => `name = "${name}"
main = "${main}"
compatibility_date = "2026-07-30"
${rest}`;
    const variables = `[vars]\nTIDEMARK_HOSTS = "*"\nTIDEMARK_TOKEN = "${TOKEN}"\n`;
    write("wrangler.toml", config("edge", "edge.ts", `${variables}${services}\n${PURGE_LOG_TOML}`));
    write("wrangler.app.toml", config("my-app", "app.ts", ""));
    const configs = ["wrangler.toml", "wrangler.app.toml"].flatMap((file) => ["--config", join(folder, file)]);
    const args = [...configs, "--port", String(port), "--inspector-port", "0", "--ip", "127.0.0.1"];
    dev = new Dev([...args, "--persist-to", join(folder, "state")], ENVIRONMENT, [WRANGLER, "dev"]);
    await dev.says(/Ready on/);

    const page = `http://localhost:${port}/about`;
    const about = (fields: Record<string, string> = {}) => ask("/about", "GET", fields);
    expect(await about()).toMatchObject({ status: 200, body: `1 ${page} `, fields: { "x-cache": "MISS" } });
    expect(await about()).toMatchObject({ body: `1 ${page} `, fields: { "x-cache": "HIT" } });
    expect((await about()).fields).not.toHaveProperty("cache-tag");
    const body = '{"tags":["app"]}';
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const purge = { method: "POST", path: "/_tidemark/purge", fields, body, host: `localhost:${port}` };
    expect(await exchange(new URL(`http://127.0.0.1:${port}`), agent, purge)).toMatchObject({ status: 200 });
    expect(await about()).toMatchObject({ body: `2 ${page} `, fields: { "x-cache": "MISS" } });
    expect(await ask("/moved")).toMatchObject({ status: 302, fields: { location: page } });
    const post = { ...purge, path: "/form", fields: {}, body: "sent" };
    expect(await exchange(new URL(`http://127.0.0.1:${port}`), agent, post)).toMatchObject({
      status: 200,
      body: "sent",
    });

    for (let time = 0; time < 2; time++) {
      await ask("/cut").catch(() => undefined);
      expect((await ask("/cut").catch(() => null))?.fields["x-cache"]).not.toBe("HIT");
    }

    // What the app has compressed is stored as it is, and a client that cannot read it gets a form of its own.
    const unzipped = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/gzip`, { headers: { "accept-encoding": "gzip" } });
      return { xCache: answer.headers.get("x-cache"), body: await answer.text() };
    };
    expect(await unzipped()).toMatchObject({ xCache: "MISS", body: expect.stringMatching(/^3 http.*\/gzip $/) });
    expect(await unzipped()).toMatchObject({ xCache: "HIT", body: expect.stringMatching(/^3 http.*\/gzip $/) });
  });

  test("one worker whose app is an entrypoint of its own", { tags: ["deep"], timeout: 60_000 }, async () => {
    writeFileSync(
      join(folder, "worker.ts"),
      `import { WorkerEntrypoint } from "cloudflare:workers";
import { createEdge } from "tidemark/worker";
export { PurgeLog } from "tidemark/worker";
export class App extends WorkerEntrypoint {
  fetch(request) { return new Response(request.url, { headers: { "cache-control": "max-age=600" } }); }
}
export default createEdge({ origin: { service: "APP" } });`,
    );
    writeFileSync(
      join(folder, "wrangler.toml"),
      `name = "edge"
main = "worker.ts"
compatibility_date = "2026-07-30"
[vars]
TIDEMARK_HOSTS = "*"
[[services]]
binding = "APP"
service = "edge"
entrypoint = "App"
${PURGE_LOG_TOML}`,
    );
    const args = ["--config", join(folder, "wrangler.toml"), "--port", String(port), "--inspector-port", "0"];
    const state = ["--ip", "127.0.0.1", "--persist-to", join(folder, "state")];
    dev = new Dev([...args, ...state], ENVIRONMENT, [WRANGLER, "dev"]);
    await dev.says(/Ready on/);
    const body = `http://localhost:${port}/about`;
    expect(await ask("/about")).toMatchObject({ status: 200, body, fields: { "x-cache": "MISS" } });
    expect(await ask("/about")).toMatchObject({ status: 200, body, fields: { "x-cache": "HIT" } });
  });
});
