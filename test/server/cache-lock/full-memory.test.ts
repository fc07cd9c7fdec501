import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../disk/disk-under-test.ts";
import { MachineUnderTest, settle, type WorkerOfMachine } from "./machine-under-test.ts";

/** A lock and a socket take a file each of the memory's file system, and no room. Only root may mount one. */
const FILES = 24;
const memory = temporaryFolder(afterAll);
const canMount =
  spawnSync("mount", ["-t", "tmpfs", "-o", `nr_inodes=${FILES},size=64k,mode=700`, "tidemark-test", memory]).status ===
  0;
const NOT_RUN = "a full folder of locks is SKIPPED, because a small file system cannot be mounted here";
if (!canMount) process.stdout.write(`${NOT_RUN}\n`);
else afterAll(() => void spawnSync("umount", [memory]));

const FAILS = /^Each worker asks the origin for itself for now: the locks in \S+ fail \(ENOSPC/;
const AGAIN = "Workers share their fetches again.";

describe.skipIf(!canMount)(canMount ? "workers whose locks lie in memory that is full" : NOT_RUN, () => {
  const locks = join(memory, "locks");
  const filler = join(memory, "filler");
  let machine: MachineUnderTest;

  beforeEach(async () => {
    mkdirSync(filler);
    machine = await MachineUnderTest.start();
    return () => {
      rmSync(filler, { recursive: true, force: true });
    };
  });

  const worker = (places = [locks]) => machine.worker({ places });
  const fill = () => {
    expect(() => {
      for (let number = 0; number < 2 * FILES; number++) writeFileSync(join(filler, String(number)), "");
    }).toThrow("ENOSPC");
  };
  const free = () => rmSync(filler, { recursive: true });
  const socketsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".socket"));

  let pages = 0;
  /** Asks for a new page, which the origin answers at once. */
  async function askAnew(each: WorkerOfMachine): Promise<void> {
    const before = machine.asked.length;
    const asking = each.ask(`/new/${++pages}`);
    const asked = await machine.hasAsked(before + 1);
    asked.answer("new");
    expect((await asking).text).toBe("new");
  }

  async function fetchOnce(path: string, workers: readonly WorkerOfMachine[]): Promise<void> {
    const before = machine.asked.length;
    const leading = workers[0]!.ask(path);
    const asked = await machine.hasAsked(before + 1);
    const following = workers.slice(1).map((each) => each.many(3, path));
    await settle();
    asked.answer("v1");
    expect([await leading, ...(await Promise.all(following)).flat()].map(({ text }) => text)).toEqual(
      Array.from({ length: 1 + 3 * following.length }, () => "v1"),
    );
    expect(machine.asked).toHaveLength(before + 1);
  }

  test("fetch separately, say so once, and share fetches again when there is room", {
    tags: ["deep"],
  }, async () => {
    const workers = [await worker(), await worker()];
    fill();
    for (const each of workers) await askAnew(each);
    expect(machine.said).toEqual([expect.stringMatching(FAILS), expect.stringMatching(FAILS)]);
    for (let tries = 0; tries < 5; tries++) {
      await machine.clock.advance(5_000);
      for (const each of workers) await askAnew(each); // which begins a try
      await settle();
      for (const each of workers) await askAnew(each);
    }
    expect(machine.said).toHaveLength(2);
    free();
    await machine.clock.advance(5_000);
    for (const each of workers) await askAnew(each);
    await settle();
    expect(machine.said.slice(2)).toEqual([AGAIN, AGAIN]);
    await fetchOnce("/shared", workers);
    expect(readdirSync(locks).filter((name) => !/^([0-9a-f]{32}|.*\.socket)$/.test(name))).toEqual([]);
  });

  test("continue to follow fetches that were locked before", async () => {
    const workers = [await worker(), await worker()];
    const before = machine.asked.length;
    const leading = workers[0]!.ask("/held");
    const asked = await machine.hasAsked(before + 1);
    fill();
    const following = workers[1]!.many(3, "/held");
    await settle();
    asked.answer("v1");
    expect([await leading, ...(await following)].map(({ text }) => text)).toEqual(["v1", "v1", "v1", "v1"]);
    expect(machine.asked).toHaveLength(before + 1);
    expect(machine.said).toEqual([]);
  });

  test("wait for room where the other workers are, rather than use another place alone", async () => {
    const places = [locks, join(machine.pages, "being-fetched")];
    const other = await worker(places);
    fill();
    const workers = [other, await worker(places)];
    free();
    await machine.clock.advance(5_000);
    await askAnew(workers[1]!); // which begins a try
    await settle();
    expect(machine.said).toEqual([expect.stringMatching(/^Each worker asks the origin for itself, /), AGAIN]);
    await fetchOnce("/shared", workers);
  });

  test("use the next place if the first is full when they start, and say so if there is none", async () => {
    mkdirSync(locks, { mode: 0o700, recursive: true });
    fill();
    const next = join(machine.pages, "being-fetched");
    const workers = [await worker([locks, next]), await worker([locks, next])];
    expect(socketsIn(next)).toHaveLength(2);
    expect(machine.said).toEqual([]);
    await fetchOnce("/shared", workers);
    await worker([locks]);
    expect(machine.said).toEqual([
      expect.stringMatching(
        /^Each worker asks the origin for itself, because they cannot keep locks in \S+ \(.*ENOSPC/,
      ),
    ]);
  });
});
