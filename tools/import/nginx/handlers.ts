import type { Directive } from "./files/directives.ts";
import { inForce } from "./in-force.ts";
import type { Location } from "./locations.ts";

/** The modules that have a cache, with the same directives under other names. */
const FAMILIES = ["proxy", "uwsgi", "fastcgi", "scgi"] as const;
export type Family = (typeof FAMILIES)[number];

/** The module that answers a location's requests. */
export type Handler =
  | { readonly kind: "upstream"; readonly family: Family; readonly pass: Directive }
  | { readonly kind: "itself" };

export function handlerOf({ answeredBy }: Location): Handler {
  for (const family of FAMILIES) {
    // Handlers are not inherited by nested locations.
    const pass = answeredBy[0]!.find(({ name }) => name === `${family}_pass`);
    if (pass) return { kind: "upstream", family, pass };
  }
  return { kind: "itself" };
}

/** Whether nginx stores answers in this location. */
export function isCached(location: Location): boolean {
  const handler = handlerOf(location);
  if (handler.kind === "itself") return false;
  const zone = inForce(location.answeredBy, `${handler.family}_cache`)[0]?.args[0];
  return zone !== undefined && zone !== "off";
}
