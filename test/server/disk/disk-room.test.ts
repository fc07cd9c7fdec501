import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keptFiles, keptForLogs, whyLittleRoom } from "../../../server/startup/disk-room.ts";
import { SmallDisk } from "../../suite/small-disk.ts";

const MIB = 1024 ** 2;

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
const disk = new SmallDisk(join(folder, "disk"), "64m");
const NOT_RUN = "room on a disk of its own is SKIPPED, because small disks cannot be mounted here";
if (!disk.isMounted) process.stdout.write(`${NOT_RUN}\n`);

afterAll(() => {
  disk.unmount();
  rmSync(folder, { recursive: true });
});

test("pages leave an eighth of their file system, at most 128 MiB, to a purge log there", () => {
  const { blocks, bsize } = statfsSync(folder);
  const eighth = Math.floor((blocks * bsize) / 8);
  expect(keptForLogs(join(folder, "cache/pages"), [join(folder, "cache/log")])).toBe(Math.min(eighth, 128 * MIB));
});

describe.skipIf(!disk.isMounted)(disk.isMounted ? "on a disk of 64 MiB" : NOT_RUN, () => {
  const pages = join(disk.path, "cache/pages");
  const elsewhere = join(folder, "cache/log");

  test("pages leave 8 MiB to a purge log there, also if other logs are elsewhere, and nothing if all are", () => {
    expect(keptForLogs(pages, [elsewhere, join(disk.path, "cache/log")])).toBe(8 * MIB);
    expect(keptForLogs(pages, [elsewhere])).toBe(0);
  });

  test("pages leave a sixteenth of the files that there can be, and none where their number has no bound", () => {
    const { files } = statfsSync(disk.path);
    expect(keptFiles(pages)).toBe(Math.min(Math.floor(files / 16), 65_536));
    expect(statfsSync("/proc").files).toBe(0);
    expect(keptFiles("/proc")).toBe(0);
  });

  describe("of which 16 MiB are used,", () => {
    const used = join(disk.path, "used");
    beforeAll(() => writeFileSync(used, Buffer.alloc(16 * MIB)));

    test("a new server may have what is free, beside what stays for the log", () => {
      expect(whyLittleRoom(pages, 48 * MIB, 0)).toBeNull();
      expect(whyLittleRoom(pages, 40 * MIB, 8 * MIB)).toBeNull();
      expect(whyLittleRoom(pages, 49 * MIB, 0)).toBe(
        `--disk is 49MiB, but the file system of ${disk.path} has only 48MiB free. ` +
          "Pages use what is there. Set a smaller --disk, or get a larger disk.",
      );
      expect(whyLittleRoom(pages, 41 * MIB, 8 * MIB)).toContain(
        "has only 48MiB free, of which 8MiB stay free for the purge log. Pages",
      );
    });

    test("a server with pages of an earlier run may have all of it, because they may be what is used", () => {
      mkdirSync(pages, { recursive: true });
      expect(whyLittleRoom(pages, 56 * MIB, 8 * MIB)).toBeNull();
      expect(whyLittleRoom(pages, 57 * MIB, 8 * MIB)).toContain(
        `the file system of ${pages} has only 64MiB, of which 8MiB stay free for the purge log. Pages`,
      );
      rmSync(join(disk.path, "cache"), { recursive: true });
    });
  });
});
