import { describe, expect, test } from "vitest";
import { PurgeIncomplete, PurgeRejected, type PurgeRequest, PurgeTimeout, PurgeUnauthorized } from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";
import { accepts, purgeRecord, receiptBody, refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";
import { createVirtualClock } from "./virtual-clock.ts";

test("A batch sends all of its items as one purge, each item once", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  await using batch = cdn.batch();

  batch.tags("song:1", "songs").urls("/songs").tags("songs", "song:2").prefixes("/shop").hosts("m.example.com");
  expect(edge.requests).toEqual([]);
  const receipt = await batch.commit({ reason: "import", mode: "soft" });

  expect(receipt?.seq).toBe(7);
  expect(edge.requests.map(({ body }) => body)).toEqual([
    {
      id: expect.any(String),
      urls: ["/songs"],
      tags: ["song:1", "songs", "song:2"],
      prefixes: ["/shop"],
      hosts: ["m.example.com"],
      reason: "import",
      mode: "soft",
    },
  ]);
});

test("A batch sends nothing if an error skips its commit", async () => {
  const cdn = createRecordingPurger();
  const failing = async () => {
    await using batch = cdn.batch();
    batch.tags("song:1");
    throw new Error("rolled back");
  };

  await expect(failing()).rejects.toThrow("rolled back");
  expect(cdn.calls).toEqual([]);
});

test("A batch without items sends nothing", async () => {
  const cdn = createRecordingPurger();
  const batch = cdn.batch();
  batch.tags();

  await expect(batch.commit()).resolves.toBeNull();
  expect(cdn.calls).toEqual([]);
});

test("A batch with everything leaves out its other items", async () => {
  const cdn = createRecordingPurger();

  await cdn.batch().tags("a").everything().urls("/b").commit();

  expect(cdn.calls).toEqual([{ everything: true }]);
});

test("Adding an invalid item is a TypeError, and so is using a batch that has ended", async () => {
  const batch = createRecordingPurger().batch();

  expect(() => batch.tags("a b")).toThrow(/^batch\.tags: tags\[0\]: a tag must be printable ASCII/);
  expect(() => batch.urls("about")).toThrow(/^batch\.urls: urls\[0\]: must be a path/);
  await batch.tags("a").commit();
  expect(() => batch.tags("b")).toThrow(/^batch\.tags: this batch has ended/);
  expect(() => batch.everything()).toThrow(/^batch\.everything: this batch has ended/);
  await expect(batch.commit()).rejects.toThrow(/^batch\.commit: this batch has ended; begin another one$/);
});

test("A batch whose commit fails rejects with that error and has ended", async () => {
  const cdn = createRecordingPurger();
  const error = new Error("the edge is away");
  cdn.failNext(error);
  const batch = cdn.batch().tags("a");

  await expect(batch.commit()).rejects.toBe(error);
  await expect(batch.commit()).rejects.toThrow(/^batch\.commit: this batch has ended/);
});

test("Items that belong together are added in one call", async () => {
  const cdn = createRecordingPurger();

  await cdn
    .batch()
    .add({ tags: new Set(["a"]), urls: [new URL("https://www.example.com/a")], hosts: [] })
    .add({})
    .commit();

  expect(cdn.calls).toEqual([{ tags: ["a"], urls: ["https://www.example.com/a"] }]);
});

test("Items that cannot be added together are a TypeError", () => {
  const batch = createRecordingPurger().batch();

  expect(() => batch.add({ tag: ["a"] } as object)).toThrow(/^batch\.add: tag: unknown key; did you mean tags\?/);
  expect(() => batch.add({ everything: true } as object)).toThrow(/^batch\.add: everything: unknown key/);
  expect(() => batch.add({ tags: "a" } as object)).toThrow(/^batch\.add: tags: .*expected array/);
  expect(() => batch.add(null as unknown as object)).toThrow(/^batch\.add: .*expected object/);
});

