import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import type { DiskTier } from "../../../server/disk/disk-tier.ts";
import { type DiskNote, Janitor, type JanitorLine } from "../../../server/disk/eviction/janitor.ts";
import { WriterThread } from "../../../server/disk/file-writer.ts";
import { isMarker } from "../../../worker/rules/storing/stored-response.ts";
import {
  countedFiles,
  type DiskOptions,
  DiskUnderTest,
  failure,
  isOfPage,
  noise,
  page,
  temporaryFolder,
} from "./disk-under-test.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** An address of a page, by its path. */
const at = (path: string) => `https://www.example.test${path}`;

let now = 5_000;

beforeEach(() => {
  now = 5_000;
});

/** On a disk that takes as long as `now` grows meanwhile. */
function openDisk(path: string, options: DiskOptions = {}): Promise<DiskUnderTest> {
  return DiskUnderTest.open(path, { monotonicNow: () => now, ...options });
}

/** A file system that notes each call about a page. */
function watched(): { files: DiskFiles; calls: string[] } {
  const calls: string[] = [];
  const entries = Object.entries(diskFiles) as [string, (...args: unknown[]) => unknown][];
  const noting = entries.map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      if (typeof args[0] === "string" && isOfPage(args[0])) calls.push(name);
      return call(...args);
    },
  ]);
  return { files: Object.fromEntries(noting) as unknown as DiskFiles, calls };
}

/** A line to a janitor on which notes wait until the test sends them. */
function heldLine(janitor: Janitor): JanitorLine & { tellAll(): void } {
  const line = janitor.connect();
  const waiting: DiskNote[] = [];
  return {
    ask: line.ask,
    tell: (notes) => void waiting.push(...notes),
    tellAll: () => line.tell(waiting.splice(0)),
  };
}

async function textOf(tier: DiskTier, path: string): Promise<string | undefined> {
  const found = await tier.get(at(path));
  if (!found || isMarker(found) || !found.body) return undefined;
  return found.body instanceof Uint8Array ? Buffer.from(found.body).toString() : "streamed";
}

/** The calls that a tier makes about a page that it is asked for. */
async function callsFor(disk: DiskUnderTest, path: string): Promise<readonly string[]> {
  const { files, calls } = watched();
  await disk.otherTier({ files }).get(at(path));
  return calls;
}

/** The paths of pages that have the slot of this one in a filter of 4,096 slots. */
function pathsInSlotOf(folder: CacheFolder, path: string, count: number): string[] {
  const slot = (each: string) => Number.parseInt(folder.nameOf(at(each), "entry").slice(4, 7), 16);
  const paths: string[] = [];
  for (let number = 0; paths.length < count; number++) {
    if (slot(`${path}?${number}`) === slot(path)) paths.push(`${path}?${number}`);
  }
  return paths;
}

describe("a page that is missing", () => {
  test("is not looked for on the disk, whatever else is stored", async () => {
    const disk = await openDisk(temporaryFolder());
    for (let each = 0; each < 20; each++) await disk.tier.put(page(`/${each}`, "text"));
    expect(await callsFor(disk, "/missing")).toEqual([]);
    expect(await callsFor(disk, "/7")).toEqual(["open"]);
  });

  test("is stored without a look, too", async () => {
    const disk = await openDisk(temporaryFolder());
    const { files, calls } = watched();
    const tier = disk.otherTier({ files });
    await tier.get(at("/a"));
    await tier.put(page("/a", "text"));
    expect(calls).toEqual([]); // The last one is a rename, whose first argument is the draft.
    expect(await textOf(tier, "/a")).toBe("text");
  });

  test("is looked for until the folder has been read", async () => {
    const disk = await openDisk(temporaryFolder(), { isScanned: false });
    expect(await callsFor(disk, "/missing")).toEqual(["existsNow"]);
    const { files, calls } = watched();
    const tier = disk.otherTier({ files });
    await tier.get(at("/missing"));
    await disk.janitor.scan();
    await tier.get(at("/missing"));
    expect(calls).toEqual(["existsNow", "existsNow"]);
    now += 1_000; // The filter is looked for once a second.
    await tier.get(at("/missing"));
    expect(calls).toHaveLength(2);
  });

  test("costs no descriptor but one, however often the filter is opened anew", async () => {
    const disk = await openDisk(temporaryFolder());
    const openNow = vi.fn(diskFiles.openNow);
    const closeNow = vi.fn(diskFiles.closeNow);
    const tier = disk.otherTier({ files: { ...diskFiles, openNow, closeNow } });
    for (let second = 0; second < 5; second++) {
      now += 1_000;
      await tier.get(at("/missing"));
    }
    truncateSync(disk.folder.filterPath);
    now += 1_000;
    await tier.get(at("/missing"));
    expect(openNow).toHaveBeenCalledTimes(6);
    expect(closeNow).toHaveBeenCalledTimes(6); // A file that is no filter is not kept open either.
  });
});

