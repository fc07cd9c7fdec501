import { spawnSync } from "node:child_process";
import {
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { FileBody } from "../../../server/disk/bodies/file-body.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import type { DiskTier } from "../../../server/disk/disk-tier.ts";
import { Janitor, largestBodyBytes } from "../../../server/disk/eviction/janitor.ts";
import type { DiskNote } from "../../../server/disk/eviction/janitor-line.ts";
import { janitorBehind, janitorService } from "../../../server/disk/eviction/janitor-service.ts";
import { BLOCK_BYTES } from "../../../server/disk/file-format.ts";
import type { FailedFiles } from "../../../server/disk/file-writer.ts";
import { replacedOrigins } from "../../../server/disk/last-origins.ts";
import { LikelyCached } from "../../../server/disk/likely-cached.ts";
import { openInTime } from "../../../server/disk/open-in-time.ts";
import type { BodyReader } from "../../../worker/ports/bodies.ts";
import { isMarker, type StoredResponse } from "../../../worker/rules/storing/stored-response.ts";
import { byDepth } from "../../suite/depth.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import {
  bodyOf,
  countedFiles,
  DiskUnderTest,
  failure,
  isOfPage,
  noise,
  page,
  readWhole,
  temporaryFolder,
} from "./disk-under-test.ts";

const KEY = "https://www.example.test/a";
const MIB = 1024 * 1024;
/** Of so many places in a file, one is damaged. */
const STEP = byDepth({ test: 20, gate: 20, all: 1 });

/** Sizes around everything that the format counts: a first read, a block. */
const SIZES = [0, 1, 1000, 64 * 1024, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, MIB, MIB + 1, 3 * MIB + 12_345];

describe("an entry on disk", () => {
  describe.each([
    ["read synchronously, because it was just written", true],
    ["read without blocking", false],
  ])("%s", (_, cached) => {
    test.each(SIZES)("has the body that was put: %i bytes", async (size) => {
      const disk = await DiskUnderTest.open(temporaryFolder(), { cached });
      const bytes = noise(size);
      await disk.tier.put(page("/a", bytes));
      expect((await disk.bytesOf(KEY))?.equals(bytes)).toBe(true);
      expect((await disk.bytesOf(KEY))?.equals(bytes)).toBe(true);
    });
  });

  test("has its body as bytes where it is small, and as a file where it is large", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.put(page("/a", noise(100_000)));
    await disk.tier.put(page("/large", noise(MIB)));
    const small = (await disk.tier.get(KEY)) as StoredResponse;
    expect(small.body).toBeInstanceOf(Uint8Array);
    const large = (await disk.tier.get("https://www.example.test/large")) as unknown as { body: FileBody };
    expect(large.body).toBeInstanceOf(FileBody);
    expect(large.body.lengthBytes).toBe(MIB);
    await large.body.cancel();
  });

  test("is another process's, too, and so is its replacement", async () => {
    const path = temporaryFolder();
    const one = await DiskUnderTest.open(path);
    const other = await DiskUnderTest.open(path);
    await one.tier.put(page("/a", "first"));
    expect(await other.textOf(KEY)).toBe("first");
    await one.tier.put(page("/a", "the second one", { fetchedAt: Date.UTC(2027) }));
    expect(await other.textOf(KEY)).toBe("the second one");
    await one.tier.delete(KEY);
    expect(await other.textOf(KEY)).toBeUndefined();
  });

  test("that is newer is not replaced by a late, older one (R23)", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const newer = page("/a", "newer", { stamp: { logId: "log", seq: 9 }, fetchedAt: 5 });
    const older = page("/a", "older", { stamp: { logId: "log", seq: 8 }, fetchedAt: 9 });
    await Promise.all([disk.tier.put(newer), disk.tier.put(older)]);
    expect(await disk.textOf(KEY)).toBe("newer");
    const next = page("/a", "next", { stamp: { logId: "log", seq: 10 }, fetchedAt: 6 });
    await disk.tier.put(next);
    expect(await disk.textOf(KEY)).toBe("next");
  });

  test("is replaced by a page of today if it was fetched before the clock was set back", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const { now } = disk;
    await disk.tier.put(page("/a", "ahead", { fetchedAt: now + 7_200_000 }));
    await disk.tier.put(page("/a", "today", { fetchedAt: now }));
    expect(await disk.textOf(KEY)).toBe("today");
  });

  test("is looked for once before it is stored, also if it has just been missed", async () => {
    let looks = 0;
    const rename = Promise.withResolvers<void>();
    let isHeld = false;
    const files: DiskFiles = {
      ...diskFiles,
      sizeNow: (path) => {
        looks++;
        return diskFiles.sizeNow(path);
      },
      rename: async (from, to) => {
        if (isHeld) await rename.promise;
        await diskFiles.rename(from, to);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files });
    expect(await disk.textOf(KEY)).toBeUndefined();
    await disk.tier.put(page("/a", "first"));
    expect(looks).toBe(2);
    await disk.tier.put(page("/a", "second"));
    expect(looks).toBe(3);
    await disk.tier.delete(KEY);

    const newer = page("/a", "newer", { fetchedAt: Date.UTC(2027) });
    expect(await disk.textOf(KEY)).toBeUndefined();
    isHeld = true;
    const storing = disk.tier.put(newer);
    expect(await disk.textOf(KEY)).toBeUndefined(); // it is not there yet
    rename.resolve();
    await storing;
    await disk.tier.put(page("/a", "older", { fetchedAt: Date.UTC(2026) }));
    expect(await disk.textOf(KEY)).toBe("newer");
  });

  test("of another key with the same name of the file is a miss, and makes room for this one", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.put(page("/other", "not yours"));
    await disk.tier.put(page("/a", "mine"));
    const [mine, other] = ["/a", "/other"].map((path) =>
      disk.folder.pathOf(disk.folder.nameOf(`https://www.example.test${path}`, "entry")),
    );
    writeFileSync(mine!, readFileSync(other!));
    expect(await disk.textOf(KEY)).toBeUndefined();
    await disk.tier.put(page("/a", "mine again"));
    expect(await disk.textOf(KEY)).toBe("mine again");
  });
});

describe("a damaged file is never answered from", () => {
  /** Damages each byte of a small file, or cuts it off there. */
  test.each([
    [
      "a bit of it is flipped",
      (bytes: Buffer, at: number) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << (at % 8);
        return flipped;
      },
    ],
    ["it ends early", (bytes: Buffer, at: number) => bytes.subarray(0, at)],
    [
      "its end is zeros, as after a loss of power",
      (bytes: Buffer, at: number) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]),
    ],
  ])("%s, anywhere: a miss, and the file is deleted", async (_, damage) => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { cached: false });
    const cached = await DiskUnderTest.open(disk.path);
    await cached.tier.put(page("/a", noise(300)));
    const [path] = disk.paths();
    const whole = readFileSync(path!);
    for (let at = 0; at < whole.length; at += STEP) {
      const damaged = damage(whole, at);
      // Unused bytes of the prefix are covered by its checksum; equal bytes are no damage.
      if (damaged.equals(whole)) continue;
      for (const each of [disk, cached]) {
        writeFileSync(path!, whole);
        expect((await each.bytesOf(KEY))?.length).toBe(300);
        writeFileSync(path!, damaged);
        expect(await each.bytesOf(KEY), `byte ${at}`).toBeUndefined();
      }
    }
    await disk.settled();
    expect(existsSync(path!)).toBe(false);
  });

  test("a large body breaks off before the damaged piece, and is a miss from then on", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const bytes = noise(3 * MIB);
    await disk.tier.put(page("/a", bytes));
    const [path] = disk.paths();
    const file = readFileSync(path!);
    file[file.length - 300_000]! ^= 1;
    writeFileSync(path!, file);
    const found = (await disk.tier.get(KEY)) as unknown as { body: FileBody };
    const reader = found.body.read();
    const pieces: Uint8Array[] = [];
    const readAll = async () => {
      for (let piece = await reader.next(); piece; piece = await reader.next()) pieces.push(piece);
    };
    await expect(readAll()).rejects.toThrow("a stored body is damaged");
    const sent = Math.floor((bytes.length - 300_000) / BLOCK_BYTES) * BLOCK_BYTES;
    expect(Buffer.concat(pieces).equals(bytes.subarray(0, sent))).toBe(true);
    await disk.settled();
    expect(await disk.textOf(KEY)).toBeUndefined();
  });

  test.each([
    ["an entry", async (tier: DiskTier) => ((await tier.get(KEY)) as { body: FileBody } | undefined)?.body],
    ["a body", (tier: DiskTier) => tier.getBody(`${KEY}\n1-a`, null)],
  ])(
    "%s with a block that the disk cannot read breaks off before that, and is a miss from then on",
    { tags: ["deep"] },
    async (_, find) => {
      const files: DiskFiles = {
        ...diskFiles,
        read: async (fd, into, length, position) => {
          const isBad = position > MIB && position < 2 * MIB;
          if (isBad) throw failure("EIO", "read");
          return diskFiles.read(fd, into, length, position);
        },
      };
      const disk = await DiskUnderTest.open(temporaryFolder(), { files });
      await disk.tier.put(page("/a", noise(3 * MIB)));
      await disk.tier.putBody(`${KEY}\n1-a`, bodyOf([noise(3 * MIB)]));
      await expect(readWhole((await find(disk.tier))!)).rejects.toThrow("EIO");
      await disk.settled();
      expect(await find(disk.tier)).toBeUndefined();
    },
  );

  test("a large file that is cut off is a miss before anything is sent", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.put(page("/a", noise(3 * MIB)));
    truncateSync(disk.paths()[0]!, 2 * MIB);
    expect(await disk.tier.get(KEY)).toBeUndefined();
  });

  test("a file of another version is a miss, and is deleted", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.put(page("/a", "v1"));
    const [path] = disk.paths();
    const file = readFileSync(path!);
    file[8] = 2;
    writeFileSync(path!, file);
    expect(await disk.textOf(KEY)).toBeUndefined();
    expect(existsSync(path!)).toBe(false);
  });
});

