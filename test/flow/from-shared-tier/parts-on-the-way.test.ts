import { beforeEach, describe, expect, test } from "vitest";
import { MemoryOrigin } from "../../engine/memory/memory-origin.ts";
import { type Ask, PopUnderTest } from "../pop-under-test.ts";
import { DigitsInPieces } from "./digits-in-pieces.ts";

const BODY = DigitsInPieces.WHOLE;
const MIB = 1024 * 1024;

describe("a part of a page that only the shared tier has", () => {
  let pop: PopUnderTest;
  let origin: MemoryOrigin;
  /** The isolate that was started last. */
  let edge: Ask;
  /** The page as the shared tier sends it. */
  let page: DigitsInPieces;
  let lookUps: number;

  beforeEach(() => {
    pop = new PopUnderTest();
    origin = new MemoryOrigin(pop.scheduler);
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60", "content-type": "text/plain" }, body: BODY }]);
    page = new DigitsInPieces();
    lookUps = 0;
  });

  function start(memoryBytes: number) {
    edge = pop.start(origin, {
      site: { limits: { memoryBytes } },
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      sharedTier: {
        get: async (key) => {
          lookUps++;
          const found = await pop.tier.get(key);
          return found && "head" in found && "body" in found && found.body ? { ...found, body: page.stream() } : found;
        },
      },
    });
    const started = edge;
    return (range?: string, fields = {}) => {
      return pop.head(started("/a", { ...(range !== undefined && { range }), ...fields }));
    };
  }

  /** The page is stored, and the isolate that asks for parts of it is another. */
  async function startWithPage(memoryBytes = 0) {
    expect(await pop.text(await start(memoryBytes)())).toBe(BODY);
    await pop.finish();
    lookUps = 0;
    return start(memoryBytes);
  }

  async function purge() {
    const json = { authorization: "Bearer x", "content-type": "application/json" };
    expect((await pop.head(edge("/_tidemark/purge", json, { urls: ["/a"] }))).status).toBe(200);
  }

  test("is cut as fast as the client reads, so that memory holds only a few pieces of the page", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=5-94");
    expect([answer.status, answer.headers.get("content-range")]).toEqual([206, "bytes 5-94/100"]);
    await pop.scheduler.advance(0);
    expect(page.read).toBeLessThanOrEqual(2);
    expect(await pop.text(answer)).toBe(BODY.slice(5, 95));
    await pop.finish();
  });

  test.each([
    ["bytes=0-0", "0", 1],
    ["bytes=10-19", "0123456789", 2],
    ["bytes=9-10", "90", 2],
    ["bytes=-1", "9", 10],
  ])("is sent once its bytes have arrived, and the rest is not read: %s", async (range, body, read) => {
    const ask = await startWithPage();
    expect(await pop.text(await ask(range))).toBe(body);
    await pop.finish();
    expect([page.read, page.isCancelled]).toEqual([read, true]);
  });

  test("may be one of several, which are cut from one reading of the page", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=1-2,9-11,55-56");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([206, expect.stringMatching(/^multipart/)]);
    const text = await pop.text(answer);
    const parts = [...text.matchAll(/bytes (\d+)-(\d+)\/100\r\n\r\n(\d+)\r\n/g)];
    expect(parts.map(([, first, last, part]) => [first, last, part])).toEqual([
      ["1", "2", "12"],
      ["9", "11", "901"],
      ["55", "56", "56"],
    ]);
    await pop.finish();
    expect([lookUps, page.read]).toEqual([1, 6]);
  });

  test("is not cut if several parts would need the page twice: the whole page is sent", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=50-51,1-2");
    expect([answer.status, await pop.text(answer)]).toEqual([200, BODY]);
    await pop.finish();
  });

  test("that the tier has cut off is cut off for the client", async () => {
    const ask = await startWithPage();
    page.sent = 3;
    await expect(pop.text(await ask("bytes=20-39"))).rejects.toThrow();
    await pop.finish();
  });

  test("is not read further when the client goes away", async () => {
    const ask = await startWithPage();
    const answer = await ask("bytes=0-98");
    await answer.body!.cancel();
    await pop.finish();
    expect(page.isCancelled).toBe(true);
    expect(page.read).toBeLessThanOrEqual(2);
  });

  test("brings the page into memory if memory admits it, from where the next part comes", async () => {
    const ask = await startWithPage(MIB);
    expect(await pop.text(await ask("bytes=0-0"))).toBe("0");
    await pop.finish();
    expect([lookUps, page.read]).toEqual([1, 10]);
    for (const [range, body] of [
      ["bytes=10-12", "012"],
      ["bytes=99-", "9"],
    ]) {
      const answer = await ask(range);
      expect([answer.headers.get("x-cache"), await pop.text(answer)]).toEqual(["HIT", body]);
      await pop.finish();
    }
    expect([lookUps, page.read]).toEqual([1, 10]);
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
      await pop.scheduler.advance(61_000);
      return ask;
    }

    test("is cut while the origin is asked, from one reading of the page, however many parts are requested", async () => {
      const ask = await startStale();
      const parts = [await ask("bytes=5-94"), await ask("bytes=10-19")];
      await origin.hasSeen("/a", 2);
      for (const { status, headers } of parts) expect([status, headers.get("x-cache")]).toEqual([206, "UPDATING"]);
      for (const pieces of page.readOfEach) expect(pieces).toBeLessThanOrEqual(2);
      expect(origin.seen[1]!.fields["if-none-match"]).toBe('"1"');
      expect(await pop.text(parts[0]!)).toBe(BODY.slice(5, 95));
      expect(await pop.text(parts[1]!)).toBe(BODY.slice(10, 20));
      page.readOfEach = [];
      origin.release("refresh");
      await pop.finish();
      expect(page.readOfEach).toEqual([10]);
      const fresh = await ask("bytes=0-0");
      expect([fresh.headers.get("x-cache"), await pop.text(fresh)]).toEqual(["HIT", "0"]);
      await pop.finish();
      expect(origin.seen).toHaveLength(2);
    });

    test("is fetched like a new page if the page is gone when the origin confirms it", async () => {
      const ask = await startStale();
      const answer = await ask("bytes=5-94");
      await pop.scheduler.advance(500);
      pop.tier.empty();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": cacheControl }, body: BODY }]);
      origin.release("refresh");
      expect(await pop.text(answer)).toBe(BODY.slice(5, 95));
      await pop.finish();
      expect(origin.seen.map((each) => each.fields["if-none-match"])).toEqual([undefined, '"1"', undefined]);
      const fresh = await ask("bytes=0-0");
      expect([fresh.headers.get("x-cache"), await pop.text(fresh)]).toEqual(["HIT", "0"]);
      await pop.finish();
    });

    test("is sent as it was judged, and not stored again, if it is purged while it is refreshed", async () => {
      const ask = await startStale();
      const answer = await ask("bytes=5-94");
      await pop.scheduler.advance(500);
      await purge();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": cacheControl }, body: "new" }]);
      origin.release("refresh");
      expect(await pop.text(answer)).toBe(BODY.slice(5, 95));
      await pop.finish();
      const next = await ask();
      expect([next.headers.get("x-cache"), await pop.text(next)]).toEqual(["MISS", "new"]);
      await pop.finish();
    });

    test("is sent as it arrives, like the whole page, if the client accepts it stale", async () => {
      const ask = await startStale();
      origin.reply("/a", [{ fields: { ...fields, "cache-control": "max-age=60" }, body: BODY }]);
      const fetched = await ask("bytes=0-0", { "cache-control": "no-cache" });
      await pop.text(fetched);
      await pop.finish();
      await pop.scheduler.advance(61_000);
      for (const range of [undefined, "bytes=5-94"]) {
        page.readOfEach = [];
        const answer = await ask(range, { "cache-control": "max-stale" });
        expect(answer.headers.get("x-cache")).toBe("STALE");
        await pop.scheduler.advance(0);
        expect(page.readOfEach).toEqual([expect.toSatisfy((n) => n <= 2)]);
        expect(await pop.text(answer)).toBe(range === undefined ? BODY : BODY.slice(5, 95));
        await pop.finish();
      }
    });
  });
});
