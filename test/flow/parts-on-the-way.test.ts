import { beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../worker/insight/counters.ts";
import { startIsolate } from "../../worker/isolate.ts";
import { toWebResponse } from "../../worker/platform/web-answer.ts";
import { compileSite } from "../../worker/site/site.ts";
import { memoryBodies } from "../engine/memory-bodies.ts";
import { MemoryLog } from "../engine/memory-log.ts";
import { MemoryOrigin } from "../engine/memory-origin.ts";
import { MemorySharedTier } from "../engine/memory-shared-tier.ts";
import { BEGINNING, HOST } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";

const BODY = "0123456789".repeat(10);
const MIB = 1024 * 1024;

describe("a part of a page that only the shared tier has", () => {
  let scheduler: Scheduler;
  let tier: MemorySharedTier;
  let origin: MemoryOrigin;
  let behind: Promise<unknown>[];
  let lookUps: number;
  /** What holds back look-ups behind the first one. */
  let laterLookUps: PromiseWithResolvers<void> | null;
  let piecesRead: number;
  /** The pieces read at each look-up. */
  let readAt: number[];
  let isCancelled: boolean;
  /** How many pieces of ten bytes the tier has of the page's ten. */
  let pieces: number;

  beforeEach(() => {
    scheduler = new Scheduler(1, BEGINNING);
    tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0 });
    origin = new MemoryOrigin(scheduler);
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60", "content-type": "text/plain" }, body: BODY }]);
    behind = [];
    lookUps = 0;
    laterLookUps = null;
    piecesRead = 0;
    readAt = [];
    isCancelled = false;
    pieces = 10;
  });

  /** The stored page, in pieces. */
  function inPieces(): ReadableStream<Uint8Array> {
    let sent = 0;
    const at = readAt.push(0) - 1;
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (sent++ === pieces) return controller.close();
          piecesRead++;
          readAt[at]!++;
          controller.enqueue(new TextEncoder().encode("0123456789"));
        },
        cancel: () => {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
  }

  function start(memoryBytes: number) {
    const site = { origin: origin.url, hosts: [HOST], limits: { memoryBytes } };
    const isolate = startIsolate(compileSite(site, {}), {
      clock: scheduler,
      random: () => 0.5,
      sharedTier: {
        get: async (key) => {
          lookUps++;
          if (lookUps > 1) await laterLookUps?.promise;
          const found = await tier.get(key);
          return found && "head" in found && "body" in found && found.body ? { ...found, body: inPieces() } : found;
        },
        put: (stored) => tier.put(stored),
        delete: (key) => tier.delete(key),
        getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
        putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
      },
      origin,
      log: new MemoryLog(scheduler),
      notes: { read: async () => null, write: async () => undefined },
      audit: { list: async () => ({ purges: [], next: null }), find: async () => null },
      bodies: memoryBodies,
      webRequest: ({ request }) => request as Request,
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      reporter: new Counters(origin.url, () => undefined),
    });
    return async (range?: string, more: Readonly<Record<string, string>> = {}, purges?: object) => {
      const headers = { ...(range !== undefined && { range }), ...more };
      const request =
        purges === undefined
          ? new Request(`http://${HOST}/a`, { headers })
          : new Request(`http://${HOST}/_tidemark/purge`, { method: "POST", headers, body: JSON.stringify(purges) });
      const run = (work: Promise<unknown>) => void behind.push(work);
      const answer = isolate.fetch({ request, url: request.url, background: { run }, clientAddress: null });
      return toWebResponse(await scheduler.settle(Promise.resolve(answer)));
    };
  }

  const all = (answer: Response) => scheduler.settle(answer.text());
  /** Also of work that other work has begun. */
  const finish = async () => {
    while (behind.length > 0) await scheduler.settle(Promise.all(behind.splice(0)));
  };

  /** The page is stored, and the isolate that asks for parts of it is another. */
  async function startWithPage(memoryBytes = 0) {
    expect(await all(await start(memoryBytes)())).toBe(BODY);
    await finish();
    lookUps = 0;
    return start(memoryBytes);
  }

  test("is cut out of it as fast as the client reads, so that memory holds a few pieces of the page", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=5-94");
    expect([answer.status, answer.headers.get("content-range")]).toEqual([206, "bytes 5-94/100"]);
    await scheduler.advance(0);
    expect(piecesRead).toBeLessThanOrEqual(2);
    expect(await all(answer)).toBe(BODY.slice(5, 95));
    await finish();
  });

  test.each([
    ["bytes=0-0", "0", 1],
    ["bytes=10-19", "0123456789", 2],
    ["bytes=9-10", "90", 2],
    ["bytes=-1", "9", 10],
  ])("is sent once its bytes have come, and the rest is not read: %s", async (range, body, read) => {
    const ask = await startWithPage();
    expect(await all(await ask(range))).toBe(body);
    await finish();
    expect([piecesRead, isCancelled]).toEqual([read, true]);
  });

  test("may be one of several, which are cut out of it while it comes once", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=1-2,9-11,55-56");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([206, expect.stringMatching(/^multipart/)]);
    const text = await all(answer);
    const parts = [...text.matchAll(/bytes (\d+)-(\d+)\/100\r\n\r\n(\d+)\r\n/g)];
    expect(parts.map(([, first, last, part]) => [first, last, part])).toEqual([
      ["1", "2", "12"],
      ["9", "11", "901"],
      ["55", "56", "56"],
    ]);
    await finish();
    expect([lookUps, piecesRead]).toEqual([1, 6]);
  });

  test("is not cut where several would need the page more than once: all of it is sent", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=50-51,1-2");
    expect([answer.status, await all(answer)]).toEqual([200, BODY]);
    await finish();
  });

  test("that the tier has cut off is cut off for the client", async () => {
    const ask = await startWithPage();
    pieces = 3;
    await expect(all(await ask("bytes=20-39"))).rejects.toThrow();
    await finish();
  });

  test("is not read further when the client goes away", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=0-98");
    await answer.body!.cancel();
    await finish();
    expect(isCancelled).toBe(true);
    expect(piecesRead).toBeLessThanOrEqual(2);
  });

  test("brings the page into memory if memory admits it, from where the next part comes", async () => {
    const ask = await startWithPage(MIB);
    expect(await all(await ask("bytes=0-0"))).toBe("0");
    await finish();
    expect([lookUps, piecesRead]).toEqual([1, 10]);
    for (const [range, body] of [
      ["bytes=10-12", "012"],
      ["bytes=99-", "9"],
    ]) {
      const answer = await ask(range);
      expect([answer.headers.get("x-cache"), await all(answer)]).toEqual(["HIT", body]);
      await finish();
    }
    expect([lookUps, piecesRead]).toEqual([1, 10]);
  });

  describe("and that is stale", () => {
    const fields = { "content-type": "text/plain", etag: '"1"' };
    const cacheControl = "max-age=60, stale-while-revalidate=600";

    async function startStale() {
      origin.reply("/a", [
        { fields: { ...fields, "cache-control": cacheControl }, body: BODY },
        { status: 304, fields: { ...fields, "cache-control": cacheControl }, hold: "refresh" },
      ]);
      const ask = await startWithPage();
      await scheduler.advance(61_000);
      return ask;
    }

    test("is cut out of it while the origin is asked, for which the page is read once, however many parts are asked for", async () => {
      const ask = await startStale();
      const parts = [await ask("bytes=5-94"), await ask("bytes=10-19")];
      await origin.hasSeen("/a", 2);
      for (const { status, headers } of parts) expect([status, headers.get("x-cache")]).toEqual([206, "UPDATING"]);
      expect(readAt.toSorted((a, b) => a - b)).toEqual([
        expect.toSatisfy((n) => n <= 2),
        expect.toSatisfy((n) => n <= 2),
        10,
      ]);
      expect(origin.seen[1]!.fields["if-none-match"]).toBe('"1"');
      expect(await all(parts[0]!)).toBe(BODY.slice(5, 95));
      expect(await all(parts[1]!)).toBe(BODY.slice(10, 20));
      origin.release("refresh");
      await finish();
      const fresh = await ask("bytes=0-0");
      expect([fresh.headers.get("x-cache"), await all(fresh)]).toEqual(["HIT", "0"]);
      await finish();
      expect(origin.seen).toHaveLength(2);
    });

    test("is fetched as new if the page is gone when the origin is to be asked", async () => {
      const ask = await startStale();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": cacheControl }, body: BODY }]);
      laterLookUps = Promise.withResolvers();
      const answer = await ask("bytes=5-94");
      tier.empty();
      laterLookUps.resolve();
      expect(await all(answer)).toBe(BODY.slice(5, 95));
      await finish();
      expect(origin.seen[1]!.fields["if-none-match"]).toBe(undefined);
      const fresh = await ask("bytes=0-0");
      expect([fresh.headers.get("x-cache"), await all(fresh)]).toEqual(["HIT", "0"]);
      await finish();
    });

    test("is not offered to the origin if it was purged before that is asked", async () => {
      const ask = await startStale();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": cacheControl }, body: BODY }]);
      laterLookUps = Promise.withResolvers();
      const answer = await ask("bytes=5-94");
      const json = { authorization: "Bearer x", "content-type": "application/json" };
      expect((await ask(undefined, json, { urls: ["/a"] })).status).toBe(200);
      laterLookUps.resolve();
      expect(await all(answer)).toBe(BODY.slice(5, 95));
      await finish();
      expect(origin.seen).toHaveLength(2);
      expect(origin.seen[1]!.fields["if-none-match"]).toBe(undefined);
    });

    test("or all of it is sent as it comes where the client takes it stale", async () => {
      const ask = await startStale();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": "max-age=60" }, body: BODY }]);
      const fetched = await ask("bytes=0-0", { "cache-control": "no-cache" });
      await all(fetched);
      await finish();
      await scheduler.advance(61_000);
      for (const range of [undefined, "bytes=5-94"]) {
        readAt = [];
        const answer = await ask(range, { "cache-control": "max-stale" });
        expect(answer.headers.get("x-cache")).toBe("STALE");
        await scheduler.advance(0);
        expect(readAt).toEqual([expect.toSatisfy((n) => n <= 2)]);
        expect(await all(answer)).toBe(range === undefined ? BODY : BODY.slice(5, 95));
        await finish();
      }
    });
  });
});
