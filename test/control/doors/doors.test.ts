import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileSite } from "../../../worker/site/site.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { DOOR_TOKENS, type DoorEdge, EVERY_DOOR, PLATFORMS } from "./door-edges.ts";
import { CLOUDFLARE, type DoorCase, FASTLY, KEYCDN, NETLIFY, PAGES, VARNISH, VERCEL } from "./recorded-calls.ts";

const CALLS: Readonly<Record<string, readonly DoorCase[]>> = {
  Cloudflare: CLOUDFLARE,
  Fastly: FASTLY,
  KeyCDN: KEYCDN,
  Netlify: NETLIFY,
  Varnish: VARNISH,
  Vercel: VERCEL,
};

const OWN_FIELDS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** The pages that do not come from the store; after this they do. */
async function refetched(edge: DoorEdge): Promise<string[]> {
  const paths: string[] = [];
  for (const path of Object.keys(PAGES)) {
    const { fields } = await edge.ask({ path });
    if (fields["x-cache"] !== "HIT") paths.push(path);
  }
  return paths;
}

describe.each(Object.entries(PLATFORMS))("doors on %s", (_, start) => {
  let edge: DoorEdge;
  beforeAll(async () => {
    edge = await start({ doors: EVERY_DOOR });
    for (const [path, tags] of Object.entries(PAGES)) edge.publish(path, tags);
    await refetched(edge);
  });
  afterAll(() => edge.stop());

  describe.each(Object.entries(CALLS))("calls in %s's form", (_name, cases) => {
    test.each(cases)("$name: $status", async ({ request, status, answer, purged = [] }) => {
      expect(await refetched(edge)).toEqual([]);
      const answered = await edge.ask(request);
      expect(answered).toMatchObject({ status, fields: OWN_FIELDS });
      if (typeof answer === "string") expect(answered.body).toContain(answer);
      else if (answer === null) expect(answered.body).toBe("");
      else expect(JSON.parse(answered.body)).toMatchObject(answer);
      expect(await refetched(edge)).toEqual(purged);
    });
  });

  test("a purge is in the audit trail under its token's name, with the door as its reason", async () => {
    const path = `/_tidemark/doors/keycdn/zones/purge/4711.json`;
    const authorization = `Basic ${Buffer.from(`${DOOR_TOKENS.keycdn[0]}:`).toString("base64")}`;
    await edge.ask({ path, fields: { authorization } });
    const fields = { authorization: `Bearer ${TOKEN}` };
    const { body } = await edge.ask({ path: "/_tidemark/purges?limit=1", fields });
    const [latest] = (JSON.parse(body) as { purges: object[] }).purges;
    expect(latest).toMatchObject({ by: "of-keycdn", reason: "door keycdn", mode: "hard", items: ["everything"] });
  });

  test("a soft purge stays soft", async () => {
    const fields = { authorization: `Bearer ${DOOR_TOKENS.varnish[0]}`, "xkey-softpurge": "shop" };
    await edge.ask({ method: "PURGE", path: "/", fields });
    const { body } = await edge.ask({
      path: "/_tidemark/purges?limit=1",
      fields: { authorization: `Bearer ${TOKEN}` },
    });
    expect(JSON.parse(body)).toMatchObject({ purges: [{ mode: "soft", items: ["tag:shop"] }] });
  });

  test.each(Object.entries(DOOR_TOKENS))("the token of %s opens nothing else", async (name, [token]) => {
    const fields = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const purge = { method: "POST", path: "/_tidemark/purge", fields, body: '{"everything":true}' };
    expect((await edge.ask(purge)).status).toBe(403);
    expect((await edge.ask({ path: "/_tidemark/stats", fields })).status).toBe(403);
    expect((await edge.ask({ path: "/about", fields: { "tidemark-refresh": token } })).status).toBe(403);
    const page = await edge.ask({ method: "PURGE", path: "/about", fields });
    expect(page.status).toBe(name === "varnish" ? 200 : 403);
  });

  test("a body that is too large is refused in the vendor's form", async () => {
    const fields = { authorization: `Bearer ${DOOR_TOKENS.netlify[0]}` };
    const body = " ".repeat(4 * 1024 * 1024 + 1);
    const answer = await edge.ask({ method: "POST", path: "/_tidemark/doors/netlify/api/v1/purge", fields, body });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 413 });
  });
});

describe.each(Object.entries(PLATFORMS))("without doors, on %s", (_, start) => {
  let edge: DoorEdge;
  beforeAll(async () => {
    edge = await start({ doors: { keycdn: EVERY_DOOR.keycdn } });
    for (const [path, tags] of Object.entries(PAGES)) edge.publish(path, tags);
    await refetched(edge);
  });
  afterAll(() => edge.stop());

  test.each(
    [...CLOUDFLARE, ...FASTLY, ...NETLIFY, ...VERCEL].filter(({ request }) => request.path.startsWith("/_tidemark/")),
  )("$name: nothing is there", async ({ request }) => {
    const answer = await edge.ask(request);
    // Without doors a PURGE asks for a token of Tidemark's before anything else.
    expect(answer.status).toBe(request.method === "PURGE" ? 401 : 404);
    expect(answer.fields["content-type"]).toBe("application/problem+json");
    expect(await refetched(edge)).toEqual([]);
  });

  test("no path is a door because every object has its name", async () => {
    for (const name of ["constructor", "__proto__", "toString", ""]) {
      expect((await edge.ask({ path: `/_tidemark/doors/${name}/x` })).status).toBe(404);
    }
  });

  test("the fields of other doors mean nothing in a PURGE", async () => {
    const request = { method: "PURGE", path: "/about", fields: { "fastly-key": DOOR_TOKENS.fastly[0] } };
    expect((await edge.ask(request)).status).toBe(401);
    const fields = { authorization: `Bearer ${DOOR_TOKENS.varnish[0]}`, "xkey-purge": "about" };
    expect((await edge.ask({ ...request, fields })).status).toBe(403);
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
