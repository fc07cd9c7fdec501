import { createServer } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { OriginAnswer } from "../../../worker/ports/origin.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { SocketOrigin } from "../../runtime/socket-origin.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";
import { RawClient } from "../raw-client.ts";
import { SharedLog, Tier, type TierNode } from "./tier.ts";
import { CHECKS } from "./tier-checks.ts";

const LEASE_MS = 1000;

/** Ways to fail of a connection to a parent. */
const TIMED_OUT = failure({ because: "timed-out", cause: "the head of the answer took too long" });
const UNREACHABLE = failure({ because: "unreachable", cause: { code: "EHOSTUNREACH" } });
const RESET = failure({ because: "unreachable", cause: { code: "ECONNRESET" }, saysNothing: true });

function failure(how: Omit<OriginAnswer & { kind: "failed" }, "kind">): Promise<OriginAnswer> {
  return Promise.resolve({ kind: "failed", ...how });
}

let tier: Tier;
beforeEach(async () => {
  tier = new Tier();
  await tier.origin.comeUp();
});
afterEach(() => tier.stop());

/** A parent, and so many children of it. */
async function family(children: number, options: Parameters<Tier["start"]>[0] = {}) {
  const parent = await tier.start({ ...(options.rules && { rules: options.rules }) });
  const started: TierNode[] = [];
  for (let at = 0; at < children; at++) started.push(await tier.start({ parent: () => parent.url, ...options }));
  return { parent, children: started, child: started[0]! };
}

const bodyOf = async (answer: Promise<{ readonly body: string }>) => (await answer).body;

