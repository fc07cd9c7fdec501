import { afterEach, describe, expect, test } from "vitest";
import { whyTokenIsNeeded } from "../../../worker/control/vendor-apis/purge-addresses.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { CLIENT_ADDRESS } from "../../engine/beginning.ts";
import { HOST } from "../../engine/scenario.ts";
import { newestPurge, publishPages, refetched } from "./door-checks.ts";
import { DOOR_TOKENS, type DoorEdge, PLATFORMS } from "./door-edges.ts";

/** The engines' visitors come from here. */
const HERE = CLIENT_ADDRESS;
const ELSEWHERE = "192.0.2.8";

let edge: DoorEdge | undefined;
afterEach(async () => {
  await edge?.stop();
  edge = undefined;
});

async function open(site: Partial<SiteInput>, platform = "tidemark serve"): Promise<DoorEdge> {
  edge = await PLATFORMS[platform]!(site);
  await publishPages(edge);
  return edge;
}

/** Fields that proxies add. */
const PROXIES = ["forwarded", "via", "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "cf-connecting-ip"];

const PURGE = { method: "PURGE", path: "/about" };

describe("on one's own server, from an address of the site's", () => {
  const site = { doors: { varnish: { from: [ELSEWHERE, HERE] } } };

  test("a page is purged without a token, and the trail has the address", async () => {
    await open(site);
    expect((await edge!.ask(PURGE)).status).toBe(200);
    expect(await newestPurge(edge!)).toMatchObject({ by: `address ${HERE}`, items: [`https://${HOST}/about`] });
    expect(await refetched(edge!)).toContain("/about");
  });

  test("tags and bans are accepted", async () => {
    await open(site);
    expect((await edge!.ask({ ...PURGE, fields: { xkey: "shop" } })).status).toBe(200);
    expect(await newestPurge(edge!)).toMatchObject({ items: ["tag:shop"] });
    const fields = { "x-host": ".*", "x-url": ".*", "x-content-type": ".*" };
    expect((await edge!.ask({ method: "BAN", path: "/", fields })).status).toBe(200);
    expect(await newestPurge(edge!)).toMatchObject({ items: ["everything"] });
  });

  test("if a token is sent, it counts instead of the address", async () => {
    await open(site);
    const authorization = "Bearer a-token-that-nobody-knows-0000000";
    expect((await edge!.ask({ ...PURGE, fields: { authorization } })).status).toBe(405);
    expect(await refetched(edge!)).toEqual([]);
  });

  test.each(PROXIES)("a call with %s needs a token, because anybody may have sent it", async (name) => {
    await open(site);
    const answer = await edge!.ask({ ...PURGE, fields: { [name]: HERE } });
    expect(answer).toMatchObject({
      status: 405,
      body: expect.stringContaining(`a call with ${name} does not come from`),
    });
    expect(await refetched(edge!)).toEqual([]);
    const authorization = `Bearer ${DOOR_TOKENS.varnish[0]}`;
    expect((await edge!.ask({ ...PURGE, fields: { [name]: HERE, authorization } })).status).toBe(200);
  });

  // A script of the site may run in a browser at that address: an operator's, or one that makes pictures of pages.
  test.each(["origin", "sec-fetch-site"])("a call with %s needs a token, because a script sent it", async (name) => {
    await open(site);
    const fields = { [name]: name === "origin" ? `https://${HOST}` : "same-origin" };
    for (const call of [PURGE, { method: "BAN", path: "/" }]) {
      const answer = await edge!.ask({ ...call, fields: { ...fields, "x-url": ".*" } });
      expect(answer).toMatchObject({ status: 405, body: expect.stringContaining(`a call with ${name} comes from a`) });
    }
    expect(await refetched(edge!)).toEqual([]);
    const authorization = `Bearer ${DOOR_TOKENS.varnish[0]}`;
    expect((await edge!.ask({ ...PURGE, fields: { ...fields, authorization } })).status).toBe(200);
  });

  test("the other doors and the control plane still need a token", async () => {
    await open({ doors: { ...site.doors, fastly: { service: "S" } } });
    expect((await edge!.ask({ ...PURGE, fields: { "fastly-key": "" } })).status).not.toBe(200);
    expect((await edge!.ask({ method: "PURGE", path: "/_tidemark/doors/varnish/about" })).status).toBe(405);
    const body = '{"everything":true}';
    expect((await edge!.ask({ method: "POST", path: "/_tidemark/purge", body })).status).toBe(401);
    expect(await refetched(edge!)).toEqual([]);
  });
});

test.each<[string, Partial<SiteInput>]>([
  ["another address", { doors: { varnish: { from: [ELSEWHERE] } } }],
  ["a trusted proxy", { doors: { varnish: { from: [HERE] } }, trustedProxies: ["192.0.2.0/24"] }],
  ["a site that names no addresses", { doors: { varnish: true } }],
])("from %s a purge needs a token", async (_, site) => {
  await open(site);
  expect((await edge!.ask(PURGE)).status).toBe(405);
  expect(await refetched(edge!)).toEqual([]);
});

test("if the platform tells no address, every call needs a token", async () => {
  await open({ doors: { varnish: { from: [HERE] } } }, "the memory engine");
  const answer = await edge!.ask(PURGE);
  expect(answer).toMatchObject({ status: 405, body: expect.stringContaining("this platform does not tell addresses") });
});

test("one address has several forms", () => {
  const addresses = { from: [readNetwork("::ffff:192.0.2.7")!, readNetwork("2001:db8::1")!], proxies: [] };
  expect(whyTokenIsNeeded("192.0.2.7", new Headers(), addresses)).toBeNull();
  expect(whyTokenIsNeeded("2001:DB8:0::1", new Headers(), addresses)).toBeNull();
  expect(whyTokenIsNeeded("2001:db8::2", new Headers(), addresses)).not.toBeNull();
});

test.each([
  [{ from: ["10.0.0.0/8"] }, /doors\.varnish\.from\[0\].*is not one address/],
  [{ from: ["localhost"] }, /doors\.varnish\.from\[0\].*is not one address/],
  [{ from: [] }, /doors\.varnish\.from/],
  [{ form: ["192.0.2.7"] }, /doors\.varnish.*form/],
  ["192.0.2.7", /doors\.varnish.*can only be true, or/],
])("refuses %j", (varnish, words) => {
  const input = { origin: "http://origin.test", hosts: [HOST], doors: { varnish } } as unknown as SiteInput;
  expect(() => compileSite(input, {})).toThrow(words);
});