describe("a body that is stored apart", () => {
  const BODY_KEY = `${KEY}\n1-a`;
  const bytes = noise(2 * MIB + 777);
  const pieces = () => Array.from({ length: 40 }, (_, at) => bytes.subarray(at * 60_000, (at + 1) * 60_000));
  const part = async (disk: DiskUnderTest, first: number, last: number) =>
    readWhole((await disk.tier.getBody(BODY_KEY, { first, last }))!);

  test.each([
    ["of known length", bytes.length],
    ["of unknown length", null],
  ])("%s comes back whole, and in any part", async (_, length) => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.putBody(BODY_KEY, bodyOf(pieces(), length));
    expect((await readWhole((await disk.tier.getBody(BODY_KEY, null))!)).equals(bytes)).toBe(true);
    const edges = [0, 1, 256 * 1024 - 1, 256 * 1024, MIB - 1, MIB, 2 * MIB, bytes.length - 1];
    for (const first of edges) {
      for (const last of edges.filter((each) => each >= first)) {
        expect((await part(disk, first, last)).equals(bytes.subarray(first, last + 1)), `${first}-${last}`).toBe(true);
      }
    }
    expect(await disk.tier.getBody(BODY_KEY, { first: 0, last: bytes.length })).toBeUndefined();
    expect(await disk.tier.getBody(`${KEY}\n1-b`, null)).toBeUndefined();
    await disk.settled();
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });

  test("that is cut off is not stored, and leaves nothing behind", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await expect(disk.tier.putBody(BODY_KEY, bodyOf(pieces(), bytes.length + 1))).rejects.toThrow("fewer bytes");
    await disk.settled();
    expect(await disk.tier.getBody(BODY_KEY, null)).toBeUndefined();
    expect(disk.bytesOnDisk()).toBe(0);
    expect(disk.janitor.usedBytes).toBeLessThan(9 * MIB);
  });

  test("that is cut off leaves no draft in the janitor's sum", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const notes: DiskNote[] = [];
    const line = disk.janitor.connect();
    const tell = (more: readonly DiskNote[]) => void notes.push(...more);
    const tier = disk.otherTier({ janitor: { ask: line.ask, tell } });
    await expect(tier.putBody(BODY_KEY, bodyOf(pieces(), bytes.length + 1))).rejects.toThrow("fewer bytes");
    await tier.settled();
    const drafts = notes.flatMap((note) => (note.kind === "draft" ? [note.bytes] : []));
    expect(drafts.length).toBeGreaterThan(1);
    expect(drafts.reduce((sum, each) => sum + each, 0)).toBe(0);
  });

  test("that is cut off by a reset of the origin's connection is no failure of the disk", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const { readable, writable } = nodeBodies.pipe(bytes.length);
    const storing = disk.tier.putBody(BODY_KEY, readable);
    await writable.write(bytes.subarray(0, MIB));
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
    await Promise.all([expect(storing).rejects.toThrow("read ECONNRESET"), writable.abort(reset)]);
    expect(disk.lines).toEqual([]);
    await disk.tier.put(page("/a", "text"));
    expect(await disk.textOf(KEY)).toBe("text");
  });

  test("that is deleted while it is read is read to its end", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    await disk.tier.put(page("/a", bytes));
    const found = (await disk.tier.get(KEY)) as unknown as { body: FileBody };
    await disk.tier.delete(KEY);
    expect((await readWhole(found.body)).equals(bytes)).toBe(true);
  });

  test("closes its file when it is read, cancelled, or cancelled while a read is under way", async () => {
    const { files: counted, open } = countedFiles();
    let duringRead = () => {};
    const files: DiskFiles = {
      ...counted,
      read: (...args) => {
        const reading = diskFiles.read(...args);
        duringRead();
        return reading;
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder());
    const tier = disk.otherTier({ files });
    await tier.putBody(BODY_KEY, bodyOf(pieces()));
    await readWhole((await tier.getBody(BODY_KEY, null))!);
    expect(open.size).toBe(0);
    await (await tier.getBody(BODY_KEY, null))!.cancel();
    expect(open.size).toBe(0);
    const reader = ((await tier.getBody(BODY_KEY, null)) as FileBody).read();
    let cancelled = Promise.resolve();
    duringRead = () => {
      cancelled = reader.cancel();
      expect(open.size).toBe(1);
    };
    expect((await reader.next())?.byteLength).toBe(BLOCK_BYTES);
    await cancelled;
    expect(open.size).toBe(0);
    expect(await reader.next()).toBeNull();
  });
});