describe("a page", () => {
  test("costs the origin one fetch, whichever of ten children is asked first", async () => {
    const { children } = await family(10);
    tier.origin.reply("/page", { fields: { "cache-control": "max-age=60" }, body: "v1" });
    for (const child of children) {
      const answer = await child.get("/page");
      expect(answer).toMatchObject({ body: "v1", fields: { "x-cache": "MISS" } });
      await child.idle();
      expect(await child.get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    }
    expect(tier.origin.countOf("/page")).toBe(1);
  });

  test("costs the origin one fetch if 200 visitors ask ten children at once", async () => {
    const { children } = await family(10);
    tier.origin.reply("/page", { fields: { "cache-control": "max-age=60" }, body: "v1", hold: "slow" });
    const asked = children.flatMap((child) => Array.from({ length: 20 }, () => bodyOf(child.get("/page"))));
    await tier.origin.waitUntilSeen("/page", 1);
    await expect.poll(() => children.every(({ asked: requests }) => requests.length === 1)).toBe(true);
    tier.origin.release("slow");
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["v1"]));
    expect(tier.origin.countOf("/page")).toBe(1);
  });

  test("is never older than its lifetime, however long the parent has held it", async () => {
    const { children } = await family(2);
    const [first, second] = children as [TierNode, TierNode];
    const fields = { "cache-control": "max-age=60" };
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    expect(await bodyOf(first.get("/page"))).toBe("v1");
    await tier.clock.advance(50_900);
    expect(await second.get("/page")).toMatchObject({ body: "v1", fields: { age: "50" } });
    await tier.clock.advance(9_099);
    await second.idle();
    expect(await second.get("/page")).toMatchObject({ body: "v1", fields: { age: "59", "x-cache": "HIT" } });
    await tier.clock.advance(1);
    expect(await bodyOf(second.get("/page"))).toBe("v2");
    expect(tier.origin.countOf("/page")).toBe(2);
  });

  test("is stored by the fields that the origin has for caches, which no visitor gets", async () => {
    const rules = {
      targetedField: "Shop-CDN-Cache-Control",
      routes: [{ match: "/*", browserTtl: "5s", tags: ["all"] }],
    };
    const { parent, children, child } = await family(2, { rules });
    const fields = {
      "cache-control": "max-age=1",
      "shop-cdn-cache-control": "max-age=600",
      "surrogate-control": "max-age=3",
      "cache-tag": "a, b",
      "surrogate-key": "c",
    };
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    const hidden = ["shop-cdn-cache-control", "surrogate-control", "cache-tag", "surrogate-key", "tidemark-parent"];
    for (const node of [child, parent, children[1]!]) {
      for (const xCache of [node === parent ? "HIT" : "MISS", "HIT"]) {
        const answer = await node.get("/page");
        expect(answer).toMatchObject({ body: "v1", fields: { "x-cache": xCache, "cache-control": "max-age=5" } });
        for (const name of hidden) expect(answer.fields).not.toHaveProperty(name);
        await node.idle();
      }
    }
    await tier.clock.advance(300_000);
    expect(await child.get("/page")).toMatchObject({ fields: { "x-cache": "HIT" } });
    for (const tag of ["a", "c", "all"]) {
      await child.purge({ tags: [tag] });
      await tier.clock.advance(LEASE_MS * 2);
      expect(await bodyOf(child.get("/page"))).toBe("v2");
      await child.idle();
      expect(await child.get("/page")).toMatchObject({ fields: { "x-cache": "HIT" } });
    }
    expect(tier.origin.countOf("/page")).toBe(4);
  });

  test("that has expired is fetched whole from the parent, with the tags that it has got since", async () => {
    const { children } = await family(2);
    const [first, second] = children as [TierNode, TierNode];
    const fields = { "cache-control": "max-age=10", etag: '"1"' };
    tier.origin.reply(
      "/page",
      { fields: { ...fields, "cache-tag": "old" }, body: "v1" },
      { fields: { ...fields, "cache-tag": "new" }, body: "v1" },
      { fields: { ...fields, "cache-tag": "newest" }, body: "v2" },
    );
    for (const child of children) expect(await bodyOf(child.get("/page"))).toBe("v1");
    await tier.clock.advance(12_000);
    // The parent's page is the newer one when the second child asks.
    expect(await first.get("/page")).toMatchObject({ body: "v1" });
    await tier.clock.advance(2_000);
    expect(await second.get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "EXPIRED", age: "2" } });
    await second.idle();
    await second.purge({ tags: ["new"] });
    await tier.clock.advance(LEASE_MS * 2);
    expect(await bodyOf(second.get("/page"))).toBe("v2");
  });

  test("is asked for with as many fields as a visitor may send, whatever the children add", async () => {
    const rules = { routes: [{ match: "/*", pass: true as const }] };
    const { child } = await family(1, { rules, fallsBack: true });
    const grandchild = await tier.start({ parent: () => child.url, rules, fallsBack: true });
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, ""]));
    for (const node of [child, grandchild]) {
      await node.get("/page", fields(998)); // and Host, and Connection. The origin, which is Node's, may refuse so many.
      expect([node.asked.length, node.said]).toEqual([1, []]);
      expect(await node.get("/page", fields(999))).toMatchObject({
        body: "431: the request has more than 1000 fields.\n",
      });
    }
  });

  test("is asked for with as many bytes of fields as a visitor may send, whatever the child adds", async () => {
    const rules = { limits: { requestFieldBytes: "2KiB" }, routes: [{ match: "/*", pass: true as const }] };
    const { parent, child } = await family(1, { rules });
    const grandchild = await tier.start({ parent: () => child.url, rules });
    const alone = await tier.start({ rules });
    tier.origin.reply("/page", { body: "page" });
    const statusOf = async (node: TierNode, bytes: number) => {
      return (await node.get("/page", { "x-large": "x".repeat(bytes) })).status;
    };
    let [fits, tooMany] = [0, 2_048];
    while (tooMany - fits > 1) {
      const bytes = Math.floor((fits + tooMany) / 2);
      if ((await statusOf(alone, bytes)) === 200) fits = bytes;
      else tooMany = bytes;
    }
    for (const node of [parent, child, grandchild]) {
      expect(await statusOf(node, fits)).toBe(200);
      expect(await statusOf(node, tooMany)).toBe(431);
    }
  });

  test.each([
    ["as large", { responseFieldBytes: "2KiB" }],
    ["as many", { responseFields: 7 }],
  ])("whose fields are %s as they may be is stored by both, whatever the parent adds", async (_, limits) => {
    const { parent, child } = await family(1, { rules: { limits } });
    const fields = { "cache-control": "max-age=60", "cache-tag": "page", large: "x".repeat(1_850) };
    tier.origin.reply("/page", { fields, body: "page" });
    for (const xCache of ["MISS", "HIT"]) {
      expect(await child.get("/page")).toMatchObject({ body: "page", fields: { "x-cache": xCache } });
      await child.idle();
    }
    await child.purge({ tags: ["page"] });
    await tier.clock.advance(LEASE_MS * 2);
    expect(await child.get("/page")).toMatchObject({ body: "page", fields: { "x-cache": "MISS" } });
    expect(await parent.get("/page")).toMatchObject({ body: "page", fields: { "x-cache": "HIT" } });
  });

  test("with more tags than the parent can tell is purged by each of them", async () => {
    const tags = (of: string) => Array.from({ length: 18 }, (_, number) => `${of.repeat(96)}-${number}`);
    const rules = { limits: { responseFieldBytes: "2KiB" }, routes: [{ match: "/*", tags: tags("r") }] };
    const { child } = await family(1, { rules });
    const fields = { "cache-control": "max-age=60", "surrogate-key": tags("o").join(" ") };
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    expect(await bodyOf(child.get("/page"))).toBe("v1");
    await child.idle();
    await child.purge({ tags: [tags("o")[17]!] });
    await tier.clock.advance(LEASE_MS * 2);
    expect(await bodyOf(child.get("/page"))).toBe("v2");
  });

  test("has a line for each challenge, whether it is passed on, stored or confirmed by the origin", async () => {
    const { child } = await family(1);
    const challenges = { "www-authenticate": ["Negotiate", 'Basic realm="x", charset="UTF-8"'] };
    const stored = { ...challenges, "cache-control": "max-age=60", etag: '"1"' };
    tier.origin.reply("/login", { status: 401, fields: challenges, body: "log in" });
    tier.origin.reply("/page", { fields: stored, body: "page" }, { status: 304, fields: stored });
    const expectLines = async (request: string, xCache: string) => {
      const visitor = new RawClient({ host: "127.0.0.1", port: child.port });
      await visitor.send(`${request} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
      await visitor.closed;
      expect(visitor.received).toContain(`\r\nx-cache: ${xCache}\r\n`);
      expect(visitor.received.match(/(?<=^www-authenticate: ).*(?=\r)/gm)).toEqual(challenges["www-authenticate"]);
      await child.idle();
    };
    await expectLines("GET /login", "MISS");
    await expectLines("GET /page", "MISS");
    await expectLines("GET /page", "HIT");
    await expectLines("HEAD /page", "HIT");
    await tier.clock.advance(61_000);
    await expectLines("GET /page", "EXPIRED");
    await expectLines("GET /page", "HIT");
  });

  test("that is for one visitor is kept by neither, and goes through both", async () => {
    const { parent, child } = await family(1);
    tier.origin.reply("/private", ...["a", "b"].map((body) => ({ fields: { "cache-control": "private" }, body })));
    tier.origin.reply("/cookie", ...["a", "b"].map((body) => ({ fields: { "set-cookie": `id=${body}` }, body })));
    expect(await bodyOf(child.get("/private"))).toBe("a");
    expect(await bodyOf(child.get("/private"))).toBe("b");
    expect(await child.get("/cookie")).toMatchObject({ body: "a", fields: { "set-cookie": "id=a" } });
    expect(await parent.get("/cookie")).toMatchObject({ body: "b", fields: { "set-cookie": "id=b" } });
    tier.origin.reply("/account", { fields: { "cache-control": "max-age=60" }, body: "hers" }, { body: "his" });
    expect(await bodyOf(child.get("/account", { authorization: "Basic aGVy" }))).toBe("hers");
    expect(await bodyOf(child.get("/account", { authorization: "Basic aGlz" }))).toBe("his");
  });
});

describe("a purge", () => {
  const fields = { "cache-control": "max-age=3600", "cache-tag": "page" };

  test("that a child knows of and its parent does not is honoured by the parent", async () => {
    const { parent, children } = await family(10);
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    for (const child of children) expect(await bodyOf(child.get("/page"))).toBe("v1");
    await Promise.all([parent, ...children].map((node) => node.idle()));
    // The parent's lease is alive, and its view without the purge.
    expect(await parent.get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    await children[3]!.purge({ tags: ["page"] });
    expect(await bodyOf(children[3]!.get("/page"))).toBe("v2");
    await tier.clock.advance(LEASE_MS * 2);
    for (const child of children) expect(await bodyOf(child.get("/page"))).toBe("v2");
    expect(tier.origin.countOf("/page")).toBe(2);
  });

  test("is honoured for the bearer of its token at a child that has not read of it", async () => {
    const { parent, children } = await family(2);
    const [first, second] = children as [TierNode, TierNode];
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    for (const node of [first, second, parent]) expect(await bodyOf(node.get("/page"))).toBe("v1");
    const token = await first.purge({ tags: ["page"] });
    second.isCutOff = true;
    expect(await bodyOf(second.get("/page", { "tidemark-after": token }))).toBe("v2");
  });

  test("that is soft leaves a child its stale page, and costs the origin one fetch", async () => {
    const { children } = await family(10, { rules: { purge: { softForMs: 60_000 } } });
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    for (const child of children) expect(await bodyOf(child.get("/page"))).toBe("v1");
    await Promise.all(children.map((child) => child.idle()));
    await children[0]!.purge({ tags: ["page"], mode: "soft" });
    await tier.clock.advance(LEASE_MS * 2);
    for (const child of children) {
      expect(await child.get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "UPDATING" } });
      await child.idle();
      expect(await child.get("/page")).toMatchObject({ body: "v2", fields: { "x-cache": "HIT" } });
    }
    expect(tier.origin.countOf("/page")).toBe(2);
  });

  test("in a log that the parent does not read is honoured all the same, and both say why it costs a fetch", async () => {
    const parent = await tier.start();
    const child = await tier.start({ parent: () => parent.url, log: new SharedLog(tier.clock) });
    tier.origin.reply("/page", ...["v1", "v2"].map((body) => ({ fields, body })));
    expect(await bodyOf(parent.get("/page"))).toBe("v1");
    expect(await bodyOf(child.get("/page"))).toBe("v2");
    expect(child.said).toEqual([expect.stringContaining("reads another purge log")]);
  });

  test("by a tag that the parent's rules do not give is honoured, because rules that differ are not trusted", async () => {
    const parent = await tier.start();
    const rules = { routes: [{ match: "/*", tags: ["of-the-child"] }] };
    const child = await tier.start({ parent: () => parent.url, rules });
    tier.origin.reply("/page", ...["v1", "v2", "v3"].map((body) => ({ fields, body })));
    expect(await bodyOf(parent.get("/page"))).toBe("v1");
    expect(await bodyOf(child.get("/page"))).toBe("v2");
    await child.purge({ tags: ["of-the-child"] });
    expect(await bodyOf(child.get("/page"))).toBe("v3");
    expect(child.said).toEqual([expect.stringContaining("has other rules")]);
    expect(parent.said).toEqual([expect.stringContaining(`the child ${child.name} has other rules`)]);
  });
});

describe("second looks of a child", () => {
  const marked = { "x-shop": "1" };

  test("send an idle field as far as the origin, once in a while", async () => {
    const { child } = await family(1);
    tier.origin.setDefaultReply({ fields: { "cache-control": "max-age=60" }, body: "the same for all" });
    for (let page = 0; page < 100; page++) {
      await child.get(`/page/${page}`, marked);
      await child.idle();
    }
    const withField = tier.origin.seen.filter(({ fields }) => fields["x-shop"] !== undefined);
    expect(withField.length).toBeGreaterThan(5);
    expect(withField.length).toBeLessThan(30);
  });

  test("find that a page is another one each time, although the parent has stored it", async () => {
    const { child } = await family(1);
    const rendered = Array.from({ length: 20 }, (_, time) => ({
      fields: { "cache-control": "max-age=60" },
      body: `${time}`,
    }));
    tier.origin.reply("/page", ...rendered);
    for (let again = 0; again < 6; again++) {
      await child.get("/page", marked);
      await child.idle();
    }
    expect(await child.get("/page", marked)).toMatchObject({ fields: { "x-cache": "HIT" } });
  });

  test("find that a field chooses although the parent has not, and has stored the plain page", async () => {
    const { parent, child } = await family(1);
    const fields = { "cache-control": "max-age=60" };
    tier.origin.setDefaultReply({ fields, body: "the same for all" });
    for (let folder = 0; folder < 12; folder++) {
      await parent.get(`/${folder}/page`, marked); // until the parent's second looks are used up
      await parent.idle();
    }
    tier.origin.reply("/page", ...["of shop 1", "plain", "of shop 1"].map((body) => ({ fields, body })));
    expect(await bodyOf(child.get("/page", marked))).toBe("of shop 1");
    await child.idle();
    expect(await bodyOf(parent.get("/page", marked))).toBe("plain");
    expect(await child.get("/page", marked)).toMatchObject({ fields: { "x-cache": "BYPASS" } });
  });
});

describe("a parent with other rules", () => {
  test("takes no page away that may stand in for a failure", async () => {
    const parent = await tier.start({ rules: { fields: { drop: ["x-currency"] } } });
    const child = await tier.start({ parent: () => parent.url, fallsBack: true });
    const fields = { "cache-control": "max-age=60, stale-if-error=86400" };
    tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
    child.failsBy = RESET;
    expect(await bodyOf(child.get("/page"))).toBe("v1");
    await child.idle();
    await tier.clock.advance(61_000);
    child.failsBy = null;
    await child.untilItAsksItsParentAgain();
    const answer = await child.get("/page");
    expect([answer.body, answer.fields["cache-status"]]).toEqual(["v2", expect.stringContaining("detail=other-rules")]);
    await child.idle();
    child.failsBy = RESET;
    await tier.origin.goDown();
    expect(await child.get("/page")).toMatchObject({ body: "v1", fields: { "x-cache": "STALE" } });
  });

  test("gives a child nothing to store, because it may have left out what the child keys by", async () => {
    const parent = await tier.start({ rules: { fields: { drop: ["x-currency"] } } });
    const child = await tier.start({ parent: () => parent.url });
    const fields = { "cache-control": "max-age=60", vary: "X-Currency" };
    tier.origin.reply("/price", { fields, body: "1" }, { fields, body: "2" });
    for (const body of ["1", "2"]) {
      expect(await child.get("/price", { "x-currency": "EUR" })).toMatchObject({ body, fields: { "x-cache": "MISS" } });
      await child.idle();
    }
  });
});

test.each(Object.keys(CHECKS))("%s", (name) => CHECKS[name]!(tier, { SharedLog, Tier }));

test("a refresh at a child fetches the page from the origin", async () => {
  const { child } = await family(1);
  const fields = { "cache-control": "max-age=3600" };
  tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
  expect(await bodyOf(child.get("/page"))).toBe("v1");
  expect(await bodyOf(child.get("/page", { "tidemark-refresh": TOKEN }))).toBe("v2");
  await child.idle();
  expect(await child.get("/page")).toMatchObject({ body: "v2", fields: { "x-cache": "HIT" } });
});

test.each([
  ["a refresh", async () => ({ "tidemark-refresh": TOKEN })],
  ["a request with a receipt", async (child: TierNode) => ({ "tidemark-after": await child.purge({ tags: ["any"] }) })],
])("%s at a child comes before visitors who wait for the parent's turn at the origin", async (_, fieldsOf) => {
  const parent = await tier.start({ concurrency: 1 });
  const child = await tier.start({ parent: () => parent.url });
  const fields = await fieldsOf(child);
  const waiting = async () => {
    const asked = { authorization: `Bearer ${TOKEN}` };
    return JSON.parse(await bodyOf(parent.get("/_tidemark/stats?scope=isolate", asked))).atOrigin.waiting;
  };
  tier.origin.reply("/slow", { body: "slow", hold: "slow" });
  for (const path of ["/visitor", "/editor"]) tier.origin.reply(path, { body: path });
  const answers = [child.get("/slow")];
  await tier.origin.waitUntilSeen("/slow", 1);
  answers.push(child.get("/visitor"));
  await expect.poll(waiting).toBe(1);
  answers.push(child.get("/editor", fields));
  await expect.poll(waiting).toBe(2);
  tier.origin.release("slow");
  await Promise.all(answers);
  expect(tier.origin.seen.map(({ target }) => target)).toEqual(["/slow", "/editor", "/visitor"]);
});

test("a parent that redirects its own visitors to https tells the origin by what its children's visitors came", async () => {
  const parent = await tier.start({ overrides: { publicScheme: "https" } });
  const child = await tier.start({ parent: () => parent.url });
  tier.origin.reply("/page", { fields: { "cache-control": "max-age=60" }, body: "v1" });
  await child.get("/page");
  await parent.get("/page");
  expect(tier.origin.seen.map(({ fields }) => fields["x-forwarded-proto"])).toEqual(["http", "https"]);
});

test("such a parent stores no redirect of its child's page to itself", async () => {
  const parent = await tier.start({ overrides: { publicScheme: "https" } });
  const child = await tier.start({ parent: () => parent.url });
  const fields = { "cache-control": "max-age=60", location: `http://${HOST}/loop` };
  tier.origin.reply("/loop", { status: 301, fields });
  for (let visit = 0; visit < 2; visit++) await child.get("/loop");
  expect(tier.origin.seen).toHaveLength(2);
});

test("the origin is told of the visitor, of both caches, and of no secret between them", async () => {
  const { parent, child } = await family(1, {
    rules: { originFields: { "X-Origin-Secret": "s" }, publicUrl: `https://${HOST}` },
  });
  await child.get("/page?a=1", { "x-forwarded-for": "203.0.113.1" });
  const [{ fields }] = tier.origin.seen as [(typeof tier.origin.seen)[0]];
  expect(fields).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": HOST,
    "x-origin-secret": "s",
    via: "1.1 tidemark, 1.1 tidemark",
    "cdn-loop": `tidemark; host="${HOST}"; node="${child.name}", tidemark; host="${HOST}"`,
  });
  expect(Object.keys(fields).filter((name) => name.startsWith("tidemark-"))).toEqual([]);
  const [sent] = child.asked;
  expect(sent!.fields.map(([name]) => name)).not.toContain("x-origin-secret");
  expect(parent.said).toEqual([]);
});

