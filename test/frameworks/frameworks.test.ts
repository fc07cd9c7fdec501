import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { evaluateSite, isSite } from "../docs/site-blocks.ts";
import { startMemoryEngine } from "../engine/memory/memory-engine.ts";
import { play } from "../engine/play.ts";
import { ScenarioRuntime } from "../engine/runtime/runtime-engine.ts";
import type { Scenario } from "../engine/scenario.ts";
import { django } from "./django.ts";
import { express } from "./express.ts";
import type { FrameworkTrial } from "./framework-trial.ts";
import { jsonApi } from "./json-api.ts";
import { laravel } from "./laravel.ts";
import { next } from "./next.ts";
import { rails } from "./rails.ts";
import { wordpress } from "./wordpress.ts";

const PAGE = readFileSync("docs/sites.md", "utf8");
const TRIALS: readonly FrameworkTrial[] = [django, rails, laravel, wordpress, express, next, jsonApi];

/** The sections of the page by their headings. */
const sections = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end)] as const;
    }),
);

/** The site that a section shows first. */
function siteOf({ heading }: FrameworkTrial): Promise<SiteInput> {
  const blocks = [...sections.get(heading)!.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const site = blocks.map(([, language, code]) => ({ language: language!, code: code! })).find(isSite);
  return evaluateSite(site!.code);
}

/** The trial with this site. Origin and hosts are the engine's. */
function asScenario({ heading, origin, steps }: FrameworkTrial, page: SiteInput): Scenario {
  const { origin: _, hosts, ...site } = page;
  return { id: `frameworks/${heading}`, name: heading, source: "docs/sites.md", site, origin, steps };
}

async function playInMemory(scenario: Scenario): Promise<void> {
  const engine = startMemoryEngine(scenario.site ?? {}, 1);
  try {
    await play(scenario, engine);
  } finally {
    await engine.stop();
  }
}

test("every section of docs/sites.md has a trial, and names the versions that its replies are from", () => {
  expect([...sections.keys()]).toEqual(TRIALS.map(({ heading }) => heading));
  const unnamed = TRIALS.filter(({ heading, recordedFrom }) => !sections.get(heading)!.includes(recordedFrom));
  expect(unnamed).toEqual([]);
});

describe.each(TRIALS)("the site for $heading of docs/sites.md", (trial) => {
  test(`serves what ${trial.recordedFrom} answers to the right visitors`, async () => {
    await playInMemory(asScenario(trial, await siteOf(trial)));
  });

  test.each(Object.entries(trial.without))("needs %s", async (_, without) => {
    const scenario = asScenario(trial, without(await siteOf(trial)));
    await expect(playInMemory(scenario)).rejects.toThrow(/step \d+ of/);
  });
});

describe("in the Workers runtime", () => {
  let runtime: ScenarioRuntime;
  beforeAll(async () => {
    runtime = await ScenarioRuntime.start();
  });
  afterAll(() => runtime.stop());

  test.each(TRIALS)("the site for $heading does, too", async (trial) => {
    const scenario = asScenario(trial, await siteOf(trial));
    const engine = await runtime.begin(scenario.site ?? {});
    try {
      await play(scenario, engine);
    } finally {
      await engine.stop();
    }
  });
});
