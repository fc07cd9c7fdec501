import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { SmallDisk } from "../../../suite/small-disk.ts";
import { breath, until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";
import { isOnDisk } from "./pages-on-disk.ts";

const MIB = 1024 ** 2;
const TOKEN = "a-token-of-this-test-0123456789-0123456789";

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
const canMount = (() => {
  const disk = new SmallDisk(join(folder, "probe"), "1m");
  disk.unmount();
  return disk.isMounted;
})();
const NOT_RUN = "disks that cannot be written are SKIPPED, because small disks cannot be mounted here";
if (!canMount) process.stdout.write(`${NOT_RUN}\n`);

afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!canMount)(canMount ? "tidemark serve" : NOT_RUN, { timeout: 120_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let disks = 0;

  beforeAll(() => origin.comeUp());
  afterAll(() => origin.goDown());

  /** Runs `work` with a disk for `--cache`, and a server whose settings are `args`. */
  async function onDisk(
    size: string,
    work: (disk: SmallDisk, start: (...args: string[]) => ServerProcess) => Promise<void>,
  ): Promise<void> {
    const disk = new SmallDisk(join(folder, `disk-${++disks}`), size);
    const servers: ServerProcess[] = [];
    try {
      await work(disk, (...args) => {
        const site = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "2", "--cache", disk.path];
        const server = new ServerProcess(folder, [...site, ...args], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
        servers.push(server);
        return server;
      });
    } finally {
      for (const server of servers) await server.stop();
      disk.unmount();
    }
  }

  const publish = (path: string, body: string) =>
    origin.reply(path, { fields: { "cache-control": "max-age=3600", "cache-tag": "all" }, body });
  const ask = async (address: URL, path: string) => {
    // One host, whatever the port is, so that the next server has the same pages.
    const asked = get(new URL(path, address), { headers: { host: "www.test" } });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return { status: answer.statusCode, xCache: answer.headers["x-cache"], body: await text(answer) };
  };
  const purge = async (address: URL) => {
    const answer = await fetch(new URL("/_tidemark/purge", address), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ tags: ["all"] }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const isHit = (address: URL, path: string) => async () => (await ask(address, path)).xCache === "HIT";

  const startsOn = (harm: (disk: SmallDisk) => void, heal: (disk: SmallDisk) => void) =>
    onDisk("8m", async (disk, start) => {
      const small = ["--disk", "1MiB"]; // what the pages take would not be room enough for the log
      const [path, before] = [`/page/${disks}`, `/before/${disks}`];
      publish(before, "v1");
      const first = start(...small);
      const earlier = await first.address();
      await ask(earlier, before);
      await until(isHit(earlier, before));
      await first.stop();
      const control = start(...small);
      expect(await ask(await control.address(), before)).toMatchObject({ xCache: "HIT", body: "v1" });
      await control.stop();
      harm(disk);
      publish(before, "v2");
      const server = start(...small);
      const address = await server.address();
      expect(server.printed).toMatch(
        /The purge log in \S+: .* Until it can be written again, pages are kept only in memory, and purges are refused/,
      );
      publish(path, "page");
      expect(await ask(address, path)).toMatchObject({ status: 200, xCache: "MISS" });
      await until(isHit(address, path));
      expect(await ask(address, before)).toMatchObject({ status: 200, xCache: "MISS", body: "v2" });
      expect(await purge(address)).toMatchObject({ status: 503, body: { code: "unavailable" } });
      await until(isHit(address, path));
      heal(disk);
      await server.prints(/the purge log can be written again, and accepts purges/);
      publish(path, "page, later");
      expect(await purge(address)).toMatchObject({ status: 200, body: { seq: 1 } });
      await until(async () => (await ask(address, path)).body === "page, later");
      expect(await ask(address, before)).toMatchObject({ status: 200, body: "v2" });
      // A worker that finishes an answer after an upgrade has to reach the log, or receipts would wait for its lease.
      const hold = `/held/${disks}`;
      origin.reply(hold, { hold, fields: { "cache-control": "no-store" } });
      const held = ask(address, hold);
      await origin.waitUntilSeen(hold, 1);
      await server.upgrade();
      await until(async () => (await purge(address)).body.settlesInMs === 0);
      origin.release(hold);
      expect(await held).toMatchObject({ status: 200 });
      await until(() => server.child.exitCode !== null);
      await until(() => readdirSync(join(disk.path, "log")).filter((name) => name.startsWith("workers-")).length === 1);
    });

  test(
    "starts on a disk that is full, serves from memory, and takes purges again with the disk",
    { tags: ["deep"] },
    () =>
      startsOn(
        (disk) => disk.fill(),
        (disk) => disk.free(),
      ),
  );

  test("starts on a disk that is read-only, in the same way", { tags: ["deep"] }, () =>
    startsOn(
      (disk) => disk.remount("ro"),
      (disk) => disk.remount("rw"),
    ),
  );

  const makesFolderOn = (harm: (disk: SmallDisk) => void, heal: (disk: SmallDisk) => void, why: RegExp) =>
    onDisk("8m", async (disk, start) => {
      const small = ["--disk", "1MiB"];
      harm(disk);
      const server = start(...small);
      const address = await server.address();
      expect(server.printed).toMatch(why);
      const asked: string[] = [];
      let pages = 0;
      const next = async () => {
        const path = `/made/${disks}/${++pages}/`;
        publish(path, path);
        expect(await ask(address, path)).toMatchObject({ status: 200, body: path });
        asked.push(path);
      };
      await next();
      await until(isHit(address, asked[0]!));
      heal(disk);
      await server.prints(/tidemark: The cache in \S+ works again/);
      await server.prints(/the purge log can be written again, and accepts purges/);
      // What was stored before each worker has seen the new log has the stamp of one that is gone.
      await until(async () => (await purge(address)).body.settlesInMs === 0);
      asked.length = 0;
      const stored = () => asked.find((path) => isOnDisk(disk.path, path));
      while (stored() === undefined) await Promise.all([next(), breath()]);
      expect(await server.stop()).toBe(0);
      const again = start(...small);
      const path = stored()!;
      expect(await ask(await again.address(), path)).toMatchObject({ xCache: "HIT", body: path });
      expect(readFileSync(join(disk.path, "pages/origins.json"), "utf8")).toContain(new URL(origin.url).host);
    });

  test(
    "makes the folder of its pages once a disk that was full at the start has room, and a restart finds them there",
    { tags: ["deep"] },
    () =>
      makesFolderOn(
        (disk) => disk.fill(),
        (disk) => disk.free(),
        /The cache in \S+ cannot be used \(ENOSPC: the disk is full\)\. For now, pages are kept only in memory/,
      ),
  );

  test("makes it in the same way once a disk that was read-only can be written", { tags: ["deep"] }, () =>
    makesFolderOn(
      (disk) => disk.remount("ro"),
      (disk) => disk.remount("rw"),
      /The cache in \S+ cannot be used \(EROFS: the disk is read-only\)\. For now, pages are kept only in memory/,
    ),
  );

  test(
    "starts, and takes new settings, while the access log cannot be written, whose lines wait",
    {
      tags: ["deep"],
    },
    () =>
      onDisk("8m", async (disk, start) => {
        const logs = join(disk.path, "logs");
        const log = join(logs, "access.log");
        const args = ["--cache", join(folder, "cache"), "--disk", "0", "--access-log", log];
        const isReadOnly = `the access log ${log} cannot be written: the disk of ${logs} is read-only. Its lines wait in memory.`;
        mkdirSync(logs);
        disk.remount("ro");
        const check = start(...args, "--check");
        expect(await check.ended()).toBe(0);
        expect(check.printed).toContain(isReadOnly);
        const server = start(...args);
        const address = await server.address();
        expect(server.printed).toContain(isReadOnly);
        await server.prints(/worker-2 .*accepts/);
        server.signal("SIGHUP");
        await server.prints(/the new settings are in use/);
        await server.hasRetired(2);
        publish("/logged", "page");
        expect(await ask(address, "/logged")).toMatchObject({ status: 200, body: "page" });
        disk.remount("rw");
        await server.prints(/The access log \S+ can be written again/);
        expect(readFileSync(log, "latin1")).toContain("GET /logged ");
        renameSync(logs, `${logs}.old`);
        server.signal("SIGHUP");
        await server.prints(/(the new settings are in use.*){2}/s);
        expect(server.printed).toContain(
          `the access log ${log} cannot be written: there is no folder ${logs}. Its lines wait in memory.`,
        );
        const refused = start(...args, "--check");
        expect(await refused.ended()).toBe(2);
      }),
  );

  test(
    "tells monitors while the log's disk takes no writes, and does not say that its counts are current",
    { tags: ["deep"] },
    () =>
      onDisk("8m", async (disk, start) => {
        const server = start("--disk", "0", "--workers", "1");
        const address = await server.address();
        const read = async (path: string) => {
          const headers = { authorization: `Bearer ${TOKEN}` };
          return (await fetch(new URL(`/_tidemark/${path}`, address), { headers })).text();
        };
        const look = async () => {
          const metrics = await read("metrics");
          const gauge = (name: string) => Number(new RegExp(`^tidemark_${name} (\\S+)$`, "m").exec(metrics)?.[1]);
          const { isCurrent, machine } = JSON.parse(await read("stats?last=15m"));
          const freeMiB = Math.round(gauge("disk_free_bytes") / MIB);
          return { freeMiB, isWritable: [gauge("log_writable"), machine.log.isWritable], isCurrent };
        };
        const sound = { freeMiB: expect.toSatisfy((free) => free > 4), isWritable: [1, true], isCurrent: true };
        expect(await look()).toEqual(sound);
        disk.fill();
        await until(async () => (await look()).isWritable[0] === 0);
        expect(await look()).toEqual({ freeMiB: 0, isWritable: [0, false] });
        disk.free();
        expect(await look()).toEqual(sound);
      }),
  );

  test(
    "goes on to take purges, though pages would fill the disk, and says that --disk is too large",
    { tags: ["deep"] },
    () =>
      onDisk("64m", async (disk, start) => {
        const server = start("--disk", "1GiB", "--memory", "4MiB");
        const address = await server.address();
        expect(server.printed).toContain(
          `--disk is 1GiB, but the file system of ${disk.path} has only 64MiB free, of which 8MiB stay free for the purge log`,
        );
        let least = disk.freeBytes;
        for (let page = 0; page < 300; page++) {
          publish(`/large/${page}`, `${page} `.padEnd(400_000, "x"));
          expect((await ask(address, `/large/${page}`)).status).toBe(200);
          least = Math.min(least, disk.freeBytes);
        }
        const used = () => 64 * MIB - disk.freeBytes;
        expect(used()).toBeGreaterThan(40 * MIB); // the pages have filled what they may
        expect(least).toBeGreaterThan(7 * MIB); // the log takes some of what is kept for it
        expect(await purge(address)).toMatchObject({ status: 200, body: { seq: 1 } });
        expect(server.printed).not.toContain("ENOSPC");
      }),
  );

  test("--check says that --disk is more than the file system has", () =>
    onDisk("64m", async (disk, start) => {
      mkdirSync(join(disk.path, "pages"));
      const server = start("--disk", "1GiB", "--check");
      expect(await server.ended()).toBe(0);
      expect(server.printed).toContain(
        `--disk is 1GiB, but the file system of ${join(disk.path, "pages")} has only 64MiB`,
      );
      const enough = start("--disk", "32MiB", "--check");
      expect(await enough.ended()).toBe(0);
      expect(enough.printed).not.toContain("file system");
    }));
});