describe("a page that another process stores is found at once", () => {
  const inThread = (folder: CacheFolder) => new WriterThread(folder);

  test.each([
    ["small, by the process itself", 100, undefined],
    ["large, by the process itself", 400 * KIB, undefined],
    ["small, by its thread", 100, inThread],
    ["large, beside its thread", 400 * KIB, inThread],
  ])("%s", async (_, bytes, writer) => {
    const disk = await openDisk(temporaryFolder(), { maxBytes: 1024 * MIB, ...(writer && { writer }) });
    now += 60_000; // The janitor marks nothing itself.
    const reader = disk.otherTier();
    const told = { ask: async (least: number) => Math.max(least, 64 * MIB), tell: () => undefined };
    const other = disk.otherTier({ janitor: told });
    for (const path of ["/a", "/b"]) {
      expect(await textOf(reader, path)).toBeUndefined();
      await other.get(at(path));
      await other.put(page(path, noise(bytes)));
      expect(await textOf(reader, path)).toBeDefined();
    }
  });

  test("as one of several sites, and not as another one's", async () => {
    const disk = await openDisk(temporaryFolder());
    const [one, other] = [disk.tier, disk.otherTier()];
    expect(await textOf(other.ofSite("shop"), "/a")).toBeUndefined();
    await one.ofSite("shop").put(page("/a", "text"));
    expect(await textOf(other.ofSite("shop"), "/a")).toBe("text");
    expect(await textOf(other.ofSite("blog"), "/a")).toBeUndefined();
  });
});

