import { describe, expect, test } from "vitest";
import type { Scenario } from "../engine/scenario.ts";
import { scenarioFinder, worldFinder } from "./engine-finders.ts";
import type { Finder } from "./finder.ts";
import { finderNamed } from "./finders.ts";
import { hunt } from "./hunt.ts";
import type { Change } from "./mutant.ts";
import { soundModules } from "./sources/mutated-sources.ts";

const FRESH = finderNamed("freshness/fresh-to-last-millisecond");

const NOTHING: Change = { in: "judge", replace: "ageMs < lifetimeMs", by: "ageMs < lifetimeMs" };
const FRESH_AT_ITS_END: Change = { in: "judge", replace: "ageMs < lifetimeMs", by: "ageMs <= lifetimeMs" };
const CRASHING: Change = { in: "judge", replace: "ageMs < lifetimeMs", by: "noSuchName < lifetimeMs" };
const NEVER_PURGED: Change = { in: "PurgeView.#findAnswer", drop: "if (checked.seq > 0) return answer;" };

const page = { fields: { "cache-control": "max-age=60" }, body: "v1" };
const hit: Scenario = {
  id: "freshness/hit",
  name: "a hit",
  source: "RFC 9111 §4",
  origin: { "/a": [page] },
  steps: [
    { get: "/a", expect: { xCache: "MISS" } },
    { get: "/a", expect: { xCache: "HIT" } },
  ],
};

/** A test that is tried under these seeds, and finds each mutant under one of them. */
function findingUnder(found: number, ...seeds: readonly number[]): Finder & { readonly tried: number[] } {
  const tried: number[] = [];
  const failure: Finder["failure"] = async (modules, seed) => {
    if (modules === (await soundModules())) return null;
    tried.push(seed);
    return seed === found ? new Error("found") : null;
  };
  return { ...FRESH, seeds: () => seeds, failure, tried };
}

describe("a hunt", () => {
  test("finds a mutant by its scenario", { tags: ["gate"] }, async () => {
    expect(await hunt(FRESH_AT_ITS_END, FRESH)).toBe(1);
  });

  test("finds a mutant by a promise that breaks in a world", async () => {
    expect(await hunt(NEVER_PURGED, worldFinder(30))).toBeTypeOf("number");
  });

  test("tries one seed after the other", async () => {
    const finder = findingUnder(9, 4, 2, 9, 1);
    expect(await hunt(FRESH_AT_ITS_END, finder)).toBe(9);
    expect(finder.tried).toEqual([4, 2, 9]);
    expect(await hunt(FRESH_AT_ITS_END, findingUnder(9, 4, 2))).toBe("survived");
  });

  test("tells that a mutant survives which changes nothing", { tags: ["deep"] }, async () => {
    expect(await hunt(NOTHING, FRESH)).toBe("survived");
    expect(await hunt(NOTHING, worldFinder(3))).toBe("survived");
  });

  test("tells that a mutant survives whose scenario does not look", async () => {
    expect(await hunt(FRESH_AT_ITS_END, scenarioFinder(hit, 3))).toBe("survived");
  });

  test("finds a mutant under which a request hangs", async () => {
    const silentLeader: Change = {
      in: "storeIfWhole",
      replace: 'return tellFollowers(read.kind === "too-large"',
      by: 'if (read.kind === "cut-off") return; return tellFollowers(read.kind === "too-large"',
    };
    expect(await hunt(silentLeader, finderNamed("collapsing/leader-fails"))).toBe(1);
  });

  test("finds a mutant under which the origin is waited for in vain", { tags: ["deep"] }, async () => {
    const neverAsked: Change = { in: "hasLooped", wrap: "() => true" };
    expect(await hunt(neverAsked, finderNamed("purge-protocol/unrelated-purge-during-fill"))).toBe(1);
  });
});

describe("worlds are tried", () => {
  const first = (likely: number, count: number) => [...worldFinder().seeds(likely)].slice(0, count);

  test("from the one that found the mutant before, on with those of its kind, and then in turn", () => {
    expect(first(43, 3)).toEqual([43, 163, 283]);
    const all = [...worldFinder().seeds(43)];
    expect(all.slice(400, 403)).toEqual([1, 2, 3]);
    expect(new Set(all).size).toBe(2000);
    expect(all).toHaveLength(2000);
  });

  test("no more than asked for", () => {
    expect([...worldFinder(2).seeds(43)]).toEqual([43, 163]);
  });
});

describe("a hunt that would prove nothing is an error", () => {
  test("the file is not part of what runs in memory", async () => {
    const elsewhere: Change = { in: "CacheFolder.nameOf", wrap: "() => 1" };
    await expect(hunt(elsewhere, FRESH)).rejects.toThrow("which is not among the sources that run");
  });

  test("there is no such scenario, and no such case", () => {
    const message = "no scenario and no case of a suite has this name";
    expect(() => finderNamed("freshness/nobody-wrote-this")).toThrow(message);
    expect(() => finderNamed("doors: nobody wrote this")).toThrow(message);
  });

  test("the scenario does not run in memory", () => {
    const message = "this scenario does not run in memory: forwarding/get-body-is-dropped";
    expect(() => finderNamed("forwarding/get-body-is-dropped")).toThrow(message);
  });

  test("the code under the mutant is none", async () => {
    await expect(hunt({ in: "judge", replace: "ageMs < lifetimeMs", by: "ageMs < (" }, FRESH)).rejects.toThrow(
      "Unexpected",
    );
  });

  test.each<[string, Change, Finder]>([
    ["a scenario", CRASHING, FRESH],
    ["a world", CRASHING, worldFinder(3)],
    [
      "a case at the doors",
      { in: "answerAtDoor", replace: 'if (access.kind === "refused")', by: "if (noSuchName)" },
      finderNamed("doors: Cloudflare: no token"),
    ],
    ["another case", { in: "provenanceOf", wrap: "() => noSuchName" }, finderNamed("audit: the status")],
  ])("the code crashes under the mutant in %s", async (_, crashing, finder) => {
    await expect(hunt(crashing, finder)).rejects.toThrow("the code crashes under this mutant");
  });

  test("the test fails without the mutant as well", async () => {
    const red: Scenario = { ...hit, steps: [{ get: "/a", expect: { xCache: "HIT" } }] };
    const hunting = hunt(FRESH_AT_ITS_END, scenarioFinder(red));
    await expect(hunting).rejects.toThrow("the test fails without the mutant as well");
  });
});
