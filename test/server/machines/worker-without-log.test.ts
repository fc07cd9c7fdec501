import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { freePort } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { Relay } from "./relay.ts";

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe.skipIf(noPostgres)("a worker that starts while the shared log is out of reach", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;
  let postgres: PostgresServer;
  let relay: Relay;
  let server: ServerProcess | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
    postgres = await startPostgres({ port: await freePort() });
    relay = await Relay.to(Number(new URL(postgres.url("postgres")).port));
  }, 60_000);
  afterEach(async () => {
    await server?.stop();
    await relay?.close();
    await postgres?.stop();
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  test("says 503 instead of nothing, and serves what was not purged when the log is back", async () => {
    const log = `postgres://tidemark@127.0.0.1:${relay.port}/postgres`;
    const args = ["--listen", "127.0.0.1:0", "--workers", "1", "--origin", origin.url, "--log", log];
    server = new ServerProcess(folder, [...args, "--cache", join(folder, "cache")], { TIDEMARK_HOSTS: "*" });
    const address = new URL("/page", await server.address());
    const ask = () => fetch(address, { headers: { connection: "close" }, signal: AbortSignal.timeout(20_000) });
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "v1" });
    await until(async () => (await ask()).headers.get("x-cache") === "HIT");
    const [, pid] = await server.prints(/worker-1 \(process (\d+)\)/);
    relay.cut();
    process.kill(Number(pid), "SIGKILL");
    await server.prints(/worker-2: the purge log does not answer, so this worker answers 503 until it does\./);
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("cache-status")).toContain("log-silent");
    expect(server.printed).not.toContain("requests go to the origin");
    relay.mend();
    await until(async () => (await ask()).status === 200);
    expect(server.printed).not.toContain("worker-3");
  });
});
