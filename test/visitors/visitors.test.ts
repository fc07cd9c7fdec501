import { describe, expect, test } from "vitest";
import type { Change } from "../mutants/mutant.ts";
import { type Engines, mutatedEngine } from "../mutants/sources/mutated-sources.ts";
import { areas } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meetings/meet.ts";
import { meetInMemory, meetSoundly } from "./meetings/memory-meeting.ts";

const mutated = new Map<string, Promise<Engines>>();

/** Cases about the same defence share the engine without it. */
function engineWithout(defence: Change): Promise<Engines> {
  const key = JSON.stringify(defence);
  const engine = mutated.get(key) ?? mutatedEngine(defence);
  mutated.set(key, engine);
  return engine;
}

/** Of so many cases, the gate shows for one that it finds an edge without the defence. The mutants do so for every rule. */
const CONTROLS = 6;

describe.each(Object.entries(areas))("%s", (_, cases) => {
  describe.each(cases.map((each, at) => ({ ...each, tags: at % CONTROLS === 0 ? ["gate"] : ["deep"] })))(
    "$name",
    (each) => {
      test("the second visitor gets the answer that the origin would give him without the first", async () => {
        expect(await testimony(each, meetSoundly)).toEqual(await truth(each, meetSoundly));
      });

      test("control: without the trick he gets a HIT", { tags: each.tags }, async () => {
        expect(await xCacheWithoutTrick(each, meetSoundly)).toBe("HIT");
      });

      test("without that one defence he does not", { tags: each.tags }, async () => {
        const { startMemoryEngine } = await engineWithout(each.defence);
        expect(await testimony(each, meetInMemory(startMemoryEngine))).not.toEqual(await truth(each, meetSoundly));
      });
    },
  );
});

test("no two cases have the same name", () => {
  const names = Object.values(areas)
    .flat()
    .map(({ name }) => name);
  expect(names.length).toBe(new Set(names).size);
  expect(names.length).toBeGreaterThan(100);
});
