import type { Difference, Source } from "../imported-site.ts";
import type { Maps } from "./conditions.ts";
import { handlerOf, inForce, isCached } from "./handlers.ts";
import { readAnswerFields } from "./location/answer-fields.ts";
import { readBrowserLifetime } from "./location/browsers.ts";
import { type PassedPaths, readBypass } from "./location/bypass.ts";
import { CachedLocation, type LocationRules } from "./location/cached-location.ts";
import { readKey } from "./location/key.ts";
import { readLifetimes } from "./location/lifetimes.ts";
import { readStalePages } from "./location/stale-pages.ts";
import type { Location } from "./match-order.ts";

/** A location in the words of a route, without its `match`. */
export interface ImportedLocation {
  readonly rules: LocationRules;
  readonly from: readonly Source[];
  /** Paths below the location that are never stored. */
  readonly passed: readonly PassedPaths[];
  /** The differences; `routes` says which routes a difference is about. */
  readonly differences: readonly Difference[];
}

export function importLocation(
  location: Location,
  {
    maps,
    routes,
    inactiveSeconds,
    hostCount,
  }: { maps: Maps; routes: readonly string[]; inactiveSeconds: (zone: string) => number; hostCount: number },
): ImportedLocation {
  const handler = handlerOf(location);
  const own = location.directive.source;
  if (handler.kind === "itself") return { rules: { pass: true }, from: [own], passed: [], differences: [] };
  const { family, pass } = handler;
  const zone = inForce(location.levels, `${family}_cache`).map(({ source }) => source);
  if (!isCached(location)) {
    return { rules: { pass: true }, from: [own, pass.source, ...zone], passed: [], differences: [] };
  }
  const cached = new CachedLocation(location, family, routes);
  const key = readKey(cached, maps, hostCount);
  const bypass = readBypass(cached, maps, key.bypassedCookies);
  const parts = [
    readLifetimes(cached),
    readAnswerFields(cached),
    key,
    bypass,
    readStalePages(cached, inactiveSeconds),
    readBrowserLifetime(cached),
  ];
  const isStored = !key.isUnknown && !bypass.isUnknown;
  return {
    rules: isStored ? Object.assign({}, ...parts.map(({ rules }) => rules)) : { pass: true },
    from: [own, location.handledBy.source, pass.source, ...zone, ...parts.flatMap(({ from }) => from)],
    passed: bypass.passed,
    differences: parts.flatMap(({ differences }) => differences),
  };
}
