import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { Supervisor, type SupervisorOptions } from "../../../server/supervisor/supervisor.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { byDepth, inGate } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { breath, until } from "../../suite/until.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { ask, PageClient, PROGRAM, startFailingSuccessor, type Who } from "../supervisor/pages.ts";
import { Relay } from "./relay.ts";

const TOKEN = "a-token-of-these-servers-000123456789";

/** Of each machine. */
const VISITORS = byDepth({ test: 1, gate: 1, all: 3 });

/** For so long the supervisor waits before it tries a log again that is out of reach. */
const TRY_AGAIN_MS = 1_000;
/** So long that none ends while a test runs, however slow the machine is. */
const LEASE_MS = 3_600_000;

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

/** A machine that serves, reached through a network to its database that a test can cut. */
class Machine {
  readonly relay: Relay;
  readonly url: string;
  readonly server: ServerProcess;

  constructor(relay: Relay, port: number, folder: string, origin: string, workers: number) {
    this.relay = relay;
    this.url = `http://127.0.0.1:${port}`;
    const log = `postgres://tidemark@127.0.0.1:${relay.port}/postgres`;
    const args = [
      "--listen",
      `127.0.0.1:${port}`,
      "--workers",
      String(workers),
      "--origin",
      origin,
      "--log",
      log,
      "--cache",
      folder,
    ];
    this.server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
  }

  async version(): Promise<number> {
    const answer = await fetch(`${this.url}/page`, { headers: { connection: "close" } });
    return Number((await answer.text()).slice(1));
  }

