import { mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { diskFiles } from "../../../server/disk/disk-files.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import type { DiskNote } from "../../../server/disk/eviction/janitor-line.ts";
import { type FailedFiles, type FileWriter, WriterThread } from "../../../server/disk/file-writer.ts";
import { type DiskOptions, DiskUnderTest, isOfPage, noise, page, temporaryFolder } from "./disk-under-test.ts";

const ENDING_THREAD = fileURLToPath(new URL("ending-thread.ts", import.meta.url));
const MIB = 1024 * 1024;

/** An address of a page, by its path. */
const at = (path: string) => `https://www.example.test${path}`;

/** Writes nothing; the test says how a batch ends. */
class HeldWriter implements FileWriter {
  readonly names: string[] = [];
  #batch = Promise.withResolvers<FailedFiles>();

  write(name: string): Promise<FailedFiles> {
    this.names.push(name);
    return this.#batch.promise;
  }

  end(failed: FailedFiles = new Map()): void {
    this.#next().resolve(failed);
  }

  breakOff(cause: Error): void {
    this.#next().reject(cause);
  }

  #next() {
    const batch = this.#batch;
    this.#batch = Promise.withResolvers();
    return batch;
  }
}

/** A disk with a thread that writes. It is large enough that the janitor grants room for many files at once. */
async function open(options: DiskOptions = {}): Promise<DiskUnderTest> {
  const writer = (folder: CacheFolder) => new WriterThread(folder);
  const disk = await DiskUnderTest.open(temporaryFolder(), { writer, maxBytes: 1024 * MIB, ...options });
  await disk.tier.put(page("/first", "asks for room"));
  return disk;
}

/** A tier that has room at hand, and whose writer is the test's. */
async function held(files = diskFiles, leastGranted = 64 * MIB) {
  const folder = CacheFolder.open(temporaryFolder());
  const writer = new HeldWriter();
  const lines: string[] = [];
  const notes: DiskNote[] = [];
  const state = { now: 1_000_000, isFull: false };
  const janitor = {
    ask: async (bytes: number) => (state.isFull ? 0 : Math.max(bytes, leastGranted)),
    tell: (told: readonly DiskNote[]) => void notes.push(...told),
  };
  const say = (line: string) => void lines.push(line);
  const now = () => state.now;
  const tier = new DiskTier({ folder, janitor, now, monotonicNow: now, say, writer, files });
  const first = tier.put(page("/first", "asks for room"));
  await vi.waitFor(() => expect(writer.names).toHaveLength(1));
  writer.end();
  await first;
  await tier.settled();
  notes.length = 0;
  writer.names.length = 0;
  /** Puts a page that was just missing. */
  const put = async (path: string, body: string | Uint8Array) => {
    expect(await tier.get(at(path))).toBeUndefined();
    return { written: tier.put(page(path, body)) };
  };
  return { folder, writer, lines, notes, state, tier, put };
}

function full(): Error {
  return Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "write" });
}

