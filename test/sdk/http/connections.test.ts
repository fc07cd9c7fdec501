import { execFile } from "node:child_process";
import net from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { openUndici } from "../../../sdk/http/transport-undici.ts";
import { createPurger } from "../../../sdk/index.ts";
import { createPurger as createWebPurger } from "../../../sdk/index.web.ts";
import { purgerFrom } from "../../../sdk/purger.ts";
import type { Receipt } from "../../../sdk/receipt.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";
import { byDepth } from "../../suite/depth.ts";
import { until } from "../../suite/until.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { type Act, accepts, purgeRecord, receiptBody, refuses, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";

test("Purges one after another reuse a connection, whatever their answers were", async () => {
  await using edge = await startFakeEdge(accepts, refuses("forbidden"), { text: "<p>" }, accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  for (let sent = 0; sent < 20; sent += 1) await cdn.purgeTags("a").catch(() => {});

  expect(edge.requests).toHaveLength(20);
  // Two, because undici releases a connection a moment after the end of its answer.
  expect(edge.connections()).toBeLessThanOrEqual(2);
});

test("An address of an edge's name that is far away is given a second, which Node's clock measures", async () => {
  const connect = vi.spyOn(net, "connect");
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a");

  expect(connect).toHaveBeenCalledWith(expect.objectContaining({ autoSelectFamilyAttemptTimeout: 1_000 }));
  connect.mockRestore();
});

test("Forty purges at once share eight connections", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await Promise.all(Array.from({ length: 40 }, (_, i) => cdn.purgeTags(`tag-${i}`, { id: `id-${i}` })));

  expect(edge.requests).toHaveLength(40);
  expect(edge.connections()).toBeLessThanOrEqual(8);
});

test("A purge does not wait for reads that the edge holds until others have settled", { timeout: 5_000 }, async () => {
  const held: Act = { stallsAfterBytes: 0 };
  await using edge = await startFakeEdge(...Array.from({ length: 8 }, () => held), accepts);
  const transport = openUndici();
  const leaving = new AbortController();
  const init = { headers: {}, redirect: "manual", signal: leaving.signal } as const;
  const reads = Array.from({ length: 8 }, () => transport.fetch(edge.endpoint, { ...init, method: "GET" }));
  const left = Promise.allSettled(reads);
  await until(() => edge.requests.length === 8);

  expect(await transport.fetch(edge.endpoint, { ...init, method: "POST", body: "{}" })).toMatchObject({ status: 200 });

  leaving.abort();
  await left;
  await transport.close();
});

test("The audit trail is read at once while forty receipts wait until they have settled", {
  timeout: 5_000,
}, async () => {
  const accepted = Array.from({ length: 40 }, () => ({
    json: { ...receiptBody, settlesInMs: 600_000, maySettleSooner: true },
  }));
  const held = Array.from({ length: 24 }, (): Act => ({ stallsAfterBytes: 0 }));
  const page = { json: { purges: [purgeRecord], next: null } };
  await using edge = await startFakeEdge(...accepted, ...held, page);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const leaving = new AbortController();
  const receipts = [];
  for (let count = 0; count < 40; count++) receipts.push(await cdn.purgeTags("a"));
  const left = Promise.allSettled(receipts.map((each) => each.settled({ signal: leaving.signal })));
  await until(() => edge.requests.length >= 64);

  expect(await cdn.purges()).toEqual(page.json);
  expect(edge.requests).toHaveLength(65);

  leaving.abort();
  await left;
});

// Without close, undici ends an idle connection after four seconds, which is longer than this test may take.
test("Closing a purger frees its connections", { timeout: 3_000 }, async () => {
  await using edge = await startFakeEdge(accepts, { json: { purges: [purgeRecord], next: null } });
  const cdn = purgerUnderTest({ endpoint: edge.endpoint });
  await cdn.purgeTags("a");
  await cdn.purges();

  await cdn.close();

  await edge.allClosed();
});

