import { expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { BLOCK_BYTES } from "../../../server/disk/file-format.ts";
import { bodyOf, countedFiles, DiskUnderTest, noise, readWhole, temporaryFolder } from "./disk-under-test.ts";

const MOST_OPEN = 3;
const keyOf = (seed: number) => `https://www.example.test/large\n1-${seed}`;
const bytesOf = (seed: number) => noise(3 * BLOCK_BYTES, seed);

/** A disk with large bodies, of which few may be open, and the pieces that their readers have taken. */
async function readers(count: number) {
  const { files, open } = countedFiles();
  const disk = await DiskUnderTest.open(temporaryFolder());
  const tier = disk.otherTier({ files, mostOpen: MOST_OPEN });
  const put = (seed: number, bytes: Uint8Array) => tier.putBody(keyOf(seed), bodyOf([bytes], bytes.byteLength));
  for (let seed = 0; seed < count; seed++) await put(seed, bytesOf(seed));
  const seeds = Array.from({ length: count }, (_, seed) => seed);
  const bodies = await Promise.all(seeds.map(async (seed) => (await tier.getBody(keyOf(seed), null))!));
  const all = bodies.map((body) => nodeBodies.readThrough(body));
  return { tier, open, put, all };
}

test("of many bodies that are read slowly few files are open, and each is read to its end", async () => {
  const { open, all } = await readers(10);
  const read = all.map(() => [] as Uint8Array[]);
  for (let block = 0; block < 3; block++) {
    for (const [seed, reader] of all.entries()) {
      expect(open.size).toBeLessThanOrEqual(MOST_OPEN);
      read[seed]!.push((await reader.next())!);
    }
  }
  for (const [seed, pieces] of read.entries()) expect(Buffer.concat(pieces).equals(bytesOf(seed))).toBe(true);
  expect(await Promise.all(all.map((reader) => reader.next()))).toEqual(all.map(() => null));
  expect(open.size).toBe(0);
});

test("a body whose file has left or is another one, while it was not open, is cut off, and the other one stays", async () => {
  const { tier, open, put, all } = await readers(2 + MOST_OPEN);
  const [replaced, left, ...others] = all;
  for (const reader of [replaced!, left!, ...others]) expect((await reader.next())!.byteLength).toBe(BLOCK_BYTES);
  await put(0, bytesOf(77));
  await put(1, new Uint8Array(0));
  await expect(replaced!.next()).rejects.toThrow("damaged");
  await expect(left!.next()).rejects.toThrow();
  expect((await readWhole((await tier.getBody(keyOf(0), null))!)).equals(bytesOf(77))).toBe(true);
  for (const reader of others) await reader.cancel();
  expect(open.size).toBe(0);
});
