import type { RouteInput } from "#tidemark/internal";
import { SPELLINGS } from "../by-design.ts";
import type { Difference, LocationOutcome, Sourced } from "../imported-site.ts";
import type { ServerFacts } from "./conditions/conditions-of.ts";
import { isOfAddresses, letsAllIn, noteOn, rowOf } from "./directive-table.ts";
import type { RoutedLocation } from "./fields.ts";
import type { Directive } from "./files/directives.ts";
import { passedFolders } from "./folders.ts";
import { handlerOf, isCached } from "./handlers.ts";
import { hiddenIn, type ImportedLocation, importLocation } from "./import-location.ts";
import type { PassedPaths } from "./location/bypass.ts";
import { isRegex, type Location } from "./locations.ts";
import { seesEscapes } from "./paths/escapes.ts";
import { joinedPaths, joinedPatterns } from "./paths/joined-paths.ts";
import { inMatchOrder, type OrderedMatch } from "./paths/match-order.ts";
import {
  bothPatterns,
  type Expression,
  literalPattern,
  type Patterns,
  regexPatterns,
  TOO_SLOW,
} from "./paths/path-patterns.ts";
import { portableRegex } from "./paths/portable-regex.ts";
import { tokenize } from "./paths/tokens.ts";

type Routes = readonly Sourced<RouteInput>[];

export interface ImportedRoutes {
  readonly routes: Routes;
  readonly routed: readonly RoutedLocation[];
  readonly outcomes: readonly LocationOutcome[];
  readonly differences: readonly Difference[];
}

interface Facts extends Omit<ServerFacts, "server"> {
  readonly server: Directive;
  readonly isReached: (location: Location) => boolean;
  readonly inactiveSeconds: (zone: string) => number;
}

/** A location with its results. */
interface Read {
  readonly location: Location;
  /** Its routes. The list grows with the paths that are never stored. */
  readonly all: string[];
  readonly imported: ImportedLocation;
  readonly because: string[];
  readonly differences: Difference[];
}

/** The routes of a server's locations, in the order in which nginx tries them. */
export function importRoutes(locations: readonly Location[], facts: Facts): ImportedRoutes {
  const order = inMatchOrder(locations);
  const reads = new Map<Location, Read>();
  for (const match of order) {
    const known = reads.get(match.location);
    if (known) known.all.push(...match.patterns);
    else reads.set(match.location, readLocation(match, locations, facts));
  }
  for (const [location, read] of reads) passBehindWider(location, read, order);
  const routes = order.flatMap((match) => routesOf(match, reads.get(match.location)!));
  const counting = [
    ...ofLocations(locations),
    ...[...reads.values()].flatMap(({ imported }) => imported.passed),
  ].filter(countsBytes);
  const spellings = ofOtherSpellings(routes, counting.length > 0, facts.server);
  const all = withoutShadowed([...spellings, ...ofRedirects(routes, locations), ...routes]);
  const end = all.some(({ value }) => value.match === "/*") ? null : ofNoLocation(facts.server);
  const inner = withinExpressions(locations, reads);
  return {
    routes: end === null ? all : [...all, end.route],
    routed: [...[...reads.values()].map(({ location, all: own }) => ({ location, routes: own })), ...inner],
    outcomes: [...[...reads.values()].map(locationOutcome), ...inner.map(innerOutcome)],
    differences: [
      ...inner.flatMap(({ location, routes: own }) => [
        ...ofInner(location, own),
        ...hiddenIn(location, own),
        ...ofFiles(location, own),
      ]),
      ...[...reads.values()].flatMap(({ differences, location, all: own, because }) => [
        ...differences,
        ...ofStoringNothing(location, own, because),
        ...ofFiles(location, own),
      ]),
      ...ofCountedBytes(spellings, counting),
      ...(end === null ? [] : [end.difference]),
    ],
  };
}

