import { execFileSync, fork } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import { janitorService } from "../../../server/disk/eviction/janitor-service.ts";
import { StorageError } from "../../../server/log/storage-error.ts";
import type { ServiceMessage } from "../../../server/supervisor/process-line.ts";
import { byDepth } from "../../suite/depth.ts";
import { SmallDisk } from "../../suite/small-disk.ts";
import { bodyOf, DiskUnderTest, noise, page, readWhole, temporaryFolder } from "./disk-under-test.ts";

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url));
const MIB = 1024 * 1024;

test("two processes that write at once never take more than the bound, and the index knows every file", {
  tags: ["deep"],
}, async () => {
  const maxBytes = 6 * MIB;
  const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes });
  let most = 0;
  const write = (writer: number) => {
    const child = fork(WRITER, [disk.path, String(writer), "200"]);
    const line = janitorService(disk.janitor).connect();
    child.on("message", (message: ServiceMessage) => {
      most = Math.max(most, disk.bytesOnDisk());
      if (message.kind === "tell") line.tell(message.message);
      else
        void line
          .ask(message.question)
          .then((answer) => child.send({ kind: "answer", number: message.number, answer }));
    });
    return new Promise<number | null>((resolve) =>
      child.on("exit", (code) => {
        line.close();
        resolve(code);
      }),
    );
  };
  expect(await Promise.all([write(1), write(2)])).toEqual([0, 0]);
  await disk.settled();
  expect(most).toBeGreaterThan(maxBytes / 2);
  expect(most).toBeLessThanOrEqual(maxBytes);
  expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  expect(disk.janitor.usedBytes).toBe(disk.janitor.heldBytes);
});

const canMount = process.getuid?.() === 0 && tryMount();

describe.skipIf(!canMount)("a disk that is really full (a tmpfs of 2 MiB; only root can mount one)", () => {
  test("keeps what it has, says so once, and stores again when there is room", async () => {
    const path = temporaryFolder();
    mount(path);
    onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
    const disk = await DiskUnderTest.open(path, { maxBytes: 64 * MIB });
    for (let at = 0; at < 80; at++) await disk.tier.put(page(`/${at}`, noise(40_000, at)));
    expect(disk.lines).toEqual([expect.stringContaining("(ENOSPC: the disk is full)")]);
    expect((await disk.bytesOf("https://www.example.test/0"))?.equals(noise(40_000, 0))).toBe(true);
    expect(await disk.bytesOf("https://www.example.test/79")).toBeUndefined();
    await expect(disk.tier.putBody("https://www.example.test/b\n1", bodyOf([noise(MIB)]))).rejects.toThrow();
    for (let at = 0; at < 20; at++) await disk.tier.delete(`https://www.example.test/${at}`);
    disk.now += 5_000;
    await disk.tier.put(page("/again", "there is room"));
    expect(await disk.textOf("https://www.example.test/again")).toBe("there is room");
    expect(disk.lines).toHaveLength(2);
    await disk.settled();
    expect(disk.janitor.heldBytes).toBe(disk.bytesOnDisk());
  });
});

describe("a disk on which no more files can be created", () => {
  let disk: SmallDisk;

  beforeEach((context) => {
    disk = new SmallDisk(temporaryFolder(), "2m,nr_inodes=64");
    if (!disk.isMounted) context.skip("small disks cannot be mounted here");
    onTestFinished(() => disk.unmount());
  });

  /** Until there is no more of them. */
  function createFiles(): void {
    for (let at = 0; statfsSync(disk.path).ffree > 0; at++) writeFileSync(join(disk.path, `${at}`), "");
  }

  test("is not called full, because there is room", async () => {
    const { tier, lines } = await DiskUnderTest.open(join(disk.path, "pages"));
    createFiles();
    await tier.put(page("/a", "text"));
    expect(lines).toEqual([expect.stringContaining("(ENOSPC: the file system has no inodes left)")]);
  });

  test("is not called full, though another process deletes a file right after one could not be created", async () => {
    const open: DiskFiles["open"] = async (...args) => {
      try {
        return await diskFiles.open(...args);
      } catch (cause) {
        rmSync(join(disk.path, "0"));
        throw cause;
      }
    };
    const { tier, lines } = await DiskUnderTest.open(join(disk.path, "pages"), { files: { ...diskFiles, open } });
    createFiles();
    await tier.put(page("/a", "text"));
    expect(lines).toEqual([expect.stringContaining("(ENOSPC: the file system has no inodes left)")]);
  });

  test("is not called full by a purge log either", () => {
    createFiles();
    const error = new StorageError(join(disk.path, "log"), "full", null);
    expect(error.message).toContain("the file system has no inodes left");
  });
});

test.runIf(byDepth({ test: false, gate: false, all: true }))(
  "a body of 1 GiB is stored and read without being held in memory",
  { timeout: 300_000 },
  async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: 4 * 1024 * MIB });
    const piece = noise(64 * 1024);
    const key = "https://www.example.test/film\n1";
    let most = 0;
    const before = process.memoryUsage.rss();
    function* pieces() {
      for (let at = 0; at < 16 * 1024; at++) {
        if (at % 256 === 0) most = Math.max(most, process.memoryUsage.rss());
        yield piece;
      }
    }
    await disk.tier.putBody(key, bodyOf(pieces(), 16 * 1024 * piece.byteLength));
    const body = await disk.tier.getBody(key, null);
    const { nodeBodies } = await import("../../../server/bodies/node-bodies.ts");
    const reader = nodeBodies.readThrough(body!);
    let readBytes = 0;
    for (let next = await reader.next(); next !== null; next = await reader.next()) {
      readBytes += next.byteLength;
      most = Math.max(most, process.memoryUsage.rss());
    }
    expect(readBytes).toBe(1024 * MIB);
    const last = await disk.tier.getBody(key, { first: 1024 * MIB - 10, last: 1024 * MIB - 1 });
    expect((await readWhole(last!)).equals(piece.subarray(-10))).toBe(true);
    expect(most - before).toBeLessThan(192 * MIB);
  },
);

function mount(path: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", path], { stdio: "ignore" });
}

function tryMount(): boolean {
  const path = "/tmp";
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
