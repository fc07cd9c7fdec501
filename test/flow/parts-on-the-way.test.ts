import { beforeEach, describe, expect, test } from "vitest";
import { MemoryOrigin } from "../engine/memory-origin.ts";
import { DigitsInPieces } from "./digits-in-pieces.ts";
import { PopUnderTest } from "./pop-under-test.ts";

const BODY = DigitsInPieces.WHOLE;
const MIB = 1024 * 1024;

describe("a part of a page that only the shared tier has", () => {
  let pop: PopUnderTest;
  let origin: MemoryOrigin;
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
    const ask = pop.start(origin, {
      site: { limits: { memoryBytes } },
      sharedTier: {
        get: async (key) => {
          lookUps++;
          const found = await pop.tier.get(key);
          return found && "head" in found && "body" in found && found.body ? { ...found, body: page.stream() } : found;
        },
      },
    });
    return (range?: string) => pop.head(ask("/a", range === undefined ? {} : { range }));
  }

  /** The page is stored, and the isolate that asks for parts of it is another. */
  async function startWithPage(memoryBytes = 0) {
    expect(await pop.text(await start(memoryBytes)())).toBe(BODY);
    await pop.finish();
    lookUps = 0;
    return start(memoryBytes);
  }

  test("is cut out of it as fast as the client reads, so that memory holds a few pieces of the page", async () => {
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
  ])("is sent once its bytes have come, and the rest is not read: %s", async (range, body, read) => {
    const ask = await startWithPage();
    expect(await pop.text(await ask(range))).toBe(body);
    await pop.finish();
    expect([page.read, page.isCancelled]).toEqual([read, true]);
  });

  test("may be one of several, which are cut out of it while it comes once", async () => {
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

  test("is not cut where several would need the page more than once: all of it is sent", async () => {
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
});
