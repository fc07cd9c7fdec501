import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

function useEdge(edge: FakeEdge): void {
  vi.stubEnv("TIDEMARK_ENDPOINT", edge.endpoint);
  vi.stubEnv("TIDEMARK_TOKEN", "token");
}

beforeEach(() => () => vi.unstubAllEnvs());

test("the example in SQLite purges what it has saved, and a purge that was given up is sent again", async () => {
  await using edge = await startFakeEdge(accepts, refuses("conflict"), accepts);
  useEdge(edge);
  const file = join(folder, "songs.sqlite");
  const database = new DatabaseSync(file);
  database.exec(
    "CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT NOT NULL); INSERT INTO songs VALUES (7, 'Old')",
  );

  const code = example("sqlite").replace('"songs.sqlite"', JSON.stringify(file));
  const songs = await runExample<{ outbox: SqliteOutbox; rename(song: number, title: string | null): Promise<string> }>(
    "songs",
    code,
  );
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
    expect((await client.query("SELECT title FROM songs")).rows).toEqual([{ title: "New" }]);
    expect(edge.requests.map(({ body }) => body.tags)).toEqual([["song:7", "songs"]]);
    expect(await songs.outbox.list()).toEqual([]);
    await songs.stop();
    await client.end();
  });
});
