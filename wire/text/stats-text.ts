import type { CountsByName, MemoryStats, SiteStats, TimeStats, TopUrlStats } from "../stats.ts";
import { counted, memorySize, ms, percent, size, whole } from "./numbers.ts";
import { printable } from "./printable.ts";

/** What the cache does for the site, in a sentence or two, with rounded numbers. */
export function summaryText(stats: SiteStats, last: string): string {
  const { requests, fromCache, answers, origin, bytes, pop } = stats;
  const about = `Last ${lastWords(last)}${pop === null ? "" : ` in ${printable(pop)}`}`;
  if (requests === 0) return `${about}: ${nothingReported(stats)}`;
  const asked = Object.values(answers).reduce((sum, each) => sum + each, 0);
  const instead = asked > origin.asked ? ` instead of ${whole(asked)}` : "";
  return (
    `${about}: ${counted(requests, "request")}, ${percent(fromCache / requests)} from cache. ` +
    `The origin was asked ${timesWords(origin.asked)}${instead}${origin.failed > 0 ? `, and failed ${timesWords(origin.failed)}` : ""}; ` +
    `${waited(stats)}the cache sent ${size(bytes.fromCache)}, the origin ${bytesOfOrigin(stats)}.${spared(stats)}`
  );
}

/** Why there are no counts. Without a report, the latest requests are unknown. */
export function nothingReported({ isolates, isCurrent }: SiteStats): string {
  if (isCurrent) return "no requests.";
  if (isolates.reported > 0) return "no requests were reported. Isolates report once a minute.";
  return "no isolate has reported yet. Each isolate reports once a minute.";
}

/** How long visitors waited, and how long they would have waited for the origin. */
function waited({ waits, times }: SiteStats): string {
  if (!waits || !times.origin) return "";
  return `visitors waited ${waits.p50Ms < 1 ? "less than 1 ms" : ms(waits.p50Ms)} instead of ${ms(times.origin.p50Ms)} in the median; `;
}

/** The stats of a site in sentences, a line each, without advice. */
export function statsLines(stats: SiteStats, last: string): string[] {
  const summary = summaryText(stats, last);
  const machine = (stats.machine?.inWords ?? []).map(printable);
  if (stats.requests === 0) return [summary, ...machine];
  const own = ownAnswers(stats);
  return [
    summary,
    ...waits(stats.times),
    ...errorLines(stats),
    ...queueLines(stats),
    ...memoryLines(stats),
    ...refusals(stats),
    ...(own === null ? [] : [`Answered by the edge itself: ${own}.`]),
    ...(stats.isCurrent && stats.isolates.silent === 0 ? [] : [heard(stats.isolates)]),
    ...machine,
  ];
}

/** At least so many, if some bodies did not say how long they were, and were not read for storing. */
function bytesOfOrigin({ bytes: { fromOrigin, unmeasuredBodies } }: SiteStats): string {
  if (unmeasuredBodies === 0) return size(fromOrigin);
  return `at least ${size(fromOrigin)} (bodies not measured: ${whole(unmeasuredBodies)})`;
}

/** The bytes that deltas saved. */
function spared({ deltas: { sent, bytes, savedBytes } }: SiteStats): string {
  if (sent === 0) return "";
  const instead = `${size(bytes)} instead of ${size(bytes + savedBytes)}`;
  return ` ${counted(sent, "answer")} carried only the changes since the visitor's version: ${instead}.`;
}

function waits({ memory, shared, origin, failed }: SiteStats["times"]): string[] {
  const named: readonly (readonly [string, TimeStats | undefined])[] = [
    ["the origin", origin],
    ["the cache of the PoP", shared],
    ["memory", memory],
    ["errors in the origin's place", failed],
  ];
  const measured = named.flatMap(([name, time]) =>
    time ? [`${name} ${ms(time.p50Ms)} (95 %: ${ms(time.p95Ms)}, 99 %: ${ms(time.p99Ms)})`] : [],
  );
  if (measured.length === 0) return [];
  return [
    `Median time to the response head: ${measured.join("; ")}.${memory ? "" : " Hits in memory were not measured."}`,
  ];
}

