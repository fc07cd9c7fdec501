import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FileLock } from "../../../server/log/file-lock.ts";
import { SupervisedLog } from "../../../server/log/log-client.ts";
import { LogFolder } from "../../../server/log/log-folder.ts";
import { ONLY_SITE, type SiteGrants, SiteLogs, type SiteLogsOptions } from "../../../server/supervisor/site-logs.ts";
import { eventInWords } from "../../../server/supervisor/supervisor-events.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { INVALIDATION } from "../../../worker/purges/invalidations.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { SmallDisk } from "../../suite/small-disk.ts";
import { until } from "../../suite/until.ts";

/** Nothing else here waits for as long. */
const ADMIT_WITHIN_MS = 24 * 3_600_000;

/** The pause after which a log is tried again in whose place another one stands. */
const TRY_AGAIN_MS = 5_000;

const GRANT = { leaseMs: 1000, longestViewAgeMs: 1000 };
const SITES = ["shop", "blog"];
const grants = (...sites: readonly string[]): SiteGrants => new Map(sites.map((site) => [site, GRANT]));

describe("the logs of several sites", () => {
  let folder: string;
  let logs: SiteLogs;
  let clients: SupervisedLog[];
  /** What its owner is told. */
  let said: string[];
  /** Ends the wait for logs that do not admit a worker. */
  let waitedLongEnough: () => void;
  /** Lets logs be tried again. */
  let tryAgain: () => void;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    clients = [];
    said = [];
    logs = make();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await logs.close();
    rmSync(folder, { recursive: true });
  });

  /** `known`: the lock of workers of another supervisor, who are no strangers. */
  function make(options: Partial<SiteLogsOptions> = {}, known: string | null = null): SiteLogs {
    const over = new Promise<void>((resolve) => {
      waitedLongEnough = resolve;
    });
    const triedAgain = new Promise<void>((resolve) => {
      tryAgain = resolve;
    });
    const waits = new Map([
      [ADMIT_WITHIN_MS, over],
      [TRY_AGAIN_MS, triedAgain],
    ]);
    const wait = (ms: number) =>
      waits.has(ms) ? { over: waits.get(ms)!, cancel: () => undefined } : systemClock.wait(ms);
    return new SiteLogs(
      {
        folder: join(folder, "log"),
        folderOf: (site) => join(folder, site),
        clock: { ...systemClock, wait },
        admitWithinMs: ADMIT_WITHIN_MS,
        report: (event) => said.push(eventInWords(event)),
        ...options,
      },
      known,
    );
  }

  /** Lets a worker read the log of a site, which then knows what it has confirmed. */
  function read(site: string, worker: string): SupervisedLog {
    const socket = logs.of(grants(site))[0]!.socket;
    const client = new SupervisedLog({ socketPath: socket, name: logs.readerOf(worker), clock: systemClock });
    client.learnBy(async () => true);
    clients.push(client);
    return client;
  }

  test("a log that does not admit a worker keeps its own site waiting, and no other", async () => {
    await logs.open(grants(...SITES));
    const late = Promise.withResolvers<string>();
    const reader = logs.readerOf("worker-1");
    logs.expect(reader, grants(...SITES));
    const admitted = logs.admit(reader, SITES, late.resolve);
    waitedLongEnough(); // by then nobody has admitted it
    read("shop", "worker-1");
    const waiting = await admitted;
    expect([...waiting]).toEqual(["blog"]);
    read("blog", "worker-1");
    expect(await late.promise).toBe("blog");
    expect([...waiting]).toEqual([]); // whoever reads it now has not missed that
  });

  test("a worker that no log admits begins only if visitors need it, and is told of each that admits it later", async () => {
    await logs.open(grants(...SITES));
    const late: string[] = [];
    const reader = logs.readerOf("worker-1");
    logs.expect(reader, grants(...SITES));
    const needed = Promise.withResolvers<void>();
    let isOver = false;
    const admitted = logs.admit(
      reader,
      SITES,
      (site) => late.push(site),
      () => needed.promise,
    );
    void admitted.then(() => {
      isOver = true;
    });
    waitedLongEnough();
    await systemClock.wait(10).over;
    expect(isOver).toBe(false);
    needed.resolve();
    expect([...(await admitted)]).toEqual(SITES);
    for (const site of SITES) read(site, "worker-1");
    await until(() => late.length === 2);
  });

  describe("a log that cannot be used", () => {
    const asked = { purgeKeys: ["#a"], mode: "hard", since: null, leaseMs: 1000, skewMs: 250 } as const;
    const breakage: Readonly<Record<string, () => () => void>> = {
      "because its file is none": () => {
        const file = join(folder, "blog", "purge-log.sqlite");
        mkdirSync(file, { recursive: true });
        return () => rmdirSync(file);
      },
      "because its lock is none": () => {
        const lock = join(folder, "blog", "supervisor.lock");
        mkdirSync(lock, { recursive: true });
        return () => rmdirSync(lock);
      },
      "because its folder is none": () => {
        const notFolder = join(folder, "blog");
        writeFileSync(notFolder, "");
        return () => rmSync(notFolder);
      },
      "because another server uses it": () => {
        const other = LogFolder.own(join(folder, "blog"), "another");
        return () => other.release();
      },
    };

    test.each(Object.entries(breakage))(
      "%s keeps no other site from being served, and is used once it can be",
      async (_, breakIt) => {
        const mend = breakIt();
        await logs.open(grants(...SITES));
        logs.expect(logs.readerOf("worker-1"), grants(...SITES));
        const [shop, blog] = SITES.map((site) => read(site, "worker-1"));
        expect(await shop!.append({ ...INVALIDATION, ...asked })).toMatchObject({ seq: 1 });
        await expect(blog!.append({ ...INVALIDATION, ...asked })).rejects.toThrow();
        expect(said[0]).toMatch(/blog.* Until it can be written again, .* purges are refused\.$/);
        mend();
        tryAgain();
        await until(() => said.includes("the purge log can be written again, and accepts purges"));
        expect(await blog!.append({ ...INVALIDATION, ...asked })).toMatchObject({ seq: 1 });
      },
    );

    test("is refused if it would have to begin again, because a restart would not know of that", async () => {
      const serve = (hosts: Readonly<Record<string, readonly string[]>>) =>
        logs.open(new Map(Object.entries(hosts).map(([site, named]) => [site, { ...GRANT, hosts: named }])));
      await serve({ blog: ["blog.test"] });
      await serve({ shop: ["blog.test"], blog: [] });
      await logs.close();
      const mend = breakage["because another server uses it"]!();
      logs = make();
      await expect(serve({ blog: ["blog.test"] })).rejects.toThrow("Another tidemark serve is using");
      mend();
      await serve({ blog: ["blog.test"] });
      expect(said.at(-1)).toMatch(/counts as a new log.*blog: another site had blog\.test meanwhile$/);
    });

    test("keeps a server with one site from starting", async () => {
      mkdirSync(join(folder, "log", "purge-log.sqlite"));
      await expect(logs.open(grants(ONLY_SITE))).rejects.toThrow("it cannot be used (EISDIR");
    });
  });

  test("a log that workers cannot reach is opened once they can", async () => {
    const inTheWay = join(folder, "blog", "log.sock");
    mkdirSync(inTheWay, { recursive: true });
    await expect(logs.open(grants(...SITES))).rejects.toThrow(
      `The purge log in ${join(folder, "blog")}: it cannot be used (listen EADDRINUSE: `,
    );
    rmdirSync(inTheWay);
    await logs.open(grants(...SITES));
    expect(logs.of(grants(...SITES))).toHaveLength(2);
    expect(said).toEqual([]);
  });

  test("a purge settles by the lease while a worker of a server that has died reads its site's log", async () => {
    await logs.close();
    const known = join(folder, "log", "workers-old.lock");
    logs = make({}, known);
    mkdirSync(join(folder, "blog"));
    const held = FileLock.take(join(folder, "blog", "workers-old.lock"), "shared")!;
    await logs.open(grants(...SITES));
    logs.expect(logs.readerOf("worker-1"), grants(...SITES));
    const blog = read("blog", "worker-1");
    const asked = { purgeKeys: ["#a"], mode: "hard", since: null, leaseMs: 1000, skewMs: 250 } as const;
    const purge = () => blog.append({ ...INVALIDATION, ...asked });
    expect(await purge()).toMatchObject({ settlesInMs: 0 }); // its server tells when it ends
    logs.forget(known);
    expect(await purge()).toMatchObject({ settlesInMs: 1250 });
    held.release();
    expect(await purge()).toMatchObject({ settlesInMs: 0 });
  });

  test("a worker that has ended is not admitted", async () => {
    await logs.open(grants(...SITES));
    const reader = logs.readerOf("worker-1");
    logs.expect(reader, grants(...SITES));
    read("shop", "worker-1");
    const admitted = logs.admit(reader, SITES, () => undefined);
    logs.dismiss(reader);
    await expect(admitted).rejects.toThrow("has ended");
  });

  test("each is closed when no worker uses it, and may be opened again at once", async () => {
    await logs.open(grants(...SITES));
    expect(existsSync(join(folder, "blog", "log.sock"))).toBe(true);
    logs.closeOthers(new Set(["shop"]));
    expect(logs.of(grants("shop"))).toHaveLength(1);
    expect(() => logs.of(grants("blog"))).toThrow();
    await logs.open(grants(...SITES));
    expect(logs.of(grants(...SITES))).toHaveLength(2);
    expect(said).toEqual([]); // its own log is open again, and no other one in its place
  });

  describe("a site that has a host back from another one", () => {
    const serve = (hosts: Readonly<Record<string, readonly string[]>>) =>
      logs.open(new Map(Object.entries(hosts).map(([site, named]) => [site, { ...GRANT, hosts: named }])));
    const idsNow = () =>
      SITES.map((site) => {
        const note = JSON.parse(readFileSync(join(folder, site, "purge-log.head"), "utf8")) as { logId: string };
        return note.logId;
      });
    const record = () => join(folder, "log", "hosts.json");
    const both = { shop: ["shop.test"], blog: ["blog.test"] };
    const moved = { shop: [], blog: ["blog.test", "shop.test"] };
    const anotherLog = /counts as a new log.*shop: another site had shop\.test meanwhile$/;

    test("has another log", async () => {
      await serve(both);
      const [shop, blog] = idsNow();
      await serve(moved);
      expect(idsNow()).toEqual([shop, blog]);
      await logs.close(); // what was known is not forgotten
      logs = make();
      await serve(both);
      const [shopAgain] = idsNow();
      expect(shopAgain).not.toBe(shop);
      expect(said).toEqual([expect.stringMatching(anotherLog)]);
      await serve(both);
      expect(idsNow()).toEqual([shopAgain, blog]);
      await logs.close();
      writeFileSync(record(), "");
      logs = make();
      await serve(both);
      expect(new Set([shopAgain, blog, ...idsNow()]).size).toBe(4);
    });

    describe("and no other does, though the record of hosts cannot be read,", () => {
      let before: string[];

      beforeEach(async () => {
        await serve(both);
        before = idsNow();
      });

      /** Lets every access to the record fail. */
      function hide(): void {
        renameSync(record(), `${record()}.hidden`);
        mkdirSync(record());
      }

      function show(): void {
        rmdirSync(record());
        renameSync(`${record()}.hidden`, record());
      }

      test("while the server runs", async () => {
        hide();
        await serve(both);
        expect(idsNow()).toEqual(before);
        expect(said).toEqual([]);
      });

      test("when it starts, which fails then", async () => {
        await logs.close();
        hide();
        expect(() => make()).toThrow(`The purge log in ${record()}: it cannot be used (EISDIR`);
        show();
        logs = make(); // nobody else owns the folder
        await serve(both);
        expect(idsNow()).toEqual(before);
      });
    });

    test("has another log though its disk took no writes when the other gave the host back, nor until the next start", async (context) => {
      const disk = new SmallDisk(join(folder, "shop"), "1m");
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        await serve(both);
        await serve(moved);
        await logs.close();
        const [shop] = idsNow();
        disk.remount("ro");
        logs = make();
        await serve(both);
        await logs.close();
        disk.remount("rw");
        logs = make();
        await serve(both);
        expect(said.at(-1)).toMatch(anotherLog);
        const [shopAgain] = idsNow();
        expect(shopAgain).not.toBe(shop);
        await logs.close();
        logs = make();
        await serve(both);
        expect(idsNow()[0]).toBe(shopAgain); // once is enough
        await logs.close();
      } finally {
        disk.unmount();
      }
    });

    test("takes purges again, though the log of another one could once not begin anew", async () => {
      await serve(both);
      await serve(moved);
      vi.spyOn(SqlPurgeLog.prototype, "replace").mockImplementationOnce(() => {
        throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
      });
      await expect(serve(both)).rejects.toThrow("it cannot be used (disk I/O error)");
      await serve({ shop: ["blog.test"], blog: ["shop.test"] });
      logs.expect(logs.readerOf("worker-1"), grants(...SITES));
      const asked = { purgeKeys: ["#a"], mode: "hard", since: null, leaseMs: 1000, skewMs: 250 } as const;
      expect(await read("shop", "worker-1").append({ ...INVALIDATION, ...asked })).toMatchObject({ seq: 1 });
    });

    test("has another log if its server has started on a disk that takes no writes, and gives no record", async (context) => {
      const disk = new SmallDisk(join(folder, "log"), "1m");
      try {
        if (!disk.isMounted) context.skip("small disks cannot be mounted here");
        mkdirSync(record());
        disk.remount("ro");
        const others = make();
        await others.open(grants("shop"));
        expect(said[0]).toMatch(/shop: hosts\.json cannot be read$/);
        await others.close();
      } finally {
        disk.unmount();
      }
    });

    describe("has another log though the disk did not take that the other had it,", () => {
      const refused = /EISDIR|directory/;
      const draft = () => `${record()}.draft`;
      const written = () => readFileSync(record(), "utf8");
      let shop: string | undefined;

      beforeEach(async () => {
        await serve(both);
        [shop] = idsNow();
        mkdirSync(draft()); // so that the file cannot be written
        await serve(moved);
        expect(said).toEqual([expect.stringMatching(refused)]);
      });

      test("and does not take it now", async () => {
        await serve(both);
        expect(idsNow()[0]).not.toBe(shop);
        expect(said).toEqual([expect.stringMatching(refused), expect.stringMatching(anotherLog)]);
        const [shopAgain] = idsNow();
        rmdirSync(draft());
        await serve(both);
        expect(idsNow()[0]).toBe(shopAgain);
        expect(JSON.parse(written())).toContainEqual(["shop.test", ["blog", "shop"]]);
      });

      test("and takes it from a server that is stopped", async () => {
        rmdirSync(draft());
        await logs.close();
        logs = make();
        await serve(both);
        expect(idsNow()[0]).not.toBe(shop);
      });

      test("and takes it with a purge of that host's site, which is refused until then", async () => {
        logs.expect(logs.readerOf("worker-1"), grants(...SITES));
        const purge = (site: string) =>
          read(site, "worker-1").append({
            ...INVALIDATION,
            ...{ purgeKeys: ["#a"], mode: "hard", since: null, leaseMs: 1000, skewMs: 250 },
          });
        const before = written();
        const unwritten = /hosts\.json cannot be written \(.*directory.* make room, or let this user write there\.$/;
        await expect(purge("blog")).rejects.toThrow(unwritten);
        expect(await purge("shop")).toMatchObject({ seq: 1 });
        expect(written()).toBe(before);
        rmdirSync(draft());
        await purge("blog");
        expect(JSON.parse(written())).toContainEqual(["shop.test", ["shop", "blog"]]);
        expect(said).toEqual([
          expect.stringMatching(unwritten),
          expect.stringMatching(/^the purge log refuses purges: .*hosts\.json cannot be written/),
          "the purge log of site blog accepts purges again",
        ]);
      });
    });
  });

  describe("while a worker of earlier settings has a host that another site has by now,", () => {
    const [before, now] = [
      { shop: ["shop.test"], blog: ["blog.test"] },
      { shop: [], blog: ["blog.test", "shop.test"] },
    ];
    const sitesOf = (hosts: Readonly<Record<string, readonly string[]>>): SiteGrants =>
      new Map(Object.entries(hosts).map(([site, named]) => [site, { ...GRANT, hosts: named }]));
    const asked = { purgeKeys: ["#a"], mode: "soft", since: null, leaseMs: 1000, skewMs: 250 } as const;
    const purge = (site: string, worker: string) => read(site, worker).append({ ...INVALIDATION, ...asked });
    /** What the log of a site has after this, as a worker sees it. */
    const logOf = async (site: string, worker: string) => (await read(site, worker).list(null, 10)).purges;

    test("its purges purge everything of that site, and no others do once all workers have the later settings", async () => {
      await logs.open(sitesOf(before));
      logs.expect(logs.readerOf("worker-1"), sitesOf(before));
      await purge("shop", "worker-1");
      await logs.open(sitesOf(now));
      logs.take(sitesOf(now));
      logs.expect(logs.readerOf("worker-2"), sitesOf(now));
      expect(await logOf("blog", "worker-2")).toEqual([]);
      await purge("shop", "worker-1");
      expect(await logOf("blog", "worker-2")).toMatchObject([{ seq: 1, mode: "soft", purgeKeys: ["*"] }]);
      await purge("shop", "worker-2");
      await purge("blog", "worker-1");
      expect(await logOf("blog", "worker-2")).toMatchObject([{ seq: 2, purgeKeys: ["#a"] }, { seq: 1 }]);
      expect(await logOf("shop", "worker-2")).toHaveLength(3);
    });

    test("a purge has settled only when it has in the log of that site, too, and is hard unless it says otherwise", async () => {
      await logs.close();
      logs = make({ confirmWithinMs: 1 });
      const hanging = logs.readerOf("worker-9"); // it answers visitors of the blog, and confirms nothing
      await logs.open(sitesOf(before), (site) => (site === "blog" ? [hanging] : []));
      logs.expect(logs.readerOf("worker-1"), sitesOf(before));
      expect(await purge("shop", "worker-1")).toMatchObject({ seq: 1, settlesInMs: 0 });
      await logs.open(sitesOf(now));
      logs.take(sitesOf(now));
      const { mode: _, ...plain } = { ...INVALIDATION, ...asked };
      const purged = await read("shop", "worker-1").append(plain);
      expect(purged).toMatchObject({ seq: 2, settlesInMs: 1250 });
      expect(await logOf("blog", "worker-1")).toMatchObject([{ mode: "hard", purgeKeys: ["*"] }]);
      logs.dismiss(hanging);
      expect(await purge("shop", "worker-1")).toMatchObject({ seq: 3, settlesInMs: 0 });
    });

    test("a purge that is repeated is repeated in the log of that site, too", async () => {
      await logs.open(sitesOf(before));
      await logs.open(sitesOf(now));
      logs.take(sitesOf(now));
      logs.expect(logs.readerOf("worker-1"), sitesOf(before));
      await read("shop", "worker-1").append({ ...INVALIDATION, ...asked, repeatAfterMs: 1 });
      await until(async () => (await logOf("blog", "worker-1")).length === 2);
    });

    test("and accepts connections, purges of later workers purge everything of its site", async () => {
      await logs.open(sitesOf(before));
      await logs.open(sitesOf(now));
      logs.expect(logs.readerOf("worker-2"), sitesOf(now));
      await purge("blog", "worker-2");
      expect(await logOf("shop", "worker-2")).toMatchObject([{ purgeKeys: ["*"] }]);
    });

    test("that holds for the workers of a server that has handed over, too", async () => {
      await logs.open(sitesOf(before));
      const old = logs.readerOf("worker-1");
      await logs.giveAway();
      const next = make();
      await next.open(sitesOf(now), () => [old]);
      const log = new SupervisedLog({ socketPath: next.of(grants("shop"))[0]!.socket, name: old, clock: systemClock });
      clients.push(log);
      await log.append({ ...INVALIDATION, ...asked });
      logs = next;
      logs.expect(logs.readerOf("worker-2"), sitesOf(now));
      expect(await logOf("blog", "worker-2")).toMatchObject([{ purgeKeys: ["*"] }]);
    });

    test("settings that are taken back count", async () => {
      await logs.open(sitesOf(now));
      logs.expect(logs.readerOf("worker-1"), sitesOf(now));
      await purge("blog", "worker-1");
      logs.take(sitesOf(before));
      logs.expect(logs.readerOf("worker-2"), sitesOf(before));
      await purge("blog", "worker-1");
      expect(await logOf("shop", "worker-2")).toMatchObject([{ purgeKeys: ["*"] }]);
    });
  });

  test("where machines share the log, a host that another site had meanwhile is refused", async () => {
    const serve = (over: SiteLogs, site: string) => over.open(new Map([[site, { ...GRANT, hosts: ["shop.test"] }]]));
    for (const site of SITES) await serve(logs, site);
    await logs.close();
    logs = make({ sharedLog: "postgres://nobody.invalid/log" });
    await expect(serve(logs, "shop")).rejects.toThrow(
      "log belongs to a server that served shop.test as another site meanwhile. Its pages may have been purged there",
    );
  });

  test("a reader of one site is not a reader of another", async () => {
    await logs.open(grants(...SITES));
    const reader = logs.readerOf("worker-1");
    logs.expect(reader, grants("shop"));
    const ofShop = read("shop", "worker-1");
    expect((await ofShop.list(null, 10)).purges).toEqual([]);
    await expect(read("blog", "worker-1").list(null, 10)).rejects.toThrow();
  });

  test.each([
    ["is about to begin", 0],
    ["is under way", 1],
  ])("are not opened any more once all are closed, nor by a call that %s then", async (_, steps) => {
    await logs.open(grants("shop"));
    const opened = logs.open(grants(...SITES));
    opened.catch(() => undefined);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    await logs.close();
    await opened.catch(() => undefined);
    await expect(logs.open(grants("shop"))).rejects.toThrow("the server stops");
    expect(logs.isOpen).toBe(false);
    const next = make();
    await next.open(grants(...SITES)); // nobody else owns the folders
    await next.close();
  });

  test("each is named when it accepts purges again", () => {
    const words = "the purge log of site shop accepts purges again";
    expect(eventInWords({ kind: "purges-taken", site: "shop" })).toBe(words);
  });

  describe("of a server that has started on a disk which took no writes", () => {
    let disk: SmallDisk;

    beforeEach(async (context) => {
      await logs.close();
      disk = new SmallDisk(join(folder, "disk"), "4m");
      if (!disk.isMounted) context.skip("small disks cannot be mounted here");
      disk.remount("ro");
    });
    afterEach(async () => {
      await Promise.all(clients.map((client) => client.close()));
      await logs.close();
      disk.unmount();
    });

    const asked = { purgeKeys: ["#a"], leaseMs: 1000, skewMs: 250, since: null };
    const own = () => LogFolder.own(join(disk.path, "log"), "another");
    const inUse = "Another tidemark serve is using";

    test("its own folder is locked with theirs, once it can be", async () => {
      logs = make({ folder: join(disk.path, "log"), folderOf: (site) => join(disk.path, site) });
      await logs.open(grants(...SITES));
      disk.remount("rw");
      tryAgain();
      await until(() => said.includes("the purge log can be written again, and accepts purges"));
      expect(own).toThrow(inUse);
    });

    test("none is used if another server has its own folder by then", async () => {
      logs = make({ folder: join(disk.path, "log"), folderOf: (site) => join(disk.path, site) });
      await logs.open(grants(...SITES));
      disk.remount("rw");
      const other = own();
      logs.expect(logs.readerOf("worker-1"), grants(...SITES));
      const blog = read("blog", "worker-1");
      await expect(blog.append({ ...INVALIDATION, ...asked })).rejects.toThrow(inUse);
      other.release();
    });

    test("its own folder is locked with the next purge if they are on another disk", async () => {
      logs = make({ folder: join(disk.path, "log") });
      await logs.open(new Map([["shop", { ...GRANT, hosts: ["shop.test"] }]]));
      disk.remount("rw");
      logs.expect(logs.readerOf("worker-1"), grants("shop"));
      const shop = read("shop", "worker-1");
      await shop.append({ ...INVALIDATION, ...asked });
      expect(own).toThrow(inUse);
    });
  });

  test("two supervisors cannot keep the log of one site", async () => {
    await logs.open(grants("shop"));
    expect(() => make()).toThrow("Another tidemark serve is using");
  });
});
