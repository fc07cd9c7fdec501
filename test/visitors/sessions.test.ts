import { expect, test } from "vitest";
import { hitRatio, measure, mixOf } from "../../bench/sessions/measure.ts";
import { answerOf } from "../../bench/sessions/site.ts";
import { meetSoundly } from "./memory-meeting.ts";

test("x", async () => {
  const meeting = await meetSoundly({}, answerOf);
  const tallies = await measure(meeting, mixOf({ seed: 1, sessions: 30 }));
  await meeting.stop();
  for (const [kind, tally] of tallies) console.log(kind, (hitRatio(tally) * 100).toFixed(1), tally);
  expect(1).toBe(1);
});
