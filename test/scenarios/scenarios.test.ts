import { afterAll, beforeAll, describe, test } from "vitest";
import { playInOrders, SEEDS } from "../engine/orders.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime/runtime-engine.ts";
import { type EngineName, runsOn, type Scenario } from "../engine/scenario.ts";
import { startServerEngine } from "../engine/server/server-engine.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { scenarios } from "./index.ts";

const ORDERS = SEEDS.slice(0, byDepth({ test: 1, gate: 1, all: SEEDS.length }));

const played = { memory: 0, orders: 0, runtime: 0, server: 0 };

function scenariosOn(engine: EngineName): readonly Scenario[] {
  return scenarios.filter((scenario) => runsOn(scenario, engine));
}

/**
 * Areas of rules that read fields and return a value: what they say does not depend on the platform. Of these the gate plays a
 * few in the Workers runtime, where a scenario costs ten times as much as in memory.
 */
const OF_VALUES_ALONE: ReadonlySet<string> = new Set([
  ...["bypass", "client-response", "directives", "freshening", "freshness", "identity", "key", "second-look"],
  ...["stale-if-error", "targeted-fields", "validation", "variants"],
]);
const FEW = 4;

const playedInRuntime = Object.entries(Object.groupBy(scenariosOn("runtime"), areaOf)).flatMap(([area, all = []]) =>
  OF_VALUES_ALONE.has(area) ? [...all.slice(0, FEW), ...all.slice(FEW).filter(isForOnePlatform)] : all,
);

function areaOf({ id }: Scenario): string {
  return id.split("/")[0]!;
}

/** Nothing else plays it at less cost. */
function isForOnePlatform(scenario: Scenario): boolean {
  return !runsOn(scenario, "memory");
}

/** `npm test` plays each scenario on one engine: in memory, unless it cannot run there. */
function tagsOf(scenario: Scenario): { tags: string[] } {
  return { tags: isForOnePlatform(scenario) ? [] : ["gate"] };
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
    const tags = playedInRuntime.includes(scenario) ? tagsOf(scenario) : { tags: ["deep"] };
    test(`${scenario.name} (${scenario.id})`, tags, async () => {
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
  const inMemory = `${played.memory} in memory under ${played.orders} orders of events`;
  process.stdout.write(`scenarios: ${inMemory}, ${played.runtime} in the runtime, ${played.server} on the server\n`);
});
