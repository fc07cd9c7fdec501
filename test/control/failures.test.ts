import { expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import type { OriginRequest } from "../../worker/ports/origin.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";
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

test.each([
  ["one that may be sent again, to the origin a second time", undefined, 2],
  ["one whose body the origin may have, to the origin no second time", { text: "an order" }, 1],
])("a request on which the edge fails gets 502 if all else fails: %s", async (_, posted, times) => {
  const pop = new PopUnderTest();
  let asked = 0;
  const fetch = async ({ body }: OriginRequest) => {
    asked++;
    await new Response(body && streamOf(body)).text();
    throw "a bug";
  };
  const headers = posted && { "content-length": `${JSON.stringify(posted).length}` };
  const answer = await pop.head(pop.start({ url: "http://origin.test", fetch })("/a", headers, posted));
  expect([answer.status, await pop.text(answer), asked]).toEqual([502, expect.stringMatching(/^502: the edge/), times]);
});