describe("the event loop never waits for a cold disk", () => {
  test("a file is read synchronously only after this process has written or read it", async () => {
    const path = temporaryFolder();
    await (await DiskUnderTest.open(path)).tier.put(page("/a", "text"));
    const calls: string[] = [];
    const files: DiskFiles = {
      ...diskFiles,
      open: (path, flags) => {
        if (isOfPage(path)) calls.push("open");
        return diskFiles.open(path, flags);
      },
      openNow: (path, flags) => {
        if (isOfPage(path)) calls.push("openNow");
        return diskFiles.openNow(path, flags);
      },
    };
    const disk = await DiskUnderTest.open(path, { files });
    await disk.textOf(KEY);
    await disk.textOf(KEY);
    expect(calls).toEqual(["open", "openNow"]);
  });

  test.each([5, 200_000])("a file of %i bytes that another process has written is read in two calls", async (bytes) => {
    const path = temporaryFolder();
    const text = "x".repeat(bytes);
    await (await DiskUnderTest.open(path)).tier.put(page("/a", text));
    const calls: string[] = [];
    const counted = <Call extends "open" | "read">(name: Call) =>
      ((...args: Parameters<DiskFiles[Call]>) => {
        calls.push(name);
        return (diskFiles[name] as (...args: unknown[]) => unknown)(...args);
      }) as DiskFiles[Call];
    const disk = await DiskUnderTest.open(path, {
      files: { ...diskFiles, open: counted("open"), read: counted("read") },
    });
    expect(await disk.textOf(KEY)).toBe(text);
    expect(calls).toEqual(["open", "read"]);
  });

  test.each([
    ["longer", "short", "longer than before ".repeat(10_000)],
    ["shorter", "longer than after ".repeat(10_000), "short"],
  ])("a file that becomes %s between the look and the read is read whole", async (_, before, after) => {
    const path = temporaryFolder();
    const other = await DiskUnderTest.open(path);
    await other.tier.put(page("/a", before));
    const files: DiskFiles = {
      ...diskFiles,
      open: async (...args) => {
        await other.tier.put(page("/a", after, { fetchedAt: Date.UTC(2030) }));
        return diskFiles.open(...args);
      },
    };
    const disk = await DiskUnderTest.open(path, { files });
    expect(await disk.textOf(KEY)).toBe(after);
  });

  test("a missing file is looked for by name alone, until such a look has waited", async () => {
    const calls: string[] = [];
    let waitsMs = 0;
    let now = 5_000;
    const files: DiskFiles = {
      ...diskFiles,
      sizeNow: (path) => {
        calls.push("sizeNow");
        now += waitsMs;
        return diskFiles.sizeNow(path);
      },
      open: (...args) => {
        calls.push("open");
        return diskFiles.open(...args);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files, monotonicNow: () => now });
    expect(await disk.tier.get(KEY)).toBeUndefined();
    waitsMs = 3;
    expect(await disk.tier.get(KEY)).toBeUndefined();
    expect(await disk.tier.get(KEY)).toBeUndefined();
    now += 1_000;
    expect(await disk.tier.get(KEY)).toBeUndefined();
    expect(calls).toEqual(["sizeNow", "sizeNow", "open", "sizeNow"]);
  });

  /** A disk where each look for a file by its name takes `waitsMs`. */
  async function slowLooks() {
    const state = { looks: 0, waitsMs: 0 };
    let now = 5_000;
    const files: DiskFiles = {
      ...diskFiles,
      sizeNow: (path) => {
        state.looks++;
        now += state.waitsMs;
        return diskFiles.sizeNow(path);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files, monotonicNow: () => now });
    /** Lets a look wait, and counts those that come after it. */
    const cool = async () => {
      state.waitsMs = 3;
      await disk.tier.get("https://www.example.test/elsewhere");
      state.looks = 0;
    };
    return { disk, tier: disk.tier, files, state, cool };
  }

  const CODED = { digest: "digest", bytes: noise(10) };

  const uses: [string, (tier: DiskTier) => unknown][] = [
    ["a put", (tier) => tier.put(page("/a", "text"))],
    ["the question whether there is an entry", (tier) => tier.hasEntry(KEY)],
    ["the question whether there is a coded form", (tier) => tier.compression.hasCoded(KEY, "br")],
    ["a put of a coded form", (tier) => tier.compression.writeCoded(KEY, "br", CODED)],
  ];

  test.each(uses)("%s looks for no file by name alone after a look has waited", { tags: ["deep"] }, async (_, use) => {
    const { tier, state, cool } = await slowLooks();
    await tier.put(page("/a", "text"));
    await cool();
    await use(tier);
    expect(state.looks).toBe(0);
  });

  test.each(uses)("where %s has waited for a look, the next one does not block", { tags: ["deep"] }, async (_, use) => {
    const { tier, state } = await slowLooks();
    state.waitsMs = 3;
    await use(tier);
    expect(state.looks).toBe(1);
    await tier.get("https://www.example.test/elsewhere");
    expect(state.looks).toBe(1);
  });

  test("a put finds the newer entry there, too", async () => {
    const { disk, tier, cool } = await slowLooks();
    await tier.put(page("/a", "newer", { fetchedAt: Date.UTC(2027) }));
    await cool();
    await tier.put(page("/a", "older", { fetchedAt: Date.UTC(2026) }));
    await tier.put(page("/b", "another"));
    expect(await disk.textOf(KEY)).toBe("newer");
    expect(await disk.textOf("https://www.example.test/b")).toBe("another");
  });

  test("an entry is known to be there if this process has just stored it", async () => {
    const { disk, tier, cool } = await slowLooks();
    await tier.put(page("/a", "text"));
    expect(disk.otherTier().hasEntry(KEY)).toBe(true);
    await cool();
    expect(tier.hasEntry(KEY)).toBe(false);
    await tier.put(page("/b", "text"));
    expect(tier.hasEntry("https://www.example.test/b")).toBe(true);
  });

  test("whether there is a coded form is not known, but it can be read, written and dropped", async () => {
    const { tier, cool } = await slowLooks();
    await tier.put(page("/a", "text"));
    await tier.compression.writeCoded(KEY, "br", CODED);
    expect([tier.compression.hasCoded(KEY, "br"), tier.compression.hasCoded(KEY, "gzip")]).toEqual([true, false]);
    await cool();
    expect([tier.compression.hasCoded(KEY, "br"), tier.compression.hasCoded(KEY, "gzip")]).toEqual([
      undefined,
      undefined,
    ]);
    expect((await tier.compression.readCoded(KEY, "br"))?.digest).toBe("digest");
    expect(await tier.compression.readCoded(KEY, "gzip")).toBeUndefined();
    await tier.compression.writeCoded(KEY, "gzip", CODED);
    expect((await tier.compression.readCoded(KEY, "gzip"))?.digest).toBe("digest");
    await tier.compression.dropCoded(KEY, "br");
    await tier.compression.dropCoded(KEY, "zstd");
    expect(await tier.compression.readCoded(KEY, "br")).toBeUndefined();
  });

  test("a coded form is not written there beside an entry that is gone, and does not outlive one", async () => {
    const { disk, tier, files, cool } = await slowLooks();
    await cool();
    await tier.compression.writeCoded(KEY, "br", CODED);
    expect(disk.paths()).toEqual([]);
    await tier.put(page("/a", "text"));
    files.rename = async (from, to) => {
      await diskFiles.rename(from, to);
      rmSync(to.replace(".br", ".entry"));
    };
    await tier.compression.writeCoded(KEY, "br", CODED);
    expect(disk.paths()).toEqual([]);
  });

  test("one wait among many reads is a wait for a core and no sign of a slow disk", () => {
    const isColdAfter = (readsAtOnce: number) => {
      const cached = new LikelyCached(4000);
      cached.touch("a", 400);
      for (let read = 0; read < readsAtOnce; read++) cached.took(0.01, 1_000);
      cached.took(3, 1_000);
      return [cached.holdsFolders(1_001), cached.sizeOf("a")];
    };
    expect(isColdAfter(63)).toEqual([false, undefined]);
    expect(isColdAfter(64)).toEqual([true, 400]);
    const cached = new LikelyCached(4000);
    for (let read = 0; read < 1_000; read++) cached.took(0.01, 1_000);
    cached.took(3, 1_000);
    for (let read = 0; read < 63; read++) cached.took(0.01, 1_001);
    expect(cached.holdsFolders(1_001)).toBe(true);
    cached.took(3, 1_001);
    expect(cached.holdsFolders(2_000)).toBe(false);
    expect(cached.holdsFolders(2_001)).toBe(true);
  });

  test("what was not used for a quarter of the memory's worth of files counts as cold", () => {
    const cached = new LikelyCached(4000);
    cached.touch("a", 400);
    cached.touch("b", 400);
    cached.touch("a", 400);
    cached.touch("c", 400);
    expect(["a", "b", "c"].map((file) => cached.sizeOf(file))).toEqual([400, undefined, 400]);
    cached.took(1, 1_000);
    expect(cached.sizeOf("a")).toBe(400);
    cached.took(50, 1_000);
    expect(cached.sizeOf("a")).toBeUndefined();
  });

  test("what was not used for 200,000 files counts as cold, however small they are", () => {
    const cached = new LikelyCached(Number.POSITIVE_INFINITY);
    for (let file = 0; file < 200_000; file++) cached.touch(`${file}`, 1);
    cached.touch("0", 1);
    expect(["0", "1"].map((file) => cached.sizeOf(file))).toEqual([1, 1]);
    cached.touch("one more", 1);
    expect(["1", "0", "10000", "one more"].map((file) => cached.sizeOf(file))).toEqual([undefined, 1, 1, 1]);
  });
});

