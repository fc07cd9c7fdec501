import { readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { HOST } from "../../engine/scenario.ts";
import { MachineUnderTest, PAGE, type Received, settle, until } from "../cache-lock/machine-under-test.ts";
import { bodyOf, countedFiles, DiskUnderTest, noise, readWhole, temporaryFolder } from "./disk-under-test.ts";

const MIB = 1024 * 1024;
const BLOCK = 256 * 1024;
const KEY = "https://www.example.test/film\n1-a";

/** A body that a test writes, into a tier. */
async function writing(lengthBytes: number) {
  const disk = await DiskUnderTest.open(temporaryFolder());
  const { readable, writable } = nodeBodies.pipe(lengthBytes);
  const put = disk.tier.putBody(KEY, readable).then(
    () => "stored",
    (cause: Error) => cause.message,
  );
  return { disk, writable, put };
}

describe("a body that is still being written", () => {
  const BYTES = noise(3 * BLOCK + 5);

  test("is given as far as it has come, and its rest as that comes", async () => {
    const { disk, writable, put } = await writing(BYTES.byteLength);
    const reader = nodeBodies.readThrough((await disk.tier.getBody(KEY, null))!);
    await writable.write(BYTES.subarray(0, 100));
    expect(Buffer.from((await reader.next())!)).toEqual(Buffer.from(BYTES.subarray(0, 100)));
    const rest = (async () => {
      const pieces: Uint8Array[] = [];
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) pieces.push(piece);
      return Buffer.concat(pieces);
    })();
    for (let at = 100; at < BYTES.byteLength; at += 50_000) await writable.write(BYTES.subarray(at, at + 50_000));
    await writable.close();
    expect((await rest).equals(BYTES.subarray(100))).toBe(true);
    expect(await put).toBe("stored");
  });

  test("gives what is behind a place, no part in its middle, and all to one who asks when it is whole", async () => {
    const { disk, writable, put } = await writing(BYTES.byteLength);
    const part = (first: number, last: number) => disk.tier.getBody(KEY, { first, last });
    const last = BYTES.byteLength - 1;
    const rest = part(BLOCK - 10, last).then((body) => readWhole(body!));
    await writable.write(BYTES.subarray(0, 2 * BLOCK));
    expect([await part(0, last + 1), await part(0, last - 1)]).toEqual([undefined, undefined]);
    await writable.write(BYTES.subarray(2 * BLOCK));
    const begun = (await disk.tier.getBody(KEY, null))!;
    await writable.close();
    expect((await rest).equals(BYTES.subarray(BLOCK - 10))).toBe(true);
    expect(await put).toBe("stored");
    expect((await readWhole(begun)).equals(BYTES)).toBe(true);
    expect((await readWhole((await disk.tier.getBody(KEY, null))!)).equals(BYTES)).toBe(true);
    await disk.settled();
    expect(readdirSync(disk.folder.draftsFolder)).toEqual([]);
  });

  test("is cut off for all who read it if it does not come whole, and is found no more", async () => {
    const { disk, writable, put } = await writing(BYTES.byteLength);
    const reader = nodeBodies.readThrough((await disk.tier.getBody(KEY, null))!);
    await writable.write(BYTES.subarray(0, 100));
    expect((await reader.next())!.byteLength).toBe(100);
    const next = reader.next().catch((cause: Error) => cause.message);
    await writable.abort(new Error("connection reset"));
    expect(await next).toBe("the body was cut off: connection reset");
    expect(await put).toBe("the body was cut off: connection reset");
    expect(await disk.tier.getBody(KEY, null)).toBeUndefined();
  });

  test("is read on by one whose file was closed for others, once it has got its name", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder());
    const tier = disk.otherTier({ mostOpen: 1 });
    const { readable, writable } = nodeBodies.pipe(BYTES.byteLength);
    const put = tier.putBody(KEY, readable);
    const slow = nodeBodies.readThrough((await tier.getBody(KEY, null))!);
    await writable.write(BYTES.subarray(0, BLOCK));
    const pieces = [(await slow.next())!];
    const other = nodeBodies.readThrough((await tier.getBody(KEY, null))!);
    await writable.write(BYTES.subarray(BLOCK));
    await writable.close();
    await put;
    await other.next();
    for (let piece = await slow.next(); piece !== null; piece = await slow.next()) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(BYTES)).toBe(true);
    await other.cancel();
  });

  test("is left by a reader at once, though nothing comes", async () => {
    const { files, open } = countedFiles();
    const disk = await DiskUnderTest.open(temporaryFolder(), { files });
    const { readable, writable } = nodeBodies.pipe(BYTES.byteLength);
    const put = disk.tier.putBody(KEY, readable).catch(() => undefined);
    const reader = nodeBodies.readThrough((await disk.tier.getBody(KEY, null))!);
    const next = reader.next();
    expect(open.size).toBe(2);
    await reader.cancel();
    expect(open.size).toBe(1);
    await writable.write(BYTES.subarray(0, 100));
    expect(await next).toBeNull();
    await writable.abort(new Error("enough"));
    await put;
  });

  test("is not found if the disk has no room for it", async () => {
    const disk = await DiskUnderTest.open(temporaryFolder(), { maxBytes: MIB });
    const put = disk.tier.putBody(KEY, bodyOf([noise(2 * MIB)], 2 * MIB)).catch((cause: Error) => cause.message);
    expect(await disk.tier.getBody(KEY, null)).toBeUndefined();
    expect(await put).toBe("the disk has no room for this body");
  });

  test("is not waited for if nothing of it has come for five seconds, as there was no file for it yet", async () => {
    const { files } = countedFiles();
    const never = Promise.withResolvers<number>().promise;
    const open: typeof files.open = (path, flags) => (flags === "wx" ? never : files.open(path, flags));
    let now = 0;
    const monotonicNow = () => now;
    const disk = await DiskUnderTest.open(temporaryFolder(), { files: { ...files, open }, monotonicNow });
    void disk.tier.putBody(KEY, nodeBodies.pipe(BYTES.byteLength).readable);
    now = 5_001;
    expect(await disk.tier.getBody(KEY, null)).toBeUndefined();
  });

  test("takes its room until its last reader leaves, also one that came as it ended", async () => {
    const { files } = countedFiles();
    const bytes = noise(8 * BLOCK);
    const isWhole = Promise.withResolvers<void>();
    const open: typeof files.open = async (path, flags) => {
      const fd = await files.open(path, flags);
      if (flags === "r") await isWhole.promise;
      return fd;
    };
    const disk = await DiskUnderTest.open(temporaryFolder(), { files: { ...files, open } });
    const { readable, writable } = nodeBodies.pipe(bytes.byteLength);
    const put = disk.tier.putBody(KEY, readable);
    await writable.write(bytes);
    const reading = disk.tier.getBody(KEY, null);
    await writable.close();
    await put;
    isWhole.resolve();
    const body = (await reading)!;
    await disk.settled();
    const { usedBytes } = disk.janitor;
    const [path] = disk.paths();
    unlinkSync(path!);
    disk.janitor.connect().tell([{ kind: "gone", file: disk.folder.nameOf(KEY, "body") }]);
    await disk.settled();
    expect(disk.janitor.usedBytes).toBe(usedBytes);
    await body.cancel();
    await disk.settled();
    expect(disk.janitor.usedBytes).toBeLessThan(usedBytes - bytes.byteLength);
  });

  test("is cut off where the disk gives other bytes than it took", async () => {
    const { disk, writable } = await writing(BYTES.byteLength);
    await writable.write(BYTES.subarray(0, BLOCK + 100));
    const last = BYTES.byteLength - 1;
    await nodeBodies.readThrough((await disk.tier.getBody(KEY, { first: BLOCK, last }))!).next();
    const [draft] = readdirSync(disk.folder.draftsFolder);
    writeFileSync(join(disk.folder.draftsFolder, draft!), noise(BLOCK + 200, 7));
    await expect(readWhole((await disk.tier.getBody(KEY, null))!)).rejects.toThrow("damaged");
    await writable.abort(new Error("enough"));
  });
});