function readLocation(
  { location, prefix, patterns, unsupported }: OrderedMatch,
  locations: readonly Location[],
  { server, isReached, ...facts }: Facts,
): Read {
  const all = [...patterns];
  const locationFacts = { ...facts, server: server.block!, routes: all };
  const own = importLocation(location, locationFacts);
  const folders = passedFolders(location, own, locationFacts, (other) =>
    isReached(other) ? importLocation(other, locationFacts) : null,
  );
  const imported = { ...own, passed: joinedPaths([...own.passed, ...folders.passed]) };
  const because = [...imported.because];
  const differences = [...imported.differences, ...folders.differences];
  const { source } = location.directive;
  const pass = (word: string, line: Difference["source"], why: string) => {
    because.push(word);
    differences.push({ kind: "changed", source: line, why, aspects: ["stored"], affects: { routes: all } });
  };
  if (isCached(location)) {
    if (unsupported !== null) {
      pass(source.text, source, whyWider(unsupported));
    }
    for (const { directive } of isRegex(location) ? locations.filter(({ parent }) => parent === location) : []) {
      const why =
        "A location inside a regular expression's location is not carried over. Nothing is stored in the outer location.";
      pass(directive.source.text, directive.source, why);
    }
    const handler = handlerOf(location);
    if (handler.kind === "upstream" && !isReached(location)) because.push(handler.pass.source.text);
    for (const { from, ...expression } of unsupported === null ? imported.passed : []) {
      const below = passedPatterns({ location, prefix }, expression);
      if (below.kind === "patterns") {
        const alone = isRegex(location) ? regexPatterns(expression.regex, { ...expression, prefix }) : below;
        const isEvery = alone.kind === "patterns" && patterns.every((each) => alone.patterns.includes(each));
        if (isEvery) because.push(from.at(-1)!.text);
        continue;
      }
      const why = `${whyNoPattern(below.construct)}. Nothing is stored in this location until you route those paths with pass.`;
      pass(from.at(-1)!.text, from.at(-1)!, why);
    }
  }
  return {
    location,
    all,
    imported,
    because,
    differences: because.length > 0 ? withoutStored(differences) : differences,
  };
}

/** A location whose paths all belong to the route of an earlier one that matches more than its expression stores nothing. */
function passBehindWider(location: Location, read: Read, order: readonly OrderedMatch[]): void {
  if (!isCached(location) || read.because.length > 0) return;
  const wider = order.flatMap((match, at) =>
    match.location === location ? [wideBefore(match, order.slice(0, at))] : [],
  );
  if (wider.includes(undefined)) return;
  for (const { location: other, unsupported } of new Set(wider as OrderedMatch[])) {
    const { source } = other.directive;
    const why = whyWider(unsupported!);
    read.because.push(source.text);
    read.differences.push({ kind: "changed", source, why, aspects: ["stored"], affects: { routes: read.all } });
  }
  read.differences.splice(0, Infinity, ...withoutStored(read.differences));
}

function wideBefore({ patterns }: OrderedMatch, earlier: readonly OrderedMatch[]): OrderedMatch | undefined {
  return earlier.find(({ unsupported, patterns: [wide] }) => {
    return unsupported !== null && patterns.every((each) => each.startsWith(wide!.replace(/\*$/, "")));
  });
}

function whyWider(construct: string): string {
  return `${whyNoPattern(construct)}, so this route matches more paths. Nothing is stored on it.`;
}

function whyNoPattern(construct: string): string {
  return construct === TOO_SLOW
    ? "This expression may take exponential time, in which one request would hang a worker (write it without nested quantifiers)"
    : `A route's pattern cannot express ${construct}`;
}

/** For a location that stores nothing, only the differences that give the reason are shown. */
function withoutStored(differences: readonly Difference[]): Difference[] {
  return differences.filter(({ kind, aspects }) => kind !== "safer" || !aspects.includes("stored"));
}

