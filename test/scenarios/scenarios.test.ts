import { afterAll, beforeAll, describe, test } from "vitest";
import { playInOrders, SEEDS } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime/runtime-engine.ts";
import { type EngineName, runsOn, type Scenario } from "../engine/scenario.ts";
import { startServerEngine } from "../engine/server/server-engine.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { scenarios } from "./index.ts";

const ORDERS = SEEDS.slice(0, byDepth({ test: 1, gate: 1, all: 6, explore: SEEDS.length }));

const played = { memory: 0, orders: 0, runtime: 0, server: 0 };

function scenariosOn(engine: EngineName): readonly Scenario[] {
  return scenarios.filter((scenario) => runsOn(scenario, engine));
}

/** Areas whose rules are pure functions of fields and times, which are the same code on every engine. */
const OF_RULES_ALONE: ReadonlySet<string> = new Set([
  "bypass",
  "cache-groups",
  "client-response",
  "directives",
  "explain",
  "freshening",
  "freshness",
  "identity",
  "key",
  "second-look",
  "stale-if-error",
  "stale-while-revalidate",
  "storing",
  "targeted-fields",
  "validation",
  "variants",
]);

/** The scenarios of such areas that the gate plays on the engines that are not memory: the first few of each. */
const IN_GATE = new Set([...Map.groupBy(scenarios, areaOf).values()].flatMap((ofArea) => ofArea.slice(0, 5)));

/**
 * `npm test` plays each scenario on one engine: in memory, unless it cannot run there. The gate plays it on the others, too,
 * but of areas of rules alone the first few.
 */
function tagsOf(scenario: Scenario): { tags: string[] } {
  if (!runsOn(scenario, "memory")) return { tags: [] };
  return { tags: [OF_RULES_ALONE.has(areaOf(scenario)) && !IN_GATE.has(scenario) ? "deep" : "gate"] };
}

function areaOf({ id }: Scenario): string {
  return id.slice(0, id.indexOf("/"));
}

describe(`in memory, under up to ${ORDERS.length} orders of events`, () => {
  test.each(scenariosOn("memory"))("$name ($id)", async (scenario) => {
    played.orders += await playInOrders(scenario, { all: depth === "all", seeds: ORDERS });
    played.memory++;
  });
});

describe("in the Workers runtime", () => {
  let runtime: ScenarioRuntime;
  beforeAll(async () => {
    runtime = await ScenarioRuntime.start();
  });
  afterAll(() => runtime.stop());

  for (const scenario of scenariosOn("runtime")) {
    test(`${scenario.name} (${scenario.id})`, tagsOf(scenario), async () => {
      const engine = await runtime.begin(scenario.site ?? {});
      try {
        await play(scenario, engine);
        played.runtime++;
      } finally {
        await engine.stop();
      }
    });
  }
});

describe("on one's own server", () => {
  for (const scenario of scenariosOn("server")) {
    test(`${scenario.name} (${scenario.id})`, tagsOf(scenario), async () => {
      const engine = await startServerEngine(scenario.site ?? {});
      try {
        await play(scenario, engine);
        played.server++;
      } finally {
        await engine.stop();
      }
    });
  }
});

afterAll(() => {
  const all = scenarios.filter(({ only }) => only === undefined).length;
  const inMemory = `${played.memory} in memory under ${played.orders} orders of events`;
  process.stdout.write(
    `scenarios: ${inMemory}, ${played.runtime} in the runtime, ${played.server} on the server, ${all} on all\n`,
  );
});
