import { afterAll, beforeAll, describe, test } from "vitest";
import { ORDERS, playInOrders } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime-engine.ts";
import { type EngineName, runsOn, type Scenario } from "../engine/scenario.ts";
import { startServerEngine } from "../engine/server-engine.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { scenarios } from "./index.ts";

const MOST = byDepth({ test: 8, gate: 10, all: ORDERS });

const played = { memory: 0, orders: 0, runtime: 0, server: 0 };

function scenariosOn(engine: EngineName): readonly Scenario[] {
  return scenarios.filter((scenario) => runsOn(scenario, engine));
}

describe(`in memory, under up to ${MOST} orders of events`, () => {
  test.each(scenariosOn("memory"))("$name ($id)", async (scenario) => {
    played.orders += await playInOrders(scenario, { all: depth === "all", most: MOST });
    played.memory++;
  });
});

describe("in the Workers runtime", () => {
  let runtime: ScenarioRuntime;
  beforeAll(async () => {
    runtime = await ScenarioRuntime.start();
  });
  afterAll(() => runtime.stop());

  test.each(scenariosOn("runtime"))("$name ($id)", async (scenario) => {
    const engine = await runtime.begin(scenario.site ?? {});
    try {
      await play(scenario, engine);
      played.runtime++;
    } finally {
      await engine.stop();
    }
  });
});

describe("on one's own server", () => {
  test.each(scenariosOn("server"))("$name ($id)", async (scenario) => {
    const engine = await startServerEngine(scenario.site ?? {});
    try {
      await play(scenario, engine);
      played.server++;
    } finally {
      await engine.stop();
    }
  });
});

afterAll(() => {
  const all = scenarios.filter(({ only }) => only === undefined).length;
  const inMemory = `${played.memory} in memory under ${played.orders} orders of events`;
  process.stdout.write(
    `scenarios: ${inMemory}, ${played.runtime} in the runtime, ${played.server} on the server, ${all} on all\n`,
  );
});
