import { describe, expect, test } from "vitest";
import { play } from "../../engine/play.ts";
import { ISOLATES, startCdnEngine } from "../../engine/runtime/cdn-engine.ts";
import type { Scenario } from "../../engine/scenario.ts";
import { scenarios } from "../../scenarios/index.ts";
import { LOST_LOG, SEVERAL_ISOLATES, SHARED_VIEWS } from "../../scenarios/not-on-every-engine.ts";

/**
 * The reasons for which one worker with a log of its own cannot play a scenario, although a PoP of the simulated CDN
 * can.
 */
const LIFTED = [LOST_LOG.because, SEVERAL_ISOLATES.because, SHARED_VIEWS.because];

/** Up to the last one that a step names. */
function isolatesOf({ steps }: Scenario): number {
  const named = steps.map((step) => {
    const { isolate } = "send" in step ? step.send : "request" in step ? step.request : "purge" in step ? step : {};
    return ISOLATES.indexOf(isolate ?? "a") + 1;
  });
  return Math.max(1, ...named);
}

const playedBecause = (because: string) => scenarios.filter(({ only }) => only?.because === because);

/** The scenarios of each reason that the gate plays: each starts a CDN. */
const IN_THE_GATE = 1;

async function playInPop(scenario: Scenario): Promise<void> {
  const engine = await startCdnEngine(scenario.site ?? {}, isolatesOf(scenario));
  try {
    await play(scenario, engine);
  } finally {
    await engine.stop();
  }
}

test.each(LIFTED)("there are scenarios because %s", (because) => {
  expect(playedBecause(because).length).toBeGreaterThan(0);
});

describe("in a PoP of the simulated CDN", () => {
  const ofLifted = LIFTED.map(playedBecause);
  test.each(ofLifted.flatMap((few) => few.slice(0, IN_THE_GATE)))("$name ($id)", playInPop);
  test.each(ofLifted.flatMap((all) => all.slice(IN_THE_GATE)))("$name ($id)", { tags: ["deep"] }, playInPop);
});