describe("the folder", () => {
  test("that is not empty and not a cache is refused, and left as it is", async () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "holiday.jpg"), "picture");
    await expect(DiskUnderTest.open(path)).rejects.toThrow(
      `The folder ${path} is not empty and is not a cache of tidemark (it has no tidemark-cache.json).`,
    );
    expect(existsSync(join(path, "CACHEDIR.TAG"))).toBe(false);
  });

  test("whose mark a power loss has emptied is still a cache, and is marked anew, but not without its files", async () => {
    const path = temporaryFolder();
    const mark = join(path, "tidemark-cache.json");
    await (await DiskUnderTest.open(path)).tier.put(page("/a", "text"));
    const text = readFileSync(mark, "utf8");
    writeFileSync(mark, "");
    expect(await (await DiskUnderTest.open(path)).textOf(KEY)).toBe("text");
    expect(readFileSync(mark, "utf8")).toBe(text);

    const other = temporaryFolder();
    writeFileSync(join(other, "tidemark-cache.json"), "");
    writeFileSync(join(other, "holiday.jpg"), "picture");
    await expect(DiskUnderTest.open(other)).rejects.toThrow(`The folder ${other} is not empty`);
  });

  test("that a start on a full disk has left without a mark is a cache, and gets one", async () => {
    const left = [
      ["tidemark-cache.json.new", "origins.json.draft"],
      ["tidemark-cache.json.new", "origins.json"],
    ];
    for (const names of left) {
      const path = temporaryFolder();
      for (const name of names) writeFileSync(join(path, name), "");
      CacheFolder.expectUsable(path);
      await (await DiskUnderTest.open(path)).tier.put(page("/a", "text"));
      expect(await (await DiskUnderTest.open(path)).textOf(KEY)).toBe("text");
    }
  });

  test("gets no list of origins before it is marked, nor the draft of one that cannot be put there", async () => {
    const path = temporaryFolder();
    const origins = new Map([["", "http://127.0.0.1:8000"]]);
    replacedOrigins(path, origins);
    expect(readdirSync(path)).toEqual([]);
    await DiskUnderTest.open(path);
    const names = readdirSync(path);
    mkdirSync(join(path, "origins.json", "in-its-way"), { recursive: true });
    replacedOrigins(path, origins);
    expect(readdirSync(path).sort()).toEqual([...names, "origins.json"].sort());
  });

  test("that its disk kept from being made is made within 5 s of the end of that, and both are said", async () => {
    const above = join(temporaryFolder(), "disk");
    const path = join(above, "pages");
    writeFileSync(above, "");
    const [lines, waits]: [string[], number[]] = [[], []];
    const parts = { say: (line: string) => lines.push(line), isOver: () => false };
    const isOpen = openInTime(path, parts, async (ms) => {
      if (waits.push(ms) === 3) rmSync(above);
    });
    expect(await isOpen).toBe(true);
    expect(waits).toEqual([5_000, 5_000, 5_000]);
    expect(lines).toEqual([
      `The cache in ${path} cannot be used (ENOTDIR: the disk fails). For now, pages are kept only in memory.`,
      `The cache in ${path} works again.`,
    ]);
    const disk = await DiskUnderTest.open(path);
    await disk.tier.put(page("/a", "text"));
    expect(await disk.textOf(KEY)).toBe("text");
  });

  test("is not waited for if it holds other files, which is said, nor by a server that has ended", async () => {
    const path = temporaryFolder();
    const lines: string[] = [];
    const wait = () => Promise.reject(new Error("it waits"));
    const say = (line: string) => lines.push(line);
    expect(await openInTime(join(path, "pages"), { say, isOver: () => true }, wait)).toBe(false);
    expect(readdirSync(path)).toEqual([]);
    writeFileSync(join(path, "holiday.jpg"), "picture");
    expect(await openInTime(path, { say, isOver: () => false }, wait)).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/is not empty .* For now, pages are kept only in memory\.$/)]);
  });

  test("that cannot be made is refused with the reason", async () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "file"), "");
    await expect(DiskUnderTest.open(join(path, "file", "cache"))).rejects.toThrow(
      /cannot be used as a cache: .*ENOTDIR/,
    );
  });

  test("keeps files that are not the cache's, and loses drafts of dead processes and files of other formats", async () => {
    const path = temporaryFolder();
    const first = await DiskUnderTest.open(path);
    await first.tier.put(page("/a", "text"));
    const foreign = [
      join(path, "notes.txt"),
      join(first.folder.folders[0]!, "notes.txt"),
      join(first.folder.draftsFolder, "notes.txt"),
    ];
    for (const file of foreign) writeFileSync(file, "mine");
    const old = join(path, "files-0", "ab");
    mkdirSync(old, { recursive: true });
    const dead = [join(first.folder.draftsFolder, "4194999-0123abcd-1"), join(old, `${"ab".repeat(16)}.entry`)];
    for (const file of dead) writeFileSync(file, "old");
    const alive = join(first.folder.draftsFolder, `${process.pid}-0123abcd-1`);
    writeFileSync(alive, "being written");
    await DiskUnderTest.open(path);
    expect(foreign.concat(alive).map((file) => existsSync(file))).toEqual([true, true, true, true]);
    expect(dead.map((file) => existsSync(file))).toEqual([false, false]);
  });

  test("loses what a killed process left behind whose number another one has now, as soon as it is a minute old", async () => {
    const path = temporaryFolder();
    const { folder } = await DiskUnderTest.open(path);
    const drafts = ["old", "young", "silent"].map((each, at) => {
      const draft = join(folder.draftsFolder, `${process.pid}-0123abcd-${at}`);
      if (each !== "silent") writeFileSync(draft, each);
      return draft;
    });
    const [old, young, silent] = drafts as [string, string, string];
    const changed = new Map([[old, Date.now() - 61_000]]);
    const changedAt = async (draft: string) => changed.get(draft) ?? diskFiles.changedAt(draft);
    const files: DiskFiles = { ...diskFiles, changedAt };
    changed.set(young, Date.now() - 59_000);
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const disk = await DiskUnderTest.open(path, { files, isScanned: false });
    await disk.janitor.scanUntilRead(async (ms) => {
      expect(drafts.map((draft) => existsSync(draft))).toEqual([false, true, false]);
      writeFileSync(silent, "of a process that waits for the origin");
      changed.set(silent, Date.now());
      vi.setSystemTime(Date.now() + ms + 1);
    });
    expect(drafts.map((draft) => existsSync(draft))).toEqual([false, false, true]);
  });

  test("is read although its mark for backup programs cannot be written, which is written only if it is not there", async () => {
    const path = temporaryFolder();
    const tag = join(path, "CACHEDIR.TAG");
    const before = await DiskUnderTest.open(path);
    await before.tier.put(page("/a", "text"));
    await before.settled();
    const [text, { ino, mtimeNs }] = [readFileSync(tag, "utf8"), statSync(tag, { bigint: true })];
    await DiskUnderTest.open(path);
    expect(statSync(tag, { bigint: true })).toMatchObject({ ino, mtimeNs });
    writeFileSync(tag, "");
    await DiskUnderTest.open(path);
    expect(readFileSync(tag, "utf8")).toBe(text);
    rmSync(tag);
    mkdirSync(tag);
    expect((await DiskUnderTest.open(path)).janitor.heldFiles).toBe(1);
  });

  test("lets other work happen while the end of its scan looks for coded forms without entries", async () => {
    const names = Array.from({ length: 10_000 }, (_, at) => `${at.toString(16).padStart(32, "0")}.br`);
    let deleted = 0;
    const deletedBefore = Promise.withResolvers<number>();
    const files: DiskFiles = {
      ...diskFiles,
      list: async (folder) => (folder.endsWith("/0") ? names : []),
      sizeOf: async () => 1,
      unlink: async (path) => {
        if (path.endsWith(".br") && ++deleted === 1) setImmediate(() => deletedBefore.resolve(deleted));
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files });
    await disk.settled();
    expect(deleted).toBe(names.length);
    expect(await deletedBefore.promise).toBeLessThan(names.length);
  });

  test("is warm after a restart, before it has been scanned, and its files are in the index afterwards", async () => {
    const path = temporaryFolder();
    const before = await DiskUnderTest.open(path);
    for (let at = 0; at < 50; at++) await before.tier.put(page(`/${at}`, noise(5000, at)));
    await before.settled();
    const after = await DiskUnderTest.open(path, { isScanned: false });
    expect((await after.bytesOf("https://www.example.test/7"))?.equals(noise(5000, 7))).toBe(true);
    await after.janitor.scan();
    expect(after.janitor.heldFiles).toBe(50);
    expect(after.janitor.heldBytes).toBe(before.janitor.heldBytes);
  });

  test("that cannot be read at the start is read later, so that all of the disk is used", async () => {
    let isBroken = true;
    const files: DiskFiles = {
      ...diskFiles,
      list: async (folder) => {
        if (isBroken) throw failure("EMFILE", "scandir");
        return diskFiles.list(folder);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files, isScanned: false });
    const waits: number[] = [];
    await disk.janitor.scanUntilRead(async (ms) => {
      waits.push(ms);
      isBroken = waits.length < 2;
    });
    expect(waits).toEqual([60_000, 60_000, 60_000]); // the last one for drafts
    expect(await disk.janitor.connect().ask(20 * MIB, 20 * MIB)).toBe(20 * MIB);
    await disk.janitor.close();
    await disk.janitor.scanUntilRead();
  });

  test("of a smaller bound than before is made smaller by the scan", { tags: ["deep"] }, async () => {
    const path = temporaryFolder();
    const before = await DiskUnderTest.open(path);
    for (let at = 0; at < 100; at++) await before.tier.put(page(`/${at}`, noise(5000, at)));
    await before.settled();
    const after = await DiskUnderTest.open(path, { maxBytes: 400_000 });
    await after.settled();
    expect(after.bytesOnDisk()).toBeLessThanOrEqual(400_000);
    expect(after.janitor.heldBytes).toBe(after.bytesOnDisk());
  });
});

