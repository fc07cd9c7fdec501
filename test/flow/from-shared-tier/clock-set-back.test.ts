import { describe, expect, test } from "vitest";
import { MemoryOrigin } from "../../engine/memory/memory-origin.ts";
import { PopUnderTest } from "../pop-under-test.ts";

const STEP_MS = 7_200_000;
const LASTING = { "cache-control": "max-age=3600", etag: '"1"' };

describe("after the clock was set back by hours", () => {
  test("an isolate keeps in memory what another one has fetched again", async () => {
    const pop = new PopUnderTest();
    const origin = new MemoryOrigin(pop.scheduler);
    origin.reply("/a", [
      { fields: LASTING, body: "v1" },
      { fields: { ...LASTING, etag: '"2"' }, body: "v2" },
    ]);
    const one = pop.start(origin);
    let lookUps = 0;
    const other = pop.start(origin, {
      sharedTier: {
        get: (key) => {
          lookUps++;
          return pop.tier.get(key);
        },
      },
    });
    for (const ask of [one, other]) {
      expect(await pop.text(await pop.head(ask()))).toBe("v1");
      await pop.finish();
    }
    pop.scheduler.stepBack(STEP_MS);
    for (const ask of [one, other]) {
      expect(await pop.text(await pop.head(ask()))).toBe("v2");
      await pop.finish();
    }
    lookUps = 0;
    expect(await pop.text(await pop.head(other()))).toBe("v2");
    expect(lookUps).toBe(0);
  });

  test("a large page is confirmed by one request", async () => {
    const pop = new PopUnderTest();
    const origin = new MemoryOrigin(pop.scheduler);
    const body = "x".repeat(100_000);
    origin.reply("/a", [
      { fields: LASTING, body },
      { status: 304, fields: LASTING },
    ]);
    expect(await pop.text(await pop.head(pop.start(origin)()))).toBe(body);
    await pop.finish();
    pop.scheduler.stepBack(STEP_MS);
    const answer = await pop.head(pop.start(origin)());
    expect(answer.headers.get("x-cache")).toBe("REVALIDATED");
    expect(await pop.text(answer)).toBe(body);
    expect(origin.seen.map(({ fields }) => fields["if-none-match"])).toEqual([undefined, '"1"']);
  });
});