/** The paths of a location in which an expression finds a match. */
function passedPatterns({ location, prefix }: Pick<OrderedMatch, "location" | "prefix">, passed: Expression): Patterns {
  const { kind, text } = location;
  if (kind === "exact") {
    const found = portableRegex(passed.regex, passed)?.test(text) ?? true;
    return { kind: "patterns", patterns: found ? [literalPattern(text)] : [] };
  }
  if (isRegex(location)) {
    return bothPatterns([{ regex: text, ignoreCase: kind === "regex-ignoring-case" }, passed], prefix);
  }
  return regexPatterns(passed.regex, { ...passed, prefix: text === "/" ? null : text });
}

function routesOf(match: OrderedMatch, { all, imported, because }: Read): Routes {
  const { from, rules } = imported;
  const { patterns } = match;
  if (because.length > 0) return patterns.map((each) => ({ value: { match: each, pass: true }, from }));
  const passed = imported.passed.flatMap(({ from: lines, ...expression }) => {
    const below = passedPatterns(match, expression);
    if (below.kind !== "patterns") throw new Error(`a location that stores passes ${below.construct}`);
    const joined = joinedPatterns(below.patterns);
    all.push(...joined);
    return joined.map((each) => ({ value: { match: each, pass: true }, from: lines }));
  });
  return [...passed, ...patterns.map((each) => ({ value: { match: each, ...rules }, from }))];
}

/**
 * nginx reads `//` as `/` and decodes escapes before it chooses a location; the edge does neither. Such paths are not
 * stored if they could belong to another location.
 */
function ofOtherSpellings(routes: Routes, isCounting: boolean, { source: { place } }: Directive): Routes {
  if (new Set(routes.map(({ value: { match, ...rules } }) => JSON.stringify(rules))).size < 2) return [];
  const patterns = isCounting ? [...SPELLINGS, ANY_ESCAPE] : SPELLINGS;
  const text = "server (nginx reads // as / and decodes escapes, and then takes another location)";
  return patterns.map((match) => ({ value: { match, pass: true }, from: [{ place, text }] }));
}

const ANY_ESCAPE = "/*%(.*)";

function ofLocations(locations: readonly Location[]): PassedPaths[] {
  return locations.filter(isRegex).map(({ kind, text, directive: { source } }) => {
    return { regex: text, ignoreCase: kind === "regex-ignoring-case", from: [source] };
  });
}

function countsBytes({ regex, ignoreCase, isSent = false }: Expression): boolean {
  const tokens = isSent ? "" : tokenize(regex, ignoreCase);
  return typeof tokens !== "string" && seesEscapes(tokens);
}

function ofCountedBytes(spellings: Routes, counting: readonly PassedPaths[]): Difference[] {
  if (spellings.length === 0) return [];
  const why =
    "nginx compares the bytes of characters outside of ASCII, which routes see as escapes. This expression may tell them apart, so paths with such characters are not stored.";
  return counting.map(({ from }) => {
    return { kind: "changed", source: from.at(-1)!, why, aspects: ["stored"], affects: { routes: [ANY_ESCAPE] } };
  });
}

/** nginx itself redirects `/shop` to `/shop/` if a location of that name goes to an upstream. */
export function redirectsSlashes({ kind, text, levels }: Location): boolean {
  const isPrefix = kind === "prefix" || kind === "prefix-before-regex";
  return isPrefix && text.endsWith("/") && text !== "/" && levels[0]!.some(({ name }) => name.endsWith("_pass"));
}

/** Paths that are redirected in this way are not stored, unless they have their own location. */
function ofRedirects(routes: Routes, locations: readonly Location[]): Routes {
  const exact = new Set(locations.flatMap(({ kind, text }) => (kind === "exact" ? [text] : [])));
  const matchers = routes.map(({ value }) => ({ matches: matcherOf(value), isStored: value.pass !== true }));
  return locations
    .filter((each) => redirectsSlashes(each) && !exact.has(each.text.slice(0, -1)))
    .map(({ text, directive }) => ({
      value: { match: literalPattern(text.slice(0, -1)), pass: true },
      from: [directive.source],
    }))
    .filter(({ value }) => matchers.find(({ matches }) => matches(value.match))?.isStored !== false);
}

