import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { PgOutbox } from "../../sdk/outbox/pg.ts";
import type { SqliteOutbox } from "../../sdk/outbox/sqlite.ts";
import { accepts, type FakeEdge, receiptBody, refuses, startFakeEdge } from "../sdk/fake-edge.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../sdk/outbox/postgres-server.ts";
import { listenLocally } from "../suite/local-url.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/purging.md"), "utf8");

/** In the repository, so that the examples find its packages. */
let folder: string;

beforeAll(() => {
  mkdirSync(join(ROOT, ".tidemark"), { recursive: true });
  folder = mkdtempSync(join(ROOT, ".tidemark", "outbox-page-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function example(name: string): string {
  const code = new RegExp(`<!-- run: ${name} -->\n\`\`\`ts\n(.*?)\`\`\``, "s").exec(PAGE)?.[1];
  if (code === undefined) throw new Error(`the page has no example ${name}`);
  return code;
}

/** Runs an example, with the sources in the place of the package. */
async function runExample<Exports>(name: string, code: string, external: readonly string[] = []): Promise<Exports> {
  const outfile = join(folder, `${name}.ts`);
  await build({
    stdin: { contents: code, loader: "ts", resolveDir: ROOT },
    outfile: outfile.replace(/\.ts$/, ".mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["pg", "undici", "zod", "leven", ...external],
    alias: {
      "tidemark/outbox/sqlite": join(ROOT, "sdk/outbox/sqlite.ts"),
      "tidemark/outbox/pg": join(ROOT, "sdk/outbox/pg.ts"),
      tidemark: join(ROOT, "sdk/index.ts"),
    },
  });
  return (await import(pathToFileURL(outfile.replace(/\.ts$/, ".mjs")).href)) as Exports;
}

function useEdge({ endpoint }: Pick<FakeEdge, "endpoint">): void {
  vi.stubEnv("TIDEMARK_ENDPOINT", endpoint);
  vi.stubEnv("TIDEMARK_TOKEN", "token");
}

beforeEach(() => () => vi.unstubAllEnvs());

interface Songs {
  readonly outbox: SqliteOutbox;
  rename(song: number, title: string | null): Promise<string | undefined>;
}

/** Runs the example in SQLite with a file that has a song. The editor waits so long for the edge. */
async function runWithSong(name: string, waitMs: number): Promise<{ songs: Songs; database: DatabaseSync }> {
  const file = join(folder, `${name}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec(
    "CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT NOT NULL); INSERT INTO songs VALUES (7, 'Old')",
  );
  const code = example("sqlite").replace('"songs.sqlite"', JSON.stringify(file)).replace("2_000", String(waitMs));
  return { songs: await runExample<Songs>(name, code), database };
}

test("the example in SQLite answers the editor while the edge hangs, and the purge is sent when it no longer does", async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => asked.resolve(response));
  useEdge({ endpoint: await listenLocally(server) });
  const { songs, database } = await runWithSong("songs-of-a-hanging-edge", 0);
  try {
    expect(await songs.rename(7, "New")).toBeUndefined();
    (await asked.promise).setHeader("content-type", "application/json").end(JSON.stringify(receiptBody));
    await songs.outbox.close();
    expect(songs.outbox.list()).toEqual([]);
  } finally {
    database.close();
    server.close();
    server.closeAllConnections();
  }
});

test("the example in SQLite purges what it has saved, and a purge that was given up is sent again", async () => {
  await using edge = await startFakeEdge(accepts, refuses("conflict"), accepts);
  useEdge(edge);
  const { songs, database } = await runWithSong("songs", 60_000);
  expect(await songs.rename(7, "New")).toBe(receiptBody.token);
  expect(database.prepare("SELECT title FROM songs").get()).toEqual({ title: "New" });
  expect(edge.requests[0]?.body).toMatchObject({ tags: ["song:7", "songs"], reason: "renamed" });

  await expect(songs.rename(7, null)).rejects.toThrow("NOT NULL");
  expect(edge.requests).toHaveLength(1);

  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await songs.rename(7, "Newer")).toBeUndefined();
  expect(error).toHaveBeenCalledWith("given up:", ["song:7", "songs"], expect.objectContaining({ code: "conflict" }));
  await runExample("dead", example("dead").replace("./songs.ts", "./songs.mjs"), ["./songs.mjs"]);
  expect(log).toHaveBeenCalledWith(
    expect.any(String),
    ["song:7", "songs"],
    1,
    expect.stringMatching(/^PurgeConflict: /),
  );
  vi.restoreAllMocks();
  expect(edge.requests[2]?.body).toEqual(edge.requests[1]?.body);
  expect(songs.outbox.list()).toEqual([]);
  await songs.outbox.close();
  database.close();
});

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe.skipIf(noPostgres)("PostgreSQL", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);

  afterAll(() => server?.stop());

  test("the example in PostgreSQL purges what it has saved, and nothing that was rolled back", {
    tags: ["deep"],
  }, async () => {
    await using edge = await startFakeEdge(accepts);
    useEdge(edge);
    vi.stubEnv("PGHOST", server.host);
    vi.stubEnv("PGUSER", server.user);
    vi.stubEnv("PGDATABASE", "postgres");
    const client = new pg.Client();
    await client.connect();
    await client.query("CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)");
    await client.query("INSERT INTO songs VALUES (7, 'Old')");

    const songs = await runExample<{
      outbox: PgOutbox;
      rename(song: number, title: string | null): Promise<void>;
      stop(): Promise<void>;
    }>("songs-pg", example("pg"));
    await expect(songs.rename(7, null)).rejects.toThrow("null value");
    await songs.rename(7, "New");
    await songs.outbox.drain();
    expect((await client.query("SELECT title FROM songs")).rows).toEqual([{ title: "New" }]);
    expect(edge.requests.map(({ body }) => body.tags)).toEqual([["song:7", "songs"]]);
    expect(await songs.outbox.list()).toEqual([]);
    await songs.stop();
    await client.end();
  });
});