describe("a janitor that begins", () => {
  test("takes away the filter of an earlier run first: all pages are found while it reads the folder", async () => {
    const path = temporaryFolder();
    const before = await openDisk(path);
    await before.tier.put(page("/old", "stored before"));
    await before.settled();
    await before.janitor.close();
    rmSync(before.folder.filterPath);
    writeFileSync(before.folder.filterPath, new Uint8Array(128 * KIB)); // It has lost its marks.
    const listed = Promise.withResolvers<void>();
    const files: DiskFiles = {
      ...diskFiles,
      list: async (folder) => {
        await listed.promise;
        return diskFiles.list(folder);
      },
    };
    const disk = await openDisk(path, { isScanned: false, files });
    const scan = disk.janitor.scan();
    await vi.waitFor(() => expect(readdirSync(path)).not.toContain("name-filter"));
    const tier = disk.otherTier();
    expect(await textOf(tier, "/old")).toBe("stored before");
    await disk.tier.put(page("/new", "stored meanwhile"));
    await disk.settled();
    expect(await textOf(tier, "/new")).toBe("stored meanwhile");
    expect(readdirSync(path)).not.toContain("name-filter");
    listed.resolve();
    await disk.settled();
    await scan;
    now += 1_000;
    for (const each of ["/old", "/new"]) expect(await callsFor(disk, each)).toEqual(["open"]);
    expect(await callsFor(disk, "/missing")).toEqual([]);
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  });

  test("while another one's filter is read: each process looks on the disk at once, and reads the new one later", async () => {
    const path = temporaryFolder();
    const old = await openDisk(path);
    await old.tier.put(page("/a", "text"));
    const { files, calls } = watched();
    const tier = old.otherTier({ files });
    expect(await textOf(tier, "/missing")).toBeUndefined();
    expect(calls).toEqual([]);
    await old.janitor.close();
    const successor = await openDisk(path);
    await successor.tier.put(page("/b", "of the new server"));
    expect(await textOf(tier, "/b")).toBe("of the new server");
    await tier.get(at("/missing"));
    expect(calls).toContain("existsNow");
    now += 1_000;
    calls.length = 0;
    await tier.get(at("/missing"));
    expect(calls).toEqual([]);
    for (const each of ["/a", "/b"]) expect(await textOf(tier, each)).toBeDefined();
  });

  test("is the only one that changes the filter", async () => {
    const old = await openDisk(temporaryFolder());
    await old.tier.put(page("/a", "text"));
    await old.settled();
    await old.janitor.close();
    const successor = await openDisk(old.path);
    await old.tier.delete(at("/a"));
    await successor.otherTier().put(page("/a", "again"));
    await old.settled();
    expect(await textOf(successor.tier, "/a")).toBe("again");
  });

  test("marks what was written by those who did not see the filter yet, when it is told of that", async () => {
    const disk = await openDisk(temporaryFolder());
    const late = heldLine(disk.janitor);
    const unseen: DiskFiles = { ...diskFiles };
    unseen.open = async (path, flags) => {
      if (path === disk.folder.filterPath) throw failure("ENOENT", "open");
      return diskFiles.open(path, flags);
    };
    const tier = disk.otherTier({ files: unseen, janitor: late });
    await tier.put(page("/a", "text"));
    await tier.settled();
    expect(await textOf(disk.tier, "/a")).toBeUndefined();
    late.tellAll();
    await disk.settled();
    expect(await textOf(disk.tier, "/a")).toBe("text");
  });
});

test("the janitor keeps no file open, so that the disk can be unmounted", async () => {
  const { files: counted, open } = countedFiles();
  const opened = vi.fn(counted.openNow);
  const files: DiskFiles = { ...counted, openNow: opened };
  const disk = await openDisk(temporaryFolder(), { files });
  expect(open.size).toBe(0);
  const line = heldLine(disk.janitor);
  const tier = disk.otherTier({ files: diskFiles, janitor: line });
  await Promise.all([1, 2, 3].map((each) => tier.put(page(`/${each}`, "text"))));
  await tier.settled();
  line.tellAll();
  expect(open.size).toBe(1);
  await turn();
  expect(open.size).toBe(0);
  expect(opened).toHaveBeenCalledTimes(1);
  now += 60_000;
  await tier.put(page("/4", "text"));
  await tier.settled();
  line.tellAll();
  expect(opened).toHaveBeenCalledTimes(1); // The process has marked it, and nobody has cleared that.
});

test("pages that come and go while the filter is written are in it, or are not", async () => {
  const folder = temporaryFolder();
  const before = await openDisk(folder);
  for (const path of ["/gone", "/stays"]) await before.tier.put(page(path, "text"));
  const held = Promise.withResolvers<void>();
  let isDraft = false;
  const files: DiskFiles = {
    ...diskFiles,
    rename: async (from, to) => {
      isDraft = true;
      await held.promise;
      await diskFiles.rename(from, to);
    },
  };
  const disk = await openDisk(folder, { files, isScanned: false });
  const tier = disk.otherTier({ files: diskFiles });
  const scan = disk.janitor.scan();
  await vi.waitFor(() => expect(isDraft).toBe(true));
  await tier.delete(at("/gone"));
  await tier.put(page("/new", "text"));
  await tier.settled();
  expect(await callsFor(disk, "/missing")).toEqual(["existsNow"]);
  held.resolve();
  await scan;
  expect(await callsFor(disk, "/gone")).toEqual([]);
  for (const path of ["/stays", "/new"]) expect(await textOf(disk.otherTier({ files: diskFiles }), path)).toBe("text");
});