describe("a visitor who pretends to be a child", () => {
  const fields = { "cache-control": "max-age=60", "cache-tag": "secret-tag" };

  test.each(["wrong-token-of-the-tests-with-32-characters", TOKEN, ""])(
    "with the token %j is refused",
    async (token) => {
      const { parent } = await family(1);
      tier.origin.reply("/page", { fields, body: "v1" });
      const forged = { "tidemark-child": `node="x", rules="x", scheme="http", host="${HOST}", for="1.2.3.4"` };
      const answer = await parent.get("/page", { ...forged, "tidemark-parent-token": token });
      expect(answer).toMatchObject({ status: 403, fields: { "cache-status": "tidemark; detail=no-child" } });
      expect(tier.origin.seen).toEqual([]);
    },
  );

  test("without a token is a visitor like all others, at the parent and at a child", async () => {
    const { parent, child } = await family(1);
    tier.origin.reply("/page", { fields, body: "v1" });
    const forged = {
      "tidemark-child": 'node="x", rules="x", scheme="https", host="evil.test", for="1.2.3.4"',
      "tidemark-parent": 'after="none", position="none", held="0", rules="same"',
    };
    for (const node of [parent, child]) {
      for (const xCache of ["MISS", "HIT"]) {
        const answer = await node.get("/page", forged);
        expect(answer).toMatchObject({ body: "v1", fields: { "x-cache": xCache } });
        expect(answer.fields).not.toHaveProperty("cache-tag");
        await node.idle();
      }
    }
    expect(tier.origin.countOf("/page")).toBe(1);
    expect(tier.origin.seen[0]!.fields).toMatchObject({ "x-forwarded-for": "127.0.0.1", "x-forwarded-host": HOST });
  });

  test("reaches a child's parent with nothing of that", async () => {
    const { child } = await family(1);
    await child.get("/page", { "tidemark-parent-token": "", "tidemark-child": 'host="evil.test"' });
    await child.get("/page", { "tidemark-child": 'host="evil.test"', "tidemark-after": "none" });
    const sent = child.asked.flatMap(({ fields: all }) => all.filter(([name]) => name.startsWith("tidemark-")));
    expect(JSON.stringify(sent)).not.toContain("evil");
  });

  test("who was given a child's answer by a cache between them and the child gets an error", async () => {
    const { parent } = await family(0);
    tier.origin.reply("/page", { fields, body: "v1" });
    let kept: { status: number; fields: Headers; body: string } | undefined;
    // A cache that knows nothing of purges, and gives everybody the first answer.
    const between = createServer((request, response) => {
      void (async () => {
        const headers = Object.entries(request.headers).filter(([name]) => name !== "connection") as [string, string][];
        const answer = kept ? null : await fetch(`${parent.url}${request.url}`, { headers });
        kept ??= { status: answer!.status, fields: answer!.headers, body: await answer!.text() };
        response.writeHead(kept.status, Object.fromEntries(kept.fields)).end(kept.body);
      })();
    });
    await listenLocally(between);
    const child = await tier.start({ parent: () => localUrl(between) });
    expect(await child.get("/page")).toMatchObject({ status: 200, body: "v1" });
    await child.purge({ tags: ["secret-tag"] });
    expect(await child.get("/page")).toMatchObject({ status: 502 });
    expect(child.said).toEqual([expect.stringContaining("a cache on the way had stored")]);
    await new Promise((resolve) => between.close(resolve));
  });
});

