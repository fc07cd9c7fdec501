import type { Difference } from "../imported-site.ts";
import { hasEffect, leadsToOtherAddress, refuses } from "./conditions/conditions-of.ts";
import { isOfAddresses, letsAllIn, noteOn } from "./directive-table.ts";
import type { RoutedLocation } from "./fields.ts";
import type { Directive } from "./files/directives.ts";
import { type Location, matchesNoPath } from "./locations.ts";

/** Every line that applies to the server, could matter, and was not read. `read`: what others tell of. */
export function notCarried(
  main: readonly Directive[],
  http: readonly Directive[],
  server: Directive,
  routed: readonly RoutedLocation[],
  read: ReadonlySet<Directive>,
): readonly Difference[] {
  const differences: Difference[] = [];
  const routesIn = new Map<Location, string[]>(routed.map(({ location }) => [location, []]));
  for (const { location, routes } of routed) {
    for (let at: Location | null = location; at !== null; at = at.parent) routesIn.get(at)?.push(...routes);
  }
  const noteBlock = (block: readonly Directive[], routes: readonly string[] | null) => {
    for (const directive of block) {
      const { source } = directive;
      if (directive.name === "location" && matchesNoPath(directive)) {
        const why = "This location never matches, because its text does not begin with a slash, as all paths do.";
        differences.push({ kind: "dropped", source, why, aspects: [], affects: { routes } });
      }
      if (directive.name === "location" || directive.name === "server" || read.has(directive)) continue;
      if (directive.name === "if" && directive.block) {
        if (!hasEffect(directive.block)) {
          noteBlock(directive.block, routes);
          continue;
        }
        const isAtOther = leadsToOtherAddress(directive, block);
        const isRefusal = !isAtOther && refuses(directive);
        const why = isRefusal
          ? "The edge refuses nobody: the origin must do this, or a firewall in front of the edge."
          : isAtOther
            ? "The edge serves the page at this address, too, and stores it apart: the origin must redirect, or for https the platform, or tidemark serve with --redirect-to-https."
            : "A condition that does something is not carried over: the origin must do it.";
        const kind = isRefusal ? "access" : "dropped";
        differences.push({ kind, source, why, aspects: ["answer", "stored"], affects: { routes } });
        continue;
      }
      if (isOfAddresses(directive) && letsAllIn(block)) continue;
      const note = noteOn(directive);
      // Files matter in locations that nothing else answers, and these are reported separately.
      const isOfOthers = routes === null && /^(?:root|index|autoindex)$/.test(directive.name);
      const hasFallback =
        directive.name === "try_files" &&
        routed.some(({ location: { way } }) => way.length > 1 && way.some(([own]) => own === block));
      // Paths without a file are answered as before.
      if (note && refuses(directive)) {
        differences.push({ ...note, kind: "access", source, affects: { routes } });
      } else if (note && (hasFallback || isOfOthers))
        differences.push({ ...note, aspects: [], source, affects: { routes } });
      else if (note) differences.push({ ...note, source, affects: { routes } });
    }
  };
  if (main !== http)
    noteBlock(
      main.filter(({ name }) => name !== "http"),
      null,
    );
  noteBlock(http, null);
  noteBlock(server.block!, null);
  for (const { location } of routed) noteBlock(location.directive.block!, routesIn.get(location)!);
  const onTheWay = new Set(routed.flatMap(({ location: { way } }) => way.slice(1).map(([own]) => own!)));
  const ownBlocks = new Set(routed.map(({ location }) => location.directive.block!));
  for (const block of onTheWay) {
    if (ownBlocks.has(block)) continue;
    const through = routed.filter(({ location: { way } }) => way.some(([own]) => own === block));
    noteBlock(
      block,
      through.flatMap(({ routes }) => routes),
    );
  }
  return differences;
}
