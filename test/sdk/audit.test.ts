import { expect, test } from "vitest";
import {
  type PurgeErrorCode,
  PurgeForbidden,
  PurgeRateLimited,
  type PurgeRecord,
  PurgeTimeout,
  PurgeUnreachable,
} from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";
import { purgeRecordPageSchema } from "../../wire/purge-record.ts";
import { type Act, accepts, refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest, TOKEN } from "./purger-under-test.ts";

const record: PurgeRecord = {
  seq: 7,
  at: "2026-01-02T03:04:05.678Z",
  by: "shop",
  reason: "saved",
  mode: "hard",
  accepted: { urls: 1, tags: 0, prefixes: 0, hosts: 0, everything: false },
  items: ["/a"],
  itemCount: 1,
  id: null,
  repeatOf: null,
  settled: true,
};

test("A purger reads the audit trail page by page", async () => {
  await using edge = await startFakeEdge({ json: { purges: [record], next: 7 } }, { json: { purges: [], next: null } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  expect(await cdn.purges({ limit: 1 })).toEqual({ purges: [record], next: 7 });
  expect(await cdn.purges({ before: 7, limit: 1 })).toEqual({ purges: [], next: null });
  await cdn.purges();

  expect(edge.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /_tidemark/purges?limit=1",
    "GET /_tidemark/purges?before=7&limit=1",
    "GET /_tidemark/purges",
  ]);
  expect(edge.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test("A purger knows the status of a purge by its receipt or its number, and null for one that the log does not have", async () => {
  await using edge = await startFakeEdge(accepts, { json: record }, { json: record }, refuses("not-found"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const receipt = await cdn.purgeUrls("/a");
  expect(await cdn.status(receipt)).toEqual(record);
  expect(await cdn.status(7)).toMatchObject({ settled: true });
  expect(await cdn.status(99)).toBeNull();

  const asked = edge.requests.slice(1).map(({ path }) => path);
  expect(asked).toEqual(["/_tidemark/purges/7", "/_tidemark/purges/7", "/_tidemark/purges/99"]);
});

test("A receipt has no status if another purge has its number, because the log was lost", async () => {
  await using edge = await startFakeEdge(accepts, { json: { ...record, at: "2026-01-02T04:00:00.000Z" } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const receipt = await cdn.purgeUrls("/a");
  expect(await cdn.status(receipt)).toBeNull();
  expect(await cdn.status(receipt.seq)).toMatchObject({ by: "shop" });
});

test("A read that the silent log does not answer is sent again, and a token that may not read is refused at once", async () => {
  await using edge = await startFakeEdge(refuses("unavailable"), { json: record }, refuses("forbidden"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  expect(await cdn.status(7)).toEqual(record);
  const refused = await cdn.purges().catch((error: unknown) => error);

  expect(refused).toBeInstanceOf(PurgeForbidden);
  expect((refused as Error).message).toMatch(/may not read \(403\)\. Use a token with the scope read\.$/);
  expect(edge.requests).toHaveLength(3);
});

test("The error of a failed read does not say that a purge may have happened", async () => {
  const failures: {
    act: Act;
    type: typeof PurgeUnreachable | typeof PurgeTimeout | typeof PurgeRateLimited;
    code: PurgeErrorCode;
    deadlineMs?: number;
  }[] = [
    { act: refuses("unavailable"), type: PurgeUnreachable, code: "unavailable" },
    { act: refuses("rate-limited"), type: PurgeRateLimited, code: "rate-limited" },
    {
      act: { ...refuses("unavailable"), status: 500 },
      type: PurgeUnreachable,
      code: "server-error",
    },
    { act: { json: record, hangsUpAfterBytes: 20 }, type: PurgeUnreachable, code: "incomplete-answer" },
    { act: { json: record, stallsAfterBytes: 0 }, type: PurgeTimeout, code: "timeout", deadlineMs: 500 },
    { act: { text: "<p>Welcome</p>" }, type: PurgeUnreachable, code: "unexpected-answer" },
    { act: { json: { purges: 5 } }, type: PurgeUnreachable, code: "unexpected-answer" },
  ];
  for (const { act, type, code, deadlineMs } of failures) {
    await using edge = await startFakeEdge(act);
    await using cdn = purgerUnderTest({ endpoint: edge.endpoint, retries: 0 });
    const error = await cdn.purges({ deadlineMs }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code, attempts: 1 });
    expect((error as Error).message).not.toMatch(/may have happened|purge again|purges|one purge/i);
  }
});

test.each<[string, Act, string, PurgeErrorCode]>([
  [
    "a redirect, which is not followed",
    { status: 301, headers: { location: "https://www.example.com/" }, text: "" },
    "answered 301 with a redirect to https://www.example.com, which is not an answer of a Tidemark edge",
    "unexpected-answer",
  ],
  [
    "an HTML page",
    { headers: { "content-type": "text/html; charset=utf-8" }, text: "<p>Welcome</p>" },
    "answered 200 with text/html, which is not an answer of a Tidemark edge",
    "unexpected-answer",
  ],
  [
    "an HTML page that is not found",
    { status: 404, headers: { "content-type": "text/html" }, text: "<p>Nothing here</p>" },
    "answered 404 with text/html, which is not an answer of a Tidemark edge",
    "unexpected-answer",
  ],
  [
    "half an answer that ends like a whole one",
    { headers: { "content-type": "application/json" }, text: JSON.stringify(record).slice(0, 20) },
    "broke off (200; 1 attempt). Try again.",
    "incomplete-answer",
  ],
  [
    "an edge that fails without a word",
    { status: 500, headers: { "content-type": "text/html" }, text: "<h1>Oops</h1>" },
    "failed (500). Look at the edge's log for the reason.",
    "server-error",
  ],
  [
    "a proxy that takes only smaller requests",
    { status: 413, headers: { "content-type": "text/html" }, text: "<h1>Too large</h1>" },
    "answered 413 with text/html, which is not an answer of a Tidemark edge",
    "unexpected-answer",
  ],
])("A read tells %s apart", async (_, act, words, code) => {
  await using edge = await startFakeEdge(act);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, retries: 0 });
  await expect(cdn.purges()).rejects.toMatchObject({ message: expect.stringContaining(words), code });
});

test("A signal ends a reading, and a closed purger reads nothing", async () => {
  const controller = new AbortController();
  await using edge = await startFakeEdge({
    json: record,
    stallsAfterBytes: 0,
    afterwards: () => controller.abort("left"),
  });
  const cdn = purgerUnderTest({ endpoint: edge.endpoint });

  expect(await cdn.purges({ signal: controller.signal }).catch((reason: unknown) => reason)).toBe("left");
  await cdn.close();
  await expect(cdn.status(7)).rejects.toMatchObject({ code: "closed" });
});

test("A recording purger has an audit trail of what it recorded", async () => {
  const cdn = createRecordingPurger();
  await cdn.purgeUrls("/a", { reason: "saved", mode: "soft" });
  await cdn.purgeTags("a", { dryRun: true });
  const receipt = await cdn.purge({ tags: ["a", "b"] }, { id: "once" });

  const page = await cdn.purges();
  expect(purgeRecordPageSchema.safeParse(page).error).toBeUndefined();
  expect(page.purges.map(({ seq, items, reason, mode, id }) => ({ seq, items, reason, mode, id }))).toEqual([
    { seq: 2, items: ["a", "b"], reason: null, mode: "hard", id: "once" },
    { seq: 1, items: ["/a"], reason: "saved", mode: "soft", id: null },
  ]);
  expect(await cdn.purges({ limit: 1 })).toMatchObject({ purges: [{ seq: 2 }], next: 2 });
  expect(await cdn.purges({ before: 2 })).toMatchObject({ purges: [{ seq: 1 }], next: null });
  expect(await cdn.status(receipt)).toMatchObject({ seq: 2, itemCount: 2, settled: true });
  expect(await cdn.status(3)).toBeNull();
});
