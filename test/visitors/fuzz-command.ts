/**
 * `npm run fuzz -- --seed S --count N [--on PLACE] [--raw] [--path P]`: random encounters, or random bytes, each replayed
 * by its seed and path. The place is `memory`, `runtime` (the Workers runtime), `server`, `server-plain`, which answers no
 * hits inside Node's parser, `server-tls`, or `server-http2`. Bytes need sockets, and are those of HTTP/1.1.
 */
import { parseArgs } from "node:util";
import fc from "fast-check";
import { encounter, meetBoth } from "./fuzz.ts";
import type { Meet } from "./meet.ts";
import { meetSoundly } from "./memory-meeting.ts";
import { findHarm } from "./raw-fuzz.ts";
import { inRuntime, RawMeetings } from "./raw-meetings.ts";
import { RuntimeMeetings } from "./runtime-meeting.ts";
import { onServer, ServerMeetings, type ServerWay } from "./server-meeting.ts";

const WAYS = {
  server: "fast",
  "server-plain": "plain",
  "server-tls": "tls",
  "server-http2": "http2",
} as const satisfies Record<string, ServerWay>;
const PLACES = ["memory", "runtime", ...(Object.keys(WAYS) as (keyof typeof WAYS)[])] as const;
const NOT_FOR_BYTES: readonly string[] = ["memory", "server-http2"];

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    count: { type: "string", default: "10000" },
    path: { type: "string", default: "" },
    on: { type: "string" },
    raw: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
const named = values.on ?? (values.raw ? "runtime" : "memory");
const place = PLACES.find((each) => each === named);
if (place === undefined || (values.raw && NOT_FOR_BYTES.includes(place))) {
  console.error(`--on is one of ${PLACES.filter((each) => !values.raw || !NOT_FOR_BYTES.includes(each)).join(", ")}`);
  process.exit(2);
}
console.log(`seed ${seed}, ${count} ${values.raw ? "raw messages" : "encounters"} on: ${place}`);

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
  if (place === undefined || place === "memory") return findDifference(meetSoundly);
  if (values.raw) {
    const edge = place === "runtime" ? inRuntime() : onServer(WAYS[place]);
    const meetings = new RawMeetings(edge);
    await meetings.start();
    const harm = await findHarm(meetings, { seed, count, path: values.path }).finally(() => meetings.stop());
    console.log(`${meetings.cameThrough} requests reached the origin`);
    return harm;
  }
  const meetings = place === "runtime" ? new RuntimeMeetings() : new ServerMeetings(WAYS[place]);
  await meetings.start();
  return findDifference(meetings.meet).finally(() => meetings.stop());
}

const startedAt = performance.now();
const found = await find();
const seconds = (performance.now() - startedAt) / 1000;
if (found === null) console.log(`nothing found in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second`);
else console.error(found);
process.exitCode = found === null ? 0 : 1;
