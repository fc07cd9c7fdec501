import { type Cdn, type CdnRequest, startCdn } from "tidemark/local";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { page } from "./pages.ts";

type Region = "fra" | "syd";

describe("a site with purge.push, in the simulated CDN", () => {
  let cdn: Cdn<Region>;
  let path = "/";
  const body = async (request: CdnRequest<Region>) => (await cdn.get(path, request)).body;
  const counts = (region: Region, isolate = 0) => cdn.pop(region).logConnections(isolate);
  const hasSettled = async ({ seq }: { seq: number }) => {
    const { body } = await cdn.get(`/_tidemark/purges/${seq}`, { token: cdn.token });
    return (JSON.parse(body) as { settled: boolean }).settled;
  };

  beforeAll(async () => {
    cdn = await startCdn({ site: { purge: { push: true } }, regions: ["fra", "syd"], isolates: 2 });
  }, 60_000);

  afterAll(() => cdn.close());

  /** New isolates, and a log that remembers none of the last test. */
  beforeEach(async ({ task }) => {
    for (const pop of cdn.regions.map((region) => cdn.pop(region))) {
      for (const isolate of [0, 1]) await pop.killIsolate(isolate);
    }
    await cdn.advance("2m");
    path = `/${task.id}`;
    cdn.origin.reply(path, ...["v1", "v2", "v3", "v4"].map((version) => page(version)));
  });

  test("each isolate with traffic has a connection, and sees a purge at once", async () => {
    await body({ from: "fra" });
    await body({ from: "syd", isolate: 1 });
    expect(await counts("fra")).toEqual({ open: 1, opened: 1, lost: 0, pushes: 0 });
    expect(await counts("fra", 1)).toEqual({ open: 0, opened: 0, lost: 0, pushes: 0 });
    await cdn.purger.purgeUrls(path);
    expect(await body({ from: "syd", isolate: 1 })).toBe("v3");
    expect(await body({ from: "fra" })).toBe("v4");
    expect(await counts("syd", 1)).toEqual({ open: 1, opened: 1, lost: 0, pushes: 1 });
  });

  test("a purge settles by confirmations, and its receipt and the trail say so", async () => {
    await body({ from: "fra" });
    await body({ from: "syd" });
    const receipt = await cdn.purger.purgeUrls(path);
    expect(receipt).toMatchObject({ settlesInMs: 1250, maySettleSooner: true });
    expect(await hasSettled(receipt)).toBe(false);
    const before = cdn.now;
    await cdn.settle(receipt);
    expect(cdn.now - before).toBe(300);
    expect(await hasSettled(receipt)).toBe(true);
  });

  test("times that are moved at once move one after another, so a purge settles as if nothing else were called", async () => {
    await body({ from: "fra" });
    await body({ from: "syd" });
    const receipt = await cdn.purger.purgeUrls(path);
    const before = cdn.now;
    await Promise.all([cdn.settle(receipt), cdn.advance("1h")]);
    expect(cdn.now - before).toBe(3_600_300);
  });

  test("a PoP that is cut off from the log makes a purge settle as late as without push, and serves the page until then", async () => {
    await body({ from: "fra" });
    await body({ from: "syd" });
    await cdn.pop("syd").cutFromLog();
    const receipt = await cdn.purger.purgeUrls(path);
    expect(await body({ from: "syd" })).toBe("v2");
    const before = cdn.now;
    await cdn.settle(receipt);
    expect(cdn.now - before).toBe(1250);
    expect(await body({ from: "syd" })).toBe("v3");
    expect(await counts("syd")).toMatchObject({ open: 0, opened: 1, lost: 1, pushes: 0 });
    await cdn.pop("syd").reconnectToLog();
    await cdn.advance("1s");
    await body({ from: "syd" });
    expect(await counts("syd")).toMatchObject({ open: 1, opened: 2, lost: 1 });
  });

  test("the next renewal makes up for a lost confirmation", { tags: ["deep"] }, async () => {
    await body({ from: "fra" });
    await cdn.pop("fra").finishWork();
    await cdn.pop("fra").loseAnswers({ log: 1 });
    const receipt = await cdn.purgerIn("syd").purgeUrls(path);
    expect(await body({ from: "fra" })).toBe("v2");
    await cdn.advance("600ms");
    expect(await hasSettled(receipt)).toBe(false);
    await cdn.advance("300ms");
    expect(await hasSettled(receipt)).toBe(true);
  });

  test("connections that are lost silently make one purge settle late, and later requests open new ones", {
    tags: ["deep"],
  }, async () => {
    await body({ from: "fra" });
    await cdn.pop("fra").loseLogConnections();
    const before = cdn.now;
    await cdn.settle(await cdn.purger.purgeUrls(path));
    expect(cdn.now - before).toBe(1250);
    await body({ from: "fra" });
    expect(await counts("fra")).toEqual({ open: 1, opened: 2, lost: 1, pushes: 0 });
    const later = cdn.now;
    await cdn.settle(await cdn.purger.purgeUrls(path));
    expect(cdn.now - later).toBe(300);
  });

  test("purges wait for a killed isolate only as long as it may still answer", async () => {
    await body({ from: "syd" });
    await cdn.pop("syd").killIsolate();
    const before = cdn.now;
    await cdn.settle(await cdn.purger.purgeUrls(path));
    expect(cdn.now - before).toBe(1250);
    await cdn.advance("1m");
    const later = cdn.now;
    const receipt = await cdn.purger.purgeUrls(path);
    expect(receipt).toMatchObject({ settlesInMs: 300 });
    await cdn.settle(receipt);
    expect(cdn.now - later).toBe(300);
  });

  test("a view is kept for 20 s after a request and then given up, so that purges need not wait for it", {
    tags: ["deep"],
  }, async () => {
    await body({ from: "fra" });
    await cdn.advance("19s");
    expect(await counts("fra")).toMatchObject({ open: 1 });
    expect((await cdn.get(path, { from: "fra" })).fields["x-cache"]).toBe("HIT");
    await cdn.advance("20s");
    expect(await counts("fra")).toMatchObject({ open: 0, lost: 0 });
    expect(await cdn.purger.purgeUrls(path)).toMatchObject({ settlesInMs: 300 });
  });

  test("after a restart of the log, purges settle as late as without push for a minute", {
    tags: ["deep"],
  }, async () => {
    await body({ from: "fra" });
    await cdn.log.restart();
    const receipt = await cdn.purger.purgeUrls(path);
    expect(receipt.maySettleSooner).toBeUndefined();
    expect(receipt.settlesInMs).toBe(1250);
    await cdn.settle(receipt);
    await cdn.advance("1m");
    await body({ from: "fra" });
    expect(await cdn.purger.purgeUrls(path)).toMatchObject({ maySettleSooner: true });
  });

  test("after the log is recreated, purges settle as late as without push for a day", { tags: ["deep"] }, async () => {
    await body({ from: "fra" });
    await cdn.log.recreate();
    await cdn.advance("2s");
    await body({ from: "fra" });
    await cdn.advance("23h");
    await body({ from: "fra" });
    expect((await cdn.purger.purgeUrls(path)).maySettleSooner).toBeUndefined();
    await cdn.advance("3h");
    await body({ from: "fra" });
    expect(await cdn.purger.purgeUrls(path)).toMatchObject({ maySettleSooner: true });
  });
});
