import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { DictionaryFile, DictionaryFiles } from "../../../server/compression/coded-files.ts";
import { Dictionaries, type DictionaryRequest } from "../../../server/compression/dictionaries.ts";
import { DictionaryMemory } from "../../../server/compression/dictionary-memory.ts";
import type { PurgeAnswer } from "../../../worker/rules/freshness/judge.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { BEGINNING } from "../../engine/scenario.ts";

const KEEP_MS = 10_000;
const FAMILY = "https://www.example.com /a";

async function digest(body: Uint8Array): Promise<string> {
  return createHash("sha256").update(body).digest("base64url");
}

function bytesOf(text: string, length = 1000): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text.padEnd(length, ".")));
}

/** Files in memory, which count the looks for them. */
class CountedFiles implements DictionaryFiles {
  readonly files = new Map<string, DictionaryFile>();
  looks = 0;
  reads = 0;
  writes = 0;
  hasDictionary(name: string): boolean {
    this.looks++;
    return this.files.has(name);
  }
  async readDictionary(name: string): Promise<DictionaryFile | undefined> {
    this.reads++;
    return this.files.get(name);
  }
  async writeDictionary(name: string, file: DictionaryFile): Promise<void> {
    this.writes++;
    this.files.set(name, file);
  }
  async dropDictionary(name: string): Promise<void> {
    this.files.delete(name);
  }
}

class Process {
  readonly clock: ManualClock;
  readonly dictionaries: Dictionaries;
  /** What the view says of everything that was fetched before `purgedUpTo`. */
  answer: PurgeAnswer = "purged";
  purgedUpTo = 0;
  isLogRead = true;
  readonly #behind: Promise<unknown>[] = [];

  constructor(
    files: DictionaryFiles | null = null,
    maxBytes = 1_000_000,
    clock = new ManualClock(BEGINNING),
    memory = new DictionaryMemory(maxBytes),
  ) {
    this.clock = clock;
    this.dictionaries = new Dictionaries(files, memory, digest);
  }

