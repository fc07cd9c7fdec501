import { beforeEach, describe, expect, test } from "vitest";
import { MemoryOrigin } from "../../engine/memory/memory-origin.ts";
import { type Ask, PopUnderTest } from "../pop-under-test.ts";
import { DigitsInPieces } from "./digits-in-pieces.ts";

const MIB = 1024 * 1024;
const VISITORS = 20;
/** The most pieces of a stream that are read before the client takes any. */
const MOST_BEGUN = 2;

describe("a stale page of 100 kB that only the shared tier has", () => {
  let pop: PopUnderTest;
  let origin: MemoryOrigin;
  /** The page as the shared tier sends it. */
  let page: DigitsInPieces;
  let body: string;
  /** What holds back look-ups behind the first one. */
  let laterLookUps: PromiseWithResolvers<void> | null;
  let lookUps: number;

  beforeEach(() => {
    pop = new PopUnderTest();
    origin = new MemoryOrigin(pop.scheduler);
    page = new DigitsInPieces(1000);
    body = page.whole;
    laterLookUps = null;
    lookUps = 0;
  });

  function start(memoryBytes = 0): Ask {
    return pop.start(origin, {
      site: { limits: { memoryBytes }, routes: [{ match: "/*", stale: { ifError: "1h" } }] },
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      sharedTier: {
        get: async (key) => {
          if (++lookUps > 1) await laterLookUps?.promise;
          const found = await pop.tier.get(key);
          const isPage = found && "body" in found && found.head.bodyBytes === body.length;
          return isPage ? { ...found, body: page.stream() } : found;
        },
      },
    });
  }

  /** The page is stored under these fields and becomes stale, and another isolate is asked for it. */
  async function startStale(fields: Readonly<Record<string, string>> = {}, memoryBytes = 0): Promise<Ask> {
    const stored = { "cache-control": "max-age=60", etag: '"1"', "content-type": "text/plain", ...fields };
    origin.reply("/a", [{ fields: stored, body }]);
    expect(await pop.text(await pop.head(start()()))).toBe(body);
    await pop.finish();
    await pop.scheduler.advance(61_000);
    origin.reply("/a", [
      { status: 304, fields: stored, hold: "validation" },
      { fields: { ...stored, etag: '"2"' }, body: "new" },
    ]);
    lookUps = 0;
    return start(memoryBytes);
  }

  /** Asks, and waits until the origin has been asked. */
  async function askMany(ask: Ask, fields: Readonly<Record<string, string>> = {}, count = VISITORS) {
    const before = origin.seen.length;
    const asked = Array.from({ length: count }, () => ask("/a", fields));
    await pop.scheduler.advance(500);
    expect(origin.seen).toHaveLength(before + 1);
    return asked;
  }

  const heads = (asked: readonly ReturnType<Ask>[]) => Promise.all(asked.map((each) => pop.head(each)));

  async function purge(ask: Ask) {
    const json = { authorization: "Bearer x", "content-type": "application/json" };
    expect((await pop.head(ask("/_tidemark/purge", json, { urls: ["/a"] }))).status).toBe(200);
  }

  const xCache = ({ headers }: Response) => headers.get("x-cache");
  const conditions = () => origin.seen.map(({ fields }) => fields["if-none-match"]);
  /** How far each stream was read that was read at all. */
  const read = () => page.readOfEach.filter((pieces) => pieces > 0);

  test.each([
    ["has the page", { "if-none-match": '"1"' }, 304, 0],
    ["wants it", {}, 200, 100_000],
    ["wants a part of it", { range: "bytes=10-19" }, 206, 10],
  ])(
    "is not read while the origin is asked, and then once, however many wait whose client %s",
    async (_, fields, status, bytes) => {
      const ask = await startStale();
      const asked = await askMany(ask, fields);
      expect(page.read).toBe(0);
      origin.release("validation");
      for (const each of asked) {
        const answer = await pop.head(each);
        expect([answer.status, (await pop.text(answer)).length]).toEqual([status, bytes]);
      }
      await pop.finish();
      expect(read()).toEqual([10]);
      expect(conditions()).toEqual([undefined, '"1"']);
      const fresh = await pop.head(ask());
      expect([xCache(fresh), await pop.text(fresh)]).toEqual(["HIT", body]);
      await pop.finish();
    },
  );

  test("is sent as it arrives, to however many visitors, while it is validated behind their answers", async () => {
    const ask = await startStale({ "cache-control": "max-age=60, stale-while-revalidate=600" });
    const answers = await heads(await askMany(ask));
    expect(answers.map(xCache)).toEqual(Array.from({ length: VISITORS }, () => "UPDATING"));
    expect(Math.max(...page.readOfEach)).toBeLessThanOrEqual(MOST_BEGUN);
    origin.release("validation");
    for (const answer of answers) expect(await pop.text(answer)).toBe(body);
    await pop.finish();
    const fresh = await pop.head(ask());
    expect([xCache(fresh), await pop.text(fresh)]).toEqual(["HIT", body]);
    await pop.finish();
    expect(conditions()).toEqual([undefined, '"1"']);
  });

  test.each([
    ["gone", async () => pop.tier.empty()],
    [
      "another one",
      async () => {
        origin.reply("/a", [{ fields: { "cache-control": "max-age=0", etag: '"3"' }, body: "x".repeat(100_000) }]);
        await pop.text(await pop.head(start()("/a", { "cache-control": "no-cache" })));
        await pop.scheduler.advance(500);
      },
    ],
  ])("is fetched whole if it is %s when the origin confirms it", async (_, change) => {
    const ask = await startStale();
    const [asked] = await askMany(ask, { "if-none-match": '"1"' }, 1);
    const other = ask();
    await change();
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60", etag: '"2"' }, body: "new" }]);
    origin.release("validation");
    for (const each of [asked!, other]) {
      const answer = await pop.head(each);
      expect([answer.status, await pop.text(answer)]).toEqual([200, "new"]);
    }
    await pop.finish();
    expect(conditions().at(-1)).toBe(undefined);
  });

  test("that was purged while the origin was asked is not stored again", async () => {
    const ask = await startStale();
    const [asked] = await askMany(ask, {}, 1);
    await purge(ask);
    origin.release("validation");
    await pop.text(await pop.head(asked!));
    await pop.finish();
    const next = await pop.head(ask());
    expect([xCache(next), await pop.text(next)]).toEqual(["MISS", "new"]);
    await pop.finish();
  });

  test("is sent as it arrives where it stands in for a failed origin", async () => {
    const ask = await startStale();
    origin.reply("/a", [{ status: 503, hold: "validation" }]);
    const asked = await askMany(ask);
    expect(page.read).toBe(0);
    origin.release("validation");
    const answers = await heads(asked);
    expect(answers.map(xCache)).toEqual(Array.from({ length: VISITORS }, () => "STALE"));
    expect(Math.max(...page.readOfEach)).toBeLessThanOrEqual(MOST_BEGUN);
    for (const answer of answers) expect(await pop.text(answer)).toBe(body);
    await pop.finish();
  });

  test("does not stand in for a failed origin if it was purged while it was looked for again", async () => {
    const ask = await startStale();
    origin.reply("/a", [{ status: 503, hold: "validation" }]);
    const [asked] = await askMany(ask, {}, 1);
    laterLookUps = Promise.withResolvers();
    origin.release("validation");
    await pop.scheduler.advance(0);
    await purge(ask);
    laterLookUps.resolve();
    expect((await pop.head(asked!)).status).toBe(503);
    await pop.finish();
  });

  test("that the origin calls private when it confirms it is sent, and no memory takes it", async () => {
    const ask = await startStale({}, 4 * MIB);
    const fields = { "cache-control": "private, max-age=60", etag: '"1"' };
    origin.reply("/a", [
      { status: 304, fields },
      { fields: { "cache-control": "max-age=60" }, body: "new" },
    ]);
    const answer = await pop.head(ask());
    expect([xCache(answer), await pop.text(answer)]).toEqual(["REVALIDATED", body]);
    await pop.finish();
    const next = await pop.head(ask());
    expect([xCache(next), await pop.text(next)]).toEqual(["MISS", "new"]);
    await pop.finish();
  });

  test("that memory takes is read once to answer and to be stored", async () => {
    const ask = await startStale({}, 4 * MIB);
    const [asked] = await askMany(ask, {}, 1);
    origin.release("validation");
    expect(await pop.text(await pop.head(asked!))).toBe(body);
    await pop.finish();
    page.readOfEach = [];
    const fresh = await pop.head(ask());
    expect([xCache(fresh), await pop.text(fresh), read()]).toEqual(["HIT", body, []]);
  });

  test("is neither read nor stored again for a HEAD that confirms it", async () => {
    const ask = await startStale();
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60", etag: '"1"' }, body }]);
    const head = await pop.head(ask("/a", {}, undefined, "HEAD"));
    expect([head.status, xCache(head), await pop.text(head)]).toEqual([200, "EXPIRED", ""]);
    await pop.finish();
    expect(page.read).toBe(0);
  });

  test("that the tier cuts off is cut off for the client, and not stored", async () => {
    const ask = await startStale();
    const [asked] = await askMany(ask, {}, 1);
    page.sent = 3;
    origin.release("validation");
    await expect(pop.text(await pop.head(asked!))).rejects.toThrow();
    await pop.finish();
    const next = await pop.head(ask());
    expect([xCache(next), await pop.text(next)]).toEqual(["EXPIRED", "new"]);
    await pop.finish();
  });
});
