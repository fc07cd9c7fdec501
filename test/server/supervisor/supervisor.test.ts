import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { Agent, createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FileLock } from "../../../server/log/file-lock.ts";
import { BEAT_MS } from "../../../server/machine/pulse.ts";
import { ASKS_FOR_PERMITS, type PermitMessage, type PermitNews } from "../../../server/permits/permit-messages.ts";
import { PermitOffice } from "../../../server/permits/permit-office.ts";
import { openSockets } from "../../../server/supervisor/listening-sockets.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { Supervisor, type SupervisorOptions } from "../../../server/supervisor/supervisor.ts";
import { eventInWords, type SupervisorEvent } from "../../../server/supervisor/supervisor-events.ts";
import type { Predecessor } from "../../../server/supervisor/upgrade.ts";
import { WorkerAhead } from "../../../server/supervisor/worker-ahead.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { breath, until } from "../../suite/until.ts";
import { type BundledWorker, bundleWorker } from "./bundled-worker.ts";
import { isAlive } from "./is-alive.ts";
import type { PageSettings } from "./page-worker.ts";
import { ask, PageClient, startFailingSuccessor, startSuccessorIn, type Who } from "./pages.ts";
import type { ListeningWorker } from "./supervised-process.ts";

/** Nothing else here waits for as long. */
const CONFIRM_WITHIN_MS = 24 * 3_600_000;
/** So long that none ends while a test runs, however slow the machine is. */
const LEASE_MS = 3_600_000;

let folder: string;
let events: SupervisorEvent[];
let waiting: { isIt: (event: SupervisorEvent) => boolean; resolve: () => void }[];
let settings: PageSettings;
let load: SupervisorOptions["load"];
let started: Supervisor[];
/** Ends the waits for confirmations, which have no end of their own here: a slow machine must not look like a worker that hangs. */
let giveUpConfirmations: (() => void)[];
let confirmationAwaited: () => void;

const clock: typeof systemClock = {
  now: systemClock.now,
  elapsed: () => 0, // every worker has died soon after its start
  wait: (ms) => {
    if (ms !== CONFIRM_WITHIN_MS) return systemClock.wait(ms);
    const { promise, resolve } = Promise.withResolvers<void>();
    giveUpConfirmations.push(resolve);
    confirmationAwaited();
    return { over: promise, cancel: () => undefined };
  },
};

let bundled: BundledWorker;
beforeAll(async () => {
  bundled = await bundleWorker();
});
afterAll(() => bundled.remove());

beforeEach(() => {
  giveUpConfirmations = [];
  confirmationAwaited = () => undefined;
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  events = [];
  waiting = [];
  settings = { version: "v1", folder, leaseMs: LEASE_MS };
  load = async () => ({ settings, sites: new Map([[ONLY_SITE, { leaseMs: LEASE_MS, longestViewAgeMs: LEASE_MS }]]) });
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((supervisor) => supervisor.stop()));
  rmSync(folder, { recursive: true });
});

async function start(change: Partial<SupervisorOptions> = {}): Promise<Supervisor> {
  const supervisor = await Supervisor.start({
    folder,
    listen: [{ host: "127.0.0.1", port: 0 }],
    program: bundled.program,
    workerMain: bundled.workerMain,
    load: () => load(),
    workers: 2,
    clock,
    confirmWithinMs: CONFIRM_WITHIN_MS,
    report: (event) => {
      events.push(event);
      for (const { isIt, resolve } of waiting) if (isIt(event)) resolve();
    },
    ...change,
  });
  started.push(supervisor);
  return supervisor;
}

/** Resolves when so many events of a kind have been reported. */
function reported(kind: SupervisorEvent["kind"], count = 1): Promise<void> {
  const isIt = () => events.filter((event) => event.kind === kind).length >= count;
  if (isIt()) return Promise.resolve();
  return new Promise((resolve) => waiting.push({ isIt, resolve }));
}

function worker(pid: number): PageClient {
  return new PageClient(folder, pid);
}

