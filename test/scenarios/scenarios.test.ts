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

/** `npm test` plays each scenario on one engine: in memory, unless it cannot run there. */
function tagsOf(scenario: Scenario): { tags: string[] } {
  return { tags: runsOn(scenario, "memory") ? ["gate"] : [] };
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
