import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { Supervisor } from "../../../server/supervisor/supervisor.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { chances } from "../../engine/chances.ts";
import { byDepth } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { seed } from "../../suite/seed.ts";
import { until } from "../../suite/until.ts";
import { isAlive } from "./is-alive.ts";
import { PageClient, PROGRAM } from "./pages.ts";
import { type ListeningWorker, SupervisedProcess } from "./supervised-process.ts";

const STEPS = ["before", "received", "committed", "pushed", "confirmed"] as const;
const VICTIMS = ["the worker that sends it", "another worker", "the supervisor"] as const;

type Step = (typeof STEPS)[number];
type Victim = (typeof VICTIMS)[number];

/** How often processes are killed at random. */
const ROUNDS = byDepth({ test: 0, gate: 0, all: 6, explore: 100 });

const ALL = STEPS.flatMap((step) => VICTIMS.map((victim) => [step, victim] as const));
/** The gate kills where most can be lost: who acknowledges the purge, and who waits for that. */
const IN_THE_GATE = ALL.filter(([step, victim]) => step === "committed" && victim !== "another worker");

let folder: string;
let port: number;
let running: SupervisedProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  port = await freePort();
  running = new SupervisedProcess(folder, port);
  await running.haveListened(2);
});

afterEach(async () => {
  running.signal("SIGTERM");
  await running.allEnded;
  rmSync(folder, { recursive: true });
});

let purges = 0;

/**
 * Sends a purge during which a process is killed, then sends it again. Whatever happened before, it is one purge, its
 * receipt tells the truth, and no worker takes a response from before it.
 */
async function killDuringPurge(step: Step, victim: Victim): Promise<void> {
  const listened = running.listening.length;
  const [a, b] = running.living as [ListeningWorker, ListeningWorker];
  const stamp = await new PageClient(folder, b.pid).stamp();
  const [key, id] = [`#${++purges}`, `purge-${purges}`];
  const killed = { "the worker that sends it": a.pid, "another worker": b.pid, "the supervisor": running.pid }[victim];
  const sent = new PageClient(folder, a.pid).purge({ key, id, killAt: step, victim: String(killed) });
  const first = await sent.then(
    (receipt) => receipt,
    () => null, // the connection was lost, or the log
  );
  if (victim === "the supervisor") {
    await running.exited;
    const before = running;
    running = new SupervisedProcess(folder, port);
    await Promise.all([running.haveListened(2), before.allEnded]);
  } else {
    await running.haveListened(listened + 1);
  }
  const workers = running.living.map(({ pid }) => new PageClient(folder, pid));
  expect(workers).toHaveLength(2);
  await expectOnePurge(workers, { key, id, stamp, acknowledged: first?.seq });
}

interface Expected {
  readonly key: string;
  readonly id: string;
  readonly stamp: Stamp;
  readonly acknowledged: number | undefined;
}

async function expectOnePurge(workers: readonly PageClient[], { key, id, stamp, acknowledged }: Expected) {
  if (acknowledged !== undefined) {
    for (const worker of workers) expect(await worker.check(key, stamp)).toBe("purged");
  }
  const again = await workers[0]!.purge({ key, id });
  if (acknowledged !== undefined) expect(again).toMatchObject({ seq: acknowledged, replayed: true });
  expect(again.logId).toBe(stamp.logId);
  const { purges: rows } = await workers[0]!.purges();
  expect(rows.filter((row) => row.id === id).map(({ seq }) => seq)).toEqual([again.seq]);
  for (const worker of workers) {
    // If a worker has not confirmed it in time, the receipt says so, and only a new read must know of it.
    if (again.settlesInMs > 0) await worker.stamp();
    expect(await worker.check(key, stamp)).toBe("purged");
  }
}

