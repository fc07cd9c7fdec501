import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { placesForLocks } from "../../../server/cache-lock/lock-folder.ts";
import type { FetchTurn } from "../../../worker/ports/fetches-elsewhere.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { MachineUnderTest, PAGE, type Received, settle, until, type WorkerOfMachine } from "./machine-under-test.ts";

const HELD = /^[0-9a-f]{32}$/;
const MIB = 1024 * 1024;
/** What a fetch of /a is for that anybody may share. */
const KEY = { page: "https://www.example.test/a", variant: [], audience: "anonymous" } as const;
const PUBLIC = { "cache-control": "public, max-age=60" };

const STALE_FOR_A_WHILE = { "cache-control": "max-age=60, stale-while-revalidate=600" };

/** Both workers have /a in memory, which has just become stale. */
async function haveStale(machine: MachineUnderTest, one: WorkerOfMachine, other: WorkerOfMachine): Promise<void> {
  await machine.stores(one, "/a", "v1", STALE_FOR_A_WHILE);
  await other.ask("/a");
  await machine.clock.advance(61_000);
}

/** One worker fetches /a while a visitor of the other changes it, who then asks for it and must not wait for that fetch. */
async function expectNoWaitAfterPost(
  machine: MachineUnderTest,
  one: WorkerOfMachine,
  other: WorkerOfMachine,
  fields: Readonly<Record<string, string>>,
  page: Readonly<Record<string, string>>,
): Promise<void> {
  const leading = one.ask("/a", fields);
  const first = await machine.hasAsked(1);
  const written = other.ask("/a", fields, "POST", "new");
  (await machine.hasAsked(2)).answer("", {});
  await written;
  const read = other.ask("/a", fields);
  (await machine.hasAsked(3)).answer("new", page);
  expect((await read).text).toBe("new");
  first.answer("old", page);
  await leading;
}

/** A worker's fetch of /a is under way, and its lock belongs to another one. Returns the path of the lock. */
async function lockedBy(owner: string, machine: MachineUnderTest): Promise<string> {
  void (await machine.worker()).ask("/a");
  await machine.hasAsked(1);
  await settle(); // it has swept up at its start
  const lock = join(machine.locks, locksIn(machine.locks)[0]!);
  rmSync(lock);
  symlinkSync(owner, lock);
  return lock;
}

const texts = (answers: readonly Received[]) => [...new Set(answers.map(({ status, text }) => `${status} ${text}`))];
const locksIn = (folder: string) => readdirSync(folder).filter((name) => HELD.test(name));

