import type { Problem } from "../../../wire/problem.ts";
import type { SiteStats, TimeStats } from "../../../wire/stats.ts";
import { addCounts, type CountTree, emptyTree, sumOfRoutes, treeAt } from "../../metrics/count-tree.ts";
import type { LedgerReading } from "../../metrics/ledger-reading.ts";
import { memoryCurve } from "../../metrics/memory-curve.ts";
import type { ReadLedger } from "../../metrics/reports.ts";
import type { ReuseCounts } from "../../metrics/reuse-sample.ts";
import { countUpTo, quantile, type SketchedTimes } from "../../metrics/time-sketch.ts";

export type StatsVerdict =
  | { readonly kind: "isolate" }
  | { readonly kind: "found"; readonly body: SiteStats }
  | { readonly kind: "invalid"; readonly errors: NonNullable<Problem["errors"]> }
  | { readonly kind: "unavailable" };

interface StatsPorts {
  /** `null` where isolates report to no ledger. */
  readonly readLedger: ReadLedger | null;
  /** The counts of an isolate that has counted nothing. */
  readonly nothing: () => CountTree;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_MS = 90 * UNIT_MS.d!;

/**
 * The stats of the site, or of the isolate if the query asks for them. The query is not checked yet: `scope` is `site` or
 * `isolate`, `last` a number of minutes, hours or days up to now, by default `24h`, and `pop` one PoP.
 */
export async function findStats(
  { scope = "site", last = "24h", pop, ...unknown }: Readonly<Record<string, string>>,
  { readLedger, nothing }: StatsPorts,
): Promise<StatsVerdict> {
  const errors = Object.keys(unknown).map((path) => ({ path, message: "unknown; known are scope, last, pop" }));
  if (scope !== "site" && scope !== "isolate") errors.push({ path: "scope", message: "must be site or isolate" });
  const [, number, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(last) ?? [];
  const lastMs = Number(number) * UNIT_MS[unit ?? ""]!;
  if (!(lastMs <= MAX_MS))
    errors.push({ path: "last", message: "must be minutes, hours or days, at most 90d, like 24h" });
  if (errors.length > 0) return { kind: "invalid", errors };
  if (scope === "isolate") return { kind: "isolate" };
  const reading = await readLedger?.(lastMs, pop ?? null).catch(() => undefined);
  if (reading === undefined) return { kind: "unavailable" };
  return { kind: "found", body: siteStats(JSON.parse(reading) as LedgerReading, pop ?? null, nothing) };
}

function siteStats(reading: LedgerReading, pop: string | null, nothing: () => CountTree): SiteStats {
  const { from, to, spans, counts, routes, pops, metrics: _, ...rest } = reading;
  const whole = (tree: CountTree) => withTimes(addCounts(nothing(), withoutOwn(tree)));
  const { requests, fromCache, statuses, origin, bytes, times } = nothing();
  const noSpan = { requests, fromCache, statuses, origin, bytes, times } as CountTree;
  const waits = waitsOf(sumOfRoutes(routes));
  return {
    version: 1,
    scope: "site",
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    pop,
    ...whole(counts),
    ...rest,
    spans: spans.map(({ at, counts: each }) => ({
      at: new Date(at).toISOString(),
      ...withTimes(addCounts(structuredClone(noSpan), each)),
    })),
    ...memoryStats(reading),
    ...(waits.count > 0 && { waits }),
    routes: mapped(routes as Record<string, CountTree>, (tree) => withTimes(wholeRoute(tree))),
    pops: mapped(pops, whole),
  } as SiteStats;
}

/** Without the counts that have another place in the stats, or none. */
function withoutOwn({ heard: _heard, reuse: _reuse, ...counts }: CountTree): CountTree {
  return counts;
}

const NO_REUSE: ReuseCounts = { uses: 0, held: 0, after: { buckets: {} }, bytesAfter: { buckets: {} } };

/** All isolates have the same size of memory, except while a new deployment runs beside the old one. */
function memoryStats({ counts, isolates }: LedgerReading): Pick<SiteStats, "memory"> {
  // Names under which nothing was counted are left out.
  const { uses, held, after, bytesAfter } = { ...NO_REUSE, ...(counts.reuse as Partial<ReuseCounts>) };
  if (uses === 0 || isolates.alive === 0) return {};
  const maxBytes = Math.round(isolates.memoryMaxBytes / isolates.alive);
  return { memory: { uses, held, maxBytes, curve: memoryCurve({ uses, after, bytesAfter }, maxBytes) } };
}

/**
 * The tree with the quantiles of each sketch in its place. Without counts below 0: of a body that was measured in this time,
 * the head may have been counted before.
 */
function withTimes(tree: CountTree): object {
  if (typeof tree.buckets === "object") return timeStats(tree as SketchedTimes);
  return mapped(tree, (value) => (typeof value === "object" ? withTimes(value) : Math.max(0, value)));
}

function wholeRoute(tree: CountTree): CountTree {
  const whole = addCounts(structuredClone(NO_ROUTE_COUNTS), tree);
  for (const found of Object.values(treeAt(whole, "compared.keys"))) addCounts(found as CountTree, NO_FETCHES);
  return whole;
}

const NO_FETCHES: CountTree = { fetches: 0, same: 0, different: 0 };
const NO_ROUTE_COUNTS: CountTree = {
  requests: 0,
  fromCache: 0,
  answers: {},
  statuses: {},
  bytes: { fromCache: 0, fromOrigin: 0 },
  times: {},
  refused: {},
  compared: {
    keys: {},
    lifetimes: {},
    missingLifetimes: {},
    refetched: { same: 0, different: 0, elapsedMs: 0 },
    visitors: { same: 0, different: 0 },
  },
};

/** All times together. Few hits from memory are measured, or none, so each counts for several. */
function waitsOf(sum: CountTree): TimeStats {
  const {
    memory = NO_TIMES,
    shared = NO_TIMES,
    origin = NO_TIMES,
    failed = NO_TIMES,
  } = treeAt(sum, "times") as Record<string, SketchedTimes>;
  const rest = countUpTo(shared) + countUpTo(origin);
  const answers = Object.values(treeAt(sum, "answers") as Record<string, number>);
  const fromMemory = Math.max(0, answers.reduce((total, each) => total + each, 0) - rest);
  const measured = countUpTo(memory);
  const weight = measured === 0 ? 0 : fromMemory / measured;
  const buckets = weight === 0 ? { 0: fromMemory } : mapped(memory.buckets, (count) => Math.round(count * weight));
  const all = [{ sum: (memory.sum ?? 0) * weight, buckets }, shared, origin, failed].reduce<CountTree>(
    (total, each) => addCounts(total, each as CountTree),
    emptyTree(),
  );
  return timeStats(all as SketchedTimes);
}

const NO_TIMES: SketchedTimes = { buckets: {} };

function mapped<T>(tree: Readonly<Record<string, T>>, map: (value: T) => unknown): object {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, map(value)]));
}

function timeStats(times: SketchedTimes): TimeStats {
  const { sum = 0 } = times;
  const count = countUpTo(times);
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((q) => rounded(quantile(times, q))) as [number, number, number];
  return { count, meanMs: rounded(sum / count), p50Ms, p95Ms, p99Ms };
}

/** To four digits: the sketch's own error is larger. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(4));
}