describe("the bound of the disk", () => {
  test("holds at every moment, while small and large files are written at once", { tags: ["gate"] }, async () => {
    const maxBytes = 8 * MIB;
    let most = 0;
    const watched: { disk?: DiskUnderTest } = {};
    const files: DiskFiles = {
      ...diskFiles,
      write: async (...args) => {
        const written = await diskFiles.write(...args);
        most = Math.max(most, watched.disk!.bytesOnDisk());
        return written;
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes, files });
    watched.disk = disk;
    const put = (at: number) => {
      const pieces = Array.from({ length: 12 }, (_, piece) => noise(64 * 1024, at + piece));
      const body = bodyOf(pieces, 12 * 64 * 1024);
      const isBody = at % 4 === 0;
      return isBody
        ? disk.tier.putBody(`${KEY}/${at}\n1-a`, body).catch(() => "refused")
        : disk.tier.put(page(`/${at}`, noise(40_000, at)));
    };
    for (let round = 0; round < byDepth({ test: 2, gate: 2, all: 8 }); round++) {
      await Promise.all(Array.from({ length: 40 }, (_, at) => put(round * 40 + at)));
    }
    await disk.settled();
    expect(most).toBeGreaterThan(maxBytes / 2);
    expect(most).toBeLessThanOrEqual(maxBytes);
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });

  test("holds while no file can be deleted: all stay in the index, and leave once they can be deleted or are gone", async () => {
    const maxBytes = 8 * MIB;
    let isBroken = true;
    let tried = 0;
    const files: DiskFiles = {
      ...diskFiles,
      unlink: async (path) => {
        tried++;
        if (isBroken) throw failure("EIO", "unlink");
        return diskFiles.unlink(path);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes, files });
    const { janitor } = disk;
    for (let at = 0; at < 100; at++) {
      await disk.tier.put(page(`/${at}`, noise(100_000, at)));
      await disk.settled();
    }
    expect(disk.bytesOnDisk()).toBeGreaterThan(7 * MIB);
    expect(disk.bytesOnDisk()).toBeLessThanOrEqual(maxBytes);
    const held = { files: disk.paths().length, bytes: disk.bytesOnDisk() };
    expect({ files: janitor.heldFiles, bytes: janitor.heldBytes }).toEqual(held);

    tried = 0;
    const line = janitor.connect();
    expect(await line.ask(MIB, MIB)).toBe(0);
    expect({ files: janitor.heldFiles, bytes: janitor.heldBytes }).toEqual(held);
    expect(tried).toBeLessThan(50);

    isBroken = false;
    expect(await line.ask(MIB, MIB)).toBe(MIB);
    expect(janitor.heldFiles).toBeGreaterThan(held.files / 2);
    expect(janitor.heldBytes).toBe(disk.bytesOnDisk());
    for (const path of disk.paths()) rmSync(path);
    expect(await line.ask(2 * MIB, 2 * MIB)).toBe(2 * MIB);
  });

  test("is one of files as well: there are no more than the index has room for, also after a restart", {
    tags: ["deep"],
  }, async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const few = (maxFiles: number) => new Janitor(disk.folder, 64 * MIB, { maxFiles });
    const janitor = few(20);
    await janitor.scan();
    const tier = disk.otherTier({ janitor: janitor.connect() });
    for (let at = 0; at < 50; at++) {
      await tier.put(page(`/${at}`, "text"));
      await tier.settled();
      await janitor.settled();
      expect(disk.paths().length).toBe(Math.min(at + 1, 20));
      expect(janitor.heldFiles).toBe(disk.paths().length);
    }
    await janitor.close();
    const next = few(10);
    await next.scan();
    await next.settled();
    expect([next.heldFiles, disk.paths().length]).toEqual([10, 10]);
  });

  describe("leaves room in the file system to others:", () => {
    const KEPT = 2 * MIB;
    let othersBytes: number;
    let disk: DiskUnderTest;
    let least: number;
    const free = () => 10 * MIB - othersBytes - disk.bytesOnDisk();
    let mostFiles: number;
    const filesOnDisk = () => disk.paths().length + readdirSync(disk.folder.draftsFolder).length;
    const files: DiskFiles = {
      ...diskFiles,
      freeRoom: async () => ({ bytes: free(), files: Math.max(0, mostFiles - filesOnDisk()), mostFiles }),
      write: async (...args) => {
        const written = await diskFiles.write(...args);
        least = Math.min(least, free());
        return written;
      },
    };
    const opened = (say: (line: string) => void = () => undefined) =>
      new Janitor(disk.folder, 64 * MIB, { files, keptFreeBytes: KEPT, say });
    /** As many bytes in few files, each of which is looked at after each write. */
    const PAGES = 100;
    const fill = async (janitor: Janitor, from: number, its = files, bytes = 100_000, pages = PAGES) => {
      const tier = disk.otherTier({ janitor: janitor.connect(), files: its });
      for (let at = from; at < from + pages; at++) await tier.put(page(`/${at}`, noise(bytes, at)));
      await tier.settled();
      await janitor.settled();
    };
    beforeEach(async () => {
      [othersBytes, least, mostFiles] = [0, Number.POSITIVE_INFINITY, 0]; // no bound of files
      disk = await DiskUnderTest.open(temporaryFolder());
    });

    test("files leave before that is used, and when others need more", { tags: ["deep"] }, async () => {
      const janitor = opened();
      await janitor.scan();
      await fill(janitor, 0);
      expect(least).toBeGreaterThanOrEqual(KEPT);
      expect(free()).toBeLessThan(KEPT + 5 * MIB); // the rest is used, but for what is granted and not written
      othersBytes = 5 * MIB;
      await fill(janitor, PAGES);
      expect(free()).toBeGreaterThanOrEqual(KEPT);
      expect(janitor.heldFiles).toBeGreaterThan(0);
      await janitor.close();
    });

    test("files leave when others need more, also while nobody asks for room", async () => {
      const janitor = opened();
      await janitor.scan();
      await fill(janitor, 0);
      othersBytes += free(); // also what was granted and is not written yet
      let looks = 0;
      await janitor.keepRoom(async () => {
        if (++looks > 1) await janitor.close();
      });
      expect(free()).toBeGreaterThanOrEqual(KEPT);
      expect(janitor.heldFiles).toBeGreaterThan(0);
    });

    test("where they leave none, it says so once, and once when there is room again", async () => {
      const said: string[] = [];
      const janitor = opened((line) => said.push(line));
      await janitor.scan();
      await fill(janitor, 0);
      expect(said).toEqual([]);
      othersBytes = 9 * MIB;
      await fill(janitor, PAGES);
      expect([said, janitor.heldFiles]).toEqual([[expect.stringMatching(/^Others have left no room .* in memory/)], 0]);
      othersBytes = 0;
      await fill(janitor, 2 * PAGES);
      expect(said).toHaveLength(1); // there may be room for one page, and none for the next
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
      onTestFinished(() => void vi.useRealTimers());
      await fill(janitor, 3 * PAGES);
      expect(said.slice(1)).toEqual([expect.stringMatching(/^There is room .* again\.$/)]);
      await janitor.close();
    });

    test("it does not say so for what it finds in its own folder, nor of one page and then of another", async () => {
      const earlier = opened();
      await earlier.scan();
      await fill(earlier, 0);
      await earlier.close();
      const said: string[] = [];
      const janitor = opened((line) => said.push(line));
      const line = janitor.connect();
      const give = async (bytes: number, orUpTo: number) => {
        const granted = await line.ask(bytes, orUpTo);
        if (granted > 0) line.tell([{ kind: "unused", bytes: granted }]);
        return granted > 0;
      };
      othersBytes += free() - KEPT; // just as much is free as is kept
      const scanned = janitor.scan();
      await give(40_000, 4 * MIB);
      await scanned;
      expect(said).toEqual([]);
      othersBytes = 10 * MIB - KEPT - 100_000;
      for (let each = 0; each < 3; each++) {
        expect(await give(40_000, 4 * MIB)).toBe(false);
        expect(await give(50_000, 50_000)).toBe(true);
      }
      expect(said).toHaveLength(1);
      await janitor.close();
    });

    const leaveInTime = async (bytes: number) => {
      let most = 0;
      const rename: DiskFiles["rename"] = async (...args) => {
        most = Math.max(most, filesOnDisk());
        return diskFiles.rename(...args);
      };
      const janitor = new Janitor(disk.folder, 64 * MIB, { files, keptFreeFiles: 10 });
      await janitor.scan();
      mostFiles = 160;
      await fill(janitor, 0, { ...files, rename }, bytes, 250);
      expect(most).toBeGreaterThan(140);
      expect(most).toBeLessThan(mostFiles);
      expect(await janitor.connect().ask(4096, 4096)).toBe(4096);
      expect([filesOnDisk(), janitor.heldFiles]).toEqual([150, 150]);
      await janitor.close();
    };
    test("files of 1000 bytes leave before no more can be created", () => leaveInTime(1000));
    test("files of 40000 bytes leave before no more can be created", { tags: ["deep"] }, () => leaveInTime(40_000));

    test("files stay where fewer can be created the fuller the disk is, as long as there is room for more", async () => {
      const freeRoom: DiskFiles["freeRoom"] = async () => {
        const more = Math.floor(free() / 512); // as on XFS
        return { bytes: free(), files: more, mostFiles: filesOnDisk() + more };
      };
      const janitor = new Janitor(disk.folder, 64 * MIB, { files: { ...files, freeRoom }, keptFreeFiles: 1280 });
      await janitor.scan();
      await fill(janitor, 0, files, 62_500);
      othersBytes = free() - 300_000;
      let looks = 0;
      await janitor.keepRoom(async () => {
        if (++looks > 1) await janitor.close();
      });
      expect(janitor.heldFiles).toBe(PAGES);
    });

    test.each([
      ["after five seconds", 5_000],
      ["once the clock was set back", -3_600_000],
    ])(
      "files that have left are not followed by others before the file system tells of their room, but %s they are",
      async (_, stepMs) => {
        vi.useFakeTimers({ toFake: ["Date"] });
        onTestFinished(() => void vi.useRealTimers());
        let told = () => free();
        const freeRoom: DiskFiles["freeRoom"] = async () => ({ bytes: told(), files: 0, mostFiles: 0 });
        const janitor = new Janitor(disk.folder, 64 * MIB, { files: { ...files, freeRoom }, keptFreeBytes: KEPT });
        await janitor.scan();
        await fill(janitor, 0);
        const before = janitor.heldFiles;
        othersBytes += free() - 100_000;
        const stale = free();
        told = () => stale;
        const line = janitor.connect();
        const heldAfterAsks = async () => {
          for (let each = 0; each < 10; each++) expect(await line.ask(4096, 4096)).toBe(0);
          return janitor.heldFiles;
        };
        const held = await heldAfterAsks();
        expect(held).toBeGreaterThan(before / 3);
        vi.setSystemTime(Date.now() + 4_999);
        expect(await heldAfterAsks()).toBe(held);
        vi.setSystemTime(Date.now() - 4_999 + stepMs);
        expect(await heldAfterAsks()).toBeLessThan(held);
        told = () => free();
        expect(await line.ask(4096, 4096)).toBe(4096);
        expect(free()).toBeGreaterThanOrEqual(KEPT);
        await janitor.close();
      },
    );

    test("files stay where their number has no bound", async () => {
      const janitor = new Janitor(disk.folder, 64 * MIB, { files });
      await janitor.scan();
      await fill(janitor, 0);
      expect(janitor.heldFiles).toBe(PAGES);
      await janitor.close();
    });

    test("a large body that is being written does not take its room twice", { tags: ["deep"] }, async () => {
      const janitor = opened();
      await janitor.scan();
      await fill(janitor, 0);
      const { readable, writable } = nodeBodies.pipe(3 * MIB);
      const tier = disk.otherTier({ janitor: janitor.connect(), files });
      const storing = tier.putBody(`${KEY}\n1-a`, readable);
      await writable.write(noise(64 * 1024));
      await janitor.settled();
      const held = janitor.heldFiles;
      for (let at = 1; at < 44; at++) await writable.write(noise(64 * 1024));
      await tier.settled();
      await fill(janitor, PAGES);
      expect(janitor.heldFiles).toBeGreaterThan(held * 0.8);
      expect(await disk.bytesOf(`https://www.example.test/${2 * PAGES - 1}`)).toBeDefined();
      for (let at = 44; at < 48; at++) await writable.write(noise(64 * 1024));
      await writable.close();
      await storing;
      const cutOff = nodeBodies.pipe(3 * MIB);
      const storingPart = tier.putBody(`${KEY}\n1-b`, cutOff.readable);
      for (let at = 0; at < 40; at++) await cutOff.writable.write(noise(64 * 1024));
      await cutOff.writable.abort(new Error("cut off"));
      await expect(storingPart).rejects.toThrow("cut off");
      await tier.settled();
      await fill(janitor, 2 * PAGES);
      expect(least).toBeGreaterThanOrEqual(KEPT);
      await janitor.close();
    });

    test("the scan makes room where too little was left, and a disk without any takes no files", {
      tags: ["deep"],
    }, async () => {
      const before = opened();
      await before.scan();
      await fill(before, 0);
      await before.close();
      othersBytes = 4 * MIB;
      expect(free()).toBeLessThan(KEPT);
      const after = opened();
      await after.scan();
      await after.settled();
      expect(free()).toBeGreaterThanOrEqual(KEPT);
      expect(after.heldFiles).toBeGreaterThan(0);
      othersBytes = 9 * MIB;
      expect(await after.connect().ask(MIB, MIB)).toBe(0);
      expect(after.heldFiles).toBe(0);
      await after.close();
    });
  });

  test("is not passed by a body that is larger than all of it, which is refused before it is written", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: MIB });
    const pieces = Array.from({ length: 40 }, (_, at) => noise(64 * 1024, at));
    await expect(disk.tier.putBody(`${KEY}\n1-a`, bodyOf(pieces, 40 * 64 * 1024))).rejects.toThrow("no room");
    await expect(disk.tier.putBody(`${KEY}\n1-b`, bodyOf(pieces))).rejects.toThrow("no room");
    await disk.tier.put(page("/a", "there is room for this"));
    expect(await disk.textOf(KEY)).toBe("there is room for this");
  });

  test.each([
    ["", false],
    [", also after a restart", true],
  ])(
    "a full disk has room for the largest body that is begun, and what visitors request most stays%s",
    {
      tags: ["deep"],
    },
    async (_, isOpenedAnew) => {
      const maxBytes = 16 * MIB;
      let disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes });
      const popular = Array.from({ length: 100 }, (_, at) => `/popular/${at}`);
      const look = (path: string) => disk.tier.get(`https://www.example.test${path}`);
      for (const path of popular) await disk.tier.put(page(path, noise(8000)));
      for (let round = 0; round < 4; round++) for (const path of popular) await look(path);
      for (let at = 0; at < 600; at++) await disk.tier.put(page(`/once/${at}`, noise(40_000)));
      await disk.settled();
      if (isOpenedAnew) {
        disk = await DiskUnderTest.open(disk.path, { maxBytes });
        for (let round = 0; round < 4; round++) for (const path of popular) await look(path);
        await disk.settled();
      }
      expect(disk.janitor.heldBytes).toBeGreaterThan(maxBytes * 0.85);

      const bytes = largestBodyBytes(maxBytes);
      expect(bytes).toBeGreaterThan(maxBytes * 0.43);
      const pieces = Array.from({ length: Math.ceil(bytes / MIB) }, (_, at) =>
        noise(Math.min(MIB, bytes - at * MIB), at),
      );
      await disk.tier.putBody(`${KEY}\n1-a`, bodyOf(pieces, bytes));
      await disk.settled();
      const body = await disk.tier.getBody(`${KEY}\n1-a`, null);
      expect((await readWhole(body!)).equals(Buffer.concat(pieces))).toBe(true);
      let held = 0;
      for (const path of popular) if (await look(path)) held++;
      expect(held).toBeGreaterThanOrEqual(95);
    },
  );

  test("has room for many small files at a time also while a large body reserves much of it", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const line = disk.janitor.connect();
    const room = (bytes: number) => line.ask(4096, bytes);
    expect(await room(MIB)).toBe(MIB);
    const large = disk.janitor.connect();
    expect(await large.ask(20 * MIB, 20 * MIB)).toBe(20 * MIB);
    expect([await room(4 * MIB), await room(8192)]).toEqual([256 * 1024, 8192]);
    expect(await large.ask(10 * MIB, 10 * MIB)).toBe(10 * MIB);
    expect(await room(4 * MIB)).toBe(4096); // the rest is for those who have none
  });

  test("before the folder is read, is the room that is always kept free, less what was written into it", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 16 * MIB, isScanned: false });
    const line = disk.janitor.connect();
    const file = (path: string) => disk.folder.nameOf(path, "entry");
    for (const path of ["/a", "/b"]) {
      expect(await line.ask(MIB / 2, MIB / 2)).toBe(MIB / 2);
      line.tell([{ kind: "put", file: file(path), bytes: MIB / 2 }]);
    }
    expect(await line.ask(4096, 4096)).toBe(0);
    await disk.janitor.scan();
    expect(await line.ask(4096, 4096)).toBe(4096);
  });

  test("room that a body of unknown length has left over is free again", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 256 * MIB });
    await disk.tier.putBody(`${KEY}\n1-a`, bodyOf(Array.from({ length: 5 }, () => noise(MIB))));
    await disk.settled();
    expect(disk.janitor.usedBytes).toBe(disk.janitor.heldBytes);
  });

  test("room that a process had asked for is free again when it has gone", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: MIB });
    const line = disk.janitor.connect();
    expect(await line.ask(400_000, 400_000)).toBe(400_000);
    expect(await disk.janitor.connect().ask(400_000, 400_000)).toBe(0);
    line.close();
    await disk.nextLook();
    expect(await disk.janitor.connect().ask(400_000, 400_000)).toBe(400_000);
    expect(await line.ask(1, 1)).toBe(0);
  });

  describe("while files are read slowly,", () => {
    const large = noise(3 * MIB);
    const bodyKey = (at: number) => `${KEY}/${at}\n1-a`;
    const store = (disk: DiskUnderTest, at: number, bytes = large) =>
      disk.tier.putBody(bodyKey(at), bodyOf([bytes], bytes.length)).then(
        () => "stored",
        () => "refused",
      );
    /** Reads the first block of a file. */
    const begin = async (tier: DiskTier, at: number) => {
      const reader = nodeBodies.readThrough((await tier.getBody(bodyKey(at), null))!);
      await reader.next();
      return reader;
    };

    test("holds with those that were deleted meanwhile, whose room is free after the last reader", async () => {
      const maxBytes = 16 * MIB;
      const { files, open } = countedFiles();
      const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes, files });
      const deletedBytes = () =>
        [...open]
          .map((fd) => fstatSync(fd))
          .filter(({ nlink }) => nlink === 0)
          .reduce((sum, { size }) => sum + size, 0);
      const readers: BodyReader[] = [];
      for (let at = 0; at < 10; at++) {
        if ((await store(disk, at)) === "stored") readers.push(await begin(disk.tier, at));
        await disk.settled();
        expect(disk.bytesOnDisk() + deletedBytes()).toBeLessThanOrEqual(maxBytes);
      }
      expect(await store(disk, 10)).toBe("refused");
      for (const reader of readers) await reader.cancel();
      await disk.settled();
      expect(await store(disk, 10)).toBe("stored");
    });

    test("those count once that are read while they are written, and when they were deleted since", async () => {
      const maxBytes = 16 * MIB;
      const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes });
      for (let at = 0; at < 20; at++) await disk.tier.put(page(`/${at}`, noise(500_000)));
      const readers: BodyReader[] = [];
      for (let at = 0; at < 6; at++) {
        const { readable, writable } = nodeBodies.pipe(large.length);
        const put = disk.tier.putBody(bodyKey(at), readable).catch(() => writable.abort(new Error("refused")));
        const body = await disk.tier.getBody(bodyKey(at), null);
        await disk.settled();
        if (at === 0) expect(disk.paths()).toHaveLength(20);
        await writable.write(large).catch(() => undefined);
        await writable.close();
        if (body) readers.push(nodeBodies.readThrough(body));
        await readers.at(-1)?.next();
        await put;
        await disk.settled();
      }
      expect(readers.length).toBeGreaterThan(3);
      expect(readers.length * large.length).toBeLessThanOrEqual(maxBytes);
      for (const reader of readers) await reader.cancel();
    });

    test("no page leaves for a body that would have no room then either", async () => {
      const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 16 * MIB });
      for (let at = 0; at < 4; at++) await store(disk, at);
      for (let at = 0; at < 10; at++) await disk.tier.put(page(`/${at}`, noise(40_000)));
      const readers = await Promise.all([0, 1, 2, 3].map((at) => begin(disk.tier, at)));
      await disk.settled();
      expect(await store(disk, 4, noise(6 * MIB))).toBe("refused");
      await disk.settled();
      expect(disk.paths()).toHaveLength(14);
      for (const reader of readers) await reader.cancel();
    });

    test("those count that were deleted before the janitor knows of their reader, and none twice", async () => {
      const disk = await DiskUnderTest.open(temporaryFolder());
      const line = disk.janitor.connect();
      const late: DiskNote[] = [];
      const other = disk.otherTier({ janitor: { ask: line.ask, tell: (notes) => void late.push(...notes) } });
      await disk.tier.put(page("/a", large));
      await disk.settled();
      const usedBytes = disk.janitor.usedBytes;
      const found = (await other.get(KEY)) as unknown as { body: FileBody };
      await disk.tier.delete(KEY);
      await disk.settled();
      await other.settled();
      line.tell(late.splice(0));
      expect(disk.janitor.usedBytes).toBe(usedBytes);
      await found.body.cancel();
      await other.settled();
      line.tell(late);
      expect(disk.janitor.usedBytes).toBeLessThan(usedBytes - 2 * MIB);
      const [reads, writes] = [disk.janitor.connect(), disk.janitor.connect()];
      const file = disk.folder.nameOf("late", "body");
      const before = disk.janitor.usedBytes;
      await writes.ask(MIB, MIB);
      reads.tell([{ kind: "opened", file, bytes: MIB }]);
      writes.tell([{ kind: "put", file, bytes: MIB }]);
      expect(disk.janitor.usedBytes).toBe(before + MIB);
    });

    test("what was replaced is free after its own readers, however many read what came after it", async () => {
      const disk = await DiskUnderTest.open(temporaryFolder());
      const file = disk.folder.nameOf("page", "body");
      const [reads, writes] = [disk.janitor.connect(), disk.janitor.connect()];
      const before = disk.janitor.usedBytes;
      const put = async () => {
        await writes.ask(MIB, MIB);
        writes.tell([{ kind: "put", file, bytes: MIB }]);
      };
      await put();
      reads.tell([{ kind: "opened", file, bytes: MIB }]);
      for (let again = 0; again < 20; again++) {
        await put();
        reads.tell([
          { kind: "opened", file, bytes: MIB },
          { kind: "closed", file },
        ]);
        expect(disk.janitor.usedBytes).toBe(before + 2 * MIB); // somebody still reads the first one
      }
      reads.tell([{ kind: "closed", file }]);
      expect(disk.janitor.usedBytes).toBe(before + MIB);
    });

    test("what a process has read and others have deleted is free when it has gone", async () => {
      const disk = await DiskUnderTest.open(temporaryFolder());
      const line = disk.janitor.connect();
      const other = disk.otherTier({ janitor: line });
      await store(disk, 0);
      await disk.tier.put(page("/a", large));
      const found = (await other.get(KEY)) as unknown as { body: FileBody };
      const reader = await begin(other, 0);
      await other.settled();
      await disk.settled();
      const usedBytes = disk.janitor.usedBytes;
      await disk.tier.delete(KEY);
      await disk.tier.put(page("/a", "small"));
      await disk.settled();
      expect(disk.janitor.usedBytes).toBeGreaterThanOrEqual(usedBytes);
      line.close();
      await disk.settled();
      expect(disk.janitor.usedBytes).toBeLessThan(usedBytes - 2 * MIB);
      await Promise.all([reader.cancel(), found.body.cancel()]);
    });
  });

  test("drafts of a process that has died do not outlive it, and take their room until then", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: MIB });
    const line = disk.janitor.connect();
    const other = disk.janitor.connect();
    expect(await line.ask(400_000, 400_000)).toBe(400_000);
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const [dead, alive] = [pid, process.pid].map((each) => `${each}-aaaaaaaa-1`);
    for (const name of [dead!, alive!]) writeFileSync(join(disk.folder.draftsFolder, name), noise(1000));
    line.close();
    expect(disk.janitor.usedBytes).toBe(400_000);
    expect(await other.ask(400_000, 400_000)).toBe(0);
    await disk.nextLook();
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([alive]);
    expect(disk.janitor.usedBytes).toBe(0);
    expect(await other.ask(400_000, 400_000)).toBe(400_000);
  });

  test("counts what a killed process could not tell of as taken, finds it soon, and counts no file twice", async () => {
    let lists = 0;
    const list = (folder: string) => {
      lists++;
      return diskFiles.list(folder);
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files: { ...diskFiles, list } });
    const { janitor } = disk;
    const [killed, slow] = [janitor.connect(), janitor.connect()];
    const dying = disk.otherTier({ janitor: { ask: killed.ask, tell: () => undefined } });
    const late: DiskNote[] = [];
    const other = disk.otherTier({ janitor: { ask: slow.ask, tell: (notes) => void late.push(...notes) } });
    await dying.put(page("/a", noise(100_000)));
    await dying.putBody(`${KEY}\n1-a`, bodyOf([noise(2 * MIB)]));
    await other.put(page("/b", noise(100_000)));
    await other.end();
    const usedBytes = janitor.usedBytes;
    killed.close();
    expect(janitor.usedBytes).toBe(usedBytes);
    await disk.nextLook();
    slow.tell(late);
    expect(janitor.heldFiles).toBe(3);
    expect([janitor.heldBytes, janitor.usedBytes]).toEqual([disk.bytesOnDisk(), disk.bytesOnDisk()]);
    lists = 0;
    slow.close(); // It has told of everything, and has no room left.
    await disk.nextLook();
    expect(lists).toBe(0);
  });

  test("looks again for what a killed process could not tell of if the folder cannot be read, or was being read", async () => {
    let isBroken = false;
    let onList = () => {};
    const files: DiskFiles = {
      ...diskFiles,
      list: async (folder) => {
        if (isBroken) throw failure("EMFILE", "scandir");
        const names = await diskFiles.list(folder);
        if (folder.endsWith("/f")) onList();
        return names;
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files });
    const lines = [disk.janitor.connect(), disk.janitor.connect()];
    for (const [at, { ask }] of lines.entries()) {
      await disk.otherTier({ janitor: { ask, tell: () => undefined } }).put(page(`/${at}`, noise(100_000)));
    }
    const usedBytes = disk.janitor.usedBytes;
    lines[0]!.close();
    isBroken = true;
    await disk.nextLook();
    expect(disk.janitor.usedBytes).toBe(usedBytes);
    isBroken = false;
    onList = () => lines[1]!.close();
    await disk.nextLook();
    expect(disk.janitor.usedBytes).toBeGreaterThan(disk.bytesOnDisk());
    await disk.nextLook();
    expect(disk.janitor.heldFiles).toBe(2);
    expect(disk.janitor.usedBytes).toBe(disk.bytesOnDisk());
  });

  test("counts what a process has written last, however soon it ends afterwards", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const served = janitorService(disk.janitor).connect();
    const line = { ask: async (question: unknown) => served.ask(question), tell: served.tell };
    const tier = disk.otherTier({ janitor: janitorBehind(line) });
    await tier.putBody(`${KEY}\n1-a`, bodyOf([noise(MIB)], MIB));
    await tier.put(page("/a", "text"));
    await tier.settled();
    expect(disk.janitor.heldFiles).toBe(2);
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });

  test("counts a file that a process has stored since another one deleted it, whose note comes later", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const line = disk.janitor.connect();
    const late: DiskNote[] = [];
    const deleting = disk.otherTier({ janitor: { ask: line.ask, tell: (notes) => void late.push(...notes) } });
    await disk.tier.put(page("/a", "old"));
    await disk.settled();
    await deleting.delete(KEY);
    await deleting.settled();
    await disk.tier.put(page("/a", "new"));
    await disk.tier.compression.writeCoded(KEY, "br", { digest: "d", bytes: noise(1000) });
    await disk.settled();
    expect(late).toHaveLength(1);
    line.tell(late);
    await disk.settled();
    expect(await disk.textOf(KEY)).toBe("new");
    expect(await disk.tier.compression.readCoded(KEY, "br")).toBeDefined();
    expect(disk.janitor.heldFiles).toBe(2);
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });

  test("nothing is held of files that have left", async () => {
    const files: DiskFiles = { ...diskFiles, unlink: async () => undefined };
    const { folder, janitor } = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 4 * MIB, files });
    const line = janitor.connect();
    const put = (file: number): DiskNote => ({ kind: "put", file: folder.nameOf(`${file}`, "entry"), bytes: 4000 });
    const store = async (from: number, to: number) => {
      for (let at = from; at < to; at += 10) {
        expect(await line.ask(40_960, 40_960)).toBe(40_960);
        line.tell(Array.from({ length: 10 }, (_, each) => put(at + each)));
      }
      await janitor.settled();
    };
    await store(0, 5_000); // the index is full, and its tables have grown
    const usedAtFirst = usedHeapBytes();
    await store(5_000, 30_000);
    expect(janitor.evictions).toBeGreaterThan(20_000);
    expect(usedHeapBytes() - usedAtFirst).toBeLessThan(500_000);
  });

  test("a janitor that is closed gives no room, which another one may have given already", async () => {
    const { janitor } = await DiskUnderTest.open(temporaryFolder());
    const line = janitor.connect();
    await janitor.close();
    expect(await line.ask(1, 1)).toBe(0);
  });

  test("an entry that a process stores after another janitor has taken over is counted a minute later", async () => {
    const path = temporaryFolder();
    const old = await DiskUnderTest.open(path);
    await old.tier.put(page("/a", "text")); // It has room for more.
    await old.janitor.close();
    const next = await DiskUnderTest.open(path, { isScanned: false });
    await next.janitor.scanUntilRead(async (ms) => {
      expect([ms, next.janitor.heldFiles]).toEqual([60_000, 1]);
      await old.tier.put(page("/b", "text"));
    });
    expect(next.janitor.heldFiles).toBe(2);
    expect(next.janitor.heldBytes).toBe(next.bytesOnDisk());
  });

  test("a large body that is finished after another janitor has taken over does not stay, because nobody counts it", async () => {
    const path = temporaryFolder();
    const old = await DiskUnderTest.open(path);
    await old.tier.put(page("/a", "text"));
    await old.settled();
    const { readable, writable } = nodeBodies.pipe(MIB);
    const storing = old.tier.putBody(`${KEY}\n1-a`, readable);
    await writable.write(noise(MIB).subarray(0, 1000));
    await old.janitor.close();
    const next = await DiskUnderTest.open(path);
    await writable.write(noise(MIB).subarray(1000));
    await writable.close();
    await storing;
    await old.settled();
    expect(next.janitor.heldFiles).toBe(1);
    expect(next.bytesOnDisk()).toBe(next.janitor.heldBytes);
    expect(await next.textOf(KEY)).toBe("text");
  });

  test("a scan through a thousand pages does not evict those that visitors request", { tags: ["deep"] }, async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 2 * MIB });
    const popular = Array.from({ length: 100 }, (_, at) => `/popular/${at}`);
    for (let round = 0; round < 4; round++) {
      for (const path of popular) {
        if (!(await disk.tier.get(`https://www.example.test${path}`))) await disk.tier.put(page(path, noise(8000)));
      }
      await disk.settled();
    }
    for (let at = 0; at < 1000; at++) {
      await disk.tier.put(page(`/crawled/${at}`, noise(8000)));
      const path = popular[at % popular.length]!;
      if (at % 5 === 0) await disk.tier.get(`https://www.example.test${path}`);
    }
    await disk.settled();
    let held = 0;
    for (const path of popular) if (await disk.tier.get(`https://www.example.test${path}`)) held++;
    expect(held).toBeGreaterThanOrEqual(95);
  });
});

