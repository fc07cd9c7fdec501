import { expect, test } from "vitest";
import type { Explanation } from "../../wire/explanation.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "../flow/pop-under-test.ts";

test("an explanation lets go of the stored body, which it does not read", async () => {
  const pop = new PopUnderTest();
  const origin = new MemoryOrigin(pop.scheduler);
  origin.answerBy(() => ({ fields: { "cache-control": "max-age=60" }, body: "page" }));
  await pop.scheduler.settle((await pop.head(pop.start(origin)())).text());
  await pop.scheduler.settle(Promise.all(pop.behind));
  let letGo = 0;
  const sharedTier = {
    get: async (key: string) => {
      const found = await pop.tier.get(key);
      if (!found || !("body" in found)) return found;
      return { head: found.head, body: new ReadableStream({ cancel: () => void letGo++ }) };
    },
  };
  const tokens = { check: async () => ({ kind: "allowed", name: "owner" }) as const };
  const explain = pop.start(origin, { sharedTier, tokens });
  const asked = await pop.head(explain("/_tidemark/explain?url=/a", { authorization: "Bearer any" }));
  expect((await asked.json()) as Explanation).toMatchObject({
    outcome: { xCache: "HIT" },
    sharedTier: { status: 200 },
  });
  expect(letGo).toBe(1);
});
