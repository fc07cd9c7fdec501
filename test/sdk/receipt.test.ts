import { tracingChannel } from "node:diagnostics_channel";
import { getEventListeners } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { receiptFrom } from "../../sdk/receipt.ts";
import { purgeWaitSchema } from "../../wire/purge-record-query.ts";
import { MAX_PURGE_BYTES, MAX_PURGE_ITEMS } from "../../wire/purge-request.ts";
import { planPurge } from "../../worker/control/purging/purge-plan.ts";
import { compileSite } from "../../worker/site/site.ts";
import { accepts, purgeRecord, receiptBody, refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";
import { createVirtualClock } from "./virtual-clock.ts";

test("A receipt is JSON like the edge's answer", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const receipt = await cdn.purgeTags("a");

  expect(JSON.parse(JSON.stringify(receipt))).toEqual(receiptBody);
});

test.each(["あ", "<"])(
  "The plan of a purge as large as it may be is read, whose URLs are of %s with an escape for each byte",
  async (char) => {
    const { length } = Buffer.from(char);
    const urls = Array.from({ length: MAX_PURGE_ITEMS }, (_, at) => `/${char.repeat(405 / length)}${at}`);
    const rules = compileSite({ origin: "http://127.0.0.1:1" }, {});
    const fetch = async (_: string, { body }: { body?: string }) => {
      expect(Buffer.from(body!).length).toBeLessThan(MAX_PURGE_BYTES);
      const { planned } = planPurge(JSON.parse(body!), "https://www.example.com", rules);
      return Response.json({ ...receiptBody, seq: 0, token: "", dryRun: true, planned });
    };
    await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch });

    expect((await cdn.purgeUrls(urls, { dryRun: true })).planned).toHaveLength(MAX_PURGE_ITEMS);
  },
);

test("Unknown fields in a receipt are ignored", async () => {
  await using edge = await startFakeEdge({ json: { ...receiptBody, moon: "full" } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a")).resolves.toMatchObject(receiptBody);
});

test("A receipt settles settlesInMs after its arrival, however long the request took", async () => {
  const clock = createVirtualClock();
  await using edge = await startFakeEdge({ ...accepts, before: () => clock.advance(300) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const receipt = await cdn.purgeTags("a");
  clock.advance(1_000);
  const settled = receipt.settled();

  expect(clock.slept.at(-1)).toBe(250);
  clock.advance(250);
  await settled;
});

test("settled() of a receipt that has settled does not sleep", async () => {
  const clock = createVirtualClock();
  const receipt = receiptFrom({ ...receiptBody, settlesInMs: 1_250 }, clock.now(), clock);

  clock.advance(1_250);
  await receipt.settled();

  expect(clock.slept).toEqual([]);
});

test("A timer that fires early does not make a receipt settle early", async () => {
  const clock = createVirtualClock();
  const slept: number[] = [];
  const hasty = {
    now: clock.now,
    async sleep(ms: number) {
      slept.push(ms);
      clock.advance(ms > 1 ? ms - 1 : ms);
    },
  };

  await receiptFrom({ ...receiptBody, settlesInMs: 1_250 }, clock.now(), hasty).settled();

  expect(slept).toEqual([1_250, 1]);
});

test("A wait longer than the longest timer is made of several timers", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 2_147_483_647 });

  await receiptFrom({ ...receiptBody, settlesInMs: 2_147_483_648 }, clock.now(), clock).settled();

  expect(clock.slept).toEqual([2_147_483_647, 1]);
});

test("Aborting the signal ends the wait for a receipt to settle", async () => {
  const reason = new Error("not needed any more");
  const leaving = new AbortController();
  const clock = createVirtualClock({ onSleep: () => leaving.abort(reason) });
  const receipt = receiptFrom(receiptBody, clock.now(), clock);

  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);
  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);
});

const sooner = { json: { ...receiptBody, maySettleSooner: true } };

test("A wait for the edge's word ends with its signal, also where signals cannot be joined, as in Next's edge runtime", async () => {
  const any = vi.spyOn(AbortSignal, "any").mockImplementation(() => expect.unreachable());
  onTestFinished(() => any.mockRestore());
  const reason = new Error("not needed any more");
  const leaving = new AbortController();
  await using edge = await startFakeEdge(sooner, { stallsAfterBytes: 0, afterwards: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock: createVirtualClock() });

  const receipt = await cdn.purgeTags("a");
  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);

  await edge.allClosed();
  expect(getEventListeners(leaving.signal, "abort")).toEqual([]);
});

