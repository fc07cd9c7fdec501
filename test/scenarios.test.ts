import { afterAll, beforeAll, describe, test } from "vitest";
import { startMemoryEngine } from "./engine/memory-engine.ts";
import { play } from "./engine/play.ts";
import { ScenarioRuntime } from "./engine/runtime-engine.ts";
import type { Scenario } from "./engine/scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** In memory a scenario runs under this many orders of events. */
const SEEDS = 20;

const played = { memory: 0, runtime: 0 };

function runsOn(engine: "memory" | "runtime"): readonly Scenario[] {
  return scenarios.filter(({ only }) => only === undefined || only.engine === engine);
}

describe(`in memory, under ${SEEDS} orders of events each`, () => {
  test.each(runsOn("memory"))("$name", async (scenario) => {
    for (let seed = 1; seed <= (scenario.orders ?? SEEDS); seed++) {
      const engine = startMemoryEngine(scenario.site ?? {}, seed);
      await play(scenario, engine);
      await engine.stop();
    }
    played.memory++;
  });
});

describe("in the Workers runtime", () => {
  let runtime: ScenarioRuntime;
  beforeAll(async () => {
    runtime = await ScenarioRuntime.start();
  });
  afterAll(() => runtime.stop());

  test.each(runsOn("runtime"))("$name", async (scenario) => {
    const engine = await runtime.begin(scenario.site ?? {});
    try {
      await play(scenario, engine);
      played.runtime++;
    } finally {
      await engine.stop();
    }
  });
});

afterAll(() => {
  const both = scenarios.filter(({ only }) => only === undefined).length;
  process.stdout.write(`scenarios: ${played.memory} in memory, ${played.runtime} in the runtime, ${both} on both\n`);
});
