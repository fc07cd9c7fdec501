import type { RouteStats, SiteStats } from "../stats.ts";
import { percent, whole } from "../text/numbers.ts";
import {
  LEAST_COMPARISONS,
  LEAST_GAIN,
  LEAST_REQUESTS,
  onRoute,
  routesOf,
  type Verdict,
  withMoreHits,
} from "./verdict.ts";

const LIFETIMES: readonly (readonly [seconds: number, ttl: string])[] = [
  [60, "1m"],
  [600, "10m"],
  [3600, "1h"],
];

/** A longer lifetime is advised if it gains this much more and is shorter than the time between changes. */
const MUCH_MORE = 1.1;
const CHANGES_PER_LIFETIME = 0.1;

/** Pages that are not stored because they have no lifetime, and pages that expire long before they change. */
export function lifetimeVerdicts({ routes }: SiteStats): Verdict[] {
  return routesOf(routes).flatMap(([pattern, route]) => [
    ...missingLifetime(pattern, route),
    ...shortLifetime(pattern, route),
  ]);
}

function missingLifetime(pattern: string, route: RouteStats): Verdict[] {
  const { "no-freshness": refused = 0 } = route.refused;
  const found = bestOf(route, route.compared.missingLifetimes, Number.POSITIVE_INFINITY);
  if (refused < LEAST_REQUESTS || !found) return [];
  const hitRatio = withMoreHits(route, found.fetches);
  return [
    {
      kind: "missing-lifetime",
      route: pattern,
      evidence: `${whole(refused)} answers on ${onRoute(pattern)} were not stored, because they have no lifetime`,
      setting: `if pages may be that old, set \`defaultTtl\` to \`"${found.ttl}"\` and purge what changes`,
      effect: `at least ${percent(hitRatio.after)} of its requests would come from the cache instead of ${percent(hitRatio.now)}`,
      savedFetches: found.fetches,
      hitRatio,
    },
  ];
}

function shortLifetime(pattern: string, route: RouteStats): Verdict[] {
  const { same, different, elapsedMs } = route.compared.refetched;
  const all = same + different;
  if (same < LEAST_COMPARISONS || different > all * CHANGES_PER_LIFETIME) return [];
  // The time between two changes of a page; if none was seen, it is at least this long.
  const unchangedSeconds = elapsedMs / 1000 / Math.max(1, different);
  const found = bestOf(route, route.compared.lifetimes, unchangedSeconds * CHANGES_PER_LIFETIME);
  if (!found) return [];
  return [
    {
      kind: "short-lifetime",
      route: pattern,
      evidence: `of ${whole(all)} pages on ${onRoute(pattern)} that were fetched again, ${whole(same)} had not changed`,
      setting: `set \`ttl\` to \`"${found.ttl}"\` and purge what changes`,
      effect: `the origin would get at least ${whole(found.fetches)} fewer requests`,
      savedFetches: found.fetches,
    },
  ];
}

/** The shortest lifetime such that a longer one gains little more. */
function bestOf(
  { requests }: RouteStats,
  gains: Readonly<Record<string, number>>,
  mostSeconds: number,
): { readonly ttl: string; readonly fetches: number } | undefined {
  const possible = LIFETIMES.filter(([seconds]) => seconds <= mostSeconds).map(([seconds, ttl]) => ({
    ttl,
    fetches: gains[seconds] ?? 0,
  }));
  const most = possible.at(-1)?.fetches ?? 0;
  const found = possible.find(({ fetches }) => fetches * MUCH_MORE >= most);
  return found && found.fetches >= requests * LEAST_GAIN ? found : undefined;
}
