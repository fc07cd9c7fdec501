import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KnownNeighbours } from "../../worker/flow/collapsing/neighbours.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { EndedElsewhere } from "../../worker/ports/fetches-elsewhere.ts";
import type { Origin, OriginAnswer } from "../../worker/ports/origin.ts";
import type { EdgeEvent } from "../../worker/ports/reporter.ts";
import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { fromWebResponse } from "../../worker/runtime/web-answer.ts";
import { PopUnderTest } from "./pop-under-test.ts";

const page = (text: string): OriginAnswer => ({
  kind: "answered",
  response: fromWebResponse(new Response(text, { headers: { "cache-control": "max-age=60", "content-length": "2" } })),
});

const originThat = (fetch: Origin["fetch"]): Origin => ({ url: "http://origin.test", fetch });

describe("a fetch that others may wait for", () => {
  test("releases them at once if a bug ends it", async () => {
    const pop = new PopUnderTest();
    let asked = 0;
    const ask = pop.start(
      originThat(async () => {
        if (++asked === 1) throw new Error("a bug");
        return page("v1");
      }),
    );
    const answers = [ask(), ask()].map(async (asking) => pop.text(await pop.head(asking)));
    expect(await pop.scheduler.settle(Promise.all(answers))).toEqual(["v1", "v1"]);
    expect(asked).toBe(3);
    await pop.finish();
  });

  test("gives its turn at the origin back if a bug ends it", async () => {
    const pop = new PopUnderTest();
    let asked = 0;
    const origin = originThat(async () => {
      if (++asked === 1) throw new Error("a bug");
      return page("v1");
    });
    const ask = pop.start(origin, { site: { origin: { url: "http://origin.test", concurrency: 1 } } });
    expect(await pop.text(await pop.head(ask()))).toBe("v1");
  });

  test("releases them at once if a bug ends a validation", async () => {
    const pop = new PopUnderTest();
    const fields = { "cache-control": "max-age=60", "content-length": "2", etag: '"v1"' };
    let asked = 0;
    const ask = pop.start(
      originThat(async () => {
        asked++;
        const status = asked === 2 ? 304 : 200;
        const response = fromWebResponse(new Response(status === 304 ? null : "v1", { status, headers: fields }));
        if (status === 304) {
          const { fields } = response;
          const get = fields.get.bind(fields);
          fields.get = (name) => {
            if (name === "etag") throw new Error("a bug");
            return get(name);
          };
        }
        return { kind: "answered", response };
      }),
    );
    await pop.text(await pop.head(ask()));
    await pop.finish();
    await pop.scheduler.advance(61_000);
    const answers = [ask(), ask()].map(async (asking) => pop.text(await pop.head(asking)));
    expect(await pop.scheduler.settle(Promise.all(answers))).toEqual(["v1", "v1"]);
    expect(asked).toBe(4);
    await pop.finish();
  });

  test("keeps its request alive until the origin has answered, whether or not the client waits", async () => {
    const pop = new PopUnderTest();
    const held = Promise.withResolvers<OriginAnswer>();
    const ask = pop.start(
      originThat(({ pathAndQuery }) => (pathAndQuery === "/a" ? held.promise : Promise.resolve(page("v0")))),
    );
    await pop.text(await pop.head(ask("/before")));
    await pop.finish();
    const asking = ask("/a");
    await pop.scheduler.advance(0);
    let isOver = false;
    const finished = pop.finish().then(() => {
      isOver = true;
    });
    await pop.scheduler.advance(0);
    expect(isOver).toBe(false);
    held.resolve(page("v1"));
    await pop.text(await pop.head(asking));
    await pop.scheduler.settle(finished);
    await pop.finish();
    expect((await pop.head(ask("/a"))).headers.get("x-cache")).toBe("HIT");
  });

  test("is not joined once it has failed, however long the stale page takes", async () => {
    const pop = new PopUnderTest();
    const fields = { "cache-control": "max-age=60, stale-if-error=60", "content-length": "2" };
    let asked = 0;
    let isSlow = false;
    const slow = Promise.withResolvers<void>();
    const ask = pop.start(
      originThat(async () =>
        ++asked === 2
          ? { kind: "failed", because: "unreachable", cause: "in this test" }
          : { kind: "answered", response: fromWebResponse(new Response(`v${asked}`, { headers: fields })) },
      ),
      {
        site: { limits: { storeBytes: 1 } }, // the body is stored apart
        sharedTier: {
          getBody: async (...wanted) => {
            if (isSlow) await slow.promise;
            return pop.tier.getBody(...wanted);
          },
        },
      },
    );
    await pop.text(await pop.head(ask()));
    await pop.finish();
    await pop.scheduler.advance(61_000);
    isSlow = true;
    const leading = ask();
    await pop.scheduler.advance(0);
    expect(asked).toBe(2);
    const later = ask();
    await pop.scheduler.advance(0);
    expect(asked).toBe(3);
    slow.resolve();
    expect(await pop.text(await pop.head(leading))).toBe("v1");
    expect(await pop.text(await pop.head(later))).toBe("v3");
    await pop.finish();
  });

  test("in another isolate makes a hit of those who wait for it, and counts their wait as one for the origin", async () => {
    const pop = new PopUnderTest();
    const answered: Partial<EdgeEvent>[] = [];
    class Witness extends Counters {
      override report(event: EdgeEvent): void {
        if (event.kind === "answered") answered.push({ xCache: event.xCache, tier: event.tier });
        super.report(event);
      }
    }
    const ended = Promise.withResolvers<EndedElsewhere>();
    const nobodyAsks = originThat(() => Promise.reject(new Error("it was asked twice")));
    const follow = pop.start(nobodyAsks, {
      neighbours: new KnownNeighbours({ take: () => ended.promise, avoid: () => undefined }),
      reporter: new Witness("http://origin.test", () => undefined),
    });
    const asking = follow();
    await pop.text(await pop.head(pop.start(originThat(async () => page("v1")))()));
    await pop.scheduler.advance(500);
    ended.resolve({ kind: "look-again" });
    expect(await pop.text(await pop.head(asking))).toBe("v1");
    expect(await pop.text(await pop.head(follow()))).toBe("v1");
    expect(answered).toEqual([
      { xCache: "HIT", tier: "origin" },
      { xCache: "HIT", tier: "memory" },
    ]);
    await pop.finish();
  });

  describe("in another isolate", () => {
    const turn = { take: () => ({ tell: () => undefined }), avoid: () => undefined };
    const lasting = (text: string, maxAge: number): OriginAnswer => {
      const fields = { "cache-control": `max-age=${maxAge}, stale-while-revalidate=600`, "content-length": "2" };
      return { kind: "answered", response: fromWebResponse(new Response(text, { headers: fields })) };
    };
    let pop: PopUnderTest;
    let asked: number;
    /** How long the next answers are fresh. Seconds. */
    let maxAge: number;
    /** Whether the shared tier does nothing for this isolate. */
    let isLost: boolean;
    let here: ReturnType<PopUnderTest["start"]>;
    let there: ReturnType<PopUnderTest["start"]>;
    const show = async (ask: typeof here) => {
      const text = await pop.text(await pop.head(ask()));
      await pop.finish();
      return text;
    };

    beforeEach(() => {
      pop = new PopUnderTest();
      [asked, maxAge, isLost] = [0, 10, false];
      const origin = originThat(async () => lasting(`v${++asked}`, maxAge));
      const sharedTier = {
        get: async (key: string) => (isLost ? undefined : pop.tier.get(key)),
        put: async (stored: Stored) => (isLost ? undefined : pop.tier.put(stored)),
      };
      here = pop.start(origin, { neighbours: new KnownNeighbours(turn), sharedTier });
      there = pop.start(origin);
    });
    afterEach(() => pop.finish());

    test("spares this one the refresh of a page", async () => {
      expect(await show(here)).toBe("v1");
      await pop.scheduler.advance(11_000);
      expect(await show(there)).toBe("v1");
      expect([await show(here), await show(here), asked]).toEqual(["v1", "v2", 2]);
    });

    test("spares it nothing if its page is stale, too", async () => {
      expect(await show(here)).toBe("v1");
      await pop.scheduler.advance(11_000);
      expect(await show(there)).toBe("v1");
      await pop.scheduler.advance(11_000);
      expect([await show(here), await show(here), asked]).toEqual(["v1", "v3", 3]);
    });

    test("spares it nothing if its page is the older one", async () => {
      maxAge = 20;
      expect(await show(there)).toBe("v1");
      await pop.scheduler.advance(1_000);
      [isLost, maxAge] = [true, 5];
      expect(await show(here)).toBe("v2");
      await pop.scheduler.advance(6_000);
      [isLost, maxAge] = [false, 20];
      expect([await show(here), await show(here), asked]).toEqual(["v2", "v3", 3]);
    });
  });
});
