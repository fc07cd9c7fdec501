import type { Difference, Source } from "../imported-site.ts";
import { conditionsOn, evaluationOf, type ServerFacts } from "./conditions/conditions-of.ts";
import { browserTtlOf } from "./fields.ts";
import type { Directive } from "./files/directives.ts";
import { handlerOf, isCached } from "./handlers.ts";
import { inForce } from "./in-force.ts";
import { hiddenFieldDifferences, readAnswerFields } from "./location/answer-fields.ts";
import { type PassedPaths, readBypass } from "./location/bypass.ts";
import { CachedLocation, type LocationPart, type LocationRules } from "./location/cached-location.ts";
import { readKey } from "./location/key.ts";
import { readLifetimes } from "./location/lifetimes.ts";
import { readStalePages } from "./location/stale-pages.ts";
import type { Location } from "./locations.ts";
import { fieldOf, isOrdinary, linesOverVisitors } from "./origin-fields.ts";

/** A location in the words of a route, without its `match`. */
export interface ImportedLocation {
  readonly rules: LocationRules;
  readonly from: readonly Source[];
  /** Paths below the location that are never stored. */
  readonly passed: readonly PassedPaths[];
  /** The differences; `routes` says which routes a difference is about. */
  readonly differences: readonly Difference[];
  /** The lines because of which nothing is stored, although nginx has a cache here. */
  readonly because: readonly string[];
}

interface LocationFacts extends ServerFacts {
  /** The location's routes. The list may grow during the import. */
  readonly routes: readonly string[];
  readonly inactiveSeconds: (zone: string) => number;
}

export function importLocation(location: Location, facts: LocationFacts): ImportedLocation {
  const { routes, inactiveSeconds } = facts;
  const handler = handlerOf(location);
  const own = location.directive.source;
  const passes = { rules: { pass: true }, passed: [], because: [] };
  if (handler.kind === "itself") return { ...passes, from: [own], differences: [] };
  const { family, pass } = handler;
  const zone = inForce(location.answeredBy, `${family}_cache`).map(({ source }) => source);
  const cached = new CachedLocation(location, family, routes);
  const hidden = hiddenIn(location, routes);
  if (!isCached(location)) return { ...passes, from: [own, pass.source, ...zone], differences: hidden };
  const lifetimes = readLifetimes(cached);
  if (lifetimes.storesNothing) return { ...passes, from: [own, ...lifetimes.from], differences: hidden };
  const withheld = linesOverVisitors(location, facts.replaced);
  const key = readKey(
    cached,
    evaluationOf(location, facts),
    withheld.find((line) => fieldOf(line) === "cookie"),
  );
  const bypass = readBypass(cached, conditionsOn(location, facts), key);
  const because = [...bypass.because, ...(key.isUnknown ? [(key.line ?? own).text] : [])];
  const isStored = because.length === 0;
  const parts = [
    lifetimes,
    readAnswerFields(cached, { keepsSetCookie: bypass.keepsSetCookie }),
    key,
    bypass,
    readStalePages(cached, inactiveSeconds),
    readBrowserLifetime(cached),
    readDroppedFields(withheld),
  ];
  return {
    rules: isStored ? Object.assign({}, ...parts.map(({ rules }) => rules)) : { pass: true },
    from: isStored ? [own, pass.source, ...zone, ...parts.flatMap(({ from }) => from)] : [own, pass.source, ...zone],
    passed: isStored ? bypass.passed : [],
    differences: isStored
      ? parts.flatMap(({ differences }) => differences)
      : [...key.differences, ...bypass.differences, ...hidden],
    because,
  };
}

/** What nginx hid from visitors in a location that stores nothing. */
export function hiddenIn(location: Location, routes: readonly string[]): readonly Difference[] {
  const handler = handlerOf(location);
  if (handler.kind === "itself") return [];
  return hiddenFieldDifferences(new CachedLocation(location, handler.family, routes), { isStripped: false });
}

/** Fields of browsers that nginx kept from the origin. The origin need not name in `Vary` what it never got. */
function readDroppedFields(withheld: readonly Directive[]): LocationPart {
  const lines = withheld.filter((line) => isOrdinary(fieldOf(line)));
  const drop = [...new Set(lines.map(fieldOf))];
  return {
    rules: drop.length > 0 ? { fields: { drop } } : {},
    from: lines.map(({ source }) => source),
    differences: [],
  };
}

/** How long browsers keep pages: `expires`, if it is a time. */
function readBrowserLifetime({ levels }: CachedLocation): LocationPart {
  const expires = inForce(levels, "expires")[0];
  const browserTtl = expires && browserTtlOf(expires);
  if (!expires || !browserTtl) return { rules: {}, from: [], differences: [] };
  return { rules: { browserTtl }, from: [expires.source], differences: [] };
}
