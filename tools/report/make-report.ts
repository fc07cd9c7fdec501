import { shownUrl } from "#tidemark/internal";
import { firstSegment, MIN_ROUTE_SHARE, passReason, RouteCounts } from "../counting/route-counts.ts";
import type { HourCounts, TrafficAnalysis } from "../counting/traffic-analysis.ts";
import type { ReadCounts } from "../logs/log-file.ts";
import type { AccessReport, Prediction, RouteReport } from "./access-report.ts";
import { costOf } from "./cost.ts";
import { siteText } from "./site-text.ts";

const HOUR_MS = 3_600_000;

/** A shorter log counts as one of this length, or its rates would mean nothing. Milliseconds. */
const MIN_DURATION_MS = 60_000;

const MAX_ROUTES = 12;
const MAX_PARAMETERS = 20;
const MAX_WARM = 25;

export interface ReadResult {
  readonly files: readonly string[];
  readonly counts: ReadCounts;
  readonly interrupted: boolean;
}

/** The report of an analysis. */
export function makeReport(analysis: TrafficAnalysis, { files, counts, interrupted }: ReadResult): AccessReport {
  const { requests, lifetimes, chosen } = analysis;
  const durationMs = Math.max(analysis.lastAt - analysis.firstAt, MIN_DURATION_MS);
  const { stored, passed, passedRoutes, routes } = sortRoutes(analysis);
  const passedPaths = new Set(routes.filter(({ passBecause }) => passBecause !== null).map(({ path }) => path));
  // Requests that the config leaves to the origin are misses under every lifetime.
  const hitsAt = (index: number) => stored.requests - stored.misses[index]!;
  // The misses of a sample may represent more than there were requests.
  const hits = Math.max(0, hitsAt(chosen));
  const ratio = (count: number) => (requests === 0 ? 0 : Math.min(1, Math.max(0, count / requests)));
  const hours = withPassedHits(analysis.hours, passedRoutes);
  const parameters = analysis.parameters.report();
  const searches = analysis.searches.report();
  const { budget } = analysis.settings;
  const budgetOutcome = analysis.endBudgetTrial();
  const passedHits = passed.requests - passed.misses[chosen]!;
  const prediction: Prediction = {
    hitRatio: ratio(hits),
    marginOfSampling: ratio(1.96 * analysis.pages.standardError),
    // The rules only join spellings. If they cost hits in a sample, the sample is off by that much.
    hitRatioWithoutKeyRules: Math.min(
      ratio(hits),
      ratio(requests - uncountedRequests(analysis) - analysis.spellingMisses - passedHits),
    ),
    hits: Math.round(hits),
    sparedBytes: Math.max(0, Math.round(stored.bytes - stored.missBytes)),
    sparedPerHour: Math.round(hits / (durationMs / HOUR_MS)),
    crawlerHitRatio: clamp((stored.crawlerRequests - stored.crawlerMisses) / Math.max(1, analysis.crawlers)),
  };
  return {
    version: 1,
    logs: {
      files,
      lines: counts.lines,
      broken: counts.broken,
      misdated: counts.misdated,
      own: counts.own,
      lacksHosts: counts.withHost * 2 < counts.lines - counts.broken - counts.own,
      examples: counts.examples,
      cutOff: counts.cutOff,
      outOfOrder: counts.outOfOrder,
      late: counts.late,
      interrupted,
    },
    from: requests === 0 ? null : new Date(analysis.firstAt).toISOString(),
    to: requests === 0 ? null : new Date(analysis.lastAt).toISOString(),
    requests: {
      all: requests,
      readable: requests - analysis.notHttp - analysis.unsafe,
      unsafe: analysis.unsafe,
      notHttp: analysis.notHttp,
      purges: analysis.purges,
      bytes: analysis.bytes,
      byCrawlers: analysis.crawlers,
      byStatus: Object.fromEntries(
        [...analysis.statuses.entries()].map(([name, { requests: count }]) => [name, count] as const).sort(),
      ),
    },
    keys: { withRules: analysis.pages.keys, withoutRules: analysis.pages.keys + analysis.furtherSpellings },
    lifetimeSeconds: lifetimes[chosen]!,
    prediction,
    lifetimes: lifetimes.map((seconds, index) => ({ seconds, hitRatio: ratio(hitsAt(index)) })),
    memory: analysis.memory.map(({ memoryBytes, extraMisses }) => ({
      bytes: memoryBytes,
      hitRatio: ratio(hits - Math.max(0, extraMisses)),
    })),
    routes,
    hours: hoursOfDay(hours),
    busiestHour: busiestHour(hours),
    parameters: parameters.slice(0, MAX_PARAMETERS),
    searches,
    warm: analysis
      .frequentUrls()
      // A URL that lets its visitor in is nobody else's page, and a report is read by others.
      .filter(({ url }) => shownUrl(url) === url)
      .filter(({ url }) => !passedPaths.has(firstSegment(/\/[^?]*/.exec(url)?.[0] ?? "/")))
      .slice(0, MAX_WARM),
    loggedCache:
      analysis.loggedByCache === 0
        ? null
        : { requests: analysis.loggedByCache, hitRatio: analysis.loggedHits / analysis.loggedByCache },
    cost: costOf(requests, durationMs, busiestDay(hours)),
    ...(budget && budgetOutcome && { budget: { ...budget, ...budgetOutcome } }),
    config: siteText({ lifetimeSeconds: lifetimes[chosen]!, routes, parameters, searches }),
  };
}

