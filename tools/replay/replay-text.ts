import { styleText } from "node:util";
import { counted, whole } from "#tidemark/internal";
import { table } from "../words/table.ts";
import { timeNotes } from "../words/time-notes.ts";
import { percentOf, sizeOf } from "../words/words.ts";
import type { ReplayReport } from "./replay-logs.ts";

const NO_CACHE_CONTROL =
  "The simulated origin sends no Cache-Control, so only what the config gives a lifetime is stored. --cache-control sets one.";

function sampleNotes({ memoryBytes, oneIn, left, edges }: ReplayReport): readonly string[] {
  const paths = `one path in ${oneIn}${memoryBytes === null ? " and all popular paths" : ", with its share of the memory"}`;
  const margin = Math.max(0, ...edges.map((each) => each.margin));
  return [
    `The replay covers ${paths}; it left out ${whole(left)} requests. The hit ratio is`,
    `that of all requests, ± ${(margin * 100).toFixed(1)} points in 95 of 100 samples; the counts cover only the replayed requests.`,
    "--sample 1 replays all lines, 15,000 to 20,000 a second.",
  ];
}

/** The replay for a terminal: a column for each config. */
export function replayText(report: ReplayReport): string {
  const { logs, cacheControl, notHttp, purges, interrupted, oneIn, edges } = report;
  const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
  const notes = [
    ...(interrupted ? ["Reading was interrupted; this report covers the lines until then."] : []),
    ...(logs.broken === 0
      ? []
      : [`${whole(logs.broken)} of ${whole(logs.lines)} lines could not be read, and were not replayed.`]),
    ...(notHttp === 0
      ? []
      : [
          `${counted(notHttp, "line is", "lines are")} not about HTTP requests, and ${notHttp === 1 ? "was" : "were"} not replayed.`,
        ]),
    ...(purges === 0 ? [] : [`Replayed, but not counted as requests: ${counted(purges, "call")} of PURGE or BAN.`]),
    ...(logs.own === 0
      ? []
      : [`${counted(logs.own, "line is", "lines are")} the edge's own answers, and were not replayed.`]),
    ...(oneIn === 1 ? [] : sampleNotes(report)),
    ...timeNotes(logs),
    ...logs.cutOff.map((file) => `${file} is cut off; the readable part was replayed.`),
    ...(cacheControl === null && edges.some(({ hits }) => hits === 0) ? [NO_CACHE_CONTROL] : []),
    ...edges.flatMap(({ evicted, failures }) => [
      ...(evicted === 0
        ? []
        : [`${whole(evicted)} pages were evicted from the shared tier, which has room for 500,000 here.`]),
      ...(failures === 0
        ? []
        : [`The edge itself failed on ${whole(failures)} requests, and passed them to the origin.`]),
    ]),
  ];
  const [first] = edges;
  if (first === undefined) return [...notes, "No request was found.", ""].join("\n");
  const words = [...new Set(edges.flatMap(({ answers }) => Object.keys(answers)))].sort();
  const rows = [
    ["hit ratio", ...edges.map(({ hitRatio }) => percentOf(hitRatio))],
    ["requests to the origin", ...edges.map(({ originRequests }) => whole(originRequests))],
    ["bytes from the origin", ...edges.map(({ originBytes }) => sizeOf(originBytes))],
    ["bytes to visitors", ...edges.map(({ bytes }) => sizeOf(bytes))],
    ["served stale", ...edges.map(({ stale }) => whole(stale))],
    ...words.map((word) => [`X-Cache: ${word}`, ...edges.map(({ answers }) => whole(answers[word] ?? 0))]),
  ];
  const heading = `${counted(first.requests, "request")} through the edge, timed as in the log`;
  const lines = table(["", ...edges.map(({ config }) => config ?? "no config")], rows);
  return `${[...notes, bold(heading), ...lines].join("\n")}\n`;
}
