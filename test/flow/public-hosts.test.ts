import { expect, test } from "vitest";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "./pop-under-test.ts";

test.each(["/a", "/_tidemark/health"])(
  "an edge whose public hosts nobody has named answers 503 for %s, so that no name that leads to it is served",
  async (path) => {
    const pop = new PopUnderTest();
    const origin = new MemoryOrigin(pop.scheduler);
    origin.reply("/a", [{ body: "page" }]);
    const site = { hosts: undefined } as object;
    const answer = await pop.head(pop.start(origin, { site })(path));
    expect([answer.status, answer.headers.get("cache-status"), await pop.text(answer)]).toEqual([
      503,
      expect.stringContaining("detail=no-hosts"),
      expect.stringContaining("TIDEMARK_HOSTS"),
    ]);
  },
);