/** The requests that are not for a storable page. */
function uncountedRequests({ unsafe, notHttp, refused }: TrafficAnalysis): number {
  return unsafe + notHttp + refused;
}

interface SortedRoutes {
  readonly stored: RouteCounts;
  readonly passed: RouteCounts;
  readonly passedRoutes: ReadonlySet<RouteCounts>;
  /** The largest routes, and all routes that are left to the origin. */
  readonly routes: readonly RouteReport[];
}

function sortRoutes(analysis: TrafficAnalysis): SortedRoutes {
  const { requests, lifetimes, chosen } = analysis;
  const stored = new RouteCounts(lifetimes.length);
  const passed = new RouteCounts(lifetimes.length);
  const rest = new RouteCounts(lifetimes.length);
  rest.add(analysis.routes.others);
  stored.add(analysis.routes.others);
  const passedRoutes = new Set<RouteCounts>();
  const routes: RouteReport[] = [];
  const report = (path: string, counts: RouteCounts, passBecause: string | null): RouteReport => ({
    path,
    requests: counts.requests,
    share: counts.requests / Math.max(1, requests),
    hitRatio: passBecause === null ? clamp(1 - counts.misses[chosen]! / Math.max(1, counts.requests)) : 0,
    bytes: counts.bytes,
    passBecause,
  });
  const largest = [...analysis.routes.entries()].sort(([, a], [, b]) => b.requests - a.requests);
  let told = 0;
  for (const [path, counts] of largest) {
    const isLarge = counts.requests >= requests * MIN_ROUTE_SHARE && told < MAX_ROUTES;
    const passBecause = passReason(path, counts, requests);
    (passBecause === null ? stored : passed).add(counts);
    if (passBecause !== null) passedRoutes.add(counts);
    if (isLarge || passBecause !== null) {
      routes.push(report(path, counts, passBecause));
      told++;
    } else rest.add(counts);
  }
  if (rest.requests > 0) routes.push(report("others", rest, null));
  return { stored, passed, passedRoutes, routes };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

/** The requests and the misses of an hour, with those for what is left to the origin. */
type Hours = ReadonlyMap<number, Pick<HourCounts, "requests" | "misses">>;

function withPassedHits(hours: ReadonlyMap<number, HourCounts>, passedRoutes: ReadonlySet<RouteCounts>): Hours {
  return new Map(
    [...hours].map(([hour, { requests, misses, passedHits }]) => {
      const hits = [...(passedHits ?? [])].filter(([route]) => passedRoutes.has(route));
      const all = hits.reduce((sum, [, count]) => sum + count, misses);
      return [hour, { requests, misses: Math.min(requests, all) }];
    }),
  );
}

function hoursOfDay(hours: Hours): AccessReport["hours"] {
  const days = Array.from({ length: 24 }, (_none, hour) => ({ hour, requests: 0, misses: 0 }));
  for (const [hour, { requests, misses }] of hours) {
    days[hour % 24]!.requests += requests;
    days[hour % 24]!.misses += misses;
  }
  return days.map(({ hour, requests, misses }) => ({ hour, requests, misses: Math.round(misses) }));
}

/** The most requests in a day, UTC. */
function busiestDay(hours: Hours): number {
  const days = new Map<number, number>();
  for (const [hour, { requests }] of hours) {
    const day = Math.floor(hour / 24);
    days.set(day, (days.get(day) ?? 0) + requests);
  }
  return Math.max(0, ...days.values());
}

function busiestHour(hours: Hours): AccessReport["busiestHour"] {
  let busiest: AccessReport["busiestHour"] = null;
  for (const [hour, { requests, misses }] of hours) {
    if (busiest !== null && requests <= busiest.requests) continue;
    busiest = { from: new Date(hour * HOUR_MS).toISOString(), requests, misses: Math.round(misses) };
  }
  return busiest;
}
