import { describe, expect, test } from "vitest";
import type { Scenario } from "../engine/scenario.ts";
import { hunt } from "./hunt.ts";
import { mutants } from "./index.ts";
import type { Mutant, Mutation } from "./mutant.ts";

const FEW = { scenario: 3, simulation: 3 };
const FRESH = "freshness/fresh-to-last-millisecond";

const JUDGE = { file: "worker/rules/freshness/judge.ts", from: "ageMs < lifetimeMs" };
const NOTHING: Mutation = { ...JUDGE, to: JUDGE.from };
const FRESH_AT_ITS_END: Mutation = { ...JUDGE, to: "ageMs <= lifetimeMs" };

const NEVER_PURGED: Mutant = {
  name: "an entry is never purged",
  file: "worker/purges/view/purge-view.ts",
  from: "if (checked.seq > 0) return answer;",
  to: "",
  foundBy: "simulation",
};

/** The first worlds do not find it. */
const FOUND_LATER: Mutant = mutants.get("worlds/r14-read-from-memory")!;

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

function reddening(scenario: string, mutation: Mutation): Mutant {
  return { name: "under test", reddens: scenario, ...mutation };
}

describe("a hunt", () => {
  test("finds a mutant by its scenario", async () => {
    expect(await hunt(reddening(FRESH, FRESH_AT_ITS_END), FEW)).toBe(1);
  });

  test("finds a mutant by a promise that breaks in a world", async () => {
    expect(await hunt(NEVER_PURGED, { scenario: 0, simulation: 30 })).toBeTypeOf("number");
  });

  test("begins with the likely seed, and finds by the others what that one does not find", async () => {
    const first = (await hunt(FOUND_LATER, { scenario: 0, simulation: 30 })) as number;
    expect(first).toBeGreaterThan(1);
    expect(await hunt(FOUND_LATER, { scenario: 0, simulation: 30, likely: first })).toBe(first);
    expect(await hunt(FOUND_LATER, { scenario: 0, simulation: 30, likely: 1 })).toBe(first);
    expect(await hunt(FOUND_LATER, { scenario: 0, simulation: first - 1, likely: first })).toBe(first);
    expect(await hunt(FOUND_LATER, { scenario: 0, simulation: first - 1 })).toBe("survived");
  });

  test("tells that a mutant survives which changes nothing", async () => {
    expect(await hunt(reddening(FRESH, NOTHING), FEW)).toBe("survived");
    expect(await hunt({ name: "under test", foundBy: "simulation", ...NOTHING }, FEW)).toBe("survived");
  });

  test("tells that a mutant survives whose scenario does not look", async () => {
    expect(await hunt(reddening("freshness/hit", FRESH_AT_ITS_END), FEW, [hit])).toBe("survived");
  });

  test("finds a mutant under which a request hangs", async () => {
    const silentLeader: Mutation = {
      file: "worker/flow/storing/fetch-and-store.ts",
      from: 'return tellFollowers(read.kind === "too-large"',
      to: `if (read.kind === "cut-off") return;
    return tellFollowers(read.kind === "too-large"`,
    };
    expect(await hunt(reddening("collapsing/leader-fails", silentLeader), FEW)).toBe(1);
  });

  test("finds a mutant under which the origin is waited for in vain", async () => {
    const neverAsked: Mutation = {
      file: "worker/flow/origin/ask-origin.ts",
      from: 'hasLooped(facts.field("cdn-loop"), resolved.host)',
      to: "true",
    };
    expect(await hunt(reddening("purge-protocol/unrelated-purge-during-fill", neverAsked), FEW)).toBe(1);
  });
});

describe("a hunt that would prove nothing is an error", () => {
  test.each<{ name: string; mutant: Mutant; message: string | RegExp }>([
    {
      name: "the text is not there",
      mutant: reddening(FRESH, { ...JUDGE, from: "ageMs >= for ever", to: "" }),
      message: "worker/rules/freshness/judge.ts must have this text once, and has it 0 times: ageMs >= for ever",
    },
    {
      name: "the text is there more than once",
      mutant: reddening(FRESH, { ...JUDGE, from: 'kind: "none", because:', to: "" }),
      message: /has it [2-9] times: kind: "none", because:/,
    },
    {
      name: "the file is not part of what runs in memory",
      mutant: reddening(FRESH, { file: "worker/platform/cache-api-tier.ts", from: "match", to: "" }),
      message: "worker/platform/cache-api-tier.ts is not among the sources that run in memory",
    },
    {
      name: "there is no such scenario",
      mutant: reddening("freshness/nobody-wrote-this", FRESH_AT_ITS_END),
      message: "no scenario has this id: freshness/nobody-wrote-this",
    },
    {
      name: "the scenario does not run in memory",
      mutant: reddening("forwarding/get-body-is-dropped", FRESH_AT_ITS_END),
      message: "this scenario does not run in memory: forwarding/get-body-is-dropped",
    },
    {
      name: "the code under the mutant is none",
      mutant: reddening(FRESH, { ...JUDGE, to: "ageMs < (" }),
      message: "Unexpected",
    },
    {
      name: "the code under the mutant crashes",
      mutant: reddening(FRESH, { ...JUDGE, to: "noSuchName < lifetimeMs" }),
      message: "the code crashes under this mutant",
    },
    {
      name: "the code under the mutant crashes in a world",
      mutant: { ...JUDGE, name: "under test", to: "noSuchName < lifetimeMs", foundBy: "simulation" },
      message: "the code crashes under this mutant",
    },
  ])("$name", async ({ mutant, message }) => {
    await expect(hunt(mutant, FEW)).rejects.toThrow(message);
  });

  test("the scenario is red without the mutant as well", async () => {
    const red: Scenario = { ...hit, steps: [{ get: "/a", expect: { xCache: "HIT" } }] };
    const hunting = hunt(reddening("freshness/hit", FRESH_AT_ITS_END), FEW, [red]);
    await expect(hunting).rejects.toThrow("the scenario is red without the mutant as well");
  });
});