test("A batch around a piece of work sends when the work is done, and gives its value", async () => {
  const cdn = createRecordingPurger();
  const done: string[] = [];

  const { value, receipt } = await cdn.batch(
    async (batch) => {
      batch.tags("song:1", "songs");
      await Promise.resolve();
      batch.add({ tags: ["songs"], urls: ["/songs"] });
      done.push(`sent before the end: ${cdn.calls.length}`);
      return 42;
    },
    { reason: "import" },
  );

  expect({ value, done }).toEqual({ value: 42, done: ["sent before the end: 0"] });
  expect(receipt).toMatchObject({ seq: 1, receipts: [{ seq: 1 }], divided: [] });
  expect(cdn.calls).toEqual([{ tags: ["song:1", "songs"], urls: ["/songs"], reason: "import" }]);
});

test("A batch around work that fails rejects with its error and sends nothing, and nothing can be added after the end", async () => {
  const cdn = createRecordingPurger();
  const error = new Error("rolled back");
  const collectors: { tags(tag: string): unknown }[] = [];

  const failing = cdn.batch(async (batch) => {
    collectors.push(batch.tags("a"));
    throw error;
  });
  await expect(failing).rejects.toBe(error);
  await expect(cdn.batch((batch) => collectors.push(batch))).resolves.toEqual({ value: 2, receipt: null });

  expect(cdn.calls).toEqual([]);
  for (const batch of collectors) expect(() => batch.tags("b")).toThrow(/^batch\.tags: this batch has ended/);
});

test("Wrong options of a batch are a TypeError before its work begins, and leave a batch as it was", async () => {
  const cdn = createRecordingPurger();
  const work = () => expect.unreachable();

  await expect(cdn.batch(work, { reson: "x" } as object)).rejects.toThrow(/^batch, options: reson: unknown key/);
  await expect(cdn.batch("work" as unknown as () => void)).rejects.toThrow(/^batch: the first argument must be a func/);
  await expect(cdn.batch(work, { onReceipt: 5 } as object)).rejects.toThrow(
    /^batch, options: onReceipt: must be a fun/,
  );
  const batch = cdn.batch().tags("a");
  await expect(batch.commit({ reson: "x" } as object)).rejects.toThrow(/^batch\.commit, options: reson: unknown key/);
  await expect(batch.commit()).resolves.toMatchObject({ seq: 1 });
});