/**
 * Tells which paths a route may match. An expression is taken to match what begins as it does if its route stores, because
 * a route too many that passes does no harm.
 */
function matcherOf({ match, pass }: RouteInput): (path: string) => boolean {
  const [start] = /^[^{}()*+?:\\]*/.exec(match)!;
  if (start === match) return (path) => path === start;
  const mayMatch = match === `${start}*` || pass !== true;
  return (path) => mayMatch && path.startsWith(start);
}

/** A route after one with the same pattern would never match. */
function withoutShadowed(routes: Routes): Routes {
  const seen = new Set<string>();
  return routes.filter(({ value: { match } }) => {
    const isShadowed = seen.has(match) || seen.has("/*");
    seen.add(match);
    return !isShadowed;
  });
}

/** The locations inside those of expressions, which have no routes of their own: the outer ones' pass. */
function withinExpressions(locations: readonly Location[], reads: ReadonlyMap<Location, Read>): RoutedLocation[] {
  return locations.flatMap((location) => {
    let outer: Location | null = location;
    while (outer !== null && !reads.has(outer)) outer = outer.parent;
    return outer === null || outer === location ? [] : [{ location, routes: reads.get(outer)!.all }];
  });
}

function ofInner(location: Location, routes: readonly string[]): Difference[] {
  if (!isCached(location)) return [];
  const why = "A location inside a regular expression's location is not carried over. Nothing is stored in it.";
  const { source } = location.directive;
  return [{ kind: "changed", source, why, aspects: ["stored"], affects: { routes } }];
}

function innerOutcome({ location }: RoutedLocation): LocationOutcome {
  const { source } = location.directive;
  const cached = isCached(location);
  return { source, isCached: cached, stores: false, because: cached ? [source.text] : [] };
}

function locationOutcome({ location, because }: Read): LocationOutcome {
  const cached = isCached(location);
  return { source: location.directive.source, isCached: cached, stores: cached && because.length === 0, because };
}

function ofStoringNothing(location: Location, routes: readonly string[], because: readonly string[]): Difference[] {
  if (because.length === 0) return [];
  const why = `Nothing is stored here, because the import cannot fully carry over: ${[...new Set(because)].join("; ")}.`;
  const { source } = location.directive;
  return [{ kind: "changed", source, why, aspects: ["stored"], affects: { routes } }];
}

/** Directives beside which nginx still answers from its own files. */
const OF_FILES = /^(?:root|alias|index|autoindex|try_files)$/;

/** Whether something else than files answers by a line, of which the list tells. */
function answersInstead(line: Directive): boolean {
  const isLater = ["setup", "preaccess", "output", "log"].includes(rowOf(line)?.phase ?? "");
  return noteOn(line) !== null && !isLater && !OF_FILES.test(line.name);
}

const IS_PUBLIC =
  "The edge asks the origin, so what the origin has there is public now: it must refuse what visitors may not have.";

function ofFiles(location: Location, routes: readonly string[]): Difference[] {
  if (handlerOf(location).kind !== "itself") return [];
  const block = location.directive.block!;
  const isOpen = letsAllIn(block);
  if (block.some((each) => answersInstead(each) && !(isOpen && isOfAddresses(each)))) return [];
  const why = `nginx answered here from its own files, or with 404. ${IS_PUBLIC}`;
  const { source } = location.directive;
  return [{ kind: "access", source, why, aspects: ["answer", "stored"], affects: { routes } }];
}

function ofNoLocation({ source }: Directive): { readonly route: Routes[number]; readonly difference: Difference } {
  const why = `Other paths are in no location, and nginx answered them from its own files, or with 404. ${IS_PUBLIC}`;
  return {
    route: { value: { match: "/*", pass: true }, from: [source] },
    difference: { kind: "access", source, why, aspects: ["answer", "stored"], affects: { routes: ["/*"] } },
  };
}
