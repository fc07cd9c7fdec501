import { beforeEach, describe, expect, test, vi } from "vitest";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { MemoryOrigin } from "../../engine/memory/memory-origin.ts";
import { type Ask, PopUnderTest } from "../pop-under-test.ts";

describe("a page whose body is stored apart, for which a visitor waits", () => {
  let pop: PopUnderTest;
  let origin: MemoryOrigin;
  /** What holds back the body. */
  let body: PromiseWithResolvers<void>;

  beforeEach(() => {
    pop = new PopUnderTest();
    origin = new MemoryOrigin(pop.scheduler);
    body = Promise.withResolvers();
  });

  /** Stores the page and starts an isolate whose shared tier is slow. */
  async function startStored(site: Partial<SiteInput> = {}): Promise<Ask> {
    origin.reply("/a", [
      { fields: { "cache-control": "max-age=600, stale-while-revalidate=600" }, body: "a large page" },
      { fields: { "cache-control": "max-age=600" }, body: "another large page" },
    ]);
    const ask = pop.start(origin, {
      site: { limits: { storeBytes: 10 }, ...site },
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      sharedTier: {
        getBody: async (key, part) => {
          await body.promise;
          return pop.tier.getBody(key, part);
        },
      },
    });
    expect(await pop.text(await pop.head(ask()))).toBe("a large page");
    await pop.finish();
    return ask;
  }

  async function purge(ask: Ask, mode: "hard" | "soft") {
    const json = { authorization: "Bearer x", "content-type": "application/json" };
    expect((await pop.head(ask("/_tidemark/purge", json, { urls: ["/a"], mode }))).status).toBe(200);
  }

  test.each([
    ["soft", "UPDATING", "a large page"],
    ["hard", "MISS", "another large page"],
  ] as const)("is judged again: purged in the meantime (%s), it is %s", async (mode, xCache, text) => {
    const ask = await startStored();
    const asked = ask();
    await pop.scheduler.advance(1);
    await purge(ask, mode);
    body.resolve();
    const answer = await pop.head(asked);
    expect([answer.headers.get("x-cache"), await pop.text(answer)]).toEqual([xCache, text]);
    await pop.finish();
  });

  test("is judged by a view of the age that its route allows, without a read of the log", async () => {
    const ask = await startStored({ routes: [{ match: "/*", purge: { maxViewAge: "1h" } }] });
    await pop.scheduler.advance(120_000);
    const read = vi.spyOn(pop.log, "read").mockImplementation(() => new Promise(() => {}));
    body.resolve();
    const answer = await pop.head(ask());
    expect([answer.headers.get("x-cache"), await pop.text(answer)]).toEqual(["HIT", "a large page"]);
    expect(read).not.toHaveBeenCalled();
  });
});
