import { expect, test, vi } from "vitest";
import { MemoryOrigin } from "../../engine/memory/memory-origin.ts";
import { PopUnderTest } from "../pop-under-test.ts";

test("a page whose body is on its way from the shared tier during a POST is not kept in memory", async () => {
  const pop = new PopUnderTest();
  const origin = new MemoryOrigin(pop.scheduler);
  const fields = { "cache-control": "max-age=60" };
  origin.reply("/a", [{ fields, body: "old" }, { body: "done" }, { fields, body: "new" }]);
  expect(await pop.text(await pop.head(pop.start(origin)()))).toBe("old");
  await pop.finish();
  const rest = Promise.withResolvers<void>();
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await rest.promise;
        controller.enqueue(new TextEncoder().encode("old"));
        controller.close();
      },
    });
  const ask = pop.start(origin, {
    sharedTier: {
      get: async (key) => {
        const found = await pop.tier.get(key);
        return found && "body" in found ? { ...found, body: body() } : found;
      },
    },
  });
  await pop.scheduler.advance(1);
  const early = await pop.head(ask());
  expect(early.headers.get("x-cache")).toBe("HIT");
  vi.spyOn(pop.log, "append").mockRejectedValue(new Error("silent"));
  expect(await pop.text(await pop.head(ask("/a", {}, {})))).toBe("done");
  rest.resolve();
  expect(await pop.text(early)).toBe("old");
  expect(await pop.text(await pop.head(ask()))).toBe("new");
});
