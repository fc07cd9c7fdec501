import { describe, expect, test } from "vitest";
import { startCdnEngine } from "../engine/cdn-engine.ts";
import { play } from "../engine/play.ts";
import { scenarios } from "../scenarios/index.ts";

/** Why one worker with a log of its own cannot play a scenario, where a PoP of the simulated CDN can. */
const LIFTED = [
  "one instance of the runtime cannot lose its own log; the simulated CDN will",
  "one worker of the runtime is one isolate",
];

const playedBecause = (because: string) => scenarios.filter(({ only }) => only?.because === because);

test.each(LIFTED)("there are scenarios because %s", (because) => {
  expect(playedBecause(because).length).toBeGreaterThan(0);
});

describe("in a PoP of the simulated CDN", () => {
  test.each(LIFTED.flatMap(playedBecause))("$name", async (scenario) => {
    const engine = await startCdnEngine(scenario.site ?? {});
    try {
      await play(scenario, engine);
    } finally {
      await engine.stop();
    }
  });
});
