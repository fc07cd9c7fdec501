import type { SiteStats } from "../stats.ts";
import { ms, percent, whole } from "../text/numbers.ts";
import { printable } from "../text/printable.ts";
import { LEAST_REQUESTS, onRoute, routesOf, type Verdict } from "./verdict.ts";

/** How many times slower than the origin the PoP's cache must be before a route is better without it. */
const MUCH_SLOWER = 1.5;

/** A PoP is quiet if more than this share of its requests read the log. */
const READS_PER_REQUEST = 0.25;

/** A lease of this many times the length is advised. */
const LONGER = 10;

/** Places where the cache itself costs time. */
export function placeVerdicts(stats: SiteStats): Verdict[] {
  return [...slowerThanOrigin(stats), ...quietPops(stats)];
}

function slowerThanOrigin({ routes }: SiteStats): Verdict[] {
  return routesOf(routes).flatMap(([pattern, { requests, fromCache, times }]) => {
    const { shared, origin } = times;
    if (!shared || !origin || shared.count < LEAST_REQUESTS || origin.count < LEAST_REQUESTS) return [];
    // A request that the origin answers has first looked in the PoP's cache.
    const originMs = Math.max(0, origin.p50Ms - shared.p50Ms);
    const fromMemory = requests - shared.count - origin.count;
    if (shared.p50Ms < originMs * MUCH_SLOWER || fromMemory > shared.count) return [];
    return [
      {
        kind: "slower-than-origin",
        route: pattern,
        evidence: `hits are slower than your origin on ${onRoute(pattern)} (${ms(shared.p50Ms)} against ${ms(originMs)})`,
        setting: "set `pass` to `true`",
        effect: `visitors would wait about ${ms(originMs)} (median), and the origin would get ${whole(fromCache)} more requests`,
        savedFetches: -fromCache,
      } as const,
    ];
  });
}

/**
 * With a lease of L and λ requests a second, one request of 1 + λL reads the log. So the share of reads gives λL, and
 * from that the share under a longer lease.
 */
function quietPops({ pops }: SiteStats): Verdict[] {
  return Object.entries(pops).flatMap(([given, { requests, log }]) => {
    const share = log.reads / requests;
    if (requests < LEAST_REQUESTS || share < READS_PER_REQUEST) return [];
    const then = 1 / (1 + LONGER * (1 / Math.min(share, 1) - 1));
    const pop = given === "" ? "a PoP without a name" : `\`${printable(given)}\``;
    return [
      {
        kind: "quiet-pop",
        route: null,
        evidence: `${pop} has too few requests for its lease: ${percent(share)} of them read the purge log`,
        setting: `make \`purge.leaseMs\` ${LONGER} times as long, if purges may take that long`,
        effect: share < 1 ? `about ${percent(then)} would read it` : "fewer would read it",
        savedFetches: 0,
      } as const,
    ];
  });
}
