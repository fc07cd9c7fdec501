import type { Difference, Source } from "../../imported-site.ts";
import { durationOf } from "../lifetimes.ts";
import type { CachedLocation, LocationPart, LocationRules } from "./cached-location.ts";

/** The words for a missing answer, and the statuses that count as failures of the origin. */
const NO_ANSWER = ["error", "timeout", "invalid_header"];
const ERRORS = [500, 502, 503, 504];

/** The use of stale pages, and fetches: `proxy_cache_use_stale` and related directives. */
export function readStalePages(location: CachedLocation, inactiveSeconds: (zone: string) => number): LocationPart {
  const rules: { -readonly [Name in keyof LocationRules]: LocationRules[Name] } = {};
  const from: Source[] = [];
  const differences: Difference[] = [];
  const line = location.read("cache_use_stale")[0];
  const stale = new Set(line?.args ?? []);
  const isUpdating = stale.has("updating") && location.read("cache_background_update")[0]?.args[0] === "on";
  const coversErrors = ERRORS.some((status) => stale.has(`http_${status}`));
  const coversFailures = coversErrors || NO_ANSWER.some((each) => stale.has(each));
  if (line && (coversFailures || isUpdating)) {
    const { source } = line;
    const lasting = durationOf(inactiveSeconds(location.read("cache")[0]!.args[0]!));
    rules.stale = {
      ...(coversFailures && { [coversErrors ? "ifError" : "ifDisconnected"]: lasting }),
      ...(isUpdating && { whileRevalidate: lasting }),
      overSMaxage: true,
    };
    from.push(source);
    const lasts = `for ${lasting} after its lifetime, which is the zone's inactive. nginx counts that from the last request.`;
    const forbids = "must-revalidate and proxy-revalidate, which nginx ignores, forbid it.";
    if (coversFailures) {
      const why = `If the origin fails, a stale page may be served ${lasts} ${forbids}`;
      const statuses = coversErrors ? [0, ...ERRORS] : [0];
      differences.push(location.difference("changed", source, why, ["answer"], { statuses }));
    }
    if (isUpdating) {
      const why = `A stale page may be served while it is fetched again ${lasts} ${forbids}`;
      differences.push(location.difference("changed", source, why, ["answer", "stored"]));
    }
    const missing = coversErrors ? ERRORS.filter((status) => !stale.has(`http_${status}`)) : [];
    const statuses = [...missing, ...(!coversFailures || stale.has("error") ? [] : [0])];
    if (statuses.length > 0) {
      const why = coversErrors
        ? "A stale page is served for every failure of the origin: no answer, 500, 502, 503 and 504."
        : "A stale page is served whenever the origin gives no answer.";
      differences.push(location.difference("changed", source, why, ["answer", "stored"], { statuses }));
    }
  }
  const refusals = [403, 404, 429].filter((status) => stale.has(`http_${status}`));
  if (line && refusals.length > 0) {
    const why = `A ${refusals.join(" or ")} of the origin is passed on, because it is the origin's answer, and not its failure.`;
    differences.push(location.difference("safer", line.source, why, ["answer"], { statuses: refusals }));
  }
  if (line && stale.has("updating") && !isUpdating) {
    // In nginx, only requests during the fetch of another get the stale page.
    const why =
      "Requests wait while a stale page is fetched again. With stale.whileRevalidate, they all get the stale page, and the edge fetches a new one in the background.";
    differences.push(location.difference("dropped", line.source, why, []));
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
