import "tidemark/local/matchers";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";

const page = { fields: { "cache-control": "max-age=3600" }, body: "v1" };

let cdn: Cdn<"fra" | "syd">;
beforeAll(async () => {
  const site = { purge: { push: true } };
  cdn = await startCdn({ site, origin: { "/about": page }, regions: ["fra", "syd"], isolates: 2 });
});
afterAll(() => cdn.close());

/** Pages in every store, counts, purges, a token of the log, and time that has passed. */
async function use(): Promise<void> {
  await cdn.get("/about", { from: "fra" });
  await cdn.get("/about", { from: "syd", isolate: 1 });
  cdn.origin.reply("/about", { ...page, body: "v2" });
  cdn.origin.setDefaultReply(page);
  await cdn.get("/other");
  await cdn.settle(await cdn.purger.purgeTags("nothing"));
}

/** What a new CDN shows. */
async function expectNew(): Promise<void> {
  expect(cdn.origin.seen).toEqual([]);
  expect(await cdn.purger.purges()).toEqual({ purges: [], next: null });
  for (const region of cdn.regions) {
    expect((await cdn.stats(region, 1)).answers).not.toHaveProperty("HIT", 1);
    expect(cdn.pop(region).now).toBe(cdn.now);
  }
  await expect(cdn.get("/about", { from: "syd", isolate: 1 })).toMiss();
  await expect(cdn.get("/about", { from: "syd", isolate: 1 })).toHit();
  await expect(cdn.get("/about", { from: "syd" })).toHit();
  expect((await cdn.get("/about", { from: "fra" })).body).toBe("v1");
  expect((await cdn.get("/other")).status).toBe(404);
  const receipt = await cdn.purger.purgeUrls("/about");
  expect(receipt.seq).toBe(1);
  await cdn.settle(receipt);
  await expect(cdn.get("/about", { from: "syd", isolate: 1 })).toMiss();
}

const FAULTS: Readonly<Record<string, () => unknown>> = {
  "nothing that is wrong": () => undefined,
  "a PoP that refuses connections": () => cdn.pop("syd").partition(),
  "a PoP that is cut from the log": () => cdn.pop("syd").cutFromLog(),
  "a log that is stopped": () => cdn.log.stop(),
  "a clock that is wrong": () => cdn.skew("syd", "-1h"),
  "answers that will be lost": () => cdn.pop("syd").loseAnswers({ origin: 9, log: 9 }),
  "an origin that is down": () => cdn.origin.goDown(),
};

const TITLE = "reset() makes a new CDN of one with %s";
const IN_THE_GATE = 1;

test.each(Object.entries(FAULTS).slice(0, IN_THE_GATE))(TITLE, isNewAgain);
test.each(Object.entries(FAULTS).slice(IN_THE_GATE))(TITLE, { tags: ["deep"] }, isNewAgain);

async function isNewAgain(_: string, fail: () => unknown): Promise<void> {
  const before = cdn.now;
  await use();
  await fail();
  await cdn.reset();
  expect(cdn.now).toBeGreaterThan(before); // time does not go back
  await expectNew();
  await cdn.reset();
}

test("reset() ends requests that wait for the origin", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/held", { ...page, hold: "for ever" });
  const answer = cdn.get("/held");
  await cdn.origin.waitUntilSeen("/held", 1);
  await cdn.reset();
  expect((await answer).status).toBe(502);
  expect(() => cdn.origin.release("for ever")).toThrow("none is held back");
  await expectNew();
});

test("reset() and close() end while an origin by URL never ends its answer", async () => {
  const backend = createServer(({ url }, response) => {
    response.writeHead(200, { "cache-control": "max-age=60" });
    if (url === "/whole") response.end("v1");
    else response.write("a");
  });
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  const { port } = backend.address() as AddressInfo;
  const stalled = await startCdn({ site: {}, origin: `http://127.0.0.1:${port}` });
  await expect(stalled.get("/whole")).toBeStored();
  const asked = once(backend, "request");
  const answer = stalled.get("/stalled");
  await asked;
  await stalled.reset();
  expect(await answer).toMatchObject({ body: "a", cutOff: true });
  await expect(stalled.get("/whole")).toMiss();

  const askedAgain = once(backend, "request");
  const ended = stalled.get("/stalled");
  await askedAgain;
  const resetting = stalled.reset();
  await stalled.close();
  await resetting;
  expect(await ended).toMatchObject({ cutOff: true });
  backend.closeAllConnections();
  backend.close();
});