describe("a disk that fails", () => {
  /** A file system on which these calls fail with this code while `isBroken`. */
  function failing(code: string, calls: readonly (keyof DiskFiles)[]): { files: DiskFiles; isBroken: boolean } {
    const state = { files: { ...diskFiles }, isBroken: false };
    for (const call of calls) {
      const real = diskFiles[call] as (...args: unknown[]) => unknown;
      Object.assign(state.files, {
        [call]: (...args: unknown[]) => {
          if (!state.isBroken || (call === "open" && args[1] !== "wx")) return real(...args);
          throw failure(code, call);
        },
      });
    }
    return state;
  }

  test.each([
    ["ENOSPC", ["write"], "the disk is full"],
    ["EDQUOT", ["write"], "the disk quota is used up"],
    ["EROFS", ["open"], "the disk is read-only"],
    ["EACCES", ["open"], "access is denied"],
    ["EMFILE", ["open"], "too many files are open"],
    ["EIO", ["write"], "the disk reports an error"],
    ["ENOENT", ["open", "rename"], "its folder is missing; if it was removed, restart the server"],
  ] as const)(
    "%s: pages are kept in memory alone, which is said once, and again when it is over",
    async (code, calls, words) => {
      const state = failing(code, calls);
      const disk = await DiskUnderTest.open(temporaryFolder(), { files: state.files });
      await disk.tier.put(page("/before", "stored before"));
      state.isBroken = true;
      for (let at = 0; at < 5; at++) await disk.tier.put(page(`/${at}`, "text"));
      await expect(disk.tier.putBody(`${KEY}\n1-a`, bodyOf([noise(1000)]))).rejects.toThrow("cannot write now");
      expect(disk.lines).toEqual([
        `The cache in ${disk.path} cannot be used (${code}: ${words}). For now, pages are kept only in memory.`,
      ]);
      expect(await disk.textOf("https://www.example.test/before")).toBe("stored before");
      expect(await disk.textOf("https://www.example.test/0")).toBeUndefined();

      state.isBroken = false;
      await disk.tier.put(page("/a", "too early to try again"));
      expect(await disk.textOf(KEY)).toBeUndefined();
      disk.now += 5_000;
      await disk.tier.put(page("/a", "stored again"));
      expect(await disk.textOf(KEY)).toBe("stored again");
      expect(disk.lines).toHaveLength(2);
      expect(disk.lines[1]).toBe(`The cache in ${disk.path} works again.`);
      await disk.settled();
      expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
    },
  );

  test("is tried again although the clock was set back by an hour", async () => {
    const state = failing("ENOSPC", ["write"]);
    const disk = await DiskUnderTest.open(temporaryFolder(), { files: state.files });
    state.isBroken = true;
    await disk.tier.put(page("/a", "text"));
    state.isBroken = false;
    disk.now -= 3_600_000;
    await disk.tier.put(page("/a", "stored again"));
    expect(await disk.textOf(KEY)).toBe("stored again");
  });

  test("is not taken for an empty one when a file is looked for", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const inFolder = dirname(disk.folder.pathOf(disk.folder.nameOf(KEY, "entry")));
    rmSync(inFolder, { recursive: true });
    symlinkSync(inFolder, inFolder);
    expect(await disk.tier.get(KEY)).toBeUndefined();
    expect(disk.tier.compression.hasCoded(KEY, "br")).toBe(false);
    expect(disk.lines).toEqual([expect.stringContaining("cannot be used (ELOOP: the disk fails)")]);
  });

  test("by hanging does not fill the memory: what is beyond a bound is not written, which is said", async () => {
    const hanging = Promise.withResolvers<FailedFiles>();
    let writes = 0;
    const write = () => {
      writes++;
      return hanging.promise;
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { writer: () => ({ write }), maxBytes: 1024 * MIB });
    const body = new Uint8Array(200 * 1024);
    const puts = Array.from({ length: 200 }, (_, at) => disk.tier.put(page(`/${at}`, body))); // 39 MiB
    await disk.tier.put(page("/late", body));
    expect(disk.lines).toEqual([
      `The disk of the cache in ${disk.path} is too slow, so some pages are kept only in memory: 1 so far.`,
    ]);
    hanging.resolve(new Map());
    await Promise.all(puts);
    expect(writes).toBe(160); // 32 MiB
    await disk.tier.put(page("/later", body));
    expect(writes).toBe(161);
  });

  test("leaves no file open: neither an entry nor a body that can be read in part", async () => {
    const { files: counted, open } = countedFiles();
    let readable = Number.POSITIVE_INFINITY;
    const files: DiskFiles = {
      ...counted,
      read: async (...args) => {
        if (readable-- <= 0) throw failure("EIO", "read");
        return diskFiles.read(...args);
      },
    };
    const options = { files, cached: false, maxBytes: 1024 * MIB };
    const disk = await DiskUnderTest.open(temporaryFolder(), options);
    await disk.tier.put(page("/a", noise(MIB)));
    await disk.tier.putBody(`${KEY}\n1-a`, bodyOf([noise(MIB)]));
    for (const reads of [0, 1]) {
      readable = reads;
      expect(await disk.tier.get(KEY)).toBeUndefined();
      readable = reads;
      expect(await disk.tier.getBody(`${KEY}\n1-a`, null)).toBeUndefined();
      expect(open.size).toBe(0);
    }
  });

  test("EIO while reading is a miss, and is said once", async () => {
    const state = failing("EIO", ["read"]);
    const disk = await DiskUnderTest.open(temporaryFolder(), { files: state.files, cached: false });
    await disk.tier.put(page("/a", "text"));
    state.isBroken = true;
    expect(await disk.tier.get(KEY)).toBeUndefined();
    expect(await disk.tier.get(KEY)).toBeUndefined();
    state.isBroken = false;
    disk.now += 5_000;
    expect(await disk.textOf(KEY)).toBe("text");
    expect(disk.lines).toHaveLength(2);
  });

  test("while it reads and writes by turns has failed once, until nothing has failed for some seconds", async () => {
    let opens = 0;
    let isBroken = false;
    const files: DiskFiles = {
      ...diskFiles,
      open: async (path, flags) => {
        if (isBroken && flags === "r" && opens++ % 2 === 0) throw failure("EMFILE", "open");
        return diskFiles.open(path, flags);
      },
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files, cached: false });
    await disk.tier.put(page("/a", "text"));
    isBroken = true;
    for (let at = 0; at < 10; at++) {
      expect(await disk.textOf(KEY)).toBe(at % 2 === 0 ? undefined : "text");
      await disk.tier.put(page(`/${at}`, "text"));
      disk.now += 1_000;
    }
    expect(disk.lines).toEqual([expect.stringContaining("cannot be used (EMFILE: too many files are open)")]);
    isBroken = false;
    disk.now += 2_999;
    expect(await disk.textOf(KEY)).toBe("text");
    expect(disk.lines).toHaveLength(1);
    disk.now += 1;
    expect(await disk.textOf(KEY)).toBe("text");
    expect(disk.lines).toEqual([expect.anything(), `The cache in ${disk.path} works again.`]);
  });
});

