import leven from "leven";
import type { CdnAnswer } from "../answer.ts";
import { type Cdn, cdnOf } from "../cdn.ts";

/** The most requests of the origin's record that are told. */
const MOST_TOLD = 8;

/** How an answer came to be, for the message of a failing test: every line what somebody looking for the cause asks. */
export async function explanation(answer: CdnAnswer): Promise<string> {
  const { asked, region, isolate, status, xCache, cacheStatus } = answer;
  const from = isolate === 0 ? region : `${region}, isolate ${isolate}`;
  const lines: [name: string, value: string][] = [
    ["asked", `${asked.method} ${asked.path} from ${from}`],
    ["answer", `${status}, X-Cache ${xCache ?? "none"}, ${JSON.stringify(shortened(answer.body))}`],
    ["Cache-Status", cacheStatus ?? "none"],
  ];
  const cdn = cdnOf(answer);
  if (cdn) lines.push(...(await keyLines(cdn, answer)), ["the origin saw", originRecord(cdn, asked.path)]);
  return lines.map(([name, value]) => `  ${name.padEnd("nearest known key".length)}  ${value}`).join("\n");
}

async function keyLines(cdn: Cdn, { asked, region, isolate }: CdnAnswer): Promise<[name: string, value: string][]> {
  if (asked.method !== "GET" && asked.method !== "HEAD") return [["key", `none: a ${asked.method} is not looked up`]];
  const scheme = new URL(cdn.publicUrl).protocol;
  const { key } = await cdn
    .pop(region)
    .isolate(isolate)
    .keys(`${scheme}//${asked.host}${asked.path}`, asked.fields ?? {});
  if (key === null) return [["key", "none: not looked up"]];
  const known = await knownKeys(cdn);
  const regions = known.get(key);
  known.delete(key);
  const [nearest] = [...known.keys()].sort((a, b) => leven(a, key) - leven(b, key));
  return [
    ["key", regions ? `${key}, by now stored in ${regions.join(", ")}` : key],
    ["nearest known key", nearest === undefined ? "none" : `${nearest}, stored in ${known.get(nearest)!.join(", ")}`],
  ];
}

/** Each key that is stored somewhere, with the regions. */
async function knownKeys(cdn: Cdn): Promise<Map<string, string[]>> {
  const known = new Map<string, string[]>();
  for (const region of cdn.regions) {
    for (const stored of await storedIn(cdn, region)) known.set(stored, [...(known.get(stored) ?? []), region]);
  }
  return known;
}

async function storedIn(cdn: Cdn, region: string): Promise<Set<string>> {
  const pop = cdn.pop(region);
  await pop.finishWrites();
  const numbers = Array.from({ length: pop.isolates }, (_, number) => number);
  const keys = await Promise.all(numbers.map((number) => pop.isolate(number).keys(cdn.publicUrl, {})));
  return new Set(keys.flatMap(({ stored }) => stored));
}

/** What the origin was asked under this path, and how much else. */
export function originRecord(cdn: Pick<Cdn, "scriptedOrigin">, target: string): string {
  const origin = cdn.scriptedOrigin;
  if (origin === null) return "nobody knows: it is a URL";
  const there = origin.seen.filter((request) => request.target === target);
  const others = origin.seen.filter((request) => request.target !== target);
  const words = [`${target} ${times(there.length)}`];
  if (others.length > 0) words.push(`others: ${counted(others.map(({ target }) => target))}`);
  return words.join("; ");
}

function counted(targets: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
  const told = [...counts].slice(0, MOST_TOLD).map(([target, count]) => `${target} ${times(count)}`);
  return told.join(", ") + (counts.size > MOST_TOLD ? `, and ${counts.size - MOST_TOLD} more` : "");
}

function times(count: number): string {
  return count === 0 ? "never" : count === 1 ? "once" : `${count} times`;
}

function shortened(body: string): string {
  return body.length > 60 ? `${body.slice(0, 59)}…` : body;
}
