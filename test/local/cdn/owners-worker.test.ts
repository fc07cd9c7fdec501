import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigFileError, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import "tidemark/local/matchers";
import { until } from "../../suite/until.ts";
import { page } from "./pages.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-owner-"));
});

afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const origin = { "/about": [page("v1"), page("v2")], "/own": page("origin's") };

describe("a wrangler.toml", () => {
  const wrangler = (main: string) => `
name = "edge"
main = "${main}"
compatibility_date = "2026-07-30"
[vars]
GREETING = "hello"
TIDEMARK_HOSTS = "shop.example.test"
[[kv_namespaces]]
binding = "NOTES"
id = "notes"
[[durable_objects.bindings]]
name = "PURGE_LOG"
class_name = "PurgeLog"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["PurgeLog"]
`;
  const JOBS =
    '[[queues.producers]]\nqueue = "jobs"\nbinding = "JOBS"\n' +
    '[[queues.consumers]]\nqueue = "jobs"\nmax_batch_timeout = 0\n';

  test("uses the scripted origin instead of the worker that the site names as origin", {
    tags: ["deep"],
  }, async () => {
    await file(
      "behind.ts",
      `import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       export default createEdge({ origin: { service: "APP" } });`,
    );
    const services = '[[services]]\nbinding = "APP"\nservice = "app"\n';
    const config = await file("wrangler.behind.toml", wrangler("behind.ts") + services);
    await using cdn = await startCdn({ config, origin });
    await expect(cdn.get("/about")).toMiss();
    await expect(cdn.get("/about")).toHit();
  });

  test("runs the owner's own worker, with its variables and bindings, on the CDN's time", async () => {
    await file(
      "index.ts",
      `import { createEdge, defineSite } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       const edge = createEdge(defineSite({ origin: "https://origin.example.com" }));
       export default {
         async fetch(request, env, context) {
           if (!request.url.endsWith("/own")) return edge.fetch(request, env, context);
           await env.NOTES.put("greeting", env.GREETING);
           return new Response(await env.NOTES.get("greeting"));
         },
       };`,
    );
    const config = await file("wrangler.toml", wrangler("index.ts"));
    await using cdn = await startCdn({ config, origin, regions: ["fra", "syd"] });
    expect(cdn.publicUrl).toBe("http://shop.example.test");
    expect(await cdn.get("/own")).toMatchObject({ status: 200, body: "hello" });
    await expect(cdn.get("/about")).toMiss();
    await cdn.advance("1h");
    await expect(cdn.get("/about")).toHaveAgeAbout(3600);
    expect(await cdn.get("/about", { host: "other.example.test" })).toMatchObject({ status: 421 });
    await cdn.settle(await cdn.purger.purgeUrls("/about"));
    await expect(cdn.get("/about", { from: "syd" })).toNeverShow("v1");
  });

  test("has the edge's variables of the config alone, also in a list, and other ones of this machine, too", async ({
    onTestFinished,
  }) => {
    vi.stubEnv("CLOUDFLARE_ENV", "staging");
    onTestFinished(() => void vi.unstubAllEnvs());
    await mkdir(join(folder, "secrets"));
    await file(
      "secrets/.dev.vars",
      'TIDEMARK_HOSTS="*"\nTIDEMARK_PUBLIC_URL="https://here.example"\nGREETING="secret"\n',
    );
    await file(
      "secrets/index.ts",
      `import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       const edge = createEdge({ origin: "https://origin.example.com" });
       export default {
         fetch: (request, env, context) =>
           request.url.endsWith("/own") ? new Response(env.GREETING) : edge.fetch(request, env, context),
       };`,
    );
    const hosts = '["shop.example.test", "www.example.test"]';
    const staging = '[env.staging]\nvars = { TIDEMARK_HOSTS = "staging.example.test" }\n';
    const text = wrangler("index.ts").replace('"shop.example.test"', hosts) + staging;
    const config = await file("secrets/wrangler.toml", text);
    await using cdn = await startCdn({ config, origin });
    expect(cdn.publicUrl).toBe("http://shop.example.test");
    await expect(cdn.get("/about", { host: "www.example.test" })).toMiss();
    expect(await cdn.get("/about", { host: "other.example.test" })).toMatchObject({ status: 421 });
    expect(await cdn.get("/own")).toMatchObject({ body: "secret" });
  });

  test("is one worker in all isolates of a region: one of them consumes its queue, and its own objects are one", async () => {
    await file(
      "consumer.ts",
      `import { DurableObject } from "cloudflare:workers";
       import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       const edge = createEdge({ origin: "https://origin.example.com" });
       export class Counter extends DurableObject {
         add(by) {
           const sum = (this.ctx.storage.kv.get("sum") ?? 0) + by;
           this.ctx.storage.kv.put("sum", sum);
           return sum;
         }
       }
       const counter = (env) => env.COUNTER.get(env.COUNTER.idFromName("all"));
       export default {
         async fetch(request, env, context) {
           if (request.url.endsWith("/send")) return await env.JOBS.send(100), new Response("sent");
           if (request.url.endsWith("/add")) return new Response(await counter(env).add(1));
           if (request.url.endsWith("/sum")) return new Response(await counter(env).add(0));
           return edge.fetch(request, env, context);
         },
         async queue(batch, env) {
           for (const { body } of batch.messages) await counter(env).add(body);
         },
       };`,
    );
    const objects = '[[durable_objects.bindings]]\nname = "COUNTER"\nclass_name = "Counter"\n';
    const migration = '[[migrations]]\ntag = "v2"\nnew_sqlite_classes = ["Counter"]\n';
    const config = await file("consumer.toml", wrangler("consumer.ts") + objects + migration + JOBS);
    await using cdn = await startCdn({ config, origin, isolates: 2 });
    const ask = async (path: string, isolate: number) => Number((await cdn.get(path, { isolate })).body);
    expect([await ask("/add", 0), await ask("/add", 1), await ask("/add", 0)]).toEqual([1, 2, 3]);
    expect(await cdn.get("/send", { isolate: 1 })).toMatchObject({ body: "sent" });
    await until(async () => (await ask("/sum", 1)) !== 3);
    expect(await ask("/sum", 1)).toBe(103);
    await expect(cdn.get("/about", { isolate: 1 })).toMiss();
  });

  const HANDLES = "runs all handlers of an exported object that %s";

  test.each([
    [
      "is frozen, and has getters and private fields",
      `Object.freeze(new (class {
         #own = handlers;
         get fetch() { return this.#own.fetch; }
         queue = function (batch) { return this.#own.queue(batch); };
       })())`,
    ],
  ])(HANDLES, handles);

  test.each([
    ["is frozen", "Object.freeze(handlers)"],
    ["has getters", "{ get fetch() { return handlers.fetch; }, get queue() { return handlers.queue; } }"],
    [
      "has private fields",
      `new (class {
         #own = handlers;
         fetch(request, env, context) { return this.#own.fetch(request, env, context); }
         queue(batch) { return this.#own.queue(batch); }
       })()`,
    ],
  ])(HANDLES, { tags: ["deep"] }, handles);

  async function handles(_: string, exported: string): Promise<void> {
    await file(
      "handlers.ts",
      `import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       const edge = createEdge({ origin: "https://origin.example.com" });
       let got = "nothing";
       const handlers = {
         async fetch(request, env, context) {
           if (request.url.endsWith("/send")) return await env.JOBS.send("a job"), new Response("sent");
           if (request.url.endsWith("/got")) return new Response(got);
           return edge.fetch(request, env, context);
         },
         async queue(batch) {
           got = batch.messages[0].body;
         },
       };
       export default ${exported};`,
    );
    const config = await file("handlers.toml", wrangler("handlers.ts") + JOBS);
    await using cdn = await startCdn({ config, origin });
    expect(await cdn.get("/send")).toMatchObject({ body: "sent" });
    await until(async () => (await cdn.get("/got")).body !== "nothing");
    expect(await cdn.get("/got")).toMatchObject({ body: "a job" });
    await expect(cdn.get("/about")).toMiss();
  }

  test("imports texts, data, WebAssembly, aliases, what its rules name, and Node's modules also without node:", async () => {
    await mkdir(join(folder, "modules"));
    await file("modules/text.txt", "a text");
    await file("modules/page.md", "# A page");
    await file("modules/data.bin", "\x01\x02");
    await file("modules/empty.wasm", "\0asm\x01\0\0\0");
    await file("modules/greeting.ts", 'export const greeting = "hi";');
    await file(
      "modules/index.ts",
      `import data from "./data.bin";
       import empty from "./empty.wasm?module";
       import page from "./page.md";
       import text from "./text.txt";
       import again from "../modules/text.txt";
       import { EventEmitter } from "events";
       import { readFile } from "fs/promises";
       import { greeting } from "@app/greeting";
       import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       const edge = createEdge({ origin: "https://origin.example.com" });
       const files = [text, again, page, [...new Uint8Array(data)], empty instanceof WebAssembly.Module];
       const imported = [...files, greeting, new EventEmitter().listenerCount("x"), typeof readFile];
       export default {
         fetch: (request, env, context) =>
           request.url.endsWith("/own") ? Response.json(imported) : edge.fetch(request, env, context),
       };`,
    );
    const rules = '[[rules]]\ntype = "Text"\nglobs = ["**/*.md"]\nfallthrough = true\n';
    const flags = 'compatibility_flags = ["nodejs_compat"]\nalias = { "@app/greeting" = "./greeting.ts" }\n';
    const config = await file("modules/wrangler.toml", flags + wrangler("index.ts") + rules);
    const own = async () => {
      await using cdn = await startCdn({ config, origin, isolates: 2 });
      await expect(cdn.get("/about")).toMiss();
      return JSON.parse((await cdn.get("/own", { isolate: 1 })).body);
    };
    expect(await own()).toEqual(["a text", "a text", "# A page", [1, 2], true, "hi", 0, "function"]);
    await file("modules/page.md", "# Another page");
    expect(await own()).toEqual(["a text", "a text", "# Another page", [1, 2], true, "hi", 0, "function"]);
    await rm(join(folder, "modules/page.md"));
    await expect(startCdn({ config, origin })).rejects.toThrow(/index\.ts:3:\d+: Could not resolve "\.\/page\.md"$/);
  });

  test("is bundled again if a file of its worker is saved while it is bundled", async () => {
    await mkdir(join(folder, "saved/node_modules"), { recursive: true });
    const saying = (text: string) => `
      import "./node_modules/late.ts";
      import { createEdge } from "tidemark/worker";
      export { PurgeLog } from "tidemark/worker";
      createEdge({ origin: "https://origin.example.com" });
      export default { fetch: () => new Response("${text}") };`;
    await file("saved/index.ts", saying("old"));
    const config = await file("saved/wrangler.toml", wrangler("index.ts"));
    // The bundler, which has read index.ts, waits at the pipe.
    const late = join(folder, "saved/node_modules/late.ts");
    execFileSync("mkfifo", [late]);
    const starting = startCdn({ config, origin });
    const pipe = await open(late, "w");
    await file("saved/index.ts", saying("new"));
    await pipe.close();
    await using first = await starting;
    expect(await first.get("/")).toMatchObject({ body: "old" });
    await rm(late);
    await writeFile(late, "");
    await using second = await startCdn({ config, origin });
    expect(await second.get("/")).toMatchObject({ body: "new" });
  });

  test("is refused, with the flag that it lacks, if its worker uses a module of Node", async () => {
    await file("events.ts", 'import "events";\nexport default {};\n');
    const config = await file("events.toml", wrangler("events.ts"));
    await expect(startCdn({ config, origin })).rejects.toThrow(
      /events\.ts:1:8: Could not resolve "events", a module of Node: it needs compatibility_flags = \["nodejs_compat"\] in the wrangler config$/,
    );
  });

  test("is refused, with the reason, if its worker does not make its edge with createEdge", {
    tags: ["deep"],
  }, async () => {
    await file(
      "elsewhere.ts",
      `export { PurgeLog } from "tidemark/worker"; export default { fetch: () => new Response("mine") };`,
    );
    const config = await file("elsewhere.toml", wrangler("elsewhere.ts"));
    await expect(startCdn({ config, origin })).rejects.toThrow("createEdge of tidemark/worker");
  });

  test.each([
    [
      "a class",
      "class extends WorkerEntrypoint { fetch(request) { return edge.fetch(request, this.env, this.ctx); } }",
    ],
    ["an object without fetch", "{ queue() {} }"],
  ])("is refused, with what to write, if its worker exports %s", { tags: ["deep"] }, async (_, exported) => {
    await file(
      "no-fetch.ts",
      `import { WorkerEntrypoint } from "cloudflare:workers";
       import { createEdge } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       export const edge = createEdge({ origin: "https://origin.example.com" });
       export const base = WorkerEntrypoint;
       export default ${exported};`,
    );
    const config = await file("no-fetch.toml", wrangler("no-fetch.ts"));
    await expect(startCdn({ config, origin })).rejects.toThrow(
      `${config}: its worker does not start: the default export must be an object with a function fetch, not a class.`,
    );
  });

  test.each([
    {
      what: "a mistake in the site's rules",
      code: 'createEdge(defineSite({ origin: "https://origin.example.com", rutes: [] }))',
      says: "the site's rules are not valid:\n  rutes: unknown key; did you mean routes?",
    },
    {
      what: "a setting that Workers do not have",
      code: 'createEdge(defineSite({ origin: "https://origin.example.com", compression: {} }))',
      says: "the site's rules are not valid:\n  compression: is only for tidemark serve",
    },
    {
      what: "anything else",
      code: '(() => { throw new TypeError("no such thing") })()',
      says: "TypeError: no such thing",
    },
  ])(
    "is refused with the error that a module of its worker throws: $what",
    { tags: ["deep"] },
    async ({ code, says }) => {
      await file(
        "throws.ts",
        `import { createEdge, defineSite } from "tidemark/worker";
       export { PurgeLog } from "tidemark/worker";
       export default ${code};
       export const used = [createEdge, defineSite];`,
      );
      const config = await file("throws.toml", wrangler("throws.ts"));
      const error = (await startCdn({ config, origin }).catch((error: unknown) => error)) as Error;
      expect(error).toBeInstanceOf(ConfigFileError);
      expect(error.message.slice(0, `${config}: its worker does not start: ${says}`.length)).toBe(
        `${config}: its worker does not start: ${says}`,
      );
      expect(error.message).not.toMatch(/workerd binary|\n +at /);
    },
  );

  test.each([
    ["syntax.toml", 'name = "edge"\nmain = "index.ts\n', "syntax.toml:2:17: Invalid TOML document: "],
    ["syntax.jsonc", '{\n  "name": "edge"\n  "main": "index.ts"\n}', "syntax.jsonc:3:3: CommaExpected"],
    ["type.toml", "name = 3\n", 'Expected "name" to be of type string'],
    ["no-file.toml", wrangler("gone.ts"), /no-file\.toml: Could not resolve ".*gone\.ts"$/],
  ])("is refused with its name and the place of what is wrong in it: %s", async (name, text, says) => {
    const config = await file(name, text);
    const error = (await startCdn({ config, origin }).catch((error: unknown) => error)) as Error;
    expect(error).toBeInstanceOf(ConfigFileError);
    expect(error.message).toMatch(says);
    expect(error.message).toContain(config);
  });

  test("is refused without a purge log", async () => {
    const config = await file("no-log.toml", 'name = "edge"\nmain = "index.ts"\ncompatibility_date = "2026-07-30"\n');
    await expect(startCdn({ config, origin })).rejects.toThrow("PURGE_LOG");
  });
});

