import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import "tidemark/local/matchers";
import { page } from "./pages.ts";

/** A lease and the allowance for clocks: after this time no PoP may serve a page that a POST invalidated. */
const BOUND = "1250ms";

let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({ site: {}, regions: ["fra", "syd"], isolates: 2 });
});

afterAll(() => cdn.close());

/** Sends a POST through Frankfurt, and waits until the invalidation is in the log. */
async function post(path: string): Promise<void> {
  expect(await cdn.request(path, { from: "fra", method: "POST", body: "x" })).toMatchObject({ body: "done" });
  await cdn.pop("fra").finishWork();
}

test("a page that a POST in one PoP invalidates is gone from the other PoPs within a lease", async () => {
  cdn.origin.reply("/a", page("v1"), page("v1"), { body: "done" }, page("v2"));
  await cdn.get("/a", { from: "fra" });
  await cdn.get("/a", { from: "syd" });
  await post("/a");
  expect(await cdn.get("/a", { from: "fra" })).toMatchObject({ body: "v2" });
  await expect(cdn.get("/a", { from: "syd" })).toHit(); // it cannot know yet
  await cdn.advance(BOUND);
  expect(await cdn.get("/a", { from: "syd" })).toMatchObject({ body: "v2" });
  await expect(cdn.get("/a", { from: "syd", isolate: 1 })).toNeverShow("v1");
});

test("a slow fill that began in one PoP before a POST in another is not served after the bound", async () => {
  cdn.origin.reply("/slow", { ...page("v1"), hold: "slow" }, { body: "done" }, page("v2"));
  const early = cdn.get("/slow", { from: "syd" });
  await cdn.origin.waitUntilSeen("/slow", 1);
  await post("/slow");
  cdn.origin.release("slow");
  expect(await early).toMatchObject({ xCache: "MISS", body: "v1" }); // requested before the POST
  await cdn.advance(BOUND);
  expect(await cdn.get("/slow", { from: "syd" })).toMatchObject({ body: "v2" });
  await expect(cdn.get("/slow", { from: "syd", isolate: 1 })).toHit();
  await expect(cdn.get("/slow", { from: "syd", isolate: 1 })).toNeverShow("v1");
});

test("a slow fill that ends after the bound is stored by no isolate", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/slower", { ...page("v1"), hold: "slower" }, { body: "done" }, page("v2"));
  const early = cdn.get("/slower", { from: "syd" });
  await cdn.origin.waitUntilSeen("/slower", 1);
  await post("/slower");
  await cdn.advance(BOUND);
  expect(await cdn.get("/slower", { from: "syd", isolate: 1 })).toMatchObject({ body: "v2" });
  cdn.origin.release("slower");
  expect(await early).toMatchObject({ body: "v1" });
  await cdn.pop("syd").finishWork();
  await expect(cdn.get("/slower", { from: "syd" })).toNeverShow("v1");
  await expect(cdn.get("/slower", { from: "syd", isolate: 1 })).toNeverShow("v1");
});

test("the URL in Location and the groups in Cache-Group-Invalidation are invalidated in every PoP", async () => {
  const inGroup = (body: string) => ({ fields: { "cache-control": "max-age=7200", "cache-groups": '"menu"' }, body });
  cdn.origin.reply("/named", page("v1"), page("v2"));
  cdn.origin.reply("/member", inGroup("v1"), inGroup("v2"));
  const fields = { location: "/named", "cache-group-invalidation": '"menu"' };
  cdn.origin.reply("/save", { status: 201, fields, body: "done" });
  await cdn.get("/named", { from: "syd" });
  await cdn.get("/member", { from: "syd" });
  await post("/save");
  await cdn.advance(BOUND);
  expect(await cdn.get("/named", { from: "syd" })).toMatchObject({ body: "v2" });
  expect(await cdn.get("/member", { from: "syd" })).toMatchObject({ body: "v2" });
});

test("a PoP that cannot reach the log serves nothing that a POST invalidated, once its lease is over", {
  tags: ["deep"],
}, async () => {
  cdn.origin.reply("/apart", page("v1"), { body: "done" }, page("v2"));
  await cdn.get("/apart", { from: "syd" });
  await cdn.pop("syd").cutFromLog();
  await post("/apart");
  await cdn.advance(BOUND);
  await expect(cdn.get("/apart", { from: "syd" })).toNeverShow("v1");
  await cdn.pop("syd").reconnectToLog();
});
