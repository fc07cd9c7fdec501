import { expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "../flow/pop-under-test.ts";

test.each([
  ["a page is sent to the origin", "/a", 200, " and sent it to the origin"],
  ["a call of the control plane is answered with 502", "/_tidemark/health", 502, ""],
])("on a bug of the edge %s, and the log says so", async (_, path, status, sent) => {
  const pop = new PopUnderTest();
  const origin = new MemoryOrigin(pop.scheduler);
  origin.reply("/a", [{ body: "page" }]);
  const lines: string[] = [];
  let hasFailed = false;
  const failOnce = () => {
    if (hasFailed) return;
    hasFailed = true;
    throw "a bug";
  };
  const ask = pop.start(origin, {
    reporter: new Counters(origin.url, (line) => lines.push(line)),
    timer: { now: () => failOnce() ?? 0, runsInMemory: false },
    control: () => ({ fetch: async () => failOnce() ?? new Response() }),
  });
  const answer = await pop.head(ask(path));
  expect([answer.status, lines]).toEqual([status, [`Tidemark failed on a request${sent}: a bug`]]);
});
