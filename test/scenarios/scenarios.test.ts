import { afterAll, beforeAll, describe, test } from "vitest";
import { ORDERS, playInOrders } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime-engine.ts";
import type { Scenario } from "../engine/scenario.ts";
import { startServerEngine } from "../engine/server-engine.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { scenarios } from "./index.ts";

const MOST = byDepth({ test: 8, gate: 10, all: ORDERS });

const played = { memory: 0, orders: 0, runtime: 0, server: 0 };

type Run = "memory" | "runtime" | "server";

/** Which scenarios run in memory, in the Workers runtime and on the server. */
const RUNS: Readonly<Record<Run, readonly (string | undefined)[]>> = {
  memory: [undefined, "memory", "own server"],
  runtime: [undefined, "sockets"],
  server: [undefined, "sockets", "own server"],
};

function runsOn(engine: Run): readonly Scenario[] {
  return scenarios.filter(({ only }) => RUNS[engine].includes(only?.engine));
}

describe(`in memory, under up to ${MOST} orders of events`, () => {
  test.each(runsOn("memory"))("$name ($id)", async (scenario) => {
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

  test.each(runsOn("runtime"))("$name ($id)", async (scenario) => {
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
  test.each(runsOn("server"))("$name ($id)", async (scenario) => {
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
