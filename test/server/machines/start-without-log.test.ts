import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { Supervisor, type SupervisorOptions } from "../../../server/supervisor/supervisor.ts";
import { eventInWords, type SupervisorEvent } from "../../../server/supervisor/supervisor-events.ts";
import type { Predecessor } from "../../../server/supervisor/upgrade.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { freePort } from "../../suite/free-ports.ts";
import { ServerProcess } from "../serve/running-server.ts";
import type { PageSettings } from "../supervisor/page-worker.ts";
import { PROGRAM } from "../supervisor/pages.ts";
import { Relay } from "./relay.ts";

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

const AWAITED =
  /cannot be reached .* The server tries again each second, and stops if the log cannot be used within 30 s\./;

describe("a server whose log is out of reach when it starts", { timeout: 60_000 }, () => {
  let folder: string;
  let postgres: PostgresServer | undefined;
  let running: ServerProcess[];
  let lines: string[];
  let elapsedMs: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    running = [];
    lines = [];
    elapsedMs = 0;
  });
  afterEach(async () => {
    await Promise.all(running.map((server) => server.stop()));
    await postgres?.stop();
    postgres = undefined;
    rmSync(folder, { recursive: true });
  });

  function start(log: string, more: readonly string[] = []): ServerProcess {
    const args = ["--origin", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--workers", "1", "--disk", "0"];
    const server = new ServerProcess(folder, [...args, "--log", log, ...more], { TIDEMARK_HOSTS: "*" });
    running.push(server);
    return server;
  }

  /** Its waits are over at once, and time goes by in them alone. */
  const clock: typeof systemClock = {
    now: () => elapsedMs,
    elapsed: () => elapsedMs,
    wait: (ms) => {
      elapsedMs += ms;
      return { over: Promise.resolve(), cancel: () => undefined };
    },
  };

  const supervise = (sharedLog: string | null, change: Partial<SupervisorOptions> = {}) => {
    const settings: PageSettings = { version: "v1", folder, leaseMs: 1000 };
    return Supervisor.start({
      folder,
      listen: [{ host: "127.0.0.1", port: 0 }],
      program: PROGRAM,
      load: async () => ({ settings, sites: new Map([[ONLY_SITE, { leaseMs: 1000, longestViewAgeMs: 1000 }]]) }),
      workers: 1,
      clock,
      ...(sharedLog !== null && { sharedLog }),
      report: (event) => lines.push(eventInWords(event)),
      ...change,
    });
  };

  test("tries for 30 s, says so once and without the password, and ends with the reason", async () => {
    const nobody = `postgres://root:secret@127.0.0.1:${await freePort()}/log`;
    await expect(supervise(nobody)).rejects.toThrow(/^The purge log in PostgreSQL at 127\.0\.0\.1:\d+\/log: it cannot/);
    expect(elapsedMs).toBe(30_000);
    expect(lines).toEqual([expect.stringMatching(AWAITED)]);
    expect(lines[0]).not.toContain("secret");
  });

  test("waits for another process that has locked the file of its own log, and says what to do", async () => {
    const holder = new DatabaseSync(join(folder, "purge-log.sqlite"));
    holder.exec("PRAGMA journal_mode=WAL; BEGIN IMMEDIATE");
    const report = (event: SupervisorEvent) => {
      lines.push(eventInWords(event));
      if (holder.isOpen) holder.close();
    };
    const supervisor = await supervise(null, { report, clock: systemClock });
    await supervisor.stop();
    expect(lines[0]).toBe(
      `The purge log in ${folder}: another process, such as sqlite3 or a backup, has locked its .sqlite file and must end ` +
        "(database is locked). The server tries again each second, and stops if the log cannot be used within 30 s.",
    );
    expect(lines.filter((line) => line.includes("tries again"))).toHaveLength(1);
  });

  test("ends at once when it is told to stop", { tags: ["deep"] }, async () => {
    const server = start(`postgres://127.0.0.1:${await freePort()}/log`);
    await server.prints(AWAITED);
    server.signal("SIGTERM");
    expect(await server.ended()).toBe(0);
  });

  test("says so at once if it only checks its settings", { tags: ["deep"] }, async () => {
    const server = start(`postgres://127.0.0.1:${await freePort()}/log`, ["--check"]);
    expect(await server.ended()).toBe(2);
    expect(server.printed).toMatch(/The purge log in PostgreSQL at 127\.0\.0\.1:\d+\/log: it cannot be reached/);
    expect(server.printed).not.toContain("tries again");
  });

  describe.skipIf(noPostgres)("with PostgreSQL", () => {
    test("starts when its log comes up, and takes up what was edited meanwhile", { tags: ["deep"] }, async () => {
      const port = await freePort();
      const server = start(`postgres://tidemark@127.0.0.1:${port}/postgres`);
      await server.prints(AWAITED);
      writeFileSync(join(folder, "tidemark.config.ts"), 'export default { origin: "http://127.0.0.1:1" };\n');
      postgres = await startPostgres({ port });
      await server.prints(/the new settings are in use/);
      expect(await server.stop()).toBe(0);
    });

    test("does not wait for a database or a user that does not exist", { tags: ["deep"] }, async () => {
      postgres = await startPostgres();
      const url = postgres.url("postgres");
      for (const [address, words] of [
        [postgres.url("nowhere"), "the database does not exist"],
        [url.replace("tidemark@", "nobody@"), "this user may not connect"],
      ] as const) {
        await expect(supervise(address)).rejects.toThrow(words);
      }
      expect(elapsedMs).toBe(0);
      expect(lines).toEqual([]);
    });

    test("tries for 30 s, and says so, while the database takes no writes", { tags: ["deep"] }, async () => {
      postgres = await startPostgres({ settings: { default_transaction_read_only: "on" } });
      await expect(supervise(postgres.url("postgres"))).rejects.toThrow("it is a standby, or read-only");
      expect(elapsedMs).toBe(30_000);
      expect(lines).toEqual([expect.stringMatching(/read-only.* The server tries again each second/)]);
    });

    test("a check says what is wrong with the log, and changes nothing", { tags: ["deep"] }, async () => {
      postgres = await startPostgres({ port: await freePort() });
      const url = `postgres://tidemark@127.0.0.1:${new URL(postgres.url("postgres")).port}/postgres`;
      const admin = new pg.Client({ connectionString: postgres.url("postgres") });
      await admin.connect();
      const check = async (address: string) => {
        const server = start(address, ["--check"]);
        return { code: await server.ended(), printed: server.printed };
      };
      try {
        expect(await check(url)).toMatchObject({ code: 0 });
        const { rows } = await admin.query("SELECT tablename FROM pg_tables WHERE tablename LIKE 'tidemark%'");
        expect(rows).toEqual([]);
        for (const [address, words] of [
          [url.replace("/postgres", "/nowhere"), "the database does not exist"],
          [url.replace("tidemark@", "nobody@"), "this user may not connect"],
        ] as const) {
          expect(await check(address)).toEqual({ code: 2, printed: expect.stringContaining(words) });
        }
        await admin.query("ALTER DATABASE postgres SET default_transaction_read_only = on");
        expect(await check(url)).toEqual({
          code: 2,
          printed: expect.stringContaining("it is a standby, or read-only"),
        });
        await admin.query("ALTER DATABASE postgres RESET default_transaction_read_only");
        await admin.query(
          "CREATE TABLE tidemark_log_format (format INTEGER); INSERT INTO tidemark_log_format VALUES (99)",
        );
        expect(await check(url)).toEqual({ code: 2, printed: expect.stringContaining("a later version of tidemark") });
      } finally {
        await admin.end();
      }
    });

    test("does not wait in an upgrade, because the workers of the old server would have to", {
      tags: ["deep"],
    }, async () => {
      postgres = await startPostgres({ port: await freePort() });
      const relay = await Relay.to(Number(new URL(postgres.url("postgres")).port));
      const log = `postgres://tidemark@127.0.0.1:${relay.port}/postgres`;
      const predecessor = {
        takeOver: async () => {
          await relay.close();
          return { sockets: [], readers: [], lock: join(folder, "none") };
        },
      } as unknown as Predecessor;
      await expect(supervise(log, { predecessor })).rejects.toThrow("it cannot be reached");
      expect(elapsedMs).toBe(0);
    });
  });
});
