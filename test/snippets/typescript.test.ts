import { createServer, type RequestListener, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PurgeRecord, Receipt } from "../../sdk/index.ts";
import type { RecordingPurger } from "../../sdk/testing.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import { listenLocally } from "../suite/local-url.ts";
import { blockWith } from "./blocks.ts";
import { BlockFolder } from "./client-blocks.ts";
import { SnippetEdge } from "./snippet-edge.ts";

const folder = new BlockFolder();
let edge: SnippetEdge;

beforeAll(async () => {
  edge = await SnippetEdge.start();
  for (const [name, value] of Object.entries(edge.settings)) process.env[name] = value;
}, 60_000);

afterAll(async () => {
  for (const name of Object.keys(edge?.settings ?? {})) delete process.env[name];
  await edge?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Runs a block behind the reader's own code, and returns what the code around it exports. */
async function load<Exports>(name: string, before: string, block: string, after = ""): Promise<Exports> {
  return (await import(folder.write(`${name}.ts`, `${before}\n${block}\n${after}`))) as Exports;
}

describe("purges", () => {
  const pages = { "/plog/hello": "plog:hello", "/plog/": "plog", "/songs/1": "song:1", "/songs": "songs" };
  const states = async () => Promise.all(Object.keys(pages).map((path) => edge.xCache(path)));
  const publish = async () => {
    for (const [path, tags] of Object.entries(pages)) await edge.publish(path, tags);
  };

  test("README.md: the purge is settled when the block ends", async () => {
    await publish();
    await load("readme", "", blockWith("README.md", "receipt.settled()"));
    expect(await states()).toEqual(["MISS", "MISS", "HIT", "HIT"]);
  });

  test("docs/purging.md, After the commit: one purge after the commit, and none after an error", async () => {
    await publish();
    const app = `
      export const seen = [];
      export const songs = { async save(tx, { title }) { if (!title) throw new Error("no title"); } };
      export const database = {
        async transaction(work) { await work({}); seen.push(await globalThis.states()); },
      };
    `;
    Object.assign(globalThis, { states });
    folder.write("app.ts", app);
    type Exports = { importSongs(rows: object[]): Promise<void>; seen: string[][] };
    const { importSongs, seen } = await load<Exports>(
      "batch",
      "",
      blockWith("docs/purging.md", "export async function importSongs"),
      'export { seen } from "./app.ts";',
    );
    const before = (await edge.purges()).length;
    await expect(importSongs([{ id: 1, title: "new" }, { id: 2 }])).rejects.toThrow("no title");
    expect([(await edge.purges()).length, await states()]).toEqual([before, ["HIT", "HIT", "HIT", "HIT"]]);
    await importSongs([{ id: 1, title: "new" }]);
    expect(seen).toEqual([["HIT", "HIT", "HIT", "HIT"]]);
    expect(await states()).toEqual(["HIT", "HIT", "MISS", "MISS"]);
    expect((await edge.purges())[0]).toMatchObject({
      reason: "import",
      items: ["/songs/1", "tag:song:1", "tag:songs"],
    });
  });

  test("docs/purging.md, Who purged what: the audit trail has the purge", async () => {
    type Exports = { receipt: Receipt; purges: PurgeRecord[] };
    const { receipt, purges } = await load<Exports>(
      "audit",
      'import { createPurger } from "tidemark"; const cdn = createPurger();',
      blockWith("docs/purging.md", "cdn.purges({ limit: 20 })"),
      "export { receipt, purges };",
    );
    expect(purges[0]).toMatchObject({ seq: receipt.seq, items: ["tag:song:42", "tag:songs"] });
  });

  test("docs/purging.md, In tests: the recording purger sends nothing", async () => {
    const before = (await edge.purges()).length;
    const { cdn } = await load<{ cdn: RecordingPurger }>(
      "recording",
      "",
      blockWith("docs/purging.md", "createRecordingPurger"),
      "export { cdn };",
    );
    await cdn.purgeTags("song:42");
    expect(cdn.calls).toMatchObject([{ tags: ["song:42"] }]);
    expect((await edge.purges()).length).toBe(before);
  });

  test("docs/reference/http-api.md: the receipt is one that clients read, without a field that there is not", () => {
    const shown: unknown = JSON.parse(blockWith("docs/reference/http-api.md", '"settlesInMs"'));
    expect(purgeReceiptSchema.parse(shown)).toEqual(shown);
  });
});

describe("apps", () => {
  let server: Server | undefined;
  afterAll(() => server?.close());

  /** Fields of the answer to a GET. */
  async function fieldsOf(app: RequestListener, path: string, headers: Record<string, string> = {}): Promise<Headers> {
    server = createServer(app);
    const response = await fetch(`${await listenLocally(server)}${path}`, { headers });
    await response.text();
    server.close();
    return response.headers;
  }

  test("docs/sites.md, Express: a page is for everybody only as long as nobody is logged in", async () => {
    const app = `
      import express from "express";
      export const app = express();
      export const options = [];
      const secret = "a secret";
      const song = (request, response) => response.send("a song");
      const home = (user) => user ?? "nobody";
      const session = (given) => {
        options.push(given);
        return (request, _, next) => {
          request.session = request.headers.cookie === "connect.sid=1" ? { user: "ada" } : {};
          next();
        };
      };
    `;
    type Exports = { app: RequestListener; options: object[] };
    const { app: express, options } = await load<Exports>(
      "express",
      app,
      blockWith("docs/sites.md", "saveUninitialized: false }"),
    );
    expect(options).toEqual([{ secret: "a secret", resave: false, saveUninitialized: false }]);
    expect((await fieldsOf(express, "/")).get("cache-control")).toBe("public, max-age=0, s-maxage=3600");
    const personal = await fieldsOf(express, "/", { cookie: "connect.sid=1" });
    expect(personal.get("cache-control")).toBe("private, no-store");
    expect((await fieldsOf(express, "/songs/42")).get("content-length")).toBe("6");
  });

  test("docs/sites.md, A JSON API: a song has its tag, and says that it is for everybody", async () => {
    const app = `
      import express from "express";
      import { tagResponse } from "tidemark";
      export const app = express();
      const songs = { find: async (id) => ({ id }) };
    `;
    const { app: express } = await load<{ app: RequestListener }>(
      "json-api",
      app,
      blockWith("docs/sites.md", "tagResponse(response"),
    );
    const fields = await fieldsOf(express, "/v1/songs/42");
    expect(fields.get("cache-tag")).toBe("song:42");
    expect(fields.get("cache-control")).toBe("public, max-age=0, s-maxage=3600");
  });

  test("docs/sites.md, Next: the action saves, then revalidates, and sends no purge, which would come too early", async () => {
    folder.write("next-cache.ts", "export const revalidatePath = (path) => globalThis.happened.push(path);");
    const happened: string[] = [];
    Object.assign(globalThis, { happened });
    await edge.publish("/songs/42", "");
    const { saveSong } = await load<{ saveSong(id: string, form: FormData): Promise<void> }>(
      "action",
      'const songs = { save: async (id) => { globalThis.happened.push("saved " + id); } };',
      blockWith("docs/sites.md", '"use server"').replace('"next/cache"', '"./next-cache.ts"'),
    );
    await saveSong("42", new FormData());
    expect(happened).toEqual(["saved 42", "/songs/42"]);
    expect(await edge.xCache("/songs/42")).toBe("HIT");
  });
});