test("A receipt that may settle sooner settles as soon as the edge says so", async () => {
  const clock = createVirtualClock();
  await using edge = await startFakeEdge(sooner, { json: purgeRecord });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const receipt = await cdn.purgeTags("a");
  clock.advance(250);
  await receipt.settled();

  expect(edge.requests.at(-1)).toMatchObject({ method: "GET", path: "/_tidemark/purges/7?wait=1000" });
});

/** Resolves when everything has been done that needs no time to pass. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when the purger has read the answer to a question whether a purge has settled, and has acted on it. */
async function answerRead(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const subscribers = { asyncEnd: (event: object) => "method" in event && event.method === "GET" && resolve() };
  const channel = tracingChannel("tidemark:request");
  channel.subscribe(subscribers as never);
  onTestFinished(() => channel.unsubscribe(subscribers as never));
  await promise;
  await nextTurn();
}

test.each([
  ["does not let the token read", refuses("forbidden")],
  ["has held the answer for as long as it may", { json: { ...purgeRecord, settled: false } }],
  [
    "has another purge of that number, because its log was lost",
    { json: { ...purgeRecord, at: "2026-01-02T04:00:00.000Z" } },
  ],
])("A receipt that may settle sooner settles by the clock if the edge %s", async (_, act) => {
  const clock = createVirtualClock();
  const read = answerRead();
  await using edge = await startFakeEdge(sooner, act);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const receipt = await cdn.purgeTags("a");
  let hasSettled = false;
  const settled = receipt.settled().then(() => {
    hasSettled = true;
  });
  await read;
  clock.advance(1_249);
  await nextTurn();
  expect(hasSettled).toBe(false);
  clock.advance(1);
  await settled;
  expect(edge.requests).toHaveLength(2);
});

test("Aborting the signal ends the question whether a receipt has settled", async () => {
  const reason = new Error("not needed any more");
  const leaving = new AbortController();
  const clock = createVirtualClock();
  await using edge = await startFakeEdge(sooner, { stallsAfterBytes: 0, before: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const receipt = await cdn.purgeTags("a");

  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);
});

test("An edge that has held its answer for as long as it may is asked again, while the purge may settle sooner", async () => {
  const clock = createVirtualClock();
  const waits: (string | null)[] = [];
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 3_600_000 });
    waits.push(new URL(url).searchParams.get("wait"));
    clock.advance(25_000);
    return Response.json({ ...purgeRecord, settled: waits.length === 3 });
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  await (await cdn.purgeTags("a")).settled();

  expect(waits).toEqual(["25000", "25000", "25000"]);
});

test("A clock that counts parts of a millisecond asks the edge for whole ones, and for one at least", async () => {
  const virtual = createVirtualClock();
  let parts = 0;
  const clock = { ...virtual, now: () => virtual.now() + ++parts * 0.001 };
  const waits: (string | null)[] = [];
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 25_001 });
    const wait = new URL(url).searchParams.get("wait");
    waits.push(wait);
    if (!purgeWaitSchema.safeParse({ wait }).success) {
      setImmediate(() => virtual.advance(25_001));
      return Response.json({}, { status: 400 });
    }
    virtual.advance(waits.length === 1 ? 25_000 : 0);
    return Response.json({ ...purgeRecord, settled: waits.length === 2 });
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  await (await cdn.purgeTags("a")).settled();

  expect(waits).toEqual(["25000", "1"]);
});

test.each([3_600_000, 900])(
  "An edge that cannot hold its answer for %i ms is asked once, and the clock tells the rest",
  async (settlesInMs) => {
    const clock = createVirtualClock();
    let asked = 0;
    const fetch = async (url: string) => {
      if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs });
      if (++asked > 1) clock.advance(settlesInMs);
      else setImmediate(() => clock.advance(settlesInMs));
      return Response.json({ ...purgeRecord, settled: false });
    };
    await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

    await (await cdn.purgeTags("a")).settled();

    expect(asked).toBe(1);
  },
);