describe("puts of missing pages", () => {
  test("are found once they are written, small, large and replaced", async () => {
    const disk = await open();
    const bodies = [0, 1, 5_000, 255 * 1024, 256 * 1024, 300 * 1024].map((bytes) => Buffer.from(noise(bytes, bytes)));
    for (let round = 0; round < 2; round++) {
      await Promise.all(bodies.map((_, each) => disk.tier.get(at(`/${each}`))));
      await Promise.all(bodies.map((body, each) => disk.tier.put(page(`/${each}`, body))));
      for (const [each, body] of bodies.entries()) {
        expect((await disk.bytesOf(at(`/${each}`)))?.equals(body)).toBe(true);
      }
    }
    await disk.tier.put(page("/1", "another body"));
    expect(await disk.textOf(at("/1"))).toBe("another body");
    await disk.settled();
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
    expect(disk.janitor.heldFiles).toBe(1 + bodies.length);
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });

  test("are read synchronously afterwards, because they were just written", async () => {
    const openNow = vi.fn(diskFiles.openNow);
    const files = { ...diskFiles, openNow };
    const disk = await open({ files });
    await disk.tier.get(at("/a"));
    await disk.tier.put(page("/a", "text"));
    expect(await disk.textOf(at("/a"))).toBe("text");
    expect(openNow.mock.calls.filter(([path]) => isOfPage(path))).toHaveLength(1);
  });

  test("go to the writer at once, and wait for it", async () => {
    const { tier, put, writer, notes } = await held();
    const [a, b] = [await put("/a", "a"), await put("/b", "b")];
    expect(writer.names).toHaveLength(2);
    let isSettled = false;
    const settled = tier.settled().then(() => {
      isSettled = true;
    });
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    writer.end();
    await Promise.all([a.written, b.written, settled]);
    expect(notes.map(({ kind }) => kind)).toEqual(["put", "put"]);
  });

  test("of one page are made in turn: the newer one stays, whichever comes first", async () => {
    for (const order of [
      ["newer", "older"],
      ["older", "newer"],
    ]) {
      const disk = await open();
      const puts = order.map(async (text) => {
        await disk.tier.get(at("/a"));
        await disk.tier.put(page("/a", text, { stamp: { logId: "log", seq: text === "newer" ? 9 : 8 }, fetchedAt: 5 }));
      });
      await Promise.all(puts);
      expect(await disk.textOf(at("/a"))).toBe("newer");
    }
  });

  test("a miss while the page is being written is not taken for one afterwards", async () => {
    const { tier, put, writer, folder } = await held();
    const { written } = await put("/a", "a");
    expect(await tier.get(at("/a"))).toBeUndefined(); // it is not there yet
    writer.end();
    await written;
    mkdirSync(folder.pathOf(folder.nameOf(at("/a"), "entry")));
    const looked = vi.spyOn(diskFiles, "sizeNow");
    onTestFinished(() => looked.mockRestore());
    const again = tier.put(page("/a", "again"));
    await vi.waitFor(() => expect(writer.names).toHaveLength(2));
    expect(looked).toHaveBeenCalledOnce();
    writer.end();
    await again;
  });

  test("wait for a deletion of the same page that is under way", async () => {
    const unlinked = Promise.withResolvers<void>();
    const { tier, put, writer } = await held({ ...diskFiles, unlink: () => unlinked.promise });
    expect(await tier.get(at("/a"))).toBeUndefined();
    const deleted = tier.delete(at("/a"));
    const written = tier.put(page("/a", "a"));
    const other = await put("/b", "b");
    expect(writer.names).toHaveLength(1);
    unlinked.resolve();
    await deleted;
    await vi.waitFor(() => expect(writer.names).toHaveLength(2));
    writer.end();
    await Promise.all([written, other.written]);
  });

  test("a page that is deleted while it is written is gone", async () => {
    const disk = await open();
    await disk.tier.get(at("/a"));
    const written = disk.tier.put(page("/a", "text"));
    await disk.tier.delete(at("/a"));
    await written;
    expect(await disk.tier.get(at("/a"))).toBeUndefined();
    await disk.settled();
    expect(disk.paths()).toHaveLength(1);
    expect(disk.janitor.heldFiles).toBe(1);
  });
});