describe("clients of a large page that is being stored", () => {
  const TEXT = Buffer.from(noise(2 * MIB))
    .toString("latin1")
    .replaceAll(/[^ -~]/g, "x");
  const HEAD = { ...PAGE, "content-length": String(TEXT.length) };
  const site = { limits: { storeBytes: 10 } };

  /** The second fetch of the machine brings the page to these twenty visitors. */
  async function expectOneFetchFor(visitors: Promise<Received[]>, machine: MachineUnderTest): Promise<void> {
    (await machine.hasAsked(2)).answer(TEXT, HEAD);
    await settle();
    expect(machine.asked).toHaveLength(2);
    expect((await visitors).filter(({ text }) => text === TEXT)).toHaveLength(20);
  }

  test("that came before the first byte, or later, share one fetch", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const early = worker.many(20, "/a");
    const body = (await machine.hasAsked(1)).begin(HEAD);
    body.push(Buffer.from(TEXT.slice(0, MIB)));
    const late = worker.many(20, "/a");
    body.push(Buffer.from(TEXT.slice(MIB)));
    body.end();
    const answers = [await early, await late].flat();
    expect(answers.filter(({ text }) => text === TEXT)).toHaveLength(40);
    expect(answers.filter(({ xCache }) => xCache === "MISS")).toHaveLength(1);
    await worker.settled();
    expect((await worker.ask("/a")).xCache).toBe("HIT");
    expect(machine.paths).toEqual(["/a"]);
  });

  test("do not wait for the one that came first, which may read when it likes, and gets all of it", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const paused = worker.begin("/a");
    const body = (await machine.hasAsked(1)).begin(HEAD);
    for (let at = 0; at < TEXT.length; at += 50_000) body.push(Buffer.from(TEXT.slice(at, at + 50_000)));
    body.end();
    const first = (await paused).body!;
    expect((await worker.ask("/a")).text).toBe(TEXT);
    await machine.clock.advance(15_000);
    expect(await worker.ask("/a")).toMatchObject({ xCache: "HIT", text: TEXT });
    expect((await readWhole(first as never)).toString()).toBe(TEXT);
    expect(machine.paths).toEqual(["/a"]);
  });

  test("need not wait for its last piece to be taken until it is stored for all", async () => {
    const machine = await MachineUnderTest.start();
    const [one, other] = [await machine.worker(site), await machine.worker(site)];
    const paused = one.begin("/a");
    (await machine.hasAsked(1)).answer(TEXT, HEAD);
    const first = (await paused).body!;
    await until(() => machine.filesOf("entry") === 1);
    await machine.clock.advance(15_000);
    expect(await other.ask("/a")).toMatchObject({ xCache: "HIT", text: TEXT });
    expect((await readWhole(first as never)).toString()).toBe(TEXT);
  });

  test("get the new page if one of them has changed it since", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const first = worker.begin("/a");
    const asked = await machine.hasAsked(1);
    const written = worker.ask("/a", {}, "PUT", "new");
    (await machine.hasAsked(2)).answer("", {});
    await written;
    const body = asked.begin(HEAD);
    await first;
    const second = worker.ask("/a");
    (await machine.hasAsked(3)).answer(TEXT.toUpperCase());
    expect((await second).text).toBe(TEXT.toUpperCase());
    body.fail(new Error("connection reset"));
    await worker.settled();
    expect(await worker.ask("/a")).toEqual({ status: 200, xCache: "HIT", text: TEXT.toUpperCase() });
  });

  test("get what would come much later from the origin, and any part of some bytes, but what comes soon from the file", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const bytes = 6 * MIB;
    const first = worker.begin("/a");
    const film = (await machine.hasAsked(1)).begin({ ...PAGE, "content-length": String(bytes) });
    film.push(Buffer.from(TEXT.slice(0, MIB)));
    await first;
    const far = worker.ask("/a", { range: `bytes=${bytes - 2}-` });
    const asked = await machine.hasAsked(2);
    expect(asked.field("range")).toBe(`bytes=${bytes - 2}-`);
    asked.answer("zz", { "content-range": `bytes ${bytes - 2}-${bytes - 1}/${bytes}` }, 206);
    expect(await far).toEqual({ status: 206, xCache: "MISS", text: "zz" });
    const segment = worker.ask("/a", { range: "bytes=10-13" });
    (await machine.hasAsked(3)).answer("zzzz", { "content-range": `bytes 10-13/${bytes}` }, 206);
    expect((await segment).text).toBe("zzzz");
    const soon = worker.ask("/a", { range: `bytes=${MIB}-` });
    for (let sent = MIB; sent < bytes; sent += MIB) film.push(Buffer.from(TEXT.slice(-MIB)));
    film.end();
    expect(await soon).toEqual({ status: 206, xCache: "HIT", text: TEXT.slice(-MIB).repeat(5) });
    expect(machine.paths).toEqual(["/a", "/a", "/a"]);
  });

  test("get all of it if the origin pauses, and then the one that came first reads nothing", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const paused = worker.begin("/a");
    const body = (await machine.hasAsked(1)).begin(HEAD);
    body.push(Buffer.from(TEXT.slice(0, 1000)));
    const first = (await paused).body!;
    const second = worker.ask("/a").catch((cause: Error) => cause.message);
    await settle();
    await machine.clock.advance(6_000);
    for (let at = 1000; at < TEXT.length; at += 50_000) body.push(Buffer.from(TEXT.slice(at, at + 50_000)));
    body.end();
    await settle();
    await machine.clock.advance(15_000);
    expect(await second).toMatchObject({ xCache: "HIT", text: TEXT });
    expect((await readWhole(first as never)).toString()).toBe(TEXT);
  });

  test.each(["while", "after"])("share one fetch if they come %s a HEAD is answered", async (when) => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const head = worker.ask("/a", {}, "HEAD");
    const asked = await machine.hasAsked(1);
    const meanwhile = when === "while" ? worker.many(20, "/a") : null;
    await settle();
    asked.answer(TEXT, HEAD);
    expect(await head).toEqual({ status: 200, xCache: "MISS", text: "" });
    await settle();
    const answers = meanwhile ?? worker.many(20, "/a");
    await expectOneFetchFor(answers, machine);
  });

  test("share the fetch of the new page, too, after a purge meanwhile", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const old = worker.begin("/a");
    (await machine.hasAsked(1)).begin(HEAD);
    await old;
    await worker.purge([`http://${HOST}/a`]);
    const answers = worker.many(20, "/a");
    await expectOneFetchFor(answers, machine);
  });

  test("each ask the origin, without waiting for each other, where the disk has no room for it", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker({ limits: { storeBytes: 10, largeBytes: "1GiB" } });
    const HUGE = { ...PAGE, "content-length": String(100 * MIB) };
    const first = worker.begin("/a");
    (await machine.hasAsked(1)).begin(HUGE);
    await first;
    await settle();
    for (let each = 0; each < 5; each++) void worker.begin("/a");
    await settle();
    expect(machine.asked).toHaveLength(6);
  });

  test.each([
    ["while nothing is stored", false],
    ["after a purge", true],
  ])("share it also where it is refreshed %s", async (_, isPurged) => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    if (isPurged) await machine.stores(worker, "/a", "the old page", PAGE);
    const json = { authorization: "Bearer token", "content-type": "application/json" };
    const purge = JSON.stringify({ urls: ["/a"], refresh: true });
    const refreshed = isPurged
      ? worker.ask("/_tidemark/purge", json, "POST", purge)
      : worker.ask("/a", { "tidemark-refresh": "token" });
    const body = (await machine.hasAsked(isPurged ? 2 : 1)).begin(HEAD);
    body.push(Buffer.from(TEXT.slice(0, MIB)));
    await settle();
    const visitor = worker.ask("/a");
    body.push(Buffer.from(TEXT.slice(MIB)));
    body.end();
    expect(await visitor).toEqual({ status: 200, xCache: "HIT", text: TEXT });
    expect((await refreshed).status).toBe(200);
  });

  test("share it also where it has been stored before, and its body has left the disk", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    await machine.stores(worker, "/a", TEXT, PAGE);
    machine.remove("body");
    await machine.clock.advance(1000);
    const answers = worker.many(5, "/a");
    const asked = await machine.hasAsked(2);
    await settle(); // until each has seen that the body is gone
    const body = asked.begin(HEAD);
    await settle();
    body.push(Buffer.from(TEXT));
    body.end();
    expect((await answers).filter(({ xCache }) => xCache === "HIT")).toHaveLength(4);
    expect(machine.asked).toHaveLength(2);
  });

  test("get several parts from the origin, the last of which would come much later", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const first = worker.begin("/a");
    const film = (await machine.hasAsked(1)).begin({ ...PAGE, "content-length": String(6 * MIB) });
    film.push(Buffer.from(TEXT.slice(0, MIB)));
    await first;
    void worker.begin("/a", { range: "bytes=0-9,-10" });
    expect((await machine.hasAsked(2)).field("range")).toBe("bytes=0-9,-10");
  });

  test("find no more of its variants than the site allows", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker({ limits: { storeBytes: 10, variants: 2 } });
    const ask = (language: string) => worker.begin("/a", { "accept-language": language });
    for (const [index, language] of ["de", "en", "fr"].entries()) {
      const asked = ask(language);
      (await machine.hasAsked(index + 1)).begin({ ...HEAD, vary: "accept-language" });
      await asked;
    }
    expect([await ask("fr"), await ask("en")].map(({ fields }) => fields.get("x-cache"))).toEqual(["HIT", "HIT"]);
    void ask("de");
    await machine.hasAsked(4);
  });

  test("have waited for the origin as long as the one that asked it", async () => {
    const machine = await MachineUnderTest.start();
    const queue = { maxMs: 5_000, maxWaiting: 9 };
    const origin = { url: "http://origin.internal", concurrency: 1, queue };
    const worker = await machine.worker({ ...site, origin });
    const busy = worker.ask("/busy");
    const asked = await machine.hasAsked(1);
    const answers = worker.many(3, "/a");
    await settle();
    await machine.clock.advance(2_000);
    asked.answer("done");
    await busy;
    (await machine.hasAsked(2)).answer(TEXT, HEAD);
    await answers;
    expect(worker.turns.map(({ waitedMs }) => waitedMs)).toEqual([2_000, 2_000, 2_000]);
  });

  test("learn it if it is cut off, the slow ones too, and the next one gets it whole", async () => {
    const machine = await MachineUnderTest.start();
    const worker = await machine.worker(site);
    const paused = worker.begin("/a");
    const body = (await machine.hasAsked(1)).begin(HEAD);
    body.push(Buffer.from(TEXT.slice(0, MIB)));
    const first = (await paused).body!;
    const second = await worker.begin("/a");
    body.fail(new Error("connection reset"));
    await expect(readWhole(first as never)).rejects.toThrow();
    await expect(readWhole(second.body as never)).rejects.toThrow();
    const third = worker.ask("/a");
    (await machine.hasAsked(2)).answer(TEXT);
    expect(await third).toMatchObject({ xCache: "MISS", text: TEXT });
  });
});