describe("a parent that fails", () => {
  const fields = { "cache-control": "max-age=10, stale-if-error=600" };

  test("is replaced by the origin where one is named, and asked again after a pause", async () => {
    const { parent, child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ fields, body: "page" });
    expect(await bodyOf(child.get("/1"))).toBe("page");
    await parent.stop();
    expect(await bodyOf(child.get("/2"))).toBe("page");
    const asked = child.asked.length;
    expect(await bodyOf(child.get("/3"))).toBe("page");
    expect(child.asked).toHaveLength(asked);
    expect(await child.send({ method: "POST", path: "/4", body: "order" })).toMatchObject({ body: "page" });
    expect(tier.origin.seen.at(-1)).toMatchObject({ method: "POST", body: "order" });
    expect(tier.origin.seen.at(-1)!.fields).not.toHaveProperty("tidemark-parent-token");
    await tier.start({ port: parent.port });
    await tier.clock.advance(1_000);
    await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/5"))).toBe("page");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
    expect(tier.origin.countOf("/")).toBe(0);
    expect(child.said).toEqual([
      expect.stringMatching(/^the parent http:\S+ fails \(unreachable: .*\); this server asks the origin instead$/),
      expect.stringContaining("answers again"),
    ]);
  });

  test("is asked, and replaced by the origin, without the limit of requests at that, which is the parent's", async () => {
    const { child } = await family(1, { fallsBack: true, concurrency: 1 });
    for (const turn of [1, 2]) {
      const paths = [`/first-${turn}`, `/second-${turn}`];
      for (const path of paths) tier.origin.reply(path, { body: path, hold: "both" });
      const asked = paths.map((path) => bodyOf(child.get(path)));
      await Promise.all(paths.map((path) => tier.origin.waitUntilSeen(path, 1)));
      tier.origin.release("both");
      expect(await Promise.all(asked)).toEqual(paths);
      child.failsBy = UNREACHABLE;
    }
  });

  test("is asked again although the clock was set back by an hour", async () => {
    const { parent, child } = await family(1, { fallsBack: true });
    await parent.stop();
    await child.get("/1");
    await tier.start({ port: parent.port });
    await tier.clock.advance(-3_600_000);
    await child.untilItAsksItsParentAgain();
    await child.get("/2");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
  });

  test("for several visitors at once has failed once, so that it is asked again as soon", async () => {
    const { parent, child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ fields, body: "page" });
    expect(await bodyOf(child.get("/0"))).toBe("page");
    const refused = Promise.withResolvers<void>();
    const between = createServer((request) => {
      waiting.push(request.socket);
      if (waiting.length === 8) refused.resolve();
    });
    const waiting: Socket[] = [];
    await parent.stop();
    await new Promise<void>((resolve) => between.listen(parent.port, "127.0.0.1", resolve));
    const asked = Array.from({ length: 8 }, (_, at) => bodyOf(child.get(`/at-once/${at}`)));
    await refused.promise;
    between.close();
    for (const socket of waiting) socket.destroy();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["page"]));
    await tier.start({ port: parent.port });
    await tier.clock.advance(1_000);
    await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/after"))).toBe("page");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
  });

  test("has no visitor wait to find out whether it still does, and is asked one thing at a time", async () => {
    const { child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    child.failsBy = TIMED_OUT;
    expect(await bodyOf(child.get("/1"))).toBe("page");
    const { promise, resolve } = Promise.withResolvers<void>();
    child.failsBy = promise.then(() => TIMED_OUT);
    await tier.clock.advance(1_000);
    for (const path of ["/2", "/3", "/4"]) {
      expect(await bodyOf(child.get(path))).toBe("page");
      await tier.clock.advance(20_000);
    }
    expect(child.asked).toHaveLength(2);
    resolve();
    await new Promise((next) => setImmediate(next));
    await tier.clock.advance(2_000);
    child.failsBy = null;
    await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/5"))).toBe("page");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
  });

  test("and answers a request from before gets requests again, also while it is asked whether it still fails", async () => {
    const { child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    tier.origin.reply("/early", { body: "early", hold: "early" });
    const early = bodyOf(child.get("/early"));
    await tier.origin.waitUntilSeen("/early", 1);
    child.failsBy = RESET;
    expect(await bodyOf(child.get("/1"))).toBe("page");
    const late = Promise.withResolvers<OriginAnswer>();
    child.failsBy = late.promise;
    await tier.clock.advance(1_000);
    expect(await bodyOf(child.get("/2"))).toBe("page");
    expect(child.asked).toHaveLength(3);
    child.failsBy = null;
    tier.origin.release("early");
    expect(await early).toBe("early");
    expect(child.said.at(-1)).toContain("answers again");
    late.resolve(await RESET);
    expect(await bodyOf(child.get("/3"))).toBe("page");
    expect(child.asked).toHaveLength(4);
    expect(child.said).toHaveLength(2);
  });

  test("and is known to do so gets no request that may change something, not even one that asks", async () => {
    const { child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    child.failsBy = TIMED_OUT;
    expect(await bodyOf(child.get("/1"))).toBe("page");
    for (const body of ["order", "another", ""]) {
      await tier.clock.advance(20_000);
      expect(await child.send({ method: "POST", path: "/2", body })).toMatchObject({ status: 200, body: "page" });
      expect(tier.origin.seen.at(-1)).toMatchObject({ method: "POST", body });
    }
    for (const { method, fields } of child.asked.slice(1)) {
      expect({ method, fields }).toMatchObject({
        method: "HEAD",
        fields: expect.arrayContaining([["cache-control", "only-if-cached"]]),
      });
    }
    await tier.clock.advance(20_000);
    child.failsBy = null;
    await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/3"))).toBe("page");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
  });

  test("in the handshake of TLS is known to do so by a POST, which the origin gets", async () => {
    const noTls = new SocketOrigin((_, socket) => socket.destroy());
    const parentUrl = (await noTls.start()).replace("http:", "https:");
    onTestFinished(() => noTls.stop());
    const child = await tier.start({ parent: () => parentUrl, fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    for (const body of ["order", "another"]) {
      expect(await child.send({ method: "POST", path: "/1", body })).toMatchObject({ status: 200, body: "page" });
      expect(tier.origin.seen.at(-1)).toMatchObject({ method: "POST", body });
    }
    expect(child.asked).toHaveLength(1);
    expect(child.said).toEqual([expect.stringMatching(/^the parent https:\S+ fails \(unreachable: ECONNRESET\)/)]);
  });

  test("to answer unsafe requests does not make its origin known to be down", async () => {
    const { child } = await family(1, { fallsBack: true, rules: { limits: { originDownAfter: 2 } } });
    tier.origin.setDefaultReply({ body: "page" });
    const { promise, resolve } = Promise.withResolvers<void>();
    child.failsBy = promise.then(() => TIMED_OUT);
    const sent = ["/1", "/2", "/3"].map((path) => child.send({ method: "POST", path, body: "x" }));
    await expect.poll(() => child.asked.length).toBe(3);
    resolve();
    for (const { status } of await Promise.all(sent)) expect(status).toBe(504);
    expect(await child.get("/4")).toMatchObject({ status: 200, body: "page" });
  });

  test.each([
    ["by its silence is no longer waited for by requests that the origin can answer", TIMED_OUT, "page"],
    ["by its machine's absence is no longer waited for, either", UNREACHABLE, "page"],
    ["on one connection is still waited for on others", RESET, "late"],
  ])("%s", async (_, failed, body) => {
    const { child } = await family(1, { fallsBack: true });
    tier.origin.setDefaultReply({ body: "other" });
    tier.origin.reply("/slow", { body: "late", hold: "slow" }, { body: "page" });
    const slow = bodyOf(child.get("/slow"));
    await tier.origin.waitUntilSeen("/slow", 1);
    child.failsBy = failed;
    expect(await bodyOf(child.get("/1"))).toBe("other");
    if (body === "page") await tier.origin.waitUntilSeen("/slow", 2);
    tier.origin.release("slow");
    expect(await slow).toBe(body);
  });

  test.each([
    ["leaves in the middle of a request", "Content-Length: 10\r\n\r\nhalf", true],
    ["sends more than it may", `Transfer-Encoding: chunked\r\n\r\n1000\r\n${"x".repeat(4096)}\r\n`, false],
  ])("is none whose visitor %s", async (_, rest, leaves) => {
    const { child } = await family(1, { fallsBack: true, rules: { limits: { requestBodyBytes: "2KiB" } } });
    tier.origin.setDefaultReply({ body: "page" });
    const visitor = new RawClient({ host: "127.0.0.1", port: child.port });
    await visitor.send(`POST /upload HTTP/1.1\r\nHost: ${HOST}\r\n${rest}`);
    const isRefused = () => visitor.received.includes("413");
    while (child.asked.length === 0 && !isRefused()) await new Promise((resolve) => setImmediate(resolve));
    if (leaves) visitor.destroy();
    else await visitor.until(isRefused);
    visitor.destroy();
    await child.idle();
    expect(await bodyOf(child.get("/page"))).toBe("page");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
    expect(child.said).toEqual([]);
  });

  test.each([
    ["times out", TIMED_OUT, true],
    ["times out", TIMED_OUT, false],
    ["cannot be reached", UNREACHABLE, true],
    ["gives no valid answer", failure({ because: "bad-response", cause: "status 999" }), true],
  ])("and %s is named in place of its origin, which may be well", async (_, failed, fallsBack) => {
    const { child } = await family(1, { fallsBack });
    tier.origin.setDefaultReply({ body: "page" });
    child.failsBy = failed;
    const { fields: answer } = await child.send({ method: "POST", path: "/1", body: "order" });
    expect(answer["cache-status"]).toContain("detail=origin-");
    await child.get("/2");
    child.failsBy = null;
    await tier.clock.advance(1_000);
    if (fallsBack) await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/3"))).toBe("page");
    expect(child.said).toEqual([expect.stringContaining("fails"), expect.stringContaining("answers again")]);
    expect(child.reported).toEqual([]);
  });

  test("is none that finds a visitor's fields too large with those that the child adds", async () => {
    const rules = { limits: { requestFieldBytes: "64KiB" } };
    const { child } = await family(1, { rules, fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    await child.get("/large", { "x-large": "x".repeat(65_200) }); // the origin, which is Node's, takes no more than 16 KiB
    await child.get("/next");
    expect([child.asked.length, child.said]).toEqual([2, []]);
  });

  test("is none whose origin takes too long: it says so, and the origin is not asked once more", {
    tags: ["deep"],
  }, async () => {
    const { child } = await family(1, { fallsBack: true, rules: { limits: { originTimeout: "1s" } } });
    tier.origin.reply("/slow", { body: "late", hold: "for ever" });
    expect(await child.get("/slow")).toMatchObject({ status: 504 });
    expect(tier.origin.countOf("/slow")).toBe(1);
    expect(child.said).toEqual([]);
    tier.origin.release("for ever");
  });

  test("is none that has a request wait for another one's fetch first: it answers while its child still waits", async () => {
    const { children } = await family(2, { fallsBack: true });
    const [first, second] = children as [TierNode, TierNode];
    tier.origin.reply("/slow", { fields: { "cache-control": "max-age=600" }, body: "late", hold: "slow" });
    const waiting = tier.clock.waits;
    const asked = [first.get("/slow")];
    await tier.origin.waitUntilSeen("/slow", 1);
    asked.push(second.get("/slow"));
    // One that bounds each of the two answers, and one of the second request, which waits for the first one's fetch.
    await expect.poll(() => tier.clock.waits - waiting).toBe(3);
    // The second request has begun a fetch of its own meanwhile.
    await tier.clock.advance(30_999);
    await expect.poll(() => tier.origin.countOf("/slow")).toBe(2);
    await tier.clock.advance(1);
    tier.origin.release("slow");
    for (const { status, body } of await Promise.all(asked)) {
      expect([status, body]).toEqual([504, expect.stringContaining("took too long")]);
    }
    for (const child of children) expect(child.said).toEqual([]);
    // The fetches went on, and what they brought is stored.
    await expect.poll(async () => (await first.get("/slow")).body).toBe("late");
    expect(tier.origin.countOf("/slow")).toBe(2);
  });

  test("is a failed origin where none is named: what is stored stands in for it", async () => {
    const { parent, child } = await family(1);
    tier.origin.setDefaultReply({ fields, body: "page" });
    expect(await bodyOf(child.get("/1"))).toBe("page");
    await child.idle();
    await parent.stop();
    await tier.clock.advance(20_000);
    expect(await child.get("/1")).toMatchObject({ body: "page", fields: { "x-cache": "STALE" } });
    expect(await child.get("/2")).toMatchObject({ status: 502 });
  });

  test("says with the origin's error that this has failed", async () => {
    const { child } = await family(1);
    tier.origin.setDefaultReply({ fields, body: "page" });
    expect(await bodyOf(child.get("/1"))).toBe("page");
    await child.idle();
    await tier.clock.advance(20_000);
    tier.origin.setDefaultReply({ status: 503, body: "broken" });
    expect(await child.get("/1")).toMatchObject({ body: "page", fields: { "x-cache": "STALE" } });
    expect(await child.get("/2")).toMatchObject({ status: 503, body: "broken" });
    expect(child.said).toEqual([]);
  });

  test("says that its origin gives no answer, so that pages which may stand in for that do", async () => {
    const rules = { stale: { ifDisconnected: "600s" }, limits: { originDownAfter: 2 } } as const;
    const { parent, child } = await family(1, { rules });
    const grandchild = await tier.start({ parent: () => child.url, rules });
    tier.origin.setDefaultReply({ fields: { "cache-control": "max-age=10" }, body: "page" });
    for (const node of [child, grandchild, parent]) {
      expect(await bodyOf(node.get("/1"))).toBe("page");
      await node.idle();
    }
    await tier.clock.advance(20_000);
    const ofAnEdge = { "cache-status": "tidemark; detail=origin-timed-out" };
    tier.origin.setDefaultReply({ status: 504, fields: ofAnEdge, body: "not here" });
    for (const node of [child, grandchild, parent]) expect(await node.get("/1")).toMatchObject({ status: 504 });
    const stale = { status: 200, body: "page", fields: { "x-cache": "STALE" } };
    tier.origin.setDefaultReply({ body: "late", hold: "for ever" });
    const [asked, waiting] = [child.asked.length, tier.clock.waits];
    const together = [child.get("/1"), child.get("/1")];
    // One bounds the parent's answer, and one is of the second request, which waits for the first one's fetch.
    await expect.poll(() => tier.clock.waits - waiting).toBe(2);
    await tier.origin.goDown();
    for (const answer of await Promise.all(together)) expect(answer).toMatchObject(stale);
    expect(child.asked).toHaveLength(asked + 1);
    for (const node of [child, grandchild, parent]) expect(await node.get("/1")).toMatchObject(stale);
    expect(await child.get("/2")).toMatchObject({ status: 502 });
    for (const node of [child, grandchild, parent]) expect(await node.get("/1")).toMatchObject(stale);
    expect(await grandchild.get("/3")).toMatchObject({ status: 503, fields: { "retry-after": "1" } });
    expect(child.said).toEqual([]);
  });

  test("says that its origin gives no answer, so that a child counts no page that is not stored", async () => {
    const { child } = await family(1);
    await tier.origin.goDown();
    for (const path of ["/1", "/2"]) expect(await child.get(path)).toMatchObject({ status: 502 });
    const asked = { authorization: `Bearer ${TOKEN}` };
    const { store } = JSON.parse(await bodyOf(child.get("/_tidemark/stats?scope=isolate", asked)));
    expect(store.refused).toEqual({});
  });

  test("says that its origin lost an unsafe request, which may have changed the page", async () => {
    const rules = { stale: { ifDisconnected: "600s" }, limits: { originDownAfter: 2 } } as const;
    const { child } = await family(1, { rules });
    tier.origin.setDefaultReply({ fields: { "cache-control": "max-age=10" }, body: "page" });
    for (const path of ["/1", "/2"]) expect(await bodyOf(child.get(path))).toBe("page");
    await child.idle();
    await tier.origin.goDown();
    expect(await child.send({ method: "POST", path: "/1", body: "x" })).toMatchObject({ status: 502 });
    expect(await child.get("/1")).toMatchObject({ status: 502 });
    // The origin is known to be down now, and is sent nothing that could change a page.
    expect(await child.get("/3")).toMatchObject({ status: 502 });
    expect(await child.send({ method: "POST", path: "/2", body: "x" })).toMatchObject({ status: 503 });
    expect(await child.get("/2")).toMatchObject({ body: "page", fields: { "x-cache": "HIT" } });
  });

  test("by refusing the child's token is named as that", async () => {
    const { child } = await family(1, { token: "another-token-of-the-tests-with-32-characters" });
    expect(await child.get("/1")).toMatchObject({ status: 502 });
    expect(child.said).toEqual([expect.stringContaining("it refuses TIDEMARK_PARENT_TOKEN")]);
  });

  test("by refusing the child's token has carried nothing out, so the origin gets what has no body", async () => {
    const token = "another-token-of-the-tests-with-32-characters";
    const { children, child } = await family(2, { token, fallsBack: true });
    tier.origin.setDefaultReply({ body: "page" });
    expect(await child.send({ method: "POST", path: "/1" })).toMatchObject({ status: 200, body: "page" });
    expect(tier.origin.seen).toMatchObject([{ method: "POST", body: "" }]);
    const withBody = { method: "POST", path: "/2", body: "order" };
    expect(await children[1]!.send(withBody)).toMatchObject({ status: 502 });
    expect(tier.origin.countOf("/2")).toBe(0);
    expect(child.said).toEqual([
      expect.stringMatching(/it refuses TIDEMARK_PARENT_TOKEN.*this server asks the origin instead/),
    ]);
  });

  test("by being another server is named as that", async () => {
    const child = await tier.start({ parent: () => tier.origin.url });
    expect(await child.get("/1")).toMatchObject({ status: 502 });
    expect(child.said).toEqual([expect.stringContaining("status 404 of a server that is not a parent")]);
  });
});

describe("a loop", () => {
  test("of a server that is its own parent is refused", async () => {
    let own = "";
    const node = await tier.start({ parent: () => own });
    own = node.url;
    expect(await node.get("/page")).toMatchObject({ status: 508 });
    expect(node.said).toEqual([expect.stringContaining("parents form a ring")]);
  });

  test("of parents in a ring is refused", async () => {
    const ring: TierNode[] = [];
    for (const next of [1, 2, 0]) ring.push(await tier.start({ parent: () => ring[next]!.url }));
    for (const node of ring) expect(await node.get(`/${node.name}`)).toMatchObject({ status: 508 });
    expect(tier.origin.seen).toEqual([]);
  });

  test("of an origin that leads back to a child is refused", async () => {
    const { child } = await family(1);
    const looped = { "cdn-loop": `tidemark; host="${HOST}"; node="elsewhere"` };
    expect(await child.get("/page", looped)).toMatchObject({ status: 508 });
  });
});

test("three tiers keep a page as one, and its age and its purges through all", async () => {
  const { parent, child } = await family(1);
  const grandchild = await tier.start({ parent: () => child.url });
  const fields = { "cache-control": "max-age=60", "cache-tag": "page" };
  tier.origin.reply("/page", { fields, body: "v1" }, { fields, body: "v2" });
  expect(await bodyOf(parent.get("/page"))).toBe("v1");
  await tier.clock.advance(20_000);
  expect(await grandchild.get("/page")).toMatchObject({ body: "v1", fields: { age: "20" } });
  await grandchild.purge({ tags: ["page"] });
  expect(await bodyOf(grandchild.get("/page"))).toBe("v2");
  expect(tier.origin.countOf("/page")).toBe(2);
});

test("of three tiers each gives up before the one in front of it, so that nobody takes a good parent for a failed one", async () => {
  const silent = createServer();
  await listenLocally(silent);
  const parent = localUrl(silent);
  const child = await tier.start({ parent: () => parent });
  const grandchild = await tier.start({ parent: () => child.url });
  const waiting = tier.clock.waits;
  const answer = grandchild.get("/page");
  await expect.poll(() => [child.asked.length, tier.clock.waits - waiting]).toEqual([1, 1]);
  await tier.clock.advance(31_000);
  silent.closeAllConnections();
  expect(await answer).toMatchObject({ status: 504 });
  expect(grandchild.said).toEqual([]);
  await expect.poll(() => child.said).toEqual([expect.stringContaining(`the parent ${parent} fails`)]);
  await new Promise((resolve) => silent.close(resolve));
});

test("heads and parts are answered by the parent, and a body streams through both", async () => {
  const { parent, child } = await family(1);
  const body = "x".repeat(200_000);
  tier.origin.reply("/large", { fields: { "cache-control": "max-age=60" }, body, hold: "rest", bytesBeforeHold: 10 });
  const client = new RawClient({ host: "127.0.0.1", port: child.port });
  await client.send(`GET /large HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
  await client.until((received) => received.endsWith("\r\n\r\nxxxxxxxxxx"));
  tier.origin.release("rest");
  await client.closed;
  expect(client.received.split("\r\n\r\n")[1]).toHaveLength(200_000);
  await parent.idle();
  const other = await tier.start({ parent: () => parent.url });
  expect(await other.get("/large", { range: "bytes=5-8" })).toMatchObject({ status: 206, body: "xxxx" });
  expect(await other.send({ method: "HEAD", path: "/large" })).toMatchObject({
    fields: { "content-length": "200000" },
  });
  expect(tier.origin.countOf("/large")).toBe(1);
});

test("a WebSocket goes through both", async () => {
  const { child } = await family(1);
  const echo = createServer();
  echo.on("upgrade", (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n");
    socket.pipe(socket);
  });
  await tier.origin.goDown();
  await new Promise<void>((resolve) => echo.listen(Number(new URL(tier.origin.url).port), "127.0.0.1", resolve));
  const client = new RawClient({ host: "127.0.0.1", port: child.port });
  await client.send(`GET /socket HTTP/1.1\r\nHost: ${HOST}\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n`);
  expect(await client.until((received) => received.includes("\r\n\r\n"))).toContain("101 Switching Protocols");
  await client.send("hello");
  expect(await client.until((received) => received.endsWith("hello"))).toContain("hello");
  client.destroy();
  echo.closeAllConnections();
  await new Promise((resolve) => echo.close(resolve));
});
