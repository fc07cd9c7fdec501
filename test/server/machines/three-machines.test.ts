import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../server/system-clock.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { chances } from "../../engine/chances.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { byDepth } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { settled } from "../serve/settled-purges.ts";
import { PageClient } from "../supervisor/pages.ts";
import { SupervisedProcess } from "../supervisor/supervised-process.ts";
import { Relay } from "./relay.ts";

const PURGES = byDepth({ test: 30, gate: 30, all: 100, explore: 10_000 });
/** How many purges are under way at a time. */
const SENDERS = 4;
/** How many purges come between two faults, on average. */
const PURGES_PER_FAULT = byDepth({ test: 12, gate: 20, all: 60 });
const SEED = 1;
/** Of each machine. */
const WORKERS = byDepth({ test: [2, 1, 1], gate: [2, 1, 1], all: [2, 2, 2] });
/** How long a machine stays cut off, beside the time that its refusals take. */
const OUTAGE_MS = byDepth({ test: 0, gate: 0, all: 60_000 });

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

/** A machine: a supervisor with its workers, a folder of its own, and its network to the database. */
class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  readonly relay: Relay;
  readonly #workers: number;
  #process!: SupervisedProcess;

  constructor(relay: Relay, workers: number) {
    this.relay = relay;
    this.#workers = workers;
    this.start();
  }

  start(): void {
    const log = `postgres://tidemark@127.0.0.1:${this.relay.port}/postgres`;
    // Any port, because another process may take a certain one while none of this machine's runs.
    this.#process = new SupervisedProcess(this.folder, 0, log, this.#workers);
  }

  get process(): SupervisedProcess {
    return this.#process;
  }

  haveListened(): Promise<void> {
    return this.#process.haveListened(this.#workers);
  }

  get workers(): PageClient[] {
    return this.#process.living.map(({ pid }) => new PageClient(this.folder, pid));
  }

  async restartAfterKill(): Promise<void> {
    this.#process.signal("SIGKILL");
    for (;;) {
      await this.#process.exited;
      this.start();
      // A server that cannot reach its log for long when it starts ends, and whoever runs it starts it again.
      const hasListened = await this.#process
        .haveListened(this.#workers)
        .then(() => true)
        .catch(() => false);
      if (hasListened) return;
    }
  }

  async stop(): Promise<void> {
    this.relay.mend();
    this.#process.signal("SIGTERM");
    await this.#process.allEnded;
    await this.relay.close();
    rmSync(this.folder, { recursive: true });
  }
}