describe("a tidemark.config.ts", () => {
  test("is the site of the package's worker", { tags: ["deep"] }, async () => {
    const config = await file(
      "tidemark.config.ts",
      `import { defineSite } from "tidemark/worker";
       export default defineSite({
         origin: "https://origin.example.com",
         hosts: ["www.example.com"],
         routes: [{ match: "/admin/*", pass: true }],
       });`,
    );
    await using cdn = await startCdn({ config, origin });
    expect(cdn.publicUrl).toBe("http://www.example.com");
    await expect(cdn).toNeverStore("/admin/*");
    await expect(cdn.get("/about")).toBeStored();
  });

  test("may be a server's, as under tidemark dev: what only a server does is not simulated", async () => {
    const config = await file(
      "server.config.ts",
      `import { defineSite } from "tidemark/worker";
       export default defineSite({
         origin: { url: ["http://10.0.0.1:8000", "http://10.0.0.2:8000"] },
         hosts: ["www.example.com"],
         compression: {},
         forward: { host: "visitor" },
         doors: { varnish: { from: ["192.0.2.7"] } },
         routes: [{ match: "/about", deltas: true, browserTtl: "60s" }],
       });`,
    );
    await using cdn = await startCdn({ config, origin });
    await expect(cdn.get("/about")).toMiss();
    await expect(cdn.get("/about")).toHit();
  });

  test("of this project stores nothing under /admin", { tags: ["deep"] }, async () => {
    await using cdn = await startCdn({ config: "tidemark.config.ts" });
    await expect(cdn).toNeverStore("/admin/*");
  });

  test("that is not valid is refused with the place of the mistake", async () => {
    const config = await file(
      "wrong.config.ts",
      `import { defineSite } from "tidemark/worker";
       export default defineSite({ origin: "https://origin.example.com", rutes: [] });`,
    );
    await expect(startCdn({ config })).rejects.toThrow("did you mean routes");
    await expect(startCdn({ config: join(folder, "none.toml") })).rejects.toThrow("there is no");
  });
});

test("startCdn rejects a site that is not valid", { tags: ["deep"] }, async () => {
  const site = { routes: [{ match: "no slash" }] };
  await expect(startCdn({ site })).rejects.toThrow();
});

test("startCdn gives the edge the patterns of a site, and refuses them where no pattern may be", async () => {
  await using cdn = await startCdn({ site: { bypass: { cookies: [/^SESSION=/i] } }, origin });
  await expect(cdn.get("/about", { fields: { cookie: "session=1" } })).toBypass();
  await expect(cdn.get("/about", { fields: { cookie: "theme=dark" } })).toMiss();
  const wrong = { routes: [{ match: /admin/ as never }] };
  await expect(startCdn({ site: wrong })).rejects.toThrow("routes[0].match: ");
});