describe("several workers of a machine", () => {
  test("fetch a page that all of them miss once", async () => {
    const machine = await MachineUnderTest.start();
    const workers = [await machine.worker(), await machine.worker(), await machine.worker()];
    const answers = workers.map((worker) => worker.many(20, "/a"));
    const first = await machine.hasAsked(1);
    await settle();
    first.answer("v1");
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v1"]);
    expect(machine.paths).toEqual(["/a"]);
  });

  test("count the answers of waiting requests as hits, as collapsed, and one fetch", { tags: ["deep"] }, async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const leading = one.ask("/a");
    const asked = await machine.hasAsked(1);
    const following = other.ask("/a");
    await settle();
    asked.answer("v1");
    expect([(await leading).xCache, (await following).xCache]).toEqual(["MISS", "HIT"]);
    await other.ask("/a");
    const fields = { authorization: `Bearer ${TOKEN}` };
    const stats = async (worker: WorkerOfMachine) =>
      JSON.parse((await worker.ask("/_tidemark/stats?scope=isolate", fields)).text) as object;
    expect(await stats(one)).toMatchObject({ collapsed: 0, answers: { MISS: 1 }, origin: { asked: 1 } });
    expect(await stats(other)).toMatchObject({ collapsed: 1, answers: { HIT: 2 }, origin: { asked: 0 } });
  });

  test("fetch a page once for the children of a parent", async () => {
    const machine = await MachineUnderTest.start();
    const workers = [await machine.worker(), await machine.worker()];
    for (const worker of workers) {
      const warm = worker.ask("/warm");
      if (worker === workers[0]) (await machine.hasAsked(1)).answer("warm");
      await warm;
      await worker.settled();
      await worker.ask("/warm"); // its view has been read
    }
    const answers = workers.map((worker) => {
      const child = { after: { ...worker.position!, isBinding: true }, isOfEditor: false };
      return Promise.all([1, 2, 3].map(() => worker.ask("/a", {}, "GET", null, child)));
    });
    const asked = await machine.hasAsked(2);
    await settle();
    asked.answer("v1");
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v1"]);
    expect(machine.asked).toHaveLength(2);
  });

  test("look again if they looked shortly before the page was stored", async () => {
    const machine = await MachineUnderTest.start();
    const hasStored = Promise.withResolvers<void>();
    const one = await machine.worker();
    const other = await machine.worker({ afterLook: hasStored.promise });
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    const looking = other.ask("/a");
    await settle();
    first.answer("v1");
    await leading;
    await one.settled();
    hasStored.resolve();
    expect(await looking).toMatchObject({ text: "v1", xCache: "HIT" });
    expect(machine.asked).toHaveLength(1);
  });

  test("fetch an expired page once, with its validator", { tags: ["deep"] }, async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    await machine.stores(one, "/a", "v1", { ...PAGE, etag: '"1"' });
    expect((await other.ask("/a")).xCache).toBe("HIT");
    await machine.clock.advance(61_000);
    const answers = [one.many(5, "/a"), other.many(5, "/a")];
    const asked = await machine.hasAsked(2);
    expect(asked.field("if-none-match")).toBe('"1"');
    await settle();
    asked.notModified({ ...PAGE, etag: '"1"' });
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v1"]);
    expect(machine.asked).toHaveLength(2);
  });

  test("refresh a stale page once, and all get the new one", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    await haveStale(machine, one, other);
    const stale = [await one.ask("/a"), await other.ask("/a")];
    expect(stale.map(({ xCache }) => xCache)).toEqual(["UPDATING", "UPDATING"]);
    (await machine.hasAsked(2)).answer("v2", STALE_FOR_A_WHILE);
    await Promise.all([one.settled(), other.settled()]);
    const fresh = [await one.ask("/a"), await other.ask("/a")];
    expect(texts(fresh)).toEqual(["200 v2"]);
    expect(machine.asked).toHaveLength(2);
  });

  test("use a page that another worker has already refreshed", { tags: ["deep"] }, async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    await haveStale(machine, one, other);
    await one.ask("/a");
    (await machine.hasAsked(2)).answer("v2", STALE_FOR_A_WHILE);
    await one.settled();
    await machine.clock.advance(1_000);
    expect(await other.ask("/a")).toMatchObject({ text: "v1", xCache: "UPDATING" });
    await other.settled();
    expect(await other.ask("/a")).toMatchObject({ text: "v2", xCache: "HIT" });
    expect(machine.asked).toHaveLength(2);
  });

  test("do not wait for each other for a page that is not stored", async () => {
    const machine = await MachineUnderTest.start();
    const workers = [await machine.worker(), await machine.worker(), await machine.worker()];
    const answers = workers.map((worker) => worker.many(4, "/me"));
    const first = await machine.hasAsked(1);
    await settle();
    expect(machine.asked).toHaveLength(1);
    const body = first.begin({ "cache-control": "private", "content-length": "3" });
    // All others are at the origin at once, and none waits for the answer of another.
    await machine.hasAsked(12);
    for (const [at, each] of machine.asked.slice(1).entries()) each.answer(`${at}`, { "cache-control": "private" });
    body.push(Buffer.from("own"));
    body.end();
    expect(texts((await Promise.all(answers)).flat())).toHaveLength(12);
    // And from then on no worker waits at all.
    const later = workers[1]!.many(3, "/me");
    await machine.hasAsked(15);
    for (const each of machine.asked.slice(12)) each.answer("later", { "cache-control": "private" });
    expect(texts(await later)).toEqual(["200 later"]);
  });

  test("share one more fetch after a failed one, and use the stale page meanwhile", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const answers = [one.many(3, "/a"), other.many(3, "/a")];
    const first = await machine.hasAsked(1);
    await settle();
    first.fail();
    const second = await machine.hasAsked(2);
    await settle();
    expect(machine.asked).toHaveLength(2);
    second.answer("v1");
    const got = (await Promise.all(answers)).flat();
    expect(got.filter(({ status }) => status === 502)).toHaveLength(1);
    expect(got.filter(({ text }) => text === "v1")).toHaveLength(5);
  });

  test("wait for turns of their own if another worker's fetch gets none, and share one fetch in each", async () => {
    const machine = await MachineUnderTest.start();
    const site = { origin: { url: "http://origin.internal", concurrency: 1, queue: { maxMs: 5_000, maxWaiting: 1 } } };
    const [one, other] = [await machine.worker(site), await machine.worker(site)];
    void one.ask("/slow");
    await machine.hasAsked(1);
    const leading = one.ask("/a");
    await settle();
    const following = other.many(20, "/a");
    await settle();
    expect(machine.paths).toEqual(["/slow"]);
    await machine.clock.advance(5_000);
    expect((await leading).status).toBe(503);
    await settle();
    expect(machine.paths).toEqual(["/slow", "/a"]);
    machine.asked[1]!.answer("v1");
    expect(texts(await following)).toEqual(["200 v1"]);
  });

  test("give nobody a page that was purged while it was fetched", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    const following = other.ask("/a");
    await settle();
    await other.purge(["/a"]);
    await machine.clock.advance(1_250); // it has settled
    const late = [one.ask("/a"), other.ask("/a")];
    await settle();
    first.answer("old");
    expect((await leading).text).toBe("old"); // it was sent before the purge
    await until(() => machine.asked.length > 1);
    await settle();
    for (const each of machine.asked.slice(1)) each.answer("new");
    expect(texts([await following, ...(await Promise.all(late))])).toEqual(["200 new"]);
    expect(texts([await one.ask("/a"), await other.ask("/a")])).toEqual(["200 new"]);
  });

  test("share a fetch for longer than the lock of the fetch before it lingers", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    await machine.stores(one, "/a", "v1", PUBLIC);
    await one.purge(["/a"]);
    const leading = one.ask("/a");
    const second = await machine.hasAsked(2);
    await machine.clock.advance(100);
    const following = other.ask("/a");
    await settle();
    expect(machine.asked).toHaveLength(2);
    second.answer("v2");
    expect(texts(await Promise.all([leading, following]))).toEqual(["200 v2"]);
  });

  test("wait for one fetch, not for several one after the other", { tags: ["deep"] }, async () => {
    const machine = await MachineUnderTest.start();
    const [one, other, third] = [await machine.worker(), await machine.worker(), await machine.worker()];
    void one.ask("/a");
    const first = await machine.hasAsked(1);
    const following = [other.many(3, "/a"), third.many(3, "/a")];
    await settle();
    await other.purge(["/a"]);
    await machine.clock.advance(1_250);
    first.answer("old"); // which is for neither of them
    await machine.hasAsked(3); // at once
    for (const each of machine.asked.slice(1)) each.answer("new");
    expect(texts((await Promise.all(following)).flat())).toEqual(["200 new"]);
    expect(machine.asked).toHaveLength(3);
  });

  test.each([
    ["without cookies", {}],
    ["with cookies", { cookie: "visitor=1" }],
  ])("do not wait for a fetch that was outdated by one of their own visitors %s", async (_, fields) => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    await expectNoWaitAfterPost(machine, one, other, fields, PUBLIC);
  });

  test.each([
    ["another worker's fetch for a visitor with cookies", 2, { cookie: "cart=1" }],
    ["another worker's fetch of a variant", 2, { "accept-language": "de" }],
    ["their own fetch for a visitor with cookies", 1, { cookie: "cart=1" }],
    ["their own fetch of a variant", 1, { "accept-language": "de" }],
  ])("do not wait for %s if it is outdated", { tags: ["deep"] }, async (_, count, fields) => {
    const machine = await MachineUnderTest.start();
    const site = { routes: [{ match: "/*", key: { languages: ["en", "de"] } }] };
    const one = await machine.worker(site);
    const other = count === 1 ? one : await machine.worker(site);
    await expectNoWaitAfterPost(machine, one, other, fields, { "cache-control": "s-maxage=60" });
  });

  test("send all requests to the origin at once if none of them may use another worker's page", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const leading = one.ask("/a", { "x-visitor": "0" });
    const first = await machine.hasAsked(1);
    const following = ["1", "2", "3"].map((visitor) => other.ask("/a", { "x-visitor": visitor }));
    await settle();
    first.answer("0", { ...PAGE, vary: "x-visitor" });
    await leading;
    await machine.hasAsked(4); // and none has been answered
    for (const each of machine.asked.slice(1)) each.answer(each.field("x-visitor")!, { ...PAGE, vary: "x-visitor" });
    expect((await Promise.all(following)).map(({ text }) => text)).toEqual(["1", "2", "3"]);
  });

  test.each([
    ["has to be validated each time", { "cache-control": "max-age=60, no-cache", etag: '"1"', "content-length": "4" }],
    ["is large", { ...PAGE, "content-length": String(2 * MIB) }],
  ])("do not wait for the body of a page that %s", async (_, fields) => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    void one.ask("/a");
    const first = await machine.hasAsked(1);
    void other.ask("/a");
    await settle();
    expect(machine.asked).toHaveLength(1);
    first.begin(fields);
    await machine.hasAsked(2);
    void other.ask("/b");
    await machine.hasAsked(3); // nobody was in the way of it
  });

  test("do not wait for a page for five seconds after a fetch of it that was of no use to them", async () => {
    const machine = await MachineUnderTest.start();
    const { clock } = machine;
    const start = async () => (await machine.fetches()).ofSite("", () => true);
    const [one, other, third] = [await start(), await start(), await start()];
    const turn = one.take(KEY) as FetchTurn;
    const following = other.take(KEY);
    await settle();
    turn.tell({ kind: "being-stored", lengthBytes: 2 * MIB, isReusable: () => true });
    expect(await following).toEqual({ kind: "look-again" });
    const next = third.take(KEY) as FetchTurn;
    await clock.advance(4_999);
    expect(other.take(KEY)).toBeUndefined();
    await clock.advance(1);
    const waiting = other.take(KEY);
    await settle();
    next.tell({ kind: "not-shareable" });
    expect(await waiting).toEqual({ kind: "not-shareable" });
  });

  test("wait at most a second for a body", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    await machine.clock.advance(5_000); // a head may take its time
    const following = other.ask("/a");
    await settle();
    const body = first.begin({ ...PAGE, "content-length": "4" });
    await settle();
    await machine.clock.advance(999);
    await settle();
    expect(machine.asked).toHaveLength(1);
    await machine.clock.advance(1);
    (await machine.hasAsked(2)).answer("fast");
    expect((await following).text).toBe("fast");
    body.push(Buffer.from("slow"));
    body.end();
    expect((await leading).text).toBe("slow");
  });

  test.each([
    ["before its body came", true],
    ["after its body came", false],
  ])("wait at most five seconds for a disk that is slow to take a page, if they asked %s", async (_, isBefore) => {
    const machine = await MachineUnderTest.start();
    const isWritten = Promise.withResolvers<void>();
    const [one, other] = [await machine.worker({ afterWrite: isWritten.promise }), await machine.worker()];
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    const early = isBefore ? other.ask("/a") : null;
    await settle();
    first.answer("v1");
    expect((await leading).text).toBe("v1");
    const following = early ?? other.ask("/a");
    await settle();
    await machine.clock.advance(4_999);
    await settle();
    expect(machine.asked).toHaveLength(1);
    await machine.clock.advance(1);
    (await machine.hasAsked(2)).answer("v2");
    expect((await following).text).toBe("v2");
    isWritten.resolve();
  });

  test("wait for the disk as long after a body that has taken almost a second", async () => {
    const machine = await MachineUnderTest.start();
    const isWritten = Promise.withResolvers<void>();
    const [one, other] = [await machine.worker({ afterWrite: isWritten.promise }), await machine.worker()];
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    const following = other.ask("/a");
    await settle();
    const body = first.begin({ ...PAGE, "content-length": "4" });
    await settle();
    await machine.clock.advance(900);
    body.push(Buffer.from("slow"));
    body.end();
    expect((await leading).text).toBe("slow");
    await settle();
    await machine.clock.advance(4_900);
    await settle();
    isWritten.resolve();
    expect((await following).text).toBe("slow");
    expect(machine.asked).toHaveLength(1);
  });

  test("wait each for as long as it may, whoever asked before and no longer waits", async () => {
    const machine = await MachineUnderTest.start();
    const { clock } = machine;
    const start = async () => (await machine.fetches()).ofSite("", () => true);
    const [one, other] = [await start(), await start()];
    const turn = one.take(KEY) as FetchTurn;
    const first = other.take(KEY);
    await settle();
    await clock.advance(5_000);
    const second = other.take(KEY);
    await settle();
    await clock.advance(5_000);
    expect(await first).toEqual({ kind: "look-again" });
    turn.tell({ kind: "not-shareable" });
    await settle();
    await clock.advance(5_000);
    expect(await second).toEqual({ kind: "not-shareable" });
  });

  test("wait as long as for their own fetch", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const leading = one.ask("/a");
    const first = await machine.hasAsked(1);
    const following = other.many(3, "/a");
    await settle();
    await machine.clock.advance(10_000);
    (await machine.hasAsked(2)).answer("v2");
    expect(texts(await following)).toEqual(["200 v2"]);
    await machine.clock.advance(70_000); // that one has expired, and the first fetch is under way still
    const latest = other.ask("/a");
    (await machine.hasAsked(3)).answer("v3");
    expect((await latest).text).toBe("v3");
    first.answer("v1");
    expect((await leading).text).toBe("v1");
  });

  test("store the page for the others even if the visitor who asked first has left", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    void one.ask("/a").then(() => undefined); // nobody reads the answer on
    const first = await machine.hasAsked(1);
    const following = other.ask("/a");
    await settle();
    first.answer("v1");
    expect((await following).text).toBe("v1");
    expect(machine.asked).toHaveLength(1);
  });

  test("take over from a worker that has died, and remove what it left behind", async () => {
    const machine = await MachineUnderTest.start();
    const one = await machine.worker();
    void one.ask("/a");
    await machine.hasAsked(1);
    const [lock] = locksIn(machine.locks);
    rmSync(join(machine.locks, lock!));
    symlinkSync("1-0badc0de", join(machine.locks, lock!)); // nobody listens there
    const workers = [await machine.worker(), await machine.worker()];
    const answers = workers.map((worker) => worker.many(5, "/a"));
    const second = await machine.hasAsked(2);
    await settle();
    second.answer("v2");
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v2"]);
    expect(machine.asked).toHaveLength(2);
  });

  test("leave the lock to a worker that cannot be reached for another reason than its death", async () => {
    const machine = await MachineUnderTest.start();
    const lock = await lockedBy("1-0badc0de", machine);
    const socket = join(machine.locks, "1-0badc0de.socket");
    symlinkSync(socket, socket); // a loop
    const asking = (await machine.worker()).ask("/a");
    (await machine.hasAsked(2)).answer("v2");
    expect((await asking).text).toBe("v2");
    expect(readlinkSync(lock)).toBe("1-0badc0de");
  });

  test("wait once for a worker that says nothing, and not again", async () => {
    const machine = await MachineUnderTest.start();
    await lockedBy("1-0badc0de", machine);
    const silent = createServer().listen(join(machine.locks, "1-0badc0de.socket"));
    onTestFinished(() => void silent.close());
    const worker = await machine.worker();
    const first = worker.ask("/a");
    await settle();
    expect(machine.asked).toHaveLength(1);
    await machine.clock.advance(10_000);
    (await machine.hasAsked(2)).answer("v2", { "cache-control": "no-store" });
    expect((await first).text).toBe("v2");
    await machine.clock.advance(5_000); // until then the requests of a worker do not wait for each other
    const second = worker.ask("/a");
    await settle();
    expect(machine.asked).toHaveLength(3);
    machine.asked[2]!.answer("v3");
    expect((await second).text).toBe("v3");
  });

  test("use a page that another worker has stored since, if they learn of a death late", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    void (await machine.worker()).ask("/a");
    await machine.hasAsked(1);
    await settle(); // each has swept up at its start
    const lock = join(machine.locks, locksIn(machine.locks)[0]!);
    const removal = `${lock}.1-0badc0de`;
    rmSync(lock);
    symlinkSync("1-0badc0de", lock); // nobody listens there
    symlinkSync("2-0badc0de", removal); // and another one is about to remove it
    const late = one.many(3, "/a");
    await settle();
    rmSync(lock);
    rmSync(removal);
    await machine.stores(other, "/a", "v2", PAGE);
    rmSync(lock); // its time is over
    await machine.clock.advance(50);
    expect(texts(await late)).toEqual(["200 v2"]);
    expect(machine.asked).toHaveLength(2);
  });

  test("remove what dead workers left behind when they start", async () => {
    const machine = await MachineUnderTest.start();
    mkdirSync(machine.locks, { mode: 0o700 });
    const lock = "0123456789abcdef".repeat(2);
    symlinkSync("1-0badc0de", join(machine.locks, lock));
    symlinkSync("2-0badc0de", join(machine.locks, `${lock}.1-0badc0de`)); // who was about to remove it has died, too
    writeFileSync(join(machine.locks, "1-0badc0de.socket"), "");
    await machine.worker();
    await until(() => readdirSync(machine.locks).filter((name) => !name.endsWith(".socket")).length <= 1);
    await until(() => !existsSync(join(machine.locks, "1-0badc0de.socket")));
    expect(locksIn(machine.locks)).toEqual([]);
  });

  test("remove when they start what servers of other caches left behind that were killed, and nothing of those that run", async () => {
    const machine = await MachineUnderTest.start();
    const folderOf = (user: number, digit: string) => join(machine.pages, `tidemark-${user}-${digit.repeat(16)}`);
    const [dead, alive, ofOther] = [folderOf(7, "b"), folderOf(7, "c"), folderOf(70, "d")];
    for (const folder of [dead, alive, ofOther]) {
      mkdirSync(folder, { mode: 0o700 });
      symlinkSync("1-0badc0de", join(folder, "0123456789abcdef".repeat(2)));
      if (folder !== alive) writeFileSync(join(folder, "1-0badc0de.socket"), "");
    }
    const server = createServer().listen(join(alive, "1-0badc0de.socket"));
    onTestFinished(() => void server.close());
    await once(server, "listening");
    await machine.worker({ places: [folderOf(7, "a")] });
    await until(() => !existsSync(dead));
    await settle();
    expect([alive, ofOther].map((folder) => readdirSync(folder).length)).toEqual([2, 2]);
  });

  test("leave no lock behind", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const answers = [one.ask("/a"), other.ask("/b"), one.ask("/c"), one.ask("/d")];
    await machine.hasAsked(4);
    machine.asked[0]!.answer("a");
    machine.asked[1]!.answer("b", { "cache-control": "private" });
    machine.asked[2]!.answer("c", { "cache-control": "no-store" });
    machine.asked[3]!.fail();
    await Promise.all(answers);
    await Promise.all([one.settled(), other.settled()]);
    expect(locksIn(machine.locks)).toHaveLength(1); // of the page that is stored, for those who looked too early
    await machine.clock.advance(100);
    expect(locksIn(machine.locks)).toEqual([]);
  });

  test("stop even if another worker does not read its messages", { tags: ["deep"] }, async () => {
    const machine = await MachineUnderTest.start();
    const { locks } = machine;
    const fetches = await machine.fetches();
    const [name] = readdirSync(locks);
    const stopped = connect(join(locks, name!)); // nothing reads from it
    onTestFinished(() => void stopped.destroy());
    await new Promise((resolve) => stopped.write(`${"0".repeat(32)}\n`.repeat(20_000), resolve));
    await settle();
    fetches.close();
    expect(existsSync(locks)).toBe(false);
  });

  test("of different sites do not wait for each other", async () => {
    const machine = await MachineUnderTest.start();
    const [one, other] = [await machine.worker({ site: "shop" }), await machine.worker({ site: "blog" })];
    const answers = [one.ask("/a"), other.ask("/a")];
    await machine.hasAsked(2);
    for (const [at, each] of machine.asked.entries()) each.answer(`site ${at}`);
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["site 0", "site 1"]);
  });

  test("fetch separately, and say so once, if no lock can be kept", { tags: ["deep"] }, async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    rmSync(machine.locks, { recursive: true });
    writeFileSync(machine.locks, "");
    const answers = [one.ask("/a"), one.ask("/b"), other.ask("/a")];
    await machine.hasAsked(3);
    for (const each of machine.asked) each.answer("v1");
    expect(texts(await Promise.all(answers))).toEqual(["200 v1"]);
    expect(machine.said).toEqual([
      expect.stringMatching(/^Each worker asks the origin for itself for now: the locks in .* fail \(ENOTDIR/),
      expect.stringMatching(/^Each worker asks the origin for itself for now/),
    ]);
    await machine.clock.advance(5_000);
    const still = one.ask("/d");
    (await machine.hasAsked(4)).answer("d");
    await still;
    await settle();
    expect(machine.said).toHaveLength(2);
  });

  const remove = (locks: string) => rmSync(locks, { recursive: true });
  const hide = (locks: string) => {
    renameSync(locks, `${locks}-hidden`);
    writeFileSync(locks, "");
  };
  const show = (locks: string) => {
    rmSync(locks);
    renameSync(`${locks}-hidden`, locks);
  };

  test.each([
    ["the folder of the locks and their sockets were removed", remove, () => undefined, 5_000],
    ["they were removed and the clock was set back", remove, () => undefined, -3_600_000],
    ["the folder could not be used for a while", hide, show, 5_000],
  ])("share fetches again after %s", async (_, breakIt, mend, ms) => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    breakIt(machine.locks);
    for (const worker of [one, other]) {
      const [path, asked] = [`/${machine.asked.length}`, machine.asked.length + 1];
      const failing = worker.ask(path);
      (await machine.hasAsked(asked)).answer("v1");
      await failing;
    }
    mend(machine.locks);
    await machine.clock.advance(ms);
    await expectToShareAgain(machine, [one, other]);
  });

  test("share fetches later if no place could be used when they started", async () => {
    const machine = await MachineUnderTest.start();
    writeFileSync(machine.locks, "");
    const workers = [await machine.worker(), await machine.worker()];
    rmSync(machine.locks);
    await machine.clock.advance(5_000);
    await expectToShareAgain(machine, workers);
  });

  async function expectToShareAgain(machine: MachineUnderTest, workers: readonly WorkerOfMachine[]): Promise<void> {
    for (const worker of workers) {
      const [path, asked] = [`/${machine.asked.length}`, machine.asked.length + 1];
      const trying = worker.ask(path);
      (await machine.hasAsked(asked)).answer("v1");
      await trying;
    }
    const again = "Workers share their fetches again.";
    await until(() => machine.said.filter((line) => line === again).length === workers.length);
    const before = machine.asked.length;
    const answers = workers.map((worker) => worker.many(5, "/a"));
    const asked = await machine.hasAsked(before + 1);
    await settle();
    asked.answer("v2");
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v2"]);
    expect(machine.asked).toHaveLength(before + 1);
  }

  test("share a fetch again of a page whose lock could not be released", async () => {
    const { machine, one, other } = await MachineUnderTest.withTwo();
    const third = await machine.worker();
    const asking = one.ask("/a");
    const first = await machine.hasAsked(1);
    const lock = join(machine.locks, locksIn(machine.locks)[0]!);
    const owner = readlinkSync(lock);
    first.fail();
    expect((await asking).status).toBe(502);
    symlinkSync(owner, lock); // as if the folder had failed just then
    const late = other.ask("/a");
    (await machine.hasAsked(2)).fail();
    expect((await late).status).toBe(502);
    const answers = [other.many(3, "/a"), third.many(3, "/a")];
    const asked = await machine.hasAsked(3);
    await settle();
    expect(machine.asked).toHaveLength(3);
    asked.answer("v1");
    expect(texts((await Promise.all(answers)).flat())).toEqual(["200 v1"]);
  });

  test("leave nothing behind when they end soon after a page was stored", async () => {
    const machine = await MachineUnderTest.start();
    const { locks } = machine;
    const fetches = await machine.fetches();
    await settle();
    fetches.ofSite("", () => true).take(KEY);
    expect(locksIn(locks)).toHaveLength(1);
    await fetches.close();
    expect(existsSync(locks)).toBe(false);
  });

  test("leave no socket behind if they end just when they begin to share again", async () => {
    const machine = await MachineUnderTest.start();
    const { clock, locks } = machine;
    const fetches = await machine.fetches();
    const ofSite = fetches.ofSite("", () => true);
    await settle();
    rmSync(locks, { recursive: true });
    expect(ofSite.take(KEY)).toBeUndefined();
    await clock.advance(5_000);
    ofSite.take(KEY);
    await fetches.close();
    await settle();
    expect(existsSync(locks) && readdirSync(locks)).toEqual([]);
  });

  test("use the next place if the first cannot be used, and none that others may write to", async () => {
    const machine = await MachineUnderTest.start();
    const open = join(machine.pages, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    await machine.worker({ places: [open, join(machine.pages, "missing", "place"), machine.locks] });
    expect(machine.said).toEqual([]);
    expect(readdirSync(machine.locks)).toHaveLength(1);
    await machine.worker({ places: [open] });
    expect(machine.said).toEqual([expect.stringContaining("it is not a folder that only this user can access")]);
  });

  test("start even if their cache folder is gone, and fetch separately", async () => {
    const machine = await MachineUnderTest.start();
    const places = placesForLocks(join(machine.pages, "gone"));
    const one = await machine.worker({ places });
    const answer = one.ask("/a");
    (await machine.hasAsked(1)).answer("v1");
    expect((await answer).text).toBe("v1");
    expect(machine.said).toEqual([expect.stringMatching(/^Each worker asks the origin for itself, .* \(ENOENT/)]);
  });

  test("use other places than workers whose folder has the same path elsewhere", async () => {
    const machine = await MachineUnderTest.start();
    const [memory] = placesForLocks(machine.pages);
    const moved = `${machine.pages}-moved`;
    renameSync(machine.pages, moved);
    mkdirSync(machine.pages);
    expect(placesForLocks(machine.pages)[0]).not.toBe(memory);
    expect(placesForLocks(moved)[0]).toBe(memory);
  });
});