  get request(): DictionaryRequest {
    const check = ({ stamp }: { readonly stamp: { readonly seq: number } | null }, isUsable = false) => {
      if (!this.isLogRead) return isUsable ? "unverifiable" : "unknown";
      return stamp!.seq < this.purgedUpTo ? this.answer : "not-purged";
    };
    return {
      ports: { clock: this.clock, purges: { check } },
      background: { run: (work) => void this.#behind.push(work) },
    };
  }

  async admit(text: string, { family = FAMILY, seq = 1, length = 1000 } = {}) {
    const bytes = bytesOf(text, length);
    const hash = await digest(bytes);
    const stamp = { logId: "log", seq };
    const admitted = this.dictionaries.admit(this.request, { hash, family, bytes, keepMs: KEEP_MS, stamp });
    await this.settled();
    return admitted;
  }

  async finds(text: string, { family = FAMILY, length = 1000 } = {}): Promise<boolean> {
    const found = this.dictionaries.find(this.request, family, await digest(bytesOf(text, length)));
    await this.settled();
    return found !== undefined;
  }

  /** How many works go on behind the answers. */
  get behind(): number {
    return this.#behind.length;
  }

  async settled(): Promise<void> {
    while (this.#behind.length > 0) await Promise.all(this.#behind.splice(0));
  }
}

describe("in memory", () => {
  test("a version is found only under its family and its hash", async () => {
    const process = new Process();
    await process.admit("v1");
    expect(await process.finds("v1")).toBe(true);
    expect(await process.finds("v2")).toBe(false);
    expect(await process.finds("v1", { family: "https://www.example.com /b" })).toBe(false);
  });

  test("all versions together stay within their bytes; those that were not sent for longest are evicted", async () => {
    const process = new Process(null, 3000);
    const first = await process.admit("v0", { family: "0" });
    await process.admit("v1", { family: "1" });
    await process.admit("v2", { family: "2" });
    await process.clock.advance(1);
    process.dictionaries.sent(process.request, first!);
    await process.admit("v3", { family: "3" });
    expect(process.dictionaries.heldBytes).toBe(3000);
    expect(await process.finds("v0", { family: "0" })).toBe(true);
    expect(await process.finds("v1", { family: "1" })).toBe(false);
    expect(await process.finds("v2", { family: "2" })).toBe(true);
    expect(await process.finds("v3", { family: "3" })).toBe(true);
    expect(await process.admit("large", { length: 3001 })).toBe(null);
    expect(process.dictionaries.heldBytes).toBe(3000);
  });

  test("sites that share memory have one bound, and each finds and counts its own versions", async () => {
    const memory = new DictionaryMemory(3000);
    const clock = new ManualClock(BEGINNING);
    const [shop, blog] = [1, 2].map(() => new Process(null, 3000, clock, memory)) as [Process, Process];
    await shop.admit("v0");
    await shop.admit("v1");
    expect(await blog.finds("v1")).toBe(false);
    await blog.admit("v1");
    await blog.admit("v2");
    expect([shop.dictionaries.heldBytes, blog.dictionaries.heldBytes]).toEqual([1000, 2000]);
    expect([await shop.finds("v0"), await shop.finds("v1"), await blog.finds("v1")]).toEqual([false, true, true]);
    Object.assign(shop, { purgedUpTo: 2 });
    expect(await shop.finds("v1")).toBe(false);
    expect([shop.dictionaries.heldBytes, blog.dictionaries.heldBytes]).toEqual([0, 2000]);
    await blog.admit("v3");
    expect(blog.dictionaries.heldBytes).toBe(3000);
  });

  test("there are at most 4096 versions, and a deploy of as many more does not exceed the bytes", async () => {
    const process = new Process(null, 100_000_000);
    for (let each = 0; each < 4096 + 500; each++) await process.admit(`v${each}`, { family: String(each), length: 10 });
    expect(process.dictionaries.size).toBe(4096);
    expect(process.dictionaries.heldBytes).toBe(4096 * 10);
    expect(await process.finds("v0", { family: "0", length: 10 })).toBe(false);
    expect(await process.finds("v4595", { family: "4595", length: 10 })).toBe(true);
  });

  test("an evicted version counts as not admitted", async () => {
    const process = new Process(null, 1000);
    const first = await process.admit("v0");
    await process.admit("v1");
    expect(process.dictionaries.sent(process.request, first!)).toBe(false);
  });

  test.each<[PurgeAnswer, boolean]>([
    ["purged", false],
    ["unverifiable", false],
    ["invalidated", false],
    ["soft", true],
  ])("a version that the view calls %s is found: %s", async (answer, isFound) => {
    const process = new Process();
    await process.admit("v1", { seq: 1 });
    await process.admit("v2", { seq: 2 });
    Object.assign(process, { answer, purgedUpTo: 2 });
    expect(await process.finds("v1")).toBe(isFound);
    expect(process.dictionaries.size).toBe(isFound ? 2 : 1);
    expect(await process.finds("v2")).toBe(true);
  });
});

describe("on disk", () => {
  test("another process reads a version after the first answer, and checks that the hash is that of the bytes", async () => {
    const files = new CountedFiles();
    const one = new Process(files);
    await one.admit("v1");
    const other = new Process(files, 1_000_000, one.clock);
    expect(await other.finds("v1")).toBe(false);
    expect(await other.finds("v1")).toBe(true);
    const [name] = [...files.files.keys()];
    files.files.set(name!, { ...files.files.get(name!)!, bytes: bytesOf("another") });
    const third = new Process(files, 1_000_000, one.clock);
    expect(await third.finds("v1")).toBe(false);
    expect(await third.finds("v1")).toBe(false);
  });

  test("while a version is being read, further requests for it keep nothing", async () => {
    const files = new CountedFiles();
    const one = new Process(files);
    await one.admit("v1");
    const released = Promise.withResolvers<void>();
    const slow = new Process(files, 1_000_000, one.clock);
    files.readDictionary = async (name) => {
      await released.promise;
      return files.files.get(name);
    };
    const hash = await digest(bytesOf("v1"));
    for (let each = 0; each < 100; each++) expect(slow.dictionaries.find(slow.request, FAMILY, hash)).toBe(undefined);
    expect(slow.behind).toBe(1);
    released.resolve();
    await slow.settled();
    expect(await slow.finds("v1")).toBe(true);
  });

  test("an unknown hash costs one look-up, and leaves nothing behind", async () => {
    const files = new CountedFiles();
    const process = new Process(files);
    await process.admit("v1");
    const { size, heldBytes } = process.dictionaries;
    for (let each = 0; each < 100; each++) expect(await process.finds(`unknown ${each}`)).toBe(false);
    expect(files).toMatchObject({ looks: 100, reads: 0, writes: 1 });
    expect(process.dictionaries).toMatchObject({ size, heldBytes });
  });

  test("a version's age also counts on disk, and one that is always sent is written four times in its life", async () => {
    const files = new CountedFiles();
    const process = new Process(files);
    const sent = await process.admit("v1");
    for (let each = 0; each < 100; each++) {
      await process.clock.advance(KEEP_MS / 100);
      process.dictionaries.sent(process.request, sent!);
      await process.settled();
    }
    expect(files.writes).toBeLessThanOrEqual(5);
    await process.clock.advance(KEEP_MS / 2);
    const other = new Process(files, 1_000_000, process.clock);
    await other.finds("v1");
    expect(await other.finds("v1")).toBe(true);
    await process.clock.advance(KEEP_MS / 2 + 1);
    expect(await other.finds("v1")).toBe(false);
  });

  test("a version that a purge of everything ended is read once more at most, and then deleted", async () => {
    const files = new CountedFiles();
    const process = new Process(files);
    await process.admit("v1");
    Object.assign(process, { purgedUpTo: 2 });
    for (let each = 0; each < 100; each++) expect(await process.finds("v1")).toBe(false);
    expect(files.reads).toBe(1);
    expect(files.files.size).toBe(0);
    expect(process.dictionaries.heldBytes).toBe(0);
    await process.admit("v1", { seq: 2 });
    expect(await process.finds("v1")).toBe(true);
    expect(files.files.size).toBe(1);
  });

  test("a version that is fetched again after a purge of everything is found by another process as well", async () => {
    const files = new CountedFiles();
    const process = new Process(files);
    await process.admit("v1");
    process.purgedUpTo = 2;
    await process.admit("v1", { seq: 2 });
    const other = new Process(files);
    other.purgedUpTo = 2;
    expect(await other.finds("v1")).toBe(false);
    expect(await other.finds("v1")).toBe(true);
  });

  test("a version is kept, but not used, until it is known whether a purge has ended it", async () => {
    const files = new CountedFiles();
    const one = new Process(files);
    await one.admit("v1");
    const other = new Process(files, 1_000_000, one.clock);
    other.isLogRead = false;
    for (let each = 0; each < 10; each++) expect(await other.finds("v1")).toBe(false);
    expect(files.reads).toBe(1);
    expect(files.files.size).toBe(1);
    other.isLogRead = true;
    expect(await other.finds("v1")).toBe(true);
  });

  test("a file of another format version is ignored", async () => {
    const files = new CountedFiles();
    const process = new Process(files);
    await process.admit("v1");
    const [name] = [...files.files.keys()];
    files.files.set(name!, { ...files.files.get(name!)!, about: "{}" });
    const other = new Process(files, 1_000_000, process.clock);
    await other.finds("v1");
    expect(await other.finds("v1")).toBe(false);
  });
});