const many = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}:${index}`);
const sizes = (calls: readonly PurgeRequest[]) =>
  calls.map(({ tags = [], urls = [], hosts = [] }) => tags.length + urls.length + hosts.length);

test("A batch of as many items as a purge may name is one purge, and with one more it is two", async () => {
  const cdn = createRecordingPurger();

  await cdn.batch().tags(many(9_999, "song")).hosts("m.example.com").tags("song:7").commit({ id: "all" });
  const receipt = await cdn.batch().tags(many(9_999, "song")).hosts("m.example.com").tags("more").commit({ id: "two" });

  expect(sizes(cdn.calls)).toEqual([10_000, 10_000, 1]);
  expect(cdn.calls.map(({ id }) => id)).toEqual(["all", "two.1", "two.2"]);
  expect(receipt).toMatchObject({ seq: 3, token: "recorded-3", accepted: { tags: 10_000, hosts: 1 }, divided: [] });
  expect(receipt?.receipts.map(({ seq }) => seq)).toEqual([2, 3]);
});

test("The items of one call stay in one purge, even if they were named before", async () => {
  const cdn = createRecordingPurger();

  const receipt = await cdn
    .batch()
    .tags(many(9_999, "song"))
    .add({ tags: ["song:5", "artist:1"], urls: ["/artists/1"] })
    .tags("song:7")
    .commit();

  expect(sizes(cdn.calls)).toEqual([9_999, 3]);
  expect(cdn.calls[1]).toMatchObject({ tags: ["song:5", "artist:1"], urls: ["/artists/1"] });
  expect(receipt?.divided).toEqual([]);
});

test("A call that is too large for one purge is divided, and the receipt names its purges", async () => {
  const cdn = createRecordingPurger();
  const large = many(20_001, "song");

  const receipt = await cdn.batch().urls("/first").tags(large).urls("/last").commit();

  expect(sizes(cdn.calls)).toEqual([10_000, 10_000, 3]);
  expect(cdn.calls.flatMap(({ tags = [] }) => tags)).toEqual(large);
  expect(cdn.calls[2]?.urls).toEqual(["/last"]);
  expect(receipt?.divided).toEqual([{ items: large, purges: [0, 1, 2] }]);
});

test("A divided call leaves out items that were named before", async () => {
  const cdn = createRecordingPurger();

  const receipt = await cdn.batch().tags("song:20000").tags(many(10_001, "song"), "song:20000").commit();

  expect(sizes(cdn.calls)).toEqual([10_000, 2]);
  expect(new Set(cdn.calls.flatMap(({ tags = [] }) => tags)).size).toBe(10_002);
  expect(receipt?.divided).toMatchObject([{ purges: [0, 1] }]);
});

test("If the log is recreated between two purges, the receipt has the new log's token", async () => {
  const of = (logId: string, seq: number) => ({ json: { ...receiptBody, logId, seq, token: `${logId}.${seq}` } });
  await using edge = await startFakeEdge(of("old", 90), of("new", 1));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.batch().tags(many(10_001, "a")).commit()).resolves.toMatchObject({ token: "new.1", seq: 1 });
});

test("A batch counts as accepted before only if all of its purges were", async () => {
  const replay = { json: { ...receiptBody, replayed: true } };
  await using edge = await startFakeEdge(replay, accepts, replay);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const send = () => cdn.batch().tags(many(10_001, "a")).commit({ id: "again" });

  await expect(send()).resolves.toMatchObject({ replayed: false, receipts: [{ replayed: true }, { replayed: false }] });
  await expect(send()).resolves.toMatchObject({ replayed: true });
});

test("A batch is divided before its purges have more bytes than the edge reads", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  // Each é takes two bytes, and each " is written as two.
  const long = Array.from({ length: 600 }, (_, index) => `/${index}/${'é"'.repeat(2_500)}`);

  const receipt = await cdn
    .batch()
    .urls(long)
    .commit({ reason: "\u0001".repeat(500) });

  const bytes = edge.requests.map(({ headers }) => Number(headers["content-length"]));
  expect(bytes.length).toBe(2);
  for (const each of bytes) expect(each).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(bytes[0]).toBeGreaterThan(4_100_000);
  expect(edge.requests.flatMap(({ body }) => body.urls)).toEqual(long);
  expect(receipt?.divided).toMatchObject([{ purges: [0, 1] }]);
});

test("A batch with refresh is divided by its URLs, and purges without URLs refresh nothing", async () => {
  const cdn = createRecordingPurger();
  const urls = many(51, "/song");

  const receipt = await cdn.batch().urls(urls).tags(many(10_000, "song")).commit({ refresh: true, mode: "soft" });

  expect(cdn.calls.map(({ urls, tags, refresh, mode }) => [urls?.length, tags?.length, refresh, mode])).toEqual([
    [50, undefined, true, "soft"],
    [1, undefined, true, "soft"],
    [undefined, 10_000, undefined, "soft"],
  ]);
  expect(receipt?.refreshed?.map(({ url }) => url)).toEqual(urls);
});

test("The receipt of several purges settles when the last of them has, and has the token of the newest", async () => {
  const clock = createVirtualClock();
  const receipt = (seq: number, settlesInMs: number) => ({
    json: { ...receiptBody, seq, token: `log-1.${seq}`, settlesInMs, warnings: ["odd", `odd ${seq}`] },
  });
  await using edge = await startFakeEdge(receipt(8, 900), receipt(9, 200));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const joined = (await cdn.batch().tags(many(10_001, "a")).commit())!;
  expect(joined).toMatchObject({ seq: 9, token: "log-1.9", settlesInMs: 900, warnings: ["odd", "odd 8", "odd 9"] });
  let hasSettled = false;
  const settled = joined.settled().then(() => {
    hasSettled = true;
  });
  clock.advance(899);
  await new Promise(setImmediate);
  expect(hasSettled).toBe(false);
  clock.advance(1);
  await settled;
});

describe("The receipt of several purges", () => {
  const receipt = (settlesInMs: number, maySettleSooner?: true) => ({
    json: { ...receiptBody, settlesInMs, maySettleSooner },
  });

  test.each([
    ["the last of them may", receipt(300), receipt(1250, true)],
    ["all of them may", receipt(1250, true), receipt(1250, true)],
  ])("may settle sooner if %s", async (_, first, second) => {
    const clock = createVirtualClock();
    await using edge = await startFakeEdge(first, second, { json: purgeRecord });
    await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });
    const joined = (await cdn.batch().tags(many(10_001, "a")).commit())!;
    expect(joined.maySettleSooner).toBe(true);
    clock.advance(300);
    await joined.settled();
  });

  test.each([
    ["one of the last may not", receipt(1250), receipt(1250, true)],
    ["the last may not", receipt(1250), receipt(300, true)],
  ])("settles by the clock if %s", async (_, first, second) => {
    await using edge = await startFakeEdge(first, second);
    await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
    expect((await cdn.batch().tags(many(10_001, "a")).commit())!.maySettleSooner).toBeUndefined();
  });
});

test("A batch whose second purge is refused sends the third, and its error has what was accepted and what was not", async () => {
  const bad = { errors: [{ path: "tags[0]", message: "is bad" }] };
  await using edge = await startFakeEdge(accepts, refuses("invalid", bad), accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const progress: unknown[] = [];

  const error = await cdn
    .batch()
    .tags(many(20_001, "a"))
    .commit({ id: "x", onReceipt: ({ seq }, at) => progress.push([seq, at]) })
    .catch((error: unknown) => error as PurgeIncomplete);

  expect(error).toBeInstanceOf(PurgeIncomplete);
  expect(error).toMatchObject({ code: "invalid", status: 400, retryable: false, attempts: 1 });
  expect((error as PurgeIncomplete).message).toMatch(
    /^1 of 3 purges failed, and 2 were accepted\..* tags\[0\]: is bad/,
  );
  expect(progress).toEqual([
    [7, { done: 1, purges: 3 }],
    [7, { done: 2, purges: 3 }],
  ]);
  const { receipts, failures } = error as PurgeIncomplete;
  expect(receipts).toHaveLength(2);
  expect(failures).toMatchObject([{ request: { id: "x.2" }, error: { code: "invalid" } }]);
  expect(failures[0]).not.toHaveProperty("endpoint");
  await cdn.purge(failures[0]!.request);
  expect(edge.requests.map(({ body }) => body.id)).toEqual(["x.1", "x.2", "x.3", "x.2"]);
  expect(edge.requests[3]?.body).toEqual(edge.requests[1]?.body);
});

test("A batch goes on after a purge that a firewall in front of the edge blocks", async () => {
  await using edge = await startFakeEdge(accepts, { status: 403, json: { message: "Forbidden" } }, accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const committing = cdn.batch().tags(many(20_001, "a")).commit({ id: "x" });

  await expect(committing).rejects.toMatchObject({ receipts: [{}, {}], failures: [{ request: { id: "x.2" } }] });
});

test("A batch with a wrong token stops, and everything unsent counts as failed", async () => {
  await using edge = await startFakeEdge(refuses("unauthorized"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const error = await cdn
    .batch()
    .tags(many(20_001, "a"))
    .commit()
    .catch((error: unknown) => error as PurgeIncomplete);

  expect(edge.requests).toHaveLength(1);
  expect(error).toMatchObject({ name: "PurgeIncomplete", code: "unauthorized", attempts: 1, receipts: [] });
  expect(error).toMatchObject({ cause: expect.any(PurgeUnauthorized) });
  const failed = (error as PurgeIncomplete).failures;
  expect(failed.map(({ request }) => request.id)).toEqual(["id-1.1", "id-1.2", "id-1.3"]);
  expect(sizes(failed.map(({ request }) => request))).toEqual([10_000, 10_000, 1]);
});

test("A batch goes on after a purge whose pages are fetched too slowly, and stops at the second in a row without an answer", async () => {
  const cdn = createRecordingPurger();
  const failures = async (committing: Promise<unknown>) =>
    committing.catch((error: PurgeIncomplete) => error.failures.map(({ request }) => request.id));
  const tooLate = () => new PurgeTimeout("the deadline has passed", { attempts: 1 });

  cdn.failNext(tooLate());
  const slow = cdn.batch().urls(many(201, "/song"));
  const onReceipt = (_: unknown, { done }: { done: number }) => {
    if (done > 1) return;
    cdn.failNext(tooLate());
    cdn.failNext(new PurgeRejected("a wrong item", { code: "invalid", status: 400, attempts: 1, errors: [] }));
    cdn.failNext(tooLate());
  };
  expect(await failures(slow.commit({ id: "slow", refresh: true, onReceipt }))).toEqual([
    "slow.1",
    "slow.3",
    "slow.4",
    "slow.5",
  ]);
  expect(cdn.calls.map(({ id }) => id)).toEqual(["slow.1", "slow.2", "slow.3", "slow.4", "slow.5"]);

  cdn.reset();
  for (let purge = 0; purge < 20; purge++) cdn.failNext(tooLate());
  const hanging = cdn.batch().urls(many(1_000, "/song")).commit({ id: "hanging", refresh: true });
  expect(await failures(hanging)).toHaveLength(20);
  expect(cdn.calls.map(({ id }) => id)).toEqual(["hanging.1", "hanging.2"]);

  cdn.reset();
  cdn.failNext(tooLate());
  const tags = cdn.batch().tags(many(20_001, "song")).commit({ id: "tags", refresh: true });
  expect(await failures(tags)).toEqual(["tags.1", "tags.2", "tags.3"]);
  expect(cdn.calls.map(({ id }) => id)).toEqual(["tags.1"]);
});

test("Aborting a batch in the middle rejects with the reason and sends no further purge", async () => {
  const reason = new Error("left");
  const leaving = new AbortController();
  await using edge = await startFakeEdge({ ...accepts });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const onReceipt = () => leaving.abort(reason);
  const committing = cdn.batch().tags(many(20_001, "a")).commit({ signal: leaving.signal, onReceipt });

  await expect(committing).rejects.toBe(reason);
  expect(edge.requests).toHaveLength(1);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("my log is full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("my log is full"))],
])(
  "A callback that %s keeps no purge of the batch from being sent, and its error is that of the call",
  async (_, onReceipt) => {
    await using edge = await startFakeEdge({ ...accepts });
    await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

    const committing = cdn.batch().tags(many(20_001, "a")).commit({ id: "x", onReceipt });

    await expect(committing).rejects.toThrow("my log is full");
    expect(edge.requests.map(({ body }) => body.id)).toEqual(["x.1", "x.2", "x.3"]);
  },
);

test("A callback that rejects after the only purge of a batch is the error of the call", async () => {
  const cdn = createRecordingPurger();

  const committing = cdn
    .batch()
    .tags("a")
    .commit({ onReceipt: () => Promise.reject(new Error("my log is full")) });

  await expect(committing).rejects.toThrow("my log is full");
  expect(cdn.calls).toEqual([{ tags: ["a"] }]);
});

test("A purge that failed matters more than a callback that throws", async () => {
  await using edge = await startFakeEdge(accepts, refuses("unauthorized"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const onReceipt = () => {
    throw new Error("my log is full");
  };

  const committing = cdn.batch().tags(many(10_001, "a")).commit({ onReceipt });

  await expect(committing).rejects.toMatchObject({ name: "PurgeIncomplete", receipts: [{ seq: 7 }] });
});

test("A batch with refresh that has collected no URLs is still purged", async () => {
  const cdn = createRecordingPurger();

  await cdn.batch((batch) => batch.tags("a"), { refresh: true });
  await cdn.batch((batch) => batch.everything(), { refresh: true });

  expect(cdn.calls).toEqual([{ tags: ["a"] }, { everything: true }]);
});

test("An id that leaves no room for the number of a purge is a TypeError before the work of a batch begins", async () => {
  const cdn = createRecordingPurger();
  const work = () => expect.unreachable();

  await expect(cdn.batch(work, { id: "x".repeat(121) })).rejects.toThrow(
    /^batch, options: id: can have at most 120 characters/,
  );
  const id = "x".repeat(120);
  await cdn.batch((batch) => batch.tags(many(10_001, "a")), { id });
  expect(cdn.calls.map((call) => call.id)).toEqual([`${id}.1`, `${id}.2`]);
});