describe.skipIf(noPostgres)("three machines that share a log in PostgreSQL", { timeout: 120_000 }, () => {
  let postgres: PostgresServer;
  let machines: Machine[];

  beforeAll(async () => {
    postgres = await startPostgres({ port: await freePort(), settings: { fsync: "on" } });
  }, 60_000);
  afterAll(() => postgres?.stop(), 60_000);

  beforeEach(async () => {
    const { port } = new URL(postgres.url("postgres"));
    machines = [];
    for (const workers of WORKERS) machines.push(new Machine(await Relay.to(Number(port)), workers));
    await Promise.all(machines.map((machine) => machine.haveListened()));
  }, 60_000);
  afterEach(() => Promise.all(machines.map((machine) => machine.stop())), 60_000);

  const everybody = () => machines.flatMap(({ workers }) => workers);

  test("a purge on one settles on all, at once", { tags: ["deep"] }, async () => {
    const stamp = await machines[0]!.workers[0]!.stamp();
    for (const worker of everybody()) expect(await worker.stamp()).toEqual(stamp);
    await settlesAtOnce(machines[1]!, "#a");
    for (const worker of everybody()) expect(await worker.check("#a", stamp)).toBe("purged");
  });

  test("a purge waits for the lease of a machine that is cut off, and the machine catches up afterwards", {
    tags: ["deep"],
  }, async () => {
    const [near, cutOff] = machines as [Machine, Machine];
    const stamp = await cutOff.workers[0]!.stamp();
    cutOff.relay.cut();
    const receipt = await near.workers[0]!.purge({ key: "#cut-off" });
    expect(receipt).toMatchObject({ settlesInMs: 1250 });
    await settled(receipt);
    for (const worker of cutOff.workers) expect(await worker.check("#cut-off", stamp)).not.toBe("not-purged");
    await expect(cutOff.workers[0]!.purge({ key: "#refused" })).rejects.toThrow("The purge log in PostgreSQL at");
    // For a minute at full depth: a page that was purged meanwhile does not come back, however long it is.
    await systemClock.wait(OUTAGE_MS).over;
    for (const worker of cutOff.workers) expect(await worker.check("#cut-off", stamp)).not.toBe("not-purged");
    cutOff.relay.mend();
    await settlesAtOnce(near, "#mended");
    for (const worker of cutOff.workers) expect(await worker.check("#cut-off", stamp)).toBe("purged");
  });

  test("a machine that stops is not waited for, and one that was killed is, by its lease", {
    tags: ["deep"],
  }, async () => {
    const [near, stopped, killed] = machines as [Machine, Machine, Machine];
    stopped.process.signal("SIGTERM");
    await stopped.process.allEnded;
    await settlesAtOnce(near, "#a");
    killed.process.signal("SIGKILL");
    await killed.process.allEnded;
    expect(await near.workers[0]!.purge({ key: "#b" })).toMatchObject({ settlesInMs: 1250 });
    for (const machine of [stopped, killed]) machine.start();
    await Promise.all(machines.map((machine) => machine.haveListened()));
    await settlesAtOnce(near, "#c");
  });

  test(`${PURGES} purges under load while processes are killed, networks cut, and the database restarts (seed ${SEED})`, {
    timeout: 7_200_000,
  }, async () => {
    const random = chances(SEED);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
    const acknowledged = new Map<string, Stamp>();
    const stale: string[] = [];
    let left = PURGES;

    async function stampOfAny(): Promise<Stamp> {
      for (;;) {
        const stamp = await pick(everybody())
          ?.stamp()
          .catch(() => null);
        if (stamp) return stamp;
        await systemClock.wait(20).over;
      }
    }

    /** Sends a purge until a machine acknowledges it, and looks at every worker once it has settled. */
    async function purgeOne(number: number): Promise<void> {
      const [key, id] = [`#${number % 50}`, `purge-${number}`];
      const stamp = await stampOfAny();
      for (;;) {
        const receipt = await pick(everybody())
          ?.purge({ key, id })
          .catch(() => null);
        if (!receipt) {
          await systemClock.wait(50).over; // no machine can do without its log for long
          continue;
        }
        acknowledged.set(id, { logId: receipt.logId, seq: receipt.seq });
        await settled(receipt);
        await Promise.all(
          everybody().map(async (worker) => {
            const answer = await worker.check(key, stamp).catch(() => "gone");
            if (answer === "not-purged") stale.push(`${id} with ${JSON.stringify({ stamp, receipt })}`);
          }),
        );
        return;
      }
    }

    async function send(): Promise<void> {
      while (left > 0) await purgeOne(left--);
    }

    const FAULTS = [
      () => pick(machines).restartAfterKill(),
      async () => {
        const { process: supervised } = pick(machines);
        const victim = pick(supervised.living);
        const listened = supervised.listening.length;
        if (victim === undefined) return;
        process.kill(victim.pid, "SIGKILL");
        await supervised.haveListened(listened + 1);
      },
      async () => {
        const { relay } = pick(machines);
        relay.cut();
        await systemClock.wait(200 + random() * 3000).over;
        relay.mend();
      },
      async () => {
        await postgres.crash();
        await postgres.start();
      },
    ];

    async function disturb(): Promise<void> {
      for (let faults = 0; left > 0; faults++) {
        const at = left - PURGES_PER_FAULT * 2 * random();
        while (left > Math.max(at, 0)) await systemClock.wait(10).over;
        await (faults < FAULTS.length ? FAULTS[faults]! : pick(FAULTS))();
      }
    }

    await Promise.all([disturb(), ...Array.from({ length: SENDERS }, send)]);
    expect(stale).toEqual([]);
    expect(acknowledged.size).toBe(PURGES);
    // Nothing is lost, and nothing happened twice: each number is the one purge that was acknowledged under it.
    expect(new Set([...acknowledged.values()].map(({ seq }) => seq)).size).toBe(PURGES);
    expect(new Set([...acknowledged.values()].map(({ logId }) => logId)).size).toBe(1);
    await settlesAtOnce(machines[0]!, "#last");
    const [one] = machines[0]!.workers as [PageClient];
    for (const [id, { seq }] of [...acknowledged].slice(-200)) {
      expect(await one.purge({ key: `#${Number(id.slice(6)) % 50}`, id })).toMatchObject({ seq, replayed: true });
    }
  });
});

/** Purges until every machine has confirmed a purge in time, for which a busy computer may need several. */
async function settlesAtOnce(machine: Machine, key: string): Promise<void> {
  for (;;) {
    const receipt = await machine.workers[0]?.purge({ key }).catch(() => null);
    if (receipt?.settlesInMs === 0) return;
    await systemClock.wait(50).over;
  }
}
