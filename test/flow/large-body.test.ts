import { beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import { fromWebResponse } from "../../worker/runtime/web-answer.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { DigitsInPieces } from "./from-shared-tier/digits-in-pieces.ts";
import { PopUnderTest } from "./pop-under-test.ts";

const BODY = DigitsInPieces.WHOLE;
const STALLED_MS = 10_000;

describe("a large body", () => {
  let pop: PopUnderTest;
  let reporter: Counters;
  /** The body as the origin sends it. Whatever comes, ten pieces are announced. */
  let body: DigitsInPieces;

  beforeEach(() => {
    pop = new PopUnderTest();
    reporter = new Counters(origin.url, () => undefined);
    body = new DigitsInPieces();
  });

  const origin: Origin = {
    url: "http://origin.test",
    fetch: async () => {
      const headers = { "cache-control": "max-age=60", "content-length": `${BODY.length}` };
      return { kind: "answered", response: fromWebResponse(new Response(body.stream(), { headers })) };
    },
  };

  /** Starts an isolate and asks it for the page. */
  function start(sharedTier: Partial<SharedTier> = {}) {
    const ask = pop.start(origin, { site: { limits: { storeBytes: 10 } }, sharedTier, reporter });
    return () => pop.head(ask());
  }

  const xCache = (answer: Response) => answer.headers.get("x-cache");

  test("is stored to its end when the client leaves", async () => {
    const ask = start();
    const answer = await ask();
    await answer.body!.cancel();
    await pop.finish();
    const second = await ask();
    expect(xCache(second)).toBe("HIT");
    expect(await pop.text(second)).toBe(BODY);
  });

  test("is read no faster than the client takes it, so that memory holds a few pieces of it", async () => {
    const ask = start();
    const answer = await ask();
    await pop.scheduler.advance(0);
    expect(body.read).toBeLessThanOrEqual(2);
    expect(await pop.text(answer)).toBe(BODY);
    expect(body.read).toBe(10);
    await pop.finish();
  });

  test("that leaves the tier while several parts of it are sent gives all of them, from one reading", async () => {
    const readings: unknown[] = [];
    const ask = pop.start(origin, {
      site: { limits: { storeBytes: 10 } },
      sharedTier: {
        getBody: async (bodyKey, part) => {
          readings.push(part);
          const read = await pop.tier.getBody(bodyKey, part);
          pop.tier.empty();
          return read;
        },
      },
    });
    expect(await pop.text(await pop.head(ask()))).toBe(BODY);
    await pop.finish();
    const answer = await pop.head(ask("/a", { range: "bytes=11-12,35-36,88-88" }));
    expect([answer.status, xCache(answer)]).toEqual([206, "HIT"]);
    const parts = [...(await pop.text(answer)).matchAll(/bytes ([\d-]+)\/100\r\n\r\n(\d+)\r\n/g)];
    expect(parts.map(([, place, part]) => `${place} ${part}`)).toEqual(["11-12 12", "35-36 56", "88-88 8"]);
    expect(readings).toEqual([{ first: 11, last: 88, hasGaps: true }]);
    await pop.finish();
  });

  test("is not kept in memory by small parts of it that wait for their client", async () => {
    const ask = pop.start(origin, { site: { limits: { storeBytes: 10 } } });
    expect(await pop.text(await pop.head(ask()))).toBe(BODY);
    await pop.finish();
    const answer = await pop.head(ask("/a", { range: "bytes=11-12,35-36" }));
    const pieces: [bytes: number, keptBytes: number][] = [];
    for await (const piece of answer.body!) pieces.push([piece.byteLength, piece.buffer.byteLength]);
    expect(pieces.filter(([bytes]) => bytes < 10)).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });

  test.each([
    ["just before it would have stalled is stored", STALLED_MS - 1, "HIT", {}],
    [
      "that has stalled is not stored, and the client still gets all of it",
      STALLED_MS,
      "MISS",
      { "client-stalled": 1 },
    ],
  ])("whose client goes on %s", async (_, afterMs, secondIs, discarded) => {
    const ask = start();
    const answer = await ask();
    await pop.scheduler.advance(afterMs);
    expect(await pop.text(answer)).toBe(BODY);
    await pop.finish();
    expect(reporter.counts().store.discarded).toEqual(discarded);
    const second = await ask();
    expect(xCache(second)).toBe(secondIs);
    expect(await pop.text(second)).toBe(BODY);
    await pop.finish();
  });

  test.each<[string, SharedTier["putBody"]]>([
    ["at once", () => Promise.reject(new Error("full"))],
    [
      "in the middle",
      async (_, taken) => {
        const reader = streamOf(taken).getReader();
        await reader.read();
        throw new Error("full");
      },
    ],
  ])("that the shared tier refuses %s still reaches the client, and is not stored (promise 6)", async (_, putBody) => {
    const ask = start({ putBody });
    expect(await pop.text(await ask())).toBe(BODY);
    await pop.finish();
    expect(reporter.counts().store).toMatchObject({ stored: 0, failed: 1 });
    expect(xCache(await ask())).toBe("MISS");
  });

  test("that the shared tier stops taking, without a failure, still reaches the client whole", async () => {
    const ask = start({ putBody: () => new Promise(() => undefined) });
    const text = (await ask()).text();
    for (let waits = 0; waits < 10; waits++) await pop.scheduler.advance(STALLED_MS);
    expect(await pop.scheduler.settle(text)).toBe(BODY);
  });

  test.each<[string, Partial<SharedTier>]>([
    ["because its client stalled", {}],
    ["because the shared tier refused it", { putBody: () => Promise.reject(new Error("full")) }],
    ["because the shared tier stalled", { putBody: () => new Promise(() => undefined) }],
  ])("whose copy was given up %s does not keep the page from being copied", async (_, failing) => {
    let tier = failing;
    const ask = start({ putBody: (...body) => (tier.putBody ?? pop.tier.putBody.bind(pop.tier))(...body) });
    const slow = (await ask()).body!.getReader();
    await pop.scheduler.settle(slow.read());
    await pop.scheduler.advance(STALLED_MS);
    await pop.scheduler.settle(slow.read());
    tier = {};
    const second = await ask();
    expect(second.headers.get("cache-status")).toMatch(/; stored$/);
    expect(await pop.text(second)).toBe(BODY);
    await pop.scheduler.advance(0);
    const third = await ask();
    expect(xCache(third)).toBe("HIT");
    expect(await pop.text(third)).toBe(BODY);
    await slow.cancel();
    await pop.finish();
  });

  test("whose rest a slow client would get from the shared tier is not read further once that fails, and is cut off", async () => {
    const putBody: SharedTier["putBody"] = async (_, taken) => {
      const reader = streamOf(taken).getReader();
      for (let pieces = 0; pieces < 3; pieces++) await reader.read();
      throw new Error("full");
    };
    const getBody = async () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const ask = start({ readsWhilePut: true, putBody, getBody });
    await ask();
    await pop.scheduler.advance(0);
    expect(body.isCancelled).toBe(true);
    expect(body.read).toBeLessThan(10);
  });

  test.each<[string, SharedTier["getBody"]]>([
    ["does not give", async () => undefined],
    ["gives too late", () => new Promise(() => undefined)],
  ])("whose rest the shared tier %s reaches a slow client all the same", async (_, getBody) => {
    const ask = start({ readsWhilePut: true, getBody });
    const answer = await ask();
    await pop.scheduler.advance(STALLED_MS - 1);
    const text = answer.text();
    for (let waits = 0; waits < 12; waits++) await pop.scheduler.advance(STALLED_MS);
    expect(await pop.scheduler.settle(text)).toBe(BODY);
  });

  test("that neither the client nor the shared tier reads is not read further from the origin", async () => {
    const ask = start({ putBody: () => Promise.reject(new Error("full")) });
    const answer = await ask();
    await answer.body!.cancel();
    await pop.finish();
    expect(body.isCancelled).toBe(true);
    expect(body.read).toBeLessThan(10);
  });

  test.each([
    ["less", 9],
    ["more", 11],
  ])("that is %s than was announced is a cut: the client sees it, and nothing is stored", async (_, sent) => {
    body.sent = sent;
    const ask = start();
    await expect(pop.text(await ask())).rejects.toThrow("bytes arrived");
    await pop.finish();
    expect(reporter.counts().store).toMatchObject({ stored: 0, refused: { "cut-off": 1 } });
    expect(xCache(await ask())).toBe("MISS");
  });

  test.each([
    ["is fresh", 0, 200, "MISS"],
    ["stands in for a failing origin", 61_000, 500, "EXPIRED"],
  ])("that was purged while it was looked for is not shown: one that %s", async (_, afterMs, status, words) => {
    let statusOfOrigin = 200;
    const failing: Origin = {
      url: origin.url,
      fetch: async (request) => {
        if (statusOfOrigin === 200) return origin.fetch(request);
        return { kind: "answered", response: fromWebResponse(new Response("down", { status: statusOfOrigin })) };
      },
    };
    const found = Promise.withResolvers<void>();
    let isHeld = false;
    const ask = pop.start(failing, {
      site: { limits: { storeBytes: 10 }, routes: [{ match: "/*", stale: { ifError: "1h" } }] },
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      sharedTier: {
        getBody: async (key, part) => {
          isHeld = true;
          await found.promise;
          return pop.tier.getBody(key, part);
        },
      },
    });
    expect(await pop.text(await pop.head(ask()))).toBe(BODY);
    await pop.finish();
    await pop.scheduler.advance(afterMs);
    statusOfOrigin = status;
    const asked = ask();
    await pop.scheduler.advance(0);
    expect(isHeld).toBe(true);
    const json = { authorization: "Bearer x", "content-type": "application/json" };
    expect((await pop.head(ask("/_tidemark/purge", json, { urls: ["/a"] }))).status).toBe(200);
    found.resolve();
    const answer = await pop.head(asked);
    expect([answer.status, xCache(answer)]).toEqual([status, words]);
    await pop.text(answer);
    await pop.finish();
  });
});
