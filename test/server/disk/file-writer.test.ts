import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type FileWriter, WriterThread } from "../../../server/disk/file-writer.ts";
import { DiskUnderTest, noise, page, temporaryFolder } from "./disk-under-test.ts";

describe("the thread that writes files", () => {
  test("writes each whole, and leaves no draft", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "drafts"));
    const writer = new WriterThread();
    const files = Array.from({ length: 200 }, (_, at) => ({ name: `${at}`, bytes: noise(1 + at * 321, at) }));
    const writes = files.map(({ name, bytes }, at) =>
      writer.write(join(folder, "drafts", name), join(folder, name), [bytes.subarray(0, at), bytes.subarray(at)]),
    );
    await Promise.all(writes);
    for (const { name, bytes } of files) expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
    expect(readdirSync(join(folder, "drafts"))).toEqual([]);
  });

  test("names the call that failed, and writes the other files of the batch", async () => {
    const folder = temporaryFolder();
    const writer = new WriterThread();
    const write = (draft: string, name: string) => writer.write(join(folder, draft), join(folder, name), [noise(10)]);
    const results = await Promise.allSettled([
      write("draft-1", "one"),
      write("missing/draft-2", "two"),
      write("draft-3", "missing/three"),
      write("draft-4", "four"),
    ]);
    const causes = results.map((result) => (result.status === "rejected" ? result.reason : null));
    expect(causes).toEqual([
      null,
      expect.objectContaining({ code: "ENOENT", syscall: "open" }),
      expect.objectContaining({ code: "ENOENT", syscall: "rename" }),
      null,
    ]);
    expect(readdirSync(folder).sort()).toEqual(["draft-3", "four", "one"]);
  });

  test("says when the thread has ended, and starts another one", async () => {
    const folder = temporaryFolder();
    const writer = new WriterThread(fileURLToPath(new URL("ending-thread.ts", import.meta.url)));
    const write = () => writer.write(join(folder, "draft"), join(folder, "file"), [noise(10)]);
    await expect(write()).rejects.toThrow("The thread that writes files has ended.");
    await expect(write()).rejects.toThrow("The thread that writes files has ended.");
  });
});

describe("a disk tier with such a thread", () => {
  test("finds what it has written, small, large and replaced", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { writer: new WriterThread() });
    const bodies = [0, 1, 5_000, 255 * 1024, 300 * 1024].map((bytes) => Buffer.from(noise(bytes, bytes)));
    await Promise.all(bodies.map((body, at) => disk.tier.put(page(`/${at}`, body))));
    await disk.tier.put(page("/1", "another body"));
    await disk.settled();
    for (const [at, body] of bodies.entries()) {
      const expected = at === 1 ? Buffer.from("another body") : body;
      expect((await disk.bytesOf(`https://www.example.test/${at}`))?.equals(expected)).toBe(true);
    }
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  });

  test("keeps a full disk's owner informed, and works on", async () => {
    const full: FileWriter = {
      write: () => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "write" })),
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { writer: full });
    await disk.tier.put(page("/a", "body"));
    await disk.settled();
    expect(await disk.textOf("https://www.example.test/a")).toBeUndefined();
    expect(disk.lines).toEqual([expect.stringContaining("ENOSPC")]);
  });
});
