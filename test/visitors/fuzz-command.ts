/** `npm run fuzz -- --seed S --count N [--runtime]`: encounters that nobody thought of, each replayed by its seed. */
import { parseArgs } from "node:util";
import fc from "fast-check";
import { encounter, meetBoth } from "./fuzz.ts";
import { meetSoundly } from "./memory-meeting.ts";
import { RuntimeMeetings } from "./runtime-meeting.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    count: { type: "string", default: "10000" },
    runtime: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
console.log(`seed ${seed}, ${count} encounters ${values.runtime ? "in the Workers runtime" : "in memory"}`);

const meetings = values.runtime ? new RuntimeMeetings() : null;
await meetings?.start();
const meet = meetings?.meet ?? meetSoundly;
const startedAt = performance.now();
const property = fc.asyncProperty(encounter, async (each) => {
  const { after, alone } = await meetBoth(each, meet);
  if (JSON.stringify(after) === JSON.stringify(alone)) return;
  throw new Error(`after the first: ${JSON.stringify(after)}\nalone:           ${JSON.stringify(alone)}`);
});
const result = await fc.check(property, { seed, numRuns: count });
await meetings?.stop();
const seconds = (performance.now() - startedAt) / 1000;
if (result.failed) console.error(await fc.asyncDefaultReportMessage(result));
console.log(
  `${result.numRuns} encounters in ${seconds.toFixed(1)} s, ${Math.round(result.numRuns / seconds)} a second`,
);
process.exitCode = result.failed ? 1 : 0;