test.each([
  ["breaks off", async () => Promise.reject(new TypeError("fetch failed"))],
  ["says that the log cannot be read", async () => Response.json({}, { status: 503 })],
])("An edge whose answer %s is asked again, because the purge may settle sooner", async (_, fails) => {
  const clock = createVirtualClock({ skipsUpToMs: 2_000 });
  let asked = 0;
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 3_600_000 });
    return ++asked < 3 ? fails() : Response.json(purgeRecord);
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  await (await cdn.purgeTags("a")).settled();

  expect(asked).toBe(3);
});

test("An edge that stays away is asked until the purge has settled by the clock", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 2_000 });
  const begun = clock.now();
  let asked = 0;
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 10_000 });
    asked++;
    throw new TypeError("fetch failed");
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  await (await cdn.purgeTags("a")).settled();

  expect(asked).toBe(13);
  expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000);
});

test("Of a hundred receipts that wait, each asks in its turn, and its answer has its whole time from then on", async () => {
  const clock = createVirtualClock();
  const held = new Set<(answer: Response) => void>();
  let seq = 0;
  let hasSettled = false;
  const fetch = async (url: string, { signal }: { signal?: AbortSignal }) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, seq: ++seq, settlesInMs: 600_000 });
    if (hasSettled) return Response.json(purgeRecord);
    return new Promise<Response>((resolve, reject) => {
      held.add(resolve);
      signal!.addEventListener("abort", () => reject(signal!.reason));
    });
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });
  let settled = 0;
  const all: Promise<unknown>[] = [];
  for (let count = 0; count < 100; count++) {
    all.push((await cdn.purgeTags("a")).settled().then(() => settled++));
  }
  const answerHeld = (answer: () => Response) => {
    for (const resolve of held) resolve(answer());
    held.clear();
  };

  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    expect(held.size).toBe(24);
    clock.advance(25_000);
    answerHeld(() => Response.json({ ...purgeRecord, settled: false }));
  }
  await nextTurn();
  hasSettled = true;
  answerHeld(() => Response.json(purgeRecord));

  await Promise.all(all);
  expect(settled).toBe(100);
});

test("An edge that asks for a pause longer than the longest timer is asked after that timer", async () => {
  const clock = createVirtualClock();
  const asked = Promise.withResolvers<void>();
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 3_600_000 });
    asked.resolve();
    return Response.json({}, { status: 503, headers: { "Retry-After": "3000000" } });
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  const settled = (await cdn.purgeTags("a")).settled();
  await asked.promise;
  await nextTurn();

  expect(Math.max(...clock.slept)).toBe(2_147_483_647);
  clock.advance(3_600_000);
  await settled;
});

test("Of a hundred receipts that wait, as many ask a failing edge again as may ask at a time", async () => {
  const clock = createVirtualClock();
  let asked = 0;
  const fetch = async (url: string) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 600_000 });
    asked++;
    return Response.json({}, { status: 503 });
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });
  const receipts = await Promise.all(
    Array.from({ length: 100 }, () => cdn.purgeTags("a", { id: crypto.randomUUID() })),
  );

  const all = receipts.map((receipt) => receipt.settled());
  await nextTurn();
  await nextTurn();

  expect(asked).toBe(24);
  clock.advance(600_000);
  await Promise.all(all);
});

test("A silent edge is asked only as long as it may hold its answer, however late the purge settles", async () => {
  const clock = createVirtualClock();
  const asked = Promise.withResolvers<AbortSignal>();
  const fetch = async (url: string, { signal }: { signal?: AbortSignal }) => {
    if (url.endsWith("/purge")) return Response.json({ ...sooner.json, settlesInMs: 3_600_000 });
    asked.resolve(signal!);
    return new Promise<never>(() => undefined);
  };
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.com", fetch }, { clock });

  const receipt = await cdn.purgeTags("a");
  const settled = receipt.settled();
  const signal = await asked.promise;
  clock.advance(29_999);
  await nextTurn();
  expect(signal.aborted).toBe(false);
  clock.advance(1);
  await nextTurn();
  expect(signal.aborted).toBe(true);
  clock.advance(3_600_000);
  await settled;
});
