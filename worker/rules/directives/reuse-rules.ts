import type { CacheControl } from "./cache-control.ts";
import { secondsOrNone } from "./delta-seconds.ts";

/** The origin's rules for the reuse of a stored response, other than its freshness. */
export interface ReuseRules {
  /**
   * How long after its freshness it may be served while it is validated in the background; `null` if the origin does
   * not say. RFC 5861 §3.
   */
  readonly staleWhileRevalidateSeconds: number | null;
  /**
   * How long after its freshness it may replace an error of the origin; `null` if the origin does not say. RFC 5861 §4.
   */
  readonly staleIfErrorSeconds: number | null;
  /** True if each reuse has to be validated first. RFC 9111 §5.2.2.4. */
  readonly validateAlways: boolean;
  /**
   * False if it must never be served stale, whatever site and request say. RFC 9111 §4.2.4. `s-maxage` means that only
   * where no window stands beside it: docs/decisions/0037-a-window-beside-s-maxage-permits-stale.md.
   */
  readonly mayServeStale: boolean;
  /** True if nothing but such an `s-maxage` forbids it, so that the owner may overrule that. */
  readonly mayServeStaleOverSMaxage: boolean;
  /** True if it does not change while it is fresh, so that its route may accept late purges. RFC 8246. */
  readonly immutable: boolean;
}

/** Directives that were remembered have one object of rules for all responses that came with them. */
const rulesFor = new WeakMap<CacheControl, ReuseRules>();

export function reuseRules(cacheControl: CacheControl): ReuseRules {
  const rules = rulesFor.get(cacheControl) ?? rulesOf(cacheControl);
  rulesFor.set(cacheControl, rules);
  return rules;
}

function rulesOf(cacheControl: CacheControl): ReuseRules {
  const { noCache, mustRevalidate, proxyRevalidate, sMaxage, staleWhileRevalidate, staleIfError } = cacheControl;
  const staleWhileRevalidateSeconds = staleWhileRevalidate === "absent" ? null : secondsOrNone(staleWhileRevalidate);
  const staleIfErrorSeconds = staleIfError === "absent" ? null : secondsOrNone(staleIfError);
  const namesWindow = (staleWhileRevalidateSeconds ?? 0) > 0 || (staleIfErrorSeconds ?? 0) > 0;
  // RFC 9111 §5.2.2.2, §5.2.2.4, §5.2.2.8.
  const mayServeStaleOverSMaxage = !mustRevalidate && !proxyRevalidate && noCache !== "whole";
  return {
    staleWhileRevalidateSeconds,
    staleIfErrorSeconds,
    validateAlways: noCache === "whole",
    // §5.2.2.10, by which s-maxage implies proxy-revalidate.
    mayServeStale: mayServeStaleOverSMaxage && (sMaxage === "absent" || namesWindow),
    mayServeStaleOverSMaxage,
    immutable: cacheControl.immutable,
  };
}
