import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Exchange } from "../../../tools/audit/exchange.ts";
import type { Input } from "../../../tools/audit/input.ts";
import { PathWalk } from "../../../tools/audit/walk-path.ts";
import { ENTRIES } from "../../mutants/entries.ts";
import type { Change } from "../../mutants/mutant.ts";
import { mutated } from "../../mutants/sources/mutated-sources.ts";

const NAMES = ["alice", "bob"] as const;

interface World {
  /** The body of the answer to the n-th request that reaches the origin. */
  readonly body: (who: string, n: number) => string;
  /** At which request for a URL the answer is stored; `null` for never. Default: the first. */
  readonly storesAt?: number | null;
  /** Whether the page says `Vary: Cookie`, and the store keeps to it. */
  readonly varies?: true;
  /** Whether the page is private, and answers do not say where they come from. */
  readonly isSilent?: true;
  /** What strangers try. Default: nothing. */
  readonly inputs?: readonly Input[];
}

/**
 * Walks a page of a world in memory. Returns the findings, who asked in which order, and whether the first answers
 * showed that the page is stored under its buster.
 */
async function walk(
  { body, storesAt = 1, varies, isSilent, inputs: tried = [] }: World,
  change?: Change,
): Promise<{ ids: string[]; order: string[]; isShown: boolean }> {
  const Walk = change ? await mutatedWalk(change) : PathWalk;
  const asked = new Map<string, number>();
  const stored = new Map<string, string>();
  const order: string[] = [];
  let n = 0;
  const page = new Walk(
    { method: "GET", path: "/page" },
    {
      ask: async (_target, who, buster, inputs): Promise<Exchange> => {
        order.push(who);
        const key = varies ? `${buster} of ${who}` : String(buster);
        const times = (asked.get(key) ?? 0) + 1;
        asked.set(key, times);
        const found = stored.get(key);
        const answer = found ?? body(who, n++);
        if (found === undefined && times === storesAt) stored.set(key, answer);
        const digest = createHash("sha256").update(answer).digest("base64");
        return {
          who,
          buster,
          inputs,
          status: 200,
          fields: { ...(varies && { vary: ["Cookie"] }), ...(isSilent && { "cache-control": ["private"] }) },
          text: answer,
          digest,
          bytes: answer.length,
          provenance: isSilent ? "unknown" : found === undefined ? "miss" : "hit",
        };
      },
      identities: NAMES.map((name) => ({ name, credentials: { cookie: `id=${name}` }, canaries: [] })),
      inputs: tried,
      buster: "b",
      hosts: ["www.example.com"],
    },
  );
  const isShown = await page.begin();
  return { ids: (await page.walk()).map(({ id }) => id), order, isShown };
}

async function mutatedWalk(change: Change): Promise<typeof PathWalk> {
  const modules = await mutated(change, ENTRIES.walk);
  return (modules(ENTRIES.walk[0]) as { PathWalk: typeof PathWalk }).PathWalk;
}

/** Numbers below `below`, decided by the seed: mulberry32. */
function chances(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const greeting = (who: string, n: number) => `Hello ${who}, it is ${1000 + n}.`;

/** Findings in pages with one of three banners each, which are everybody's, of 200 seeds. */
async function foundAmongBanners(change?: Change): Promise<number> {
  let found = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const chance = chances(seed);
    const banner = () => ["Shoes for winter", "Hats from Panama", "Rings and bracelets"][chance(3)]!;
    const { ids } = await walk({ body: () => banner(), storesAt: null }, change);
    found += ids.length;
  }
  return found;
}

describe("the walk over one page", () => {
  test("finds answers that were given to others", async () => {
    expect((await walk({ body: greeting })).ids).toEqual(["shared:/page"]);
  });

  test("finds nothing where nothing is stored", async () => {
    expect((await walk({ body: greeting, storesAt: null })).ids).toEqual([]);
  });

  test("finds them in a cache that stores only pages requested three times", async () => {
    expect((await walk({ body: greeting, storesAt: 3 })).ids).toEqual(["shared:/page"]);
  });

  test("sends requests without credentials and two busters before any with credentials", async () => {
    const { order } = await walk({ body: greeting });
    expect(order.slice(0, 4)).toEqual(["stranger", "stranger", "stranger", "alice"]);
  });

  test("does not mistake random content for a visitor's own", { tags: ["deep"] }, async () => {
    expect(await foundAmongBanners()).toBe(0);
  });

  test("does not take a private page with one of a few banners for a stored one", async () => {
    for (const banners of [2, 3, 5]) {
      for (let seed = 1; seed <= 40; seed++) {
        const chance = chances(seed);
        const body = () => ["Shoes", "Hats", "Rings", "Gloves", "Coats"][chance(banners)]!;
        const { ids, isShown } = await walk({ body, storesAt: null, isSilent: true });
        expect({ ids, isShown }, `${banners} banners, seed ${seed}`).toEqual({ ids: [], isShown: false });
      }
    }
  });

  test("rarely takes a page with one of many banners for a stored one", async () => {
    let found = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const chance = chances(seed);
      const { ids, isShown } = await walk({ body: () => `Offer ${100 + chance(20)}`, storesAt: null, isSilent: true });
      if (ids.length > 0 || isShown) found++;
    }
    expect(found).toBeLessThan(3);
  });

  test("finds private pages in a cache that does not mark hits", async () => {
    const { ids, isShown } = await walk({ body: greeting, isSilent: true });
    expect({ ids, isShown }).toEqual({ ids: ["shared:/page", "stored:private:/page"], isShown: true });
  });

  test("does not mistake two servers that answer in turn for two visitors", async () => {
    const { ids } = await walk({ body: (_who, n) => `from server number-${n % 2}`, storesAt: null });
    expect(ids).toEqual([]);
  });

  test("does not mistake a change of time for an effect of a field", async () => {
    const inputs = [{ kind: "field", name: "x-shop", value: "b" }] as const;
    // When the minute ends decides which of the answers show the new one.
    for (let ends = 1; ends <= 40; ends++) {
      const { ids } = await walk({ body: (_who, n) => `It is 10:${n < ends ? 58 : 59}.`, varies: true, inputs });
      expect(ids, `the minute ends at request ${ends}`).toEqual([]);
    }
  });
});

describe("a wrong audit is found", () => {
  test("that requests only once what may be stored later", { tags: ["deep"] }, async () => {
    const hasty = { in: "ASKS_FOR_A_HIT", replace: "= 3", by: "= 1" };
    expect((await walk({ body: greeting, storesAt: 3 }, hasty)).ids).toEqual([]);
  });

  test("that sends credentials first", { tags: ["gate"] }, async () => {
    const rash = { in: "PathWalk.begin", replace: "#askUntilHit(STRANGER, url)", by: '#askUntilHit("alice", url)' };
    expect((await walk({ body: greeting }, rash)).order[0]).toBe("alice");
  });

  test("that does not request again before it reports a finding", { tags: ["deep"] }, async () => {
    const sure = {
      in: "PathWalk.#confirmed",
      replace: "if (!findings.some(",
      by: "if (findings.length > 0 || !findings.some(",
    };
    expect(await foundAmongBanners(sure)).toBeGreaterThan(0);
  });
});
