import type { Difference } from "../imported-site.ts";
import type { Directive } from "./files/directives.ts";
import { isCached } from "./handlers.ts";
import { inForce } from "./in-force.ts";
import { durationOf, secondsOf } from "./lifetimes.ts";
import type { Location } from "./locations.ts";

/** A location with its routes. */
export interface RoutedLocation {
  readonly location: Location;
  readonly routes: readonly string[];
}

/** The fields that `add_header` and `expires` add to answers. The edge adds only its own fields. */
export function answerFieldDifferences(routed: readonly RoutedLocation[]): readonly Difference[] {
  const differences: Difference[] = [];
  for (const { line, routes } of groupedByLine(routed, (location) => linesOf(location, "add_header"))) {
    const [name = "", value = ""] = line.args;
    const field = name.toLowerCase();
    const isStatus = /\$(?:\w+_cache_status|srcache_\w+)/.test(value);
    if (isStatus && field === "x-cache") continue;
    const why = isStatus
      ? `Instead of ${name} the edge sends X-Cache, with the same words, and Cache-Status, with more.`
      : `The edge adds no fields to answers: the origin must send ${name}, and the edge stores it with the page.`;
    differences.push({
      kind: "dropped",
      source: line.source,
      why,
      aspects: ["response-field"],
      affects: { routes },
      field,
    });
  }
  for (const { line, routes } of groupedByLine(routed, (location) => linesOf(location, "expires"))) {
    if (line.args[0] === "off") continue;
    const isCarried =
      routed.some(({ location }) => isCached(location) && inForce(location.answeredBy, "expires").includes(line)) &&
      browserTtlOf(line) !== null;
    differences.push({
      kind: isCarried ? "changed" : "dropped",
      source: line.source,
      why: isCarried
        ? "browserTtl sets max-age only on stored answers, without Expires; other answers keep the origin's."
        : "Browsers get the lifetime that the origin gives.",
      aspects: ["response-field"],
      affects: { routes },
      field: "cache-control",
    });
  }
  return differences;
}

/** The lines of this name that may apply in a location: those in force, and those of its conditions. */
function linesOf({ answeredBy, way }: Location, name: string): readonly Directive[] {
  const conditions = way.flatMap(([own]) => own!.filter((each) => each.name === "if"));
  const within = conditions.flatMap(({ block }) => block ?? []).filter((each) => each.name === name);
  return [...inForce(answeredBy, name), ...within];
}

/**
 * How long browsers keep pages by a line of `expires`; `null` if that is no time from now on. Throws an `ImportError` for
 * a time that nginx does not know.
 */
export function browserTtlOf({ args, source }: Directive): string | null {
  const [time = ""] = args;
  if (args.length !== 1 || /^(?:off|max|modified|@|\$)/.test(time)) return null;
  // With a time in the past, browsers ask again each time.
  return /^(?:epoch$|-)/.test(time) ? "0s" : durationOf(Math.round(secondsOf(time.replace(/^\+/, ""), source)));
}

/** Each line once, with all routes on which it is in force. */
export function groupedByLine(
  routed: readonly RoutedLocation[],
  linesOf: (location: Location) => ReturnType<typeof inForce>,
) {
  const grouped = new Map<ReturnType<typeof inForce>[number], Set<string>>();
  for (const { location, routes } of routed) {
    for (const line of linesOf(location)) {
      const all = grouped.get(line) ?? new Set<string>();
      for (const route of routes) all.add(route);
      grouped.set(line, all);
    }
  }
  return [...grouped].map(([line, routes]) => ({ line, routes: [...routes] }));
}