test("A purger keeps nothing of the purges that have ended", async () => {
  const fetch = async () => Response.json({ ...receiptBody, warnings: ["x".repeat(30_000)] });
  await using cdn = purgerUnderTest({ endpoint: "https://www.example.test", fetch });
  await cdn.purgeTags("a");

  const before = usedHeapBytes();
  for (let count = 0; count < 500; count++) await cdn.purgeTags("a");

  expect(usedHeapBytes() - before).toBeLessThan(5_000_000);
});

test("Closing a purger waits for the purges under way, closes once, and refuses later purges", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<Receipt>();
  const events: string[] = [];
  const cdn = purgerFrom({
    async send() {
      const receipt = await answer;
      events.push("purged");
      return receipt;
    },
    read: async () => null,
    stats: async () => createRecordingPurger().stats(),
    newId: () => "id",
    close: async () => {
      events.push("closed");
    },
  });
  const underWay = cdn.purgeTags("a");

  const closing = cdn.close();
  await expect(cdn.purgeTags("b")).rejects.toMatchObject({ code: "closed", attempts: 0, retryable: false });
  resolve({} as Receipt);
  await Promise.all([underWay, closing, cdn.close(), cdn[Symbol.asyncDispose]()]);

  expect(events).toEqual(["purged", "closed"]);
});

test("A purger that was never used can be closed", async () => {
  await expect(createPurger().close()).resolves.toBeUndefined();
});

test("An idle purger does not keep its process running, although its connection stays open and usable", async () => {
  await using edge = await startFakeEdge(accepts);
  const program = fileURLToPath(new URL("idle-process.ts", import.meta.url));

  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: "a-token" },
  });

  expect(stdout).toBe("purged\nnothing left to do\npurged again\n");
  expect(edge.requests).toHaveLength(2);
  expect(edge.connections()).toBe(1);
});

test.for([
  { name: "on Node", create: createPurger },
  { name: "on the web", create: createWebPurger },
])("The public purger $name needs only an endpoint and a token", async ({ create }) => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = create({ endpoint: edge.endpoint, token: "a-token" });

  await expect(cdn.purgeTags("a")).resolves.toMatchObject({ seq: 7 });

  expect(edge.requests[0]?.body.id).toMatch(/^[0-9a-f-]{36}$/);
});

test("A fetch given as an option sends the requests", async () => {
  const asked: string[] = [];
  await using cdn = createPurger({
    endpoint: "https://www.example.com",
    token: "a-token",
    fetch: async (url) => {
      asked.push(url);
      return Response.json(accepts.json);
    },
  });

  await cdn.purgeTags("a");

  expect(asked).toEqual(["https://www.example.com/_tidemark/purge"]);
});

const PURGES = byDepth({ test: 300, gate: 300, all: 1_000 });

test(`When the edge cuts eight connections in the middle, none of ${PURGES} simultaneous purges is lost`, {
  tags: ["gate"],
}, async () => {
  const answered = Array.from({ length: PURGES * 0.3 }, () => accepts);
  const cut = Array.from({ length: 8 }, () => ({ hangsUpAfterBytes: 0 }));
  const halved = Array.from({ length: 8 }, () => ({ ...accepts, hangsUpAfterBytes: 9 }));
  await using edge = await startFakeEdge(...answered, ...cut, ...halved, accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const purges = Array.from({ length: PURGES }, (_, index) => cdn.purgeTags(`song:${index}`, { id: `id-${index}` }));
  const receipts = await Promise.all(purges);

  expect(receipts).toHaveLength(PURGES);
  const ids = new Map(edge.requests.map(({ body }) => [body.id, body.tags]));
  expect(new Set([...ids.values()].flat()).size).toBe(PURGES);
  expect(ids.size).toBe(PURGES);
  expect(edge.requests).toHaveLength(PURGES + 16);
  expect(edge.connections()).toBeLessThanOrEqual(8 + 16);
});
