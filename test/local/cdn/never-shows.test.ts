import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { assertNeverShows, type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "tidemark/local/matchers";
import { page } from "./pages.ts";

const FIELDS = { "cache-control": "max-age=3600", etag: '"1"' };

let cdn: Cdn;

beforeAll(async () => {
  const about = { fields: FIELDS, body: "v1" };
  cdn = await startCdn({ site: {}, origin: { "/about": about, "/gone": { status: 204 } } });
});

afterAll(() => cdn.close());

describe("that a page never shows a text", () => {
  test("is claimed of the text of a compressed page", async () => {
    const encoders = {
      gzip: gzipSync,
      br: brotliCompressSync,
      "gzip, br": (text: string) => brotliCompressSync(gzipSync(text)),
    };
    const backend = createServer((request, response) => {
      const accepted = request.headers["accept-encoding"] as "gzip" | "br";
      const coding = request.url === "/twice" ? "gzip, br" : accepted;
      response.writeHead(200, { ...FIELDS, "content-encoding": coding, vary: "accept-encoding" });
      response.end(encoders[coding]("Lanterns"));
    });
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
    const { port } = backend.address() as AddressInfo;
    await using before = await startCdn({ site: {}, origin: `http://127.0.0.1:${port}` });
    for (const coding of ["gzip", "br"]) {
      const asked = { fields: { "accept-encoding": coding } };
      expect(await before.get("/a", asked)).toMatchObject({
        body: "Lanterns",
        fields: { "content-encoding": coding },
      });
      await expect(before.get("/a", asked)).not.toNeverShow("Lanterns");
      await expect(before.get("/a", asked)).toNeverShow("Harbour lights");
    }
    const twice = await before.get("/twice", { fields: { "accept-encoding": "gzip, br" } });
    expect(twice).toMatchObject({ body: "Lanterns", fields: { "content-encoding": "gzip, br" } });
    backend.close();
  });

  test("is claimed of a body as it is if it is not in the coding that it names", async () => {
    for (const coding of ["gzip", "br", "dcz"]) {
      cdn.origin.reply(`/${coding}`, { fields: { "content-encoding": coding }, body: "v1" });
      const asked = { fields: { "accept-encoding": coding } };
      await expect(cdn.get(`/${coding}`, asked)).not.toNeverShow("v1");
    }
  });

  test("does not follow from an answer without the whole page, which is refused", async () => {
    const refusal = new TypeError(
      "the answers to a HEAD, a 206, a 304 and a 416 may lack the page or parts of it: send a GET without Range or a condition",
    );
    await cdn.get("/about");
    const unchanged = { fields: { "if-none-match": '"1"' } };
    const part = { fields: { range: "bytes=0-0" } };
    const noPart = { fields: { range: "bytes=9-" } };
    for (const request of [{ method: "HEAD" }, unchanged, part, noPart]) {
      await expect(expect(cdn.get("/about", request)).toNeverShow("v1")).rejects.toThrow(refusal);
      await expect(expect(cdn.get("/about", request)).not.toNeverShow("v1")).rejects.toThrow(refusal);
    }
    await expect(cdn.get("/gone")).toNeverShow("v1");
    await expect(cdn.get("/about", { fields: { range: "bytes=0-1" } })).not.toNeverShow("v1");
  });

  test("does not follow from a body that was cut off before the text, and neither does the opposite", async () => {
    cdn.origin.reply("/cut", { body: "before v1", cutAfterBytes: 6 });
    const message =
      'cannot tell whether "v1" is shown: the connection ended before the body did\n\n  request            GET /cut from local';
    expect(await cdn.get("/cut")).toMatchObject({ status: 200, body: "before", cutOff: true });
    await expect(expect(cdn.get("/cut")).toNeverShow("v1")).rejects.toThrow(message);
    await expect(expect(cdn.get("/cut")).not.toNeverShow("v1")).rejects.toThrow(message);
    await expect(cdn.get("/cut")).not.toNeverShow("before");
  });

  test("is claimed of a request that may change something without sending it again", async () => {
    cdn.origin.reply("/order", { body: "thanks" });
    await expect(cdn.request("/order", { method: "POST", body: "one" })).toNeverShow("v1");
    expect(cdn.origin).toHaveSeen("/order", 1);
  });

  test.each([undefined, "", 1])("is refused without a text: %j", async (text) => {
    const refusal = new TypeError(
      `this takes the text that is not to be shown, like "v1" (got ${JSON.stringify(text)})`,
    );
    await expect(assertNeverShows(cdn.get("/about"), text as string)).rejects.toThrow(refusal);
  });

  test("does not follow from an error of the edge, and neither does the opposite", async () => {
    cdn.origin.reply("/failing", { failure: "reset" });
    const message =
      'cannot tell whether "v1" is shown: the edge itself answered 502\n\n  request            GET /failing from local';
    await expect(assertNeverShows(cdn.get("/failing"), "v1")).rejects.toMatchObject({
      name: "AssertionError",
      message: expect.stringContaining(message),
    });
    await expect(expect(cdn.get("/failing")).toNeverShow("v1")).rejects.toThrow(message);
    await expect(expect(cdn.get("/failing")).not.toNeverShow("v1")).rejects.toThrow(message);
    cdn.origin.reply("/failing", { ...page("sorry"), status: 502 });
    await expect(cdn.get("/failing")).toNeverShow("v1");
    const refused = 'cannot tell whether "v1" is shown: the edge itself answered 400';
    await expect(expect(cdn.get("/%zz")).toNeverShow("v1")).rejects.toThrow(refused);
  });
});

test("an answer that says that nothing is stored shows that", async () => {
  cdn.origin.reply("/unstored", page("v1"));
  const unstored = () => cdn.get("/unstored", { fields: { "cache-control": "only-if-cached" } });
  await expect(unstored()).not.toHit();
  await expect(unstored()).not.toBeStored();
  // It is the last member that the edge has added.
  const headers = { "cache-status": "origin; detail=only-if-cached, tidemark; detail=origin-unreachable" };
  const failed = new Response("", { status: 502, headers });
  await expect(expect(failed).not.toHit()).rejects.toThrow("cannot tell whether a page is a hit");
});

test("no claim about a page, and no opposite of one, follows from an error of the edge", async () => {
  cdn.origin.reply("/broken", { failure: "reset" });
  const failing = () => expect(cdn.get("/broken"));
  const cannotTell = "cannot tell whether ";
  const because = ": the edge itself answered 502\n\n  request            GET /broken from local";
  for (const claim of [failing, () => failing().not]) {
    await expect(claim().toHit()).rejects.toThrow(`${cannotTell}a page is a hit${because}`);
    await expect(claim().toMiss()).rejects.toThrow(`${cannotTell}a page is a miss${because}`);
    await expect(claim().toBeStored()).rejects.toThrow(`${cannotTell}the answer is stored${because}`);
    await expect(claim().toHaveAgeAbout(1)).rejects.toThrow(/^cannot tell whether a page has an Age of 1 s, /);
  }
  await expect(expect(fetch(`${cdn.url()}/broken`)).not.toHit()).rejects.toThrow(
    `${cannotTell}a page is a hit: the edge itself answered 502\n\n  response           502 from `,
  );
});
