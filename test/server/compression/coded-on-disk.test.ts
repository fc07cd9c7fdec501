import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import { DiskTier, type DiskTierParts } from "../../../server/disk/disk-tier.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { LikelyCached } from "../../../server/disk/likely-cached.ts";
import { HOST } from "../../engine/scenario.ts";
import { openDisk, temporaryFolder } from "../disk/disk-under-test.ts";
import { CompressingIsolate, SharedLog } from "./compressing-isolate.ts";

const V1 = "The first version. ".repeat(300);
const V2 = "The second version. ".repeat(300);
const BROWSER = { "accept-encoding": "br" };
const KEY = `http://${HOST}/a`;

function disk(maxBytes?: number) {
  const { folder, janitor } = openDisk(temporaryFolder(), maxBytes);
  onTestFinished(() => janitor.close());
  const open = (parts: Partial<DiskTierParts> = {}) =>
    new DiskTier({
      folder,
      janitor: janitor.connect(),
      now: () => 0,
      monotonicNow: () => 0, // No read takes long, whatever else the machine does.
      say: (line) => expect.unreachable(line),
      ...parts,
    });
  const files = (ending: string) =>
    folder.folders.flatMap((each) =>
      readdirSync(each)
        .filter((name) => name.endsWith(ending))
        .map((name) => join(each, name)),
    );
  return { folder, janitor, open, files };
}

let log = new SharedLog();

beforeEach(() => {
  log = new SharedLog();
});

/** One of the workers that share the log. */
function worker(tier: DiskTier): CompressingIsolate {
  return new CompressingIsolate({ disk: tier, log });
}

/** A page that is stored with its compressed form. */
async function stored(tier: DiskTier, body = V1) {
  const edge = worker(tier);
  edge.page("/a", body);
  await edge.ask("/a", BROWSER);
  await edge.settled();
  await tier.settled();
  return edge;
}

test("after a restart a page is sent compressed at once, and is not compressed again", async () => {
  const { open, files } = disk();
  await stored(open());
  expect(files(".br")).toHaveLength(1);
  const next = worker(open());
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  await next.settled();
  expect({ made: next.made, asked: next.asked }).toEqual({ made: 0, asked: 0 });
});

test("a form that is too large for memory beside its page is sent once it is found, and not kept", async () => {
  const { open } = disk();
  await stored(open());
  const roomForHead = 256 * 1024;
  const next = new CompressingIsolate({ disk: open(), log, memoryBytes: 8 * (roomForHead + V1.length + 1) });
  await next.ask("/a");
  const { bytes } = (await next.stats()).memory;
  expect(bytes).toBeGreaterThan(V1.length);
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  await next.settled();
  expect((await next.stats()).memory.bytes).toBe(bytes);
  expect(next.made).toBe(0);
});

test("the form that one worker made serves the others", async () => {
  const { open } = disk();
  const edges = [worker(open()), worker(open())];
  for (const edge of edges) {
    edge.page("/a", V1);
    await edge.ask("/a");
    await edge.settled();
  }
  await edges[0]!.ask("/a", BROWSER);
  await edges[0]!.settled();
  expect(await edges[1]!.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  await edges[1]!.settled();
  expect(edges.map(({ made }) => made)).toEqual([1, 0]);
});

test("the form of an older body is never sent for a newer one, and leaves the disk when that is stored", async () => {
  const { open, files } = disk();
  const tier = open();
  const edge = await stored(tier);
  const [old] = files(".br");
  const bytes = readFileSync(old!);
  await edge.purge();
  edge.page("/a", V2);
  await edge.ask("/a");
  await edge.settled();
  await tier.settled();
  expect(files(".br")).toEqual([]);
  // As if another process had still been writing it.
  writeFileSync(old!, bytes);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V2 });
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V2 });
  const next = worker(open());
  expect(await next.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V2 });
});

test("a page that is fetched again with the same bytes keeps its form", async () => {
  const { open, files } = disk();
  const edge = await stored(open());
  await edge.purge();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "MISS", text: V1 });
  await edge.settled();
  expect(files(".br")).toHaveLength(1);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  expect(edge.made).toBe(1);
});

test("a damaged form is made again", async () => {
  const { open, files } = disk();
  await stored(open());
  const [file] = files(".br");
  const bytes = readFileSync(file!);
  bytes[bytes.length - 6]! ^= 1;
  writeFileSync(file!, bytes);
  const next = worker(open());
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  await next.settled();
  expect(next.made).toBe(1);
  expect(await next.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V1 });
});

