import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import { BLOCK_BYTES } from "../../../server/disk/file-format.ts";
import type { BodyReader } from "../../../worker/ports/bodies.ts";
import { bodyOf, DiskUnderTest, noise, page, temporaryFolder } from "./disk-under-test.ts";

const BLOCKS = 8;
const BYTES = noise(BLOCKS * BLOCK_BYTES);
const DOWNLOADS = 30;
const KEY = "https://www.example.test/large\n1-a";

/** A disk with one large body, which counts the reads of blocks that are under way. */
async function diskWithBody(read: DiskFiles["read"] = diskFiles.read) {
  const reads = { now: 0, most: 0, all: 0 };
  const files: DiskFiles = {
    ...diskFiles,
    read: async (fd, into, length, position) => {
      if (length !== BLOCK_BYTES) return diskFiles.read(fd, into, length, position);
      reads.all++;
      reads.most = Math.max(reads.most, ++reads.now);
      try {
        return await read(fd, into, length, position);
      } finally {
        reads.now--;
      }
    },
  };
  const disk = await DiskUnderTest.open(temporaryFolder(), { files, cached: false });
  await disk.tier.putBody(KEY, bodyOf([BYTES], BYTES.byteLength));
  return { disk, tier: disk.tier, reads };
}

async function readers(tier: DiskUnderTest["tier"], count = DOWNLOADS): Promise<BodyReader[]> {
  const bodies = await Promise.all(Array.from({ length: count }, () => tier.getBody(KEY, null)));
  return bodies.map((body) => nodeBodies.readThrough(body!));
}

test("many downloads take turns, so that others come in between: two blocks at a time, and no download is far ahead", async () => {
  const { tier, reads } = await diskWithBody();
  const blocks = new Array<number>(DOWNLOADS).fill(0);
  let ofThisTurn = 0;
  let mostInATurn = 0;
  let isOver = false;
  const turns = (async () => {
    while (!isOver) {
      ofThisTurn = 0;
      await turn();
      mostInATurn = Math.max(mostInATurn, ofThisTurn);
    }
  })();
  await Promise.all(
    (await readers(tier)).map(async (reader, at) => {
      while ((await reader.next()) !== null) {
        ofThisTurn++;
        blocks[at]!++;
        expect(blocks[at]! - Math.min(...blocks)).toBeLessThanOrEqual(2);
      }
    }),
  );
  isOver = true;
  await turns;
  expect(blocks).toEqual(new Array(DOWNLOADS).fill(BLOCKS));
  expect(reads).toEqual({ now: 0, most: 2, all: DOWNLOADS * BLOCKS });
  expect(mostInATurn).toBeLessThanOrEqual(2);
});

test("a small page is read while a slow disk holds up the downloads", async () => {
  const held = Promise.withResolvers<void>();
  const { disk, tier, reads } = await diskWithBody(async (...read) => {
    await held.promise;
    return diskFiles.read(...read);
  });
  await tier.put(page("/small", "text"));
  const downloads = (await readers(tier)).map((reader) => reader.next());
  expect(await disk.textOf("https://www.example.test/small")).toBe("text");
  expect(reads.now).toBe(2);
  held.resolve();
  await Promise.all(downloads);
});

test("a download that is cancelled while it waits reads nothing, and the others go on", async () => {
  const held = Promise.withResolvers<void>();
  const { tier, reads } = await diskWithBody(async (...read) => {
    await held.promise;
    return diskFiles.read(...read);
  });
  const all = await readers(tier, 5);
  const asked = all.map((reader) => reader.next());
  const cancelled = all.slice(2, 4).map((reader) => reader.cancel());
  held.resolve();
  await Promise.all(cancelled);
  expect((await Promise.all(asked)).map((piece) => piece?.byteLength)).toEqual([
    BLOCK_BYTES,
    BLOCK_BYTES,
    undefined,
    undefined,
    BLOCK_BYTES,
  ]);
  expect(reads.all).toBe(3);
});

test("a read that fails gives up its turn", async () => {
  let failures = 4;
  const { tier } = await diskWithBody(async (...read) => {
    if (failures-- > 0) throw Object.assign(new Error("EIO"), { code: "EIO", syscall: "read" });
    return diskFiles.read(...read);
  });
  const asked = await Promise.allSettled((await readers(tier, 6)).map((reader) => reader.next()));
  expect(asked.map(({ status }) => status)).toEqual([...Array(4).fill("rejected"), ...Array(2).fill("fulfilled")]);
});
