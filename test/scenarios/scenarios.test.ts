import { afterAll, beforeAll, describe, test } from "vitest";
import { playInOrders, SEEDS } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime-engine.ts";
import { type EngineName, runsOn, type Scenario } from "../engine/scenario.ts";
import { startServerEngine } from "../engine/server-engine.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { drawn } from "../suite/drawn.ts";
import { scenarios } from "./index.ts";

const ORDERS = drawn("orders of events", SEEDS, byDepth({ test: 20, gate: 20, all: 1 }));

/**
 * All are played in memory, and one of so many over sockets as well: what one of those engines alone does wrong shows in
 * several scenarios, so that a part of them finds it.
 */
const IN_RUNTIME = byDepth({ test: 8, gate: 6, all: 1 });
const ON_SERVER = byDepth({ test: 5, gate: 4, all: 1 });

const played = { memory: 0, orders: 0, runtime: 0, server: 0 };

function scenariosOn(engine: EngineName): readonly Scenario[] {
  return scenarios.filter((scenario) => runsOn(scenario, engine));
}

/** A part of those that memory plays as well, and all others. */
function drawnFor(engine: EngineName, inOne: number): readonly Scenario[] {
  const [inMemory, others] = [true, false].map((is) =>
    scenariosOn(engine).filter((scenario) => runsOn(scenario, "memory") === is),
  ) as [Scenario[], Scenario[]];
  return [...drawn(`scenarios played in memory that the ${engine} plays, too`, inMemory, inOne), ...others];
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

  test.each(drawnFor("runtime", IN_RUNTIME))("$name ($id)", async (scenario) => {
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
  test.each(drawnFor("server", ON_SERVER))("$name ($id)", async (scenario) => {
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
