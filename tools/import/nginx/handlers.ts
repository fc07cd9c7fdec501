import type { Directive } from "./directives.ts";
import type { Location } from "./match-order.ts";

/** The modules that have a cache, with the same directives under other names. */
const FAMILIES = ["proxy", "uwsgi", "fastcgi", "scgi"] as const;
export type Family = (typeof FAMILIES)[number];

/** What answers the requests of a location. */
export type Handler =
  | { readonly kind: "upstream"; readonly family: Family; readonly pass: Directive }
  | { readonly kind: "itself" };

/** The directives of this name that are in force: those of the innermost block that has any. */
export function inForce(levels: readonly (readonly Directive[])[], name: string): readonly Directive[] {
  for (const level of levels) {
    const found = level.filter((directive) => directive.name === name);
    if (found.length > 0) return found;
  }
  return [];
}

export function handlerOf(location: Location): Handler {
  for (const family of FAMILIES) {
    // Handlers are not inherited by nested locations.
    const pass = location.handledBy.block!.find(({ name }) => name === `${family}_pass`);
    if (pass) return { kind: "upstream", family, pass };
  }
  return { kind: "itself" };
}

/** Whether nginx stores answers in this location. */
export function isCached(location: Location): boolean {
  const handler = handlerOf(location);
  if (handler.kind === "itself") return false;
  const zone = inForce(location.levels, `${handler.family}_cache`)[0]?.args[0];
  return zone !== undefined && zone !== "off";
}