describe("a supervisor", () => {
  test("listens with its workers, and takes no traffic itself", { tags: ["deep"] }, async () => {
    const supervisor = await start();
    await reported("worker-listening", 2);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask<Who>(supervisor.addresses[0]!, "/who")));
    const pids = [...supervisor.workers.values()];
    expect(new Set(pids).size).toBe(2);
    for (const { pid } of answers) expect(pids).toContain(pid);
    expect(pids).not.toContain(process.pid);
  });

  test("takes the process that was started ahead for its first worker", async () => {
    const ahead = new WorkerAhead(bundled.program);
    const { pid } = ahead;
    const supervisor = await start({ ahead, workers: 1 });
    expect([...supervisor.workers.values()]).toEqual([pid]);
    ahead.end(); // which is not its business any more
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ pid });
  });

  test("starts another process where the one that was started ahead has died", async () => {
    const ahead = new WorkerAhead(bundled.program);
    const pid = ahead.pid!;
    process.kill(pid, "SIGKILL");
    const supervisor = await start({ ahead, workers: 1 });
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).not.toMatchObject({ pid });
  });

  test("leaves nothing behind of a process ahead that nobody needs", async () => {
    const ahead = new WorkerAhead(bundled.program);
    const pid = ahead.pid!;
    ahead.end();
    await until(() => !isAlive(pid));
    expect(ahead.take()).toBeNull();
  });

  test("listens on Unix sockets and on IPv6, too", { tags: ["deep"] }, async () => {
    const path = join(folder, "front.sock");
    const supervisor = await start({ listen: [{ path }, { host: "::1", port: 0 }], workers: 1 });
    for (const address of supervisor.addresses)
      expect(await ask<Who>(address, "/who")).toMatchObject({ version: "v1" });
    expect(supervisor.addresses[1]).toMatch(/^\[::1\]:\d+$/);
  });

  test("replaces a worker that dies, and connections wait meanwhile", async () => {
    const supervisor = await start({ workers: 1 });
    const [[name, pid]] = [...supervisor.workers] as [[string, number]];
    process.kill(pid, "SIGKILL");
    await reported("worker-died");
    const next = await ask<Who>(supervisor.addresses[0]!, "/who"); // waits in the socket's queue
    expect(next.pid).not.toBe(pid);
    expect(next.name).not.toBe(name);
    const died = events.find((event) => event.kind === "worker-died")!;
    expect(eventInWords(died)).toBe(`${name} died: SIGKILL (out of memory? see dmesg); another worker starts now`);
  });

  test("a worker that the log does not admit takes the place of the last one, and not of others", {
    tags: ["deep"],
  }, async () => {
    const live = { ...settings, isDeaf: false };
    load = async () => ({ settings: live, sites: new Map([[ONLY_SITE, { leaseMs: 1000, longestViewAgeMs: 1000 }]]) });
    const supervisor = await start({ admitWithinMs: 10 });
    await reported("worker-listening", 2);
    live.isDeaf = true;
    const [first, second] = [...supervisor.workers.values()] as [number, number];
    process.kill(first, "SIGKILL");
    await reported("worker-died");
    await systemClock.wait(1_000).over; // it has started, and waits
    expect([...supervisor.workers.values()]).toEqual([second]);
    process.kill(second, "SIGKILL");
    await reported("worker-died", 2);
    await reported("worker-listening", 3);
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).not.toMatchObject({ pid: second });
  });

  test("a worker that the log has not admitted for a minute is replaced, with the reason, and however often", {
    tags: ["deep"],
  }, async () => {
    const live = { ...settings, isDeaf: false };
    load = async () => ({ settings: live, sites: new Map([[ONLY_SITE, { leaseMs: 1000, longestViewAgeMs: 1000 }]]) });
    let minuteMs = 60_000;
    const wait = (ms: number) => systemClock.wait(ms === 60_000 ? minuteMs : ms);
    const supervisor = await start({ clock: { ...clock, wait }, soundAfterMs: 0, admitWithinMs: 10 });
    await reported("worker-listening", 2);
    live.isDeaf = true;
    minuteMs = 2_000;
    expect(await supervisor.reload()).toBe(false);
    const refused = events.find(({ kind }) => kind === "reload-failed")!;
    expect(eventInWords(refused)).toMatch(/^the old settings stay in use: the purge log did not answer for 60 s/);
    const [first, second] = [...supervisor.workers.values()] as [number, number];
    process.kill(first, "SIGKILL");
    await reported("worker-died", 7); // more often than a server may fail to start
    const died = events.filter(({ kind }) => kind === "worker-died").map(eventInWords);
    for (const line of died.slice(1)) {
      expect(line).toMatch(/^worker-\d+ died: the purge log did not answer for 60 s, and without it worker-\d+ may/);
    }
    process.kill(second, "SIGKILL");
    await reported("worker-listening", 3);
    live.isDeaf = false;
    expect(await supervisor.reload()).toBe(true);
  });

  test("a worker that cannot lock its file is replaced, with the reason, until it can", {
    tags: ["deep"],
  }, async () => {
    const supervisor = await start({ workers: 1, soundAfterMs: 0 });
    const [pid] = [...supervisor.workers.values()] as [number];
    const lock = join(folder, readdirSync(folder).find((name) => name.startsWith("workers-"))!);
    renameSync(lock, `${lock}.hidden`);
    mkdirSync(lock); // which nobody can open as a file
    process.kill(pid, "SIGKILL");
    await Promise.race([reported("worker-died", 7), supervisor.ended]); // more often than a server may fail to start
    const died = events.filter(({ kind }) => kind === "worker-died").map(eventInWords);
    for (const line of died.slice(1)) {
      expect(line).toContain(`The purge log in ${lock}: it cannot be used (unable to open database file).`);
    }
    rmdirSync(lock);
    renameSync(`${lock}.hidden`, lock);
    await reported("worker-listening", 2);
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).not.toMatchObject({ pid });
  });

  // Only Linux tells for how long a process has computed.
  test.runIf(process.platform === "linux")(
    "replaces a worker that computes for ever, and none that is stopped",
    async () => {
      let beats = 0;
      const quick: typeof clock = {
        ...clock,
        wait: (ms) => {
          if (ms === BEAT_MS) beats++;
          return clock.wait(ms === BEAT_MS ? 10 : ms);
        },
      };
      const supervisor = await start({ workers: 3, clock: quick, hangsAfterMs: 300 });
      await reported("worker-listening", 3);
      const [hanging, stopped, idle] = supervisor.workers.values();
      process.kill(stopped!, "SIGSTOP");
      const computing = worker(hanging!).ask("/compute");
      await Promise.all([expect(computing).rejects.toThrow(), reported("worker-listening", 4)]);
      const died = events.find(({ kind }) => kind === "worker-died");
      expect(eventInWords(died!)).toMatch(
        /^worker-\d died: it had computed since 20\S+Z without answering, and was killed; another worker starts now$/,
      );
      const from = beats;
      await until(() => beats > from + 50);
      process.kill(stopped!, "SIGCONT");
      for (const pid of [stopped!, idle!]) expect(await worker(pid).who()).toMatchObject({ pid });
      expect(events.filter(({ kind }) => kind === "worker-died")).toHaveLength(1);
    },
  );

  test.runIf(process.platform === "linux")("lets a worker compute for longer while it starts", async () => {
    settings = { ...settings, computesMs: 500 };
    const wait = (ms: number) => systemClock.wait(ms === BEAT_MS ? 10 : ms);
    const supervisor = await start({ workers: 1, clock: { ...clock, wait }, hangsAfterMs: 200 });
    expect([...supervisor.workers.keys()]).toEqual(["worker-1"]);
  });

  test("waits longer and longer where workers die soon after their start", { tags: ["deep"] }, async () => {
    const supervisor = await start({ workers: 1 });
    for (let death = 1; death <= 3; death++) {
      await reported("worker-listening", death);
      await ask(supervisor.addresses[0]!, "/crash").catch(() => undefined);
      await reported("worker-died", death);
    }
    const pauses = events.flatMap((event) => (event.kind === "worker-died" ? event.againInMs : []));
    expect(pauses).toEqual([0, 100, 200]);
    await reported("worker-listening", 4);
  });

  test("takes a process that the system refuses for a worker that died", { tags: ["deep"] }, async () => {
    await expect(start({ workerMain: "refused\0" })).rejects.toThrow(
      /^no worker starts, so the server ends; the last one, worker-\d+, ended: .*must be a string.* without null bytes/,
    );
    expect(events.filter(({ kind }) => kind === "worker-died")).not.toEqual([]);
  });

  test("gives up, and says why, if no worker starts", { tags: ["deep"] }, async () => {
    settings = { ...settings, failsAtStart: true };
    const failed = start();
    await expect(failed).rejects.toThrow(
      /^no worker starts, so the server ends; the last one, worker-\d+, ended: Error: this worker was told to fail$/,
    );
    settings = { ...settings, failsAtStart: false };
    await start(); // nothing is left behind
  });

  test("goes on with the workers that it has where others do not start, however often", {
    tags: ["deep"],
  }, async () => {
    let connected = 0;
    const service = {
      connect: () => {
        const isFirst = ++connected === 1;
        return { ask: async () => (isFirst ? undefined : "fail"), tell: () => undefined, close: () => undefined };
      },
    };
    settings = { ...settings, asksFirst: true };
    const supervisor = await start({ service, soundAfterMs: 0 });
    await Promise.race([reported("worker-died", 7), supervisor.ended]);
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ name: "worker-1" });
  });

  test("counts the workers that do not start anew once one has, as over months", { tags: ["deep"] }, async () => {
    let connected = 0;
    const service = {
      connect: () => {
        const answer = connected++ % 4 === 0 ? undefined : "fail"; // three after each that starts
        return { ask: async () => answer, tell: () => undefined, close: () => undefined };
      },
    };
    settings = { ...settings, asksFirst: true };
    const supervisor = await start({ service, workers: 1, soundAfterMs: 0 });
    for (let started = 1; started <= 3; started++) {
      await Promise.race([reported("worker-listening", started), supervisor.ended]);
      if (started < 3) for (const pid of supervisor.workers.values()) process.kill(pid, "SIGKILL");
    }
    expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ name: "worker-9" });
  });

  test("refuses a folder that another supervisor owns", { tags: ["deep"] }, async () => {
    await start({ workers: 1 });
    await expect(start({ workers: 1 })).rejects.toThrow(`Another tidemark serve is using ${folder}.`);
  });

  test("refuses an address on which another process listens", { tags: ["deep"] }, async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const refused = start({ listen: [{ host: "127.0.0.1", port }] });
    await expect(refused).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: another process is listening there.`);
    const path = join(folder, "front.sock");
    const onPath = createServer().listen(path);
    await once(onPath, "listening");
    await expect(start({ listen: [{ path }] })).rejects.toThrow(
      `Cannot listen on ${path}: another process is listening there.`,
    );
    other.close();
    onPath.close();
  });

  test("replaces the socket file of a process that has died, and no file that is not a socket", {
    tags: ["deep"],
  }, async () => {
    const path = join(folder, "front.sock");
    writeFileSync(path, "a page");
    await expect(start({ listen: [{ path }] })).rejects.toThrow("there is a file that is not a socket");
    expect(readFileSync(path, "utf8")).toBe("a page");
    unlinkSync(path);
    const listen = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", listen]);
    expect(lstatSync(path).isSocket()).toBe(true);
    expect((await start({ listen: [{ path }] })).addresses).toEqual([path]);
  });

  test("stops: answers under way are finished, and new connections are refused", { tags: ["deep"] }, async () => {
    const supervisor = await start({ workers: 1 });
    const [pid] = supervisor.workers.values();
    const held = await hold(supervisor.addresses[0]!);
    const stopped = supervisor.stop();
    await refused(supervisor.addresses[0]!);
    process.kill(pid!, "SIGUSR2");
    expect(await held.answer).toMatchObject({ pid });
    await stopped;
    await supervisor.ended;
    expect(events.filter(({ kind }) => kind === "worker-killed")).toEqual([]);
  });

  test("stops at once when it is told to a second time", { tags: ["deep"] }, async () => {
    const supervisor = await start({ workers: 1 });
    const held = await hold(supervisor.addresses[0]!);
    void supervisor.stop();
    await supervisor.stop();
    await expect(held.answer).rejects.toThrow();
    expect(eventInWords(events.at(-1)!)).toBe("worker-1 died: the server was told a second time to stop");
  });

  test("kills a worker that does not finish in time", { tags: ["deep"] }, async () => {
    const supervisor = await start({ workers: 1, stopWithinMs: 1 });
    const held = await hold(supervisor.addresses[0]!);
    await supervisor.stop();
    await expect(held.answer).rejects.toThrow();
  });

  describe("reloads:", () => {
    test("new workers take over, old ones finish, and no request is dropped", async () => {
      const supervisor = await start();
      await reported("worker-listening", 2);
      const [address] = supervisor.addresses as [string];
      const old = [...supervisor.workers.values()];
      const held = await hold(address);
      settings = { ...settings, version: "v2" };
      let isReloading = true;
      const seen: string[] = [];
      const visitor = async () => {
        for (; isReloading; await breath()) seen.push((await ask<Who>(address, "/who")).version);
      };
      const visits = visitor();
      expect(await supervisor.reload()).toBe(true);
      isReloading = false;
      await visits;
      expect(seen.length).toBeGreaterThan(0);
      for (const pid of supervisor.workers.values()) expect(old).not.toContain(pid);
      for (const pid of old) if (isAlive(pid)) process.kill(pid, "SIGUSR2");
      expect(await held.answer).toMatchObject({ version: "v1" });
    });

    test.each([
      ["SIGKILL", "SIGKILL (out of memory? see dmesg)"],
      ["SIGABRT", "SIGABRT"],
    ] as const)(
      "an old worker that dies by %s before it has finished is told of",
      { tags: ["deep"] },
      async (signal, why) => {
        const supervisor = await start({ workers: 1 });
        const held = await hold(supervisor.addresses[0]!);
        const [pid] = supervisor.workers.values();
        await supervisor.reload();
        process.kill(pid!, signal);
        await expect(held.answer).rejects.toThrow();
        await reported("worker-killed");
        expect(eventInWords(events.at(-1)!)).toBe(`worker-1 died: ${why}`);
      },
    );

    test("the third one after it ends a worker that still answers", { tags: ["deep"] }, async () => {
      const supervisor = await start({ workers: 1, stopWithinMs: 1 });
      const [address] = supervisor.addresses as [string];
      const held = [];
      const pids: number[] = [];
      for (let reloads = 0; reloads < 3; reloads++) {
        held.push(await hold(address));
        pids.push(...supervisor.workers.values());
        await supervisor.reload();
      }
      await expect(held[0]!.answer).rejects.toThrow();
      await reported("worker-killed");
      expect(events.filter(({ kind }) => kind === "worker-killed")).toEqual([
        { kind: "worker-killed", name: "worker-1" },
      ]);
      for (const pid of pids.slice(1)) process.kill(pid, "SIGUSR2");
      expect(await held[1]!.answer).toMatchObject({ name: "worker-2" });
      expect(await held[2]!.answer).toMatchObject({ name: "worker-3" });
    });

    test("settings that change while they are loaded are loaded again", { tags: ["deep"] }, async () => {
      const supervisor = await start();
      let loads = 0;
      const first = Promise.withResolvers<void>();
      const read = load;
      load = async () => {
        const loaded = await read();
        if (++loads === 1) await first.promise;
        return loaded;
      };
      const reloads = [supervisor.reload()];
      settings = { ...settings, version: "v2" };
      reloads.push(supervisor.reload(), supervisor.reload());
      first.resolve();
      expect(await Promise.all(reloads)).toEqual([true, true, true]);
      expect(loads).toBe(2);
      expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v2" });
    });

    test("settings that are still being loaded when it stops open nothing again", { tags: ["deep"] }, async () => {
      const supervisor = await start();
      const loading = Promise.withResolvers<void>();
      const read = load;
      load = async () => {
        await loading.promise;
        return read();
      };
      const reload = supervisor.reload();
      await supervisor.stop();
      loading.resolve();
      expect(await reload).toBe(false);
      expect(readdirSync(folder)).not.toContain("log.sock"); // which would keep the process from ending
      expect(events.map(({ kind }) => kind)).not.toContain("reload-failed"); // nobody uses old settings
    });

    test("a configuration that does not compile keeps the old workers, and says why", { tags: ["deep"] }, async () => {
      const supervisor = await start();
      await reported("worker-listening", 2);
      const before = supervisor.workers;
      load = () => Promise.reject(new Error("routes[0].path must begin with a slash"));
      expect(await supervisor.reload()).toBe(false);
      expect(supervisor.workers).toEqual(before);
      expect(eventInWords(events.at(-1)!)).toBe("the old settings stay in use: routes[0].path must begin with a slash");
    });

    test("a configuration under which no worker starts keeps the old workers, and says why", {
      tags: ["deep"],
    }, async () => {
      const supervisor = await start();
      await reported("worker-listening", 2);
      const before = supervisor.workers;
      settings = { ...settings, failsAtStart: true };
      expect(await supervisor.reload()).toBe(false);
      expect(supervisor.workers).toEqual(before);
      expect(eventInWords(events.at(-1)!)).toContain("this worker was told to fail");
      expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v1" });
    });

    test("a host that was to move stays with its site if no worker starts", async () => {
      const grant = { leaseMs: LEASE_MS, longestViewAgeMs: LEASE_MS };
      const owners = () => {
        const record = JSON.parse(readFileSync(join(folder, "hosts.json"), "utf8")) as [string, string[]][];
        return record.map(([host, sites]) => [host, sites.at(-1)]);
      };
      const siteHas = (site: string) => async () => ({
        settings,
        sites: new Map([[site, { ...grant, hosts: ["a.test"] }]]),
      });
      load = siteHas(ONLY_SITE);
      const supervisor = await start({ workers: 1, folderOf: (site) => join(folder, site) });
      settings = { ...settings, failsAtStart: true };
      load = siteHas("shop");
      expect(await supervisor.reload()).toBe(false);
      expect(owners()).toEqual([["a.test", ONLY_SITE]]);
    });

    describe("of two new workers the first one answers, and", () => {
      /** `start` is the answer that the second one waits for before it starts. */
      const reloadHalf = async (change: Partial<SupervisorOptions> = {}) => {
        const later = Promise.withResolvers<unknown>();
        let connected = 0;
        const service = {
          connect: () => {
            const isSecond = ++connected === 4; // after the two old workers
            const ask = async (question: unknown) => (isSecond && question === "start" ? later.promise : undefined);
            return { ask, tell: () => undefined, close: () => undefined };
          },
        };
        settings = { ...settings, asksFirst: true };
        const supervisor = await start({ ...change, service });
        await reported("worker-listening", 2);
        const reloaded = supervisor.reload();
        await reported("worker-listening", 3);
        const pid = supervisor.workers.get("worker-3")!;
        const held = await hold(`${folder}/${pid}.sock`);
        return { supervisor, reloaded, start: later.resolve, held, finish: () => process.kill(pid, "SIGUSR2") };
      };

      test("the second one does not start: the first one finishes its answers", async () => {
        const { supervisor, reloaded, start, held, finish } = await reloadHalf();
        start("fail");
        expect(await reloaded).toBe(false);
        expect([...supervisor.workers.keys()]).toEqual(["worker-1", "worker-2"]);
        finish();
        expect(await held.answer).toMatchObject({ name: "worker-3" });
        expect(events.filter(({ kind }) => kind === "worker-killed")).toEqual([]);
      });

      test("the second one does not start: the first one has no more time than at a stop", {
        tags: ["deep"],
      }, async () => {
        const { reloaded, start, held } = await reloadHalf({ stopWithinMs: 1 });
        start("fail");
        expect(await reloaded).toBe(false);
        await expect(held.answer).rejects.toThrow();
        await reported("worker-killed");
        expect(events.at(-1)).toEqual({ kind: "worker-killed", name: "worker-3" });
      });

      test("the server stops: the first one finishes its answers", async () => {
        const { supervisor, reloaded, held, finish } = await reloadHalf();
        const stopped = supervisor.stop();
        expect(await reloaded).toBe(false);
        finish();
        expect(await held.answer).toMatchObject({ name: "worker-3" });
        await stopped;
        expect(events.filter(({ kind }) => kind === "worker-killed")).toEqual([]);
      });
    });

    test("a server that is told to stop while the last new worker opens its listener keeps the old settings", async () => {
      const listen = Promise.withResolvers<void>();
      const listens = Promise.withResolvers<void>();
      let connected = 0;
      const service = {
        connect: () => {
          const isNew = ++connected === 2;
          const ask = async (question: unknown) => {
            if (!isNew || question !== "listen") return;
            listens.resolve();
            await listen.promise;
          };
          return { ask, tell: () => undefined, close: () => undefined };
        },
      };
      settings = { ...settings, asksFirst: true };
      const supervisor = await start({ workers: 1, service });
      const reloaded = supervisor.reload();
      await listens.promise;
      const stopped = supervisor.stop();
      listen.resolve();
      expect(await reloaded).toBe(false);
      await stopped;
      expect(events.map(({ kind }) => kind)).not.toContain("reloaded");
    });

    test("the folder of a site that was removed is free once the last worker that served it has ended", async () => {
      const grant = { leaseMs: LEASE_MS, longestViewAgeMs: LEASE_MS };
      const serve = (...sites: string[]) => {
        load = async () => ({ settings, sites: new Map(sites.map((site) => [site, grant])) });
      };
      serve(ONLY_SITE, "shop");
      const supervisor = await start({ workers: 1, folderOf: (site) => join(folder, site) });
      const [pid] = [...supervisor.workers.values()] as [number];
      const held = await hold(supervisor.addresses[0]!);
      serve(ONLY_SITE);
      expect(await supervisor.reload()).toBe(true);
      const takeLock = () => FileLock.take(join(folder, "shop", "supervisor.lock"), "exclusive");
      expect(takeLock()).toBeNull();
      process.kill(pid, "SIGUSR2");
      await held.answer;
      await until(() => {
        const lock = takeLock();
        lock?.release();
        return lock !== null;
      });
    });

    test("a worker that dies afterwards is replaced by one with the new settings", { tags: ["deep"] }, async () => {
      const supervisor = await start({ workers: 1 });
      settings = { ...settings, version: "v2" };
      await supervisor.reload();
      settings = { ...settings, version: "v3" };
      process.kill([...supervisor.workers.values()][0]!, "SIGKILL");
      await reported("worker-died");
      expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v2" });
    });
  });

  describe("hands over to a successor", () => {
    const failsAndGoesOn = async (step: string) => {
      let takenBack = 0;
      const supervisor = await start({
        startSuccessor: () => startFailingSuccessor(step),
        onTakenBack: () => {
          takenBack++;
        },
      });
      const [address] = supervisor.addresses as [string];
      const before = [...supervisor.workers.values()];
      const purgeAtWorker = async () => {
        const [pid] = [...supervisor.workers.values()] as [number];
        return worker(pid).purge({ key: "#a" });
      };
      expect(await purgeAtWorker()).toMatchObject({ seq: 1, settlesInMs: 0 });
      const answers = Array.from({ length: 20 }, () => ask<Who>(address, "/who"));
      expect(await supervisor.upgrade()).toBe(false);
      await Promise.all(answers);
      expect(events.find(({ kind }) => kind === "upgrade-failed")).toMatchObject({
        cause: expect.objectContaining({ message: "the new server exited: exit code 7" }),
      });
      const hadNoLog = step !== "before";
      expect(takenBack).toBe(hadNoLog ? 1 : 0);
      const after = [...supervisor.workers.values()];
      expect(before.filter((pid) => after.includes(pid))).toEqual(hadNoLog ? [] : before);
      await ask<Who>(address, "/who");
      // The old workers may still finish their answers, and are waited for as well.
      expect(await purgeAtWorker()).toMatchObject({ seq: 2, settlesInMs: 0 });
    };
    const TITLE = "that fails %s: it goes on, with log and workers";
    test.each(["with the log open"])(TITLE, { tags: ["deep"] }, failsAndGoesOn);
    test.each(["before", "with the log"])(TITLE, { tags: ["deep"] }, failsAndGoesOn);

    describe("that fails while another process has the folder:", () => {
      /** That process takes it before this server can take it back. Each wait for the folder is over at once. */
      const startWithFolderTaken = async () => {
        let elapsedMs = 0;
        const taken: { lock?: FileLock } = {};
        const supervisor = await start({
          startSuccessor: () => startFailingSuccessor("with the log"),
          onHandOver: () => {
            taken.lock = FileLock.take(join(folder, "supervisor.lock"), "exclusive")!;
          },
          clock: {
            ...clock,
            elapsed: () => elapsedMs,
            wait: (ms) => {
              if (taken.lock === undefined || ms !== 1_000) return clock.wait(ms);
              elapsedMs += ms;
              return clock.wait(0);
            },
          },
          workers: 1,
        });
        const upgraded = supervisor.upgrade();
        await reported("upgrade-failed");
        return { supervisor, upgraded, lock: taken.lock! };
      };

      test("it waits for the folder, and goes on", async () => {
        const { supervisor, upgraded, lock } = await startWithFolderTaken();
        lock.release();
        expect(await upgraded).toBe(false);
        expect(eventInWords(events.find(({ kind }) => kind === "log-failed")!)).toContain(
          "Another tidemark serve is using",
        );
        const [pid] = [...supervisor.workers.values()] as [number];
        expect(await worker(pid).purge({ key: "#a" })).toMatchObject({ seq: 1, settlesInMs: 0 });
      });

      test("it gives up after half a minute", async () => {
        const { supervisor, lock } = await startWithFolderTaken();
        await expect(supervisor.ended).rejects.toThrow("Another tidemark serve is using");
        lock.release();
      });
    });

    test("that fails while the configuration is wrong: its workers have the settings in use, and are replaced", {
      tags: ["deep"],
    }, async () => {
      const supervisor = await start({ startSuccessor: () => startFailingSuccessor("with the log"), workers: 1 });
      load = () => Promise.reject(new Error("wrong"));
      expect(await supervisor.upgrade()).toBe(false);
      const [pid] = supervisor.workers.values();
      process.kill(pid!, "SIGKILL");
      await reported("worker-died");
      expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v1" });
      expect(await worker([...supervisor.workers.values()][0]!).purge({ key: "#a" })).toMatchObject({ settlesInMs: 0 });
    });

    test("that fails, and is told meanwhile to load the settings: it does so after that", {
      tags: ["deep"],
    }, async () => {
      const supervisor = await start({ startSuccessor: () => startFailingSuccessor("with the log"), workers: 1 });
      const upgraded = supervisor.upgrade();
      settings = { ...settings, version: "v2" };
      const reloaded = supervisor.reload();
      expect([await upgraded, await reloaded]).toEqual([false, true]);
      expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v2" });
    });

    test("that fails, and is told to load the settings before it has the log back: it does so after that", async () => {
      const done: string[] = [];
      const does = (what: string) => () => void done.push(what);
      const read = load;
      const supervisor = await start({
        startSuccessor: () => startFailingSuccessor("with the log"),
        load: () => {
          done.push("loads");
          return read();
        },
        service: {
          connect: () => {
            done.push("starts a worker");
            return { ask: async () => undefined, tell: () => undefined, close: () => undefined };
          },
        },
        onHandOver: does("hands over"),
        onTakenBack: does("takes back"),
        workers: 1,
      });
      const upgraded = supervisor.upgrade();
      await reported("upgrade-failed");
      expect([await supervisor.reload(), await upgraded]).toEqual([true, false]);
      expect(done).toEqual([
        ...["loads", "starts a worker"],
        ...["hands over", "takes back", "starts a worker"],
        ...["loads", "starts a worker"],
      ]);
    });

    // Two starts of a worker are under way: of one with the settings in use, and of one with those that were loaded.
    describe("that fails, and is told to load the settings while its workers are replaced:", () => {
      interface Start {
        /** Ends what the worker waits for. */
        go: () => void;
        isWaiting: boolean;
      }
      /** `step`: before which both workers wait. */
      const startBoth = async (step: string) => {
        const starts: Start[] = [];
        const service = {
          connect: () => {
            const gate = Promise.withResolvers<void>();
            const begun: Start = { go: gate.resolve, isWaiting: false };
            if (starts.push(begun) === 1) gate.resolve();
            return {
              ask: async (question: unknown) => {
                if (question !== step) return;
                begun.isWaiting = true;
                await gate.promise;
              },
              tell: () => undefined,
              close: () => undefined,
            };
          },
        };
        settings = { ...settings, asksFirst: true };
        const takenBack = Promise.withResolvers<void>();
        const startSuccessor = () => startFailingSuccessor("with the log");
        const onTakenBack = takenBack.resolve;
        const supervisor = await start({ startSuccessor, onTakenBack, service, workers: 1 });
        const upgraded = supervisor.upgrade();
        await takenBack.promise;
        settings = { ...settings, version: "v2" };
        const reloaded = supervisor.reload();
        await until(() => starts.filter(({ isWaiting }) => isWaiting).length === 3);
        const [, renewed, loaded] = starts as [Start, Start, Start];
        return { supervisor, upgraded, reloaded, renewed, loaded };
      };

      test.each(["start", "listen"])("if those are first, when the new ones are about to %s", async (step) => {
        const { supervisor, upgraded, reloaded, renewed, loaded } = await startBoth(step);
        renewed.go();
        expect(await upgraded).toBe(false);
        loaded.go();
        expect(await reloaded).toBe(true);
        expect([...supervisor.workers]).toHaveLength(1);
        expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v2" });
      });

      test("if the new ones are first, nobody waits for those any more", async () => {
        const { supervisor, upgraded, reloaded, loaded } = await startBoth("start");
        loaded.go();
        expect(await reloaded).toBe(true);
        expect(await upgraded).toBe(false);
        expect(await ask<Who>(supervisor.addresses[0]!, "/who")).toMatchObject({ version: "v2" });
      });
    });

    test("and is told meanwhile to load the settings: the successor does so", { tags: ["deep"] }, async () => {
      let successor!: ChildProcess;
      const startSuccessor = () => {
        successor = startFailingSuccessor("never");
        return successor;
      };
      const supervisor = await start({ startSuccessor, workers: 1 });
      const upgraded = supervisor.upgrade();
      const ended = once(successor, "exit");
      const reloaded = supervisor.reload();
      expect([await upgraded, await reloaded]).toEqual([true, false]);
      expect(await ended).toEqual([8, null]); // as it does at SIGHUP
    });

    test("and is told after that to load the settings: the successor does so, which sees changes of files itself", {
      tags: ["deep"],
    }, async () => {
      let successor!: ChildProcess;
      const startSuccessor = () => {
        successor = startFailingSuccessor("never");
        return successor;
      };
      const supervisor = await start({ startSuccessor, workers: 1 });
      const [pid] = [...supervisor.workers.values()] as [number];
      const held = await hold(supervisor.addresses[0]!);
      expect(await supervisor.upgrade()).toBe(true);
      let ended: unknown = null;
      const exit = once(successor, "exit").then((how) => {
        ended = how;
      });
      expect(await supervisor.loadChanges()).toBe(false);
      expect(ended).toBe(null);
      expect(await supervisor.reload()).toBe(false);
      await exit;
      expect(ended).toEqual([8, null]); // as it does at SIGHUP
      process.kill(pid, "SIGUSR2");
      expect(await held.answer).toMatchObject({ pid });
    });

    test("that fails: it gives out the permits for the origin again", async () => {
      const permits = new PermitOffice();
      const startSuccessor = () => startFailingSuccessor("with the log");
      const supervisor = await start({ startSuccessor, permits, workers: 1 });
      const worker = permits.connect();
      worker.tell({ kind: "joins", site: ONLY_SITE, limit: 1, share: 0 } satisfies PermitMessage);
      expect(await supervisor.upgrade()).toBe(false);
      const waiting = { client: "other", recentMisses: 0, since: 1 } as const;
      worker.tell({ kind: "waits", site: ONLY_SITE, ...waiting } satisfies PermitMessage);
      let granted = 0;
      while (granted === 0) {
        const news = (await worker.ask(ASKS_FOR_PERMITS)) as readonly PermitNews[];
        granted += news.reduce((sum, each) => sum + each.granted, 0);
      }
      expect(granted).toBe(1);
    });

    test("and gives out the permits for the origin again if that ends while its workers finish", {
      tags: ["deep"],
    }, async () => {
      const permits = new PermitOffice();
      let successor!: ChildProcess;
      const startSuccessor = () => {
        successor = startFailingSuccessor("never");
        return successor;
      };
      const supervisor = await start({ startSuccessor, permits, workers: 1 });
      const [pid] = [...supervisor.workers.values()] as [number];
      const held = await hold(supervisor.addresses[0]!);
      const worker = permits.connect();
      worker.tell({ kind: "joins", site: ONLY_SITE, limit: 1, share: 0 } satisfies PermitMessage);
      expect(await supervisor.upgrade()).toBe(true);
      worker.tell({
        kind: "waits",
        site: ONLY_SITE,
        client: "other",
        recentMisses: 0,
        since: 1,
      } satisfies PermitMessage);
      successor.kill("SIGKILL");
      let granted = 0;
      while (granted === 0) {
        const news = (await worker.ask(ASKS_FOR_PERMITS)) as readonly PermitNews[];
        granted += news.reduce((sum, each) => sum + each.granted, 0);
      }
      expect(granted).toBe(1);
      process.kill(pid, "SIGUSR2");
      expect(await held.answer).toMatchObject({ pid });
    });

    test("and told to stop after that, it gives its workers the usual time; told again, none", {
      tags: ["deep"],
    }, async () => {
      const supervisor = await start({ startSuccessor: () => startFailingSuccessor("never"), workers: 1 });
      const [pid] = [...supervisor.workers.values()] as [number];
      const held = [await hold(supervisor.addresses[0]!), await hold(supervisor.addresses[0]!)] as const;
      expect(await supervisor.upgrade()).toBe(true);
      void supervisor.stop();
      process.kill(pid, "SIGUSR2");
      for (const { answer } of held) expect(await answer).toMatchObject({ pid });
      await supervisor.ended;
    });

    test("and that one stops the old workers with its own, and ends after them", { tags: ["deep"] }, async () => {
      const sockets = await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false);
      const asked: number[] = [];
      let gone: () => void = () => undefined;
      const predecessor = {
        takeOver: async () => ({ sockets, readers: [], lock: join(folder, "none") }),
        tellLogIsOpen: () => undefined,
        tellIsListening: () => undefined,
        follow: (_: unknown, onGone: () => void) => {
          gone = onGone;
        },
        reopen: async () => {
          asked.push(-1);
          return false;
        },
        stop: (withinMs: number) => void asked.push(withinMs),
      };
      const supervisor = await start({ predecessor: predecessor as unknown as Predecessor, workers: 1 });
      const [pid] = [...supervisor.workers.values()] as [number];
      await supervisor.reopen();
      expect(events).not.toContainEqual({ kind: "reopened" }); // old workers still write the old files
      await supervisor.reload();
      await supervisor.loadChanges();
      let hasEnded = false;
      void supervisor.ended.then(() => {
        hasEnded = true;
      });
      void supervisor.stop();
      void supervisor.stop();
      expect(asked).toEqual([-1, -1, 10_000, 0]); // nobody has moved log files away when a config changes
      await until(() => !isAlive(pid));
      await expect(start()).rejects.toThrow("Another tidemark serve is using"); // the old workers still read the log
      expect(hasEnded).toBe(false);
      gone();
      await supervisor.ended;
    });

    test("and purges do not wait for old workers that have ended, while another one still answers", async () => {
      let successor!: ChildProcess;
      const supervisor = await start({
        startSuccessor: () => {
          successor = startSuccessorIn(folder);
          return successor;
        },
      });
      await reported("worker-listening", 2);
      const held = await hold(supervisor.addresses[0]!);
      const old = [...supervisor.workers.values()];
      const upgraded = supervisor.upgrade();
      const lines = createInterface(successor.stdout!)[Symbol.asyncIterator]();
      const { pid: fresh } = JSON.parse((await lines.next()).value!) as ListeningWorker;
      expect(await upgraded).toBe(true);
      await until(() => old.filter(isAlive).length === 1);
      expect(await worker(fresh).purge({ key: "#a" })).toMatchObject({ settlesInMs: 0 });
      for (const pid of old.filter(isAlive)) process.kill(pid, "SIGUSR2");
      expect(await held.answer).toMatchObject({ version: "v1" });
      successor.kill("SIGTERM");
      await once(successor, "exit");
    });

    describe("of which it has the log, and that dies:", () => {
      const startAfter = async (readers: readonly string[], lock: string) => {
        const sockets = await openSockets([{ host: "127.0.0.1", port: 0 }], systemClock, () => false);
        const died = Promise.withResolvers<void>();
        const predecessor = {
          takeOver: async () => ({ sockets, readers, lock }),
          tellLogIsOpen: () => undefined,
          tellIsListening: () => undefined,
          follow: (_: unknown, onGone: () => void) => void died.promise.then(onGone),
        };
        const supervisor = await start({ predecessor: predecessor as unknown as Predecessor, workers: 1 });
        const [pid] = supervisor.workers.values() as unknown as [number];
        return { purge: (key: string) => worker(pid).purge({ key }), die: died.resolve };
      };

      test("purges do not wait for the old workers any more", async () => {
        const { purge, die } = await startAfter(["worker-1 of the old server"], join(folder, "workers-old.lock"));
        const awaited = new Promise<void>((resolve) => {
          confirmationAwaited = resolve;
        });
        const purged = purge("#a");
        await awaited;
        die();
        expect(await purged).toMatchObject({ settlesInMs: 0 });
      });

      test("purges settle by the lease for as long as an old worker lives", async () => {
        const lock = join(folder, "workers-old.lock");
        const held = FileLock.take(lock, "shared")!;
        const { purge, die } = await startAfter([], lock);
        expect(await purge("#a")).toMatchObject({ settlesInMs: 0 }); // its server tells when it ends
        die();
        await breath();
        expect(await purge("#b")).toMatchObject({ settlesInMs: LEASE_MS + 250 });
        held.release();
        expect(await purge("#c")).toMatchObject({ settlesInMs: 0 });
      });
    });

    test("that fails: it leaves the file of a Unix socket to the old server", { tags: ["deep"] }, async () => {
      const path = join(folder, "edge.sock");
      const sockets = await openSockets([{ path }], systemClock, () => false);
      const predecessor = { takeOver: async () => ({ sockets, readers: [], lock: join(folder, "none") }) };
      load = () => Promise.reject(new Error("wrong"));
      await expect(start({ predecessor: predecessor as unknown as Predecessor })).rejects.toThrow("wrong");
      expect(lstatSync(path).isSocket()).toBe(true);
    });

    test("and is told to stop meanwhile: it ends the successor, and does not say that it goes on", async () => {
      const supervisor = await start({ startSuccessor: () => startFailingSuccessor("never"), workers: 1 });
      const upgraded = supervisor.upgrade();
      await supervisor.stop();
      expect(await upgraded).toBe(false);
      expect(events.slice(events.findIndex(({ kind }) => kind === "stopping"))).toEqual([{ kind: "stopping" }]);
    });

    test("and refuses if it cannot start one", { tags: ["deep"] }, async () => {
      const supervisor = await start({
        startSuccessor: () => {
          throw new Error("not here");
        },
      });
      expect(await supervisor.upgrade()).toBe(false);
      expect(eventInWords(events.at(-1)!)).toBe("the old server goes on: not here");
      expect(await (await start({ folder: join(folder, "other") })).upgrade()).toBe(false); // nothing to start
    });
  });

  describe("purges:", () => {
    test("a purge holds in every worker when its receipt arrives", async () => {
      // With the clock of the other tests, time would seem to be set forward, and a time that has come to be ahead again.
      const supervisor = await start({ clock: { ...clock, elapsed: systemClock.elapsed } });
      await reported("worker-listening", 2);
      const [a, b] = [...supervisor.workers.values()].map(worker) as [PageClient, PageClient];
      const stamp = await b.stamp();
      expect(await b.check("#a", stamp)).toBe("not-purged");
      const receipt = await a.purge({ key: "#a", id: "x" });
      expect(receipt).toMatchObject({ seq: 1, settlesInMs: 0 });
      expect(await b.check("#a", stamp)).toBe("purged");
      expect((await a.purges()).purges).toMatchObject([{ seq: 1, settled: true }]);
    });

    test("a worker that hangs is not counted on: the receipt settles by the lease", { tags: ["deep"] }, async () => {
      const supervisor = await start();
      await reported("worker-listening", 2);
      const [pidOfA, pidOfB] = [...supervisor.workers.values()] as [number, number];
      process.kill(pidOfB, "SIGSTOP");
      const awaited = new Promise<void>((resolve) => {
        confirmationAwaited = resolve;
      });
      const purged = worker(pidOfA).purge({ key: "#a" });
      await awaited;
      for (const giveUp of giveUpConfirmations) giveUp();
      expect(await purged).toMatchObject({ seq: 1, settlesInMs: LEASE_MS + 250 });
      expect((await worker(pidOfA).purges()).purges).toMatchObject([{ settled: false }]);
      process.kill(pidOfB, "SIGKILL"); // its lease ends with it
      await reported("worker-died");
      expect((await worker(pidOfA).purges()).purges).toMatchObject([{ settled: true }]);
      expect(await worker(pidOfA).purge({ key: "#b" })).toMatchObject({ seq: 2, settlesInMs: 0 });
    });

    test("a worker that starts after a purge knows of it before it answers anybody", async () => {
      const supervisor = await start({ workers: 1 });
      const [pid] = supervisor.workers.values() as unknown as [number];
      const stamp = await worker(pid).stamp();
      await worker(pid).purge({ key: "#a" });
      process.kill(pid, "SIGKILL");
      await reported("worker-listening", 2);
      const [next] = supervisor.workers.values();
      expect(await worker(next!).check("#a", stamp)).toBe("purged");
    });
  });
});

/** Sends a request that is answered later. Resolves when a worker has it. */
async function hold(address: string): Promise<{ readonly answer: Promise<Who> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answer = ask<Who>(address, "/hold", new Agent({ keepAlive: false }), resolve);
  answer.catch(() => undefined);
  await promise;
  return { answer };
}

/** Resolves when connections are refused. */
async function refused(address: string): Promise<void> {
  for (;;) {
    const failed = await ask(address, "/who").then(
      () => null,
      (cause: NodeJS.ErrnoException) => cause.code,
    );
    if (failed === "ECONNREFUSED") return;
  }
}