test("a dictionary is another process's, too, until one drops it", async () => {
  const disk = await DiskUnderTest.open(temporaryFolder());
  const other = disk.otherTier();
  const bytes = noise(1000);
  await disk.tier.compression.writeDictionary("family hash", { about: "of a test", bytes });
  expect(await other.compression.readDictionary("family hash")).toEqual({ about: "of a test", bytes });
  await other.compression.dropDictionary("family hash");
  expect(await disk.tier.compression.readDictionary("family hash")).toBeUndefined();
  await other.settled();
  await disk.settled();
  expect(disk.janitor.heldFiles).toBe(0);
  expect(disk.paths()).toEqual([]);
});

test("a variant marker comes back as it was", async () => {
  const disk = await DiskUnderTest.open(temporaryFolder());
  const marker = {
    head: { key: KEY, stamp: { logId: "log", seq: 1 }, fetchedAt: 1 },
    variants: [
      {
        key: `${KEY} x`,
        fields: [["accept-language", "für ~"]] as const,
        encoding: null,
        fetchedAt: 1,
        freshUntil: 0,
        variesBy: [],
      },
    ],
  };
  await disk.tier.put(marker);
  const found = await disk.tier.get(KEY);
  expect(found && isMarker(found) && found).toEqual(marker);
});
