import { describe, expect, test } from "vitest";
import type { ComparedPages, RouteStats, SiteStats } from "../../wire/stats.ts";
import type { Verdict } from "../../wire/verdicts/verdict.ts";
import { verdictsOf, verdictText } from "../../wire/verdicts/verdicts.ts";
import type { OriginRequest } from "../../worker/ports/origin.ts";
import type { RouteInput, SiteInput } from "../../worker/site/site-input.ts";
import { byDepth, inGate } from "../suite/depth.ts";
import { Replay, type ReplayWorld } from "./replay.ts";

const REQUESTS = byDepth({ test: 400, gate: 400, all: 800 });

/** A site with one route `/shop/*` under these rules. */
function site(route: object = {}, rest: Partial<SiteInput> = {}): Partial<SiteInput> {
  return { routes: [{ match: "/shop/*", ...route }], ...rest };
}

interface Visit {
  readonly path: string;
  readonly fields?: Record<string, string>;
  readonly address?: string;
  /** The time until the next one. Default 1000. */
  readonly pauseMs?: number;
}

interface Case {
  readonly name: string;
  readonly kind: Verdict["kind"];
  readonly says: RegExp;
  readonly world: ReplayWorld;
  /** The same site with the setting that is advised. */
  readonly changed: Partial<ReplayWorld>;
  readonly visit: (random: () => number, turn: number) => Visit;
  /** Default: `REQUESTS`. */
  readonly requests?: number;
  /** Where the effect is not a hit ratio that has to come out as said. */
  readonly comesTrue?: (verdict: Verdict, before: SiteStats, after: SiteStats) => void;
}

const some = (random: () => number, most: number) => Math.floor(random() * most);
const queryOf = ({ pathAndQuery }: OriginRequest) => new URL(pathAndQuery, "http://origin.test").searchParams;

/** A page whose body is chosen by one parameter alone, in lower case. */
function pageBy(parameter: string, fields: Record<string, string>) {
  return (request: OriginRequest) => {
    const body = `page ${queryOf(request).get(parameter)?.toLowerCase()}`;
    return { fields: { "content-length": String(body.length), ...fields }, body };
  };
}

/** A page of 1 to 13 KB, by its path. */
function pageOfItsSize({ pathAndQuery }: OriginRequest) {
  const body = "x".repeat(1000 + ((Number(pathAndQuery.split("/").at(-1)) * 7919) % 12_000));
  return { fields: { "cache-control": "max-age=86400", "content-length": String(body.length) }, body };
}

const pageByQ = pageBy("q", { "cache-control": "max-age=300" });

const atMost = (verdict: Verdict, before: SiteStats, after: SiteStats) => {
  const ratio = ratioOf(after);
  expect(ratio).toBeGreaterThan(ratioOf(before) + 0.1);
  if (verdict.hitRatio) expect(ratio).toBeLessThanOrEqual(verdict.hitRatio.after);
};

