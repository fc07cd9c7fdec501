import { describe, expect, test } from "vitest";
import { startCdnEngine } from "../engine/cdn-engine.ts";
import { play } from "../engine/play.ts";
import { scenarios } from "../scenarios/index.ts";
import { LOST_LOG, SEVERAL_ISOLATES } from "../scenarios/memory-only.ts";

/** Why one worker with a log of its own cannot play a scenario, where a PoP of the simulated CDN can. */
const LIFTED = [LOST_LOG.because, SEVERAL_ISOLATES.because];

const playedBecause = (because: string) => scenarios.filter(({ only }) => only?.because === because);

test.each(LIFTED)("there are scenarios because %s", (because) => {
  expect(playedBecause(because).length).toBeGreaterThan(0);
});

describe("in a PoP of the simulated CDN", () => {
  test.each(LIFTED.flatMap(playedBecause))("$name ($id)", async (scenario) => {
    const engine = await startCdnEngine(scenario.site ?? {});
    try {
      await play(scenario, engine);
    } finally {
      await engine.stop();
    }
  });
});
