import { readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LockFolder } from "../../../server/cache-lock/lock-folder.ts";
import { temporaryFolder } from "../disk/disk-under-test.ts";

test("a dead owner's lock is not removed once another process has taken it", () => {
  const folder = LockFolder.open(temporaryFolder());
  const name = "0123456789abcdef".repeat(2);
  const lock = join(folder.path, name);
  symlinkSync("1-0badc0de", lock);
  vi.spyOn(folder, "isOf").mockImplementationOnce(() => {
    rmSync(lock);
    symlinkSync("2-0badc0de", lock);
    return true; // it was so before
  });
  expect(folder.removeOfDead(name, "1-0badc0de", "3-0badc0de")).toBe(true);
  expect(readlinkSync(lock)).toBe("2-0badc0de");
});
