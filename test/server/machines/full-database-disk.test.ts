import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { SmallDisk } from "../../suite/small-disk.ts";
import { breath } from "../../suite/until.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { type Settling, untilOneSettlesAtOnce } from "../serve/settled-purges.ts";

const TOKEN = "a-token-of-this-test-0123456789-0123456789";

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
chmodSync(folder, 0o755); // PostgreSQL runs as another user
const disk = new SmallDisk(join(folder, "disk"), "96m", "755");
const canRun = disk.isMounted && noPostgres === null;
const NOT_RUN =
  "a full disk of PostgreSQL is SKIPPED, because a small disk cannot be mounted here, or there is no PostgreSQL";
if (!canRun) process.stdout.write(`${NOT_RUN}\n`);

afterAll(() => {
  disk.unmount();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canRun)(canRun ? "where the disk of PostgreSQL is full:" : NOT_RUN, { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let postgres: PostgresServer;
  let server: ServerProcess;
  let address: URL;

  beforeEach(async () => {
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
    postgres = await startPostgres({ below: disk.path });
    const site = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
    const log = ["--log", postgres.url("postgres"), "--cache", mkdtempSync(join(folder, "cache-"))];
    server = new ServerProcess(folder, [...site, ...log], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    address = await server.address();
    expect(await ask()).toMatchObject({ xCache: "MISS" });
    expect(await purge("first")).toMatchObject({ status: 200, body: { seq: 1 } });
  }, 60_000);
  afterEach(async () => {
    expect(await server.stop()).toBe(0);
    await postgres.stop();
    await origin.goDown();
  }, 60_000);

  async function ask() {
    const answer = await fetch(new URL("/page", address));
    return { status: answer.status, xCache: answer.headers.get("x-cache"), body: await answer.text() };
  }

  async function purge(id: string) {
    const answer = await fetch(new URL("/_tidemark/purge", address), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      // A purge of this many items needs room of its own.
      body: JSON.stringify({ id, tags: Array.from({ length: 2000 }, (_, index) => `${id}-${index}`) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, fields: answer.headers };
  }

  test("purges are refused, hits go on, and the same purge is accepted once there is room", async () => {
    disk.fill();
    const refused = await purge("second");
    expect(refused).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(refused.fields.get("retry-after")).toMatch(/^\d+$/);
    expect(await purge("second")).toMatchObject({ status: 503 });
    expect(await ask()).toMatchObject({ status: 200, xCache: "HIT" });
    disk.free();
    expect(await purge("second")).toMatchObject({ status: 200, body: { seq: 2, replayed: false } });
    const said = server.printed.match(/the purge log (?:refuses|accepts|cannot|answers).*/gi);
    expect(said).toEqual([
      expect.stringMatching(/refuses purges: .*its disk is full/),
      "the purge log accepts purges again",
    ]);
    let number = 2;
    await untilOneSettlesAtOnce(async () => (await purge(`more-${++number}`)).body as unknown as Settling);
  });

  test("without room for its WAL it ends, pages are served, and all goes on once it was started again", {
    tags: ["deep"],
  }, async () => {
    disk.fill();
    const client = new pg.Client({ connectionString: postgres.url("postgres") });
    client.on("error", () => undefined);
    await client.connect();
    const write = () => client.query("SELECT pg_logical_emit_message(true, 'test', repeat('x', 100000))");
    while (await write().catch(() => null));
    await postgres.ended();
    expect(await purge("second")).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(await ask()).toMatchObject({ status: 200, body: "page" });
    disk.free();
    await postgres.start();
    let accepted = await purge("second");
    for (; accepted.status === 503; accepted = await purge("second")) await breath();
    expect(accepted).toMatchObject({ status: 200, body: { seq: 2, replayed: false } });
    let answer = await ask();
    for (; answer.xCache !== "HIT"; answer = await ask()) await breath();
    expect(answer).toMatchObject({ status: 200, body: "page" });
  });
});