describe("a page that has left the disk is surely missing again", () => {
  test("because it was deleted, also if it had been replaced", async () => {
    const disk = await openDisk(temporaryFolder());
    for (const text of ["text", "another text"]) await disk.tier.put(page("/a", text));
    await disk.settled();
    await disk.tier.delete(at("/a"));
    expect(await callsFor(disk, "/a")).toEqual(["open"]);
    await disk.settled();
    expect(await callsFor(disk, "/a")).toEqual([]);
  });

  test("because it had to make room", async () => {
    const disk = await openDisk(temporaryFolder(), { maxBytes: MIB });
    for (let each = 0; each < 500; each++) await disk.tier.put(page(`/${each}`, noise(5_000)));
    await disk.settled();
    let looks = 0;
    for (let each = 0; each < 500; each++) looks += (await callsFor(disk, `/${each}`)).length;
    const stored = disk.paths().length;
    expect(stored).toBeLessThan(140);
    expect(looks).toBeGreaterThanOrEqual(stored);
    expect(looks).toBeLessThan(stored + 50); // Some share their slots with those that have stayed.
  });

  test("unless another one has its slot", async () => {
    const disk = await openDisk(temporaryFolder(), { maxBytes: MIB });
    const [one, other] = pathsInSlotOf(disk.folder, "/a", 2);
    for (const path of [one!, other!]) await disk.tier.put(page(path, "text"));
    await disk.settled();
    await disk.tier.delete(at(one!));
    const file = disk.folder.nameOf(at(one!), "entry");
    disk.janitor.connect().tell([{ kind: "gone", file }]); // Another process has deleted it as well.
    await disk.settled();
    expect(await textOf(disk.otherTier(), other!)).toBe("text");
    expect(await callsFor(disk, one!)).toEqual(["open"]);
    await disk.tier.delete(at(other!));
    await disk.settled();
    expect(await callsFor(disk, one!)).toEqual([]);
  });

  test("unless more have had its slot than can be counted", async () => {
    const disk = await openDisk(temporaryFolder(), { maxBytes: 4 * MIB });
    const start = disk.folder.nameOf(at("/a"), "entry").slice(0, 7);
    const names = Array.from({ length: 300 }, (_, each) => `${start}${String(each).padStart(25, "0")}.entry`);
    const line = disk.janitor.connect();
    await disk.tier.put(page("/a", "text"));
    await disk.settled();
    line.tell(names.map((file): DiskNote => ({ kind: "put", file, bytes: 100 })));
    line.tell(names.map((file): DiskNote => ({ kind: "gone", file })));
    await disk.settled();
    expect(await textOf(disk.otherTier(), "/a")).toBe("text");
  });

  test("and a page that is stored while the mark is cleared is marked again when the janitor hears of it", async () => {
    const disk = await openDisk(temporaryFolder());
    await disk.tier.put(page("/a", "text"));
    await disk.settled();
    now += 60_000;
    const [early, late] = [heldLine(disk.janitor), heldLine(disk.janitor)];
    const [one, other] = [disk.otherTier({ janitor: early }), disk.otherTier({ janitor: late })];
    await one.delete(at("/a"));
    await other.put(page("/a", "again"));
    await Promise.all([one.settled(), other.settled()]);
    expect(await textOf(disk.otherTier(), "/a")).toBe("again");
    early.tellAll(); // The janitor hears of the deletion alone, and clears the mark.
    await disk.settled();
    expect(await textOf(disk.otherTier(), "/a")).toBeUndefined();
    late.tellAll();
    await disk.settled();
    expect(await textOf(disk.otherTier(), "/a")).toBe("again");
  });
});