describe("SIGKILL", () => {
  const title = "during a purge (%s), of %s: nothing acknowledged is lost, and the purge happens once";
  test.each(IN_THE_GATE)(title, killDuringPurge);
  test.each(ALL.filter((each) => !IN_THE_GATE.includes(each)))(title, { tags: ["deep"] }, killDuringPurge);

  test(`${ROUNDS} times, at random (TEST_SEED=${seed})`, { tags: ["deep"], timeout: 3_600_000 }, async () => {
    const random = chances(seed);
    for (let round = 0; round < ROUNDS; round++) {
      const step = STEPS[Math.floor(random() * STEPS.length)]!;
      const victim = VICTIMS[Math.floor(random() * VICTIMS.length)]!;
      await killDuringPurge(step, victim);
    }
  });

  test("of a supervisor: its workers finish their answers and end, and hold their place in the lock until then", {
    tags: ["deep"],
  }, async () => {
    const [worker] = running.listening as [ListeningWorker];
    const held = new PageClient(folder, worker.pid).ask("/hold");
    const client = new PageClient(folder, worker.pid);
    await client.who();
    running.signal("SIGKILL");
    await running.exited;
    const before = running;
    running = new SupervisedProcess(folder, port);
    await running.haveListened(2);
    const [a] = running.listening.map(({ pid }) => new PageClient(folder, pid)) as [PageClient];
    // The worker of the old supervisor is alive, and could still hold a lease.
    expect(await a.purge({ key: "#a" })).toMatchObject({ settlesInMs: 1250 });
    process.kill(worker.pid, "SIGUSR2");
    expect(await held).toMatchObject({ pid: worker.pid });
    await before.allEnded;
    // A process that ends lets go of its output a moment before its lock.
    while ((await a.purge({ key: "#b" })).settlesInMs > 0);
  });

  test("of a supervisor: what one of its workers purges after that goes to the log of the next server", async () => {
    const [orphan] = running.listening as [ListeningWorker];
    const client = new PageClient(folder, orphan.pid);
    const purged = client.ask("/hold?key=%23a");
    await client.who();
    running.signal("SIGKILL");
    await running.exited;
    const before = running;
    running = new SupervisedProcess(folder, port);
    await running.haveListened(2);
    const [a] = running.listening.map(({ pid }) => new PageClient(folder, pid)) as [PageClient];
    const stamp = await a.stamp();
    expect(await a.check("#a", stamp)).toBe("not-purged");
    process.kill(orphan.pid, "SIGUSR2");
    expect(await purged).toMatchObject({ seq: 1, settlesInMs: 1250 }); // by the lease, because nobody waits for the orphan
    expect(await a.check("#a", stamp)).toBe("purged");
    await before.allEnded;
  });
});

test.runIf(process.platform === "linux")(
  "of a supervisor whose worker computes for ever: the next server names it",
  async () => {
    const [hanging, idle] = running.listening as [ListeningWorker, ListeningWorker];
    const computing = new PageClient(folder, hanging.pid).ask("/compute");
    const lost = expect(computing).rejects.toThrow();
    await until(() => existsSync(join(folder, "computing")));
    running.signal("SIGKILL");
    await running.exited;
    try {
      await until(() => !isAlive(idle.pid));
      const next = Supervisor.start({
        folder,
        listen: [{ host: "127.0.0.1", port }],
        program: PROGRAM,
        load: async () => ({
          settings: null,
          sites: new Map([[ONLY_SITE, { leaseMs: 1000, longestViewAgeMs: 1000 }]]),
        }),
        confirmWithinMs: 60_000,
        report: () => undefined,
        clock: { ...systemClock, wait: (ms) => systemClock.wait(ms / 20) },
      });
      await expect(next).rejects.toThrow(
        `Workers of an earlier server still run: end them by kill -9 ${hanging.pid}, or choose another address`,
      );
    } finally {
      process.kill(hanging.pid, "SIGKILL");
    }
    await Promise.all([lost, running.allEnded]);
  },
);

test("SIGTERM ends a supervisor and its workers, and leaves no lock and no socket behind", {
  tags: ["deep"],
}, async () => {
  running.signal("SIGTERM");
  await running.allEnded;
  running = new SupervisedProcess(folder, port);
  await running.haveListened(2);
  expect(running.lines.join("\n")).toContain(`listening on 127.0.0.1:${port} with 2 workers`);
});

test("SIGHUP replaces the workers", { tags: ["deep"] }, async () => {
  const before = running.listening.map(({ pid }) => pid);
  running.signal("SIGHUP");
  await running.says(/the new settings are in use/);
  for (const { pid } of running.listening.slice(2)) expect(before).not.toContain(pid);
});
