import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { SmallDisk } from "../../../suite/small-disk.ts";
import { ServerProcess } from "../running-server.ts";

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
const disks = {
  pages: new SmallDisk(join(folder, "cache/pages"), "4m"),
  log: new SmallDisk(join(folder, "cache/log"), "2m"),
  logs: new SmallDisk(join(folder, "logs"), "64k"),
};
const canMount = Object.values(disks).every((disk) => disk.isMounted);
const NOT_RUN = "full disks are SKIPPED, because small disks cannot be mounted here";
if (!canMount) process.stdout.write(`${NOT_RUN}\n`);

const TOKEN = "a-token-of-this-test-0123456789-0123456789";
const LARGE = "x".repeat(100_000);

afterAll(() => {
  for (const disk of Object.values(disks)) disk.unmount();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canMount)(canMount ? "tidemark serve, where a disk is full:" : NOT_RUN, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let server: ServerProcess;
  let address: URL;

  beforeAll(async () => {
    await origin.comeUp();
    const site = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", "cache"];
    const bounds = ["--memory", "1MiB", "--disk", "1GiB", "--access-log", "logs/access.log"];
    server = new ServerProcess(folder, [...site, ...bounds], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    address = await server.address();
  });
  afterAll(async () => {
    expect(await server?.stop()).toBe(0);
    await origin.goDown();
  });

  const publish = (path: string, body: string) =>
    origin.reply(path, { fields: { "cache-control": "max-age=3600" }, body });
  const ask = async (path: string) => {
    const answer = await fetch(new URL(path, address));
    return { status: answer.status, xCache: answer.headers.get("x-cache"), body: await answer.text() };
  };
  const purge = async (id: string) => {
    const answer = await fetch(new URL("/_tidemark/purge", address), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      // A purge of this many items needs room of its own.
      body: JSON.stringify({ id, tags: Array.from({ length: 2000 }, (_, index) => `${id}-${index}`) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, fields: answer.headers };
  };

  test("lines of the access log wait, and none is lost, torn or written twice", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    let asked = 0;
    while (!server.printed.includes("Its lines wait in memory")) {
      expect((await ask(`/logged?${++asked}`)).status).toBe(404);
    }
    const full = readFileSync(join(folder, "logs/access.log"), "latin1");
    rmSync(join(folder, "logs/access.log")); // as a rotation to another disk
    server.child.kill("SIGUSR1");
    await server.prints(/The access log \S+ can be written again/);
    expect((await ask(`/logged?${++asked}`)).status).toBe(404);
    const numbers = () =>
      `${full}\n${readFileSync(join(folder, "logs/access.log"), "latin1")}`
        .split("\n")
        .flatMap((line) => /GET \/logged\?(\d+) HTTP.* \d\.\d{3}$/.exec(line)?.[1] ?? []);
    while (numbers().at(-1) !== String(asked)) await ask("/small");
    expect(numbers()).toEqual(Array.from({ length: asked }, (_, index) => String(index + 1)));
  });

  test("pages are kept in memory alone, and on the disk again once there is room", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const isFull =
      /The cache in \S+ cannot be used \(ENOSPC: the disk is full\)\. For now, pages are kept only in memory/;
    for (let page = 0; !isFull.test(server.printed); page++) {
      publish(`/large/${page}`, `${page} ${LARGE}`);
      expect(await ask(`/large/${page}`)).toEqual({ status: 200, xCache: "MISS", body: `${page} ${LARGE}` });
    }
    publish("/small", "small");
    expect(await ask("/small")).toMatchObject({ status: 200, body: "small" });
    expect(await ask("/small")).toMatchObject({ xCache: "HIT" });
    for (const page of [0, 1]) expect((await ask(`/large/${page}`)).body).toBe(`${page} ${LARGE}`);
    const files = join(folder, "cache/pages/files-1");
    for (const digit of readdirSync(files)) {
      for (const name of readdirSync(join(files, digit))) rmSync(join(files, digit, name));
    }
    for (let page = 0; !server.printed.includes("works again"); page++) {
      publish(`/later/${page}`, `${page} later`);
      expect((await ask(`/later/${page}`)).body).toBe(`${page} later`);
    }
  });

  test("purges are refused, pages go on to be served, and the same purge is accepted once there is room", async () => {
    publish("/page", "page");
    await ask("/page");
    disks.log.fill();
    let refused: Awaited<ReturnType<typeof purge>> | null = null;
    let number = 0;
    // Until the room that the log already has is used.
    while (refused === null) {
      const answer = await purge(`purge-${++number}`);
      if (answer.status !== 200) refused = answer;
      expect(number).toBeLessThan(100);
    }
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ code: "unavailable" });
    expect(refused.fields.get("retry-after")).toMatch(/^\d+$/);
    expect(await ask("/page")).toMatchObject({ status: 200, xCache: "HIT" });
    for (let turn = 0; turn < 3; turn++) {
      expect(await purge(`purge-${number}`)).toMatchObject({ status: 503 });
      expect((await ask("/page")).status).toBe(200);
    }
    disks.log.free();
    expect(await purge(`purge-${number}`)).toMatchObject({ status: 200, body: { seq: number, replayed: false } });
    const said = server.printed.match(/the purge log (?:refuses|accepts|cannot|answers).*/gi);
    expect(said).toEqual([
      expect.stringMatching(/refuses purges: .*the disk is full/),
      "the purge log accepts purges again",
    ]);
  });

  test("a worker that dies is replaced all the same, also if nothing can be written", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    while (!disks.pages.remount("ro")); // as long as a page is being written
    const log = join(folder, "logs/access.log");
    rmSync(log);
    mkdirSync(log); // so that it cannot be opened
    const [, pid] = await server.prints(/worker-1 \(process (\d+)\) accepts/);
    process.kill(Number(pid), "SIGKILL");
    await server.prints(/worker-2 \(process \d+\) accepts/);
    expect(await ask("/page")).toMatchObject({ status: 200, body: "page" });
    rmSync(log, { recursive: true });
    await server.prints(/worker-2: The access log \S+ can be written again/);
    expect(disks.pages.remount("rw")).toBe(true);
  });
});
