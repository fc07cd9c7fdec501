/**
 * `npm run fuzz -- --seed S --count N [--runtime | --raw] [--path P]`: random encounters, or random bytes, each
 * replayed by its seed and path.
 */
import { parseArgs } from "node:util";
import fc from "fast-check";
import { encounter, meetBoth } from "./fuzz.ts";
import type { Meet } from "./meet.ts";
import { meetSoundly } from "./memory-meeting.ts";
import { findHarm } from "./raw-fuzz.ts";
import { RawMeetings } from "./raw-meetings.ts";
import { RuntimeMeetings } from "./runtime-meeting.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    count: { type: "string", default: "10000" },
    path: { type: "string", default: "" },
    runtime: { type: "boolean", default: false },
    raw: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
const what = values.raw ? "raw messages" : "encounters";
console.log(`seed ${seed}, ${count} ${what} ${values.raw || values.runtime ? "in the Workers runtime" : "in memory"}`);

function sameAfterAsAlone(meet: Meet) {
  return fc.asyncProperty(encounter, async (each) => {
    const { after, alone } = await meetBoth(each, meet);
    if (JSON.stringify(after) === JSON.stringify(alone)) return;
    throw new Error(`after the first: ${JSON.stringify(after)}\nalone:           ${JSON.stringify(alone)}`);
  });
}

/** Runs the search, and reports what was found. */
async function findDifference(meet: Meet): Promise<string | null> {
  const result = await fc.check(sameAfterAsAlone(meet), { seed, numRuns: count, path: values.path });
  if (!result.failed) return null;
  return `${await fc.asyncDefaultReportMessage(result)}\n${(result.errorInstance as Error).message}`;
}

async function find(): Promise<string | null> {
  if (values.raw) {
    const meetings = new RawMeetings();
    await meetings.start();
    return findHarm(meetings, { seed, count, path: values.path }).finally(() => meetings.stop());
  }
  if (!values.runtime) return findDifference(meetSoundly);
  const meetings = new RuntimeMeetings();
  await meetings.start();
  return findDifference(meetings.meet).finally(() => meetings.stop());
}

const startedAt = performance.now();
const found = await find();
const seconds = (performance.now() - startedAt) / 1000;
if (found === null) console.log(`nothing found in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second`);
else console.error(found);
process.exitCode = found === null ? 0 : 1;
