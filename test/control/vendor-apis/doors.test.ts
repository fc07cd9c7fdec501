import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileSite } from "../../../worker/site/site.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { inGate } from "../../suite/depth.ts";
import {
  CALLS,
  checkAuditTrail,
  checkCall,
  checkLargeBody,
  checkOtherCoding,
  newestPurge,
  publishPages,
  refetched,
} from "./door-checks.ts";
import { DOOR_TOKENS, type DoorEdge, EVERY_DOOR, PLATFORMS } from "./door-edges.ts";
import { CLOUDFLARE, FASTLY, NETLIFY, VERCEL } from "./recorded-calls.ts";

/** What a call means is decided in one place, so that of each vendor a few show that a platform hands calls over. */
const OF_EACH_VENDOR = 2;
const shown = callsAt((at) => at < OF_EACH_VENDOR);
const others = callsAt((at) => at >= OF_EACH_VENDOR);

function callsAt(isMeant: (at: number) => boolean) {
  return Object.entries(CALLS).flatMap(([vendor, cases]) =>
    cases.filter((_, at) => isMeant(at)).map((each) => ({ vendor, ...each })),
  );
}

/** A worker that is built for its site has the same doors, if it has any. */
const DEPTHS: Readonly<Record<string, { readonly shown: string[]; readonly others: string[] }>> = {
  "the memory engine": { shown: [], others: [] },
  "the Workers runtime, built for its site": { shown: ["deep"], others: ["deep"] },
};

describe.each(Object.entries(PLATFORMS))("doors on %s", (platform, start) => {
  let edge: DoorEdge;
  beforeAll(async () => {
    edge = await start({ doors: EVERY_DOOR });
    await publishPages(edge);
  }, 60_000);
  afterAll(() => edge.stop());

  const TITLE = "in $vendor's form: $name: $status";
  const tags = DEPTHS[platform] ?? { shown: ["gate"], others: ["deep"] };
  test.each(shown)(TITLE, { tags: tags.shown }, (each) => checkCall(edge, each));
  test.each(others)(TITLE, { tags: tags.others }, (each) => checkCall(edge, each));

  test("a purge is in the audit trail under its token's name, with the door as its reason", () =>
    checkAuditTrail(edge));

  test("a soft purge stays soft", async () => {
    const fields = { authorization: `Bearer ${DOOR_TOKENS.varnish[0]}`, "xkey-softpurge": "shop" };
    await edge.ask({ method: "PURGE", path: "/", fields });
    expect(await newestPurge(edge)).toMatchObject({ mode: "soft", items: ["tag:shop"] });
  });

  test("a PURGE over http is in the trail as https, which stands for both and can be purged again", async () => {
    const fields = { authorization: `Bearer ${DOOR_TOKENS.varnish[0]}` };
    await edge.ask({ method: "PURGE", path: "/about", fields });
    expect(await newestPurge(edge)).toMatchObject({ items: [`https://${HOST}/about`] });
  });

  test.each(Object.entries(DOOR_TOKENS))("the token of %s is valid for nothing else", async (name, [token]) => {
    const fields = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const purge = { method: "POST", path: "/_tidemark/purge", fields, body: '{"everything":true}' };
    expect((await edge.ask(purge)).status).toBe(403);
    expect((await edge.ask({ path: "/_tidemark/stats", fields })).status).toBe(403);
    expect((await edge.ask({ path: "/about", fields: { "tidemark-refresh": token } })).status).toBe(403);
    const page = await edge.ask({ method: "PURGE", path: "/about", fields });
    expect(page.status).toBe(name === "varnish" ? 200 : 403);
  });

  test("a body that is not UTF-8 is refused in the vendor's form", () => checkOtherCoding(edge));

  test("a body that is too large is refused in the vendor's form", () => checkLargeBody(edge));
});

describe.each(Object.entries(PLATFORMS))("without doors, on %s", (_, start) => {
  let edge: DoorEdge;
  beforeAll(async () => {
    edge = await start({ doors: { keycdn: EVERY_DOOR.keycdn } });
    await publishPages(edge);
  }, 60_000);
  afterAll(() => edge.stop());

  test.each(
    inGate(
      8,
      [...CLOUDFLARE, ...FASTLY, ...NETLIFY, ...VERCEL].filter(({ request }) => request.path.startsWith("/_tidemark/")),
    ),
  )("$name: nothing is there", async ({ request }) => {
    const answer = await edge.ask(request);
    // Without doors a PURGE asks for a token of Tidemark's before anything else.
    expect(answer.status).toBe(request.method === "PURGE" ? 401 : 404);
    expect(answer.fields["content-type"]).toBe("application/problem+json");
    expect(await refetched(edge)).toEqual([]);
  });

  test("names that every object inherits are not doors", async () => {
    for (const name of ["constructor", "__proto__", "toString", ""]) {
      expect((await edge.ask({ path: `/_tidemark/doors/${name}/x` })).status).toBe(404);
    }
  });

  test("the fields of other doors have no effect in a PURGE", async () => {
    const request = { method: "PURGE", path: "/about", fields: { "fastly-key": DOOR_TOKENS.fastly[0] } };
    expect((await edge.ask(request)).status).toBe(401);
    const fields = { authorization: `Bearer ${DOOR_TOKENS.varnish[0]}`, "xkey-purge": "about" };
    expect((await edge.ask({ ...request, fields })).status).toBe(403);
    expect(await refetched(edge)).toEqual([]);
  });

  test("a PURGE that names more than its URL is refused, and the answer says which door would read it", async () => {
    const authorization = `Bearer ${TOKEN}`;
    for (const fields of [
      { xkey: "shop" },
      { "x-magento-tags-pattern": ".*" },
      { "x-purge-method": "regex" },
      { "x-purge-method": "tags", "x-cache-tags-pattern": "shop" },
      { "x-purge-all": "true" },
      { "x-purge-path-regex": "/shop/.*" },
      { "x-location-id": "42" },
    ]) {
      const answer = await edge.ask({ method: "PURGE", path: "/about", fields: { authorization, ...fields } });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({
        code: "invalid",
        detail: expect.stringContaining("varnish: true"),
      });
    }
    expect(await refetched(edge)).toEqual([]);
  });

  test("BAN goes to the origin like any method", async () => {
    edge.publish("/ban", "");
    // Where the origin of the tests is Node's server, it answers 400, because it does not know the method either.
    const answer = await edge.ask({ method: "BAN", path: "/ban", fields: { "x-url": ".*" } });
    expect(answer.fields["x-cache"]).toBe("BYPASS");
    expect([200, 400]).toContain(answer.status);
  });
});

describe("the setting", () => {
  const site = (doors: object) => () => compileSite({ origin: "http://origin.test", hosts: [HOST], doors }, {});

  test("opens the doors that it names", () => {
    expect(site(EVERY_DOOR)().doors).toMatchObject({ cloudflare: EVERY_DOOR.cloudflare.zone, varnish: "" });
    expect(site({ fastly: undefined })().doors).toEqual({});
  });

  test.each([
    [{ cloudfare: { zone: "a" } }, /doors\.cloudfare|cloudfare/],
    [{ cloudflare: {} }, /doors\.cloudflare\.zone/],
    [{ cloudflare: { zone: "a/b" } }, /doors\.cloudflare\.zone.*is not an id/],
    [{ varnish: false }, /doors\.varnish.*can only be true/],
  ])("refuses %j", (doors, words) => {
    expect(site(doors)).toThrow(words);
  });
});
