import type { Difference, Source } from "../../imported-site.ts";
import { durationOf } from "../lifetimes.ts";
import type { CachedLocation, LocationPart, LocationRules } from "./cached-location.ts";

const FAILURES = ["error", "timeout", "invalid_header", "http_500", "http_502", "http_503", "http_504"];

/** When old pages are used, and how fetches are made: `proxy_cache_use_stale` and what goes with it. */
export function readStalePages(location: CachedLocation, inactiveSeconds: (zone: string) => number): LocationPart {
  const rules: { -readonly [Name in keyof LocationRules]: LocationRules[Name] } = {};
  const from: Source[] = [];
  const differences: Difference[] = [];
  const line = location.read("cache_use_stale")[0];
  const stale = new Set(line?.args ?? []);
  if (line && FAILURES.some((each) => stale.has(each))) {
    const { source } = line;
    const ifError = durationOf(inactiveSeconds(location.read("cache")[0]!.args[0]!));
    rules.stale = { ifError };
    from.push(source);
    const why = `A stale page may stand in for ${ifError} after its lifetime, which is the zone's inactive. nginx counts that from the last request.`;
    differences.push(location.difference("changed", source, why, ["answer"], { statuses: [0, 500, 502, 503, 504] }));
    const missing = [500, 502, 503, 504].filter((status) => !stale.has(`http_${status}`));
    const statuses = [...missing, ...(stale.has("error") ? [] : [0])];
    if (statuses.length > 0) {
      const why = "A stale page stands in for every failure of the origin: no answer, 500, 502, 503 and 504.";
      differences.push(location.difference("changed", source, why, ["answer", "stored"], { statuses }));
    }
  }
  const refusals = [403, 404, 429].filter((status) => stale.has(`http_${status}`));
  if (line && refusals.length > 0) {
    const why = `A ${refusals.join(" or ")} of the origin is passed on: a page that was taken down has to go.`;
    differences.push(location.difference("safer", line.source, why, ["answer"], { statuses: refusals }));
  }
  if (line && stale.has("updating")) {
    const isBackground = location.read("cache_background_update")[0]?.args[0] === "on";
    const why = `A page is served stale while it is fetched again if the origin says stale-while-revalidate=SECONDS in Cache-Control. Send that${isBackground ? "; the fetch is then always in the background" : ""}.`;
    // Without a fetch in the background, only requests at the same moment get the stale page.
    differences.push(location.difference("dropped", line.source, why, isBackground ? ["answer", "stored"] : []));
  }
  const convertsHead = location.read("cache_convert_head")[0];
  if (convertsHead?.args[0] === "off") {
    rules.store = { onHead: false };
    from.push(convertsHead.source);
  }
  const lock = location.read("cache_lock")[0];
  if (lock?.args[0] === "on") from.push(lock.source);
  return { rules, from, differences };
}