test("a form made from other bytes of the same page is not sent", async () => {
  const { open } = disk();
  const tier = open();
  await stored(tier);
  const file = (await tier.compression.readCoded(KEY, "br"))!;
  await tier.compression.writeCoded(KEY, "br", { ...file, digest: "another" });
  const next = worker(open());
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  await next.settled();
  expect(await next.ask("/a", BROWSER)).toMatchObject({ coding: "br", text: V1 });
});

test("when an entry is removed from the disk, its forms are too", async () => {
  const { open, files, folder, janitor } = disk();
  const tier = open();
  const edge = await stored(tier);
  await edge.ask("/a", { "accept-encoding": "gzip" });
  await edge.settled();
  expect([files(".entry"), files(".br"), files(".gzip")].map(({ length }) => length)).toEqual([1, 1, 1]);
  await edge.ask("/a", {}, "POST");
  await edge.settled();
  await tier.settled();
  await janitor.settled();
  expect(folder.folders.flatMap((each) => readdirSync(each))).toEqual([]);
  expect({ bytes: janitor.heldBytes, files: janitor.heldFiles }).toEqual({ bytes: 0, files: 0 });
});

test("a form is not written if its entry is gone", async () => {
  const { open, files } = disk();
  const tier = open();
  await tier.compression.writeCoded(KEY, "br", { digest: "any", bytes: new Uint8Array(10) });
  expect(files("")).toEqual([]);
});

test("an evicted entry's forms are evicted too, and all of them count", {
  tags: ["deep"],
}, async () => {
  const maxBytes = 512 * 1024;
  const { open, files, janitor } = disk(maxBytes);
  await janitor.scan();
  const tier = open();
  const edge = worker(tier);
  for (let page = 0; page < 100; page++) {
    edge.page(`/${page}`, `${page} ${V1}`);
    await edge.ask(`/${page}`, BROWSER);
    await edge.settled();
    await tier.settled();
    await janitor.settled();
    expect(janitor.usedBytes).toBeLessThanOrEqual(maxBytes);
  }
  const stems = (ending: string) => files(ending).map((path) => path.slice(0, -ending.length));
  expect(stems(".entry").length).toBeLessThan(100);
  expect(stems(".br").length).toBeGreaterThan(5);
  expect(stems(".br").filter((stem) => !existsSync(`${stem}.entry`))).toEqual([]);
});

test("a scan deletes forms whose entry is gone", async () => {
  const { open, files, folder } = disk();
  const tier = open();
  await stored(tier);
  const [file] = files(".br");
  const orphan = file!.replace(/[0-9a-f]{4}\.br$/, "0000.br");
  writeFileSync(orphan, readFileSync(file!));
  const janitor = new Janitor(folder, 1024 ** 2);
  await janitor.scan();
  await janitor.close();
  expect(existsSync(orphan)).toBe(false);
  expect(existsSync(file!)).toBe(true);
  expect(janitor.heldFiles).toBe(2);
});

test("a page that streams from disk is sent plain once, and compressed when memory has it", async () => {
  const { open } = disk();
  const large = "A large page. ".repeat(40_000);
  await stored(open(), large);
  const next = worker(open());
  const first = await next.ask("/a", BROWSER);
  expect([first.xCache, first.coding, first.fields.vary, first.text === large]).toEqual([
    "HIT",
    null,
    "Accept-Encoding",
    true,
  ]);
  await next.settled();
  const second = await next.ask("/a", BROWSER);
  expect([second.xCache, second.coding, second.text === large]).toEqual(["HIT", "br", true]);
  expect(next.made).toBe(0);
});

test("many requests during a look at the disk have a page compressed once", async () => {
  const { open } = disk();
  const tier = open();
  await stored(tier);
  await tier.compression.writeCoded(KEY, "br", {
    ...(await tier.compression.readCoded(KEY, "br"))!,
    digest: "another",
  });
  const next = worker(open());
  await next.ask("/a");
  await Promise.all(Array.from({ length: 20 }, () => next.ask("/a", BROWSER)));
  await next.settled();
  expect(next.made).toBe(1);
});