const CASES: readonly Case[] = [
  {
    name: "a parameter that does not matter",
    kind: "query",
    says: /^\d.* % of the fetches on `\/shop\/\*` differ from the request for a fresh page only in the parameter `ref`, and all \d+ bodies that were compared were the same: add `"ref"` to `key\.query\.ignore`, or take it out of `key\.query\.only`; 9.* % of its requests would come from the cache instead of 2/,
    world: { site: site(), answer: pageByQ },
    changed: { site: site({ key: { query: { ignore: ["ref"] } } }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 5)}&ref=${some(random, 100)}` }),
  },
  {
    name: "a named parameter that does not matter",
    kind: "query",
    says: /only in the parameter `ref`.*, or take it out of `key\.query\.only`;/,
    world: { site: site({ key: { query: { only: ["q", "ref"] } } }), answer: pageByQ },
    changed: { site: site({ key: { query: { only: ["q"] } } }) },
    visit: (random) => ({
      path: `/shop/list?q=${some(random, 5)}&ref=${some(random, 100)}&other=${some(random, 100)}`,
    }),
  },
  {
    name: "a parameter that splits refreshed pages",
    kind: "query",
    says: /^9\d\.\d % of the fetches on `\/shop\/\*` differ from the request for a fresh page only in the parameter `ref`.*; 100 % of its requests would come from the cache instead of 87.5 %/,
    world: {
      site: site(),
      answer: pageBy("q", { "cache-control": "max-age=1, stale-while-revalidate=86400" }),
      originMs: [5, 9],
    },
    changed: { site: site({ key: { query: { ignore: ["ref"] } } }) },
    visit: (_, turn) => ({ path: `/shop/list?q=1&ref=${turn % 100}`, pauseMs: 50 }),
  },
  {
    name: "parameters whose names begin alike",
    kind: "query",
    says: /only in the parameter `ad_\*`/,
    world: { site: site(), answer: pageByQ },
    changed: { site: site({ key: { query: { ignore: ["ad_*"] } } }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 5)}&ad_a=${some(random, 60)}&ad_b=${some(random, 60)}` }),
  },
  {
    name: "the letter case of a parameter",
    kind: "query",
    says: /only in the letter case of `q`.*`key\.query\.lowercase`/,
    world: { site: site(), answer: pageByQ },
    changed: { site: site({ key: { query: { lowercase: ["q"] } } }) },
    visit: (random) => ({ path: `/shop/list?q=${shuffledCase(random, "words-to-find")}` }),
  },
  {
    name: "the order of parameters",
    kind: "query",
    says: /only in the order of the parameters.*`key\.query\.sort`/,
    world: { site: site(), answer: pageByQ },
    changed: { site: site({ key: { query: { sort: true } } }) },
    visit: (random) => ({ path: `/shop/list?${shuffled(random, ["q=1", "a=1", "b=2", "c=3", "d=4"]).join("&")}` }),
  },
  {
    name: "a Vary that splits for nothing",
    kind: "vary",
    says: /only in the field `accept-language`.*`fields\.drop`/,
    world: { site: site(), answer: pageBy("q", { "cache-control": "max-age=300", vary: "accept-language" }) },
    changed: { site: site({ fields: { drop: ["accept-language"] } }) },
    visit: (random) => ({
      path: `/shop/list?q=${some(random, 3)}`,
      fields: { "accept-language": `de;q=0.${1 + some(random, 80)}` },
    }),
  },
  {
    name: "a missing lifetime",
    kind: "missing-lifetime",
    says: /were not stored, because they have no lifetime.*`defaultTtl` to `"10m"`/,
    world: { site: site(), answer: pageBy("q", {}) },
    changed: { site: site({ defaultTtl: "10m" }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 5)}` }),
  },
  {
    name: "a lifetime that is too short",
    kind: "short-lifetime",
    says: /that were fetched again, \d+ had not changed: set `ttl` to `"1m"`/,
    world: { site: site(), answer: pageBy("q", { "cache-control": "max-age=5" }) },
    changed: { site: site({ ttl: "1m" }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 5)}` }),
    comesTrue: ({ savedFetches }, before, after) => {
      expect(before.origin.asked - after.origin.asked).toBeGreaterThanOrEqual(savedFetches);
      expect(before.origin.asked - after.origin.asked).toBeLessThan(savedFetches * 1.1);
    },
  },
  {
    name: "a private page that is the same for all",
    kind: "same-for-all",
    says: /because they are `private`; yet .* the same for 20 visitors in a row/,
    world: { site: site(), answer: pageBy("q", { "cache-control": "private, max-age=300" }) },
    changed: { answer: pageBy("q", { "cache-control": "public, max-age=300" }) },
    visit: (random, turn) => ({ path: `/shop/list?q=${some(random, 2)}`, address: `192.0.2.${turn % 250}` }),
    comesTrue: atMost,
  },
  {
    name: "a cookie on a page that is the same for all",
    kind: "same-for-all",
    says: /because they set a cookie; yet .*`stripSetCookie` to `true`/,
    world: { site: site(), answer: pageBy("q", { "cache-control": "max-age=300", "set-cookie": "seen=1" }) },
    changed: { site: site({ stripSetCookie: true }) },
    visit: (random, turn) => ({ path: `/shop/list?q=${some(random, 2)}`, address: `192.0.2.${turn % 250}` }),
    comesTrue: atMost,
  },
  {
    name: "cookies that do not matter",
    kind: "same-for-all",
    says: /because they answer requests with cookies; yet .*`cookies\.ignore`/,
    world: { site: site(), answer: pageByQ },
    changed: { site: site({}, { cookies: { ignore: ["theme"] } }) },
    visit: (random, turn) => ({
      path: `/shop/list?q=${some(random, 2)}`,
      fields: { cookie: `theme=${turn}` },
      address: `192.0.2.${turn % 250}`,
    }),
    comesTrue: atMost,
  },
  {
    name: "a field that keeps an API from being stored",
    kind: "unkeyed-field",
    says: /because the request had `x-app`, which is not in the key: .*`fields\.drop`/,
    world: { site: site({ secondLook: false }), answer: pageByQ },
    changed: { site: site({ secondLook: false, fields: { drop: ["x-app"] } }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 5)}`, fields: { "x-app": "7" } }),
    comesTrue: atMost,
  },
  {
    name: "pages that are too large",
    kind: "too-large",
    says: /on `\/shop\/\*` were not stored, because they are too large: .*`Content-Length`, without which `limits\.storeBytes`/,
    world: {
      site: site({}, { limits: { storeBytes: "1KiB" } }),
      answer: () => ({
        fields: { "cache-control": "max-age=300", "transfer-encoding": "chunked" },
        body: "x".repeat(2000),
      }),
    },
    changed: { site: site() },
    visit: (random) => ({ path: `/shop/${some(random, 5)}` }),
    comesTrue: atMost,
  },
  {
    name: "a route that the origin answers sooner",
    kind: "slower-than-origin",
    says: /^Hits are slower than your origin on `\/shop\/\*` \([\d.]+ ms against [\d.]+ ms\): set `pass` to `true`/,
    world: { site: site({}, { limits: { memoryBytes: 0 } }), answer: pageByQ, originMs: [1, 1] },
    changed: { site: site({ pass: true }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 250)}` }),
    comesTrue: ({ savedFetches }, before, after) => {
      expect(after.waits!.p50Ms).toBeLessThan(before.times.shared!.p50Ms / 2);
      expect(after.origin.asked - before.origin.asked).toBe(-savedFetches);
    },
  },
  {
    name: "a PoP that is too quiet for its lease",
    kind: "quiet-pop",
    says: /^`fra` has too few requests for its lease: .* % of them read the purge log: make `purge\.leaseMs` 10 times as long/,
    world: { site: site(), answer: pageByQ, originMs: [5, 9] },
    changed: { site: site({}, { purge: { leaseMs: 10_000 } }) },
    visit: (random) => ({ path: `/shop/list?q=${some(random, 3)}`, pauseMs: -1500 * Math.log(1 - random()) }),
    comesTrue: ({ effect }, _, after) => {
      const [, said] = /about ([\d.]+) %/.exec(effect)!;
      const share = (after.log.reads / after.requests) * 100;
      expect(Math.abs(share - Number(said))).toBeLessThan(5);
    },
  },
  {
    name: "a memory that is too small",
    kind: "small-memory",
    says: /^A memory of 1 MiB holds 3[\d.]+ % of the stored pages that visitors request: set `limits\.memoryBytes` to `"8MiB"`; at least 8[\d.]+ % would come from memory/,
    world: { site: site({}, { limits: { memoryBytes: "1MiB" } }), answer: pageOfItsSize },
    changed: { site: site({}, { limits: { memoryBytes: "8MiB" } }) },
    visit: (random) => ({ path: `/shop/${Math.floor(1000 * random() ** 2)}`, pauseMs: 20 }),
    requests: 10_000,
    comesTrue: ({ effect }, before, after) => {
      const said = Number(/at least ([\d.]+) %/.exec(effect)![1]) / 100;
      const [from, to] = [ratioInMemory(before), ratioInMemory(after)];
      expect({ from, to }).toMatchObject({ from: expect.closeTo(0.31, 1), to: expect.closeTo(said, 1) });
      expect(to).toBeGreaterThan(said - 0.01);
    },
  },
];

