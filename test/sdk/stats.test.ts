import { expect, expectTypeOf, test } from "vitest";
import type * as z from "zod";
import { PurgeForbidden, PurgeUnreachable, type SiteStats } from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";
import { siteStatsSchema } from "../../wire/site-stats-schema.ts";
import { refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest, TOKEN } from "./purger-under-test.ts";

const stats = { ...(await createRecordingPurger().stats()), requests: 7 };

test("The stats have the type of the wire's", () => {
  expectTypeOf<SiteStats>().branded.toEqualTypeOf<z.infer<typeof siteStatsSchema>>();
});

test("A purger reads the stats of a time and of a place", async () => {
  await using edge = await startFakeEdge({ json: stats }, { json: stats }, { json: stats });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  expect(await cdn.stats()).toEqual(stats);
  await cdn.stats({ last: "7d" });
  await cdn.stats({ last: "15m", pop: "a&b" });

  expect(edge.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /_tidemark/stats",
    "GET /_tidemark/stats?last=7d",
    "GET /_tidemark/stats?last=15m&pop=a%26b",
  ]);
  expect(edge.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test("Stats are requested again if the log is silent for a moment, and anything else is not stats", async () => {
  await using edge = await startFakeEdge(refuses("unavailable"), { json: stats }, refuses("forbidden"), {
    json: { ...stats, scope: "isolate" },
  });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  expect(await cdn.stats()).toEqual(stats);
  await expect(cdn.stats()).rejects.toThrow(PurgeForbidden);
  for (const json of [null, 7, { ...stats, version: 2 }]) {
    await using other = await startFakeEdge({ json });
    await using otherCdn = purgerUnderTest({ endpoint: other.endpoint });
    await expect(otherCdn.stats()).rejects.toMatchObject({ code: "unexpected-answer" });
  }
  const unlike = await cdn.stats().catch((error: unknown) => error);
  expect(unlike).toBeInstanceOf(PurgeUnreachable);
  expect(unlike).toMatchObject({ code: "unexpected-answer" });
  expect((unlike as Error).message).toContain("JSON that is not the stats of a site");
});

test("Stats of a newer edge, with fields that the client does not know, are read", async () => {
  await using edge = await startFakeEdge({ json: { ...stats, later: 1 } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  expect(await cdn.stats()).toMatchObject(stats);
});

test.each([{ last: "1w" }, { last: "0h" }, { last: 7 }, { pop: "" }, { until: "24h" }])(
  "A call that asks for the stats of %j is misuse",
  async (query) => {
    await using cdn = purgerUnderTest({ endpoint: "http://127.0.0.1:9" });
    await expect(cdn.stats(query as object)).rejects.toThrow(TypeError);
  },
);

test("Several edges have separate stats", async () => {
  await using cdn = purgerUnderTest({
    endpoints: [
      { endpoint: "http://127.0.0.1:9", token: TOKEN },
      { endpoint: "http://127.0.0.1:10", token: TOKEN },
    ],
  });
  await expect(cdn.stats()).rejects.toThrow(/^stats: each edge has its own counts/);
});

test("A recording purger has the stats of a site without requests", async () => {
  const none = await createRecordingPurger().stats({ pop: "FRA" });
  expect(siteStatsSchema.parse(none)).toEqual(none);
  expect(none).toMatchObject({ requests: 0, pop: "FRA" });
});