describe("a filter that cannot be used", () => {
  test.each([
    ["of no bytes", 0],
    ["cut off", 100_000],
    ["of one byte more", 128 * KIB + 1],
    ["of few slots", 2 * KIB],
    ["of more slots than there can be", 128 * MIB],
  ])("because it is %s is neither read nor marked, and made anew later", async (_, bytes) => {
    const disk = await openDisk(temporaryFolder());
    await disk.tier.put(page("/a", "text"));
    await disk.settled();
    truncateSync(disk.folder.filterPath, bytes);
    const line = heldLine(disk.janitor);
    const tier = disk.otherTier({ janitor: line });
    expect(await textOf(tier, "/a")).toBe("text");
    await tier.put(page("/b", "text"));
    expect(await textOf(tier, "/b")).toBe("text");
    expect(statSync(disk.folder.filterPath).size).toBe(bytes);
    await tier.settled();
    line.tellAll();
    await disk.settled();
    expect(readdirSync(disk.path)).not.toContain("name-filter");
    now += 60_000;
    await tier.put(page("/c", "text"));
    await tier.settled();
    line.tellAll();
    await disk.settled();
    expect(statSync(disk.folder.filterPath).size).toBe(128 * KIB);
    for (const path of ["/a", "/b", "/c"]) expect(await textOf(disk.otherTier(), path)).toBe("text");
    expect(disk.lines).toEqual([]);
  });

  test.each([
    ["opened", { openNow: "EACCES" }],
    ["opened by one process more", { openNow: "EMFILE" }],
    ["measured", { sizeNow: "EIO" }],
    ["read", { readNow: "EIO" }],
  ] as const)("because it cannot be %s is left aside, and nothing is said", async (_, failing) => {
    const disk = await openDisk(temporaryFolder());
    await disk.tier.put(page("/a", "text"));
    const { files, calls } = watched();
    for (const [call, code] of Object.entries(failing)) {
      Object.assign(files, {
        [call]: () => {
          throw failure(code, call);
        },
      });
    }
    const tier = disk.otherTier({ files });
    expect(await textOf(tier, "/a")).toBe("text");
    expect(await textOf(tier, "/missing")).toBeUndefined();
    expect(calls).toEqual(["existsNow", "open", "existsNow"]);
    expect(disk.lines).toEqual([]);
  });

  test("because of a bug is no miss", async () => {
    const bug = new TypeError("a bug");
    const files: DiskFiles = { ...diskFiles };
    const disk = await openDisk(temporaryFolder());
    files.readNow = () => {
      throw bug;
    };
    await expect(disk.otherTier({ files }).get(at("/a"))).rejects.toBe(bug);
  });

  test("because the kernel does not hold it is not waited for again in the next second", async () => {
    let waitsMs = 3;
    const { files, calls } = watched();
    const read = files.readNow;
    files.readNow = (...args) => {
      now += waitsMs;
      return read(...args);
    };
    const disk = await openDisk(temporaryFolder());
    const tier = disk.otherTier({ files });
    await tier.get(at("/a"));
    expect(calls).toEqual([]);
    waitsMs = 0;
    await tier.get(at("/a"));
    expect(calls).toEqual(["open"]);
    now += 1_000;
    await tier.get(at("/a"));
    expect(calls).toEqual(["open"]);
  });

  test.each(["write", "rename"] as const)(
    "because its %s fails is none, and is made a minute later with the next page",
    async (call) => {
      let isBroken = true;
      const files: DiskFiles = { ...diskFiles };
      Object.assign(files, {
        [call]: (...args: never[]) => {
          if (isBroken) throw failure("ENOSPC", call);
          return (diskFiles[call] as (...args: never[]) => unknown)(...args);
        },
      });
      const disk = await openDisk(temporaryFolder(), { files });
      const tier = disk.otherTier({ files: diskFiles });
      const put = async (path: string) => {
        await tier.put(page(path, "text"));
        await tier.settled();
        await disk.settled();
      };
      isBroken = false;
      await put("/a");
      expect(await callsFor(disk, "/missing")).toEqual(["existsNow"]);
      now += 60_000;
      await put("/b");
      expect(await callsFor(disk, "/missing")).toEqual([]);
      for (const path of ["/a", "/b"]) expect(await textOf(tier, path)).toBe("text");
      expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
      expect(disk.lines).toEqual([]);
    },
  );

  test("because a mark cannot be cleared any more is given up", async () => {
    let isBroken = false;
    const files: DiskFiles = { ...diskFiles };
    files.writeNow = (...args) => {
      if (isBroken) throw failure("EIO", "write");
      return diskFiles.writeNow(...args);
    };
    const disk = await openDisk(temporaryFolder(), { files });
    const tier = disk.otherTier({ files: diskFiles });
    await tier.put(page("/a", "text"));
    await tier.settled();
    isBroken = true;
    await tier.delete(at("/a"));
    await tier.settled();
    await disk.settled();
    expect(readdirSync(disk.path)).not.toContain("name-filter");
    expect(await callsFor(disk, "/a")).toEqual(["existsNow"]);
  });

  test.each([
    ["the process itself", undefined],
    ["its thread", (folder: CacheFolder) => new WriterThread(folder)],
  ])("to mark a page is a page that %s does not store, which is said", async (_, writer) => {
    const disk = await openDisk(temporaryFolder(), { maxBytes: 1024 * MIB, ...(writer && { writer }) });
    await disk.tier.put(page("/first", "asks for room"));
    rmSync(disk.folder.filterPath);
    mkdirSync(disk.folder.filterPath);
    const tier = disk.otherTier();
    await tier.get(at("/a"));
    await tier.put(page("/a", "text"));
    await tier.settled();
    expect(await textOf(tier, "/a")).toBeUndefined();
    expect(disk.paths()).toHaveLength(1);
    expect(disk.lines).toEqual([expect.stringContaining("cannot be used (EISDIR")]);
    await tier.writeCoded(at("/first"), "br", { digest: "d", bytes: noise(10) }); // It needs no mark.
    expect(tier.hasCoded(at("/first"), "br")).toBe(false); // The disk is tried again in five seconds.
    disk.now += 5_000;
    await tier.writeCoded(at("/first"), "br", { digest: "d", bytes: noise(10) });
    expect(tier.hasCoded(at("/first"), "br")).toBe(true);
  });
});