function shuffledCase(random: () => number, text: string): string {
  return [...text].map((each) => (random() < 0.5 ? each.toUpperCase() : each)).join("");
}

function shuffled<T>(random: () => number, list: readonly T[]): T[] {
  return list
    .map((each) => [random(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}

async function statsOf(world: ReplayWorld, visit: Case["visit"], requests = REQUESTS): Promise<SiteStats> {
  const replay = new Replay(7, {}, world);
  for (let turn = 0; turn < requests; turn++) {
    const { path, fields, address, pauseMs = 1000 } = visit(replay.random, turn);
    await replay.send("fra/0", path, fields, address);
    replay.now += Math.round(pauseMs);
  }
  await replay.reportAll();
  await replay.reportAll();
  return replay.stats();
}

/** A route with a thousand requests, half of which were hits. */
function routeWith({
  compared,
  ...rest
}: Partial<Omit<RouteStats, "compared">> & { compared?: Partial<ComparedPages> }) {
  const refetched = { same: 0, different: 0, elapsedMs: 0 };
  const visitors = { same: 0, different: 0 };
  const route: RouteStats = {
    requests: 1000,
    fromCache: 500,
    answers: { HIT: 500, MISS: 500 },
    statuses: { 200: 1000 },
    bytes: { fromCache: 0, fromOrigin: 0 },
    times: {},
    refused: {},
    compared: { keys: {}, lifetimes: {}, missingLifetimes: {}, refetched, visitors, ...compared },
    ...rest,
  };
  return { routes: { "/shop/*": route } };
}

/** Pages that need the field `ref` in the key for nothing, as far as these comparisons tell. */
function dropping(fetches: number, same: number) {
  return routeWith({ compared: { keys: { "drop ref": { fetches, same, different: 0 } } } });
}

function withoutLifetime(refused: number) {
  return routeWith({ refused: { "no-freshness": refused }, compared: { missingLifetimes: { 3600: 200 } } });
}

function refetched(same: number, different: number, elapsedMs: number, lifetimes: Record<number, number>) {
  return routeWith({ compared: { lifetimes, refetched: { same, different, elapsedMs } } });
}

const MIB = 1024 ** 2;

/** A memory of 16 MiB that holds 30 % of what is used. Memories of 64 and of 256 MiB would hold these shares. */
function remembering(uses: number, of64: number, of256 = of64): Partial<SiteStats> {
  const curve = [0.3, of64, of256].map((hitRatio, index) => ({ bytes: 16 * 4 ** index * MIB, hitRatio }));
  return { memory: { uses, held: uses * 0.3, maxBytes: 16 * MIB, curve } };
}

const timesOf = (count: number, p50Ms: number) => ({ count, p50Ms, meanMs: p50Ms, p95Ms: p50Ms, p99Ms: p50Ms });

function slowHits(requests: number, originMs: number) {
  return routeWith({ requests, times: { shared: timesOf(300, 10), origin: timesOf(100, originMs) } });
}

function tooLarge(refused: number, requests: number) {
  return routeWith({ requests, refused: { "too-large": refused } });
}

/** Answers that are not stored, most of them because they are private, and visitors who got the same page or another one. */
function sameFor(refused: number, different: number) {
  return routeWith({
    refused: { "set-cookie": refused - 1, private: refused },
    compared: { visitors: { same: 1, different } },
  });
}

const kindsOf = (stats: SiteStats) => verdictsOf(stats).map(({ kind }) => kind);
const ratioInMemory = ({ memory }: SiteStats) => memory!.held / memory!.uses;
const ratioOf = ({ requests, fromCache }: SiteStats) => fromCache / requests;

describe("a verdict comes true when its setting is changed", () => {
  const holds = async ({ kind, says, world, changed, visit, requests, comesTrue }: Case) => {
    const before = await statsOf(world, visit, requests);
    const verdict = verdictsOf(before).find((each) => each.kind === kind);
    expect(verdictsOf(before).map(verdictText).join("\n")).toMatch(new RegExp(says, "m"));
    const after = await statsOf({ ...world, ...changed }, visit, requests);
    if (comesTrue) comesTrue(verdict!, before, after);
    else {
      const { now, after: said } = verdict!.hitRatio!;
      expect(now).toBeCloseTo(ratioOf(before), 2);
      expect(Math.abs(ratioOf(after) - said)).toBeLessThan(0.02);
    }
    expect(verdictsOf(after).find((each) => each.kind === kind && each.setting === verdict!.setting)).toBeUndefined();
  };
  /** A setting helps in the key, or by storing. */
  const telling = ["a parameter that does not matter", "a lifetime that is too short"];
  const isTelling = ({ name }: Case) => telling.includes(name);
  test.each(CASES.filter(isTelling))("$name", { tags: ["gate"] }, holds);
  test.each(CASES.filter((each) => !isTelling(each)))("$name", { tags: ["deep"] }, holds);
});

test("a fetch whose answer was counted in an earlier report makes no share of more than all", async () => {
  const { world, visit } = CASES.find(({ name }) => name === "a parameter that splits refreshed pages")!;
  const stats = await statsOf(world, visit, 150);
  const route = stats.routes["/shop/*"]!;
  const routes = { "/shop/*": { ...route, answers: { HIT: route.requests } } };
  const said = verdictsOf({ ...stats, routes }).map(verdictText);
  expect(said).toContainEqual(expect.stringMatching(/^100 % of the fetches on `\/shop\/\*` differ/));
});

describe("nothing is said", () => {
  const [byParameter] = CASES;

  test.each<{ name: string; route?: RouteInput; fields?: Record<string, string>; sends: (choice: number) => object }>([
    {
      name: "the codings that a client accepts, which an owner cannot drop",
      fields: { vary: "accept-encoding" },
      sends: (choice) => ({ "accept-encoding": ["br", "zstd", "gzip", "identity"][choice] }),
    },
    {
      name: "Origin, without which a page of another origin may not read the answer",
      fields: { "access-control-allow-origin": "https://0.example.test", vary: "origin" },
      sends: (choice) => ({ origin: `https://${choice}.example.test` }),
    },
    {
      name: "a cookie that the owner has put in the key",
      route: { match: "/shop/*", key: { cookies: { currency: ["0", "1", "2", "3"] } } },
      sends: (choice) => ({ cookie: `currency=${choice}` }),
    },
    {
      name: "a field that the owner has put in the key",
      route: { match: "/shop/*", key: { fields: ["x-tenant"] } },
      fields: { vary: "x-tenant" },
      sends: (choice) => ({ "x-tenant": String(choice) }),
    },
    {
      name: "a language that the owner has put in the key",
      route: { match: "/shop/*", key: { languages: ["de", "en", "fr", "it"] } },
      sends: (choice) => ({ "accept-language": ["de", "en", "fr", "it"][choice] }),
    },
  ])("of a field that splits for nothing: $name", { tags: ["deep"] }, async ({ route, fields, sends }) => {
    const world = { site: site(route), answer: pageBy("q", { "cache-control": "max-age=300", ...fields }) };
    const stats = await statsOf(world, (random) => ({
      path: `/shop/list?q=${some(random, 20)}`,
      fields: sends(some(random, 4)) as Record<string, string>,
    }));
    expect(stats.answers.MISS).toBeGreaterThan(50);
    expect(kindsOf(stats)).not.toContain("vary");
  });

  test.each(inGate(3, CASES))("under a hundred requests: $name", async ({ kind, world, visit }) => {
    const stats = await statsOf(world, visit, 99);
    expect(verdictsOf(stats).filter((each) => each.kind === kind)).toEqual([]);
  });

  test("of a parameter that matters, even if only once", { tags: ["deep"] }, async () => {
    let answers = 0;
    const answer = (request: OriginRequest) => {
      const page = pageByQ(request);
      return ++answers === 300 ? { ...page, body: page.body.replace("page", "PAGE") } : page;
    };
    const stats = await statsOf({ site: site(), answer }, byParameter!.visit);
    expect(stats.routes["/shop/*"]!.compared.keys["drop ref"]!.same).toBeGreaterThan(100);
    expect(kindsOf(stats)).not.toContain("query");
  });

  test("of a parameter that speaks of credentials", { tags: ["deep"] }, async () => {
    const visit: Case["visit"] = (random) => ({ path: `/shop/list?q=1&user_token=${some(random, 100)}` });
    const stats = await statsOf({ site: site(), answer: pageByQ }, visit);
    expect(stats.routes["/shop/*"]!.compared.keys).toEqual({});
  });

  test("of a private page that differs for one visitor of many", { tags: ["deep"] }, async () => {
    let answers = 0;
    const answer = () => {
      const body = ++answers % 100 < 10 ? "your page" : "the page";
      return { fields: { "cache-control": "private", "content-length": String(body.length) }, body };
    };
    const visit: Case["visit"] = (_, turn) => ({ path: "/shop/list", address: `192.0.2.${turn % 250}` });
    const stats = await statsOf({ site: site(), answer }, visit);
    expect(stats.routes["/shop/*"]!.compared.visitors.different).toBeGreaterThan(0);
    expect(kindsOf(stats)).not.toContain("same-for-all");
  });

  test("of a private page that one visitor asks for all the time", { tags: ["deep"] }, async () => {
    const answer = pageBy("q", { "cache-control": "private" });
    const visit: Case["visit"] = () => ({ path: "/shop/list?q=1", address: "192.0.2.1" });
    expect(kindsOf(await statsOf({ site: site(), answer }, visit))).not.toContain("same-for-all");
  });

  test("of pages that change as often as they expire", { tags: ["deep"] }, async () => {
    let version = 0;
    const answer = () => {
      const body = `version ${version++}`;
      return { fields: { "cache-control": "max-age=5", "content-length": String(body.length) }, body };
    };
    const stats = await statsOf({ site: site(), answer }, () => ({ path: "/shop/list" }));
    expect(stats.routes["/shop/*"]!.compared.refetched.different).toBeGreaterThan(50);
    expect(kindsOf(stats)).not.toContain("short-lifetime");
  });
});

describe("the counts of a site", async () => {
  const one = await statsOf({ site: site(), answer: pageByQ }, () => ({ path: "/" }), 1);
  const none: SiteStats = { ...one, routes: {}, pops: {}, memory: undefined };
  const all = (counts: Partial<SiteStats>) => verdictsOf({ ...none, requests: 1000, ...counts });
  const said = (counts: Partial<SiteStats>) => all(counts).map(verdictText);
  const machine = { memory: { bytes: 0, maxBytes: 32 * MIB } } as NonNullable<SiteStats["machine"]>;

  test.each<[name: string, enough: Partial<SiteStats>, says: RegExp, tooFew: Partial<SiteStats>]>([
    ["fetches", dropping(10, 20), /`ref`/, dropping(9, 20)],
    ["compared bodies", dropping(10, 20), /`ref`/, dropping(10, 19)],
    ["answers without a lifetime", withoutLifetime(100), /`defaultTtl` to `"1h"`/, withoutLifetime(99)],
    ["pages fetched again", refetched(20, 0, 6e6, { 60: 99 }), /`ttl` to `"1m"`/, refetched(19, 0, 6e6, { 60: 99 })],
    ["unchanged ones", refetched(20, 2, 2e6, { 60: 99 }), /`ttl` to `"1m"`/, refetched(20, 3, 6e6, { 60: 99 })],
    ["seconds between changes", refetched(20, 2, 12e5, { 60: 99 }), /"1m"/, refetched(20, 2, 11e5, { 60: 99 })],
    ["uses of a memory", remembering(1000, 0.5), /`limits\.memoryBytes` to `"64MiB"`/, remembering(999, 0.5)],
    ["more of them in a larger one", remembering(1000, 0.36), /to `"64MiB"`/, remembering(1000, 0.34)],
    ["requests of a PoP", readingOften("fra", 100), /^`fra` has too few requests/, readingOften("fra", 99)],
    ["hits from the PoP's cache", slowHits(700, 11), /10 ms against 1 ms/, slowHits(701, 11)],
    ["milliseconds that they cost", slowHits(700, 16), /10 ms against 6 ms/, slowHits(700, 17)],
    ["large pages", tooLarge(200, 20_000), /they are too large/, tooLarge(199, 20_000)],
    ["large pages of a quiet route", tooLarge(100, 1000), /they are too large/, tooLarge(99, 1000)],
    ["visitors with the same page", sameFor(100, 0), /`private`; yet a page was the same/, sameFor(99, 0)],
    ["of them without another one", sameFor(100, 0), /and none differed/, sameFor(100, 1)],
    ["requests with a field", unkeyed("x-app", 100), /`x-app`, which is not in the key/, unkeyed("x-app", 99)],
  ])("lead to advice if there are enough %s, and to none below that", (_, enough, says, tooFew) => {
    expect(said(enough)).toEqual([expect.stringMatching(says)]);
    expect(said(tooFew)).toEqual([]);
  });

  test("of what has no name of its own lead to no advice", () => {
    const { routes } = dropping(500, 500);
    expect(said({ routes: { "(others)": routes["/shop/*"] } })).toEqual([]);
    expect(said(unkeyed("(others)", 500))).toEqual([]);
    const others = { fetches: 500, same: 500, different: 0 };
    expect(said(routeWith({ compared: { keys: { "(others)": others } } }))).toEqual([]);
  });

  test("promise no more hits than there are requests", () => {
    expect(said(dropping(900, 900))).toEqual([
      expect.stringContaining("100 % of its requests would come from the cache"),
    ]);
  });

  test("lead to the narrower of two changes, and to the shorter of two lifetimes, that save as much", () => {
    const counts = { fetches: 90, same: 90, different: 0 };
    const keys = { "drop *": counts, "drop ref": counts, "lowercase ref": counts };
    expect(said(routeWith({ compared: { keys } }))).toEqual([expect.stringContaining("`key.query.lowercase`")]);
    expect(said(refetched(20, 0, 6e8, { 60: 90, 600: 100, 3600: 110 }))).toEqual([expect.stringContaining('"10m"')]);
  });

  test("let a machine's memory grow further than an isolate on Workers may", () => {
    const counts = remembering(1000, 0.5, 0.9);
    expect(said(counts)).toEqual([expect.stringContaining('`limits.memoryBytes` to `"64MiB"`')]);
    expect(said({ ...counts, machine })).toEqual([expect.stringContaining('`--memory` to `"512MiB"`')]);
  });

  test("lead to ten pieces of advice at most, those first that save the origin most", () => {
    const saved = [3, 9, 1, 12, 5, 7, 11, 2, 10, 4, 8, 6].map((count) => count * 100);
    const unkeyedFields = Object.fromEntries(saved.map((count) => [`x-${count}`, count]));
    const most = saved.toSorted((a, b) => b - a).slice(0, 10);
    expect(all({ store: { ...none.store, unkeyedFields } }).map(({ savedFetches }) => savedFetches)).toEqual(most);
  });

  test("show no control characters of names that others choose", () => {
    const lines = [...said(unkeyed("x-\u001b[2J", 500)), ...said(readingOften("\u001b[2J", 500))];
    expect(lines).toEqual([expect.stringContaining("x-\ufffd[2J"), expect.stringContaining("`\ufffd[2J`")]);
  });

  function unkeyed(name: string, count: number): Partial<SiteStats> {
    return { store: { ...none.store, unkeyedFields: { [name]: count } } };
  }

  function readingOften(pop: string, requests: number): Partial<SiteStats> {
    return { pops: { [pop]: { ...none, requests, log: { ...none.log, reads: requests / 2 } } } };
  }
});