  async purge(number: number): Promise<{ seq: number; settlesInMs: number; replayed: boolean }> {
    const answer = await fetch(`${this.url}/_tidemark/purge`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ urls: ["/page"], id: `purge-${number}` }),
    });
    if (answer.status !== 200) throw new Error(`a purge was answered with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { seq: number; settlesInMs: number; replayed: boolean };
  }

  async stop(): Promise<void> {
    this.relay.mend();
    await this.server.stop();
    await this.relay.close();
  }
}

describe.skipIf(noPostgres)("an upgrade in place of a machine that shares its log", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let postgres: PostgresServer;
  let folder: string;
  let machines: Machine[];
  let supervisors: Supervisor[];

  beforeAll(async () => {
    postgres = await startPostgres({ port: await freePort() });
    await origin.comeUp();
  }, 60_000);
  afterAll(async () => {
    await origin.goDown();
    await postgres?.stop();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    machines = [];
    supervisors = [];
  });
  afterEach(async () => {
    await Promise.all(machines.map((machine) => machine.stop()));
    await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
    rmSync(folder, { recursive: true });
  });

  const port = () => Number(new URL(postgres.url("postgres")).port);
  const relay = () => Relay.to(port());

  /** A supervisor whose successors fail when they have its log. Calls `failed` when its own log fails. */
  async function supervise(logPort: number, failed: () => void, change: Partial<SupervisorOptions> = {}) {
    const leaseMs = LEASE_MS;
    const supervisor = await Supervisor.start({
      folder,
      listen: [{ host: "127.0.0.1", port: 0 }],
      program: PROGRAM,
      load: async () => ({
        settings: { version: "v1", folder, leaseMs },
        sites: new Map([[ONLY_SITE, { leaseMs, longestViewAgeMs: leaseMs }]]),
      }),
      workers: 1,
      sharedLog: `postgres://tidemark@127.0.0.1:${logPort}/postgres`,
      report: ({ kind }) => {
        if (kind === "log-failed") failed();
      },
      startSuccessor: () => startFailingSuccessor("with the log"),
      ...change,
    });
    supervisors.push(supervisor);
    return supervisor;
  }

  async function start(name: string, workers = 2): Promise<Machine> {
    const cache = mkdtempSync(join(folder, `${name}-`));
    const machine = new Machine(await relay(), await freePort(), cache, origin.url, workers);
    machines.push(machine);
    await machine.server.address();
    return machine;
  }

  test("fails no request and no purge of either machine, and no purged page is served, under load", async () => {
    const both = [await start("one"), await start("two", byDepth({ test: 1, gate: 1, all: 2 }))] as const;
    const show = (version: number) =>
      origin.reply("/page", { fields: { "cache-control": "max-age=600" }, body: `v${version}` });
    show(0);
    let isOver = false;
    let settled = 0;
    let answers = 0;
    const visit = async (machine: Machine) => {
      while (!isOver) {
        const atLeast = settled;
        expect(await machine.version()).toBeGreaterThanOrEqual(atLeast);
        answers++;
        await breath();
      }
    };
    const purger = (async () => {
      for (let number = 1; !isOver; number++) {
        show(number);
        const receipt = await both[number % 2]!.purge(number);
        expect(receipt).toMatchObject({ seq: number, replayed: false });
        if (receipt.settlesInMs === 0) settled = number;
        await breath();
      }
    })();
    const work = (async () => {
      for (const machine of inGate(1, [both[0], both[1], both[0]])) {
        const before = { answers, settled };
        await machine.server.upgrade();
        // Each has to see purges settle by the confirmations of both machines again.
        await until(() => answers >= before.answers + 100 && settled >= before.settled + 5);
      }
      isOver = true;
    })();
    const visitors = both.flatMap((machine) => Array.from({ length: VISITORS }, () => visit(machine)));
    await Promise.all([purger, work, ...visitors]);
  });

  test("does not begin while the log is out of reach", { tags: ["deep"] }, async () => {
    const machine = await start("one");
    origin.reply("/page", { fields: { "cache-control": "max-age=600" }, body: "v1" });
    expect(await machine.version()).toBe(1);
    machine.relay.cut();
    machine.server.signal("SIGUSR2");
    await machine.server.prints(/The purge log in PostgreSQL at .* cannot be reached/);
    await machine.server.prints(/the old server goes on: the new server exited: exit code 2/);
    expect(await machine.version()).toBe(1);
    machine.relay.mend();
    for (let number = 1; ; number++) {
      const receipt = await machine.purge(number).catch(() => null);
      if (receipt?.settlesInMs === 0) break;
    }
  });

  test("that fails when the log is out of reach takes the log back once it can be reached", {
    tags: ["deep"],
  }, async () => {
    const cutOff = await relay();
    const { promise: hasFailed, resolve: failed } = Promise.withResolvers<void>();
    const supervisor = await supervise(cutOff.port, failed, { onHandOver: () => cutOff.cut() });
    const [pid] = [...supervisor.workers.values()] as [number];
    const upgraded = supervisor.upgrade();
    await hasFailed;
    await expect(new PageClient(folder, pid).purge({ key: "#a" })).rejects.toThrow("cannot be reached"); // it answers
    cutOff.mend();
    expect(await upgraded).toBe(false);
    const [next] = [...supervisor.workers.values()] as [number];
    expect(next).not.toBe(pid);
    // A busy computer may need several until one is confirmed in time.
    while ((await new PageClient(folder, next).purge({ key: "#b" })).settlesInMs > 0);
    await supervisor.stop();
    supervisors = [];
    await cutOff.close();
  });

  test("that fails while the log takes no writes takes the log back once it does", { tags: ["deep"] }, async () => {
    const { promise: hasFailed, resolve: failed } = Promise.withResolvers<void>();
    const supervisor = await supervise(port(), failed);
    const admin = new pg.Client({ connectionString: postgres.url("postgres") });
    await admin.connect();
    try {
      await admin.query("ALTER DATABASE postgres SET default_transaction_read_only = on"); // of new connections
      const upgraded = supervisor.upgrade();
      await Promise.race([hasFailed, supervisor.ended]);
      await admin.query("ALTER DATABASE postgres RESET default_transaction_read_only");
      expect(await upgraded).toBe(false);
    } finally {
      await admin.end();
    }
    const [pid] = [...supervisor.workers.values()] as [number];
    while ((await new PageClient(folder, pid).purge({ key: "#a" })).settlesInMs > 0);
    await supervisor.stop();
    supervisors = [];
  });

  test("that fails when the log is out of reach: purges wait for its workers, also if it loads the settings again", {
    tags: ["deep"],
  }, async () => {
    const cutOff = await relay();
    const hasFailed = Promise.withResolvers<void>();
    const triesAgain = Promise.withResolvers<void>();
    const cut = { over: triesAgain.promise, cancel: () => undefined };
    let isCut = false;
    const supervisor = await supervise(cutOff.port, hasFailed.resolve, {
      clock: { ...systemClock, wait: (ms) => (ms === TRY_AGAIN_MS && isCut ? cut : systemClock.wait(ms)) },
      onHandOver: () => {
        isCut = true;
        cutOff.cut();
      },
    });
    const [pid] = [...supervisor.workers.values()] as [number];
    const isHeld = Promise.withResolvers<void>();
    const held = ask<Who>(supervisor.addresses[0]!, "/hold", undefined, isHeld.resolve);
    held.catch(() => undefined);
    await isHeld.promise;
    const upgraded = supervisor.upgrade();
    await hasFailed.promise;
    cutOff.mend();
    const reloaded = supervisor.reload();
    await breath(); // a reload that did not wait would have begun
    isCut = false;
    triesAgain.resolve();
    expect([await upgraded, await reloaded]).toEqual([false, true]);
    const [next] = [...supervisor.workers.values()] as [number];
    process.kill(pid, "SIGSTOP"); // it answers somebody, and cannot confirm that it has heard
    expect((await new PageClient(folder, next).purge({ key: "#a" })).settlesInMs).toBeGreaterThan(0);
    process.kill(pid, "SIGCONT");
    process.kill(pid, "SIGUSR2");
    expect(await held).toMatchObject({ pid });
    await supervisor.stop();
    supervisors = [];
    await cutOff.close();
  });
});