describe("a batch that fails", () => {
  test("for one file leaves the others as they are", async () => {
    // What is in the way comes after the look.
    const disk = await open({ files: { ...diskFiles, sizeNow: () => null } });
    const paths = ["/a", "/b", "/c"];
    const inTheWay = disk.folder.pathOf(disk.folder.nameOf(at("/b"), "entry"));
    mkdirSync(inTheWay);
    await Promise.all(paths.map((path) => disk.tier.put(page(path, `text of ${path}`))));
    rmdirSync(inTheWay);
    const texts = await Promise.all(paths.map((path) => disk.textOf(at(path))));
    expect(texts).toEqual(["text of /a", undefined, "text of /c"]);
    expect(disk.lines).toEqual([
      expect.stringContaining("cannot be used (EISDIR"),
      `The cache in ${disk.path} works again.`,
    ]);
    await disk.settled();
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  });

  test("gives back the room of each file that failed, and tells the janitor of the others", async () => {
    const { put, writer, notes, state, tier } = await held();
    const puts = [];
    for (const path of ["/a", "/b", "/c"]) puts.push((await put(path, "text")).written);
    const [a, b, c] = writer.names;
    writer.end(new Map([a!, c!].map((name) => [name, full()])));
    await Promise.all(puts);
    await tier.settled();
    expect(notes).toEqual([
      { kind: "unused", bytes: 4096 },
      { kind: "put", file: b, bytes: expect.any(Number) },
      { kind: "unused", bytes: 4096 },
    ]);
    notes.length = 0;
    state.now += 5_000;
    const lost = await put("/d", "text");
    writer.breakOff(new Error("broken"));
    await expect(lost.written).rejects.toThrow("broken");
    await tier.settled();
    expect(notes).toEqual([{ kind: "unused", bytes: 4096 }]);
  });

  test("because the disk is full is said once, and nothing is written for five seconds", async () => {
    const { put, writer, lines, state } = await held();
    const { written } = await put("/a", "a");
    writer.end(new Map([[writer.names[0]!, full()]]));
    await written;
    expect(lines).toEqual([expect.stringContaining("ENOSPC: the disk is full")]);
    await (await put("/b", "b")).written;
    expect(writer.names).toHaveLength(1);
    state.now += 5_000;
    const tried = await put("/c", "c");
    await (await put("/d", "d")).written;
    expect(writer.names).toHaveLength(2);
    writer.end();
    await tried.written;
    expect(lines).toHaveLength(2);
    await put("/e", "e");
    expect(writer.names).toHaveLength(3);
  });

  test("because the disk is full takes no room for the pages that come until it is tried again", async () => {
    const { put, writer, notes, tier } = await held();
    const { written } = await put("/a", "a");
    writer.end(new Map([[writer.names[0]!, full()]]));
    await written;
    await tier.settled();
    notes.length = 0;
    for (const path of ["/b", "/c"]) await (await put(path, "text")).written;
    await tier.settled();
    expect(notes).toEqual([
      { kind: "unused", bytes: 4096 },
      { kind: "unused", bytes: 4096 },
    ]);
  });

  test("because its thread has ended is told to all of it, and holds up nothing", { tags: ["deep"] }, async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), {
      writer: (folder) => new WriterThread(folder, ENDING_THREAD),
      maxBytes: 1024 * MIB,
    });
    await expect(disk.tier.put(page("/first", "asks for room"))).rejects.toThrow("has ended");
    const puts = ["/a", "/b"].map(async (path) => {
      await disk.tier.get(at(path));
      return disk.tier.put(page(path, "text"));
    });
    for (const result of await Promise.allSettled(puts)) {
      expect(result).toMatchObject({ reason: new Error("The thread that writes files has ended.") });
    }
    await disk.settled();
    expect(disk.lines).toEqual([]);
    expect(await disk.tier.get(at("/a"))).toBeUndefined();
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  });

  test("because no thread can be started is said once, and holds up nothing", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), {
      writer: (folder) => new WriterThread(folder, "no path of a program"),
      maxBytes: 1024 * MIB,
    });
    await Promise.all(["/a", "/b"].map((path) => disk.tier.put(page(path, "text"))));
    expect(disk.lines).toEqual([expect.stringContaining("pages are kept only in memory")]);
    await disk.settled();
    expect(await disk.tier.get(at("/a"))).toBeUndefined();
  });

  test("makes place for others that wait", { tags: ["deep"] }, async () => {
    const { put, writer, lines } = await held();
    for (let round = 0; round < 3; round++) {
      const puts = [];
      for (let each = 0; each < 120; each++) puts.push((await put(`/${round}/${each}`, noise(200 * 1024))).written);
      writer.breakOff(new Error("broken")); // 24 MiB each time
      for (const result of await Promise.allSettled(puts)) expect(result.status).toBe("rejected");
    }
    expect(lines).toEqual([]);
  });
});

test("pages for which there is no room wait for nothing", { tags: ["deep"] }, async () => {
  const { put, writer, lines, state } = await held(diskFiles, 0);
  state.isFull = true;
  for (let each = 0; each < 200; each++) await (await put(`/${each}`, new Uint8Array(200 * 1024))).written; // 39 MiB
  expect(writer.names).toEqual([]);
  expect(lines).toEqual([]);
});

test("what waits for a disk that hangs is bounded", { tags: ["deep"] }, async () => {
  const { put, writer, lines } = await held();
  const body = new Uint8Array(200 * 1024);
  const puts = [];
  for (let each = 0; each < 200; each++) puts.push((await put(`/${each}`, body)).written); // 39 MiB
  expect(writer.names).toHaveLength(160); // 32 MiB
  expect(lines).toEqual([expect.stringContaining("is too slow, so some pages are kept only in memory: 1 so far.")]);
  writer.end();
  await Promise.all(puts);
  await put("/later", body);
  expect(writer.names).toHaveLength(161);
});

describe("a bug in a tier", () => {
  const bug = new TypeError("a bug");

  test("that shows while a page is looked for rejects, as the tier never throws", async () => {
    const files = { ...diskFiles };
    const { tier } = await held(files);
    files.sizeNow = () => {
      throw bug;
    };
    await expect(tier.get(at("/a"))).rejects.toBe(bug);
  });

  test("that shows while a page is put into a batch rejects as well", async () => {
    const { tier, writer } = await held();
    tier.get(at("/a"));
    vi.spyOn(writer, "write").mockImplementation(() => {
      throw bug;
    });
    await expect(tier.put(page("/a", "text"))).rejects.toBe(bug);
  });
});