/** The memory of one isolate; on a machine, of all workers together, which have equal parts of `--memory`. */
export function wholeMemory({ memory, machine }: SiteStats): MemoryStats | undefined {
  if (!memory || !machine) return memory;
  const parts = machine.memory.maxBytes / memory.maxBytes;
  const curve = memory.curve.map((point) => ({ ...point, bytes: point.bytes * parts }));
  return { ...memory, maxBytes: machine.memory.maxBytes, curve };
}

/** What the memories hold, and what other sizes would hold: one line, or none. */
export function memoryLines(stats: SiteStats): string[] {
  const memory = wholeMemory(stats);
  if (!memory || memory.uses === 0) return [];
  const named = memory.curve.map(({ bytes, hitRatio }) => `${memorySize(bytes)} ${percent(hitRatio)}`).join(", ");
  return [
    `A memory of ${memorySize(memory.maxBytes)} held ${percent(memory.held / memory.uses)} of the stored pages that visitors requested. Without purges and restarts, sizes hold at least: ${named}.`,
  ];
}

function refusals(stats: SiteStats): string[] {
  const named = reasons(notStored(stats));
  return named === "" ? [] : [`Not stored: ${named}.`];
}

/** The answers that may not be stored, those that were dropped on their way, and the failures of the store, by the reason. */
export function notStored({ store: { refused, discarded, failed } }: SiteStats): CountsByName {
  return { ...refused, ...discarded, ...(failed > 0 && { "store-failed": failed }) };
}

/** Answers with statuses from 400 on: one line, or none. */
function errorLines({ requests, statuses }: SiteStats): string[] {
  const errors = errorsIn(statuses);
  const count = Object.values(errors).reduce((sum, each) => sum + each, 0);
  if (count === 0) return [];
  return [`Errors: ${whole(count)}, ${percent(count / requests)} of all answers (${reasons(errors)}).`];
}

/** The requests that had to wait for their turn at the origin: one line, or none. */
function queueLines({ origin: { awaited, turnedAway }, queue }: SiteStats): string[] {
  if (awaited + turnedAway === 0) return [];
  const waited = `${counted(awaited, "request")}${byClient(queue.awaited)} had to wait for a turn at the origin`;
  return [`${waited}; ${whole(turnedAway)}${byClient(queue.turnedAway)} got none.`];
}

/** Their number for each class of clients, in parentheses; empty if not counted. */
export function byClient({ editor = 0, known = 0, other = 0 }: CountsByName): string {
  const counts = Object.entries({ editors: editor, known, others: other }).filter(([, count]) => count);
  const named = counts.map(([words, count]) => `${words} ${whole(count)}`).join(", ");
  return named && ` (${named})`;
}

/** The counted statuses that are errors: of clients, of the origin, and of the edge. RFC 9110 §15.5, §15.6. */
export function errorsIn(statuses: CountsByName): CountsByName {
  return Object.fromEntries(Object.entries(statuses).filter(([status]) => status >= "400"));
}

/** The weight of a URL, marked if it may be less. */
export function weightText({ weight, error }: TopUrlStats, format: (weight: number) => string): string {
  return `${error > 0 ? "≤ " : ""}${format(weight)}`;
}

/** The share of the edge's own answers, with their reasons; `null` if there are none. */
export function ownAnswers({ requests, answeredByEdge }: SiteStats): string | null {
  const own = Object.values(answeredByEdge).reduce((sum, each) => sum + each, 0);
  return own === 0 ? null : `${percent(own / requests)} (${reasons(answeredByEdge)})`;
}

function reasons(counts: SiteStats["answeredByEdge"]): string {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, 5).map(([reason, count]) => `${printable(reason)} ${whole(count)}`);
  return `${named.join(", ")}${sorted.length > 5 ? `, and ${sorted.length - 5} more reasons` : ""}`;
}

function heard({ reported, silent, heardShare }: SiteStats["isolates"]): string {
  const quiet = silent === 0 ? "none has" : `${whole(silent)} ${silent === 1 ? "has" : "have"}`;
  return `${counted(reported, "isolate")} reported; ${quiet} stopped reporting. The reports cover at least ${percent(heardShare, "floor")} of their time.`;
}

function lastWords(last: string): string {
  const [, number, unit] = /^([0-9]+)([mhd])$/.exec(last)!;
  return `${number} ${{ m: "min", h: "h", d: number === "1" ? "day" : "days" }[unit as "m" | "h" | "d"]}`;
}

function timesWords(count: number): string {
  return count === 1 ? "once" : `${whole(count)} times`;
}
