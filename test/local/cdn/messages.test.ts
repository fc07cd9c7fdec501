import { assertHit, assertNeverStores, assertSeen, type Cdn, type CdnAnswer, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import "tidemark/local/matchers";
import { page } from "./pages.ts";

let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: { "/about": page("v1"), "/about?ref=1": page("v1"), "/private": { body: "mine" }, "/admin/a": page("x") },
    regions: ["fra", "syd"],
  });
  await cdn.get("/about?ref=1", { from: "syd" });
});

afterAll(() => cdn.close());

async function messageOf(expectation: () => Promise<void> | void): Promise<string> {
  try {
    await expectation();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("It held.");
}

test("the message for a miss that should be a hit names the key and the nearest known key", async () => {
  expect(await messageOf(() => expect(cdn.get("/about")).toHit())).toMatchInlineSnapshot(`
    "expected a hit, got MISS

      request            GET /about from fra
      answer             200, X-Cache MISS, "v1"
      Cache-Status       tidemark; fwd=uri-miss; fwd-status=200; stored
      key                http://www.example.test/about, now stored in fra
      nearest known key  http://www.example.test/about?ref=1, stored in syd
      the origin saw     /about once; others: /about?ref=1 once"
  `);
});

test("the message for a hit that should be a miss names the regions that store it", async () => {
  expect(await messageOf(() => expect(cdn.get("/about")).toMiss())).toMatchInlineSnapshot(`
    "expected a miss, got HIT

      request            GET /about from fra
      answer             200, X-Cache HIT, "v1"
      Cache-Status       tidemark; hit; ttl=7200
      key                http://www.example.test/about, now stored in fra
      nearest known key  http://www.example.test/about?ref=1, stored in syd
      the origin saw     /about once; others: /about?ref=1 once"
  `);
});

test("the message for a hit that should be anything else", async () => {
  expect(await messageOf(() => expect(cdn.get("/about")).not.toHit())).toMatchInlineSnapshot(`
    "expected anything but a hit, got HIT

      request            GET /about from fra
      answer             200, X-Cache HIT, "v1"
      Cache-Status       tidemark; hit; ttl=7200
      key                http://www.example.test/about, now stored in fra
      nearest known key  http://www.example.test/about?ref=1, stored in syd
      the origin saw     /about once; others: /about?ref=1 once"
  `);
});

test("the message for a page that should be stored says why it is not", async () => {
  expect(await messageOf(() => expect(cdn.get("/private")).toBeStored())).toMatchInlineSnapshot(`
    "expected the answer to be stored, but the same request again was MISS

      request            GET /private from fra
      answer             200, X-Cache MISS, "mine"
      Cache-Status       tidemark; fwd=uri-miss; fwd-status=200; detail=no-freshness
      key                http://www.example.test/private
      nearest known key  http://www.example.test/about, stored in fra
      the origin saw     /private 2 times; others: /about?ref=1 once, /about once"
  `);
});

test("the message for a bypass has no key", async () => {
  expect(await messageOf(() => expect(cdn.get("/admin/a")).toBeStale())).toMatchInlineSnapshot(`
    "expected a stale answer, got BYPASS

      request            GET /admin/a from fra
      answer             200, X-Cache BYPASS, "x"
      Cache-Status       tidemark; fwd=bypass; fwd-status=200
      key                none: not looked up
      the origin saw     /admin/a once; others: /about?ref=1 once, /about once, /private 2 times"
  `);
});

test("the message for another method has no key", async () => {
  const posted = cdn.request("/admin/a", { method: "POST", body: "x" });
  expect(await messageOf(() => expect(posted).toMiss())).toMatchInlineSnapshot(`
    "expected a miss, got BYPASS

      request            POST /admin/a from fra
      answer             200, X-Cache BYPASS, "x"
      Cache-Status       tidemark; fwd=method; fwd-status=200
      key                none: a POST is not looked up
      the origin saw     /admin/a 2 times; others: /about?ref=1 once, /about once, /private 2 times"
  `);
});

test("the message for an answer that the edge made itself has its status", async () => {
  const refused = cdn.get("/%zz");
  expect(await messageOf(() => expect(refused).toBypass())).toMatchInlineSnapshot(`
    "cannot tell whether a page is a bypass: the edge itself answered 400

      request            GET /%zz from fra
      answer             400, X-Cache none, "Tidemark refused this request: the path has a % without two…"
      Cache-Status       tidemark; detail=url-refused
      key                none: not looked up
      the origin saw     /%zz never; others: /about?ref=1 once, /about once, /private 2 times, /admin/a 2 times"
  `);
});

test("the message for a wrong Age has both ages", async () => {
  await cdn.advance("90s");
  expect(await messageOf(() => expect(cdn.get("/about")).toHaveAgeAbout(60))).toMatchInlineSnapshot(`
    "expected an Age of 60 s, give or take 1 s, got 90 s

      request            GET /about from fra
      answer             200, X-Cache HIT, "v1"
      Cache-Status       tidemark; hit; ttl=7110
      key                http://www.example.test/about, now stored in fra
      nearest known key  http://www.example.test/about?ref=1, stored in syd
      the origin saw     /about once; others: /about?ref=1 once, /private 2 times, /admin/a 2 times"
  `);
});

test("the message for a version that should not be shown names the answer that shows it", async () => {
  expect(await messageOf(() => expect(cdn.get("/about")).toNeverShow("v1"))).toMatchInlineSnapshot(`
    "expected never to see "v1", but it was shown

      request            GET /about from fra
      answer             200, X-Cache HIT, "v1"
      Cache-Status       tidemark; hit; ttl=7110
      key                http://www.example.test/about, now stored in fra
      nearest known key  http://www.example.test/about?ref=1, stored in syd
      the origin saw     /about once; others: /about?ref=1 once, /private 2 times, /admin/a 2 times"
  `);
});

test("the message for a path that should not be stored names the path and the visitor", async () => {
  expect(await messageOf(() => expect(cdn).toNeverStore("/account/*"))).toMatchInlineSnapshot(`
    "expected nothing under /account/* to be stored, but /account/ was when a guest requested it

      request            GET /account/ from fra
      answer             200, X-Cache MISS, "only for some"
      Cache-Status       tidemark; fwd=uri-miss; fwd-status=200; stored
      key                http://www.example.test/account/, now stored in fra
      nearest known key  http://www.example.test/about, stored in fra
      the origin saw     /account/ once; others: /about?ref=1 once, /about once, /private 2 times, /admin/a 2 times"
  `);
});

test("the message for an origin that was asked too often has its record", async () => {
  expect(await messageOf(() => expect(cdn.origin).toHaveSeen("/private", 1))).toMatchInlineSnapshot(`
    "expected the origin to have been asked for /private once

      the origin saw     /private 2 times; others: /about?ref=1 once, /about once, /admin/a 2 times, /account/ once"
  `);
});

test("claims that hold pass, and a plain assertion fails with the same message", async () => {
  cdn.origin.setDefaultReply({ body: "by default" });
  await expect(cdn).toNeverStore("/admin/*");
  await assertNeverStores(cdn, "/admin/*");
  expect((await cdn.get("/elsewhere")).body).toBe("by default");
  cdn.origin.setDefaultReply(undefined);
  await expect(cdn.get("/admin/a")).toBypass();
  await expect(cdn.get("/about")).toBeStored();
  expect(await messageOf(() => assertHit(cdn.get("/admin/a")))).toContain("expected a hit, got BYPASS");
});

test("a stale answer is recognised by its X-Cache", async () => {
  for (const xCache of ["STALE", "UPDATING"]) {
    const stale = { ...(await cdn.get("/about")), xCache } satisfies CdnAnswer;
    await expect(stale).toBeStale();
    await expect(stale).not.toHit();
  }
});

test("of an origin that was asked for many paths the message names eight others", async () => {
  const paths = Array.from({ length: 9 }, (_, number) => `/many/${number}`);
  for (const path of paths) await cdn.get(path);
  const others = new Set(cdn.origin.seen.map(({ target }) => target)).size - 1;
  const message = await messageOf(() => assertSeen(cdn.origin, "/many/8", 2));
  expect(message).toMatch(/^expected the origin to have been asked for \/many\/8 2 times\n/);
  expect(message).toMatch(new RegExp(`/many/8 once; others: (?:/[^,]+, ){8}and ${others - 8} more$`));
});

test("an answer can be judged after its CDN was closed, with the message as far as it is known", async () => {
  const closed = await startCdn({ site: {}, origin: { "/about": page("v1") } });
  const answer = await closed.get("/about");
  await closed.close();
  await expect(answer).toMiss();
  expect(await messageOf(() => expect(answer).toHit())).toMatchInlineSnapshot(`
    "expected a hit, got MISS

      request            GET /about from local
      answer             200, X-Cache MISS, "v1"
      Cache-Status       tidemark; fwd=uri-miss; fwd-status=200; stored
      the origin saw     /about once"
  `);
});
