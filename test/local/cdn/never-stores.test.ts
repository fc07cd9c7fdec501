import "tidemark/local/matchers";
import { startCdn } from "tidemark/local";
import { describe, expect, test } from "vitest";

const NO_STORE = { fields: { "cache-control": "no-store" } };

describe("that a site keeps its paths out of the cache", () => {
  test("does not follow from what the origin says of one of them", async () => {
    await using cdn = await startCdn({ site: {}, origin: { "/admin/login": NO_STORE } });
    await expect(cdn).not.toNeverStore("/admin/*");
  });

  test("is seen of the paths of the origin's script as well, with their replies", async () => {
    const site = { routes: [{ match: "/admin/:page", pass: true }] };
    const page = { fields: { "cache-control": "public, max-age=60" } };
    await using cdn = await startCdn({ site, origin: { "/admin/deep/page": page } });
    await expect(cdn).not.toNeverStore("/admin/deep*");
  });

  test("holds for a route's own pattern, also one with a part that may be absent", async () => {
    const match = "/admin{/*}?";
    await using cdn = await startCdn({ site: { routes: [{ match, pass: true }] }, origin: {} });
    await expect(cdn).toNeverStore(match);
    expect(cdn.origin.targets).toEqual([]);
  });
});