describe("the room of the filter", () => {
  const sizes = [
    ["100 KiB", 100 * KIB, 4 * KIB],
    ["64 MiB", 64 * MIB, 128 * KIB],
    ["10 GiB", 10 * KIB * MIB, 16 * MIB],
    ["1 TiB", MIB * MIB, 64 * MIB],
  ] as const;

  test.each(sizes)("a disk of %s has a slot for each 512 bytes, within limits", async (_, maxBytes, slots) => {
    const disk = await openDisk(temporaryFolder(), { maxBytes });
    expect(statSync(disk.folder.filterPath).size).toBe(slots);
  });

  test("is taken by marks alone, and belongs to the bound of the disk", async () => {
    const maxBytes = 64 * MIB;
    const disk = await openDisk(temporaryFolder(), { maxBytes });
    expect(statSync(disk.folder.filterPath).blocks * 512).toBeLessThanOrEqual(8 * KIB);
    const line = new Janitor(disk.folder, maxBytes).connect();
    expect(await line.ask(maxBytes / 16, 0)).toBe(0); // What is always kept free is a sixteenth of the rest.
    expect(await line.ask(maxBytes / 16 - 8 * KIB, 0)).toBeGreaterThan(0);
  });
});

test.each(["list", "write"] as const)("a server that ends before a %s of its scan leaves no filter", async (call) => {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const files: DiskFiles = { ...diskFiles };
  Object.assign(files, {
    [call]: async (...args: [never, never, never]) => {
      if (call === "write" || String(args[0]).endsWith("/f")) {
        begun.resolve();
        await held.promise;
      }
      return diskFiles[call](...args);
    },
  });
  const disk = await openDisk(temporaryFolder(), { files, isScanned: false });
  const scan = disk.janitor.scan();
  await begun.promise;
  const closed = disk.janitor.close();
  held.resolve();
  await Promise.all([scan, closed]);
  expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  expect(readdirSync(disk.path)).not.toContain("name-filter");
});
