import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { writeSmallFile } from "../../../server/disk/file-format.ts";
import { WriterThread } from "../../../server/disk/file-writer.ts";
import { noise, temporaryFolder } from "./disk-under-test.ts";

const ENDING_THREAD = fileURLToPath(new URL("ending-thread.ts", import.meta.url));

function openFolder(): CacheFolder {
  return CacheFolder.open(temporaryFolder());
}

function fileOf(head: string, body: Uint8Array): Buffer {
  const bytes = Buffer.alloc(1024 * 1024);
  return bytes.subarray(0, writeSmallFile(bytes, 0, "entry", head, body));
}

describe("the thread that writes files", () => {
  test("writes each whole, and leaves no draft", async () => {
    const folder = openFolder();
    const writer = new WriterThread(folder);
    const files = Array.from({ length: 200 }, (_, at) => ({
      name: folder.nameOf(`${at}`, "entry"),
      head: `head ${at}: ${"für ".repeat(at)}`,
      body: noise(at * 1_234, at),
    }));
    const writes = files.map(({ name, head, body }) => writer.write(name, "entry", head, body));
    for (const failed of await Promise.all(writes)) expect(failed.size).toBe(0);
    for (const { name, head, body } of files) {
      expect(readFileSync(folder.pathOf(name)).equals(fileOf(head, body))).toBe(true);
    }
    expect(readdirSync(folder.draftsFolder)).toEqual([]);
  });

  test("takes the bytes when it is given them", async () => {
    const folder = openFolder();
    const body = noise(1_000);
    const expected = fileOf("head", body);
    const written = new WriterThread(folder).write(folder.nameOf("a", "entry"), "entry", "head", body);
    body.fill(0);
    await written;
    expect(readFileSync(folder.pathOf(folder.nameOf("a", "entry"))).equals(expected)).toBe(true);
  });

  test("writes a head that takes more bytes than it has characters", async () => {
    const folder = openFolder();
    const name = folder.nameOf("a", "entry");
    const head = "ü".repeat(50_000);
    await new WriterThread(folder).write(name, "entry", head, noise(10));
    expect(readFileSync(folder.pathOf(name)).equals(fileOf(head, noise(10)))).toBe(true);
  });

  test("writes in one batch what comes while another is written, up to a size", async () => {
    const folder = openFolder();
    const writer = new WriterThread(folder, undefined, setImmediate);
    const write = (key: string, bytes = 10) =>
      writer.write(folder.nameOf(key, "entry"), "entry", "head", new Uint8Array(bytes));
    const first = write("a");
    expect(write("b")).toBe(first);
    await first;
    const second = write("c");
    await new Promise(setImmediate); // it is sent now
    const third = write("d");
    expect(new Set([first, second, third]).size).toBe(3);
    const large = Array.from({ length: 40 }, (_, at) => write(`${at}`, 250_000)); // 10 MB
    expect(new Set([third, ...large]).size).toBe(3);
    await Promise.all(large);
    expect(folder.folders.flatMap((path) => readdirSync(path))).toHaveLength(44);
  });

  test("collects files before it sends them, first of all and behind a batch", async () => {
    const folder = openFolder();
    const sends: (() => void)[] = [];
    const writer = new WriterThread(folder, undefined, (send) => sends.push(send));
    const write = (key: string) => writer.write(folder.nameOf(key, "entry"), "entry", "head", noise(10));
    const files = () => folder.folders.flatMap((path) => readdirSync(path)).length;
    const first = write("a");
    await new Promise(setImmediate);
    expect([write("b") === first, sends.length, files()]).toEqual([true, 1, 0]);
    sends.shift()!();
    const second = write("c");
    await first;
    await new Promise(setImmediate);
    expect([write("d") === second, sends.length, files()]).toEqual([true, 1, 2]);
    sends.shift()!();
    await second;
    expect([sends.length, files()]).toEqual([0, 4]);
  });

  test("names the call that failed for one file, and writes the others of the batch", async () => {
    const folder = openFolder();
    const writer = new WriterThread(folder);
    const names = ["a", "b", "c", "d"].map((key) => folder.nameOf(key, "entry"));
    for (const name of [names[1]!, names[3]!]) mkdirSync(folder.pathOf(name));
    const writes = names.map((name) => writer.write(name, "entry", "head", noise(10)));
    const failed = await writes[0]!;
    const cause = expect.objectContaining({ code: "EISDIR", syscall: "rename" });
    expect([...failed]).toEqual([
      [names[1], cause],
      [names[3], cause],
    ]);
    for (const name of [names[0]!, names[2]!]) {
      expect(readFileSync(folder.pathOf(name)).equals(fileOf("head", noise(10)))).toBe(true);
    }
    expect(readdirSync(folder.draftsFolder)).toEqual([]);
  });

  test("says so for each file if none can be written", async () => {
    const folder = openFolder();
    rmSync(folder.draftsFolder, { recursive: true });
    const writer = new WriterThread(folder);
    const names = ["a", "b"].map((key) => folder.nameOf(key, "entry"));
    const [failed] = await Promise.all(names.map((name) => writer.write(name, "entry", "head", noise(10))));
    const cause = expect.objectContaining({ code: "ENOENT", syscall: "open" });
    expect([...failed!]).toEqual(names.map((name) => [name, cause]));
  });

  test("says when the thread has ended, removes its draft, and starts another one", async () => {
    const folder = openFolder();
    const writer = new WriterThread(folder, ENDING_THREAD);
    const write = () => writer.write(folder.nameOf("a", "entry"), "entry", "head", noise(10));
    for (let thread = 1; thread <= 2; thread++) {
      await expect(write()).rejects.toThrow("The thread that writes files has ended.");
      expect(readdirSync(folder.draftsFolder)).toEqual([]);
    }
  });

  test("says so for each file of a batch if no thread can be started, and tries it again with the next", async () => {
    const folder = openFolder();
    const sends: (() => void)[] = [];
    const noPath = "program"; // which Node refuses at once, as it does when the system has no thread left
    const writer = new WriterThread(folder, noPath, (send) => sends.push(send));
    const write = (key: string, bytes = 10) =>
      writer.write(folder.nameOf(key, "entry"), "entry", "head", new Uint8Array(bytes));
    const batches = [
      [write("a"), write("b", 5_000_000)],
      [write("c"), write("d")],
    ];
    const cause = expect.objectContaining({ code: "ERR_WORKER_PATH", syscall: "pthread_create" });
    for (const [at, [failed, same]] of batches.entries()) {
      sends.shift()!();
      expect(await failed).toBe(await same);
      const names = [
        ["a", "b"],
        ["c", "d"],
      ][at]!.map((key) => folder.nameOf(key, "entry"));
      expect([...(await failed!)]).toEqual(names.map((name) => [name, cause]));
    }
    expect(sends).toEqual([]);
    void write("e");
    expect(sends).toHaveLength(1);
  });
});
