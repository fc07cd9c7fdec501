import { expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import type { EdgeEvent } from "../../worker/ports/reporter.ts";
import { fromWebResponse } from "../../worker/runtime/web-answer.ts";
import { PopUnderTest } from "./pop-under-test.ts";

test.each([
  ["is stored", {}, {}],
  ["is stored apart from its head", { storeBytes: 1 }, {}],
  ["is too large to be stored", { storeBytes: 1, largeBytes: 1 }, {}],
  ["may not be stored", {}, { "cache-control": "private" }],
  ["does not tell its length", {}, { "content-length": "" }],
  ["is held by the client", {}, { etag: '"held"' }],
  ["is held by the client and may not be stored", {}, { etag: '"held"', "cache-control": "private" }],
])("an answer for all bytes by a range is counted with the status that its client gets if it %s", async (...given) => {
  const [, limits, sent] = given;
  const pop = new PopUnderTest();
  const counted: number[] = [];
  class Witness extends Counters {
    override report(event: EdgeEvent): void {
      if (event.kind === "answered") counted.push(event.status);
      super.report(event);
    }
  }
  const fields = Object.entries({ "cache-control": "max-age=60", "content-length": "2", ...sent });
  const headers = fields.filter(([, value]) => value !== "");
  const ask = pop.start(
    {
      url: "http://origin.test",
      fetch: async () => ({ kind: "answered", response: fromWebResponse(new Response("v1", { headers })) }),
    },
    { site: { limits }, reporter: new Witness("http://origin.test", () => undefined) },
  );
  const got: number[] = [];
  for (let sent = 0; sent < 2; sent++) {
    const answer = await pop.head(ask("/a", { range: "bytes=0-", "if-none-match": '"held"' }));
    got.push(answer.status);
    await pop.text(answer);
    await pop.finish();
  }
  expect(counted).toEqual(got);
});
