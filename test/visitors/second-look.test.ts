import { expect, test } from "vitest";
import { mutatedEngine } from "../mutants/sources/mutated-sources.ts";
import { page } from "./case.ts";
import type { Meet } from "./meetings/meet.ts";
import { meetInMemory, meetSoundly } from "./meetings/memory-meeting.ts";

/** What visitors see who invent a field each, of a page that differs on every render. */
async function rendersSeen(meet: Meet): Promise<{ renders: string[]; asked: number }> {
  let render = 0;
  const meeting = await meet({}, () => page(`render ${++render}`));
  const renders: string[] = [];
  try {
    for (const fields of [{ "x-invented": "1" }, { "x-invented": "2" }, { "x-other": "1" }, {}]) {
      renders.push((await meeting.send({ path: "/a", fields })).body);
    }
    return { renders, asked: meeting.asked() };
  } finally {
    await meeting.stop();
  }
}

test("if a page differs on every render, no invented field bypasses the cache", async () => {
  const { renders, asked } = await rendersSeen(meetSoundly);
  expect(renders).toEqual(["render 1", "render 2", "render 2", "render 2"]);
  expect(asked).toBe(3);
});

test("control: it would if any difference counted as an effect of the field", async () => {
  const { startMemoryEngine } = await mutatedEngine({
    in: "isRepeated",
    replace: '=== "alike"',
    by: '!== "unlike"',
  });
  expect((await rendersSeen(meetInMemory(startMemoryEngine))).asked).toBeGreaterThan(3);
});
