import { beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../worker/insight/counters.ts";
import { startIsolate } from "../../worker/isolate.ts";
import { fromWebResponse, toWebResponse } from "../../worker/platform/web-answer.ts";
import { streamOf } from "../../worker/platform/web-bodies.ts";
import type { Origin } from "../../worker/ports.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { memoryBodies } from "../engine/memory-bodies.ts";
import { MemoryLog } from "../engine/memory-log.ts";
import { MemorySharedTier } from "../engine/memory-shared-tier.ts";
import { BEGINNING, HOST } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";

const BODY = "0123456789".repeat(10);
const STALLED_MS = 10_000;

describe("a large body", () => {
  let scheduler: Scheduler;
  let tier: MemorySharedTier;
  let reporter: Counters;
  let behind: Promise<unknown>[];
  let chunksRead: number;
  let isCancelled: boolean;
  /** How many chunks the origin sends, of ten bytes each; it announces ten of them. */
  let chunks: number;

  beforeEach(() => {
    scheduler = new Scheduler(1, BEGINNING);
    tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0 });
    reporter = new Counters("http://origin.test", () => undefined);
    behind = [];
    chunksRead = 0;
    isCancelled = false;
    chunks = 10;
  });

  const origin: Origin = {
    url: "http://origin.test",
    fetch: async () => {
      let sent = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            if (sent === chunks) return controller.close();
            sent++;
            chunksRead++;
            controller.enqueue(new TextEncoder().encode("0123456789"));
          },
          cancel: () => {
            isCancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { "cache-control": "max-age=60", "content-length": `${BODY.length}` };
      return { kind: "answered", response: fromWebResponse(new Response(body, { headers })) };
    },
  };

  /** Starts an isolate and asks it for the page. */
  function start(sharedTier: Partial<SharedTier> = {}) {
    const isolate = startIsolate(compileSite({ origin: origin.url, hosts: [HOST], limits: { storeBytes: 10 } }, {}), {
      clock: scheduler,
      random: () => 0.5,
      sharedTier: {
        get: (key) => tier.get(key),
        put: (stored) => tier.put(stored),
        delete: (key) => tier.delete(key),
        getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
        putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
        ...sharedTier,
      },
      origin,
      log: new MemoryLog(scheduler),
      notes: { read: async () => null, write: async () => undefined },
      audit: { list: async () => ({ purges: [], next: null }), find: async () => null },
      bodies: memoryBodies,
      webRequest: ({ request }) => request as Request,
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "refused", because: "no-tokens" }) },
      reporter,
    });
    return async () => {
      const request = new Request(`http://${HOST}/a`);
      const run = (work: Promise<unknown>) => void behind.push(work);
      const answer = isolate.fetch({ request, url: request.url, background: { run }, clientAddress: null });
      return toWebResponse(await scheduler.settle(Promise.resolve(answer)));
    };
  }

  const xCache = (answer: Response) => answer.headers.get("x-cache");
  const all = (answer: Response) => scheduler.settle(answer.text());
  const finish = () => scheduler.settle(Promise.all(behind));

  test("is stored to its end when the client goes away", async () => {
    const ask = start();
    const answer = await ask();
    await answer.body!.cancel();
    await finish();
    const second = await ask();
    expect(xCache(second)).toBe("HIT");
    expect(await all(second)).toBe(BODY);
  });

  test("is read no faster than the client takes it, so that memory holds a few chunks of it", async () => {
    const ask = start();
    const answer = await ask();
    await scheduler.advance(0);
    expect(chunksRead).toBeLessThanOrEqual(2);
    expect(await all(answer)).toBe(BODY);
    expect(chunksRead).toBe(10);
    await finish();
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
    await scheduler.advance(afterMs);
    expect(await all(answer)).toBe(BODY);
    await finish();
    expect(reporter.counts().store.discarded).toEqual(discarded);
    const second = await ask();
    expect(xCache(second)).toBe(secondIs);
    expect(await all(second)).toBe(BODY);
    await finish();
  });

  test.each<[string, SharedTier["putBody"]]>([
    ["at once", () => Promise.reject(new Error("full"))],
    [
      "in the middle",
      async (_, body) => {
        const reader = streamOf(body).getReader();
        await reader.read();
        throw new Error("full");
      },
    ],
  ])(
    "that the shared tier refuses %s reaches the client all the same, and is not stored (promise 6)",
    async (_, putBody) => {
      const ask = start({ putBody });
      expect(await all(await ask())).toBe(BODY);
      await finish();
      expect(reporter.counts().store).toMatchObject({ stored: 0, failed: 1 });
      expect(xCache(await ask())).toBe("MISS");
    },
  );

  test("that neither the client nor the shared tier takes is not read from the origin any further", async () => {
    const ask = start({ putBody: () => Promise.reject(new Error("full")) });
    const answer = await ask();
    await answer.body!.cancel();
    await finish();
    expect(isCancelled).toBe(true);
    expect(chunksRead).toBeLessThan(10);
  });

  test.each([
    ["less", 9],
    ["more", 11],
  ])("that is %s than was announced is a cut: the client sees it, and nothing is stored", async (_, sent) => {
    chunks = sent;
    const ask = start();
    await expect(all(await ask())).rejects.toThrow("bytes came");
    await finish();
    expect(reporter.counts().store).toMatchObject({ stored: 0, discarded: { "cut-off": 1 } });
    expect(xCache(await ask())).toBe("MISS");
  });
});
