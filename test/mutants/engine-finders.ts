import type { Engine } from "../engine/engine.ts";
import { ORDERS } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { runsOn, type Scenario, TOKEN } from "../engine/scenario.ts";
import { WORLDS } from "../simulation/explore.ts";
import { ENTRIES } from "./entries.ts";
import { Crash, type Finder } from "./finder.ts";
import { enginesOf } from "./sources/mutated-sources.ts";

/** The isolates that scenarios can name. The first is that of requests without a name. */
const ISOLATES = ["a", "b", "c"] as const;

/** A scenario under up to so many orders of events. An engine that never comes to rest is a failure, too. */
export function scenarioFinder(scenario: Scenario, orders = ORDERS): Finder {
  if (!runsOn(scenario, "memory")) throw new Error(`this scenario does not run in memory: ${scenario.id}`);
  return {
    entries: ENTRIES.engine,
    seeds: (likely) => [likely, ...seedsUpTo(orders).filter((seed) => seed !== likely)],
    async failure(modules, seed) {
      const engine = enginesOf(modules).startMemoryEngine(scenario.site ?? {}, seed);
      try {
        await play(scenario, engine);
        await engine.stop();
        return null;
      } catch (failure) {
        if (await hasCrashed(engine, scenario)) throw new Crash(failure);
        return failure;
      }
    },
  };
}

/** Whether the last catch of an isolate had to answer. */
async function hasCrashed(engine: Engine, scenario: Scenario): Promise<boolean> {
  const fields = { authorization: `Bearer ${TOKEN}` };
  const steps = JSON.stringify(scenario.steps);
  const used = ISOLATES.filter((isolate, index) => index === 0 || steps.includes(`"isolate":"${isolate}"`));
  const asked = used.map((isolate) => engine.send({ path: "/_tidemark/stats?scope=isolate", isolate, fields }));
  const answers = await engine.settle(Promise.all(asked));
  return answers.some(({ body }) => (JSON.parse(body) as { failures: number }).failures > 0);
}

/** The remainder of its seed by this number decides of which kind a world is: how its log pushes, with a parent, or calm. */
const KINDS = 120;
/** So many worlds of the kind of the one that has found a mutant are tried before all others. */
const OF_THAT_KIND = 400;

/** The random worlds, up to so many. */
export function worldFinder(worlds = WORLDS): Finder {
  return {
    entries: ENTRIES.engine,
    seeds: (likely) => {
      const ofThatKind = Array.from({ length: Math.min(OF_THAT_KIND, worlds) }, (_, index) => likely + index * KINDS);
      return [...new Set([...ofThatKind, ...seedsUpTo(worlds)])].slice(0, worlds);
    },
    async failure(modules, seed) {
      const { bugs, broken } = await new (enginesOf(modules).World)(seed).run();
      if (bugs.length > 0) throw new Crash(bugs[0]);
      return broken[0] ?? null;
    },
  };
}

function seedsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
