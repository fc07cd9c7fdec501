import { inForce } from "../in-force.ts";
import { durationOf, secondsOf } from "../lifetimes.ts";
import type { CachedLocation, LocationPart } from "./cached-location.ts";

/** How long browsers keep pages: `expires`, if it is a time. */
export function readBrowserLifetime({ levels }: CachedLocation): LocationPart {
  const expires = inForce(levels, "expires")[0];
  if (!expires || /^(?:off|epoch|max|-|@|modified|\$)/.test(expires.args[0]!) || expires.args.length !== 1) {
    return { rules: {}, from: [], differences: [] };
  }
  const browserTtl = durationOf(Math.max(1, Math.round(secondsOf(expires.args[0]!, expires.source))));
  return { rules: { browserTtl }, from: [expires.source], differences: [] };
}