test("a confirmed page keeps its form on disk, which counts once in memory", async () => {
  const { open, files } = disk();
  const tier = open();
  const edge = worker(tier);
  edge.page("/a", V1, { etag: '"1"' });
  await edge.ask("/a", BROWSER);
  await edge.settled();
  await edge.ask("/a", BROWSER);
  const { bytes } = (await edge.stats()).memory;
  const [file] = files(".br");
  const before = readFileSync(file!);
  await edge.clock.advance(61_000);
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "REVALIDATED", coding: "br" });
  await edge.settled();
  expect((await edge.stats()).memory.bytes).toBe(bytes);
  expect(Buffer.compare(readFileSync(file!), before)).toBe(0);
  expect(edge.made).toBe(1);
  const next = worker(open());
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
});

test("a page that is still being written is sent at once, and compressed when it is on the disk", async () => {
  const { open, files } = disk();
  const written = Promise.withResolvers<void>();
  const rename: DiskFiles["rename"] = async (from, to) => {
    await written.promise;
    await diskFiles.rename(from, to);
  };
  const edge = worker(open({ files: { ...diskFiles, rename } }));
  edge.page("/a", V1);
  for (const xCache of ["MISS", "HIT", "HIT"]) {
    expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache, coding: null, text: V1 });
  }
  written.resolve();
  await edge.settled();
  expect(await edge.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  expect(files(".br")).toHaveLength(1);
  expect(edge.made).toBe(1);
});

test("a page in memory is sent plain if its form cannot be read soon, and in its form when that has been read", async () => {
  const { open } = disk();
  await stored(open());
  const released = Promise.withResolvers<void>();
  const files: DiskFiles = {
    ...diskFiles,
    open: async (path, flags) => {
      if (path.endsWith(".br")) await released.promise;
      return diskFiles.open(path, flags);
    },
  };
  const next = worker(open({ files }));
  await next.ask("/a");
  const asked = next.ask("/a", BROWSER);
  await vi.waitFor(async () => {
    await next.clock.advance(100);
    const answer = await Promise.race([asked, undefined]);
    expect(answer).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  });
  const { behind } = next;
  // Nobody waits for the disk again, and nothing is kept for each request.
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
  expect(next.behind).toBe(behind);
  released.resolve();
  await next.settled();
  expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
  expect(next.made).toBe(0);
});

describe("on a cold disk", () => {
  /** What a tier gets whose disk is cold for a minute, and on which the first open of such a file ends when released. */
  function cold(ending: string) {
    const likelyCached = new LikelyCached();
    const released = Promise.withResolvers<void>();
    let opens = 0;
    const files: DiskFiles = {
      ...diskFiles,
      open: async (path, flags) => {
        const opening = diskFiles.open(path, flags);
        if (path.endsWith(ending) && ++opens === 1) await Promise.allSettled([opening, released.promise]);
        return opening;
      },
    };
    const cool = () => likelyCached.took(3, 0);
    return { parts: { files, likelyCached }, cool, opens: () => opens, release: () => released.resolve() };
  }

  test("a page in memory is sent plain at once, and in its form when that has been read", async () => {
    const { open } = disk();
    await stored(open());
    const { parts, cool, release } = cold(".br");
    const next = worker(open(parts));
    await next.ask("/a");
    cool();
    for (let again = 0; again < 3; again++) {
      expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: null, text: V1 });
    }
    release();
    await next.settled();
    expect(await next.ask("/a", BROWSER)).toMatchObject({ xCache: "HIT", coding: "br", text: V1 });
    expect(next.made).toBe(0);
  });

  test("the forms of an older body leave the disk when a newer one is stored", async () => {
    const { open, files } = disk();
    const { parts, cool, release } = cold(".br");
    release();
    const edge = await stored(open(parts));
    await edge.purge();
    edge.page("/a", V2);
    cool();
    await edge.ask("/a");
    await edge.settled();
    expect(files(".br")).toEqual([]);
    await edge.ask("/a", BROWSER);
    await edge.settled();
    expect(files(".br")).toHaveLength(1);
    await edge.purge();
    edge.page("/a", "A picture", { "content-type": "image/png" });
    cool();
    await edge.ask("/a");
    await edge.settled();
    expect(files(".br")).toEqual([]);
  });

  test("a form that is made during a search for older ones stays", async () => {
    const { open, files } = disk();
    const { parts, cool, opens, release } = cold(".gzip");
    const edge = worker(open(parts));
    edge.page("/a", V1);
    cool();
    await edge.ask("/a", BROWSER);
    await vi.waitFor(() => expect(opens()).toBe(1));
    await edge.ask("/a", { "accept-encoding": "gzip" });
    await vi.waitFor(() => expect(files(".gzip")).toHaveLength(1));
    release();
    await edge.settled();
    expect(files(".gzip")).toHaveLength(1);
  });
});
