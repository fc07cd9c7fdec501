import { expect, test } from "vitest";
import type { Origin } from "../../worker/ports/origin.ts";
import { fromWebResponse } from "../../worker/runtime/web-answer.ts";
import type { SharedTier } from "../../worker/store/tiered-store.ts";
import { HOST } from "../engine/scenario.ts";
import { PopUnderTest } from "../flow/pop-under-test.ts";

const PAGE = "0123456789";
const REFRESHED = { url: `http://${HOST}/a`, status: 200, xCache: "BYPASS" };
const JSON_POST = { authorization: "Bearer token", "content-type": "application/json" };

/** Answers each request with a page of these fields. */
function originWith(fields: Readonly<Record<string, string>>): Origin {
  const headers = { "content-length": `${PAGE.length}`, ...fields };
  return {
    url: "http://origin.test",
    fetch: async () => ({ kind: "answered", response: fromWebResponse(new Response(PAGE, { headers })) }),
  };
}

/** Purges and refreshes `/a` at an edge that stores pages apart from their heads if they have more than so many bytes. */
async function refreshed(origin: Origin, sharedTier: Partial<SharedTier>, storeBytes = 1000): Promise<unknown> {
  const pop = new PopUnderTest();
  const ask = pop.start(origin, {
    site: { limits: { storeBytes } },
    sharedTier,
    tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
  });
  const answer = await pop.head(ask("/_tidemark/purge", JSON_POST, { urls: ["/a"], refresh: true }));
  const receipt = JSON.parse(await pop.text(answer));
  await pop.finish();
  return receipt.refreshed;
}

const fails = () => Promise.reject(new Error("Too many subrequests by single Worker invocation."));

test.each<[string, Readonly<Record<string, string>>, Partial<SharedTier>, number?]>([
  ["one of few bytes", {}, { put: fails }],
  ["one of several variants", { vary: "accept-language" }, { put: fails }],
  ["a large one, because of its body", {}, { putBody: fails }, 5],
  ["a large one, because of its head", {}, { put: fails }, 5],
])("the receipt of a refresh names a page that could not be stored: %s", async (_, fields, sharedTier, storeBytes) => {
  const origin = originWith({ "cache-control": "max-age=60", ...fields });
  expect(await refreshed(origin, {}, storeBytes)).toEqual([REFRESHED]);
  const error = "the page could not be stored here";
  expect(await refreshed(origin, sharedTier, storeBytes)).toEqual([{ ...REFRESHED, error }]);
});

test("the receipt of a refresh names no error for a page that is not to be stored", async () => {
  expect(await refreshed(originWith({ "cache-control": "private" }), { put: fails })).toEqual([REFRESHED]);
});

test("the receipt of a refresh waits for a store that is silent for five seconds", async () => {
  const pop = new PopUnderTest();
  const ask = pop.start(originWith({ "cache-control": "max-age=60" }), {
    sharedTier: { put: () => new Promise(() => undefined) },
    tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
  });
  const asked = pop.head(ask("/_tidemark/purge", JSON_POST, { urls: ["/a"], refresh: true }));
  await pop.scheduler.advance(5000);
  expect(JSON.parse(await pop.text(await asked)).refreshed).toEqual([REFRESHED]);
});

test("a refresh asks the origin for five pages at a time, and for all of them in the end", async () => {
  const pop = new PopUnderTest();
  const urls = Array.from({ length: 12 }, (_, page) => `/${page}`);
  const asked: (() => void)[] = [];
  const origin: Origin = {
    url: "http://origin.test",
    async fetch() {
      await new Promise<void>((resolve) => asked.push(resolve));
      return { kind: "answered", response: fromWebResponse(new Response(PAGE)) };
    },
  };
  const ask = pop.start(origin, { tokens: { check: async () => ({ kind: "allowed", name: "test" }) } });
  const receipt = pop.head(ask("/_tidemark/purge", JSON_POST, { urls, refresh: true }));
  const turns: number[] = [];
  for (let answered = 0; answered < urls.length; answered += turns.at(-1)!) {
    await pop.scheduler.advance(1);
    turns.push(asked.length);
    for (const answer of asked.splice(0)) answer();
  }
  expect([turns, JSON.parse(await pop.text(await receipt)).refreshed.length]).toEqual([[5, 5, 2], 12]);
});

test("a page on which the edge fails leaves the purge and the other pages as they are", async () => {
  const pop = new PopUnderTest();
  const page = originWith({ "cache-control": "max-age=60" });
  const origin: Origin = {
    url: page.url,
    fetch: (request) => (request.pathAndQuery === "/b" ? Promise.reject("a bug") : page.fetch(request)),
  };
  const ask = pop.start(origin, { tokens: { check: async () => ({ kind: "allowed", name: "test" }) } });
  const receipt = await pop.head(ask("/_tidemark/purge", JSON_POST, { urls: ["/b", "/a"], refresh: true }));
  expect([receipt.status, JSON.parse(await pop.text(receipt))]).toMatchObject([
    200,
    {
      seq: 1,
      refreshed: [{ url: `http://${HOST}/b`, status: 502, error: "the edge failed on this page" }, REFRESHED],
    },
  ]);
});
